//! The confirmation token: proof that a call was shown before, bound to everything that it will do, good once.
//!
//! The format is that of the published specification of `mcpu.token.v1.`, whose test vector is a test here. A token
//! cannot prove that a person approved; it makes a call that nobody can have seen impossible.

#[cfg(test)]
mod tests;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// What every token begins with.
const PREFIX: &str = "mcpu.token.v1.";

/// The most bytes of a token that are looked at.
const MAX_TOKEN_BYTES: usize = 4 * 1024;

/// What tokens are signed with.
#[derive(Clone)]
pub(crate) struct Key([u8; 32]);

/// What a token is bound to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Binding<'a> {
    /// The tool.
    pub(crate) tool: &'a str,
    /// What the tool works on.
    pub(crate) target: &'a str,
    /// Whom it works as, where that is more than one.
    pub(crate) account: Option<&'a str>,
    /// Which state of the target is meant, where that has a name of its own.
    pub(crate) revision: Option<&'a str>,
    /// Everything that it will do.
    pub(crate) payload: &'a Value,
}

/// What stands in a token, in the order of the specification.
#[derive(Debug, Serialize, Deserialize)]
struct Claims {
    #[serde(rename = "t")]
    tool: String,
    #[serde(rename = "a", default, skip_serializing_if = "Option::is_none")]
    account: Option<String>,
    #[serde(rename = "g")]
    target: String,
    #[serde(rename = "r", default, skip_serializing_if = "Option::is_none")]
    revision: Option<String>,
    #[serde(rename = "h")]
    payload: String,
    #[serde(rename = "exp")]
    expires_ms: u64,
    #[serde(rename = "n")]
    nonce: String,
}

/// A token whose every claim holds, to be spent before anything is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Verified {
    /// What tells it from every other token.
    pub(crate) nonce: String,
    /// Until when it could be used, in milliseconds since 1970.
    pub(crate) expires_ms: u64,
}

/// Why a token lets nothing run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rejection {
    /// Not ours, or for something else.
    Invalid,
    /// Used before.
    Reused,
    /// Too old.
    Expired,
    /// What would happen is no longer what was shown.
    Changed(Changed),
}

/// What changed since a token was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Changed {
    /// The state of the target.
    Revision,
    /// What the call will do.
    Payload,
}

impl Key {
    /// A key from a secret of any length.
    pub(crate) fn stretched(secret: &[u8]) -> Self {
        Self(Sha256::digest(secret).into())
    }

    /// A key for the life of this process.
    pub(crate) fn random() -> Result<Self, getrandom::Error> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes)?;
        Ok(Self(bytes))
    }

    fn mac(&self, body: &str) -> Hmac<Sha256> {
        let mut mac =
            Hmac::<Sha256>::new_from_slice(&self.0).expect("HMAC takes keys of any length");
        mac.update(PREFIX.as_bytes());
        mac.update(body.as_bytes());
        mac
    }
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key(..)")
    }
}

/// Makes a token. `nonce` must never have been used before.
pub(crate) fn issue(key: &Key, binding: &Binding<'_>, expires_ms: u64, nonce: [u8; 16]) -> String {
    let claims = Claims {
        tool: binding.tool.to_owned(),
        account: binding.account.map(str::to_owned),
        target: binding.target.to_owned(),
        revision: binding.revision.map(str::to_owned),
        payload: hash(binding.payload),
        expires_ms,
        nonce: BASE64_URL_SAFE_NO_PAD.encode(nonce),
    };
    let claims = serde_json::to_vec(&claims).expect("claims are texts and a number");
    let body = BASE64_URL_SAFE_NO_PAD.encode(claims);
    let mac = BASE64_URL_SAFE_NO_PAD.encode(key.mac(&body).finalize().into_bytes());
    format!("{PREFIX}{body}.{mac}")
}

/// Checks a token against what the call would do now, in the order of the specification.
///
/// `is_spent` says whether a nonce was used; its failure is the answer, since a store that cannot look must not be taken
/// for one that found nothing. Nothing is spent here.
pub(crate) fn verify<E>(
    key: &Key,
    token: &str,
    binding: &Binding<'_>,
    now_ms: u64,
    is_spent: impl FnOnce(&str) -> Result<bool, E>,
) -> Result<Result<Verified, Rejection>, E> {
    let Some(claims) = signed(key, token) else { return Ok(Err(Rejection::Invalid)) };
    let is_for_this = claims.tool == binding.tool
        && claims.account.as_deref() == binding.account
        && claims.target == binding.target;
    if !is_for_this {
        return Ok(Err(Rejection::Invalid));
    }
    if is_spent(&claims.nonce)? {
        return Ok(Err(Rejection::Reused));
    }
    let rejection = if now_ms > claims.expires_ms {
        Rejection::Expired
    } else if claims.revision.as_deref() != binding.revision {
        Rejection::Changed(Changed::Revision)
    } else if claims.payload != hash(binding.payload) {
        Rejection::Changed(Changed::Payload)
    } else {
        return Ok(Ok(Verified { nonce: claims.nonce, expires_ms: claims.expires_ms }));
    };
    Ok(Err(rejection))
}

/// The claims of a token that this key signed.
fn signed(key: &Key, token: &str) -> Option<Claims> {
    if token.len() > MAX_TOKEN_BYTES {
        return None;
    }
    let (body, mac) = token.strip_prefix(PREFIX)?.split_once('.')?;
    let mac = BASE64_URL_SAFE_NO_PAD.decode(mac).ok()?;
    // Compares in constant time.
    key.mac(body).verify_slice(&mac).ok()?;
    serde_json::from_slice(&BASE64_URL_SAFE_NO_PAD.decode(body).ok()?).ok()
}

/// The digest of a value in its one canonical writing.
fn hash(payload: &Value) -> String {
    let mut text = String::new();
    canonical(payload, &mut text);
    BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(text))
}

/// Writes a value so that equal values are written alike: members sorted by their names as UTF-16, and a name that begins
/// with `$` with one more of them, as the specification has it.
fn canonical(value: &Value, text: &mut String) {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            text.push_str(&value.to_string());
        }
        Value::Array(items) => {
            text.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                canonical(item, text);
            }
            text.push(']');
        }
        Value::Object(members) => {
            let mut members: Vec<(&String, &Value)> = members.iter().collect();
            members.sort_by(|(a, _), (b, _)| a.encode_utf16().cmp(b.encode_utf16()));
            text.push('{');
            for (index, (name, value)) in members.into_iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                let escape = if name.starts_with('$') { "$" } else { "" };
                text.push_str(&Value::String(format!("{escape}{name}")).to_string());
                text.push(':');
                canonical(value, text);
            }
            text.push('}');
        }
    }
}
