//! Integration tests of the server, as a client sees it.

#![expect(clippy::unwrap_used, reason = "a helper of a test fails the test by it")]

mod bounds;
mod calls;
mod catalogue;
mod changes;
mod elicitation;
mod errors;
mod gate;
mod http;
mod opening;
mod paging;
mod skills;
mod uri;

use std::sync::Arc;

use kitbag_server::{ServeError, Served, serve_stream};
use kitbag_testkit::{Era, FakeSource, McpClient};
use kitbag_tool::{Gate, Toolbox};
use tokio::io::{DuplexStream, ReadHalf, WriteHalf, split};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// How many bytes may be under way between client and server.
const PIPE_BYTES: usize = 64 * 1024;

type Client = McpClient<ReadHalf<DuplexStream>, WriteHalf<DuplexStream>>;

/// A server with one fake source, and a client of it that has said nothing yet.
struct Connected {
    client: Client,
    server: JoinHandle<Result<(), ServeError>>,
    source: Arc<FakeSource>,
    stop: CancellationToken,
}

fn served(source: &Arc<FakeSource>) -> Served {
    Served {
        view: Toolbox::new(vec![source.clone()], Gate::open(), None).view(),
        skills: None,
        version: "1.2.3".to_owned(),
        instructions: Some("Use the tools.".to_owned()),
    }
}

fn connect_to(served: Served, source: Arc<FakeSource>, era: Era) -> Connected {
    let (ours, theirs) = tokio::io::duplex(PIPE_BYTES);
    let stop = CancellationToken::new();
    let (reader, writer) = split(theirs);
    let server = tokio::spawn(serve_stream(served, reader, writer, stop.clone()));
    let (reader, writer) = split(ours);
    Connected { client: McpClient::new(era, reader, writer), server, source, stop }
}

fn connect(era: Era) -> Connected {
    let source = FakeSource::new("fake");
    connect_to(served(&source), source, era)
}

/// A server, and a client that has opened the conversation.
async fn open(era: Era) -> Connected {
    let mut connected = connect(era);
    connected.client.open().await;
    connected
}

const ERAS: [Era; 2] = [Era::Handshake, Era::Stateless];
