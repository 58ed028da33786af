//! The files of outputs that were too long for their caller.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;

use kitbag_host::outputs::MAX_KEPT_FILES;
use kitbag_tool::{Spill as _, ToolName, Whole};

use crate::place::Place;

fn files(place: &Place) -> Vec<std::path::PathBuf> {
    let folder = place.path("home/.kitbag/data/outputs");
    let mut files: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

#[tokio::test]
async fn the_whole_of_an_output_is_in_a_file_that_its_user_alone_can_read() {
    let place = Place::new();
    let outputs = place.open().unwrap().outputs().unwrap();
    assert!(
        !place.path("home/.kitbag").exists(),
        "nothing is made before there is something to keep"
    );
    let tool: ToolName = "a/../b.c__d".parse().unwrap();
    let text = "line\n".repeat(100_000);
    let told = outputs.keep(Whole { tool: &tool, text: &text }).await.unwrap();
    let kept = files(&place);
    assert_eq!(told, format!("in the file `{}`", kept[0].display()));
    assert_eq!(fs::read_to_string(&kept[0]).unwrap(), text);
    assert_eq!(fs::metadata(&kept[0]).unwrap().permissions().mode() & 0o777, 0o600);
    let folder = fs::metadata(kept[0].parent().unwrap()).unwrap();
    assert_eq!(folder.permissions().mode() & 0o777, 0o700);
}

#[tokio::test]
async fn the_oldest_files_make_room() {
    let place = Place::new();
    let outputs = Arc::new(place.open().unwrap().outputs().unwrap());
    let tool: ToolName = "t".parse().unwrap();
    for n in 0..MAX_KEPT_FILES + 5 {
        outputs.keep(Whole { tool: &tool, text: &n.to_string() }).await.unwrap();
    }
    let kept = files(&place);
    assert_eq!(kept.len(), MAX_KEPT_FILES);
    let newest = (MAX_KEPT_FILES + 4).to_string();
    assert!(kept.iter().any(|file| fs::read_to_string(file).unwrap() == newest));
    assert!(!kept.iter().any(|file| fs::read_to_string(file).unwrap() == "0"));
}

#[tokio::test]
async fn what_cannot_be_kept_is_told() {
    let place = Place::new();
    let outputs = place.open().unwrap().outputs().unwrap();
    place.write("home/.kitbag/data", "a file where the folder should be");
    let tool: ToolName = "t".parse().unwrap();
    assert!(outputs.keep(Whole { tool: &tool, text: "x" }).await.is_err());
}
