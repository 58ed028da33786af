//! The state of a question that travels through the client: signed, bound, good for a while and once.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use kitbag_tool::Question;
use rmcp::model::{RequestStateCodec, SealOptions};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use tokio::time::Instant;

use super::PATIENCE;

/// The most states that are remembered as used; past it nothing is approved until some have expired.
const MAX_USED: usize = 100_000;

/// The most answers of one call that one state carries.
const MAX_APPROVED: usize = 16;

/// The bytes of a nonce.
const NONCE_BYTES: usize = 16;

/// Makes and opens states, for as long as the server runs.
pub(crate) struct States {
    /// None where the system gave no random key.
    codec: Option<RequestStateCodec>,
    used: Mutex<HashMap<String, Instant>>,
}

/// What a state holds.
#[derive(Debug, Serialize, Deserialize)]
struct State {
    /// The question that was asked.
    asked: String,
    /// Those of the same call that were said yes to before.
    approved: Vec<String>,
    nonce: String,
}

/// What a call may rest on that brought a state along.
#[derive(Debug, Default)]
pub(super) struct Opened {
    /// The question whose answer it may bring.
    pub(super) asked: Option<String>,
    /// The questions that were said yes to.
    pub(super) approved: Vec<String>,
    /// What has to be used up before that counts.
    nonce: Nonce,
}

#[derive(Debug, Default)]
enum Nonce {
    #[default]
    None,
    Unused(String),
    /// By this very call, which may rest on it further.
    Used,
}

/// Whether what was approved may be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Approved {
    /// It may, in this call.
    Once,
    /// It was done before.
    Already,
}

impl States {
    pub(crate) fn new() -> Self {
        let mut key = [0; 32];
        let codec = match getrandom::fill(&mut key) {
            Ok(()) => RequestStateCodec::try_new(key).ok(),
            Err(error) => {
                tracing::error!(%error, "no random key: users of stateless clients cannot be asked");
                None
            }
        };
        Self { codec, used: Mutex::default() }
    }

    /// A state for a question; none where there is no randomness.
    pub(super) fn seal(
        &self,
        question: &str,
        approved: &[String],
        principal: &str,
    ) -> Option<String> {
        let mut nonce = [0; NONCE_BYTES];
        getrandom::fill(&mut nonce).ok()?;
        let approved = approved.iter().take(MAX_APPROVED).cloned().collect();
        let state = State { asked: question.to_owned(), approved, nonce: hex(&nonce) };
        let options = SealOptions::new().associated_data(principal.as_bytes()).ttl(PATIENCE);
        self.codec.as_ref()?.seal_json_with(&state, &options).ok()
    }

    /// What a state that came back says; nothing for one that is not ours, of another client, or too old.
    pub(super) fn open(&self, state: Option<&str>, principal: &str) -> Opened {
        let opened = state.zip(self.codec.as_ref()).and_then(|(state, codec)| {
            codec.open_json_with::<State>(state, principal.as_bytes()).ok()
        });
        opened.map_or_else(Opened::default, |State { asked, approved, nonce }| Opened {
            asked: Some(asked),
            approved,
            nonce: Nonce::Unused(nonce),
        })
    }

    fn is_first_use(&self, nonce: &str) -> bool {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        if used.len() >= MAX_USED {
            used.retain(|_, until| *until > now);
        }
        if used.len() >= MAX_USED || used.contains_key(nonce) {
            return false;
        }
        // A state is signed before it is used, so that it has expired by then.
        used.insert(nonce.to_owned(), now + PATIENCE);
        true
    }
}

impl Opened {
    /// Uses the state up for this call.
    pub(super) fn spend(&mut self, states: &States) -> Approved {
        match std::mem::take(&mut self.nonce) {
            Nonce::Unused(nonce) if states.is_first_use(&nonce) => self.nonce = Nonce::Used,
            Nonce::Used => self.nonce = Nonce::Used,
            Nonce::Unused(_) | Nonce::None => return Approved::Already,
        }
        Approved::Once
    }
}

/// What tells a question from every other: the tool and all that was shown.
pub(super) fn fingerprint(question: &Question<'_>) -> String {
    let mut hasher = Sha256::new();
    hasher.update(question.name.as_str());
    hasher.update([0]);
    hasher.update(&question.because);
    hasher.update([0]);
    hasher.update(serde_json::to_vec(question.arguments).unwrap_or_default());
    hex(&hasher.finalize())
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
