//! The decision, why it fell so, and the least that would have let the call run.

use std::fmt;

use serde::Serialize;

use crate::action::{Action, Spellings, Subject, SubjectKind, ToolIdentity, Traits};
use crate::mode::Mode;
use crate::rule::{Pattern, Rule, Target};
use crate::set::{Effect, Entry, Fit, RuleSet, WhyNot};

/// What the gate says of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// It runs.
    Allow,
    /// It does not.
    Deny,
    /// Somebody is asked.
    Ask,
}

/// What a verdict rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Because<'a> {
    /// A rule.
    Rule(&'a Entry),
    /// A rule that asks, under the mode in which nobody is asked.
    RuleUnanswered(&'a Entry),
    /// The mode.
    Mode(Mode),
    /// The tool only reads, is ours, and needs no leave (B-33).
    TrustedTool,
    /// The tool is ours, and asks by itself before it does anything.
    AsksItself,
    /// No rule hits, and a call asks unless something lets it run (decision 17).
    Default,
}

/// The answer for one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Decision<'a> {
    /// What happens.
    pub verdict: Verdict,
    /// Why.
    pub because: Because<'a>,
}

/// What one rule has to say in a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Says {
    /// It decided.
    Decides,
    /// It says what was decided anyway.
    Agrees,
    /// It says something else, and a stronger effect or the mode goes before it.
    Overruled,
    /// It would allow, and does not count for this call.
    NotCounted(WhyNot),
}

/// A rule that speaks of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct RuleHit<'a> {
    /// The rule.
    pub entry: &'a Entry,
    /// What it says.
    pub says: Says,
}

/// A decision with every rule that speaks of the call: deny first, then ask, then allow, strongest layer first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Explanation<'a> {
    /// The decision.
    pub decision: Decision<'a>,
    /// The rules.
    pub hits: Vec<RuleHit<'a>>,
}

/// Decides one call.
///
/// In this order: a rule that denies; the mode `plan`, for all but our own read-only tools; a rule that asks; a rule that
/// allows; what the mode lets run; and else the call asks, or is denied under `dont-ask`.
pub fn decide<'a>(rules: &'a RuleSet, mode: Mode, action: &Action) -> Decision<'a> {
    combine(&rules.hits(action), mode, action.traits())
}

/// Decides one call and lists every rule that had a say.
pub fn explain<'a>(rules: &'a RuleSet, mode: Mode, action: &Action) -> Explanation<'a> {
    let mut hits = rules.hits(action);
    let decision = combine(&hits, mode, action.traits());
    hits.sort_by_key(|(entry, _)| entry.effect);
    let hits = hits.into_iter().map(|(entry, fit)| {
        let decides = match decision.because {
            Because::Rule(rule) | Because::RuleUnanswered(rule) => std::ptr::eq(rule, entry),
            Because::Mode(_) | Because::TrustedTool | Because::AsksItself | Because::Default => {
                false
            }
        };
        let agrees = matches!(
            (entry.effect, decision.verdict),
            (Effect::Deny, Verdict::Deny)
                | (Effect::Ask, Verdict::Ask)
                | (Effect::Allow, Verdict::Allow)
        );
        let says = match (entry.effect, fit) {
            (Effect::Allow, Fit::Partial(why)) => Says::NotCounted(why),
            _ if decides => Says::Decides,
            _ if agrees => Says::Agrees,
            _ => Says::Overruled,
        };
        RuleHit { entry, says }
    });
    Explanation { decision, hits: hits.collect() }
}

/// The narrowest rule that, granted, lets exactly this call run; nothing where none can.
///
/// Only for a call that asks. The rule names the tool and the very subject, and it is returned only if the decision, made
/// again with it, is to allow: where a rule asks explicitly, or the subject cannot be written as a rule, there is none.
pub fn narrowest_grant(rules: &RuleSet, mode: Mode, action: &Action) -> Option<Rule> {
    if decide(rules, mode, action).verdict != Verdict::Ask {
        return None;
    }
    let rule = candidate(rules, action)?;
    let granted = rules.granting(rule.clone());
    (decide(&granted, mode, action).verdict == Verdict::Allow).then_some(rule)
}

/// Why no call of a tool can ever run; nothing where some might.
///
/// `action` names the tool, its subject is not looked at; `subject` is the kind of what its calls work on, if they work on
/// anything. A tool that cannot run is not worth showing to anybody (fault 38 of the skill loaders).
pub fn never_runs<'a>(
    rules: &'a RuleSet,
    mode: Mode,
    action: &Action,
    subject: Option<SubjectKind>,
) -> Option<Because<'a>> {
    if subject.is_none() {
        let decision = decide(rules, mode, action);
        return (decision.verdict == Verdict::Deny).then_some(decision.because);
    }
    if let Some(entry) = rules.denies_all(action) {
        return Some(Because::Rule(entry));
    }
    let reads = matches!(action.traits(), Traits::Trusted | Traits::ReadOnly);
    let trusted = action.traits() == Traits::Trusted;
    match mode {
        Mode::Plan if !reads => Some(Because::Mode(mode)),
        Mode::DontAsk if !trusted && !rules.may_allow(action) => Some(Because::Mode(mode)),
        _ => None,
    }
}

