//! Reads the frontmatter of a `SKILL.md`: the YAML between two `---` lines at its top.
//!
//! [`read`] is the lenient side (decision 3): it takes what a person wrote as far as it can be taken, says what it could
//! not take, and never lets a fault widen what the skill may do. The strict side builds on [`split`] and [`yaml`].

mod fields;
mod repair;
pub mod split;
pub mod yaml;

use std::ops::Range;
use std::path::Path;

use serde_json::{Map, Value};

use self::split::{Before, Fence};
use self::yaml::{Document, Finding, YamlErrorKind};
use crate::declaration::{Declaration, mcp_host};
use crate::problem::{Position, Problem, Reason, Severity};

/// The most bytes that may stand between the two fences.
pub const MAX_FRONTMATTER_BYTES: usize = 64 * 1024;

/// The most characters of a body's first line that stand in for a description.
pub const MAX_BODY_DESCRIPTION_CHARS: usize = 1024;

/// The most entries that are taken of a field that lists arguments, tools or globs.
pub const MAX_FIELD_ITEMS: usize = 256;

/// The most double keys that get a problem each.
const MAX_DUPLICATES_TOLD: usize = 20;

/// A `SKILL.md` as far as its frontmatter goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillMd {
    /// The frontmatter's fields.
    pub header: Header,
    /// Where the YAML stands in the bytes that were given; `None` without frontmatter, or where none can be told.
    pub frontmatter: Option<Range<usize>>,
    /// The byte at which the body begins, which is everything after the frontmatter (statement B-26).
    pub body_start: usize,
    /// Whether the YAML was read after a repair.
    pub repaired: bool,
    /// What the `mcp-host` block declares.
    pub declaration: Declaration,
    /// What is wrong, in the order of its place in the file. One of severity [`Severity::Error`] means that the skill is not used.
    pub problems: Vec<Problem>,
}

/// Frontmatter as read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// The `name` as written, whatever it is; `None` where there is none, so that the directory's name stands alone.
    pub name: Option<String>,
    /// The `description` as written, or the body's first line; without either the skill is invalid.
    pub description: Option<String>,
    /// Where the description comes from.
    pub description_source: DescriptionSource,
    /// When to use the skill, from `when-to-use` or `when_to_use`.
    pub when_to_use: Option<String>,
    /// The `argument-hint` on one line; a list or mapping is given as its source text. Where there is none, that of
    /// `metadata`, the one place where the open specification lets a skill have it.
    pub argument_hint: Option<String>,
    /// The names of the positional arguments, in order; those of `metadata` where the field is missing or empty.
    pub arguments: Vec<String>,
    /// The tools that `allowed-tools` names, such as `Bash(git add:*)`. Recorded, never enforced (statement B-23).
    pub allowed_tools: Vec<String>,
    /// The `model`. Recorded, never enforced (statement B-24).
    pub model: Option<String>,
    /// The `license`.
    pub license: Option<String>,
    /// The `compatibility`.
    pub compatibility: Option<String>,
    /// The `metadata`, with every scalar as the text that was written.
    pub metadata: Map<String, Value>,
    /// Whether `disable-model-invocation` keeps the model from the skill; true also where it can't be read.
    pub disable_model_invocation: bool,
    /// Whether only a person may use the skill: by `disable-model-invocation`, or because a restrictive key could not
    /// be read (decision 3).
    pub user_only: bool,
    /// Whether `user-invocable` lets a person call the skill; true unless it says otherwise.
    pub user_invocable: bool,
    /// Globs of files beside which the skill comes first, from `autoAttach` and `paths`. They limit nothing else.
    pub auto_attach: Vec<String>,
    /// Every field as written, in order, typed by the YAML 1.2 core schema: what the Skills extension of MCP sends.
    pub wire: Map<String, Value>,
}

/// Where a description comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DescriptionSource {
    /// The frontmatter.
    Frontmatter,
    /// The body's first line (statement B-20).
    Body,
    /// There is none.
    Absent,
}

/// Where the body begins in the first bytes of a `SKILL.md`; `prefix` holds at least its frontmatter.
pub fn body_start(prefix: &[u8]) -> usize {
    let found = split::split(prefix);
    match found.fence {
        Fence::Closed { body, .. } => body,
        _ if found.bom => '\u{feff}'.len_utf8(),
        _ => 0,
    }
}

