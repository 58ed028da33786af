//! `kitbag settings`.

use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use kitbag_host::{Host, sections, settings_schema};
use kitbag_settings::{Listed, Origin, Standing};
use kitbag_skills::shown;
use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr as _;

use crate::cli::SettingsListArgs;
use crate::environment::Environment;
use crate::failure::Failure;
use crate::style::{self, DIM, GOOD, NAME, WARN, cut, padded, paint};

/// The columns of a value where no terminal says how many there are.
const VALUE_COLUMNS: usize = 1000;

/// The columns of what became of a value, and of its layer.
const STANDING_COLUMNS: usize = 10;
const LAYER_COLUMNS: usize = 13;

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
    let place = style::place(&origin.source, origin.position, home);
    let layer = padded(anstyle::Style::new(), origin.layer.as_str(), LAYER_COLUMNS);
    let head = format!("  {}  {layer}  {place}  ", padded(style, word, STANDING_COLUMNS));
    let taken = 2 + STANDING_COLUMNS + 2 + LAYER_COLUMNS + 2 + place.width() + 2;
    format!("{head}{}\n", value(&origin.value, columns, taken))
}

/// A value on one line, cut to what is left of the terminal.
fn value(value: &Value, columns: Option<usize>, taken: usize) -> String {
    let room = columns
        .map_or(VALUE_COLUMNS, |columns| columns.saturating_sub(taken).max(LEAST_VALUE_COLUMNS));
    cut(&shown::visible(&value.to_string()), room)
}
