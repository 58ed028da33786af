use std::collections::HashMap;
use std::path::{Path, PathBuf};

use kitbag_skills::{GivenBy, RootChoice};

use super::Environment;

fn read(variables: &[(&str, &str)]) -> Environment {
    let variables: HashMap<_, _> = variables.iter().copied().collect();
    Environment::from(|name| variables.get(name).map(Into::into), PathBuf::from("/work/dir"))
}

fn roots(environment: &Environment) -> Vec<PathBuf> {
    environment.named_roots.clone().map(|(_, roots)| roots).unwrap_or_default()
}

#[test]
fn k7_the_first_variable_wins_and_a_list_keeps_its_order() {
    let both = read(&[("MCP_SKILLS_PATH", "/a:/b"), ("SKILLS_DIR", "/c")]);
    assert_eq!(roots(&both), [Path::new("/a"), Path::new("/b")]);
    assert_eq!(both.roots_from(&[]), "MCP_SKILLS_PATH");
    let alone = read(&[("SKILLS_DIR", "/c")]);
    assert_eq!(roots(&alone), [Path::new("/c")]);
    assert_eq!(alone.roots_from(&[]), "SKILLS_DIR");
    let neither = read(&[]);
    assert_eq!(neither.roots_from(&[]), "default");
    assert_eq!(neither.host(&[], Vec::new()).roots, RootChoice::Default { also: Vec::new() });
}

#[test]
fn k8_blank_values_and_placeholders_are_unset() {
    for unset in ["", "  ", "null", "undefined", "${SKILLS}", " ${SKILLS_DIR} "] {
        let environment = read(&[("MCP_SKILLS_PATH", unset), ("SKILLS_DIR", unset)]);
        assert_eq!(environment.roots_from(&[]), "default", "{unset:?}");
        assert!(!environment.hosted, "{unset:?}");
    }
    assert_eq!(roots(&read(&[("SKILLS_DIR", " /c ")])), [Path::new("/c")]);
}

#[test]
fn k11_each_marker_means_hosted_and_the_local_variable_does_not() {
    for marker in ["MCP_SKILLS_PATH", "MCP_HOST_METER_FILE", "MCP_DATA_DIR", "MCP_BLOB_BASE_URL"] {
        let environment = read(&[(marker, "/x"), ("SKILLS_DIR", "/c")]);
        assert!(environment.hosted, "{marker}");
    }
    let local = read(&[("SKILLS_DIR", "/c")]);
    assert!(!local.hosted);
    let marked = read(&[("MCP_DATA_DIR", "/x"), ("SKILLS_DIR", "/c")]);
    assert_eq!(marked.roots_from(&[]), "SKILLS_DIR");
}

#[test]
fn a_flag_wins_over_every_variable_and_paths_are_made_absolute() {
    let environment = read(&[("MCP_SKILLS_PATH", "/a")]);
    let given = [PathBuf::from("skills")];
    assert_eq!(environment.roots_from(&given), "--skills");
    assert_eq!(
        environment.host(&given, Vec::new()).roots,
        RootChoice::Only { by: GivenBy::CommandLine, roots: vec!["/work/dir/skills".into()] }
    );
}

#[test]
fn a_leading_tilde_is_the_home() {
    let environment = read(&[("HOME", "/home/me"), ("SKILLS_DIR", "~/skills:~other")]);
    assert_eq!(roots(&environment), [Path::new("/home/me/skills"), Path::new("/work/dir/~other")]);
    assert_eq!(environment.kitbag_home.as_deref(), Some(Path::new("/home/me/.kitbag")));
}
