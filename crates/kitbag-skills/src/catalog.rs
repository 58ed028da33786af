//! What discovery found, merged: which skill answers to which name, and what is wrong with the rest.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::consent::Consent;
use crate::digest::DigestCache;
use crate::document::Document;
use crate::folder::Folder;
use crate::guide;
use crate::manifest::ManifestLimits;
use crate::name::{MAX_NAME_CHARS, SkillName};
use crate::origin::{Origin, Trust};
use crate::problem::{Problem, Reason};
use crate::roots::Root;
use crate::scan::{Found, Sighting};
use crate::skill::{Skill, Status};
use crate::substitute::Dialect;

/// An immutable picture of every skill there is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Catalog {
    /// Grows whenever anything in the catalogue changed.
    pub generation: u64,
    /// The roots that were searched, strongest first.
    pub roots: Vec<Root>,
    /// Every skill that was found, in the order of the roots and, within one, of the paths.
    pub skills: Vec<Arc<Skill>>,
    /// What is wrong, skills' own problems included, in the order in which it was found.
    pub problems: Vec<Problem>,
    by_name: HashMap<SkillName, usize>,
    by_alias: HashMap<String, usize>,
    /// Whether some name was found more than once, so that what is used depends on the content of files.
    contested: bool,
    /// Which of the problems repeat what nobody approved, in order.
    unspoken: Vec<usize>,
}

/// What is wrong, as it is found.
#[derive(Debug, Default)]
pub(crate) struct Told {
    pub(crate) problems: Vec<Problem>,
    unspoken: Vec<usize>,
}

impl Told {
    /// Adds what is wrong with something that is the user's own, or approved.
    pub(crate) fn add(&mut self, problems: impl IntoIterator<Item = Problem>) {
        self.problems.extend(problems);
    }

    /// Adds what is wrong with something that nobody approved, in whose names and texts anybody may speak.
    pub(crate) fn add_unspoken(&mut self, problems: impl IntoIterator<Item = Problem>) {
        let before = self.problems.len();
        self.problems.extend(problems);
        self.unspoken.extend(before..self.problems.len());
    }
}

/// Which skills a permission rule refuses, whoever asks (fault row 38): they are listed as denied and used by nobody.
#[derive(Clone, Default)]
pub struct Denials(Option<Arc<DeniedBy>>);

/// The rule that denies a skill, if one does.
type DeniedBy = dyn Fn(&SkillName) -> Option<String> + Send + Sync;

impl Denials {
    /// Refuses the skills for which `by` gives a rule.
    pub fn new(by: impl Fn(&SkillName) -> Option<String> + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(by)))
    }

    fn of(&self, name: &SkillName) -> Option<String> {
        self.0.as_ref().and_then(|by| by(name))
    }
}

impl std::fmt::Debug for Denials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Denials").field(&self.0.is_some()).finish()
    }
}

/// How many skills are used at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SkillLimit(pub usize);

impl Catalog {
    /// The skills in use, in the order of discovery.
    pub fn used(&self) -> impl Iterator<Item = &Arc<Skill>> {
        self.skills.iter().filter(|skill| skill.status == Status::Used)
    }

    /// The skill that is used under `name`, which is a directory's name.
    pub fn get(&self, name: &str) -> Option<&Arc<Skill>> {
        self.by_name.get(name).and_then(|index| self.skills.get(*index))
    }

    /// The skill that answers to what somebody said: a name, an alias, or `origin:name`.
    pub fn resolve(&self, spoken: &str) -> Option<&Arc<Skill>> {
        let aliased = || self.by_alias.get(spoken).and_then(|index| self.skills.get(*index));
        self.get(spoken).or_else(aliased).or_else(|| self.qualified(spoken))
    }

    fn qualified(&self, spoken: &str) -> Option<&Arc<Skill>> {
        let (label, name) = spoken.rsplit_once(':')?;
        let mut matching = self.skills.iter().filter(|skill| {
            skill.is_reachable() && skill.name().as_str() == name && skill.origin.label() == label
        });
        let first = matching.next()?;
        // Two of one label can only be of one rank; then neither is meant.
        matching.next().is_none().then_some(first)
    }

    /// What is wrong and may be told to a model, and how much more there is: names and texts of what nobody approved
    /// reach no model in the guise of a problem either.
    pub fn problems_for_models(&self) -> (impl Iterator<Item = &Problem>, usize) {
        let spoken =
            |(index, problem)| self.unspoken.binary_search(&index).is_err().then_some(problem);
        (self.problems.iter().enumerate().filter_map(spoken), self.unspoken.len())
    }

    /// Whether some name was found more than once.
    pub(crate) fn is_contested(&self) -> bool {
        self.contested
    }

    /// The same catalogue, whatever its generation.
    pub(crate) fn says_the_same(&self, other: &Self) -> bool {
        self.roots == other.roots && self.skills == other.skills && self.problems == other.problems
    }
}

/// Whether the skills inside the binary take part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bundled {
    Included,
    Left,
}

