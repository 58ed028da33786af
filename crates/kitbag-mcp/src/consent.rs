//! What the owner of a workspace says yes to, and what can be had only after that (decision 13, G-30 to G-33).

use std::fmt;
use std::path::{Component, Path, PathBuf};
use std::str::FromStr;

use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use crate::configuration::ConfiguredServer;
use crate::covered::Covered;
use crate::entry::{Field, ServerEntry, Stdio, Transport, is_address};
use crate::name::ServerName;
use crate::template::{Expanded, MAX_EXPANDED_BYTES, Unexpanded, Unset};

/// SHA-256 over an entry as it was written and over the workspace's files that it names; as text, 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint([u8; 32]);

/// Tells the SHA-256 of the bytes of a regular file that lies in the workspace, or that a path in the workspace leads to,
/// links followed; nothing for every other path.
pub type FileDigest<'a> = dyn Fn(&Path) -> Option<[u8; 32]> + 'a;

/// A text that is no fingerprint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a fingerprint is 64 lower-case hexadecimal digits")]
pub struct FingerprintError;

/// A server that may be started: the user's own, or one that its owner said yes to.
///
/// There is no other way to an [`Expanded`] entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Released<'a>(&'a ConfiguredServer);

/// Why a server may not be started.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotApproved {
    /// Nobody said yes to it.
    #[error("server `{0}` is not approved")]
    Never(ServerName),
    /// What was approved is not what is there now (G-31, G-33).
    #[error("server `{0}` has changed since it was approved")]
    Changed(ServerName),
}

/// Why an entry has no expansion. It never says what a variable holds.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExpandError {
    /// A variable is unset and has no default.
    #[error(
        "server `{server}`: the variable `{variable}` is not set, and {place} gives no default"
    )]
    Unset {
        /// The server.
        server: ServerName,
        /// The variable.
        variable: String,
        /// Where it is asked for.
        place: String,
    },
    /// A text would be longer than [`MAX_EXPANDED_BYTES`].
    #[error(
        "server `{server}`: {place} has more than {MAX_EXPANDED_BYTES} bytes when its variables are replaced"
    )]
    TooLong {
        /// The server.
        server: ServerName,
        /// Where.
        place: String,
    },
    /// What came out cannot stand where it should.
    #[error("server `{server}`: with its variables replaced, {place} {fault}")]
    Unusable {
        /// The server.
        server: ServerName,
        /// Where.
        place: String,
        /// What is wrong with it.
        fault: &'static str,
    },
}

impl ConfiguredServer {
    /// Whether it stands in a project's file, so that it needs its owner's consent.
    pub fn needs_consent(&self) -> bool {
        self.kind.is_project()
    }

    /// The files that its fingerprint covers if they lie in the workspace: the command and every argument, and what stands
    /// after a `=` in them, as absolute paths in order, each once.
    ///
    /// Paths are resolved as text, from `cwd`, which is resolved from the workspace. Variables count as unset; where one has
    /// no default, the text names no file here, and [`card`](crate::card) says that it is not covered.
    pub fn named_files(&self, workspace: &Path) -> Vec<PathBuf> {
        let Transport::Stdio(stdio) = &self.entry.transport else { return Vec::new() };
        let Some(cwd) = working_directory(stdio, workspace) else { return Vec::new() };
        let mut files = Vec::new();
        let words = [&stdio.command].into_iter().chain(&stdio.args).enumerate();
        for (at, word) in words {
            let Some(text) = word.without_variables() else { continue };
            // A bare command is looked up, and lies where the system's programs lie.
            let looked_up = at == 0 && !text.contains('/');
            let value = text.split_once('=').map(|(_, value)| value);
            let paths = [Some(text.as_str()).filter(|_| !looked_up), value];
            for path in paths.into_iter().flatten().filter(|path| !path.is_empty()) {
                let path = resolved(&cwd.join(path));
                if !files.contains(&path) {
                    files.push(path);
                }
            }
        }
        files
    }

    /// Those of [`ConfiguredServer::named_files`] that are covered, as names within the workspace, with their digests.
    pub(crate) fn covered_files(
        &self,
        workspace: &Path,
        digest: &FileDigest<'_>,
    ) -> Vec<(String, Fingerprint)> {
        let digested = |path: PathBuf| {
            let found = Fingerprint(digest(&path)?);
            let name = path.strip_prefix(workspace).unwrap_or(&path).to_string_lossy().into_owned();
            Some((name, found))
        };
        self.named_files(workspace).into_iter().filter_map(digested).collect()
    }

    /// The fingerprint of the server as it is now. `disabled` is not covered, since it starts nothing.
    pub fn fingerprint(&self, workspace: &Path, digest: &FileDigest<'_>) -> Fingerprint {
        let files = self.covered_files(workspace, digest).into_iter();
        let files: Vec<Value> =
            files.map(|(name, digest)| json!([name, digest.to_string()])).collect();
        let whole = json!({ "server": self.name, "entry": canonical(&self.entry), "files": files });
        Fingerprint(Sha256::digest(whole.to_string()).into())
    }

    /// Lets the server go, if it is the user's own, or if what was approved is what is there now.
    pub fn release(
        &self,
        now: &Fingerprint,
        approved: Option<&Fingerprint>,
    ) -> Result<Released<'_>, NotApproved> {
        match approved {
            _ if !self.needs_consent() => Ok(Released(self)),
            Some(approved) if approved == now => Ok(Released(self)),
            Some(_) => Err(NotApproved::Changed(self.name.clone())),
            None => Err(NotApproved::Never(self.name.clone())),
        }
    }
}

