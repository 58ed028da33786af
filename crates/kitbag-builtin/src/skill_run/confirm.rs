//! Who says yes to a run, and how: a prompt, a token, or nobody.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use kitbag_tool::{Refusal, ToolOutput};
use serde::Serialize;
use serde_json::value::to_raw_value;
use serde_json::{Value, json};

use super::plan::Plan;
use super::spent::{Claim, Spent};
use super::token::{Binding, Changed, Key, Rejection, Verified, issue, verify};

/// The tool that tokens are for.
pub(crate) const SKILL_RUN: &str = "skill_run";

/// What a run is called in questions and previews.
pub(crate) const ACTION: &str = "skill.run";

/// How long a token is good, where nobody says otherwise.
pub const DEFAULT_TTL: Duration = Duration::from_mins(10);

/// What configures the confirmation, as it was set in the environment; what counts as not set is left out.
#[derive(Debug, Clone, Copy, Default)]
pub struct ConfirmValues<'a> {
    /// `MCP_CONFIRM_MODE`.
    pub mode: Option<&'a str>,
    /// `MCP_CONFIRM_ELICITATION`.
    pub elicitation: Option<&'a str>,
    /// `MCP_CONFIRM_TTL_SECONDS`.
    pub ttl_seconds: Option<&'a str>,
    /// `MCP_CONFIRM_SECRET`.
    pub secret: Option<&'a str>,
    /// `MCP_HOST_CONFIRM_SECRET`.
    pub host_secret: Option<&'a str>,
    /// `MCP_DATA_DIR`.
    pub data: Option<&'a Path>,
}

/// How a run is confirmed.
#[derive(Debug, Clone)]
pub struct Confirmation {
    mode: Mode,
    prompts: Prompts,
    ttl: Duration,
    key: Key,
    spent: Arc<Spent>,
}

/// A confirmation that cannot be set up.
#[derive(Debug, thiserror::Error)]
#[error("the system gives no random bytes: {0}")]
pub struct NoRandomness(#[from] getrandom::Error);

/// What happens where nobody can be prompted.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Mode {
    /// A token, after a person approved in the conversation.
    AskUser,
    /// A token, which the model may use by itself.
    Auto,
    /// Nothing runs; what would have to be set.
    Refuse { remedy: &'static str },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Prompts {
    On,
    Off,
}

/// Which way a call goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rail {
    /// Somebody is asked.
    Prompt,
    /// A preview and a token, then the call again.
    Token,
    /// It does not run.
    Refuse,
}

/// Whether whoever calls can be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    Promptable,
    Unreachable,
}

impl Confirmation {
    /// Reads the settings; what cannot be read is closed, and comes back as a warning for whoever runs the server.
    ///
    /// Without a secret the key is random and the spent tokens are remembered in memory, since neither outlives the
    /// process. With one, and an absolute folder for data, they are kept there, for all processes with that secret. A
    /// host's secret counts only beside such a folder.
    ///
    /// # Errors
    ///
    /// There is no secret, and the system gives no random bytes.
    pub fn read(values: &ConfirmValues<'_>) -> Result<(Self, Vec<String>), NoRandomness> {
        let mut warnings = Vec::new();
        let mut mode = match values.mode.map(str::to_ascii_lowercase).as_deref() {
            None | Some("ask-user") => Mode::AskUser,
            Some("auto") => Mode::Auto,
            Some("refuse") => Mode::Refuse {
                remedy: "Setting MCP_CONFIRM_MODE=ask-user on the server allows confirmation in two steps.",
            },
            Some(_) => {
                warnings.push(
                    "MCP_CONFIRM_MODE is none of `ask-user`, `auto` and `refuse`; it is taken for `refuse`"
                        .to_owned(),
                );
                Mode::Refuse {
                    remedy: "MCP_CONFIRM_MODE on the server is none of `ask-user`, `auto` and `refuse`.",
                }
            }
        };
        let prompts = match values.elicitation.map(str::to_ascii_lowercase).as_deref() {
            None | Some("on") => Prompts::On,
            Some("off") => Prompts::Off,
            Some(_) => {
                warnings.push(
                    "MCP_CONFIRM_ELICITATION is neither `on` nor `off`; it is taken for `on`"
                        .to_owned(),
                );
                Prompts::On
            }
        };
        let ttl = match values.ttl_seconds.map(seconds) {
            None => DEFAULT_TTL,
            Some(Some(ttl)) => ttl,
            Some(None) => {
                warnings.push(
                    "MCP_CONFIRM_TTL_SECONDS is no whole number above 0; no token is given out"
                        .to_owned(),
                );
                mode = Mode::Refuse {
                    remedy: "MCP_CONFIRM_TTL_SECONDS on the server must be a whole number above 0.",
                };
                DEFAULT_TTL
            }
        };
        let data = values.data.filter(|data| data.is_absolute());
        let secret = values.secret.or(data.and(values.host_secret));
        let (key, spent) = match (secret, data) {
            (Some(secret), Some(data)) => (Key::stretched(secret.as_bytes()), Spent::below(data)),
            (Some(secret), None) => (Key::stretched(secret.as_bytes()), Spent::in_memory()),
            (None, _) => (Key::random()?, Spent::in_memory()),
        };
        Ok((Self { mode, prompts, ttl, key, spent: Arc::new(spent) }, warnings))
    }

