//! The answers of the agent's tool `Skill` (decision 7), as functions of a library and a budget.

use kitbag_skills::activation::{
    Activation, BundledFile, MAX_NEAREST, Refusal, Resource, Unknown, UnknownResource, piece,
};
use kitbag_skills::budget::Budget;
use kitbag_skills::catalogue::{
    Catalogue, Listing, Reader, SEARCH_PREFIX, nearest, search, surface,
};
use kitbag_skills::substitute::{Arguments, substitute};
use kitbag_skills::{
    Catalog, Content, Library, ReadError, Skill, SkillPath, Status, classify, shown,
};

use crate::skill_server::load::{directory, read_body};
use crate::skill_server::{on_disk, wait_for_consent, withheld};

/// The most bytes of a body or a bundled file that are read to give a piece of it.
const MAX_TEXT_BYTES: usize = 4 * 1024 * 1024;

/// A call of `Skill`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SkillCall<'a> {
    /// The skill's name, its alias or `origin:name`; or `?` and words to search for.
    pub name: &'a str,
    /// What a person would type after the name.
    pub arguments: &'a str,
    /// The bundled file that is asked for, in place of the instructions.
    pub resource: Option<&'a str>,
    /// The character to begin at.
    pub offset: usize,
}

/// Who calls: `disable-model-invocation` blocks a model, never a person (decision 7).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caller {
    /// A model.
    Model,
    /// A model, about a skill that a person started in the same conversation: what that person was given tells it to
    /// read on and to read bundled files, so it may.
    ModelAfterPerson,
    /// A person.
    Person,
}

impl Caller {
    /// Whether skills that only a person may start are shown among the others.
    fn sees_user_only(self) -> bool {
        match self {
            Self::Model | Self::ModelAfterPerson => false,
            Self::Person => true,
        }
    }
}

/// The block of the system prompt that lists the skills a model may call; nothing where there is nothing to say.
pub fn catalogue(catalog: &Catalog, budget: &Budget) -> Option<Catalogue> {
    surface(&listings(catalog, Caller::Model), budget, Reader::Session).catalogue
}

/// Answers a call with the text that its caller reads. Blocks on I/O.
pub fn answer(library: &Library, call: &SkillCall<'_>, caller: Caller, budget: &Budget) -> String {
    let catalog = library.look();
    if let Some(words) = call.name.strip_prefix(SEARCH_PREFIX) {
        return search(&listings(&catalog, caller), words).to_string();
    }
    let Some(skill) = catalog.resolve(call.name) else {
        if let Some(skill) = withheld(&catalog, call.name) {
            return format!("{}\n", wait_for_consent(skill).to_text());
        }
        let listings = listings(&catalog, caller);
        let names: Vec<&str> = listings.iter().map(|listing| listing.name).collect();
        let nearest = nearest(call.name, &names, MAX_NEAREST);
        return Unknown { name: call.name, nearest }.to_string();
    };
    if caller == Caller::Model && skill.document.header.user_only {
        return Refusal { name: call.name, arguments: call.arguments }.to_string();
    }
    let name = spoken_name(skill);
    // Small models fill in every field of a schema, with nothing where they mean nothing.
    match call.resource.filter(|path| !path.is_empty()) {
        Some(path) => resource(library, skill, &name, path, call.offset, budget),
        None => instructions(library, skill, &name, call, budget),
    }
}

/// The name by which the next call reaches the same skill.
fn spoken_name(skill: &Skill) -> String {
    let name = skill.name().as_str();
    match skill.status {
        Status::Used => name.to_owned(),
        _ => skill.qualified_name(),
    }
}

fn listings(catalog: &Catalog, caller: Caller) -> Vec<Listing<'_>> {
    catalog
        .used()
        .filter(|skill| caller.sees_user_only() || !skill.document.header.user_only)
        .map(|skill| skill.listing(false))
        .collect()
}

fn instructions(
    library: &Library,
    skill: &Skill,
    name: &str,
    call: &SkillCall<'_>,
    budget: &Budget,
) -> String {
    let document = &skill.document;
    let body = match read_body(document, MAX_TEXT_BYTES) {
        Ok(body) => body,
        Err(refusal) => return format!("{}\n", refusal.message),
    };
    let directory = directory(document);
    let arguments = Arguments { text: call.arguments, names: &document.header.arguments };
    let expanded = substitute(&body.text, skill.dialect, &arguments, directory.as_deref());
    let manifest = library.manifest(document);
    let files: Vec<BundledFile<'_>> = manifest
        .files
        .iter()
        .filter(|file| file.path != document.skill_md)
        .map(|file| BundledFile { path: file.path.as_str(), size: file.size })
        .collect();
    let activation = Activation {
        name,
        guidance: skill.guidance(),
        directory: directory.as_deref(),
        files: &files,
        body: piece(&expanded.text, call.offset, budget.body_chars),
        shortfall: expanded.shortfall,
    };
    let cut = body.cut.map(|cut| cut_note(cut.size));
    with_notes(activation.to_string(), body.note.into_iter().chain(cut))
}

fn resource(
    library: &Library,
    skill: &Skill,
    name: &str,
    path: &str,
    offset: usize,
    budget: &Budget,
) -> String {
    let document = &skill.document;
    let opened =
        path.parse::<SkillPath>().ok().map(|path| document.folder.open(on_disk(document, &path)));
    if let Some(Err(changed @ ReadError::Changed { .. })) = opened {
        return format!("{changed}.\n");
    }
    let Some(Ok(file)) = opened else {
        let manifest = library.manifest(document);
        let paths: Vec<&str> = manifest.files.iter().map(|file| file.path.as_str()).collect();
        let nearest = nearest(path, &paths, MAX_NEAREST);
        return UnknownResource { name, path, nearest }.to_string();
    };
    let passage = match file.read(0, MAX_TEXT_BYTES) {
        Ok(chunk) => classify(chunk),
        Err(error) => return format!("The file cannot be read: {error}.\n"),
    };
    let Content::Text(text) = passage.content else {
        let path = shown::visible(path);
        return format!(
            "File `{path}` of skill `{name}` is not text; it has {} bytes.\n",
            passage.size
        );
    };
    let text = piece(&text, offset, budget.resource_chars);
    let resource = Resource { name, path, guidance: skill.guidance(), text };
    with_notes(resource.to_string(), passage.next.map(|_| cut_note(passage.size)))
}

/// The text with each note on a line of its own behind it.
fn with_notes(mut text: String, notes: impl IntoIterator<Item = String>) -> String {
    for note in notes {
        text.push_str(if text.ends_with('\n') { "\n[" } else { "\n\n[" });
        text.push_str(&note);
        text.push_str("]\n");
    }
    text
}

fn cut_note(size: u64) -> String {
    format!("The file has {size} bytes; only the first {MAX_TEXT_BYTES} can be read this way.")
}
