//! Skills that call skills, on both ways: straight from a registry, and through the toolbox that called them.

use std::convert::Infallible;
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use kitbag_permission::{Effect, Entry, Layer, Mode, Origin, RuleSet, WorkspaceTrust};
use kitbag_sdk::{Bodies, Extensions, MAX_DEPTH, Registry, RunContext, SkillCall, SkillError};
use kitbag_tool::{
    Audit, AuditEntry, AuditFailed, BoxFuture, CallContext, CallError, Content, Gate, Offer,
    OfferedTool, Source, SourceId, ToolCall, ToolOutput, ToolSpec, Toolbox,
};
use serde_json::{Map, Value, json};
use tokio::sync::watch;
use tokio::time::{Instant, sleep};

use crate::support::{Text, named, object, raw, reading, registry, text};

type Arguments = Map<String, Value>;

const WAYS: [Way; 2] = [Way::Straight, Way::Toolbox];

/// How the outer skill is called.
#[derive(Debug, Clone, Copy)]
enum Way {
    Straight,
    Toolbox,
}

impl Way {
    async fn call(
        self,
        registry: &Registry,
        skill: &str,
        arguments: Value,
        extensions: Extensions,
    ) -> ToolOutput {
        let context = CallContext { extensions, ..CallContext::default() };
        match self {
            Self::Straight => {
                let asked = SkillCall::new(skill, arguments).unwrap().within(&context);
                registry.call(asked).await.unwrap()
            }
            Self::Toolbox => {
                let toolbox = open(vec![Arc::new(registry.clone())]);
                through(&toolbox, skill, arguments, &context).await.unwrap()
            }
        }
    }

    async fn ask(self, registry: &Registry, skill: &str) -> ToolOutput {
        self.call(registry, skill, json!({}), Extensions::default()).await
    }
}

fn open(sources: Vec<Arc<dyn Source>>) -> Toolbox {
    Toolbox::new(sources, Gate::open(), None)
}

async fn through(
    toolbox: &Toolbox,
    skill: &str,
    arguments: Value,
    context: &CallContext,
) -> Result<ToolOutput, CallError> {
    let call = ToolCall { name: skill.parse().unwrap(), arguments: object(arguments) };
    toolbox.call(call, context).await
}

/// A skill that calls `inner` and tells its failure as text.
fn telling(name: &str, inner: &'static str) -> kitbag_sdk::Definition {
    raw(name, move |context: RunContext, arguments: Arguments| async move {
        let told = match context.call(inner, arguments).await {
            Ok(output) => output,
            Err(error) => ToolOutput::text(format!("{error:?}")),
        };
        Ok::<_, Infallible>(told)
    })
}

#[tokio::test]
async fn t60_t61_t63_t64_bodies_reach_the_skills_that_they_are_for() {
    let outer = |context: RunContext, _: Arguments| async move {
        let inner = context.call("inner", Map::new()).await?;
        let own = context.nested("inner", Map::new()).body("inner", "innermost");
        let given = context.registry().call(own).await?;
        let after = context.call("inner", Map::new()).await?;
        let seen = [context.skill_body(), &text(&inner), &text(&given), &text(&after)].join(" | ");
        Ok::<_, SkillError>(ToolOutput::text(seen))
    };
    let outer = named("outer").body("outer's").raw(json!({}), outer).unwrap();
    let registry = registry([outer, reading("inner", "inner's")]);
    for way in WAYS {
        for (bodies, seen) in [
            (Bodies::default(), "outer's | inner's | innermost | inner's"),
            (Bodies::default().with("outer", "put in"), "put in | inner's | innermost | inner's"),
            (Bodies::default().with("inner", "put in"), "outer's | put in | innermost | put in"),
            (Bodies::default().with("inner", ""), "outer's |  | innermost | "),
        ] {
            let mut extensions = Extensions::default();
            extensions.insert(bodies);
            let output = way.call(&registry, "outer", json!({}), extensions).await;
            assert_eq!(text(&output), seen, "{way:?}");
        }
        assert_eq!(
            text(&way.ask(&registry, "outer").await),
            "outer's | inner's | innermost | inner's"
        );
    }
}

#[tokio::test]
async fn t29_t55_values_of_the_caller_and_of_the_handler_travel_along() {
    struct Caller(&'static str);
    struct Handler(&'static str);
    let inner = raw("inner", |context: RunContext, _: Arguments| async move {
        let caller = context.extensions().get::<Caller>().map_or("-", |value| value.0);
        let handler = context.extensions().get::<Handler>().map_or("-", |value| value.0);
        let text = format!("{caller} {handler} {}", context.depth());
        Ok::<_, Infallible>(ToolOutput::text(text))
    });
    let outer = raw("outer", |context: RunContext, _: Arguments| async move {
        let asked = context.nested("inner", Map::new()).extension(Handler("outer"));
        context.registry().call(asked).await
    });
    let registry = registry([inner, outer]);
    for way in WAYS {
        let mut extensions = Extensions::default();
        extensions.insert(Caller("me"));
        let output = way.call(&registry, "outer", json!({}), extensions).await;
        assert_eq!(text(&output), "me outer 1", "{way:?}");
    }
}

#[derive(Debug, PartialEq)]
struct Broken(u8);

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "broken {}", self.0)
    }
}

