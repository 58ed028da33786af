//! Globs that are looked up together mean what each means by itself.

use globset::{GlobBuilder, GlobMatcher};
use kitbag_permission::{Effect, Layer, Mode, PathSubject, Subject, Traits, Verdict, decide};
use kitbag_permission::{RuleHit, Says, WorkspaceTrust, explain};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::fixture::{BASES, compile, entry, own, path, user};

/// Texts of globs from all that they can hold, short so that they often match.
fn glob() -> impl Strategy<Value = String> {
    let wild = ["*", "*", "**", "**/", "**/", "/**", "?", "?"];
    let classes = ["[ab]", "[!a]", "[a-s]", "[!/]", "[]a]", "[a-]"];
    let others = [".rs", ".rs", "é", "\\*", "\\{", "\\\\", "~/", "/home/me/app/"];
    let leaf = prop_oneof![
        6 => "[abs]", 3 => Just("/".to_owned()), 6 => select(&wild), 2 => select(&classes),
        3 => select(&others),
    ];
    let tree = leaf.prop_recursive(2, 12, 4, |inner| {
        prop_oneof![
            3 => vec(inner.clone(), 1..4).prop_map(|parts| parts.concat()),
            2 => vec(inner, 0..4).prop_map(|parts| format!("{{{}}}", parts.join(","))),
        ]
    });
    vec(tree, 1..5).prop_map(|parts| parts.concat())
}

fn select(texts: &[&str]) -> impl Strategy<Value = String> + use<> {
    proptest::sample::select(texts.iter().map(|&text| text.to_owned()).collect::<Vec<_>>())
}

fn file() -> impl Strategy<Value = String> {
    let part = prop_oneof![2 => "[abs]{1,2}", 1 => select(&[".rs", "a.rs", "é", "*", "{", "\\"])];
    let base = prop_oneof![Just("/home/me/app"), Just("/home/me"), Just("")];
    // Past 127 bytes a path is compared in another way.
    let deep = prop_oneof![3 => Just(0_usize), 1 => 30..50_usize];
    (base, deep, vec(part, 1..5)).prop_map(|(base, deep, parts)| {
        format!("{base}{}/{}", "/s/a".repeat(deep), parts.join("/"))
    })
}

/// One glob by itself, and for `directory/**` the directory too.
struct Naive {
    text: String,
    matchers: Vec<GlobMatcher>,
}

impl Naive {
    fn new(text: &str) -> Self {
        let directory = text.strip_suffix("/**").map(|it| if it.is_empty() { "/" } else { it });
        let matchers = [Some(text), directory].into_iter().flatten().map(|text| {
            let glob =
                GlobBuilder::new(text).literal_separator(true).backslash_escape(true).build();
            glob.unwrap().compile_matcher()
        });
        Self { text: text.to_owned(), matchers: matchers.collect() }
    }

    fn hits(&self, absolute: &str) -> bool {
        let spelling = if self.text.starts_with('/') {
            Some(absolute.to_owned())
        } else if self.text == "~" || self.text.starts_with("~/") {
            absolute.strip_prefix("/home/me").map(|rest| format!("~{rest}"))
        } else {
            absolute.strip_prefix("/home/me/app/").map(str::to_owned)
        };
        spelling.is_some_and(|spelling| self.matchers.iter().any(|glob| glob.is_match(&spelling)))
    }
}

/// Whether a rule with this glob is one, and one that can be compared.
fn usable(glob: &str) -> bool {
    let Ok(rule) = format!("Read({glob})").parse() else { return false };
    let entry = kitbag_permission::Entry { rule, ..entry(Layer::User, Effect::Allow, "Read") };
    let (_, problems) = compile(vec![entry], WorkspaceTrust::Trusted);
    glob != "*" && !glob.ends_with(":*") && problems.is_empty()
}

fn allowed(hit: &RuleHit<'_>) -> bool {
    hit.entry.effect == Effect::Allow && !matches!(hit.says, Says::NotCounted(_))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn many_globs_together_hit_what_each_hits_alone(
        globs in vec(glob(), 1..40), files in vec(file(), 1..8),
    ) {
        let globs: Vec<String> = globs.into_iter().filter(|glob| usable(glob)).collect();
        let entries: Vec<_> = globs.iter()
            .map(|glob| entry(Layer::User, Effect::Allow, &format!("Read({glob})"))).collect();
        let (set, problems) = compile(entries, WorkspaceTrust::Trusted);
        prop_assert_eq!(problems.len(), 0);
        let naive: Vec<Naive> = globs.iter().map(|glob| Naive::new(glob)).collect();
        for file in files {
            let action = own("Read", Traits::Untrusted, Some(path(&file)));
            let explained = explain(&set, Mode::Ask, &action);
            let mut hits: Vec<String> = explained.hits.iter().filter(|hit| allowed(hit))
                .map(|hit| hit.entry.rule.to_string()).collect();
            let mut expected: Vec<String> = naive.iter().filter(|glob| glob.hits(&file))
                .map(|glob| format!("Read({})", glob.text)).collect();
            hits.sort();
            expected.sort();
            prop_assert_eq!(hits, expected, "{}", file);
        }
    }
}

/// Globs that share every text are taken apart, or compared one by one.
#[test]
fn globs_that_differ_in_braces_and_classes_alone_are_told_apart() {
    let globs = |from: u32| (from..from + 80).map(|at| format!("Read(src/**/*.{{rs,x{at}}})"));
    let classes = (0..80).map(|at| format!("Read(**/[!{}]*.rs)", char::from(b'!' + at)));
    let texts: Vec<String> = globs(0).chain(classes).collect();
    let rules: Vec<(Effect, &str)> = texts.iter().map(|text| (Effect::Deny, &**text)).collect();
    let set = user(&rules);
    let hits = |file: &str| {
        let action = own("Read", Traits::Untrusted, Some(path(file)));
        explain(&set, Mode::Ask, &action).hits.len()
    };
    assert_eq!(hits("/home/me/app/src/a/b.x7"), 1);
    // All with `rs`, and every class but the one that leaves `b` out.
    assert_eq!(hits("/home/me/app/src/b.rs"), 80 + 79);
    assert_eq!(hits("/home/me/app/b.x7"), 0);
}

#[test]
fn a_path_that_no_system_opens_is_compared_with_nothing() {
    let set = user(&[(Effect::Deny, "Read(secret)"), (Effect::Allow, "Read(**)")]);
    let verdict = |file: &str| {
        let subject = Subject::Path(PathSubject::new(file, BASES).unwrap());
        decide(&set, Mode::FullAuto, &own("Read", Traits::Untrusted, Some(subject))).verdict
    };
    assert_eq!(verdict("/home/me/app/public"), Verdict::Allow);
    assert_eq!(verdict(&format!("/home/me/app/{}", "x/".repeat(20_000))), Verdict::Deny);
}
