//! One permission rule: the text as written, and what it speaks of.

mod parse;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::action::ToolIdentity;

/// The most bytes a rule may have.
pub const MAX_RULE_BYTES: usize = 4096;

/// The most characters of a refused rule that an error shows.
const SHOWN_CHARS: usize = 120;

/// A rule, such as `Bash(git:*)` or `mcp__files__read_file`. It prints exactly as it was written.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Rule {
    text: Box<str>,
    pub(crate) target: Target,
}

/// What a rule speaks of.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Target {
    /// `Tool`, `Tool(subject)`.
    Own { name: Box<str>, subject: Option<Pattern> },
    /// `mcp__…`: the text after the prefix, which may have several readings.
    ServerText(Box<str>),
    /// `skill__tool`: may have several readings.
    SkillText(Box<str>),
    /// `mcp(server, tool)`; no tool stands for all of them.
    Server { server: Box<str>, tool: Option<Box<str>> },
    /// `skill(name, tool)`; no tool stands for all of them.
    SkillTool { skill: Box<str>, tool: Option<Box<str>> },
}

/// What stands between the parentheses after one of our own tools.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Pattern {
    /// `*`
    Every,
    /// `text:*`
    Prefix(Box<str>),
    /// `domain:host`, or `domain:*.host` for what lies below it.
    Domain { host: Box<str>, below: bool },
    /// Anything else: a glob for a path, the very text for all other kinds.
    Literal(Box<str>),
}

/// A text that cannot be read as a rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{shown}` is no permission rule: {fault} at character {column}")]
pub struct RuleError {
    /// The beginning of the text, with what cannot be seen made visible.
    pub shown: String,
    /// What is wrong.
    pub fault: RuleFault,
    /// The character where it is wrong, from 1.
    pub column: usize,
    /// What to do, in one sentence without its final stop.
    pub hint: String,
    /// A rule that can be read and that may have been meant.
    pub nearest: Option<String>,
}

/// What can be wrong with the text of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum RuleFault {
    /// Nothing is there.
    #[error("it is empty")]
    Empty,
    /// More than [`MAX_RULE_BYTES`].
    #[error("it is longer than 4096 bytes")]
    TooLong,
    /// A control character, or one that has no width or changes the direction of text.
    #[error("a character that cannot be seen stands")]
    Invisible,
    /// A character that no name holds unless it is quoted.
    #[error("a character that no tool's name can hold stands")]
    NameCharacter,
    /// Blanks at the beginning or the end, of the rule or of its subject.
    #[error("a needless blank stands")]
    Blank,
    /// A wildcard in a name.
    #[error("a wildcard in a name stands")]
    Wildcard,
    /// The parentheses are not closed, or something follows them.
    #[error("the parentheses do not end")]
    Parentheses,
    /// Nothing between the parentheses, or no name where one must be.
    #[error("something is missing")]
    Missing,
    /// A subject on a tool that has none.
    #[error("a subject where none can be stands")]
    Subject,
    /// `domain:` with something other than a host.
    #[error("something other than a host stands")]
    Host,
    /// A quoted name that does not end, or an escape that is none.
    #[error("a quoted name that cannot be read stands")]
    Quoted,
}

impl Rule {
    /// The rule as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Every tool that the rule can be read as naming, whatever its subject; nothing for all tools of a server or a skill.
    pub fn tools(&self) -> Vec<ToolIdentity> {
        let server = |server: &str, tool: &str| ToolIdentity::Server {
            server: server.to_owned(),
            tool: tool.to_owned(),
        };
        let of_skill = |skill: &str, tool: &str| ToolIdentity::SkillTool {
            skill: skill.to_owned(),
            tool: tool.to_owned(),
        };
        match &self.target {
            Target::Own { name, .. } => vec![ToolIdentity::Own(name.to_string())],
            Target::ServerText(text) => {
                pairs(text).map(|(left, right)| server(left, right)).collect()
            }
            Target::SkillText(text) => {
                pairs(text).map(|(left, right)| of_skill(left, right)).collect()
            }
            Target::Server { server: name, tool } => {
                tool.iter().map(|tool| server(name, tool)).collect()
            }
            Target::SkillTool { skill, tool } => {
                tool.iter().map(|tool| of_skill(skill, tool)).collect()
            }
        }
    }

