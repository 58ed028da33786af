//! Programs that use up what a machine has, and programs that don't want to end.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::time::Duration;

use super::check;

/// `KIND AMOUNT`, or `KIND MARK` for those that stay: the mark stands in their command line, where it is found.
pub(super) fn run(arguments: &[String]) {
    let [kind, amount] = arguments else { panic!("KIND AMOUNT") };
    let number = || amount.parse::<u64>().unwrap();
    match kind.as_str() {
        "fork" => forks(number()),
        "memory" => memory(number()),
        "memory-of-many" => memory_of_many(number()),
        "cpu" => spin(),
        "file" => file(number()),
        "files" => files(number()),
        "descriptors" => descriptors(),
        "output" => output(number(), b"0123456789abcde\n"),
        "output-of-one-line" => output(number(), b"0123456789abcdef"),
        "daemon" => daemon(),
        "stubborn" => stubborn(),
        "leave" => leave(),
        other => panic!("no bomb `{other}`"),
    }
}

fn fork() -> io::Result<i64> {
    // SAFETY: this program has one thread.
    check(unsafe { libc::fork() })
}

fn forks(most: u64) {
    let mut made = 0;
    while made < most {
        match fork() {
            Ok(0) => stay(),
            Ok(_) => made += 1,
            Err(error) => {
                println!("{made} {error}");
                return;
            }
        }
    }
    println!("{made} all");
}

/// Holds memory for good, every page of it touched.
fn hold(bytes: u64) -> bool {
    let mut held: Vec<u8> = Vec::new();
    let bytes = usize::try_from(bytes).unwrap();
    if held.try_reserve_exact(bytes).is_err() {
        return false;
    }
    held.resize(bytes, 1);
    std::hint::black_box(held.leak());
    true
}

fn memory(bytes: u64) {
    println!("{}", if hold(bytes) { "held" } else { "refused" });
}

/// Eight processes share the amount.
fn memory_of_many(bytes: u64) {
    let share = bytes / 8;
    for _ in 0..8 {
        if fork().unwrap() == 0 {
            let (answer, mut byte) = (hold(share), [0_u8]);
            println!("{}", if answer { "held" } else { "refused" });
            drop(io::Read::read(&mut io::stdin(), &mut byte));
            stay();
        }
    }
    // All hold at the same time: none ends before the first one is dead.
    let mut status = 0;
    // SAFETY: the pointer is to a local.
    unsafe { libc::wait(&raw mut status) };
    println!("first ended with {status}");
}

fn spin() {
    loop {
        std::hint::spin_loop();
    }
}

fn write_until(path: &str, most: u64) -> io::Result<u64> {
    // SAFETY: ignoring a signal has no preconditions.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
    let mut file = OpenOptions::new().create(true).truncate(true).write(true).open(path)?;
    let block = vec![7_u8; 64 * 1024];
    let mut written = 0;
    while written < most {
        match file.write(&block) {
            Ok(length) => written += length as u64,
            Err(error) => {
                println!("{path} {written} {error}");
                return Err(error);
            }
        }
    }
    Ok(written)
}

fn file(most: u64) {
    if let Ok(written) = write_until("one", most) {
        println!("one {written} all");
    }
}

/// Many files, each of a mebibyte.
fn files(most: u64) {
    let mut written = 0;
    for number in 0.. {
        if written >= most {
            println!("{written} all");
            return;
        }
        match write_until(&number.to_string(), 1024 * 1024) {
            Ok(length) => written += length,
            Err(_) => return,
        }
    }
}

fn descriptors() {
    let mut open = Vec::new();
    loop {
        match File::open("/dev/null") {
            Ok(_) if open.len() > 100_000 => break println!("{} all", open.len()),
            Ok(file) => open.push(file),
            Err(error) => break println!("{} {error}", open.len()),
        }
    }
}

fn output(most: u64, piece: &[u8]) {
    let block = piece.repeat(4096);
    let mut written = 0;
    let mut stdout = io::stdout().lock();
    while written < most {
        stdout.write_all(&block).unwrap();
        written += block.len() as u64;
    }
}

/// A child that leaves its session and its parent and ignores what it can, a second one in the group, and the parent.
fn daemon() {
    ignore();
    stay_behind();
    stay();
}

/// Ends when what it leaves behind is there.
fn leave() {
    ignore();
    stay_behind();
}

fn stay_behind() {
    let stays = |leaves: bool| {
        if fork().unwrap() == 0 {
            if leaves {
                // SAFETY: has no preconditions.
                check(unsafe { libc::setsid() }).unwrap();
                if fork().unwrap() != 0 {
                    std::process::exit(0);
                }
            }
            println!("up");
            stay();
        }
    };
    stays(true);
    stays(false);
}

fn stubborn() {
    ignore();
    println!("up");
    println!("up");
    stay();
}

fn ignore() {
    for signal in [libc::SIGTERM, libc::SIGHUP, libc::SIGINT, libc::SIGPIPE] {
        // SAFETY: ignoring a signal has no preconditions.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
}

fn stay() -> ! {
    loop {
        std::thread::sleep(Duration::from_hours(1));
    }
}
