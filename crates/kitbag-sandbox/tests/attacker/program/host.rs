//! Stands for the server: it has secrets, and runs the attacker in its sandbox, or without one for comparison.

use std::fs::{self, File};
use std::io;
use std::net::{TcpListener, UdpSocket};
use std::os::fd::AsRawFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use kitbag_sandbox::{
    Allowed, Guarantee, Job, Launcher, Limits, Network, Policy, Sandbox, Scratch, Tier,
};
use tokio_util::sync::CancellationToken;

use super::{Facts, check};

/// What attacks plant where they can write; taken away again.
const PLANTED: [&str; 2] = ["/usr/bin/kitbag-planted", "/dev/kitbag-planted"];
/// How long to look for processes that should be dead.
const PATIENCE: Duration = Duration::from_secs(20);

/// `plain|confined|many|report WISH=VALUE... -- COMMAND...`, where the command is this program's own.
pub(super) fn run(arguments: &[String]) {
    let split = arguments.iter().position(|each| each == "--").unwrap_or(arguments.len());
    let wishes = Facts::of(&arguments[1..split]);
    let command = arguments.get(split + 1..).unwrap_or_default();
    let program = std::env::current_exe().unwrap();
    let mut argv = vec![program.to_str().unwrap().to_owned()];
    argv.extend(command.iter().cloned());
    // Attacks on the group of this process are attacks on it alone.
    // SAFETY: has no preconditions.
    drop(check(unsafe { libc::setpgid(0, 0) }));
    let victims = (command.first().is_some_and(|first| first == "attack"))
        .then(|| Victims::make(&wishes.path("in")));
    argv.extend(victims.iter().flat_map(|victims| victims.told.iter().cloned()));
    match arguments[0].as_str() {
        "plain" => plain(&argv),
        "confined" => confined(&argv, &wishes),
        "many" => many(&argv, &wishes),
        "report" => println!("{:#?}", Sandbox::probe(Launcher::this_program()).report()),
        other => panic!("no kind `{other}`"),
    }
    drop(victims);
}

struct Victims {
    told: Vec<String>,
    _tcp: TcpListener,
    _udp: UdpSocket,
    _streams: [UnixListener; 2],
    _datagram: UnixDatagram,
}

impl Victims {
    fn make(directory: &Path) -> Self {
        let place = |name: &str| directory.join(name);
        for name in ["scratch", "skill", "other", "home"] {
            fs::create_dir(place(name)).unwrap();
        }
        for name in ["secret", "victim", "other/SKILL.md", "skill/SKILL.md", "home/.profile"] {
            fs::write(place(name), "hunter2\n").unwrap();
        }
        fs::set_permissions(place("secret"), fs::Permissions::from_mode(0o600)).unwrap();
        let secret = File::open(place("secret")).unwrap();
        // SAFETY: nothing here has descriptor 77. It is inherited on purpose.
        check(unsafe { libc::dup2(secret.as_raw_fd(), 77) }).unwrap();
        let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
        let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
        let name = format!("kitbag-attack-{}", std::process::id());
        let hidden = SocketAddr::from_abstract_name(&name).unwrap();
        let streams =
            [UnixListener::bind(place("unix")).unwrap(), UnixListener::bind_addr(&hidden).unwrap()];
        let datagram = UnixDatagram::bind(place("datagram")).unwrap();
        // SAFETY: the segment is attached wherever there is room, and goes with this process.
        let shm = unsafe {
            let shm = libc::shmget(libc::IPC_PRIVATE, 4096, 0o600 | libc::IPC_CREAT);
            libc::shmat(shm, std::ptr::null(), 0);
            libc::shmctl(shm, libc::IPC_RMID, std::ptr::null_mut());
            shm
        };
        let mut told = vec![
            format!("parent={}", std::process::id()),
            format!("shm={shm}"),
            format!("tcp={}", tcp.local_addr().unwrap().port()),
            format!("udp={}", udp.local_addr().unwrap().port()),
            format!("abstract={name}"),
        ];
        for name in ["secret", "victim", "other", "skill", "home", "scratch", "unix", "datagram"] {
            told.push(format!("{name}={}", place(name).display()));
        }
        Self { told, _tcp: tcp, _udp: udp, _streams: streams, _datagram: datagram }
    }
}