/// What of all that was found may be used.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Usable<'a> {
    pub(crate) limit: SkillLimit,
    pub(crate) denials: &'a Denials,
}

/// Decides which skill answers to which name (decisions 1 and 2).
pub(crate) fn merge(
    roots: &[Root],
    sightings: &[Arc<Sighting>],
    mut told: Told,
    bundled: Bundled,
    usable: Usable<'_>,
    digests: &mut DigestCache,
    consent: impl FnOnce(&mut [Skill]),
) -> Catalog {
    let mut skills = distinct(roots, sightings, bundled);
    consent(&mut skills);
    let contested = settle_names(&mut skills, &mut told.problems, digests);
    for skill in skills.iter_mut().filter(|skill| skill.is_reachable()) {
        if let Some(by) = usable.denials.of(skill.name()) {
            skill.status = Status::Denied { by };
        }
    }
    apply_limit(&mut skills, usable.limit, &mut told.problems);
    let by_name = skills
        .iter()
        .enumerate()
        .filter(|(_, skill)| skill.status == Status::Used)
        .map(|(index, skill)| (skill.name().clone(), index))
        .collect();
    let by_alias = settle_aliases(&mut skills, &by_name, &mut told.problems);
    for skill in &skills {
        let problems = skill.problems().iter().cloned();
        if skill.consent.is_given() { told.add(problems) } else { told.add_unspoken(problems) }
    }
    let skills = skills.into_iter().map(Arc::new).collect();
    let Told { problems, unspoken } = told;
    let roots = roots.to_vec();
    Catalog { generation: 0, roots, skills, problems, by_name, by_alias, contested, unspoken }
}

/// One skill for each real directory, however often it was reached.
fn distinct(roots: &[Root], sightings: &[Arc<Sighting>], bundled: Bundled) -> Vec<Skill> {
    let mut skills: Vec<Skill> = Vec::new();
    let mut by_directory: HashMap<&Path, usize> = HashMap::new();
    for (root, sighting) in roots.iter().zip(sightings) {
        for Found { path, real, document } in &sighting.found {
            let dialect = dialect(&[path, real]);
            if let Some(skill) =
                by_directory.get(real.as_path()).and_then(|index| skills.get_mut(*index))
            {
                if root.trust == Trust::Trusted {
                    skill.trust = Trust::Trusted;
                }
                if dialect == Dialect::Claude {
                    skill.dialect = dialect;
                }
                if !skill.found_at.contains(path) {
                    skill.found_at.push(path.clone());
                }
                continue;
            }
            by_directory.insert(real, skills.len());
            skills.push(Skill {
                document: Arc::clone(document),
                origin: root.origin.clone(),
                root: root.path.clone(),
                rank: root.rank,
                trust: root.trust,
                consent: Consent::NotNeeded,
                consent_key: None,
                found_at: vec![path.clone()],
                alias: None,
                dialect,
                status: Status::Used,
            });
        }
    }
    if bundled == Bundled::Included {
        let rank = skills.iter().map(|skill| skill.rank + 1).max().unwrap_or(0);
        skills.push(bundled_skill(guide::document(), rank));
    }
    skills
}

fn bundled_skill(document: Arc<Document>, rank: usize) -> Skill {
    Skill {
        document,
        origin: Origin::Bundled,
        root: PathBuf::new(),
        rank,
        trust: Trust::Trusted,
        consent: Consent::NotNeeded,
        consent_key: None,
        found_at: Vec::new(),
        alias: None,
        dialect: Dialect::Kitbag,
        status: Status::Used,
    }
}

/// The dialect of a skill that lies at, or is reached by, these paths.
fn dialect(paths: &[&Path]) -> Dialect {
    let below_claude = |path: &&Path| {
        let names: Vec<_> = path.iter().collect();
        names.windows(2).any(|pair| pair[0] == ".claude" && pair[1] == "skills")
    };
    if paths.iter().any(below_claude) { Dialect::Claude } else { Dialect::Kitbag }
}

/// Decides every name; tells whether one was found more than once.
fn settle_names(
    skills: &mut Vec<Skill>,
    problems: &mut Vec<Problem>,
    digests: &mut DigestCache,
) -> bool {
    for skill in skills.iter_mut() {
        skill.status = match skill.document.fault() {
            Some(fault) => Status::Invalid { reason: fault.reason, detail: fault.detail.clone() },
            None if skill.consent.is_given() => Status::Used,
            None => Status::Withheld,
        };
    }
    let mut by_name: HashMap<&SkillName, Vec<usize>> = HashMap::new();
    for (index, skill) in skills.iter().enumerate() {
        by_name.entry(skill.name()).or_default().push(index);
    }
    let mut contested: Vec<Vec<usize>> =
        by_name.into_values().filter(|indexes| indexes.len() > 1).collect();
    contested.sort_unstable();
    let is_contested = !contested.is_empty();
    let mut copies = HashSet::new();
    for mut indexes in contested {
        indexes.sort_by_key(|index| skills[*index].rank);
        fold_copies(skills, &mut indexes, &mut copies, digests);
        settle_name(skills, &indexes, problems);
    }
    let mut index = 0;
    skills.retain(|_| {
        index += 1;
        !copies.contains(&(index - 1))
    });
    is_contested
}

