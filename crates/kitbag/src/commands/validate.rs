//! `kitbag skills validate`.

use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use kitbag_skills::shown;
use kitbag_skills::validate::{
    Finding, Profile, Report, ValidateOptions, exit_code, to_json, to_sarif, validate,
};

use crate::cli::ValidateArgs;
use crate::environment::Environment;
use crate::failure::Failure;
use crate::style::{self, BAD, DIM, GOOD, NAME, paint};

pub(crate) fn run(
    environment: &Environment,
    arguments: &ValidateArgs,
) -> Result<ExitCode, Failure> {
    let profile = if arguments.portable { Profile::Portable } else { Profile::Strict };
    let options = ValidateOptions { profile };
    let reports: Vec<Report> = arguments.paths.iter().map(|path| validate(path, options)).collect();
    if arguments.json {
        super::print_json(&to_json(&reports))?;
    } else if arguments.sarif {
        super::print_json(&to_sarif(&reports, &environment.cwd))?;
    } else {
        for report in &reports {
            print(report)?;
        }
        if reports.len() > 1 {
            let valid = reports.iter().filter(|report| report.valid()).count();
            writeln!(anstream::stdout(), "\n{valid} of {} are valid.", reports.len())?;
        }
    }
    Ok(ExitCode::from(exit_code(&reports)))
}

fn print(report: &Report) -> std::io::Result<()> {
    let mut out = anstream::stdout().lock();
    let path = shown::visible(&report.path.display().to_string());
    let verdict = if report.valid() { paint(GOOD, "valid") } else { paint(BAD, "not valid") };
    writeln!(out, "{}: {verdict}", paint(NAME, path))?;
    for finding in &report.findings {
        print_finding(&mut out, report, finding)?;
    }
    Ok(())
}

fn print_finding(
    out: &mut impl std::io::Write,
    report: &Report,
    finding: &Finding,
) -> std::io::Result<()> {
    let word = style::word(finding.severity);
    let file = finding
        .file
        .as_deref()
        .map_or(report.directory.clone(), |file| Path::new(&report.directory).join(file));
    let file = shown::visible(&file.display().to_string());
    let place = match finding.position {
        Some(position) => format!("{file}:{}:{}", position.line, position.column),
        None => file,
    };
    let rule = paint(DIM, format!("[{}]", finding.rule));
    writeln!(out, "  {word}: {place}: {} {rule}", shown::visible(&finding.message))?;
    if let Some(hint) = &finding.hint {
        writeln!(out, "    hint: {}", shown::visible(hint))?;
    }
    Ok(())
}
