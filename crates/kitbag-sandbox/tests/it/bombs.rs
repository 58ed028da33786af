//! Programs that use up what they can, without a limit and with one.

use crate::host::{Host, User, is_root, names_a_layer};

const MIB: u64 = 1024 * 1024;

/// Runs a bomb in a tier, or plainly in `none`, and answers what the host and the bomb said; `None` where the tier was refused.
fn bomb(user: User, tier: &str, wishes: &[&str], command: [&str; 2]) -> Option<String> {
    let least = format!("least={tier}");
    let wishes: Vec<&str> = std::iter::once(least.as_str()).chain(wishes.iter().copied()).collect();
    let said = Host::of(user, tier, &wishes, &["bomb", command[0], command[1]]).run();
    (tier == "none" || said.is_held(tier)).then_some(said.text)
}

fn has(text: &str, line: &str) -> bool {
    text.lines().any(|each| each == line)
}

const HELD: [&str; 3] = ["lsm", "namespaces", "full"];

#[test]
fn memory_of_each_process() {
    let amount = (256 * MIB).to_string();
    for user in User::all() {
        assert!(has(&bomb(user, "none", &[], ["memory", &amount]).unwrap(), "held"));
        for tier in HELD {
            let Some(text) = bomb(user, tier, &["memory_each=67108864"], ["memory", &amount])
            else {
                continue;
            };
            assert!(has(&text, "refused"), "{user:?} {tier} {text}");
            let text = bomb(user, tier, &["memory_each=536870912"], ["memory", &amount]).unwrap();
            assert!(has(&text, "held"), "{user:?} {tier} {text}");
        }
    }
}

/// Eight processes, each within its own limit, that are too much together.
#[test]
fn memory_of_all_processes() {
    let amount = (128 * MIB).to_string();
    let limit = format!("memory_total={}", 64 * MIB);
    for user in User::all() {
        for tier in HELD {
            let wishes = ["memory_each=67108864", limit.as_str(), "wall_ms=20000"];
            let least = format!("least={tier}");
            let wishes: Vec<&str> = wishes.into_iter().chain([least.as_str()]).collect();
            let said = Host::of(user, tier, &wishes, &["bomb", "memory-of-many", &amount]).run();
            if let Some(why) = said.after("refused") {
                assert!(why.contains("`memory-total`") || names_a_layer(why), "{why}");
                continue;
            }
            assert_eq!(said.of("out-of-memory"), "true", "{user:?} {tier} {}", said.text);
            assert!(said.text.contains("first ended with 9"), "{}", said.text);
        }
    }
    // Without the limit, all are held, and nobody ends.
    let said = Host::of(
        User::Current,
        "full",
        &["least=full", "wall_ms=3000"],
        &["bomb", "memory-of-many", &amount],
    )
    .run();
    if said.is_held("full") {
        let held = said.text.lines().filter(|line| *line == "held").count();
        assert!(held == 8 && said.of("out-of-memory") == "false", "{}", said.text);
    }
}

#[test]
fn processes() {
    for user in User::all() {
        for tier in HELD {
            let least = format!("least={tier}");
            let wishes = [least.as_str(), "processes=24", "wall_ms=20000"];
            let said = Host::of(user, tier, &wishes, &["bomb", "fork", "200"]).run();
            if let Some(why) = said.after("refused") {
                assert!(why.contains("`processes`") || names_a_layer(why), "{why}");
                continue;
            }
            let made = |said: &crate::host::Said| -> u64 {
                let line = said.text.lines().find(|line| line.contains("os error 11"));
                let line = line.unwrap_or_else(|| panic!("{user:?} {tier} {}", said.text));
                line.split(' ').next().and_then(|number| number.parse().ok()).expect("a number")
            };
            // An ordinary user's other processes are counted where there is no namespace.
            let exact = tier != "lsm" || user == User::Current && is_root();
            let made = made(&said);
            assert!(if exact { made == 23 } else { made <= 23 }, "{user:?} {tier} {made}");
        }
        let wishes = ["least=lsm", "wall_ms=20000"];
        let said = Host::of(user, "full", &wishes, &["bomb", "fork", "200"]).run();
        assert!(said.after("refused").is_some() || has(&said.text, "200 all"), "{}", said.text);
    }
}

/// Where groups can't be made, root's limit can't be held, and an ordinary user's can.
#[test]
fn processes_of_root_need_a_group() {
    let run = |user, wishes: &[&str]| {
        let host =
            Host { without: "groups", ..Host::of(user, "full", wishes, &["bomb", "fork", "40"]) };
        host.run()
    };
    if is_root() {
        let said = run(User::Current, &["processes=24"]);
        let why = said.of("refused");
        assert!(why.contains("`processes`") || names_a_layer(why), "{}", said.text);
        let said = run(User::Current, &["processes=24", "allowed=processes"]);
        assert!(said.after("refused").is_some() || said.of("gap").starts_with("processes "));
    }
    for user in User::all() {
        let said = run(user, &["memory_total=67108864"]);
        let why = said.of("refused");
        assert!(why.contains("`memory-total`") || names_a_layer(why), "{}", said.text);
    }
}

#[test]
fn cpu_time() {
    for tier in HELD {
        let Some(text) = bomb(User::Current, tier, &["cpu=1", "wall_ms=110000"], ["cpu", "0"])
        else {
            continue;
        };
        // SIGXCPU, so that it can be told from a kill.
        assert!(has(&text, "ended Signaled(24)"), "{tier} {text}");
        let text = bomb(User::Current, tier, &["wall_ms=50"], ["cpu", "0"]).unwrap();
        assert!(has(&text, "ended TimedOut"), "{tier} {text}");
    }
}

#[test]
fn file_size_and_scratch() {
    let amount = (8 * MIB).to_string();
    for user in User::all() {
        for tier in HELD {
            let Some(text) = bomb(user, tier, &["file_size=2097152"], ["file", &amount]) else {
                continue;
            };
            assert!(has(&text, "one 2097152 File too large (os error 27)"), "{tier} {text}");
            let text = bomb(user, tier, &[], ["file", &amount]).unwrap();
            assert!(has(&text, "one 8388608 all"), "{tier} {text}");
            let least = format!("least={tier}");
            let bounded = [least.as_str(), "scratch=4194304"];
            let said = Host::of(user, tier, &bounded, &["bomb", "files", &amount]).run();
            match said.after("refused") {
                Some(why) => assert!(tier == "lsm" && why.contains("`scratch-size`"), "{why}"),
                None => assert!(said.text.contains("(os error 28)"), "{tier} {}", said.text),
            }
        }
    }
}

#[test]
fn descriptors() {
    for tier in HELD {
        let Some(text) = bomb(User::Current, tier, &["open_files=40"], ["descriptors", "0"]) else {
            continue;
        };
        assert!(has(&text, "37 Too many open files (os error 24)"), "{tier} {text}");
    }
}

/// A flood is read to its end, counted, and kept up to the limit; lines or no lines.
#[test]
fn output() {
    let amount = (64 * MIB).to_string();
    for kind in ["output", "output-of-one-line"] {
        for tier in HELD {
            let Some(text) = bomb(User::Current, tier, &[], [kind, &amount]) else { continue };
            assert!(has(&text, "ended Exited(0)"), "{tier} {}", &text[..200]);
            assert!(has(&text, "total 65536 67108864"), "{tier} {}", &text[..200]);
            assert!(has(&text, "truncated true"));
        }
    }
}
