//! Media types, and bytes as text or Base64.

use kitbag_skills::{Chunk, Content, Passage, classify, media_type};
use proptest::prelude::*;

fn whole(bytes: &[u8]) -> Chunk {
    Chunk { offset: 0, bytes: bytes.to_vec(), size: bytes.len() as u64, truncated: false }
}

fn text(text: &str) -> Content {
    Content::Text(text.into())
}

#[test]
fn the_extension_decides_the_media_type() {
    let known = [
        ("SKILL.md", "text/markdown"),
        ("a/b.TXT", "text/plain"),
        ("x.json", "application/json"),
        ("x.yaml", "application/yaml"),
        ("x.yml", "application/yaml"),
        ("x.csv", "text/csv"),
        ("x.js", "text/javascript"),
        ("x.mjs", "text/javascript"),
        ("x.ts", "text/x-typescript"),
        ("x.py", "text/x-python"),
        ("x.sh", "application/x-sh"),
        ("x.html", "text/html"),
        ("x.css", "text/css"),
        ("x.xml", "application/xml"),
        ("x.xsd", "application/xml"),
        ("x.svg", "image/svg+xml"),
        ("x.png", "image/png"),
        ("x.jpg", "image/jpeg"),
        ("x.jpeg", "image/jpeg"),
        ("x.gif", "image/gif"),
        ("x.webp", "image/webp"),
        ("x.pdf", "application/pdf"),
        ("x.tar.zip", "application/zip"),
    ];
    for (path, expected) in known {
        assert_eq!(media_type(path), expected, "{path}");
    }
}

#[test]
fn k35_an_unknown_extension_has_the_default_media_type() {
    for path in ["x.constructor", "x.toString", "x", "x.", ".md", "a.md/x", "a/.json", ""] {
        assert_eq!(media_type(path), "application/octet-stream", "{path}");
    }
}

#[test]
fn k32_text_is_text_by_its_bytes_alone() {
    let passage = |content| Passage { content, offset: 0, next: None, size: 3 };
    assert_eq!(classify(whole(b"abc")), passage(text("abc")));
    assert_eq!(classify(whole(b"a\0c")), passage(Content::Base64("YQBj".into())));
    assert_eq!(classify(whole(b"\xff\xfeA")), passage(Content::Base64("//5B".into())));
    assert_eq!(classify(whole("\u{feff}".as_bytes())), passage(text("\u{feff}")));
    assert_eq!(classify(whole(b"")), Passage { size: 0, ..passage(text("")) });
}

/// Section 10, weakness 15: a cap inside a character made a text look binary.
#[test]
fn better_10_15_a_cut_inside_a_character_backs_up_to_it() {
    let cut = Chunk { offset: 0, bytes: b"a\xc3".to_vec(), size: 5, truncated: true };
    let backed_up = Passage { content: text("a"), offset: 0, next: Some(1), size: 5 };
    assert_eq!(classify(cut), backed_up);
    // The same bytes at the very end of a file are no text.
    assert!(matches!(classify(whole(b"a\xc3")).content, Content::Base64(_)));
    // A part that begins inside a character begins after it.
    let inside = Chunk { offset: 2, bytes: b"\xa9bc".to_vec(), size: 9, truncated: true };
    assert_eq!(
        classify(inside),
        Passage { content: text("bc"), offset: 3, next: Some(5), size: 9 }
    );
    // A part shorter than a character still gets on.
    let short = Chunk { offset: 0, bytes: b"\xc3".to_vec(), size: 2, truncated: true };
    assert_eq!(
        classify(short),
        Passage { content: Content::Base64("ww==".into()), offset: 0, next: Some(1), size: 2 }
    );
}

proptest! {
    /// Reading part after part gives a text back whole, whatever the size of the parts.
    #[test]
    fn better_10_15_parts_of_a_text_make_the_whole(all in "[a-zé€😀\n]{0,60}", cap in 4_usize..12) {
        let bytes = all.as_bytes();
        let (mut read, mut next) = (String::new(), Some(0));
        while let Some(offset) = next {
            let start = usize::try_from(offset).unwrap();
            let end = bytes.len().min(start + cap);
            let passage = classify(Chunk {
                offset,
                bytes: bytes[start..end].to_vec(),
                size: bytes.len() as u64,
                truncated: end < bytes.len(),
            });
            match passage.content {
                Content::Text(part) => read.push_str(&part),
                Content::Base64(_) => prop_assert!(false, "a text became binary"),
            }
            next = passage.next;
        }
        prop_assert_eq!(read, all);
    }

    #[test]
    fn any_part_gets_on_and_never_past_its_end(
        bytes in proptest::collection::vec(any::<u8>(), 1..20),
        offset in 0_u64..10,
    ) {
        let end = offset + bytes.len() as u64;
        let passage = classify(Chunk { offset, bytes, size: 100, truncated: true });
        let next = passage.next.unwrap();
        prop_assert!(next > offset && next <= end);
    }
}
