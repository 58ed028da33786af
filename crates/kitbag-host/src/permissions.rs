//! The permission rules of all layers, each with its exact place.

pub(crate) mod explain;
pub(crate) mod tools;

use std::path::Path;

use kitbag_permission as permission;
use kitbag_permission::{Effect, Entry, KnownTool, Rule, RuleSet, WorkspaceTrust};
use kitbag_settings::{
    Diagnostic, KeyPath, Layer, MAX_DIAGNOSTICS, Origin, Settings, Severity, SourceName, Standing,
    Trust,
};

use crate::place::shown_path;
use crate::sections::sections;
use crate::trust::TrustState;
use tools::OWN_TOOLS;

/// Compiles the rules; what is wrong with one is told with its file and line.
///
/// What a project allows is taken along while it does not count, so that an explanation can name it.
pub(crate) fn compile(
    settings: &Settings,
    trust: TrustState,
    home: Option<&Path>,
) -> (RuleSet, Vec<Diagnostic>) {
    let mut told = Vec::new();
    let mut placed: Vec<(Entry, Origin, KeyPath)> = Vec::new();
    for effect in [Effect::Deny, Effect::Ask, Effect::Allow] {
        let key = KeyPath::of(["permissions", effect.as_str()]);
        for item in settings.items(&sections(), &key) {
            // What is no text is told with the types.
            let Some(text) = item.value.as_str() else { continue };
            if matches!(item.standing, Standing::Invalid | Standing::UserOnly) {
                continue;
            }
            match text.parse::<Rule>() {
                Ok(rule) => {
                    let entry = Entry {
                        layer: layer(item.layer),
                        origin: origin(&item, home),
                        effect,
                        rule,
                    };
                    placed.push((entry, item, key.clone()));
                }
                Err(_) if told.len() > MAX_DIAGNOSTICS => {}
                Err(error) => {
                    let hint = match &error.nearest {
                        Some(nearest) => format!("{}; did you mean `{nearest}`?", error.hint),
                        None => error.hint.clone(),
                    };
                    told.push(Diagnostic::of_value(
                        Severity::Error,
                        &item,
                        &key,
                        error.to_string(),
                        hint,
                    ));
                }
            }
        }
    }
    let known: Vec<KnownTool<'_>> = OWN_TOOLS
        .iter()
        .map(|tool| KnownTool { name: tool.name, subject: tool.subject.map(|(_, kind)| kind) })
        .collect();
    let trust = match trust.settings() {
        Trust::Trusted => WorkspaceTrust::Trusted,
        Trust::Untrusted => WorkspaceTrust::Untrusted,
    };
    let entries = placed.iter().flat_map(|(entry, ..)| {
        let also = for_the_server(entry);
        [entry.clone()].into_iter().chain(also)
    });
    let (rules, problems) = RuleSet::build(entries, &known, trust);
    // The worst come first.
    for problem in problems.into_iter().take(MAX_DIAGNOSTICS + 1) {
        let Some((_, item, key)) = placed.iter().find(|(entry, ..)| *entry == problem.entry) else {
            continue;
        };
        let severity = match problem.severity {
            permission::Severity::Note => Severity::Note,
            permission::Severity::Warning => Severity::Warning,
            permission::Severity::Error => Severity::Error,
        };
        let hint = match &problem.nearest {
            Some(nearest) if !problem.hint.contains(nearest.as_str()) => {
                format!("{}: `{nearest}`", problem.hint)
            }
            _ => problem.hint.clone(),
        };
        told.push(Diagnostic::of_value(severity, item, key, problem.detail, hint));
    }
    (rules, told)
}

/// The tools of the skill server that do what `Skill` does in a session.
const AS_SKILL: [&str; 3] = ["skill_load", "skill_file", "skill_run"];

/// What a rule that denies or asks about `Skill` says of the skill server's tools: who may not have a skill may not have it
/// through another door. A rule that allows stays with the tool it names.
fn for_the_server(entry: &Entry) -> Vec<Entry> {
    let text = entry.rule.as_str();
    let Some(rest) =
        text.strip_prefix("Skill").filter(|rest| rest.is_empty() || rest.starts_with('('))
    else {
        return Vec::new();
    };
    if entry.effect == Effect::Allow {
        return Vec::new();
    }
    let named = AS_SKILL.iter().filter_map(|tool| format!("{tool}{rest}").parse().ok());
    named.map(|rule| Entry { rule, ..entry.clone() }).collect()
}

fn layer(layer: Layer) -> permission::Layer {
    match layer {
        Layer::Default => permission::Layer::Default,
        Layer::ProjectLocal => permission::Layer::ProjectLocal,
        Layer::User => permission::Layer::User,
        Layer::Environment => permission::Layer::Environment,
        // A file that the command line names is the command line's; its rules keep their own places.
        Layer::RunFile | Layer::Flags => permission::Layer::Flags,
        // Of a layer that is not known here, what grants must not count by itself.
        Layer::Project | _ => permission::Layer::Project,
    }
}

fn origin(item: &Origin, home: Option<&Path>) -> permission::Origin {
    match (&item.source, item.position) {
        (SourceName::File(path), position) => permission::Origin::File {
            path: shown_path(path, home),
            line: position.map_or(1, |position| position.line),
        },
        (SourceName::Given(name), _) => permission::Origin::Named(name.clone()),
    }
}
