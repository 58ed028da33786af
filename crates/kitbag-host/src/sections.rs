//! The sections of the settings, each with what its keys mean.

use kitbag_permission::Mode;
use kitbag_settings::{FromProject, Key, Merge, Secrecy, Section, SectionSchema, schema};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Every section that there is.
pub fn sections() -> Vec<SectionSchema> {
    vec![SectionSchema::of::<PermissionSettings>(), SectionSchema::of::<SkillSettings>()]
}

/// The JSON Schema of a settings file.
pub fn settings_schema() -> Value {
    schema(&sections())
}

/// Which calls of tools run, which are refused, and which are asked about.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct PermissionSettings {
    /// Rules: the calls that they hit are refused, whatever else is said.
    pub deny: Vec<String>,
    /// Rules: the calls that they hit are asked about, even where a rule or the mode would let them run.
    pub ask: Vec<String>,
    /// Rules: the calls that they hit run. Those of a project count once the workspace is trusted.
    pub allow: Vec<String>,
    /// What happens to a call that no rule decides. That of a project counts once the workspace is trusted.
    #[schemars(schema_with = "modes")]
    pub mode: Mode,
}

impl Section for PermissionSettings {
    const AT: &'static str = "permissions";
    const KEYS: &'static [Key] = &[
        key("deny", Merge::Accumulate, FromProject::Always),
        key("ask", Merge::Accumulate, FromProject::Always),
        key("allow", Merge::Accumulate, FromProject::OnceTrusted),
        key("mode", Merge::Replace, FromProject::OnceTrusted),
    ];
}

/// Where skills are looked for, and whose are stronger.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SkillSettings {
    /// Folders of skills that are looked at before all others: absolute paths, or such as begin with `~/`.
    pub paths: Vec<String>,
    /// Whose skills are used where names are equal. That of a project counts once the workspace is trusted.
    pub order: Order,
}

/// Whether the user's skills or the project's are stronger (decision 2).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// The user's skills are stronger than the project's.
    #[default]
    UserFirst,
    /// The project's skills are stronger than the user's.
    ProjectFirst,
}

impl Section for SkillSettings {
    const AT: &'static str = "skills";
    const KEYS: &'static [Key] = &[
        // A root that is named outright is used without an approval, so a project may never name one (decision 2).
        key("paths", Merge::Accumulate, FromProject::Never),
        key("order", Merge::Replace, FromProject::OnceTrusted),
    ];
}

const fn key(path: &'static str, merge: Merge, project: FromProject) -> Key {
    Key { path, merge, project, secrecy: Secrecy::Shown }
}

fn modes(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "enum": Mode::ALL.map(Mode::as_str) })
}
