//! The question, and what a person answers.

use std::io::{BufRead as _, Read as _, Write as _};

use kitbag_skills::SkillName;
use rustix::termios::{QueueSelector, tcflush};

use crate::style::{HEADING, paint};

/// The most bytes of an answer that are read.
const MAX_ANSWER_BYTES: u64 = 64;

/// What a person answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    Yes,
    /// Also where nothing was said, or something else.
    No,
    /// To see all of the text.
    Whole,
    /// To see what changed.
    Difference,
    /// No more questions.
    Quit,
}

/// Whether there is somebody to ask.
pub(super) fn can_ask() -> bool {
    super::at_terminal()
}

/// Asks at the terminal.
pub(super) fn ask(name: &SkillName) -> std::io::Result<Answer> {
    let stdin = std::io::stdin();
    // What was typed before the skill was shown is no answer to it. Where it cannot be thrown away, it is one line.
    let _ = tcflush(&stdin, QueueSelector::IFlush);
    let mut err = anstream::stderr().lock();
    let question = paint(HEADING, format!("Approve `{name}` for this workspace?"));
    write!(err, "{question} [y/N, a all of the text, d what changed, q quit] ")?;
    err.flush()?;
    drop(err);
    let mut line = Vec::new();
    stdin.lock().take(MAX_ANSWER_BYTES).read_until(b'\n', &mut line)?;
    Ok(read(&line))
}

/// Reads an answer: the whole of one line, which ends.
fn read(line: &[u8]) -> Answer {
    let Some(line) = line.strip_suffix(b"\n") else { return Answer::Quit };
    match line.trim_ascii().to_ascii_lowercase().as_slice() {
        b"y" | b"yes" => Answer::Yes,
        b"a" | b"all" => Answer::Whole,
        b"d" | b"diff" => Answer::Difference,
        b"q" | b"quit" => Answer::Quit,
        _ => Answer::No,
    }
}

#[cfg(test)]
mod tests {
    use super::{Answer, read};

    #[test]
    fn only_a_whole_yes_is_one() {
        for line in ["y\n", "Y\n", " yes \r\n", "YES\n"] {
            assert_eq!(read(line.as_bytes()), Answer::Yes, "{line:?}");
        }
        for line in ["\n", "n\n", "yy\n", "yes, but\n", "j\n", "ｙ\n", "y y\n", "\u{200b}y\n"] {
            assert_eq!(read(line.as_bytes()), Answer::No, "{line:?}");
        }
        // The end of the input, also in the middle of a line, and a line longer than is read.
        for line in ["", "y", "yes", &"y".repeat(64)] {
            assert_eq!(read(line.as_bytes()), Answer::Quit, "{line:?}");
        }
        assert_eq!(read(b"\xff\n"), Answer::No);
        assert_eq!(read(b"a\n"), Answer::Whole);
        assert_eq!(read(b"d\n"), Answer::Difference);
        assert_eq!(read(b"q\n"), Answer::Quit);
    }
}
