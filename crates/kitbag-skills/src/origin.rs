//! Where a skill comes from, how strong that makes it, and whether it may be used unasked.

use std::path::PathBuf;

use serde::Serialize;

use crate::problem::lossily;

/// Where a root came from (decision 2).
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Origin {
    /// Named outright.
    Given {
        /// By what.
        by: GivenBy,
    },
    /// A directory in the user's home.
    User {
        /// The client whose directory it is.
        client: &'static str,
    },
    /// A directory on the way from the working directory up to the filesystem root.
    Project {
        /// The client whose directory it is.
        client: &'static str,
        /// The directory that holds the client's.
        #[serde(serialize_with = "lossily")]
        directory: PathBuf,
        /// How many directories above the working directory; 0 is the working directory itself.
        level: usize,
    },
    /// A folder of a package that the workspace depends on.
    Package {
        /// The package's name.
        package: String,
    },
    /// Inside the binary.
    Bundled,
}

/// What named a root outright.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum GivenBy {
    /// The command line.
    CommandLine,
    /// The environment variable `MCP_SKILLS_PATH` or `SKILLS_DIR`.
    Variable,
    /// `skills.paths` in the user's settings.
    Settings,
}

/// Whether the user has to say yes before a skill is used (decision 4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Trust {
    /// The user put it there, or named it.
    Trusted,
    /// A repository, a package or another user brought it: withheld until approved.
    NeedsApproval,
}

impl Origin {
    /// The word that stands before the colon in `origin:name`, and in listings; unique to a root's origin.
    pub fn label(&self) -> String {
        match self {
            Self::Given { by: GivenBy::CommandLine } => "given".to_owned(),
            Self::Given { by: GivenBy::Variable } => "environment".to_owned(),
            Self::Given { by: GivenBy::Settings } => "settings".to_owned(),
            Self::User { client: "kitbag" } => "user".to_owned(),
            Self::User { client } => format!("user.{client}"),
            Self::Project { client, level, .. } => {
                let mut label = match level {
                    0 => "project".to_owned(),
                    level => format!("project-{level}"),
                };
                if *client != "kitbag" {
                    label.push('.');
                    label.push_str(client);
                }
                label
            }
            Self::Package { package } => format!("package({package})"),
            Self::Bundled => "bundled".to_owned(),
        }
    }
}
