//! `kitbag skills approve`: a person says yes to skills that a project or a package brings (decision 4).

mod card;
mod choice;
mod question;

use std::io::{IsTerminal as _, Write as _};
use std::process::ExitCode;

use kitbag_host::Host;
use kitbag_host::consent::{ConsentError, Earlier, SkillTrust};
use kitbag_skills::review::{Review, ReviewError, review};
use kitbag_skills::{Severity, Skill};
use kitbag_store::Removal;
use serde_json::{Value, json};

use self::choice::Chosen;
use self::question::Answer;
use crate::cli::ApproveArgs;
use crate::environment::Environment;
use crate::failure::{Failure, Kind};
use crate::style::{self, GOOD, paint};

pub(crate) fn run(environment: &Environment, arguments: &ApproveArgs) -> Result<ExitCode, Failure> {
    let is_named = arguments.all || !arguments.names.is_empty();
    if (arguments.yes || arguments.revoke) && !is_named {
        let flag = if arguments.yes { "--yes" } else { "--revoke" };
        return Err(Failure::say(Kind::Usage, format!("`{flag}` needs to know which skills"))
            .hint("name them, or say `--all`"));
    }
    let host = super::host(environment.host(&[], Vec::new()))?;
    if arguments.revoke {
        return revoke(environment, &host, arguments);
    }
    let catalog = host.library(super::limit(environment, None), SkillTrust::Approved).look();
    style::tell_problems(
        catalog
            .problems
            .iter()
            .filter(|problem| problem.reason == kitbag_skills::Reason::ApprovalsUnreadable),
    );
    let Chosen { waiting, approved } = choice::choose(environment, &catalog, arguments)?;
    let mut session =
        Session { host: &host, arguments, told: Vec::new(), waits: 0, stopped: false };
    for skill in approved {
        session.already(skill)?;
    }
    for skill in &waiting {
        session.decide(skill)?;
    }
    super::tell_set_aside(&host);
    session.end(waiting.is_empty())
}

/// What a reviewed skill came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Approved,
    Waits,
}

struct Session<'a> {
    host: &'a Host,
    arguments: &'a ApproveArgs,
    told: Vec<Value>,
    /// How many of the skills are not approved.
    waits: usize,
    /// Whether the person wants no more questions.
    stopped: bool,
}

