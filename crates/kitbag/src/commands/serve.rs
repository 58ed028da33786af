//! `kitbag serve`.

use std::io::{IsTerminal as _, Write as _};
use std::net::SocketAddr;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use kitbag_builtin::{INSTRUCTIONS, Running, ServeLimits, SkillServer, SkillTools};
use kitbag_host::{AuditLog, Host};
use kitbag_server::{
    BearerToken, ENDPOINT, LibrarySkills, ServeError, Served, serve_http, serve_stdio,
};
use kitbag_settings::{Diagnostic, KeyPath, Layer, Source};
use kitbag_skills::{Watch, shown};
use kitbag_tool::{Audit, Source as ToolSource, Toolbox};
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::cli::ServeArgs;
use crate::environment::Environment;
use crate::failure::{Failure, Kind};
use crate::{style, token};

/// The most files that are offered as resources, where nobody says otherwise (decision 21).
const MAX_RESOURCES: usize = 10_000;

/// The most files that are offered as resources when hosted (decision 21).
const MAX_RESOURCES_HOSTED: usize = 500;

/// The most files and directories that are read at a time; each takes a thread.
const MAX_BLOCKING_THREADS: usize = 16;

pub(crate) fn run(environment: &Environment, arguments: &ServeArgs) -> Result<ExitCode, Failure> {
    let host = super::host(environment.host(&arguments.roots.skills, said(arguments)))?;
    // A rule against a tool that does not exist protects nothing, and nobody may be looking at `settings list`.
    let of_permissions = |one: &&Diagnostic| {
        one.key
            .as_ref()
            .is_some_and(|key| key.keys().first().is_some_and(|key| key == "permissions"))
    };
    style::tell_diagnostics(host.warnings().iter().filter(of_permissions));
    let mut runtime = match arguments.http {
        Some(_) => tokio::runtime::Builder::new_multi_thread(),
        None => tokio::runtime::Builder::new_current_thread(),
    };
    let runtime = runtime.enable_all().max_blocking_threads(MAX_BLOCKING_THREADS).build()?;
    let outcome = runtime.block_on(serve(environment, &host, arguments));
    // A read that hangs on a dead disk must not keep the process from ending.
    runtime.shutdown_background();
    outcome.map(|()| ExitCode::SUCCESS)
}

/// What the flags say of permissions, as settings.
fn said(arguments: &ServeArgs) -> Vec<Source> {
    let flag = |name: &str, key: &str, value: &Value| {
        Source::given(Layer::Flags, name, &KeyPath::of(["permissions", key]), value)
    };
    let rules = |name: &str, key: &str, rules: &[String]| {
        (!rules.is_empty()).then(|| flag(name, key, &Value::from(rules)))
    };
    let mode = arguments.mode.map(|mode| flag("--mode", "mode", &Value::from(mode.as_str())));
    [rules("--allow", "allow", &arguments.allow), rules("--deny", "deny", &arguments.deny), mode]
        .into_iter()
        .flatten()
        .collect()
}

async fn serve(
    environment: &Environment,
    host: &Host,
    arguments: &ServeArgs,
) -> Result<(), Failure> {
    let stop = CancellationToken::new();
    let audit = host.audit();
    let ended = tokio::spawn(stop_on_signal(stop.clone())?);
    let outcome = match arguments.http {
        None => {
            if std::io::stdin().is_terminal() {
                style::remark(
                    "kitbag waits for an MCP client on stdin, which starts it itself; Ctrl-C ends it",
                );
            }
            let served = served(environment, host, audit.as_ref(), arguments);
            serve_stdio(served, stop).await.map_err(|error| match error {
                ServeError::Opening => Failure::new(Kind::Negative, error)
                    .hint("start `kitbag serve` from an MCP client"),
                ServeError::Broken(_) => Failure::new(Kind::Internal, error),
            })
        }
        Some(address) => {
            let served = || served(environment, host, audit.as_ref(), arguments);
            over_http(environment, arguments, address, served, stop).await
        }
    };
    ended.abort();
    super::finish(audit.as_ref()).await;
    outcome
}

fn served(
    environment: &Environment,
    host: &Host,
    audit: Option<&AuditLog>,
    arguments: &ServeArgs,
) -> Served {
    let given = &arguments.roots.skills;
    let library =
        Arc::new(super::library_of(host, environment, &arguments.roots, arguments.max_skills));
    let watch = Watch::start(&library)
        .inspect_err(|error| tracing::warn!(%error, "no watch; changes are seen when asked"))
        .ok();
    let usual = if environment.hosted { MAX_RESOURCES_HOSTED } else { MAX_RESOURCES };
    let limits = ServeLimits { resources: arguments.max_resources.unwrap_or(usual) };
    let running = Running::without_sandbox();
    let source = SkillServer::new(
        Arc::clone(&library),
        environment.roots_from(given),
        limits,
        running.clone(),
        watch,
    );
    // It is there to say why these tools do not run.
    let tools = SkillTools::new(Arc::clone(&library), running, Environment::machine());
    let sources: Vec<Arc<dyn ToolSource>> = vec![Arc::new(source), Arc::new(tools)];
    let audit = audit.map(|log| Arc::new(log.clone()) as Arc<dyn Audit>);
    Served {
        view: Toolbox::new(sources, host.gate(host.mode()), audit).view(),
        skills: Some(Arc::new(LibrarySkills::new(library))),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        instructions: Some(INSTRUCTIONS.to_owned()),
    }
}

async fn over_http(
    environment: &Environment,
    arguments: &ServeArgs,
    address: SocketAddr,
    served: impl FnOnce() -> Served,
    stop: CancellationToken,
) -> Result<(), Failure> {
    let token_file = match (&arguments.token_file, &environment.kitbag_home) {
        (Some(file), _) => environment.cwd.join(file),
        (None, Some(home)) => home.join("data").join("http-token"),
        (None, None) => {
            return Err(Failure::say(
                Kind::Configuration,
                "there is no home directory for the token",
            )
            .hint("name a file with `--token-file`"));
        }
    };
    let token: BearerToken = token::read_or_make(&token_file)?;
    let listener = TcpListener::bind(address).await.map_err(|error| {
        Failure::new(
            Kind::Configuration,
            anyhow::Error::new(error).context(format!("cannot listen at `{address}`")),
        )
        .hint("another program may use the port; port 0 takes a free one")
    })?;
    let address = listener.local_addr()?;
    announce(address, &token_file)?;
    serve_http(served(), listener, token, stop).await?;
    Ok(())
}

fn announce(address: SocketAddr, token_file: &Path) -> std::io::Result<()> {
    let mut err = anstream::stderr().lock();
    writeln!(err, "kitbag serves http://{address}{ENDPOINT}")?;
    writeln!(
        err,
        "Clients send `Authorization: Bearer TOKEN`; the token is in {}",
        shown::visible(&token_file.display().to_string())
    )
}

fn stop_on_signal(stop: CancellationToken) -> std::io::Result<impl Future<Output = ()>> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hangup = signal(SignalKind::hangup())?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hangup.recv() => {}
        }
        stop.cancel();
    })
}
