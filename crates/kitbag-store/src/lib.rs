//! What must outlive a process: approvals of skills, trust of workspaces, consents to MCP servers, pins of what
//! those say about themselves, and the audit log.
//!
//! It is one `SQLite` file in WAL mode that several processes share, and this is the only crate that knows so. It keeps
//! what it is given: what a digest covers, when to ask, and what a rule means is decided elsewhere, and the time is
//! the caller's. No table has a column for a secret: of arguments there is a hash, of output a size.
//!
//! * **Acknowledged means flushed.** A function that writes returns when the record is on the disk.
//! * **Nothing is emptied in silence.** A damaged file is moved aside at the next opening, and [`Opened`] says so. A
//!   newer schema is refused, an older one migrated in one transaction.
//! * **Nobody else gives consent.** The directory has mode 0700 and the files 0600; what others may write is refused.
//!
//! Open it once with [`Store::open`], where blocking is allowed; give the calls to an [`AuditWriter`].

mod audit;
mod digest;
mod error;
mod files;
mod open;
mod pins;
mod place;
mod schema;
mod servers;
mod skills;
mod store;
mod timestamp;
mod wire;
mod workspaces;

pub use audit::{
    AuditEntry, AuditError, AuditHealth, AuditId, AuditPage, AuditRecord, AuditWriter, Decision,
    MAX_AUDIT_PAGE, MAX_AUDIT_TEXT_BYTES, MAX_QUEUED_CALLS, MAX_QUEUED_DECISIONS, Outcome,
    Recorded,
};
pub use digest::{Digest, DigestTextError};
pub use error::{EngineError, Exposure, StoreError};
pub use open::{Damage, SetAside, StoreOptions};
pub use pins::{FirstMeeting, MAX_PINNED_BYTES, Pin, Scope, ServerKey};
pub use schema::SCHEMA_VERSION;
pub use servers::{ServerConsent, Verdict};
pub use skills::{ApprovedSkill, Removal, Reviewed, SkillApproval, SkillKey};
pub use store::{Listed, MAX_LISTED, MAX_NAME_BYTES, MAX_SHOWN_BYTES, Opened, Store, StoreMark};
pub use timestamp::Timestamp;
pub use workspaces::WorkspaceTrust;
