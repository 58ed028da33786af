//! One configured server.

mod fields;
mod read;

use std::time::Duration;

use serde::Serialize;

use crate::covered::Covered;
use crate::pins::PinMode;
use crate::template::{Expanded, Unexpanded};

pub(crate) use read::{Complaints, Strictness, is_address, read};

/// The most arguments, variables, headers, tools or places that an entry names of each.
pub const MAX_ITEMS: usize = 256;

/// The most bytes of an entry as JSON: a person must be able to read what it says before saying yes to it.
pub const MAX_ENTRY_BYTES: usize = 32 * 1024;

/// How long a server may take to be connected to where its entry says nothing (B-72, decision 15).
pub(crate) const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// How long a call may be silent where the entry says nothing (decision 18).
pub(crate) const TIMEOUT: Duration = Duration::from_mins(1);

/// What a file says of one server. With [`Unexpanded`] texts it is as it was written; with [`Expanded`] ones it can be
/// started or connected to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerEntry<T = Unexpanded> {
    /// How it is reached.
    pub transport: Transport<T>,
    /// Whether the entry says that it is not to be dialled.
    pub disabled: bool,
    /// How long connecting may take at first.
    pub connect_timeout: Duration,
    /// How long a call may go without an answer or progress.
    pub timeout: Duration,
    /// What its read-only hints count for.
    pub hints: Hints,
    /// Which of its tools are offered.
    pub tools: ToolFilter,
    /// What is done when it says otherwise than it did; by who names it, where the entry says nothing.
    pub pins: Option<PinMode>,
}

/// How a server is reached (decision 12).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Transport<T = Unexpanded> {
    /// A child process, over its standard input and output (B-57).
    Stdio(Stdio<T>),
    /// Streamable HTTP (B-58).
    Http(Http<T>),
}

/// A server that is a child process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stdio<T = Unexpanded> {
    /// The program: a path, or a name that is looked up.
    pub command: T,
    /// Its arguments.
    pub args: Vec<T>,
    /// The variables it gets besides the allow-listed ones, sorted by name.
    pub env: Vec<(String, Covered<T>)>,
    /// Its working directory; the workspace's root where the entry says nothing.
    pub cwd: Option<T>,
    /// Whether it gets our whole environment; only the user's own servers may (decision 20).
    pub inherit_env: bool,
    /// What it is confined to; nothing where it is not confined.
    pub sandbox: Option<Sandbox>,
}

/// A server that is reached over HTTP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Http<T = Unexpanded> {
    /// The address; covered, since a query may hold a token. [`Http::address`] is what of it may be listed.
    pub url: Covered<T>,
    /// Headers that every request bears, sorted by name.
    pub headers: Vec<(String, Covered<T>)>,
    /// What is known ahead for signing in; nothing where all of it is discovered.
    pub oauth: Option<OAuth<T>>,
}

/// What an entry says about signing in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OAuth<T = Unexpanded> {
    /// The id of a client that was registered by hand.
    pub client_id: Option<T>,
    /// That client's secret.
    pub client_secret: Option<Covered<T>>,
    /// The scopes to ask for.
    pub scopes: Vec<String>,
    /// The port of the address that the browser comes back to; any free one where the entry says nothing.
    pub callback_port: Option<u16>,
}

/// What a confined server may reach beyond its program and the system's libraries.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Sandbox {
    /// The hosts it connects to; `*` stands for any run of characters.
    pub network: Vec<String>,
    /// What it reads.
    pub read: Vec<Place>,
    /// What it writes, which it may read too.
    pub write: Vec<Place>,
}

/// A place in the file system.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Place {
    /// The workspace.
    Workspace,
    /// The directory that is kept for the server between runs.
    Data,
    /// A path from `/`, or from the home directory with `~/`.
    Path(String),
}

/// What `readOnlyHint` counts for (decision 17, G-56).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Hints {
    /// Nothing.
    #[default]
    Ignore,
    /// Tools that bear it may run side by side and be offered to subagents that only look; it never lets a call run.
    Schedule,
}

/// Which tools of a server are offered, by their exact names.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct ToolFilter {
    /// Only these, where there is a list.
    pub allow: Option<Vec<String>>,
    /// None of these, even if they are allowed.
    pub deny: Vec<String>,
}

impl ToolFilter {
    /// Whether the tool is offered.
    pub fn admits(&self, tool: &str) -> bool {
        let named = |list: &[String]| list.iter().any(|one| one == tool);
        !named(&self.deny) && self.allow.as_deref().is_none_or(named)
    }
}

impl Http<Unexpanded> {
    /// The address as it was written, without user, query and fragment.
    pub fn address(&self) -> String {
        let written = self.url.expose().written();
        let (before, cut) = match written.find(['?', '#']) {
            Some(at) => (&written[..at], "?…"),
            None => (written, ""),
        };
        let (scheme, rest) = before.split_once("://").unwrap_or(("", before));
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let host = authority.rsplit('@').next().unwrap_or_default();
        let scheme = if scheme.is_empty() { String::new() } else { format!("{scheme}://") };
        crate::shown::exact(&format!("{scheme}{host}{path}{cut}"))
    }
}

