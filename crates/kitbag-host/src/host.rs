//! Everything that a command needs, put together once.

use std::path::PathBuf;
use std::sync::Arc;

use kitbag_permission::{Mode, RuleSet};
use kitbag_settings::{Diagnostic, KeyPath, Settings, Severity, bounded};
use kitbag_skills::{Places, RootChoice, RootOrder};
use kitbag_store::{SetAside, Store};
use kitbag_tool::Gate;

use crate::error::HostError;
use crate::layers::{self, Folder};
use crate::permissions;
use crate::place::{Where, Workspace};
use crate::sections::{Order, PermissionSettings, SkillSettings, sections};
use crate::state::State;
use crate::trust::{self, Kept, TrustState};

/// Settings, trust, rules, store and skills of one place.
///
/// A snapshot: it says what the files said when it was opened.
#[derive(Debug)]
pub struct Host {
    pub(crate) place: Where,
    pub(crate) workspace: Workspace,
    pub(crate) settings: Settings,
    pub(crate) folders: Vec<Folder>,
    pub(crate) kept: Vec<Kept>,
    trust: TrustState,
    rules: RuleSet,
    mode: Mode,
    skill_roots: Vec<PathBuf>,
    skill_order: RootOrder,
    warnings: Vec<Diagnostic>,
    pub(crate) state: Arc<State>,
}

impl Host {
    /// Reads the settings, looks whether the workspace is trusted, and compiles the rules.
    ///
    /// Blocks. It fails on whatever is wrong with a settings file, the project's too: leaving out what cannot be read
    /// could leave out a rule that denies.
    pub fn open(place: Where) -> Result<Self, HostError> {
        let workspace = place.workspace()?;
        let layers = layers::read(&place, &workspace)?;
        let mut told = layers.diagnostics;
        if told.iter().any(|one| one.severity == Severity::Error) {
            return Err(HostError::Settings(bounded(told)));
        }
        let state = Arc::new(State::default());
        let (trust, kept) = trust::look_up(&state, &place, &layers.folders)?;
        let settings = Settings::new(layers.sources, trust.settings());
        told.extend(settings.unknown_keys(&sections()));
        let (permissions, of_permissions) = settings.get::<PermissionSettings>();
        let (skills, of_skills) = settings.get::<SkillSettings>();
        told.extend(of_permissions);
        told.extend(of_skills);
        let (rules, of_rules) = permissions::compile(&settings, trust, place.home.as_deref());
        told.extend(of_rules);
        let skill_roots = skill_roots(&settings, &place, &mut told);
        told.sort_by_key(|one| std::cmp::Reverse(one.severity));
        let told = bounded(told);
        if told.iter().any(|one| one.severity == Severity::Error) {
            return Err(HostError::Settings(told));
        }
        let skill_order = match skills.order {
            Order::UserFirst => RootOrder::UserFirst,
            Order::ProjectFirst => RootOrder::ProjectFirst,
        };
        Ok(Self {
            place,
            workspace,
            settings,
            folders: layers.folders,
            kept,
            trust,
            rules,
            mode: permissions.mode,
            skill_roots,
            skill_order,
            warnings: told,
            state,
        })
    }

    /// Where it was opened.
    pub fn place(&self) -> &Where {
        &self.place
    }

    /// The workspace.
    pub fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    /// What all layers say.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// What of the settings does not count, or may not be meant; nothing of it is an error.
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }

    /// Whether the workspace's own settings are trusted.
    pub fn trust(&self) -> TrustState {
        self.trust
    }

    /// The permission rules of all layers.
    pub fn rules(&self) -> &RuleSet {
        &self.rules
    }

    /// What happens to a call that no rule decides.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// The gate that judges calls by the rules of all layers, under `mode`.
    pub fn gate(&self, mode: Mode) -> Gate {
        Gate::with_bases(self.rules.clone(), mode, self.bases(&self.workspace.root))
    }

    /// Where skills are looked for, as the settings and the place say.
    pub fn skill_places(&self) -> Places {
        let mut places = self.place.places();
        if let RootChoice::Default { also } = &mut places.choice {
            also.extend(self.skill_roots.iter().cloned());
        }
        places.order = self.skill_order;
        places
    }

    /// The store; made where there is none. Blocks.
    pub fn store(&self) -> Result<Arc<Store>, HostError> {
        self.state.store(&self.place)
    }

    /// The store, if there is one. Blocks.
    pub fn existing_store(&self) -> Result<Option<Arc<Store>>, HostError> {
        self.state.existing(&self.place)
    }

    /// What of the store was found damaged and set aside, once it was opened; a person should be told.
    pub fn set_aside(&self) -> Option<Arc<SetAside>> {
        self.state.set_aside()
    }
}

/// The folders of `skills.paths`; one that would be another in each working directory is an error.
fn skill_roots(settings: &Settings, place: &Where, told: &mut Vec<Diagnostic>) -> Vec<PathBuf> {
    let key = KeyPath::of(["skills", "paths"]);
    let mut roots = Vec::new();
    for item in settings.items(&sections(), &key) {
        let (kitbag_settings::Standing::Counts, Some(text)) = (item.standing, item.value.as_str())
        else {
            continue;
        };
        let refuse = |message: &str, hint: &str| {
            Diagnostic::of_value(Severity::Error, &item, &key, message, hint)
        };
        match (text.strip_prefix("~/"), &place.home) {
            (Some(below), Some(home)) => roots.push(home.join(below)),
            (Some(_), None) => told.push(refuse(
                "a path begins with `~`, and there is no home directory",
                "set HOME, or write the whole path",
            )),
            (None, _) if text.starts_with('/') => roots.push(PathBuf::from(text)),
            (None, _) => told.push(refuse(
                "a relative path would be another folder in each directory",
                "write the whole path, or one that begins with `~/`",
            )),
        }
    }
    roots.dedup();
    roots
}
