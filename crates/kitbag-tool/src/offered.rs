//! A tool as its source offers it.

use std::sync::Arc;

use kitbag_permission::{SubjectKind, ToolIdentity, Traits};

use crate::{Refusal, ToolSpec};

/// A tool as a source offers it: what callers are told, and what the gate judges.
///
/// Sources declare, the gate decides: nothing here lets a call run by itself.
#[derive(Debug, Clone, PartialEq)]
pub struct OfferedTool {
    /// What callers are told.
    pub spec: Arc<ToolSpec>,
    /// Which tool it is for rules, questions and the audit log.
    pub identity: ToolIdentity,
    /// What its calls work on, where a rule can speak of that.
    pub subject: Option<SubjectArgument>,
    /// What we know of its effects. Counts for our own tools only (B-78, B-79).
    pub claims: Traits,
    /// Why no call of it runs here, whoever calls. Such a tool is in no list, and each call is answered with this.
    pub unavailable: Option<Refusal>,
}

/// Which argument of a tool is the subject of its rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubjectArgument {
    /// The argument's name: a member of the arguments, whose value is a string.
    pub argument: Box<str>,
    /// How its text is compared with rules.
    pub kind: SubjectKind,
}

impl OfferedTool {
    /// One of our own tools, whose identity is its name, and what we know of it.
    pub fn own(spec: impl Into<Arc<ToolSpec>>, claims: Traits) -> Self {
        let spec = spec.into();
        let identity = ToolIdentity::Own(spec.name.as_str().to_owned());
        Self { spec, identity, subject: None, claims, unavailable: None }
    }

    /// A tool that a skill declares.
    pub fn of_skill(spec: impl Into<Arc<ToolSpec>>, skill: &str, tool: &str) -> Self {
        let identity = ToolIdentity::SkillTool { skill: skill.to_owned(), tool: tool.to_owned() };
        Self {
            spec: spec.into(),
            identity,
            subject: None,
            claims: Traits::Untrusted,
            unavailable: None,
        }
    }

    /// A tool of an MCP server.
    pub fn of_server(spec: impl Into<Arc<ToolSpec>>, server: &str, tool: &str) -> Self {
        let identity = ToolIdentity::Server { server: server.to_owned(), tool: tool.to_owned() };
        Self {
            spec: spec.into(),
            identity,
            subject: None,
            claims: Traits::Untrusted,
            unavailable: None,
        }
    }

    /// The same tool, of which no call runs here.
    #[must_use]
    pub fn unavailable(mut self, why: Refusal) -> Self {
        self.unavailable = Some(why);
        self
    }

    /// The same tool, whose calls work on what this argument names.
    #[must_use]
    pub fn on(mut self, argument: &str, kind: SubjectKind) -> Self {
        self.subject = Some(SubjectArgument { argument: argument.into(), kind });
        self
    }
}
