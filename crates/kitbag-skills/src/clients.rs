//! The directories in which the clients that we know keep skills: one table, so that they cannot drift apart.

/// A client, and where it looks for skills.
#[derive(Debug, PartialEq, Eq)]
pub struct Client {
    /// The short name used in labels, such as `claude`.
    pub name: &'static str,
    /// Directories below a project directory, the preferred one first.
    pub project: &'static [&'static str],
    /// Directories below the user's home, the preferred one first.
    pub user: &'static [&'static str],
    /// Whether kitbag reads these directories without being told to (decision 2).
    pub reading: Reading,
}

/// Whether a client's directories are roots by default.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reading {
    /// Read by default.
    Default,
    /// Read only inside a root that was given outright, or when given as one.
    WhenGiven,
}

/// Every client we know, those read by default first and in the order of their strength.
pub const CLIENTS: &[Client] = &[
    Client {
        name: "kitbag",
        project: &[".kitbag/skills"],
        user: &[".kitbag/skills"],
        reading: Reading::Default,
    },
    Client {
        name: "agents",
        project: &[".agents/skills"],
        user: &[".agents/skills"],
        reading: Reading::Default,
    },
    Client {
        name: "claude",
        project: &[".claude/skills"],
        user: &[".claude/skills"],
        reading: Reading::Default,
    },
    Client {
        name: "codex",
        project: &[".codex/skills"],
        user: &[".codex/skills"],
        reading: Reading::WhenGiven,
    },
    Client {
        name: "copilot",
        project: &[".github/skills"],
        user: &[".copilot/skills"],
        reading: Reading::WhenGiven,
    },
    Client {
        name: "cursor",
        project: &[".cursor/skills"],
        user: &[".cursor/skills"],
        reading: Reading::WhenGiven,
    },
    Client {
        name: "gemini",
        project: &[".gemini/skills"],
        user: &[".gemini/skills"],
        reading: Reading::WhenGiven,
    },
    Client {
        name: "opencode",
        project: &[".opencode/skills", ".opencode/skill"],
        user: &[".config/opencode/skills", ".config/opencode/skill"],
        reading: Reading::WhenGiven,
    },
    Client {
        name: "kiro",
        project: &[".kiro/skills"],
        user: &[".kiro/skills"],
        reading: Reading::WhenGiven,
    },
    Client {
        name: "goose",
        project: &[".goose/skills"],
        user: &[".config/goose/skills", ".config/agents/skills"],
        reading: Reading::WhenGiven,
    },
    Client {
        name: "pi",
        project: &[".pi/skills"],
        user: &[".pi/agent/skills"],
        reading: Reading::WhenGiven,
    },
    Client {
        name: "openclaw",
        project: &["skills"],
        user: &[".openclaw/skills"],
        reading: Reading::WhenGiven,
    },
    Client {
        name: "amp",
        project: &[".agents/skills"],
        user: &[".config/amp/skills", ".config/agents/skills"],
        reading: Reading::WhenGiven,
    },
];

/// Hidden directories below which collections keep skills, besides those of [`CLIENTS`].
pub const COLLECTION_DIRECTORIES: &[&str] = &[".curated", ".experimental", ".system"];

/// Whether a hidden directory of this name may hold skills inside a root that was given outright.
pub fn may_hold_skills(name: &str) -> bool {
    COLLECTION_DIRECTORIES.contains(&name)
        || CLIENTS
            .iter()
            .flat_map(|client| client.project)
            .any(|directory| directory.split('/').next() == Some(name) && name.starts_with('.'))
}
