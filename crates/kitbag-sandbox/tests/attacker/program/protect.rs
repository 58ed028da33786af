//! A server that protects its environment, and the child that tries to read it all the same.

use std::fs;
use std::io::Read;
use std::process::Command;

use kitbag_sandbox::{Launcher, Sandbox, protect_environment};

/// `first|late|never|peek PID`
pub(super) fn run(arguments: &[String]) {
    match arguments[0].as_str() {
        "peek" => peek(&arguments[1]),
        "late" => {
            let (end, ended) = std::sync::mpsc::channel::<()>();
            let other = std::thread::spawn(move || ended.recv().is_err());
            println!("protection {:?}", protect_environment());
            drop(end);
            assert!(other.join().unwrap());
            tell();
        }
        "first" => {
            let protection = protect_environment();
            println!("protection {protection:?}\nholds {}", protection.holds());
            // Once more changes nothing.
            println!("again {}", protect_environment().environment == protection.environment);
            tell();
            println!("tier {}", Sandbox::probe(Launcher::this_program()).tier());
        }
        _ => tell(),
    }
}

/// Says what this process still knows, and what its child finds.
fn tell() {
    let mut variables: Vec<_> = std::env::vars_os().collect();
    variables.sort();
    println!("variables {variables:?}");
    let inherited = Command::new("/usr/bin/env").output().unwrap();
    let inherited = String::from_utf8_lossy(&inherited.stdout).contains("SECRET_TOKEN=hunter2");
    println!("inherited {inherited}");
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["protect", "peek", &std::process::id().to_string()]).env_clear();
    print!("{}", String::from_utf8_lossy(&child.output().unwrap().stdout));
}

fn peek(parent: &str) {
    let environment = fs::read(format!("/proc/{parent}/environ"));
    let seen = match &environment {
        Ok(bytes) if bytes.windows(7).any(|part| part == b"hunter2") => "secret".to_owned(),
        Ok(bytes) if bytes.iter().all(|byte| *byte == 0) => format!("{} zeros", bytes.len()),
        Ok(_) => "other".to_owned(),
        Err(error) => error.to_string(),
    };
    println!("child-sees {seen}");
    let opened = fs::File::open(format!("/proc/{parent}/mem"));
    let memory = opened.map(|file| file.take(0).limit());
    println!("child-opens-memory {}", memory.is_ok());
}
