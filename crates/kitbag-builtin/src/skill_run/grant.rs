//! Which declared scripts this registration may run: `MCP_SKILL_RUN`, and what holds without it.

use kitbag_skills::declaration::{Declaration, Script, is_reserved_variable};
use serde_json::{Map, Value};

/// The variable that a grant is written in.
pub(crate) const VARIABLE: &str = "MCP_SKILL_RUN";

/// The most bytes of a grant.
pub const MAX_GRANT_BYTES: usize = 256 * 1024;

/// The most rows of a grant.
pub const MAX_GRANT_ROWS: usize = 1000;

/// The most characters of what somebody wrote that an error repeats.
const MAX_SHOWN_CHARS: usize = 80;

/// Whether the server runs for its own user or for somebody else's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hosting {
    /// For whoever started it: without a grant, what skills declare stands.
    Standalone,
    /// By a runner for others: without a grant, nothing runs.
    Hosted,
}

/// What decided which scripts run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GrantFrom {
    /// `MCP_SKILL_RUN`.
    Variable,
    /// That there is none, and the server is hosted.
    HostedDefault,
    /// The skills' own declarations.
    Declaration,
}

/// The scripts that may run, of those that are declared. It only ever narrows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    from: GrantFrom,
    rows: Vec<Row>,
    /// What cannot be read of it.
    faults: Vec<String>,
}

/// A skill's directory, one of its scripts, and the variables that the script may get.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Row {
    skill: String,
    script: String,
    env: Vec<String>,
}

impl GrantFrom {
    /// The word for it in `skill_list`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Variable => VARIABLE,
            Self::HostedDefault => "hosted-default",
            Self::Declaration => "declaration",
        }
    }
}

impl Grant {
    /// The grant in the variable's value, which is to be given as it was set; none where it was not set or is blank.
    ///
    /// A row that cannot be read grants nothing and touches no other row. A value that is no list grants nothing at all,
    /// also `null` and a placeholder that nobody filled: whoever set the variable meant to narrow, so what cannot be read
    /// is closed (section 10 of the skill server's promises, weaknesses 10 and 11).
    pub fn read(value: Option<&str>, hosting: Hosting) -> Self {
        let value = value.map(str::trim).filter(|value| !value.is_empty());
        let Some(value) = value else {
            let from = match hosting {
                Hosting::Hosted => GrantFrom::HostedDefault,
                Hosting::Standalone => GrantFrom::Declaration,
            };
            return Self { from, rows: Vec::new(), faults: Vec::new() };
        };
        let (rows, faults) = match parse(value) {
            Ok(read) => read,
            Err(fault) => (Vec::new(), vec![fault]),
        };
        Self { from: GrantFrom::Variable, rows, faults }
    }

    /// What decided.
    pub fn from(&self) -> GrantFrom {
        self.from
    }

    /// What is wrong with the variable, in one text; what is wrong grants nothing.
    pub fn error(&self) -> Option<String> {
        (!self.faults.is_empty()).then(|| format!("{VARIABLE}: {}.", self.faults.join("; ")))
    }

    /// Why nothing runs, where nobody decided so.
    pub fn note(&self) -> Option<String> {
        (self.from == GrantFrom::HostedDefault).then(|| {
            format!(
                "This server is hosted and {VARIABLE} is not set, so no script runs. Set it to a JSON list of \
                 {{\"skill\", \"script\", \"env\"}} to let scripts run."
            )
        })
    }

    /// The variables that a declared script may get, in the order of its declaration; none where it may not run.
    ///
    /// `skill` is the name of the skill's directory, whatever its frontmatter says.
    pub(crate) fn env_of(&self, skill: &str, script: &Script) -> Option<Vec<String>> {
        let is_granted: Box<dyn Fn(&str) -> bool> = match self.from {
            GrantFrom::HostedDefault => return None,
            GrantFrom::Declaration => Box::new(|_| true),
            GrantFrom::Variable => {
                let rows: Vec<&Row> = self.rows_for(skill, script.script.as_str()).collect();
                if rows.is_empty() {
                    return None;
                }
                Box::new(move |name| {
                    rows.iter().any(|row| row.env.iter().any(|granted| granted == name))
                })
            }
        };
        let env = script.env.iter().filter(|name| is_granted(name) && !is_reserved_variable(name));
        Some(env.cloned().collect())
    }

