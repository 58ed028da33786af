//! What a huge file costs in memory (K-26, K-31).
#![cfg(target_os = "linux")]

use std::fs;
use std::process::Command;

use kitbag_builtin::MAX_SKILL_MD_BYTES;
use serde_json::json;

use crate::bag::Bag;

/// Says to the process that a test starts that it is the one that measures.
const MEASURE: &str = "KITBAG_TEST_MEASURE";

/// How much the memory of a process may grow for a SKILL.md of any size.
const MAX_SKILL_MD_GROWTH_BYTES: u64 = 8 * 1024 * 1024;

/// How much it may grow for 4 MiB of files as base64 (section 7 of the skill server's promises).
const MAX_FILES_GROWTH_BYTES: u64 = 32 * 1024 * 1024;

const HUGE: u64 = 256 * 1024 * 1024;

/// Runs the test `name` in a process of its own, whose memory no other test touches; true inside of it.
fn is_alone(name: &str) -> bool {
    if std::env::var_os(MEASURE).is_some() {
        return true;
    }
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name, "--test-threads", "1"])
        .env(MEASURE, "1")
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && told.contains("1 passed"), "{told}");
    false
}

/// The most memory that this process ever had in use.
fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let kib: u64 = line.trim().trim_end_matches(" kB").parse().unwrap();
    kib * 1024
}

#[tokio::test]
async fn k26_a_huge_skill_md_is_cut_and_costs_little() {
    if !is_alone("memory::k26_a_huge_skill_md_is_cut_and_costs_little") {
        return;
    }
    let bag = Bag::new();
    bag.skill("r/small");
    bag.sparse("r/huge/SKILL.md", "---\nname: huge\ndescription: D\n---\nIt begins.\n", HUGE);
    bag.call("skill_load", json!({ "name": "small" })).await;
    let before = peak();
    let loaded = bag.call("skill_load", json!({ "name": "huge" })).await;
    let body = loaded["body"].as_str().unwrap();
    assert!(body.starts_with("It begins.\n") && body.len() < MAX_SKILL_MD_BYTES);
    assert_eq!(loaded["truncated"], true);
    assert!(loaded["truncationNote"].as_str().unwrap().contains("262144"));
    assert_eq!(loaded["files"], json!([{ "path": "SKILL.md", "size": HUGE }]));
    let listed = bag.call("skill_list", json!({})).await;
    assert_eq!(listed["skills"][0]["bytes"], HUGE);
    let prompt = bag.prompt("huge", &[]).await.unwrap();
    assert!(prompt.len() < MAX_SKILL_MD_BYTES + 1_000);
    assert!(bag.read("skill://huge/SKILL.md").await.is_err(), "whole or not at all");
    let growth = peak() - before;
    assert!(growth < MAX_SKILL_MD_GROWTH_BYTES, "it took {growth} bytes more");
}

#[tokio::test]
async fn k31_a_huge_file_costs_little() {
    if !is_alone("memory::k31_a_huge_file_costs_little") {
        return;
    }
    let bag = Bag::new();
    bag.skill("r/x").sparse("r/x/huge.bin", "", HUGE).write("r/x/small", "a");
    let output = async |paths: &[&str]| {
        bag.output("skill_file", json!({ "name": "x", "paths": paths })).await.unwrap()
    };
    drop(output(&["small"]).await);
    let before = peak();
    drop(output(&["huge.bin"; 4]).await);
    assert!(bag.read("skill://x/huge.bin").await.is_err());
    let growth = peak() - before;
    assert!(growth < MAX_FILES_GROWTH_BYTES, "it took {growth} bytes more");
}
