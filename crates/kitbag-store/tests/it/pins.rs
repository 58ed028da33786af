//! Pins of what servers offer (decision 14).

use std::path::Path;

use kitbag_store::{FirstMeeting, Pin, Removal, Scope, ServerKey};

use crate::{NOW, Scene, digest};

const USERS: ServerKey<'_> = ServerKey { scope: Scope::User, server: "files" };

fn pin(name: &str, of: u8) -> Pin {
    Pin {
        kind: "tool".to_owned(),
        name: name.to_owned(),
        digest: digest(of),
        pinned: format!("{{\"name\":\"{name}\",\"is\":{of}}}"),
        at: NOW,
    }
}

/// What a server offers is pinned when it is first met, and not again when it has changed.
#[test]
fn only_the_first_meeting_pins() {
    let scene = Scene::new();
    let store = scene.open();
    assert_eq!(store.pins(&USERS).unwrap(), None);
    let first = [pin("b", 1), pin("a", 1)];
    assert_eq!(store.pin_first(&USERS, &first, NOW).unwrap(), FirstMeeting::Pinned);
    assert_eq!(store.pin_first(&USERS, &[pin("a", 2)], NOW).unwrap(), FirstMeeting::Known);
    assert_eq!(store.pins(&USERS).unwrap().unwrap().items, [pin("a", 1), pin("b", 1)]);

    store.pin(&USERS, &[pin("a", 2), pin("c", 1)]).unwrap();
    let pins = store.pins(&USERS).unwrap().unwrap();
    assert_eq!(pins.items, [pin("a", 2), pin("b", 1), pin("c", 1)]);
}

#[test]
fn a_server_that_offers_nothing_is_pinned_too() {
    let scene = Scene::new();
    let store = scene.open();
    assert_eq!(store.pin_first(&USERS, &[], NOW).unwrap(), FirstMeeting::Pinned);
    assert_eq!(store.pin_first(&USERS, &[pin("a", 1)], NOW).unwrap(), FirstMeeting::Known);
    assert_eq!(store.pins(&USERS).unwrap().unwrap().items, []);
}

#[test]
fn servers_of_one_name_in_two_scopes_are_two() {
    let scene = Scene::new();
    let store = scene.open();
    let theirs = ServerKey { scope: Scope::Workspace(Path::new("/w")), ..USERS };
    store.pin_first(&USERS, &[pin("a", 1)], NOW).unwrap();
    assert_eq!(store.pins(&theirs).unwrap(), None);
    store.pin_first(&theirs, &[pin("a", 2)], NOW).unwrap();
    assert_eq!(store.forget_pins(&USERS).unwrap(), Removal::Removed);
    assert_eq!(store.forget_pins(&USERS).unwrap(), Removal::Absent);
    assert_eq!(store.pins(&USERS).unwrap(), None);
    assert_eq!(store.pins(&theirs).unwrap().unwrap().items, [pin("a", 2)]);
}

#[test]
fn of_many_at_once_one_is_the_first() {
    let scene = Scene::new();
    let store = scene.open();
    let firsts: usize = std::thread::scope(|scope| {
        let meetings: Vec<_> = (0..8)
            .map(|of| {
                let store = store.reopen().unwrap();
                scope.spawn(move || store.pin_first(&USERS, &[pin("a", of)], NOW).unwrap())
            })
            .collect();
        meetings
            .into_iter()
            .map(|meeting| usize::from(meeting.join().unwrap() == FirstMeeting::Pinned))
            .sum()
    });
    assert_eq!(firsts, 1);
}
