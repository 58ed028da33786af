//! What the tour shows, one function a stop.

use std::io::Write;
use std::path::Path;

use anyhow::Context as _;
use kitbag_builtin::{Caller, SkillCall, answer, catalogue};
use kitbag_skills::budget::Budget;
use kitbag_skills::{
    Digest, Library, Places, RootChoice, RootOrder, SkillLimit, estimate_tokens, shown,
};
use serde_json::{Value, json};

use super::client::Client;
use crate::style::{BAD, DIM, GOOD, HEADING, NAME, paint};

/// The window of a model that runs on a laptop.
const SMALL_WINDOW: u64 = 32_768;

/// The window of a large model.
const LARGE_WINDOW: u64 = 200_000;

/// How many lines of a text are shown.
const SHOWN_LINES: usize = 9;

/// How many characters of a line are shown.
const SHOWN_CHARS: usize = 110;

pub(super) fn all(out: &mut impl Write, client: &mut Client, home: &Path) -> anyhow::Result<()> {
    let library = Library::new(
        Places {
            home: Some(home.to_owned()),
            kitbag_home: Some(home.join(".kitbag")),
            cwd: home.to_owned(),
            choice: RootChoice::Default { also: Vec::new() },
            order: RootOrder::UserFirst,
        },
        SkillLimit(usize::MAX),
    );
    let skills = found(out, client)?;
    model_view(out, &library)?;
    // The one with the most files has the most to show.
    let first = skills.iter().max_by_key(|skill| skill["files"].as_u64());
    let Some(first) = first.and_then(|skill| skill["name"].as_str()) else {
        writeln!(out, "\nThere is no skill to show.")?;
        return Ok(());
    };
    loaded(out, client, first)?;
    small_model(out, &library, &skills)?;
    prompts(out, client)?;
    resources(out, client)?;
    hostile(out, client, first)?;
    next(out)?;
    Ok(())
}

fn stop(out: &mut impl Write, title: &str, how: &str) -> std::io::Result<()> {
    writeln!(out, "\n{}  {}", paint(HEADING, title), paint(DIM, how))
}

/// The first lines of a text, indented, and how many follow.
fn excerpt(out: &mut impl Write, text: &str, lines: usize) -> std::io::Result<()> {
    let total = text.lines().count();
    for line in text.lines().take(lines) {
        let cut: String = line.chars().take(SHOWN_CHARS).collect();
        let more = if cut.len() < line.len() { "…" } else { "" };
        writeln!(out, "  {}{more}", shown::visible(&cut))?;
    }
    if total > lines {
        writeln!(out, "  {}", paint(DIM, format!("… {} more lines", total - lines)))?;
    }
    Ok(())
}

fn found(out: &mut impl Write, client: &mut Client) -> anyhow::Result<Vec<Value>> {
    let server = client.request("server/discover", json!({}))?;
    let listed = client.call("skill_list", &json!({}))?;
    stop(out, "What was found, and where", "skill_list, asked of `kitbag serve` over stdio")?;
    let info = &server["serverInfo"];
    let info =
        if info.is_null() { &server["_meta"]["io.modelcontextprotocol/serverInfo"] } else { info };
    writeln!(
        out,
        "  {} {}",
        info["name"].as_str().unwrap_or("kitbag"),
        info["version"].as_str().unwrap_or_default()
    )?;
    let skills = listed["skills"].as_array().cloned().unwrap_or_default();
    let width =
        skills.iter().filter_map(|skill| skill["name"].as_str()).map(str::len).max().unwrap_or(0);
    for skill in &skills {
        let name = skill["name"].as_str().unwrap_or_default();
        writeln!(
            out,
            "  {}{:pad$}  {:>2} files {:>6} bytes  {}",
            paint(NAME, name),
            "",
            skill["files"],
            skill["bytes"],
            paint(DIM, shown::visible(skill["source"].as_str().unwrap_or_default())),
            pad = width.saturating_sub(name.len()),
        )?;
    }
    for problem in listed["problems"].as_array().into_iter().flatten() {
        let text = |key: &str| shown::visible(problem[key].as_str().unwrap_or_default());
        writeln!(out, "  {}: {}: {}", text("reason"), text("path"), text("detail"))?;
    }
    Ok(skills)
}

