//! The statements, one function each.

/// Makes an async test of every statement about typed skills, under [tokio's](https://docs.rs/tokio) test runtime.
/// The expression gives a [`Subject`](crate::Subject), and is evaluated in each test.
#[macro_export]
macro_rules! statements {
    ($subject:expr) => {
        $crate::statements!(@tests $subject;
            t4_t20_t22_t23_the_list_is_sorted_and_says_what_skills_do
            t25_a_call_names_the_skill
            t26_t27_an_unknown_name_is_an_error_of_its_own
            t28_no_arguments_are_an_empty_object
            t30_a_result_that_says_it_failed_is_a_result
            t31_t49_an_error_of_the_handler_is_told_with_the_skills_name
            t32_a_skill_calls_another
            t32_ours_skills_call_skills_sixteen_deep
            t26_t33_an_inner_unknown_name_is_not_the_outer_one
            t34_t35_a_panic_fails_one_call
            t40_t41_a_schema_is_self_contained_and_closed
            t43_nothing_leaks_into_the_next_call
            t44_arguments_come_as_they_were_given
            t45_without_arguments_the_skill_sees_its_defaults
            t46_t47_t48_input_is_refused_with_its_place
            t50_t52_an_output_is_one_block_of_compact_json_and_structured_content
            t51_a_number_that_json_cannot_write_is_an_error_with_its_place
            t52_ours_what_is_no_object_is_text_alone
            t53_rich_content_comes_whole
            t56_t58_a_skill_knows_its_name_and_its_body
            t65_the_answer_comes_at_the_deadline
            t66_a_nested_call_gives_the_same_bytes
        );
    };
    (@tests $subject:expr; $($name:ident)*) => {
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                $crate::all::$name(&mut $subject).await;
            }
        )*
    };
}

/// What [`statements!`](crate::statements) makes tests of.
#[expect(missing_docs, reason = "the names say it")]
pub mod all {
    use serde_json::{Value, json};

    use crate::{Answer, PROSE, Subject};

    fn result(text: &str) -> Answer {
        Answer::Result(text.to_owned())
    }

    /// A call that failed, whose text holds all of these.
    async fn fails(subject: &mut impl Subject, skill: &str, arguments: Value, words: &[&str]) {
        let answer = subject.call(skill, Some(arguments.clone())).await;
        assert!(answer.is_error(), "{skill} {arguments}: {answer:?}");
        let text = answer.text();
        assert!(words.iter().all(|word| text.contains(word)), "{words:?} are in: {text}");
        assert!(answer.value().get("structuredContent").is_none(), "{answer:?}");
    }

