//! What trust is bound to.

use std::collections::BTreeSet;
use std::path::Path;

use kitbag_settings::digest::{ProjectDigest, ProjectFile, project_digest};

fn digest(files: &[(&str, &str)]) -> ProjectDigest {
    let files: Vec<_> = files
        .iter()
        .map(|(path, bytes)| ProjectFile { path: Path::new(path), bytes: bytes.as_bytes() })
        .collect();
    project_digest(&files)
}

#[test]
fn every_difference_gives_another_digest() {
    let all: [&[(&str, &str)]; 8] = [
        &[],
        &[("a", "")],
        &[("a", "x")],
        &[("b", "x")],
        &[("a", "x"), ("b", "y")],
        &[("a", "y"), ("b", "x")],
        &[("a", "x"), ("b", "y"), ("c", "")],
        &[("ab", "")],
    ];
    let digests: BTreeSet<ProjectDigest> = all.iter().map(|files| digest(files)).collect();
    assert_eq!(digests.len(), all.len());
}

#[test]
fn the_order_of_the_files_does_not_matter() {
    assert_eq!(digest(&[("a", "x"), ("b", "y")]), digest(&[("b", "y"), ("a", "x")]));
}

#[test]
fn a_digest_is_kept_as_text() {
    let one = digest(&[(".kitbag/settings.json", "{}")]);
    // A digest in a store must mean the same tomorrow.
    insta::assert_snapshot!(one, @"149e1631b27fa08f02d82ff53dd2c0dfa910a03bf0ab73ccd4ff0df7add0ffe5");
    assert_eq!(one.to_string().parse(), Ok(one));
    for text in ["", &one.to_string().to_uppercase(), &one.to_string()[1..]] {
        assert!(text.parse::<ProjectDigest>().is_err());
    }
}
