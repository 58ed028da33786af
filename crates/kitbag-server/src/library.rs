//! The skills of a library, as the Skills extension shows them.

use std::sync::Arc;

use kitbag_skills::{
    Child, DigestError, Document, Library, MAX_EXTENSION_BYTES, MAX_EXTENSION_FILES, Skill,
    SkillName, SkillPath, extension_fault, media_type,
};
use kitbag_tool::{BoxFuture, ListError, Page, PageRequest, Refusal};
use tokio::task::spawn_blocking;

use crate::{DirectoryEntry, SkillCatalogue, SkillEntry, SkillFile, SkillFiles};

/// How often a skill is listed anew that changes while it is hashed, before its content counts as changing.
const MAX_TRIES: usize = 3;

/// The skills of a library that the extension may list (decision 21).
#[derive(Debug, Clone)]
pub struct LibrarySkills {
    library: Arc<Library>,
}

impl LibrarySkills {
    /// The skills of `library`, looked at anew for every answer.
    pub fn new(library: Arc<Library>) -> Self {
        Self { library }
    }

    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Library) -> T + Send + 'static,
    ) -> Result<T, ListError> {
        let library = Arc::clone(&self.library);
        spawn_blocking(move || work(&library))
            .await
            .map_err(|error| Refusal::new(format!("The skills could not be read: {error}.")).into())
    }
}

impl SkillCatalogue for LibrarySkills {
    fn skills<'a>(
        &'a self,
        page: PageRequest<'a>,
    ) -> BoxFuture<'a, Result<Page<SkillEntry>, ListError>> {
        let (after, limit) = (page.after.map(str::to_owned), page.limit);
        Box::pin(self.blocking(move |library| {
            let catalog = library.look();
            let mut skills: Vec<&Skill> = catalog
                .used()
                .map(AsRef::as_ref)
                .filter(|skill| extension_fault(&skill.document).is_none())
                .collect();
            skills.sort_by(|a, b| a.name().cmp(b.name()));
            let request = PageRequest { after: after.as_deref(), limit };
            let key = |skill: &&Skill| skill.name().to_string();
            Page::cut(request, &skills, key, |skill| entry(library, &skill.document))
        }))
    }

    fn skill<'a>(
        &'a self,
        name: &'a SkillName,
    ) -> BoxFuture<'a, Result<Option<SkillEntry>, ListError>> {
        let name = name.clone();
        Box::pin(self.blocking(move |library| {
            let catalog = library.look();
            let skill = listed(&catalog, &name)?;
            Some(entry(library, &skill.document))
        }))
    }

    fn directory<'a>(
        &'a self,
        name: &'a SkillName,
        path: Option<&'a SkillPath>,
        page: PageRequest<'a>,
    ) -> BoxFuture<'a, Result<Option<Page<DirectoryEntry>>, ListError>> {
        let (name, path) = (name.clone(), path.cloned());
        let (after, limit) = (page.after.map(str::to_owned), page.limit);
        Box::pin(self.blocking(move |library| {
            let catalog = library.look();
            let skill = listed(&catalog, &name)?;
            let manifest = library.manifest(&skill.document);
            let children = manifest.list_directory(path.as_ref().map_or("", SkillPath::as_str))?;
            let request = PageRequest { after: after.as_deref(), limit };
            let key = |child: &Child<'_>| child.path().to_string();
            Some(Page::cut(request, &children, key, |child| match child {
                Child::Directory(path) => DirectoryEntry::Directory { path: (*path).clone() },
                Child::File(file) => DirectoryEntry::File {
                    path: file.path.clone(),
                    media_type: media_type(file.path.as_str()).to_owned(),
                    size: file.size,
                },
            }))
        }))
    }
}

fn listed<'a>(catalog: &'a kitbag_skills::Catalog, name: &SkillName) -> Option<&'a Skill> {
    let skill = catalog.get(name.as_str())?;
    extension_fault(&skill.document).is_none().then_some(skill)
}

fn entry(library: &Library, document: &Document) -> SkillEntry {
    SkillEntry {
        name: document.name.clone(),
        frontmatter: document.header.wire.clone(),
        files: files(library, document),
    }
}

/// The digests, as far as every host must be able to take them, and as long as the files hold still.
fn files(library: &Library, document: &Document) -> SkillFiles {
    for _ in 0..MAX_TRIES {
        let manifest = library.manifest(document);
        let small = manifest.complete
            && manifest.files.len() <= MAX_EXTENSION_FILES
            && manifest.bytes() <= MAX_EXTENSION_BYTES;
        if !small {
            return SkillFiles::Dynamic;
        }
        match library.digests(document) {
            Ok(digests) => {
                let file = |file: kitbag_skills::FileDigest| SkillFile {
                    path: file.path,
                    digest: *file.digest.as_bytes(),
                    size: file.size,
                };
                return SkillFiles::Listed(digests.files.into_iter().map(file).collect());
            }
            Err(DigestError::Changed(_)) => {}
            Err(_) => return SkillFiles::Dynamic,
        }
    }
    SkillFiles::Dynamic
}
