use std::fmt::Write as _;
use std::path::Path;

use clap::{Command, CommandFactory as _};

use super::Cli;

fn every(command: &Command, path: &str, visit: &mut impl FnMut(&str, &Command)) {
    visit(path, command);
    for subcommand in command.get_subcommands() {
        every(subcommand, &format!("{path} {}", subcommand.get_name()), visit);
    }
}

#[test]
fn the_definition_is_consistent() {
    Cli::command().debug_assert();
}

#[test]
fn every_command_has_examples_that_name_it_and_fit_a_terminal() {
    every(&Cli::command(), "kitbag", &mut |path, command| {
        let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        let (_, examples) =
            help.split_once("Examples:\n").unwrap_or_else(|| panic!("`{path}` has no examples"));
        let first = examples.lines().next().unwrap_or_default().trim_start();
        assert!(first.starts_with(path), "the first example of `{path}` is `{first}`");
        for line in help.lines() {
            assert!(line.chars().count() <= 80, "`{path}` has a long line: {line}");
        }
    });
}

#[test]
fn every_option_says_what_it_does() {
    every(&Cli::command(), "kitbag", &mut |path, command| {
        assert!(command.get_about().is_some(), "`{path}` says nothing about itself");
        for argument in command.get_arguments() {
            assert!(argument.get_help().is_some(), "`{path}` has a silent `{}`", argument.get_id());
        }
    });
}

/// An example that cannot be parsed teaches an error.
#[test]
fn every_example_can_be_parsed() {
    every(&Cli::command(), "kitbag", &mut |path, command| {
        let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        for line in help.lines().map(str::trim_start).filter(|line| line.starts_with("kitbag ")) {
            let line = line.split("  ").next().unwrap_or_default();
            let line = line.split(['|', '>']).next().unwrap_or_default();
            let words = line.split_whitespace().map(|word| word.trim_matches('\''));
            let parsed = Cli::command().try_get_matches_from(words);
            assert!(
                parsed.is_ok(),
                "an example of `{path}` is wrong: {line}\n{}",
                parsed.unwrap_err()
            );
        }
    });
}

/// `docs/reference/cli.md` is what `--help` says. `KITBAG_UPDATE_DOCS=1` in the environment writes it anew.
#[test]
fn the_reference_is_what_the_help_says() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/cli.md");
    let mut text = String::from(
        "# The command line\n\nData goes to standard output, everything else to standard error. Exit codes: 0 done, 1 the \
         answer is no, 2 wrong usage,\n3 a file or directory that kitbag depends on is not as it must be, 4 it is denied, 70 kitbag or the machine failed, \
         130 it was\ninterrupted.\n",
    );
    every(&Cli::command(), "kitbag", &mut |path, command| {
        let help = command.clone().bin_name(path).term_width(100).render_long_help();
        let help = help.to_string();
        let lines: Vec<&str> = help.lines().map(str::trim_end).collect();
        write!(text, "\n## `{path}`\n\n```text\n{}\n```\n", lines.join("\n").trim()).unwrap();
    });
    if std::env::var_os("KITBAG_UPDATE_DOCS").is_some() {
        std::fs::write(&page, &text).unwrap();
    }
    let written = std::fs::read_to_string(&page).unwrap_or_default();
    assert!(
        written == text,
        "docs/reference/cli.md is old: run this test with KITBAG_UPDATE_DOCS=1"
    );
}
