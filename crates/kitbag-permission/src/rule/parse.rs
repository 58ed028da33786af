//! The grammar.
//!
//! ```text
//! rule     = own | own "(" subject ")" | "mcp__" name | name "__" name
//!          | ("mcp" | "skill") "(" part "," ( part | "*" ) ")"
//! subject  = "*" | text ":*" | "domain:" [ "*." ] host | text        ; up to the last ")" of the rule
//! part     = name | '"' quoted '"'                                   ; \" \\ \u{200b}
//! ```

use super::{MAX_RULE_BYTES, Pattern, RuleFault, Target, is_invisible};

/// The most bytes in the name of one of our own tools.
const MAX_OWN_NAME_BYTES: usize = 128;

/// What is wrong, and at which byte.
pub(super) struct Found {
    pub(super) at: usize,
    pub(super) fault: RuleFault,
    pub(super) hint: String,
    pub(super) nearest: Option<String>,
}

type Parsed<T> = Result<T, Found>;

fn refuse<T>(at: usize, fault: RuleFault, hint: impl Into<String>) -> Parsed<T> {
    Err(Found { at, fault, hint: hint.into(), nearest: None })
}

fn suggest<T>(at: usize, fault: RuleFault, hint: impl Into<String>, nearest: String) -> Parsed<T> {
    Err(Found { at, fault, hint: hint.into(), nearest: Some(nearest) })
}

pub(super) fn target(text: &str) -> Parsed<Target> {
    if text.is_empty() {
        return refuse(0, RuleFault::Empty, "name a tool, such as `Bash` or `mcp__files`");
    }
    if text.len() > MAX_RULE_BYTES {
        return refuse(MAX_RULE_BYTES, RuleFault::TooLong, "split it, or use a prefix or a glob");
    }
    if let Some((at, _)) = text.char_indices().find(|&(_, c)| is_invisible(c)) {
        let hint = "take it out; in a quoted name it can be written as `\\u{200b}`";
        return refuse(at, RuleFault::Invisible, hint);
    }
    if text.trim() != text {
        let at = if text.starts_with(char::is_whitespace) { 0 } else { text.trim_end().len() };
        let hint = "take the blanks out";
        return suggest(at, RuleFault::Blank, hint, text.trim().to_owned());
    }
    let (name, inner) = match text.find('(') {
        None => (text, None),
        Some(open) => {
            let Some(inner) = text[open + 1..].strip_suffix(')') else {
                let at = text.rfind(')').map_or(text.len(), |close| close + 1);
                return refuse(at, RuleFault::Parentheses, "a rule with `(` ends in `)`");
            };
            (&text[..open], Some((open + 1, inner)))
        }
    };
    match (name, inner) {
        ("mcp", Some((at, inner))) => {
            explicit(text, at, inner).map(|(server, tool)| Target::Server { server, tool })
        }
        ("skill", Some((at, inner))) => {
            explicit(text, at, inner).map(|(skill, tool)| Target::SkillTool { skill, tool })
        }
        ("mcp" | "skill", None) => {
            let hint =
                format!("write `{name}(NAME, TOOL)`, or `{name}(NAME, *)` for all of its tools");
            refuse(text.len(), RuleFault::Missing, hint)
        }
        _ => named(name, inner),
    }
}

/// A rule whose name is written as one word.
fn named(name: &str, inner: Option<(usize, &str)>) -> Parsed<Target> {
    if let Some(rest) = name.strip_prefix("mcp__") {
        pair_text(5, rest)?;
        if let Some((at, _)) = inner {
            let hint = "a server's tools have no subject; name the tool alone";
            return suggest(at - 1, RuleFault::Subject, hint, name.to_owned());
        }
        return Ok(Target::ServerText(rest.into()));
    }
    if name.len() >= 5 && name.is_char_boundary(5) && name[..5].eq_ignore_ascii_case("mcp__") {
        let meant = format!("mcp__{}", &name[5..]);
        return suggest(0, RuleFault::NameCharacter, "write `mcp__` in small letters", meant);
    }
    if let Some((_, inner)) = inner.filter(|_| name.eq_ignore_ascii_case("mcp")) {
        let hint = "write `mcp` in small letters";
        return suggest(0, RuleFault::NameCharacter, hint, format!("mcp({inner})"));
    }
    if name.contains("__") {
        pair_text(0, name)?;
        if let Some((at, _)) = inner {
            let hint = "a tool that a skill declares has no subject; name the tool alone";
            return suggest(at - 1, RuleFault::Subject, hint, name.to_owned());
        }
        return Ok(Target::SkillText(name.into()));
    }
    own_name(name)?;
    let subject = match inner {
        None => None,
        Some((at, inner)) => Some(pattern(name, at, inner)?),
    };
    Ok(Target::Own { name: name.into(), subject })
}

