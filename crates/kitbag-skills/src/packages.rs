//! Skills that direct dependencies of the workspace bring along (decision 2, G-3).

use std::collections::HashMap;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::file::Stamp;
use crate::origin::{Origin, Trust};
use crate::path::SkillPath;
use crate::problem::{Problem, Reason};
use crate::roots::{Layout, Reach, Root};

/// The most bytes of a `package.json` that are read.
pub(crate) const MAX_PACKAGE_JSON_BYTES: u64 = 1024 * 1024;

/// The most direct dependencies that are looked at.
pub(crate) const MAX_PACKAGES: usize = 2_000;

/// The keys of a package's `package.json` that list its skill folders.
const SKILL_KEYS: [&str; 2] = ["kitbagSkills", "gbsSkills"];

/// The keys of the workspace's `package.json` that name direct dependencies.
const DEPENDENCY_KEYS: [&str; 4] =
    ["dependencies", "devDependencies", "optionalDependencies", "peerDependencies"];

/// Finds package roots, and reads a `package.json` again only when it changed.
#[derive(Debug, Default)]
pub(crate) struct PackageRoots {
    read: HashMap<PathBuf, (Stamp, Result<Value, String>)>,
}

impl PackageRoots {
    /// The skill folders of the direct dependencies that `workspace`'s `package.json` names, sorted by package.
    pub(crate) fn roots(
        &mut self,
        workspace: &Path,
        rank: usize,
        problems: &mut Vec<Problem>,
    ) -> Vec<Root> {
        let Some(manifest) = self.manifest(&workspace.join("package.json"), problems) else {
            return Vec::new();
        };
        let mut packages: Vec<&String> = DEPENDENCY_KEYS
            .iter()
            .filter_map(|key| manifest.get(key)?.as_object())
            .flat_map(serde_json::Map::keys)
            .collect();
        packages.sort_unstable();
        packages.dedup();
        if packages.len() > MAX_PACKAGES {
            problems.push(Problem::warning(
                Reason::Package,
                workspace.join("package.json"),
                format!(
                    "it names {} packages; skills of the first {MAX_PACKAGES} are used",
                    packages.len()
                ),
            ));
            packages.truncate(MAX_PACKAGES);
        }
        let packages: Vec<String> = packages.into_iter().cloned().collect();
        let mut roots = Vec::new();
        for package in packages {
            // A name is joined to a path, so it is held to what a path inside a folder may be.
            if package.parse::<SkillPath>().is_err() {
                continue;
            }
            let folder = workspace.join("node_modules").join(&package);
            let manifest_path = folder.join("package.json");
            if let Some(manifest) = self.manifest(&manifest_path, problems) {
                for listed in skill_folders(&manifest) {
                    match package_root(&folder, &package, &listed, rank) {
                        Ok(root) => roots.push(root),
                        Err(why) => {
                            problems.push(Problem::warning(Reason::Package, &manifest_path, why));
                        }
                    }
                }
            }
        }
        roots
    }

    fn manifest(&mut self, path: &Path, problems: &mut Vec<Problem>) -> Option<Value> {
        let metadata = fs::metadata(path).ok()?;
        let stamp = Stamp::of_metadata(&metadata);
        let (_, value) = match self.read.get(path) {
            Some(read) if read.0 == stamp => read,
            _ => {
                let value = read_json(path, &metadata);
                self.read.insert(path.to_owned(), (stamp, value));
                self.read.get(path)?
            }
        };
        match value {
            Ok(value) => Some(value.clone()),
            Err(why) => {
                problems.push(Problem::warning(Reason::Package, path, why.clone()));
                None
            }
        }
    }
}

fn read_json(path: &Path, metadata: &fs::Metadata) -> Result<Value, String> {
    if !metadata.is_file() {
        return Err("it is not a regular file".to_owned());
    }
    if metadata.len() > MAX_PACKAGE_JSON_BYTES {
        return Err(format!("it is larger than {MAX_PACKAGE_JSON_BYTES} bytes"));
    }
    let mut text = String::new();
    fs::File::open(path)
        .and_then(|file| file.take(MAX_PACKAGE_JSON_BYTES).read_to_string(&mut text))
        .map_err(|error| format!("it cannot be read: {error}"))?;
    match serde_json::from_str(text.trim_start_matches('\u{feff}')) {
        Ok(value @ Value::Object(_)) => Ok(value),
        Ok(_) => Err("it is not a JSON object".to_owned()),
        Err(error) => Err(format!("it is no JSON: {error}")),
    }
}

fn skill_folders(manifest: &Value) -> Vec<String> {
    for key in SKILL_KEYS {
        match manifest.get(key) {
            Some(Value::String(folder)) => return vec![folder.clone()],
            Some(Value::Array(folders)) => {
                return folders.iter().filter_map(Value::as_str).map(str::to_owned).collect();
            }
            _ => {}
        }
    }
    Vec::new()
}

fn package_root(folder: &Path, package: &str, listed: &str, rank: usize) -> Result<Root, String> {
    let shown = listed.escape_debug();
    let relative = listed.trim_start_matches("./").trim_end_matches('/');
    let joined = match relative {
        "" | "." => folder.to_owned(),
        _ => {
            let checked: SkillPath = relative.parse().map_err(|error| format!("{error}"))?;
            folder.join(checked.as_str())
        }
    };
    let real_folder = fs::canonicalize(folder)
        .map_err(|error| format!("its folder cannot be resolved: {error}"))?;
    let real = fs::canonicalize(&joined)
        .map_err(|_| format!("`{shown}` is not a folder of the package"))?;
    if !real.starts_with(&real_folder) {
        return Err(format!("`{shown}` leads out of the package"));
    }
    if !real.is_dir() {
        return Err(format!("`{shown}` is not a folder of the package"));
    }
    Ok(Root {
        origin: Origin::Package { package: package.to_owned() },
        path: joined,
        rank,
        trust: Trust::NeedsApproval,
        layout: Layout::Collection,
        reach: Reach::Inside(vec![real_folder]),
    })
}
