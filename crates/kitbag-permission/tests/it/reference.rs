//! `docs/reference/permissions.md` is what people read, and every row of its tables is a test.

use kitbag_permission::{
    Action, Effect, Mode, PathSubject, Rule, Subject, ToolIdentity, Traits, Verdict, decide,
};

use crate::fixture::{BASES, KNOWN, own, user};

const PAGE: &str = include_str!("../../../../docs/reference/permissions.md");

/// The cells of the table under a heading, without its first two lines.
fn rows(heading: &str) -> Vec<Vec<String>> {
    let section = PAGE.split_once(&format!("## {heading}\n")).unwrap().1;
    let section = section.split("\n## ").next().unwrap();
    let lines = section.lines().filter(|line| line.starts_with('|')).skip(2);
    lines
        .map(|line| {
            let line = line.replace("\\|", "\u{1}");
            let cells = line.trim_matches('|').split('|');
            cells.map(|cell| cell.trim().replace('\u{1}', "|")).collect()
        })
        .collect()
}

/// What stands in code spans, of one or two backticks.
fn spans(cell: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = cell;
    while let Some(open) = rest.find('`') {
        let ticks = if rest[open..].starts_with("``") { "``" } else { "`" };
        let (text, after) = rest[open + ticks.len()..].split_once(ticks).unwrap();
        found.push(if ticks.len() == 2 { text.trim().to_owned() } else { text.to_owned() });
        rest = after;
    }
    found
}

fn action(tool: &str, subject: &str) -> Action {
    let names = spans(tool);
    let identity = match (tool.split(' ').next().unwrap(), names.as_slice()) {
        ("server", [server, tool]) => {
            ToolIdentity::Server { server: server.clone(), tool: tool.clone() }
        }
        ("skill", [skill, tool]) => {
            ToolIdentity::SkillTool { skill: skill.clone(), tool: tool.clone() }
        }
        (_, [name]) => ToolIdentity::Own(name.clone()),
        _ => panic!("no tool: {tool}"),
    };
    let texts = spans(subject);
    let subject = texts.first().map(|text| {
        let kind = KNOWN.iter().find(|known| known.name == names[0]).unwrap().subject.unwrap();
        match kind {
            kitbag_permission::SubjectKind::Text => Subject::Text(text.clone()),
            kitbag_permission::SubjectKind::Domain => Subject::Domain(text.clone()),
            kitbag_permission::SubjectKind::Command => Subject::Command(text.clone()),
            kitbag_permission::SubjectKind::Path => {
                let path = PathSubject::new(text, BASES).unwrap();
                Subject::Path(match texts.get(1) {
                    Some(real) => path.leading_to(real, BASES).unwrap(),
                    None => path,
                })
            }
        }
    });
    Action { tool: identity, shown_as: None, subject, claims: Traits::Untrusted }
}

/// B-34, B-82, B-83 and the reading of names of decision 16 are rows of this table.
#[test]
fn b34_b82_b83_every_row_of_rules_and_calls_holds() {
    let rows = rows("Rules and calls");
    assert!(rows.len() >= 60, "{} rows", rows.len());
    let mut wrong = Vec::new();
    for row in &rows {
        let [rule, tool, subject, allows, denies] = row.as_slice() else { panic!("{row:?}") };
        let rule = &spans(rule)[0];
        let action = action(tool, subject);
        let verdict = |effect, mode| decide(&user(&[(effect, rule)]), mode, &action).verdict;
        let yes = |cell: &str| match cell {
            "yes" => true,
            "no" => false,
            other => panic!("neither yes nor no: {other}"),
        };
        let expected = (yes(allows), yes(denies), yes(denies));
        let actual = (
            verdict(Effect::Allow, Mode::Ask) == Verdict::Allow,
            verdict(Effect::Deny, Mode::FullAuto) == Verdict::Deny,
            verdict(Effect::Ask, Mode::FullAuto) == Verdict::Ask,
        );
        if actual != expected {
            wrong.push(format!("{row:?}: {actual:?}"));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn every_row_of_texts_that_are_no_rules_holds() {
    let rows = rows("Texts that are no rules");
    assert!(rows.len() >= 15, "{} rows", rows.len());
    for row in &rows {
        let [text, column, nearest] = row.as_slice() else { panic!("{row:?}") };
        let text = spans(text)[0].replace('␣', " ");
        let error = text.parse::<Rule>().unwrap_err();
        assert_eq!(error.column.to_string(), *column, "{text}: {error}");
        assert_eq!(error.nearest.as_ref(), spans(nearest).first(), "{text}: {error}");
        assert!(!error.hint.is_empty());
    }
}

/// The five modes of decision 17, and B-33.
#[test]
fn b33_every_cell_of_modes_holds() {
    let rows = rows("Modes");
    assert_eq!(rows.len(), Mode::ALL.len());
    for row in &rows {
        let mode: Mode = spans(&row[0])[0].parse().unwrap();
        let traits = [
            Traits::Trusted,
            Traits::ReadOnly,
            Traits::WorkspaceEdit,
            Traits::AsksItself,
            Traits::Untrusted,
        ];
        assert_eq!(row.len(), traits.len() + 1);
        for (claims, cell) in traits.into_iter().zip(&row[1..]) {
            let verdict = decide(&user(&[]), mode, &own("Tool", claims, None)).verdict;
            let word = match verdict {
                Verdict::Allow => "runs",
                Verdict::Ask => "asks",
                Verdict::Deny => "denied",
            };
            assert_eq!(word, cell, "{mode} {claims:?}");
        }
    }
}
