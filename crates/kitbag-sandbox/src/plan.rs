//! What the server tells the launcher, and what the launcher tells the server: bytes between two processes of one
//! program, so neither of them reads what another version wrote.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::time::Duration;

/// The most bytes of a plan.
pub(crate) const MAX_PLAN_BYTES: usize = 4 * 1024 * 1024;
/// The most bytes of one message between launcher and server.
pub(crate) const MAX_MESSAGE_BYTES: usize = 8 * 1024;
/// The port on the loopback of a run's own network where the way out is.
pub(crate) const PROXY_PORT: u16 = 3128;

/// What is to be done at the end of all preparations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Execute the command.
    Run,
    /// Try whether what is asked for holds, and end.
    Check,
}

/// Which layers to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Layers {
    pub(crate) use_namespaces: bool,
    pub(crate) use_landlock: bool,
    pub(crate) use_seccomp: bool,
}

/// A control group to make, with the files to write in it before anybody joins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GroupPlan {
    pub(crate) parent: PathBuf,
    pub(crate) settings: Vec<(OsString, OsString)>,
}

/// Everything that the launcher needs to know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) purpose: Purpose,
    pub(crate) layers: Layers,
    pub(crate) argv: Vec<OsString>,
    pub(crate) cwd: PathBuf,
    pub(crate) environment: Vec<(OsString, OsString)>,
    pub(crate) read: Vec<PathBuf>,
    pub(crate) execute: Vec<PathBuf>,
    pub(crate) write: Vec<PathBuf>,
    pub(crate) scratch: Option<(PathBuf, Option<u64>)>,
    pub(crate) proxy: bool,
    pub(crate) groups: Vec<GroupPlan>,
    pub(crate) memory_each: Option<u64>,
    pub(crate) processes: Option<u64>,
    pub(crate) cpu_seconds: Option<u64>,
    pub(crate) file_size: Option<u64>,
    pub(crate) open_files: Option<u64>,
    pub(crate) wall: Option<Duration>,
    pub(crate) grace: Duration,
}

#[derive(Default)]
struct Writer(Vec<u8>);

impl Writer {
    fn number(&mut self, number: u64) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    fn optional(&mut self, number: Option<u64>) {
        self.number(u64::from(number.is_some()));
        self.number(number.unwrap_or(0));
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    fn paths(&mut self, paths: &[PathBuf]) {
        self.number(paths.len() as u64);
        for path in paths {
            self.bytes(path.as_os_str().as_bytes());
        }
    }

    fn pairs(&mut self, pairs: &[(OsString, OsString)]) {
        self.number(pairs.len() as u64);
        for (name, value) in pairs {
            self.bytes(name.as_bytes());
            self.bytes(value.as_bytes());
        }
    }
}

struct Reader<'a>(&'a [u8]);

/// Bytes that are no plan.
#[derive(Debug)]
pub(crate) struct Malformed;

impl Reader<'_> {
    fn number(&mut self) -> Result<u64, Malformed> {
        let (number, rest) = self.0.split_first_chunk::<8>().ok_or(Malformed)?;
        self.0 = rest;
        Ok(u64::from_le_bytes(*number))
    }

    fn flag(&mut self) -> Result<bool, Malformed> {
        self.number().map(|number| number != 0)
    }

    fn optional(&mut self) -> Result<Option<u64>, Malformed> {
        let some = self.flag()?;
        let number = self.number()?;
        Ok(some.then_some(number))
    }

    fn text(&mut self) -> Result<OsString, Malformed> {
        let length = usize::try_from(self.number()?).map_err(|_| Malformed)?;
        let (text, rest) = self.0.split_at_checked(length).ok_or(Malformed)?;
        self.0 = rest;
        Ok(OsString::from_vec(text.to_vec()))
    }

    fn list<T>(
        &mut self,
        mut item: impl FnMut(&mut Self) -> Result<T, Malformed>,
    ) -> Result<Vec<T>, Malformed> {
        let length = self.number()?;
        (0..length).map(|_| item(self)).collect()
    }

    fn path(&mut self) -> Result<PathBuf, Malformed> {
        self.text().map(PathBuf::from)
    }

    fn pair(&mut self) -> Result<(OsString, OsString), Malformed> {
        Ok((self.text()?, self.text()?))
    }
}

