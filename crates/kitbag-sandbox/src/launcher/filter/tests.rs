//! The filter, run by an interpreter of the few instructions it uses.

use super::assemble::HERE;
use super::{Condition, FIRST_UNKNOWN, Rule, Sockets, Surroundings, assemble, program, rules};

/// What the program answers: zero is `allow`, anything else the error.
fn run(program: &[libc::sock_filter], number: u32, arguments: [u64; 6]) -> u32 {
    let mut data = Vec::new();
    data.extend_from_slice(&number.to_ne_bytes());
    data.extend_from_slice(&HERE.unwrap().to_ne_bytes());
    data.extend_from_slice(&[0; 8]);
    for argument in arguments {
        data.extend_from_slice(&argument.to_ne_bytes());
    }
    let (mut at, mut accumulator) = (0, 0_u32);
    loop {
        let libc::sock_filter { code, jt, jf, k } = program[at];
        at += 1;
        let branch = |taken: bool| usize::from(if taken { jt } else { jf });
        match u32::from(code) {
            0x20 => {
                let from = usize::try_from(k).unwrap();
                accumulator = u32::from_ne_bytes(data[from..from + 4].try_into().unwrap());
            }
            0x54 => accumulator &= k,
            0x05 => at += usize::try_from(k).unwrap(),
            0x15 => at += branch(accumulator == k),
            0x25 => at += branch(accumulator > k),
            0x35 => at += branch(accumulator >= k),
            0x45 => at += branch(accumulator & k != 0),
            0x06 if k == libc::SECCOMP_RET_ALLOW => return 0,
            0x06 => return k & 0xffff,
            other => panic!("instruction {other:#x}"),
        }
    }
}

fn number(call: libc::c_long) -> u32 {
    u32::try_from(call).unwrap()
}

const ALL: [(Sockets, Surroundings); 4] = [
    (Sockets::PairsOnly, Surroundings::Own),
    (Sockets::PairsOnly, Surroundings::Shared),
    (Sockets::OutgoingStreams, Surroundings::Own),
    (Sockets::OutgoingStreams, Surroundings::Shared),
];

/// The tree answers for every number what a list would.
#[test]
fn every_call_gets_what_its_rule_says() {
    for (sockets, surroundings) in ALL {
        let rules = rules(sockets, surroundings);
        let program = program(sockets, surroundings).unwrap();
        for call in 0..FIRST_UNKNOWN {
            let rule = rules.iter().find(|(number, _)| *number == call);
            let answer = run(&program, call, [0; 6]);
            match rule {
                None => assert_eq!(answer, 0, "{call}"),
                Some((_, Rule::Fails(errno))) => assert_eq!(answer, errno.unsigned_abs(), "{call}"),
                Some((_, Rule::FailsIf(..))) => {}
            }
        }
        for unknown in [FIRST_UNKNOWN, 5000, 0x4000_0000, 0x4000_0029, u32::MAX] {
            assert_eq!(run(&program, unknown, [0; 6]), number(libc::ENOSYS.into()));
        }
    }
}

#[test]
fn each_call_has_one_rule() {
    for (sockets, surroundings) in ALL {
        let mut numbers: Vec<u32> =
            rules(sockets, surroundings).iter().map(|rule| rule.0).collect();
        let all = numbers.len();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), all);
    }
}

#[test]
fn arguments_decide() {
    let pairs = program(Sockets::PairsOnly, Surroundings::Own).unwrap();
    let streams = program(Sockets::OutgoingStreams, Surroundings::Shared).unwrap();
    let eperm = number(libc::EPERM.into());
    let absent = number(libc::EAFNOSUPPORT.into());
    let case = |program: &[_], call, arguments: [i64; 6], expected: u32| {
        let arguments = arguments.map(i64::cast_unsigned);
        assert_eq!(run(program, number(call), arguments), expected, "{call} {arguments:?}");
    };
    case(&pairs, libc::SYS_clone, [0x0120_0011, 0, 0, 0, 0, 0], 0);
    case(&pairs, libc::SYS_clone, [0x1000_0011, 0, 0, 0, 0, 0], eperm);
    case(&pairs, libc::SYS_memfd_create, [0, 0, 0, 0, 0, 0], number(libc::ENOSYS.into()));
    case(&pairs, libc::SYS_memfd_create, [0, 0x9, 0, 0, 0, 0], 0);
    case(&pairs, libc::SYS_ioctl, [0, 0x5412, 0, 0, 0, 0], eperm);
    case(&pairs, libc::SYS_ioctl, [0, 0x5401, 0, 0, 0, 0], 0);
    // The kernel looks at the lower half of a request only.
    case(&pairs, libc::SYS_ioctl, [0, 0x1_0000_5412, 0, 0, 0, 0], eperm);
    case(&pairs, libc::SYS_socketpair, [1, 0x8_0001, 0, 0, 0, 0], 0);
    case(&pairs, libc::SYS_socketpair, [1, 2, 0, 0, 0, 0], eperm);
    case(&pairs, libc::SYS_socketpair, [2, 1, 0, 0, 0, 0], eperm);
    case(&pairs, libc::SYS_socket, [2, 1, 0, 0, 0, 0], eperm);
    case(&pairs, libc::SYS_prlimit64, [7, 0, 0, 0, 0, 0], 0);
    case(&streams, libc::SYS_prlimit64, [7, 0, 0, 0, 0, 0], eperm);
    case(&streams, libc::SYS_prlimit64, [0, 0, 0, 0, 0, 0], 0);
    case(&streams, libc::SYS_socket, [10, 0x8_0801, 6, 0, 0, 0], 0);
    case(&streams, libc::SYS_socket, [2, 1, 262, 0, 0, 0], absent);
    case(&streams, libc::SYS_socket, [2, 2, 0, 0, 0, 0], absent);
    case(&streams, libc::SYS_socket, [1, 1, 0, 0, 0, 0], absent);
    case(&streams, libc::SYS_sendto, [0, 0, 0, 0x2000_0000, 0, 0], eperm);
    case(&streams, libc::SYS_sendmsg, [0, 0, 0x2000_4000, 0, 0, 0], eperm);
    case(&streams, libc::SYS_sendmmsg, [0, 0, 0, 0x4000, 0, 0], 0);
    case(&streams, libc::SYS_setsockopt, [0, 6, 30, 0, 0, 0], eperm);
    case(&streams, libc::SYS_setsockopt, [0, 6, 1, 0, 0, 0], 0);
    case(&streams, libc::SYS_setsockopt, [0, 1, 23, 0, 0, 0], 0);
}

/// Far jumps are as good as near ones.
#[test]
fn a_long_program_jumps_right() {
    let rule = || {
        Rule::FailsIf(
            libc::EPERM,
            vec![Condition::Not(0, 0xff, vec![1, 2, 3]), Condition::Is(1, 9)],
        )
    };
    let rules: Vec<(u32, Rule)> = (0..200).map(|call| (call * 2, rule())).collect();
    let program = assemble(rules, 450).unwrap();
    assert!(program.len() > 1000);
    for call in 0..450 {
        let eperm = number(libc::EPERM.into());
        let ruled = call < 400 && call % 2 == 0;
        assert_eq!(run(&program, call, [4, 0, 0, 0, 0, 0]), if ruled { eperm } else { 0 });
        assert_eq!(run(&program, call, [0x102, 0, 0, 0, 0, 0]), 0);
        assert_eq!(run(&program, call, [3, 9, 0, 0, 0, 0]), if ruled { eperm } else { 0 });
    }
}
