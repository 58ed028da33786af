//! The values of an entry's fields, each checked by itself.

use std::time::Duration;

use kitbag_settings::KeyPath;
use serde_json::{Map, Value};

use crate::covered::Covered;
use crate::problem::Fault;
use crate::shown;
use crate::template::Unexpanded;

use super::read::Complaints;
use super::{MAX_ITEMS, Place};

/// Reads the fields of one object, and complains about each that cannot be taken.
pub(super) struct Fields<'a, 'b, 'c> {
    pub(super) object: &'a Map<String, Value>,
    pub(super) path: Vec<&'a str>,
    pub(super) say: &'b mut Complaints<'c>,
}

/// What a value is, in words and without the value.
pub(super) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "`null`",
        Value::Bool(_) => "`true` or `false`",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

impl<'a> Fields<'a, '_, '_> {
    pub(super) fn has(&self, key: &str) -> bool {
        self.object.contains_key(key)
    }

    /// The full name of a field below the entry, such as `oauth.scopes`.
    fn named(&self, key: &str) -> String {
        format!("`{}`", KeyPath::of(self.path.iter().copied().chain([key])))
    }

    pub(super) fn complain(&mut self, key: &str, fault: Fault, message: String, hint: &str) {
        let path: Vec<&str> = self.path.iter().copied().chain([key]).collect();
        self.say.say(&path, fault, message, hint);
    }

    fn wrong(&mut self, key: &str, value: &Value, wanted: &str) {
        let message = format!("{} is {}, not {wanted}", self.named(key), kind(value));
        self.complain(key, Fault::Value, message, &format!("write {wanted}"));
    }

    pub(super) fn flag(&mut self, key: &str) -> Option<bool> {
        let value = self.object.get(key)?;
        if value.as_bool().is_none() {
            self.wrong(key, value, "`true` or `false`");
        }
        value.as_bool()
    }

