//! Opening and reading the files of a skill that somebody else wrote.
#![expect(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

use std::fs::{self, File, Permissions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use kitbag_skills::{
    BundledFile, Chunk, Content, Folder, ManifestLimits, ReadError, SkillFile, classify, media_type,
};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use tempfile::TempDir;

/// A directory that holds one skill, `skill`, and things beside it that are none of the skill's business.
pub(crate) struct Bench {
    pub(crate) _temp: TempDir,
    pub(crate) outside: PathBuf,
    pub(crate) skill: PathBuf,
    pub(crate) folder: Folder,
}

impl Bench {
    pub(crate) fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let outside = temp.path().canonicalize().unwrap();
        let skill = outside.join("skill");
        fs::create_dir(&skill).unwrap();
        fs::write(outside.join("secret.md"), "secret").unwrap();
        let folder = Folder::Disk(skill.clone());
        let bench = Self { _temp: temp, outside, skill, folder };
        bench.write("SKILL.md", "# Skill");
        bench
    }

    pub(crate) fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.skill.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn link(&self, path: &str, target: impl AsRef<Path>) {
        symlink(target, self.skill.join(path)).unwrap();
    }

    pub(crate) fn pipe(&self, path: &str) {
        mknodat(CWD, self.skill.join(path), FileType::Fifo, Mode::RUSR, 0).unwrap();
    }

    pub(crate) fn sparse(&self, path: &str, size: u64) {
        File::create(self.skill.join(path)).unwrap().set_len(size).unwrap();
    }

    pub(crate) fn open(&self, path: &str) -> Result<SkillFile, ReadError> {
        self.folder.open(&path.parse().unwrap())
    }

    pub(crate) fn text(&self, path: &str) -> String {
        let chunk = self.open(path).unwrap().read(0, 1000).unwrap();
        String::from_utf8(chunk.bytes).unwrap()
    }

    /// The error of a path that cannot be opened, by the name of its kind.
    fn refusal(&self, path: &str) -> &'static str {
        kind(&self.open(path).unwrap_err())
    }
}

fn kind(error: &ReadError) -> &'static str {
    match error {
        ReadError::FolderUnreadable(_) => "folder unreadable",
        ReadError::NotAFile(_) => "not a file",
        ReadError::Outside(_) => "outside",
        ReadError::NotRegular(_) => "not regular",
        ReadError::LeftOut(_) => "left out",
        ReadError::Denied(_) => "denied",
        ReadError::Changed { .. } => "changed",
        ReadError::Io { .. } => "io",
    }
}

#[test]
fn k30_an_ordinary_file_and_a_link_inside_are_read_where_they_lie() {
    let bench = Bench::new();
    bench.write("a/b.md", "b");
    bench.link("link.md", "a/b.md");
    bench.link("dir", "a");
    bench.link("a/up.md", "../SKILL.md");
    bench.link("absolute.md", bench.skill.join("a/b.md"));
    bench.link("twice.md", "link.md");

    let found =
        ["a/b.md", "link.md", "dir/b.md", "a/up.md", "absolute.md", "twice.md"].map(|path| {
            let file = bench.open(path).unwrap();
            (file.real_path().to_str().unwrap().to_owned(), bench.text(path))
        });
    let b = || ("a/b.md".to_owned(), "b".to_owned());
    assert_eq!(found, [b(), b(), b(), ("SKILL.md".into(), "# Skill".into()), b(), b()]);
}

/// Also G-17 and G-18: every link is resolved before the file counts as the skill's.
#[test]
fn k30_g17_g18_each_way_out_and_each_non_file_is_refused_by_its_own_name() {
    let bench = Bench::new();
    bench.write("dir/x.md", "x");
    bench.link("absolute.md", bench.outside.join("secret.md"));
    bench.link("relative.md", "../secret.md");
    bench.link("through", "..");
    bench.link("chain.md", "relative.md");
    bench.link("etc.md", "/etc/passwd");
    bench.link("back.md", "../skill/SKILL.md");
    bench.link("proc.md", "/proc/self/environ");
    bench.link("zero.md", "/dev/zero");
    bench.link("broken.md", "nowhere.md");
    bench.link("round.md", "round.md");
    bench.link("self", ".");

    let refused = [
        ("absolute.md", "outside"),
        ("relative.md", "outside"),
        ("through/secret.md", "outside"),
        ("chain.md", "outside"),
        ("etc.md", "outside"),
        ("back.md", "outside"),
        ("proc.md", "outside"),
        ("zero.md", "outside"),
        ("broken.md", "not a file"),
        ("round.md", "not a file"),
        ("missing.md", "not a file"),
        ("SKILL.md/x", "not a file"),
        ("dir", "not regular"),
        ("self", "not regular"),
    ];
    for (path, expected) in refused {
        assert_eq!(bench.refusal(path), expected, "{path}");
    }
    assert_eq!(bench.text("self/self/self/SKILL.md"), "# Skill");
}

