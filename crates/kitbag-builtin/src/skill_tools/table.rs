//! Which tool of which skill answers to which name.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use kitbag_skills::declaration::ToolDeclaration;
use kitbag_skills::{Catalog, Skill};
use kitbag_tool::{Refusal, ToolIdentity, ToolName, ToolSpec, gateway_name};
use serde_json::{Map, Value, json};

use super::answer::OutputCheck;

/// A tool that a used skill declares.
#[derive(Debug, Clone)]
pub struct DeclaredTool {
    /// Its name towards callers.
    pub name: ToolName,
    /// The skill.
    pub skill: Arc<Skill>,
    /// Its name within the skill.
    pub tool: String,
}

/// The tools that the used skills of `catalog` declare, sorted by name, whether or not they run here.
pub fn declared_tools(catalog: &Catalog) -> Vec<DeclaredTool> {
    let declared = |entry: &Arc<Entry>| DeclaredTool {
        name: entry.spec.name.clone(),
        skill: Arc::clone(&entry.skill),
        tool: entry.declared().name.clone(),
    };
    Table::of(catalog).entries().map(declared).collect()
}

/// The tools of one catalogue by their names.
#[derive(Debug, Default)]
pub(super) struct Table {
    generation: u64,
    tools: BTreeMap<ToolName, Arc<Entry>>,
}

/// One tool.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) skill: Arc<Skill>,
    /// Its place among the tools that the skill declares.
    at: usize,
    pub(super) spec: Arc<ToolSpec>,
    /// Made at the first answer.
    check: OnceLock<OutputCheck>,
}

/// The table of the newest catalogue that was asked for.
#[derive(Debug, Default)]
pub(super) struct Tables(Mutex<Arc<Table>>);

impl Tables {
    /// The table of `catalog`.
    pub(super) fn of(&self, catalog: &Catalog) -> Arc<Table> {
        let mut latest = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if latest.generation == catalog.generation {
            return Arc::clone(&latest);
        }
        let table = Arc::new(Table::of(catalog));
        if catalog.generation > latest.generation {
            *latest = Arc::clone(&table);
        }
        table
    }
}

impl Table {
    fn of(catalog: &Catalog) -> Self {
        let mut tools = BTreeMap::new();
        for skill in catalog.used() {
            for (at, tool) in skill.document.declaration.tools.iter().enumerate() {
                let name = wire_name(skill.name().as_str(), &tool.name);
                let spec = Arc::new(spec(name.clone(), tool));
                let skill = Arc::clone(skill);
                tools
                    .entry(name)
                    .or_insert_with(|| Arc::new(Entry { skill, at, spec, check: OnceLock::new() }));
            }
        }
        Self { generation: catalog.generation, tools }
    }

    pub(super) fn get(&self, name: &ToolName) -> Option<&Arc<Entry>> {
        self.tools.get(name)
    }

    pub(super) fn entries(&self) -> impl Iterator<Item = &Arc<Entry>> {
        self.tools.values()
    }
}

impl Entry {
    pub(super) fn declared(&self) -> &ToolDeclaration {
        &self.skill.document.declaration.tools[self.at]
    }

    /// The refusal as one of this tool; its message goes on in the middle of a sentence about it.
    pub(super) fn refusal(&self, refusal: Refusal) -> Refusal {
        let (tool, skill) = (&self.declared().name, self.skill.name());
        let message = format!("Tool {tool} of skill {skill}: {}", refusal.message);
        Refusal { message, ..refusal }
    }

    pub(super) fn check(&self) -> &OutputCheck {
        self.check.get_or_init(|| OutputCheck::compile(self.declared().output_schema.as_ref()))
    }
}

fn spec(name: ToolName, tool: &ToolDeclaration) -> ToolSpec {
    let any = || {
        let Value::Object(any) = json!({ "type": "object" }) else { return Map::new() };
        any
    };
    ToolSpec {
        description: Some(tool.description.clone()),
        output_schema: tool.output_schema.clone().map(Arc::new),
        ..ToolSpec::new(name, tool.input_schema.clone().unwrap_or_else(any))
    }
}

/// The name of a skill's tool towards clients, `SKILL__TOOL` (decision 16).
pub(crate) fn wire_name(skill: &str, tool: &str) -> ToolName {
    gateway_name(&ToolIdentity::SkillTool { skill: skill.to_owned(), tool: tool.to_owned() })
}
