//! `kitbag permissions explain`.

use std::io::Write as _;
use std::process::ExitCode;

use kitbag_host::{Host, sections, shown_path};
use kitbag_permission::{
    Because, Decision, Explanation, Mode, Rule, RuleHit, Says, Subject, Verdict, WhyNot,
};
use kitbag_settings::{KeyPath, Layer, Source, Standing};
use kitbag_skills::shown;
use serde_json::{Value, json};

use crate::cli::ExplainArgs;
use crate::environment::Environment;
use crate::failure::{Failure, Kind};
use crate::style::{self, BAD, DIM, GOOD, HEADING, WARN, padded, paint};

pub(crate) fn run(environment: &Environment, arguments: &ExplainArgs) -> Result<ExitCode, Failure> {
    let key = KeyPath::of(["permissions", "mode"]);
    let flags = arguments
        .mode
        .map(|mode| Source::given(Layer::Flags, "--mode", &key, &Value::from(mode.as_str())));
    let host = super::host(environment.host(&[], flags.into_iter().collect()))?;
    let judged = host.call(&arguments.tool, arguments.args.as_ref()).map_err(|error| {
        let hint = error.hint();
        Failure::new(Kind::Usage, error).hint(hint)
    })?;
    let mode = host.mode();
    let explanation = host.explain(&judged.action, mode);
    let grant = host.grant(&judged.action, mode);
    let from = host
        .settings()
        .origin(&sections(), &key)
        .into_iter()
        .rev()
        .find(|one| one.standing == Standing::Counts);
    let mode_from = from.as_ref().map_or_else(
        || "default".to_owned(),
        |one| {
            let place = style::place(&one.source, one.position, environment.home.as_deref());
            format!("{}, {place}", one.layer.as_str())
        },
    );
    let needed = needed(&explanation, grant.as_ref(), environment, judged.action.subject.as_ref());
    if arguments.json {
        super::print_json(&json!({
            "tool": arguments.tool,
            "verdict": explanation.decision.verdict,
            "because": explanation.decision.because.to_string(),
            "mode": { "name": mode, "from": mode_from },
            "rules": explanation.hits.iter().map(rule_json).collect::<Vec<_>>(),
            "grant": grant,
            "needed": needed,
            "notes": judged.notes,
            "trust": host.trust().as_str(),
        }))?;
    } else {
        let text = text(&arguments.tool, &explanation, mode, &mode_from, &needed);
        let mut out = anstream::stdout().lock();
        out.write_all(text.as_bytes())?;
        out.flush()?;
        for note in &judged.notes {
            style::tell_problem(kitbag_skills::Severity::Note, note, None);
        }
        tell_of_rules(&host);
    }
    Ok(ExitCode::from(match explanation.decision.verdict {
        Verdict::Allow => 0,
        Verdict::Ask => Kind::Negative.code(),
        Verdict::Deny => Kind::Denied.code(),
    }))
}

/// What is odd about rules; what of a project does not count is in the answer where it matters.
fn tell_of_rules(host: &Host) {
    let odd = host.warnings().iter().filter(|one| one.fault == kitbag_settings::Fault::Refused);
    style::tell_diagnostics(odd);
}

fn rule_json(hit: &RuleHit<'_>) -> Value {
    let (says, why_not) = match hit.says {
        Says::Decides => ("decides", None),
        Says::Agrees => ("agrees", None),
        Says::Overruled => ("overruled", None),
        Says::NotCounted(why) => ("not-counted", Some(why)),
    };
    json!({
        "effect": hit.entry.effect,
        "rule": hit.entry.rule,
        "layer": hit.entry.layer,
        "origin": hit.entry.origin.to_string(),
        "says": says,
        "whyNot": why_not,
    })
}

fn text(
    tool: &str,
    explanation: &Explanation<'_>,
    mode: Mode,
    mode_from: &str,
    needed: &[String],
) -> String {
    let Explanation { decision, hits } = explanation;
    let style = match decision.verdict {
        Verdict::Allow => GOOD,
        Verdict::Ask => WARN,
        Verdict::Deny => BAD,
    };
    let mut text = format!(
        "{}  {}\n  because {}\n  mode {mode} ({mode_from})\n",
        paint(style, decision.verdict),
        paint(HEADING, shown::visible(tool)),
        shown::visible(&decision.because.to_string()),
    );
    if hits.is_empty() {
        text.push_str("\nNo rule speaks of it.\n");
    } else {
        text.push_str("\nRules that speak of it:\n");
    }
    for hit in hits {
        let (word, style, why) = match hit.says {
            Says::Decides => ("decides", GOOD, None),
            Says::Agrees => ("agrees", DIM, None),
            Says::Overruled => ("overruled", DIM, None),
            Says::NotCounted(why) => ("not counted", WARN, Some(why)),
        };
        style::add(
            &mut text,
            format_args!(
                "  {}  {}",
                padded(style, word, 11),
                shown::visible(&hit.entry.to_string())
            ),
        );
        if let Some(why) = why {
            style::add(&mut text, format_args!(": {}", words(why)));
        }
        text.push('\n');
    }
    if !needed.is_empty() {
        text.push('\n');
    }
    for line in needed {
        text.push_str(&shown::visible(line));
        text.push('\n');
    }
    text
}

fn words(why: WhyNot) -> &'static str {
    match why {
        WhyNot::UntrustedWorkspace => "the workspace is not trusted",
        WhyNot::SeveralReadings => "it can be read as more than one tool",
        WhyNot::ShownName => "it names the shown name, which is not the exact one",
        WhyNot::CompoundCommand => "the command is not for sure that one command",
        WhyNot::OtherPath => "the path, or where its links lead, is another",
        WhyNot::NotComparable => "rule and call cannot be compared",
    }
}

/// What would let the call run, in sentences.
fn needed(
    explanation: &Explanation<'_>,
    grant: Option<&Rule>,
    environment: &Environment,
    subject: Option<&Subject>,
) -> Vec<String> {
    let Decision { verdict, because } = explanation.decision;
    if verdict == Verdict::Allow {
        return Vec::new();
    }
    let mut needed = Vec::new();
    match (because, grant) {
        (Because::Rule(entry), _) if verdict == Verdict::Deny => needed.push(format!(
            "To let it run, take the rule out at {}: nothing else outweighs a rule that denies.",
            entry.origin
        )),
        (Because::Mode(Mode::Plan), _) => needed.push(
            "To let it run, choose another mode: in `plan` only our own tools that read run.".to_owned(),
        ),
        (Because::Rule(entry) | Because::RuleUnanswered(entry), _) => needed.push(format!(
            "To let it run unasked, take the rule out at {}: it goes before every rule that allows.",
            entry.origin
        )),
        (_, Some(rule)) => {
            let file = environment.kitbag_home.as_ref().map(|home| home.join("settings.json"));
            let file = file.map_or_else(
                || "your settings".to_owned(),
                |file| shown_path(&file, environment.home.as_deref()),
            );
            needed.push(format!(
                "To let it run unasked, add to `permissions.allow` in {file}: {}",
                Value::from(rule.as_str())
            ));
        }
        (_, None) if subject.is_none() => needed.push(
            "Say with `--args` what the call works on, to learn which rule would let it run.".to_owned(),
        ),
        (_, None) => needed.push("No rule can name this call and nothing else.".to_owned()),
    }
    let waits =
        explanation.hits.iter().any(|hit| hit.says == Says::NotCounted(WhyNot::UntrustedWorkspace));
    if waits {
        needed.push(
            "Rules of this project would allow it once you trust the workspace: `kitbag trust --diff`."
                .to_owned(),
        );
    }
    needed
}
