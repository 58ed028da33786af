//! All sources together: typed lookup, and where every value comes from.

mod contribution;
mod listing;
mod merge;
mod unknown;

use serde_json::{Map, Value};

use crate::diagnostic::{Diagnostic, Fault, Severity, SourceName, bounded};
use crate::key_path::KeyPath;
use crate::layer::{Source, Trust};
use crate::section::{FromProject, Merge, Section, SectionSchema, fit, full_path};

pub use listing::{Listed, Origin, Standing};

/// What all sources say, for one workspace.
///
/// An immutable snapshot: a change of a file makes a new one.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Weakest first.
    sources: Vec<Source>,
    trust: Trust,
}

impl Settings {
    /// Puts the sources in order; of one layer a later source is the stronger.
    pub fn new(mut sources: Vec<Source>, trust: Trust) -> Self {
        sources.sort_by_key(Source::layer);
        Self { sources, trust }
    }

    /// The sources, weakest first.
    pub fn sources(&self) -> &[Source] {
        &self.sources
    }

    /// Reads a section, with what is wrong with the values of its keys.
    ///
    /// Each value is checked by itself, each item of a list that accumulates, and each entry of a map that merges by entry; what does
    /// not fit is told and left out, and the rest counts. What a project may not say is told and left out, too.
    /// [`Settings::unknown_keys`] tells of keys that nobody reads.
    pub fn get<S: Section>(&self) -> (S, Vec<Diagnostic>) {
        let section = SectionSchema::of::<S>();
        let mut diagnostics = Vec::new();
        let mut object = Value::Object(Map::new());
        for key in section.keys {
            let (found, told) = contribution::of_key(self, &section, key);
            diagnostics.extend(told);
            if let Some(value) = merge::merged(key.merge, &found) {
                put(&mut object, &KeyPath::declared(key.path), value);
            }
        }
        let value = fit::<S>(&object).unwrap_or_else(|_| {
            // Every value fits by itself, so the fault lies in their combination; the words could quote any of them.
            diagnostics.push(Diagnostic::new(
                Severity::Error,
                Fault::WrongType,
                &SourceName::Given("settings".to_owned()),
                match section.at {
                    "" => "the values of a section do not go together".to_owned(),
                    at => format!("the values of `{at}` do not go together"),
                },
            ));
            S::default()
        });
        (value, bounded(diagnostics))
    }

    /// Tells of every key that none of `sections` knows, with the nearest one that is known.
    ///
    /// `sections` must be those of all features.
    pub fn unknown_keys(&self, sections: &[SectionSchema]) -> Vec<Diagnostic> {
        bounded(unknown::unknown_keys(&self.sources, sections))
    }

    /// Lists every key of `sections` with the value that counts and where it comes from; secrets are covered.
    pub fn list(&self, sections: &[SectionSchema]) -> Vec<Listed> {
        listing::list(self, sections)
    }

    /// Where the value at `path` comes from, weakest first; the path may lead into a key's value. Secrets are covered.
    ///
    /// Nothing for a path that leads to no key of `sections`.
    pub fn origin(&self, sections: &[SectionSchema], path: &KeyPath) -> Vec<Origin> {
        sections
            .iter()
            .flat_map(|section| section.keys.iter().map(move |key| (section, key)))
            .find(|(section, key)| path.keys().starts_with(full_path(section.at, key).keys()))
            .map(|(section, key)| listing::origins(self, section, key, path))
            .unwrap_or_default()
    }

    /// Where each item of the list that accumulates at `path` comes from, weakest first. Secrets are covered.
    ///
    /// Equal items are not joined: each place that says one is told. A value that is no list is one item. Nothing for a path that is
    /// no key of `sections`.
    pub fn items(&self, sections: &[SectionSchema], path: &KeyPath) -> Vec<Origin> {
        sections
            .iter()
            .flat_map(|section| section.keys.iter().map(move |key| (section, key)))
            .find(|(section, key)| full_path(section.at, key) == *path)
            .map(|(section, key)| listing::items(self, section, key))
            .unwrap_or_default()
    }

    /// What trusting the workspace would turn on: every value of a project that is withheld, items of lists one by one.
    pub fn withheld(&self, sections: &[SectionSchema]) -> Vec<(KeyPath, Origin)> {
        let keys =
            sections.iter().flat_map(|section| section.keys.iter().map(move |key| (section, key)));
        let mut found = Vec::new();
        for (section, key) in keys.filter(|(_, key)| key.project == FromProject::OnceTrusted) {
            let path = full_path(section.at, key);
            let origins = match key.merge {
                Merge::Accumulate => listing::items(self, section, key),
                Merge::Replace | Merge::ByEntry => listing::origins(self, section, key, &path),
            };
            let withheld = origins.into_iter().filter(|one| one.standing == Standing::Withheld);
            found.extend(withheld.map(|one| (path.clone(), one)));
        }
        found
    }
}

/// Puts `value` at `path` below `object`, making the objects on the way.
fn put(object: &mut Value, path: &KeyPath, value: Value) {
    let mut target = object;
    for key in path.keys() {
        if !target.is_object() {
            *target = Value::Object(Map::new());
        }
        let Value::Object(members) = target else { return };
        target = members.entry(key.clone()).or_insert(Value::Null);
    }
    *target = value;
}

/// `value` at `path` in an object of its own.
fn alone(path: &KeyPath, value: Value) -> Value {
    let mut object = Value::Object(Map::new());
    put(&mut object, path, value);
    object
}
