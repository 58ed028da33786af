//! Streamable HTTP on loopback, byte for byte.

use std::sync::Arc;

use kitbag_server::{BearerToken, BearerTokenError, serve_http};
use kitbag_testkit::FakeSource;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::served;

const TOKEN: &str = "0123456789abcdefghijklmnopqrstuvwxyz";

struct Server {
    address: &'static str,
    port: u16,
    source: Arc<FakeSource>,
    stop: CancellationToken,
    running: JoinHandle<std::io::Result<()>>,
}

struct Response {
    status: u16,
    head: String,
    body: String,
}

async fn serve() -> Server {
    serve_at("127.0.0.1").await
}

async fn serve_at(address: &'static str) -> Server {
    let listener = TcpListener::bind((address, 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let source = FakeSource::new("fake");
    let stop = CancellationToken::new();
    let token = TOKEN.parse().unwrap();
    let running = tokio::spawn(serve_http(served(&source), listener, token, stop.clone()));
    Server { address, port, source, stop, running }
}

impl Server {
    /// The headers that a request of today has, each of which `change` may replace or, with none, leave out.
    fn head(&self, method: &str, change: &[(&str, Option<&str>)]) -> String {
        let mut headers = vec![
            ("Host", format!("127.0.0.1:{}", self.port)),
            ("Authorization", format!("Bearer {TOKEN}")),
            ("Accept", "application/json, text/event-stream".to_owned()),
            ("Content-Type", "application/json".to_owned()),
            ("Connection", "close".to_owned()),
        ];
        if !method.is_empty() {
            headers.push(("MCP-Protocol-Version", "2026-07-28".to_owned()));
            headers.push(("Mcp-Method", method.to_owned()));
        }
        for (name, value) in change {
            headers.retain(|(known, _)| known != name);
            if let Some(value) = value {
                headers.push((name, (*value).to_owned()));
            }
        }
        let line = |(name, value): &(&str, String)| format!("{name}: {value}\r\n");
        headers.iter().map(line).collect::<Vec<_>>().concat()
    }

    async fn send(&self, head: &str, body: &Value) -> TcpStream {
        let mut stream = TcpStream::connect((self.address, self.port)).await.unwrap();
        let body = body.to_string();
        let length = body.len();
        let request = format!("POST /mcp HTTP/1.1\r\n{head}Content-Length: {length}\r\n\r\n{body}");
        stream.write_all(request.as_bytes()).await.unwrap();
        stream
    }

    async fn post(&self, head: &str, body: &Value) -> Response {
        let mut stream = self.send(head, body).await;
        let mut text = String::new();
        stream.read_to_string(&mut text).await.unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Response { status, head: head.to_owned(), body: body.to_owned() }
    }

    /// A request of the stateless era with what `change` says of its headers.
    async fn request(
        &self,
        method: &str,
        params: Value,
        change: &[(&str, Option<&str>)],
    ) -> Response {
        let (head, body) = self.stateless(method, params, change);
        self.post(&head, &body).await
    }

    fn stateless(
        &self,
        method: &str,
        mut params: Value,
        change: &[(&str, Option<&str>)],
    ) -> (String, Value) {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "0" },
        });
        let mut head = self.head(method, change);
        if let Some(name) = params["name"].as_str() {
            head = format!("{head}Mcp-Name: {name}\r\n");
        }
        (head, json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }))
    }
}

impl Response {
    /// The answer, sent as JSON or as the one event with data that a stream has.
    fn answer(&self) -> Value {
        let data = self.body.lines().find_map(|line| {
            let line = line.strip_prefix("data:").unwrap_or(line).trim();
            line.starts_with('{').then_some(line)
        });
        serde_json::from_str(data.unwrap_or_else(|| panic!("no answer in {}", self.body))).unwrap()
    }
}

#[test]
fn a_token_is_long_plain_and_never_shown() {
    assert_eq!("short".parse::<BearerToken>().unwrap_err(), BearerTokenError);
    assert_eq!(format!("{TOKEN} ").parse::<BearerToken>().unwrap_err(), BearerTokenError);
    assert_eq!(format!("{:?}", TOKEN.parse::<BearerToken>().unwrap()), "BearerToken");
}

