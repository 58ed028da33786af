//! What a skill is: its name, what it says about itself, its schemas, and its handler.

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use kitbag_tool::{OfferedTool, ToolHints, ToolName, ToolSpec};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::handler::{Blocking, Raw, Run, Typed};
use crate::schema::{self, Validator};
use crate::{BoxError, Handler, IntoOutput, RunContext};

/// The most bytes of a skill's name: what an Agent Skill may be called, and the longest name that models' providers
/// take for a tool.
pub const MAX_NAME_BYTES: usize = 64;

/// How many characters of a refused name an error shows.
const SHOWN_CHARS: usize = 120;

/// A skill, complete and checked. Nothing of it changes after it was made.
pub struct Definition {
    pub(crate) name: Arc<str>,
    pub(crate) tool: Arc<OfferedTool>,
    pub(crate) body: Arc<str>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) input: Validator,
    /// Where the schema was written by hand, so that no type vouches for it.
    pub(crate) output: Option<Validator>,
    pub(crate) run: Box<dyn Run>,
}

/// A skill that is being defined. It ends with [`typed`](Self::typed), [`blocking`](Self::blocking) or
/// [`raw`](Self::raw).
#[derive(Debug, Clone)]
#[must_use]
pub struct Define {
    name: String,
    description: Option<String>,
    title: Option<String>,
    hints: Option<ToolHints>,
    body: Arc<str>,
    /// The name in the frontmatter of the SKILL.md that the body is of.
    beside: Option<String>,
    timeout: Option<Duration>,
    output: Option<Value>,
}

/// A skill that cannot be defined so.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DefineError {
    /// The name breaks the rule.
    #[error(
        "`{name}` cannot name a skill: 1 to {MAX_NAME_BYTES} ASCII letters, digits, `-`, `.` and `_`, \
         with no `_` at either end and no two in a row"
    )]
    Name {
        /// The name, cut to 120 characters.
        name: String,
    },
    /// The SKILL.md that it stands beside has another name.
    #[error(
        "skill `{skill}` stands beside a SKILL.md named `{beside}`, and both must have one name"
    )]
    Beside {
        /// The skill.
        skill: String,
        /// The name in the frontmatter, cut to 120 characters.
        beside: String,
    },
    /// The input schema cannot be used.
    #[error("input schema of skill `{skill}`: {reason}")]
    Input {
        /// The skill.
        skill: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The output schema cannot be used.
    #[error("output schema of skill `{skill}`: {reason}")]
    Output {
        /// The skill.
        skill: String,
        /// What is wrong with it.
        reason: String,
    },
}

/// Begins to define a skill.
///
/// The name is the tool's. Its letters are those of tool names in the Model Context Protocol. Two `_` in a row part
/// names elsewhere, so they are refused, and so is one at either end.
pub fn define(name: &str) -> Define {
    Define {
        name: name.to_owned(),
        description: None,
        title: None,
        hints: None,
        body: "".into(),
        beside: None,
        timeout: None,
        output: None,
    }
}

impl Define {
    /// Says what the skill does. A model decides by it whether to call.
    pub fn description(mut self, description: &str) -> Self {
        self.description = Some(description.to_owned());
        self
    }

    /// Gives it a name for people.
    pub fn title(mut self, title: &str) -> Self {
        self.title = Some(title.to_owned());
        self
    }

    /// Claims something about its effects. Callers need not believe it.
    pub fn hints(mut self, hints: ToolHints) -> Self {
        self.hints = Some(hints);
        self
    }

    /// Gives it prose, which the handler reads as [`RunContext::skill_body`].
    pub fn body(mut self, body: impl Into<Arc<str>>) -> Self {
        self.body = body.into();
        self
    }

    /// Gives it the prose of the SKILL.md that it stands beside: `text` after its frontmatter.
    ///
    /// Both have one name, so a plain or quoted `name` in the frontmatter that is another one is an error of defining.
    /// Nothing else there is read.
    ///
    /// ```
    /// # use kitbag_sdk::{DefineError, RunContext, define};
    /// # use serde_json::{Map, Value};
    /// # async fn tip(_: RunContext, _: Map<String, Value>) -> Result<&'static str, &'static str> { Ok("") }
    /// let text = "---\nname: tip\ndescription: Works out a tip.\n---\nTen in the hundred.\n";
    /// assert_eq!(define("tip").skill_md(text).typed(tip)?.body(), "Ten in the hundred.\n");
    ///
    /// let error = define("tips").skill_md(text).typed(tip).unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "skill `tips` stands beside a SKILL.md named `tip`, and both must have one name"
    /// );
    /// # Ok::<(), DefineError>(())
    /// ```
    pub fn skill_md(mut self, text: &str) -> Self {
        let (frontmatter, body) = split(text);
        self.beside = frontmatter.and_then(name_in);
        self.body(body)
    }

    /// Gives every call up after this time, or earlier where the caller says so.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Says what the structured output looks like, instead of what the handler's return type says. Each output is
    /// held to it.
    pub fn output_schema(mut self, schema: Value) -> Self {
        self.output = Some(schema);
        self
    }

    /// Defines it by an async function, whose types give the schemas.
    ///
    /// # Errors
    ///
    /// The name breaks the rule, or the input type is not always a JSON object.
    pub fn typed<F, I, Fut, R, E>(self, function: F) -> Result<Definition, DefineError>
    where
        F: Fn(RunContext, I) -> Fut + Send + Sync + 'static,
        I: DeserializeOwned + JsonSchema + Send + 'static,
        Fut: Future<Output = Result<R, E>> + Send + 'static,
        R: IntoOutput,
        E: Into<BoxError>,
    {
        let input = schema::input_of::<I>();
        self.finish(input, R::output_schema(), Box::new(Typed::new(function)))
    }

