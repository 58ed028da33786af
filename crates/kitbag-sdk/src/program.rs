//! A registry as a program of its own: commands for people, MCP for clients, and the contract of handlers
//! (decision 24).

mod arguments;
mod call;
mod declare;
mod failure;
mod handle;
mod input;
mod list;
mod run;
#[cfg(feature = "serve")]
mod serve;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use crate::Registry;
use arguments::Command;
use failure::{Exit, Failure};

/// Runs the registry as a program: reads the command line, does what it asks, and gives the exit code.
///
/// ```no_run
/// use std::error::Error;
/// use std::process::ExitCode;
///
/// use kitbag_sdk::Registry;
///
/// fn main() -> Result<ExitCode, Box<dyn Error>> {
///     let registry = Registry::new();
///     // registry.register(define(…).typed(…)?)?;
///     Ok(kitbag_sdk::main(registry))
/// }
/// ```
///
/// | command | what it does |
/// |---|---|
/// | `run NAME [--input JSON\|-\|@FILE] [--json] [--quiet]` | calls a skill; `--json` prints the result object of MCP |
/// | `list [--json]` | lists the skills; `--json` as MCP's `tools/list` has them |
/// | `serve [--http ADDR]` | serves them to MCP clients; needs the feature `serve` |
/// | `handle` | answers one call that kitbag hands over (`docs/reference/handler.md`) |
/// | `declare [NAME...] [-- COMMAND [ARGUMENT...]]` | prints a `kitbag.toml` that names this program |
///
/// All of them call through one [`Toolbox`](kitbag_tool::Toolbox) over the registry, so the bytes of a result are the
/// same whichever way was taken (statement T-66). Nothing is asked and nothing is denied there: whoever may start
/// this program may call its skills. Rules are kept by the caller that stands before it, such as kitbag.
///
/// Exit codes: 0 ok, 1 the skill failed or refused its input, 2 wrong usage, 70 the program or the machine failed, 130
/// interrupted.
///
/// It starts a tokio runtime, so it must not be called within one.
pub fn main(registry: Registry) -> ExitCode {
    let mut given = std::env::args_os();
    let program = given.next().map_or_else(|| "program".to_owned(), |path| name_of(&path));
    let outcome = Command::parse(given).and_then(|command| command.run(&program, registry));
    match outcome {
        Ok(exit) => exit.into(),
        Err(failure) => failure.tell(),
    }
}

impl Command {
    fn run(self, program: &str, registry: Registry) -> Result<Exit, Failure> {
        match self {
            Self::Help => list::help(program, &registry),
            Self::Run(asked) => run::run(&asked, &registry),
            Self::List(form) => list::list(form, &registry),
            Self::Declare(asked) => declare::declare(program, &asked, &registry),
            Self::Handle => handle::handle(registry),
            #[cfg(feature = "serve")]
            Self::Serve(asked) => serve::serve(&asked, registry),
            #[cfg(not(feature = "serve"))]
            Self::Serve(_) => Err(Failure::usage("this program was built without `serve`")
                .hint("its author adds the feature `serve` of kitbag-sdk")),
        }
    }
}

fn name_of(path: &OsString) -> String {
    let path = Path::new(path);
    path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}
