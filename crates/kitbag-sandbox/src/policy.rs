//! What a program may do: the value that a run is held to.

use std::ffi::OsString;
use std::fmt;
use std::path::{Component, Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use crate::tier::{Guarantee, Tier};

/// The most bytes that the arguments and the environment of a job may have together.
pub const MAX_COMMAND_BYTES: usize = 1024 * 1024;
/// The most paths that a policy may name in all.
pub const MAX_PATHS: usize = 256;
/// The most hosts that a policy may name.
pub const MAX_HOSTS: usize = 64;
/// The most bytes of a path of a policy.
pub const MAX_PATH_BYTES: usize = 4096;

/// Where the files of the system lie that a program needs to start at all: its interpreter, loader and libraries.
const SYSTEM_EXECUTABLE: [&str; 8] =
    ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/opt", "/nix/store"];
/// What programs of the system read of its configuration, and what says nothing about the person.
const SYSTEM_READABLE: [&str; 5] =
    ["/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime", "/etc/ssl", "/etc/pki"];
/// Places that are made anew for a run, so that nobody can grant the machine's.
const RESERVED: [&str; 3] = ["/proc", "/dev", "/sys"];

/// What a program may read, write, execute, reach and use. All else is denied by the kernel.
///
/// A path covers what is below it. A path that does not exist when the run starts fails the run, by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// Files and directories that it may read.
    pub read: Vec<PathBuf>,
    /// Files and directories that it may read and execute.
    pub execute: Vec<PathBuf>,
    /// Files and directories that it may read, write and create in. What lies there is not executed, unless the
    /// same path is in `execute` too.
    pub write: Vec<PathBuf>,
    /// A directory that it may write and that nobody keeps.
    pub scratch: Option<Scratch>,
    /// What it may reach.
    pub network: Network,
    /// Its whole environment; nothing is inherited.
    pub environment: Vec<(OsString, OsString)>,
    /// What it may use.
    pub limits: Limits,
    /// The weakest tier that will do.
    pub least: Tier,
    /// What may be missing all the same.
    pub allowed: Allowed,
}

impl Policy {
    /// Makes the policy of a program that may read and execute the system's own programs and libraries, and
    /// nothing else: no other file, no network, an empty environment, and the limits of [`Limits::SCRIPT`].
    pub fn system() -> Self {
        let existing = |paths: &[&str]| -> Vec<PathBuf> {
            paths.iter().map(PathBuf::from).filter(|path| path.exists()).collect()
        };
        Self {
            read: existing(&SYSTEM_READABLE),
            execute: existing(&SYSTEM_EXECUTABLE),
            write: Vec::new(),
            scratch: None,
            network: Network::None,
            environment: Vec::new(),
            limits: Limits::SCRIPT,
            least: Tier::Lsm,
            allowed: Allowed::Nothing,
        }
    }

    /// Checks what can be checked without the disk.
    pub(crate) fn check(&self) -> Result<(), PolicyError> {
        let scratch = self.scratch.iter().map(|scratch| &scratch.path);
        let paths =
            || self.read.iter().chain(&self.execute).chain(&self.write).chain(scratch.clone());
        if paths().count() > MAX_PATHS {
            return Err(PolicyError::TooManyPaths);
        }
        for path in paths() {
            check_path(path)?;
        }
        for (name, value) in &self.environment {
            let name = name.as_encoded_bytes();
            let value = value.as_encoded_bytes();
            if name.is_empty() || name.contains(&b'=') || name.contains(&0) || value.contains(&0) {
                let name = String::from_utf8_lossy(name).into_owned();
                return Err(PolicyError::Variable { name });
            }
        }
        match &self.network {
            Network::Hosts(hosts) if hosts.len() > MAX_HOSTS => Err(PolicyError::TooManyHosts),
            Network::None | Network::Hosts(_) => Ok(()),
        }
    }
}

fn check_path(path: &Path) -> Result<(), PolicyError> {
    let bytes = path.as_os_str().as_encoded_bytes();
    let problem = |why| Err(PolicyError::Path { path: path.to_owned(), why });
    if !path.is_absolute() {
        return problem("is not absolute");
    }
    if bytes.len() > MAX_PATH_BYTES || bytes.contains(&0) {
        return problem("is longer than 4096 bytes or holds a NUL");
    }
    if path.components().any(|part| part == Component::ParentDir) {
        return problem("holds `..`");
    }
    if path.parent().is_none() {
        return problem("is the whole file system");
    }
    if RESERVED.iter().any(|reserved| path.starts_with(reserved)) {
        return problem("lies in a place that is made anew for every run");
    }
    Ok(())
}

/// A directory for what nobody keeps: the caller makes it and removes it.
///
/// Where there are namespaces, what is written there lies in memory, is bounded, and goes with the run; the
/// directory itself stays empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scratch {
    /// The directory.
    pub path: PathBuf,
    /// The most bytes in it, if that is to be held.
    pub bytes: Option<u64>,
}

