//! What kitbag takes from the process: every environment variable it reads, the directories, the user.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use kitbag_builtin::Machine;
use kitbag_host::Where;
use kitbag_settings::Source;
use kitbag_skills::{GivenBy, RootChoice};

/// Moves kitbag's home from `~/.kitbag`.
pub(crate) const KITBAG_HOME: &str = "KITBAG_HOME";
/// A list of roots, set by a runner; its presence means hosted.
pub(crate) const MCP_SKILLS_PATH: &str = "MCP_SKILLS_PATH";
/// A list of roots, read only where `MCP_SKILLS_PATH` is unset.
pub(crate) const SKILLS_DIR: &str = "SKILLS_DIR";
/// What else only a runner sets.
pub(crate) const RUNNER_MARKERS: [&str; 3] =
    ["MCP_HOST_METER_FILE", "MCP_DATA_DIR", "MCP_BLOB_BASE_URL"];

/// What kitbag takes from the process.
#[derive(Debug)]
pub(crate) struct Environment {
    /// The user's home.
    pub(crate) home: Option<PathBuf>,
    /// Kitbag's home.
    pub(crate) kitbag_home: Option<PathBuf>,
    /// The working directory.
    pub(crate) cwd: PathBuf,
    /// The roots that a variable names, and which one did.
    pub(crate) named_roots: Option<(&'static str, Vec<PathBuf>)>,
    /// Whether a runner started kitbag for somebody else.
    pub(crate) hosted: bool,
}

impl Environment {
    /// Reads the process once.
    #[expect(clippy::disallowed_methods, reason = "this module is where the process is read")]
    pub(crate) fn read() -> std::io::Result<Self> {
        Ok(Self::from(|name| env::var_os(name), env::current_dir()?))
    }

    fn from(variable: impl Fn(&str) -> Option<OsString>, cwd: PathBuf) -> Self {
        let set = |name: &str| variable(name).and_then(meant);
        let home = set("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
        let kitbag_home = set(KITBAG_HOME)
            .map(|path| cwd.join(path))
            .or_else(|| home.as_ref().map(|home| home.join(".kitbag")));
        let hosted =
            set(MCP_SKILLS_PATH).is_some() || RUNNER_MARKERS.iter().any(|name| set(name).is_some());
        let named_roots = [MCP_SKILLS_PATH, SKILLS_DIR].into_iter().find_map(|name| {
            let value = set(name)?;
            let roots: Vec<PathBuf> = env::split_paths(&value)
                .filter(|path| !path.as_os_str().is_empty())
                .map(|path| cwd.join(expand_home(&path, home.as_deref())))
                .collect();
            Some((name, roots))
        });
        Self { home, kitbag_home, cwd, named_roots, hosted }
    }

    /// What the host depends on: with the skills in `given`, or where a variable says, or in the usual places, and with
    /// the values of flags.
    pub(crate) fn host(&self, given: &[PathBuf], flags: Vec<Source>) -> Where {
        let roots = match (&self.named_roots, given) {
            (Some((_, roots)), []) => {
                RootChoice::Only { by: GivenBy::Variable, roots: roots.clone() }
            }
            (None, []) => RootChoice::Default { also: Vec::new() },
            (_, given) => RootChoice::Only {
                by: GivenBy::CommandLine,
                roots: given.iter().map(|path| self.cwd.join(path)).collect(),
            },
        };
        Where {
            home: self.home.clone(),
            kitbag_home: self.kitbag_home.clone(),
            cwd: self.cwd.clone(),
            hosted: self.hosted,
            roots,
            given: flags,
        }
    }

    /// What tools that run as processes get of this machine.
    pub(crate) fn machine() -> Machine {
        Machine { variable: Arc::new(|name| env::var_os(name)), scratch: env::temp_dir() }
    }

    /// What named the roots, in the words of `skill_list` (`rootsFrom`).
    pub(crate) fn roots_from(&self, given: &[PathBuf]) -> &'static str {
        match (&self.named_roots, given) {
            (Some((name, _)), []) => name,
            (None, []) => "default",
            _ => "--skills",
        }
    }
}

/// The value somebody meant to set: trimmed, and not one of those that a template leaves behind (K-8).
fn meant(value: OsString) -> Option<OsString> {
    let Some(text) = value.to_str() else { return Some(value) };
    let text = text.trim();
    let placeholder =
        text.starts_with("${") && text.ends_with('}') && text.matches("${").count() == 1;
    if text.is_empty() || text == "null" || text == "undefined" || placeholder {
        return None;
    }
    Some(text.into())
}

fn expand_home(path: &Path, home: Option<&Path>) -> PathBuf {
    match (path.strip_prefix("~"), home) {
        (Ok(rest), Some(home)) => home.join(rest),
        _ => path.to_owned(),
    }
}

#[cfg(test)]
mod tests;
