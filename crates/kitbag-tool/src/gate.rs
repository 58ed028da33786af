//! The rules and the mode that hold at one moment.

use std::sync::{Arc, Mutex, PoisonError};

use kitbag_permission::{Bases, Mode, Rule, RuleSet};
use tokio::sync::watch;

/// The rules and the mode that calls are judged by. A handle: clones share them.
#[derive(Debug, Clone)]
pub struct Gate(Arc<Inner>);

/// What a gate judges by at one moment.
#[derive(Debug, Clone)]
pub struct Policy {
    /// The rules.
    pub rules: RuleSet,
    /// What happens where no rule decides.
    pub mode: Mode,
}

#[derive(Debug)]
struct Inner {
    policy: watch::Sender<Arc<Policy>>,
    workspace: Option<Box<str>>,
    home: Option<Box<str>>,
}

impl Gate {
    /// A gate with these rules in this mode.
    pub fn new(rules: RuleSet, mode: Mode) -> Self {
        Self::with_bases(rules, mode, Bases { workspace: None, home: None })
    }

    /// A gate whose rules about files start from these directories.
    pub fn with_bases(rules: RuleSet, mode: Mode, bases: Bases<'_>) -> Self {
        Self(Arc::new(Inner {
            policy: watch::Sender::new(Arc::new(Policy { rules, mode })),
            workspace: bases.workspace.map(Box::from),
            home: bases.home.map(Box::from),
        }))
    }

    /// A gate that lets everything run, for a program whose caller holds the gate.
    pub fn open() -> Self {
        Self::new(RuleSet::empty(), Mode::FullAuto)
    }

    /// What holds at this moment.
    pub fn policy(&self) -> Arc<Policy> {
        self.0.policy.borrow().clone()
    }

    /// Adds a rule that allows, until the policy is replaced.
    pub fn grant(&self, rule: Rule) {
        self.0.policy.send_modify(|policy| *policy = policy.granting(rule));
    }

    /// Puts other rules and another mode in place, and forgets what was granted.
    pub fn replace(&self, rules: RuleSet, mode: Mode) {
        self.0.policy.send_replace(Arc::new(Policy { rules, mode }));
    }

    /// Where paths in rules start from.
    pub fn bases(&self) -> Bases<'_> {
        Bases { workspace: self.0.workspace.as_deref(), home: self.0.home.as_deref() }
    }

    /// The policy at each moment from now on.
    pub(crate) fn watch(&self) -> watch::Receiver<Arc<Policy>> {
        self.0.policy.subscribe()
    }
}

impl Policy {
    fn granting(&self, rule: Rule) -> Arc<Self> {
        Arc::new(Self { rules: self.rules.granting(rule), mode: self.mode })
    }
}

/// A gate as the callers of one view see it: what is granted there holds there alone.
#[derive(Debug)]
pub(crate) struct Session {
    of: Gate,
    state: Mutex<Granted>,
}

#[derive(Debug)]
struct Granted {
    /// What the gate said when `effective` was made.
    base: Arc<Policy>,
    rules: Vec<Rule>,
    effective: Arc<Policy>,
}

impl Session {
    pub(crate) fn new(of: Gate) -> Self {
        let base = of.policy();
        let state = Granted { effective: base.clone(), base, rules: Vec::new() };
        Self { of, state: Mutex::new(state) }
    }

    pub(crate) fn gate(&self) -> &Gate {
        &self.of
    }

    pub(crate) fn policy(&self) -> Arc<Policy> {
        let base = self.of.policy();
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if !Arc::ptr_eq(&base, &state.base) {
            state.rebase(base);
        }
        state.effective.clone()
    }

    pub(crate) fn grant(&self, rule: Rule) {
        let base = self.of.policy();
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.rules.push(rule);
        state.rebase(base);
    }
}

impl Granted {
    fn rebase(&mut self, base: Arc<Policy>) {
        let grant = |policy: Arc<Policy>, rule: &Rule| policy.granting(rule.clone());
        self.effective = self.rules.iter().fold(base.clone(), grant);
        self.base = base;
    }
}
