//! Texts as rules, and a call judged by them: nothing panics, deny wins, and a grant is enough and exact.
#![no_main]

use kitbag_permission::{
    Action, Bases, Because, Effect, Entry, KnownTool, Layer, Mode, Origin, PathSubject, Rule,
    RuleSet, Subject, SubjectKind, ToolIdentity, Traits, Verdict, WorkspaceTrust, decide, explain,
    narrowest_grant,
};
use libfuzzer_sys::fuzz_target;

const KNOWN: [KnownTool<'static>; 5] = [
    KnownTool { name: "Bash", subject: Some(SubjectKind::Command) },
    KnownTool { name: "Read", subject: Some(SubjectKind::Path) },
    KnownTool { name: "WebFetch", subject: Some(SubjectKind::Domain) },
    KnownTool { name: "Skill", subject: Some(SubjectKind::Text) },
    KnownTool { name: "Plain", subject: None },
];

// The input is a letter for the tool, the two texts of the call, up to eight rules, and the subject of another call, each
// ended by a NUL. A rule's first letter is its effect.
fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let mut parts = text.splitn(12, '\0');
    let mut next = || parts.next().unwrap_or("");
    let (kind, one, two) = (next(), next().to_owned(), next().to_owned());
    let own = |name: &str| ToolIdentity::Own(name.to_owned());
    let path = PathSubject::new(&format!("/home/me/{one}"), BASES);
    let (tool, subject) = match kind.bytes().next().unwrap_or(0) % 6 {
        0 => (ToolIdentity::Server { server: one, tool: two }, None),
        1 => (ToolIdentity::SkillTool { skill: one, tool: two }, None),
        2 => (own("Bash"), Some(Subject::Command(one))),
        3 => (own("Read"), path.ok().map(Subject::Path)),
        4 => (own("WebFetch"), Some(Subject::Domain(one))),
        _ => (own("Skill"), Some(Subject::Text(one))),
    };
    let action = Action { tool, shown_as: None, subject, claims: Traits::Untrusted };
    let mut entries = Vec::new();
    for line in 0..8 {
        let part = next();
        let Some(letter) = part.chars().next() else { continue };
        let effect = [Effect::Allow, Effect::Deny, Effect::Ask][letter as usize % 3];
        let Ok(rule) = part[letter.len_utf8()..].parse::<Rule>() else { continue };
        assert_eq!(rule.to_string(), part[letter.len_utf8()..]);
        let origin = Origin::File { path: String::new(), line };
        entries.push(Entry { layer: Layer::User, origin, effect, rule });
    }
    let restricts = entries.iter().filter(|entry| entry.effect != Effect::Allow).cloned();
    let (restricting, _) = RuleSet::build(restricts, &KNOWN, WorkspaceTrust::Trusted);
    let (rules, _) = RuleSet::build(entries, &KNOWN, WorkspaceTrust::Trusted);
    for mode in Mode::ALL {
        let decision = decide(&rules, mode, &action);
        assert_eq!(explain(&rules, mode, &action).decision, decision);
        let without = decide(&restricting, mode, &action);
        if matches!(without.because, Because::Rule(_) | Because::RuleUnanswered(_)) {
            assert_eq!(without.verdict, decision.verdict);
        }
    }
    if let Some(rule) = narrowest_grant(&rules, Mode::Ask, &action) {
        let granted = rules.granting(rule);
        assert_eq!(decide(&granted, Mode::Ask, &action).verdict, Verdict::Allow);
        let other = with_subject(&action, next());
        if !same(&action, &other) {
            let before = decide(&rules, Mode::Ask, &other).verdict;
            assert_eq!(decide(&granted, Mode::Ask, &other).verdict, before);
        }
    }
});

/// The same call about something else; for the tool of a server or a skill, a call of another of its tools.
fn with_subject(action: &Action, text: &str) -> Action {
    let mut other = action.clone();
    let text = text.to_owned();
    match (&mut other.subject, &mut other.tool) {
        (Some(Subject::Command(one) | Subject::Domain(one) | Subject::Text(one)), _) => *one = text,
        (Some(Subject::Path(one)), _) => {
            *one = PathSubject::new(&format!("/home/me/{text}"), BASES).expect("it is absolute");
        }
        (None, ToolIdentity::Server { tool, .. } | ToolIdentity::SkillTool { tool, .. }) => {
            *tool = text;
        }
        (None, ToolIdentity::Own(_)) => {}
    }
    other
}

/// Whether two calls of one tool are the same call to every rule.
fn same(one: &Action, other: &Action) -> bool {
    let blanks = [' ', '\t', '\n'];
    let host = |host: &str| host.strip_suffix('.').unwrap_or(host).to_lowercase();
    match (&one.subject, &other.subject) {
        (Some(Subject::Command(one)), Some(Subject::Command(other))) => {
            one.trim_matches(blanks) == other.trim_matches(blanks)
        }
        (Some(Subject::Domain(one)), Some(Subject::Domain(other))) => host(one) == host(other),
        _ => one == other,
    }
}

const BASES: Bases<'static> = Bases { workspace: Some("/home/me/app"), home: Some("/home/me") };
