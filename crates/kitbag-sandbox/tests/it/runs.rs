//! What a run gives back.

use std::time::Duration;

use kitbag_sandbox::{
    Allowed, Ended, Finished, Guarantee, HostPort, Job, Launcher, Limits, MAX_PATHS, Network,
    Policy, PolicyError, RunError, Sandbox, Stage, Stream, Tier,
};
use tokio_util::sync::CancellationToken;

use crate::host::names_a_layer;
use crate::sandbox;

fn job(script: &str) -> Job {
    Job {
        argv: ["/bin/sh", "-c", script].map(Into::into).to_vec(),
        cwd: "/usr".into(),
        stdin: Vec::new(),
        policy: Policy { limits: Limits { processes: None, ..Limits::SCRIPT }, ..Policy::system() },
    }
}

/// Says whether this machine has a tier at all. Where it has none, nothing may run, and the reason must be told.
async fn is_refused() -> bool {
    if sandbox().tier() != Tier::None {
        return false;
    }
    assert!(std::env::var_os("KITBAG_TEST_ALL_TIERS").is_none());
    match run(job("true")).await {
        Err(RunError::Unavailable { missing }) => assert!(names_a_layer(&missing), "{missing}"),
        other => panic!("{other:?}"),
    }
    true
}

async fn run(job: Job) -> Result<Finished, RunError> {
    sandbox().run(job, &CancellationToken::new(), |_, _| {}).await
}

#[tokio::test]
async fn output_code_and_lines_come_back() {
    if is_refused().await {
        return;
    }
    let mut lines = Vec::new();
    let job = Job {
        stdin: b"asked".to_vec(),
        ..job("echo one; cat; echo; echo two >&2; printf 'thr\\377ee'; exit 3")
    };
    let finished = sandbox()
        .run(job, &CancellationToken::new(), |stream, line| lines.push((stream, line.to_owned())))
        .await
        .unwrap();
    assert_eq!(finished.ended, Ended::Exited(3));
    assert_eq!(finished.stdout.bytes, b"one\nasked\nthr\xffee");
    assert_eq!(finished.stderr.bytes, b"two\n");
    assert!(finished.timings.launch <= finished.timings.total);
    let of = |wanted| -> Vec<&str> {
        lines.iter().filter(|(from, _)| *from == wanted).map(|(_, line)| line.as_str()).collect()
    };
    assert_eq!(of(Stream::Stdout), ["one", "asked", "thr\u{fffd}ee"]);
    assert_eq!(of(Stream::Stderr), ["two"]);
}

#[tokio::test]
async fn a_signal_is_told() {
    if is_refused().await {
        return;
    }
    let finished = run(job("kill -KILL $$")).await.unwrap();
    assert_eq!(finished.ended, Ended::Signaled(9));
}

#[tokio::test]
async fn the_environment_is_what_was_given() {
    if is_refused().await {
        return;
    }
    let mut job = job("/usr/bin/env");
    job.policy.environment.push(("GIVEN".into(), "1 2".into()));
    let finished = run(job).await.unwrap();
    let text = String::from_utf8(finished.stdout.bytes).unwrap();
    // What the shell itself adds.
    let own = ["PWD=", "OLDPWD=", "SHLVL=", "_="];
    let rest: Vec<&str> =
        text.lines().filter(|line| !own.iter().any(|own| line.starts_with(own))).collect();
    assert_eq!(rest, ["GIVEN=1 2"]);
}

#[tokio::test]
async fn a_polite_program_ends_politely() {
    if is_refused().await {
        return;
    }
    let mut job = job("trap 'echo bye; exit 0' TERM; echo up; while :; do sleep 0.01; done");
    job.policy.limits.grace = Duration::from_secs(20);
    let cancel = CancellationToken::new();
    let on_line = |_, line: &str| {
        if line == "up" {
            cancel.cancel();
        }
    };
    let finished = sandbox().run(job, &cancel, on_line).await.unwrap();
    assert_eq!((finished.ended, &*finished.stdout.bytes), (Ended::Cancelled, &b"up\nbye\n"[..]));
}

#[tokio::test]
async fn a_missing_path_is_named() {
    if is_refused().await {
        return;
    }
    let mut job = job("true");
    job.policy.read.push("/nowhere/at/all".into());
    let error = run(job).await.unwrap_err();
    assert!(error.to_string().contains("/nowhere/at/all"), "{error}");
    assert!(matches!(error, RunError::Start { stage: Stage::Grant | Stage::Landlock, .. }));
}