    pub(super) fn text(&mut self, key: &str) -> Option<&'a str> {
        let value = self.object.get(key)?;
        if !value.is_string() {
            self.wrong(key, value, "a string");
        }
        value.as_str()
    }

    /// A text with variables that is not empty.
    pub(super) fn template(&mut self, key: &str) -> Option<Unexpanded> {
        let text = self.text(key)?;
        if text.is_empty() {
            let message = format!("{} is empty", self.named(key));
            self.complain(key, Fault::Value, message, "write a value, or leave the key out");
            return None;
        }
        let named = self.named(key);
        self.parse(key, &named, text)
    }

    fn parse(&mut self, key: &str, named: &str, text: &str) -> Option<Unexpanded> {
        if text.contains('\0') {
            let message = format!("{named} holds a NUL, which no process or header can be given");
            self.complain(key, Fault::Value, message, "take it out");
            return None;
        }
        match Unexpanded::parse(text) {
            Ok(template) => Some(template),
            Err(error) => {
                self.complain(key, Fault::Value, format!("{named}: {error}"), VARIABLES);
                None
            }
        }
    }

    /// A text that is never shown.
    pub(super) fn covered(&mut self, key: &str) -> Option<Covered<Unexpanded>> {
        let text = self.text(key)?;
        let Ok(template) = Unexpanded::parse(text) else {
            let message = format!("{} holds a `${{` that is no variable", self.named(key));
            self.complain(key, Fault::Value, message, VARIABLES);
            return None;
        };
        Some(Covered::new(template))
    }

    /// A list of texts; of a key that is not there, nothing.
    pub(super) fn texts(&mut self, key: &str) -> Option<Vec<&'a str>> {
        let value = self.object.get(key)?;
        let Some(items) = value.as_array() else {
            self.wrong(key, value, "a list of strings");
            return None;
        };
        self.few(key, items.len())?;
        let texts: Option<Vec<&str>> = items.iter().map(Value::as_str).collect();
        if texts.is_none() {
            let at = items.iter().position(|item| !item.is_string()).unwrap_or_default();
            let message = format!(
                "item {} of {} is {}, not a string",
                at + 1,
                self.named(key),
                kind(&items[at])
            );
            self.complain(key, Fault::Value, message, "put it between double quotes");
        }
        texts
    }

    pub(super) fn templates(&mut self, key: &str) -> Vec<Unexpanded> {
        let texts = self.texts(key).unwrap_or_default();
        let texts = texts.into_iter().enumerate();
        let named = |at: usize| format!("argument {}", at + 1);
        texts.filter_map(|(at, text)| self.parse(key, &named(at), text)).collect()
    }

    /// A map of covered texts, whose names must fit; sorted by name.
    pub(super) fn covered_map(
        &mut self,
        key: &str,
        fits: impl Fn(&str) -> bool,
        fold: impl Fn(&str) -> String,
    ) -> Vec<(String, Covered<Unexpanded>)> {
        let Some(value) = self.object.get(key) else { return Vec::new() };
        let Some(object) = value.as_object() else {
            self.wrong(key, value, "an object of names and strings");
            return Vec::new();
        };
        if self.few(key, object.len()).is_none() {
            return Vec::new();
        }
        let mut pairs: Vec<(String, Covered<Unexpanded>)> = Vec::new();
        for (name, value) in object {
            let path: Vec<&str> = self.path.iter().copied().chain([key, name]).collect();
            let shown = shown::name(name);
            let mut say =
                |message: String, hint: &str| self.say.say(&path, Fault::Value, message, hint);
            if !fits(name) {
                say(format!("{shown} is no name for `{key}`"), "use letters, digits, `_` and `-`");
                continue;
            }
            if pairs.iter().any(|(known, _)| fold(known) == fold(name)) {
                say(
                    format!("{shown} stands in `{key}` twice, in other letters"),
                    "keep one of the two",
                );
                continue;
            }
            let Some(text) = value.as_str() else {
                let message =
                    format!("the value of {shown} in `{key}` is {}, not a string", kind(value));
                say(message, "put it between double quotes");
                continue;
            };
            // The words of the error would hold a part of the value.
            match Unexpanded::parse(text) {
                Ok(_) if text.contains('\0') => {
                    say(format!("the value of {shown} in `{key}` holds a NUL"), "take it out");
                }
                Ok(template) => pairs.push((name.clone(), Covered::new(template))),
                Err(_) => {
                    let message = format!(
                        "the value of {shown} in `{key}` holds a `${{` that is no variable"
                    );
                    say(message, VARIABLES);
                }
            }
        }
        pairs.sort_by(|(one, _), (other, _)| one.cmp(other));
        pairs
    }

    /// A length of time in milliseconds, within bounds that are whole seconds.
    pub(super) fn milliseconds(&mut self, key: &str, least: u64, most: u64) -> Option<Duration> {
        let value = self.object.get(key)?;
        let Some(number) = value.as_u64() else {
            self.wrong(key, value, "a whole number of milliseconds");
            return None;
        };
        if !(least..=most).contains(&number) {
            let message = format!(
                "{} is {number} milliseconds, and {least} to {most} can be taken",
                self.named(key)
            );
            let seconds = number.saturating_mul(1000);
            let hint = if (least..=most).contains(&seconds) {
                format!("it counts milliseconds: {number} seconds are written {seconds}")
            } else {
                format!("write a number from {least} to {most}")
            };
            self.complain(key, Fault::Value, message, &hint);
            return None;
        }
        Some(Duration::from_millis(number))
    }

    /// One of a few words.
    pub(super) fn one_of<T: Copy>(&mut self, key: &str, words: &[(&str, T)]) -> Option<T> {
        let text = self.text(key)?;
        let found = words.iter().find(|(word, _)| *word == text).map(|&(_, value)| value);
        if found.is_none() {
            let known: Vec<String> = words.iter().map(|(word, _)| format!("`{word}`")).collect();
            let message = format!("{} is {}", self.named(key), shown::name(text));
            self.complain(key, Fault::Value, message, &format!("write {}", known.join(" or ")));
        }
        found
    }

    pub(super) fn hosts(&mut self, key: &str) -> Vec<String> {
        let mut hosts: Vec<String> = Vec::new();
        for host in self.texts(key).unwrap_or_default() {
            let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '*' | '-');
            if (1..=253).contains(&host.len()) && host.chars().all(fits) {
                hosts.push(host.to_owned());
            } else {
                let message = format!("{} is no host", shown::name(host));
                let hint = "write a name such as `api.example.com`, without scheme and port";
                self.complain(key, Fault::Value, message, hint);
            }
        }
        hosts
    }

    pub(super) fn places(&mut self, key: &str) -> Vec<Place> {
        let mut places = Vec::new();
        for text in self.texts(key).unwrap_or_default() {
            let rooted = text.strip_prefix('/').or_else(|| text.strip_prefix("~/"));
            let sound = |rest: &str| {
                !rest.contains('\0') && rest.split('/').all(|part| !matches!(part, "." | ".."))
            };
            match text {
                "workspace" => places.push(Place::Workspace),
                "data" => places.push(Place::Data),
                _ if rooted.is_some_and(sound) => places.push(Place::Path(text.to_owned())),
                _ => {
                    let message = format!("{} is no place", shown::name(text));
                    let hint = "write `workspace`, `data`, or a path from `/` or `~/` without `..`";
                    self.complain(key, Fault::Value, message, hint);
                }
            }
        }
        places
    }

    /// The object under a key.
    pub(super) fn object(&mut self, key: &str) -> Option<&'a Map<String, Value>> {
        let value = self.object.get(key)?;
        if !value.is_object() {
            self.wrong(key, value, "an object");
        }
        value.as_object()
    }

    fn few(&mut self, key: &str, count: usize) -> Option<()> {
        if count <= MAX_ITEMS {
            return Some(());
        }
        let message = format!("{} has {count} items", self.named(key));
        self.complain(key, Fault::Value, message, &format!("at most {MAX_ITEMS} are taken"));
        None
    }
}

/// What to do about a `${` that is no variable.
const VARIABLES: &str = "write `${NAME}`, `${NAME:-default}`, or `$${` for a plain `${`";
