//! The approvals of the store, as a library asks for them.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use kitbag_skills::{Approvals, ConsentKey, Consents, Digest};
use kitbag_store::{ApprovedSkill, StoreMark};

use crate::error::HostError;
use crate::host::Host;
use crate::place::Where;
use crate::state::State;

/// The approvals that the store has, read again only when somebody wrote to it.
///
/// While there is no store there is no approval, and none is made by asking.
#[derive(Debug)]
pub(crate) struct StoredConsents {
    state: Arc<State>,
    place: Where,
    latest: Mutex<Option<Latest>>,
}

#[derive(Debug)]
struct Latest {
    workspace: PathBuf,
    mark: StoreMark,
    approvals: Arc<Approvals>,
}

impl StoredConsents {
    pub(crate) fn new(host: &Host) -> Self {
        let (state, place) = (Arc::clone(&host.state), host.place.clone());
        Self { state, place, latest: Mutex::default() }
    }

    fn read(&self, workspace: &Path) -> Result<Arc<Approvals>, HostError> {
        let Some(store) = self.state.existing(&self.place)? else { return Ok(Arc::default()) };
        let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        // Taken first: what is written after it makes the next mark another one.
        let mark = store.mark()?;
        if let Some(latest) = latest.as_ref().filter(|latest| latest.workspace == workspace)
            && latest.mark == mark
        {
            return Ok(Arc::clone(&latest.approvals));
        }
        let listed = store.approved_skills(workspace)?;
        let entry = |skill: ApprovedSkill| {
            let key = ConsentKey { root: skill.root, directory: skill.directory };
            (key, Digest::from(*skill.digest.as_bytes()))
        };
        let fault = (listed.left_out > 0)
            .then(|| format!("{} approvals are over the limit and left out", listed.left_out));
        let digests = listed.items.into_iter().map(entry).collect();
        let approvals = Approvals { digests, fault };
        // The log shares the file, so most writes are not about approvals.
        let approvals = match latest.take() {
            Some(before) if *before.approvals == approvals => before.approvals,
            _ => Arc::new(approvals),
        };
        let workspace = workspace.to_owned();
        *latest = Some(Latest { workspace, mark, approvals: Arc::clone(&approvals) });
        Ok(approvals)
    }
}

impl Consents for StoredConsents {
    fn approvals(&self, workspace: &Path) -> Arc<Approvals> {
        self.read(workspace).unwrap_or_else(|error| {
            let fault = format!("approvals of skills cannot be read: {error}");
            Arc::new(Approvals { fault: Some(fault), ..Approvals::default() })
        })
    }
}
