//! One call, as the gate would see it.

use std::fs;
use std::path::{Component, Path};

use kitbag_permission::{
    Action, Bases, Explanation, Mode, PathSubject, Rule, RuleError, Subject, SubjectKind,
    ToolIdentity, Traits, explain, narrowest_grant,
};
use serde_json::{Map, Value};

use super::tools;
use crate::host::Host;

/// Why a text names no call that could be judged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// It names no tool.
    #[error("`{}` names no tool: {} at character {}", .0.shown, .0.fault, .0.column)]
    NoTool(RuleError),
    /// It names all tools of a server or a skill.
    #[error("`{0}` speaks of every tool of a server or a skill, and a call is of one")]
    All(String),
    /// It can be read as several tools.
    #[error("`{text}` can be read as {} tools", .readings.len())]
    Several {
        /// The text.
        text: String,
        /// Each of them, written so that it can be read in one way.
        readings: Vec<String>,
    },
    /// It holds what the call works on.
    #[error("`{0}` holds a subject, and a tool is named without one")]
    Subject(String),
    /// The argument that the tool works on is not a text.
    #[error("the argument `{0}` must be a text")]
    NotText(&'static str),
    /// The URL has no host.
    #[error("the argument `{0}` is no URL with a host")]
    NoHost(&'static str),
}

impl CallError {
    /// What to do about it, in one sentence without its final stop.
    pub fn hint(&self) -> String {
        match self {
            Self::NoTool(error) => match &error.nearest {
                Some(nearest) => format!("{}; did you mean `{nearest}`?", error.hint),
                None => error.hint.clone(),
            },
            Self::All(_) => {
                "name one tool, such as `mcp__SERVER__TOOL` or `mcp(SERVER, TOOL)`".to_owned()
            }
            Self::Several { readings, .. } => {
                let readings: Vec<String> =
                    readings.iter().take(4).map(|one| format!("`{one}`")).collect();
                format!("write the one that is meant: {}", readings.join(" or "))
            }
            Self::Subject(_) => "say what the call works on with `--args`".to_owned(),
            Self::NotText(_) | Self::NoHost(_) => {
                "give the arguments that a call would have".to_owned()
            }
        }
    }
}

/// A call that can be judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judged {
    /// The call, as the gate sees it.
    pub action: Action,
    /// What was taken for granted about it, each in a sentence without its final stop.
    pub notes: Vec<String>,
}

impl Host {
    /// Reads what a person calls a tool, and the arguments of a call of it. Looks at the disk for where paths lead.
    pub fn call(
        &self,
        tool: &str,
        arguments: Option<&Map<String, Value>>,
    ) -> Result<Judged, CallError> {
        let rule: Rule = tool.parse().map_err(CallError::NoTool)?;
        if rule.has_subject() {
            return Err(CallError::Subject(tool.to_owned()));
        }
        let mut named = rule.tools();
        let identity = match (named.pop(), named.is_empty()) {
            (None, _) => return Err(CallError::All(tool.to_owned())),
            (Some(identity), true) => identity,
            (Some(_), false) => {
                return Err(CallError::Several {
                    text: tool.to_owned(),
                    readings: rule.readings(),
                });
            }
        };
        let plain = |tool, claims, notes| Judged {
            action: Action { tool, shown_as: None, subject: None, claims },
            notes,
        };
        let ToolIdentity::Own(name) = &identity else {
            return Ok(plain(identity, Traits::Untrusted, Vec::new()));
        };
        let Some(own) = tools::named(name) else {
            let note = format!(
                "kitbag has no tool of its own that is called `{name}`; it is judged as the typed skill of that name"
            );
            let mut judged = plain(
                ToolIdentity::SkillTool { skill: name.clone(), tool: name.clone() },
                Traits::Untrusted,
                vec![note],
            );
            judged.action.shown_as = Some(name.clone());
            return Ok(judged);
        };
        let mut judged = plain(identity.clone(), own.traits, Vec::new());
        let Some((argument, kind)) = own.subject else { return Ok(judged) };
        let Some(value) = arguments.and_then(|arguments| arguments.get(argument)) else {
            judged.notes.push(format!(
                "what the call works on is not given (`{argument}` in `--args`), so rules with a subject deny and ask, and allow nothing"
            ));
            return Ok(judged);
        };
        let text = value.as_str().ok_or(CallError::NotText(argument))?;
        judged.action.subject = Some(self.subject(argument, kind, text)?);
        if own.traits == Traits::WorkspaceEdit && !self.is_inside(text) {
            judged.action.claims = Traits::Untrusted;
        }
        Ok(judged)
    }

    /// What the gate says of a call under a mode, and every rule that has a say.
    pub fn explain(&self, action: &Action, mode: Mode) -> Explanation<'_> {
        explain(self.rules(), mode, action)
    }

    /// The narrowest rule that would let the call run, also where nobody would be asked; nothing where none can.
    pub fn grant(&self, action: &Action, mode: Mode) -> Option<Rule> {
        // Under `dont-ask` a call that would ask is denied, and the same rule lets it run.
        let mode = if mode == Mode::DontAsk { Mode::Ask } else { mode };
        narrowest_grant(self.rules(), mode, action)
    }

    fn subject(
        &self,
        argument: &'static str,
        kind: SubjectKind,
        text: &str,
    ) -> Result<Subject, CallError> {
        Ok(match kind {
            SubjectKind::Text => Subject::Text(text.to_owned()),
            SubjectKind::Command => Subject::Command(text.to_owned()),
            SubjectKind::Domain => {
                Subject::Domain(host(text).ok_or(CallError::NoHost(argument))?.to_owned())
            }
            SubjectKind::Path => {
                let path = self.place.cwd.join(text);
                let subject =
                    PathSubject::new(&path.to_string_lossy(), self.bases(&self.workspace.root));
                let subject = subject.map_err(|_| CallError::NotText(argument))?;
                let real = real_as_far_as_it_goes(&path);
                let bases = self.bases(&self.workspace.real);
                Subject::Path(match real {
                    Some(real) => subject
                        .leading_to(&real, bases)
                        .map_err(|_| CallError::NotText(argument))?,
                    None => subject,
                })
            }
        })
    }

    pub(crate) fn bases<'a>(&'a self, workspace: &'a Path) -> Bases<'a> {
        Bases {
            workspace: workspace.to_str(),
            home: self.place.home.as_deref().and_then(Path::to_str),
        }
    }

    fn is_inside(&self, text: &str) -> bool {
        real_as_far_as_it_goes(&self.place.cwd.join(text)).is_some_and(|path| {
            let path = Path::new(&path);
            let climbs = path.components().any(|part| part == Component::ParentDir);
            path.starts_with(&self.workspace.real) && !climbs
        })
    }
}

/// The path with the links of the part that exists followed; nothing where that is not Unicode.
fn real_as_far_as_it_goes(path: &Path) -> Option<String> {
    let (real, ancestor) =
        path.ancestors().find_map(|ancestor| Some((fs::canonicalize(ancestor).ok()?, ancestor)))?;
    let rest = path.strip_prefix(ancestor).ok()?;
    real.join(rest).to_str().map(str::to_owned)
}

/// The host of a URL, without user and port.
fn host(url: &str) -> Option<&str> {
    let (_, rest) = url.split_once("://")?;
    let authority = rest.split(['/', '?', '#', '\\']).next()?;
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let host = match host.strip_prefix('[') {
        Some(inner) => &host[..inner.find(']')? + 2],
        None => host.split(':').next()?,
    };
    (!host.is_empty()).then_some(host)
}
