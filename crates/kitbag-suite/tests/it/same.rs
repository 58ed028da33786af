//! T-66 over all doors: one call, one text.

use kitbag_suite::{Answer, Subject};
use kitbag_testkit::Era;
use serde_json::{Value, json};

use crate::subjects::{Handled, InToolbox, Run, Served};

/// Rows of a skill and its arguments, errors included. An input that only a type refuses is not among them: by
/// contract a handler says no more of it than why.
fn calls() -> Vec<(&'static str, Value)> {
    vec![
        ("echo", json!({ "text": "a\u{2028}b\u{7f}\"\\" })),
        ("given", json!({ "z": 18_446_744_073_709_551_615_u64, "a": [1e-7, -0.0, null, "é"] })),
        ("numbers", json!({})),
        ("list", json!({})),
        ("rich", json!({})),
        ("prose", json!({})),
        ("outer", json!({ "skill": "echo", "arguments": { "text": "x" } })),
        ("outer", json!({ "skill": "absent" })),
        ("failing", json!({})),
        ("broken", json!({})),
        ("nan", json!({})),
        ("panicking", json!({ "now": true })),
        ("slow", json!({})),
    ]
}

async fn answers(mut subject: impl Subject) -> Vec<Answer> {
    let mut answers = Vec::new();
    for (skill, arguments) in calls() {
        answers.push(subject.call(skill, Some(arguments)).await);
    }
    answers
}

#[tokio::test]
async fn t66_every_door_of_a_program_gives_the_bytes_of_the_toolbox() {
    let local = answers(InToolbox::new()).await;
    assert_eq!(answers(Served::start(Era::Handshake).await).await, local);
    assert_eq!(answers(Served::start(Era::Stateless).await).await, local);
    assert_eq!(answers(Run).await, local);
    assert_eq!(answers(Handled).await, local);
}