/// Reads the frontmatter of the `SKILL.md` at `path`, of which `prefix` is the beginning.
///
/// `prefix` is the whole file, or more of it than [`MAX_FRONTMATTER_BYTES`] by at least a line. No file is opened, and
/// `path` only names the file in problems. Any bytes are fine: what is wrong with them is in
/// [`problems`](SkillMd::problems), with the line and column in the file.
pub fn read(path: &Path, prefix: &[u8]) -> SkillMd {
    let split = split::split(prefix);
    let text_start = if split.bom { 3 } else { 0 };
    let mut skill = SkillMd {
        header: Header::default(),
        frontmatter: None,
        body_start: text_start,
        repaired: false,
        declaration: Declaration::default(),
        problems: Vec::new(),
    };
    if split.bom {
        let detail = "the file begins with a byte order mark, which was passed over";
        let problem = Problem::note(Reason::RepairedFrontmatter, path, detail);
        skill.problems.push(problem.at(FIRST).hint("save the file as UTF-8 without a mark"));
    }
    match split.fence {
        Fence::Absent => skill.describe_from(path, &[&prefix[text_start..]]),
        Fence::Misplaced { line, before, yaml } => {
            skill.problems.push(misplaced(path, line, before));
            let block = String::from_utf8_lossy(&prefix[yaml.clone()]);
            skill.header.user_only = fields::names_restrictive_key(&block);
            skill.describe_from(path, &[&prefix[text_start..yaml.start], &prefix[yaml.end..]]);
        }
        Fence::Utf16 => skill.refuse(
            Problem::error(Reason::MalformedFrontmatter, path, "the file is UTF-16")
                .at(FIRST)
                .hint("save the file as UTF-8"),
        ),
        Fence::Tagged { tag } => {
            let detail = format!("`{tag}` follows the opening `---`, and only YAML is read");
            skill.refuse(
                Problem::error(Reason::MalformedFrontmatter, path, detail)
                    .at(FIRST)
                    .hint("write `---` alone on the first line, and YAML below it"),
            );
        }
        Fence::Unclosed => skill.refuse(
            Problem::error(
                Reason::MalformedFrontmatter,
                path,
                "no `---` line closes the frontmatter",
            )
            .at(FIRST)
            .hint("write `---` alone on the line below the last field"),
        ),
        Fence::TooLong => {
            let detail = format!(
                "no `---` line closes the frontmatter in its first {MAX_FRONTMATTER_BYTES} bytes"
            );
            skill.refuse(
                Problem::error(Reason::MalformedFrontmatter, path, detail)
                    .at(FIRST)
                    .hint("move long text into the body"),
            );
        }
        Fence::Closed { yaml, body, .. } => {
            skill.frontmatter = Some(yaml.clone());
            skill.body_start = body;
            match std::str::from_utf8(&prefix[yaml.clone()]) {
                Ok(text) => skill.take_yaml(path, text, &prefix[body..]),
                Err(error) => {
                    let valid = &prefix[text_start..yaml.start + error.valid_up_to()];
                    let valid = String::from_utf8_lossy(valid);
                    let detail = "the frontmatter holds a byte that is not UTF-8";
                    skill.refuse(
                        Problem::error(Reason::MalformedFrontmatter, path, detail)
                            .at(Position::at(&valid, valid.len()))
                            .hint("save the file as UTF-8"),
                    );
                }
            }
        }
    }
    skill.problems.sort_by_key(|problem| (problem.position.is_none(), problem.position));
    skill
}

const FIRST: Position = Position { line: 1, column: 1 };

/// The line of the file on which the YAML of frontmatter begins.
const YAML_LINE: u32 = 2;

impl SkillMd {
    /// Whether nothing that is wrong keeps the skill from being used.
    pub fn is_usable(&self) -> bool {
        self.problems.iter().all(|problem| problem.severity < Severity::Error)
    }

    fn take_yaml(&mut self, path: &Path, text: &str, body: &[u8]) {
        let error = match yaml::parse(text, YAML_LINE) {
            Ok(document) => return self.take_document(path, &document, body),
            Err(error) => error,
        };
        if matches!(error.kind, YamlErrorKind::Syntax(_))
            && let Some(repair) = repair::repair(text, YAML_LINE)
            && let Ok(document) = yaml::parse(&repair.text, YAML_LINE)
            && document.entries().is_some()
        {
            self.repaired = true;
            self.problems.extend(repair.problems(path));
            return self.take_document(path, &document, body);
        }
        let hint = match error.kind {
            YamlErrorKind::Syntax(_) => {
                "put values that hold `: `, ` #` or a leading sign in quotes"
            }
            YamlErrorKind::SecondDocument => "keep all fields in one document",
            YamlErrorKind::TooLong
            | YamlErrorKind::TooDeep
            | YamlErrorKind::TooLarge
            | YamlErrorKind::Recursive => "write the values out, and move long ones into the body",
        };
        self.refuse(
            Problem::error(
                Reason::MalformedFrontmatter,
                path,
                format!("the frontmatter cannot be read as YAML: {error}"),
            )
            .at(error.position)
            .hint(hint),
        );
    }

