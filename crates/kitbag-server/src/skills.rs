//! The Skills extension (`io.modelcontextprotocol/skills`): a catalogue's entries as the wire has them.
//!
//! A catalogue that panics fails the one request, and nothing of it goes on once the request is given up.

use std::fmt::Write as _;

use kitbag_skills::{SkillName, SkillPath, SkillUri};
use kitbag_tool::{CallContext, ListError, PageRequest, SourceId, guard};
use rmcp::ErrorData;
use rmcp::model::{
    DIRECTORY_MIME_TYPE, ListResourcesResult, ListSkillsResult, Resource, SKILL_MD, Skill,
    SkillFrontmatter, SkillResource, SkillResources,
};
use serde_json::Value;

use crate::failure;
use crate::{DirectoryEntry, SkillCatalogue, SkillEntry, SkillFiles};

/// `skills/list`. An entry that breaks a rule of the extension is left out: one would void the whole answer.
pub(crate) async fn list(
    catalogue: &dyn SkillCatalogue,
    page: PageRequest<'_>,
    context: &CallContext,
) -> Result<ListSkillsResult, ErrorData> {
    let page = ask(context, async { catalogue.skills(page).await }).await?;
    let mut result =
        ListSkillsResult::with_all_items(page.items.into_iter().filter_map(skill).collect());
    result.next_cursor = page.next;
    Ok(result)
}

/// `skills/get`. Only the canonical spelling of a URI names a skill, since hosts compare URIs as they stand.
pub(crate) async fn get(
    catalogue: &dyn SkillCatalogue,
    uri: &str,
    context: &CallContext,
) -> Result<Skill, ErrorData> {
    let unknown = || failure::not_found("Skill", uri);
    let parsed: SkillUri = uri.parse().map_err(|_| unknown())?;
    if parsed.path.as_ref().map(SkillPath::as_str) != Some(SKILL_MD) {
        return Err(unknown());
    }
    let entry = ask(context, async { catalogue.skill(&parsed.skill).await }).await?;
    entry.and_then(skill).filter(|skill| skill.uri == uri).ok_or_else(unknown)
}

/// `resources/directory/read`.
pub(crate) async fn directory(
    catalogue: &dyn SkillCatalogue,
    uri: &str,
    page: PageRequest<'_>,
    context: &CallContext,
) -> Result<ListResourcesResult, ErrorData> {
    let unknown = || failure::not_found("Directory", uri);
    let SkillUri { skill, path } = uri.parse().map_err(|_| unknown())?;
    let read = ask(context, async { catalogue.directory(&skill, path.as_ref(), page).await });
    let page = read.await?.ok_or_else(unknown)?;
    let items = page.items.into_iter().map(|entry| resource(&skill, entry)).collect();
    let mut result = ListResourcesResult::with_all_items(items);
    result.next_cursor = page.next;
    Ok(result)
}

async fn ask<T>(
    context: &CallContext,
    work: impl Future<Output = Result<T, ListError>> + Send,
) -> Result<T, ErrorData> {
    let origin: SourceId = "skills".parse().expect("it is a valid name");
    let answer = guard(&origin, context, work).await.map_err(ListError::Interrupted);
    answer.flatten().map_err(|failure| failure::list(&failure))
}

fn resource(skill: &SkillName, entry: DirectoryEntry) -> Resource {
    let (path, media_type, size) = match entry {
        DirectoryEntry::Directory { path } => (path, DIRECTORY_MIME_TYPE.to_owned(), None),
        DirectoryEntry::File { path, media_type, size } => (path, media_type, Some(size)),
    };
    let name = path.file_name().to_owned();
    let mut resource = Resource::new(SkillUri::of(skill.clone(), path).to_string(), name);
    resource.mime_type = Some(media_type);
    resource.size = size;
    resource
}

/// An entry as the wire has it; none where it breaks a rule of the extension.
fn skill(entry: SkillEntry) -> Option<Skill> {
    let SkillEntry { name, mut frontmatter, files } = entry;
    let uri = |path: SkillPath| SkillUri::of(name.clone(), path).to_string();
    let (Some(Value::String(written)), Some(Value::String(description))) =
        (frontmatter.shift_remove("name"), frontmatter.shift_remove("description"))
    else {
        tracing::warn!(skill = %name, "left out of the Skills extension: no name or no description");
        return None;
    };
    let mut head = SkillFrontmatter::new(written, description);
    head.extra = frontmatter;
    let resources = match files {
        SkillFiles::Dynamic => SkillResources::Dynamic,
        SkillFiles::Listed(files) => SkillResources::Files(
            files
                .into_iter()
                .map(|file| SkillResource::new(uri(file.path), digest(file.digest), file.size))
                .collect(),
        ),
    };
    let skill_md = SKILL_MD.parse().ok()?;
    let skill = Skill::new(uri(skill_md), head, resources);
    match skill.validate() {
        Ok(()) => Some(skill),
        Err(error) => {
            tracing::warn!(skill = %name, %error, "left out of the Skills extension");
            None
        }
    }
}

fn digest(bytes: [u8; 32]) -> String {
    bytes.iter().fold("sha256:".to_owned(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("writing to a string cannot fail");
        text
    })
}
