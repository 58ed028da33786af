//! One resource a file: `skill://<name>/<path>`.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use kitbag_skills::{
    ManifestFile, ReadError as OpenError, SKILL_MD, Skill, SkillName, SkillPath, SkillUri,
    media_type,
};
use kitbag_tool::{
    Fields, ListError, Page, PageRequest, ReadError, Refusal, ResourceBody, ResourceContents,
    ResourceSpec,
};

use super::{MAX_RESOURCE_BYTES, Shelf, on_disk};

/// Where a resource stands in the list: every SKILL.md first, so that no limit cuts a skill off.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    SkillMd(SkillName),
    File(SkillName, SkillPath),
}

/// Where a page ended.
///
/// How many were given so far travels along, so that a page costs what is on it, not what came before, and the limit
/// holds for one walk whatever comes and goes meanwhile.
#[derive(Debug)]
struct Cursor {
    place: Place,
    given: usize,
}

impl Cursor {
    fn parse(text: &str) -> Option<Self> {
        let (given, rest) = text.split_once('/')?;
        let (kind, rest) = rest.split_once('/')?;
        let place = match kind {
            "skill" => Place::SkillMd(rest.parse().ok()?),
            "file" => {
                let (name, path) = rest.split_once('/')?;
                Place::File(name.parse().ok()?, path.parse().ok()?)
            }
            _ => return None,
        };
        Some(Self { place, given: given.parse().ok()? })
    }

    fn to_text(&self) -> String {
        match &self.place {
            Place::SkillMd(name) => format!("{}/skill/{name}", self.given),
            Place::File(name, path) => format!("{}/file/{name}/{path}", self.given),
        }
    }
}

pub(super) fn page(
    shelf: &Shelf,
    request: PageRequest<'_>,
) -> Result<Page<ResourceSpec>, ListError> {
    let (after, given) = match request.after.map(Cursor::parse) {
        None => (None, 0),
        Some(None) => return Err(ListError::BadCursor),
        Some(Some(Cursor { place, given })) => (Some(place), given),
    };
    let catalog = shelf.library.look();
    let skills: BTreeMap<&SkillName, &Arc<Skill>> =
        catalog.used().map(|skill| (skill.name(), skill)).collect();
    let rest = rest(shelf, &skills, after.as_ref());
    let left = shelf.limits.resources.saturating_sub(given);
    let mut items = Vec::new();
    let mut last = None;
    let mut more = false;
    for (place, spec) in rest {
        if items.len() == request.limit.get().min(left) {
            more = true;
            break;
        }
        items.push(spec);
        last = Some(place);
    }
    let is_cut = more && items.len() == left;
    if is_cut || !more {
        shelf.resources_cut.store(is_cut, Ordering::Relaxed);
    }
    let given = given.saturating_add(items.len());
    let next = last.filter(|_| more && !is_cut);
    Ok(Page { next: next.map(|place| Cursor { place, given }.to_text()), items })
}

/// The list from behind `after` on; lists the files of a skill only when it comes to them.
fn rest<'a>(
    shelf: &'a Shelf,
    skills: &'a BTreeMap<&'a SkillName, &'a Arc<Skill>>,
    after: Option<&'a Place>,
) -> impl Iterator<Item = (Place, ResourceSpec)> + 'a {
    let is_behind = move |place: &Place| after.is_none_or(|after| place > after);
    let skill_mds = skills.iter().filter_map(move |(name, skill)| {
        let place = Place::SkillMd((*name).clone());
        is_behind(&place).then(|| (place, skill_md(skill)))
    });
    let from = match after {
        Some(Place::File(name, _)) => Some(name),
        Some(Place::SkillMd(_)) | None => None,
    };
    let files = skills
        .iter()
        .filter(move |(name, _)| from.is_none_or(|from| **name >= from))
        .flat_map(move |(name, skill)| {
            let manifest = shelf.library.manifest(&skill.document);
            let listed = manifest.files.iter().filter(|file| file.path != skill.document.skill_md);
            let behind = listed.filter_map(|listed| {
                let place = Place::File((*name).clone(), listed.path.clone());
                is_behind(&place).then(|| (place, file(name, listed)))
            });
            behind.collect::<Vec<_>>()
        });
    skill_mds.chain(files)
}

fn file(skill: &SkillName, file: &ManifestFile) -> ResourceSpec {
    let uri = SkillUri::of(skill.clone(), file.path.clone()).to_string();
    ResourceSpec {
        title: Some(format!("{skill}: {}", file.path)),
        mime_type: Some(media_type(file.path.as_str()).to_owned()),
        size: Some(file.size),
        ..ResourceSpec::new(uri.clone(), uri)
    }
}

/// The resource of a SKILL.md, which is called as the skill is, as the Skills extension of MCP asks.
fn skill_md(skill: &Skill) -> ResourceSpec {
    let path = SKILL_MD.parse().expect("the name is a path inside a skill");
    let uri = SkillUri::of(skill.name().clone(), path).to_string();
    ResourceSpec {
        title: Some(format!("{}: {}", skill.name(), skill.document.skill_md)),
        description: skill.document.header.description.clone(),
        mime_type: Some("text/markdown".to_owned()),
        size: Some(skill.document.size),
        ..ResourceSpec::new(uri, skill.name().as_str())
    }
}

pub(super) fn read(shelf: &Shelf, uri: &str) -> Result<Vec<ResourceContents>, ReadError> {
    let not_found = || ReadError::NotFound { uri: uri.to_owned() };
    let SkillUri { skill: name, path: Some(path) } = uri.parse().map_err(|_| not_found())? else {
        return Err(not_found());
    };
    let catalog = shelf.library.look();
    let document = &catalog.get(name.as_str()).ok_or_else(not_found)?.document;
    let path = on_disk(document, &path);
    let file = document.folder.open(path).map_err(|error| match error {
        OpenError::Denied(_) | OpenError::Io { .. } | OpenError::Changed { .. } => {
            Refusal::new(format!("{error}.")).into()
        }
        OpenError::FolderUnreadable(_)
        | OpenError::NotAFile(_)
        | OpenError::Outside(_)
        | OpenError::NotRegular(_)
        | OpenError::LeftOut(_) => not_found(),
    })?;
    if file.size() > MAX_RESOURCE_BYTES {
        let size = file.size();
        return Err(Refusal::new(format!(
            "The file has {size} bytes; a resource is read whole, up to {MAX_RESOURCE_BYTES} bytes."
        ))
        .hint("Read it in pieces with skill_file.")
        .into());
    }
    let limit = usize::try_from(MAX_RESOURCE_BYTES).unwrap_or(usize::MAX);
    let chunk = file
        .read(0, limit)
        .map_err(|error| Refusal::new(format!("The file cannot be read: {error}.")))?;
    if chunk.truncated {
        return Err(Refusal::new("The file grew past what is read whole while it was read.").into());
    }
    let bytes = chunk.bytes;
    let body = match String::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => ResourceBody::Text(text),
        Ok(text) => ResourceBody::Blob(text.into_bytes()),
        Err(error) => ResourceBody::Blob(error.into_bytes()),
    };
    Ok(vec![ResourceContents {
        uri: uri.to_owned(),
        mime_type: Some(media_type(path.as_str()).to_owned()),
        body,
        extra: Fields::default(),
    }])
}
