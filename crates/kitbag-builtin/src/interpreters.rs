//! The programs that a skill's command may begin with, found on this machine.

use std::collections::HashMap;
use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::blocking::blocking;
use crate::process::{self, End, Job, Limits, Log};

/// The interpreters by the names that declarations use and the machine knows (decision 22), and what to do where one is
/// missing.
const TABLE: [(&str, &str); 9] = [
    ("node", "install Node from https://nodejs.org"),
    ("python3", "install Python 3 from https://www.python.org"),
    ("bash", "install bash with the system's package manager"),
    ("sh", "a POSIX shell comes with the system; look at `PATH`"),
    ("deno", "install Deno from https://deno.com"),
    ("bun", "install Bun from https://bun.sh"),
    ("ruby", "install Ruby from https://www.ruby-lang.org"),
    ("perl", "install Perl with the system's package manager"),
    ("uv", "install uv from https://docs.astral.sh/uv"),
];

/// The name that stands for whichever program runs TypeScript here.
const TYPESCRIPT: &str = "typescript";

const TYPESCRIPT_HINT: &str = "install Deno (https://deno.com), Bun (https://bun.sh), or Node 22.6 or newer (https://nodejs.org)";

/// How long a program may take to tell its version.
const VERSION_TIME: Duration = Duration::from_secs(20);

/// The most bytes that it may tell it with.
const VERSION_BYTES: usize = 4 * 1024;

/// The interpreters of this machine. Each is looked for once, when it is first asked for; one that is missing is looked
/// for again.
#[derive(Debug)]
pub(crate) struct Interpreters {
    search: Arc<[PathBuf]>,
    found: Mutex<HashMap<&'static str, Vec<OsString>>>,
}

/// An interpreter that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Missing {
    /// The table has no such name.
    #[error("`{}` is no interpreter that a skill may use", shown(name))]
    Unknown {
        /// What was asked for.
        name: String,
    },
    /// The machine has no such program.
    #[error("`{name}` is not installed")]
    NotInstalled {
        /// What was asked for.
        name: &'static str,
        /// What to do.
        hint: &'static str,
    },
    /// Nothing on the machine runs TypeScript.
    #[error("neither `deno` nor `bun` is installed, and {node}")]
    NoTypeScript {
        /// What is the matter with Node.
        node: String,
    },
}

impl Missing {
    /// What to do about it.
    pub(crate) fn hint(&self) -> String {
        match self {
            Self::Unknown { name } => format!(
                "Begin the command with one of {}; a program of the skill's own is written as a path, such as `bin/{}`.",
                names().collect::<Vec<_>>().join(", "),
                shown(name)
            ),
            Self::NotInstalled { hint, .. } => sentence(hint),
            Self::NoTypeScript { .. } => sentence(TYPESCRIPT_HINT),
        }
    }
}

fn sentence(hint: &str) -> String {
    let mut characters = hint.chars();
    let first = characters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(characters).chain(['.']).collect()
}

fn shown(name: &str) -> String {
    name.chars().take(80).flat_map(char::escape_debug).collect()
}

/// Every name that a command may begin with.
fn names() -> impl Iterator<Item = &'static str> {
    TABLE.iter().map(|(name, _)| *name).chain([TYPESCRIPT])
}

impl Interpreters {
    /// The interpreters in the directories of `path`, a list as in the variable `PATH`. Only absolute ones count: what
    /// the working directory holds is nobody's choice.
    pub(crate) fn on(path: Option<OsString>) -> Self {
        let search = path.map(|path| std::env::split_paths(&path).collect::<Vec<_>>());
        let mut search = search.unwrap_or_default();
        search.retain(|directory| directory.is_absolute());
        Self { search: search.into(), found: Mutex::default() }
    }

    /// The words that a command line begins with for the interpreter that declarations call `name`.
    pub(crate) async fn resolve(&self, name: &str) -> Result<Vec<OsString>, Missing> {
        let Some(name) = names().find(|known| *known == name) else {
            return Err(Missing::Unknown { name: name.to_owned() });
        };
        let found = || self.found.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(words) = found().get(name) {
            return Ok(words.clone());
        }
        let words =
            if name == TYPESCRIPT { self.typescript().await? } else { self.plain(name).await? };
        found().insert(name, words.clone());
        Ok(words)
    }

