//! How text looks on a terminal, and how a failure is told.

use std::fmt::Display;
use std::io::{IsTerminal as _, Write as _};

use anstyle::{AnsiColor, Style};
use kitbag_skills::{Problem, Severity, shown};

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

/// How wide the terminal is that stdout goes to, where it goes to one.
pub(crate) fn columns() -> Option<usize> {
    let stdout = std::io::stdout();
    if !stdout.is_terminal() {
        return None;
    }
    let size = rustix::termios::tcgetwinsize(&stdout).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}
