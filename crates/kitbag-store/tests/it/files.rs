//! Where the files lie, who may write them, and what the file system refuses.
#![cfg(unix)]

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Command;

use kitbag_store::{Exposure, Reviewed, Store, StoreError, StoreOptions};

use crate::{NOW, Scene, digest, record};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

fn refusal(path: &Path) -> StoreError {
    Store::open(path, NOW, StoreOptions::STANDARD).unwrap_err()
}

#[test]
fn everything_is_made_for_the_user_alone() {
    let scene = Scene::new();
    let path = scene.directory().join("deep/down/kitbag.db");
    let store = Store::open(&path, NOW, StoreOptions::STANDARD).unwrap().store;
    store.append_audit(&[record("a")]).unwrap();
    let directory = path.parent().unwrap();
    for made in [directory, directory.parent().unwrap(), &scene.directory()] {
        assert_eq!(mode(made), 0o700, "{}", made.display());
    }
    let mut names = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let entry = entry.unwrap();
        assert_eq!(mode(&entry.path()), 0o600, "{}", entry.path().display());
        names.push(entry.file_name().into_string().unwrap());
    }
    names.sort();
    assert_eq!(names, ["kitbag.db", "kitbag.db-shm", "kitbag.db-wal", "kitbag.db.lock"]);
}

#[test]
fn what_others_can_write_is_refused() {
    let scene = Scene::new();
    drop(scene.open());
    for (path, good, bad) in [
        (scene.path(), 0o600, 0o620),
        (scene.path(), 0o600, 0o602),
        (scene.directory(), 0o700, 0o770),
        (scene.directory().join("kitbag.db.lock"), 0o600, 0o666),
    ] {
        fs::set_permissions(&path, Permissions::from_mode(bad)).unwrap();
        let refusal = refusal(&scene.path());
        assert!(
            matches!(&refusal, StoreError::Exposed { path: named, how: Exposure::Mode(mode) }
                if *named == path && *mode == bad),
            "{refusal}"
        );
        assert!(refusal.hint().unwrap().contains("chmod go-w"));
        fs::set_permissions(&path, Permissions::from_mode(good)).unwrap();
    }
    scene.open();
}

#[test]
fn a_link_or_a_directory_is_no_store() {
    let scene = Scene::new();
    let real = scene.directory().join("real.db");
    drop(Store::open(&real, NOW, StoreOptions::STANDARD).unwrap());
    symlink(&real, scene.path()).unwrap();
    assert!(matches!(refusal(&scene.path()), StoreError::WrongKind { .. }));
    fs::remove_file(scene.path()).unwrap();
    fs::create_dir(scene.path()).unwrap();
    assert!(matches!(refusal(&scene.path()), StoreError::WrongKind { .. }));
}

#[test]
fn a_directory_may_be_reached_by_a_link() {
    let scene = Scene::new();
    fs::create_dir(scene.directory()).unwrap();
    let link = scene.directory().with_file_name("link");
    symlink(scene.directory(), &link).unwrap();
    let store = Store::open(&link.join("kitbag.db"), NOW, StoreOptions::STANDARD).unwrap().store;
    assert_eq!(store.path(), scene.path());
}

#[test]
fn a_place_that_cannot_be_is_refused() {
    let scene = Scene::new();
    assert!(matches!(refusal(Path::new("kitbag.db")), StoreError::NotAbsolute(_)));
    assert!(matches!(refusal(Path::new("/")), StoreError::NotAbsolute(_)));
    fs::create_dir(scene.directory()).unwrap();
    let file = scene.directory().join("file");
    fs::write(&file, "").unwrap();
    assert!(matches!(refusal(&file.join("data/kitbag.db")), StoreError::Io { path, .. }
        if path == file.join("data")));
}

