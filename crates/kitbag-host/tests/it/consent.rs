//! Approvals of skills as they are kept.

#![expect(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use kitbag_host::consent::{Change, ConsentError, MAX_RECORD_BYTES, Record, SkillTrust};
use kitbag_host::{Host, Where};
use kitbag_permission::Mode;
use kitbag_skills::review::{Review, review};
use kitbag_skills::{Consent, Library, RootChoice, Skill, SkillLimit};
use kitbag_store::{AuditId, Removal};

struct Scene {
    root: PathBuf,
    _keep: tempfile::TempDir,
}

impl Scene {
    /// A clone with the skill `x`, which has a script.
    fn new() -> Self {
        let keep = tempfile::tempdir().unwrap();
        let root = keep.path().canonicalize().unwrap();
        let scene = Self { root, _keep: keep };
        fs::create_dir_all(scene.root.join("home")).unwrap();
        fs::create_dir_all(scene.root.join("repo/.git")).unwrap();
        scene.write(
            "SKILL.md",
            "---\nname: x\ndescription: d\nallowed-tools: Bash(*)\n---\none\ntwo\nthree\n",
        );
        scene.write("scripts/a.sh", "a");
        scene
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.root.join("repo/.agents/skills/x").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn place(&self) -> Where {
        Where {
            home: Some(self.root.join("home")),
            kitbag_home: Some(self.root.join("home/.kitbag")),
            cwd: self.root.join("repo"),
            hosted: false,
            roots: RootChoice::Default { also: Vec::new() },
            given: Vec::new(),
        }
    }

    /// What another process would open.
    fn host(&self) -> Host {
        Host::open(self.place()).unwrap()
    }
}

fn library(host: &Host) -> Library {
    host.library(SkillLimit(100), SkillTrust::Approved)
}

fn skill(library: &Library) -> Arc<Skill> {
    let catalog = library.look();
    let found = catalog.skills.iter().find(|skill| skill.name().as_str() == "x");
    Arc::clone(found.unwrap())
}

fn reviewed(library: &Library) -> Review {
    review(&skill(library)).unwrap()
}

fn log(host: &Host) -> Vec<String> {
    let page = host.store().unwrap().audit_after(AuditId::START).unwrap();
    let told = page.entries.into_iter().map(|entry| {
        let record = entry.record;
        format!(
            "{} {} {} {}",
            record.principal,
            record.source,
            record.tool,
            record.decision.as_str()
        )
    });
    told.collect()
}

/// G-5, G-23, and the live half of it: what one process records, the next look of another sees.
#[test]
fn g23_an_approval_of_another_process_is_in_the_next_look() {
    let scene = Scene::new();
    let (here, there) = (scene.host(), scene.host());
    let library_here = library(&here);
    assert_eq!(skill(&library_here).consent, Consent::Missing);
    assert!(!scene.root.join("home/.kitbag").exists(), "asking makes no store");

    there.approve_skill(&reviewed(&library(&there))).unwrap();
    assert_eq!(skill(&library_here).consent, Consent::Approved);
    let catalog = library_here.look();
    there.refuse_skill(&reviewed(&library(&there))).unwrap();
    assert!(Arc::ptr_eq(&library_here.look(), &catalog), "what the log gets changes nothing");

    scene.write("scripts/a.sh", "b");
    assert_eq!(skill(&library_here).consent, Consent::Changed);
    there.approve_skill(&reviewed(&library(&there))).unwrap();
    assert_eq!(skill(&library_here).consent, Consent::Approved);

    let keys = here.approved_skills().unwrap();
    assert_eq!(keys.len(), 1);
    assert_eq!(
        (keys[0].root.clone(), &*keys[0].directory),
        (scene.root.join("repo/.agents/skills"), "x")
    );
    assert_eq!(there.revoke_skill(&keys[0]).unwrap(), Removal::Removed);
    assert_eq!(there.revoke_skill(&keys[0]).unwrap(), Removal::Absent);
    assert_eq!(skill(&library_here).consent, Consent::Missing);
    assert_eq!(
        log(&here),
        [
            "person kitbag skills approve approved",
            "person kitbag skills approve refused",
            "person kitbag skills approve approved",
            "person kitbag skills approve --revoke refused",
        ]
    );
}

/// An approval holds for one workspace: the same repository elsewhere asks for itself.
#[test]
fn g5_an_approval_holds_for_one_workspace() {
    let scene = Scene::new();
    let host = scene.host();
    host.approve_skill(&reviewed(&library(&host))).unwrap();
    fs::rename(scene.root.join("repo"), scene.root.join("other")).unwrap();
    let other = Host::open(Where { cwd: scene.root.join("other"), ..scene.place() }).unwrap();
    assert_eq!(skill(&library(&other)).consent, Consent::Missing);
}

/// What is shown is what is approved: a skill that changed meanwhile is not.
#[test]
fn fault_51_what_changed_while_it_was_shown_is_not_approved() {
    let scene = Scene::new();
    let host = scene.host();
    let review = reviewed(&library(&host));
    scene.write("scripts/a.sh", "b");
    let refused = host.approve_skill(&review);
    assert!(matches!(refused, Err(ConsentError::Changed)), "{refused:?}");
    assert!(host.approved_skills().unwrap().is_empty());
}

#[test]
fn the_next_review_says_what_changed_since_the_last() {
    let scene = Scene::new();
    let host = scene.host();
    let library = library(&host);
    assert_eq!(host.earlier_approval(&reviewed(&library)).unwrap(), None);
    host.approve_skill(&reviewed(&library)).unwrap();
    let same = host.earlier_approval(&reviewed(&library)).unwrap().unwrap();
    assert!(same.difference.unwrap().is_empty());

    scene.write(
        "SKILL.md",
        "---\nname: x\ndescription: d\nallowed-tools: Read\n---\none\ntw\u{200b}o\nthree\n",
    );
    fs::remove_file(scene.root.join("repo/.agents/skills/x/scripts/a.sh")).unwrap();
    scene.write("b.md", "b");
    let earlier = host.earlier_approval(&reviewed(&library)).unwrap().unwrap();
    let difference = earlier.difference.unwrap();
    let files: Vec<_> = difference.files.iter().map(|(path, change)| (&**path, *change)).collect();
    assert_eq!(
        files,
        [("SKILL.md", Change::Changed), ("b.md", Change::Added), ("scripts/a.sh", Change::Removed)]
    );
    assert!(difference.text.contains("-two\n+tw\u{200b}o\n"), "{}", difference.text);
    assert!(difference.requests.contains("-asks to be allowed, which grants nothing: Bash(*)"));
    assert_eq!((difference.unknown_files, difference.text_cut), (0, false));
}

/// What is kept of a review is bounded, whatever JSON makes of it, and says what it lacks.
#[test]
fn a_record_is_bounded() {
    let scene = Scene::new();
    scene.write(
        "SKILL.md",
        &format!("---\nname: x\ndescription: d\n---\n{}", "\u{1}\n".repeat(300_000)),
    );
    for number in 0..1_900 {
        scene.write(&format!("{number}-{}", "n".repeat(200)), "");
    }
    let host = scene.host();
    let review = reviewed(&library(&host));
    let record = Record::of(&review);
    let json = record.to_json();
    assert!(json.len() <= MAX_RECORD_BYTES && json.len() > MAX_RECORD_BYTES / 8, "{}", json.len());
    assert!(record.text_cut && record.files_left_out > 0);
    assert_eq!(record.files.len() + record.files_left_out, review.files.len());
    assert_eq!(Record::from_json(&json), Some(record));
    host.approve_skill(&review).unwrap();
    let earlier = host.earlier_approval(&review).unwrap().unwrap().difference.unwrap();
    assert!(earlier.is_empty(), "{earlier:?}");
    assert_eq!(Record::from_json("what the last one saw"), None);
}

/// Row 50: what an approved skill asks to be allowed is no rule, so what would be asked is asked all the same.
#[test]
fn fault_50_allowed_tools_of_an_approved_skill_grant_nothing() {
    let scene = Scene::new();
    let host = scene.host();
    host.approve_skill(&reviewed(&library(&host))).unwrap();
    let library = library(&host);
    assert_eq!(skill(&library).document.header.allowed_tools, ["Bash(*)"]);
    assert_eq!(skill(&library).consent, Consent::Approved);
    let host = scene.host();
    assert!(host.rules().entries().is_empty());
    assert_eq!(host.mode(), Mode::Ask);
}

/// An approved folder that is moved, with a link left in its place, asks again: it would answer to another name.
#[test]
fn an_approval_is_of_one_name() {
    let scene = Scene::new();
    let host = scene.host();
    host.approve_skill(&reviewed(&library(&host))).unwrap();
    let skills = scene.root.join("repo/.agents/skills");
    for target in ["trusted-name", "../../trusted-name"] {
        let real = skills.join(target);
        fs::rename(skills.join("x"), &real).unwrap();
        std::os::unix::fs::symlink(target, skills.join("x")).unwrap();
        let catalog = library(&host).look();
        let renamed = catalog.skills.iter().find(|skill| skill.name().as_str() == "trusted-name");
        assert_eq!(renamed.map(|skill| &skill.consent), Some(&Consent::Missing), "{target}");
        assert!(catalog.get("trusted-name").is_none());
        fs::remove_file(skills.join("x")).unwrap();
        fs::rename(&real, skills.join("x")).unwrap();
    }
    assert_eq!(skill(&library(&host)).consent, Consent::Approved);
}

/// Row 38: a skill that a rule denies is listed as denied and is nobody's; approving it changes nothing.
#[test]
fn fault_38_a_denied_skill_is_used_by_nobody() {
    let scene = Scene::new();
    let host = scene.host();
    host.approve_skill(&reviewed(&library(&host))).unwrap();
    let settings = scene.root.join("home/.kitbag/settings.json");
    for (rules, used) in [
        ("{\"deny\": [\"Skill(x)\"]}", false),
        ("{\"deny\": [\"Skill\"], \"allow\": [\"Skill(x)\"]}", false),
        ("{\"deny\": [\"Skill(y)\"]}", true),
        ("{\"mode\": \"plan\"}", true),
        ("{\"mode\": \"dont-ask\"}", true),
    ] {
        fs::write(&settings, format!("{{\"permissions\": {rules}}}")).unwrap();
        let catalog = library(&scene.host()).look();
        assert_eq!(catalog.get("x").is_some(), used, "{rules}");
        assert_eq!(catalog.resolve("project.agents:x").is_some(), used, "{rules}");
        let found = catalog.skills.iter().find(|skill| skill.name().as_str() == "x").unwrap();
        assert_eq!(found.status.word(), if used { "used" } else { "denied" }, "{rules}");
    }
}

/// What a person says yes to is on the card, however long it is.
#[test]
fn nothing_that_a_skill_asks_for_is_cut_off_its_card() {
    let scene = Scene::new();
    let hosts: Vec<String> =
        (0..60).map(|n| format!("\"host-number-{n}.example.com\", ")).collect();
    let hosts = hosts.concat();
    scene.write(
        "kitbag.toml",
        &format!(
            "version = 1\n[[script]]\npath = \"scripts/a.sh\"\ninterpreter = \"sh\"\nnetwork = [{hosts}\"evil.example.net\"]\nwrite = [\"/etc\"]\nenv = [\"AWS_SECRET_ACCESS_KEY\"]\n\n[[tool]]\nname = \"t\"\ndescription = \"d\"\ncommand = [\"sh\", \"scripts/a.sh\", \"{}\", \"EVILARG\"]\n",
            "A".repeat(1000)
        ),
    );
    let card = kitbag_skills::review::requests(&skill(&library(&scene.host())).document).join("\n");
    for told in ["evil.example.net", "/etc", "AWS_SECRET_ACCESS_KEY", "EVILARG"] {
        assert!(card.contains(told), "{told} is missing in {card}");
    }
}
