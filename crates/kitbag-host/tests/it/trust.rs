//! Trust of a workspace.

use kitbag_host::HostError;
use kitbag_host::trust::{TrustState, revoke};
use kitbag_store::{AuditId, Removal};

use crate::place::Place;

const GRANT: &str = "{\"permissions\": {\"allow\": [\"Bash\", \"Edit\"], \"deny\": [\"Read\"], \"mode\": \"full-auto\"}}";

#[test]
fn it_goes_from_nothing_to_untrusted_to_trusted_to_changed() {
    let place = Place::new();
    assert_eq!(place.open().unwrap().trust(), TrustState::Nothing);
    place.project(GRANT);
    let host = place.open().unwrap();
    assert_eq!(host.trust(), TrustState::Untrusted);
    host.trust_reviewed(&host.review()).unwrap();
    assert!(matches!(place.open().unwrap().trust(), TrustState::Trusted { .. }));
    place.project("{}");
    assert!(matches!(place.open().unwrap().trust(), TrustState::Changed { .. }));
    assert_eq!(revoke(&place.place()).unwrap(), Removal::Removed);
    assert_eq!(place.open().unwrap().trust(), TrustState::Untrusted);
    assert_eq!(revoke(&place.place()).unwrap(), Removal::Absent);
}

#[test]
fn a_review_lists_what_trust_turns_on_and_nothing_else() {
    let place = Place::new();
    place.project(GRANT);
    let granted = |host: &kitbag_host::Host| {
        let grants = host.review().grants.into_iter();
        grants.map(|(key, origin)| format!("{key} {}", origin.value)).collect::<Vec<_>>()
    };
    let host = place.open().unwrap();
    let all = [
        "permissions.allow \"Bash\"",
        "permissions.allow \"Edit\"",
        "permissions.mode \"full-auto\"",
    ];
    assert_eq!(granted(&host), all);
    host.trust_reviewed(&host.review()).unwrap();
    assert_eq!(granted(&place.open().unwrap()), all);
}

#[test]
fn trust_given_and_taken_back_is_in_the_log() {
    let place = Place::new();
    place.project(GRANT);
    let host = place.open().unwrap();
    host.trust_reviewed(&host.review()).unwrap();
    revoke(&place.place()).unwrap();
    let log = host.store().unwrap().audit_after(AuditId::START).unwrap().entries;
    let lines: Vec<String> = log
        .iter()
        .map(|entry| {
            let record = &entry.record;
            format!("{} {:?} {}", record.tool, record.decision, place.filtered(&record.rule))
        })
        .collect();
    assert_eq!(
        lines,
        [
            "trust Approved the settings in [ROOT]/work",
            "trust --revoke Refused the settings in [ROOT]/work",
        ]
    );
}

/// Whoever says yes says it to what they saw, also if the file is another by then.
#[test]
fn trust_is_of_what_was_shown() {
    let place = Place::new();
    place.project(GRANT);
    let host = place.open().unwrap();
    let review = host.review();
    place.project("{\"permissions\": {\"allow\": [\"mcp__evil\"]}}");
    host.trust_reviewed(&review).unwrap();
    let host = place.open().unwrap();
    assert!(matches!(host.trust(), TrustState::Changed { .. }));
    let before = host.review().folders[0].before.clone().unwrap().0;
    assert_eq!(before, review.folders[0].shown);
}

#[test]
fn a_line_of_a_file_cannot_pass_for_another_file() {
    let place = Place::new();
    place.project("{}\n// .kitbag/settings.local.json\n//\u{200b}\u{1b}[2J\ttab\r\n");
    let shown = place.open().unwrap().review().folders[0].shown.clone();
    assert_eq!(
        shown,
        ".kitbag/settings.json\n  {}\n  // .kitbag/settings.local.json\n  //\\u{200b}\\u{1b}[2J\ttab\n"
    );
}

#[test]
fn more_than_a_person_can_be_shown_is_not_trusted() {
    let place = Place::new();
    place.project(&format!("{{}} //{}", "x".repeat(kitbag_store::MAX_SHOWN_BYTES)));
    let host = place.open().unwrap();
    let error = host.trust_reviewed(&host.review()).unwrap_err();
    assert!(matches!(error, HostError::TooMuchToReview(_)), "{error}");
    assert!(error.hint().is_some());
}

#[test]
fn without_a_home_nothing_can_be_trusted() {
    let place = Place::new();
    place.project(GRANT);
    let bare = kitbag_host::Where { home: None, kitbag_home: None, ..place.place() };
    let host = kitbag_host::Host::open(bare).unwrap();
    assert_eq!(host.trust(), TrustState::Untrusted);
    let error = host.trust_reviewed(&host.review()).unwrap_err();
    assert!(matches!(error, HostError::NoHome), "{error}");
}
