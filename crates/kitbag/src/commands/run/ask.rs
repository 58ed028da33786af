//! What stands between a person's command and the call: the rules, and a question where one of them wants it.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::sync::Arc;

use kitbag_permission::Mode;
use kitbag_skills::shown;
use kitbag_tool::{Answer, Approver, BoxFuture, CallContext, NobodyToAsk, Principal, Question};
use tokio::sync::oneshot;

use super::is_at_terminal;

/// The terminal that started the process, whatever its streams are connected to.
const TERMINAL: &str = "/dev/tty";

/// The mode in which a person's command is judged, and who is asked.
///
/// The command is itself the answer to a question that no rule wants, as far as it goes: not for what a skill calls then.
/// Rules that deny and rules that ask hold, and so does the mode `plan`. In the mode `dont-ask` a rule that asks denies.
pub(super) fn of_a_command(mode: Mode) -> (Mode, Arc<dyn Approver>) {
    match mode {
        Mode::DontAsk => (Mode::Ask, Arc::new(Typed { others: NobodyToAsk })),
        mode => (mode, Arc::new(Typed { others: AtTerminal })),
    }
}

/// Answers for whoever typed the command where no rule asks, and leaves all other questions to `others`.
#[derive(Debug)]
struct Typed<A> {
    others: A,
}

impl<A: Approver> Approver for Typed<A> {
    fn ask<'a>(
        &'a self,
        question: &'a Question<'a>,
        context: &'a CallContext,
    ) -> BoxFuture<'a, Answer> {
        // Where a rule asks, nothing that could be granted would let the call run.
        if *question.principal == Principal::Person && question.grant.is_some() {
            return Box::pin(async { Answer::Allow });
        }
        self.others.ask(question, context)
    }
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
    Ok(matches!(line.trim().to_lowercase().as_str(), "y" | "yes"))
}