    /// Which way a call goes.
    pub(crate) fn rail(&self, reach: Reach) -> Rail {
        match (self.prompts, reach, &self.mode) {
            (Prompts::On, Reach::Promptable, _) => Rail::Prompt,
            (_, _, Mode::AskUser | Mode::Auto) => Rail::Token,
            (_, _, Mode::Refuse { .. }) => Rail::Refuse,
        }
    }

    /// The preview of a plan with a fresh token for it.
    pub(crate) fn required(&self, plan: &Plan) -> Result<ToolOutput, Refusal> {
        let mut answer = json!({
            "status": "confirmation-required",
            "confirmed": false,
            "dispatched": false,
        });
        extend(&mut answer, self.offer(plan)?);
        Ok(pretty(&answer, Outcome::Answer))
    }

    /// What a call is told whose token does not fit what would run now: that, with a fresh token for it.
    pub(crate) fn changed(&self, plan: &Plan, what: Changed) -> Result<ToolOutput, Refusal> {
        let reason = match what {
            Changed::Revision => "revision-changed",
            Changed::Payload => "payload-changed",
        };
        let mut answer = json!({
            "status": "confirmation-rejected",
            "confirmed": false,
            "dispatched": false,
            "error": "DRAFT_CHANGED",
            "reason": reason,
            "note": "No process has been started: what would run is not what was approved. `preview` shows what would \
                     run now, and `confirmToken` is for exactly that.",
        });
        extend(&mut answer, self.offer(plan)?);
        Ok(pretty(&answer, Outcome::Error))
    }

    fn offer(&self, plan: &Plan) -> Result<Value, Refusal> {
        let will_run = json(&plan.will_run())?;
        let expires_ms = now_ms().saturating_add(millis(self.ttl));
        let mut nonce = [0; 16];
        getrandom::fill(&mut nonce).map_err(|error| {
            Refusal::new(format!(
                "No token can be made: the system gives no random bytes ({error})."
            ))
        })?;
        let target = plan.target();
        let token = issue(&self.key, &binding(&target, &will_run), expires_ms, nonce);
        let instruction = match self.mode {
            Mode::Auto => {
                "Nothing was started. If the preview is what was meant, call skill_run again with the same arguments \
                 and this confirmToken. MCP_CONFIRM_MODE is `auto` on this server, so you need not ask the user first."
            }
            Mode::AskUser | Mode::Refuse { .. } => {
                "Show the preview to the user word for word. Only after they have said yes in this conversation, call \
                 skill_run again with the same arguments and this confirmToken."
            }
        };
        Ok(json!({
            "action": ACTION,
            "preview": {
                "dryRun": true,
                "willRun": will_run,
                "note": "No process has been started. This is what will run, and nothing else.",
            },
            "confirmToken": token,
            "expiresAt": timestamp(expires_ms),
            "ttlSeconds": self.ttl.as_secs(),
            "instruction": instruction,
        }))
    }

    /// Checks a token for a plan and spends nothing. Blocks on I/O.
    ///
    /// # Errors
    ///
    /// It cannot be found out whether the token was spent.
    pub(crate) fn check(
        &self,
        plan: &Plan,
        token: &str,
    ) -> Result<Result<Verified, Rejection>, Refusal> {
        let (target, will_run) = (plan.target(), json(&plan.will_run())?);
        let now_ms = now_ms();
        let is_spent = |nonce: &str| self.spent.is_spent(nonce, now_ms);
        verify(&self.key, token, &binding(&target, &will_run), now_ms, is_spent)
            .map_err(|error| unknown_spends(&error))
    }

    /// Uses a token up. Blocks on I/O.
    ///
    /// # Errors
    ///
    /// The use cannot be recorded.
    pub(crate) fn spend(&self, verified: &Verified) -> Result<Claim, Refusal> {
        let spent = self.spent.spend(&verified.nonce, verified.expires_ms);
        spent.map_err(|error| unknown_spends(&error))
    }

