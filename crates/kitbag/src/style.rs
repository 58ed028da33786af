//! How text looks on a terminal, and how a failure is told.

use std::fmt::{self, Display, Write as _};
use std::io::{IsTerminal as _, Write as _};
use std::path::Path;

use anstyle::{AnsiColor, Style};
use kitbag_host::shown_path;
use kitbag_settings::{Diagnostic, Position, SourceName};
use kitbag_skills::{Problem, Severity, shown};
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use crate::failure::Failure;

/// What something is called.
pub(crate) const NAME: Style = AnsiColor::Cyan.on_default().bold();
/// A heading.
pub(crate) const HEADING: Style = Style::new().bold();
/// What matters less.
pub(crate) const DIM: Style = Style::new().dimmed();
/// What is as it should be.
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
/// What is not used, or may not be meant.
pub(crate) const WARN: Style = AnsiColor::Yellow.on_default();
/// What is refused.
pub(crate) const BAD: Style = AnsiColor::Red.on_default();

/// `text` in a style.
pub(crate) fn paint(style: Style, text: impl Display) -> String {
    format!("{style}{text}{style:#}")
}

/// Adds to a text.
pub(crate) fn add(text: &mut String, what: fmt::Arguments<'_>) {
    text.write_fmt(what).expect("a text takes whatever is written to it");
}

/// Tells a failure on stderr.
pub(crate) fn tell(failure: &Failure) {
    let text = harmless(&failure.to_string());
    let mut stderr = anstream::stderr().lock();
    // Where stderr is gone, the exit code still says it.
    drop(writeln!(stderr, "{}: {text}", word(Severity::Error)));
    for hint in failure.hints() {
        drop(writeln!(stderr, "hint: {}", harmless(hint)));
    }
}

/// Adds something on stderr that is not part of the answer.
pub(crate) fn remark(text: impl Display) {
    // Where stderr is gone, nobody reads it.
    drop(writeln!(anstream::stderr(), "{}", paint(DIM, text)));
}

/// Tells problems on stderr, each with its remedy.
pub(crate) fn tell_problems<'a>(problems: impl IntoIterator<Item = &'a Problem>) {
    for problem in problems {
        tell_problem(problem.severity, &problem.to_string(), problem.hint.as_deref());
    }
}

/// Tells what is wrong with settings on stderr, each thing with its remedy.
pub(crate) fn tell_diagnostics<'a>(diagnostics: impl IntoIterator<Item = &'a Diagnostic>) {
    for one in diagnostics {
        let severity = match one.severity {
            kitbag_settings::Severity::Error => Severity::Error,
            kitbag_settings::Severity::Warning => Severity::Warning,
            kitbag_settings::Severity::Note => Severity::Note,
        };
        tell_problem(severity, &one.to_string(), one.hint.as_deref());
    }
}

/// Tells one thing that is wrong on stderr, with its remedy.
pub(crate) fn tell_problem(severity: Severity, message: &str, hint: Option<&str>) {
    let mut stderr = anstream::stderr().lock();
    // Where stderr is gone, nobody reads it.
    drop(writeln!(stderr, "{}: {}", word(severity), shown::visible(message)));
    if let Some(hint) = hint {
        drop(writeln!(stderr, "  hint: {}", shown::visible(hint)));
    }
}

/// The word that a severity has everywhere.
pub(crate) fn word(severity: Severity) -> String {
    match severity {
        Severity::Error => paint(BAD, "error"),
        Severity::Warning => paint(WARN, "warning"),
        Severity::Note => paint(DIM, "note"),
    }
}

/// `text` as a terminal may have it: what could move the cursor, or hide, is written as an escape.
///
/// Lines and tabs stay. So do the two marks that emoji are joined with, each where it joins; in a row, where they could
/// carry a text, they are shown.
pub(crate) fn harmless(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    let mut before = ' ';
    while let Some(character) = characters.next() {
        let joins = match character {
            '\u{fe0f}' => {
                before.is_ascii_digit() || !(before.is_ascii() || shown::is_invisible(before))
            }
            '\u{200d}' => {
                before == '\u{fe0f}' || !(before.is_ascii() || shown::is_invisible(before))
            }
            _ => false,
        };
        match character {
            '\r' if characters.peek() == Some(&'\n') => {}
            '\n' | '\t' => out.push(character),
            _ if joins || !shown::is_invisible(character) => out.push(character),
            _ => out.extend(character.escape_unicode()),
        }
        before = character;
    }
    out
}

/// `text` in a style, then blanks up to `columns`.
pub(crate) fn padded(style: Style, text: &str, columns: usize) -> String {
    format!("{}{:blanks$}", paint(style, text), "", blanks = columns.saturating_sub(text.width()))
}

/// As much of `text` as fits in `columns`; `…` takes the place of what does not.
pub(crate) fn cut(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let mut left = columns.saturating_sub(1);
    let fits = |character: &char| {
        let width = character.width().unwrap_or_default();
        let fits = width <= left;
        left = left.saturating_sub(width);
        fits
    };
    let mut out: String = text.chars().take_while(fits).collect();
    out.truncate(out.trim_end().len());
    out.push('…');
    out
}

/// The file and line of a value, or the flag or variable that gives it, as people know it.
pub(crate) fn place(source: &SourceName, at: Option<Position>, home: Option<&Path>) -> String {
    let mut place = match source {
        SourceName::File(path) => shown_path(path, home),
        SourceName::Given(name) => name.clone(),
    };
    if let Some(at) = at {
        add(&mut place, format_args!(":{}", at.line));
    }
    shown::visible(&place)
}

/// How wide the terminal is that stdout goes to, where it goes to one.
pub(crate) fn columns() -> Option<usize> {
    let stdout = std::io::stdout();
    if !stdout.is_terminal() {
        return None;
    }
    let size = rustix::termios::tcgetwinsize(&stdout).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}