impl Session<'_> {
    fn already(&mut self, skill: &Skill) -> Result<(), Failure> {
        if self.arguments.json {
            self.told.push(json!({
                "name": skill.name(),
                "qualifiedName": skill.qualified_name(),
                "approved": true,
            }));
        } else {
            writeln!(anstream::stdout(), "`{}` is approved as it is.", skill.qualified_name())?;
        }
        Ok(())
    }

    fn decide(&mut self, skill: &Skill) -> Result<(), Failure> {
        let review = match review(skill) {
            Ok(review) => review,
            Err(error) => {
                self.unreviewable(skill, &error);
                return Ok(());
            }
        };
        let earlier = self.host.earlier_approval(&review).map_err(super::failure)?;
        if !self.arguments.json {
            let mut out = anstream::stdout().lock();
            out.write_all(card::card(&review, skill, earlier.as_ref()).as_bytes())?;
            if self.arguments.diff {
                out.write_all(card::changes(earlier.as_ref()).as_bytes())?;
            }
            out.flush()?;
        }
        let outcome = match self.answer(&review, earlier.as_ref())? {
            Some(Answer::Yes) => self.approve(&review)?,
            Some(Answer::No) => {
                self.host.refuse_skill(&review).map_err(|error| failed(&review, error))?;
                Outcome::Waits
            }
            Some(Answer::Quit) => {
                self.stopped = true;
                Outcome::Waits
            }
            Some(Answer::Whole | Answer::Difference) | None => Outcome::Waits,
        };
        self.waits += usize::from(outcome == Outcome::Waits);
        if self.arguments.json {
            self.told.push(card::json(&review, earlier.as_ref(), outcome == Outcome::Approved));
        }
        Ok(())
    }

    fn unreviewable(&mut self, skill: &Skill, error: &ReviewError) {
        self.waits += 1;
        if self.arguments.json {
            self.told.push(json!({
                "name": skill.name(),
                "qualifiedName": skill.qualified_name(),
                "approved": false,
                "error": error.to_string(),
            }));
            return;
        }
        let hint = match error {
            ReviewError::Seal(error) => error.hint(),
            ReviewError::Bundled | ReviewError::Changed(_) => {
                "try again when nothing writes to the skill's folder"
            }
        };
        let message = format!("`{}` cannot be approved: {error}", skill.qualified_name());
        style::tell_problem(Severity::Error, &message, Some(hint));
    }

    /// What the person says; none where nobody is asked.
    fn answer(
        &self,
        review: &Review,
        earlier: Option<&Earlier>,
    ) -> Result<Option<Answer>, Failure> {
        if self.arguments.yes {
            return Ok(Some(Answer::Yes));
        }
        let asks = !self.arguments.json && !self.arguments.diff && !self.stopped;
        if !asks || !question::can_ask() {
            return Ok(None);
        }
        loop {
            let answer = question::ask(&review.document.name)?;
            let more = match answer {
                Answer::Whole => card::whole(review),
                Answer::Difference => card::changes(earlier),
                Answer::Yes | Answer::No | Answer::Quit => return Ok(Some(answer)),
            };
            let mut out = anstream::stdout().lock();
            out.write_all(more.as_bytes())?;
            out.flush()?;
        }
    }

    fn approve(&self, review: &Review) -> Result<Outcome, Failure> {
        match self.host.approve_skill(review) {
            Ok(()) => {}
            Err(error @ (ConsentError::Changed | ConsentError::Seal(_) | ConsentError::NoKey)) => {
                let message = format!("`{}` is not approved: {error}", review.qualified_name);
                style::tell_problem(Severity::Error, &message, Some("look at it again"));
                return Ok(Outcome::Waits);
            }
            Err(error) => return Err(failed(review, error)),
        }
        if !self.arguments.json {
            let said = paint(GOOD, format!("`{}` is approved", review.qualified_name));
            writeln!(anstream::stdout(), "{said}, until something in its folder changes.\n")?;
        }
        Ok(Outcome::Approved)
    }

    fn end(self, is_empty: bool) -> Result<ExitCode, Failure> {
        if self.arguments.json {
            super::print_json(&json!({ "skills": self.told, "waiting": self.waits }))?;
        } else if is_empty && self.arguments.names.is_empty() {
            writeln!(anstream::stdout(), "No skill waits for an approval.")?;
        }
        if self.waits == 0 || (self.arguments.diff && !self.arguments.yes) {
            return Ok(ExitCode::SUCCESS);
        }
        if self.arguments.json {
            return Ok(ExitCode::from(Kind::Negative.code()));
        }
        let waits = match self.waits {
            1 => "1 skill is not approved".to_owned(),
            count => format!("{count} skills are not approved"),
        };
        let nobody = !self.arguments.yes && !question::can_ask();
        let failure = |text: String| Failure::say(Kind::Negative, text);
        Err(if nobody {
            failure(format!("{waits}, and there is no terminal to ask at"))
                .hint("look at them, then run `kitbag skills approve NAME --yes`")
        } else {
            failure(waits)
        })
    }
}

fn failed(review: &Review, error: ConsentError) -> Failure {
    match error {
        ConsentError::Host(error) => super::failure(error),
        error => Failure::say(
            Kind::Negative,
            format!("the answer about `{}` is not recorded: {error}", review.qualified_name),
        ),
    }
}

fn revoke(
    environment: &Environment,
    host: &Host,
    arguments: &ApproveArgs,
) -> Result<ExitCode, Failure> {
    let catalog = host.library(super::limit(environment, None), SkillTrust::Approved).look();
    let keys = host.approved_skills().map_err(super::failure)?;
    let (keys, unknown) = choice::revoked(&catalog, keys, arguments);
    let mut names = Vec::new();
    for key in &keys {
        if host.revoke_skill(key).map_err(super::failure)? == Removal::Removed {
            names.push(key.directory.clone());
        }
    }
    super::tell_set_aside(host);
    if arguments.json {
        super::print_json(&json!({ "revoked": names, "unknown": unknown }))?;
        return Ok(ExitCode::from(u8::from(!unknown.is_empty())));
    }
    let mut out = anstream::stdout().lock();
    for name in &names {
        writeln!(out, "`{}` is approved no more.", kitbag_skills::shown::visible(name))?;
    }
    if names.is_empty() && arguments.all {
        writeln!(out, "No skill is approved in this workspace.")?;
    }
    match unknown.as_slice() {
        [] => Ok(ExitCode::SUCCESS),
        unknown => Err(Failure::say(
            Kind::Negative,
            format!("no skill of this workspace is approved as `{}`", unknown.join("`, `")),
        )
        .hint("`kitbag skills list` shows which are used")),
    }
}

/// Whether a person sits at all three ends.
fn at_terminal() -> bool {
    std::io::stdin().is_terminal()
        && std::io::stdout().is_terminal()
        && std::io::stderr().is_terminal()
}
