//! Approvals of skills, trust of workspaces, consents to servers.

use std::path::Path;

use kitbag_store::{
    Digest, MAX_SHOWN_BYTES, Removal, Reviewed, ServerConsent, SkillApproval, SkillKey, StoreError,
    Timestamp, Verdict, WorkspaceTrust,
};

use crate::{NOW, Scene, digest};

const LATER: Timestamp = Timestamp::from_unix_millis(NOW.unix_millis() + 1);

fn skill(directory: &str) -> SkillKey<'_> {
    SkillKey { workspace: Path::new("/w"), root: Path::new("/w/.agents/skills"), directory }
}

fn reviewed(digest: Digest) -> Reviewed<'static> {
    Reviewed { digest, shown: "what it says", at: NOW }
}

/// An approval is for a digest: a skill that changed asks again, that one alone.
#[test]
fn fault_51_an_approval_is_of_a_digest_in_a_workspace() {
    let scene = Scene::new();
    let store = scene.open();
    store.approve_skill(&skill("deploy"), &reviewed(digest(1))).unwrap();
    store.approve_skill(&skill("other"), &reviewed(digest(9))).unwrap();
    let approved = |key: &SkillKey<'_>, of| store.is_skill_approved(key, &digest(of)).unwrap();
    assert!(approved(&skill("deploy"), 1));
    assert!(!approved(&skill("deploy"), 2));
    assert!(!approved(&skill("Deploy"), 1));
    assert!(!approved(&SkillKey { workspace: Path::new("/v"), ..skill("deploy") }, 1));
    assert!(!approved(&SkillKey { root: Path::new("/w"), ..skill("deploy") }, 1));

    store.approve_skill(&skill("deploy"), &Reviewed { at: LATER, ..reviewed(digest(2)) }).unwrap();
    assert!(!approved(&skill("deploy"), 1));
    assert!(approved(&skill("deploy"), 2));
    assert!(approved(&skill("other"), 9));
}

/// G-5, G-23: approvals are stored for each workspace, and can be listed and taken back.
#[test]
fn g23_approvals_are_kept_for_a_workspace() {
    let scene = Scene::new();
    let store = scene.open();
    for directory in ["b", "a"] {
        store.approve_skill(&skill(directory), &reviewed(digest(1))).unwrap();
    }
    let elsewhere = SkillKey { workspace: Path::new("/v"), ..skill("c") };
    store.approve_skill(&elsewhere, &reviewed(digest(1))).unwrap();
    drop(store);

    let store = scene.open();
    let approval = |directory: &str| SkillApproval {
        workspace: "/w".into(),
        root: "/w/.agents/skills".into(),
        directory: directory.to_owned(),
        digest: digest(1),
        shown: "what it says".to_owned(),
        at: NOW,
    };
    let listed = store.skill_approvals(Path::new("/w")).unwrap();
    assert_eq!((listed.items, listed.left_out), (vec![approval("a"), approval("b")], 0));
    assert_eq!(store.revoke_skill(&skill("a")).unwrap(), Removal::Removed);
    assert_eq!(store.revoke_skill(&skill("a")).unwrap(), Removal::Absent);
    assert_eq!(store.skill_approval(&skill("a")).unwrap(), None);
    assert_eq!(store.skill_approval(&skill("b")).unwrap(), Some(approval("b")));
}

#[test]
fn trust_is_for_a_path_and_the_digest_of_its_settings() {
    let scene = Scene::new();
    let store = scene.open();
    let workspace = Path::new("/w");
    assert_eq!(store.workspace_trust(workspace).unwrap(), None);
    store.trust_workspace(workspace, &reviewed(digest(1))).unwrap();
    store.trust_workspace(workspace, &reviewed(digest(2))).unwrap();
    assert!(!store.is_workspace_trusted(workspace, &digest(1)).unwrap());
    assert!(store.is_workspace_trusted(workspace, &digest(2)).unwrap());
    assert!(!store.is_workspace_trusted(Path::new("/w/sub"), &digest(2)).unwrap());
    let trust = WorkspaceTrust {
        workspace: workspace.to_owned(),
        digest: digest(2),
        shown: "what it says".to_owned(),
        at: NOW,
    };
    assert_eq!(store.workspace_trust(workspace).unwrap(), Some(trust.clone()));
    assert_eq!(store.trusted_workspaces().unwrap().items, [trust]);
    assert_eq!(store.distrust_workspace(workspace).unwrap(), Removal::Removed);
    assert!(!store.is_workspace_trusted(workspace, &digest(2)).unwrap());
}