/// What a program may reach.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Network {
    /// Nothing, not even another program of this machine.
    None,
    /// These, by HTTP through a proxy that knows them, and nothing else. No proxy is built in: a policy that names
    /// hosts is refused, whatever it allows to be missing.
    Hosts(Vec<HostPort>),
}

/// A host and a port that may be reached.
///
/// Written `api.example.com`, `api.example.com:8443` or `*.example.com`; without a port it is 443. A `*.` stands for
/// one or more labels, never for none.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct HostPort {
    host: Box<str>,
    any_label: bool,
    port: u16,
}

impl HostPort {
    /// Says whether a host, of any case, with this port is meant.
    pub fn covers(&self, host: &str, port: u16) -> bool {
        let host = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
        if port != self.port {
            return false;
        }
        if !self.any_label {
            return *host == *self.host;
        }
        host.strip_suffix(&*self.host)
            .is_some_and(|front| front.len() > 1 && front.ends_with('.') && !front.starts_with('.'))
    }
}

impl FromStr for HostPort {
    type Err = HostPortError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = || HostPortError { text: text.chars().take(120).collect() };
        let (host, port) = match text.rsplit_once(':') {
            Some((host, port)) => (host, port.parse().map_err(|_| error())?),
            None => (text, 443),
        };
        let (any_label, host) = match host.strip_prefix("*.") {
            Some(rest) => (true, rest),
            None => (false, host),
        };
        let label = |label: &str| {
            !label.is_empty()
                && label.len() <= 63
                && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
        };
        if port == 0 || host.len() > 253 || !host.split('.').all(label) {
            return Err(error());
        }
        Ok(Self { host: host.to_ascii_lowercase().into(), any_label, port })
    }
}

impl fmt::Display for HostPort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { host, any_label, port } = self;
        write!(f, "{}{host}:{port}", if *any_label { "*." } else { "" })
    }
}

/// A text that names no host and port.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a host, `host:port` or `*.host:port`")]
pub struct HostPortError {
    /// What was written, cut at 120 characters.
    pub text: String,
}

/// What a program may use. `None` asks for no limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// The most bytes of data of each process.
    pub memory_each: Option<u64>,
    /// The most bytes of memory of all its processes together.
    pub memory_total: Option<u64>,
    /// The most processes and threads at one time.
    pub processes: Option<u64>,
    /// The most CPU time of each process, in whole seconds.
    pub cpu_each: Option<Duration>,
    /// The most bytes of each file that it writes.
    pub file_size: Option<u64>,
    /// The most open descriptors of each process.
    pub open_files: Option<u64>,
    /// How long the run may take.
    pub wall: Option<Duration>,
    /// How long after a polite signal everything is killed, when time is up or the run is cancelled.
    pub grace: Duration,
    /// The most bytes that are kept of each of its output streams; the rest is read, counted and dropped.
    pub output: usize,
}

impl Limits {
    /// What a skill's script gets by default.
    pub const SCRIPT: Self = Self {
        memory_each: Some(1024 * 1024 * 1024),
        memory_total: None,
        processes: Some(128),
        cpu_each: None,
        file_size: Some(64 * 1024 * 1024),
        open_files: Some(1024),
        wall: Some(Duration::from_mins(1)),
        grace: Duration::from_millis(100),
        output: 1024 * 1024,
    };
}

/// What may be missing from a run that asked for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Allowed {
    /// Nothing: what the machine can't hold is refused.
    Nothing,
    /// These: whoever sets this decides, by name, to run without them where the machine can't hold them.
    Weaker(Vec<Guarantee>),
}

/// A policy or job that means nothing that could be enforced.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PolicyError {
    /// A path can't be granted.
    #[error("the path `{}` {why}", path.display())]
    Path {
        /// The path.
        path: PathBuf,
        /// What is wrong with it.
        why: &'static str,
    },
    /// There are more than [`MAX_PATHS`] paths.
    #[error("more than {MAX_PATHS} paths are named")]
    TooManyPaths,
    /// There are more than [`MAX_HOSTS`] hosts.
    #[error("more than {MAX_HOSTS} hosts are named")]
    TooManyHosts,
    /// A variable's name is empty or holds `=`, or it or its value holds a NUL.
    #[error("`{name}` can't be a variable of an environment")]
    Variable {
        /// Its name.
        name: String,
    },
    /// There is no program, it is not an absolute path, or an argument holds a NUL.
    #[error("the command is empty, its program no absolute path, or an argument holds a NUL")]
    Command,
    /// Arguments and environment have more than [`MAX_COMMAND_BYTES`].
    #[error("arguments and environment are longer than {MAX_COMMAND_BYTES} bytes")]
    CommandTooLong,
}
