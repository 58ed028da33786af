//! Rules of the tree that no compiler holds.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The most lines of a source file; what grows past it is two things.
const MAX_LINES: usize = 700;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn metadata() -> serde_json::Value {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version=1", "--no-deps", "--offline"])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn source_files(directory: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let entry = entry.unwrap();
        let path = entry.path();
        if entry.file_type().unwrap().is_dir() {
            if entry.file_name() != "target" {
                source_files(&path, files);
            }
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

/// The rows of the table headed *Crates* in `ARCHITECTURE.md`: crate, and the crates of ours that it may use.
fn allowed_edges() -> BTreeMap<String, BTreeSet<String>> {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let rows = text.lines().filter(|line| line.starts_with("| `"));
    let names = |cell: &str| -> BTreeSet<String> {
        cell.split('`').filter(|part| part.starts_with("kitbag")).map(str::to_owned).collect()
    };
    rows.map(|row| {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let name = cells[1].trim_matches('`').to_owned();
        (name, names(cells[3]))
    })
    .collect()
}

#[test]
fn crates_depend_on_what_the_architecture_allows() {
    let metadata = metadata();
    let mut actual = BTreeMap::new();
    for package in metadata["packages"].as_array().unwrap() {
        let edges: BTreeSet<String> = package["dependencies"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|dependency| dependency["kind"].is_null())
            .map(|dependency| dependency["name"].as_str().unwrap().to_owned())
            .filter(|name| name.starts_with("kitbag"))
            .collect();
        actual.insert(package["name"].as_str().unwrap().to_owned(), edges);
    }
    assert_eq!(actual, allowed_edges(), "ARCHITECTURE.md and the manifests disagree");
}

/// Whoever embeds typed skills gets no MCP server, and none of what that brings.
#[test]
fn the_sdk_knows_no_protocol_without_serve() {
    let tree = |features: &[&str]| {
        let output = Command::new(env!("CARGO"))
            .args(["tree", "-p", "kitbag-sdk", "-e", "normal", "--prefix=none", "--offline"])
            .args(features)
            .current_dir(root())
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let served = ["rmcp", "axum", "hyper", "kitbag-server"];
    let names = |text: &str| -> BTreeSet<String> {
        text.lines().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect()
    };
    let (light, full) = (names(&tree(&[])), names(&tree(&["--features", "serve"])));
    assert!(served.iter().all(|name| full.contains(*name)), "{full:?}");
    assert!(!served.iter().any(|name| light.contains(*name)), "{light:?}");
}

#[test]
fn every_crate_takes_the_workspace_lints() {
    for entry in fs::read_dir(root().join("crates")).unwrap() {
        let manifest = entry.unwrap().path().join("Cargo.toml");
        let text = fs::read_to_string(&manifest).unwrap();
        assert!(text.contains("[lints]\nworkspace = true"), "{}", manifest.display());
    }
}

#[test]
fn one_tls_library_and_nothing_from_git() {
    let lock = fs::read_to_string(root().join("Cargo.lock")).unwrap();
    for refused in ["aws-lc-sys", "openssl-sys", "native-tls"] {
        assert!(!lock.contains(&format!("name = \"{refused}\"")), "{refused} is in Cargo.lock");
    }
    assert!(!lock.contains("git+"), "a dependency comes from git");
}

#[test]
fn no_source_file_is_two_things() {
    let mut files = Vec::new();
    source_files(&root().join("crates"), &mut files);
    let long: Vec<String> = files
        .iter()
        .filter(|path| !path.components().any(|part| part.as_os_str() == "tests"))
        .filter_map(|path| {
            let lines = fs::read_to_string(path).unwrap().lines().count();
            (lines > MAX_LINES).then(|| format!("{}: {lines} lines", path.display()))
        })
        .collect();
    assert_eq!(long, Vec::<String>::new());
}

#[test]
fn no_test_file_is_forgotten() {
    for entry in fs::read_dir(root().join("crates")).unwrap() {
        let tests = entry.unwrap().path().join("tests/it");
        let Ok(main) = fs::read_to_string(tests.join("main.rs")) else { continue };
        for file in fs::read_dir(&tests).unwrap() {
            let path = file.unwrap().path();
            let stem = path.file_stem().unwrap().to_str().unwrap();
            let module =
                path.is_dir() || path.extension().is_some_and(|extension| extension == "rs");
            if module
                && stem != "main"
                && !path.ends_with("snapshots")
                && !path.ends_with("fixtures")
            {
                assert!(main.contains(&format!("mod {stem};")), "{} is in no test", path.display());
            }
        }
    }
}
