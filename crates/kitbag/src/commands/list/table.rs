//! The catalogue as a table, for as many columns as there are.

use anstyle::Style;
use kitbag_skills::review::requests;
use kitbag_skills::{Catalog, Skill, Status, shown};
use unicode_width::UnicodeWidthStr;

use super::super::because;
use super::{instruction_tokens, line_tokens};
use crate::style::{self, DIM, GOOD, NAME, WARN, cut, padded, paint};

/// The columns of a description where no terminal says how many there are.
const DESCRIPTION_COLUMNS: usize = 100;

/// The fewest columns that a description gets beside the others; with fewer it goes on a line of its own.
const LEAST_DESCRIPTION_COLUMNS: usize = 24;

/// The most columns that a name or an origin takes from all rows; a longer one moves its own row alone.
const MAX_ALIGNED_COLUMNS: usize = 32;

/// The columns of the tokens.
const TOKEN_COLUMNS: usize = 8;

/// The most characters of a reason.
const REASON_CHARS: usize = 300;

/// The most skills of which it is said what they would say and run.
const MAX_WITHHELD: usize = 20;

/// What a row shows.
struct Row {
    name: String,
    status: &'static str,
    style: Style,
    origin: String,
    tokens: String,
    /// The description; or why the skill is not used, which is never cut to fit.
    said: Result<String, String>,
}

/// The table, with styles, for a terminal of `columns`; for anything else where that is not known.
pub(super) fn text(catalog: &Catalog, columns: Option<usize>) -> String {
    if catalog.skills.is_empty() {
        return "No skills were found. `kitbag skills new NAME` writes one.\n".to_owned();
    }
    let rows: Vec<Row> = catalog.skills.iter().map(|skill| row(skill)).collect();
    let names = widest(rows.iter().map(|row| row.name.as_str()), "NAME");
    let statuses = widest(rows.iter().map(|row| row.status), "STATUS");
    let origins = widest(rows.iter().map(|row| row.origin.as_str()), "ORIGIN");
    let taken = names + statuses + origins + TOKEN_COLUMNS + 4 * 2;
    let room = match columns {
        None => Some(DESCRIPTION_COLUMNS),
        Some(columns) => {
            columns.checked_sub(taken).filter(|room| *room >= LEAST_DESCRIPTION_COLUMNS)
        }
    };
    let mut lines = Vec::new();
    if let Some(room) = room {
        let head = format!(
            "{:names$}  {:statuses$}  {:origins$}  {:>TOKEN_COLUMNS$}  DESCRIPTION",
            "NAME", "STATUS", "ORIGIN", "~TOKENS"
        );
        lines.push(paint(DIM, head));
        for row in &rows {
            let said = match &row.said {
                Ok(description) => cut(description, room),
                Err(reason) => paint(WARN, reason),
            };
            lines.push(format!(
                "{}  {}  {}  {:>TOKEN_COLUMNS$}  {said}",
                padded(NAME, &row.name, names),
                padded(row.style, row.status, statuses),
                padded(Style::new(), &row.origin, origins),
                row.tokens,
            ));
        }
    } else {
        let room = columns.unwrap_or_default().saturating_sub(2).max(1);
        for row in &rows {
            let said = match &row.said {
                Ok(description) => cut(description, room),
                Err(reason) => paint(WARN, reason),
            };
            lines.push(format!(
                "{}  {}  {}  ~{}\n  {said}",
                paint(NAME, &row.name),
                paint(row.style, row.status),
                row.origin,
                row.tokens,
            ));
        }
    }
    let used = catalog.used().count();
    let tokens: usize = catalog.used().map(|skill| line_tokens(skill)).sum();
    let skills = match catalog.skills.len() {
        1 => "1 skill is".to_owned(),
        count => format!("{count} skills are"),
    };
    lines.push(format!(
        "\n{used} of {skills} used. Their names and descriptions are ~{tokens} tokens; \
         instructions are read on demand.\n"
    ));
    let mut text = lines.join("\n");
    text.push_str(&withheld(catalog));
    text
}

/// What the skills that wait for an approval would say and run, and how to give it.
fn withheld(catalog: &Catalog) -> String {
    let waiting: Vec<&Skill> = catalog
        .skills
        .iter()
        .map(AsRef::as_ref)
        .filter(|skill| skill.status == Status::Withheld)
        .collect();
    if waiting.is_empty() {
        return String::new();
    }
    let mut text = String::from(
        "\nWithheld, until `kitbag skills approve` has shown them and you said yes:\n",
    );
    for skill in waiting.iter().take(MAX_WITHHELD) {
        let name = paint(NAME, plain(&skill.qualified_name(), REASON_CHARS));
        let says = plain(skill.description(), REASON_CHARS);
        let requests = requests(&skill.document);
        let runs = match requests.split_first() {
            None => "nothing that it declares".to_owned(),
            Some((first, [])) => plain(first, REASON_CHARS),
            Some((first, more)) => {
                format!("{}; and {} more", plain(first, REASON_CHARS), more.len())
            }
        };
        style::add(&mut text, format_args!("  {name}\n    says  {says}\n    runs  {runs}\n"));
    }
    if waiting.len() > MAX_WITHHELD {
        style::add(&mut text, format_args!("  … {} more\n", waiting.len() - MAX_WITHHELD));
    }
    text
}

fn row(skill: &Skill) -> Row {
    Row {
        name: skill.name().to_string(),
        status: skill.status.word(),
        style: if skill.status == Status::Used { GOOD } else { WARN },
        origin: plain(&skill.origin.label(), REASON_CHARS),
        tokens: line_tokens(skill).saturating_add(instruction_tokens(skill)).to_string(),
        said: match because(skill) {
            Some(reason) => Err(plain(&reason, REASON_CHARS)),
            None => Ok(plain(skill.description(), REASON_CHARS)),
        },
    }
}

/// At most `chars` characters of `text` on one line without what is invisible; a terminal needs no markup escaped.
fn plain(text: &str, chars: usize) -> String {
    shown::line(text, chars).replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}

fn widest<'a>(cells: impl Iterator<Item = &'a str>, head: &str) -> usize {
    let widths = cells.map(UnicodeWidthStr::width).filter(|width| *width <= MAX_ALIGNED_COLUMNS);
    widths.chain([head.width()]).max().unwrap_or_default()
}
