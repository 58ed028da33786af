//! What a call is about to do, in the terms of the rules.

use kitbag_permission::{Action, Bases, PathSubject, Subject, SubjectKind, ToolIdentity};
use serde_json::{Map, Value};

use crate::{OfferedTool, SubjectArgument, ToolSpec};

/// The action of a call. A subject that is missing, or is nothing that can be compared, is none, and then rules that deny
/// or ask hit and rules that allow do not.
///
/// Blocks for a path: the disk is asked where its links lead.
pub(crate) fn of(tool: &OfferedTool, arguments: &Map<String, Value>, bases: Bases<'_>) -> Action {
    let subject = tool.subject.as_ref().and_then(|subject| read(subject, arguments, bases));
    Action { subject, ..without_subject(tool) }
}

/// The action of calls of the tool, whatever they work on.
pub(crate) fn without_subject(tool: &OfferedTool) -> Action {
    Action {
        tool: tool.identity.clone(),
        shown_as: shown_as(&tool.spec, &tool.identity),
        subject: None,
        claims: tool.claims,
    }
}

/// The name that callers see, where it is another text than the rule for exactly this tool.
fn shown_as(spec: &ToolSpec, identity: &ToolIdentity) -> Option<String> {
    let name = spec.name.as_str();
    let pair = |text: &str, left: &str, right: &str| {
        text.strip_prefix(left).and_then(|rest| rest.strip_prefix("__")) == Some(right)
    };
    let exact = match identity {
        ToolIdentity::Own(own) => name == own,
        ToolIdentity::SkillTool { skill, tool } => pair(name, skill, tool),
        ToolIdentity::Server { server, tool } => {
            name.strip_prefix("mcp__").is_some_and(|name| pair(name, server, tool))
        }
    };
    (!exact).then(|| name.to_owned())
}

fn read(
    subject: &SubjectArgument,
    arguments: &Map<String, Value>,
    bases: Bases<'_>,
) -> Option<Subject> {
    let text = arguments.get(&*subject.argument)?.as_str()?;
    match subject.kind {
        SubjectKind::Text => Some(Subject::Text(text.to_owned())),
        SubjectKind::Command => Some(Subject::Command(text.to_owned())),
        SubjectKind::Domain => host(text).map(Subject::Domain),
        SubjectKind::Path => path(text, bases).map(Subject::Path),
    }
}

/// The host of a URL, or the text itself where it is a host alone.
///
/// None for what readers of URLs may take for different hosts: blanks, control characters and backslashes.
fn host(text: &str) -> Option<String> {
    let odd = |c: char| c.is_whitespace() || c.is_control() || c == '\\';
    if text.contains(odd) {
        return None;
    }
    let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next()?;
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let host = match host.strip_prefix('[') {
        Some(address) => &host[..address.find(']')? + 2],
        None => host.split(':').next()?,
    };
    (!host.is_empty()).then(|| host.to_lowercase())
}

/// The file that a text names: `~/` is the home, and what does not begin with `/` starts from the workspace.
fn path(text: &str, bases: Bases<'_>) -> Option<PathSubject> {
    let absolute = if text.starts_with('/') {
        text.to_owned()
    } else if let Some(rest) = text.strip_prefix("~/") {
        format!("{}/{rest}", bases.home?)
    } else {
        format!("{}/{text}", bases.workspace?)
    };
    let subject = PathSubject::new(&absolute, bases).ok()?;
    let real = real(&absolute)?;
    subject.leading_to(&real, bases).ok()
}

/// Where the links of a path lead, as far as it exists. None where that is no text or cannot be found out.
fn real(absolute: &str) -> Option<String> {
    let path = std::path::Path::new(absolute);
    let mut missing = Vec::new();
    for ancestor in path.ancestors() {
        match ancestor.canonicalize() {
            Ok(real) => {
                let whole = missing.iter().rev().fold(real, |path, part| path.join(part));
                return whole.into_os_string().into_string().ok();
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                // A dangling link, and what ends in `..`, could lead anywhere.
                if ancestor.symlink_metadata().is_ok() {
                    return None;
                }
                missing.push(ancestor.file_name()?);
            }
            Err(_) => return None,
        }
    }
    None
}
