//! Turns a length of time into seconds, with nothing but the standard library.
//!
//! A handler of any size reads its input with a JSON library; here the input schema lets through digits, units and
//! spaces only, so that the text can be cut out of the line.

use std::io::Read as _;
use std::process::ExitCode;

const UNITS: [(char, u64); 4] = [('d', 86_400), ('h', 3_600), ('m', 60), ('s', 1)];

fn main() -> ExitCode {
    let mut call = String::new();
    if let Err(error) = std::io::stdin().read_to_string(&mut call) {
        eprintln!("the call cannot be read: {error}");
        return ExitCode::FAILURE;
    }
    let text = call
        .split_once(r#""args":{"text":""#)
        .and_then(|(_, rest)| rest.split_once('"'))
        .map_or("", |(text, _)| text);
    match answer(text) {
        Ok(answer) => {
            println!("{answer}");
            ExitCode::SUCCESS
        }
        Err(fault) => {
            eprintln!("{fault}");
            ExitCode::from(2)
        }
    }
}

fn answer(text: &str) -> Result<String, String> {
    let mut counts = [None; UNITS.len()];
    let mut count = 0_u64;
    for character in text.chars() {
        match UNITS.iter().position(|(unit, _)| *unit == character) {
            Some(at) if counts[at].is_some() => {
                return Err(format!("the unit `{character}` is given twice in `{text}`"));
            }
            Some(at) => counts[at] = Some(std::mem::take(&mut count)),
            None => count = character.to_digit(10).map_or(count, |digit| count * 10 + u64::from(digit)),
        }
    }
    let given = || UNITS.iter().zip(counts).filter_map(|((unit, each), count)| Some((unit, *each, count?)));
    let seconds: u64 = given().map(|(_, each, count)| each * count).sum();
    let parts: Vec<String> = given().map(|(unit, _, count)| format!("\"{count}{unit}\"")).collect();
    Ok(format!(r#"{{"seconds":{seconds},"parts":[{}]}}"#, parts.join(",")))
}
