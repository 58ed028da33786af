//! The arguments of `kitbag skills approve`.

use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = "\
Skills that a project or a package brings are used once you said yes to them, in
this workspace, and as long as nothing in their folder changes. Without a
terminal nothing is asked, and only `--yes` approves.

Exit codes: 0 all of them are approved, 1 one is not, 2 wrong usage,
3 configuration.

Examples:
  kitbag skills approve                   show each that waits, and ask
  kitbag skills approve deploy
  kitbag skills approve deploy --diff     what changed since the last yes
  kitbag skills approve deploy --yes      without a question
  kitbag skills approve deploy --revoke   take it back")]
pub(crate) struct ApproveArgs {
    /// Skills: their names, `origin:name`, or their folders.
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,
    /// All that wait, or with `--revoke` all that are approved.
    #[arg(long, conflicts_with = "names")]
    pub(crate) all: bool,
    /// Show what changed since they were approved; without `--yes` nothing is asked.
    #[arg(long)]
    pub(crate) diff: bool,
    /// Approve them without a question; needs names, or `--all`.
    #[arg(long)]
    pub(crate) yes: bool,
    /// Take approvals back.
    #[arg(long, conflicts_with_all = ["yes", "diff"])]
    pub(crate) revoke: bool,
    /// Print JSON, and ask nothing.
    #[arg(long)]
    pub(crate) json: bool,
}