fn own_name(name: &str) -> Parsed<()> {
    if name.is_empty() {
        return refuse(0, RuleFault::Missing, "a tool's name stands before `(`");
    }
    if name == "*" {
        let hint = "no rule covers all tools; name them, or use the mode `full-auto`";
        return refuse(0, RuleFault::Wildcard, hint);
    }
    wildcard(0, name, "a name covers the whole tool; wildcards belong between parentheses")?;
    let fits = |(at, c): (usize, char)| {
        c.is_ascii_alphabetic()
            || (at > 0 && (c.is_ascii_digit() || matches!(c, '_' | '-' | '.' | '/')))
    };
    if let Some((at, _)) = name.char_indices().find(|&found| !fits(found)) {
        let hint = "our own tools begin with a letter and go on with letters, digits, `_`, `-`, `.` and `/`; \
                    names of others are written `mcp(\"SERVER\", \"TOOL\")`";
        return refuse(at, RuleFault::NameCharacter, hint);
    }
    if name.len() > MAX_OWN_NAME_BYTES {
        return refuse(
            MAX_OWN_NAME_BYTES,
            RuleFault::TooLong,
            "a tool's name has 128 bytes at most",
        );
    }
    Ok(())
}

/// The text of one or two names joined by `__`.
fn pair_text(at: usize, names: &str) -> Parsed<()> {
    let word = if at == 0 { "skill" } else { "mcp" };
    if names.is_empty() {
        return refuse(at, RuleFault::Missing, "a server's name stands after `mcp__`");
    }
    if names.ends_with("__*") || (names.ends_with("__") && names.len() > 2) {
        let whole = names.trim_end_matches('*').trim_end_matches('_');
        let meant = if at == 0 { format!("skill({whole}, *)") } else { format!("mcp__{whole}") };
        let hint = format!("`{meant}` covers all of its tools");
        return suggest(at + whole.len(), RuleFault::Missing, hint, meant);
    }
    wildcard(at, names, &format!("name one tool, or write `{word}(NAME, *)` for all of them"))?;
    bare(at, names, word)?;
    if at == 0 && super::pairs(names).next().is_none() {
        let hint = "a skill's tool is written `SKILL__TOOL`";
        return refuse(0, RuleFault::Missing, hint);
    }
    Ok(())
}

fn wildcard(at: usize, name: &str, hint: &str) -> Parsed<()> {
    match name.find(['*', '?', '[', ']', '{', '}']) {
        Some(found) => refuse(at + found, RuleFault::Wildcard, hint),
        None => Ok(()),
    }
}

/// Refuses what a name can hold only between quotes.
fn bare(at: usize, name: &str, word: &str) -> Parsed<()> {
    let odd = |c: char| c.is_whitespace() || matches!(c, '(' | ')' | ',' | '"' | '\\');
    match name.find(odd) {
        Some(found) => {
            let hint = format!("quote such a name: `{word}(\"NAME\", \"TOOL\")`");
            refuse(at + found, RuleFault::NameCharacter, hint)
        }
        None => Ok(()),
    }
}

fn pattern(tool: &str, at: usize, inner: &str) -> Parsed<Pattern> {
    if inner.is_empty() {
        let hint = format!("write `{tool}` for every call, or a subject between the parentheses");
        return suggest(at, RuleFault::Missing, hint, tool.to_owned());
    }
    if inner.trim() != inner {
        let ends = if inner.starts_with(char::is_whitespace) { 0 } else { inner.trim_end().len() };
        let meant = format!("{tool}({})", inner.trim());
        return suggest(at + ends, RuleFault::Blank, "take the blanks out", meant);
    }
    if inner == "*" {
        return Ok(Pattern::Every);
    }
    if let Some(host) = inner.strip_prefix("domain:") {
        return domain(tool, at + 7, host);
    }
    if let Some(prefix) = inner.strip_suffix(":*") {
        if prefix.trim().is_empty() {
            let hint = format!("write `{tool}` for every call, or a text before `:*`");
            return suggest(at, RuleFault::Missing, hint, tool.to_owned());
        }
        return Ok(Pattern::Prefix(prefix.into()));
    }
    Ok(Pattern::Literal(inner.into()))
}

fn domain(tool: &str, at: usize, host: &str) -> Parsed<Pattern> {
    let (below, name, at) = match host.strip_prefix("*.") {
        Some(name) => (true, name, at + 2),
        None => (false, host, at),
    };
    let hint = "write the host alone, as in `domain:example.com`, or `domain:*.example.com` for all below it";
    if name.is_empty() {
        return refuse(at, RuleFault::Host, hint);
    }
    let address = name.starts_with('[') && name.ends_with(']') && !below;
    let fits = |c: char| {
        c.is_alphanumeric()
            || matches!(c, '-' | '.' | '_')
            || (address && matches!(c, '[' | ']' | ':'))
    };
    if let Some(found) = name.find(|c| !fits(c)) {
        let rest = name.split_once("://").map_or(name, |(_, rest)| rest);
        let meant = rest.split(['/', ':', '?', '#']).next().unwrap_or_default();
        return suggest(at + found, RuleFault::Host, hint, format!("{tool}(domain:{meant})"));
    }
    if name.split('.').any(str::is_empty) {
        return refuse(at, RuleFault::Host, hint);
    }
    Ok(Pattern::Domain { host: name.to_lowercase().into(), below })
}

