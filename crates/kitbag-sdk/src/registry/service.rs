//! The registry as a tower service.

use std::task::{Context, Poll};

use kitbag_tool::{BoxFuture, ToolOutput};
use tower_service::Service;

use super::Registry;
use crate::{SkillCall, SkillError};

/// The seam for limits, time-outs, tracing and whatever else is put around calls.
///
/// Always ready: what bounds the calls under way is a layer's to say.
impl Service<SkillCall> for Registry {
    type Response = ToolOutput;
    type Error = SkillError;
    type Future = BoxFuture<'static, Result<ToolOutput, SkillError>>;

    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), SkillError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, call: SkillCall) -> Self::Future {
        let registry = self.clone();
        Box::pin(async move { Registry::call(&registry, call).await })
    }
}