    /// What a call is told that cannot be confirmed in any way.
    pub(crate) fn unsupported(&self) -> ToolOutput {
        let remedy = match self.mode {
            Mode::Refuse { remedy } => remedy,
            Mode::AskUser | Mode::Auto => "",
        };
        let why = match self.prompts {
            Prompts::On => "this client cannot be prompted (it does not declare form elicitation)",
            Prompts::Off => "prompts are turned off on this server (MCP_CONFIRM_ELICITATION=off)",
        };
        let answer = json!({
            "confirmed": false,
            "dispatched": false,
            "action": ACTION,
            "reason": "confirmation-unsupported",
            "note": format!("No process has been started: {why}, and no script runs without a confirmation. {remedy}"),
        });
        pretty(&answer, Outcome::Answer)
    }
}

/// What a call is told whose token lets nothing run, changes apart.
pub(crate) fn rejected(rejection: Rejection) -> ToolOutput {
    let (error, note) = match rejection {
        Rejection::Expired => (
            "TOKEN_EXPIRED",
            "No process has been started: the confirmToken is too old. Call without confirmToken for a fresh preview, \
             and ask the user again.",
        ),
        Rejection::Reused => (
            "TOKEN_REUSED",
            "No process has been started by this call: the confirmToken was used before, and an approval is good for one \
             run. To run again, call without confirmToken and ask the user again.",
        ),
        Rejection::Invalid | Rejection::Changed(_) => (
            "TOKEN_INVALID",
            "No process has been started: this confirmToken is not one that this server gave out for this skill and \
             script, or the server was restarted since. Call without confirmToken for a fresh preview.",
        ),
    };
    let answer = json!({
        "status": "confirmation-rejected",
        "confirmed": false,
        "dispatched": false,
        "error": error,
        "action": ACTION,
        "note": note,
    });
    pretty(&answer, Outcome::Error)
}

/// What a call is told that somebody was asked about and did not approve.
pub(crate) fn cancelled(reason: Option<&str>) -> ToolOutput {
    let why = reason.map_or_else(
        || "the user did not approve it".to_owned(),
        |reason| reason.trim_end_matches('.').to_owned(),
    );
    let answer = json!({
        "confirmed": false,
        "cancelled": true,
        "action": ACTION,
        "note": format!("No process has been started: {why}. Do not try again unless the user asks for it."),
    });
    pretty(&answer, Outcome::Answer)
}

fn unknown_spends(error: &io::Error) -> Refusal {
    Refusal::new(format!(
        "No process has been started: it cannot be told whether the confirmToken was used before ({error})."
    ))
    .hint("Whoever runs the server should look at the folder that MCP_DATA_DIR names.")
}

fn binding<'a>(target: &'a str, will_run: &'a Value) -> Binding<'a> {
    Binding { tool: SKILL_RUN, target, account: None, revision: None, payload: will_run }
}

fn seconds(text: &str) -> Option<Duration> {
    let is_number = text.starts_with(|c: char| matches!(c, '1'..='9'))
        && text.chars().all(|c| c.is_ascii_digit());
    // A century; past it nothing that is counted in milliseconds could overflow.
    let seconds: u64 = text.parse().ok().filter(|seconds| *seconds <= 100 * 366 * 86_400)?;
    is_number.then(|| Duration::from_secs(seconds))
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

fn now_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, millis)
}

pub(crate) fn json(value: &impl Serialize) -> Result<Value, Refusal> {
    serde_json::to_value(value)
        .map_err(|error| Refusal::new(format!("The preview cannot be written as JSON: {error}.")))
}

fn extend(answer: &mut Value, more: Value) {
    if let (Value::Object(answer), Value::Object(more)) = (answer, more) {
        answer.extend(more);
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Answer,
    Error,
}

/// An answer that a person is to read: indented.
fn pretty(answer: &Value, outcome: Outcome) -> ToolOutput {
    let text = serde_json::to_string_pretty(answer).unwrap_or_default();
    ToolOutput {
        structured: to_raw_value(answer).ok(),
        is_error: outcome == Outcome::Error,
        ..ToolOutput::text(text)
    }
}

/// A moment as ISO 8601 writes it, in UTC and milliseconds.
fn timestamp(ms: u64) -> String {
    let (days, rest) = (ms / 86_400_000, ms % 86_400_000);
    // Years that begin in March, so that the leap day is the last; eras of 400 years.
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    let (hour, minute) = (rest / 3_600_000, rest / 60_000 % 60);
    let (second, milli) = (rest / 1000 % 60, rest % 1000);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milli:03}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_written_as_iso_8601() {
        assert_eq!(timestamp(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(timestamp(951_782_399_999), "2000-02-28T23:59:59.999Z");
        assert_eq!(timestamp(951_782_400_000), "2000-02-29T00:00:00.000Z");
        assert_eq!(timestamp(1_800_000_600_000), "2027-01-15T08:10:00.000Z");
        assert_eq!(timestamp(4_107_542_400_000), "2100-03-01T00:00:00.000Z");
    }
}
