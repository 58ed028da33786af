//! Takes the fields of frontmatter, each by its own rule, and says which could not be taken.

use std::path::Path;

use serde_json::Value;

use super::yaml::{Content, Document, Entry, Node};
use super::{Header, MAX_FIELD_ITEMS};
use crate::problem::{Problem, Reason};
use crate::shown::is_smuggling;

/// The fields that narrow what may be done with a skill. One that can't be read makes it user-only (decision 3).
const RESTRICTIVE: [&str; 2] = ["disable-model-invocation", "allowed-tools"];

/// The number of problems from which on those about fields are no longer told one by one.
const MAX_FIELD_PROBLEMS: usize = 60;

/// Reads the entries of frontmatter into `header`. A field that isn't known is left alone (statement B-25).
pub(super) fn take(
    header: &mut Header,
    problems: &mut Vec<Problem>,
    path: &Path,
    document: &Document<'_>,
    entries: &[Entry],
) {
    let mut fields = Fields { path, document, entries, problems };
    header.name = fields.text("name");
    header.description = fields.sentence("description");
    header.when_to_use = fields.sentence("when-to-use");
    header.argument_hint = fields.hint("argument-hint");
    header.arguments = fields.arguments("arguments");
    header.model = fields.text("model");
    header.license = fields.text("license");
    header.compatibility = fields.text("compatibility");
    if let Some(node) = fields.find("metadata") {
        match document.to_text_json(node) {
            Value::Object(metadata) => header.metadata = metadata,
            Value::Null => {}
            _ => {
                fields.warn("metadata", node, "it is left out", "write names with values below it");
            }
        }
    }
    // The specification knows no arguments, and lets `metadata` hold any text: there a strictly valid skill has them.
    let listed = |name: &str| header.metadata.get(name).and_then(Value::as_str);
    if header.argument_hint.is_none() {
        header.argument_hint =
            listed("argument-hint").map(one_line).filter(|hint| !hint.is_empty());
    }
    if header.arguments.is_empty() {
        header.arguments = listed("arguments").map(words).unwrap_or_default();
    }
    header.disable_model_invocation = fields.disable_model_invocation();
    header.user_invocable = fields.user_invocable();
    let tools = fields.allowed_tools("allowed-tools");
    header.user_only = header.disable_model_invocation || tools.is_none();
    header.allowed_tools = tools.unwrap_or_default();
    for name in ["autoAttach", "auto-attach", "paths"] {
        header.auto_attach.extend(fields.globs(name));
    }
    for (name, list) in [
        ("arguments", &mut header.arguments),
        ("allowed-tools", &mut header.allowed_tools),
        ("paths", &mut header.auto_attach),
    ] {
        fields.cut(name, list);
    }
    header.wire =
        entries.iter().map(|entry| (entry.name.clone(), document.to_json(&entry.value))).collect();
}

/// Whether a line of a block that was not read as frontmatter begins with a restrictive key.
pub(super) fn names_restrictive_key(block: &str) -> bool {
    block.split(['\n', '\r']).filter_map(|line| line.split_once(':')).any(|(key, _)| {
        let key = key.trim().trim_matches(['"', '\'']);
        RESTRICTIVE.iter().any(|name| same_key(key, name))
    })
}

/// Whether a written key is the field `name`; `_` may stand for `-`.
fn same_key(written: &str, name: &str) -> bool {
    written == name || (written.len() == name.len() && written.replace('_', "-") == name)
}

struct Fields<'a, 't> {
    path: &'a Path,
    document: &'a Document<'t>,
    entries: &'a [Entry],
    problems: &'a mut Vec<Problem>,
}

