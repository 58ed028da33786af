//! What is told of problems, and what the documentation says of it.

use std::path::Path;

use kitbag_skills::Reason;

/// K-4, as far as it speaks of the reasons.
#[test]
fn k4_the_documentation_lists_exactly_the_reasons_there_are() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/skill-tools.md");
    let text = std::fs::read_to_string(page).unwrap();
    let (_, section) = text.split_once("\n## Problems\n").unwrap();
    let (section, _) = section.split_once("\n## ").unwrap();
    let listed: Vec<&str> = section
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split_once('`'))
        .map(|(reason, _)| reason)
        .collect();
    let reasons: Vec<&str> = Reason::ALL.iter().map(|reason| reason.as_str()).collect();
    assert_eq!(listed, reasons);
    assert!(section.contains("must accept reasons that they do not know"));
}

#[test]
fn a_reason_is_written_as_it_is_called() {
    for reason in Reason::ALL {
        assert_eq!(serde_json::to_value(reason).unwrap(), reason.as_str());
    }
}
