//! Several processes at once, and processes that are killed. The other processes are this binary again, with a role.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use kitbag_store::{AuditWriter, Decision, Reviewed, SkillKey, Store, StoreOptions};

use crate::migration::write_version_1;
use crate::{NOW, Scene, digest, log, open, record, tools};

/// Says what a process does: a role, a name, and a number, with a path after them.
const ROLE: &str = "KITBAG_TEST_ROLE";

/// How often a process is killed.
const KILLS: usize = 200;

/// The most acknowledgements that a process is let live for; 17 values, so that it dies at each of its steps.
const MOST_LIVES: usize = 17;

fn start(role: &str, name: &str, count: usize, path: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "processes::another_process", "--nocapture"])
        .env(ROLE, format!("{role} {name} {count} {}", path.display()))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// What a process says it was told is on the disk.
fn acknowledgements(child: &mut Child) -> impl Iterator<Item = String> + use<> {
    let said = BufReader::new(child.stdout.take().unwrap());
    said.lines()
        .map_while(Result::ok)
        .filter_map(|line| line.split_once("acknowledged ").map(|(_, what)| what.to_owned()))
}

fn acknowledged(what: &str) {
    let mut stdout = std::io::stdout().lock();
    // Whoever killed this process may have stopped listening before.
    let _gone = writeln!(stdout, "acknowledged {what}").and_then(|()| stdout.flush());
}

/// What the other processes run. Without a role there is nothing to do.
#[test]
fn another_process() {
    let Some(role) = std::env::var_os(ROLE) else { return };
    let role = role.into_string().unwrap();
    let mut parts = role.splitn(4, ' ');
    let mut next = || parts.next().unwrap();
    let (role, name, count, path) = (next(), next(), next(), Path::new(next()));
    let count: usize = count.parse().unwrap();
    let store = open(path).store;
    match role {
        "append" => append(&store, name, count),
        "mixed" => mixed(&store, name, count),
        role => panic!("no role is called {role}"),
    }
}

fn append(store: &Store, name: &str, count: usize) {
    for number in 0..count {
        let tool = format!("{name}-{number}");
        store.append_audit(&[record(&tool)]).unwrap();
        acknowledged(&tool);
    }
}

/// Denials by the writer, with calls between them, and approvals: what is acknowledged first is asked for first.
fn mixed(store: &Store, name: &str, count: usize) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let writer = AuditWriter::start(store).unwrap();
    for number in 0..count {
        let tool = format!("{name}-{number}");
        let _queued = writer.record(record("call"));
        if number % 3 == 2 {
            store.approve_skill(&skill(&tool), &reviewed()).unwrap();
        } else {
            let mut denial = record(&tool);
            denial.decision = Decision::Denied;
            runtime.block_on(writer.record_at_once(denial)).unwrap();
        }
        acknowledged(&tool);
    }
}

fn skill(directory: &str) -> SkillKey<'_> {
    SkillKey { workspace: Path::new("/w"), root: Path::new("/w/skills"), directory }
}

fn reviewed() -> Reviewed<'static> {
    Reviewed { digest: digest(1), shown: "text", at: NOW }
}

#[test]
fn two_processes_lose_nothing() {
    const EACH: usize = 300;
    let scene = Scene::new();
    let mut children: Vec<Child> =
        ["a", "b"].map(|name| start("append", name, EACH, &scene.path())).into();
    let mut expected: Vec<String> = Vec::new();
    for child in &mut children {
        expected.extend(acknowledgements(child));
    }
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(expected.len(), 2 * EACH);
    let store = scene.open();
    let entries = log(&store);
    let ids: Vec<u64> = entries.iter().map(|entry| entry.id.get()).collect();
    assert_eq!(ids, (1..=2 * EACH as u64).collect::<Vec<_>>());
    let mut found = tools(&store);
    found.sort();
    expected.sort();
    assert_eq!(found, expected);
}

/// Killed at any moment, 200 times on one file, every record that was acknowledged is there.
#[test]
fn killed_200_times_every_acknowledged_record_is_there() {
    let scene = Scene::new();
    let mut expected: Vec<String> = Vec::new();
    let mut killed_at_work = 0;
    for round in 0..KILLS {
        let mut child = start("mixed", &round.to_string(), 1_000, &scene.path());
        // What was said after the last that is counted here was said all the same: all of it is read.
        let mut said = acknowledgements(&mut child);
        let lives = round % MOST_LIVES;
        expected.extend(said.by_ref().take(lives));
        child.kill().unwrap();
        expected.extend(said);
        killed_at_work += usize::from(!child.wait().unwrap().success());
        if round % 20 == 19 {
            verify(&scene, &expected);
        }
    }
    assert_eq!(killed_at_work, KILLS);
    assert!(expected.len() > KILLS);
    verify(&scene, &expected);
}

fn verify(scene: &Scene, expected: &[String]) {
    let store = scene.open();
    let denied: std::collections::HashSet<String> = tools(&store).into_iter().collect();
    for what in expected {
        let there =
            denied.contains(what) || store.is_skill_approved(&skill(what), &digest(1)).unwrap();
        assert!(there, "{what} was acknowledged and is gone");
    }
    drop(store);
    let connection = rusqlite::Connection::open(scene.path()).unwrap();
    let verdict: String =
        connection.query_row("PRAGMA integrity_check", (), |row| row.get(0)).unwrap();
    assert_eq!(verdict, "ok");
}

/// Processes that find the same old store at once: one migrates it, and none loses anything.
#[test]
fn an_old_store_is_migrated_once_by_many_processes() {
    for mode in ["WAL", "DELETE"] {
        let scene = Scene::new();
        write_version_1(&scene.path(), mode);
        gather(&scene, 1);
    }
}

/// Processes that find no store at once: one makes it.
#[test]
fn a_store_is_made_once_by_many_processes() {
    let scene = Scene::new();
    gather(&scene, 0);
    assert_eq!(scene.names(), ["kitbag.db", "kitbag.db.lock"]);
}

fn gather(scene: &Scene, before: usize) {
    let children: Vec<Child> =
        ["a", "b", "c", "d"].map(|name| start("append", name, 5, &scene.path())).into();
    for mut child in children {
        assert_eq!(acknowledgements(&mut child).count(), 5);
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(tools(&scene.open()).len(), before + 20);
}

/// Processes that find the same damaged file at once: one sets it aside, once, and none loses what it then writes.
#[test]
fn a_damaged_store_is_set_aside_once_by_many_processes() {
    let scene = Scene::new();
    drop(Store::open(&scene.path(), NOW, StoreOptions::STANDARD).unwrap());
    std::fs::write(scene.path(), "nothing").unwrap();
    gather(&scene, 0);
    let aside = scene.names().into_iter().filter(|name| name.contains("corrupt")).count();
    assert_eq!(aside, 1);
}
