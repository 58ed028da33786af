//! What a listing of a skill's folder holds, under its limits and among hostile things.
#![expect(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

use std::fs::{self, File, Permissions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use kitbag_skills::{
    BundledFile, Child, Folder, Manifest, ManifestFile, ManifestLimits, Problem, Reason, SkillPath,
};
use rustix::fs::{AtFlags, CWD, Mode, mkdirat, openat};

use crate::reading::Bench;

const LIMITS: ManifestLimits = ManifestLimits::STANDARD;

fn manifest(bench: &Bench) -> Manifest {
    bench.folder.manifest(&LIMITS)
}

fn paths(manifest: &Manifest) -> Vec<&str> {
    manifest.files.iter().map(|file| file.path.as_str()).collect()
}

fn directories(manifest: &Manifest) -> Vec<&str> {
    manifest.directories.iter().map(SkillPath::as_str).collect()
}

/// The problems, one a line, with the folder's own path as `SKILL`.
fn told(bench: &Bench, manifest: &Manifest) -> String {
    let lines: Vec<_> = manifest.problems.iter().map(Problem::to_string).collect();
    lines.join("\n").replace(bench.skill.to_str().unwrap(), "SKILL")
}

#[test]
fn k23_paths_are_relative_in_byte_order_with_sizes() {
    let bench = Bench::new();
    bench.write("references/a.md", "abc");
    bench.write("references/deep/b.md", "");
    bench.write("references.md", "x");
    bench.write(".hidden", "x");
    bench.write("nested/SKILL.md", "x");
    fs::create_dir(bench.skill.join("empty")).unwrap();
    let manifest = manifest(&bench);
    let sizes: Vec<_> = manifest.files.iter().map(|file| (file.path.as_str(), file.size)).collect();
    assert_eq!(
        sizes,
        [
            (".hidden", 1),
            ("SKILL.md", 7),
            ("nested/SKILL.md", 1),
            ("references.md", 1),
            ("references/a.md", 3),
            ("references/deep/b.md", 0),
        ]
    );
    assert_eq!(directories(&manifest), ["empty", "nested", "references", "references/deep"]);
    assert_eq!((manifest.problems.len(), manifest.complete, manifest.bytes()), (0, true, 13));
    assert_eq!(manifest.file("references/a.md").map(|file| file.size), Some(3));
    assert_eq!(manifest.file("references"), None);
}

#[test]
fn k23_names_that_the_read_tools_refuse_are_told_once() {
    let bench = Bench::new();
    bench.write("read%20me.txt", "x");
    bench.write("od%d/a.md", "x");
    bench.write("od%d/b/c.md", "x");
    bench.write("fine/back\\slash.md", "x");
    fs::write(bench.skill.join(std::ffi::OsStr::from_bytes(b"\xff\xfe.md")), "x").unwrap();
    let manifest = manifest(&bench);
    assert_eq!(paths(&manifest), ["SKILL.md"]);
    insta::assert_snapshot!(told(&bench, &manifest), @r#"
SKILL/fine/back\slash.md: `fine/back\\slash.md` is not a path inside a skill: it holds a backslash [unusable-path]
SKILL/od%d: `od%d` is not a path inside a skill: it holds a `%`; nothing in it is listed [unusable-path]
SKILL/read%20me.txt: `read%20me.txt` is not a path inside a skill: it holds a `%` [unusable-path]
SKILL/��.md: its name is not UTF-8 [unusable-path]
"#);
    assert!(manifest.problems.iter().all(|problem| problem.reason == Reason::UnusablePath));
    assert!(serde_json::to_string(&manifest.problems).is_ok());
}

/// K-23 with section 10, weakness 17: what a link inside leads to can be read, so it is listed.
#[test]
fn k23_better_10_17_links_inside_are_listed_and_links_out_are_told() {
    let bench = Bench::new();
    bench.write("a/b.md", "abc");
    bench.link("in.md", "a/b.md");
    bench.link("absolute.md", bench.skill.join("a/b.md"));
    bench.link("dir", "a");
    bench.link("a/loop", "..");
    bench.link("self", ".");
    bench.link("out.md", "../secret.md");
    bench.link("out", "..");
    bench.link("etc", "/etc");
    bench.link("broken", "nowhere");
    bench.link("round", "round");
    bench.link("env.md", ".env");
    bench.write(".env", "KEY=1");
    let manifest = manifest(&bench);
    assert_eq!(paths(&manifest), ["SKILL.md", "a/b.md", "absolute.md", "in.md"]);
    let link = manifest.file("in.md").unwrap();
    let target = manifest.file("a/b.md").unwrap();
    assert_eq!(*link, ManifestFile { path: link.path.clone(), link: true, ..target.clone() });
    assert_eq!(directories(&manifest), ["a"]);
    assert_eq!(manifest.left_out, 2);
    insta::assert_snapshot!(told(&bench, &manifest), @r#"
SKILL/broken: the link is broken: it leads to nothing [symlink-escape]
SKILL/etc: the link leads out of the skill, so it is not listed [symlink-escape]
SKILL/out: the link leads out of the skill, so it is not listed [symlink-escape]
SKILL/out.md: the link leads out of the skill, so it is not listed [symlink-escape]
SKILL/round: the link is broken: it leads to nothing [symlink-escape]
"#);
    for file in &manifest.files {
        assert!(bench.folder.open(&file.path).is_ok(), "{}", file.path);
    }
}

#[test]
fn pipes_sockets_and_links_to_them_are_told() {
    let bench = Bench::new();
    bench.pipe("pipe.md");
    bench.link("link.md", "pipe.md");
    let _listener = std::os::unix::net::UnixListener::bind(bench.skill.join("socket")).unwrap();
    let manifest = manifest(&bench);
    assert_eq!(paths(&manifest), ["SKILL.md"]);
    insta::assert_snapshot!(told(&bench, &manifest), @r#"
SKILL/link.md: it is a pipe, a socket or a device, so it is not listed [special-file]
SKILL/pipe.md: it is a pipe, a socket or a device, so it is not listed [special-file]
SKILL/socket: it is a pipe, a socket or a device, so it is not listed [special-file]
"#);
}

/// Section 10, weakness 16, and the list of what is not kept: nothing of these is listed, and how much is counted.
#[test]
fn better_10_16_git_env_and_ignored_files_are_left_out() {
    let bench = Bench::new();
    for path in [
        ".git/config",
        ".env",
        ".env.production",
        "sub/.envrc",
        "sub/.git/HEAD",
        "build/a.md",
        "x.log",
        "keep.log",
        "sub/y.log",
        "sub/z.log",
        "node_modules/p/index.js",
    ] {
        bench.write(path, "x");
    }
    bench.write(".gitignore", "# made things\n*.log\nbuild/\n!keep.log\r\nSKILL.md\n.gitignore\n");
    bench.write("sub/.gitignore", "!z.log\n");
    let manifest = manifest(&bench);
    assert_eq!(paths(&manifest), ["SKILL.md", "keep.log", "node_modules/p/index.js", "sub/z.log"],);
    assert_eq!(directories(&manifest), ["node_modules", "node_modules/p", "sub"]);
    // `.gitignore` names itself and its like; of what lies in a left-out directory, only the directory counts.
    assert_eq!(manifest.left_out, 10);
    assert_eq!(told(&bench, &manifest), "");
}

#[test]
fn better_10_18_a_gitignore_that_cannot_be_taken_is_told() {
    let bench = Bench::new();
    bench.write(
        ".gitignore",
        "fine.md\n[unclosed\n*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*\n\u{0}\u{ff}",
    );
    bench.write("fine.md", "x");
    bench.write("long/.gitignore", "# x\n".repeat(20_000) + "a.md\n");
    bench.write("long/a.md", "x");
    bench.link("other", "long");
    fs::create_dir(bench.skill.join("linked")).unwrap();
    bench.link("linked/.gitignore", "../.gitignore");
    let manifest = manifest(&bench);
    assert_eq!(
        paths(&manifest),
        [".gitignore", "SKILL.md", "linked/.gitignore", "long/.gitignore", "long/a.md"],
    );
    insta::assert_snapshot!(told(&bench, &manifest), @r#"
SKILL/.gitignore: 1 of its lines cannot be taken as patterns [ignore-file]
SKILL/linked/.gitignore: it is a link, which is not followed [ignore-file]
SKILL/long/.gitignore: only its first 65536 bytes are taken [ignore-file]
"#);
}

#[test]
fn k21_the_file_limit_stops_the_listing_with_one_problem() {
    let bench = Bench::new();
    for path in ["a.md", "b.md", "aa/c.md"] {
        bench.write(path, "x");
    }
    let manifest = bench.folder.manifest(&ManifestLimits { files: 2, ..LIMITS });
    assert_eq!(paths(&manifest), ["SKILL.md", "a.md"]);
    assert_eq!((directories(&manifest), manifest.complete), (vec![], false));
    insta::assert_snapshot!(told(&bench, &manifest), @"SKILL: it holds more than 2 files [file-limit]");

    // Exactly as many as the limit is no excess.
    let manifest = bench.folder.manifest(&ManifestLimits { files: 4, ..LIMITS });
    assert_eq!((paths(&manifest).len(), manifest.complete), (4, true));
}

#[test]
fn k21_the_directory_limit_stops_the_listing_with_one_problem() {
    let bench = Bench::new();
    fs::remove_file(bench.skill.join("SKILL.md")).unwrap();
    fs::create_dir_all(bench.skill.join("1/2/3/4/5/6")).unwrap();
    let manifest = bench.folder.manifest(&ManifestLimits { directories: 3, ..LIMITS });
    assert_eq!((paths(&manifest), manifest.complete), (vec![], false));
    assert_eq!(directories(&manifest), ["1", "1/2", "1/2/3"]);
    insta::assert_snapshot!(told(&bench, &manifest), @"SKILL: it holds more than 3 directories [file-limit]");
}

/// Section 10, weakness 19: which files were listed depended on the file system.
#[test]
fn better_10_19_of_too_many_files_the_same_ones_are_listed() {
    let bench = Bench::new();
    for number in (0..5000).rev() {
        File::create(bench.skill.join(format!("A{:04}.md", (number * 7919) % 5000))).unwrap();
    }
    bench.write("a/b.md", "x");
    let manifest = manifest(&bench);
    let mut expected: Vec<_> = (0..1999).map(|number| format!("A{number:04}.md")).collect();
    expected.push("SKILL.md".into());
    assert_eq!(paths(&manifest), expected);
    assert_eq!((manifest.complete, manifest.problems.len()), (false, 1));
    assert_eq!(manifest.problems[0].reason, Reason::FileLimit);
}

#[test]
fn a_tower_of_3000_directories_ends_the_listing_early() {
    let bench = Bench::new();
    let mut here = openat(CWD, &bench.skill, rustix::fs::OFlags::RDONLY, Mode::empty()).unwrap();
    for _ in 0..3000 {
        mkdirat(&here, "d", Mode::RWXU).unwrap();
        here = openat(&here, "d", rustix::fs::OFlags::RDONLY, Mode::empty()).unwrap();
    }
    drop(here);
    let manifest = manifest(&bench);
    assert_eq!((directories(&manifest).len(), manifest.complete), (32, false));
    assert_eq!(manifest.problems.len(), 1);
    assert_eq!(manifest.problems[0].reason, Reason::TooDeep);
    topple(&bench);
}

/// Takes the tower down from the top, since its whole path is longer than any call takes.
fn topple(bench: &Bench) {
    use rustix::fs::{OFlags, RenameFlags, renameat_with, unlinkat};
    let root = openat(CWD, &bench.skill, OFlags::RDONLY, Mode::empty()).unwrap();
    while let Ok(top) = openat(&root, "d", OFlags::RDONLY, Mode::empty()) {
        if renameat_with(&top, "d", &root, "next", RenameFlags::empty()).is_err() {
            unlinkat(&root, "d", AtFlags::REMOVEDIR).unwrap();
            break;
        }
        unlinkat(&root, "d", AtFlags::REMOVEDIR).unwrap();
        renameat_with(&root, "next", &root, "d", RenameFlags::empty()).unwrap();
    }
}

#[test]
fn problems_are_bounded_and_the_rest_is_counted() {
    let bench = Bench::new();
    for number in 0..300 {
        bench.write(&format!("{number:03}%.md"), "x");
        bench.link(&format!("link{number:03}"), "nowhere");
    }
    let manifest = manifest(&bench);
    assert_eq!(manifest.problems.len(), Manifest::MAX_PROBLEMS + 1);
    insta::assert_snapshot!(manifest.problems.last().unwrap().detail, @"550 more problems with its files are not shown");
}

#[test]
fn better_10_18_an_unreadable_directory_is_told_and_the_rest_is_listed() {
    let bench = Bench::new();
    bench.write("closed/a.md", "x");
    bench.write("open/b.md", "x");
    let closed = bench.skill.join("closed");
    fs::set_permissions(&closed, Permissions::from_mode(0o0)).unwrap();
    // The superuser may list it all the same.
    let listable = File::open(&closed).is_ok();
    let manifest = manifest(&bench);
    fs::set_permissions(&closed, Permissions::from_mode(0o700)).unwrap();
    assert_eq!(manifest.complete, listable);
    assert!(paths(&manifest).contains(&"open/b.md"));
    let reasons: Vec<_> = manifest.problems.iter().map(|problem| problem.reason).collect();
    assert_eq!(reasons, if listable { vec![] } else { vec![Reason::DirectoryUnreadable] });
}

#[test]
fn a_folder_that_is_gone_has_an_empty_manifest_and_a_problem() {
    let bench = Bench::new();
    let manifest = Folder::Disk(bench.skill.join("gone")).manifest(&LIMITS);
    assert_eq!((manifest.files.len(), manifest.complete), (0, false));
    insta::assert_snapshot!(told(&bench, &manifest), @"SKILL/gone: the skill's folder cannot be read: No such file or directory (os error 2) [directory-unreadable]");
    assert!(!manifest.is_current(&bench.folder));
}

#[test]
fn a_directory_is_listed_with_its_direct_children() {
    let bench = Bench::new();
    for path in ["a/b.md", "a/c/d.md", "a.md", "a-b/x.py"] {
        bench.write(path, "x");
    }
    let manifest = manifest(&bench);
    let children = |directory| {
        manifest.list_directory(directory).map(|children| {
            let shown = |child: &Child<'_>| (child.path().to_string(), child.media_type());
            children.iter().map(shown).collect::<Vec<_>>()
        })
    };
    let child = |path: &str, media_type| (path.to_owned(), media_type);
    assert_eq!(
        children(""),
        Some(vec![
            child("SKILL.md", "text/markdown"),
            child("a", "inode/directory"),
            child("a-b", "inode/directory"),
            child("a.md", "text/markdown"),
        ])
    );
    assert_eq!(
        children("a"),
        Some(vec![child("a/b.md", "text/markdown"), child("a/c", "inode/directory")])
    );
    assert_eq!(children("a/c"), Some(vec![child("a/c/d.md", "text/markdown")]));
    for not_one in ["a.md", "b", "a/", "/", "..", "a/c/d.md"] {
        assert_eq!(children(not_one), None, "{not_one}");
    }
}

/// The manifest as if it had been taken long after the last change.
fn settled(bench: &Bench) -> Manifest {
    let mut manifest = manifest(bench);
    manifest.taken += Duration::from_hours(1);
    manifest
}

#[test]
fn a_manifest_is_current_until_anything_in_the_folder_changes() {
    type Change = fn(&Bench);
    let changes: [(&str, Change); 9] = [
        ("a file is edited", |bench| bench.write("a/b.md", "other")),
        ("a file is added", |bench| bench.write("a/new.md", "x")),
        ("a file is removed", |bench| fs::remove_file(bench.skill.join("a/b.md")).unwrap()),
        ("a directory is added", |bench| fs::create_dir(bench.skill.join("new")).unwrap()),
        ("a directory is removed", |bench| fs::remove_dir_all(bench.skill.join("a")).unwrap()),
        ("a mode changes", |bench| {
            let mode = Permissions::from_mode(0o755);
            fs::set_permissions(bench.skill.join("a/b.md"), mode).unwrap();
        }),
        ("an ignored `.gitignore` is edited", |bench| bench.write("quiet/.gitignore", "*\n!x")),
        ("the folder is gone", |bench| fs::remove_dir_all(&bench.skill).unwrap()),
        ("the folder becomes a link", |bench| {
            let moved = bench.outside.join("moved");
            fs::rename(&bench.skill, &moved).unwrap();
            std::os::unix::fs::symlink(moved, &bench.skill).unwrap();
        }),
    ];
    for (name, change) in changes {
        let bench = Bench::new();
        bench.write("a/b.md", "b");
        bench.link("link.md", "a/b.md");
        bench.write("quiet/.gitignore", "*");
        bench.write("quiet/x", "x");
        let manifest = settled(&bench);
        assert!(manifest.is_current(&bench.folder), "before {name}");
        change(&bench);
        assert!(!manifest.is_current(&bench.folder), "{name}");
    }
}

#[test]
fn a_manifest_as_young_as_its_files_is_not_trusted() {
    let bench = Bench::new();
    let mut manifest = manifest(&bench);
    manifest.taken = std::time::UNIX_EPOCH
        + Duration::from_nanos(u64::try_from(manifest.files[0].stamp.ctime_ns).unwrap());
    assert!(!manifest.is_current(&bench.folder));
}

#[test]
fn a_bundled_skill_is_listed_like_one_on_disk() {
    const FILES: &[BundledFile] = &[
        BundledFile { path: "references/b/a.md", bytes: b"abc" },
        BundledFile { path: "SKILL.md", bytes: b"# Guide" },
        BundledFile { path: "../x", bytes: b"" },
    ];
    let folder = Folder::Bundled(FILES);
    let manifest = folder.manifest(&LIMITS);
    assert_eq!(paths(&manifest), ["SKILL.md", "references/b/a.md"]);
    assert_eq!(directories(&manifest), ["references", "references/b"]);
    assert_eq!(manifest.problems.len(), 1);
    assert!(manifest.is_current(&folder));
    let few = folder.manifest(&ManifestLimits { files: 1, ..LIMITS });
    assert_eq!((paths(&few), few.complete), (vec!["SKILL.md"], false));
}
