//! What a line for a shell says, read twice: strictly for rules that allow, generously for those that deny or ask.
//!
//! A rule that allows may only take a line for what it certainly is, so a line with any character that could start a
//! second command is *compound* and has no words. A rule that denies looks at every command that the line may hold, behind
//! operators, in substitutions, after `sudo` and its like, and in what `sh -c` is given. A shell has more ways to hide a
//! command than any reader finds (variables, aliases, encodings); what a command may do is bounded by the sandbox.

/// How deep commands inside quoted words are looked for.
const MAX_DEPTH: usize = 3;

/// Words before a command that are not the command, and commands that run what follows them.
const WRAPPERS: [&str; 55] = [
    "!",
    "ash",
    "bash",
    "builtin",
    "busybox",
    "caffeinate",
    "chroot",
    "chrt",
    "command",
    "coproc",
    "dash",
    "do",
    "doas",
    "elif",
    "else",
    "env",
    "eval",
    "exec",
    "fish",
    "flock",
    "if",
    "ionice",
    "ksh",
    "nice",
    "nohup",
    "nsenter",
    "numactl",
    "parallel",
    "pkexec",
    "prlimit",
    "runuser",
    "script",
    "setsid",
    "sh",
    "source",
    "ssh",
    "stdbuf",
    "strace",
    "su",
    "sudo",
    "systemd-run",
    "taskset",
    "then",
    "time",
    "timeout",
    "trap",
    "unbuffer",
    "unshare",
    "until",
    "watch",
    "while",
    "xargs",
    "zsh",
    ".",
    "{",
];

/// Those of them that take something else first: a host, a file, a directory.
const AFTER_AN_OPERAND: [&str; 3] = ["chroot", "flock", "ssh"];

/// Those of `find`'s options that run what follows them.
const FIND_RUNS: [&str; 4] = ["-exec", "-execdir", "-ok", "-okdir"];

/// A line, read.
pub(crate) struct Line<'a> {
    /// The line without blanks around it.
    pub(crate) text: &'a str,
    /// Its words, quotes taken off, if it certainly is one simple command.
    pub(crate) simple: Option<Vec<String>>,
    /// Words, in each of which commands begin.
    lists: Vec<Vec<String>>,
    /// Every command that it may hold: its list, and the word at which it begins.
    starts: Vec<(usize, usize)>,
}

impl<'a> Line<'a> {
    pub(crate) fn read(text: &'a str) -> Self {
        let text = text.trim_matches([' ', '\t', '\n']);
        let mut lists = Vec::new();
        let mut starts = Vec::new();
        let lexed = lex(text, Quotes::Heeded);
        let simple = (lexed.plain && lexed.closed && lexed.commands.len() == 1)
            .then(|| lexed.commands[0].clone());
        if !lexed.closed {
            collect(lex(text, Quotes::Ignored).commands, MAX_DEPTH, &mut lists, &mut starts);
        }
        collect(lexed.commands, MAX_DEPTH, &mut lists, &mut starts);
        Self { text, simple, lists, starts }
    }

    /// The words of every command that the line may hold; a command's tail may be another command.
    pub(crate) fn commands(&self) -> impl Iterator<Item = &[String]> {
        self.starts.iter().map(|&(list, at)| &self.lists[list][at..])
    }
}

/// The words of a prefix rule, or nothing if it holds more than plain words.
pub(crate) fn plain_words(text: &str) -> Option<Vec<String>> {
    let lexed = lex(text, Quotes::Heeded);
    let plain =
        lexed.plain && lexed.closed && lexed.commands.len() == 1 && !text.contains(['"', '\'']);
    plain.then(|| lexed.commands.into_iter().next().unwrap_or_default())
}

/// Adds the commands, and those that stand behind their wrappers or inside their words.
fn collect(
    found: Vec<Vec<String>>,
    depth: usize,
    lists: &mut Vec<Vec<String>>,
    starts: &mut Vec<(usize, usize)>,
) {
    for words in found {
        let begins = begins(&words);
        let wrapped = begins.iter().any(|&at| is_wrapper(&words[at]));
        if wrapped && depth > 0 {
            for word in words.iter().filter(|word| word.contains([' ', '\t', '\n', ';', '&', '|']))
            {
                collect(lex(word, Quotes::Heeded).commands, depth - 1, lists, starts);
            }
        }
        starts.extend(begins.into_iter().map(|at| (lists.len(), at)));
        lists.push(words);
    }
}

