//! The command line of a program of skills.

use std::ffi::OsString;

use super::failure::Failure;

/// What a command line asks for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Command {
    Help,
    Run(Asked),
    List(Form),
    Declare(Declared),
    Handle,
    Serve(Doors),
}

/// A call of a skill.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Asked {
    pub(super) skill: String,
    /// JSON, `-` for standard input, or `@` and a file.
    pub(super) input: Option<String>,
    pub(super) form: Form,
    pub(super) remarks: Remarks,
}

/// What a `kitbag.toml` is to declare.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Declared {
    /// The skills; all of them where none is named.
    pub(super) skills: Vec<String>,
    /// How kitbag starts this program; the usual way where it is empty.
    pub(super) command: Vec<String>,
}

/// How something is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Text,
    Json,
}

/// Whether progress is told on standard error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Remarks {
    Told,
    Quiet,
}

/// Where clients come in.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Doors {
    /// A loopback address; standard input and output where there is none.
    pub(super) http: Option<String>,
    pub(super) token_file: Option<String>,
}

impl Command {
    /// Reads the arguments after the program's name.
    pub(super) fn parse(given: impl Iterator<Item = OsString>) -> Result<Self, Failure> {
        let mut words = Words::of(given)?;
        if words.take_flag("--help") || words.take_flag("-h") {
            return Ok(Self::Help);
        }
        let Some(command) = words.take_word()? else {
            return Err(help(Failure::usage("a command is missing")));
        };
        let parsed = match command.as_str() {
            "help" => Self::Help,
            "run" => {
                let input = words.take_option("--input")?;
                let form = words.take_form();
                let remarks = if words.take_flag("--quiet") || words.take_flag("-q") {
                    Remarks::Quiet
                } else {
                    Remarks::Told
                };
                let missing = || help(Failure::usage("`run` needs the name of a skill"));
                let skill = words.take_word()?.ok_or_else(missing)?;
                Self::Run(Asked { skill, input, form, remarks })
            }
            "list" => Self::List(words.take_form()),
            "handle" => Self::Handle,
            "declare" => {
                let command = std::mem::take(&mut words.plain);
                let mut skills = Vec::new();
                while let Some(skill) = words.take_word()? {
                    skills.push(skill);
                }
                Self::Declare(Declared { skills, command })
            }
            "serve" => {
                let http = words.take_option("--http")?;
                Self::Serve(Doors { http, token_file: words.take_option("--token-file")? })
            }
            unknown => {
                let message = format!("there is no command `{}`", unknown.escape_debug());
                return Err(help(Failure::usage(message)));
            }
        };
        words.end(&command)?;
        Ok(parsed)
    }
}

fn help(failure: Failure) -> Failure {
    failure.hint("`--help` shows what there is")
}

/// The arguments that nobody has taken yet.
struct Words {
    options: Vec<String>,
    /// What follows `--`, where nothing is an option.
    plain: Vec<String>,
}

impl Words {
    fn of(given: impl Iterator<Item = OsString>) -> Result<Self, Failure> {
        let mut words = Self { options: Vec::new(), plain: Vec::new() };
        let mut plain = false;
        for word in given {
            let word = word.into_string().map_err(|word| {
                Failure::usage(format!("the argument `{}` is no text", word.to_string_lossy()))
            })?;
            match plain {
                false if word == "--" => plain = true,
                false => words.options.push(word),
                true => words.plain.push(word),
            }
        }
        Ok(words)
    }

    fn take_flag(&mut self, name: &str) -> bool {
        let Some(at) = self.options.iter().position(|word| word == name) else { return false };
        self.options.remove(at);
        true
    }

    fn take_form(&mut self) -> Form {
        if self.take_flag("--json") { Form::Json } else { Form::Text }
    }

    /// Takes `--name VALUE` or `--name=VALUE`.
    fn take_option(&mut self, name: &str) -> Result<Option<String>, Failure> {
        let value_of = |word: &str| word.strip_prefix(name)?.strip_prefix('=').map(str::to_owned);
        for at in 0..self.options.len() {
            if let Some(value) = value_of(&self.options[at]) {
                self.options.remove(at);
                return Ok(Some(value));
            }
            if self.options[at] == name {
                self.options.remove(at);
                if at == self.options.len() {
                    return Err(help(Failure::usage(format!("`{name}` needs a value"))));
                }
                return Ok(Some(self.options.remove(at)));
            }
        }
        Ok(None)
    }

    /// Takes the next word that is no option.
    fn take_word(&mut self) -> Result<Option<String>, Failure> {
        if self.options.is_empty() {
            return Ok((!self.plain.is_empty()).then(|| self.plain.remove(0)));
        }
        let word = self.options.remove(0);
        if word.starts_with('-') { Err(unexpected(&word)) } else { Ok(Some(word)) }
    }

    fn end(&self, command: &str) -> Result<(), Failure> {
        match self.options.first().or(self.plain.first()) {
            Some(word) => Err(unexpected(&format!("{command} … {word}"))),
            None => Ok(()),
        }
    }
}

fn unexpected(word: &str) -> Failure {
    help(Failure::usage(format!("`{}` was not expected", word.escape_debug())))
}