    /// Defines it by a function that keeps its thread, such as one that computes for long or reads files.
    ///
    /// It runs on a thread where that harms nobody. A deadline ends the call, not the thread: the function runs on
    /// unless it asks [`RunContext::is_cancelled`], and what it gives is dropped.
    ///
    /// # Errors
    ///
    /// The name breaks the rule, or the input type is not always a JSON object.
    pub fn blocking<F, I, R, E>(self, function: F) -> Result<Definition, DefineError>
    where
        F: Fn(RunContext, I) -> Result<R, E> + Send + Sync + 'static,
        I: DeserializeOwned + JsonSchema + 'static,
        R: IntoOutput,
        E: Into<BoxError>,
    {
        let input = schema::input_of::<I>();
        self.finish(input, R::output_schema(), Box::new(Blocking::new(function)))
    }

    /// Defines it by a handler and the schema of its arguments. An empty schema stands for any object.
    ///
    /// # Errors
    ///
    /// The name breaks the rule, or a schema is none, does not say `"type": "object"` at its root, or is written in
    /// another dialect than JSON Schema 2020-12.
    pub fn raw(
        self,
        input_schema: Value,
        handler: impl Handler,
    ) -> Result<Definition, DefineError> {
        self.finish(schema::written(input_schema), None, Box::new(Raw(Arc::new(handler))))
    }

    fn finish(
        self,
        input: Result<Map<String, Value>, String>,
        output: Option<Map<String, Value>>,
        run: Box<dyn Run>,
    ) -> Result<Definition, DefineError> {
        let name = check_name(&self.name)?;
        let skill = || self.name.clone();
        if let Some(beside) = self.beside.filter(|beside| *beside != self.name) {
            return Err(DefineError::Beside { skill: skill(), beside: shown(&beside) });
        }
        let bad_input = |reason| DefineError::Input { skill: skill(), reason };
        let bad_output = |reason| DefineError::Output { skill: skill(), reason };

        let input_schema = input.map_err(bad_input)?;
        let input = Validator::new(&input_schema).map_err(bad_input)?;
        let mut spec = ToolSpec::new(name, input_schema);
        let mut checked = None;
        spec.output_schema = match self.output {
            Some(schema) => {
                let schema = schema::written(schema).map_err(bad_output)?;
                checked = Some(Validator::new(&schema).map_err(bad_output)?);
                Some(Arc::new(schema))
            }
            None => output.map(Arc::new),
        };
        spec.title = self.title;
        spec.description = self.description;
        spec.annotations = self.hints;
        Ok(Definition {
            // A skill of one tool: rules call it `skill(NAME, NAME)`.
            tool: Arc::new(OfferedTool::of_skill(spec, &self.name, &self.name)),
            name: self.name.into(),
            body: self.body,
            timeout: self.timeout,
            input,
            output: checked,
            run,
        })
    }
}

impl Definition {
    /// The name that callers use.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What callers are told: the tool that stands for the skill.
    pub fn spec(&self) -> &Arc<ToolSpec> {
        &self.tool.spec
    }

    /// Its prose; empty where it has none.
    pub fn body(&self) -> &str {
        &self.body
    }

    /// How long a call may take, where that is bounded.
    pub fn timeout(&self) -> Option<Duration> {
        self.timeout
    }
}

impl fmt::Debug for Definition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Definition").field("spec", self.spec()).finish_non_exhaustive()
    }
}

fn check_name(name: &str) -> Result<ToolName, DefineError> {
    let plain = |c: u8| c.is_ascii_alphanumeric() || matches!(c, b'_' | b'-' | b'.');
    let fits = name.len() <= MAX_NAME_BYTES
        && name.bytes().all(plain)
        && !name.contains("__")
        && !name.starts_with('_')
        && !name.ends_with('_');
    let refused = || DefineError::Name { name: shown(name) };
    if fits { name.parse().map_err(|_| refused()) } else { Err(refused()) }
}

/// A name as an error shows it.
fn shown(name: &str) -> String {
    name.chars().take(SHOWN_CHARS).flat_map(char::escape_debug).collect()
}

/// The frontmatter, which begins on the first line after a byte order mark, and the text after it; all is text where
/// there is none.
fn split(text: &str) -> (Option<&str>, &str) {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text.split_inclusive('\n');
    let begun = lines.next().map_or(0, str::len);
    if text[..begun].trim_end() != "---" {
        return (None, text);
    }
    let mut after = begun;
    for line in lines {
        let before = after;
        after += line.len();
        if matches!(line.trim_end(), "---" | "...") {
            return (Some(&text[begun..before]), &text[after..]);
        }
    }
    (None, text)
}

/// The `name` in a frontmatter, where it stands on one line of its own, plain or quoted. No name that a skill can have
/// needs more of YAML than that.
fn name_in(frontmatter: &str) -> Option<String> {
    let value = frontmatter.lines().find_map(|line| line.strip_prefix("name:"))?.trim();
    let name = match value.chars().next()? {
        quote @ ('"' | '\'') => value[1..].split(quote).next()?,
        '|' | '>' | '&' | '*' | '!' | '#' => return None,
        _plain => value.split(" #").next()?.trim_end(),
    };
    Some(name.to_owned())
}