    fn rows_for<'a>(&'a self, skill: &'a str, script: &'a str) -> impl Iterator<Item = &'a Row> {
        self.rows.iter().filter(move |row| row.skill == skill && row.script == script)
    }

    /// What is wrong with the rows, given the declaration of each served skill: each in a sentence without its stop.
    pub(crate) fn problems<'a>(
        &'a self,
        declaration: impl Fn(&str) -> Option<&'a Declaration>,
    ) -> Vec<String> {
        let unmatched = self.rows.iter().filter_map(|row| {
            let Row { skill, script, env } = row;
            let Some(declaration) = declaration(skill) else {
                return Some(format!(
                    "it grants `{}` of `{}`, and no skill of that name is served",
                    shown(script),
                    shown(skill)
                ));
            };
            let declared = declaration.scripts.iter().find(|known| known.script.as_str() == script);
            let Some(declared) = declared else {
                return Some(format!(
                    "it grants `{}`, which the skill `{}` does not declare",
                    shown(script),
                    shown(skill)
                ));
            };
            let undeclared: Vec<String> = env
                .iter()
                .filter(|name| !declared.env.contains(name))
                .map(|name| format!("`{}`", shown(name)))
                .collect();
            (!undeclared.is_empty()).then(|| {
                format!(
                    "it grants {} to `{}` of `{}`, which does not declare it",
                    undeclared.join(", "),
                    shown(script),
                    shown(skill)
                )
            })
        });
        self.faults.iter().cloned().chain(unmatched).collect()
    }
}

/// The rows that can be read, and what is wrong with the others; an error where nothing can be read.
fn parse(value: &str) -> Result<(Vec<Row>, Vec<String>), String> {
    if value.len() > MAX_GRANT_BYTES {
        return Err(format!("it is longer than {MAX_GRANT_BYTES} bytes, so nothing is granted"));
    }
    let json: Value = serde_json::from_str(value)
        .map_err(|error| format!("it is no JSON ({error}), so nothing is granted"))?;
    let Value::Array(items) = json else {
        return Err("it is no list of rows, so nothing is granted".to_owned());
    };
    if items.len() > MAX_GRANT_ROWS {
        return Err(format!("it has more than {MAX_GRANT_ROWS} rows, so nothing is granted"));
    }
    let (mut rows, mut faults) = (Vec::new(), Vec::new());
    for (index, item) in items.iter().enumerate() {
        match row(item) {
            Ok(row) => rows.push(row),
            Err(fault) => faults.push(format!("row {} {fault}, and grants nothing", index + 1)),
        }
    }
    Ok((rows, faults))
}

fn row(item: &Value) -> Result<Row, String> {
    let Value::Object(members) = item else {
        return Err("is no object with `skill` and `script`".to_owned());
    };
    // A member that is not known may be meant to narrow.
    if let Some(unknown) =
        members.keys().find(|key| !["skill", "script", "env"].contains(&key.as_str()))
    {
        return Err(format!("has a member `{}`, which is not known", shown(unknown)));
    }
    Ok(Row { skill: text(members, "skill")?, script: text(members, "script")?, env: env(members)? })
}

fn text(members: &Map<String, Value>, key: &str) -> Result<String, String> {
    match members.get(key) {
        Some(Value::String(text)) if !text.trim().is_empty() => Ok(text.clone()),
        Some(_) => Err(format!("has a `{key}` that is no text, or blank")),
        None => Err(format!("has no `{key}`")),
    }
}

fn env(members: &Map<String, Value>) -> Result<Vec<String>, String> {
    let fault = || "has an `env` that is no list of names".to_owned();
    match members.get("env") {
        None => Ok(Vec::new()),
        Some(Value::Array(names)) => {
            names.iter().map(|name| name.as_str().map(str::to_owned).ok_or_else(fault)).collect()
        }
        Some(_) => Err(fault()),
    }
}

/// What somebody wrote, short and on one line.
pub(crate) fn shown(text: &str) -> String {
    let mut shown: String =
        text.chars().take(MAX_SHOWN_CHARS).flat_map(char::escape_debug).collect();
    if text.chars().nth(MAX_SHOWN_CHARS).is_some() {
        shown.push('…');
    }
    shown
}