#[test]
fn k24_skill_md_may_be_a_link_inside_and_not_one_out() {
    let bench = Bench::new();
    fs::remove_file(bench.skill.join("SKILL.md")).unwrap();
    bench.write("docs/skill.md", "inside");
    bench.link("SKILL.md", "docs/skill.md");
    assert_eq!(bench.text("SKILL.md"), "inside");

    fs::remove_file(bench.skill.join("SKILL.md")).unwrap();
    bench.link("SKILL.md", "../secret.md");
    assert_eq!(bench.refusal("SKILL.md"), "outside");
}

#[test]
fn a_pipe_that_bears_a_files_name_does_not_block() {
    let bench = Bench::new();
    bench.pipe("x.md");
    bench.link("link.md", "x.md");
    assert_eq!(bench.refusal("x.md"), "not regular");
    assert_eq!(bench.refusal("link.md"), "not regular");

    let socket = bench.skill.join("socket.md");
    let _listener = std::os::unix::net::UnixListener::bind(socket).unwrap();
    assert_eq!(bench.refusal("socket.md"), "not regular");
}

/// Fault row 52: the check holds at the moment of opening, whatever a listing said.
#[test]
fn fault_b52_a_file_swapped_for_a_link_after_the_listing_is_refused() {
    let bench = Bench::new();
    bench.write("notes/a.md", "a");
    let manifest = bench.folder.manifest(&ManifestLimits::STANDARD);
    let listed = &manifest.file("notes/a.md").unwrap().path;

    fs::remove_file(bench.skill.join("notes/a.md")).unwrap();
    bench.link("notes/a.md", "../../secret.md");
    assert_eq!(kind(&bench.folder.open(listed).unwrap_err()), "outside");

    fs::remove_dir_all(bench.skill.join("notes")).unwrap();
    fs::write(bench.outside.join("a.md"), "secret").unwrap();
    bench.link("notes", "..");
    assert_eq!(kind(&bench.folder.open(listed).unwrap_err()), "outside");
}

/// Fault row 52: what was opened is what is read, whatever is put in its place.
#[test]
fn fault_b52_an_opened_file_stays_the_one_that_was_checked() {
    let bench = Bench::new();
    bench.write("a.md", "checked");
    let file = bench.open("a.md").unwrap();
    fs::remove_file(bench.skill.join("a.md")).unwrap();
    bench.link("a.md", "../secret.md");
    assert_eq!(file.read(0, 100).unwrap().bytes, b"checked");
}

#[test]
fn a_folder_that_cannot_be_read_is_told_apart_from_a_file() {
    let bench = Bench::new();
    let open = |path: &Path| {
        kind(&Folder::Disk(path.to_owned()).open(&"SKILL.md".parse().unwrap()).unwrap_err())
    };
    assert_eq!(open(&bench.outside.join("gone")), "folder unreadable");
    assert_eq!(open(&bench.outside.join("secret.md")), "folder unreadable");
    assert_eq!(open(Path::new("relative")), "folder unreadable");
    // A skill's folder that was replaced by a link is no longer the one that was found.
    symlink(&bench.skill, bench.outside.join("link")).unwrap();
    assert_eq!(open(&bench.outside.join("link")), "folder unreadable");
}

#[test]
fn a_file_that_may_not_be_read_is_told_as_that() {
    let bench = Bench::new();
    bench.write("a.md", "a");
    fs::set_permissions(bench.skill.join("a.md"), Permissions::from_mode(0o0)).unwrap();
    // The superuser may read it all the same.
    let expected = if is_superuser(&bench) { Ok(()) } else { Err("denied") };
    assert_eq!(bench.open("a.md").map(drop).map_err(|error| kind(&error)), expected);
}

fn is_superuser(bench: &Bench) -> bool {
    File::open(bench.skill.join("a.md")).is_ok()
}

