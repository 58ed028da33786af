//! From the paths of a plan to what is mounted where.

use std::collections::{BTreeMap, VecDeque};
use std::ffi::OsString;
use std::io;
use std::path::{Component, Path, PathBuf};

use super::{At, Failure};
use crate::plan::{Plan, Stage};

/// The most links that are followed on the way to a granted path, as many as the kernel follows.
const MAX_LINKS: usize = 40;

/// One thing to mount.
#[derive(Debug)]
pub(super) struct Grant {
    /// Where it is, without a link on the way.
    pub(super) path: PathBuf,
    pub(super) directory: bool,
    pub(super) write: bool,
    pub(super) execute: bool,
    pub(super) content: Content,
}

/// What is to be found at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Content {
    /// What is there outside.
    Same,
    /// Nothing, and room in memory for at most so many bytes, if that is bounded.
    Room(Option<u64>),
}

/// A link, and what it says.
type Link = (PathBuf, PathBuf);

/// Finds what to mount, parents before what lies below them, and the links by which it is reached.
pub(super) fn grants(plan: &Plan) -> Result<(Vec<Grant>, Vec<Link>), Failure> {
    let mut grants: BTreeMap<PathBuf, Grant> = BTreeMap::new();
    let mut links = Vec::new();
    let mut add = |path: &Path, write: bool, execute: bool, content: Content| {
        let path = resolve(path, &mut links).at_path(Stage::Grant, path)?;
        let kind = std::fs::symlink_metadata(&path).at_path(Stage::Grant, &path)?.file_type();
        if !kind.is_dir() && !kind.is_file() {
            return Err(
                Failure::said(Stage::Grant, "neither a file nor a directory".to_owned()).on(&path)
            );
        }
        let directory = kind.is_dir();
        let new = Grant {
            path: path.clone(),
            directory,
            write: false,
            execute: false,
            content: Content::Same,
        };
        let grant = grants.entry(path).or_insert(new);
        grant.write |= write;
        grant.execute |= execute;
        if grant.content == Content::Same {
            grant.content = content;
        }
        Ok(())
    };
    for path in &plan.read {
        add(path, false, false, Content::Same)?;
    }
    for path in &plan.execute {
        add(path, false, true, Content::Same)?;
    }
    for path in &plan.write {
        add(path, true, false, Content::Same)?;
    }
    if let Some((path, bytes)) = &plan.scratch {
        add(path, true, false, Content::Room(*bytes))?;
    }
    Ok((without_covered(grants.into_values()), links))
}

/// Leaves out what lies below something that is granted with the same rights or more. Parents come first.
fn without_covered(grants: impl Iterator<Item = Grant>) -> Vec<Grant> {
    let mut kept: Vec<Grant> = Vec::new();
    for grant in grants {
        // The nearest one decides: that is the mount which would be covered.
        let above = kept.iter().rfind(|above| grant.path.starts_with(&above.path));
        let covered = above.is_some_and(|above| {
            above.content == Content::Same
                && grant.content == Content::Same
                && above.write == grant.write
                && above.execute >= grant.execute
        });
        if !covered {
            kept.push(grant);
        }
    }
    kept
}

/// Follows a path link by link and notes each.
fn resolve(path: &Path, links: &mut Vec<Link>) -> io::Result<PathBuf> {
    let mut left: VecDeque<OsString> = parts(path);
    let mut at = PathBuf::from("/");
    let mut followed = 0;
    while let Some(part) = left.pop_front() {
        if part == ".." {
            at.pop();
            continue;
        }
        let next = at.join(part);
        match std::fs::read_link(&next) {
            Ok(to) => {
                followed += 1;
                if followed > MAX_LINKS {
                    return Err(io::Error::from_raw_os_error(libc::ELOOP));
                }
                if to.is_absolute() {
                    at = PathBuf::from("/");
                }
                let mut first = parts(&to);
                first.append(&mut left);
                left = first;
                if !links.iter().any(|(link, _)| *link == next) {
                    links.push((next, to));
                }
            }
            Err(error) if error.raw_os_error() == Some(libc::EINVAL) => at = next,
            Err(error) => return Err(error),
        }
    }
    Ok(at)
}

fn parts(path: &Path) -> VecDeque<OsString> {
    path.components()
        .filter_map(|part| match part {
            Component::Normal(name) => Some(name.to_owned()),
            Component::ParentDir => Some("..".into()),
            Component::CurDir | Component::RootDir | Component::Prefix(_) => None,
        })
        .collect()
}
