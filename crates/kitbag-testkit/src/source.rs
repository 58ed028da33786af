//! A source whose tools do what a test needs.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use kitbag_tool::{
    Answer, BoxFuture, CallContext, CallError, Content, Fields, ListError, Offer, OfferedTool,
    Page, PageRequest, ProgressUpdate, PromptError, PromptMessage, PromptOutput, PromptRequest,
    PromptSpec, Question, ReadError, Refusal, ResourceBody, ResourceContents, ResourceSpec,
    Revision, Role, Source, SourceId, ToolCall, ToolHints, ToolIdentity, ToolOutput, ToolSpec,
};
use serde_json::{Map, Value, json};
use tokio::sync::watch;

/// How long a test waits for a call to begin or to end before it counts as stuck.
const PATIENCE: Duration = Duration::from_secs(30);

/// A source with these tools:
///
/// | tool | what it does |
/// |---|---|
/// | `echo` {text, times?} | gives `text` back |
/// | `data` {} | gives structured output |
/// | `refuse` {secret?} | refuses with a hint |
/// | `hang` {} | never ends; [`FakeSource::hanging`] counts the calls that are under way |
/// | `panic` {} | panics |
/// | `steps` {} | reports three steps |
///
/// Added with [`FakeSource::add_offered`], whoever it is said to belong to, a tool does what its name says where that is
/// one of the above or of these, and else echoes:
///
/// | tool | what it does |
/// |---|---|
/// | `relay` {tool, arguments} | calls another tool from within, and gives what it gave |
/// | `give` {output} | gives the output that it is given |
/// | `ask` {text} | asks by itself about each word of `text`, until one is not allowed |
///
/// It has one prompt and one resource for each name that a test puts in.
#[derive(Debug)]
pub struct FakeSource {
    id: SourceId,
    offer: watch::Sender<Arc<Offer>>,
    names: Mutex<BTreeMap<String, String>>,
    hanging: watch::Sender<usize>,
}

/// Counts a call for as long as its future lives.
struct Hanging(watch::Sender<usize>);

impl Hanging {
    fn new(count: &watch::Sender<usize>) -> Self {
        count.send_modify(|count| *count += 1);
        Self(count.clone())
    }
}

impl Drop for Hanging {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count -= 1);
    }
}

fn object(value: Value) -> Map<String, Value> {
    let Value::Object(map) = value else { panic!("an object was written") };
    map
}

fn tool(name: &str, description: &str, schema: Value) -> ToolSpec {
    let mut spec = ToolSpec::new(name.parse().expect("a valid name was written"), object(schema));
    spec.description = Some(description.to_owned());
    spec.annotations = Some(ToolHints::reads_closed_world());
    spec
}

/// The tool as one of a server, which nothing is believed of.
fn of_server(server: &str, spec: ToolSpec) -> OfferedTool {
    let tool = spec.name.as_str().to_owned();
    OfferedTool::of_server(spec, server, &tool)
}

fn tools(id: &str) -> Vec<Arc<OfferedTool>> {
    let echo = json!({
        "type": "object",
        "properties": {
            "text": { "type": "string", "minLength": 1 },
            "times": { "type": "integer", "minimum": 1 },
        },
        "required": ["text"],
    });
    let secret = json!({ "type": "object", "properties": { "secret": { "type": "string" } } });
    let mut data = tool("data", "Gives data.", json!({ "type": "object" }));
    data.output_schema = Some(Arc::new(object(json!({
        "type": "object",
        "properties": { "words": { "type": "array" }, "answer": { "type": "integer" } },
    }))));
    [
        tool("echo", "Gives the text back.", echo),
        data,
        tool("refuse", "Refuses.", secret),
        tool("hang", "Never ends.", json!({ "type": "object" })),
        tool("panic", "Panics.", json!({ "type": "object" })),
        tool("steps", "Reports three steps.", json!({ "type": "object" })),
    ]
    .map(|spec| Arc::new(of_server(id, spec)))
    .into()
}

