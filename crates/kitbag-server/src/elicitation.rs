//! Asking the user of a client, in the way of the client's era.
//!
//! A client of the handshake era is sent `elicitation/create` while its call waits. A client of the revision of
//! 2026-07-28 cannot be sent anything: its call ends with `input_required`, and it makes the call again with the answer.
//! That answer counts only with the state that came with the question, which is signed, bound to what was asked, good
//! for ten minutes and for one call: an acceptance that a client brings along unasked runs nothing.

mod state;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use kitbag_skills::shown;
use kitbag_tool::{Answer, Approver, BoxFuture, CallContext, Principal, Question, ToolOutput};
use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, CancelledNotificationParam, ClientCapabilities, ClientResult,
    ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema,
    InputRequest, InputRequiredResult, InputResponses, RequestId, ServerRequest,
};
use rmcp::service::{Peer, PeerRequestOptions, RequestContext};
use serde_json::Value;
use tokio_util::task::TaskTracker;

pub(crate) use state::States;
use state::{Approved, Opened, fingerprint};

/// How long a user has to answer, and how long the state of a question is good.
pub(crate) const PATIENCE: Duration = Duration::from_mins(10);

/// The most bytes of a question. What is longer is not asked about: a person has to see all of it.
const MAX_MESSAGE_BYTES: usize = 64 * 1024;

/// The name of the one field of the form.
const CONFIRMED: &str = "confirmed";

/// The name of the one question of a call that has to be made again.
const CONFIRMATION: &str = "confirmation";

/// Asks the user of one client about one call.
pub(crate) struct Client {
    way: Way,
    tasks: TaskTracker,
}

enum Way {
    /// The client can be sent requests.
    Request(Peer<RoleServer>),
    /// It makes the call again.
    Retry(Box<Retry>),
}

/// A call that ends with its question, and is made again with the answer.
struct Retry {
    states: Arc<States>,
    principal: String,
    brought: Brought,
    turn: Mutex<Turn>,
}

/// What a call brought along that was made again.
struct Brought {
    responses: Option<InputResponses>,
    state: Option<String>,
}

/// What happened to the questions of this call so far.
#[derive(Default)]
struct Turn {
    /// What the brought state says, once it was looked at.
    opened: Option<Opened>,
    /// What the call ends with.
    required: Option<InputRequiredResult>,
}

impl Client {
    /// Somebody to ask for this call, where its client can show a form or does not say what it can.
    pub(crate) fn of(
        request: &mut CallToolRequestParams,
        context: &RequestContext<RoleServer>,
        principal: &Principal,
        states: &Arc<States>,
        tasks: &TaskTracker,
    ) -> Option<Arc<Self>> {
        if !context.client_capabilities().as_ref().is_none_or(shows_forms) {
            return None;
        }
        let has_handshake =
            context.protocol_version().is_some_and(|version| version.has_initialize());
        let way = if has_handshake {
            Way::Request(context.peer.clone())
        } else {
            let (responses, state) = (request.input_responses.take(), request.request_state.take());
            Way::Retry(Box::new(Retry {
                states: Arc::clone(states),
                principal: principal.to_string(),
                brought: Brought { responses, state },
                turn: Mutex::default(),
            }))
        };
        Some(Arc::new(Self { way, tasks: tasks.clone() }))
    }

    /// What the call ends with instead of its output, where somebody has to be asked first.
    pub(crate) fn required(&self) -> Option<InputRequiredResult> {
        match &self.way {
            Way::Request(_) => None,
            Way::Retry(retry) => {
                retry.turn.lock().unwrap_or_else(PoisonError::into_inner).required.take()
            }
        }
    }

    async fn request(&self, peer: &Peer<RoleServer>, params: ElicitRequestParams) -> Answer {
        let request = ServerRequest::ElicitRequest(ElicitRequest::new(params));
        let options = PeerRequestOptions::with_timeout(PATIENCE);
        let handle = match peer.send_cancellable_request(request, options).await {
            Ok(handle) => handle,
            Err(error) => return unanswered(&error.to_string()),
        };
        let mut withdraw =
            Withdraw { to: Some((peer.clone(), handle.id.clone())), tasks: &self.tasks };
        let answered = handle.await_response().await;
        withdraw.to = None;
        match answered {
            Ok(ClientResult::ElicitResult(result)) => verdict(&result),
            Ok(_) => unanswered("the client answered something else"),
            Err(error) => unanswered(&error.to_string()),
        }
    }
}