#[tokio::test]
async fn only_who_shows_the_token_is_answered() {
    let server = serve().await;
    let status = async |value: Option<&str>| {
        server.request("tools/list", json!({}), &[("Authorization", value)]).await.status
    };
    assert_eq!(status(Some(&format!("Bearer {TOKEN}"))).await, 200);
    assert_eq!(status(Some(&format!("bearer  {TOKEN}"))).await, 200);
    for wrong in [
        None,
        Some(""),
        Some("Bearer"),
        Some("Bearer "),
        Some(TOKEN),
        Some(&*format!("Basic {TOKEN}")),
        Some(&*format!("Bearer {TOKEN}x")),
        Some(&*format!("Bearer {}", &TOKEN[1..])),
        Some(&*format!("Bearer {}", TOKEN.to_uppercase())),
        Some(&*format!("Bearer {TOKEN}\r\nAuthorization: Bearer {TOKEN}")),
    ] {
        assert_eq!(status(wrong).await, 401, "{wrong:?}");
    }
    let refused = server.request("tools/list", json!({}), &[("Authorization", None)]).await;
    assert!(refused.head.contains("www-authenticate: Bearer"), "{}", refused.head);
    assert_eq!(refused.body, "");
}

#[tokio::test]
async fn a_foreign_host_or_page_is_refused() {
    let server = serve().await;
    let status = async |name: &str, value: &str| {
        server.request("tools/list", json!({}), &[(name, Some(value))]).await.status
    };
    for host in ["localhost", "localhost:1", "127.0.0.1", "[::1]:80"] {
        assert_eq!(status("Host", host).await, 200, "{host}");
    }
    for host in ["evil.example", "127.0.0.1.evil.example", "10.0.0.1:80", "localhost.evil.example"]
    {
        assert_eq!(status("Host", host).await, 403, "{host}");
    }
    for origin in ["http://localhost", "http://127.0.0.1:1", "http://[::1]:80"] {
        assert_eq!(status("Origin", origin).await, 200, "{origin}");
    }
    for origin in [
        "https://evil.example",
        "http://localhost.evil.example",
        "http://127.0.0.1.evil.example:80",
        "https://localhost",
        "null",
        "file://",
        "",
    ] {
        assert_eq!(status("Origin", origin).await, 403, "{origin}");
    }
}

/// Elsewhere a loopback interface has one address unless it is given more.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn the_address_that_is_listened_at_is_a_host() {
    let server = serve_at("127.0.0.2").await;
    let own = format!("127.0.0.2:{}", server.port);
    let origin = format!("http://{own}");
    let status = async |name: &str, value: &str| {
        let change = [("Host", Some(&*own)), (name, Some(value))];
        server.request("tools/list", json!({}), &change).await.status
    };
    assert_eq!(status("Origin", &origin).await, 200);
    assert_eq!(status("Origin", "http://127.0.0.3").await, 403);
    assert_eq!(status("Host", "127.0.0.3").await, 403);
}

#[tokio::test]
async fn the_stateless_era_is_served() {
    let server = serve().await;
    let discovered = server.request("server/discover", json!({}), &[]).await.answer();
    assert_eq!(discovered["result"]["instructions"], "Use the tools.");
    let listed = server.request("tools/list", json!({}), &[]).await;
    assert!(listed.head.contains("content-type: application/json"), "{}", listed.head);
    assert_eq!(listed.answer()["result"]["tools"].as_array().unwrap().len(), 6);
    let echo = json!({ "name": "echo", "arguments": { "text": "hi" } });
    let called = server.request("tools/call", echo, &[]).await.answer();
    assert_eq!(called["result"]["content"][0]["text"], "hi");
    let unknown = server.request("tools/call", json!({ "name": "nope" }), &[]).await;
    assert_eq!(unknown.answer()["error"]["message"], "Tool nope not found");
}