/// The name of a program without its directories.
pub(crate) fn base_name(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

fn is_wrapper(word: &str) -> bool {
    WRAPPERS.contains(&base_name(word))
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        let name = name.trim_end_matches('+');
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

/// Where in the words a command may begin.
fn begins(words: &[String]) -> Vec<usize> {
    let mut found = Vec::new();
    let mut at = words.iter().take_while(|word| is_assignment(word)).count();
    while at < words.len() {
        found.push(at);
        let next = if is_wrapper(&words[at]) {
            behind_wrapper(words, at, &mut found)
        } else if base_name(&words[at]) == "find" {
            words[at..]
                .iter()
                .position(|word| FIND_RUNS.contains(&word.as_str()))
                .map(|run| at + run + 1)
        } else {
            None
        };
        let Some(next) = next else { break };
        at = next;
    }
    found.retain(|&at| at < words.len());
    found
}

/// The first word after a wrapper that is no option; one that may be an option's value is noted on the way.
fn behind_wrapper(words: &[String], wrapper: usize, found: &mut Vec<usize>) -> Option<usize> {
    let mut after_option = false;
    let mut operand = AFTER_AN_OPERAND.contains(&base_name(&words[wrapper]));
    for (at, word) in words.iter().enumerate().skip(wrapper + 1) {
        let number = word.starts_with(|c: char| c.is_ascii_digit());
        if word.starts_with('-') || number || is_assignment(word) {
            after_option = word.starts_with('-');
        } else if after_option && !is_wrapper(word) {
            found.push(at);
            after_option = false;
        } else if std::mem::take(&mut operand) {
            found.push(at);
        } else {
            return Some(at);
        }
    }
    None
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Quotes {
    Heeded,
    Ignored,
}

#[derive(PartialEq, Eq)]
enum State {
    Plain,
    Single,
    Double,
}

struct Lexed {
    commands: Vec<Vec<String>>,
    /// No operator, expansion, redirection, escape or control character was there.
    plain: bool,
    /// Every quote that was opened was closed.
    closed: bool,
}

/// Words as they are gathered.
#[derive(Default)]
struct Gathered {
    commands: Vec<Vec<String>>,
    words: Vec<String>,
    word: Option<String>,
    /// The next word is the file of a redirection.
    target: bool,
}

impl Gathered {
    fn push(&mut self, c: char) {
        self.word.get_or_insert_default().push(c);
    }

    fn end_word(&mut self) {
        if let Some(word) = self.word.take()
            && !std::mem::take(&mut self.target)
        {
            self.words.push(word);
        }
    }

    fn end_command(&mut self) {
        self.end_word();
        self.target = false;
        if !self.words.is_empty() {
            self.commands.push(std::mem::take(&mut self.words));
        }
    }
}

fn lex(text: &str, quotes: Quotes) -> Lexed {
    let mut out = Gathered::default();
    let mut state = State::Plain;
    let mut plain = true;
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        match (&state, c) {
            (State::Single, '\'') | (State::Double, '"') => state = State::Plain,
            (State::Double | State::Plain, '`') => {
                plain = false;
                state = State::Plain;
                out.end_command();
            }
            (State::Double | State::Plain, '$') => {
                plain = false;
                match characters.peek() {
                    Some('(') => {
                        characters.next();
                        state = State::Plain;
                        out.end_command();
                    }
                    Some('\'' | '"') if state == State::Plain => {}
                    _ => out.push('$'),
                }
            }
            (State::Double | State::Plain, '\\') => {
                plain = false;
                match characters.next() {
                    Some('\n') | None => {}
                    Some(c) => out.push(c),
                }
            }
            (State::Single | State::Double, c) => out.push(c),
            (State::Plain, '\'' | '"') => {
                if quotes == Quotes::Heeded {
                    state = if c == '"' { State::Double } else { State::Single };
                    out.word.get_or_insert_default();
                }
            }
            (State::Plain, ' ' | '\t') => out.end_word(),
            (State::Plain, ';' | '&' | '|' | '\n' | '\r' | '(' | ')') => {
                plain = false;
                out.end_command();
            }
            (State::Plain, '<' | '>') => {
                plain = false;
                if out.word.as_ref().is_some_and(|word| word.chars().all(|c| c.is_ascii_digit())) {
                    out.word = None;
                }
                out.end_word();
                out.target = true;
                while characters.peek().is_some_and(|c| matches!(c, '<' | '>' | '&' | '|')) {
                    characters.next();
                }
            }
            // A group, also after the name of a function; `{}` is only a word.
            (State::Plain, '{') if out.word.is_none() && characters.peek() != Some(&'}') => {
                plain = false;
                out.end_command();
            }
            (State::Plain, c) => {
                plain &=
                    !matches!(c, '{' | '}') && !c.is_control() && (c != '#' || out.word.is_some());
                out.push(c);
            }
        }
    }
    out.end_command();
    Lexed { commands: out.commands, plain, closed: state == State::Plain }
}
