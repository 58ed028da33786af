//! Bodies, arguments and names of every kind through substitution, in both dialects.
#![no_main]

use kitbag_skills::activation::{Cut, piece};
use kitbag_skills::substitute::{
    Arguments, Dialect, MAX_ARGUMENTS_BYTES, MAX_INSERTED_BYTES, code_placeholders, placeholders, substitute,
};
use libfuzzer_sys::fuzz_target;

// The input is a body, then the arguments, then a declared name, each ended by a NUL.
fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let mut parts = text.splitn(3, '\0');
    let (body, typed) = (parts.next().unwrap_or(""), parts.next().unwrap_or(""));
    let names = [parts.next().unwrap_or("").to_owned(), "env".to_owned()];
    for dialect in [Dialect::Kitbag, Dialect::Claude] {
        let expanded =
            substitute(body, dialect, &Arguments { text: typed, names: &names }, Some("/s/$1"));
        assert!(
            expanded.text.len() <= body.len() + MAX_INSERTED_BYTES + MAX_ARGUMENTS_BYTES + 16
        );
        let mut end = 0;
        for found in placeholders(body, dialect, &names) {
            assert!(found.span.start >= end && body.get(found.span.clone()).is_some());
            end = found.span.end;
        }
        if end == 0 && typed.trim().is_empty() {
            assert_eq!(expanded.text, body);
        }
        code_placeholders(body, dialect, &[]);
    }
    let mut offset = 0;
    let mut whole = String::new();
    loop {
        let next = piece(body, offset, 64);
        whole.push_str(next.text);
        offset = next.end;
        if next.cut == Cut::End {
            break;
        }
    }
    assert_eq!(whole, body);
});