impl Approver for Client {
    fn ask<'a>(
        &'a self,
        question: &'a Question<'a>,
        _context: &'a CallContext,
    ) -> BoxFuture<'a, Answer> {
        Box::pin(async move {
            let Some(params) = form(question) else {
                return Answer::Deny {
                    reason: Some("what would have to be asked is too long to be shown".to_owned()),
                };
            };
            match &self.way {
                Way::Request(peer) => self.request(peer, params).await,
                Way::Retry(retry) => {
                    let mut turn = retry.turn.lock().unwrap_or_else(PoisonError::into_inner);
                    turn.answer(retry, &fingerprint(question), params)
                }
            }
        })
    }
}

impl Turn {
    /// Answers a question with what the call brought along, or has it asked.
    fn answer(&mut self, retry: &Retry, question: &str, params: ElicitRequestParams) -> Answer {
        let Retry { states, principal, brought, .. } = retry;
        let opened =
            self.opened.get_or_insert_with(|| states.open(brought.state.as_deref(), principal));
        let response = brought.responses.as_ref().and_then(|all| all.get(CONFIRMATION));
        let is_asked = opened.asked.as_deref() == Some(question);
        if is_asked && let Some(response) = response {
            let result = serde_json::from_value::<ElicitResult>(response.clone());
            let verdict = result.map_or_else(
                |_| unanswered("the client answered something else"),
                |result| verdict(&result),
            );
            // An answer is good for the question once, whatever it is.
            opened.asked = None;
            if !matches!(verdict, Answer::Allow) {
                return verdict;
            }
            opened.approved.push(question.to_owned());
        }
        if opened.approved.iter().any(|approved| approved == question) {
            if opened.spend(states) == Approved::Once {
                return Answer::Allow;
            }
            opened.approved.clear();
        }
        if brought.state.is_none() && response.is_some() {
            // Asking again would go round for ever.
            return unanswered(
                "the client sent an answer without the `requestState` of the question",
            );
        }
        let Some(state) = states.seal(question, &opened.approved, principal) else {
            return unanswered("the system gives no random bytes");
        };
        if self.required.is_none() {
            let request = InputRequest::Elicitation(ElicitRequest::new(params));
            let requests = BTreeMap::from([(CONFIRMATION.to_owned(), request)]);
            self.required = Some(InputRequiredResult::new(Some(requests), Some(state)));
        }
        Answer::Defer(ToolOutput::text("The user has to be asked first."))
    }
}

/// Tells the client that nobody waits for its answer any more, when dropped before there was one.
struct Withdraw<'a> {
    to: Option<(Peer<RoleServer>, RequestId)>,
    tasks: &'a TaskTracker,
}

impl Drop for Withdraw<'_> {
    fn drop(&mut self) {
        let Some((peer, id)) = self.to.take() else { return };
        let mut params = CancelledNotificationParam::new(Some(id), None);
        params.reason = Some("the call was given up".to_owned());
        self.tasks.spawn(async move {
            if let Err(error) = peer.notify_cancelled(params).await {
                tracing::debug!(%error, "a question was not withdrawn");
            }
        });
    }
}

/// Whether a client can show a form: it says so, or says that it can ask and not how.
fn shows_forms(capabilities: &ClientCapabilities) -> bool {
    let elicitation = capabilities.elicitation.as_ref();
    elicitation.is_some_and(|can| can.form.is_some() || can.url.is_none())
}

/// The question as a form with one box to tick; nothing where it is too long.
///
/// All arguments are in it, and what cannot be seen in them is written as an escape (decision 17).
fn form(question: &Question<'_>) -> Option<ElicitRequestParams> {
    let arguments = serde_json::to_string_pretty(question.arguments).unwrap_or_default();
    let arguments: Vec<String> = arguments.lines().map(shown::visible).collect();
    let message = format!(
        "Allow `{}` for {}? It is asked because {}.\n\n{}",
        shown::visible(question.name.as_str()),
        question.principal,
        shown::visible(&question.because),
        arguments.join("\n")
    );
    if message.len() > MAX_MESSAGE_BYTES {
        return None;
    }
    let requested_schema = ElicitationSchema::builder()
        .required_bool_with(CONFIRMED, |confirmed| {
            confirmed.title("Allow").description("Whether exactly this may happen, once")
        })
        .build_unchecked();
    Some(ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema })
}

/// Only a form that was sent off with the box ticked is a yes.
fn verdict(result: &ElicitResult) -> Answer {
    let ticked = || {
        let content = result.content.as_ref();
        content.and_then(|content| content.get(CONFIRMED)) == Some(&Value::Bool(true))
    };
    if result.action == ElicitationAction::Accept && ticked() {
        Answer::Allow
    } else {
        Answer::Deny { reason: None }
    }
}

fn unanswered(why: &str) -> Answer {
    Answer::Deny { reason: Some(format!("the user could not be asked ({why})")) }
}
