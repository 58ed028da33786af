//! The environment of a run: a few variables that every script has, and those that were granted.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use kitbag_skills::declaration::is_reserved_variable;

use super::folder::RunFolder;

/// The variables of the server that every script gets, where they are set.
const AMBIENT: [&str; 3] = ["PATH", "LANG", "TZ"];

/// The variables that lead into the scratch folder of the run (decision 23).
const HOME: &str = "HOME";
const TMPDIR: &str = "TMPDIR";

/// The variable that names the skill's folder for data.
const DATA: &str = "MCP_DATA_DIR";

/// What the environment of a run is made of; known before there is a folder for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RunEnvironment {
    /// What is handed over as it is.
    given: BTreeMap<String, OsString>,
    /// The granted names that are not set.
    pub(crate) not_set: Vec<String>,
    /// The granted names that are handed over.
    pub(crate) granted: Vec<String>,
}

impl RunEnvironment {
    /// Takes the ambient variables and the granted ones out of the server's own; a reserved name is never given.
    pub(crate) fn select(
        server: &BTreeMap<String, OsString>,
        granted: &[String],
        data: Option<PathBuf>,
    ) -> Self {
        let taken = |name: &str| Some((name.to_owned(), server.get(name)?.clone()));
        let mut given: BTreeMap<String, OsString> =
            AMBIENT.iter().filter_map(|name| taken(name)).collect();
        if let Some(data) = data {
            given.insert(DATA.to_owned(), data.into());
        }
        let (mut not_set, mut handed_over) = (Vec::new(), Vec::new());
        for name in granted {
            let ours = [HOME, TMPDIR, DATA].contains(&name.as_str()) || given.contains_key(name);
            if ours || is_reserved_variable(name) {
                continue;
            }
            match taken(name) {
                Some((name, value)) => {
                    given.insert(name.clone(), value);
                    handed_over.push(name);
                }
                None => not_set.push(name.clone()),
            }
        }
        Self { given, not_set, granted: handed_over }
    }

    /// The names, sorted.
    pub(crate) fn names(&self) -> Vec<String> {
        let names = self.given.keys().map(String::as_str).chain([HOME, TMPDIR]);
        let names: std::collections::BTreeSet<&str> = names.collect();
        names.into_iter().map(str::to_owned).collect()
    }

    /// The variables, in the folder of a run.
    pub(crate) fn within(&self, folder: &RunFolder) -> Vec<(String, OsString)> {
        let mut all = self.given.clone();
        all.insert(HOME.to_owned(), folder.home().into());
        all.insert(TMPDIR.to_owned(), folder.temporary().into());
        all.into_iter().collect()
    }
}
