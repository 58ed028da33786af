//! What a server says of its tools, prompts and itself, compared with what it said when somebody accepted it (decision 14).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::Serialize;
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use crate::shown::{diff, exact};

/// The most bytes of a text that is kept for a diff; of a longer one only the digest is.
pub const MAX_PIN_BYTES: usize = 1024 * 1024;

/// What happens to what a server says otherwise than it did, or says for the first time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PinMode {
    /// What changed or is new is withheld until it is approved: for servers that a repository names.
    Strict,
    /// What changed is withheld, and what is new appears at once: for the user's own.
    Changed,
    /// Nothing is withheld.
    Off,
}

/// The kind of thing that is pinned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A tool: its name, title, description, schemas and annotations.
    Tool,
    /// A prompt: its name, title, description and arguments.
    Prompt,
    /// What the server says to the model about itself.
    Instructions,
}

/// One thing as a server said it, or as it was pinned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// The kind.
    pub kind: Kind,
    /// Its name; empty for instructions.
    pub name: String,
    /// SHA-256 of all that a pin covers of it.
    pub digest: [u8; 32],
    /// The text the digest is of, for a diff; past [`MAX_PIN_BYTES`] a note of its length.
    pub text: String,
}

/// What has become of one thing that is pinned or said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The kind.
    pub kind: Kind,
    /// Its name.
    pub name: String,
    /// What became of it.
    pub change: Change,
    /// Whether callers get it.
    pub standing: Standing,
    /// What is different, a line each, with what cannot be seen made visible.
    pub diff: Vec<String>,
}

/// What became of a thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Change {
    /// It is what it was.
    Same,
    /// It was not there. One that comes back under another name is new, however alike it is.
    New,
    /// It says something else.
    Changed,
    /// It is not there any more; its pin stays, so that it cannot come back as another.
    Gone,
}

/// Whether callers get a thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Standing {
    /// They do.
    Offered,
    /// They do not, until somebody approves it.
    Withheld,
    /// There is nothing to get.
    Gone,
}

/// Whether a server was ever pinned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meeting {
    /// Never: what it says now is pinned, unless the mode is [`PinMode::Strict`], under which somebody has to approve it.
    First,
    /// It was.
    Later,
}

impl PinMode {
    pub(crate) const WORDS: [(&'static str, Self); 3] =
        [("strict", Self::Strict), ("changed", Self::Changed), ("off", Self::Off)];

    /// The mode as settings write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Strict => "strict",
            Self::Changed => "changed",
            Self::Off => "off",
        }
    }
}

impl Kind {
    /// The kind as a store keeps it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Prompt => "prompt",
            Self::Instructions => "instructions",
        }
    }
}

/// What a pin covers of a tool, from the object that the server lists; nothing for one without a name.
///
/// The order of keys does not count; `_meta`, icons and keys that no specification has are not covered.
pub fn tool(listed: &Map<String, Value>) -> Option<Said> {
    let keys = ["name", "title", "description", "inputSchema", "outputSchema", "annotations"];
    said(Kind::Tool, listed, &keys)
}

/// What a pin covers of a prompt, from the object that the server lists; nothing for one without a name.
pub fn prompt(listed: &Map<String, Value>) -> Option<Said> {
    said(Kind::Prompt, listed, &["name", "title", "description", "arguments"])
}

/// What a pin covers of a server's instructions.
pub fn instructions(text: &str) -> Said {
    of(Kind::Instructions, String::new(), &Value::from(text))
}

fn said(kind: Kind, listed: &Map<String, Value>, keys: &[&str]) -> Option<Said> {
    let name = listed.get("name")?.as_str()?.to_owned();
    let covered = keys.iter().filter_map(|&key| Some((key.to_owned(), sorted(listed.get(key)?))));
    Some(of(kind, name, &Value::Object(covered.collect())))
}

fn of(kind: Kind, name: String, value: &Value) -> Said {
    let mut text = format!("{value:#}");
    let digest = Sha256::digest(&text).into();
    if text.len() > MAX_PIN_BYTES {
        text = format!("({} bytes, of which only the digest is kept)", text.len());
    }
    Said { kind, name, digest, text }
}

/// The value with the keys of every object in order.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(sorted).collect(),
        Value::Object(members) => {
            let members: BTreeMap<&String, &Value> = members.iter().collect();
            let members = members.into_iter().map(|(key, value)| (key.clone(), sorted(value)));
            Value::Object(members.collect())
        }
        scalar => scalar.clone(),
    }
}

/// Compares what a server says with its pins: first what it says, in its order, then what is gone.
///
/// Of a name that it says twice, each must be what was pinned, or the name counts as changed.
pub fn compare(mode: PinMode, meeting: Meeting, pinned: &[Said], said: &[Said]) -> Vec<Finding> {
    let pins: BTreeMap<(Kind, &str), &Said> =
        pinned.iter().map(|pin| ((pin.kind, pin.name.as_str()), pin)).collect();
    let mut all: BTreeMap<(Kind, &str), Vec<&Said>> = BTreeMap::new();
    for one in said {
        all.entry((one.kind, one.name.as_str())).or_default().push(one);
    }
    let mut told = BTreeSet::new();
    let mut findings = Vec::new();
    for one in said {
        let key = (one.kind, one.name.as_str());
        if !told.insert(key) {
            continue;
        }
        let (change, lines) = match pins.get(&key) {
            None => (Change::New, diff(&[], &lines(&one.text))),
            Some(pin) => match all[&key].iter().find(|one| one.digest != pin.digest) {
                None => (Change::Same, Vec::new()),
                Some(other) => (Change::Changed, diff(&lines(&pin.text), &lines(&other.text))),
            },
        };
        let withheld = match (mode, change) {
            (PinMode::Strict, Change::New | Change::Changed) => true,
            (PinMode::Changed, Change::Changed) => meeting == Meeting::Later,
            (PinMode::Strict | PinMode::Changed | PinMode::Off, _) => false,
        };
        let standing = if withheld { Standing::Withheld } else { Standing::Offered };
        findings.push(Finding {
            kind: one.kind,
            name: one.name.clone(),
            change,
            standing,
            diff: lines,
        });
    }
    let gone = pinned.iter().filter(|pin| !told.contains(&(pin.kind, pin.name.as_str())));
    findings.extend(gone.map(|pin| Finding {
        kind: pin.kind,
        name: pin.name.clone(),
        change: Change::Gone,
        standing: Standing::Gone,
        diff: Vec::new(),
    }));
    findings
}

/// The lines of a pinned text as a person reads them: a line end inside a string of JSON ends a line here too, and nothing
/// is invisible.
fn lines(text: &str) -> Vec<String> {
    let mut broken = String::new();
    let mut characters = text.chars();
    while let Some(c) = characters.next() {
        broken.push(c);
        if c == '\\'
            && let Some(escaped) = characters.next()
        {
            broken.push(escaped);
            if escaped == 'n' {
                broken.push('\n');
            }
        }
    }
    broken.split('\n').map(exact).collect()
}

impl fmt::Display for Finding {
    /// Writes ``tool `NAME` is changed, withheld``, without the diff.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let change = match self.change {
            Change::Same => "as it was",
            Change::New => "new",
            Change::Changed => "changed",
            Change::Gone => "gone",
        };
        write!(f, "{}", self.kind.as_str())?;
        if !self.name.is_empty() {
            write!(f, " {}", crate::shown::name(&self.name))?;
        }
        write!(f, ": {change}")?;
        if self.standing == Standing::Withheld { f.write_str(", withheld") } else { Ok(()) }
    }
}