#[test]
fn another_programs_database_is_left_alone() {
    let scene = Scene::new();
    fs::create_dir(scene.directory()).unwrap();
    let theirs = rusqlite::Connection::open(scene.path()).unwrap();
    theirs.execute_batch("CREATE TABLE theirs (x)").unwrap();
    drop(theirs);
    fs::set_permissions(scene.path(), Permissions::from_mode(0o600)).unwrap();
    let before = fs::read(scene.path()).unwrap();
    assert!(matches!(refusal(&scene.path()), StoreError::Foreign(path) if path == scene.path()));
    assert_eq!(fs::read(scene.path()).unwrap(), before);
}

/// The name of the test that does what a directory of its own file system is needed for.
const ON_A_SMALL_DISK: &str = "files::on_a_small_disk";

/// Says in which directory [`on_a_small_disk`] works.
const SMALL_DISK: &str = "KITBAG_TEST_SMALL_DISK";

/// A full disk and a read-only file system: the error names the file and the remedy, and what was acknowledged stays.
///
/// Needs a name space of its own to mount in; where the kernel gives none, it says so and passes.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_and_a_read_only_one() {
    let scene = Scene::new();
    fs::create_dir(scene.directory()).unwrap();
    let unshare = |script: &str| {
        let mut command = Command::new("unshare");
        command.args(["--mount", "--map-root-user", "sh", "-ec", script, "sh"]);
        command.arg(scene.directory()).arg(std::env::current_exe().unwrap()).arg(ON_A_SMALL_DISK);
        command.env(SMALL_DISK, scene.directory());
        command.output()
    };
    let mount = "mount -t tmpfs -o size=1m,mode=0700 tmpfs \"$1\"";
    if !unshare(mount).is_ok_and(|output| output.status.success()) {
        eprintln!("SKIPPED: a file system cannot be mounted here");
        return;
    }
    let run = "\"$2\" --exact \"$3\" --nocapture";
    let output = unshare(&format!("{mount}; {run}; mount -o remount,ro \"$1\"; {run}")).unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("was full") && said.contains("was read-only"), "{said}");
}

#[test]
fn on_a_small_disk() {
    use std::io::Write as _;

    let Some(directory) = std::env::var_os(SMALL_DISK) else { return };
    let path = Path::new(&directory).join("kitbag.db");
    let mut said = std::io::stdout();
    let store = match Store::open(&path, NOW, StoreOptions::STANDARD) {
        Ok(opened) => opened.store,
        Err(error) => {
            assert!(matches!(error, StoreError::ReadOnly(_)), "{error:?}");
            assert!(error.hint().unwrap().contains("KITBAG_HOME"));
            return writeln!(said, "was read-only").unwrap();
        }
    };
    let reviewed = Reviewed { digest: digest(1), shown: "", at: NOW };
    store.trust_workspace(Path::new("/w"), &reviewed).unwrap();
    let records: Vec<_> = (0..100).map(|at| record(&at.to_string())).collect();
    let mut acknowledged = 0;
    let error = loop {
        match store.append_audit(&records) {
            Ok(_) => acknowledged += records.len(),
            Err(error) => break error,
        }
    };
    assert!(matches!(&error, StoreError::Full(named) if *named == path), "{error:?}");
    assert!(error.hint().unwrap().contains("free some space"));
    assert!(acknowledged > 0);
    drop(store);
    let opened = Store::open(&path, NOW, StoreOptions::STANDARD).unwrap();
    assert!(opened.set_aside.is_none());
    assert_eq!(crate::log(&opened.store).len(), acknowledged);
    assert!(opened.store.is_workspace_trusted(Path::new("/w"), &digest(1)).unwrap());
    writeln!(said, "was full").unwrap();
}

/// A file that its owner may not write. The superuser may do it all the same, and then there is nothing to see.
#[test]
fn a_file_without_permission_names_itself() {
    let scene = Scene::new();
    drop(scene.open());
    let lock = scene.directory().join("kitbag.db.lock");
    fs::set_permissions(&lock, Permissions::from_mode(0o000)).unwrap();
    match Store::open(&scene.path(), NOW, StoreOptions::STANDARD) {
        Ok(_) => assert!(fs::File::open(&lock).is_ok(), "opened without permission"),
        Err(error) => {
            assert!(matches!(&error, StoreError::NoPermission(path) if *path == lock), "{error:?}");
        }
    }
}
