//! The token estimate against counts that a real vocabulary (o200k) gave.

use kitbag_skills::estimate_tokens;
use proptest::prelude::*;

#[track_caller]
fn check(text: &str, counted: usize) {
    let estimated = estimate_tokens(text);
    assert!(estimated.abs_diff(counted) * 4 <= counted, "{estimated} for {counted}: {text}");
}

#[test]
fn english_is_within_a_quarter() {
    check("The quick brown fox jumps over the lazy dog.", 10);
    check(
        "A skill is the right shape when the knowledge is a procedure: what to do, in what order, and how to check it \
         worked.",
        26,
    );
}

#[test]
fn scripts_without_spaces_are_not_counted_by_words() {
    assert_eq!(estimate_tokens("部署之前请先运行测试"), 10);
    assert_eq!(estimate_tokens("Перед"), 2);
}

#[test]
fn nothing_costs_nothing() {
    assert_eq!(estimate_tokens(""), 0);
}

proptest! {
    /// The catalogue's budget rests on these: no character takes tokens back, and lines add up.
    #[test]
    fn the_count_never_falls_and_lines_add_up(one in "\\PC{0,40}", other in "[!-~]\\PC{0,40}") {
        let line = format!("{one}\n");
        prop_assert!(estimate_tokens(&one) <= estimate_tokens(&line));
        let both = estimate_tokens(&format!("{line}{other}"));
        prop_assert_eq!(both, estimate_tokens(&line) + estimate_tokens(&other));
    }
}
