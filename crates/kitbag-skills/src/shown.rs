//! Text that others wrote, made safe to stand inside ours.

/// Characters of a name that a message shows.
const NAME_CHARS: usize = 120;

/// At most `chars` characters of `parts` on one line, and whether more follow.
///
/// White space is folded and joins the parts, what is invisible is left out, and the ends are trimmed. No more of the
/// text is looked at than that takes.
pub(crate) fn folded(parts: &[&str], chars: usize) -> (Vec<char>, bool) {
    let bytes: usize = parts.iter().map(|part| part.len() + 1).sum();
    let mut out = Vec::with_capacity(bytes.min(chars));
    for part in parts {
        let mut blank = !out.is_empty();
        for character in part.chars() {
            if !character.is_ascii_graphic() {
                if character.is_whitespace() {
                    blank = !out.is_empty();
                    continue;
                }
                if is_invisible(character) {
                    continue;
                }
            }
            if out.len() + usize::from(blank) >= chars {
                if blank && out.len() < chars {
                    out.push(' ');
                }
                return (out, true);
            }
            if blank {
                out.push(' ');
                blank = false;
            }
            out.push(character);
        }
    }
    (out, false)
}

/// What `character` is written as so that it is never markup, where that is not itself.
pub(crate) fn escape(character: char) -> Option<&'static str> {
    match character {
        '&' => Some("&amp;"),
        '<' => Some("&lt;"),
        '>' => Some("&gt;"),
        _ => None,
    }
}

/// Writes `character` so that it is never markup.
pub(crate) fn push_escaped(out: &mut String, character: char) {
    match escape(character) {
        Some(escaped) => out.push_str(escaped),
        None => out.push(character),
    }
}

/// At most `chars` characters of `text`, folded and escaped; `…` takes the place of the last where more follow.
pub fn line(text: &str, chars: usize) -> String {
    let (mut characters, is_longer) = folded(&[text], chars);
    if is_longer {
        characters.truncate(chars.saturating_sub(1));
    }
    let mut out = String::with_capacity(characters.len());
    for character in characters {
        push_escaped(&mut out, character);
    }
    if is_longer {
        out.push('…');
    }
    out
}

/// What somebody gave as a name, in backticks, on one line and as far as a message shows it.
pub(crate) fn name(text: &str) -> String {
    let (shown, more) = match text.char_indices().nth(NAME_CHARS) {
        Some((end, _)) => (&text[..end], "…"),
        None => (text, ""),
    };
    format!("`{}{more}`", visible(shown).replace('`', "'"))
}

/// The whole of `text` on one line, with what cannot be seen written as an escape.
///
/// Nothing is left out and no visible character changes, so that a reader can use a path or repeat a command.
pub fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        if is_invisible(character) || (character.is_whitespace() && character != ' ') {
            out.extend(character.escape_unicode());
        } else {
            out.push(character);
        }
    }
    out
}

/// Whether `character` can carry what only a model reads and is of no use in a sentence.
///
/// Joiners and variation selectors, which emoji and some scripts need, are not among them, nor are line breaks and tabs.
pub(crate) fn is_smuggling(character: char) -> bool {
    let useful =
        matches!(character, '\n' | '\t' | '\u{200c}' | '\u{200d}' | '\u{fe00}'..='\u{fe0f}');
    is_invisible(character) && !useful
}

/// Whether `character` shows nothing by itself: controls, bidirectional and zero-width marks, variation selectors,
/// fillers and tag characters, all of which can carry text that only a model reads.
pub fn is_invisible(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}')
}
