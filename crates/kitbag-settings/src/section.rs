//! What a feature declares about its own settings.

mod fit;
mod secret;

use std::collections::BTreeMap;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::key_path::KeyPath;
use crate::schema::{children, schema};

pub(crate) use fit::{Misfit, Step, fit};
pub(crate) use secret::{masked, redacted};

/// How the values that several layers give for one key become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Merge {
    /// The strongest layer's value counts, whole.
    Replace,
    /// The lists are joined, the weakest layer's first; of equal items the first stays.
    Accumulate,
    /// An object is joined by its keys; of one key the strongest layer's entry counts, whole.
    ByEntry,
}

/// What a project file may do with a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FromProject {
    /// It restricts or is harmless, so it always counts.
    Always,
    /// It grants something, so it counts once the workspace is trusted.
    OnceTrusted,
    /// It is the user's alone, and counts never.
    Never,
}

/// Which values of a key are never shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Secrecy {
    /// None.
    Shown,
    /// The whole value.
    Whole,
    /// What lies at these dotted paths below the key, where `*` is any one key: `*.env.*`.
    Below(&'static [&'static str]),
}

/// The rules of one key of a section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key {
    /// The dotted path of the key below [`Section::AT`].
    pub path: &'static str,
    /// How layers merge.
    pub merge: Merge,
    /// What a project may do with it.
    pub project: FromProject,
    /// What of it is never shown.
    pub secrecy: Secrecy,
}

/// The settings of one feature.
///
/// The struct gives types, defaults and documentation; serde and schemars must see the same names. It bears `#[serde(default)]`, so
/// that every key can be absent. [`declaration_faults`] tells whether struct and keys agree; each feature has a test that it tells nothing.
pub trait Section: DeserializeOwned + JsonSchema + Default {
    /// The dotted path of the object that the struct is read from; empty for the root.
    const AT: &'static str;
    /// The keys that have a value of their own.
    const KEYS: &'static [Key];
}

/// A [`Section`] without its type.
#[derive(Clone, Copy)]
pub struct SectionSchema {
    pub(crate) at: &'static str,
    pub(crate) keys: &'static [Key],
    pub(crate) generate: fn(&mut SchemaGenerator) -> Schema,
    pub(crate) fit: fn(&Value) -> Result<(), Misfit>,
}

impl SectionSchema {
    /// The section `S`.
    pub fn of<S: Section>() -> Self {
        Self {
            at: S::AT,
            keys: S::KEYS,
            generate: S::json_schema,
            fit: |value| fit::<S>(value).map(drop),
        }
    }

    /// The full paths of its keys.
    pub fn key_paths(&self) -> impl Iterator<Item = KeyPath> + '_ {
        self.keys.iter().map(|key| full_path(self.at, key))
    }
}

impl fmt::Debug for SectionSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SectionSchema")
            .field("at", &self.at)
            .field("keys", &self.keys)
            .finish_non_exhaustive()
    }
}

pub(crate) fn full_path(at: &str, key: &Key) -> KeyPath {
    KeyPath::declared(at).join(KeyPath::declared(key.path).keys().iter().cloned())
}

/// Tells where the declarations of `sections` contradict their structs or each other; an empty list is right.
///
/// Meant for tests: a key that the struct does not have, a field that no key covers, a key inside another, a merge rule that does not
/// fit the type, a key that two sections claim, and a struct that does not read `{}`.
pub fn declaration_faults(sections: &[SectionSchema]) -> Vec<String> {
    let whole = schema(sections);
    let mut faults = Vec::new();
    let mut claimed: BTreeMap<KeyPath, &'static str> = BTreeMap::new();
    for section in sections {
        if (section.fit)(&Value::Object(serde_json::Map::new())).is_err() {
            faults.push(format!("the section at `{}` does not read `{{}}`", section.at));
        }
        for (path, key) in section.key_paths().zip(section.keys) {
            let overlap =
                claimed.keys().find(|other| starts_with(other, &path) || starts_with(&path, other));
            if let Some(other) = overlap {
                faults.push(format!("`{path}` and `{other}` claim the same values"));
            }
            match found(&whole, &path) {
                None => faults.push(format!("`{path}` is a key, but no field")),
                Some(schemas) => faults.extend(wrong_merge(&whole, &schemas, &path, key.merge)),
            }
            claimed.insert(path, section.at);
        }
        faults.extend(uncovered(section));
    }
    faults
}

fn starts_with(path: &KeyPath, prefix: &KeyPath) -> bool {
    path.keys().starts_with(prefix.keys())
}

fn found<'a>(whole: &'a Value, path: &KeyPath) -> Option<Vec<&'a Value>> {
    path.keys().iter().try_fold(vec![whole], |schemas, key| {
        let below = children(whole, &schemas).named.remove(key.as_str())?;
        Some(below)
    })
}

fn wrong_merge(whole: &Value, schemas: &[&Value], path: &KeyPath, merge: Merge) -> Option<String> {
    let below = children(whole, schemas);
    match merge {
        Merge::Replace => None,
        Merge::Accumulate => {
            below.items.is_empty().then(|| format!("`{path}` accumulates, but is no list"))
        }
        Merge::ByEntry => {
            below.entries.is_empty().then(|| format!("`{path}` merges by entry, but is no map"))
        }
    }
}

/// The fields of a section's struct that no key covers.
fn uncovered(section: &SectionSchema) -> Vec<String> {
    let whole = schema(std::slice::from_ref(section));
    let keys: Vec<KeyPath> = section.key_paths().collect();
    let mut faults = Vec::new();
    let mut open = vec![KeyPath::declared(section.at)];
    while let Some(at) = open.pop() {
        let Some(schemas) = found(&whole, &at) else { continue };
        for name in children(&whole, &schemas).named.keys() {
            let path = at.join([*name]);
            if keys.contains(&path) || (at.keys().is_empty() && *name == "$schema") {
                continue;
            }
            if keys.iter().any(|key| starts_with(key, &path)) {
                open.push(path);
            } else {
                faults.push(format!("`{path}` is a field, but no key"));
            }
        }
    }
    faults
}