    async fn works(subject: &mut impl Subject) {
        let answer = subject.call("echo", Some(json!({ "text": "still here" }))).await;
        assert_eq!(answer.text(), r#"{"text":"still here"}"#);
    }

    pub async fn t4_t20_t22_t23_the_list_is_sorted_and_says_what_skills_do(
        subject: &mut impl Subject,
    ) {
        let tools = subject.tools().await;
        let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
        assert!(names.is_sorted() && names.contains(&"order"), "{names:?}");
        for tool in &tools {
            assert_eq!(tool["description"], "Does what the statements need.", "{tool}");
            assert_eq!(tool["inputSchema"]["type"], "object", "{tool}");
        }
        assert_eq!(subject.tools().await, tools);
    }

    pub async fn t25_a_call_names_the_skill(subject: &mut impl Subject) {
        for (skill, text) in [("echo", "a"), ("echo.loud", "A")] {
            let answer = subject.call(skill, Some(json!({ "text": "a" }))).await;
            assert_eq!(answer.value()["structuredContent"], json!({ "text": text }));
        }
    }

    pub async fn t26_t27_an_unknown_name_is_an_error_of_its_own(subject: &mut impl Subject) {
        let answer = subject.call("nope", None).await;
        let Answer::Unknown(text) = answer else { panic!("{answer:?}") };
        assert!(text.contains("nope"), "{text}");
    }

    pub async fn t28_no_arguments_are_an_empty_object(subject: &mut impl Subject) {
        let none = subject.call("given", None).await;
        assert_eq!(none.value()["structuredContent"], json!({}));
        assert_eq!(none, subject.call("given", Some(json!({}))).await);
    }

    pub async fn t30_a_result_that_says_it_failed_is_a_result(subject: &mut impl Subject) {
        let answer = subject.call("failing", None).await;
        let whole = r#"{"content":[{"type":"text","text":"it did not work"}],"isError":true}"#;
        assert_eq!(answer, result(whole));
    }

    pub async fn t31_t49_an_error_of_the_handler_is_told_with_the_skills_name(
        subject: &mut impl Subject,
    ) {
        fails(subject, "broken", json!({}), &["`broken`", "broken 7"]).await;
    }

    pub async fn t32_a_skill_calls_another(subject: &mut impl Subject) {
        let errand = json!({ "skill": "echo.loud", "arguments": { "text": "a" } });
        let answer = subject.call("outer", Some(errand)).await;
        assert_eq!(answer.text(), r#"{"text":"A"}"#);
    }

    pub async fn t32_ours_skills_call_skills_sixteen_deep(subject: &mut impl Subject) {
        assert_eq!(subject.call("down", None).await.text(), "stopped below 16 of 16");
    }

    pub async fn t26_t33_an_inner_unknown_name_is_not_the_outer_one(subject: &mut impl Subject) {
        fails(subject, "outer", json!({ "skill": "absent" }), &["`outer`", "`absent`"]).await;
    }

    pub async fn t34_t35_a_panic_fails_one_call(subject: &mut impl Subject) {
        fails(subject, "panicking", json!({ "now": true }), &[]).await;
        assert_eq!(subject.call("panicking", None).await.text(), "fine");
        works(subject).await;
    }

    pub async fn t40_t41_a_schema_is_self_contained_and_closed(subject: &mut impl Subject) {
        let tools = subject.tools().await;
        let order = tools.iter().find(|tool| tool["name"] == "order").unwrap();
        let schema = &order["inputSchema"];
        let text = schema.to_string();
        assert!(!["$ref", "$schema", "$id"].iter().any(|key| text.contains(key)), "{text}");
        assert_eq!(schema["additionalProperties"], false);
        assert_eq!(schema["required"], json!(["count"]));
        let echo = tools.iter().find(|tool| tool["name"] == "echo").unwrap();
        let property = &echo["inputSchema"]["properties"]["text"];
        assert_eq!(property["description"], "What to give back.");
    }

    pub async fn t43_nothing_leaks_into_the_next_call(subject: &mut impl Subject) {
        let full = json!({ "count": 1, "notes": ["n"], "address": { "street": "s" } });
        let answer = subject.call("order", Some(full.clone())).await;
        assert_eq!(answer.value()["structuredContent"], full);
        let answer = subject.call("order", Some(json!({ "count": 2 }))).await;
        let small = json!({ "count": 2, "notes": [], "address": null });
        assert_eq!(answer.value()["structuredContent"], small);
    }

    pub async fn t44_arguments_come_as_they_were_given(subject: &mut impl Subject) {
        let odd = "\u{7f}\u{202e}\u{2028}\u{1f600}\"\\/\t";
        let answer = subject.call("echo", Some(json!({ "text": odd }))).await;
        assert_eq!(answer.value()["structuredContent"]["text"], odd);
        let given =
            json!({ "z": 18_446_744_073_709_551_615_u64, "a": { "deep": [-1, 0.1, null] } });
        let answer = subject.call("given", Some(given.clone())).await;
        assert_eq!(answer.value()["structuredContent"].to_string(), given.to_string());
    }

    pub async fn t45_without_arguments_the_skill_sees_its_defaults(subject: &mut impl Subject) {
        assert_eq!(subject.call("echo", None).await.text(), r#"{"text":""}"#);
    }

    pub async fn t46_t47_t48_input_is_refused_with_its_place(subject: &mut impl Subject) {
        for (arguments, place) in [
            (json!({}), "count"),
            (json!({ "count": "one" }), "count"),
            (json!({ "count": 4_294_967_296_u64 }), "count"),
            (json!({ "count": 1, "cuont": 2 }), "cuont"),
            (json!({ "count": 1, "notes": [2] }), "notes"),
            (json!({ "count": 1, "address": {} }), "street"),
        ] {
            fails(subject, "order", arguments, &["order", place]).await;
        }
    }

    pub async fn t50_t52_an_output_is_one_block_of_compact_json_and_structured_content(
        subject: &mut impl Subject,
    ) {
        let whole = r#"{"content":[{"type":"text","text":"{\"z\":18446744073709551615,\"a\":[0.1,null,\"é\"]}"}],"structuredContent":{"z":18446744073709551615,"a":[0.1,null,"é"]}}"#;
        assert_eq!(subject.call("numbers", None).await, result(whole));
        let tools = subject.tools().await;
        let order = tools.iter().find(|tool| tool["name"] == "order").unwrap();
        assert_eq!(order["outputSchema"]["type"], "object", "{order}");
    }

    pub async fn t51_a_number_that_json_cannot_write_is_an_error_with_its_place(
        subject: &mut impl Subject,
    ) {
        fails(subject, "nan", json!({}), &["nan", "list", "1", "NaN"]).await;
    }

    pub async fn t52_ours_what_is_no_object_is_text_alone(subject: &mut impl Subject) {
        let whole = r#"{"content":[{"type":"text","text":"[1,2]"}]}"#;
        assert_eq!(subject.call("list", None).await, result(whole));
    }

    pub async fn t53_rich_content_comes_whole(subject: &mut impl Subject) {
        let whole = r#"{"content":[{"type":"text","text":"a"},{"type":"image","data":"aGVsbG8=","mimeType":"image/png"}]}"#;
        assert_eq!(subject.call("rich", None).await, result(whole));
    }

    pub async fn t56_t58_a_skill_knows_its_name_and_its_body(subject: &mut impl Subject) {
        assert_eq!(subject.call("prose", None).await.text(), format!("prose: {PROSE}"));
    }

    /// A handler that ignores the end of its time gives no answer all the same, and holds up nobody else.
    pub async fn t65_the_answer_comes_at_the_deadline(subject: &mut impl Subject) {
        for skill in ["slow", "blocking"] {
            fails(subject, skill, json!({}), &["deadline"]).await;
            works(subject).await;
        }
    }

    pub async fn t66_a_nested_call_gives_the_same_bytes(subject: &mut impl Subject) {
        for (skill, arguments) in [
            ("numbers", json!({})),
            ("echo", json!({ "text": "a\u{2028}b" })),
            ("list", json!({})),
            ("rich", json!({})),
            ("failing", json!({})),
        ] {
            let direct = subject.call(skill, Some(arguments.clone())).await;
            let errand = json!({ "skill": skill, "arguments": arguments });
            assert_eq!(subject.call("outer", Some(errand)).await, direct);
        }
    }
}