impl Released<'_> {
    /// The server.
    pub fn server(&self) -> &ConfiguredServer {
        self.0
    }

    /// Replaces the variables by what `lookup` tells (decision 11), and checks what came out.
    pub fn expand(
        &self,
        lookup: &dyn Fn(&str) -> Option<String>,
    ) -> Result<ServerEntry<Expanded>, ExpandError> {
        let server = &self.0.name;
        self.0.entry.map(&|field, text| {
            let expanded = text.expand(lookup).map_err(|unset| match unset {
                Unset::Variable(variable) => {
                    ExpandError::Unset { server: server.clone(), variable, place: field.shown() }
                }
                Unset::TooLong => {
                    ExpandError::TooLong { server: server.clone(), place: field.shown() }
                }
            })?;
            match fault(field, expanded.expose()) {
                None => Ok(expanded),
                Some(fault) => Err(ExpandError::Unusable {
                    server: server.clone(),
                    place: field.shown(),
                    fault,
                }),
            }
        })
    }
}

/// What is wrong with a text where it is to stand.
fn fault(field: Field<'_>, value: &str) -> Option<&'static str> {
    if value.contains('\0') {
        return Some("holds a NUL");
    }
    match field {
        Field::Command | Field::Cwd if value.is_empty() => Some("is empty"),
        Field::Url if !is_address(value) => Some("is no address of a server"),
        // Tabs are the only control characters that a header may hold.
        Field::Header(_) if value.chars().any(|c| c.is_control() && c != '\t') => {
            Some("holds a line end or another control character")
        }
        _ => None,
    }
}

/// The working directory, where it is known without variables.
fn working_directory(stdio: &Stdio, workspace: &Path) -> Option<PathBuf> {
    match &stdio.cwd {
        None => Some(workspace.to_owned()),
        Some(cwd) => Some(resolved(&workspace.join(cwd.without_variables()?))),
    }
}

/// The path without `.` and `..`, as text.
fn resolved(path: &Path) -> PathBuf {
    let mut whole = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                whole.pop();
            }
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => whole.push(part),
        }
    }
    whole
}

/// The entry as one value that is the same for the same entry: names sorted, defaults written out.
fn canonical(entry: &ServerEntry) -> Value {
    let text = |text: &Unexpanded| Value::from(text.written());
    let covered = |pairs: &[(String, Covered<Unexpanded>)]| {
        pairs
            .iter()
            .map(|(name, value)| (name.clone(), text(value.expose())))
            .collect::<Map<_, _>>()
    };
    let transport = match &entry.transport {
        Transport::Stdio(stdio) => json!({
            "type": "stdio",
            "command": text(&stdio.command),
            "args": stdio.args.iter().map(text).collect::<Vec<_>>(),
            "env": covered(&stdio.env),
            "cwd": stdio.cwd.as_ref().map(text),
            "inheritEnv": stdio.inherit_env,
            "sandbox": stdio.sandbox,
        }),
        Transport::Http(http) => json!({
            "type": "http",
            "url": text(http.url.expose()),
            "headers": covered(&http.headers),
            "oauth": http.oauth.as_ref().map(|oauth| json!({
                "clientId": oauth.client_id.as_ref().map(text),
                "clientSecret": oauth.client_secret.as_ref().map(|secret| text(secret.expose())),
                "scopes": oauth.scopes,
                "callbackPort": oauth.callback_port,
            })),
        }),
    };
    json!({
        "transport": transport,
        "connectTimeoutMs": u64::try_from(entry.connect_timeout.as_millis()).unwrap_or(u64::MAX),
        "timeoutMs": u64::try_from(entry.timeout.as_millis()).unwrap_or(u64::MAX),
        "hints": entry.hints,
        "tools": entry.tools,
        "pins": entry.pins,
    })
}

impl Fingerprint {
    /// The fingerprint as bytes.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl From<[u8; 32]> for Fingerprint {
    fn from(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}

impl FromStr for Fingerprint {
    type Err = FingerprintError;

    fn from_str(text: &str) -> Result<Self, FingerprintError> {
        let (pairs, rest) = text.as_bytes().as_chunks::<2>();
        let digit = |digit: u8| match digit {
            b'0'..=b'9' => Ok(digit - b'0'),
            b'a'..=b'f' => Ok(digit - b'a' + 10),
            _ => Err(FingerprintError),
        };
        if pairs.len() != 32 || !rest.is_empty() {
            return Err(FingerprintError);
        }
        let mut bytes = [0; 32];
        for (byte, &[high, low]) in bytes.iter_mut().zip(pairs) {
            *byte = digit(high)? << 4 | digit(low)?;
        }
        Ok(Self(bytes))
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fingerprint({self})")
    }
}

/// What of an entry names no file that is covered, since a variable without a default stands in it.
pub(crate) fn uncovered(entry: &ServerEntry) -> Vec<String> {
    let Transport::Stdio(stdio) = &entry.transport else { return Vec::new() };
    let open = |text: &Unexpanded| text.variables().any(|variable| variable.default.is_none());
    if stdio.cwd.as_ref().is_some_and(open) {
        return vec!["files that the command line names, since `cwd` holds a variable".to_owned()];
    }
    let words = [(Field::Command, &stdio.command)].into_iter();
    let words = words.chain(stdio.args.iter().enumerate().map(|(at, arg)| (Field::Arg(at), arg)));
    let open = words.filter(|(_, text)| open(text));
    open.map(|(field, _)| format!("a file that {} names, since it holds a variable", field.shown()))
        .collect()
}
