//! The Skills extension of the protocol, decision 21.

use std::sync::Arc;

use kitbag_testkit::{Era, FakeSource};
use serde_json::{Value, json};

use crate::catalogue::Catalogue;
use crate::{Connected, connect_to, served};

async fn open(catalogue: Catalogue, era: Era) -> Connected {
    let source = FakeSource::new("fake");
    let mut served = served(&source);
    served.skills = Some(Arc::new(catalogue));
    let mut connected = connect_to(served, source, era);
    let about = connected.client.open().await;
    assert_eq!(
        about["capabilities"]["extensions"],
        json!({ "io.modelcontextprotocol/skills": { "directoryRead": true } }),
    );
    connected
}

fn some() -> Catalogue {
    let mut catalogue = Catalogue::default();
    catalogue.add("demo", &[("references/a b.md", "abc"), ("references/deep/c#.md", "")]);
    catalogue.add("große-sache", &[]);
    catalogue.add("large", &[("x.md", "x")]).dynamic = true;
    catalogue.add("other-name", &[]).frontmatter["name"] = json!("another");
    catalogue.add("untold", &[]).frontmatter.remove("description");
    catalogue
}

#[tokio::test]
async fn skills_are_listed_with_frontmatter_and_digests() {
    let mut connected = open(some(), Era::Stateless).await;
    let result = connected.client.request("skills/list", json!({})).await;
    assert_eq!((&result["ttlMs"], &result["cacheScope"]), (&json!(0), &json!("private")));
    insta::assert_json_snapshot!(result["skills"], @r#"
    [
      {
        "uri": "skill://demo/SKILL.md",
        "frontmatter": {
          "name": "demo",
          "description": "About demo.",
          "metadata": {
            "z": 1,
            "a": 2.1
          }
        },
        "resources": [
          {
            "uri": "skill://demo/SKILL.md",
            "digest": "sha256:230d8358dc8e8890b4c58deeb62912ee2f20357ae92a5cc861b98e68fe31acb5",
            "size": 4
          },
          {
            "uri": "skill://demo/references/a%20b.md",
            "digest": "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
            "size": 3
          },
          {
            "uri": "skill://demo/references/deep/c%23.md",
            "digest": "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            "size": 0
          }
        ]
      },
      {
        "uri": "skill://gro%C3%9Fe-sache/SKILL.md",
        "frontmatter": {
          "name": "große-sache",
          "description": "About große-sache.",
          "metadata": {
            "z": 1,
            "a": 2.1
          }
        },
        "resources": [
          {
            "uri": "skill://gro%C3%9Fe-sache/SKILL.md",
            "digest": "sha256:230d8358dc8e8890b4c58deeb62912ee2f20357ae92a5cc861b98e68fe31acb5",
            "size": 4
          }
        ]
      },
      {
        "uri": "skill://large/SKILL.md",
        "frontmatter": {
          "name": "large",
          "description": "About large.",
          "metadata": {
            "z": 1,
            "a": 2.1
          }
        },
        "resources": "dynamic"
      }
    ]
    "#);
}

#[tokio::test]
async fn a_skill_is_given_by_its_uri() {
    let mut connected = open(some(), Era::Stateless).await;
    let listed = connected.client.request("skills/list", json!({})).await;
    for skill in listed["skills"].as_array().unwrap() {
        let got = connected.client.request("skills/get", json!({ "uri": skill["uri"] })).await;
        assert_eq!(got["skill"], *skill);
    }
    for uri in [
        "skill://nope/SKILL.md",
        "skill://untold/SKILL.md",
        "skill://other-name/SKILL.md",
        "skill://demo/x/SKILL.md",
        "skill://demo/../demo/SKILL.md",
        "SKILL://demo/SKILL.md",
        "skill://d%65mo/SKILL.md",
        "file:///demo/SKILL.md",
    ] {
        let error = connected.client.try_request("skills/get", json!({ "uri": uri })).await;
        let error = error.unwrap_err();
        assert_eq!(
            (error.code, error.message, error.data),
            (-32602, format!("Skill not found: {uri}"), Some(json!({ "uri": uri }))),
        );
    }
}

#[tokio::test]
async fn directories_are_read() {
    let mut connected = open(some(), Era::Stateless).await;
    let mut read = async |uri: &str| {
        let params = json!({ "uri": uri });
        connected.client.try_request("resources/directory/read", params).await
    };
    assert_eq!(
        read("skill://demo").await.unwrap()["resources"],
        json!([
            { "uri": "skill://demo/SKILL.md", "name": "SKILL.md", "mimeType": "text/markdown", "size": 4 },
            { "uri": "skill://demo/references", "name": "references", "mimeType": "inode/directory" },
        ]),
    );
    assert_eq!(
        read("skill://demo/references").await.unwrap()["resources"],
        json!([
            { "uri": "skill://demo/references/a%20b.md", "name": "a b.md", "mimeType": "text/markdown", "size": 3 },
            { "uri": "skill://demo/references/deep", "name": "deep", "mimeType": "inode/directory" },
        ]),
    );
    assert_eq!(
        read("skill://demo/references/deep").await.unwrap()["resources"][0]["uri"],
        "skill://demo/references/deep/c%23.md",
    );
    for uri in
        ["skill://nope", "skill://demo/SKILL.md", "skill://demo/..", "skill://demo/%2e%2e", "x:y"]
    {
        let error = read(uri).await.unwrap_err();
        assert_eq!((error.code, error.message), (-32602, format!("Directory not found: {uri}")));
    }
}

#[tokio::test]
async fn hundreds_of_skills_are_given_once_each() {
    for era in crate::ERAS {
        let mut catalogue = Catalogue::default();
        let names: Vec<String> = (0..250).map(|n| format!("skill-{n:03}")).collect();
        for name in &names {
            catalogue.add(name, &[]);
        }
        let mut connected = open(catalogue, era).await;
        let (mut given, mut params, mut pages) = (Vec::new(), json!({}), 0);
        loop {
            let mut result = connected.client.request("skills/list", params).await;
            pages += 1;
            let Value::Array(skills) = result["skills"].take() else { panic!("no list") };
            given.extend(
                skills.iter().map(|s| s["frontmatter"]["name"].as_str().unwrap().to_owned()),
            );
            let Value::String(cursor) = result["nextCursor"].take() else { break };
            params = json!({ "cursor": cursor });
        }
        assert_eq!((given, pages), (names, 3));
    }
}

#[tokio::test]
async fn a_catalogue_that_panics_fails_one_request() {
    for era in crate::ERAS {
        let mut connected = open(some(), era).await;
        let params = json!({ "uri": "skill://broken/SKILL.md" });
        let error = connected.client.try_request("skills/get", params).await.unwrap_err();
        assert_eq!(
            (error.code, error.message.as_str()),
            (-32603, "`skills` failed inside; the call was given up"),
        );
        connected.client.request("skills/list", json!({})).await;
    }
}

#[tokio::test]
async fn only_cursors_of_the_same_list_are_taken() {
    let mut connected = open(some(), Era::Stateless).await;
    let client = &mut connected.client;
    for cursor in ["demo", "ZGVtbw", "dG9vbHMAZGVtbw"] {
        for (method, params) in [
            ("skills/list", json!({ "cursor": cursor })),
            ("resources/directory/read", json!({ "uri": "skill://demo", "cursor": cursor })),
        ] {
            let error = client.try_request(method, params).await.unwrap_err();
            assert_eq!((error.code, &*error.message), (-32602, "Invalid cursor"), "{method}");
        }
    }
    let error = client.try_request("skills/get", json!({})).await.unwrap_err();
    let expected = (-32602, "Invalid params for skills/get: uri: it is missing");
    assert_eq!((error.code, &*error.message), expected);
}