impl std::error::Error for Broken {}

#[tokio::test]
async fn t26_t31_t33_failures_of_a_nested_skill_keep_their_types() {
    let broken = raw("broken", |_: RunContext, _: Arguments| async { Err(Broken(7)) });
    let nan = named("nan")
        .typed(|_: RunContext, _: Text| async { Ok::<_, Infallible>(kitbag_sdk::Json(f64::NAN)) })
        .unwrap();
    let panicking = raw("panicking", |_: RunContext, arguments: Arguments| async move {
        assert!(!arguments.is_empty(), "there are none");
        Ok::<_, Infallible>(ToolOutput::default())
    });
    let flagged = raw("flagged", |_: RunContext, _: Arguments| async {
        Ok::<_, Infallible>(ToolOutput::error("no"))
    });
    let strict = named("strict").typed(crate::support::echo).unwrap();
    let all = raw("all", |context: RunContext, _: Arguments| async move {
        let error = |skill| {
            let context = context.clone();
            async move { context.call(skill, object(json!({}))).await.unwrap_err() }
        };
        let SkillError::Handler { skill, source } = error("broken").await else { panic!() };
        assert_eq!((skill.as_str(), source.downcast_ref()), ("broken", Some(&Broken(7))));
        let unknown = error("absent").await;
        assert!(unknown.is_unknown("absent") && !unknown.is_unknown("all"), "{unknown}");
        assert!(error("not a name").await.is_unknown("not a name"));
        assert!(matches!(error("nan").await, SkillError::Output { skill, .. } if skill == "nan"));
        let SkillError::Panicked { skill, message } = error("panicking").await else { panic!() };
        assert_eq!((skill.as_str(), message.as_str()), ("panicking", "there are none"));
        let wrong = context.call("strict", object(json!({ "text": 1 }))).await.unwrap_err();
        let SkillError::Input { skill, pointer, .. } = wrong else { panic!("{wrong}") };
        assert_eq!((skill.as_str(), pointer.as_str()), ("strict", "/text"));
        let flagged = context.call("flagged", Map::new()).await.unwrap();
        assert_eq!(flagged, ToolOutput::error("no"));
        Ok::<_, Infallible>(ToolOutput::text("kept"))
    });
    let registry = registry([broken, nan, panicking, flagged, strict, all]);
    for way in WAYS {
        assert_eq!(text(&way.ask(&registry, "all").await), "kept", "{way:?}");
    }
}

