//! What is about to be done: which tool, on what, and what is known about the tool for sure.

use serde::{Deserialize, Serialize};

/// One call, as the gate sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Action {
    /// The tool.
    pub tool: ToolIdentity,
    /// The name that the caller used, where it differs from the exact one; a name with a hash, say.
    ///
    /// Rules that deny or ask hit it as well, since it is the name that people see; rules that allow do not.
    pub shown_as: Option<String>,
    /// What the call works on, for tools that have a subject.
    pub subject: Option<Subject>,
    /// What we know of the tool ourselves. Counts for our own tools only, see [`Action::traits`].
    pub claims: Traits,
}

/// Which tool it is: exact names, never a text that has to be taken apart (decision 16).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ToolIdentity {
    /// One of our own tools. Our own names never hold `__`.
    Own(String),
    /// A tool that a skill declares.
    SkillTool {
        /// The skill's directory name.
        skill: String,
        /// The tool's name, as declared.
        tool: String,
    },
    /// A tool of an MCP server.
    Server {
        /// The server's name, as configured.
        server: String,
        /// The tool's name, as the server gives it.
        tool: String,
    },
}

/// What a call of one of our own tools can do. What others say about theirs never becomes one of these.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Traits {
    /// Only reads, and is never asked about unless a rule wants it: the tool `Skill` (B-33).
    Trusted,
    /// Only reads.
    ReadOnly,
    /// Changes files, all of them inside the workspace.
    WorkspaceEdit,
    /// Does anything, and nothing before it has asked by itself, with all that it will do: running a skill's script.
    AsksItself,
    /// Anything else.
    #[default]
    Untrusted,
}

/// What a call works on; the kind decides how a rule's text is compared with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// A name or another plain text; a skill's name for `Skill` (B-34).
    Text(String),
    /// A file or directory.
    Path(PathSubject),
    /// The host that is reached, without scheme, user and port.
    Domain(String),
    /// A line for a shell.
    Command(String),
}

/// The kind of a [`Subject`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SubjectKind {
    /// A plain text.
    Text,
    /// A file or directory.
    Path,
    /// A host.
    Domain,
    /// A line for a shell.
    Command,
}

/// The directories that rules can speak of without naming them, as absolute paths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bases<'a> {
    /// What a path without a leading `/` or `~/` starts from.
    pub workspace: Option<&'a str>,
    /// What `~` stands for.
    pub home: Option<&'a str>,
}

/// One file, in every way that a rule may write it. Made of strings alone: no disk is looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathSubject {
    pub(crate) written: Spellings,
    pub(crate) real: Option<Spellings>,
}

/// The ways to write one path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Spellings {
    pub(crate) absolute: String,
    pub(crate) relative: Option<String>,
    pub(crate) home: Option<String>,
}

/// A path that does not begin with `/`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a path must be absolute to be judged")]
pub struct PathError;

impl Action {
    /// What counts of `claims`: nothing a server or a skill says about its own tools is believed (B-78, B-79).
    pub fn traits(&self) -> Traits {
        match self.tool {
            ToolIdentity::Own(_) => self.claims,
            ToolIdentity::SkillTool { .. } | ToolIdentity::Server { .. } => Traits::Untrusted,
        }
    }
}

impl Subject {
    /// The kind.
    pub fn kind(&self) -> SubjectKind {
        match self {
            Self::Text(_) => SubjectKind::Text,
            Self::Path(_) => SubjectKind::Path,
            Self::Domain(_) => SubjectKind::Domain,
            Self::Command(_) => SubjectKind::Command,
        }
    }

    pub(crate) fn longest(&self) -> usize {
        match self {
            Self::Text(text) | Self::Domain(text) | Self::Command(text) => text.len(),
            Self::Path(path) => {
                let real = path.real.as_ref().map_or(0, |real| real.absolute.len());
                path.written.absolute.len().max(real)
            }
        }
    }
}

impl PathSubject {
    /// The file at an absolute path, with `/` between its parts; `.`, `..` and doubled `/` are resolved as text.
    pub fn new(absolute: &str, bases: Bases<'_>) -> Result<Self, PathError> {
        Ok(Self { written: Spellings::new(absolute, bases)?, real: None })
    }

    /// The same file, which links lead to `real`.
    ///
    /// Rules that deny or ask hit if they hit either path, rules that allow only if they hit both.
    pub fn leading_to(mut self, real: &str, bases: Bases<'_>) -> Result<Self, PathError> {
        let real = Spellings::new(real, bases)?;
        self.real = (real != self.written).then_some(real);
        Ok(self)
    }
}

impl Spellings {
    fn new(absolute: &str, bases: Bases<'_>) -> Result<Self, PathError> {
        let absolute = normal(absolute).ok_or(PathError)?;
        let below = |base: Option<&str>| -> Option<String> {
            let base = normal(base?)?;
            let rest = absolute.strip_prefix(base.trim_end_matches('/'))?;
            match rest.strip_prefix('/') {
                Some(rest) => Some(rest.to_owned()),
                None => rest.is_empty().then(String::new),
            }
        };
        let dot = |rest: String| if rest.is_empty() { ".".to_owned() } else { rest };
        let relative = below(bases.workspace).map(dot);
        let home = below(bases.home)
            .map(|rest| if rest.is_empty() { "~".to_owned() } else { format!("~/{rest}") });
        Ok(Self { absolute, relative, home })
    }
}

/// The path without `.`, `..` and empty parts, or nothing where it is not absolute.
fn normal(path: &str) -> Option<String> {
    let mut parts = Vec::new();
    for part in path.strip_prefix('/')?.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    Some(format!("/{}", parts.join("/")))
}
