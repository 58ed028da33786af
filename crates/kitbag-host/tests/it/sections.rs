//! The sections of the settings, and the tools that rules can name.

use std::sync::Arc;

use kitbag_builtin::{Running, ServeLimits, SkillServer};
use kitbag_host::{OWN_TOOLS, sections};
use kitbag_permission::ToolIdentity;
use kitbag_skills::{GivenBy, Library, Places, RootChoice, RootOrder, SkillLimit};
use kitbag_tool::Source as _;

#[test]
fn structs_and_keys_agree() {
    assert_eq!(kitbag_settings::declaration_faults(&sections()), Vec::<String>::new());
}

/// The table is what `kitbag permissions explain` judges by, and the offer what the gate does.
#[test]
fn the_table_of_our_tools_says_what_the_skill_server_offers() {
    let places = Places {
        home: None,
        kitbag_home: None,
        cwd: "/".into(),
        choice: RootChoice::Only { by: GivenBy::CommandLine, roots: Vec::new() },
        order: RootOrder::UserFirst,
    };
    let library = Arc::new(Library::new(places, SkillLimit(1)));
    let limits = ServeLimits { resources: 1 };
    let server = SkillServer::new(library, "default", limits, Running::ForPerson, None);
    let offered = server.offer().borrow().tools.clone();
    assert!(!offered.is_empty());
    for tool in &offered {
        let ToolIdentity::Own(name) = &tool.identity else { panic!("{tool:?}") };
        let own = OWN_TOOLS.iter().find(|own| own.name == name).unwrap();
        let subject = tool.subject.as_ref().map(|subject| (&*subject.argument, subject.kind));
        assert_eq!((own.subject, own.traits), (subject, tool.claims), "{name}");
    }
}