#[tokio::test]
async fn t32_ours_the_depth_is_bounded_on_both_ways() {
    let down = raw("down", |context: RunContext, _: Arguments| async move {
        match context.call("down", Map::new()).await {
            Err(SkillError::Depth { limit, .. }) => {
                Ok(ToolOutput::text(format!("{} of {limit}", context.depth())))
            }
            other => other,
        }
    });
    let registry = registry([down]);
    for way in WAYS {
        let said = text(&way.ask(&registry, "down").await);
        assert_eq!(said, format!("{MAX_DEPTH} of {MAX_DEPTH}"), "{way:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn t29_t65_the_deadline_of_the_caller_holds_for_what_it_calls_through_the_toolbox() {
    let when = raw("when", |context: RunContext, _: Arguments| async move {
        let left = context.deadline().map(|deadline| deadline - Instant::now());
        Ok::<_, Infallible>(ToolOutput::text(format!("{left:?}")))
    });
    let outer = |context: RunContext, _: Arguments| async move {
        let soon = Instant::now() + Duration::from_millis(5);
        let own = context.call("when", Map::new()).await?;
        let nested = context.nested("when", Map::new()).no_later_than(soon);
        let earlier = context.registry().call(nested).await?;
        Ok::<_, SkillError>(ToolOutput::text(format!("{} {}", text(&own), text(&earlier))))
    };
    let short = named("short").timeout(Duration::from_millis(10)).raw(json!({}), outer).unwrap();
    let registry = registry([when, raw("outer", outer), short]);
    let toolbox = open(vec![Arc::new(registry)]);
    for (skill, said) in [("outer", "Some(20ms) Some(5ms)"), ("short", "Some(10ms) Some(5ms)")] {
        let deadline = Some(Instant::now() + Duration::from_millis(20));
        let context = CallContext { deadline, ..CallContext::default() };
        let output = through(&toolbox, skill, json!({}), &context).await.unwrap();
        assert_eq!(text(&output), said);
    }
}

/// A task that a handler leaves behind cannot call on.
#[tokio::test(start_paused = true)]
async fn t29_t65_what_a_nested_call_belongs_to_ends_it() {
    let waiting = raw("waiting", |_: RunContext, _: Arguments| async {
        sleep(Duration::from_hours(1)).await;
        Ok::<_, Infallible>(ToolOutput::default())
    });
    let (told, mut tells) = tokio::sync::mpsc::channel(1);
    let leaving = raw("leaving", move |context: RunContext, _: Arguments| {
        let told = told.clone();
        async move {
            drop(tokio::spawn(async move {
                let ended = context.call("waiting", Map::new()).await;
                told.send((ended, Instant::now())).await.unwrap();
            }));
            sleep(Duration::from_millis(1)).await;
            Ok::<_, Infallible>(ToolOutput::text("left"))
        }
    });
    let registry = registry([waiting, leaving]);
    for way in WAYS {
        let begun = Instant::now();
        assert_eq!(text(&way.ask(&registry, "leaving").await), "left");
        let (ended, at) = tells.recv().await.unwrap();
        assert!(matches!(ended, Err(SkillError::Cancelled { .. })), "{way:?}: {ended:?}");
        assert!(at - begun < Duration::from_secs(1));
    }
}

/// Keeps the lines of a log.
#[derive(Default)]
struct Lines(Mutex<Vec<String>>);

impl Audit for Lines {
    fn record(&self, entry: AuditEntry) {
        let line = format!("{}: {} {:?}", entry.principal, entry.tool, entry.decision);
        self.0.lock().unwrap().push(line);
    }

    fn record_at_once(&self, entry: AuditEntry) -> BoxFuture<'_, Result<(), AuditFailed>> {
        self.record(entry);
        Box::pin(async { Ok(()) })
    }
}

/// What a rule refuses a caller, no skill gets for it.
#[tokio::test]
async fn a_rule_that_denies_the_nested_skill_holds() {
    let registry = registry([
        telling("outer", "inner"),
        reading("inner", "secret"),
        raw("careless", |context: RunContext, _: Arguments| async move {
            context.call("inner", Map::new()).await
        }),
    ]);
    let entry = |effect, rule: &str| Entry {
        layer: Layer::User,
        origin: Origin::File { path: "settings.json".to_owned(), line: 3 },
        effect,
        rule: rule.parse().unwrap(),
    };
    let rules = vec![entry(Effect::Deny, "skill(inner, inner)")];
    let (rules, problems) = RuleSet::build(rules, &[], WorkspaceTrust::Trusted);
    assert_eq!(problems.len(), 0);
    let lines = Arc::new(Lines::default());
    let gate = Gate::new(rules, Mode::FullAuto);
    let toolbox = Toolbox::new(vec![Arc::new(registry)], gate, Some(lines.clone()));
    let context = CallContext::default();
    let output = through(&toolbox, "outer", json!({}), &context).await.unwrap();
    let said = text(&output);
    assert!(said.starts_with(r#"Denied { skill: "inner""#), "{said}");
    assert!(said.contains("skill(inner, inner)") && said.contains("settings.json:3"), "{said}");
    let output = through(&toolbox, "careless", json!({}), &context).await.unwrap();
    let said = text(&output);
    assert!(output.is_error, "{said}");
    assert!(said.starts_with("skill `careless` failed: skill `inner` was not called: "), "{said}");
    insta::assert_snapshot!(lines.0.lock().unwrap().join("\n"), @r"
    skill outer for person: inner Denied
    person: outer Allowed
    skill careless for person: inner Denied
    person: careless Allowed
    ");
}

/// A tool of another kind that calls a tool and passes on whatever comes, values included.
struct Between {
    id: SourceId,
    offer: watch::Sender<Arc<Offer>>,
}

impl Between {
    fn new() -> Self {
        let schema = object(json!({ "type": "object" }));
        let spec = ToolSpec::new("between".parse().unwrap(), schema);
        let tool = Arc::new(OfferedTool::of_server(spec, "between", "between"));
        let offer = Offer { tools: vec![tool], prompts: None, resources: None };
        Self { id: "between".parse().unwrap(), offer: watch::Sender::new(Arc::new(offer)) }
    }
}

impl Source for Between {
    fn id(&self) -> &SourceId {
        &self.id
    }

    fn offer(&self) -> watch::Receiver<Arc<Offer>> {
        self.offer.subscribe()
    }

    fn call<'a>(
        &'a self,
        _call: ToolCall,
        context: &'a CallContext,
    ) -> BoxFuture<'a, Result<ToolOutput, CallError>> {
        Box::pin(async {
            let asked = ToolCall { name: "broken".parse().unwrap(), arguments: Map::new() };
            let mut output = context.call(asked).await?;
            output.content.insert(0, Content::Text("between:".to_owned()));
            Ok(output)
        })
    }
}

/// A failure goes to the skill that called, not past a tool that made something else of it.
#[tokio::test]
async fn t31_ours_a_tool_between_two_skills_has_the_last_word() {
    let broken = raw("broken", |_: RunContext, _: Arguments| async { Err(Broken(7)) });
    let registry = registry([broken, telling("outer", "between")]);
    let toolbox = open(vec![Arc::new(registry), Arc::new(Between::new())]);
    let output = through(&toolbox, "outer", json!({}), &CallContext::default()).await.unwrap();
    assert_eq!(text(&output), "between:");
    assert!(output.is_error);
}
