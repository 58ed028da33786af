//! A folder of skills that lasts for one test, and a toolbox over it.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::num::NonZeroUsize;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use kitbag_builtin::{Running, ServeLimits, SkillServer};
use kitbag_skills::{
    ConsentFrom, GivenBy, Library, Places, RootChoice, RootOrder, SkillLimit, Watch,
};
use kitbag_tool::{
    CallContext, CallError, Content, Gate, Page, PageRequest, PromptError, PromptRequest,
    ReadError, ResourceBody, ResourceSpec, ToolCall, ToolOutput, Toolbox,
};
use serde_json::Value;

pub(crate) struct Bag {
    root: PathBuf,
    pub(crate) library: Arc<Library>,
    pub(crate) toolbox: Toolbox,
    pub(crate) server: Arc<SkillServer>,
    _keep: tempfile::TempDir,
}

/// What a bag may be made with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Options {
    pub(crate) skills: usize,
    pub(crate) resources: usize,
    pub(crate) watched: Watched,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Watched {
    Yes,
    No,
}

impl Options {
    pub(crate) const USUAL: Self = Self { skills: 10_000, resources: 10_000, watched: Watched::No };
}

impl Bag {
    /// A bag over the one root `r`, which is there and empty.
    pub(crate) fn new() -> Self {
        Self::with(Options::USUAL, &["r"])
    }

    /// A bag over these roots; one whose name ends in a slash is not made.
    pub(crate) fn with(options: Options, roots: &[&str]) -> Self {
        let keep = tempfile::tempdir().unwrap();
        let root = keep.path().canonicalize().unwrap();
        for name in roots.iter().filter(|name| !name.ends_with('/')) {
            fs::create_dir_all(root.join(name)).unwrap();
        }
        let roots = roots.iter().map(|name| root.join(name.trim_end_matches('/'))).collect();
        let choice = RootChoice::Only { by: GivenBy::CommandLine, roots };
        Self::of(options, choice, ConsentFrom::Nobody, root.clone(), (root, keep))
    }

