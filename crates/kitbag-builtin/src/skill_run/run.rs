//! A call of `skill_run`, from its arguments to its answer.

use std::sync::Arc;
use std::time::{Duration, Instant};

use kitbag_skills::{Library, Skill};
use kitbag_tool::{
    Answer, CallContext, CallError, ProgressUpdate, Question, Refusal, ToolIdentity, ToolName,
    ToolOutput,
};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::Scripts;
use super::confirm::{ACTION, Rail, Reach, SKILL_RUN, cancelled, json, rejected};
use super::folder::RunFolder;
use super::plan::{Plan, Wish, plan};
use super::receipt::receipt;
use super::spent::Claim;
use super::token::{Changed, Rejection, Verified};
use crate::blocking::blocking;
use crate::skill_server::find;

/// The arguments, which fit the schema.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Arguments {
    name: String,
    script: String,
    #[serde(default)]
    args: Vec<String>,
    confirm_token: Option<String>,
}

/// What a call rests on.
enum Consent {
    /// Somebody was asked and said yes.
    Asked,
    /// A token that holds and is not spent yet.
    Token(Verified),
}

/// Either the next step, or the answer.
enum Step<T> {
    On(T),
    Answer(ToolOutput),
}

pub(crate) async fn run(
    library: &Arc<Library>,
    scripts: &Arc<Scripts>,
    arguments: Arguments,
    context: &CallContext,
) -> Result<ToolOutput, CallError> {
    let wish = Wish { script: arguments.script, args: arguments.args };
    let replan = {
        let (library, scripts) = (Arc::clone(library), Arc::clone(scripts));
        let name = arguments.name;
        move || -> Result<Plan, Refusal> {
            let catalog = library.look();
            let skill: &Skill = find(&catalog, &name)?;
            plan(&scripts, &library, skill, &wish)
        }
    };
    let planned = blocking(replan.clone()).await?;
    scripts.slots.check()?;
    let consent = consent(scripts, &planned, arguments.confirm_token, context).await?;
    let consent = match consent {
        Step::On(consent) => consent,
        Step::Answer(answer) => return Ok(answer),
    };
    let place = scripts.slots.enter()?;
    let waiting = ProgressUpdate { done: 0.0, total: None, message: Some("waiting".to_owned()) };
    context.progress.report(waiting);
    let _slot = scripts.slots.wait(place).await;

    let begun = Instant::now();
    let folder = {
        let (library, document) = (Arc::clone(library), Arc::clone(&planned.document));
        let place = scripts.places.scratch.clone();
        let kept = scripts.places.data_of(&document.name).filter(|data| planned.touches(data));
        blocking(move || RunFolder::make(&library, &document, &place, kept.as_deref())).await
    };
    let folder = folder.map_err(|error| {
        Refusal::new(format!("No process has been started: {error}."))
            .hint("Nothing was used up; the same call can be made again.")
    })?;
    if folder.digest() != planned.digest {
        return Ok(changed(scripts, &consent, &blocking(replan).await?)?);
    }
    let prepared = begun.elapsed();
    let because = match &consent {
        Consent::Asked => "whoever was asked said yes to exactly this run",
        Consent::Token(_) => "confirmed by a token for exactly this run",
    };
    context.consented(&shown(&planned)?, because).await?;
    if let Consent::Token(verified) = consent {
        let confirmation = scripts.confirmation.clone();
        if blocking(move || confirmation.spend(&verified)).await? == Claim::Lost {
            return Ok(rejected(Rejection::Reused));
        }
    }
    started(scripts, &planned, &folder, prepared, context).await
}

/// Finds out whether the run is approved; spends nothing.
async fn consent(
    scripts: &Arc<Scripts>,
    planned: &Plan,
    token: Option<String>,
    context: &CallContext,
) -> Result<Step<Consent>, CallError> {
    let confirmation = &scripts.confirmation;
    let reach = if context.approver.can_ask() { Reach::Promptable } else { Reach::Unreachable };
    match (confirmation.rail(reach), token) {
        (Rail::Refuse, _) => Ok(Step::Answer(confirmation.unsupported())),
        (Rail::Prompt, _) => Ok(ask(planned, context).await?),
        (Rail::Token, None) => Ok(Step::Answer(confirmation.required(planned)?)),
        (Rail::Token, Some(token)) => {
            let verdict = {
                let (confirmation, planned) = (confirmation.clone(), planned.clone());
                blocking(move || confirmation.check(&planned, &token)).await?
            };
            Ok(match verdict {
                Ok(verified) => Step::On(Consent::Token(verified)),
                Err(Rejection::Changed(what)) => Step::Answer(confirmation.changed(planned, what)?),
                Err(rejection) => Step::Answer(rejected(rejection)),
            })
        }
    }
}

/// Asks whoever is there, with the preview in place of the arguments: it says what they come to.
async fn ask(planned: &Plan, context: &CallContext) -> Result<Step<Consent>, Refusal> {
    let shown = shown(planned)?;
    let name: ToolName = SKILL_RUN.parse().expect("the name is a tool's");
    let question = Question {
        principal: &context.principal,
        tool: &ToolIdentity::Own(SKILL_RUN.to_owned()),
        name: &name,
        title: Some("Run a skill's script"),
        arguments: &shown,
        because: format!(
            "the skill `{}` would run its script `{}` with `{}`",
            planned.document.name, planned.script, planned.interpreter
        ),
        grant: None,
    };
    Ok(match context.approver.ask(&question, context).await {
        Answer::Allow | Answer::AllowForSession => Step::On(Consent::Asked),
        Answer::Deny { reason } => Step::Answer(cancelled(reason.as_deref())),
        Answer::Defer(output) => Step::Answer(output),
    })
}

/// What is asked about.
fn shown(planned: &Plan) -> Result<Map<String, Value>, Refusal> {
    let mut shown = Map::new();
    shown.insert("action".to_owned(), ACTION.into());
    shown.insert("willRun".to_owned(), json(&planned.will_run())?);
    Ok(shown)
}

/// The skill changed between the approval and the copy: nothing runs, and `now` is what would.
fn changed(scripts: &Scripts, consent: &Consent, now: &Plan) -> Result<ToolOutput, Refusal> {
    match consent {
        Consent::Token(_) => scripts.confirmation.changed(now, Changed::Payload),
        Consent::Asked => Err(Refusal::new(format!(
            "No process has been started: the skill `{}` changed after its run was approved.",
            now.document.name
        ))
        .hint("Call again, so that the user is asked about the skill as it is now.")),
    }
}

async fn started(
    scripts: &Scripts,
    planned: &Plan,
    folder: &RunFolder,
    prepared: Duration,
    context: &CallContext,
) -> Result<ToolOutput, CallError> {
    let finished = scripts.runner.run(planned.prepared(folder), context).await;
    let finished = finished.map_err(|failure| Refusal {
        message: format!(
            "`{}` of `{}` was not started: {}.",
            planned.script, planned.document.name, failure.reason
        ),
        hint: failure.hint,
    })?;
    Ok(receipt(planned, finished, prepared, &scripts.environment)?)
}