fn model_view(out: &mut impl Write, library: &Library) -> anyhow::Result<()> {
    let catalog = library.look();
    stop(out, "What a model sees of them all the time", "the catalogue, in the system prompt")?;
    match catalogue(&catalog, &Budget::for_window(LARGE_WINDOW)) {
        None => writeln!(out, "  nothing: without skills there is no block")?,
        Some(block) => {
            excerpt(out, &block.text, 24)?;
            writeln!(
                out,
                "  {}",
                paint(
                    GOOD,
                    format!(
                        "~{} tokens for {} skills; their instructions cost nothing until asked for",
                        block.tokens, block.listed
                    )
                )
            )?;
        }
    }
    Ok(())
}

fn loaded(out: &mut impl Write, client: &mut Client, name: &str) -> anyhow::Result<()> {
    let skill = client.call("skill_load", &json!({ "name": name }))?;
    let body = skill["body"].as_str().context("the skill has no body")?;
    stop(out, "One skill, loaded", &format!("skill_load {name}"))?;
    excerpt(out, body.trim_start(), SHOWN_LINES)?;
    writeln!(out, "  {}", paint(GOOD, format!("~{} tokens", estimate_tokens(body))))?;
    let files = skill["files"].as_array().cloned().unwrap_or_default();
    let paths: Vec<&str> = files.iter().filter_map(|file| file["path"].as_str()).collect();
    let is_reference = |path: &&&str| path.starts_with("references/");
    let Some(path) = paths.iter().find(is_reference).or(paths.first()) else { return Ok(()) };
    let read = client.call("skill_file", &json!({ "name": name, "paths": [path] }))?;
    let file = &read["files"][0];
    stop(out, "One of its files, read", &format!("skill_file {name} {path}"))?;
    excerpt(out, file["content"].as_str().unwrap_or_default(), SHOWN_LINES)?;
    let media_type = file["mediaType"].as_str().unwrap_or_default();
    writeln!(out, "  {}", paint(GOOD, format!("{media_type}, {} bytes", file["size"])))?;
    Ok(())
}

/// The longest skill as a small model gets it: cut at a line, with how to read on.
fn small_model(out: &mut impl Write, library: &Library, skills: &[Value]) -> anyhow::Result<()> {
    let catalog = library.look();
    let longest = skills
        .iter()
        .filter_map(|skill| catalog.get(skill["name"].as_str()?))
        .max_by_key(|skill| skill.document.size);
    let Some(longest) = longest else { return Ok(()) };
    let name = longest.name().as_str();
    let call = SkillCall { name, arguments: "", resource: None, offset: 0 };
    let text = answer(library, &call, Caller::Model, &Budget::for_window(SMALL_WINDOW));
    stop(
        out,
        "The longest one, for a model with a small window",
        &format!("kitbag skills show {name} --window {SMALL_WINDOW}"),
    )?;
    let lines: Vec<&str> = text.lines().collect();
    let tail = lines[lines.len().saturating_sub(4)..].join("\n");
    writeln!(out, "  {}", paint(DIM, format!("… {} lines before", lines.len().saturating_sub(4))))?;
    excerpt(out, &tail, 4)?;
    writeln!(out, "  {}", paint(GOOD, format!("~{} tokens at once", estimate_tokens(&text))))?;
    Ok(())
}