/// Opens a session and gives the headers of the requests in it.
async fn open_session(server: &Server) -> String {
    let initialize = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": { "name": "test", "version": "0" },
    } });
    let opened = server.post(&server.head("", &[]), &initialize).await;
    assert_eq!(opened.answer()["result"]["serverInfo"]["name"], "kitbag");
    let session = opened
        .head
        .lines()
        .find_map(|line| line.strip_prefix("mcp-session-id: "))
        .expect("a session is opened");
    let head = server.head(
        "",
        &[("Mcp-Session-Id", Some(session)), ("MCP-Protocol-Version", Some("2025-06-18"))],
    );
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    assert_eq!(server.post(&head, &ready).await.status, 202);
    head
}

/// Reads a stream of events up to the next message.
async fn next_message(stream: &mut BufReader<TcpStream>) -> Value {
    let mut line = String::new();
    loop {
        line.clear();
        assert!(stream.read_line(&mut line).await.unwrap() > 0, "the stream goes on");
        if let Some(data) = line.strip_prefix("data:").map(str::trim)
            && !data.is_empty()
        {
            return serde_json::from_str(data).unwrap();
        }
    }
}

#[tokio::test]
async fn the_handshake_era_is_served() {
    let server = serve().await;
    let head = open_session(&server).await;
    let list = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" });
    let mut stream = BufReader::new(server.send(&head, &list).await);
    let answer = next_message(&mut stream).await;
    assert_eq!(answer["result"]["tools"].as_array().unwrap().len(), 6);
}

#[tokio::test]
async fn ending_a_session_is_done_not_accepted() {
    let server = serve().await;
    let head = open_session(&server).await;
    let mut stream = TcpStream::connect(("127.0.0.1", server.port)).await.unwrap();
    stream.write_all(format!("DELETE /mcp HTTP/1.1\r\n{head}\r\n").as_bytes()).await.unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).await.unwrap();
    assert!(text.starts_with("HTTP/1.1 204 No Content\r\n"), "{text}");
    let list = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" });
    assert_eq!(server.post(&head, &list).await.status, 404);
}

#[tokio::test]
async fn changes_are_told_in_the_handshake_era() {
    let server = serve().await;
    let head = open_session(&server).await;
    let mut stream = TcpStream::connect(("127.0.0.1", server.port)).await.unwrap();
    stream.write_all(format!("GET /mcp HTTP/1.1\r\n{head}\r\n").as_bytes()).await.unwrap();
    server.source.add_tool("later");
    let told = next_message(&mut BufReader::new(stream)).await;
    assert_eq!(told["method"], "notifications/tools/list_changed");
}

#[tokio::test]
async fn changes_are_told_in_the_stateless_era() {
    let server = serve().await;
    let wanted = json!({ "notifications": { "toolsListChanged": true } });
    let (head, body) = server.stateless("subscriptions/listen", wanted, &[]);
    let mut stream = BufReader::new(server.send(&head, &body).await);
    let acknowledged = next_message(&mut stream).await;
    assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged");
    server.source.put("prompt", "text");
    server.source.add_tool("later");
    let told = next_message(&mut stream).await;
    assert_eq!(told["method"], "notifications/tools/list_changed");
    server.stop.cancel();
    server.running.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_client_that_hangs_up_cancels_its_call() {
    let server = serve().await;
    let (head, body) =
        server.stateless("tools/call", json!({ "name": "hang", "arguments": {} }), &[]);
    let stream = server.send(&head, &body).await;
    server.source.hanging_becomes(1).await;
    drop(stream);
    server.source.hanging_becomes(0).await;
}

#[tokio::test]
async fn stopping_ends_the_server_and_its_calls() {
    let server = serve().await;
    let (head, body) =
        server.stateless("tools/call", json!({ "name": "hang", "arguments": {} }), &[]);
    let _stream = server.send(&head, &body).await;
    server.source.hanging_becomes(1).await;
    server.stop.cancel();
    server.running.await.unwrap().unwrap();
    server.source.hanging_becomes(0).await;
}

#[tokio::test]
async fn a_body_past_the_bound_is_refused() {
    let server = serve().await;
    let echo = json!({ "name": "echo", "arguments": { "text": "x".repeat(1024 * 1024) } });
    let (head, body) = server.stateless("tools/call", echo, &[]);
    let mut stream = TcpStream::connect(("127.0.0.1", server.port)).await.unwrap();
    let body = body.to_string();
    let request = format!("POST /mcp HTTP/1.1\r\n{head}Content-Length: {}\r\n\r\n", body.len());
    stream.write_all(request.as_bytes()).await.unwrap();
    let (mut reader, mut writer) = stream.split();
    let mut status = [0; 12];
    // The server may answer and hang up before it has read all of the body.
    let (read, _written) =
        tokio::join!(reader.read_exact(&mut status), writer.write_all(body.as_bytes()));
    read.unwrap();
    assert_eq!(&status, b"HTTP/1.1 413");
}

#[tokio::test]
async fn other_paths_and_methods_are_not_served() {
    let server = serve().await;
    let mut statuses = Vec::new();
    for line in ["GET /", "GET /mcp/x", "PUT /mcp", "GET /mcp"] {
        let mut stream = TcpStream::connect(("127.0.0.1", server.port)).await.unwrap();
        let request = format!("{line} HTTP/1.1\r\n{}\r\n", server.head("x", &[]));
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).await.unwrap();
        statuses.push(text[9..12].to_owned());
    }
    assert_eq!(statuses, ["404", "404", "405", "405"]);
}

