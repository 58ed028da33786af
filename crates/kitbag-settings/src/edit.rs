//! Changes of one value in the text of a settings file that leave every other byte as it was.
//!
//! The changes are splices at the places that the parse found, so that comments, indentation, line ends, a byte order mark and a missing
//! last line end survive by construction. A comment is never removed with the key that it speaks of.

mod splice;

use std::path::Path;

use serde_json::Value;

use crate::diagnostic::{Diagnostic, Position, Severity};
use crate::document::{BOM, Document, MAX_DEPTH, MAX_FILE_BYTES, Member, Node, Tree, parse};
use crate::key_path::KeyPath;

use splice::{Splice, apply};

/// Why a text was not changed.
#[derive(Debug, thiserror::Error)]
pub enum EditError {
    /// The text has faults that must be put right by hand first.
    #[error("the settings have a fault that an edit could make worse: {0}")]
    Faulty(Box<Diagnostic>),
    /// The path has no key.
    #[error("no key is given")]
    NoKey,
    /// Something on the way to the key is not an object.
    #[error("`{path}` at line {} is {kind}, not an object", .position.line)]
    NotAnObject {
        /// What is not an object.
        path: KeyPath,
        /// Where it stands.
        position: Position,
        /// What it is.
        kind: &'static str,
    },
    /// What should be a list is none.
    #[error("`{path}` at line {} is {kind}, not a list", .position.line)]
    NotAList {
        /// What is not a list.
        path: KeyPath,
        /// Where it stands.
        position: Position,
        /// What it is.
        kind: &'static str,
    },
    /// The result would be nested deeper than is read.
    #[error("settings are nested at most {MAX_DEPTH} levels deep")]
    TooDeep,
    /// The result would be larger than is read.
    #[error("settings have at most {MAX_FILE_BYTES} bytes")]
    TooLarge,
}

/// The text with `value` at `path`; objects on the way are made where they are missing.
///
/// A value that is there already, equal, leaves the text as it is.
pub fn set(text: &str, path: &KeyPath, value: &Value) -> Result<String, EditError> {
    if path.keys().len() + depth(value) > MAX_DEPTH {
        return Err(EditError::TooDeep);
    }
    let changed = change(text, path, |text, root| {
        let Some(root) = root else { return Ok(vec![splice::new_root(text, path.keys(), value)]) };
        let (node, depth) = descend(text, root, path)?;
        if depth == path.keys().len() {
            if node.to_value() == *value {
                return Ok(Vec::new());
            }
            return Ok(vec![splice::replace(text, root, node, value)]);
        }
        Ok(splice::insert(text, root, node, &path.keys()[depth..], value))
    })?;
    if changed.len() > MAX_FILE_BYTES {
        return Err(EditError::TooLarge);
    }
    Ok(changed)
}

/// The text without the key at `path`; a key that is not there leaves the text as it is.
pub fn remove(text: &str, path: &KeyPath) -> Result<String, EditError> {
    change(text, path, |text, root| {
        let Some(root) = root else { return Ok(Vec::new()) };
        let Some((last, above)) = path.keys().split_last() else { return Ok(Vec::new()) };
        let (node, depth) = descend(text, root, &KeyPath::of(above.iter().cloned()))?;
        if depth < above.len() {
            return Ok(Vec::new());
        }
        object(text, node, &KeyPath::of(above.iter().cloned()))?;
        let members = node.members();
        Ok(members
            .iter()
            .position(|member| member.name == *last)
            .map_or_else(Vec::new, |at| splice::remove(text, node, at)))
    })
}