    /// Whether the rule speaks of calls on some subject alone.
    pub fn has_subject(&self) -> bool {
        matches!(self.target, Target::Own { subject: Some(_), .. })
    }

    /// The rule for exactly this tool, whatever its calls work on, in the shortest form that can be read in one way only.
    ///
    /// Nothing where no rule can be written: a name of ours that the grammar does not take, or a text over the bound.
    pub fn exactly(tool: &ToolIdentity) -> Option<Self> {
        match tool {
            ToolIdentity::Own(name) => name
                .parse()
                .ok()
                .filter(|rule: &Self| matches!(rule.target, Target::Own { subject: None, .. })),
            ToolIdentity::SkillTool { skill, tool } => Self::skill_tool(skill, tool),
            ToolIdentity::Server { server, tool } => Self::server_tool(server, tool),
        }
    }

    /// The rule for exactly one tool of a server.
    pub(crate) fn server_tool(server: &str, tool: &str) -> Option<Self> {
        let short = format!("mcp__{server}__{tool}").parse::<Self>().ok();
        short.filter(|rule| rule.readings().len() == 1).or_else(|| {
            format!("mcp({}, {})", parse::quoted(server), parse::quoted(tool)).parse().ok()
        })
    }

    /// The rule for exactly one tool of a skill.
    pub(crate) fn skill_tool(skill: &str, tool: &str) -> Option<Self> {
        let short = format!("{skill}__{tool}").parse::<Self>().ok();
        short
            .filter(|rule| matches!(rule.target, Target::SkillText(_)))
            .filter(|rule| rule.readings().len() == 1)
            .or_else(|| {
                format!("skill({}, {})", parse::quoted(skill), parse::quoted(tool)).parse().ok()
            })
    }

    /// The explicit form of every pair that the text can be read as; nothing for rules that have one reading by form.
    pub fn readings(&self) -> Vec<String> {
        let (word, text) = match &self.target {
            Target::ServerText(text) => ("mcp", text),
            Target::SkillText(text) => ("skill", text),
            Target::Own { .. } | Target::Server { .. } | Target::SkillTool { .. } => {
                return Vec::new();
            }
        };
        pairs(text)
            .map(|(left, right)| {
                format!("{word}({}, {})", parse::quoted(left), parse::quoted(right))
            })
            .collect()
    }
}

/// Every way to cut a text in two non-empty names at a `__`; those of `a___b` are (`a`, `_b`) and (`a_`, `b`).
pub(crate) fn pairs(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let bytes = text.as_bytes();
    (1..text.len().saturating_sub(2))
        .filter(|&at| bytes[at] == b'_' && bytes[at + 1] == b'_')
        .map(|at| (&text[..at], &text[at + 2..]))
}

/// Whether a character would make two texts look alike that are not: controls, no width, changes of direction.
pub fn is_invisible(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}'
            | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}')
}

impl FromStr for Rule {
    type Err = RuleError;

    fn from_str(text: &str) -> Result<Self, RuleError> {
        let target = parse::target(text).map_err(|found| {
            let before = text.get(..found.at).unwrap_or(text);
            RuleError {
                shown: text.chars().take(SHOWN_CHARS).flat_map(char::escape_debug).collect(),
                fault: found.fault,
                column: before.chars().count() + 1,
                hint: found.hint,
                nearest: found.nearest.filter(|rule| parse::target(rule).is_ok()),
            }
        })?;
        Ok(Self { text: text.into(), target })
    }
}

impl TryFrom<String> for Rule {
    type Error = RuleError;

    fn try_from(text: String) -> Result<Self, RuleError> {
        text.parse()
    }
}

impl From<Rule> for String {
    fn from(rule: Rule) -> Self {
        rule.text.into()
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
