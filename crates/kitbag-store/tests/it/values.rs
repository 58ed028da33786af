//! Digests and points in time as text.

use std::time::{Duration, SystemTime};

use kitbag_store::{Digest, DigestTextError, Timestamp};
use proptest::prelude::*;

use crate::NOW;

#[test]
fn a_point_in_time_as_text() {
    let shown = |millis: i64| Timestamp::from_unix_millis(millis).to_string();
    assert_eq!(NOW.to_string(), "2026-11-30T23:45:28.120Z");
    assert_eq!(shown(0), "1970-01-01T00:00:00.000Z");
    assert_eq!(shown(-1), "1969-12-31T23:59:59.999Z");
    assert_eq!(shown(951_782_400_000), "2000-02-29T00:00:00.000Z");
    assert_eq!(shown(4_107_542_400_000), "2100-03-01T00:00:00.000Z");
}

#[test]
fn a_point_in_time_from_a_clock() {
    let of = Timestamp::from;
    assert_eq!(of(SystemTime::UNIX_EPOCH + Duration::from_millis(5)).unix_millis(), 5);
    assert_eq!(of(SystemTime::UNIX_EPOCH - Duration::from_millis(5)).unix_millis(), -5);
}

#[test]
fn only_64_lower_case_digits_are_a_digest() {
    for text in ["", "0f", &"0F".repeat(32), &"0f".repeat(33), &"é".repeat(32)] {
        assert_eq!(text.parse::<Digest>(), Err(DigestTextError), "{text}");
    }
}

proptest! {
    #[test]
    fn a_digest_is_the_digest_of_its_text(bytes: [u8; 32]) {
        let digest = Digest::from(bytes);
        prop_assert_eq!(digest.to_string().parse(), Ok(digest));
        prop_assert_eq!(digest.as_bytes(), &bytes);
    }

    #[test]
    fn no_point_in_time_panics(millis: i64) {
        prop_assert!(Timestamp::from_unix_millis(millis).to_string().ends_with('Z'));
    }
}