/// Runs the command with all rights of this process, but where root's could break the machine.
fn plain(argv: &[String]) {
    // SAFETY: plain calls with constant strings.
    unsafe {
        let fenced =
            libc::geteuid() == 0 && libc::unshare(libc::CLONE_NEWNS | libc::CLONE_NEWUTS) == 0;
        println!("{}", if fenced { "all-powerful" } else { "ordinary" });
        if fenced {
            let (flags, nothing) = (libc::MS_REC | libc::MS_PRIVATE, std::ptr::null());
            check(libc::mount(nothing, c"/".as_ptr(), nothing, flags, nothing.cast())).unwrap();
        }
    }
    println!("ended {:?}", Command::new(&argv[0]).args(&argv[1..]).status());
    for path in PLANTED {
        drop(fs::remove_file(path));
    }
}

fn tier(name: &str) -> Tier {
    [Tier::None, Tier::Lsm, Tier::Namespaces, Tier::Full]
        .into_iter()
        .find(|tier| tier.to_string() == name)
        .unwrap_or(Tier::Lsm)
}

fn policy(program: &str, wishes: &Facts) -> Policy {
    let wish = |name: &str| wishes.text(name).parse::<u64>().ok();
    let place = |name: &str| wishes.path("in").join(name);
    let allowed: Vec<Guarantee> = Guarantee::ALL
        .into_iter()
        .filter(|each| wishes.text("allowed").split(',').any(|name| name == each.name()))
        .collect();
    let mut policy = Policy::system();
    policy.execute.push(PathBuf::from(program));
    if place("skill").exists() {
        policy.read.push(place("skill"));
    }
    drop(fs::create_dir(place("scratch")));
    policy.scratch = Some(Scratch { path: place("scratch"), bytes: wish("scratch") });
    policy.environment.push(("GIVEN".into(), "1".into()));
    policy.least = tier(wishes.text("least"));
    if !allowed.is_empty() {
        policy.allowed = Allowed::Weaker(allowed);
    }
    if !wishes.text("host").is_empty() {
        policy.network = Network::Hosts(vec![wishes.text("host").parse().unwrap()]);
    }
    policy.limits = Limits {
        memory_each: wish("memory_each"),
        memory_total: wish("memory_total"),
        processes: wish("processes"),
        cpu_each: wish("cpu").map(Duration::from_secs),
        file_size: wish("file_size"),
        open_files: wish("open_files"),
        wall: Some(wish("wall_ms").map_or(Duration::from_mins(2), Duration::from_millis)),
        grace: Duration::from_millis(wish("grace_ms").unwrap_or(20)),
        output: 64 * 1024,
    };
    policy
}

fn confined(argv: &[String], wishes: &Facts) {
    let sandbox = Sandbox::probe(Launcher::this_program());
    println!("tier {}", sandbox.tier());
    let cwd = wishes.path("in").join("scratch");
    let policy = policy(&argv[0], wishes);
    let job = Job { argv: argv.iter().map(Into::into).collect(), cwd, stdin: Vec::new(), policy };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(run_until(&sandbox, job, wishes.text("end")));
    if let Some(mark) = argv.iter().find(|each| each.starts_with("mark-")) {
        println!("left {}", others(mark).len());
    }
}