fn combine<'a>(hits: &[(&'a Entry, Fit)], mode: Mode, traits: Traits) -> Decision<'a> {
    // Hits come strongest layer first, so the first of an effect is the one to name.
    let first =
        |effect| hits.iter().find(|(entry, _)| entry.effect == effect).map(|&(entry, _)| entry);
    let decision = |verdict, because| Decision { verdict, because };
    if let Some(entry) = first(Effect::Deny) {
        return decision(Verdict::Deny, Because::Rule(entry));
    }
    let reads = matches!(traits, Traits::Trusted | Traits::ReadOnly);
    if mode == Mode::Plan && !reads {
        return decision(Verdict::Deny, Because::Mode(mode));
    }
    if let Some(entry) = first(Effect::Ask) {
        return match mode {
            Mode::DontAsk => decision(Verdict::Deny, Because::RuleUnanswered(entry)),
            Mode::Ask | Mode::AcceptEdits | Mode::Plan | Mode::FullAuto => {
                decision(Verdict::Ask, Because::Rule(entry))
            }
        };
    }
    let allows =
        |&&(entry, fit): &&(&'a Entry, Fit)| entry.effect == Effect::Allow && fit == Fit::Whole;
    if let Some(&(entry, _)) = hits.iter().find(allows) {
        return decision(Verdict::Allow, Because::Rule(entry));
    }
    match (mode, traits) {
        (_, Traits::Trusted) => decision(Verdict::Allow, Because::TrustedTool),
        (Mode::FullAuto | Mode::Plan, _) | (Mode::AcceptEdits, Traits::WorkspaceEdit) => {
            decision(Verdict::Allow, Because::Mode(mode))
        }
        (Mode::DontAsk, _) => decision(Verdict::Deny, Because::Mode(mode)),
        (Mode::Ask | Mode::AcceptEdits, Traits::AsksItself) => {
            decision(Verdict::Allow, Because::AsksItself)
        }
        (Mode::Ask | Mode::AcceptEdits, _) => decision(Verdict::Ask, Because::Default),
    }
}

/// The rule that names the call and nothing else, if there is a way to write it.
fn candidate(rules: &RuleSet, action: &Action) -> Option<Rule> {
    let ToolIdentity::Own(name) = &action.tool else { return Rule::exactly(&action.tool) };
    let Some(subject) = &action.subject else {
        // Without a subject, the name alone is narrow only for tools that never have one.
        return rules.has_no_subject(name).then(|| name.parse().ok()).flatten();
    };
    let text = match subject {
        Subject::Text(text) => text.clone(),
        Subject::Command(line) => line.trim_matches([' ', '\t', '\n']).to_owned(),
        Subject::Domain(host) => format!("domain:{}", host.strip_suffix('.').unwrap_or(host)),
        Subject::Path(path) => {
            let Spellings { absolute, relative, home } = &path.written;
            let home = home.as_deref().and_then(|home| home.strip_prefix("~/"));
            match (relative, home) {
                (Some(relative), _) => escape(relative),
                (None, Some(home)) => format!("~/{}", escape(home)),
                (None, None) => escape(absolute),
            }
        }
    };
    let rule = format!("{name}({text})").parse::<Rule>().ok()?;
    // A subject such as `rm:*` would be read as more than itself.
    let exact = match &rule.target {
        Target::Own { subject: Some(Pattern::Literal(_)), .. } => {
            !matches!(subject, Subject::Domain(_))
        }
        Target::Own { subject: Some(Pattern::Domain { below: false, .. }), .. } => {
            matches!(subject, Subject::Domain(_))
        }
        _ => false,
    };
    exact.then_some(rule)
}

/// A glob for exactly this path.
fn escape(path: &str) -> String {
    let mut glob = String::new();
    for c in path.chars() {
        if matches!(c, '*' | '?' | '[' | ']' | '{' | '}' | '\\' | ',' | '!') {
            glob.push('\\');
        }
        glob.push(c);
    }
    glob
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Allow => "allow",
            Self::Deny => "deny",
            Self::Ask => "ask",
        })
    }
}

impl fmt::Display for Because<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rule(entry) => write!(f, "the rule {entry}"),
            Self::RuleUnanswered(entry) => {
                write!(f, "the rule {entry}, and in the mode dont-ask nobody is asked")
            }
            Self::Mode(mode) => write!(f, "the mode {mode}"),
            Self::TrustedTool => f.write_str("the tool only reads and is trusted"),
            Self::AsksItself => f.write_str("the tool asks by itself"),
            Self::Default => {
                f.write_str("no rule hits, and a call asks unless something lets it run")
            }
        }
    }
}