fn prompts(out: &mut impl Write, client: &mut Client) -> anyhow::Result<()> {
    let listed = client.request("prompts/list", json!({}))?;
    let prompts = listed["prompts"].as_array().cloned().unwrap_or_default();
    stop(out, "The same as prompts, for a person to pick", "prompts/list, prompts/get")?;
    for prompt in &prompts {
        let arguments: Vec<String> = prompt["arguments"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|argument| argument["name"].as_str())
            .map(|name| format!("<{name}>"))
            .collect();
        let name = prompt["name"].as_str().unwrap_or_default();
        writeln!(out, "  {} {}", paint(NAME, format!("/{name}")), arguments.join(" "))?;
    }
    let Some(prompt) = prompts.iter().find(|prompt| prompt["arguments"].is_array()) else {
        return Ok(());
    };
    let values = ["v1.2.0", "v1.3.0", "operators"];
    let names = prompt["arguments"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|argument| argument["name"].as_str());
    let arguments: serde_json::Map<String, Value> =
        names.zip(values).map(|(name, value)| (name.to_owned(), json!(value))).collect();
    let filled =
        client.request("prompts/get", json!({ "name": prompt["name"], "arguments": arguments }))?;
    let text = filled["messages"][0]["content"]["text"].as_str().unwrap_or_default();
    writeln!(out, "  {}", paint(DIM, format!("filled with {}", Value::Object(arguments))))?;
    excerpt(out, text.trim_start(), SHOWN_LINES)?;
    Ok(())
}

fn resources(out: &mut impl Write, client: &mut Client) -> anyhow::Result<()> {
    stop(out, "And as resources, with digests", "resources/list, skills/list, resources/read")?;
    let listed = client.request("resources/list", json!({}))?;
    let resources = listed["resources"].as_array().cloned().unwrap_or_default();
    for resource in resources.iter().take(4) {
        writeln!(out, "  {}", shown::visible(resource["uri"].as_str().unwrap_or_default()))?;
    }
    if resources.len() > 4 {
        writeln!(out, "  {}", paint(DIM, format!("… {} more", resources.len() - 4)))?;
    }
    let listed = client.request("skills/list", json!({}))?;
    let (mut good, mut bad) = (0_usize, 0_usize);
    for skill in listed["skills"].as_array().into_iter().flatten() {
        for file in skill["resources"].as_array().into_iter().flatten() {
            let read = client.request("resources/read", json!({ "uri": file["uri"] }))?;
            let matches = read["contents"][0]["text"].as_str().is_some_and(|text| {
                file["digest"] == format!("sha256:{}", Digest::of(text.as_bytes()))
            });
            if matches { good += 1 } else { bad += 1 }
        }
    }
    let verdict = match bad {
        0 => paint(GOOD, format!("{good} files read, every digest as published")),
        _ => paint(BAD, format!("{bad} of {} files differ from their digest", good + bad)),
    };
    writeln!(out, "  {verdict}")?;
    Ok(())
}

fn hostile(out: &mut impl Write, client: &mut Client, name: &str) -> anyhow::Result<()> {
    stop(out, "What a hostile path gets", &format!("skill_file {name}"))?;
    let paths =
        ["../../../../etc/passwd", "/etc/passwd", "references/%2e%2e/%2e%2e/secret", ".env"];
    let read = client.call("skill_file", &json!({ "name": name, "paths": paths }))?;
    for file in read["files"].as_array().into_iter().flatten() {
        let path = shown::visible(file["path"].as_str().unwrap_or_default());
        match file["error"].as_str() {
            Some(error) => writeln!(
                out,
                "  {} {path}\n      {}",
                paint(BAD, "refused"),
                paint(DIM, shown::visible(error))
            )?,
            None => writeln!(out, "  {} {path}", paint(GOOD, "read"))?,
        }
    }
    Ok(())
}

fn next(out: &mut impl Write) -> std::io::Result<()> {
    stop(out, "Your turn", "")?;
    for (command, what) in [
        ("kitbag skills list", "what you have already"),
        ("kitbag skills new my-skill", "write one"),
        ("kitbag serve", "give them to your agent; docs/guide/serve.md says how"),
    ] {
        writeln!(out, "  {:<28}{}", paint(NAME, format!("{command:<27}")), paint(DIM, what))?;
    }
    Ok(())
}
