//! Serving one client over a pair of streams.

mod lines;
mod transport;

use rmcp::ServiceExt as _;
use rmcp::service::{QuitReason, ServerInitializeError};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

use crate::Served;
use crate::handler::{Handler, Shared};
use transport::Bounded;

/// A connection that did not end well.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The client's first messages were not the beginning of a conversation.
    #[error(
        "the client did not open the connection as the protocol asks, with `initialize` or `server/discover`"
    )]
    Opening,
    /// The task that drives the connection broke.
    #[error("the connection broke inside")]
    Broken(#[source] tokio::task::JoinError),
}

/// Serves the client at the other end of standard input and output, until it closes its end or `stop` is cancelled.
///
/// Where both are pipes, as for every client that starts a server, reading is cancellable. Where they are not, a
/// read that is under way holds up the end of the runtime until a line or the end of input comes.
///
/// Must run on a runtime with IO enabled.
pub async fn serve_stdio(served: Served, stop: CancellationToken) -> Result<(), ServeError> {
    let (reader, writer) = rmcp::transport::stdio_pipes();
    serve_stream(served, reader, writer, stop).await
}

/// Serves the client at the other end of two streams, until it closes its end or `stop` is cancelled.
///
/// A line of more than 1 MiB is dropped; the request gets an error if its `id` stands in the first 64 KiB. While 64
/// requests wait for answers that the client has read, no more is read, or a message a second where answers stay
/// away though the client reads.
pub async fn serve_stream(
    served: Served,
    reader: impl AsyncRead + Send + Unpin + 'static,
    writer: impl AsyncWrite + Send + Unpin + 'static,
    stop: CancellationToken,
) -> Result<(), ServeError> {
    // One type for all streams: the protocol machinery is compiled once.
    let reader: Box<dyn AsyncRead + Send + Unpin> = Box::new(reader);
    let writer: Box<dyn AsyncWrite + Send + Unpin> = Box::new(writer);
    let stop = stop.child_token();
    let shared = Shared::new(served, stop.clone());
    let transport = Bounded::new(reader, writer, shared.listening.clone());
    let result = converse(Handler::new(shared.clone()), transport, stop.clone()).await;
    stop.cancel();
    shared.tasks.close();
    shared.tasks.wait().await;
    result
}

async fn converse(
    handler: Handler,
    transport: Bounded<Box<dyn AsyncRead + Send + Unpin>, Box<dyn AsyncWrite + Send + Unpin>>,
    stop: CancellationToken,
) -> Result<(), ServeError> {
    let opened = tokio::select! {
        opened = handler.serve_with_ct(transport, stop.clone()) => opened,
        () = stop.cancelled() => return Ok(()),
    };
    let running = match opened {
        Ok(running) => running,
        // A client that leaves before it says anything has done nothing wrong.
        Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => {
            return Ok(());
        }
        Err(error) => {
            // Its text holds what the client sent, whatever that is.
            tracing::debug!(%error, "the connection was not opened");
            return Err(ServeError::Opening);
        }
    };
    match running.waiting().await.map_err(ServeError::Broken)? {
        QuitReason::JoinError(error) => Err(ServeError::Broken(error)),
        _closed_or_cancelled => Ok(()),
    }
}
