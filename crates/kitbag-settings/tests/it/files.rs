//! Settings files on disk.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;

use kitbag_settings::file::{Loaded, ReadError, SaveError, SettingsFile, load, read};
use kitbag_settings::{KeyPath, Layer, MAX_FILE_BYTES, Settings, Trust};
use serde_json::json;
use tempfile::tempdir;

use crate::sections::{Agent, told};

fn model() -> KeyPath {
    KeyPath::of(["model"])
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

fn names(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn edit(path: &Path, value: &str) -> Result<(), SaveError> {
    let mut file = SettingsFile::open(path).unwrap();
    file.set(&model(), &json!(value)).unwrap();
    file.save()
}

#[test]
fn a_missing_file_says_nothing_and_is_made_for_its_owner_alone() {
    let home = tempdir().unwrap();
    let path = home.path().join("new/.kitbag/settings.json");
    assert_eq!(read(&path).unwrap(), None);
    let Loaded { source, bytes, diagnostics: faults } = load(Layer::User, &path);
    assert_eq!((faults, bytes), (vec![], None));
    assert_eq!(Settings::new(vec![source], Trust::Untrusted).get::<Agent>().0, Agent::default());

    edit(&path, "m").unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "{\n  \"model\": \"m\"\n}\n");
    assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
}

#[test]
fn an_edit_keeps_the_mode_and_leaves_nothing_behind() {
    let home = tempdir().unwrap();
    let path = home.path().join("settings.json");
    fs::write(&path, "\u{feff}{\r\n\t// mine\r\n\t\"model\": \"a\"}").unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
    edit(&path, "b").unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "\u{feff}{\r\n\t// mine\r\n\t\"model\": \"b\"}");
    assert_eq!(mode(&path), 0o640);
    assert_eq!(names(home.path()), ["settings.json"]);
}

#[test]
fn a_link_is_followed_and_stays_a_link() {
    let home = tempdir().unwrap();
    fs::create_dir(home.path().join("dotfiles")).unwrap();
    let target = home.path().join("dotfiles/settings.json");
    fs::write(&target, "{}").unwrap();
    let path = home.path().join("settings.json");
    symlink("dotfiles/settings.json", &path).unwrap();
    edit(&path, "m").unwrap();
    assert!(fs::symlink_metadata(&path).unwrap().is_symlink());
    assert_eq!(fs::read_to_string(&target).unwrap(), "{\n  \"model\": \"m\"\n}");
    assert_eq!(names(home.path()), ["dotfiles", "settings.json"]);
}

#[test]
fn a_link_to_nothing_is_refused() {
    let home = tempdir().unwrap();
    let path = home.path().join("settings.json");
    symlink("nowhere/settings.json", &path).unwrap();
    assert!(SettingsFile::open(&path).is_err());
    // What it denied is not forgotten because its target is gone for a while.
    assert!(matches!(read(&path), Err(ReadError::Io { .. })));
    assert_eq!(names(home.path()), ["settings.json"]);
}

#[test]
fn a_file_that_changed_since_it_was_read_is_refused() {
    let home = tempdir().unwrap();
    let path = home.path().join("settings.json");
    for before in [None, Some("{}")] {
        for after in [None, Some("{\"model\": \"theirs\"}")] {
            if before == after {
                continue;
            }
            let put = |text: Option<&str>| match text {
                Some(text) => fs::write(&path, text).unwrap(),
                None => drop(fs::remove_file(&path)),
            };
            put(before);
            let mut file = SettingsFile::open(&path).unwrap();
            file.set(&model(), &json!("mine")).unwrap();
            put(after);
            let fault = file.save().unwrap_err();
            assert!(matches!(fault, SaveError::Changed { .. }), "{fault:?}");
            assert_eq!(fs::read_to_string(&path).ok().as_deref(), after);
        }
    }
}

#[test]
fn a_read_only_file_is_refused() {
    let home = tempdir().unwrap();
    let path = home.path().join("settings.json");
    fs::write(&path, "{}").unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o400)).unwrap();
    assert!(matches!(edit(&path, "m"), Err(SaveError::ReadOnly { .. })));
    assert_eq!(fs::read_to_string(&path).unwrap(), "{}");
}

