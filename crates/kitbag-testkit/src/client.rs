//! An MCP client that trusts nothing.

use std::collections::{HashMap, HashSet, VecDeque};
use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader, Lines};

/// How long a test waits for an answer before it counts as missing. Long, since it only ends hung tests; under
/// paused time it passes at once where nothing else is left to do.
const PATIENCE: Duration = Duration::from_secs(30);

/// Which of the two eras of the protocol a client speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Era {
    /// A handshake, then requests that rely on it, at revision 2025-06-18.
    Handshake,
    /// Requests that each stand for themselves, at revision 2026-07-28.
    Stateless,
}

/// An error that a server answered with.
#[derive(Debug, Clone, PartialEq)]
pub struct RpcError {
    /// Its code.
    pub code: i64,
    /// Its text.
    pub message: String,
    /// What comes with it.
    pub data: Option<Value>,
}

/// A client on a pair of streams that panics when the server breaks the protocol.
///
/// Checked are: one JSON object a line, `jsonrpc` everywhere, an `id` that was asked and not yet answered, a result
/// or an error and never both, `resultType` on every result of the stateless era and on none of the other.
#[derive(Debug)]
pub struct McpClient<R, W> {
    era: Era,
    lines: Lines<BufReader<R>>,
    /// Nothing once this side is closed.
    writer: Option<W>,
    next_id: u64,
    asked: HashSet<u64>,
    answers: HashMap<u64, Result<Value, RpcError>>,
    notifications: VecDeque<Value>,
    capabilities: Value,
    replies: VecDeque<Reply>,
    questions: Vec<Value>,
}

/// What a client does with a request of the server's.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    /// Answers with this result.
    With(Value),
    /// Answers with an error.
    Fail,
    /// Never answers.
    Never,
}

impl Era {
    /// The revision that a client of the era asks for.
    pub fn version(self) -> &'static str {
        match self {
            Self::Handshake => "2025-06-18",
            Self::Stateless => "2026-07-28",
        }
    }
}

impl<R: AsyncRead + Unpin, W: AsyncWrite + Unpin> McpClient<R, W> {
    /// A client that has said nothing yet.
    pub fn new(era: Era, reader: R, writer: W) -> Self {
        Self {
            era,
            lines: BufReader::new(reader).lines(),
            writer: Some(writer),
            next_id: 1,
            asked: HashSet::new(),
            answers: HashMap::new(),
            notifications: VecDeque::new(),
            capabilities: json!({}),
            replies: VecDeque::new(),
            questions: Vec::new(),
        }
    }

    /// The same client, which declares that it can do this.
    #[must_use]
    pub fn that_can(mut self, capabilities: Value) -> Self {
        self.capabilities = capabilities;
        self
    }

    /// Answers the server's next requests so, in order; one more than those is an offence.
    pub fn will_reply(&mut self, replies: impl IntoIterator<Item = Reply>) {
        self.replies.extend(replies);
    }

    /// What the server has asked since this was called last.
    pub fn questions(&mut self) -> Vec<Value> {
        std::mem::take(&mut self.questions)
    }

    /// Reads on until the server has asked something.
    pub async fn is_asked(&mut self) {
        while self.questions.is_empty() {
            assert!(self.receive().await, "the server closed before it asked");
        }
    }

    /// Opens the conversation as the era has it, and gives what the server says about itself.
    pub async fn open(&mut self) -> Value {
        match self.era {
            Era::Handshake => {
                let params = json!({
                    "protocolVersion": self.era.version(),
                    "capabilities": self.capabilities,
                    "clientInfo": { "name": "testkit", "version": "0" },
                });
                let result = self.request("initialize", params).await;
                self.notify("notifications/initialized", json!({})).await;
                result
            }
            Era::Stateless => self.request("server/discover", json!({})).await,
        }
    }

    /// Asks and gives the result.
    ///
    /// # Panics
    ///
    /// The answer is an error.
    pub async fn request(&mut self, method: &str, params: Value) -> Value {
        let answer = self.try_request(method, params).await;
        answer.unwrap_or_else(|error| panic!("`{method}` was answered with {error:?}"))
    }

    /// Asks and gives the answer.
    pub async fn try_request(&mut self, method: &str, params: Value) -> Result<Value, RpcError> {
        let id = self.start(method, params).await;
        self.finish(id).await
    }

