//! T-13 to T-24: holding definitions.

use std::collections::BTreeSet;
use std::sync::{Arc, Barrier};

use kitbag_sdk::{Change, Definition, Registry};
use kitbag_tool::{Changed, Gate, Source, Toolbox};
use proptest::prelude::*;
use serde_json::json;

use crate::support::{call, echoing, named, raw, registry, shown};

fn names(registry: &Registry) -> Vec<String> {
    registry.snapshot().definitions().iter().map(|d| d.name().to_owned()).collect()
}

/// Nothing, and a definition that is malformed, cannot be given: only `define` makes definitions, and checks them.
#[test]
fn t13_t14_a_refused_definition_leaves_the_registry_alone() {
    let registry = registry([echoing("a")]);
    let before = registry.snapshot();
    assert!(named("").typed(crate::support::echo).is_err());
    assert!(registry.register(echoing("a")).is_err());
    assert!(Arc::ptr_eq(&before, &registry.snapshot()));
}

#[test]
fn t15_a_taken_name_is_refused_and_the_definition_comes_back() {
    let registry = Registry::new();
    let first = registry.register(echoing("a")).unwrap();
    let second = Arc::new(echoing("a"));
    let refused = registry.register(second.clone()).unwrap_err();
    assert_eq!(refused.to_string(), "skill `a` is registered already");
    assert!(Arc::ptr_eq(&refused.definition, &second));
    assert!(Arc::ptr_eq(&registry.get("a").unwrap(), &first));
}

#[test]
fn t16_t17_of_64_threads_one_registers() {
    let registry = Registry::new();
    let ready = Barrier::new(64);
    let winners: Vec<Arc<Definition>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..64)
            .map(|number| {
                let (registry, ready) = (&registry, &ready);
                scope.spawn(move || {
                    let definition = echoing("a");
                    let own = echoing(&format!("own-{number}"));
                    ready.wait();
                    let won = registry.register(definition).ok();
                    registry.register(own).unwrap();
                    assert!(registry.get("a").is_some());
                    won
                })
            })
            .collect();
        threads.into_iter().filter_map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(winners.len(), 1);
    assert!(Arc::ptr_eq(&winners[0], &registry.get("a").unwrap()));
    assert_eq!(names(&registry).len(), 65);
}

#[test]
fn t18_get_gives_the_very_value_or_nothing() {
    let registry = Registry::new();
    let definition = Arc::new(echoing("a"));
    registry.register(definition.clone()).unwrap();
    assert!(Arc::ptr_eq(&registry.get("a").unwrap(), &definition));
    assert!(registry.get("A").is_none());
}

proptest! {
    #[test]
    fn t20_t22_lists_are_sorted_by_bytes(
        names_given in prop::collection::btree_set("[a-zA-Z][a-zA-Z0-9.-]{0,8}", 0..12)
    ) {
        let registry = Registry::new();
        // Backwards, so that the order is the registry's own work.
        for name in names_given.iter().rev() {
            registry.register(echoing(name)).unwrap();
        }
        let sorted: Vec<String> = names_given.into_iter().collect::<BTreeSet<_>>().into_iter().collect();
        prop_assert_eq!(&names(&registry), &sorted);
        let snapshot = registry.snapshot();
        let tools: Vec<String> = snapshot.tools().map(|t| t.name.as_str().to_owned()).collect();
        prop_assert_eq!(&tools, &sorted);
        let offer = registry.offer().borrow().clone();
        prop_assert!(offer.tools.iter().map(|tool| &tool.spec).eq(snapshot.tools()));
    }
}

#[test]
fn t21_a_list_is_of_its_moment() {
    let registry = registry([echoing("a")]);
    let before = registry.snapshot();
    registry.register(echoing("b")).unwrap();
    registry.remove("a");
    assert_eq!(before.definitions().len(), 1);
    assert_eq!(names(&registry), ["b"]);
}

#[test]
fn t23_lists_of_an_empty_registry_are_empty() {
    let registry = Registry::new();
    assert_eq!(registry.snapshot().definitions().len(), 0);
    assert_eq!(registry.snapshot().tools().len(), 0);
    assert!(registry.offer().borrow().tools.is_empty());
}

#[test]
fn t24_replace_and_remove_give_back_what_was_there() {
    let registry = Registry::new();
    assert!(registry.replace(echoing("a")).is_none());
    let first = registry.get("a").unwrap();
    let old = registry.replace(named("a").title("Second").typed(crate::support::echo).unwrap());
    assert!(Arc::ptr_eq(&old.unwrap(), &first));
    assert_eq!(registry.get("a").unwrap().spec().title.as_deref(), Some("Second"));
    assert!(registry.remove("a").is_some());
    let generation = registry.snapshot().generation();
    assert!(registry.remove("a").is_none());
    assert_eq!(registry.snapshot().generation(), generation);
}

#[test]
fn t24_many_changes_are_one_or_none() {
    let registry = registry([echoing("a"), echoing("b")]);
    let mut changes = registry.changes();
    changes.mark_unchanged();
    let swap = vec![
        Change::Remove("a".to_owned()),
        Change::Register(Arc::new(echoing("a"))),
        Change::Replace(Arc::new(echoing("b"))),
        Change::Register(Arc::new(echoing("c"))),
    ];
    let generation = registry.snapshot().generation();
    registry.apply(swap).unwrap();
    assert_eq!(registry.snapshot().generation(), generation + 1);
    assert_eq!(names(&registry), ["a", "b", "c"]);
    assert!(changes.has_changed().unwrap());
    assert_eq!(changes.borrow_and_update().definitions().len(), 3);

    let refused = vec![Change::Remove("a".to_owned()), Change::Register(Arc::new(echoing("c")))];
    let rejected = registry.apply(refused).unwrap_err();
    assert_eq!(rejected.to_string(), "change 1 of 2: skill `c` is registered already");
    assert_eq!((rejected.at, rejected.changes.len()), (1, 2));
    assert_eq!(names(&registry), ["a", "b", "c"]);
    assert!(!changes.has_changed().unwrap());
}

#[tokio::test]
async fn t24_a_toolbox_hears_of_changes() {
    let registry = registry([echoing("a")]);
    let toolbox = Toolbox::new(vec![Arc::new(registry.clone())], Gate::open(), None);
    let mut changes = toolbox.changes();
    registry.register(echoing("b")).unwrap();
    assert_eq!(changes.next().await, Changed { tools: true, ..Changed::default() });
    assert_eq!(toolbox.snapshot().tools().count(), 2);
}

#[tokio::test]
async fn t32_a_handler_may_change_the_registry_that_calls_it() {
    let grow =
        raw("grow", |context: kitbag_sdk::RunContext, _: serde_json::Map<_, _>| async move {
            context.registry().register(echoing("grown"))?;
            context.registry().remove("grow");
            Ok::<_, kitbag_sdk::BoxError>(context.call("grown", serde_json::Map::new()).await?)
        });
    let registry = registry([grow]);
    let answer = shown(&call(&registry, "grow", json!({})).await);
    insta::assert_snapshot!(answer, @r#"{"content":[{"type":"text","text":"{\"text\":\"\"}"}],"structuredContent":{"text":""}}"#);
    assert_eq!(names(&registry), ["grown"]);
}
