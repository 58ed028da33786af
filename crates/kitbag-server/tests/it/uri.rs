//! The URI of a skill's file, decision 21.

use kitbag_skills::{SkillUri, SkillUriError};
use proptest::prelude::*;

fn read(text: &str) -> Result<(String, Option<String>), SkillUriError> {
    let uri: SkillUri = text.parse()?;
    Ok((uri.skill.to_string(), uri.path.map(|path| path.to_string())))
}

#[test]
fn escapes_are_undone_once_before_the_path_is_checked() {
    let is = |text: &str, skill: &str, path: Option<&str>| {
        assert_eq!(read(text), Ok((skill.to_owned(), path.map(str::to_owned))), "{text}");
    };
    is("skill://demo", "demo", None);
    is("skill://demo/SKILL.md", "demo", Some("SKILL.md"));
    is("SKILL://demo/a%20b/c%23d.md", "demo", Some("a b/c#d.md"));
    is("skill://gro%C3%9Fe/%F0%9F%8E%92", "große", Some("🎒"));
    is("skill://demo/a b", "demo", Some("a b"));
}

#[test]
fn k56_a_uri_that_leads_out_is_refused() {
    for text in [
        "skill://demo/../outside.txt",
        "skill://demo/%2e%2e/outside.txt",
        "skill://demo/%2E%2E%2Foutside.txt",
        "skill://demo/a%2Fb",
        "skill://demo/%252e%252e/x",
        "skill://demo/a%5Cb",
        "skill://demo/a%00",
        "skill://demo/",
        "skill://demo//x",
        "skill://demo/x/",
        "skill://demo/./x",
        "skill://demo/%",
        "skill://demo/%4",
        "skill://demo/%zz",
        "skill://demo/%+1",
        "skill://demo/%FF",
        "skill://demo/x?y",
        "skill://demo/x#y",
        "skill:///x",
        "skill://../x",
        "skill://",
        "skill:/demo/x",
        "file:///etc/passwd",
        "",
        "ä",
    ] {
        assert!(read(text).is_err(), "{text}");
    }
}

proptest! {
    #[test]
    fn a_uri_reads_back_as_what_was_written(
        skill in "[a-z0-9ß中][a-z0-9._ß中-]{0,20}",
        path in "[^/%\\\\\0 .][^/%\\\\\0]{0,9}(/[^/%\\\\\0 .][^/%\\\\\0]{0,9}){0,3}",
    ) {
        let uri = SkillUri::of(skill.parse().unwrap(), match path.parse() {
            Ok(path) => path,
            // A segment of some other white space alone.
            Err(_) => return Ok(()),
        });
        let text = uri.to_string();
        prop_assert!(text.bytes().all(|b| b.is_ascii_graphic() && !b"\"<>\\^`{|}?#[]".contains(&b)), "{}", text);
        prop_assert_eq!(text.parse(), Ok(uri));
    }

    #[test]
    fn no_text_breaks_the_reader(text in "(skill://)?\\PC{0,40}") {
        if let Ok(uri) = text.parse::<SkillUri>() {
            prop_assert_eq!(uri.to_string().parse(), Ok(uri));
        }
    }
}