impl Plan {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        writer.number(u64::from(self.purpose == Purpose::Check));
        writer.number(u64::from(self.layers.use_namespaces));
        writer.number(u64::from(self.layers.use_landlock));
        writer.number(u64::from(self.layers.use_seccomp));
        writer.number(self.argv.len() as u64);
        for argument in &self.argv {
            writer.bytes(argument.as_bytes());
        }
        writer.bytes(self.cwd.as_os_str().as_bytes());
        writer.pairs(&self.environment);
        writer.paths(&self.read);
        writer.paths(&self.execute);
        writer.paths(&self.write);
        writer.number(u64::from(self.scratch.is_some()));
        if let Some((path, bytes)) = &self.scratch {
            writer.bytes(path.as_os_str().as_bytes());
            writer.optional(*bytes);
        }
        writer.number(u64::from(self.proxy));
        writer.number(self.groups.len() as u64);
        for group in &self.groups {
            writer.bytes(group.parent.as_os_str().as_bytes());
            writer.pairs(&group.settings);
        }
        for limit in [
            self.memory_each,
            self.processes,
            self.cpu_seconds,
            self.file_size,
            self.open_files,
            self.wall.map(nanoseconds),
            Some(nanoseconds(self.grace)),
        ] {
            writer.optional(limit);
        }
        writer.0
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader(bytes);
        let check = reader.flag()?;
        let layers = Layers {
            use_namespaces: reader.flag()?,
            use_landlock: reader.flag()?,
            use_seccomp: reader.flag()?,
        };
        let argv = reader.list(Reader::text)?;
        let cwd = reader.path()?;
        let environment = reader.list(Reader::pair)?;
        let read = reader.list(Reader::path)?;
        let execute = reader.list(Reader::path)?;
        let write = reader.list(Reader::path)?;
        let scratch =
            if reader.flag()? { Some((reader.path()?, reader.optional()?)) } else { None };
        let proxy = reader.flag()?;
        let groups = reader.list(|reader| {
            Ok(GroupPlan { parent: reader.path()?, settings: reader.list(Reader::pair)? })
        })?;
        let plan = Self {
            purpose: if check { Purpose::Check } else { Purpose::Run },
            layers,
            argv,
            cwd,
            environment,
            read,
            execute,
            write,
            scratch,
            proxy,
            groups,
            memory_each: reader.optional()?,
            processes: reader.optional()?,
            cpu_seconds: reader.optional()?,
            file_size: reader.optional()?,
            open_files: reader.optional()?,
            wall: reader.optional()?.map(Duration::from_nanos),
            grace: Duration::from_nanos(reader.optional()?.ok_or(Malformed)?),
        };
        reader.0.is_empty().then_some(plan).ok_or(Malformed)
    }
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// What the launcher was doing when the kernel said no.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Stage {
    /// Taking the plan from the server.
    Plan = 0,
    /// Making the control groups.
    Group = 1,
    /// Making a process, in namespaces of its own where those are used.
    Process = 2,
    /// Mapping the user into the user namespace.
    UserMap = 3,
    /// Building the root.
    Root = 4,
    /// Giving a granted path a place in the root.
    Grant = 5,
    /// Mounting a process table of its own.
    ProcessTable = 6,
    /// Changing to the built root.
    Pivot = 7,
    /// Making the network of its own.
    Network = 8,
    /// Changing to the working directory.
    WorkingDirectory = 9,
    /// Setting the resource limits.
    Limits = 10,
    /// Dropping capabilities.
    Capabilities = 11,
    /// Restricting itself by Landlock.
    Landlock = 12,
    /// Restricting itself by a system call filter.
    Seccomp = 13,
    /// Seeing whether what was set up holds.
    Check = 14,
    /// Executing the program.
    Execute = 15,
}

