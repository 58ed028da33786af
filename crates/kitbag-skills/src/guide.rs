//! The skill inside the binary: how to use and write skills (decision 2, B-11).

use std::sync::{Arc, LazyLock};

use crate::document::Document;
use crate::folder::{BundledFile, Folder};

/// The name of the bundled skill.
pub const GUIDE: &str = "guide";

static FILES: &[BundledFile] =
    &[BundledFile { path: "SKILL.md", bytes: include_bytes!("guide/SKILL.md") }];

/// The bundled skill; parsed once, since its bytes cannot change.
pub(crate) fn document() -> Arc<Document> {
    static DOCUMENT: LazyLock<Arc<Document>> = LazyLock::new(|| {
        let name = GUIDE.parse().expect("the name is a skill's");
        Arc::new(Document::bundled(name, Folder::Bundled(FILES), FILES[0].bytes))
    });
    Arc::clone(&DOCUMENT)
}
