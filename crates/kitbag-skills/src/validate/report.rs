//! Reports as JSON and as SARIF 2.1.0.

use std::fmt::Write as _;
use std::path::{Component, Path};

use serde_json::{Value, json};

use super::findings::Finding;
use super::{Report, rules};
use crate::Severity;

/// The reports as JSON: `{"valid", "skills": [{"path", "skill", "valid", "findings"}]}`.
pub fn to_json(reports: &[Report]) -> Value {
    let skills: Vec<Value> = reports
        .iter()
        .map(|report| {
            json!({
                "path": report.path.to_string_lossy(),
                "skill": report.skill,
                "valid": report.valid(),
                "findings": report.findings,
            })
        })
        .collect();
    json!({ "valid": reports.iter().all(Report::valid), "skills": skills })
}

/// The reports as one SARIF 2.1.0 run.
///
/// Relative paths become URIs relative to `%SRCROOT%`, and so do those below `base`, the directory that relative paths start
/// from; every other path becomes a `file:` URI.
pub fn to_sarif(reports: &[Report], base: &Path) -> Value {
    let table = rules::rules();
    let driver_rules: Vec<Value> = table
        .iter()
        .map(|rule| {
            json!({
                "id": rule.id,
                "shortDescription": { "text": rule.summary },
                "defaultConfiguration": { "level": level(rule.strict.or(rule.portable)) },
            })
        })
        .collect();
    let results: Vec<Value> = reports
        .iter()
        .flat_map(|report| report.findings.iter().map(|finding| result(report, finding, base)))
        .collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": { "name": "kitbag", "rules": driver_rules } },
            "columnKind": "unicodeCodePoints",
            "originalUriBaseIds": { "%SRCROOT%": { "description": { "text": "Where relative paths start from." } } },
            "results": results,
        }],
    })
}

fn result(report: &Report, finding: &Finding, base: &Path) -> Value {
    let index = rules::rules().iter().position(|rule| rule.id == finding.rule);
    let text = match &finding.hint {
        Some(hint) => format!("{}; {hint}.", finding.message),
        None => format!("{}.", finding.message),
    };
    let mut physical = json!({ "artifactLocation": artifact(report, finding, base) });
    if let Some(position) = finding.position {
        physical["region"] = json!({ "startLine": position.line, "startColumn": position.column });
    }
    json!({
        "ruleId": finding.rule,
        "ruleIndex": index,
        "level": level(Some(finding.severity)),
        "message": { "text": text },
        "locations": [{ "physicalLocation": physical }],
    })
}

fn artifact(report: &Report, finding: &Finding, base: &Path) -> Value {
    let path = match &finding.file {
        Some(file) => report.directory.join(file),
        None => report.path.clone(),
    };
    let relative =
        if path.is_relative() { Some(path.as_path()) } else { path.strip_prefix(base).ok() };
    match relative {
        Some(relative) => json!({ "uri": uri(relative), "uriBaseId": "%SRCROOT%" }),
        None => json!({ "uri": format!("file:///{}", uri(&path)) }),
    }
}

/// The path's segments as a relative URI reference: `/` between them, all but unreserved characters escaped.
fn uri(path: &Path) -> String {
    let mut uri = String::new();
    for component in path.components() {
        let segment = match component {
            Component::Normal(name) => name.to_string_lossy(),
            Component::ParentDir => "..".into(),
            Component::Prefix(prefix) => prefix.as_os_str().to_string_lossy(),
            Component::CurDir | Component::RootDir => continue,
        };
        if !uri.is_empty() {
            uri.push('/');
        }
        for byte in segment.bytes() {
            if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
                uri.push(char::from(byte));
            } else {
                write!(uri, "%{byte:02X}").expect("writing to a String does not fail");
            }
        }
    }
    if uri.is_empty() { ".".to_owned() } else { uri }
}

fn level(severity: Option<Severity>) -> &'static str {
    match severity {
        Some(Severity::Error) => "error",
        Some(Severity::Warning) => "warning",
        Some(Severity::Note) => "note",
        None => "none",
    }
}
