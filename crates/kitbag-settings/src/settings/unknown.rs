//! Keys that nobody reads, with what may have been meant.

use serde_json::Value;

use crate::diagnostic::{Diagnostic, Fault, MAX_DIAGNOSTICS, Severity};
use crate::document::{Node, Tree, shown};
use crate::key_path::KeyPath;
use crate::layer::Source;
use crate::nearest::nearest;
use crate::schema::{children, schema};
use crate::section::SectionSchema;

/// How many known keys a hint names where none is near.
const MAX_NAMED: usize = 12;

pub(super) fn unknown_keys(sources: &[Source], sections: &[SectionSchema]) -> Vec<Diagnostic> {
    let whole = schema(sections);
    let declared: Vec<KeyPath> = sections.iter().flat_map(SectionSchema::key_paths).collect();
    let mut walk = Walk { whole: &whole, declared: &declared, found: Vec::new() };
    for source in sources {
        walk.node(source, source.root(), &[&whole], &KeyPath::default());
    }
    walk.found
}

struct Walk<'a> {
    whole: &'a Value,
    declared: &'a [KeyPath],
    found: Vec<Diagnostic>,
}

impl<'a> Walk<'a> {
    /// The depth of the recursion is that of the file, which is bounded.
    fn node(&mut self, source: &Source, node: &Node, schemas: &[&'a Value], at: &KeyPath) {
        match &node.tree {
            Tree::Scalar(_) => {}
            Tree::Array(items) => {
                let below = children(self.whole, schemas);
                for (index, item) in items.iter().enumerate() {
                    self.node(source, item, &below.items, &at.join([index.to_string()]));
                }
            }
            Tree::Object(members) => {
                let below = children(self.whole, schemas);
                for member in members {
                    let path = at.join([member.name.as_str()]);
                    let known = below.named.get(member.name.as_str());
                    match known.or(Some(&below.entries).filter(|entries| !entries.is_empty())) {
                        Some(schemas) => self.node(source, &member.value, schemas, &path),
                        None if below.open => {}
                        None if self.found.len() > MAX_DIAGNOSTICS => return,
                        None => {
                            let names: Vec<&str> = below.named.keys().copied().collect();
                            let hint = self.hint(&member.name, at, &names);
                            self.found.push(
                                Diagnostic::new(
                                    Severity::Error,
                                    Fault::UnknownKey,
                                    source.name(),
                                    message(&member.name, at),
                                )
                                .at(source.position(member.start))
                                .key(path)
                                .hint(hint),
                            );
                        }
                    }
                }
            }
        }
    }

    fn hint(&self, name: &str, at: &KeyPath, names: &[&str]) -> String {
        let names = names.iter().copied().filter(|name| *name != "$schema");
        if let Some(near) = nearest(name, names.clone()) {
            return format!("did you mean `{}`?", at.join([near]));
        }
        let elsewhere = |path: &&KeyPath| path.keys().last().is_some_and(|last| last == name);
        if let Some(path) = self.declared.iter().find(elsewhere) {
            return format!("did you mean `{path}`?");
        }
        let count = names.clone().count();
        let shown: Vec<String> = names.take(MAX_NAMED).map(|name| format!("`{name}`")).collect();
        let more = count.saturating_sub(shown.len());
        match (shown.is_empty(), more) {
            (true, _) => "no key is known here".to_owned(),
            (false, 0) => format!("known here: {}", shown.join(", ")),
            (false, more) => format!("known here: {}, and {more} more", shown.join(", ")),
        }
    }
}

fn message(name: &str, at: &KeyPath) -> String {
    let name = shown(name);
    if at.keys().is_empty() {
        format!("the key `{name}` is unknown")
    } else {
        format!("the key `{name}` is unknown in `{at}`")
    }
}
