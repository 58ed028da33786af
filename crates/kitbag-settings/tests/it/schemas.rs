//! The JSON Schema of all sections, and declarations that contradict it.

use kitbag_settings::{
    FromProject, Key, Merge, Secrecy, Section, SectionSchema, declaration_faults, schema,
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::sections::{Agent, Permissions, all};

#[test]
fn the_schema_of_all_sections() {
    insta::assert_json_snapshot!(schema(&all()), @r##"
    {
      "type": "object",
      "properties": {
        "$schema": {
          "type": "string",
          "description": "The schema that an editor checks this file with."
        },
        "model": {
          "type": [
            "string",
            "null"
          ],
          "description": "The model.",
          "default": null
        },
        "token": {
          "type": [
            "string",
            "null"
          ],
          "description": "The key of its provider.",
          "default": null
        },
        "skills": {
          "$ref": "#/$defs/Skills",
          "default": {
            "paths": [],
            "limit": 12
          }
        },
        "permissions": {
          "type": "object",
          "properties": {
            "allow": {
              "type": "array",
              "items": {
                "type": "string"
              },
              "description": "Calls that run.",
              "default": []
            },
            "deny": {
              "type": "array",
              "items": {
                "type": "string"
              },
              "description": "Calls that never run.",
              "default": []
            },
            "mode": {
              "$ref": "#/$defs/Mode",
              "description": "What happens to all others.",
              "default": "ask"
            }
          },
          "additionalProperties": false,
          "description": "What may be called without asking."
        },
        "mcpServers": {
          "type": "object",
          "additionalProperties": {
            "$ref": "#/$defs/Server"
          },
          "description": "The servers by name.",
          "default": {}
        },
        "disabledMcpServers": {
          "type": "array",
          "items": {
            "type": "string"
          },
          "description": "Servers that are never dialled.",
          "default": []
        }
      },
      "additionalProperties": false,
      "$schema": "https://json-schema.org/draft/2020-12/schema",
      "title": "Settings of kitbag",
      "allowComments": true,
      "allowTrailingCommas": true,
      "$defs": {
        "Skills": {
          "type": "object",
          "properties": {
            "paths": {
              "type": "array",
              "items": {
                "type": "string"
              },
              "description": "Where else to look.",
              "default": []
            },
            "limit": {
              "type": "integer",
              "format": "uint32",
              "minimum": 0,
              "description": "How many are offered.",
              "default": 0
            }
          }
        },
        "Mode": {
          "type": "string",
          "enum": [
            "ask",
            "plan",
            "full-auto"
          ]
        },
        "Server": {
          "type": "object",
          "additionalProperties": false,
          "properties": {
            "command": {
              "type": "string"
            },
            "args": {
              "type": "array",
              "items": {
                "type": "string"
              },
              "default": []
            },
            "env": {
              "type": "object",
              "additionalProperties": {
                "type": "string"
              },
              "default": {}
            }
          },
          "required": [
            "command"
          ]
        }
      }
    }
    "##);
}

#[test]
fn the_same_sections_give_the_same_schema() {
    assert_eq!(schema(&all()).to_string(), schema(&all()).to_string());
}

#[test]
fn the_sections_of_these_tests_are_declared_right() {
    assert_eq!(declaration_faults(&all()), Vec::<String>::new());
}

#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only its declaration is looked at")]
struct Wrong {
    needed: u32,
    model: String,
    inner: Inner,
}

#[derive(Default, Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only its declaration is looked at")]
struct Inner {
    covered: bool,
    forgotten: bool,
}

impl Section for Wrong {
    const AT: &'static str = "";
    const KEYS: &'static [Key] = &[
        key("model", Merge::Accumulate),
        key("needed", Merge::ByEntry),
        key("absent", Merge::Replace),
        key("inner.covered", Merge::Replace),
    ];
}

const fn key(path: &'static str, merge: Merge) -> Key {
    Key { path, merge, project: FromProject::Always, secrecy: Secrecy::Shown }
}

#[test]
fn a_wrong_declaration_is_told() {
    let sections = [
        SectionSchema::of::<Agent>(),
        SectionSchema::of::<Wrong>(),
        SectionSchema::of::<Permissions>(),
    ];
    insta::assert_snapshot!(declaration_faults(&sections).join("\n"), @"
    the section at `` does not read `{}`
    `model` and `model` claim the same values
    `model` accumulates, but is no list
    `needed` merges by entry, but is no map
    `absent` is a key, but no field
    `inner.forgotten` is a field, but no key
    ");
}