    /// A bag over the places that `choice` says, with `work` as working directory and workspace.
    pub(crate) fn at(options: Options, choice: RootChoice, consents: ConsentFrom) -> Self {
        let keep = tempfile::tempdir().unwrap();
        let root = keep.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("work/.git")).unwrap();
        Self::of(options, choice, consents, root.join("work"), (root, keep))
    }

    fn of(
        options: Options,
        choice: RootChoice,
        consents: ConsentFrom,
        cwd: PathBuf,
        (root, keep): (PathBuf, tempfile::TempDir),
    ) -> Self {
        let order = RootOrder::UserFirst;
        let places = Places { home: None, kitbag_home: None, cwd, choice, order };
        let library = Library::new(places, SkillLimit(options.skills)).with_consents(consents);
        let library = Arc::new(library);
        let watch = match options.watched {
            Watched::Yes => Some(Watch::start(&library).unwrap()),
            Watched::No => None,
        };
        let limits = ServeLimits { resources: options.resources };
        let server = Arc::new(SkillServer::new(
            Arc::clone(&library),
            "--skills",
            limits,
            Running::without_sandbox(),
            watch,
        ));
        let toolbox = Toolbox::new(vec![server.clone()], Gate::open(), None);
        Self { root, library, toolbox, server, _keep: keep }
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    pub(crate) fn write(&self, path: &str, bytes: impl AsRef<[u8]>) -> &Self {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
        self
    }

    /// A valid skill whose frontmatter has the name of its directory.
    pub(crate) fn skill(&self, path: &str) -> &Self {
        let name = Path::new(path).file_name().unwrap().to_str().unwrap();
        self.write(
            &format!("{path}/SKILL.md"),
            format!("---\nname: {name}\ndescription: The {name} skill\n---\nDo {name}.\n"),
        )
    }

    pub(crate) fn link(&self, path: &str, target: &str) -> &Self {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(target, path).unwrap();
        self
    }

    /// A file that begins with `head` and goes on with zeros that take no room.
    pub(crate) fn sparse(&self, path: &str, head: &str, size: u64) -> &Self {
        self.write(path, head);
        File::options().write(true).open(self.path(path)).unwrap().set_len(size).unwrap();
        self
    }

    pub(crate) async fn output(
        &self,
        tool: &str,
        arguments: Value,
    ) -> Result<ToolOutput, CallError> {
        let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
        let call = ToolCall { name: tool.parse().unwrap(), arguments };
        self.toolbox.call(call, &CallContext::default()).await
    }

    /// The answer of a call, which must be one line of JSON that fits the published schema, and the text as well.
    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Value {
        let output = self.output(tool, arguments).await.unwrap();
        assert!(!output.is_error);
        let json = output.structured.expect("every answer is data").get().to_owned();
        assert!(!json.contains(['\n', '\r']), "it is one line");
        for block in &output.content {
            assert_eq!(block.as_text().as_deref(), Some(json.as_str()));
        }
        let answer: Value = serde_json::from_str(&json).unwrap();
        let spec = self.toolbox.snapshot().tool(tool).unwrap().clone();
        let schema = Value::Object((**spec.output_schema.as_ref().unwrap()).clone());
        let validator = jsonschema::draft202012::new(&schema).unwrap();
        if let Err(error) = validator.validate(&answer) {
            panic!("{tool}: {error} at {}", error.instance_path());
        }
        only_known_members(&answer, &schema, tool);
        answer
    }

    /// What a model reads of a call that was refused.
    pub(crate) async fn refused(&self, tool: &str, arguments: Value) -> String {
        let output = self.output(tool, arguments).await.unwrap_err().to_output();
        assert!(output.is_error && output.structured.is_none());
        output.content[0].as_text().unwrap().into_owned()
    }

    pub(crate) async fn prompt(
        &self,
        name: &str,
        arguments: &[(&str, &str)],
    ) -> Result<String, PromptError> {
        let arguments: BTreeMap<String, String> = arguments
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        let request = PromptRequest { name: name.to_owned(), arguments };
        let output = self.toolbox.prompt(&request, &CallContext::default()).await?;
        let [message] = output.messages.as_slice() else { panic!("a prompt is one message") };
        let Content::Text(text) = &message.content else { panic!("a prompt is text") };
        Ok(text.clone())
    }

    /// One page of the resources.
    pub(crate) async fn resources(&self, after: Option<&str>, limit: usize) -> Page<ResourceSpec> {
        let limit = NonZeroUsize::new(limit).unwrap();
        let request = PageRequest { after, limit };
        self.toolbox.resources(request, &CallContext::default()).await.unwrap()
    }

    /// The URIs of all resources, read by pages of `limit`.
    pub(crate) async fn all_resources(&self, limit: usize) -> Vec<String> {
        let mut uris = Vec::new();
        let mut after = None;
        loop {
            let page = self.resources(after.as_deref(), limit).await;
            assert!(page.items.len() <= limit);
            uris.extend(page.items.into_iter().map(|resource| resource.uri));
            after = page.next;
            if after.is_none() {
                return uris;
            }
        }
    }

    pub(crate) async fn read(&self, uri: &str) -> Result<ResourceBody, ReadError> {
        let mut contents = self.toolbox.read(uri, &CallContext::default()).await?;
        assert_eq!(contents.len(), 1);
        let contents = contents.remove(0);
        assert_eq!(contents.uri, uri);
        Ok(contents.body)
    }

    /// The answer with the bag's own path taken out, so that it is the same wherever the test runs.
    pub(crate) fn anywhere(&self, answer: &impl ToString) -> String {
        answer.to_string().replace(self.root.to_str().unwrap(), "")
    }
}

/// `key` of every item, as text.
pub(crate) fn each<'a>(items: &'a Value, key: &str) -> Vec<&'a str> {
    items.as_array().unwrap().iter().map(|item| item[key].as_str().unwrap()).collect()
}

/// Panics where the answer has a member that its schema does not speak of: a validator lets that pass.
pub(crate) fn only_known_members(answer: &Value, schema: &Value, place: &str) {
    match answer {
        Value::Object(members) => {
            for (name, value) in members {
                let known = &schema["properties"][name];
                assert!(!known.is_null(), "{place}/{name} is not in the schema");
                only_known_members(value, known, &format!("{place}/{name}"));
            }
        }
        Value::Array(items) => {
            for item in items {
                only_known_members(item, &schema["items"], place);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
