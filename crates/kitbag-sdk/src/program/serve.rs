//! `serve`: the skills for MCP clients.

use std::io::{self, IsTerminal as _, Write as _};
use std::net::SocketAddr;

use kitbag_server::{
    BearerToken, BearerTokenError, ENDPOINT, ServeError, Served, serve_http, serve_stdio,
};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::arguments::Doors;
use super::call::{runtime, stop_on_signal, toolbox};
use super::failure::{Exit, Failure};
use super::input::internal;
use crate::Registry;

/// The random bytes of a token.
const TOKEN_BYTES: usize = 32;

/// Serves until the client is gone, or a signal ends it.
pub(super) fn serve(doors: &Doors, registry: Registry) -> Result<Exit, Failure> {
    let served = Served {
        view: toolbox(registry).view(),
        skills: None,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        instructions: None,
    };
    let runtime = runtime()?;
    let outcome = runtime.block_on(async {
        let stop = stop_on_signal().map_err(|error| internal(&error))?;
        match (&doors.http, &doors.token_file) {
            (None, None) => over_stdio(served, stop).await,
            (None, Some(_)) => Err(Failure::usage("`--token-file` goes with `--http`")),
            (Some(address), file) => over_http(served, address, file.as_deref(), stop).await,
        }
    });
    runtime.shutdown_background();
    outcome.map(|()| Exit::Ok)
}

async fn over_stdio(served: Served, stop: CancellationToken) -> Result<(), Failure> {
    if io::stdin().is_terminal() {
        say("waiting for an MCP client on stdin, which starts this itself; Ctrl-C ends it");
    }
    serve_stdio(served, stop).await.map_err(|error| match error {
        ServeError::Opening => {
            Failure::new(Exit::Negative, error).hint("start `serve` from an MCP client")
        }
        ServeError::Broken(_) => Failure::new(Exit::Internal, error),
    })
}

async fn over_http(
    served: Served,
    address: &str,
    token_file: Option<&str>,
    stop: CancellationToken,
) -> Result<(), Failure> {
    let address: SocketAddr =
        address.parse().ok().filter(|address: &SocketAddr| address.ip().is_loopback()).ok_or_else(
            || {
                Failure::usage(format!("`{address}` is no loopback address with a port"))
                    .hint("such as 127.0.0.1:7777; port 0 takes a free one")
            },
        )?;
    let (token, told) = token(token_file)?;
    let listener = TcpListener::bind(address).await.map_err(|error| {
        Failure::usage(format!("cannot listen at `{address}`: {error}"))
            .hint("another program may use the port; port 0 takes a free one")
    })?;
    let address = listener.local_addr().map_err(|error| internal(&error))?;
    say(&format!("serving http://{address}{ENDPOINT}"));
    say(&format!("clients send `Authorization: Bearer {told}`"));
    serve_http(served, listener, token, stop).await.map_err(|error| internal(&error))
}

/// The token that clients have to show, and how a person is told of it: one of a file, or one for this run alone,
/// which is shown, since nobody could know it otherwise.
fn token(file: Option<&str>) -> Result<(BearerToken, String), Failure> {
    if let Some(path) = file {
        let text = std::fs::read_to_string(path)
            .map_err(|error| Failure::usage(format!("the token file `{path}`: {error}")))?;
        let token = text.trim().parse().map_err(|error: BearerTokenError| {
            Failure::usage(format!("the token file `{path}`: {error}"))
        })?;
        return Ok((token, format!("TOKEN`, with the token in `{path}")));
    }
    let mut bytes = [0_u8; TOKEN_BYTES];
    getrandom::fill(&mut bytes)
        .map_err(|error| Failure::new(Exit::Internal, format!("no randomness: {error}")))?;
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    let text: String = digits.filter_map(|digit| char::from_digit(digit.into(), 16)).collect();
    let token =
        text.parse().map_err(|error: BearerTokenError| Failure::new(Exit::Internal, error))?;
    Ok((token, text))
}

fn say(line: &str) {
    // Where nobody reads it, nobody misses it.
    writeln!(io::stderr(), "{line}").unwrap_or_default();
}
