//! Approvals of skills that a project or a package brings: what they hold for, and what ends them.

#![expect(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use kitbag_skills::{
    Approvals, Catalog, Consent, ConsentFrom, Consents, Folder, Library, Places, ReadError,
    RootOrder, Seal, Skill, Status, copy_skill,
};

use crate::tree::{Tree, statuses, used};

/// Approvals in memory, with the workspaces they were asked for.
#[derive(Debug, Default)]
struct Memory {
    approvals: Mutex<Arc<Approvals>>,
    asked: Mutex<Vec<PathBuf>>,
}

impl Memory {
    fn change(&self, change: impl FnOnce(&mut Approvals)) {
        let mut approvals = self.approvals.lock().unwrap();
        let mut changed = (**approvals).clone();
        change(&mut changed);
        *approvals = Arc::new(changed);
    }

    fn approve(&self, skill: &Skill) {
        let directory = skill.document.folder.directory().unwrap();
        let digest = Seal::of(directory, skill.name(), None).unwrap().digest();
        let key = skill.consent_key.clone().unwrap();
        self.change(|approvals| {
            approvals.digests.insert(key, digest);
        });
    }
}

impl Consents for Memory {
    fn approvals(&self, workspace: &Path) -> Arc<Approvals> {
        self.asked.lock().unwrap().push(workspace.to_owned());
        Arc::clone(&self.approvals.lock().unwrap())
    }
}

struct Bench {
    tree: Tree,
    memory: Arc<Memory>,
    library: Library,
}

impl Bench {
    fn new() -> Self {
        Self::with(|_| {})
    }

    fn with(change: impl FnOnce(&mut Places)) -> Self {
        let tree = Tree::new();
        let memory = Arc::new(Memory::default());
        let consents = ConsentFrom::Records(Arc::clone(&memory) as Arc<dyn Consents>);
        let library = tree.usual_with(change).with_consents(consents);
        Self { tree, memory, library }
    }

    /// A bench with the project's skill `x`, which has a script and is approved.
    fn approved() -> Self {
        let bench = Self::new();
        bench.tree.skill("repo/.agents/skills/x").write("repo/.agents/skills/x/scripts/a.sh", "a");
        bench.approve("x");
        assert_eq!(bench.statuses(), ["project-1.agents:x used"]);
        bench
    }

    fn approve(&self, name: &str) {
        self.memory.approve(find(&self.library.look(), name));
    }

    fn statuses(&self) -> Vec<String> {
        statuses(&self.library.look())
    }

    fn consent(&self, name: &str) -> Consent {
        find(&self.library.look(), name).consent.clone()
    }

    fn at(&self, path: &str) -> PathBuf {
        self.tree.path(&format!("repo/.agents/skills/x/{path}"))
    }

    fn write(&self, path: &str, bytes: &str) {
        self.tree.write(&format!("repo/.agents/skills/x/{path}"), bytes);
    }
}

fn find<'a>(catalog: &'a Catalog, name: &str) -> &'a Skill {
    catalog.skills.iter().find(|skill| skill.name().as_str() == name).unwrap()
}

/// Fault 49, G-5, G-23: a fresh clone's skill is found and used by nobody, until its user says yes for this workspace.
#[test]
fn g5_g23_fault_49_a_projects_skill_is_used_once_it_is_approved() {
    let bench = Bench::new();
    bench.tree.skill("repo/.agents/skills/x").skill("home/.agents/skills/mine");
    let first = bench.library.look();
    assert_eq!(statuses(&first), ["user.agents:mine used", "project-1.agents:x withheld"]);
    assert!(first.get("x").is_none() && first.resolve("x").is_none());
    assert!(first.resolve("project-1.agents:x").is_none());
    assert_eq!(find(&first, "mine").consent, Consent::NotNeeded);

    bench.approve("x");
    let second = bench.library.look();
    assert_eq!(second.generation, first.generation + 1);
    assert_eq!(used(&second), ["mine", "x"]);
    assert_eq!(find(&second, "x").consent, Consent::Approved);
    assert!(Arc::ptr_eq(&bench.library.look(), &second));
    assert!(
        bench.memory.asked.lock().unwrap().iter().all(|asked| *asked == bench.tree.path("repo"))
    );

    bench.memory.change(|approvals| approvals.digests.clear());
    assert_eq!(bench.consent("x"), Consent::Missing);
}

