//! The arguments of the commands about settings, trust, permissions and the audit log.

use clap::{Args, Subcommand};
use kitbag_permission::Mode;

#[derive(Debug, Subcommand)]
#[command(after_help = "\
Examples:
  kitbag settings list --origin    what counts, and which file says so
  kitbag settings schema           what an editor checks a settings file with")]
pub(crate) enum SettingsCommand {
    /// List every setting with the value that counts.
    List(SettingsListArgs),
    /// Print the JSON Schema of a settings file.
    #[command(after_help = "\
Examples:
  kitbag settings schema > settings.schema.json")]
    Schema,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes: 0 listed, 3 a settings file holds an error.

Examples:
  kitbag settings list
  kitbag settings list --origin            with the file and line of each value
  kitbag settings list --origin --json")]
pub(crate) struct SettingsListArgs {
    /// Say for each value which file and line it comes from, and what became of it.
    #[arg(long)]
    pub(crate) origin: bool,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
At a terminal it asks; without one nothing is trusted but by `--yes`.

Exit codes: 0 trusted, or nothing to trust; 1 not trusted; 3 a settings file
holds an error, or the store cannot be used. With `--diff` alone: 0.

Examples:
  kitbag trust                 what it would turn on, and the question
  kitbag trust --diff          what changed since it was trusted; asks nothing
  kitbag trust --yes           for a script: you have looked already
  kitbag trust --revoke        take it back")]
pub(crate) struct TrustArgs {
    /// Show what the settings say, or what changed since they were trusted.
    #[arg(long)]
    pub(crate) diff: bool,
    /// Trust without a question.
    #[arg(long)]
    pub(crate) yes: bool,
    /// Trust this workspace no more.
    #[arg(long, conflicts_with_all = ["diff", "yes"])]
    pub(crate) revoke: bool,
}

#[derive(Debug, Subcommand)]
#[command(after_help = "\
Examples:
  kitbag permissions explain mcp__files__read_file")]
pub(crate) enum PermissionsCommand {
    /// Say whether a call would run, and which rule of which file decides.
    Explain(ExplainArgs),
}

#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes: 0 it runs, 1 it is asked about, 4 it is denied; 2 wrong usage,
3 a settings file holds an error.

Examples:
  kitbag permissions explain mcp__files__read_file
  kitbag permissions explain Skill --args '{\"name\":\"deploy\"}'
  kitbag permissions explain Read --args '{\"path\":\".env\"}'
  kitbag permissions explain deploy__ship --mode dont-ask --json")]
pub(crate) struct ExplainArgs {
    /// The tool, as a rule names it: `Skill`, `mcp__SERVER__TOOL`, `mcp(SERVER, TOOL)`, `SKILL__TOOL`.
    #[arg(value_name = "TOOL")]
    pub(crate) tool: String,
    /// The arguments of the call, as a JSON object; what a tool of ours works on is taken from them.
    #[arg(long, value_name = "JSON", value_parser = object)]
    pub(crate) args: Option<serde_json::Map<String, serde_json::Value>>,
    /// The mode: ask, accept-edits, plan, full-auto or dont-ask; that of the settings unless told.
    #[arg(long, value_name = "MODE")]
    pub(crate) mode: Option<Mode>,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Of the arguments a call leaves a hash, of the answer its size: no value of
either is in the log. Times are UTC.

Examples:
  kitbag audit                     the last calls
  kitbag audit --last 1000
  kitbag audit --follow            new ones as they come; Ctrl-C ends it
  kitbag audit --follow --json")]
pub(crate) struct AuditArgs {
    /// Show this many of the last calls; 50 unless told, 10 with `--follow`.
    #[arg(long, value_name = "N")]
    pub(crate) last: Option<u64>,
    /// Go on with new calls, of every kitbag process, until Ctrl-C.
    #[arg(long)]
    pub(crate) follow: bool,
    /// Print JSON: one object a line.
    #[arg(long)]
    pub(crate) json: bool,
}

fn object(text: &str) -> Result<serde_json::Map<String, serde_json::Value>, String> {
    match serde_json::from_str(text) {
        Ok(serde_json::Value::Object(object)) => Ok(object),
        Ok(_) => Err("it is JSON, and must be an object: `{\"name\": …}`".to_owned()),
        Err(error) => Err(format!("it is no JSON: {error}")),
    }
}
