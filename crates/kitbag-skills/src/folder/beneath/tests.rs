//! Both ways to find a file, side by side: which one a kernel allows must make no difference.

use std::fs;
use std::os::unix::fs::symlink;

use rustix::fs::{CWD, FileType, Mode, mknodat};

use super::{Found, Purpose, Refusal, Root, at_once, find, step_by_step};

/// What a finding comes to, to be compared.
fn outcome(result: Result<Found, Refusal>) -> Result<(u64, String, bool), Refusal> {
    result.map(|found| (found.stat.st_ino, found.real.to_str().unwrap().to_owned(), found.by_link))
}

#[test]
fn the_portable_way_answers_as_the_kernel_does() {
    let temp = tempfile::tempdir().unwrap();
    let dir = temp.path().canonicalize().unwrap();
    let skill = dir.join("skill");
    fs::create_dir_all(skill.join("a/b")).unwrap();
    fs::write(skill.join("SKILL.md"), "s").unwrap();
    fs::write(skill.join("a/b/c.md"), "c").unwrap();
    fs::write(dir.join("secret"), "x").unwrap();
    symlink("a/b/c.md", skill.join("in")).unwrap();
    symlink("../secret", skill.join("out")).unwrap();
    symlink("..", skill.join("up")).unwrap();
    symlink("nowhere", skill.join("broken")).unwrap();
    symlink("round", skill.join("round")).unwrap();
    mknodat(CWD, skill.join("pipe.md"), FileType::Fifo, Mode::RUSR, 0).unwrap();
    let root = Root::open(&skill).unwrap();

    let expected = [
        ("SKILL.md", Ok("SKILL.md")),
        ("a/b/c.md", Ok("a/b/c.md")),
        ("in", Ok("a/b/c.md")),
        ("out", Err(Refusal::Outside)),
        ("up/secret", Err(Refusal::Outside)),
        ("broken", Err(Refusal::Missing)),
        ("round", Err(Refusal::Missing)),
        ("pipe.md", Err(Refusal::Special)),
        ("a", Err(Refusal::Directory)),
        ("a/b", Err(Refusal::Directory)),
        ("missing", Err(Refusal::Missing)),
        ("a/missing", Err(Refusal::Missing)),
        ("SKILL.md/below", Err(Refusal::Missing)),
        ("..", Err(Refusal::Outside)),
        ("../secret", Err(Refusal::Outside)),
        ("a/../../secret", Err(Refusal::Outside)),
    ];
    for (path, expected) in expected {
        for purpose in [Purpose::Read, Purpose::Look] {
            let portable = outcome(step_by_step(&root, path.as_bytes(), purpose));
            let real = portable.as_ref().map(|(_, real, _)| real.as_str());
            assert_eq!(real, expected.as_ref().copied(), "{path}, {purpose:?}");
            assert_eq!(outcome(find(&root, path, purpose)), portable, "{path}, {purpose:?}");
            if let Some(kernel) = at_once(&root, path, purpose) {
                assert_eq!(outcome(kernel), portable, "{path}, {purpose:?}, by the kernel alone");
            }
        }
    }
}