impl Stage {
    const ALL: [Self; 16] = [
        Self::Plan,
        Self::Group,
        Self::Process,
        Self::UserMap,
        Self::Root,
        Self::Grant,
        Self::ProcessTable,
        Self::Pivot,
        Self::Network,
        Self::WorkingDirectory,
        Self::Limits,
        Self::Capabilities,
        Self::Landlock,
        Self::Seccomp,
        Self::Check,
        Self::Execute,
    ];
}

impl std::fmt::Display for Stage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Plan => "taking the plan",
            Self::Group => "making a control group",
            Self::Process => "making the process",
            Self::UserMap => "mapping the user",
            Self::Root => "building the root",
            Self::Grant => "granting a path",
            Self::ProcessTable => "mounting the process table",
            Self::Pivot => "changing the root",
            Self::Network => "setting up the network",
            Self::WorkingDirectory => "entering the working directory",
            Self::Limits => "setting the limits",
            Self::Capabilities => "dropping capabilities",
            Self::Landlock => "restricting by Landlock",
            Self::Seccomp => "restricting by a system call filter",
            Self::Check => "checking the boundary",
            Self::Execute => "executing the program",
        })
    }
}

/// One message from the launcher, or from what it made, to the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Message {
    /// A step failed, and nothing was executed.
    Failed { stage: Stage, errno: i32, detail: Vec<u8> },
    /// All is set up; the next thing that happens is the program's. Monotonic nanoseconds, and the version of Landlock.
    Ready { at: u64, landlock: u32 },
    /// The program ended with this status of `wait`.
    Ended { status: i32 },
    /// Time was up.
    TimedOut,
    /// All processes are gone.
    Gone { out_of_memory: bool },
    /// The descriptor beside it listens in the run's own network.
    Listening,
}

impl Message {
    pub(crate) fn encode(&self) -> Vec<u8> {
        match self {
            Self::Failed { stage, errno, detail } => {
                let mut bytes = vec![b'F', *stage as u8];
                bytes.extend_from_slice(&errno.to_le_bytes());
                bytes.extend_from_slice(&detail[..detail.len().min(MAX_MESSAGE_BYTES - 64)]);
                bytes
            }
            Self::Ready { at, landlock } => {
                let mut bytes = vec![b'R'];
                bytes.extend_from_slice(&at.to_le_bytes());
                bytes.extend_from_slice(&landlock.to_le_bytes());
                bytes
            }
            Self::Ended { status } => {
                let mut bytes = vec![b'E'];
                bytes.extend_from_slice(&status.to_le_bytes());
                bytes
            }
            Self::TimedOut => vec![b'T'],
            Self::Gone { out_of_memory } => vec![b'G', u8::from(*out_of_memory)],
            Self::Listening => vec![b'L'],
        }
    }

    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let (kind, rest) = bytes.split_first()?;
        match kind {
            b'F' => {
                let (stage, rest) = rest.split_first()?;
                let (errno, detail) = rest.split_first_chunk::<4>()?;
                Some(Self::Failed {
                    stage: *Stage::ALL.get(usize::from(*stage))?,
                    errno: i32::from_le_bytes(*errno),
                    detail: detail.to_vec(),
                })
            }
            b'R' => {
                let (at, landlock) = rest.split_first_chunk::<8>()?;
                let landlock = landlock.first_chunk::<4>()?;
                Some(Self::Ready {
                    at: u64::from_le_bytes(*at),
                    landlock: u32::from_le_bytes(*landlock),
                })
            }
            b'E' => Some(Self::Ended { status: i32::from_le_bytes(*rest.first_chunk()?) }),
            b'T' => Some(Self::TimedOut),
            b'G' => Some(Self::Gone { out_of_memory: *rest.first()? != 0 }),
            b'L' => Some(Self::Listening),
            _ => None,
        }
    }
}
