//! Serving any number of clients over streamable HTTP on loopback.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::serve::ListenerExt as _;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::Served;
use crate::handler::{Handler, Shared};

/// The path that clients send their requests to.
pub const ENDPOINT: &str = "/mcp";

/// The most bytes that the body of a request may have.
const MAX_BODY_BYTES: usize = 4 * 1024 * 1024;

/// The origins that a request may name: pages of this machine, which have to show the token like everybody else.
const LOCAL_ORIGINS: [&str; 3] = ["http://localhost:*", "http://127.0.0.1:*", "http://[::1]:*"];

/// How long requests that are under way may take to end once the server stops.
const GRACE: Duration = Duration::from_secs(5);

/// The fewest characters a token may have: 32 of base64 are 192 bits.
const MIN_TOKEN_CHARS: usize = 32;

/// The secret that a client must show with each request.
#[derive(Clone)]
pub struct BearerToken(Arc<str>);

/// A text that cannot be a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a bearer token is at least 32 characters of `A-Z a-z 0-9 - . _ ~ + / =`")]
pub struct BearerTokenError;

impl FromStr for BearerToken {
    type Err = BearerTokenError;

    fn from_str(text: &str) -> Result<Self, BearerTokenError> {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte);
        if text.len() < MIN_TOKEN_CHARS || !text.bytes().all(allowed) {
            return Err(BearerTokenError);
        }
        Ok(Self(text.into()))
    }
}

impl fmt::Debug for BearerToken {
    /// Never shows the token.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BearerToken")
    }
}

impl BearerToken {
    /// Whether `shown` is the token, found out in a time that does not depend on where it differs.
    fn is(&self, shown: &[u8]) -> bool {
        let own = self.0.as_bytes();
        let differing = own.iter().zip(shown).fold(0, |bits, (a, b)| bits | (a ^ b));
        own.len() == shown.len() && std::hint::black_box(differing) == 0
    }

    fn admits(&self, headers: &HeaderMap) -> bool {
        let mut given = headers.get_all(header::AUTHORIZATION).iter();
        let (Some(value), None) = (given.next(), given.next()) else { return false };
        let Some((scheme, shown)) = value.as_bytes().split_at_checked(b"Bearer ".len()) else {
            return false;
        };
        scheme.eq_ignore_ascii_case(b"Bearer ") && self.is(shown.trim_ascii())
    }
}

/// Serves every client that connects to `listener` and shows `token`, at [`ENDPOINT`], until `stop` is cancelled.
///
/// Made for loopback: a request whose `Host` is not a loopback name is refused, and so is one that says it comes
/// from a page of another machine (`Origin`). Requests under way have five seconds to end after `stop`.
///
/// # Errors
///
/// Accepting connections failed for good.
pub async fn serve_http(
    served: Served,
    listener: TcpListener,
    token: BearerToken,
    stop: CancellationToken,
) -> std::io::Result<()> {
    let stop = stop.child_token();
    let shared = Shared::new(served, stop.clone());
    let config = StreamableHttpServerConfig::default()
        .with_allowed_origins(LOCAL_ORIGINS)
        .with_json_response(true)
        .with_max_request_body_bytes(MAX_BODY_BYTES)
        .with_cancellation_token(stop.clone());
    let connections = shared.clone();
    let mcp = StreamableHttpService::new(
        move || Ok(Handler::new(connections.clone())),
        Arc::new(LocalSessionManager::default()),
        config,
    );
    let router =
        Router::new().route_service(ENDPOINT, mcp).layer(from_fn_with_state(token, require_token));
    // Answers are small and go out in more than one write: waiting to fill a packet costs 40 ms each.
    let listener = listener.tap_io(|stream| {
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "a connection keeps Nagle's algorithm");
        }
    });
    let serving = axum::serve(listener, router)
        .with_graceful_shutdown(stop.clone().cancelled_owned())
        .into_future();
    let result = tokio::select! {
        result = serving => result,
        () = async {
            stop.cancelled().await;
            tokio::time::sleep(GRACE).await;
        } => Ok(()),
    };
    stop.cancel();
    shared.tasks.close();
    shared.tasks.wait().await;
    result
}

async fn require_token(State(token): State<BearerToken>, request: Request, next: Next) -> Response {
    if token.admits(request.headers()) {
        let ends_a_session = request.method() == Method::DELETE;
        let mut response = next.run(request).await;
        // A session has ended when this is answered, and the Python SDK takes "accepted" for a failure.
        if ends_a_session && response.status() == StatusCode::ACCEPTED {
            *response.status_mut() = StatusCode::NO_CONTENT;
        }
        return response;
    }
    (StatusCode::UNAUTHORIZED, [(header::WWW_AUTHENTICATE, "Bearer")]).into_response()
}
