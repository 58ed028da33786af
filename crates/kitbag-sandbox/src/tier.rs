//! What a machine's kernel gives, and what can be promised with it.

use std::fmt;

/// How strong the boundary is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tier {
    /// There is no boundary that holds for files.
    None,
    /// Landlock beside a system call filter: files of others can't be read or written, but are seen to exist.
    Lsm,
    /// Namespaces with a root built for the run, and a system call filter, without Landlock behind them.
    Namespaces,
    /// Namespaces with a root built for the run, Landlock, and a system call filter.
    Full,
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "none",
            Self::Lsm => "lsm",
            Self::Namespaces => "namespaces",
            Self::Full => "full",
        })
    }
}

/// Something that the kernel is asked for, and that a machine may not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Layer {
    /// User, mount, process, network, IPC and host name namespaces, and a root of our own in them.
    Namespaces,
    /// Landlock.
    Landlock,
    /// A system call filter.
    Seccomp,
    /// A control group that bounds the number of processes.
    ProcessGroup,
    /// A control group that bounds memory.
    MemoryGroup,
}

impl Layer {
    /// All of them, strongest first.
    pub const ALL: [Self; 5] =
        [Self::Namespaces, Self::Landlock, Self::Seccomp, Self::ProcessGroup, Self::MemoryGroup];
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Namespaces => "namespaces",
            Self::Landlock => "landlock",
            Self::Seccomp => "seccomp",
            Self::ProcessGroup => "process group",
            Self::MemoryGroup => "memory group",
        })
    }
}

/// What one layer gives on this machine, found by doing it in a child.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Presence {
    /// It works. The text says more, such as a version.
    Works(String),
    /// It doesn't, and this is what the kernel said.
    Missing(String),
}

/// One thing that a run may be promised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Guarantee {
    /// It reads no file that it was not granted.
    FileRead,
    /// It changes the content of no file that it was not granted.
    FileWrite,
    /// It changes no mode, time or attribute of another file, and can't tell whether one exists.
    FileMetadata,
    /// It runs no program that it wrote itself.
    Execute,
    /// It reaches nothing by any network, and no other program of this machine.
    Network,
    /// It reaches the hosts that it was granted, and nothing else.
    Hosts,
    /// It signals and traces no process outside.
    Signals,
    /// It can't read the memory, the environment or the open files of a process outside.
    Memory,
    /// No process of it survives.
    TreeDies,
    /// The memory of each process is bounded.
    MemoryEach,
    /// The memory of all its processes together is bounded.
    MemoryTotal,
    /// The number of its processes is bounded.
    Processes,
    /// The CPU time of each process is bounded.
    CpuTime,
    /// The size of each file is bounded.
    FileSize,
    /// The number of open files is bounded.
    OpenFiles,
    /// What the scratch directory holds is bounded.
    ScratchSize,
}

impl Guarantee {
    /// All of them.
    pub const ALL: [Self; 16] = [
        Self::FileRead,
        Self::FileWrite,
        Self::FileMetadata,
        Self::Execute,
        Self::Network,
        Self::Hosts,
        Self::Signals,
        Self::Memory,
        Self::TreeDies,
        Self::MemoryEach,
        Self::MemoryTotal,
        Self::Processes,
        Self::CpuTime,
        Self::FileSize,
        Self::OpenFiles,
        Self::ScratchSize,
    ];

    /// The name that a setting and a report use.
    pub const fn name(self) -> &'static str {
        match self {
            Self::FileRead => "file-read",
            Self::FileWrite => "file-write",
            Self::FileMetadata => "file-metadata",
            Self::Execute => "execute",
            Self::Network => "network",
            Self::Hosts => "hosts",
            Self::Signals => "signals",
            Self::Memory => "memory",
            Self::TreeDies => "tree-dies",
            Self::MemoryEach => "memory-each",
            Self::MemoryTotal => "memory-total",
            Self::Processes => "processes",
            Self::CpuTime => "cpu-time",
            Self::FileSize => "file-size",
            Self::OpenFiles => "open-files",
            Self::ScratchSize => "scratch-size",
        }
    }
}

impl fmt::Display for Guarantee {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Whether a guarantee holds on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It holds.
    Held,
    /// It holds but for this.
    Partly(&'static str),
    /// It doesn't, for this reason.
    Missing(String),
}

/// What this machine gives: one row a layer, and one a guarantee.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// The strongest tier that was seen to work.
    pub tier: Tier,
    /// Each layer, in the order of [`Layer::ALL`].
    pub layers: Vec<(Layer, Presence)>,
    /// Each guarantee, in the order of [`Guarantee::ALL`].
    pub guarantees: Vec<(Guarantee, Verdict)>,
}