/// Decision 13: consent is to one fingerprint, and a refusal is kept too.
#[test]
fn a_server_is_approved_by_its_fingerprint() {
    let scene = Scene::new();
    let store = scene.open();
    let workspace = Path::new("/w");
    let approved = |server, of| store.is_server_approved(workspace, server, &digest(of)).unwrap();
    store.decide_server(workspace, "a", Verdict::Refused, &reviewed(digest(1))).unwrap();
    assert!(!approved("a", 1));
    store.decide_server(workspace, "a", Verdict::Approved, &reviewed(digest(1))).unwrap();
    assert!(approved("a", 1));
    assert!(!approved("a", 2));
    assert!(!approved("b", 1));
    let consent = ServerConsent {
        workspace: workspace.to_owned(),
        server: "a".to_owned(),
        fingerprint: digest(1),
        verdict: Verdict::Approved,
        shown: "what it says".to_owned(),
        at: NOW,
    };
    assert_eq!(store.server_consent(workspace, "a").unwrap(), Some(consent.clone()));
    assert_eq!(store.server_consents(workspace).unwrap().items, [consent]);
    assert_eq!(store.forget_server(workspace, "a").unwrap(), Removal::Removed);
    assert!(!approved("a", 1));
}

#[test]
fn what_cannot_be_a_key_is_refused() {
    let scene = Scene::new();
    let store = scene.open();
    let relative = SkillKey { workspace: Path::new("w"), ..skill("a") };
    assert!(matches!(
        store.approve_skill(&relative, &reviewed(digest(1))),
        Err(StoreError::NotAbsolute(path)) if path == Path::new("w")
    ));
    let shown = "x".repeat(MAX_SHOWN_BYTES + 1);
    assert!(matches!(
        store.approve_skill(&skill("a"), &Reviewed { shown: &shown, ..reviewed(digest(1)) }),
        Err(StoreError::TooLong { bytes, most: MAX_SHOWN_BYTES, .. }) if bytes == shown.len()
    ));
    assert_eq!(store.skill_approval(&skill("a")).unwrap(), None);
}

#[cfg(unix)]
#[test]
fn a_path_is_kept_byte_for_byte() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;

    let scene = Scene::new();
    let store = scene.open();
    let workspace = Path::new(OsStr::from_bytes(b"/w/\xff\xfe"));
    store.trust_workspace(workspace, &reviewed(digest(1))).unwrap();
    assert_eq!(store.trusted_workspaces().unwrap().items[0].workspace, workspace);
}

/// Who asks at every look reads little, and only after somebody wrote: the store's own handle, or another.
#[test]
fn g23_what_is_approved_is_read_again_after_a_write_alone() {
    let scene = Scene::new();
    let store = scene.open();
    let other = store.reopen().unwrap();
    let names = || {
        let listed = store.approved_skills(Path::new("/w")).unwrap();
        assert_eq!(listed.left_out, 0);
        listed.items.into_iter().map(|skill| (skill.directory, skill.digest)).collect::<Vec<_>>()
    };
    let first = store.mark().unwrap();
    assert!(names().is_empty());
    assert_eq!(store.mark().unwrap(), first);
    other.approve_skill(&skill("b"), &reviewed(digest(1))).unwrap();
    let second = store.mark().unwrap();
    assert_ne!(second, first);
    store.approve_skill(&skill("a"), &reviewed(digest(2))).unwrap();
    assert_ne!(store.mark().unwrap(), second);
    assert_eq!(names(), [("a".to_owned(), digest(2)), ("b".to_owned(), digest(1))]);
    let third = store.mark().unwrap();
    assert_eq!(store.mark().unwrap(), third);
    other.revoke_skill(&skill("b")).unwrap();
    assert_ne!(store.mark().unwrap(), third);
    assert_eq!(names().len(), 1);
}
