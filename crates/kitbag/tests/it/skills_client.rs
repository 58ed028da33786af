//! The Skills extension as the official Rust SDK's own client sees it: every entry valid, every digest true.
//!
//! `KITBAG_PEER_SKILLS` names another collection than `examples/skills`.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use rmcp::model::{ReadResourceRequestParams, ResourceContents, SkillResource, SkillResources};
use rmcp::service::{RoleClient, RunningService};
use rmcp::{ClientLifecycleMode, ClientServiceExt as _};
use tokio::process::{Child, Command};

fn collection() -> PathBuf {
    let named = std::env::var_os("KITBAG_PEER_SKILLS");
    named.map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/skills"),
        PathBuf::from,
    )
}

async fn serve(home: &Path) -> (Child, RunningService<RoleClient, ()>) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_kitbag"))
        .args(["serve", "--skills"])
        .arg(collection())
        .env_clear()
        .env("HOME", home)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let pipes = (child.stdout.take().unwrap(), child.stdin.take().unwrap());
    let mode = ClientLifecycleMode::Discover {
        preferred_versions: vec![rmcp::model::ProtocolVersion::LATEST],
    };
    let client = ().serve_with_lifecycle(pipes, mode).await.unwrap();
    (child, client)
}

fn bytes(contents: &ResourceContents) -> Vec<u8> {
    use base64::Engine as _;
    match contents {
        ResourceContents::TextResourceContents { text, .. } => text.clone().into_bytes(),
        ResourceContents::BlobResourceContents { blob, .. } => {
            base64::engine::general_purpose::STANDARD.decode(blob).unwrap()
        }
        other => panic!("unknown contents: {other:?}"),
    }
}

async fn verify(client: &RunningService<RoleClient, ()>, file: &SkillResource) {
    let read =
        client.read_resource(ReadResourceRequestParams::new(file.uri.clone())).await.unwrap();
    assert_eq!(read.contents.len(), 1, "{}", file.uri);
    file.verify(&bytes(&read.contents[0])).unwrap();
}

#[tokio::test]
async fn decision_21_every_digest_of_the_skills_extension_verifies() {
    let home = tempfile::tempdir().unwrap();
    let (_child, client) = serve(home.path()).await;
    let skills = client.list_all_skills().await.unwrap();
    assert!(skills.len() >= 5, "{} skills", skills.len());
    let (mut verified, mut dynamic) = (0, 0);
    for skill in &skills {
        skill.validate().unwrap();
        match &skill.resources {
            SkillResources::Files(files) => {
                for file in files {
                    verify(&client, file).await;
                    verified += 1;
                }
            }
            _ => dynamic += 1,
        }
    }
    assert!(verified >= skills.len() - dynamic, "{verified} files, {dynamic} dynamic");
    println!("{} skills, {verified} files verified, {dynamic} dynamic", skills.len());
    client.cancel().await.unwrap();
}