/// Equal digest is one skill: the copies go, and the strongest keeps their paths.
///
/// Where a copy may be used and a stronger one may not, the copy takes its place: it is the one whose folder nobody else
/// can change unseen.
fn fold_copies(
    skills: &mut [Skill],
    indexes: &mut Vec<usize>,
    copies: &mut HashSet<usize>,
    digests: &mut DigestCache,
) {
    let mut kept: Vec<usize> = Vec::new();
    for index in std::mem::take(indexes) {
        let folder = &skills[index].document.folder;
        let same = kept.iter().copied().find(|other| {
            skills[*other].document.size == skills[index].document.size
                && same_content(&skills[*other].document.folder, folder, digests)
        });
        match same {
            None => kept.push(index),
            Some(other) => {
                let copy = skills[index].clone();
                let skill = &mut skills[other];
                if copy.status == Status::Used && skill.status == Status::Withheld {
                    let withheld = std::mem::replace(skill, copy);
                    skill.rank = withheld.rank;
                    skill.found_at.extend(withheld.found_at);
                } else {
                    skill.found_at.extend(copy.found_at);
                }
                copies.insert(index);
            }
        }
    }
    *indexes = kept;
}

/// Whether both folders hold the same; content that cannot be hashed is the same as nothing.
fn same_content(one: &Folder, other: &Folder, digests: &mut DigestCache) -> bool {
    let mut digest = |folder: &Folder| {
        let manifest = folder.manifest(&ManifestLimits::STANDARD);
        digests.digests(folder, &manifest).ok().map(|digests| digests.skill)
    };
    digest(one).is_some_and(|digest_of_one| digest(other) == Some(digest_of_one))
}

/// The strongest usable one wins; two of the same rank leave the name to nobody.
fn settle_name(skills: &mut [Skill], indexes: &[usize], problems: &mut Vec<Problem>) {
    let usable: Vec<usize> =
        indexes.iter().copied().filter(|index| skills[*index].status == Status::Used).collect();
    let Some(&strongest) = usable.first() else { return };
    let rank = skills[strongest].rank;
    let by = skills[strongest].qualified_name();
    let (first, weaker): (Vec<usize>, Vec<usize>) =
        usable.into_iter().partition(|index| skills[*index].rank == rank);
    for index in weaker {
        skills[index].status = Status::Shadowed { by: by.clone() };
    }
    if first.len() < 2 {
        return;
    }
    let directories: Vec<PathBuf> =
        first.iter().map(|index| skills[*index].found_at[0].clone()).collect();
    let listed: Vec<String> =
        directories.iter().map(|directory| format!("`{}`", directory.display())).collect();
    problems.push(
        Problem::error(
            Reason::DuplicateName,
            &directories[0],
            format!(
                "`{}` is the name of {} directories, so none of them is used: {}",
                skills[strongest].name(),
                directories.len(),
                listed.join(", ")
            ),
        )
        .hint("rename or remove all but one"),
    );
    for index in first {
        skills[index].status = Status::Disputed { directories: directories.clone() };
    }
}

fn apply_limit(skills: &mut [Skill], SkillLimit(limit): SkillLimit, problems: &mut Vec<Problem>) {
    let mut over = 0_usize;
    let used = skills.iter_mut().filter(|skill| skill.status == Status::Used);
    let mut root = None;
    for skill in used.skip(limit) {
        over += 1;
        root.get_or_insert_with(|| skill.root.clone());
        skill.status = Status::OverLimit;
    }
    if let Some(root) = root {
        problems.push(
            Problem::error(
                Reason::SkillLimit,
                root,
                format!("{limit} skills are used at most; {over} more were found and are left out"),
            )
            .hint("raise the limit, or serve fewer roots"),
        );
    }
}

fn settle_aliases(
    skills: &mut [Skill],
    by_name: &HashMap<SkillName, usize>,
    problems: &mut Vec<Problem>,
) -> HashMap<String, usize> {
    let mut by_alias = HashMap::new();
    for (index, skill) in skills.iter_mut().enumerate() {
        let Some(written) = &skill.document.header.name else { continue };
        let usable = !written.is_empty()
            && written.chars().count() <= MAX_NAME_CHARS
            && !written.chars().any(char::is_control);
        if skill.status != Status::Used || written == skill.name().as_str() || !usable {
            continue;
        }
        if by_name.contains_key(written.as_str()) || by_alias.contains_key(written) {
            let path = skill.found_at.first().cloned().unwrap_or_default();
            problems.push(Problem::note(
                Reason::AliasTaken,
                path,
                format!(
                    "another skill answers to `{written}`; this one answers to `{}` alone",
                    skill.name()
                ),
            ));
            continue;
        }
        skill.alias = Some(written.clone());
        by_alias.insert(written.clone(), index);
    }
    by_alias
}
