//! Who calls.

use std::fmt;
use std::sync::Arc;

use kitbag_permission::ToolIdentity;

/// Who calls a tool, as questions and the audit log show it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub enum Principal {
    /// A person with a command.
    #[default]
    Person,
    /// The model of a session.
    Model,
    /// A client of the server.
    Client {
        /// The name that it gave itself. Nothing vouches for it.
        name: Arc<str>,
    },
    /// A tool that calls another one.
    Skill {
        /// The skill, or the tool where no skill stands behind it.
        name: Arc<str>,
        /// Whose call it answers.
        for_: Arc<Principal>,
    },
}

impl Principal {
    /// The tool as a caller, within a call of this principal.
    pub(crate) fn through(&self, tool: &ToolIdentity) -> Self {
        let name = match tool {
            ToolIdentity::Own(name) => name.as_str().into(),
            ToolIdentity::SkillTool { skill, .. } => skill.as_str().into(),
            ToolIdentity::Server { server, tool } => format!("{server}/{tool}").into(),
        };
        Self::Skill { name, for_: Arc::new(self.clone()) }
    }
}

impl fmt::Display for Principal {
    /// Writes `person`, `model`, `client NAME` or `skill NAME for …`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Person => f.write_str("person"),
            Self::Model => f.write_str("model"),
            Self::Client { name } => write!(f, "client {name}"),
            Self::Skill { name, for_ } => write!(f, "skill {name} for {for_}"),
        }
    }
}