    fn take_document(&mut self, path: &Path, document: &Document<'_>, body: &[u8]) {
        let Some(entries) = document.entries() else {
            let root = document.root.as_deref();
            let kind = root.map_or("nothing", yaml::Node::kind_name);
            let detail = format!("the frontmatter is {kind}, not fields with values");
            let position = root.map_or(FIRST, |root| root.position);
            return self.refuse(
                Problem::error(Reason::MalformedFrontmatter, path, detail)
                    .at(position)
                    .hint("write fields such as `description: what it does`"),
            );
        };
        self.tell_duplicates(path, document);
        fields::take(&mut self.header, &mut self.problems, path, document, entries);
        if let Some(block) = entries.iter().rev().find(|entry| entry.name == mcp_host::KEY) {
            let (declaration, problems) = mcp_host::read(path, document, block);
            self.declaration = declaration;
            self.problems.extend(problems);
        }
        if self.header.description.is_some() {
            self.header.description_source = DescriptionSource::Frontmatter;
        } else {
            self.describe_from(path, &[body]);
        }
    }

    fn tell_duplicates(&mut self, path: &Path, document: &Document<'_>) {
        let doubles = document.findings.iter().filter_map(|(finding, position)| match finding {
            Finding::DuplicateKey(key) => Some((key, *position)),
            _ => None,
        });
        for (key, position) in doubles.take(MAX_DUPLICATES_TOLD) {
            let shown: String = key.chars().take(80).flat_map(char::escape_debug).collect();
            let counts = match key.as_str() {
                "disable-model-invocation" => "any that restricts counts",
                _ => "the last one counts",
            };
            let detail = format!("`{shown}` stands twice, and {counts}");
            let problem = Problem::warning(Reason::FrontmatterField, path, detail);
            self.problems.push(problem.at(position).hint("keep one of them"));
        }
    }

    /// Takes the first line with a letter or digit for the description.
    fn describe_from(&mut self, path: &Path, texts: &[&[u8]]) {
        let line = texts.iter().find_map(|text| first_line(&String::from_utf8_lossy(text)));
        let Some(line) = line else {
            self.problems.push(
                Problem::error(Reason::NoDescription, path, "neither a description nor a body")
                    .hint("add `description:` with what the skill does and when to use it"),
            );
            return;
        };
        let cut: String = line.chars().take(MAX_BODY_DESCRIPTION_CHARS).collect();
        if cut.len() < line.len() {
            let detail = format!(
                "the body's first line stands in for a description, cut to {MAX_BODY_DESCRIPTION_CHARS} characters"
            );
            let problem = Problem::note(Reason::FrontmatterField, path, detail);
            self.problems.push(problem.hint("add `description:`"));
        }
        self.header.description = Some(cut);
        self.header.description_source = DescriptionSource::Body;
    }

    fn refuse(&mut self, problem: Problem) {
        self.header.user_only = true;
        self.problems.push(problem);
    }
}

impl Default for Header {
    /// What a file without frontmatter and without a body says.
    fn default() -> Self {
        Self {
            name: None,
            description: None,
            description_source: DescriptionSource::Absent,
            when_to_use: None,
            argument_hint: None,
            arguments: Vec::new(),
            allowed_tools: Vec::new(),
            model: None,
            license: None,
            compatibility: None,
            metadata: Map::new(),
            disable_model_invocation: false,
            user_only: false,
            user_invocable: true,
            auto_attach: Vec::new(),
            wire: Map::new(),
        }
    }
}

fn misplaced(path: &Path, line: u32, before: Before) -> Problem {
    let before = match before {
        Before::Blank => "blank lines",
        Before::Comment => "a comment",
        Before::Text => "text",
    };
    let detail = format!(
        "the frontmatter begins on line {line}, after {before}, so it was read as body text"
    );
    Problem::warning(Reason::RepairedFrontmatter, path, detail)
        .at(Position { line, column: 1 })
        .hint("move its `---` to line 1")
}

/// The first line of a Markdown text with a letter or digit in it, without heading marks; comments are passed over.
fn first_line(text: &str) -> Option<String> {
    let mut rest = text;
    loop {
        rest = rest.trim_start();
        if let Some(comment) = rest.strip_prefix("<!--") {
            rest = comment.split_once("-->")?.1;
            continue;
        }
        let (line, next) = rest.split_once(['\n', '\r']).unwrap_or((rest, ""));
        if line.chars().any(char::is_alphanumeric) {
            let line = line.trim_end();
            let heading = line.trim_start_matches('#');
            // `#tag` is no heading, and `C#` ends in no closing mark.
            if heading.len() == line.len() || !heading.starts_with([' ', '\t']) {
                return Some(line.to_owned());
            }
            let open = heading.trim_end_matches('#');
            let heading = if open.ends_with([' ', '\t']) { open } else { heading };
            return Some(heading.trim().to_owned());
        }
        if next.is_empty() {
            return None;
        }
        rest = next;
    }
}
