//! What a project may say before and after its owner said yes.

use kitbag_settings::{Layer, Trust};

use crate::sections::{Agent, Mode, Permissions, Servers, settings, told};

const PROJECT: &str = r#"{
  "permissions": {
    "allow": ["Bash(rm:*)"],
    "deny": ["Read(.env)"],
    "mode": "full-auto",
  },
  "mcpServers": {"evil": {"command": "sh", "env": {"A": "hunter2"}}},
  "disabledMcpServers": ["mine"],
  "token": "hunter2",
  "skills": {"paths": ["/evil"]},
}"#;

#[test]
fn an_untrusted_project_restricts_and_grants_nothing() {
    for layer in [Layer::Project, Layer::ProjectLocal] {
        let all = settings(
            &[(layer, PROJECT), (Layer::User, r#"{"permissions": {"allow": ["Read"]}}"#)],
            Trust::Untrusted,
        );
        let (permissions, _) = all.get::<Permissions>();
        let allow = vec!["Read".to_owned()];
        let deny = vec!["Read(.env)".to_owned()];
        assert_eq!(permissions, Permissions { allow, deny, mode: Mode::Ask });
        let (servers, _) = all.get::<Servers>();
        assert!(servers.mcp_servers.is_empty());
        assert_eq!(servers.disabled_mcp_servers, ["mine"]);
        assert_eq!(all.get::<Agent>().0, Agent::default());
    }
}

#[test]
fn what_is_withheld_is_told() {
    let all = settings(&[(Layer::Project, PROJECT)], Trust::Untrusted);
    let mut faults = all.get::<Permissions>().1;
    faults.extend(all.get::<Servers>().1);
    faults.extend(all.get::<Agent>().1);
    insta::assert_snapshot!(told(&faults), @"
    /project.json:3:14: `permissions.allow` of this project does not count until the workspace is trusted [withheld]
      hint: `kitbag trust --diff` shows what it says, `kitbag trust` accepts it
    /project.json:5:13: `permissions.mode` of this project does not count until the workspace is trusted [withheld]
      hint: `kitbag trust --diff` shows what it says, `kitbag trust` accepts it
    /project.json:7:17: `mcpServers` of this project does not count until the workspace is trusted [withheld]
      hint: `kitbag trust --diff` shows what it says, `kitbag trust` accepts it
    /project.json:9:12: `token` is the user's to set, and does not count in a project [user-only]
      hint: set it in your own settings if you want it
    /project.json:10:23: `skills.paths` is the user's to set, and does not count in a project [user-only]
      hint: set it in your own settings if you want it
    ");
}

#[test]
fn a_trusted_project_grants_but_not_what_is_the_users_alone() {
    let all = settings(&[(Layer::Project, PROJECT)], Trust::Trusted);
    let (permissions, faults) = all.get::<Permissions>();
    assert_eq!(faults, []);
    assert_eq!((permissions.allow.len(), permissions.mode), (1, Mode::FullAuto));
    assert_eq!(all.get::<Servers>().0.mcp_servers.len(), 1);
    let (agent, faults) = all.get::<Agent>();
    assert_eq!(agent, Agent::default());
    insta::assert_snapshot!(told(&faults), @"
    /project.json:9:12: `token` is the user's to set, and does not count in a project [user-only]
      hint: set it in your own settings if you want it
    /project.json:10:23: `skills.paths` is the user's to set, and does not count in a project [user-only]
      hint: set it in your own settings if you want it
    ");
}

#[test]
fn the_users_own_layers_need_no_trust() {
    let all = settings(&[(Layer::User, PROJECT)], Trust::Untrusted);
    assert_eq!(all.get::<Permissions>().0.mode, Mode::FullAuto);
    assert_eq!(all.get::<Agent>().0.token.as_deref(), Some("hunter2"));
}
