//! `kitbag settings`.

use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use kitbag_host::{Host, sections, settings_schema, shown_path};
use kitbag_settings::{Listed, Origin, SourceName, Standing};
use kitbag_skills::shown;
use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr as _;

use crate::cli::SettingsListArgs;
use crate::environment::Environment;
use crate::failure::Failure;
use crate::style::{self, DIM, GOOD, NAME, WARN, cut, padded, paint};

/// The columns of a value where no terminal says how many there are.
const VALUE_COLUMNS: usize = 1000;

/// The fewest columns that a value gets, also on a narrow terminal.
const LEAST_VALUE_COLUMNS: usize = 16;

pub(crate) fn list(
    environment: &Environment,
    arguments: &SettingsListArgs,
) -> Result<ExitCode, Failure> {
    let host = super::host(environment.host(&[], Vec::new()))?;
    let listed = host.settings().list(&sections());
    if arguments.json {
        super::print_json(&json(&host, listed, arguments.origin))?;
        return Ok(ExitCode::SUCCESS);
    }
    let home = environment.home.as_deref();
    let mut out = anstream::stdout().lock();
    out.write_all(table(&host, &listed, arguments.origin, home).as_bytes())?;
    out.flush()?;
    style::tell_diagnostics(host.warnings());
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn schema() -> Result<ExitCode, Failure> {
    super::print_json(&settings_schema())?;
    Ok(ExitCode::SUCCESS)
}

fn json(host: &Host, listed: Vec<Listed>, origins: bool) -> Value {
    let settings = listed.into_iter().map(|one| {
        let mut row = json!({ "key": one.key, "value": one.value });
        if origins {
            row["origins"] = json!(one.origins);
        }
        row
    });
    json!({
        "workspace": host.workspace().root.to_string_lossy(),
        "trust": host.trust().as_str(),
        "settings": settings.collect::<Vec<_>>(),
        "problems": host.warnings(),
    })
}

fn table(host: &Host, listed: &[Listed], origins: bool, home: Option<&Path>) -> String {
    let keys = listed.iter().map(|one| one.key.to_string().width()).max().unwrap_or_default();
    let columns = style::columns();
    let mut text = String::new();
    for one in listed {
        let value = value(&one.value, columns, keys + 2);
        style::add(
            &mut text,
            format_args!("{}  {value}", padded(NAME, &one.key.to_string(), keys)),
        );
        text.push('\n');
        if !origins {
            continue;
        }
        if one.origins.is_empty() {
            style::add(&mut text, format_args!("  {}\n", paint(DIM, "default")));
        }
        for origin in single_places(host, one) {
            text.push_str(&line(&origin, home, columns));
        }
    }
    text
}

/// The places of a key's value: of a list that accumulates, each item's.
fn single_places(host: &Host, listed: &Listed) -> Vec<Origin> {
    if listed.value.is_array() {
        return host.settings().items(&sections(), &listed.key);
    }
    listed.origins.clone()
}

fn line(origin: &Origin, home: Option<&Path>, columns: Option<usize>) -> String {
    let (word, style) = match origin.standing {
        Standing::Counts => ("counts", GOOD),
        Standing::Overridden => ("overridden", DIM),
        Standing::Withheld => ("withheld", WARN),
        Standing::UserOnly => ("user-only", WARN),
        Standing::Invalid => ("invalid", WARN),
    };
    let mut place = match &origin.source {
        SourceName::File(path) => shown_path(path, home),
        SourceName::Given(name) => name.clone(),
    };
    if let Some(position) = origin.position {
        style::add(&mut place, format_args!(":{}:{}", position.line, position.column));
    }
    let place = shown::visible(&place);
    let head = format!("  {}  {}  {place}  ", padded(style, word, 10), origin.layer.as_str());
    let taken = 2 + 10 + 2 + origin.layer.as_str().len() + 2 + place.width() + 2;
    format!("{head}{}\n", value(&origin.value, columns, taken))
}

/// A value on one line, cut to what is left of the terminal.
fn value(value: &Value, columns: Option<usize>, taken: usize) -> String {
    let room = columns
        .map_or(VALUE_COLUMNS, |columns| columns.saturating_sub(taken).max(LEAST_VALUE_COLUMNS));
    cut(&shown::visible(&value.to_string()), room)
}
