//! What a script may touch besides its own folder, from what its declaration asks for.

use std::path::{Path, PathBuf};

use kitbag_skills::SkillName;
use kitbag_skills::declaration::{Needs, Place};

use super::grant::{Hosting, shown};
use super::port::Access;

/// The places on this machine that a declaration can speak of, and those that no script gets. All are absolute.
#[derive(Debug, Clone, Default)]
pub struct RunPlaces {
    /// The workspace of the caller.
    pub workspace: Option<PathBuf>,
    /// The home of the user.
    pub home: Option<PathBuf>,
    /// The folder for what skills keep between runs; each skill has a folder of its own in it.
    pub data: Option<PathBuf>,
    /// Where the folders of runs are made.
    pub scratch: PathBuf,
    /// What no script may touch, whatever it declares: our own state.
    pub state: Vec<PathBuf>,
}

impl RunPlaces {
    /// The folder of one skill for what it keeps between runs.
    ///
    /// It lies below the folder that the server was given, never is it: there lie the spent tokens, and what other skills
    /// keep (section 10 of the skill server's promises, weakness 5).
    pub(crate) fn data_of(&self, skill: &SkillName) -> Option<PathBuf> {
        Some(self.data.as_ref()?.join("skills").join(skill.as_str()))
    }
}

/// What a run may touch, and the same for a person to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Allowed {
    pub(crate) access: Access,
    /// What it may read, write and reach, in words.
    pub(crate) reads: Vec<String>,
    pub(crate) writes: Vec<String>,
    pub(crate) reaches: Vec<String>,
}

/// Finds out what `needs` come to here; an error says in a clause what cannot be given. Blocks on I/O.
///
/// Paths are resolved, so that what is shown is what a link leads to. A path that holds our own state, or lies in it, is
/// given to nobody. A hosted server gives nothing of its machine but the skill's own data folder.
pub(crate) fn allowed(
    needs: &Needs,
    skill: &SkillName,
    places: &RunPlaces,
    hosting: Hosting,
) -> Result<Allowed, String> {
    let mut allowed = Allowed {
        access: Access { network: needs.network.clone(), ..Access::default() },
        reads: vec![
            "its own folder, as a private copy".to_owned(),
            "the programs and libraries of the system".to_owned(),
        ],
        writes: vec!["a scratch folder that is removed after the run".to_owned()],
        reaches: needs.network.iter().map(|host| reach(host)).collect(),
    };
    if allowed.reaches.is_empty() {
        allowed.reaches.push("nothing: it has no network".to_owned());
    }
    for place in &needs.read {
        let (path, words) = resolve(place, skill, places, hosting)?;
        allowed.access.read.push(path);
        allowed.reads.push(words);
    }
    for place in &needs.write {
        let (path, words) = resolve(place, skill, places, hosting)?;
        allowed.access.write.push(path);
        allowed.writes.push(words);
    }
    Ok(allowed)
}

fn reach(host: &str) -> String {
    if host.chars().all(|c| c == '*') {
        "every host on the network".to_owned()
    } else {
        host.to_owned()
    }
}

fn resolve(
    place: &Place,
    skill: &SkillName,
    places: &RunPlaces,
    hosting: Hosting,
) -> Result<(PathBuf, String), String> {
    let (path, what) = match place {
        Place::Data => {
            let path = places.data_of(skill);
            let path = path.ok_or("it asks for a data folder, and this server has none")?;
            let words = format!("what it keeps between runs, in {}", shown_path(&path));
            return Ok((path, words));
        }
        Place::Workspace => {
            let path = places.workspace.clone();
            (path.ok_or("it asks for the workspace, and there is none")?, "the workspace ")
        }
        Place::Path(text) => {
            let path = match text.strip_prefix("~/") {
                Some(rest) => {
                    let home = places.home.as_ref();
                    home.ok_or("it asks for a folder in the home, and there is no home")?.join(rest)
                }
                None => PathBuf::from(text),
            };
            (path, "")
        }
    };
    let name = shown_path(&path);
    if hosting == Hosting::Hosted {
        return Err(format!("it asks for {what}{name}, which a hosted server gives to no script"));
    }
    let real = path.canonicalize().map_err(|error| format!("it asks for {what}{name}: {error}"))?;
    let touches = |state: &PathBuf| {
        let state = state.canonicalize().unwrap_or_else(|_| state.clone());
        state.starts_with(&real) || real.starts_with(&state)
    };
    if places.state.iter().any(touches) {
        return Err(format!(
            "it asks for {what}{name}, where kitbag keeps what no script may touch"
        ));
    }
    let words = if real == path {
        format!("{what}{name}")
    } else {
        format!("{what}{name}, which is {}", shown_path(&real))
    };
    Ok((real, words))
}

fn shown_path(path: &Path) -> String {
    let text = path.display().to_string();
    if text.chars().any(char::is_control) { shown(&text) } else { text }
}
