//! What holds for every input.

use std::path::Path;

use kitbag_skills::Reason;
use kitbag_skills::declaration::read_sidecar;
use kitbag_skills::frontmatter::split::{Fence, split};
use kitbag_skills::frontmatter::{SkillMd, read, yaml};
use proptest::prelude::*;

fn skill(bytes: &[u8]) -> SkillMd {
    read(Path::new("x/SKILL.md"), bytes)
}

/// A line of frontmatter that is often good YAML, and often not.
fn line() -> impl Strategy<Value = String> {
    let key = prop::sample::select(vec![
        "name",
        "description",
        "allowed-tools",
        "disable-model-invocation",
        "metadata",
        "arguments",
        "mcp-host",
        "x",
    ]);
    let piece = prop::sample::select(vec![
        "a", ": ", "- ", "[", "]", "{", "}", "\"", "'", "#", " ", "&b ", "*b", "|", ">", "é", "\t",
        "!t ", ",", "@", "true", "12", "---", "\\",
    ]);
    let value = prop::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat());
    let lead = prop::sample::select(vec!["", "", "", "  ", "\t", "- ", "# "]);
    (lead, key, value).prop_map(|(lead, key, value)| format!("{lead}{key}: {value}"))
}

fn yaml_text() -> impl Strategy<Value = String> {
    prop::collection::vec(line(), 0..8).prop_map(|lines| lines.join("\n") + "\n")
}

proptest! {
    #[test]
    fn any_bytes_are_read_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let skill = skill(&bytes);
        prop_assert!(skill.body_start <= bytes.len());
    }

    #[test]
    fn any_text_between_fences_is_read_without_a_panic(text in any::<String>(), made in yaml_text()) {
        for yaml in [text, made] {
            let file = format!("---\n{yaml}\n---\nbody");
            let skill = skill(file.as_bytes());
            if let Some(range) = skill.frontmatter {
                prop_assert!(range.end <= skill.body_start);
            }
        }
    }

    #[test]
    fn any_text_is_a_sidecar_without_a_panic(text in any::<String>()) {
        read_sidecar(Path::new("x/kitbag.toml"), &text);
    }

    #[test]
    fn crlf_reads_as_lf_does(yaml in yaml_text(), body in "[a-z \n]{0,40}") {
        let file = format!("---\n{yaml}---\n{body}");
        let (lf, crlf) = (skill(file.as_bytes()), skill(file.replace('\n', "\r\n").as_bytes()));
        prop_assert_eq!(&lf.header, &crlf.header);
        prop_assert_eq!(&lf.problems, &crlf.problems);
        prop_assert_eq!(lf.declaration, crlf.declaration);
    }

    /// What parses is what is read: a repair is never even tried on it.
    #[test]
    fn what_parses_is_never_repaired(yaml in yaml_text()) {
        let file = format!("---\n{yaml}---\n");
        let Fence::Closed { yaml, .. } = split(file.as_bytes()).fence else { return Ok(()) };
        if let Ok(document) = yaml::parse(&file[yaml], 2)
            && let Some(root) = &document.root
            && root.entries().is_some()
        {
            let skill = skill(file.as_bytes());
            prop_assert!(!skill.repaired);
            prop_assert!(skill.problems.iter().all(|p| p.reason != Reason::RepairedFrontmatter));
            prop_assert_eq!(serde_json::Value::Object(skill.header.wire), document.to_json(root));
        }
    }

    /// A line that must be repaired leaves its sound neighbours as they were.
    #[test]
    fn a_repair_changes_only_what_is_broken(
        good in "[a-z][a-z0-9 ]{0,20}[a-z]",
        quoted in "[a-z:#@ ]{0,20}",
        broken in "[a-z]{1,8}: [a-z]{1,8}: [a-z]{1,8}",
    ) {
        let around = format!("license: {good}\nwhen-to-use: '{quoted}'\nlist:\n  - {good}");
        let sound = skill(format!("---\ndescription: d\n{around}\n---\n").as_bytes()).header;
        let mended = skill(format!("---\ndescription: {broken}\n{around}\n---\n").as_bytes());
        prop_assert!(mended.repaired);
        prop_assert_eq!(mended.header.description.as_deref(), Some(broken.as_str()));
        prop_assert_eq!(mended.header.license, sound.license);
        prop_assert_eq!(mended.header.when_to_use, sound.when_to_use);
        prop_assert_eq!(&mended.header.wire["list"], &sound.wire["list"]);
    }
}