/// A text of an entry, by where it stands; for messages and for the card.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Field<'a> {
    Command,
    Arg(usize),
    Env(&'a str),
    Cwd,
    Url,
    Header(&'a str),
    ClientId,
    ClientSecret,
}

impl Field<'_> {
    /// Whether what stands there is never shown.
    pub(crate) fn is_covered(self) -> bool {
        match self {
            Self::Env(_) | Self::Header(_) | Self::ClientSecret => true,
            Self::Command | Self::Arg(_) | Self::Cwd | Self::Url | Self::ClientId => false,
        }
    }

    /// Where it stands, such as `args[2]`.
    pub(crate) fn shown(self) -> String {
        match self {
            Self::Command => "`command`".to_owned(),
            Self::Arg(at) => format!("argument {}", at + 1),
            Self::Env(name) => format!("the variable {} of `env`", crate::shown::name(name)),
            Self::Cwd => "`cwd`".to_owned(),
            Self::Url => "`url`".to_owned(),
            Self::Header(name) => format!("the header {}", crate::shown::name(name)),
            Self::ClientId => "`oauth.clientId`".to_owned(),
            Self::ClientSecret => "`oauth.clientSecret`".to_owned(),
        }
    }
}

impl<T> ServerEntry<T> {
    /// Every text of the entry that is expanded, with where it stands.
    pub(crate) fn texts(&self) -> Vec<(Field<'_>, &T)> {
        let mut all = Vec::new();
        match &self.transport {
            Transport::Stdio(stdio) => {
                all.push((Field::Command, &stdio.command));
                all.extend(stdio.args.iter().enumerate().map(|(at, arg)| (Field::Arg(at), arg)));
                all.extend(
                    stdio.env.iter().map(|(name, value)| (Field::Env(name), value.expose())),
                );
                all.extend(stdio.cwd.iter().map(|cwd| (Field::Cwd, cwd)));
            }
            Transport::Http(http) => {
                all.push((Field::Url, http.url.expose()));
                let headers = http.headers.iter();
                all.extend(headers.map(|(name, value)| (Field::Header(name), value.expose())));
                if let Some(oauth) = &http.oauth {
                    all.extend(oauth.client_id.iter().map(|id| (Field::ClientId, id)));
                    let secret = oauth.client_secret.iter().map(Covered::expose);
                    all.extend(secret.map(|secret| (Field::ClientSecret, secret)));
                }
            }
        }
        all
    }
}

impl ServerEntry<Unexpanded> {
    /// Makes every text another by `with`, which is told where it stands.
    pub(crate) fn map<E>(
        &self,
        with: &dyn Fn(Field<'_>, &Unexpanded) -> Result<Expanded, E>,
    ) -> Result<ServerEntry<Expanded>, E> {
        let covered = |field: Field<'_>, value: &Covered<Unexpanded>| {
            with(field, value.expose()).map(Covered::new)
        };
        let transport = match &self.transport {
            Transport::Stdio(stdio) => Transport::Stdio(Stdio {
                command: with(Field::Command, &stdio.command)?,
                args: stdio
                    .args
                    .iter()
                    .enumerate()
                    .map(|(at, arg)| with(Field::Arg(at), arg))
                    .collect::<Result<_, E>>()?,
                env: stdio
                    .env
                    .iter()
                    .map(|(name, value)| Ok((name.clone(), covered(Field::Env(name), value)?)))
                    .collect::<Result<_, E>>()?,
                cwd: stdio.cwd.as_ref().map(|cwd| with(Field::Cwd, cwd)).transpose()?,
                inherit_env: stdio.inherit_env,
                sandbox: stdio.sandbox.clone(),
            }),
            Transport::Http(http) => Transport::Http(Http {
                url: covered(Field::Url, &http.url)?,
                headers: http
                    .headers
                    .iter()
                    .map(|(name, value)| Ok((name.clone(), covered(Field::Header(name), value)?)))
                    .collect::<Result<_, E>>()?,
                oauth: match &http.oauth {
                    None => None,
                    Some(oauth) => Some(OAuth {
                        client_id: oauth
                            .client_id
                            .as_ref()
                            .map(|id| with(Field::ClientId, id))
                            .transpose()?,
                        client_secret: oauth
                            .client_secret
                            .as_ref()
                            .map(|secret| covered(Field::ClientSecret, secret))
                            .transpose()?,
                        scopes: oauth.scopes.clone(),
                        callback_port: oauth.callback_port,
                    }),
                },
            }),
        };
        Ok(ServerEntry {
            transport,
            disabled: self.disabled,
            connect_timeout: self.connect_timeout,
            timeout: self.timeout,
            hints: self.hints,
            tools: self.tools.clone(),
            pins: self.pins,
        })
    }
}
