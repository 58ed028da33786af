//! Budgets by the model's context window (decision 5; G-9, G-10, G-14).

use kitbag_skills::budget::Budget;

fn shown(tokens: u64) -> (usize, usize, usize, usize, usize) {
    let budget = Budget::for_window(tokens);
    (
        budget.catalogue_skills,
        budget.catalogue_tokens,
        budget.description_chars,
        budget.body_chars,
        budget.resource_chars,
    )
}

#[test]
fn g9_g10_g14_a_small_window_gets_the_small_budget() {
    assert_eq!(shown(32_768), (12, 1_024, 250, 6_000, 12_000));
    assert_eq!(shown(8_192), (12, 512, 250, 6_000, 12_000));
    assert_eq!(shown(0), (12, 128, 250, 6_000, 12_000));
}

#[test]
fn a_larger_window_grows_the_budget_up_to_its_bounds() {
    assert_eq!(shown(65_536), (10_000, 1_310, 250, 12_000, 24_000));
    assert_eq!(shown(200_000), (10_000, 4_000, 250, 20_000, 40_000));
    assert_eq!(shown(1_000_000), (10_000, 20_000, 250, 20_000, 40_000));
    assert_eq!(shown(u64::MAX).3, 20_000);
}

#[test]
fn no_bound_falls_as_the_window_grows() {
    let mut before = shown(0);
    for window in (0..300_000).step_by(61) {
        let now = shown(window);
        assert!(now.0 >= before.0 && now.1 >= before.1 && now.3 >= before.3 && now.4 >= before.4);
        before = now;
    }
}
