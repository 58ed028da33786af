//! Short ways to write rules and calls.

use kitbag_permission::{
    Action, Bases, Effect, Entry, KnownTool, Layer, Origin, PathSubject, RuleProblem, RuleSet,
    Subject, SubjectKind, ToolIdentity, Traits, WorkspaceTrust,
};

/// The tools that tests and the reference speak of.
pub(crate) const KNOWN: [KnownTool<'static>; 9] = [
    KnownTool { name: "Bash", subject: Some(SubjectKind::Command) },
    KnownTool { name: "Read", subject: Some(SubjectKind::Path) },
    KnownTool { name: "Edit", subject: Some(SubjectKind::Path) },
    KnownTool { name: "Write", subject: Some(SubjectKind::Path) },
    KnownTool { name: "Glob", subject: Some(SubjectKind::Path) },
    KnownTool { name: "Grep", subject: Some(SubjectKind::Path) },
    KnownTool { name: "WebFetch", subject: Some(SubjectKind::Domain) },
    KnownTool { name: "Skill", subject: Some(SubjectKind::Text) },
    KnownTool { name: "skill_list", subject: None },
];

pub(crate) const BASES: Bases<'static> =
    Bases { workspace: Some("/home/me/app"), home: Some("/home/me") };

pub(crate) fn entry(layer: Layer, effect: Effect, rule: &str) -> Entry {
    let origin = Origin::File { path: format!("{}.json", layer.as_str()), line: 1 };
    Entry { layer, origin, effect, rule: rule.parse().unwrap() }
}

pub(crate) fn compile(entries: Vec<Entry>, trust: WorkspaceTrust) -> (RuleSet, Vec<RuleProblem>) {
    RuleSet::build(entries, &KNOWN, trust)
}

/// Rules of the user, as effect and text.
pub(crate) fn user(rules: &[(Effect, &str)]) -> RuleSet {
    let entries = rules.iter().map(|&(effect, rule)| entry(Layer::User, effect, rule)).collect();
    compile(entries, WorkspaceTrust::Trusted).0
}

pub(crate) fn server(server: &str, tool: &str) -> Action {
    let tool = ToolIdentity::Server { server: server.to_owned(), tool: tool.to_owned() };
    Action { tool, shown_as: None, subject: None, claims: Traits::Untrusted }
}

pub(crate) fn own(tool: &str, claims: Traits, subject: Option<Subject>) -> Action {
    Action { tool: ToolIdentity::Own(tool.to_owned()), shown_as: None, subject, claims }
}

pub(crate) fn bash(line: &str) -> Action {
    own("Bash", Traits::Untrusted, Some(Subject::Command(line.to_owned())))
}

pub(crate) fn path(absolute: &str) -> Subject {
    Subject::Path(PathSubject::new(absolute, BASES).unwrap())
}
