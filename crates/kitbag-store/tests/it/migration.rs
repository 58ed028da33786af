//! Stores of other versions.

use std::fs;
use std::path::Path;

use kitbag_store::{
    FirstMeeting, Reviewed, SCHEMA_VERSION, Scope, ServerKey, Store, StoreError, StoreOptions,
};

use crate::{NOW, Scene, digest, record, tools};

/// A store as version 1 wrote it: no count of lost calls, no table of servers that were met.
const VERSION_1: &str = "
    PRAGMA application_id = 0x6b746267;
    CREATE TABLE skill_approval (
        workspace BLOB NOT NULL,
        root BLOB NOT NULL,
        directory TEXT NOT NULL,
        digest BLOB NOT NULL CHECK (length(digest) = 32),
        shown TEXT NOT NULL,
        at INTEGER NOT NULL,
        PRIMARY KEY (workspace, root, directory)
    ) STRICT;
    CREATE TABLE workspace_trust (
        workspace BLOB NOT NULL PRIMARY KEY,
        digest BLOB NOT NULL CHECK (length(digest) = 32),
        shown TEXT NOT NULL,
        at INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE server_consent (
        workspace BLOB NOT NULL,
        server TEXT NOT NULL,
        fingerprint BLOB NOT NULL CHECK (length(fingerprint) = 32),
        verdict TEXT NOT NULL CHECK (verdict IN ('approved', 'refused')),
        shown TEXT NOT NULL,
        at INTEGER NOT NULL,
        PRIMARY KEY (workspace, server)
    ) STRICT;
    CREATE TABLE pin (
        scope BLOB NOT NULL,
        server TEXT NOT NULL,
        kind TEXT NOT NULL,
        name TEXT NOT NULL,
        digest BLOB NOT NULL CHECK (length(digest) = 32),
        pinned TEXT NOT NULL,
        at INTEGER NOT NULL,
        PRIMARY KEY (scope, server, kind, name)
    ) STRICT;
    CREATE TABLE audit (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        at INTEGER NOT NULL,
        principal TEXT NOT NULL,
        source TEXT NOT NULL,
        tool TEXT NOT NULL,
        arguments BLOB NOT NULL CHECK (length(arguments) = 32),
        decision TEXT NOT NULL,
        rule TEXT NOT NULL,
        micros INTEGER NOT NULL,
        size INTEGER NOT NULL,
        outcome TEXT NOT NULL,
        through INTEGER NOT NULL
    ) STRICT;
    INSERT INTO workspace_trust VALUES (CAST('/w' AS BLOB), zeroblob(32), 'seen', 5);
    INSERT INTO pin VALUES (x'', 'files', 'tool', 'read', zeroblob(32), 'text', 7);
    INSERT INTO audit
        VALUES (41, 1, 'model', 'files', 'old', zeroblob(32), 'denied', 'rule', 2, 3, 'not-run', 120);
    PRAGMA user_version = 1;";

/// Writes a store of version 1, in either mode of the engine's log.
pub(crate) fn write_version_1(path: &Path, mode: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let connection = rusqlite::Connection::open(path).unwrap();
    connection
        .query_row(&format!("PRAGMA journal_mode = {mode}"), (), |row| row.get::<_, String>(0))
        .unwrap();
    connection.execute_batch(VERSION_1).unwrap();
    drop(connection);
    #[cfg(unix)]
    for path in [path, path.parent().unwrap()] {
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(path, fs::Permissions::from_mode(0o700)).unwrap();
    }
}

fn version(path: &Path) -> u32 {
    let connection = rusqlite::Connection::open(path).unwrap();
    connection.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap()
}

#[test]
fn version_1_is_migrated_and_keeps_what_it_holds() {
    for mode in ["WAL", "DELETE"] {
        let scene = Scene::new();
        write_version_1(&scene.path(), mode);
        let store = scene.open();
        assert!(store.is_workspace_trusted(Path::new("/w"), &digest(0)).unwrap());
        let server = ServerKey { scope: Scope::User, server: "files" };
        assert_eq!(store.pin_first(&server, &[], NOW).unwrap(), FirstMeeting::Known);
        assert_eq!(store.pins(&server).unwrap().unwrap().items[0].pinned, "text");
        let last = store.append_audit(&[record("new")]).unwrap().unwrap();
        assert_eq!(last.get(), 42);
        assert_eq!(tools(&store), ["old", "new"]);
        drop(store);
        assert_eq!(version(&scene.path()), SCHEMA_VERSION);
    }
}

/// A migration that fails half-way leaves the older store as it was.
#[test]
fn a_migration_is_all_or_nothing() {
    let scene = Scene::new();
    write_version_1(&scene.path(), "WAL");
    let connection = rusqlite::Connection::open(scene.path()).unwrap();
    connection.execute_batch("CREATE VIEW pinned_server AS SELECT 1").unwrap();
    drop(connection);
    Store::open(&scene.path(), NOW, StoreOptions::STANDARD).unwrap_err();
    assert_eq!(version(&scene.path()), 1);
    let connection = rusqlite::Connection::open(scene.path()).unwrap();
    connection.execute_batch("DROP VIEW pinned_server").unwrap();
    let lost: i64 = connection
        .query_row(
            "SELECT count(*) FROM pragma_table_info('audit') WHERE name = 'lost'",
            (),
            |row| row.get(0),
        )
        .unwrap();
    assert_eq!(lost, 0);
    drop(connection);
    assert_eq!(tools(&scene.open()), ["old"]);
}

#[test]
fn a_newer_store_is_refused_and_left_alone() {
    let scene = Scene::new();
    drop(scene.open());
    let connection = rusqlite::Connection::open(scene.path()).unwrap();
    connection.execute_batch("PRAGMA user_version = 9").unwrap();
    drop(connection);
    let before = fs::read(scene.path()).unwrap();
    let error = Store::open(&scene.path(), NOW, StoreOptions::STANDARD).unwrap_err();
    assert!(
        matches!(&error, StoreError::Newer { found: 9, known: SCHEMA_VERSION, .. }),
        "{error:?}"
    );
    let path = scene.path();
    assert_eq!(
        error.to_string(),
        format!("`{}` has schema 9, and this program knows {SCHEMA_VERSION}", path.display())
    );
    assert_eq!(fs::read(scene.path()).unwrap(), before);
}

/// A process that goes on while a later program migrates the file neither reads nor writes what it does not know.
#[test]
fn a_store_that_became_newer_is_refused_too() {
    let scene = Scene::new();
    let store = scene.open();
    let later = rusqlite::Connection::open(scene.path()).unwrap();
    later.execute_batch("PRAGMA user_version = 9").unwrap();
    let reviewed = Reviewed { digest: digest(1), shown: "", at: NOW };
    assert!(matches!(
        store.trust_workspace(Path::new("/w"), &reviewed),
        Err(StoreError::Newer { found: 9, .. })
    ));
    assert!(matches!(
        store.is_workspace_trusted(Path::new("/w"), &digest(1)),
        Err(StoreError::Newer { found: 9, .. })
    ));
}
