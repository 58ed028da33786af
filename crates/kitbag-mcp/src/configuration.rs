//! All files together: which entry counts for a name (decision 9).

use std::collections::{BTreeMap, BTreeSet};

use kitbag_settings::{Position, SourceName};

use crate::entry::ServerEntry;
use crate::file::{ConfigFile, Named, SourceKind};
use crate::name::ServerName;

/// The servers of all files, by name.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Configuration {
    /// Those that an entry stands for.
    pub servers: BTreeMap<ServerName, ConfiguredServer>,
}

/// A server as it was written, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfiguredServer {
    /// Its name.
    pub name: ServerName,
    /// What kind of source names it.
    pub kind: SourceKind,
    /// The file or flag.
    pub source: SourceName,
    /// Where its name stands there.
    pub position: Option<Position>,
    /// What is written. Nothing of it is expanded.
    pub entry: ServerEntry,
    /// Why it is never dialled, if it is not (B-55).
    pub disabled: Option<Disabled>,
    /// The weaker files whose entries of this name it replaces whole.
    pub replaces: Vec<SourceName>,
}

/// What disables a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Disabled {
    /// Its own entry.
    Entry,
    /// `disabledMcpServers` of this file.
    List(SourceName),
}

impl Configuration {
    /// Puts files together: of one name the strongest file's entry counts, whole; of one kind, a later file is the stronger
    /// (B-53, B-68, G-26). A name whose entry cannot be taken stands for no server, whatever weaker files say of it.
    ///
    /// `disabledMcpServers` accumulates over all of them (B-54).
    pub fn layer(files: Vec<ConfigFile>) -> Self {
        let mut files = files;
        files.sort_by_key(|file| file.kind);
        let mut disabled: BTreeMap<String, SourceName> = BTreeMap::new();
        for file in &files {
            for name in &file.disabled {
                disabled.insert(name.clone(), file.source.clone());
            }
        }
        let mut servers: BTreeMap<ServerName, ConfiguredServer> = BTreeMap::new();
        let mut replaced: BTreeMap<ServerName, Vec<SourceName>> = BTreeMap::new();
        for ConfigFile { kind, source, entries, .. } in files {
            for Named { name, position, entry } in entries {
                if let Some(weaker) = servers.remove(&name) {
                    replaced.entry(name.clone()).or_default().push(weaker.source);
                }
                let Some(entry) = entry else { continue };
                let by_list = disabled.get(name.as_str()).cloned().map(Disabled::List);
                let server = ConfiguredServer {
                    name: name.clone(),
                    kind,
                    source: source.clone(),
                    position,
                    disabled: by_list.or(entry.disabled.then_some(Disabled::Entry)),
                    entry,
                    replaces: Vec::new(),
                };
                servers.insert(name, server);
            }
        }
        for (name, weaker) in replaced {
            if let Some(server) = servers.get_mut(&name) {
                server.replaces = weaker;
            }
        }
        Self { servers }
    }

    /// The names of servers that came, went, or are written otherwise than before; those that stayed need no restart (G-36).
    pub fn changed(&self, before: &Self) -> BTreeSet<ServerName> {
        let names = self.servers.keys().chain(before.servers.keys());
        let one = |of: &Self, name: &ServerName| {
            of.servers
                .get(name)
                .map(|server| (server.entry.clone(), server.kind, server.disabled.is_some()))
        };
        names.filter(|name| one(self, name) != one(before, name)).cloned().collect()
    }
}
