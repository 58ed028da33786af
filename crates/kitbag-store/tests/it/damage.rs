//! Files that are damaged: set aside and reported, and never emptied in silence.

use std::fs;
use std::path::Path;

use kitbag_store::{AuditId, Damage, Reviewed, SetAside, Store, StoreError, StoreOptions};
use proptest::prelude::*;

use crate::{NOW, Scene, digest, open, record, tools};

const WORKSPACE: &str = "/w";

/// A store with something in each part, closed.
fn filled() -> Scene {
    let scene = Scene::new();
    let store = scene.open();
    let reviewed = Reviewed { digest: digest(1), shown: "what was shown", at: NOW };
    store.trust_workspace(Path::new(WORKSPACE), &reviewed).unwrap();
    let records: Vec<_> = (0..400).map(|number| record(&format!("tool{number}"))).collect();
    store.append_audit(&records).unwrap();
    drop(store);
    scene
}

fn reopened_empty(scene: &Scene) -> SetAside {
    let opened = open(&scene.path());
    assert_eq!(tools(&opened.store), Vec::<String>::new());
    assert!(!opened.store.is_workspace_trusted(Path::new(WORKSPACE), &digest(1)).unwrap());
    opened.store.append_audit(&[record("new")]).unwrap();
    opened.set_aside.unwrap()
}

#[test]
fn what_is_no_database_is_set_aside_as_it_was() {
    let scene = filled();
    let garbage = b"Es war einmal ".repeat(1_000);
    fs::write(scene.path(), &garbage).unwrap();
    fs::write(scene.directory().join("kitbag.db-wal"), "its log").unwrap();
    for path in [scene.path(), scene.directory().join("kitbag.db-wal")] {
        private(&path);
    }
    let set_aside = reopened_empty(&scene);
    assert!(matches!(set_aside.damage, Damage::Unreadable(_)), "{set_aside:?}");
    let aside = scene.directory().join("kitbag.db.corrupt-20261130T234528Z");
    assert_eq!(set_aside.from, scene.path());
    assert_eq!(set_aside.to[0], aside);
    assert_eq!(fs::read(&aside).unwrap(), garbage);
    assert_eq!(
        fs::read_to_string(scene.directory().join("kitbag.db.corrupt-20261130T234528Z-wal"))
            .unwrap(),
        "its log"
    );
    assert_eq!(
        set_aside.to_string(),
        format!(
            "`{}` cannot be read (file is not a database); it was moved to `{}`, and an empty store begun: what was \
             approved, trusted or pinned is asked again",
            scene.path().display(),
            aside.display()
        )
    );
}

/// Two at one time do not overwrite each other.
#[test]
fn what_is_set_aside_has_a_name_of_its_own() {
    let scene = filled();
    for _ in 0..3 {
        fs::write(scene.path(), "nothing").unwrap();
        reopened_empty(&scene);
    }
    let aside: Vec<_> = scene.names().into_iter().filter(|name| name.contains("corrupt")).collect();
    let base = "kitbag.db.corrupt-20261130T234528Z";
    assert_eq!(aside, [base.to_owned(), format!("{base}-2"), format!("{base}-3")]);
}

#[test]
fn an_empty_file_is_not_taken_for_a_new_store() {
    let scene = filled();
    fs::write(scene.path(), "").unwrap();
    assert!(matches!(reopened_empty(&scene).damage, Damage::Empty));
}

#[test]
fn a_log_without_its_database_is_set_aside() {
    let scene = filled();
    fs::remove_file(scene.path()).unwrap();
    let log = scene.directory().join("kitbag.db-wal");
    fs::write(&log, "its log").unwrap();
    private(&log);
    let set_aside = reopened_empty(&scene);
    assert!(matches!(set_aside.damage, Damage::Gone));
    assert_eq!(fs::read_to_string(&set_aside.to[0]).unwrap(), "its log");
}

#[test]
fn a_truncated_file_is_set_aside() {
    let whole = fs::read(filled().path()).unwrap();
    for length in
        [1, 99, 100, 511, 512, 4_095, 4_096, 4_097, 8_192, whole.len() / 2, whole.len() - 1]
    {
        let scene = filled();
        fs::write(scene.path(), &whole[..length]).unwrap();
        let set_aside = reopened_empty(&scene);
        assert_eq!(fs::read(&set_aside.to[0]).unwrap(), whole[..length], "{length}");
    }
}