#[test]
fn errors_name_the_path_in_the_skill_and_no_path_of_the_host() {
    let bench = Bench::new();
    bench.link("out.md", "../secret.md");
    bench.write(".env", "KEY=1");
    let long = "y".repeat(200);
    let texts: Vec<String> = ["out.md", "missing.md", ".env", "a\u{1b}[31m.md", long.as_str()]
        .map(|path| bench.open(path).unwrap_err().to_string())
        .into();
    insta::assert_snapshot!(texts.join("\n"), @r#"
`out.md` leads out of this skill
`missing.md` is not a file in this skill
`.env` is left out of this skill, as `.git`, `.env*` and what `.gitignore` names are
`a\u{1b}[31m.md` is not a file in this skill
`yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy…` is not a file in this skill
"#);
    let gone = Folder::Disk(bench.outside.join("gone"));
    let error = gone.open(&"SKILL.md".parse().unwrap()).unwrap_err();
    insta::assert_snapshot!(error, @"the skill's folder cannot be read");
}

/// Section 10, weakness 16: dotfiles were listed and served.
#[test]
fn better_10_16_what_is_left_out_cannot_be_opened() {
    let bench = Bench::new();
    bench.write(".env", "KEY=1");
    bench.write(".env.local", "KEY=1");
    bench.write("sub/.git/config", "x");
    bench.write(".gitignore", "*.log\nbuild/\n!keep.log\nSKILL.md\n");
    bench.write("a.log", "x");
    bench.write("keep.log", "kept");
    bench.write("build/out.md", "x");
    bench.write("sub/.gitignore", "!b.log\n/only-here.md\n");
    bench.write("sub/b.log", "kept");
    bench.write("sub/only-here.md", "x");
    bench.write("only-here.md", "kept");
    bench.link("innocent.md", ".env");
    bench.link("built.md", "build/out.md");
    bench.link("builds", "build");

    for path in [
        ".env",
        ".env.local",
        ".ENV",
        "sub/.git/config",
        "sub/.GIT/config",
        "a.log",
        "build/out.md",
        "build/missing.md",
        "sub/only-here.md",
        "innocent.md",
        "built.md",
        "builds/out.md",
    ] {
        assert_eq!(bench.refusal(path), "left out", "{path}");
    }
    for path in ["keep.log", "sub/b.log", "only-here.md"] {
        assert_eq!(bench.text(path), "kept", "{path}");
    }
    assert_eq!(bench.text("SKILL.md"), "# Skill", "no rule takes a skill its own file");
    assert_eq!(bench.text(".gitignore").lines().count(), 4);
}

#[test]
fn a_gitignore_above_the_skill_counts_for_nothing() {
    let bench = Bench::new();
    fs::write(bench.outside.join(".gitignore"), "*").unwrap();
    bench.write("a.md", "a");
    assert_eq!(bench.text("a.md"), "a");
}

#[test]
fn k31_a_read_is_whole_up_to_exactly_the_cap() {
    let bench = Bench::new();
    bench.write("a.md", "abcd");
    let file = bench.open("a.md").unwrap();
    let chunk =
        |bytes: &[u8], offset, truncated| Chunk { offset, bytes: bytes.into(), size: 4, truncated };
    assert_eq!(file.read(0, 5).unwrap(), chunk(b"abcd", 0, false));
    assert_eq!(file.read(0, 4).unwrap(), chunk(b"abcd", 0, false));
    assert_eq!(file.read(0, 3).unwrap(), chunk(b"abc", 0, true));
    assert_eq!(file.read(0, 0).unwrap(), chunk(b"", 0, true));
    assert_eq!(file.read(2, 1).unwrap(), chunk(b"c", 2, true));
    assert_eq!(file.read(2, 2).unwrap(), chunk(b"cd", 2, false));
    assert_eq!(file.read(4, 9).unwrap(), chunk(b"", 4, false));
    assert_eq!(file.read(9, 9).unwrap(), chunk(b"", 9, false));
    assert_eq!(file.read(u64::MAX, usize::MAX).unwrap(), chunk(b"", u64::MAX, false));
    assert_eq!(file.size(), 4);
}

#[test]
fn k31_a_file_that_grew_since_it_was_opened_says_so() {
    let bench = Bench::new();
    bench.write("a.md", "abcd");
    let file = bench.open("a.md").unwrap();
    fs::write(bench.skill.join("a.md"), "x".repeat(200_000)).unwrap();
    let chunk = file.read(0, 300_000).unwrap();
    assert_eq!((chunk.bytes.len(), chunk.size, chunk.truncated), (200_000, 200_000, false));
    let chunk = file.read(0, 10).unwrap();
    assert_eq!((chunk.bytes.len(), chunk.size, chunk.truncated), (10, 11, true));
}

/// K-26, K-31, K-33: the bound is on what is held, not on what is there. The buffer is as long as the cap and one byte,
/// so that memory cannot grow by more; no read is longer than the most that one hands out.
#[test]
fn k26_k31_a_huge_file_costs_no_more_memory_than_the_cap() {
    let bench = Bench::new();
    bench.sparse("SKILL.md", 256 * 1024 * 1024);
    let file = bench.open("SKILL.md").unwrap();
    let chunk = file.read(0, 256 * 1024).unwrap();
    assert_eq!(
        (chunk.bytes.len(), chunk.size, chunk.truncated),
        (256 * 1024, 256 * 1024 * 1024, true)
    );
    assert_eq!(chunk.bytes.capacity(), 256 * 1024 + 1);
    let all = file.read(0, usize::MAX).unwrap();
    assert_eq!((all.bytes.len(), all.truncated), (SkillFile::MAX_CHUNK_BYTES, true));
}

#[test]
fn k32_k33_files_come_as_text_or_base64_with_their_truth() {
    let bench = Bench::new();
    bench.write("a.md", "héllo");
    bench.write("a.png", b"\x89PNG\r\n\x1a\n\0\0");
    bench.sparse("huge.bin", 256 * 1024 * 1024);
    let read = |path: &str, cap| {
        let passage = classify(bench.open(path).unwrap().read(0, cap).unwrap());
        (media_type(path), passage.content, passage.next)
    };
    assert_eq!(read("a.md", 100), ("text/markdown", Content::Text("héllo".into()), None));
    assert_eq!(read("a.md", 2), ("text/markdown", Content::Text("h".into()), Some(1)));
    assert_eq!(read("a.png", 100), ("image/png", Content::Base64("iVBORw0KGgoAAA==".into()), None));
    for _ in 0..4 {
        assert_eq!(read("huge.bin", 1024).2, Some(1024));
    }
}

#[test]
fn better_10_15_any_part_of_a_file_can_be_reached() {
    let bench = Bench::new();
    let all = "zwölf Boxkämpfer ".repeat(100);
    bench.write("a.md", &all);
    let file = bench.open("a.md").unwrap();
    let (mut read, mut next) = (String::new(), Some(0));
    while let Some(offset) = next {
        let passage = classify(file.read(offset, 37).unwrap());
        let Content::Text(part) = passage.content else { panic!("not a text") };
        read.push_str(&part);
        next = passage.next;
    }
    assert_eq!(read, all);
}

#[test]
fn a_bundled_skill_is_read_like_one_on_disk() {
    const FILES: &[BundledFile] = &[
        BundledFile { path: "SKILL.md", bytes: b"# Guide" },
        BundledFile { path: "references/a.md", bytes: b"abc" },
    ];
    let folder = Folder::Bundled(FILES);
    let file = folder.open(&"references/a.md".parse().unwrap()).unwrap();
    let chunk = Chunk { offset: 1, bytes: b"b".into(), size: 3, truncated: true };
    assert_eq!(file.read(1, 1).unwrap(), chunk);
    assert_eq!(file.read(u64::MAX, 1).unwrap().bytes, b"");
    assert!(!file.executable());
    let missing = folder.open(&"references".parse().unwrap()).unwrap_err();
    assert_eq!(kind(&missing), "not a file");
}

#[test]
fn the_mode_is_told() {
    let bench = Bench::new();
    bench.write("run.sh", "#!/bin/sh");
    fs::set_permissions(bench.skill.join("run.sh"), Permissions::from_mode(0o744)).unwrap();
    assert!(bench.open("run.sh").unwrap().executable());
    assert!(!bench.open("SKILL.md").unwrap().executable());
}

/// A name that is not UTF-8 is no part of a skill, and a link makes it none.
#[test]
fn a_link_to_a_name_that_is_not_utf8_is_refused() {
    let bench = Bench::new();
    let name = std::ffi::OsStr::from_bytes(b"\xff.md");
    fs::write(bench.skill.join(name), "x").unwrap();
    bench.link("link.md", name);
    assert_eq!(bench.refusal("link.md"), "left out");
}
