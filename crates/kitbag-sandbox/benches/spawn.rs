//! How much a confined start costs over a plain one, beside `bwrap` where there is one. `/bin/true`, spawned and waited for, one kind after
//! the other so that all suffer the same noise. The second table is with 300 MiB in the server.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a measurement that cannot go on must fail, and prints its table"
)]

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use kitbag_sandbox::{Job, Launcher, Limits, Policy, Sandbox, become_launcher_if_asked};
use tokio_util::sync::CancellationToken;

const ROUNDS: usize = 300;
const BALLAST: usize = 300 * 1024 * 1024;

fn main() {
    become_launcher_if_asked();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let sandbox = Sandbox::probe(Launcher::this_program());
    println!("tier {}", sandbox.tier());
    runtime.block_on(async {
        table("lean server", &sandbox).await;
        let ballast = vec![1_u8; BALLAST];
        table("server with 300 MiB", &sandbox).await;
        assert!(ballast[BALLAST / 2] == 1);
    });
}

async fn table(title: &str, sandbox: &Sandbox) {
    // It has no weaker tier: without namespaces it fails.
    let has_bwrap = bwrap().output().is_ok_and(|output| output.status.success());
    let limits = Limits { processes: None, ..Limits::SCRIPT };
    let plain_limits = Policy { limits, ..Policy::system() };
    let (mut plain, mut confined, mut launch, mut grouped, mut other) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        plain.push(spawn(Command::new("/bin/true").env_clear()));
        let (total, ready) = confine(sandbox, plain_limits.clone()).await;
        confined.push(total);
        launch.push(ready);
        grouped.push(confine(sandbox, Policy::system()).await.0);
        if has_bwrap {
            other.push(spawn(&mut bwrap()));
        }
    }
    println!(
        "\n{title}: microseconds, median and 95th of {ROUNDS}, and what is added to the plain start"
    );
    let base = row("plain", &mut plain, None);
    row("confined", &mut confined, Some(base));
    row("  until the program", &mut launch, None);
    row("with the default limits", &mut grouped, Some(base));
    if has_bwrap {
        row("bwrap", &mut other, Some(base));
    }
}

/// What bwrap takes for about the same: own namespaces and a root of a few directories.
fn bwrap() -> Command {
    let arguments = "--unshare-all --ro-bind /usr /usr --symlink usr/bin /bin --symlink usr/lib /lib \
         --symlink usr/lib64 /lib64 --proc /proc --dev /dev --die-with-parent /bin/true";
    let mut command = Command::new("bwrap");
    command.args(arguments.split_whitespace());
    command
}

fn spawn(command: &mut Command) -> Duration {
    let started = Instant::now();
    let status = command.stdin(Stdio::null()).stdout(Stdio::piped()).output().unwrap();
    assert!(status.status.success());
    started.elapsed()
}

async fn confine(sandbox: &Sandbox, policy: Policy) -> (Duration, Duration) {
    let job = Job { argv: vec!["/bin/true".into()], cwd: "/usr".into(), stdin: Vec::new(), policy };
    let started = Instant::now();
    let finished = sandbox.run(job, &CancellationToken::new(), |_, _| {}).await.unwrap();
    (started.elapsed(), finished.timings.launch)
}

fn row(name: &str, times: &mut [Duration], base: Option<Duration>) -> Duration {
    times.sort();
    let (median, late) = (times[times.len() / 2], times[times.len() * 95 / 100]);
    let added = base.map(|base| format!("{:>+8}", micros(median) - micros(base)));
    println!(
        "{name:<26}{:>8}{:>8}{}",
        median.as_micros(),
        late.as_micros(),
        added.unwrap_or_default()
    );
    median
}

fn micros(time: Duration) -> i64 {
    i64::try_from(time.as_micros()).unwrap()
}
