//! A catalogue of skills in memory.

use std::collections::BTreeMap;

use kitbag_server::{DirectoryEntry, SkillCatalogue, SkillEntry, SkillFile, SkillFiles};
use kitbag_skills::{SkillName, SkillPath};
use kitbag_tool::{BoxFuture, ListError, Page, PageRequest};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

/// The files of each skill, by path.
#[derive(Default)]
pub(crate) struct Catalogue {
    pub(crate) skills: BTreeMap<String, Skill>,
}

pub(crate) struct Skill {
    pub(crate) frontmatter: Map<String, Value>,
    pub(crate) files: BTreeMap<String, Vec<u8>>,
    pub(crate) dynamic: bool,
}

impl Catalogue {
    pub(crate) fn add(&mut self, name: &str, files: &[(&str, &str)]) -> &mut Skill {
        let Value::Object(frontmatter) = json!({ "name": name, "description": format!("About {name}."), "metadata": { "z": 1, "a": 2.10 } })
        else {
            unreachable!("an object was written")
        };
        let files = [("SKILL.md", "body")].iter().chain(files);
        let files =
            files.map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec())).collect();
        self.skills.insert(name.to_owned(), Skill { frontmatter, files, dynamic: false });
        self.skills.get_mut(name).unwrap()
    }

    fn entry(&self, name: &str) -> Option<SkillEntry> {
        let skill = self.skills.get(name)?;
        let files = if skill.dynamic {
            SkillFiles::Dynamic
        } else {
            let file = |(path, bytes): (&String, &Vec<u8>)| SkillFile {
                path: path.parse().unwrap(),
                digest: Sha256::digest(bytes).into(),
                size: bytes.len() as u64,
            };
            SkillFiles::Listed(skill.files.iter().map(file).collect())
        };
        let frontmatter = skill.frontmatter.clone();
        Some(SkillEntry { name: name.parse().unwrap(), frontmatter, files })
    }

    fn children(&self, name: &str, path: Option<&SkillPath>) -> Option<Vec<DirectoryEntry>> {
        let prefix = path.map_or(String::new(), |path| format!("{path}/"));
        let mut children = BTreeMap::new();
        for (file, bytes) in &self.skills.get(name)?.files {
            let Some(rest) = file.strip_prefix(&prefix) else { continue };
            let (path, entry) = if let Some((directory, _)) = rest.split_once('/') {
                let path: SkillPath = format!("{prefix}{directory}").parse().unwrap();
                (path.to_string(), DirectoryEntry::Directory { path })
            } else {
                let path = file.parse().unwrap();
                let (media_type, size) = ("text/markdown".to_owned(), bytes.len() as u64);
                (file.clone(), DirectoryEntry::File { path, media_type, size })
            };
            children.insert(path, entry);
        }
        (!children.is_empty()).then(|| children.into_values().collect())
    }
}

impl SkillCatalogue for Catalogue {
    fn skills<'a>(
        &'a self,
        page: PageRequest<'a>,
    ) -> BoxFuture<'a, Result<Page<SkillEntry>, ListError>> {
        let names: Vec<&String> = self.skills.keys().collect();
        let make = |name: &&String| self.entry(name).unwrap();
        let page = Page::cut(page, &names, |name| (*name).clone(), make);
        Box::pin(async { Ok(page) })
    }

    fn skill<'a>(
        &'a self,
        name: &'a SkillName,
    ) -> BoxFuture<'a, Result<Option<SkillEntry>, ListError>> {
        assert_ne!(name.as_str(), "broken", "a catalogue that panics was asked");
        Box::pin(async { Ok(self.entry(name.as_str())) })
    }

    fn directory<'a>(
        &'a self,
        name: &'a SkillName,
        path: Option<&'a SkillPath>,
        page: PageRequest<'a>,
    ) -> BoxFuture<'a, Result<Option<Page<DirectoryEntry>>, ListError>> {
        let key = |entry: &DirectoryEntry| match entry {
            DirectoryEntry::Directory { path } | DirectoryEntry::File { path, .. } => {
                path.to_string()
            }
        };
        let children = self.children(name.as_str(), path);
        let page = children.map(|children| Page::cut(page, &children, key, Clone::clone));
        Box::pin(async { Ok(page) })
    }
}