    async fn plain(&self, name: &'static str) -> Result<Vec<OsString>, Missing> {
        let row = TABLE.iter().find(|row| row.0 == name);
        let (_, hint) = row.expect("the name was found in the table");
        let program = self.find(name).await.ok_or(Missing::NotInstalled { name, hint })?;
        Ok(vec![program.into()])
    }

    /// Deno, Bun, or a Node that strips types, the first that is there.
    async fn typescript(&self) -> Result<Vec<OsString>, Missing> {
        if let Some(deno) = self.find("deno").await {
            // The sandbox is the boundary, not the interpreter: the same file must do the same under all three.
            return Ok(words(deno, &["run", "--allow-all", "--no-prompt"]));
        }
        if let Some(bun) = self.find("bun").await {
            return Ok(words(bun, &["--no-install", "run"]));
        }
        let Some(node) = self.find("node").await else {
            return Err(Missing::NoTypeScript { node: "`node` is not either".to_owned() });
        };
        match self.node_version(&node).await {
            Some((22, 6..) | (23, ..6)) => Ok(words(
                node,
                &["--experimental-strip-types", "--disable-warning=ExperimentalWarning"],
            )),
            Some((23.., _)) => Ok(words(node, &[])),
            Some((major, minor)) => {
                let node = format!("`node` is {major}.{minor}, which cannot strip types");
                Err(Missing::NoTypeScript { node })
            }
            None => {
                let node = "`node` does not tell its version".to_owned();
                Err(Missing::NoTypeScript { node })
            }
        }
    }

    /// Major and minor version of a Node.
    async fn node_version(&self, node: &Path) -> Option<(u32, u32)> {
        let job = Job {
            argv: vec![node.into(), "--version".into()],
            cwd: "/".into(),
            env: vec![("PATH".into(), self.path())],
            stdin: Vec::new(),
            limits: Limits { time: VERSION_TIME, stdout_bytes: VERSION_BYTES },
        };
        let mut nobody = |_: String| {};
        let finished =
            process::run(job, &CancellationToken::new(), &mut Log::to(&mut nobody)).await;
        let stdout = finished.ok().filter(|finished| finished.end == End::Code(0))?.stdout;
        let text = String::from_utf8(stdout).ok()?;
        let mut numbers = text.trim().strip_prefix('v')?.split('.').map(str::parse);
        Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
    }

    /// The value of `PATH` for whoever is started: the directories that are searched here.
    pub(crate) fn path(&self) -> OsString {
        // What came out of one list fits into another.
        std::env::join_paths(self.search.iter()).unwrap_or_default()
    }

    /// The program that declarations call `name`, for a script that is named apart from it. Blocks on I/O.
    pub(crate) fn program(&self, name: &str) -> Result<PathBuf, Missing> {
        let Some((name, hint)) = TABLE.iter().find(|(known, _)| *known == name) else {
            return Err(Missing::Unknown { name: name.to_owned() });
        };
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some([program]) = found.get(name).map(Vec::as_slice) {
            return Ok(program.into());
        }
        let program = search_for(&self.search, name).ok_or(Missing::NotInstalled { name, hint })?;
        found.insert(name, vec![program.clone().into()]);
        Ok(program)
    }

    /// The names of the programs that this machine has, in the order of the table. Blocks on I/O.
    pub(crate) fn offered(&self) -> Vec<&'static str> {
        TABLE.iter().map(|(name, _)| *name).filter(|name| self.program(name).is_ok()).collect()
    }

    async fn find(&self, program: &'static str) -> Option<PathBuf> {
        let search = Arc::clone(&self.search);
        blocking(move || search_for(&search, program)).await
    }
}

fn search_for(search: &[PathBuf], program: &str) -> Option<PathBuf> {
    let mut candidates = search.iter().map(|directory| directory.join(program));
    candidates.find(|candidate| is_executable(candidate))
}

fn words(program: PathBuf, arguments: &[&str]) -> Vec<OsString> {
    std::iter::once(program.into()).chain(arguments.iter().map(OsString::from)).collect()
}

fn is_executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}
