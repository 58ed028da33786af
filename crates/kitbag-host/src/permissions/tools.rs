//! The tools that are ours: what a call of each works on, and what it can do.

use kitbag_permission::{SubjectKind, Traits};

/// One of our own tools, as rules speak of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OwnTool {
    /// Its name.
    pub name: &'static str,
    /// The argument that holds what a call works on, and its kind.
    pub subject: Option<(&'static str, SubjectKind)>,
    /// What a call can do.
    pub traits: Traits,
}

/// Every tool of ours that a rule can name: those of the skill server, and those of an agent.
pub const OWN_TOOLS: [OwnTool; 10] = [
    own("Skill", Some(("name", SubjectKind::Text)), Traits::Trusted),
    own("skill_list", None, Traits::Trusted),
    own("skill_load", Some(("name", SubjectKind::Text)), Traits::Trusted),
    own("skill_file", Some(("name", SubjectKind::Text)), Traits::Trusted),
    own("skill_run", Some(("name", SubjectKind::Text)), Traits::AsksItself),
    own("Bash", Some(("command", SubjectKind::Command)), Traits::Untrusted),
    own("Read", Some(("path", SubjectKind::Path)), Traits::ReadOnly),
    own("Edit", Some(("path", SubjectKind::Path)), Traits::WorkspaceEdit),
    own("Write", Some(("path", SubjectKind::Path)), Traits::WorkspaceEdit),
    own("WebFetch", Some(("url", SubjectKind::Domain)), Traits::Untrusted),
];

const fn own(
    name: &'static str,
    subject: Option<(&'static str, SubjectKind)>,
    traits: Traits,
) -> OwnTool {
    OwnTool { name, subject, traits }
}

/// The tool of ours that has this name.
pub(crate) fn named(name: &str) -> Option<&'static OwnTool> {
    OWN_TOOLS.iter().find(|tool| tool.name == name)
}
