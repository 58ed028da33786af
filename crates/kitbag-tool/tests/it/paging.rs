use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::sync::Arc;

use kitbag_testkit::FakeSource;
use kitbag_tool::{CallContext, Gate, ListError, Page, PageRequest, Toolbox};
use proptest::prelude::*;

fn block<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(work)
}

/// Walks all resources, with `between` after each page.
async fn walk(toolbox: &Toolbox, limit: usize, mut between: impl FnMut(usize)) -> Vec<String> {
    let limit = NonZeroUsize::new(limit).unwrap();
    let mut cursor: Option<String> = None;
    let mut uris = Vec::new();
    for page in 0.. {
        let request = PageRequest { after: cursor.as_deref(), limit };
        let Page { items, next } =
            toolbox.resources(request, &CallContext::default()).await.unwrap();
        assert!(items.len() <= limit.get());
        uris.extend(items.into_iter().map(|resource| resource.uri));
        let Some(next) = next else { break };
        between(page);
        cursor = Some(next);
    }
    uris
}

fn filled(id: &str, names: impl IntoIterator<Item = usize>) -> Arc<FakeSource> {
    let source = FakeSource::new(id);
    for name in names {
        source.put(&format!("{name:05}"), "text");
    }
    source
}

#[test]
fn every_item_is_given_once_over_all_sources() {
    let sources: Vec<Arc<dyn kitbag_tool::Source>> =
        vec![filled("a", 0..7), filled("b", []), filled("c", 0..5), filled("d", [])];
    let toolbox = Toolbox::new(sources, Gate::open(), None);
    let expected: Vec<String> = (0..7)
        .map(|n| format!("fake://a/{n:05}"))
        .chain((0..5).map(|n| format!("fake://c/{n:05}")))
        .collect();
    for limit in 1..15 {
        assert_eq!(block(walk(&toolbox, limit, |_| {})), expected, "{limit} a page");
    }
}

#[test]
fn a_cursor_of_something_else_is_refused() {
    let toolbox = Toolbox::new(vec![filled("a", 0..3)], Gate::open(), None);
    let list = |cursor: &str| {
        let request = PageRequest { after: Some(cursor), limit: NonZeroUsize::MIN };
        block(toolbox.resources(request, &CallContext::default()))
    };
    let other = base64_of("other\0key");
    for cursor in ["", "!", "%%", "AAAA", &other, &"A".repeat(100_000)] {
        assert_eq!(list(cursor), Err(ListError::BadCursor), "{cursor:.20}");
    }
}

fn base64_of(text: &str) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(text)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// What is there from the first page to the last is given exactly once, whatever comes and goes meanwhile, the
    /// item that a page ended with included.
    #[test]
    fn pages_survive_changes_between_them(
        start in prop::collection::btree_set(0_usize..60, 1..40),
        edits in prop::collection::vec((0_usize..60, any::<bool>()), 0..60),
        limit in 1_usize..12,
        per_page in 1_usize..6,
    ) {
        let source = filled("a", start.iter().copied());
        let toolbox = Toolbox::new(vec![source.clone(), filled("b", 0..3)], Gate::open(), None);
        let mut touched = BTreeSet::new();
        let uris = block(walk(&toolbox, limit, |page| {
            for (name, add) in edits.iter().skip(page * per_page).take(per_page) {
                touched.insert(*name);
                let key = format!("{name:05}");
                if *add { source.put(&key, "new") } else { source.remove(&key) }
            }
        }));
        let unique: BTreeSet<&String> = uris.iter().collect();
        prop_assert_eq!(unique.len(), uris.len(), "given twice: {:?}", uris);
        for name in start.difference(&touched) {
            let uri = format!("fake://a/{name:05}");
            prop_assert!(unique.contains(&uri), "missing {}: {:?}", uri, uris);
        }
        for name in 0..3 {
            let uri = format!("fake://b/{name:05}");
            prop_assert!(unique.contains(&uri), "missing {}", uri);
        }
    }
}
