//! One prompt a skill: what a person gets who picks it.

use std::collections::HashSet;
use std::sync::Arc;

use kitbag_skills::Skill;
use kitbag_skills::substitute::{
    Arguments, Expanded, Shortfall, Values, substitute, substitute_values,
};
use kitbag_tool::{
    Content, Fields, Page, PageRequest, PromptArgument, PromptError, PromptMessage, PromptOutput,
    PromptRequest, PromptSpec, Role,
};

use super::load::{cut_note, directory, read_body};
use super::{MAX_NAME_CHARS, MAX_SKILL_MD_BYTES, Shelf, guidance_note};

/// The name of the one argument of a skill that names none: everything that would be typed after its name.
const ARGUMENTS: &str = "arguments";

pub(super) fn page(shelf: &Shelf, request: PageRequest<'_>) -> Page<PromptSpec> {
    let catalog = shelf.library.look();
    let mut skills: Vec<&Arc<Skill>> =
        catalog.used().filter(|skill| skill.document.header.user_invocable).collect();
    skills.sort_by(|a, b| a.name().cmp(b.name()));
    Page::cut(request, &skills, |skill| skill.name().to_string(), |skill| spec(skill))
}

pub(super) fn get(shelf: &Shelf, request: &PromptRequest) -> Result<PromptOutput, PromptError> {
    let catalog = shelf.library.look();
    let Some(skill) =
        catalog.get(&request.name).filter(|skill| skill.document.header.user_invocable)
    else {
        return Err(PromptError::Unknown { name: request.name.clone() });
    };
    let body = read_body(&skill.document, MAX_SKILL_MD_BYTES)?;
    let expanded = expand(skill, &body.text, request)?;
    let mut text = match guidance_note(skill) {
        Some(note) => format!("[{note}]\n\n{}", expanded.text),
        None => expanded.text,
    };
    // A prompt has no field for a note, and a cut must be told (section 10 of the skill server's promises, weakness 14).
    let notes = body
        .note
        .into_iter()
        .chain(body.cut.map(|cut| cut_note(&skill.document, cut)))
        .chain(shortfall_note(expanded.shortfall));
    for note in notes {
        text.push_str("\n\n[");
        text.push_str(&note);
        text.push(']');
    }
    let message =
        PromptMessage { role: Role::User, content: Content::Text(text), extra: Fields::default() };
    Ok(PromptOutput {
        messages: vec![message],
        description: Some(description(skill)),
        extra: Fields::default(),
    })
}

fn spec(skill: &Skill) -> PromptSpec {
    let arguments = arguments(skill);
    PromptSpec {
        name: skill.name().to_string(),
        title: Some(skill.name().to_string()),
        description: Some(description(skill)),
        arguments: (!arguments.is_empty()).then_some(arguments),
        extra: Fields::default(),
    }
}

fn description(skill: &Skill) -> String {
    let header = &skill.document.header;
    match (&header.description, &header.when_to_use) {
        (Some(description), Some(when)) => format!("{description} {when}"),
        (Some(description), None) => description.clone(),
        (None, _) => format!("The {} skill.", skill.name()),
    }
}

/// The arguments that a skill declares; one for all where it only gives a hint.
fn arguments(skill: &Skill) -> Vec<PromptArgument> {
    let header = &skill.document.header;
    let argument = |name: &str, description: Option<String>| PromptArgument {
        name: name.to_owned(),
        title: None,
        description,
        required: Some(false),
        extra: Fields::default(),
    };
    if header.arguments.is_empty() {
        let hint = header.argument_hint.clone();
        return hint.map(|hint| argument(ARGUMENTS, Some(hint))).into_iter().collect();
    }
    let mut seen = HashSet::new();
    let names = header.arguments.iter().filter(|name| seen.insert(name.as_str()));
    names.map(|name| argument(name, None)).collect()
}

/// The body with what a client sends put in.
///
/// A value of a declared argument is whole, whatever it holds: a client's form has no quotes to group words with. The
/// one argument of a skill that declares none is what a person would have typed, and its words are parted as such.
fn expand(skill: &Skill, body: &str, request: &PromptRequest) -> Result<Expanded, PromptError> {
    let declared = &skill.document.header.arguments;
    let all = [ARGUMENTS.to_owned()];
    let known: &[String] = if declared.is_empty() { &all } else { declared };
    if let Some(unknown) = request.arguments.keys().find(|name| !known.contains(name)) {
        return Err(PromptError::InvalidArgument {
            prompt: request.name.clone(),
            argument: unknown.chars().take(MAX_NAME_CHARS).collect(),
            reason: "the prompt has no such argument".to_owned(),
        });
    }
    let given = |name: &str| request.arguments.get(name).map_or("", String::as_str);
    let directory = directory(&skill.document);
    if declared.is_empty() {
        let arguments = Arguments { text: given(ARGUMENTS), names: &[] };
        return Ok(substitute(body, skill.dialect, &arguments, directory.as_deref()));
    }
    let mut seen = HashSet::new();
    // Of two equal names the first has the value.
    let mut words: Vec<&str> =
        declared.iter().map(|name| if seen.insert(name) { given(name) } else { "" }).collect();
    let count = words.iter().rposition(|word| !word.is_empty()).map_or(0, |last| last + 1);
    words.truncate(count);
    let values = Values { words: &words, names: declared };
    Ok(substitute_values(body, skill.dialect, &values, directory.as_deref()))
}

fn shortfall_note(shortfall: Shortfall) -> Option<String> {
    let Shortfall { placeholders, argument_bytes } = shortfall;
    match (placeholders, argument_bytes) {
        (0, 0) => None,
        (0, bytes) => Some(format!("The last {bytes} bytes of the arguments were not read.")),
        (places, bytes) => Some(format!(
            "The arguments are too long: {places} of their places were left as written, and {bytes} bytes were not \
             read."
        )),
    }
}
