//! The connections of the HTTP server: how many, and how long they may say nothing.

use std::io;
use std::pin::pin;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// The most connections that are open at a time; nobody has shown a token when a connection is opened.
const MAX_CONNECTIONS: usize = 256;

/// How long the head of a request may take to come, from the end of the request before it on.
const HEAD_TIME: Duration = Duration::from_secs(30);

/// How long requests that are under way may take to end once the server stops.
const GRACE: Duration = Duration::from_secs(5);

/// How long to wait after a connection could not be accepted, mostly for want of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_secs(1);

/// How often in a row accepting may fail before it counts as failed for good.
const MAX_ACCEPT_FAILURES: usize = 60;

/// Serves `router` to everybody who connects, until `stop`; the requests that are under way then may end.
pub(super) async fn serve(
    listener: &TcpListener,
    router: &Router,
    stop: &CancellationToken,
) -> io::Result<()> {
    let mut connections = JoinSet::new();
    let mut failures = 0;
    let result = loop {
        let accepted = tokio::select! {
            () = stop.cancelled() => break Ok(()),
            Some(_ended) = connections.join_next() => continue,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, _)) => {
                failures = 0;
                if connections.len() < MAX_CONNECTIONS {
                    connections.spawn(converse(stream, router.clone(), stop.clone()));
                } else {
                    tracing::warn!("a connection is closed at once: {MAX_CONNECTIONS} are open");
                }
            }
            Err(error) if concerns_one_client(&error) => {}
            Err(error) => {
                failures += 1;
                if failures == MAX_ACCEPT_FAILURES {
                    break Err(error);
                }
                tracing::warn!(%error, "no connection could be accepted");
                tokio::select! {
                    () = stop.cancelled() => break Ok(()),
                    () = tokio::time::sleep(ACCEPT_PAUSE) => {}
                }
            }
        }
    };
    stop.cancel();
    let ended = async { while connections.join_next().await.is_some() {} };
    if tokio::time::timeout(GRACE, ended).await.is_err() {
        tracing::debug!("requests that are still under way are given up");
    }
    connections.shutdown().await;
    result
}

fn concerns_one_client(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionRefused
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
    )
}

async fn converse(stream: TcpStream, router: Router, stop: CancellationToken) {
    // Answers are small and go out in more than one write: waiting to fill a packet costs 40 ms each.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "a connection keeps Nagle's algorithm");
    }
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
    let mut connection = pin!(connection);
    let result = tokio::select! {
        result = &mut connection => result,
        () = stop.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = result {
        tracing::debug!(%error, "a connection broke off");
    }
}
