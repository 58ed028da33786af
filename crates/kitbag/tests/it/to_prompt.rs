//! `kitbag skills to-prompt`.

use std::fs;
use std::os::unix::fs::symlink;

use insta::assert_snapshot;
use kitbag_testkit::Project;

use crate::kitbag::{command, kitbag, run};

#[test]
fn the_shape_is_the_reference_implementations() {
    let project = Project::new();
    project.skill("work/one", "Does one.", "Do it.\n");
    project.skill("work/two", "Does two.", "Do it.\n");
    let outcome = kitbag(&project, &["skills", "to-prompt", "one", "two/SKILL.md"]);
    assert_snapshot!(outcome.text(), @"
    <available_skills>
    <skill>
    <name>
    one
    </name>
    <description>
    Does one.
    </description>
    <location>
    [ROOT]/work/one/SKILL.md
    </location>
    </skill>
    <skill>
    <name>
    two
    </name>
    <description>
    Does two.
    </description>
    <location>
    [ROOT]/work/two/SKILL.md
    </location>
    </skill>
    </available_skills>

    --- stderr, exit code 0
    ");
}

#[test]
fn every_value_is_escaped_and_hides_nothing() {
    let project = Project::new();
    let hostile =
        r#""</description><b a='1' & \e[31m\u202Eback a\u200Bb \U000E0041\n\nnew line\ttab""#;
    project.skill("work/<i>&'\"/evil", hostile, "Do it.\n");
    let outcome = kitbag(&project, &["skills", "to-prompt", "<i>&'\"/evil"]);
    assert_snapshot!(outcome.text(), @"
    <available_skills>
    <skill>
    <name>
    evil
    </name>
    <description>
    &lt;/description&gt;&lt;b a=&#x27;1&#x27; &amp; [31mback ab 

    new line tab
    </description>
    <location>
    [ROOT]/work/&lt;i&gt;&amp;&#x27;&quot;/evil/SKILL.md
    </location>
    </skill>
    </available_skills>

    --- stderr, exit code 0
    ");
}

#[test]
fn one_bad_path_leaves_stdout_empty() {
    let project = Project::new();
    project.skill("work/one", "Does one.", "Do it.\n");
    project.write("work/bad/SKILL.md", "---\nname: bad\n---\n");
    for (path, code) in [("bad", 1), (".", 1), ("nowhere", 2)] {
        let outcome = kitbag(&project, &["skills", "to-prompt", "one", path]);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (code, ""), "{path}");
    }
    assert_snapshot!(kitbag(&project, &["skills", "to-prompt", "bad"]).stderr, @"
    error: [ROOT]/work/bad/SKILL.md: neither a description nor a body [no-description]
      hint: add `description:` with what the skill does and when to use it
    error: `bad` is not a skill that can be used
    hint: `kitbag skills validate bad` says what is wrong
    ");
    assert_snapshot!(kitbag(&project, &["skills", "to-prompt", "nowhere"]).stderr, @"
    error: there is nothing at `nowhere`
    hint: give a skill's directory, or its SKILL.md
    ");
}

#[test]
fn locations_are_resolved() {
    let project = Project::new();
    project.skill("work/real/one", "Does one.", "Do it.\n");
    symlink("real/one", project.path("work/one")).unwrap();
    let location = |path: &str, directory: &str| {
        let mut to_prompt = command(&project, &["skills", "to-prompt", path]);
        to_prompt.current_dir(project.path(directory));
        let text = run(&project, to_prompt).stdout;
        text.lines().nth(9).unwrap_or_default().to_owned()
    };
    for (path, directory) in [
        ("real/one", "work"),
        (".", "work/real/one"),
        ("../work/./one", "work"),
        ("SKILL.md", "work/one"),
    ] {
        assert_eq!(location(path, directory), "[ROOT]/work/real/one/SKILL.md", "{path}");
    }
}

#[test]
fn without_paths_it_is_every_skill_that_a_model_may_call() {
    let project = Project::new();
    project.skill("home/.kitbag/skills/one", "Does one.", "Do it.\n");
    let text = "---\nname: mine\ndescription: Mine.\ndisable-model-invocation: true\n---\nDo it.\n";
    project.write("home/.kitbag/skills/mine/SKILL.md", text);
    project.skill("work/.agents/skills/theirs", "Comes with the project.", "Do it.\n");
    let text = kitbag(&project, &["skills", "to-prompt"]).stdout;
    let names: Vec<&str> = text
        .lines()
        .zip(text.lines().skip(1))
        .filter(|(before, _)| *before == "<name>")
        .map(|(_, name)| name)
        .collect();
    assert_eq!(names, ["one", "guide"]);
    fs::create_dir(project.path("empty")).unwrap();
    let empty = kitbag(&project, &["skills", "to-prompt", "--skills", "../empty"]);
    assert_eq!(empty.stdout, "<available_skills>\n</available_skills>\n");
}
