//! The narrowest rule that would have let a call run.

use kitbag_permission::{
    Action, Effect, Mode, PathSubject, RuleSet, Subject, Traits, Verdict, decide, narrowest_grant,
};

use crate::fixture::{BASES, bash, own, path, server, user};

fn grant(rules: &RuleSet, action: &Action) -> Option<String> {
    narrowest_grant(rules, Mode::Ask, action).map(|rule| rule.to_string())
}

#[test]
fn a_grant_names_the_call_and_nothing_else() {
    let rules = user(&[(Effect::Allow, "Skill"), (Effect::Deny, "Bash(rm:*)")]);
    let granted = |action: Action| grant(&rules, &action).unwrap();
    assert_eq!(granted(server("files", "read_file")), "mcp__files__read_file");
    assert_eq!(granted(server("a", "b__c")), "mcp(a, b__c)");
    assert_eq!(granted(server("a_", "b")), "mcp(a_, b)");
    assert_eq!(granted(server("my files", "*")), r#"mcp("my files", "*")"#);
    assert_eq!(granted(server("a", "b\u{200b}\n\"")), r#"mcp(a, "b\u{200b}\u{a}\"")"#);
    assert_eq!(granted(bash("  cd x && make ")), "Bash(cd x && make)");
    let edit = |file| own("Edit", Traits::WorkspaceEdit, Some(path(file)));
    assert_eq!(granted(edit("/home/me/app/src/a.rs")), "Edit(src/a.rs)");
    assert_eq!(granted(edit("/home/me/[x]*.rs")), r"Edit(~/\[x\]\*.rs)");
    assert_eq!(granted(edit("/etc/{a,b}")), r"Edit(/etc/\{a\,b\})");
    let fetch =
        own("WebFetch", Traits::Untrusted, Some(Subject::Domain("Example.com.".to_owned())));
    assert_eq!(granted(fetch), "WebFetch(domain:Example.com)");
    assert_eq!(granted(own("skill_list", Traits::ReadOnly, None)), "skill_list");
}

#[test]
fn there_is_no_grant_where_none_would_do() {
    let rules = user(&[
        (Effect::Ask, "Bash(git push:*)"),
        (Effect::Deny, "mcp__issues"),
        (Effect::Allow, "mcp__files"),
    ]);
    // A rule asks explicitly, a rule denies, the call runs already.
    assert_eq!(grant(&rules, &bash("git push")), None);
    assert_eq!(grant(&rules, &server("issues", "create")), None);
    assert_eq!(grant(&rules, &server("files", "read")), None);
    // What would be read as more than it is, or cannot be written at all.
    assert_eq!(grant(&rules, &bash("echo a:*")), None);
    assert_eq!(grant(&rules, &bash("*")), None);
    assert_eq!(grant(&rules, &bash("ls\nls")), None);
    assert_eq!(grant(&rules, &bash("")), None);
    assert_eq!(grant(&rules, &own("Bash", Traits::Untrusted, None)), None);
    // Whether calls of a tool that was not declared have a subject is not known, so its name may be too wide.
    assert_eq!(grant(&rules, &own("Odd", Traits::Untrusted, None)), None);
    let tilde = own("Edit", Traits::Untrusted, Some(path("/home/me/app/~/x")));
    assert_eq!(grant(&rules, &tilde), None);
    let link =
        PathSubject::new("/home/me/app/l", BASES).unwrap().leading_to("/etc/x", BASES).unwrap();
    assert_eq!(grant(&rules, &own("Edit", Traits::Untrusted, Some(Subject::Path(link)))), None);
    for mode in [Mode::Plan, Mode::DontAsk, Mode::FullAuto] {
        assert_eq!(narrowest_grant(&rules, mode, &bash("ls")), None);
    }
}

#[test]
fn a_grant_lasts_and_denials_outlast_it() {
    let rules = user(&[(Effect::Deny, "mcp__files__erase")]);
    let granted = rules.granting("mcp__files".parse().unwrap());
    assert_eq!(decide(&granted, Mode::Ask, &server("files", "read")).verdict, Verdict::Allow);
    assert_eq!(decide(&granted, Mode::Ask, &server("files", "erase")).verdict, Verdict::Deny);
    assert_eq!(granted.entries().len(), 2);
}
