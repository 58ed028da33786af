//! The command line.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use kitbag_permission::Mode;

pub(crate) use self::approve::ApproveArgs;
pub(crate) use self::settings::{
    AuditArgs, ExplainArgs, PermissionsCommand, SettingsCommand, SettingsListArgs, TrustArgs,
};

/// Skills and MCP servers, in one bag.
#[derive(Debug, Parser)]
#[command(
    name = "kitbag",
    version,
    about = "Skills and MCP servers, in one bag",
    after_help = "\
Examples:
  kitbag tour                        see what it does: no network, no key
  kitbag skills list                 which skills there are
  kitbag skills new release-notes    a new one to start from
  kitbag run release-notes           its text, as a model gets it
  kitbag serve                       all of them, for any MCP client",
    arg_required_else_help = true,
    max_term_width = 100
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Write what kitbag does to stderr; twice for more.
    #[arg(short, long, global = true, action = clap::ArgAction::Count, display_order = 900)]
    pub(crate) verbose: u8,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Serve skills to any MCP client.
    Serve(ServeArgs),
    /// Run a tool that a skill declares, or print what a skill says.
    Run(RunArgs),
    /// List, show, check and write skills.
    #[command(subcommand)]
    Skills(SkillsCommand),
    /// List the settings that count, and where they come from.
    #[command(subcommand)]
    Settings(SettingsCommand),
    /// Trust the settings that this workspace brings, or see what they say.
    Trust(TrustArgs),
    /// Ask which rule decides about a call.
    #[command(subcommand)]
    Permissions(PermissionsCommand),
    /// Read the log of every call.
    Audit(AuditArgs),
    /// See what kitbag does, in a minute.
    Tour(TourArgs),
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  kitbag serve                                  your skills, over stdio
  kitbag serve --skills ./skills                one folder of skills
  kitbag serve --skills a --skills b            two, of equal strength
  kitbag serve --http 127.0.0.1:7777            over HTTP, on this machine only
  kitbag serve --deny skill_file                one tool less

For Claude Code:
  claude mcp add kitbag -- kitbag serve")]
