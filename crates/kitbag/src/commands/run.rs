//! `kitbag run`: a tool as a remote client would call it, or the text of a skill.

mod ask;
mod input;
mod target;

use std::io::{IsTerminal as _, Write as _};
use std::process::ExitCode;
use std::sync::Arc;

use kitbag_builtin::{Running, ServeLimits, SkillServer, SkillTools};
use kitbag_host::Host;
use kitbag_server::{prompt_result, tool_result};
use kitbag_skills::estimate_tokens;
use kitbag_tool::{
    Audit, CallContext, CallError, Content, Interrupted, OutputBounds, Principal, Progress,
    ProgressUpdate, PromptError, PromptOutput, Spill, TokenBound, ToolCall, ToolName, ToolOutput,
    Toolbox,
};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use self::target::Target;
use crate::cli::RunArgs;
use crate::environment::Environment;
use crate::failure::{Failure, Kind};
use crate::style;

/// How many progress reports may wait to be written; each chunk of a handler's standard error holds fewer lines.
const PROGRESS_QUEUE: usize = 8 * 1024;

pub(crate) fn run(environment: &Environment, arguments: &RunArgs) -> Result<ExitCode, Failure> {
    let host = super::host(environment.host(&arguments.roots.skills, Vec::new()))?;
    let library = Arc::new(super::library_of(&host, environment, &arguments.roots, None));
    let catalog = library.look();
    let running = if environment.hosted {
        let reason = "nothing confines it, and here it would run for somebody else".to_owned();
        Running::Unavailable { reason }
    } else {
        Running::ForPerson
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let outcome = runtime.block_on(async {
        let tools = SkillTools::new(Arc::clone(&library), running.clone(), Environment::machine());
        let tools = Arc::new(tools);
        let roots_from = environment.roots_from(&arguments.roots.skills);
        let limits = ServeLimits { resources: 0 };
        let skills = SkillServer::new(library, roots_from, limits, running, None);
        let audit = host.audit();
        let log = audit.clone().map(|log| Arc::new(log) as Arc<dyn Audit>);
        let (mode, approver) = ask::of_a_command(host.mode());
        let toolbox = Toolbox::new(vec![Arc::new(skills), tools.clone()], host.gate(mode), log);
        let own: Vec<ToolName> = toolbox.snapshot().tools().map(|spec| spec.name.clone()).collect();
        let target = target::find(&catalog, &arguments.name, &own)?;
        let mut interrupts = Interrupts::new()?;
        let cancel = CancellationToken::new();
        let context = CallContext {
            cancel: cancel.clone(),
            deadline: arguments.timeout.map(|time| Instant::now() + time),
            principal: Principal::Person,
            approver,
            bounds: bounds(&host, arguments.max_tokens),
            ..CallContext::default()
        };
        let mut work = std::pin::pin!(answer(&toolbox, &target, arguments, context));
        let outcome = tokio::select! {
            biased;
            outcome = &mut work => outcome,
            () = interrupts.next() => {
                cancel.cancel();
                work.await
            }
        };
        tokio::select! {
            () = tools.idle() => {}
            // Whoever interrupts again does not want to wait: the end of the runtime ends every process at once.
            () = interrupts.next() => {}
        }
        super::finish(audit.as_ref()).await;
        outcome
    });
    // A read that hangs on a dead disk must not keep the process from ending.
    runtime.shutdown_background();
    outcome
}

/// All of an output, or as many tokens of it and the whole in a file, where there is a home for one.
fn bounds(host: &Host, max_tokens: Option<usize>) -> OutputBounds {
    let Some(limit) = max_tokens else { return OutputBounds::default() };
    OutputBounds {
        tokens: Some(TokenBound { limit, estimate: estimate_tokens }),
        spill: host.outputs().map(|files| Arc::new(files) as Arc<dyn Spill>),
    }
}

/// What asks this process to end.
struct Interrupts([Signal; 3]);

impl Interrupts {
    fn new() -> std::io::Result<Self> {
        let [interrupt, terminate, hangup] =
            [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()].map(signal);
        Ok(Self([interrupt?, terminate?, hangup?]))
    }

    /// Waits for the next one.
    async fn next(&mut self) {
        let [interrupt, terminate, hangup] = &mut self.0;
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hangup.recv() => {}
        }
    }
}

async fn answer(
    toolbox: &Toolbox,
    target: &Target,
    arguments: &RunArgs,
    context: CallContext,
) -> Result<ExitCode, Failure> {
    match target {
        Target::Prose(skill) => {
            if arguments.input.is_some() {
                let text = format!("`{}` is a skill of prose and takes no `--input`", skill.name());
                return Err(Failure::say(Kind::Usage, text)
                    .hint("write what you would type after its name behind it"));
            }
            let request = input::of_prompt(skill, &arguments.arguments)?;
            let output = toolbox.prompt(&request, &context).await.map_err(prompt_failure)?;
            print_prompt(output, arguments)?;
            Ok(ExitCode::SUCCESS)
        }
        Target::Tool { name, process } => {
            if let Some(first) = arguments.arguments.first() {
                let text = format!("`{name}` is a tool and takes no argument `{first}`");
                return Err(Failure::say(Kind::Usage, text)
                    .hint("its input is a JSON object: `--input '{…}'`"));
            }
            if *process && !arguments.yes && !is_at_terminal() {
                let text = format!("`{name}` runs without a sandbox, so only at a terminal");
                return Err(Failure::say(Kind::Denied, text)
                    .hint("`--yes` runs it here all the same, with all that you may do yourself"));
            }
            let input = input::of_tool(arguments.input.as_deref())?;
            let call = ToolCall { name: name.clone(), arguments: input };
            let outcome = with_progress(toolbox, call, context).await;
            if arguments.json { print_result(outcome) } else { print_output(outcome) }
        }
    }
}

