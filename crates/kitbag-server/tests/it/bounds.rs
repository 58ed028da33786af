//! What a client may send, and how much of it at once.

use std::time::Duration;

use kitbag_testkit::Era;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, split};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::{ERAS, PIPE_BYTES, open, served};

/// A call whose line has `bytes` with its end.
fn call_of(bytes: usize, id: &str) -> String {
    let line = |text: &str| {
        json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {
            "name": "echo", "arguments": { "text": text },
        } })
        .to_string()
            + "\n"
    };
    let filler = "x".repeat(bytes - line("").len());
    line(&filler)
}

const HANDSHAKE: &str = concat!(
    r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"0"}}}"#,
    "\n",
    r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    "\n",
);

/// What a server answers to `input`, line by line.
async fn answers(input: String) -> Vec<serde_json::Value> {
    let source = kitbag_testkit::FakeSource::new("fake");
    let (ours, theirs) = tokio::io::duplex(PIPE_BYTES);
    let (reader, writer) = split(theirs);
    let server = tokio::spawn(kitbag_server::serve_stream(
        served(&source),
        reader,
        writer,
        CancellationToken::new(),
    ));
    let (mut reader, mut writer) = split(ours);
    let mut output = String::new();
    let (written, read) = tokio::join!(
        async {
            writer.write_all(input.as_bytes()).await?;
            writer.shutdown().await
        },
        reader.read_to_string(&mut output)
    );
    written.unwrap();
    read.unwrap();
    server.await.unwrap().unwrap();
    output.lines().skip(1).map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[tokio::test]
async fn a_line_past_the_bound_is_an_error_and_the_next_is_read() {
    let bound = 1024 * 1024;
    let input = [HANDSHAKE, &call_of(bound, "fits"), &call_of(bound + 1, "long")].concat();
    let late = format!("{{\"params\":\"{}\",\"id\":7}}\n", "x".repeat(bound));
    let deep = format!(
        r#"{{"params":{{"id":1,"a":"\"id\":2"}},"method":"id","id" : -3 ,"x":"{}"}}"#,
        "x".repeat(bound)
    );
    let mut answers = answers(format!("{input}{late}{deep}\n{}", call_of(1000, "next"))).await;
    answers.sort_by_key(|answer| answer["id"].to_string());
    let told: Vec<_> = answers
        .iter()
        .map(|answer| (answer["id"].to_string(), answer["error"]["code"].as_i64()))
        .collect();
    let expected = [
        (r#""fits""#.to_owned(), None),
        (r#""long""#.to_owned(), Some(-32600)),
        (r#""next""#.to_owned(), None),
        ("-3".to_owned(), Some(-32600)),
    ];
    assert_eq!(told, expected);
    assert_eq!(answers[1]["error"]["message"], "The request is longer than 1048576 bytes");
}

/// Time stands still but for what is waited for: it passes once the server has stopped reading.
#[tokio::test(start_paused = true)]
async fn a_client_that_does_not_read_is_read_no_further() {
    for era in ERAS {
        let mut connected = open(era).await;
        let text = "x".repeat(10_000);
        let mut asked = Vec::new();
        let echo = json!({ "name": "echo", "arguments": { "text": text } });
        let flood = async {
            loop {
                let id = connected.client.start("tools/call", echo.clone()).await;
                asked.push(id);
            }
        };
        let Err(_) = timeout(Duration::from_mins(10), flood).await;
        // 64 in the server and what the two pipes hold, of 10 kB and more each.
        assert!((64..100).contains(&asked.len()), "{}", asked.len());
    }
}

#[tokio::test(start_paused = true)]
async fn calls_that_hang_do_not_keep_a_client_from_cancelling_them() {
    for era in ERAS {
        let mut connected = open(era).await;
        let client = &mut connected.client;
        let hang = json!({ "name": "hang", "arguments": {} });
        let mut hanging = Vec::new();
        for _ in 0..70 {
            hanging.push(client.start("tools/call", hang.clone()).await);
        }
        connected.source.hanging_becomes(70).await;
        for id in hanging {
            client.cancel(id).await;
        }
        connected.source.hanging_becomes(0).await;
        client.request("tools/list", json!({})).await;
    }
}

#[tokio::test(start_paused = true)]
async fn an_open_subscription_does_not_hold_up_the_end() {
    let mut connected = open(Era::Stateless).await;
    let wanted = json!({ "notifications": { "toolsListChanged": true } });
    connected.client.start("subscriptions/listen", wanted).await;
    connected.client.notification().await;
    let begun = tokio::time::Instant::now();
    connected.client.close().await;
    connected.server.await.unwrap().unwrap();
    // The clock moves only where something waits for it.
    assert_eq!(begun.elapsed(), Duration::ZERO);
}
