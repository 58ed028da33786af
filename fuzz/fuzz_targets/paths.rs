//! Paths inside a skill: no text panics, and no accepted one leads out of the folder it is joined to.
#![no_main]

use std::path::{Component, Path};

use kitbag_skills::{Chunk, Content, SkillPath, classify, media_type};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    parts_make_the_whole(data);
    let Ok(text) = std::str::from_utf8(data) else { return };
    let _media_type = media_type(text);
    match text.parse::<SkillPath>() {
        Ok(path) => {
            assert_eq!(path.as_str(), text);
            let joined = Path::new("/root/skill").join(path.as_str());
            assert!(joined.starts_with("/root/skill"));
            assert!(joined.components().skip(1).all(|part| matches!(part, Component::Normal(_))));
            assert_eq!(joined.components().count(), 3 + text.split('/').count());
        }
        Err(error) => assert!(error.to_string().chars().count() < 2000),
    }
});

/// Reading in parts never stops before the end and never gives a text other than it is.
fn parts_make_the_whole(data: &[u8]) {
    let (mut text, mut is_text, mut next) = (String::new(), true, Some(0));
    while let Some(offset) = next {
        let start = usize::try_from(offset).expect("offsets come from lengths");
        let end = data.len().min(start + 5);
        let passage = classify(Chunk {
            offset,
            bytes: data[start..end].to_vec(),
            size: data.len() as u64,
            truncated: end < data.len(),
        });
        match passage.content {
            Content::Text(part) => text.push_str(&part),
            Content::Base64(_) => is_text = false,
        }
        assert!(passage.next.is_none_or(|next| next > offset && next <= end as u64));
        next = passage.next;
    }
    if let (true, Ok(whole)) = (!data.contains(&0), std::str::from_utf8(data)) {
        assert!(is_text && text == whole);
    }
}
