//! What is wrong with the params of a request that the protocol has.

use serde_json::Value;

/// A member of params.
struct Member {
    name: &'static str,
    kind: Kind,
    presence: Presence,
}

#[derive(Clone, Copy)]
enum Kind {
    Text,
    Object,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Presence {
    Required,
    Optional,
}

const fn required(name: &'static str, kind: Kind) -> Member {
    Member { name, kind, presence: Presence::Required }
}

const fn optional(name: &'static str, kind: Kind) -> Member {
    Member { name, kind, presence: Presence::Optional }
}

/// The requests that the server answers, and what their params must have; `_meta` is every request's.
const METHODS: [(&str, &[Member]); 14] = [
    (
        "initialize",
        &[
            required("protocolVersion", Kind::Text),
            required("capabilities", Kind::Object),
            required("clientInfo", Kind::Object),
        ],
    ),
    ("ping", &[]),
    ("prompts/get", &[required("name", Kind::Text), optional("arguments", Kind::Object)]),
    ("prompts/list", &[]),
    ("resources/directory/read", &[required("uri", Kind::Text), optional("cursor", Kind::Text)]),
    ("resources/list", &[]),
    ("resources/read", &[required("uri", Kind::Text)]),
    ("resources/templates/list", &[]),
    ("server/discover", &[]),
    ("subscriptions/listen", &[required("notifications", Kind::Object)]),
    ("tools/call", &[required("name", Kind::Text), optional("arguments", Kind::Object)]),
    ("tools/list", &[]),
    ("skills/get", &[required("uri", Kind::Text)]),
    ("skills/list", &[]),
];

/// What is wrong with `params`, which could not be read as those of `method`; none where there is no such method.
pub(crate) fn fault(method: &str, params: Option<&Value>) -> Option<String> {
    let (_, members) = METHODS.iter().find(|(known, _)| *known == method)?;
    let params = match params {
        None | Some(Value::Null) => None,
        Some(Value::Object(params)) => Some(params),
        Some(_) => return Some(format!("Invalid params for {method}: they are not an object")),
    };
    let fault = members.iter().find_map(|member| {
        let value = params.and_then(|params| params.get(member.name));
        let wrong = wrong(member, value)?;
        Some(format!("{}: {wrong}", member.name))
    });
    let fault = fault.unwrap_or_else(|| "they are not as the protocol has them".to_owned());
    Some(format!("Invalid params for {method}: {fault}"))
}

fn wrong(member: &Member, value: Option<&Value>) -> Option<&'static str> {
    match (value, member.kind) {
        (None, _) if member.presence == Presence::Required => Some("it is missing"),
        (Some(Value::Null) | None, _) if member.presence == Presence::Optional => None,
        (Some(Value::String(_)), Kind::Text) | (Some(Value::Object(_)), Kind::Object) => None,
        (_, Kind::Text) => Some("it is not a string"),
        (_, Kind::Object) => Some("it is not an object"),
    }
}
