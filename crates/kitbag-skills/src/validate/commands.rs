//! Commands that run what nobody has looked at: downloads piped into an interpreter, packages without a version.

use super::findings::{Findings, shown};
use super::lines::{Line, Text};
use super::rules;

/// The most lines that one command may go on for with a backslash at the end of each.
const MAX_CONTINUATION: usize = 16;

/// Reports downloads that are run unseen, and packages that are fetched without a version.
pub(super) fn check(text: &Text<'_>, findings: &mut Findings) {
    // The start of a command that goes on in the next line: its line, the byte it begins at, what stands so far.
    let mut open: Option<(Line<'_>, usize, String, usize)> = None;
    for line in text.lines() {
        for (at, code) in line.code() {
            let (first, start, command, lines) = match open.take() {
                Some((first, start, before, lines)) => {
                    (first, start, format!("{before} {code}"), lines + 1)
                }
                None => (line, at, code.to_owned(), 1),
            };
            match command.trim_end().strip_suffix('\\') {
                Some(unfinished) if lines < MAX_CONTINUATION => {
                    open = Some((first, start, unfinished.to_owned(), lines));
                }
                _ => check_command(text, (&first, start), &command, findings),
            }
        }
    }
    if let Some((first, start, command, _)) = open {
        check_command(text, (&first, start), &command, findings);
    }
}

fn check_command(
    text: &Text<'_>,
    (line, start): (&Line<'_>, usize),
    command: &str,
    findings: &mut Findings,
) {
    let place = text.place(line, start);
    if runs_a_download(command) {
        findings.once(
            &rules::PIPE_TO_SHELL,
            place,
            format!("`{}` runs what it downloads, unseen", shown(command.trim())),
            "download to a file, check its digest or read it, then run it",
        );
    }
    for package in unpinned(command) {
        findings.once(
            &rules::UNPINNED_RUNNER,
            place,
            format!("`{}` is fetched and run in whatever version is newest", shown(&package)),
            "name the version, such as `npx pkg@1.2.3`, `uvx pkg@1.2.3` or `pip install pkg==1.2.3`",
        );
    }
}

fn runs_a_download(command: &str) -> bool {
    let lower = command.to_ascii_lowercase();
    let downloads = |part: &str| {
        words(part).any(|word| {
            let name = word.trim_start_matches(['<', '(', '$', '`', '"']);
            let name = name.rsplit('/').next().unwrap_or(name);
            matches!(
                name,
                "curl" | "wget" | "iwr" | "irm" | "invoke-webrequest" | "invoke-restmethod"
            )
        })
    };
    if !downloads(&lower) {
        return false;
    }
    let stages: Vec<&str> = lower.split('|').collect();
    let piped = stages.iter().enumerate().any(|(at, stage)| {
        at > 0 && interprets_input(stage) && stages[..at].iter().any(|before| downloads(before))
    });
    let substituted = ["<(curl", "<(wget", "\"$(curl", "\"$(wget", "`curl", "`wget"]
        .iter()
        .filter_map(|mark| lower.find(mark))
        .any(|at| {
            let before = words(&lower[..at]).collect::<Vec<_>>();
            match before.as_slice() {
                [.., "eval" | "source" | "."] => true,
                [.., shell, "-c"] => is_shell(shell),
                [.., shell] => is_shell(shell) && lower[at..].starts_with('<'),
                [] => false,
            }
        });
    piped || substituted
}

/// Whether a stage of a pipe runs what it is fed, as `sh -s -- x` does and `python3 -m json.tool` does not.
fn interprets_input(stage: &str) -> bool {
    let mut words = words(stage).skip_while(|word| {
        matches!(*word, "sudo" | "env" | "exec" | "command" | "nohup" | "doas")
            || word.starts_with('-')
            || word.contains('=')
    });
    let Some(program) = words.next() else { return false };
    let next = words.next();
    let program = program.rsplit('/').next().unwrap_or(program);
    if matches!(program, "iex" | "invoke-expression") {
        return true;
    }
    let reads_input = match next {
        None | Some("-" | "-s" | "&&" | "||" | ";" | "&" | "#" | ">" | "2>&1") => true,
        Some(word) => {
            is_shell(program)
                && word.starts_with('-')
                && !word.starts_with("--")
                && !word.contains('c')
        }
    };
    let script_language =
        matches!(program, "python" | "python3" | "node" | "ruby" | "perl" | "php");
    reads_input && (is_shell(program) || script_language)
}

fn is_shell(program: &str) -> bool {
    let name = program.rsplit('/').next().unwrap_or(program);
    matches!(name, "sh" | "bash" | "zsh" | "dash" | "ksh" | "fish")
}

/// The packages that `command` fetches without a version.
fn unpinned(command: &str) -> Vec<String> {
    let mut packages = Vec::new();
    for part in command.split(['|', ';', '&', '(', ')', '`']) {
        let words: Vec<&str> = words(part).collect();
        for at in 0..words.len() {
            let starts_here = at == 0
                || matches!(
                    words[at - 1],
                    "sudo" | "$" | ">" | "run:" | "RUN" | "exec" | "then" | "do" | "time"
                )
                || words[at - 1].contains('=')
                || matches!(words[at - 1], "-m");
            if !starts_here {
                continue;
            }
            packages.extend(runner(&words[at..]));
        }
    }
    packages
}

fn runner(words: &[&str]) -> Vec<String> {
    match words {
        ["npx" | "bunx" | "pnpx", rest @ ..] | ["pnpm" | "yarn", "dlx", rest @ ..] => {
            let rest: Vec<&str> = rest.iter().copied().filter(|word| !is_yes(word)).collect();
            one_package(&rest, &["-p", "--package"], npm_pinned)
        }
        ["uvx", rest @ ..] | ["uv", "tool", "run", rest @ ..] | ["pipx", "run", rest @ ..] => {
            one_package(rest, &["--from", "--spec"], python_pinned)
        }
        ["pip" | "pip3", "install", rest @ ..] | ["uv" | "-m", "pip", "install", rest @ ..] => {
            all_packages(rest)
        }
        _ => Vec::new(),
    }
}

fn is_yes(word: &str) -> bool {
    matches!(word, "-y" | "--yes" | "-q" | "--quiet")
}

/// The package a runner takes: after the option that names one, else the first word that is no option.
fn one_package(words: &[&str], options: &[&str], pinned: fn(&str) -> bool) -> Vec<String> {
    let named = words.iter().enumerate().find_map(|(at, word)| match word.split_once('=') {
        Some((option, package)) if options.contains(&option) => Some(package),
        _ if options.contains(word) => words.get(at + 1).copied(),
        _ => None,
    });
    // Another option may take a value, and then the first plain word is that value: only `words[0]` is sure.
    let package = named.or_else(|| words.first().copied().filter(|word| !word.starts_with('-')));
    package
        .filter(|package| is_package(package) && !pinned(package))
        .map(|package| vec![package.to_owned()])
        .unwrap_or_default()
}

/// The packages of an install: every plain word that stands before and after options without a value.
fn all_packages(words: &[&str]) -> Vec<String> {
    let mut packages = Vec::new();
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        match *word {
            // The versions stand in that file, or the package is the project itself.
            "-r" | "--requirement" | "-c" | "--constraint" | "-e" | "--editable" => {
                return Vec::new();
            }
            "-i" | "--index-url" | "--extra-index-url" | "-t" | "--target" | "--python" | "-p" => {
                rest.next();
            }
            "#" | "\\" | ">" => break,
            word if word.starts_with('-') => {}
            word if is_package(word) && !python_pinned(word) => packages.push(word.to_owned()),
            _ => {}
        }
    }
    packages
}

/// Whether a word names a package, and not a path, an address, a variable or a placeholder.
fn is_package(word: &str) -> bool {
    let name = word.strip_prefix('@').unwrap_or(word);
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./@[],=<>~!:^*".contains(c);
    name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && word.chars().all(plain)
        && !word.contains("://")
        && word.contains(|c: char| c.is_ascii_lowercase())
        && !word.starts_with("your")
        && !word.starts_with("git+")
        && ![".whl", ".tar.gz", ".zip", ".txt", ".toml"].iter().any(|end| word.ends_with(end))
        && (word.starts_with('@') || !word.contains('/'))
}

fn npm_pinned(package: &str) -> bool {
    let version = package[1.min(package.len())..].split_once('@').map(|(_, version)| version);
    version.is_some_and(|version| version.contains(|c: char| c.is_ascii_digit()))
}

fn python_pinned(package: &str) -> bool {
    let version = package.split_once(['=', '<', '>', '~', '!', '@']).map(|(_, version)| version);
    version.is_some_and(|version| version.contains(|c: char| c.is_ascii_digit()))
}

/// The words of a command, without the quotes around them.
fn words(command: &str) -> impl Iterator<Item = &str> {
    command
        .split_whitespace()
        .map(|word| word.trim_matches(['"', '\'', '(', ')']))
        .filter(|word| !word.is_empty())
}
