//! The command line of a handler: its interpreter by the table, or a program of the skill's own.

use std::ffi::OsString;
use std::path::PathBuf;

use kitbag_skills::{Document, Folder, ReadError, SkillPath};
use kitbag_tool::Refusal;

use crate::interpreters::Interpreters;

/// What compiled programs begin with: ELF, and Mach-O in its four forms.
const COMPILED: [&[u8; 4]; 5] = [
    b"\x7fELF",
    b"\xcf\xfa\xed\xfe",
    b"\xce\xfa\xed\xfe",
    b"\xca\xfe\xba\xbe",
    b"\xbe\xba\xfe\xca",
];

/// The interpreters that take a program in an argument in place of a file, and are asked for nothing else by it.
const SHELLS: [&str; 2] = ["sh", "bash"];

/// The interpreters whose file comes behind the word `run`.
const RUNNERS: [&str; 3] = ["deno", "bun", "uv"];

/// A command that may run, whose interpreter is not looked up yet.
pub(super) struct Command {
    program: Program,
    arguments: Vec<String>,
}

enum Program {
    /// A name of the table, perhaps.
    Interpreter(String),
    /// A compiled program in the skill's folder, by its absolute path.
    Own(PathBuf),
}

/// Checks the command `argv` of a tool; blocks on I/O.
///
/// The first word is an interpreter of the table, or a path to a compiled program in the skill's folder: neither a
/// shebang nor the ending of a file's name decides what runs (decision 22).
pub(super) fn check(document: &Document, argv: &[String]) -> Result<Command, Refusal> {
    let Some((program, arguments)) = argv.split_first() else {
        return Err(Refusal::new("its command is empty."));
    };
    let program = if program.contains('/') {
        Program::Own(own_program(document, program)?)
    } else {
        check_file(document, program, arguments)?;
        Program::Interpreter(program.clone())
    };
    Ok(Command { program, arguments: arguments.to_vec() })
}

/// The whole command line.
pub(super) async fn line(
    command: Command,
    interpreters: &Interpreters,
) -> Result<Vec<OsString>, Refusal> {
    let mut line = match command.program {
        Program::Own(path) => vec![path.into()],
        Program::Interpreter(name) => interpreters.resolve(&name).await.map_err(|missing| {
            Refusal::new(format!("it cannot run here: {missing}.")).hint(missing.hint())
        })?,
    };
    line.extend(command.arguments.into_iter().map(OsString::from));
    Ok(line)
}

fn own_program(document: &Document, program: &str) -> Result<PathBuf, Refusal> {
    let refused = |why: String| Refusal::new(format!("it cannot run: {why}."));
    let path: SkillPath =
        program.parse().map_err(|_| refused(format!("`{program}` is no path in the skill")))?;
    let file = document
        .folder
        .open(&path)
        .map_err(|error| refused(error.to_string()).hint(build_hint(&error)))?;
    let start =
        file.read(0, 4).map_err(|error| refused(format!("`{path}` cannot be read: {error}")))?;
    if !COMPILED.iter().any(|magic| start.bytes == *magic) {
        return Err(refused(format!("`{path}` is no compiled program")).hint(format!(
            "Name its interpreter first, as in `command = [\"python3\", \"{path}\"]`."
        )));
    }
    if !file.executable() {
        return Err(refused(format!("`{path}` is not marked as executable"))
            .hint(format!("`chmod +x {path}` in the skill's folder marks it.")));
    }
    let Folder::Disk(folder) = &document.folder else {
        return Err(refused("its skill has no folder on this machine".to_owned()));
    };
    Ok(folder.join(file.real_path()))
}

fn build_hint(error: &ReadError) -> &'static str {
    match error {
        ReadError::NotAFile(_) => "The skill's own text should say how it is built.",
        ReadError::LeftOut(_) => "A program that is built here must not be named there.",
        _ => "The program must be a file of the skill.",
    }
}

/// Checks the file that an interpreter is given first, where it is given one first: it must be the skill's.
fn check_file(document: &Document, interpreter: &str, arguments: &[String]) -> Result<(), Refusal> {
    let mut arguments = arguments.iter();
    let mut first = arguments.next();
    if RUNNERS.contains(&interpreter) && first.is_some_and(|word| word == "run") {
        first = arguments.next();
    }
    let is_shell = SHELLS.contains(&interpreter);
    let Some(file) = first.filter(|word| !word.starts_with('-')) else {
        if is_shell {
            return Err(Refusal::new(format!(
                "it cannot run: `{interpreter}` takes a file of the skill first."
            ))
            .hint("Put the lines into a script; a command is never a line for a shell."));
        }
        return Ok(());
    };
    let refused = |why: String| Refusal::new(format!("it cannot run: {why}."));
    let path: SkillPath = file
        .parse()
        .map_err(|_| refused(format!("`{}` is no path in the skill", file.escape_debug())))?;
    document.folder.open(&path).map(drop).map_err(|error| refused(error.to_string()))
}