/// Runs the command again and again, some of it cancelled, and says what that left.
fn many(argv: &[String], wishes: &Facts) {
    let sandbox = Sandbox::probe(Launcher::this_program());
    println!("tier {}", sandbox.tier());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let runs = |count: i32| {
        for number in 0..count {
            let cwd = wishes.path("in").join("scratch");
            let policy = policy(&argv[0], wishes);
            let argv = argv.iter().map(Into::into).collect();
            let job = Job { argv, cwd, stdin: b"x".to_vec(), policy };
            let cancel = CancellationToken::new();
            if number % 8 == 7 {
                cancel.cancel();
            }
            if let Err(error) = runtime.block_on(sandbox.run(job, &cancel, |_, _| {})) {
                println!("refused {error}");
                return;
            }
        }
    };
    // What is made once is made by then.
    runs(20);
    let (descriptors, memory) = (entries("/proc/self/fd"), resident());
    runs(wishes.number("count"));
    println!("descriptors {}", entries("/proc/self/fd").abs_diff(descriptors));
    println!("grown {}", resident().saturating_sub(memory));
    println!("files {}", entries(wishes.path("in").join("scratch").to_str().unwrap()));
    let mut status = 0;
    // SAFETY: the pointer is to a local.
    let child = check(unsafe { libc::waitpid(-1, &raw mut status, libc::WNOHANG) });
    println!("children {}", if child.is_err() { "none" } else { "some" });
}

fn entries(directory: &str) -> usize {
    fs::read_dir(directory).unwrap().count()
}

/// The memory of this process, in KiB.
fn resident() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

/// Runs the job, and ends it as wished as soon as it said for the second time that it is up.
async fn run_until(sandbox: &Sandbox, job: Job, end: &str) {
    let mark = job.argv.iter().find(|each| each.to_str().unwrap().starts_with("mark-")).cloned();
    let cancel = CancellationToken::new();
    let up = tokio::sync::Notify::new();
    let mut ups = 0;
    let wall = job.policy.limits.wall;
    let started = Instant::now();
    let run = sandbox.run(job, &cancel, |_, line| {
        ups += usize::from(line == "up");
        if ups == 2 && line == "up" {
            println!("up");
            up.notify_one();
        }
    });
    let mut run = Box::pin(run);
    let mut ended = None;
    let finished = tokio::select! {
        finished = &mut run => finished,
        () = up.notified() => {
            ended = Some(Instant::now());
            match end {
                "drop" => {
                    drop(run);
                    let mark = mark.unwrap();
                    while !others(mark.to_str().unwrap()).is_empty() && ended.unwrap().elapsed() < PATIENCE {
                        tokio::time::sleep(Duration::from_millis(1)).await;
                    }
                    println!("dropped\nafter {} us", ended.unwrap().elapsed().as_micros());
                    return;
                }
                "cancel" => cancel.cancel(),
                _ => {}
            }
            run.await
        }
    };
    if end == "wall" {
        ended = wall.map(|wall| started + wall);
    }
    if let Some(ended) = ended {
        println!("after {} us", ended.elapsed().as_micros());
    }
    match finished {
        Err(error) => println!("refused {error}"),
        Ok(finished) => {
            println!("ended {:?}", finished.ended);
            println!("total {} {}", finished.stdout.bytes.len(), finished.stdout.total);
            println!("truncated {}", finished.stdout.is_truncated());
            println!("out-of-memory {}", finished.out_of_memory);
            for (guarantee, why) in &finished.gaps {
                println!("gap {guarantee} {why}");
            }
            println!("output\n{}", String::from_utf8_lossy(&finished.stdout.bytes));
            println!("errors\n{}", String::from_utf8_lossy(&finished.stderr.bytes));
        }
    }
}

/// The processes but this one that bear a mark in their command line.
fn others(mark: &str) -> Vec<u32> {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let bears = |pid: &u32| -> io::Result<bool> {
        let line = fs::read(format!("/proc/{pid}/cmdline"))?;
        Ok(line.windows(mark.len()).any(|part| part == mark.as_bytes()))
    };
    numbers.filter(|pid| *pid != std::process::id() && bears(pid).unwrap_or(false)).collect()
}
