//! x
use kitbag_sandbox::{Job, Policy};
use tokio_util::sync::CancellationToken;

#[tokio::test]
async fn echo() {
    let sandbox = super::sandbox();
    println!("{:#?}", sandbox.report());
    let job = Job {
        argv: vec!["/bin/sh".into(), "-c".into(), "echo hi; id; ls -l / /dev /proc/self/fd; cat /proc/self/status /proc/mounts; echo x >&2; exit 3".into()],
        cwd: "/usr".into(),
        stdin: Vec::new(),
        policy: Policy::system(),
    };
    let out = sandbox.run(job, &CancellationToken::new(), |s, l| println!("{s:?} {l}")).await;
    println!("{:?}", out.map(|o| (o.ended, o.tier, o.gaps, o.timings)));
}
