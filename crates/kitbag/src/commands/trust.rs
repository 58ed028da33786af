//! `kitbag trust`.

use std::io::{BufRead as _, IsTerminal as _, Read as _, Write as _};
use std::process::ExitCode;

use kitbag_host::trust::{self, Review, TrustState};
use kitbag_host::{Host, diff, shown_path};
use kitbag_skills::shown;
use kitbag_store::Removal;

use crate::cli::TrustArgs;
use crate::environment::Environment;
use crate::failure::{Failure, Kind};
use crate::style::{self, BAD, DIM, GOOD, HEADING, paint};

/// The most bytes of an answer that are read.
const MAX_ANSWER_BYTES: u64 = 64;

pub(crate) fn run(environment: &Environment, arguments: &TrustArgs) -> Result<ExitCode, Failure> {
    if arguments.revoke {
        return revoke(environment);
    }
    let host = super::host(environment.host(&[], Vec::new()))?;
    let review = host.review();
    let mut out = anstream::stdout().lock();
    out.write_all(card(&host, &review, environment).as_bytes())?;
    if arguments.diff {
        out.write_all(changes(&review).as_bytes())?;
    }
    out.flush()?;
    match host.trust() {
        TrustState::Nothing | TrustState::Trusted { .. } => return Ok(ExitCode::SUCCESS),
        TrustState::Untrusted | TrustState::Changed { .. } => {}
    }
    if !arguments.yes {
        if arguments.diff {
            return Ok(ExitCode::SUCCESS);
        }
        loop {
            match asked()? {
                Answer::Yes => break,
                Answer::Show => out.write_all(changes(&review).as_bytes())?,
                Answer::No => {
                    return Err(Failure::say(Kind::Negative, "the workspace is not trusted"));
                }
            }
        }
    }
    host.trust_reviewed(&review).map_err(super::failure)?;
    super::tell_set_aside(&host);
    // What was shown is what is trusted; where the files say something else by now, they are not.
    let now = super::host(environment.host(&[], Vec::new()))?;
    if !matches!(now.trust(), TrustState::Trusted { .. }) {
        return Err(Failure::say(
            Kind::Negative,
            "the settings changed while they were shown, and what they say by now is not trusted",
        )
        .hint("look again with `kitbag trust --diff`"));
    }
    writeln!(out, "Trusted, until one of these files changes.")?;
    Ok(ExitCode::SUCCESS)
}

fn revoke(environment: &Environment) -> Result<ExitCode, Failure> {
    let removal = trust::revoke(&environment.host(&[], Vec::new())).map_err(super::failure)?;
    let said = match removal {
        Removal::Removed => "This workspace is trusted no more.",
        Removal::Absent => "This workspace was not trusted.",
    };
    writeln!(anstream::stdout(), "{said}")?;
    Ok(ExitCode::SUCCESS)
}

/// What there is to decide.
fn card(host: &Host, review: &Review, environment: &Environment) -> String {
    let home = environment.home.as_deref();
    let place = shown::visible(&shown_path(&host.workspace().real, home));
    let mut text = match host.trust() {
        TrustState::Nothing => {
            return format!("{place} brings no settings, so there is nothing to trust.\n");
        }
        TrustState::Untrusted => {
            format!("{} brings settings, and they are not trusted.\n", paint(HEADING, place))
        }
        TrustState::Changed { since } => format!(
            "{} brings settings. They were trusted at {since}, and have changed since.\n",
            paint(HEADING, place)
        ),
        TrustState::Trusted { since } => {
            format!("{} is trusted since {since}.\n", paint(HEADING, place))
        }
    };
    if review.grants.is_empty() {
        text.push_str("They grant nothing, so trust turns nothing on.\n");
    } else {
        let is_trusted = matches!(host.trust(), TrustState::Trusted { .. });
        text.push_str(if is_trusted { "Trust turns on:\n" } else { "Trust would turn on:\n" });
        for (key, origin) in &review.grants {
            let value = match origin.value.as_str() {
                Some(value) => shown::visible(value),
                None => shown::visible(&origin.value.to_string()),
            };
            let from = paint(DIM, style::place(&origin.source, origin.position, home));
            style::add(&mut text, format_args!("  {key}  {value}  {from}\n"));
        }
    }
    text.push_str("What they deny or ask about counts with or without it.\n");
    text
}

/// The settings' text against what was trusted last, folder by folder.
fn changes(review: &Review) -> String {
    let mut text = String::new();
    for folder in &review.folders {
        let path = shown::visible(&folder.path.display().to_string());
        let (before, since) = match &folder.before {
            Some((before, at)) => (before.as_str(), format!("against what was trusted at {at}")),
            None => ("", "all of it, since nothing was trusted before".to_owned()),
        };
        style::add(&mut text, format_args!("\n{}\n", paint(HEADING, format!("{path}: {since}"))));
        let lines = diff(before, &folder.shown);
        if lines.is_empty() {
            text.push_str(if folder.has_changed {
                "No line differs; line ends or bytes that are no text do.\n"
            } else {
                "Nothing has changed.\n"
            });
        }
        for line in lines.lines() {
            let style = match line.as_bytes().first() {
                Some(b'+') => GOOD,
                Some(b'-') => BAD,
                Some(b'@') => DIM,
                _ => anstyle::Style::new(),
            };
            text.push_str(&paint(style, line));
            text.push('\n');
        }
    }
    text
}

/// What a person answers.
enum Answer {
    Yes,
    No,
    Show,
}

/// Asks at the terminal; without one it fails, with the remedy.
fn asked() -> Result<Answer, Failure> {
    let stdin = std::io::stdin();
    if !stdin.is_terminal() || !std::io::stderr().is_terminal() {
        return Err(Failure::say(
            Kind::Negative,
            "the workspace is not trusted, and there is no terminal to ask at",
        )
        .hint("look with `kitbag trust --diff`, then run `kitbag trust --yes`"));
    }
    let mut err = anstream::stderr().lock();
    write!(err, "Trust them? [y/N, d shows what changed] ")?;
    err.flush()?;
    drop(err);
    let mut line = Vec::new();
    stdin.lock().take(MAX_ANSWER_BYTES).read_until(b'\n', &mut line)?;
    let answer = String::from_utf8_lossy(&line);
    Ok(match answer.trim().to_lowercase().as_str() {
        "y" | "yes" => Answer::Yes,
        "d" | "diff" => Answer::Show,
        _ => Answer::No,
    })
}