    /// Asks and does not wait.
    pub async fn start(&mut self, method: &str, params: Value) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        self.asked.insert(id);
        let params = self.with_meta(params);
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })).await;
        id
    }

    /// Says that a line which was or will be sent by hand asks under `id`.
    pub fn expect(&mut self, id: u64) {
        self.asked.insert(id);
    }

    /// Waits for the answer to what was asked under `id`.
    pub async fn finish(&mut self, id: u64) -> Result<Value, RpcError> {
        loop {
            if let Some(answer) = self.answers.remove(&id) {
                return answer;
            }
            assert!(self.receive().await, "the server closed before it answered {id}");
        }
    }

    /// Gives up what was asked under `id`; an answer that is under way all the same is not an offence.
    pub async fn cancel(&mut self, id: u64) {
        self.notify("notifications/cancelled", json!({ "requestId": id, "reason": "test" })).await;
    }

    /// Tells, and expects no answer.
    pub async fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params })).await;
    }

    /// Sends a line as it stands.
    pub async fn send_line(&mut self, line: &str) {
        let line = format!("{line}\n");
        let writer = self.writer.as_mut().expect("this side is open");
        writer.write_all(line.as_bytes()).await.expect("the server reads");
        writer.flush().await.expect("the server reads");
    }

    /// Waits for the next notification.
    pub async fn notification(&mut self) -> Value {
        loop {
            if let Some(notification) = self.notifications.pop_front() {
                return notification;
            }
            assert!(self.receive().await, "the server closed");
        }
    }

    /// The notifications that come within `time`, which under paused time passes as soon as nothing else happens.
    pub async fn notifications_within(&mut self, time: Duration) -> Vec<Value> {
        let end = tokio::time::Instant::now() + time;
        while let Ok(open) = tokio::time::timeout_at(end, self.read()).await {
            if !open {
                break;
            }
        }
        self.notifications.drain(..).collect()
    }

    /// Closes this side and reads until the server has closed the other.
    pub async fn close(mut self) {
        let mut writer = self.writer.take().expect("this side is open");
        writer.shutdown().await.expect("this side can be closed");
        // A pipe to a child closes only when it is dropped.
        drop(writer);
        while self.receive().await {}
    }

    fn with_meta(&self, params: Value) -> Value {
        if self.era == Era::Handshake {
            return params;
        }
        let Value::Object(mut params) = params else { panic!("params are an object") };
        let meta = params.entry("_meta").or_insert_with(|| Value::Object(Map::new()));
        meta["io.modelcontextprotocol/protocolVersion"] = json!(self.era.version());
        meta["io.modelcontextprotocol/clientCapabilities"] = self.capabilities.clone();
        // A test may be another client.
        if meta.get("io.modelcontextprotocol/clientInfo").is_none() {
            meta["io.modelcontextprotocol/clientInfo"] =
                json!({ "name": "testkit", "version": "0" });
        }
        Value::Object(params)
    }

    async fn send(&mut self, message: &Value) {
        self.send_line(&message.to_string()).await;
    }

    /// Reads one message, and says whether there was one before the end.
    async fn receive(&mut self) -> bool {
        let read = tokio::time::timeout(PATIENCE, self.read()).await;
        read.expect("the server says something in time")
    }

    /// Reads one message; nothing is lost when dropped before it ends.
    async fn read(&mut self) -> bool {
        let Some(line) = self.lines.next_line().await.expect("the server writes UTF-8") else {
            return false;
        };
        let message: Value =
            serde_json::from_str(&line).unwrap_or_else(|e| panic!("no JSON ({e}): {line}"));
        assert_eq!(message["jsonrpc"], "2.0", "{line}");
        if message.get("method").is_some() {
            match message.get("id").cloned() {
                Some(id) => self.reply(&id, message).await,
                None => self.notifications.push_back(message),
            }
            return true;
        }
        let id = message["id"].as_u64().unwrap_or_else(|| panic!("an answer without id: {line}"));
        assert!(self.asked.remove(&id), "{id} was not asked, or is answered twice: {line}");
        let answer = match (message.get("result"), message.get("error")) {
            (Some(result), None) => {
                let typed = result.get("resultType").is_some();
                assert_eq!(typed, self.era == Era::Stateless, "`resultType`: {line}");
                Ok(result.clone())
            }
            (None, Some(error)) => Err(RpcError {
                code: error["code"]
                    .as_i64()
                    .unwrap_or_else(|| panic!("an error without code: {line}")),
                message: error["message"]
                    .as_str()
                    .unwrap_or_else(|| panic!("an error without text: {line}"))
                    .to_owned(),
                data: error.get("data").cloned(),
            }),
            _ => panic!("neither or both of result and error: {line}"),
        };
        self.answers.insert(id, answer);
        true
    }

    /// Answers a request of the server's, which it may make in the era of the handshake alone.
    async fn reply(&mut self, id: &Value, request: Value) {
        assert_eq!(self.era, Era::Handshake, "the server asks the client: {request}");
        let reply = self.replies.pop_front();
        let reply = reply.unwrap_or_else(|| panic!("the server asks the client: {request}"));
        self.questions.push(request);
        let message = match reply {
            Reply::With(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
            Reply::Fail => {
                let error = json!({ "code": -32_603, "message": "it did not work" });
                json!({ "jsonrpc": "2.0", "id": id, "error": error })
            }
            Reply::Never => return,
        };
        self.send(&message).await;
    }
}
