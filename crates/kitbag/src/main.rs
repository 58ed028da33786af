//! The `kitbag` command: arguments and environment in, an exit code out.

mod cli;
mod commands;
mod environment;
mod failure;
mod style;
mod token;

use std::process::ExitCode;

use clap::Parser as _;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::cli::{Cli, Command, PermissionsCommand, SettingsCommand, SkillsCommand};
use crate::environment::Environment;
use crate::failure::{Failure, Kind};

fn main() -> ExitCode {
    let cli = Cli::parse();
    log_to_stderr(cli.verbose);
    match run(&cli) {
        Ok(code) => code,
        Err(failure) if failure.is_broken_pipe() => ExitCode::SUCCESS,
        Err(failure) => {
            style::tell(&failure);
            ExitCode::from(failure.code())
        }
    }
}

fn run(cli: &Cli) -> Result<ExitCode, Failure> {
    let environment = Environment::read().map_err(|error| {
        let error = anyhow::Error::new(error).context("the working directory cannot be found");
        Failure::new(Kind::Configuration, error).hint("change to a directory that exists")
    })?;
    match &cli.command {
        Command::Serve(arguments) => commands::serve::run(&environment, arguments),
        Command::Run(arguments) => commands::run::run(&environment, arguments),
        Command::Tour(arguments) => commands::tour::run(&environment, arguments),
        Command::Settings(command) => match command {
            SettingsCommand::List(arguments) => commands::settings::list(&environment, arguments),
            SettingsCommand::Schema => commands::settings::schema(),
        },
        Command::Trust(arguments) => commands::trust::run(&environment, arguments),
        Command::Permissions(PermissionsCommand::Explain(arguments)) => {
            commands::explain::run(&environment, arguments)
        }
        Command::Audit(arguments) => commands::audit::run(&environment, arguments),
        Command::Skills(command) => match command {
            SkillsCommand::List(arguments) => commands::list::run(&environment, arguments),
            SkillsCommand::Show(arguments) => commands::show::run(&environment, arguments),
            SkillsCommand::Validate(arguments) => commands::validate::run(&environment, arguments),
            SkillsCommand::New(arguments) => commands::new::run(&environment, arguments),
            SkillsCommand::ToPrompt(arguments) => commands::to_prompt::run(&environment, arguments),
            SkillsCommand::Approve(arguments) => commands::approve::run(&environment, arguments),
        },
    }
}

/// Logs to stderr what went wrong in kitbag itself, and more when asked; stdout is a client's and stays clean.
fn log_to_stderr(verbose: u8) {
    // What libraries call an error is mostly a client that left.
    let targets = match verbose {
        0 => Targets::new().with_target("kitbag", LevelFilter::ERROR),
        1 => Targets::new().with_default(LevelFilter::INFO),
        _ => Targets::new().with_default(LevelFilter::DEBUG),
    };
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_ansi(false);
    tracing_subscriber::registry().with(targets).with(lines).init();
}
