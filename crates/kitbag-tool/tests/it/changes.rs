use std::time::Duration;

use kitbag_testkit::FakeSource;
use kitbag_tool::{Changed, Gate, Toolbox};
use tokio::time::timeout;

const NOTHING: Changed = Changed { tools: false, prompts: false, resources: false };

#[tokio::test(start_paused = true)]
async fn what_changed_is_told_apart() {
    let (first, second) = (FakeSource::new("first"), FakeSource::new("second"));
    let toolbox = Toolbox::new(vec![first.clone(), second.clone()], Gate::open(), None);
    let mut changes = toolbox.changes();
    assert_eq!(changes.take(), NOTHING);
    first.add_tool("x");
    assert_eq!(changes.next().await, Changed { tools: true, ..NOTHING });
    second.put("p", "text");
    assert_eq!(changes.next().await, Changed { prompts: true, resources: true, ..NOTHING });
    assert_eq!(changes.take(), NOTHING);
}

#[tokio::test(start_paused = true)]
async fn an_offer_that_says_the_same_is_no_change() {
    let source = FakeSource::new("a");
    let toolbox = Toolbox::new(vec![source.clone()], Gate::open(), None);
    let mut changes = toolbox.changes();
    source.touch();
    assert!(timeout(Duration::from_mins(1), changes.next()).await.is_err());
    source.add_tool("x");
    assert_eq!(changes.next().await, Changed { tools: true, ..NOTHING });
}

#[tokio::test(start_paused = true)]
async fn nothing_is_lost_when_waiting_is_given_up() {
    let source = FakeSource::new("a");
    let toolbox = Toolbox::new(vec![source.clone()], Gate::open(), None);
    let mut changes = toolbox.changes();
    assert!(timeout(Duration::from_secs(1), changes.next()).await.is_err());
    source.put("p", "text");
    source.add_tool("x");
    let all = Changed { tools: true, prompts: true, resources: true };
    assert_eq!(changes.next().await, all);
}
