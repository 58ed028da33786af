//! One decision among 1,000 rules, for each kind of tool and for the worst mixes.

use divan::{Bencher, black_box};
use kitbag_permission::{
    Action, Bases, Effect, Entry, KnownTool, Layer, Mode, Origin, PathSubject, RuleSet, Subject,
    SubjectKind, ToolIdentity, Traits, WorkspaceTrust, decide,
};

const KNOWN: [KnownTool<'static>; 4] = [
    KnownTool { name: "Bash", subject: Some(SubjectKind::Command) },
    KnownTool { name: "Read", subject: Some(SubjectKind::Path) },
    KnownTool { name: "WebFetch", subject: Some(SubjectKind::Domain) },
    KnownTool { name: "Skill", subject: Some(SubjectKind::Text) },
];

const FILE: &str = "/home/me/app/crates/kitbag-tool/src/toolbox.rs";

fn main() {
    divan::main();
}

fn rules(text: impl Fn(u32) -> String) -> RuleSet {
    let entries = (0..1_000).map(|line| Entry {
        layer: Layer::User,
        origin: Origin::File { path: "settings.json".to_owned(), line },
        effect: [Effect::Deny, Effect::Ask, Effect::Allow][line as usize % 3],
        rule: text(line).parse().expect("the rules of a bench can be read"),
    });
    RuleSet::build(entries, &KNOWN, WorkspaceTrust::Trusted).0
}

fn mixed(line: u32) -> String {
    match line % 8 {
        0 => format!("Bash(tool{line}:*)"),
        1 => format!("Bash(git sub{line} -x)"),
        2 => format!("Read(dir{line}/**)"),
        3 => format!("Read(**/file{line}.*)"),
        4 => format!("mcp__server{line}"),
        5 => format!("mcp__files__tool{line}"),
        6 => format!("WebFetch(domain:*.host{line}.com)"),
        _ => format!("Skill(skill-{line})"),
    }
}

fn own(tool: &str, subject: Subject) -> Action {
    let tool = ToolIdentity::Own(tool.to_owned());
    Action { tool, shown_as: None, subject: Some(subject), claims: Traits::Untrusted }
}

fn bash() -> Action {
    own("Bash", Subject::Command("cargo test -p kitbag --all-targets 2>&1 | tail -n 20".to_owned()))
}

fn read(path: &str) -> Action {
    let bases = Bases { workspace: Some("/home/me/app"), home: Some("/home/me") };
    let path = PathSubject::new(path, bases);
    own("Read", Subject::Path(path.expect("the path is absolute")))
}

fn server() -> Action {
    let tool = ToolIdentity::Server { server: "files".to_owned(), tool: "read_file".to_owned() };
    Action { tool, shown_as: None, subject: None, claims: Traits::Untrusted }
}

fn measure(bencher: Bencher<'_, '_>, rules: &RuleSet, action: &Action) {
    bencher.bench(|| decide(black_box(rules), Mode::Ask, black_box(action)).verdict);
}

#[divan::bench]
fn mixed_server(bencher: Bencher<'_, '_>) {
    measure(bencher, &rules(mixed), &server());
}

#[divan::bench]
fn mixed_bash(bencher: Bencher<'_, '_>) {
    measure(bencher, &rules(mixed), &bash());
}

#[divan::bench]
fn mixed_read(bencher: Bencher<'_, '_>) {
    measure(bencher, &rules(mixed), &read(FILE));
}

#[divan::bench]
fn thousand_prefixes(bencher: Bencher<'_, '_>) {
    measure(bencher, &rules(|at| format!("Bash(tool{at} sub:*)")), &bash());
}

#[divan::bench]
fn thousand_directories(bencher: Bencher<'_, '_>) {
    measure(bencher, &rules(|at| format!("Read(dir{at}/**)")), &read(FILE));
}

#[divan::bench]
fn thousand_wild_globs(bencher: Bencher<'_, '_>) {
    measure(bencher, &rules(|at| format!("Read(**/d{at}*/*.{{rs,toml}})")), &read(FILE));
}

/// Decides about paths of which none is seen twice, so that the automaton of the globs meets new states.
fn measure_new_paths(bencher: Bencher<'_, '_>, rules: &RuleSet) {
    let mut number = 0_u32;
    bencher
        .with_inputs(|| {
            number = number.wrapping_mul(1_103_515_245).wrapping_add(12_345);
            read(&format!("/home/me/app/crates/d{}/src/m{number}.rs", number % 2_000))
        })
        .bench_local_values(|action| decide(black_box(rules), Mode::Ask, &action).verdict);
}

#[divan::bench(sample_count = 1_000, sample_size = 1)]
fn mixed_read_new_paths(bencher: Bencher<'_, '_>) {
    measure_new_paths(bencher, &rules(mixed));
}

/// The glob for a number.
type Shape = fn(u32) -> String;

/// One thousand globs of each shape, each glob another.
const SHAPES: [(&str, Shape); 10] = [
    ("braces", |at| format!("**/d{at}*/*.{{rs,toml}}")),
    ("name and extension", |at| format!("**/d{at}*/*.rs")),
    ("braces of names", |at| format!("**/{{d{at},e{at}}}/**/*.rs")),
    ("braces at the end", |at| format!("crates/**/*.{{rs,x{at}}}")),
    ("nested braces", |at| format!("src/{{a{{{at},x}},b}}/m*.{{rs,toml}}")),
    ("in the middle", |at| format!("**/*{at}*/**")),
    ("at the end", |at| format!("**/*{at}.rs")),
    ("classes", |at| format!("crates/[de]{at}[0-9]/**/*.[rc]s")),
    ("one character", |at| format!("crates/?{at}/src/m?*.rs")),
    ("letters only", |at| {
        let letter = |by: u32| char::from(b'a' + u8::try_from(at / by % 10).expect("below ten"));
        format!("**/[{}-z]*[{}-z]*[{}-z]*.rs", letter(100), letter(10), letter(1))
    }),
];

#[divan::bench(sample_count = 1_000, sample_size = 1, args = 0..SHAPES.len())]
fn thousand_of_shape_new_paths(bencher: Bencher<'_, '_>, shape: usize) {
    measure_new_paths(bencher, &rules(|at| format!("Read({})", SHAPES[shape].1(at))));
}

#[divan::bench(sample_count = 10, args = 0..SHAPES.len())]
fn compile_thousand_of_shape(bencher: Bencher<'_, '_>, shape: usize) {
    bencher.bench(|| rules(|at| format!("Read({})", SHAPES[shape].1(at))));
}

#[divan::bench]
fn thousand_that_all_hit(bencher: Bencher<'_, '_>) {
    measure(bencher, &rules(|_| "mcp__files__read_file".to_owned()), &server());
}

#[divan::bench(sample_count = 10)]
fn compile_thousand(bencher: Bencher<'_, '_>) {
    bencher.bench(|| rules(mixed));
}