/// Asks about each word, and says how it went.
async fn ask(call: &ToolCall, context: &CallContext) -> String {
    let text = call.arguments.get("text").and_then(Value::as_str).unwrap_or_default();
    for word in text.split_whitespace() {
        let arguments = object(json!({ "word": word }));
        let question = Question {
            principal: &context.principal,
            tool: &ToolIdentity::Own("ask".to_owned()),
            name: &call.name,
            title: None,
            arguments: &arguments,
            because: format!("the word is {word}"),
            grant: None,
        };
        match context.approver.ask(&question, context).await {
            Answer::Allow | Answer::AllowForSession => {}
            Answer::Deny { reason } => return format!("{word}: {}", reason.unwrap_or_default()),
            Answer::Defer(_) => return format!("{word}: later"),
        }
    }
    "done".to_owned()
}

impl FakeSource {
    /// A source called `id` without prompts and resources.
    pub fn new(id: &str) -> Arc<Self> {
        let offer =
            Offer { tools: tools(id), prompts: Some(Revision(0)), resources: Some(Revision(0)) };
        Arc::new(Self {
            id: id.parse().expect("a valid name was written"),
            offer: watch::Sender::new(Arc::new(offer)),
            names: Mutex::default(),
            hanging: watch::Sender::new(0),
        })
    }

    /// How many calls of `hang` are under way.
    pub fn hanging(&self) -> usize {
        *self.hanging.borrow()
    }

    /// Waits until `count` calls of `hang` are under way.
    pub async fn hanging_becomes(&self, count: usize) {
        let mut hanging = self.hanging.subscribe();
        let waited = tokio::time::timeout(PATIENCE, hanging.wait_for(|now| *now == count)).await;
        assert!(waited.is_ok(), "{} calls hang, not {count}", self.hanging());
    }

    /// Adds a prompt and a resource, or changes what they say.
    pub fn put(&self, name: &str, text: &str) {
        self.with_names(|names| names.insert(name.to_owned(), text.to_owned()));
        self.change_lists();
    }

