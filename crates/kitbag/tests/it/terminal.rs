//! What a person sees: the binary with its output on a terminal.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};

use insta::assert_snapshot;
use kitbag_testkit::Project;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::kitbag::{command, uncounted};

/// A terminal: its own side, and the side that a program writes to.
pub(crate) fn terminal(columns: u16) -> (OwnedFd, File) {
    let own = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&own).unwrap();
    unlockpt(&own).unwrap();
    let name = ptsname(&own, Vec::new()).unwrap().into_string().unwrap();
    let program = OpenOptions::new().read(true).write(true).open(name).unwrap();
    let size = Winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&program, size).unwrap();
    (own, program)
}

/// What a command writes to a terminal of so many columns, the two streams together.
pub(crate) fn seen(project: &Project, mut command: Command, columns: u16) -> String {
    command.stdin(Stdio::null());
    let (text, code) = session(project, command, columns, "");
    assert!(code.is_some());
    text
}

/// What is seen on a terminal where somebody types `answers`, and the exit code.
pub(crate) fn typed(project: &Project, arguments: &[&str], answers: &str) -> (String, Option<i32>) {
    session(project, command(project, arguments), 100, answers)
}

fn session(
    project: &Project,
    mut command: Command,
    columns: u16,
    answers: &str,
) -> (String, Option<i32>) {
    let (own, program) = terminal(columns);
    if !answers.is_empty() {
        command.stdin(program.try_clone().unwrap());
    }
    let mut child = command.stderr(program.try_clone().unwrap()).stdout(program).spawn().unwrap();
    // The command holds the program's side too, and the end is seen when nobody does.
    drop(command);
    let mut own = File::from(own);
    let mut answers = answers.split_inclusive('\n');
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    // The end of a terminal is an error on Linux and the end of a file elsewhere.
    while let Ok(count @ 1..) = own.read(&mut buffer) {
        bytes.extend_from_slice(&buffer[..count]);
        // Each answer is typed at its question, so that what the terminal echoes always stands behind it.
        if bytes.ends_with(b"] ")
            && let Some(answer) = answers.next()
        {
            own.write_all(answer.as_bytes()).unwrap();
        }
    }
    assert_eq!(answers.next(), None, "it asked fewer questions");
    let code = child.wait().unwrap().code();
    (project.filtered(&String::from_utf8(bytes).unwrap()).replace("\r\n", "\n"), code)
}

fn two_skills() -> Project {
    let project = Project::new();
    let long = "Moves what was built to where it runs. Use when somebody asks for a deployment.";
    project.skill("home/.kitbag/skills/deploy", long, "Do it.\n");
    project.skill(
        "home/.kitbag/skills/日本語",
        "日本語のスキルの説明。日本語のスキルの説明。日本語のスキルの説明。",
        "Do it.\n",
    );
    project.skill("home/.agents/skills/deploy", "Another.", "Do it.\n");
    project
}

#[test]
fn a_narrow_terminal_gets_two_lines_a_skill() {
    let project = two_skills();
    let list = || command(&project, &["skills", "list"]);
    assert_snapshot!(seen(&project, list(), 40), @"
    deploy  used  user  ~22
      Moves what was built to where it runs…
    日本語  used  user  ~39
      日本語のスキルの説明。日本語のスキル…
    deploy  shadowed  user.agents  ~6
      shadowed by user:deploy; it answers to user.agents:deploy
    guide  used  bundled  ~1212
      How to use and write Agent Skills wit…

    3 of 4 skills are used. Their names and descriptions are ~111 tokens; instructions are read on demand.
    ");
}

#[test]
fn no_line_of_a_used_skill_is_longer_than_the_terminal_and_columns_are_straight() {
    let project = two_skills();
    let list = || command(&project, &["skills", "list"]);
    assert_snapshot!(seen(&project, list(), 80), @"
    NAME    STATUS    ORIGIN        ~TOKENS  DESCRIPTION
    deploy  used      user               22  Moves what was built to where it runs.…
    日本語  used      user               39  日本語のスキルの説明。日本語のスキルの…
    deploy  shadowed  user.agents         6  shadowed by user:deploy; it answers to user.agents:deploy
    guide   used      bundled          1212  How to use and write Agent Skills with…

    3 of 4 skills are used. Their names and descriptions are ~111 tokens; instructions are read on demand.
    ");
}

#[test]
fn colours_are_for_terminals_that_have_them() {
    let project = two_skills();
    let with = |name: &str, value: &str| {
        let mut command = command(&project, &["skills", "list"]);
        command.env("TERM", "xterm-256color").env(name, value);
        seen(&project, command, 80).contains('\u{1b}')
    };
    assert!(with("LANG", "C"));
    assert!(!with("NO_COLOR", "1"));
    assert!(!with("TERM", "dumb"));
}

#[test]
fn shown_text_ends_its_line_and_cannot_move_the_cursor() {
    let project = Project::new();
    let body =
        "One\r\nred \u{1b}[31m, \u{202e}back, ⚠\u{fe0f} and 👩\u{200d}🚀, hidden a\u{200b}b\n";
    project.skill("home/.kitbag/skills/odd", "Odd.", body);
    let show = command(&project, &["skills", "show", "odd", "--", "more"]);
    assert_snapshot!(uncounted(&seen(&project, show, 80)), @r#"
    Skill `odd`.
    Its directory is `[ROOT]/home/.kitbag/skills/odd`; a relative path in the text below starts there.

    One
    red \u{1b}[31m, \u{202e}back, ⚠️ and 👩‍🚀, hidden a\u{200b}b


    ARGUMENTS: more
    ~[COUNT] tokens
    "#);
}

#[test]
fn a_failure_cannot_move_the_cursor_either() {
    let project = Project::new();
    for arguments in [
        &["skills", "show", "\u{1b}[2J\u{202e}"][..],
        &["skills", "to-prompt", "\u{1b}[2J"],
        &["skills", "validate", "\u{1b}[2J"],
        &["skills", "list", "--skills", "\u{1b}[2J"],
        &["skills", "new", "\u{1b}[2J"],
        &["skills", "new", "x", "--dir", "/dev/null/\u{1b}[2J"],
    ] {
        let text = seen(&project, command(&project, arguments), 80);
        assert!(!text.contains('\u{1b}') && !text.contains('\u{202e}'), "{arguments:?}: {text:?}");
        assert!(text.contains("\\u{1b}[2J"), "{arguments:?}: {text:?}");
    }
}