/// The text with `item` at the end of the list at `path`, which is made where it is missing.
///
/// An item that is there already, equal, leaves the text as it is.
pub fn add_item(text: &str, path: &KeyPath, item: &Value) -> Result<String, EditError> {
    if path.keys().len() + 1 + depth(item) > MAX_DEPTH {
        return Err(EditError::TooDeep);
    }
    let list = |node: Option<&Node>| node.is_some_and(|node| matches!(node.tree, Tree::Array(_)));
    let (document, _) = parse(Path::new("settings"), text.as_bytes());
    if !list(document.root().and_then(|root| root.at(path.keys()))) {
        let (value, fault) = (Value::Array(vec![item.clone()]), not_a_list(&document, path));
        return fault.map_or_else(|| set(text, path, &value), Err);
    }
    let changed = change(text, path, |text, root| {
        let Some((root, items)) = root.and_then(|root| Some((root, items(root, path)?))) else {
            return Ok(Vec::new());
        };
        if items.members().iter().any(|one| one.value.to_value() == *item) {
            return Ok(Vec::new());
        }
        Ok(splice::insert(text, root, &items, &[], item))
    })?;
    if changed.len() > MAX_FILE_BYTES {
        return Err(EditError::TooLarge);
    }
    Ok(changed)
}

/// The text without `item` in the list at `path`, however often it stands there; a list without it leaves the text as it is.
pub fn remove_item(text: &str, path: &KeyPath, item: &Value) -> Result<String, EditError> {
    let mut text = text.to_owned();
    loop {
        let (document, _) = parse(Path::new("settings"), text.as_bytes());
        if let Some(fault) = not_a_list(&document, path) {
            return Err(fault);
        }
        let changed = change(&text, path, |text, root| {
            let Some(items) = root.and_then(|root| items(root, path)) else {
                return Ok(Vec::new());
            };
            let at = items.members().iter().position(|one| one.value.to_value() == *item);
            Ok(at.map_or_else(Vec::new, |at| splice::remove(text, &items, at)))
        })?;
        if changed == text {
            return Ok(text);
        }
        text = changed;
    }
}

/// The list at `path` with its items as an object's members without keys, for they are cut and put in like those.
fn items(root: &Node, path: &KeyPath) -> Option<Node> {
    let node = root.at(path.keys())?;
    let Tree::Array(items) = &node.tree else { return None };
    let member =
        |item: &Node| Member { name: String::new(), start: item.start, value: item.clone() };
    Some(Node { tree: Tree::Object(items.iter().map(member).collect()), ..*node })
}

fn not_a_list(document: &Document, path: &KeyPath) -> Option<EditError> {
    let node = document.root()?.at(path.keys())?;
    let kind = (!matches!(node.tree, Tree::Array(_))).then(|| node.kind())?;
    let position = document.position(path)?;
    Some(EditError::NotAList { path: path.clone(), position, kind })
}

fn change(
    whole: &str,
    path: &KeyPath,
    splices: impl FnOnce(&str, Option<&Node>) -> Result<Vec<Splice>, EditError>,
) -> Result<String, EditError> {
    if path.keys().is_empty() {
        return Err(EditError::NoKey);
    }
    let (document, diagnostics) = parse(Path::new("settings"), whole.as_bytes());
    let fault = diagnostics.into_iter().find(|fault| fault.severity == Severity::Error);
    if let Some(fault) = fault {
        return Err(EditError::Faulty(Box::new(fault)));
    }
    let (mark, text) = match whole.strip_prefix(BOM) {
        Some(text) => (&whole[..BOM.len_utf8()], text),
        None => ("", whole),
    };
    let splices = splices(text, document.root())?;
    Ok(format!("{mark}{}", apply(text, splices)))
}

/// The value that the longest existing part of `path` leads to, and how many keys that are.
fn descend<'a>(text: &str, root: &'a Node, path: &KeyPath) -> Result<(&'a Node, usize), EditError> {
    let mut node = root;
    for (depth, key) in path.keys().iter().enumerate() {
        object(text, node, &KeyPath::of(path.keys()[..depth].iter().cloned()))?;
        let Some(member) = node.member(key) else { return Ok((node, depth)) };
        node = &member.value;
    }
    Ok((node, path.keys().len()))
}

fn object(text: &str, node: &Node, path: &KeyPath) -> Result<(), EditError> {
    if matches!(node.tree, Tree::Object(_)) {
        return Ok(());
    }
    Err(EditError::NotAnObject {
        path: path.clone(),
        position: Position::at(text, node.start),
        kind: node.kind(),
    })
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Object(members) => 1 + members.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}
