//! What stands between a person's command and the call: the rules, and a question where one of them wants it.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::sync::Arc;

use kitbag_permission::{Bases, Mode};
use kitbag_skills::shown;
use kitbag_tool::{Answer, Approver, BoxFuture, CallContext, Gate, NobodyToAsk, Question};
use tokio::sync::oneshot;

use super::is_at_terminal;
use crate::cli::RunArgs;
use crate::environment::Environment;
use crate::failure::Failure;

/// The terminal that started the process, whatever its streams are connected to.
const TERMINAL: &str = "/dev/tty";

/// The gate of the settings, as it stands before a person's command, and who is asked.
///
/// The command is itself the answer to what is asked where no rule speaks: rules that deny and rules that ask hold, and so
/// does the mode `plan`. In the mode `dont-ask` a rule that asks denies.
pub(super) fn gate(
    environment: &Environment,
    arguments: &RunArgs,
) -> Result<(Gate, Arc<dyn Approver>), Failure> {
    let host = super::super::host(environment.host(&arguments.roots.skills, Vec::new()))?;
    let text = |path: &std::path::Path| path.to_str().map(str::to_owned);
    let (workspace, home) =
        (text(&host.workspace().root), host.place().home.as_deref().and_then(text));
    let bases = Bases { workspace: workspace.as_deref(), home: home.as_deref() };
    let (mode, approver): (Mode, Arc<dyn Approver>) = match host.mode() {
        Mode::Plan => (Mode::Plan, Arc::new(AtTerminal)),
        Mode::DontAsk => (Mode::FullAuto, Arc::new(NobodyToAsk)),
        Mode::Ask | Mode::AcceptEdits | Mode::FullAuto => (Mode::FullAuto, Arc::new(AtTerminal)),
    };
    Ok((Gate::with_bases(host.rules().clone(), mode, bases), approver))
}

/// Asks at the terminal; where there is none, nobody is asked.
#[derive(Debug)]
struct AtTerminal;

impl Approver for AtTerminal {
    fn ask<'a>(
        &'a self,
        question: &'a Question<'a>,
        context: &'a CallContext,
    ) -> BoxFuture<'a, Answer> {
        Box::pin(async move {
            let terminal = File::options().read(true).write(true).open(TERMINAL);
            let Some(terminal) = terminal.ok().filter(|_| is_at_terminal()) else {
                return NobodyToAsk.ask(question, context).await;
            };
            let card = card(question);
            let (answer, answered) = oneshot::channel();
            // A thread of its own, which waits for as long as the person does and ends with the process.
            let asking = std::thread::Builder::new().spawn(move || {
                let _ = answer.send(ask(&terminal, &card).unwrap_or(false));
            });
            match (asking, answered.await) {
                (Ok(_), Ok(true)) => Answer::Allow,
                _ => Answer::Deny { reason: Some("you said no".to_owned()) },
            }
        })
    }
}

/// All that a person needs to know, with nothing in it that cannot be seen.
fn card(question: &Question<'_>) -> String {
    let arguments = serde_json::to_string_pretty(question.arguments).unwrap_or_default();
    format!(
        "`{}` is to be asked about: {}\nIts input:\n{}\nRun it? [y/N] ",
        question.name,
        shown::visible(&question.because),
        super::super::visible_json(&arguments),
    )
}

fn ask(mut terminal: &File, card: &str) -> std::io::Result<bool> {
    terminal.write_all(card.as_bytes())?;
    let mut line = String::new();
    BufReader::new(terminal).read_line(&mut line)?;
    Ok(matches!(line.trim(), "y" | "Y" | "yes"))
}