/// Whether a person is there who started this and sees what comes of it.
pub(super) fn is_at_terminal() -> bool {
    std::io::stderr().is_terminal()
        || std::io::stdin().is_terminal()
        || std::io::stdout().is_terminal()
}

/// Calls, and writes what is reported meanwhile to stderr.
async fn with_progress(
    toolbox: &Toolbox,
    call: ToolCall,
    mut context: CallContext,
) -> Result<ToolOutput, CallError> {
    let (queue, mut reports) = mpsc::channel(PROGRESS_QUEUE);
    context.progress = Progress::to(queue);
    let mut work = std::pin::pin!(toolbox.call(call, &context));
    let outcome = loop {
        tokio::select! {
            biased;
            Some(report) = reports.recv() => tell(&report),
            outcome = &mut work => break outcome,
        }
    };
    reports.close();
    while let Ok(report) = reports.try_recv() {
        tell(&report);
    }
    outcome
}

fn tell(report: &ProgressUpdate) {
    if let Some(message) = &report.message {
        // Where stderr is gone, nobody reads it.
        drop(writeln!(std::io::stderr(), "{}", style::harmless(message)));
    }
}

fn print_prompt(output: PromptOutput, arguments: &RunArgs) -> Result<(), Failure> {
    if arguments.json {
        return Ok(print_line(&prompt_result(output).map_err(std::io::Error::from)?)?);
    }
    let texts = output.messages.iter().filter_map(|message| message.content.as_text());
    Ok(super::print_text(&texts.collect::<Vec<_>>().join("\n"))?)
}

/// Prints the result as a client gets it.
fn print_result(outcome: Result<ToolOutput, CallError>) -> Result<ExitCode, Failure> {
    let code = match &outcome {
        Ok(output) if output.is_error => Kind::Negative.code(),
        Ok(_) => 0,
        Err(error) => kind(error).code(),
    };
    print_line(&tool_result(outcome).map_err(std::io::Error::from)?)?;
    Ok(ExitCode::from(code))
}

/// Prints what a person reads: the blocks of text as they are, and of the others that they are there.
fn print_output(outcome: Result<ToolOutput, CallError>) -> Result<ExitCode, Failure> {
    let output = outcome.map_err(|error| match error {
        CallError::Refused(refusal) => refused(Kind::Negative, &refusal.message, refusal.hint),
        CallError::Denied { ref hint, .. } => {
            refused(Kind::Denied, &error.to_string(), hint.clone())
        }
        error => Failure::say(kind(&error), texts(&error.to_output())),
    })?;
    let text = texts(&output);
    let others = output.content.iter().filter(|block| block.as_text().is_none()).count();
    if others > 0 {
        style::remark(format!("{others} blocks are no text; `--json` prints them too"));
    }
    if output.is_error {
        return Err(Failure::say(Kind::Negative, text));
    }
    super::print_text(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// The text of an output: its blocks, each on a line of its own, or its data where it has no blocks.
fn texts(output: &ToolOutput) -> String {
    match &output.structured {
        Some(structured) if output.content.is_empty() => structured.get().to_owned(),
        _ => {
            let texts = output.content.iter().filter_map(Content::as_text);
            texts.collect::<Vec<_>>().join("\n")
        }
    }
}

/// Prints a line of JSON; where a terminal shows it, what cannot be seen is an escape.
fn print_line(json: &str) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    if out.is_terminal() {
        writeln!(out, "{}", super::visible_json(json))
    } else {
        writeln!(out, "{json}")
    }
}

fn kind(error: &CallError) -> Kind {
    match error {
        CallError::UnknownTool { .. } => Kind::Usage,
        CallError::InvalidArguments { .. }
        | CallError::Refused(_)
        | CallError::TooDeep { .. }
        | CallError::Interrupted(Interrupted::TimedOut) => Kind::Negative,
        CallError::Denied { .. } => Kind::Denied,
        CallError::Interrupted(Interrupted::Cancelled) => Kind::Interrupted,
        CallError::Interrupted(Interrupted::Panicked { .. }) => Kind::Internal,
    }
}

fn refused(kind: Kind, message: &str, hint: Option<String>) -> Failure {
    let failure = Failure::say(kind, message);
    match hint {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

fn prompt_failure(error: PromptError) -> Failure {
    match error {
        PromptError::Unknown { name } => {
            Failure::say(Kind::Negative, format!("the author of `{name}` keeps it from people"))
                .hint(format!("`kitbag skills show {name}` prints what a model reads"))
        }
        PromptError::InvalidArgument { .. } => Failure::new(Kind::Usage, error),
        PromptError::Refused(refusal) => refused(Kind::Negative, &refusal.message, refusal.hint),
        PromptError::Interrupted(interrupted) => {
            let error = CallError::Interrupted(interrupted);
            Failure::new(kind(&error), error)
        }
    }
}
