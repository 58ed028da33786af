//! What a skill asks for and would run, a line each. Values of variables and headers are in none.

use std::time::Duration;

use crate::declaration::{Needs, Place, ServerTransport};
use crate::document::Document;
use crate::shown;

/// What a skill asks for and would run, a line each, and whole; values of variables and headers are in none.
pub fn requests(document: &Document) -> Vec<String> {
    let declaration = &document.declaration;
    let mut lines = Vec::new();
    for script in &declaration.scripts {
        let mut line = format!("script `{}` with {}", script.script, script.interpreter);
        add(&mut line, &script.needs, &script.env, Some(script.timeout));
        lines.push(line);
    }
    for tool in &declaration.tools {
        let mut line = format!("tool `{}`: {}", tool.name, command(&tool.argv));
        add(&mut line, &tool.needs, &tool.env, Some(tool.timeout));
        lines.push(line);
    }
    for server in &declaration.servers {
        lines.push(match &server.transport {
            ServerTransport::Stdio { argv, env, needs } => {
                let mut line = format!("MCP server `{}`: {}", server.name, command(argv));
                let names: Vec<String> = env.iter().map(|(name, _)| name.clone()).collect();
                add(&mut line, needs, &names, None);
                line
            }
            ServerTransport::Http { url, headers } => {
                let names: Vec<&str> = headers.iter().map(|(name, _)| name.as_str()).collect();
                let headers = match names.len() {
                    0 => String::new(),
                    _ => format!("; headers: {}", names.join(", ")),
                };
                format!("MCP server `{}`: {url}{headers}", server.name)
            }
        });
    }
    if !declaration.env.is_empty() {
        let names: Vec<&str> = declaration.env.iter().map(|env| env.name.as_str()).collect();
        lines.push(format!("variables: {}", names.join(", ")));
    }
    if !declaration.egress.is_empty() {
        lines.push(format!("network: {}", declaration.egress.join(", ")));
    }
    let allowed = &document.header.allowed_tools;
    if !allowed.is_empty() {
        lines.push(format!("asks to be allowed, which grants nothing: {}", allowed.join(", ")));
    }
    // None is cut: what is not shown is what a person did not say yes to. A declaration has its own bounds.
    lines.iter().map(|line| shown::visible(line)).collect()
}

/// A command's words, each that is not plain in quotes, so that it can be told where one ends.
fn command(argv: &[String]) -> String {
    let word = |word: &String| {
        let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:@,".contains(c);
        if !word.is_empty() && word.chars().all(plain) { word.clone() } else { format!("{word:?}") }
    };
    argv.iter().map(word).collect::<Vec<_>>().join(" ")
}

fn add(line: &mut String, needs: &Needs, env: &[String], timeout: Option<Duration>) {
    let mut part = |what: &str, of: &[String]| {
        if !of.is_empty() {
            line.extend(["; ", what, ": ", &of.join(", ")]);
        }
    };
    let places = |places: &[Place]| {
        let name = |place: &Place| match place {
            Place::Workspace => "the workspace".to_owned(),
            Place::Data => "its data folder".to_owned(),
            Place::Path(path) => path.clone(),
        };
        places.iter().map(name).collect::<Vec<_>>()
    };
    part("network", &needs.network);
    part("reads", &places(&needs.read));
    part("writes", &places(&needs.write));
    part("variables", env);
    if let Some(timeout) = timeout {
        line.extend(["; up to ", &timeout.as_secs().to_string(), " s"]);
    }
}