#[test]
fn an_edit_that_changes_nothing_writes_nothing() {
    let home = tempdir().unwrap();
    let path = home.path().join("new/settings.json");
    let mut file = SettingsFile::open(&path).unwrap();
    file.remove(&model()).unwrap();
    file.save().unwrap();
    assert_eq!(names(home.path()), Vec::<String>::new());
}

#[test]
fn another_writer_is_not_waited_for() {
    let home = tempdir().unwrap();
    let path = home.path().join("settings.json");
    let held = fs::File::open(home.path()).unwrap();
    held.lock().unwrap();
    assert!(matches!(edit(&path, "m"), Err(SaveError::Busy { .. })));
    drop(held);
    edit(&path, "m").unwrap();
}

#[test]
fn of_many_writers_no_acknowledged_edit_is_lost() {
    let home = tempdir().unwrap();
    let path = home.path().join("settings.json");
    let saved: Vec<Vec<String>> = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..4)
            .map(|writer| {
                let path = &path;
                scope.spawn(move || {
                    let mut saved = Vec::new();
                    for at in 0..20 {
                        let key = format!("k{writer}-{at}");
                        let mut file = SettingsFile::open(path).unwrap();
                        file.set(&KeyPath::of([key.clone()]), &json!(1)).unwrap();
                        match file.save() {
                            Ok(()) => saved.push(key),
                            Err(SaveError::Changed { .. } | SaveError::Busy { .. }) => {}
                            Err(fault) => panic!("{fault:?}"),
                        }
                    }
                    saved
                })
            })
            .collect();
        writers.into_iter().map(|writer| writer.join().unwrap()).collect()
    });
    let mut wanted: Vec<String> = saved.into_iter().flatten().collect();
    wanted.sort();
    assert!(!wanted.is_empty());
    let text = fs::read(&path).unwrap();
    let (document, faults) = kitbag_settings::parse(&path, &text);
    assert_eq!(faults, []);
    let mut found: Vec<String> = document.to_value().as_object().unwrap().keys().cloned().collect();
    found.sort();
    assert_eq!(found, wanted);
    assert_eq!(names(home.path()), ["settings.json"]);
}

#[test]
fn what_is_no_readable_file_is_told() {
    let home = tempdir().unwrap();
    let at = |name: &str| home.path().join(name);
    fs::create_dir(at("directory")).unwrap();
    let _socket = UnixListener::bind(at("socket")).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, at("pipe"), rustix::fs::Mode::RUSR).unwrap();
    fs::write(at("large"), vec![b' '; MAX_FILE_BYTES + 1]).unwrap();
    symlink("loop", at("loop")).unwrap();
    let names = ["directory", "socket", "pipe", "large", "loop", "/dev/null"];
    let faults = names.map(|name| told(&load(Layer::User, &at(name)).diagnostics));
    let shown = faults.concat().replace(home.path().to_str().unwrap(), "~");
    insta::assert_snapshot!(shown, @"
    ~/directory: a directory, pipe or device lies where the settings file belongs [unreadable]
      hint: put a regular file in its place, or move it away
    ~/socket: a directory, pipe or device lies where the settings file belongs [unreadable]
      hint: put a regular file in its place, or move it away
    ~/pipe: a directory, pipe or device lies where the settings file belongs [unreadable]
      hint: put a regular file in its place, or move it away
    ~/large: the file has more than 1048576 bytes, so none of it is read [too-large]
      hint: settings are small: see whether this is the file that was meant
    ~/loop: the file cannot be read: Too many levels of symbolic links (os error 40) [unreadable]
      hint: see to its owner and mode
    /dev/null: a directory, pipe or device lies where the settings file belongs [unreadable]
      hint: put a regular file in its place, or move it away
    ");
    fs::write(at("latin1"), b"{\"a\": \"\xe9\"}").unwrap();
    assert!(matches!(SettingsFile::open(&at("latin1")), Err(ReadError::NotUtf8 { .. })));
    assert!(matches!(read(&at("large")), Err(ReadError::TooLarge { .. })));
    assert!(matches!(read(&at("pipe")), Err(ReadError::NotAFile { .. })));
}