impl<'a> Fields<'a, '_> {
    /// The value of a field; of several the last.
    fn find(&self, name: &'static str) -> Option<&'a Node> {
        self.find_all(name).last()
    }

    fn find_all(&self, name: &'static str) -> impl Iterator<Item = &'a Node> + use<'a> {
        let entries = self.entries.iter();
        entries.filter(move |entry| same_key(&entry.name, name)).map(|entry| &*entry.value)
    }

    /// A text that is shown to people: a scalar as written, whatever YAML would type it as.
    fn text(&mut self, name: &'static str) -> Option<String> {
        let node = self.find(name).filter(|node| !node.is_null())?;
        let text = if let Some(text) = node.text() {
            text.trim().to_owned()
        } else {
            self.warn(name, node, "its source text is taken", "put the value in quotes");
            one_line(self.document.source(node))
        };
        (!text.is_empty()).then_some(text)
    }

    /// A text that a model gets without asking: what a person would not see in it is left out.
    fn sentence(&mut self, name: &'static str) -> Option<String> {
        let text = self.text(name)?;
        if !text.contains(is_smuggling) {
            return Some(text);
        }
        if let Some(node) = self.find(name) {
            let what = "characters that cannot be seen are left out of it";
            self.warn(
                name,
                node,
                what,
                "delete them: `kitbag skills validate` says where they stand",
            );
        }
        let text = text.replace(is_smuggling, "");
        (!text.trim().is_empty()).then_some(text)
    }

    /// A text of one line for which people often write what YAML reads as a list.
    fn hint(&mut self, name: &'static str) -> Option<String> {
        let node = self.find(name).filter(|node| !node.is_null())?;
        let text = one_line(node.text().unwrap_or_else(|| self.document.source(node)));
        (!text.is_empty()).then_some(text)
    }

    fn arguments(&mut self, name: &'static str) -> Vec<String> {
        let Some(node) = self.find(name).filter(|node| !node.is_null()) else { return Vec::new() };
        match &node.content {
            Content::Scalar(text) => words(text),
            Content::List(items) => {
                items.iter().filter_map(|item| self.argument(name, item)).collect()
            }
            Content::Map(_) => {
                self.warn(
                    name,
                    node,
                    "it is left out",
                    "write names with blanks between, or a list",
                );
                Vec::new()
            }
        }
    }

    /// An item of a list of arguments: a name, or a mapping that gives one.
    fn argument(&mut self, field: &str, item: &Node) -> Option<String> {
        let named = item.entries().unwrap_or_default().iter().find(|entry| entry.name == "name");
        let name = item.text().or_else(|| named.and_then(|entry| entry.value.text()));
        if name.is_none() {
            self.warn(field, item, "the item is left out", "write the argument's name");
        }
        name.map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned)
    }

    fn disable_model_invocation(&mut self) -> bool {
        let name = "disable-model-invocation";
        let mut disabled = false;
        for node in self.find_all(name) {
            disabled |= boolean(node).unwrap_or_else(|| {
                self.warn(name, node, "it is taken for true", "write `true` or `false`");
                true
            });
        }
        disabled
    }

    fn user_invocable(&mut self) -> bool {
        let name = "user-invocable";
        let Some(node) = self.find(name).filter(|node| !node.is_null()) else { return true };
        boolean(node).unwrap_or_else(|| {
            self.warn(name, node, "it is taken for true", "write `true` or `false`");
            true
        })
    }

    /// The tools, from whichever spelling; `None` where they can't be read.
    fn allowed_tools(&mut self, name: &'static str) -> Option<Vec<String>> {
        let mut tools = Some(Vec::new());
        for node in self.find_all(name) {
            let Some(texts) = self.tool_texts(node) else {
                let so = "only a person may use the skill";
                self.warn(name, node, so, "write tools with blanks or commas between, or a list");
                tools = None;
                continue;
            };
            if let Some(tools) = &mut tools {
                tools.clear();
                for text in texts {
                    self.push_tools(name, node, &text, tools);
                }
            }
        }
        tools
    }

    fn tool_texts(&self, node: &Node) -> Option<Vec<String>> {
        match &node.content {
            Content::Scalar(_) if node.is_null() => Some(Vec::new()),
            Content::Scalar(text) => Some(vec![text.clone()]),
            Content::List(items) => items.iter().map(|item| self.tool_item(item)).collect(),
            Content::Map(_) => None,
        }
    }

    /// An item of a list of tools. `- Bash(git: *)` is a mapping to YAML, and means its source text.
    fn tool_item(&self, item: &Node) -> Option<String> {
        match &item.content {
            Content::Scalar(text) => Some(text.clone()),
            Content::Map(entries) if entries.len() == 1 => {
                let source = self.document.source(item);
                (!source.contains(['\n', '\r', '{'])).then(|| source.to_owned())
            }
            Content::List(_) | Content::Map(_) => None,
        }
    }

    fn push_tools(&mut self, name: &str, node: &Node, text: &str, tools: &mut Vec<String>) {
        if let Some(split) = split_tools(text) {
            tools.extend(split);
        } else {
            self.warn(name, node, "it is taken as one name", "close every parenthesis");
            tools.push(text.trim().to_owned());
        }
    }

    fn globs(&mut self, name: &'static str) -> Vec<String> {
        let Some(node) = self.find(name).filter(|node| !node.is_null()) else { return Vec::new() };
        match &node.content {
            Content::Scalar(text) => split_globs(text),
            Content::List(items) if items.iter().all(|item| item.text().is_some()) => {
                let items = items.iter().filter_map(|item| item.text()).map(str::trim);
                items.filter(|glob| !glob.is_empty()).map(str::to_owned).collect()
            }
            Content::List(_) | Content::Map(_) => {
                self.warn(
                    name,
                    node,
                    "it is left out",
                    "write globs with commas between, or a list",
                );
                Vec::new()
            }
        }
    }

    /// Cuts a list to [`MAX_FIELD_ITEMS`], and says so.
    fn cut(&mut self, name: &str, list: &mut Vec<String>) {
        if list.len() > MAX_FIELD_ITEMS {
            let detail = format!(
                "`{name}` has {} entries, and the first {MAX_FIELD_ITEMS} are taken",
                list.len()
            );
            self.problems.push(Problem::warning(Reason::FrontmatterField, self.path, detail));
            list.truncate(MAX_FIELD_ITEMS);
        }
    }

    fn warn(&mut self, name: &str, node: &Node, outcome: &str, hint: &str) {
        let source = one_line(self.document.source(node));
        let mut shown: String = source.chars().take(60).flat_map(char::escape_debug).collect();
        if source.chars().nth(60).is_some() {
            shown.push('…');
        }
        let detail = match shown.as_str() {
            "" => format!("`{name}` has no value, so {outcome}"),
            shown => format!("`{name}` can't be `{shown}`, so {outcome}"),
        };
        let problem = Problem::warning(Reason::FrontmatterField, self.path, detail);
        match self.problems.len() {
            0..MAX_FIELD_PROBLEMS => self.problems.push(problem.at(node.position).hint(hint)),
            MAX_FIELD_PROBLEMS => {
                let detail = "more fields can't be taken as they are";
                self.problems.push(Problem::warning(Reason::FrontmatterField, self.path, detail));
            }
            _ => {}
        }
    }
}

