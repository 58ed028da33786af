//! Who may call what: the grammar of permission rules, rule sets by layer, and the decision.
//!
//! A [`Rule`] is read from text, a [`RuleSet`] is compiled once from rules with their [`Layer`] and [`Origin`], and
//! [`decide`] answers for one [`Action`] under one [`Mode`]: allow, deny or ask, and because of what. [`explain`] lists
//! every rule that hits; [`narrowest_grant`] finds the least that a person could allow to not be asked again.
//!
//! Everything here is a pure function of its arguments. Nothing reads a file, a clock or the environment, nothing asks
//! anybody, and no text of any kind panics. What cannot be judged fails closed: then rules that deny or ask hit, and rules
//! that allow do not. `docs/reference/permissions.md` has the language for people, and its table is a test.

mod action;
mod command;
mod decide;
mod mode;
mod rule;
mod set;

pub use action::{
    Action, Bases, PathError, PathSubject, Subject, SubjectKind, ToolIdentity, Traits,
};
pub use decide::{
    Because, Decision, Explanation, RuleHit, Says, Verdict, decide, explain, narrowest_grant,
    never_runs,
};
pub use mode::{Mode, ModeError};
pub use rule::{MAX_RULE_BYTES, Rule, RuleError, RuleFault, is_invisible};
pub use set::{
    Effect, Entry, KnownTool, Layer, MAX_RULES, MAX_SUBJECT_BYTES, Origin, RuleProblem, RuleSet,
    Severity, WhyNot, WorkspaceTrust,
};