/// The two names of the explicit form; a bare `*` in the second place is no name.
fn explicit(text: &str, at: usize, inner: &str) -> Parsed<(Box<str>, Option<Box<str>>)> {
    let word = &text[..at - 1];
    let (first, end) = part(at, inner, word)?;
    let rest = &inner[end..];
    let Some(second) = rest.strip_prefix(',') else {
        if !rest.is_empty() {
            let hint = format!("a comma stands between the two names of `{word}(NAME, TOOL)`");
            return refuse(at + end, RuleFault::NameCharacter, hint);
        }
        let all = format!("{word}({}, *)", quoted(&first));
        if word == "skill" {
            let hint =
                format!("`Skill({first})` is the skill, `{all}` are the tools that it declares");
            return suggest(at + end, RuleFault::Missing, hint, format!("Skill({first})"));
        }
        let hint = format!("write `{all}` for all of its tools");
        return suggest(at + end, RuleFault::Missing, hint, all);
    };
    if second.trim() == "*" {
        return Ok((first, None));
    }
    let begins = at + end + 1;
    let (tool, end) = part(begins, second, word)?;
    if end != second.len() {
        return refuse(
            begins + end,
            RuleFault::NameCharacter,
            "two names are all that can stand here",
        );
    }
    Ok((first, Some(tool)))
}

/// One name and the byte of `rest` after it and its blanks.
fn part(at: usize, rest: &str, word: &str) -> Parsed<(Box<str>, usize)> {
    let blanks = rest.len() - rest.trim_start().len();
    let body = &rest[blanks..];
    if let Some(body) = body.strip_prefix('"') {
        let (name, end) = unquote(at + blanks + 1, body)?;
        if name.is_empty() {
            return refuse(at + blanks, RuleFault::Missing, "a name has at least one character");
        }
        let end = blanks + 1 + end;
        let after = rest[end..].len() - rest[end..].trim_start().len();
        return Ok((name.into(), end + after));
    }
    let end = body.find(',').unwrap_or(body.len());
    let name = body[..end].trim_end();
    if name.is_empty() {
        let hint = format!("write `{word}(NAME, TOOL)`, or `{word}(NAME, *)` for all of its tools");
        return refuse(at + blanks, RuleFault::Missing, hint);
    }
    wildcard(at + blanks, name, "a name is exact; quote it if it holds such a character")?;
    bare(at + blanks, name, word)?;
    Ok((name.into(), blanks + end))
}

/// The name up to the closing quote, and the byte after that quote.
fn unquote(at: usize, body: &str) -> Parsed<(String, usize)> {
    let hint = "a quoted name ends in `\"`, and knows `\\\"`, `\\\\` and `\\u{200b}`";
    let mut name = String::new();
    let mut rest = body;
    loop {
        let here = body.len() - rest.len();
        let Some(c) = rest.chars().next() else {
            return refuse(at + here, RuleFault::Quoted, hint);
        };
        rest = &rest[c.len_utf8()..];
        match c {
            '"' => return Ok((name, here + 1)),
            '\\' => {
                if let Some(after) = rest.strip_prefix(['"', '\\']) {
                    name.push_str(&rest[..1]);
                    rest = after;
                } else if let Some((hex, after)) =
                    rest.strip_prefix("u{").and_then(|rest| rest.split_once('}'))
                    && let Some(c) = u32::from_str_radix(hex, 16).ok().and_then(char::from_u32)
                {
                    name.push(c);
                    rest = after;
                } else {
                    return refuse(at + here, RuleFault::Quoted, hint);
                }
            }
            c => name.push(c),
        }
    }
}

/// The name as the explicit form takes it: quoted only if it must be.
pub(super) fn quoted(name: &str) -> String {
    let plain = !name.is_empty()
        && wildcard(0, name, "").is_ok()
        && bare(0, name, "").is_ok()
        && !name.contains(is_invisible);
    if plain {
        return name.to_owned();
    }
    let mut text = String::from("\"");
    for c in name.chars() {
        match c {
            '"' | '\\' => text.extend(['\\', c]),
            c if is_invisible(c) => text.extend(c.escape_unicode()),
            c => text.push(c),
        }
    }
    text.push('"');
    text
}
