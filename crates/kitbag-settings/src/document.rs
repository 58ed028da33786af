//! One settings file as text and tree.

mod node;
mod scan;
mod syntax;

use std::fmt;
use std::path::{Path, PathBuf};

use jsonc_parser::{CollectOptions, ParseOptions};

use crate::diagnostic::{Diagnostic, Fault, Position, Severity, SourceName, bounded};
use crate::key_path::KeyPath;

pub(crate) use node::{Member, Node, Tree, shown, shown_text};
pub(crate) use scan::{Piece, pieces};

/// The most bytes a settings file may have.
pub const MAX_FILE_BYTES: usize = 1024 * 1024;

/// How deep objects and lists may be nested.
pub const MAX_DEPTH: usize = 64;

/// The byte order mark, as which some editors begin a file.
pub(crate) const BOM: char = '\u{feff}';

/// A settings file that was parsed; after a fault that leaves no tree it is empty.
#[derive(Clone)]
pub struct Document {
    path: PathBuf,
    text: String,
    root: Node,
    has_root: bool,
}

/// Parses the bytes of the settings file at `path`: JSON with comments and trailing commas, a byte order mark or none.
///
/// A file with a fault in its syntax gives an empty document and one diagnostic. Of a key that stands twice the last counts, as for any
/// reader of JSON, and every repetition is an error. At most [`MAX_FILE_BYTES`] bytes and [`MAX_DEPTH`] levels are read.
pub fn parse(path: &Path, bytes: &[u8]) -> (Document, Vec<Diagnostic>) {
    let source = SourceName::File(path.to_owned());
    match tree(&source, bytes) {
        Ok((text, root, diagnostics)) => {
            let has_root = root.is_some();
            let root = root.unwrap_or_default();
            (Document { path: path.to_owned(), text, root, has_root }, bounded(diagnostics))
        }
        Err(diagnostic) => (Document::empty(path), vec![*diagnostic]),
    }
}

type Parsed = (String, Option<Node>, Vec<Diagnostic>);

fn tree(source: &SourceName, bytes: &[u8]) -> Result<Parsed, Box<Diagnostic>> {
    if bytes.len() > MAX_FILE_BYTES {
        return Err(Box::new(too_large(source)));
    }
    let text = text(source, bytes)?;
    let open = scan::check(source, text)?;
    let options = ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    let parsed = jsonc_parser::parse_to_ast(text, &CollectOptions::default(), &options)
        .map_err(|error| Box::new(syntax::explain(source, text, &error, open)))?;
    let Some(value) = parsed.value else {
        let empty =
            Diagnostic::new(Severity::Warning, Fault::Empty, source, "the file holds no settings")
                .hint("write `{}` in it, or delete it");
        return Ok((text.to_owned(), None, vec![empty]));
    };
    let mut diagnostics = Vec::new();
    let root = node::convert(source, text, &value, &mut diagnostics);
    if !matches!(root.tree, Tree::Object(_)) {
        return Err(Box::new(
            Diagnostic::new(
                Severity::Error,
                Fault::NotAnObject,
                source,
                format!("settings are an object, and this is {}", root.kind()),
            )
            .at(Some(Position::at(text, root.start)))
            .hint("put the settings between `{` and `}`"),
        ));
    }
    Ok((text.to_owned(), Some(root), diagnostics))
}

pub(crate) fn too_large(source: &SourceName) -> Diagnostic {
    Diagnostic::new(
        Severity::Error,
        Fault::TooLarge,
        source,
        format!("the file has more than {MAX_FILE_BYTES} bytes, so none of it is read"),
    )
    .hint("settings are small: see whether this is the file that was meant")
}

/// The text after the byte order mark.
fn text<'a>(source: &SourceName, bytes: &'a [u8]) -> Result<&'a str, Box<Diagnostic>> {
    let refuse = |message: String, position| {
        let fault = Diagnostic::new(Severity::Error, Fault::NotUtf8, source, message);
        Err(Box::new(fault.at(position).hint("save the file as UTF-8")))
    };
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return refuse("the file is UTF-16, not UTF-8".to_owned(), None);
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(text.strip_prefix(BOM).unwrap_or(text)),
        Err(error) => {
            let valid = std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default();
            let valid = valid.strip_prefix(BOM).unwrap_or(valid);
            let byte = bytes.get(error.valid_up_to()).copied().unwrap_or_default();
            refuse(
                format!("the byte 0x{byte:02x} is not UTF-8"),
                Some(Position::at(valid, valid.len())),
            )
        }
    }
}

impl Document {
    /// A document that says nothing, as of a file that is not there.
    pub fn empty(path: &Path) -> Self {
        let root = Node::default();
        Self { path: path.to_owned(), text: String::new(), root, has_root: false }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where the key that `path` ends in stands; nothing where there is no such key, and for the root.
    pub fn position(&self, path: &KeyPath) -> Option<Position> {
        let (last, above) = path.keys().split_last()?;
        let member = self.root.at(above)?.member(last)?;
        Some(Position::at(&self.text, member.start))
    }

    /// What the file says, as plain JSON; the values are not covered.
    pub fn to_value(&self) -> serde_json::Value {
        self.root.to_value()
    }

    pub(crate) fn root(&self) -> Option<&Node> {
        self.has_root.then_some(&self.root)
    }

    pub(crate) fn into_parts(self) -> (PathBuf, String, Node) {
        (self.path, self.text, self.root)
    }
}

impl fmt::Debug for Document {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Document").field("path", &self.path).finish_non_exhaustive()
    }
}