/// A boolean by our own rule, whatever the quotes: true, yes, on, 1 and their opposites, in any case.
fn boolean(node: &Node) -> Option<bool> {
    let text = node.text()?.trim().to_ascii_lowercase();
    match text.as_str() {
        "true" | "yes" | "on" | "1" => Some(true),
        "false" | "no" | "off" | "0" => Some(false),
        _ => None,
    }
}

fn words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| c.is_whitespace() || c == ',');
    words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// The text with each run of white space as one blank, where it has more than one line.
fn one_line(text: &str) -> String {
    if text.contains(['\n', '\r']) {
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    } else {
        text.trim().to_owned()
    }
}

/// Splits at blanks and commas outside parentheses; `None` where these don't pair.
fn split_tools(text: &str) -> Option<Vec<String>> {
    let mut depth = 0_u32;
    let mut tools = Vec::new();
    let mut tool = String::new();
    for character in text.chars() {
        match character {
            '(' => depth = depth.saturating_add(1),
            ')' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 && (character.is_whitespace() || character == ',') {
            tools.push(std::mem::take(&mut tool));
        } else {
            tool.push(character);
        }
    }
    tools.push(tool);
    tools.retain(|tool| !tool.is_empty());
    (depth == 0).then_some(tools)
}

/// Splits at commas and line ends outside braces.
fn split_globs(text: &str) -> Vec<String> {
    let mut depth = 0_u32;
    let globs = text.split(|c: char| {
        match c {
            '{' => depth = depth.saturating_add(1),
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        (c == ',' && depth == 0) || c == '\n'
    });
    globs.map(str::trim).filter(|glob| !glob.is_empty()).map(str::to_owned).collect()
}