    /// Adds many prompts and resources at once.
    pub fn put_all<'a>(&self, all: impl IntoIterator<Item = (&'a str, &'a str)>) {
        let owned = |(name, text): (&str, &str)| (name.to_owned(), text.to_owned());
        self.with_names(|names| names.extend(all.into_iter().map(owned)));
        self.change_lists();
    }

    /// Removes a prompt and a resource.
    pub fn remove(&self, name: &str) {
        self.with_names(|names| names.remove(name));
        self.change_lists();
    }

    /// Adds a tool that echoes.
    pub fn add_tool(&self, name: &str) {
        self.offer.send_modify(|offer| {
            let added = tool(name, "Came later.", json!({ "type": "object" }));
            Arc::make_mut(offer).tools.push(Arc::new(of_server(self.id.as_str(), added)));
        });
    }

    /// Adds a tool as it is given.
    pub fn add_offered(&self, tool: OfferedTool) {
        self.offer.send_modify(|offer| Arc::make_mut(offer).tools.push(Arc::new(tool)));
    }

    /// Publishes the same offer anew, as a source does that looked again and found nothing new.
    pub fn touch(&self) {
        self.offer.send_modify(|offer| *offer = Arc::new((**offer).clone()));
    }

    fn change_lists(&self) {
        self.offer.send_modify(|offer| {
            let offer = Arc::make_mut(offer);
            for revision in [&mut offer.prompts, &mut offer.resources].into_iter().flatten() {
                *revision = Revision(revision.0 + 1);
            }
        });
    }

    fn with_names<T>(&self, with: impl FnOnce(&mut BTreeMap<String, String>) -> T) -> T {
        with(&mut self.names.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn page<T>(&self, page: PageRequest<'_>, make: impl Fn(&str) -> T) -> Page<T> {
        let names: Vec<String> = self.with_names(|names| names.keys().cloned().collect());
        Page::cut(page, &names, String::clone, |name| make(name))
    }

    fn uri(&self, name: &str) -> String {
        format!("fake://{}/{name}", self.id)
    }

    async fn answer(&self, call: ToolCall, context: &CallContext) -> Result<ToolOutput, CallError> {
        match call.name.as_str() {
            "data" => {
                let data = json!({ "words": ["b", "a"], "answer": 42 });
                Ok(ToolOutput::structured(&data).expect("it is JSON"))
            }
            "refuse" => {
                let secret = call.arguments.get("secret").and_then(Value::as_str).unwrap_or("none");
                let message = format!("will not do it with {secret}");
                Err(Refusal::new(message).hint("ask for something else").into())
            }
            "hang" => {
                let _hanging = Hanging::new(&self.hanging);
                std::future::pending().await
            }
            "ask" => Ok(ToolOutput::text(ask(&call, context).await)),
            "relay" => {
                let name = call.arguments.get("tool").and_then(Value::as_str).unwrap_or_default();
                let arguments = call.arguments.get("arguments").and_then(Value::as_object);
                let name = name.parse().expect("a valid name was written");
                let arguments = arguments.cloned().unwrap_or_default();
                context.call(ToolCall { name, arguments }).await
            }
            "give" => {
                let output = call.arguments.get("output").map(Value::to_string);
                let output = output.and_then(|output| serde_json::from_str(&output).ok());
                Ok(output.expect("an output was written"))
            }
            "panic" => panic!("a tool that panics was called"),
            "steps" => {
                for step in 1..=3_u8 {
                    context.progress.report(ProgressUpdate {
                        done: f64::from(step),
                        total: Some(3.0),
                        message: Some(format!("step {step}")),
                    });
                }
                Ok(ToolOutput::text("done"))
            }
            _ => {
                let text = call.arguments.get("text").and_then(Value::as_str).unwrap_or_default();
                Ok(ToolOutput::text(text))
            }
        }
    }
}

impl Source for FakeSource {
    fn id(&self) -> &SourceId {
        &self.id
    }

    fn offer(&self) -> watch::Receiver<Arc<Offer>> {
        self.offer.subscribe()
    }

    fn call<'a>(
        &'a self,
        call: ToolCall,
        context: &'a CallContext,
    ) -> BoxFuture<'a, Result<ToolOutput, CallError>> {
        Box::pin(self.answer(call, context))
    }

    fn prompts<'a>(
        &'a self,
        page: PageRequest<'a>,
    ) -> BoxFuture<'a, Result<Page<PromptSpec>, ListError>> {
        let make = |name: &str| PromptSpec {
            name: name.to_owned(),
            title: None,
            description: Some(format!("Says {name}.")),
            arguments: None,
            extra: Fields::default(),
        };
        let page = self.page(page, make);
        Box::pin(async { Ok(page) })
    }

    fn prompt<'a>(
        &'a self,
        request: &'a PromptRequest,
        _context: &'a CallContext,
    ) -> BoxFuture<'a, Result<PromptOutput, PromptError>> {
        let text = self.with_names(|names| names.get(&request.name).cloned());
        Box::pin(async move {
            let text = text.ok_or_else(|| PromptError::Unknown { name: request.name.clone() })?;
            let content = Content::Text(text);
            let message = PromptMessage { role: Role::User, content, extra: Fields::default() };
            Ok(PromptOutput {
                messages: vec![message],
                description: None,
                extra: Fields::default(),
            })
        })
    }

    fn resources<'a>(
        &'a self,
        page: PageRequest<'a>,
    ) -> BoxFuture<'a, Result<Page<ResourceSpec>, ListError>> {
        let page = self.page(page, |name| ResourceSpec::new(self.uri(name), name));
        Box::pin(async { Ok(page) })
    }

    fn read<'a>(
        &'a self,
        uri: &'a str,
        _context: &'a CallContext,
    ) -> BoxFuture<'a, Result<Vec<ResourceContents>, ReadError>> {
        let text = uri
            .strip_prefix(&self.uri(""))
            .and_then(|name| self.with_names(|names| names.get(name).cloned()));
        Box::pin(async move {
            let text = text.ok_or_else(|| ReadError::NotFound { uri: uri.to_owned() })?;
            // The texts of tests stand for bytes where they begin so.
            let body = match text.strip_prefix("bytes:") {
                Some(bytes) => ResourceBody::Blob(bytes.as_bytes().to_vec()),
                None => ResourceBody::Text(text),
            };
            let mime_type = Some("text/plain".to_owned());
            Ok(vec![ResourceContents {
                uri: uri.to_owned(),
                mime_type,
                body,
                extra: Fields::default(),
            }])
        })
    }
}
