//! Serving any number of clients over streamable HTTP on loopback.

mod connections;

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use http_body_util::LengthLimitError;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::Served;
use crate::handler::{Handler, Shared};

/// The path that clients send their requests to.
pub const ENDPOINT: &str = "/mcp";

/// The most bytes that the body of a request may have.
///
/// What a parsed JSON text takes in memory can be two hundred times its length.
const MAX_BODY_BYTES: usize = 1024 * 1024;

/// How long the body of a request may take to come.
const BODY_TIME: Duration = Duration::from_secs(30);

/// The hosts that a request may name, beside the address that is listened at.
const LOCAL_HOSTS: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// The origins that a request may name, beside the address that is listened at: pages of this machine, which have to
/// show the token like everybody else.
const LOCAL_ORIGINS: [&str; 3] = ["http://localhost:*", "http://127.0.0.1:*", "http://[::1]:*"];

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
/// Made for loopback: a request whose `Host` is neither a loopback name nor the address of `listener` is refused, and so is one that says it comes
/// from a page of another machine (`Origin`). Requests under way have five seconds to end after `stop`.
///
/// At most 256 connections are open at a time, and one more is closed at once. The head of a request has 30 seconds
/// to come, which is also how long a connection may idle, and so has the body, of at most 1 MiB.
///
/// # Errors
///
/// The listener has no address, or no connection could be accepted for a minute.
pub async fn serve_http(
    served: Served,
    listener: TcpListener,
    token: BearerToken,
    stop: CancellationToken,
) -> std::io::Result<()> {
    let stop = stop.child_token();
    let shared = Shared::new(served, stop.clone());
    let (hosts, origins) = allowed(listener.local_addr()?.ip());
    let config = StreamableHttpServerConfig::default()
        .with_allowed_hosts(hosts)
        .with_allowed_origins(origins)
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
    let result = connections::serve(&listener, &router, &stop).await;
    stop.cancel();
    shared.tasks.close();
    shared.tasks.wait().await;
    result
}

/// The hosts and the origins that a request may name to a server that listens at `address`.
fn allowed(address: IpAddr) -> (Vec<String>, Vec<String>) {
    let mut hosts: Vec<String> = LOCAL_HOSTS.map(str::to_owned).into();
    let mut origins: Vec<String> = LOCAL_ORIGINS.map(str::to_owned).into();
    // "Any address" is none that a client could name.
    if !address.is_unspecified() {
        hosts.push(address.to_string());
        origins.push(match address {
            IpAddr::V4(address) => format!("http://{address}:*"),
            IpAddr::V6(address) => format!("http://[{address}]:*"),
        });
    }
    (hosts, origins)
}

async fn require_token(State(token): State<BearerToken>, request: Request, next: Next) -> Response {
    if !token.admits(request.headers()) {
        return (StatusCode::UNAUTHORIZED, [(header::WWW_AUTHENTICATE, "Bearer")]).into_response();
    }
    let ends_a_session = request.method() == Method::DELETE;
    let request = match with_whole_body(request).await {
        Ok(request) => request,
        Err(status) => return status.into_response(),
    };
    let mut response = next.run(request).await;
    // A session has ended when this is answered, and the Python SDK takes "accepted" for a failure.
    if ends_a_session && response.status() == StatusCode::ACCEPTED {
        *response.status_mut() = StatusCode::NO_CONTENT;
    }
    response
}

/// Waits for the body, which then comes without delay; the status where it is too long, too slow or broken.
async fn with_whole_body(request: Request) -> Result<Request, StatusCode> {
    let (head, body) = request.into_parts();
    let body = tokio::time::timeout(BODY_TIME, to_bytes(body, MAX_BODY_BYTES))
        .await
        .map_err(|_| StatusCode::REQUEST_TIMEOUT)?
        .map_err(|error| match std::error::Error::source(&error) {
            Some(source) if source.is::<LengthLimitError>() => StatusCode::PAYLOAD_TOO_LARGE,
            _ => StatusCode::BAD_REQUEST,
        })?;
    Ok(Request::from_parts(head, Body::from(body)))
}