/// Time stands still but for what is waited for: reading to the end takes as long as the server's patience.
#[tokio::test(start_paused = true)]
async fn who_does_not_finish_a_request_is_hung_up_on() {
    let server = serve().await;
    let head = server.head("tools/list", &[]);
    for (begun, expected) in [
        (String::new(), ""),
        ("POST /mcp HT".to_owned(), ""),
        (format!("POST /mcp HTTP/1.1\r\n{head}"), ""),
        (format!("POST /mcp HTTP/1.1\r\n{head}Content-Length: 9\r\n\r\n{{"), "HTTP/1.1 408 "),
        ("POST /mcp HTTP/1.1\r\nContent-Length: 9\r\n\r\n{".to_owned(), "HTTP/1.1 401 "),
    ] {
        let mut stream = TcpStream::connect(("127.0.0.1", server.port)).await.unwrap();
        stream.write_all(begun.as_bytes()).await.unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).await.unwrap();
        let start = &text[..text.len().min("HTTP/1.1 000 ".len())];
        assert_eq!(start, expected, "{begun}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_head_that_drips_in_is_hung_up_on() {
    let server = serve().await;
    let mut stream = TcpStream::connect(("127.0.0.1", server.port)).await.unwrap();
    stream.write_all(b"GET /mcp HTTP/1.1\r\n").await.unwrap();
    let begun = tokio::time::Instant::now();
    let mut byte = [0];
    // Each line comes long before the time is up, and the time is up all the same.
    while tokio::time::timeout(std::time::Duration::from_secs(4), stream.read(&mut byte))
        .await
        .is_err()
    {
        stream.write_all(b"X-More: 1\r\n").await.unwrap();
        assert!(begun.elapsed().as_secs() < 120, "the server never hangs up");
    }
}

#[tokio::test]
async fn more_connections_than_the_bound_are_closed_at_once() {
    let server = serve().await;
    let mut open = Vec::new();
    for _ in 0..256 {
        open.push(TcpStream::connect(("127.0.0.1", server.port)).await.unwrap());
    }
    let mut refused = TcpStream::connect(("127.0.0.1", server.port)).await.unwrap();
    let mut text = String::new();
    refused.read_to_string(&mut text).await.unwrap();
    assert_eq!(text, "");
    let (head, body) = server.stateless("tools/list", json!({}), &[]);
    let length = body.to_string().len();
    let request = format!("POST /mcp HTTP/1.1\r\n{head}Content-Length: {length}\r\n\r\n{body}");
    let last = open.last_mut().unwrap();
    last.write_all(request.as_bytes()).await.unwrap();
    last.read_to_string(&mut text).await.unwrap();
    assert!(text.starts_with("HTTP/1.1 200 "), "{text}");
}
