//! How layers become one value.

use kitbag_settings::{KeyPath, Layer, Settings, Source, Trust};
use proptest::prelude::*;
use serde_json::json;

use crate::sections::{Agent, Mode, Permissions, Servers, settings, source};

const FILES: [Layer; 3] = [Layer::Project, Layer::ProjectLocal, Layer::User];

#[test]
fn without_sources_everything_is_the_default() {
    let none = Settings::new(Vec::new(), Trust::Untrusted);
    assert_eq!(none.get::<Agent>(), (Agent::default(), vec![]));
    assert_eq!(none.get::<Permissions>(), (Permissions::default(), vec![]));
    assert_eq!(none.get::<Servers>(), (Servers::default(), vec![]));
}

/// B-67: a file of the run stands above the other files and below the command line.
#[test]
fn b67_the_strongest_layer_that_says_something_wins() {
    let order = [
        Layer::Project,
        Layer::ProjectLocal,
        Layer::User,
        Layer::Environment,
        Layer::RunFile,
        Layer::Flags,
    ];
    for strongest in 0..order.len() {
        // Handed over strongest first, to show that the order of the argument does not matter.
        let sources = order[..=strongest]
            .iter()
            .rev()
            .map(|layer| match layer {
                Layer::Environment | Layer::Flags => {
                    Source::given(*layer, "given", &KeyPath::of(["model"]), &json!(layer.as_str()))
                }
                layer => source(*layer, &json!({"model": layer.as_str()}).to_string()),
            })
            .collect();
        let (agent, told) = Settings::new(sources, Trust::Untrusted).get::<Agent>();
        assert_eq!(agent.model.as_deref(), Some(order[strongest].as_str()));
        assert_eq!(told, []);
    }
}

#[test]
fn of_one_layer_the_later_source_wins() {
    let both = settings(
        &[(Layer::Project, r#"{"model": "root"}"#), (Layer::Project, r#"{"model": "nearer"}"#)],
        Trust::Untrusted,
    );
    assert_eq!(both.get::<Agent>().0.model.as_deref(), Some("nearer"));
}

/// B-54 as a rule of merging.
#[test]
fn b54_lists_accumulate_weakest_first_without_repetitions() {
    let all = settings(
        &[
            (Layer::User, r#"{"permissions": {"deny": ["c", "a"]}}"#),
            (Layer::Project, r#"{"permissions": {"deny": ["a", "b", "a"]}}"#),
            (Layer::ProjectLocal, r#"{"permissions": {"deny": []}}"#),
        ],
        Trust::Untrusted,
    );
    assert_eq!(all.get::<Permissions>().0.deny, ["a", "b", "c"]);
}

/// B-53 as a rule of merging, without inheritance between entries (decision 9).
#[test]
fn b53_maps_replace_whole_entries() {
    let all = settings(
        &[
            (
                Layer::Project,
                r#"{"mcpServers": {"a": {"command": "evil", "args": ["-x"]}, "b": {"command": "b"}}}"#,
            ),
            (Layer::User, r#"{"mcpServers": {"a": {"command": "mine", "env": {"TOKEN": "t"}}}}"#),
        ],
        Trust::Trusted,
    );
    let (servers, told) = all.get::<Servers>();
    assert_eq!(told, []);
    insta::assert_json_snapshot!(servers.mcp_servers, @r#"
    {
      "a": {
        "command": "mine",
        "args": [],
        "env": {
          "TOKEN": "t"
        }
      },
      "b": {
        "command": "b",
        "args": [],
        "env": {}
      }
    }
    "#);
}

/// B-68: a file of the run adds to the servers that settings name.
#[test]
fn b68_a_file_of_the_run_adds_entries() {
    let all = settings(
        &[
            (Layer::RunFile, r#"{"mcpServers": {"b": {"command": "run"}}}"#),
            (Layer::User, r#"{"mcpServers": {"a": {"command": "a"}, "b": {"command": "b"}}}"#),
        ],
        Trust::Untrusted,
    );
    let (servers, _) = all.get::<Servers>();
    let commands =
        servers.mcp_servers.iter().map(|(name, one)| (name.as_str(), one.command.as_str()));
    assert_eq!(commands.collect::<Vec<_>>(), [("a", "a"), ("b", "run")]);
}

#[test]
fn a_weaker_layer_fills_what_a_stronger_leaves_out() {
    let all = settings(
        &[
            (Layer::User, r#"{"skills": {"limit": 3}}"#),
            (Layer::Project, r#"{"skills": {"limit": 9}, "model": "m"}"#),
        ],
        Trust::Untrusted,
    );
    let (agent, _) = all.get::<Agent>();
    assert_eq!((agent.skills.limit, agent.model.as_deref()), (3, Some("m")));
}

proptest! {
    #[test]
    fn no_project_value_overrides_the_users(
        users in any::<Option<u32>>(), project in any::<Option<u32>>(), local in any::<Option<u32>>(), trusted in any::<bool>()
    ) {
        let said: Vec<_> = FILES.into_iter().zip([project, local, users])
            .filter_map(|(layer, limit)| Some((layer, json!({"skills": {"limit": limit?}}).to_string())))
            .collect();
        let said: Vec<_> = said.iter().map(|(layer, text)| (*layer, text.as_str())).collect();
        let trust = if trusted { Trust::Trusted } else { Trust::Untrusted };
        let (agent, _) = settings(&said, trust).get::<Agent>();
        prop_assert_eq!(agent.skills.limit, users.or(local).or(project).unwrap_or(12));
    }

    #[test]
    fn a_deny_is_never_lost(lists in prop::collection::vec(prop::collection::vec("[a-d]", 0..4), 3)) {
        let texts: Vec<_> = lists.iter().map(|deny| json!({"permissions": {"deny": deny}}).to_string()).collect();
        let said: Vec<_> = FILES.into_iter().zip(&texts).map(|(layer, text)| (layer, text.as_str())).collect();
        let (read, _) = settings(&said, Trust::Untrusted).get::<Permissions>();
        for rule in lists.iter().flatten() {
            prop_assert!(read.deny.contains(rule));
        }
        prop_assert_eq!(read.mode, Mode::Ask);
    }
}