#[test]
fn nobody_is_asked_where_nothing_needs_an_approval() {
    let bench = Bench::new();
    bench.tree.skill("home/.agents/skills/mine");
    bench.library.look();
    assert!(bench.memory.asked.lock().unwrap().is_empty());
}

/// Decision 4: a package's skill waits as a project's does.
#[test]
fn g5_a_packages_skill_waits_too() {
    let bench = Bench::new();
    bench.tree.write("repo/package.json", r#"{"dependencies": {"p": "1"}}"#);
    bench.tree.write("repo/node_modules/p/package.json", r#"{"kitbagSkills": "skills"}"#);
    bench.tree.skill("repo/node_modules/p/skills/x");
    assert_eq!(bench.statuses(), ["package(p):x withheld"]);
    bench.approve("x");
    assert_eq!(bench.statuses(), ["package(p):x used"]);
}

/// Fault 51: any change of anything in the folder ends the approval, and taking it back restores it.
#[test]
fn fault_51_an_approval_ends_with_any_change_in_the_folder() {
    type Change = (&'static str, fn(&Bench));
    let changes: &[Change] = &[
        ("a script edited", |bench| bench.write("scripts/a.sh", "b")),
        ("the text edited", |bench| {
            bench.write("SKILL.md", "---\nname: x\ndescription: Another\n---\nDo x.\n");
        }),
        ("a file added", |bench| bench.write("new.md", "")),
        ("a file removed", |bench| fs::remove_file(bench.at("scripts/a.sh")).unwrap()),
        ("a file renamed", |bench| {
            fs::rename(bench.at("scripts/a.sh"), bench.at("scripts/b.sh")).unwrap();
        }),
        ("a script made executable", |bench| {
            fs::set_permissions(bench.at("scripts/a.sh"), Permissions::from_mode(0o755)).unwrap();
        }),
        ("what no manifest lists", |bench| bench.write(".env.sh", "")),
        ("a repository inside", |bench| bench.write(".git/hooks/a", "")),
        ("an empty directory, whose name can be listed", |bench| {
            fs::create_dir(bench.at("ignore-what-was-said")).unwrap();
        }),
        ("a link inside", |bench| {
            std::os::unix::fs::symlink("scripts/a.sh", bench.at("a")).unwrap();
        }),
        ("a declaration", |bench| bench.write("kitbag.toml", "version = 1\n")),
    ];
    for (what, change) in changes {
        let bench = Bench::approved();
        change(&bench);
        assert_eq!(bench.consent("x"), Consent::Changed, "{what}");
        assert_eq!(bench.statuses(), ["project-1.agents:x withheld"], "{what}");
        assert!(bench.library.latest().get("x").is_none(), "{what}");
    }
    let bench = Bench::approved();
    bench.write("scripts/a.sh", "b");
    assert_eq!(bench.consent("x"), Consent::Changed);
    bench.write("scripts/a.sh", "a");
    assert_eq!(bench.consent("x"), Consent::Approved);
}

/// A `.gitignore` keeps a file from being served; a script can load it all the same.
#[test]
fn fault_51_an_ignored_file_is_covered() {
    let bench = Bench::new();
    bench.tree.skill("repo/.agents/skills/x");
    bench.write(".gitignore", "lib/\n");
    bench.write("lib/evil.py", "print(1)");
    bench.approve("x");
    assert_eq!(bench.consent("x"), Consent::Approved);
    bench.write("lib/evil.py", "print(2)");
    assert_eq!(bench.consent("x"), Consent::Changed);
}

#[test]
fn only_the_skill_that_changed_asks_again() {
    let bench = Bench::approved();
    bench.tree.skill("repo/.agents/skills/y");
    bench.approve("y");
    bench.write("scripts/a.sh", "b");
    assert_eq!(used(&bench.library.look()), ["y"]);
}

/// What a folder is called is part of who it is: an approval does not wander to a copy, nor to a root of another name.
#[test]
fn an_approval_is_for_a_root_and_a_directory() {
    let bench = Bench::approved();
    fs::rename(bench.at(""), bench.tree.path("repo/.agents/skills/y")).unwrap();
    assert_eq!(bench.consent("y"), Consent::Missing);
    fs::create_dir_all(bench.tree.path("repo/.claude/skills")).unwrap();
    fs::rename(bench.tree.path("repo/.agents/skills/y"), bench.tree.path("repo/.claude/skills/x"))
        .unwrap();
    assert_eq!(bench.consent("x"), Consent::Missing);
}

#[test]
fn a_link_is_bound_by_its_text_and_by_the_file_outside_that_it_leads_to() {
    let bench = Bench::new();
    bench.tree.skill("repo/.agents/skills/x").write("repo/LICENSE", "MIT");
    bench.write("one/a.py", "1");
    bench.write("two/a.py", "2");
    bench.tree.link("repo/.agents/skills/x/lib", "one");
    bench.tree.link("repo/.agents/skills/x/LICENSE", "../../../LICENSE");
    bench.tree.link("repo/.agents/skills/x/nowhere", "../../../nothing");
    bench.approve("x");
    assert_eq!(bench.consent("x"), Consent::Approved);
    // What lies outside is covered, and served no more than before.
    let catalog = bench.library.look();
    let folder = &catalog.get("x").unwrap().document.folder;
    let outside = folder.open(&"LICENSE".parse().unwrap());
    assert!(matches!(outside, Err(ReadError::Outside(_))), "{outside:?}");

    bench.tree.write("repo/LICENSE", "GPL");
    assert_eq!(bench.consent("x"), Consent::Changed);
    bench.tree.write("repo/LICENSE", "MIT");
    assert_eq!(bench.consent("x"), Consent::Approved);
    bench.tree.write("repo/nothing", "something");
    assert_eq!(bench.consent("x"), Consent::Changed);
    fs::remove_file(bench.tree.path("repo/nothing")).unwrap();
    assert_eq!(bench.consent("x"), Consent::Approved);
    fs::remove_file(bench.at("lib")).unwrap();
    bench.tree.link("repo/.agents/skills/x/lib", "two");
    assert_eq!(bench.consent("x"), Consent::Changed);
}

/// What cannot be covered cannot be approved, and what was approved ends when it comes.
#[test]
fn what_cannot_be_covered_is_not_approved() {
    type Case = (&'static str, fn(&Bench), &'static str);
    let cases: &[Case] = &[
        (
            "a directory outside",
            |bench| {
                bench.tree.link("repo/.agents/skills/x/lib", "../../..");
            },
            "`lib` is a link that leads out of the skill to something that an approval cannot cover",
        ),
        (
            "a link in a circle",
            |bench| {
                bench.tree.link("repo/.agents/skills/x/lib", "lib");
            },
            "`lib` is a link that leads out of the skill to something that an approval cannot cover",
        ),
        (
            "a pipe",
            |bench| {
                let path = bench.at("pipe");
                rustix::fs::mknodat(
                    rustix::fs::CWD,
                    path,
                    rustix::fs::FileType::Fifo,
                    rustix::fs::Mode::RUSR,
                    0,
                )
                .unwrap();
            },
            "`pipe` is a pipe, a socket or a device, which an approval cannot cover",
        ),
        (
            "too much",
            |bench| {
                for number in 0..=Seal::MAX_ENTRIES {
                    bench.write(&format!(".git/{number}"), "");
                }
            },
            "it holds more than 5000 files and directories, those left out of listings included",
        ),
        (
            "too deep",
            |bench| bench.write(&format!(".git/{}a", "d/".repeat(64)), ""),
            "lies more than 64 directories deep",
        ),
    ];
    for (what, change, why) in cases {
        let bench = Bench::approved();
        change(&bench);
        let Consent::Unclear { why: told } = bench.consent("x") else { panic!("{what}") };
        assert!(told.contains(why), "{what}: {told}");
        assert!(bench.library.latest().get("x").is_none(), "{what}");
        let catalog = bench.library.latest();
        let directory = find(&catalog, "x").document.folder.directory().unwrap().to_owned();
        assert!(Seal::of(&directory, &"x".parse().unwrap(), None).is_err(), "{what}");
    }
}

/// Between the look and the reading: the bytes that were approved, or nothing.
#[test]
fn fault_51_nothing_that_changed_after_the_look_is_given_out() {
    let bench = Bench::approved();
    bench.write("big.txt", &"0123456789".repeat(20_000));
    bench.approve("x");
    let catalog = bench.library.look();
    let skill = catalog.get("x").unwrap();
    let folder = &skill.document.folder;
    let read = |path: &str, offset, cap| {
        let file = folder.open(&path.parse().unwrap()).map_err(|error| error.to_string())?;
        file.read(offset, cap).map_err(|error| error.to_string())
    };
    let chunk = read("big.txt", 99_995, 10).unwrap();
    assert_eq!((&*chunk.bytes, chunk.size, chunk.truncated), (&b"5678901234"[..], 200_000, true));
    let end = read("big.txt", 199_990, 10).unwrap();
    assert_eq!((&*end.bytes, end.truncated), (&b"0123456789"[..], false));
    assert_eq!(read("big.txt", 300_000, 10).unwrap().bytes, b"");
    assert_eq!(read("scripts/a.sh", 0, 10).unwrap().bytes, b"a");

    // The same length, elsewhere in the file than what is asked for.
    bench.write("big.txt", &"0123456789".repeat(20_000).replacen('0', "x", 1));
    let changed = Err("it changed since it was approved; run `kitbag skills approve x`".to_owned());
    assert_eq!(read("big.txt", 99_995, 10), changed);
    // A file that is opened before it changes, and read after.
    let opened = folder.open(&"scripts/a.sh".parse().unwrap()).unwrap();
    bench.write("scripts/a.sh", "b");
    assert_eq!(opened.read(0, 10).map_err(|error| error.to_string()), changed);
    // Another length, another mode, a new file: they are not even opened.
    bench.write("scripts/a.sh", "more");
    bench.write("new.md", "new");
    for path in ["scripts/a.sh", "new.md"] {
        let told = read(path, 0, 10).unwrap_err();
        assert_eq!(
            told,
            format!("`{path}` changed since the skill was approved; run `kitbag skills approve x`")
        );
    }
    fs::remove_file(bench.at("scripts/a.sh")).unwrap();
    bench.tree.link("repo/.agents/skills/x/scripts/a.sh", "../big.txt");
    assert!(read("scripts/a.sh", 0, 10).unwrap_err().contains("changed"));

    // What is listed is what was approved, and so are the digests and the frontmatter.
    let paths = |library: &Library| {
        let manifest = library.manifest(&skill.document);
        manifest.files.iter().map(|file| file.path.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(paths(&bench.library), ["SKILL.md", "big.txt", "scripts/a.sh"]);
    assert_eq!(bench.library.digests(&skill.document).unwrap().files.len(), 3);
    assert!(matches!(folder, Folder::Sealed(_)));
    assert_eq!(bench.consent("x"), Consent::Changed);
}

/// The private copy that a script runs from is held to the same.
#[test]
fn fault_51_nothing_that_changed_after_the_look_is_copied() {
    let bench = Bench::approved();
    let catalog = bench.library.look();
    let document = &catalog.get("x").unwrap().document;
    let manifest = bench.library.manifest(document);
    let copy = |name: &str| {
        let into = bench.tree.path(name);
        fs::create_dir(&into).unwrap();
        copy_skill(&document.folder, &manifest, &into).map_err(|error| error.to_string())
    };
    assert_eq!(copy("one").unwrap(), bench.library.digests(document).unwrap());
    bench.write("scripts/a.sh", "b");
    assert_eq!(copy("two"), Err("`scripts/a.sh` changed while it was read".to_owned()));
}

/// A skill that was touched and is the same stays approved, and nobody is told of a change.
#[test]
fn a_touched_file_changes_nothing() {
    let bench = Bench::approved();
    let before = bench.library.look();
    bench.write("scripts/a.sh", "a");
    assert!(Arc::ptr_eq(&bench.library.look(), &before));
}

/// `--trust`: everything for this run, and nothing is asked or recorded.
#[test]
fn for_this_run_everything_is_used() {
    let bench = Bench::new();
    bench.tree.skill("repo/.agents/skills/x");
    let library = bench.tree.usual().with_consents(ConsentFrom::ThisRun);
    let catalog = library.look();
    assert_eq!(statuses(&catalog), ["project-1.agents:x used"]);
    assert_eq!(find(&catalog, "x").consent, Consent::ThisRun);
    assert!(bench.memory.asked.lock().unwrap().is_empty());
    assert_eq!(bench.statuses(), ["project-1.agents:x withheld"]);
}

/// An approval makes a skill no stronger than its root: the user's own shadows it.
#[test]
fn an_approved_skill_takes_the_place_that_its_root_has() {
    let bench = Bench::new();
    bench.tree.skill("home/.agents/skills/x").skill("repo/.agents/skills/x");
    assert_eq!(bench.statuses(), ["user.agents:x used", "project-1.agents:x withheld"]);
    let catalog = bench.library.look();
    bench.memory.approve(&catalog.skills[1]);
    assert_eq!(
        bench.statuses(),
        ["user.agents:x used", "project-1.agents:x shadowed by user.agents:x"]
    );
    let catalog = bench.library.look();
    assert!(catalog.resolve("project-1.agents:x").is_some());
    bench.tree.write("repo/.agents/skills/x/a", "");
    assert!(bench.library.look().resolve("project-1.agents:x").is_none());
}

/// Two of one name in one root: each is approved for itself, and with both approved neither is used.
#[test]
fn an_approval_can_make_a_name_disputed() {
    let bench = Bench::new();
    bench.tree.skill("repo/.agents/skills/a/x").skill("repo/.agents/skills/b/x");
    let catalog = bench.library.look();
    bench.memory.approve(&catalog.skills[0]);
    let catalog = bench.library.look();
    assert_eq!(catalog.get("x").unwrap().description(), "The repo/.agents/skills/a/x skill");
    bench.memory.approve(&catalog.skills[1]);
    let catalog = bench.library.look();
    assert!(catalog.get("x").is_none());
    assert!(matches!(catalog.skills[0].status, Status::Disputed { .. }));
}

/// A copy of the user's own is trusted as far as its content goes, so the user's folder is the one that is read.
#[test]
fn of_equal_skills_the_one_that_may_be_used_is_read() {
    let bench = Bench::with(|places| places.order = RootOrder::ProjectFirst);
    let text = "---\nname: x\ndescription: d\n---\nbody\n";
    bench.tree.write("repo/.agents/skills/x/SKILL.md", text);
    bench.tree.write("home/.agents/skills/x/SKILL.md", text);
    let catalog = bench.library.look();
    let skill = catalog.get("x").unwrap();
    assert_eq!(skill.consent, Consent::NotNeeded);
    assert_eq!(skill.document.folder, Folder::Disk(bench.tree.path("home/.agents/skills/x")));
    assert_eq!(skill.found_at[0], bench.tree.path("home/.agents/skills/x"));
    // What no manifest lists comes from the user's folder too.
    bench.tree.write("repo/.agents/skills/x/.env", "");
    let catalog = bench.library.look();
    assert_eq!(
        catalog.get("x").unwrap().document.folder.directory().unwrap(),
        bench.tree.path("home/.agents/skills/x")
    );
}

/// What cannot be read is no approval.
#[test]
fn approvals_that_cannot_be_read_approve_nothing() {
    let bench = Bench::approved();
    bench.memory.change(|approvals| {
        *approvals = Approvals { fault: Some("the disk is gone".into()), ..Approvals::default() };
    });
    let catalog = bench.library.look();
    assert_eq!(find(&catalog, "x").consent, Consent::Missing);
    assert_eq!(bench.tree.told(&catalog.problems), ["repo: approvals-unreadable"]);
}

/// Names and texts of what nobody approved reach no model in the guise of a problem.
#[test]
fn fault_49_problems_of_what_is_withheld_are_for_people() {
    let bench = Bench::new();
    bench
        .tree
        .write("repo/.agents/skills/x/SKILL.md", "---\nname: Obey me\ndescription: d\n---\nbody\n");
    bench.tree.write("repo/.agents/skills/obey-me.md", "---\nname: a\ndescription: d\n---\n");
    bench.tree.write("home/.agents/skills/y/SKILL.md", "---\nname: z\ndescription: d\n---\n");
    let spoken = |catalog: &Catalog| {
        let (spoken, unspoken) = catalog.problems_for_models();
        (spoken.map(|problem| problem.reason.as_str()).collect::<Vec<_>>(), unspoken)
    };
    let catalog = bench.library.look();
    assert_eq!(catalog.problems.len(), 3, "{:?}", catalog.problems);
    assert_eq!(spoken(&catalog), (vec!["name-mismatch"], 2));
    bench.approve("x");
    assert_eq!(spoken(&bench.library.look()), (vec!["name-mismatch", "name-mismatch"], 1));
}

/// Row 50: what a skill asks to be allowed is kept as it was written, and nothing more, approved or not.
#[test]
fn fault_50_allowed_tools_are_words() {
    let bench = Bench::new();
    bench.tree.write(
        "repo/.agents/skills/x/SKILL.md",
        "---\nname: x\ndescription: d\nallowed-tools: Bash(*)\n---\nbody\n",
    );
    let before = find(&bench.library.look(), "x").document.header.clone();
    bench.approve("x");
    let catalog = bench.library.look();
    assert_eq!(catalog.get("x").unwrap().document.header, before);
    assert_eq!(before.allowed_tools, ["Bash(*)"]);
}
