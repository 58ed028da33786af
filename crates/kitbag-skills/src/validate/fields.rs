//! The six fields of the specification, over YAML that keeps what was written.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::findings::{Findings, Place, shown};
use super::{rules, unicode};
use crate::frontmatter::yaml::{Content, Document, Entry, Node, Style};
use crate::shown::is_invisible;
use crate::{MAX_NAME_CHARS, Position};

/// The most characters of a description (specification, `description`).
const MAX_DESCRIPTION_CHARS: usize = 1_024;

/// The most characters of a compatibility note (specification, `compatibility`).
const MAX_COMPATIBILITY_CHARS: usize = 500;

/// The most unknown fields that one message names.
const MAX_NAMED_FIELDS: usize = 50;

const FIELDS: [&str; 6] =
    ["name", "description", "license", "compatibility", "metadata", "allowed-tools"];

/// The frontmatter being checked.
#[derive(Clone, Copy)]
pub(super) struct Fields<'a> {
    pub(super) file: &'a str,
    pub(super) document: &'a Document<'a>,
    pub(super) entries: &'a [Entry],
    /// The name of the skill's directory; `None` for a filesystem's root.
    pub(super) directory: Option<&'a str>,
}

/// Looks for hidden characters that are written as escapes in double quotes, in a value and everything below it.
fn escapes(fields: Fields<'_>, node: &Node, findings: &mut Findings) {
    match &node.content {
        Content::Scalar(text) if node.style == Style::DoubleQuoted => {
            // What stands there as it is was found by the look at the file.
            let source = fields.document.source(node);
            let escaped = text.replace(|c| is_invisible(c) && source.contains(c), " ");
            unicode::check_decoded(&escaped, fields.at(node), findings);
        }
        Content::Scalar(_) => {}
        Content::List(items) => {
            for item in items {
                escapes(fields, item, findings);
            }
        }
        Content::Map(entries) => {
            for entry in entries {
                escapes(fields, &entry.value, findings);
            }
        }
    }
}

/// Checks the fields, and returns the name as it is written, without the blanks around it.
pub(super) fn check(fields: Fields<'_>, findings: &mut Findings) -> Option<String> {
    unknown(fields, findings);
    let name = name(fields, findings);
    description(fields, findings);
    compatibility(fields, findings);
    if let Some(entry) = fields.get("license")
        && written(&entry.value).is_none()
    {
        let message = format!("`license` is {}", entry.value.kind_name());
        findings.add(
            &rules::LICENSE_TYPE,
            fields.at(&entry.value),
            message,
            "write a licence's name, or a bundled file's",
        );
    }
    for entry in fields.entries {
        escapes(fields, &entry.value, findings);
    }
    metadata(fields, findings);
    allowed_tools(fields, findings);
    if let Some(entry) = fields.get("argument-hint")
        && written(&entry.value).is_none()
    {
        let message = format!("`argument-hint` is {}", entry.value.kind_name());
        findings.add(
            &rules::ARGUMENT_HINT_TYPE,
            fields.at(&entry.value),
            message,
            "put quotes around it",
        );
    }
    name
}

impl<'a> Fields<'a> {
    /// The entry of a key; of a double key the last, though that is an error by itself.
    fn get(&self, key: &str) -> Option<&'a Entry> {
        self.entries.iter().rev().find(|entry| entry.name == key)
    }

    fn at(&self, node: &Node) -> Place<'a> {
        self.place(node.position)
    }

    fn place(&self, position: Position) -> Place<'a> {
        Place::at(self.file, position.line, position.column)
    }

    /// Where something that is not there would have been: the top of the file.
    fn top(&self) -> Place<'a> {
        Place::at(self.file, 1, 1)
    }
}

fn unknown(fields: Fields<'_>, findings: &mut Findings) {
    for (at, entry) in
        fields.entries.iter().filter(|entry| !FIELDS.contains(&entry.name.as_str())).enumerate()
    {
        if at == MAX_NAMED_FIELDS {
            break;
        }
        findings.add(
            &rules::FIELD_UNKNOWN,
            fields.at(&entry.key),
            format!("`{}` is not a field of the specification", shown(&entry.name)),
            "move it under `metadata`, or leave it out; some clients and uploads refuse it",
        );
    }
}