/// What was found out about a kernel and about who asks.
#[derive(Debug, Clone)]
pub(crate) struct Findings {
    pub(crate) layers: Vec<(Layer, Presence)>,
    /// The version of Landlock's interface; zero is none.
    pub(crate) landlock: u32,
    pub(crate) root: bool,
}

impl Findings {
    /// What a machine has that can do nothing, and why.
    pub(crate) fn nothing(why: &str) -> Self {
        let missing = |layer| (layer, Presence::Missing(why.to_owned()));
        Self { layers: Layer::ALL.map(missing).to_vec(), landlock: 0, root: false }
    }

    fn missing(&self, wanted: Layer) -> Option<&str> {
        self.layers.iter().find_map(|(layer, presence)| match presence {
            Presence::Missing(why) if *layer == wanted => Some(why.as_str()),
            Presence::Missing(_) | Presence::Works(_) => None,
        })
    }

    pub(crate) fn has(&self, layer: Layer) -> bool {
        self.missing(layer).is_none()
    }

    pub(crate) fn tier(&self) -> Tier {
        let (namespaces, landlock) = (self.has(Layer::Namespaces), self.has(Layer::Landlock));
        match (self.has(Layer::Seccomp), namespaces, landlock) {
            (true, true, true) => Tier::Full,
            (true, true, false) => Tier::Namespaces,
            (true, false, true) => Tier::Lsm,
            (false, _, _) | (true, false, false) => Tier::None,
        }
    }

    pub(crate) fn report(&self) -> Report {
        let guarantees = Guarantee::ALL.map(|each| (each, self.verdict(each))).to_vec();
        Report { tier: self.tier(), layers: self.layers.clone(), guarantees }
    }

    /// Decides one guarantee. The tables in `docs/reference/sandbox.md` say the same.
    pub(crate) fn verdict(&self, guarantee: Guarantee) -> Verdict {
        let tier = self.tier();
        if tier == Tier::None {
            return Verdict::Missing(self.without_a_tier());
        }
        let built_root = tier >= Tier::Namespaces;
        let without = |why: &str| {
            let cause = self.missing(Layer::Namespaces).unwrap_or("not used");
            Verdict::Missing(format!("{why} (namespaces: {cause})"))
        };
        let needs_landlock = |version: u32, why: &str| match () {
            () if built_root || self.landlock >= version => Verdict::Held,
            () => without(&format!("{why}: Landlock is version {}", self.landlock)),
        };
        match guarantee {
            Guarantee::FileRead
            | Guarantee::Network
            | Guarantee::MemoryEach
            | Guarantee::CpuTime
            | Guarantee::FileSize
            | Guarantee::OpenFiles
            | Guarantee::Memory => Verdict::Held,
            Guarantee::FileMetadata
            | Guarantee::Execute
            | Guarantee::TreeDies
            | Guarantee::ScratchSize
                if built_root =>
            {
                Verdict::Held
            }
            Guarantee::FileWrite => needs_landlock(3, "files can be truncated"),
            Guarantee::Signals => needs_landlock(6, "signals reach processes of the same user"),
            Guarantee::FileMetadata => {
                without("modes, times and attributes of the user's files can be changed")
            }
            Guarantee::Execute => {
                Verdict::Partly("the system's loader maps a program that lies in a writable place")
            }
            Guarantee::Hosts if built_root => {
                let why = "named hosts need a proxy that holds the way out, and there is none";
                Verdict::Missing(why.to_owned())
            }
            Guarantee::Hosts => without("hosts can't be told apart"),
            Guarantee::TreeDies => {
                Verdict::Partly("daemons survive if somebody kills the launcher itself")
            }
            Guarantee::ScratchSize => without("a directory of the disk has no bound"),
            Guarantee::MemoryTotal => match self.missing(Layer::MemoryGroup) {
                None => Verdict::Held,
                Some(why) => Verdict::Missing(format!("no control group: {why}")),
            },
            Guarantee::Processes => match self.missing(Layer::ProcessGroup) {
                None => Verdict::Held,
                Some(why) if self.root => {
                    Verdict::Missing(format!("root's processes need a control group: {why}"))
                }
                Some(_) if built_root => Verdict::Held,
                Some(_) => Verdict::Partly("all processes of the user are counted"),
            },
        }
    }

    pub(crate) fn without_a_tier(&self) -> String {
        let missing = [Layer::Namespaces, Layer::Landlock, Layer::Seccomp]
            .into_iter()
            .filter_map(|layer| self.missing(layer).map(|why| format!("{layer}: {why}")));
        missing.collect::<Vec<_>>().join("; ")
    }
}
