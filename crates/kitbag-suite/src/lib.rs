//! The contract of typed skills as tests that any implementation can be run against.
//!
//! The statements (T-n, see each test) speak of a [`Subject`]: some way to call the skills of a *cast* that every
//! implementation has to offer. [`cast`] is the one in Rust, and `kitbag-suite-cast` serves it as a program. Another
//! implementation, in whatever language, offers the same skills, writes a `Subject` for the way to them, and runs
//!
//! ```ignore
//! kitbag_suite::statements!(MySubject::start().await);
//! ```
//!
//! in a test file, which makes a test of every statement.
//!
//! | skill | takes | gives |
//! |---|---|---|
//! | `echo`, `echo.loud` | `text`, a string, empty where none is given | the same as JSON; the loud one in capitals |
//! | `order` | `count` (a whole number, required), `notes` (strings), `address` (`street`, a string, required) | the same as JSON, with `notes` empty and `address` null where not given |
//! | `given` | any object | the object as JSON |
//! | `numbers` | nothing | `{"z":18446744073709551615,"a":[0.1,null,"é"]}` |
//! | `list` | nothing | `[1,2]` as JSON |
//! | `nan` | nothing | JSON whose `list` holds 0 and a number that is none |
//! | `rich` | nothing | a text block `a`, then an image block |
//! | `failing` | nothing | an output flagged as an error, `it did not work` |
//! | `broken` | nothing | an error of the handler, `broken 7` |
//! | `panicking` | `now`, a boolean | panics if so, otherwise the text `fine` |
//! | `slow` | nothing | nothing, ever; its time is 50 ms |
//! | `blocking` | nothing | keeps its thread until the call is over, then the text `too late`; its time is 50 ms |
//! | `prose` | nothing | its own name, `: `, and its body, which is [`PROSE`] |
//! | `steps` | `wait`, a boolean | reports 1, 2 and 3 of 3, the last as `three`; then the text `done`, or nothing, ever, if it waits |
//! | `outer` | `skill`, and `arguments` for it | calls that skill and passes on whatever comes |
//! | `down` | nothing | calls itself; where that is refused for its depth, a text that says so |

#![expect(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

mod cast;
mod statements;

use std::future::Future;

use serde_json::Value;

pub use cast::{PROSE, cast};
#[doc(hidden)]
pub use statements::all;

/// A way to the skills of the cast.
pub trait Subject: Send {
    /// Calls a skill. `None` stands for no arguments at all.
    fn call(
        &mut self,
        skill: &str,
        arguments: Option<Value>,
    ) -> impl Future<Output = Answer> + Send;

    /// Lists the skills, as `tools` in the result of `tools/list` in the Model Context Protocol.
    fn tools(&mut self) -> impl Future<Output = Vec<Value>> + Send;
}

/// What a caller sees of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// The result object of the Model Context Protocol, as it was written. A skill that ran and failed, and a call
    /// that came to no end, are results flagged as errors.
    Result(String),
    /// There is no such skill, in this text.
    Unknown(String),
}

impl Answer {
    /// The result.
    ///
    /// # Panics
    ///
    /// There is no such skill, or the result is no JSON.
    pub fn value(&self) -> Value {
        let Self::Result(text) = self else { panic!("no result: {self:?}") };
        serde_json::from_str(text).unwrap()
    }

    /// Whether the result is flagged as an error.
    pub fn is_error(&self) -> bool {
        self.value().get("isError").is_some_and(|flag| flag == true)
    }

    /// The text of the first block.
    pub fn text(&self) -> String {
        self.value()["content"][0]["text"].as_str().unwrap().to_owned()
    }
}
