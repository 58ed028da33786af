//! What counts and where it comes from, for people.

use serde::Serialize;
use serde_json::Value;

use crate::diagnostic::{Position, SourceName};
use crate::document::Tree;
use crate::key_path::KeyPath;
use crate::layer::Layer;
use crate::schema::{children, schema};
use crate::section::{Key, Merge, SectionSchema, full_path, redacted};

use super::Settings;
use super::contribution::{Contribution, Verdict, of_key};
use super::merge::merged;

/// What became of a value that a source gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// It counts, alone or with others.
    Counts,
    /// A stronger layer gives another.
    Overridden,
    /// It counts once the workspace is trusted.
    Withheld,
    /// A project may never set it.
    UserOnly,
    /// It does not fit the key's type.
    Invalid,
}

/// One source's value for a key.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Origin {
    /// The layer.
    pub layer: Layer,
    /// The file, variable or flag.
    pub source: SourceName,
    /// The place in that file.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub position: Option<Position>,
    /// What it says, secrets covered.
    pub value: Value,
    /// What became of it.
    pub standing: Standing,
}

/// A key with the value that counts.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Listed {
    /// The key.
    pub key: KeyPath,
    /// The value that counts, secrets covered; the default where no source gives one, as far as the schema tells it.
    pub value: Value,
    /// Where it comes from, weakest first; nothing for a default.
    pub origins: Vec<Origin>,
}

pub(super) fn list(settings: &Settings, sections: &[SectionSchema]) -> Vec<Listed> {
    let whole = schema(sections);
    let mut listed = Vec::new();
    for section in sections {
        for key in section.keys {
            let path = full_path(section.at, key);
            let (found, _) = of_key(settings, section, key);
            let value =
                merged(key.merge, &found).or_else(|| default(&whole, &path)).unwrap_or(Value::Null);
            let value = redacted(value, key.secrecy, &[]);
            listed.push(Listed { value, origins: standings(&found, key, &[]), key: path });
        }
    }
    listed.sort_by(|one, other| one.key.cmp(&other.key));
    listed
}

pub(super) fn origins(
    settings: &Settings,
    section: &SectionSchema,
    key: &Key,
    path: &KeyPath,
) -> Vec<Origin> {
    let (found, _) = of_key(settings, section, key);
    let depth = full_path(section.at, key).keys().len();
    standings(&found, key, &path.keys()[depth..])
}

/// Every item of a list that accumulates, where it stands.
pub(super) fn items(settings: &Settings, section: &SectionSchema, key: &Key) -> Vec<Origin> {
    let (found, _) = of_key(settings, section, key);
    let mut origins = Vec::new();
    for one in &found {
        let whole = std::slice::from_ref(one.node);
        let nodes = match &one.node.tree {
            Tree::Array(items) => items.as_slice(),
            Tree::Scalar(_) | Tree::Object(_) => whole,
        };
        // What fits is a part of what is written, in the same order.
        let mut fitting = match &one.value {
            Some(Value::Array(fit)) => fit.as_slice(),
            Some(single) => std::slice::from_ref(single),
            None => &[],
        }
        .iter()
        .peekable();
        let mut places = one.source.places();
        for node in nodes {
            let value = node.to_value();
            let fits = fitting.next_if(|fit| **fit == value).is_some();
            let standing = match one.verdict {
                Verdict::Withheld => Standing::Withheld,
                Verdict::UserOnly => Standing::UserOnly,
                Verdict::Counts if fits => Standing::Counts,
                Verdict::Counts => Standing::Invalid,
            };
            origins.push(Origin {
                layer: one.source.layer(),
                source: one.source.name().clone(),
                position: places.as_mut().map(|places| places.next(node.start)),
                value: redacted(value, key.secrecy, &[]),
                standing,
            });
        }
    }
    origins
}

/// The values at `below` in what the sources say, with what became of each.
fn standings(found: &[Contribution<'_>], key: &Key, below: &[String]) -> Vec<Origin> {
    let mut origins = Vec::new();
    let mut settled = false;
    for one in found.iter().rev() {
        let Some(node) = one.node.at(below) else {
            // A stronger source without the inner value still replaces it when it replaces the whole.
            settled |= one.verdict == Verdict::Counts && replaces(one, key, below);
            continue;
        };
        let standing = match one.verdict {
            Verdict::Withheld => Standing::Withheld,
            Verdict::UserOnly => Standing::UserOnly,
            Verdict::Counts if !fits(one, key, below) => Standing::Invalid,
            Verdict::Counts if settled => Standing::Overridden,
            Verdict::Counts => Standing::Counts,
        };
        settled |= one.verdict == Verdict::Counts && replaces(one, key, below);
        origins.push(Origin {
            layer: one.source.layer(),
            source: one.source.name().clone(),
            position: one.source.position(node.start),
            value: redacted(node.to_value(), key.secrecy, below),
            standing,
        });
    }
    origins.reverse();
    origins
}

/// Whether what weaker layers say at `below` is lost to `one`, which counts; one that does not fit is in the way, too.
fn replaces(one: &Contribution<'_>, key: &Key, below: &[String]) -> bool {
    match (key.merge, below.first()) {
        (Merge::Replace, _) => true,
        (Merge::ByEntry, Some(entry)) => one.value.is_none() || one.node.member(entry).is_some(),
        (Merge::ByEntry, None) => one.value.is_none(),
        (Merge::Accumulate, _) => false,
    }
}

fn fits(one: &Contribution<'_>, key: &Key, below: &[String]) -> bool {
    match (key.merge, below.first(), &one.value) {
        (_, _, None) => false,
        (Merge::ByEntry, Some(entry), Some(value)) => value.get(entry).is_some(),
        (_, _, Some(_)) => true,
    }
}

/// The default that the schema tells; that of an outer object is the truer one, since it was made with the inner.
fn default(whole: &Value, path: &KeyPath) -> Option<Value> {
    let mut schemas = vec![whole];
    let mut fallback = None;
    for (depth, key) in path.keys().iter().enumerate() {
        schemas = children(whole, &schemas).named.remove(key.as_str())?;
        let rest = &path.keys()[depth + 1..];
        let told = schemas.iter().find_map(|schema| {
            rest.iter().try_fold(schema.get("default")?, |value, key| value.get(key))
        });
        fallback = fallback.or_else(|| told.cloned());
    }
    fallback
}