/// Asked to end before it began, it ends; nothing is said to have failed.
#[tokio::test]
async fn a_run_that_is_cancelled_before_it_begins_is_cancelled() {
    if is_refused().await {
        return;
    }
    let cancel = CancellationToken::new();
    cancel.cancel();
    for _ in 0..20 {
        let mut job = job("exec sleep 1000");
        job.policy.limits.grace = Duration::ZERO;
        let finished = sandbox().run(job, &cancel, |_, _| {}).await.unwrap();
        assert_eq!(finished.ended, Ended::Cancelled);
    }
    let mut job = job("exec sleep 1000");
    job.policy.limits.wall = Some(Duration::from_micros(1));
    assert_eq!(run(job).await.unwrap().ended, Ended::TimedOut);
}

/// What is neither a file nor a directory can't be granted, and nobody waits for it.
#[tokio::test]
async fn a_fifo_is_no_grant() {
    if is_refused().await {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let fifo = directory.path().join("fifo");
    let made = std::process::Command::new("mkfifo").arg(&fifo).status().unwrap();
    assert!(made.success());
    let mut job = job("true");
    job.policy.read.push(fifo.clone());
    job.argv = vec![fifo.into()];
    let error = run(job).await.unwrap_err();
    assert!(matches!(error, RunError::Start { .. }), "{error}");
    assert!(error.to_string().contains("fifo"), "{error}");
}

#[tokio::test]
async fn a_missing_program_is_named() {
    if is_refused().await {
        return;
    }
    let job = Job { argv: vec!["/usr/bin/no-such-program".into()], ..job("") };
    let error = run(job).await.unwrap_err();
    assert!(matches!(&error, RunError::Start { stage: Stage::Execute, .. }), "{error:?}");
    assert!(error.to_string().contains("/usr/bin/no-such-program"), "{error}");
}

#[tokio::test]
async fn a_directory_that_was_not_granted_is_no_working_directory() {
    if is_refused().await {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let job = Job { cwd: directory.path().to_owned(), ..job("ls") };
    match run(job).await {
        Err(RunError::Start { stage: Stage::WorkingDirectory, .. }) => {}
        // Where there is no root of its own, it is entered but can't be read.
        Ok(finished) => assert!(finished.tier == Tier::Lsm && finished.stdout.bytes.is_empty()),
        Err(other) => panic!("{other}"),
    }
}

/// Without a proxy that knows them, hosts can't be told apart, and no setting makes that good enough.
#[tokio::test]
async fn named_hosts_are_refused() {
    if is_refused().await {
        return;
    }
    for allowed in [Allowed::Nothing, Allowed::Weaker(vec![Guarantee::Hosts])] {
        let mut job = job("true");
        job.policy.network = Network::Hosts(vec!["example.com".parse::<HostPort>().unwrap()]);
        job.policy.allowed = allowed;
        match run(job).await.unwrap_err() {
            RunError::Refused { missing } => assert_eq!(missing[0].0, Guarantee::Hosts),
            other => panic!("{other}"),
        }
    }
}

#[tokio::test]
async fn policies_without_a_meaning_are_refused() {
    let refused = async |change: fn(&mut Job)| {
        let mut job = job("true");
        change(&mut job);
        match run(job).await {
            Err(RunError::Policy(error)) => error,
            other => panic!("{other:?}"),
        }
    };
    let path = async |path: &'static str| {
        let mut job = job("true");
        job.policy.write.push(path.into());
        matches!(run(job).await, Err(RunError::Policy(PolicyError::Path { .. })))
    };
    for bad in ["relative", "/", "/usr/../etc", "/proc", "/dev/null", "/sys/kernel"] {
        assert!(path(bad).await, "{bad}");
    }
    let many = refused(|job| job.policy.read = vec!["/usr".into(); MAX_PATHS + 1]).await;
    assert_eq!(many, PolicyError::TooManyPaths);
    assert_eq!(refused(|job| job.argv = vec!["sh".into()]).await, PolicyError::Command);
    assert_eq!(refused(|job| job.argv.clear()).await, PolicyError::Command);
    let long = refused(|job| job.argv.push("x".repeat(1024 * 1024).into())).await;
    assert_eq!(long, PolicyError::CommandTooLong);
    let name = refused(|job| job.policy.environment.push(("A=B".into(), "".into()))).await;
    assert_eq!(name, PolicyError::Variable { name: "A=B".to_owned() });
}

/// A program that isn't a launcher doesn't become one by being asked.
#[tokio::test]
async fn a_wrong_launcher_is_no_sandbox() {
    let sandbox = Sandbox::probe(Launcher::program("/bin/true"));
    assert_eq!(sandbox.tier(), Tier::None);
    let error = sandbox.run(job("true"), &CancellationToken::new(), |_, _| {}).await.unwrap_err();
    assert!(matches!(error, RunError::Unavailable { .. }), "{error}");
}
