//! Texts that others wrote, as a person is shown them.

use kitbag_skills::shown::visible;

/// How many characters of a name or a key a message shows.
const NAME_CHARS: usize = 80;

/// The whole of `text` on one line, with what cannot be seen written as an escape.
///
/// Two texts that differ are shown differently: an escape that stands in the text itself gets one more backslash.
pub(crate) fn exact(text: &str) -> String {
    visible(&text.replace("\\u{", "\\\\u{"))
}

/// The beginning of a name, in backticks.
pub(crate) fn name(text: &str) -> String {
    let mut shown: String = text.chars().take(NAME_CHARS).collect();
    if text.chars().nth(NAME_CHARS).is_some() {
        shown.push('…');
    }
    format!("`{}`", exact(&shown).replace('`', "'"))
}

/// One word of a command line: between quotes unless it can only be read in one way.
pub(crate) fn word(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./:=@%+,".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text.to_owned();
    }
    format!("'{}'", exact(text).replace('\'', "'\\''"))
}

/// What changed from one list of lines to another: `-` before those that went, `+` before those that came, and a blank
/// before those that stayed. Nothing where they are equal.
pub(crate) fn diff(old: &[String], new: &[String]) -> Vec<String> {
    if old == new {
        return Vec::new();
    }
    let same = |pair: &(&String, &String)| pair.0 == pair.1;
    let head = old.iter().zip(new).take_while(same).count();
    let (old_rest, new_rest) = (&old[head..], &new[head..]);
    let tail = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(same).count();
    let old_middle = &old_rest[..old_rest.len() - tail];
    let new_middle = &new_rest[..new_rest.len() - tail];
    let mark = |mark: &str, line: &String| format!("{mark} {line}");
    let mut lines: Vec<String> = old[..head].iter().map(|line| mark(" ", line)).collect();
    lines.extend(middle(old_middle, new_middle));
    lines.extend(old[old.len() - tail..].iter().map(|line| mark(" ", line)));
    lines
}

/// The most pairs of lines that are compared; beyond it what differs goes as a whole and comes as a whole.
const MAX_PAIRS: usize = 1 << 20;

/// The changed lines between what both lists begin and end with, by their longest common part.
fn middle(old: &[String], new: &[String]) -> Vec<String> {
    let mut lines = Vec::new();
    let (mut at, mut to) = (0, 0);
    if old.len().saturating_mul(new.len()) <= MAX_PAIRS {
        let width = new.len() + 1;
        // How many lines the rests from here on have in common.
        let mut common = vec![0_u32; (old.len() + 1) * width];
        for i in (0..old.len()).rev() {
            for j in (0..new.len()).rev() {
                common[i * width + j] = if old[i] == new[j] {
                    common[(i + 1) * width + j + 1] + 1
                } else {
                    common[(i + 1) * width + j].max(common[i * width + j + 1])
                };
            }
        }
        while at < old.len() && to < new.len() {
            if old[at] == new[to] {
                lines.push(format!("  {}", old[at]));
                (at, to) = (at + 1, to + 1);
            } else if common[(at + 1) * width + to] >= common[at * width + to + 1] {
                lines.push(format!("- {}", old[at]));
                at += 1;
            } else {
                lines.push(format!("+ {}", new[to]));
                to += 1;
            }
        }
    }
    lines.extend(old[at..].iter().map(|line| format!("- {line}")));
    lines.extend(new[to..].iter().map(|line| format!("+ {line}")));
    lines
}
