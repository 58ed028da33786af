//! The waist's types as the types of the wire.
//!
//! The wire's types know fewer members than the waist keeps: `_meta`, icons and annotations are carried over, other
//! unknown members end here.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use kitbag_tool::{
    Content, Fields, PromptOutput, PromptSpec, ResourceBody, ResourceContents, ResourceSpec, Role,
    ToolHints, ToolOutput, ToolSpec,
};
use rmcp::model;

fn member<T: serde::de::DeserializeOwned>(extra: &Fields, name: &str) -> Option<T> {
    extra.get(name).and_then(|raw| serde_json::from_str(raw.get()).ok())
}

pub(crate) fn tool(spec: &ToolSpec) -> model::Tool {
    let mut tool = model::Tool::new_with_raw(
        spec.name.as_str().to_owned(),
        spec.description.clone().map(Into::into),
        spec.input_schema.clone(),
    );
    tool.title.clone_from(&spec.title);
    tool.output_schema.clone_from(&spec.output_schema);
    tool.annotations = spec.annotations.as_ref().map(hints);
    tool.icons = member(&spec.extra, "icons");
    tool.meta = member(&spec.extra, "_meta");
    tool
}

fn hints(hints: &ToolHints) -> model::ToolAnnotations {
    model::ToolAnnotations::from_raw(
        hints.title.clone(),
        hints.read_only,
        hints.destructive,
        hints.idempotent,
        hints.open_world,
    )
}

pub(crate) fn output(output: ToolOutput) -> model::CallToolResult {
    let content = if output.content.is_empty()
        && let Some(structured) = &output.structured
    {
        vec![model::ContentBlock::text(structured.get())]
    } else {
        output.content.into_iter().map(content).collect()
    };
    let mut result = model::CallToolResult::success(content);
    result.structured_content =
        output.structured.and_then(|raw| serde_json::from_str(raw.get()).ok());
    result.is_error = output.is_error.then_some(true);
    result.meta = member(&output.extra, "_meta");
    result
}

/// A block as the wire has it. One of a kind that the wire's types do not know goes out as the text of its JSON,
/// since leaving it out would lose what it says.
fn content(content: Content) -> model::ContentBlock {
    match content {
        Content::Text(text) => model::ContentBlock::text(text),
        Content::Raw(raw) => {
            serde_json::from_str(raw.get()).unwrap_or_else(|_| model::ContentBlock::text(raw.get()))
        }
    }
}

pub(crate) fn prompt(spec: PromptSpec) -> model::Prompt {
    let arguments = spec.arguments.map(|arguments| {
        let argument = |argument: kitbag_tool::PromptArgument| {
            let mut wire = model::PromptArgument::new(argument.name);
            wire.title = argument.title;
            wire.description = argument.description;
            wire.required = argument.required;
            wire
        };
        arguments.into_iter().map(argument).collect()
    });
    let mut prompt = model::Prompt::new(spec.name, spec.description, arguments);
    prompt.title = spec.title;
    prompt.icons = member(&spec.extra, "icons");
    prompt.meta = member(&spec.extra, "_meta");
    prompt
}

pub(crate) fn filled(output: PromptOutput) -> model::GetPromptResult {
    let message = |message: kitbag_tool::PromptMessage| {
        let role = match message.role {
            Role::User => model::Role::User,
            Role::Assistant => model::Role::Assistant,
        };
        model::PromptMessage::new(role, content(message.content))
    };
    let mut result =
        model::GetPromptResult::new(output.messages.into_iter().map(message).collect());
    result.description = output.description;
    result.meta = member(&output.extra, "_meta");
    result
}

pub(crate) fn resource(spec: ResourceSpec) -> model::Resource {
    let mut resource = model::Resource::new(spec.uri, spec.name);
    resource.title = spec.title;
    resource.description = spec.description;
    resource.mime_type = spec.mime_type;
    resource.size = spec.size;
    resource.icons = member(&spec.extra, "icons");
    resource.annotations = member(&spec.extra, "annotations");
    resource.meta = member(&spec.extra, "_meta");
    resource
}

pub(crate) fn contents(contents: ResourceContents) -> model::ResourceContents {
    let mut wire = match contents.body {
        ResourceBody::Text(text) => model::ResourceContents::text(text, contents.uri),
        ResourceBody::Blob(bytes) => {
            model::ResourceContents::blob(STANDARD.encode(bytes), contents.uri)
        }
    };
    // The constructors guess a type, and a guess is no better than none.
    let (model::ResourceContents::TextResourceContents { mime_type, meta, .. }
    | model::ResourceContents::BlobResourceContents { mime_type, meta, .. }) = &mut wire
    else {
        return wire;
    };
    *mime_type = contents.mime_type;
    *meta = member(&contents.extra, "_meta");
    wire
}
