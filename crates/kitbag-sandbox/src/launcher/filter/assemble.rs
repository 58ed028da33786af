//! From rules to the kernel's classic BPF.

use libc::{
    BPF_ABS, BPF_ALU, BPF_AND, BPF_JA, BPF_JEQ, BPF_JGE, BPF_JGT, BPF_JMP, BPF_JSET, BPF_K, BPF_LD,
    BPF_RET, BPF_W, SECCOMP_RET_ALLOW, SECCOMP_RET_ERRNO, SECCOMP_RET_KILL_PROCESS, sock_filter,
};

/// Where the call number, the architecture and the arguments lie in `struct seccomp_data`.
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;
const ARGUMENTS: u32 = 16;

/// The name of this architecture in `linux/audit.h`.
#[cfg(target_arch = "x86_64")]
pub(super) const HERE: Option<u32> = Some(0xc000_003e);
#[cfg(target_arch = "aarch64")]
pub(super) const HERE: Option<u32> = Some(0xc000_00b7);
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(super) const HERE: Option<u32> = None;

/// What a call gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Rule {
    /// This error, always.
    Fails(i32),
    /// This error, if one of the conditions is met.
    FailsIf(i32, Vec<Condition>),
}

/// A condition on the lower half of an argument: all of these arguments are 32 bits wide in the kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Condition {
    /// The argument has one of these bits.
    AnyBit(u8, u32),
    /// The argument is this.
    Is(u8, u32),
    /// Under this mask, the argument is none of these.
    Not(u8, u32, Vec<u32>),
    /// Two arguments are these.
    Pair((u8, u32), (u8, u32)),
}

/// Makes a program of the rules, of which each call has at most one. From `unknown` on all calls are absent.
pub(crate) fn assemble(mut rules: Vec<(u32, Rule)>, unknown: u32) -> Option<Vec<sock_filter>> {
    rules.sort_by_key(|(number, _)| *number);
    let ranges = join(rules);
    let mut program = vec![
        load(ARCHITECTURE),
        jump(BPF_JEQ, HERE?, 1, 0),
        answer(SECCOMP_RET_KILL_PROCESS),
        load(NUMBER),
        jump(BPF_JGE, unknown, 0, 1),
        fail(libc::ENOSYS),
    ];
    program.extend(tree(&ranges));
    Some(program)
}

/// Calls in a row that get the same.
struct Range {
    first: u32,
    last: u32,
    rule: Rule,
}

fn join(rules: Vec<(u32, Rule)>) -> Vec<Range> {
    let mut ranges: Vec<Range> = Vec::with_capacity(rules.len());
    for (number, rule) in rules {
        match ranges.last_mut() {
            Some(range)
                if range.last + 1 == number
                    && range.rule == rule
                    && matches!(rule, Rule::Fails(_)) =>
            {
                range.last = number;
            }
            _ => ranges.push(Range { first: number, last: number, rule }),
        }
    }
    ranges
}

/// Halves until one range is left. The call's number is in the accumulator.
fn tree(ranges: &[Range]) -> Vec<sock_filter> {
    match ranges {
        [] => vec![answer(SECCOMP_RET_ALLOW)],
        [range] => leaf(range),
        _ => {
            let (lower, upper) = ranges.split_at(ranges.len() / 2);
            let lower = tree(lower);
            let mut program = match u8::try_from(lower.len()) {
                Ok(distance) => vec![jump(BPF_JGE, upper[0].first, distance, 0)],
                Err(_) => vec![jump(BPF_JGE, upper[0].first, 0, 1), skip(lower.len())],
            };
            program.extend(lower);
            program.extend(tree(upper));
            program
        }
    }
}

fn leaf(range: &Range) -> Vec<sock_filter> {
    let body = match &range.rule {
        Rule::Fails(errno) => vec![fail(*errno)],
        Rule::FailsIf(errno, conditions) => {
            let mut body: Vec<sock_filter> =
                conditions.iter().flat_map(|each| condition(each, *errno)).collect();
            body.push(answer(SECCOMP_RET_ALLOW));
            body
        }
    };
    let length = u8::try_from(body.len()).expect("a rule has a handful of conditions");
    let mut program =
        vec![jump(BPF_JGE, range.first, 0, length + 1), jump(BPF_JGT, range.last, length, 0)];
    if range.first == range.last {
        program = vec![jump(BPF_JEQ, range.first, 0, length)];
    }
    program.extend(body);
    program.push(answer(SECCOMP_RET_ALLOW));
    program
}

/// Answers the error if the condition is met, else goes on behind itself.
fn condition(condition: &Condition, errno: i32) -> Vec<sock_filter> {
    match condition {
        Condition::AnyBit(argument, bits) => {
            vec![load_argument(*argument), jump(BPF_JSET, *bits, 0, 1), fail(errno)]
        }
        Condition::Is(argument, value) => {
            vec![load_argument(*argument), jump(BPF_JEQ, *value, 0, 1), fail(errno)]
        }
        Condition::Not(argument, mask, values) => {
            let mut program = vec![load_argument(*argument)];
            if *mask != u32::MAX {
                program.push(statement(BPF_ALU | BPF_AND | BPF_K, *mask));
            }
            for (index, value) in values.iter().enumerate() {
                let behind = u8::try_from(values.len() - index).expect("a handful of values");
                program.push(jump(BPF_JEQ, *value, behind, 0));
            }
            program.push(fail(errno));
            program
        }
        Condition::Pair((first, one), (second, two)) => vec![
            load_argument(*first),
            jump(BPF_JEQ, *one, 0, 3),
            load_argument(*second),
            jump(BPF_JEQ, *two, 0, 1),
            fail(errno),
        ],
    }
}

fn statement(code: u32, k: u32) -> sock_filter {
    let code = u16::try_from(code).expect("instruction codes have 16 bits");
    sock_filter { code, jt: 0, jf: 0, k }
}

fn load(offset: u32) -> sock_filter {
    statement(BPF_LD | BPF_W | BPF_ABS, offset)
}

/// Loads the half of an argument that counts; both architectures keep it first.
fn load_argument(argument: u8) -> sock_filter {
    load(ARGUMENTS + 8 * u32::from(argument))
}

fn jump(test: u32, k: u32, then: u8, otherwise: u8) -> sock_filter {
    sock_filter { jt: then, jf: otherwise, ..statement(BPF_JMP | test | BPF_K, k) }
}

fn skip(distance: usize) -> sock_filter {
    statement(
        BPF_JMP | BPF_JA,
        u32::try_from(distance).expect("a program has a few hundred instructions"),
    )
}

fn answer(action: u32) -> sock_filter {
    statement(BPF_RET | BPF_K, action)
}

fn fail(errno: i32) -> sock_filter {
    answer(SECCOMP_RET_ERRNO | errno.unsigned_abs())
}