pub(crate) struct ServeArgs {
    #[command(flatten)]
    pub(crate) roots: RootArgs,
    /// Serve streamable HTTP at this loopback address instead of stdio; port 0 takes a free one.
    #[arg(long, value_name = "ADDR", value_parser = loopback)]
    pub(crate) http: Option<SocketAddr>,
    /// The file that holds the token which HTTP clients must send; made when it is missing.
    #[arg(long, value_name = "FILE", requires = "http")]
    pub(crate) token_file: Option<PathBuf>,
    /// Let calls run that this permission rule names; may be given more than once.
    #[arg(long, value_name = "RULE")]
    pub(crate) allow: Vec<String>,
    /// Refuse calls that this permission rule names, whatever else is said; may be given more than once.
    #[arg(long, value_name = "RULE")]
    pub(crate) deny: Vec<String>,
    /// What happens to a call that no rule decides: ask, accept-edits, plan, full-auto or dont-ask.
    #[arg(long)]
    pub(crate) mode: Option<Mode>,
    /// Serve at most this many skills.
    #[arg(long, value_name = "N")]
    pub(crate) max_skills: Option<usize>,
    /// Offer at most this many files as resources.
    #[arg(long, value_name = "N")]
    pub(crate) max_resources: Option<usize>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
NAME is a tool (`SKILL__TOOL` or `SKILL/TOOL`), a skill that declares one tool,
or a skill of prose, whose text is printed with the arguments put in.

Exit codes: 0 done, 1 the tool failed or refused its input, 2 wrong usage,
3 configuration, 4 denied, 70 kitbag failed, 130 interrupted.

Examples:
  kitbag run durations/parse --input '{\"text\":\"90m\"}'
  kitbag run durations/parse --input @input.json
  kitbag run durations/parse --input - --json
  kitbag run release-notes v1.2 v1.3           a skill of prose")]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) roots: RootArgs,
    /// The tool or the skill.
    pub(crate) name: String,
    /// What a person would type after the name of a skill of prose.
    #[arg(value_name = "ARGS")]
    pub(crate) arguments: Vec<String>,
    /// The input of a tool, a JSON object: itself, `@` and a file, or `-` for standard input.
    #[arg(long, value_name = "JSON|@FILE|-")]
    pub(crate) input: Option<String>,
    /// Give up after this many seconds, where the tool may not run that long anyway.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) timeout: Option<Duration>,
    /// Give at most about so many tokens of a tool's output, its beginning and its end, and keep the whole in a file.
    #[arg(long, value_name = "N")]
    pub(crate) max_tokens: Option<usize>,
    /// Run it although no terminal is there.
    #[arg(long)]
    pub(crate) yes: bool,
    /// Print the result as an MCP client gets it.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Which skills a command looks at.
#[derive(Debug, Args)]
pub(crate) struct RootArgs {
    /// Look at the skills in this folder instead of the usual ones; may be given more than once.
    #[arg(long = "skills", value_name = "DIR")]
    pub(crate) skills: Vec<PathBuf>,
    /// Use what the project and packages bring, for this run, without an approval.
    #[arg(long)]
    pub(crate) trust: bool,
}

#[derive(Debug, Subcommand)]
#[command(after_help = "\
Examples:
  kitbag skills list                   where each is from, and if it is used
  kitbag skills show deploy               what a model reads
  kitbag skills validate ./my-skill    what is wrong with it
  kitbag skills approve                use what the project brings")]
pub(crate) enum SkillsCommand {
    /// List every skill that was found, with where it came from and whether it is used.
    List(ListArgs),
    /// Show the exact text that a model gets for a skill.
    Show(ShowArgs),
    /// Check skills against the open specification.
    Validate(ValidateArgs),
    /// Write a new skill to start from.
    New(NewArgs),
    /// Print the catalogue as XML for a system prompt.
    ToPrompt(ToPromptArgs),
    /// Look at skills that a project or a package brings, and say yes to them.
    Approve(ApproveArgs),
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  kitbag skills list
  kitbag skills list --skills ./skills
  kitbag skills list --json | jq '.skills[] | select(.status != \"used\")'")]
pub(crate) struct ListArgs {
    #[command(flatten)]
    pub(crate) roots: RootArgs,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  kitbag skills show deploy
  kitbag skills show deploy staging        with arguments, as after `/deploy`
  kitbag skills show deploy -- --dry-run   with arguments that look like options
  kitbag skills show '?changelog'          the skills that speak of changelogs
  kitbag skills show user.agents:deploy    the one in ~/.agents/skills
  kitbag skills show deploy --resource references/checks.md
  kitbag skills show deploy --window 8192  as a small model gets it")]
pub(crate) struct ShowArgs {
    #[command(flatten)]
    pub(crate) roots: RootArgs,
    /// The skill: its name, its alias, or `origin:name`; or `?` and words to search for.
    pub(crate) name: String,
    /// What a person would type after the name.
    pub(crate) arguments: Vec<String>,
    /// Show this bundled file instead of the instructions.
    #[arg(long, value_name = "PATH")]
    pub(crate) resource: Option<String>,
    /// Read on from this character.
    #[arg(long, value_name = "CHARS", default_value_t = 0)]
    pub(crate) offset: usize,
    /// The model's context window in tokens, which sets how much it gets at once.
    #[arg(long, value_name = "TOKENS", default_value_t = 200_000)]
    pub(crate) window: u64,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes: 0 every skill is valid, 1 one is not, 2 wrong usage.

Examples:
  kitbag skills validate ./my-skill
  kitbag skills validate --portable skills/*
  kitbag skills validate --sarif skills/* > skills.sarif")]
pub(crate) struct ValidateArgs {
    /// Skills: directories, or SKILL.md files.
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// Hold them to what every client loads.
    #[arg(long)]
    pub(crate) portable: bool,
    /// Print JSON.
    #[arg(long, conflicts_with = "sarif")]
    pub(crate) json: bool,
    /// Print SARIF 2.1.0, for code scanning.
    #[arg(long)]
    pub(crate) sarif: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  kitbag skills new release-notes
  kitbag skills new release-notes --with script --with reference
  kitbag skills new release-notes --dir .agents/skills")]
pub(crate) struct NewArgs {
    /// The skill's name: lower-case letters, digits and hyphens.
    pub(crate) name: String,
    /// What it does, and when to use it.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) description: Option<String>,
    /// The folder to put it in; your own skills' unless told.
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
    /// What else to write beside the SKILL.md.
    #[arg(long = "with", value_name = "WHAT")]
    pub(crate) with: Vec<Extra>,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// What a new skill comes with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Extra {
    /// A Python script, declared in `kitbag.toml`.
    Script,
    /// A reference file.
    Reference,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  kitbag skills to-prompt ./skills/*
  kitbag skills to-prompt                       every skill in use")]
pub(crate) struct ToPromptArgs {
    #[command(flatten)]
    pub(crate) roots: RootArgs,
    /// Skills: directories, or SKILL.md files.
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  kitbag tour
  kitbag tour --skills ~/.claude/skills")]
pub(crate) struct TourArgs {
    /// The folder of skills to show; the examples unless told.
    #[arg(long, value_name = "DIR")]
    pub(crate) skills: Option<PathBuf>,
}

/// A number of seconds above 0.
fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "it is not a number of seconds".to_owned())?;
    match Duration::try_from_secs_f64(seconds) {
        Ok(time) if !time.is_zero() => Ok(time),
        Ok(_) | Err(_) => Err("use a number above 0, such as `30`".to_owned()),
    }
}

/// An address of this machine that no other can reach.
fn loopback(text: &str) -> Result<SocketAddr, String> {
    let text = match text.strip_prefix("localhost:") {
        Some(port) => format!("127.0.0.1:{port}"),
        None => text.to_owned(),
    };
    match text.parse::<SocketAddr>() {
        Ok(address) if address.ip().is_loopback() => Ok(address),
        Ok(_) => {
            Err("it is not a loopback address; use `127.0.0.1:PORT` or `[::1]:PORT`".to_owned())
        }
        Err(_) => Err("use `127.0.0.1:PORT` or `[::1]:PORT`".to_owned()),
    }
}

mod approve;
mod settings;
#[cfg(test)]
mod tests;