/// Damage that only shows in use: the use fails, and the next opening sets the file aside.
#[test]
fn damage_met_in_use_is_set_aside_at_the_next_opening() {
    let scene = filled();
    let mut bytes = fs::read(scene.path()).unwrap();
    // The last page holds the newest records, and no opening reads it.
    let last_page = bytes.len() - 4_096;
    bytes[last_page..last_page + 64].fill(0xff);
    fs::write(scene.path(), &bytes).unwrap();
    let store = scene.open();
    let read = |store: &Store| store.audit_after(AuditId::START);
    assert!(matches!(read(&store), Err(StoreError::Corrupt { .. })));
    // While somebody has it open it is used as it is.
    assert!(matches!(read(&scene.open()), Err(StoreError::Corrupt { .. })));
    drop(store);
    assert!(matches!(
        reopened_empty(&scene).damage,
        Damage::Inconsistent(_) | Damage::Unreadable(_)
    ));
    assert!(!scene.names().contains(&"kitbag.db.suspect".to_owned()));
}

/// A suspicion that turns out to be none costs nothing.
#[test]
fn a_whole_store_survives_suspicion() {
    let scene = filled();
    fs::write(scene.directory().join("kitbag.db.suspect"), "").unwrap();
    assert_eq!(tools(&scene.open()).len(), 400);
    assert!(!scene.names().contains(&"kitbag.db.suspect".to_owned()));
}

#[test]
fn a_damaged_file_that_is_in_use_is_not_moved() {
    let scene = filled();
    let store = scene.open();
    fs::write(scene.path(), "nothing").unwrap();
    let options =
        StoreOptions { patience: std::time::Duration::from_millis(20), ..StoreOptions::STANDARD };
    let error = Store::open(&scene.path(), NOW, options).unwrap_err();
    assert!(matches!(error, StoreError::InUse { .. }), "{error:?}");
    assert!(error.hint().unwrap().contains("end every other kitbag process"));
    drop(store);
    reopened_empty(&scene);
}

/// The file as one process after another would find it: at the latest the third has a store that works.
fn recovers(scene: &Scene, damaged: &[u8]) -> Result<(), TestCaseError> {
    for _ in 0..3 {
        let opened = match Store::open(&scene.path(), NOW, StoreOptions::STANDARD) {
            Ok(opened) => opened,
            // The damage is to the very bytes that say whose file it is, and of which version.
            Err(StoreError::Newer { .. } | StoreError::Foreign(_)) => {
                prop_assert_eq!(fs::read(scene.path()).unwrap(), damaged);
                return Ok(());
            }
            Err(error) => return Err(TestCaseError::fail(format!("{error:?}"))),
        };
        if let Some(set_aside) = &opened.set_aside {
            prop_assert_eq!(fs::read(&set_aside.to[0]).unwrap().len(), damaged.len());
            prop_assert_eq!(tools(&opened.store).len(), 0);
        }
        let read = || -> Result<(), StoreError> {
            opened.store.workspace_trust(Path::new(WORKSPACE))?;
            let mut after = AuditId::START;
            loop {
                let page = opened.store.audit_after(after)?;
                if page.next == after {
                    break;
                }
                after = page.next;
            }
            opened.store.append_audit(&[record("new")]).map(drop)
        };
        match read() {
            Ok(()) => return Ok(()),
            Err(StoreError::Corrupt { .. }) => {}
            Err(error) => return Err(TestCaseError::fail(format!("{error:?}"))),
        }
    }
    Err(TestCaseError::fail("still damaged"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Bytes changed anywhere, most often where it hurts: a typed error, or a store that works and a file set aside.
    #[test]
    fn random_damage_never_panics_and_never_empties_in_silence(
        places in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), any::<bool>()), 1..24),
    ) {
        let scene = filled();
        let mut bytes = fs::read(scene.path()).unwrap();
        for (place, byte, early) in places {
            let at = place.index(if early { 512 } else { bytes.len() });
            bytes[at] = byte;
        }
        fs::write(scene.path(), &bytes).unwrap();
        recovers(&scene, &bytes)?;
    }
}

#[cfg(unix)]
fn private(path: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
}

#[cfg(not(unix))]
fn private(_path: &Path) {}