fn name(fields: Fields<'_>, findings: &mut Findings) -> Option<String> {
    let Some(entry) = fields.get("name") else {
        findings.add(
            &rules::NAME_MISSING,
            fields.top(),
            "there is no `name`",
            "give the directory's name",
        );
        return None;
    };
    let place = fields.at(&entry.value);
    let Some(written) = written(&entry.value).map(str::trim).filter(|name| !name.is_empty()) else {
        let what = if written(&entry.value).is_some() { "blank" } else { entry.value.kind_name() };
        findings.add(
            &rules::NAME_EMPTY,
            place,
            format!("`name` is {what}"),
            "give the directory's name",
        );
        return None;
    };
    if is_typed(&entry.value) {
        let message = format!("YAML reads `{}` as {}", shown(written), entry.value.kind_name());
        findings.add(&rules::NAME_TYPED, place, message, "put quotes around it");
    }
    let name: String = written.nfkc().collect();
    name_characters(&name, place, findings);
    if let Some(directory) = fields.directory
        && directory.nfkc().collect::<String>() != name
    {
        let message =
            format!("`name` is `{}`, and the directory `{}`", shown(&name), shown(directory));
        findings.add(
            &rules::NAME_DIRECTORY,
            place,
            message,
            "rename one of them: both must be the same",
        );
    }
    Some(written.to_owned())
}

fn name_characters(name: &str, place: Place<'_>, findings: &mut Findings) {
    let length = name.chars().count();
    if length > MAX_NAME_CHARS {
        let message = format!("`name` has {length} characters, more than {MAX_NAME_CHARS}");
        findings.add(&rules::NAME_TOO_LONG, place, message, "shorten it");
    }
    if name.to_lowercase() != name {
        let message = format!("`{}` is not lower-case", shown(name));
        findings.add(&rules::NAME_UPPERCASE, place, message, "write it in lower-case letters");
    }
    if name.starts_with('-') || name.ends_with('-') {
        let message = format!("`{}` begins or ends with a hyphen", shown(name));
        findings.add(&rules::NAME_HYPHEN_EDGE, place, message, "take the hyphen away");
    }
    if name.contains("--") {
        let message = format!("`{}` has two hyphens in a row", shown(name));
        findings.add(&rules::NAME_HYPHEN_DOUBLE, place, message, "leave one of them");
    }
    let letter = |c: char| c.is_alphanumeric() && !is_combining_mark(c);
    if let Some(other) = name.chars().find(|c| !letter(*c) && *c != '-') {
        let message = format!("`{}` has `{}` in it", shown(name), other.escape_debug());
        findings.add(
            &rules::NAME_CHARACTERS,
            place,
            message,
            "use letters, digits and hyphens only",
        );
    } else if !name.is_ascii() {
        let message = format!("`{}` has letters outside ASCII", shown(name));
        findings.add(&rules::NAME_NOT_ASCII, place, message, "use the letters a to z");
    }
    let lower = name.to_lowercase();
    if let Some(word) = ["anthropic", "claude"].into_iter().find(|word| lower.contains(word)) {
        let message = format!("`{}` holds the word `{word}`", shown(name));
        findings.add(
            &rules::NAME_RESERVED,
            place,
            message,
            "choose another name if it is to be uploaded there",
        );
    }
}

fn description(fields: Fields<'_>, findings: &mut Findings) {
    let hint = "say what the skill does and when to use it";
    let Some(entry) = fields.get("description") else {
        findings.add(&rules::DESCRIPTION_MISSING, fields.top(), "there is no `description`", hint);
        return;
    };
    let place = fields.at(&entry.value);
    let Some(text) = written(&entry.value).filter(|text| !text.trim().is_empty()) else {
        let what = if written(&entry.value).is_some() { "blank" } else { entry.value.kind_name() };
        findings.add(&rules::DESCRIPTION_EMPTY, place, format!("`description` is {what}"), hint);
        return;
    };
    if is_typed(&entry.value) {
        let message = format!("YAML reads `{}` as {}", shown(text), entry.value.kind_name());
        findings.add(&rules::DESCRIPTION_TYPED, place, message, "put quotes around it");
    }
    let length = text.chars().count();
    if length > MAX_DESCRIPTION_CHARS {
        let message = format!("`description` has {length} characters, more than 1,024");
        findings.add(
            &rules::DESCRIPTION_TOO_LONG,
            place,
            message,
            "move the details into the body",
        );
    }
    if let Some(tag) = markup(text) {
        let message = format!("`description` has the tag `{}` in it", shown(tag));
        findings.add(&rules::DESCRIPTION_MARKUP, place, message, "leave the angle brackets out");
    }
}

fn compatibility(fields: Fields<'_>, findings: &mut Findings) {
    let Some(entry) = fields.get("compatibility") else { return };
    let place = fields.at(&entry.value);
    let Some(text) = written(&entry.value) else {
        let message = format!("`compatibility` is {}", entry.value.kind_name());
        findings.add(&rules::COMPATIBILITY_TYPE, place, message, "write one sentence of text");
        return;
    };
    if text.trim().is_empty() {
        findings.add(
            &rules::COMPATIBILITY_EMPTY,
            place,
            "`compatibility` is blank",
            "leave the field out",
        );
    }
    let length = text.chars().count();
    if length > MAX_COMPATIBILITY_CHARS {
        let message =
            format!("`compatibility` has {length} characters, more than {MAX_COMPATIBILITY_CHARS}");
        findings.add(
            &rules::COMPATIBILITY_TOO_LONG,
            place,
            message,
            "move the details into the body",
        );
    }
}

fn metadata(fields: Fields<'_>, findings: &mut Findings) {
    let Some(entry) = fields.get("metadata") else { return };
    if entry.value.is_null() {
        return;
    }
    let Some(entries) = entry.value.entries() else {
        let message = format!("`metadata` is {}", entry.value.kind_name());
        findings.add(
            &rules::METADATA_TYPE,
            fields.at(&entry.value),
            message,
            "write a map from text to text",
        );
        return;
    };
    for inner in entries.iter().filter(|inner| written(&inner.value).is_none()) {
        let message = format!("`metadata.{}` is {}", shown(&inner.name), inner.value.kind_name());
        findings.add(
            &rules::METADATA_NESTED,
            fields.at(&inner.value),
            message,
            "write the value as text",
        );
    }
}

fn allowed_tools(fields: Fields<'_>, findings: &mut Findings) {
    let Some(entry) = fields.get("allowed-tools") else { return };
    let place = fields.at(&entry.value);
    let Some(text) = written(&entry.value) else {
        let message = format!("`allowed-tools` is {}", entry.value.kind_name());
        findings.add(
            &rules::ALLOWED_TOOLS_TYPE,
            place,
            message,
            "write the tools in one line, parted by spaces",
        );
        return;
    };
    let mut depth = 0_usize;
    let comma = text.chars().any(|c| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    });
    if comma {
        findings.add(
            &rules::ALLOWED_TOOLS_COMMA,
            place,
            "commas part the tools in `allowed-tools`",
            "put spaces in their place",
        );
    }
}

/// Reports comments that cut a value of the six fields short.
pub(super) fn comment_cut(fields: Fields<'_>, comment: Position, findings: &mut Findings) {
    let entry = fields.entries.iter().rfind(|entry| entry.key.position.line <= comment.line);
    if let Some(entry) = entry
        && FIELDS.contains(&entry.name.as_str())
        && matches!(entry.value.content, Content::Scalar(_))
        && entry.value.style == Style::Plain
    {
        findings.add(
            &rules::YAML_COMMENT_CUT,
            fields.place(comment),
            format!("`{}` ends here: YAML reads a ` #` as the start of a comment", entry.name),
            "put quotes around the value",
        );
    }
}

/// A scalar's text; a value left out is empty text, whatever the YAML reader puts in its place.
fn written(node: &Node) -> Option<&str> {
    let text = node.text()?;
    Some(if node.style == Style::Plain && node.source.is_empty() { "" } else { text })
}

/// Whether YAML's core schema makes something other than text of a scalar that says something.
fn is_typed(node: &Node) -> bool {
    node.style == Style::Plain
        && written(node).is_some_and(|text| !text.is_empty())
        && node.kind_name() != "text"
}

/// The first XML tag in a text, as Anthropic's upload looks for it.
fn markup(text: &str) -> Option<&str> {
    text.match_indices('<').find_map(|(at, _)| {
        let rest = &text[at..];
        let inner = &rest[1..rest.find('>')?];
        let name = inner.strip_prefix('/').unwrap_or(inner);
        (name.starts_with(|c: char| c.is_ascii_alphabetic()) && !inner.contains('<'))
            .then(|| &rest[..inner.len() + 2])
    })
}
