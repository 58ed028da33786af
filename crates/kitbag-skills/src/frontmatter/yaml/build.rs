//! Builds nodes from the parser's events, within the caps.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use granit_parser::{
    Event, Marker, Parser, Placement, ScalarStyle, ScanError, Span, StructureStyle, Tag,
};

use super::{
    Content, Document, Entry, Finding, MAX_EXPANDED_BYTES, MAX_YAML_DEPTH, Node, Style, YamlError,
    YamlErrorKind,
};
use crate::frontmatter::MAX_FRONTMATTER_BYTES;
use crate::problem::Position;

/// What a node counts for beside its text, against [`MAX_EXPANDED_BYTES`].
const NODE_BYTES: usize = 16;

pub(super) fn document(text: &str, first_line: u32) -> Result<Document<'_>, YamlError> {
    if text.len() > MAX_FRONTMATTER_BYTES {
        let position = Position { line: first_line, column: 1 };
        return Err(YamlError { kind: YamlErrorKind::TooLong, position });
    }
    let mut options = granit_parser::options! {
        flow_nesting_limit: MAX_YAML_DEPTH as usize + 1,
        block_nesting_limit: MAX_YAML_DEPTH as usize + 1,
        max_buffered_comment_events: MAX_FRONTMATTER_BYTES,
    };
    options.set_emit_comments(true);
    let mut builder = Builder { text, first_line, ..Builder::default() };
    for event in Parser::new_from_str_with_options(text, options) {
        let (event, span) = event.map_err(|error| builder.syntax(&error))?;
        builder.take(event, span)?;
    }
    builder.findings.sort_by_key(|(_, position)| *position);
    Ok(Document { text, root: builder.root, findings: builder.findings })
}

#[derive(Default)]
struct Builder<'t> {
    text: &'t str,
    first_line: u32,
    documents: usize,
    open: Vec<Open>,
    /// Finished nodes by the parser's number for their anchor; `None` while one is still open.
    anchors: HashMap<usize, Option<Arc<Node>>>,
    root: Option<Arc<Node>>,
    findings: Vec<(Finding, Position)>,
}

struct Open {
    children: Vec<Arc<Node>>,
    map: bool,
    style: Style,
    source: Range<usize>,
    position: Position,
    tag: Option<String>,
    anchor: usize,
}

impl Builder<'_> {
    fn take(&mut self, event: Event<'_>, span: Span) -> Result<(), YamlError> {
        match event {
            Event::DocumentStart(..) => {
                self.documents += 1;
                if self.documents > 1 {
                    return Err(self.error(YamlErrorKind::SecondDocument, span.start));
                }
            }
            Event::Scalar(text, style, anchor, tag) => {
                let tag = self.properties(anchor, tag.as_deref(), span.start);
                let node = Node {
                    weight: NODE_BYTES + text.len(),
                    content: Content::Scalar(text.into_owned()),
                    style: scalar_style(style),
                    source: self.range(span),
                    position: self.position(span.start),
                    tag,
                    height: 0,
                };
                self.finish(node, anchor, span.start)?;
            }
            Event::SequenceStart(style, anchor, tag) => {
                self.open(false, style, anchor, tag.as_deref(), span)?;
            }
            Event::MappingStart(style, anchor, tag) => {
                self.open(true, style, anchor, tag.as_deref(), span)?;
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(span)?,
            Event::Alias(anchor) => {
                self.finding(Finding::Alias, span.start);
                match self.anchors.get(&anchor) {
                    Some(Some(node)) => {
                        let node = Arc::clone(node);
                        self.attach(node, span.start)?;
                    }
                    _ => return Err(self.error(YamlErrorKind::Recursive, span.start)),
                }
            }
            Event::Comment(_, Placement::Right) => {
                self.finding(Finding::TrailingComment, span.start);
            }
            _ => {}
        }
        Ok(())
    }

    fn open(
        &mut self,
        map: bool,
        style: StructureStyle,
        anchor: usize,
        tag: Option<&Tag>,
        span: Span,
    ) -> Result<(), YamlError> {
        let tag = self.properties(anchor, tag, span.start);
        let style = match style {
            StructureStyle::Block => Style::Block,
            StructureStyle::Flow => Style::Flow,
        };
        if style == Style::Flow {
            self.finding(Finding::Flow, span.start);
        }
        if self.open.len() >= MAX_YAML_DEPTH as usize {
            return Err(self.error(YamlErrorKind::TooDeep, span.start));
        }
        if anchor != 0 {
            self.anchors.insert(anchor, None);
        }
        let (source, position) = (self.range(span), self.position(span.start));
        self.open.push(Open { children: Vec::new(), map, style, source, position, tag, anchor });
        Ok(())
    }

    fn close(&mut self, span: Span) -> Result<(), YamlError> {
        let Some(open) = self.open.pop() else { return Ok(()) };
        let Open { children, map, style, mut source, position, tag, anchor } = open;
        // A block collection's end is where the parser noticed it, past blank lines and comments.
        source.end = match style {
            Style::Flow => self.range(span).end,
            _ => children.iter().map(|child| child.source.end).max().unwrap_or(source.end),
        }
        .max(source.start);
        let height = 1 + children.iter().map(|child| child.height).max().unwrap_or(0);
        let weight =
            children.iter().fold(NODE_BYTES, |sum, child| sum.saturating_add(child.weight));
        let content =
            if map { Content::Map(self.entries(children)) } else { Content::List(children) };
        let node = Node { content, style, source, position, tag, height, weight };
        self.finish(node, anchor, span.start)
    }

    fn entries(&mut self, children: Vec<Arc<Node>>) -> Vec<Entry> {
        let mut seen = HashSet::new();
        let mut entries = Vec::with_capacity(children.len() / 2);
        let mut children = children.into_iter();
        while let (Some(key), Some(value)) = (children.next(), children.next()) {
            let source = || self.text.get(key.source.clone()).unwrap_or_default();
            let name = key.text().unwrap_or_else(source).to_owned();
            if !seen.insert(name.clone()) {
                self.findings.push((Finding::DuplicateKey(name.clone()), key.position));
            }
            entries.push(Entry { name, key, value });
        }
        entries
    }

    fn finish(&mut self, node: Node, anchor: usize, mark: Marker) -> Result<(), YamlError> {
        let node = Arc::new(node);
        if anchor != 0 {
            self.anchors.insert(anchor, Some(Arc::clone(&node)));
        }
        self.attach(node, mark)
    }

    fn attach(&mut self, node: Arc<Node>, mark: Marker) -> Result<(), YamlError> {
        if node.weight > MAX_EXPANDED_BYTES {
            return Err(self.error(YamlErrorKind::TooLarge, mark));
        }
        let depth = u32::try_from(self.open.len()).unwrap_or(u32::MAX);
        if depth.saturating_add(node.height) > MAX_YAML_DEPTH {
            return Err(self.error(YamlErrorKind::TooDeep, mark));
        }
        match self.open.last_mut() {
            Some(parent) => parent.children.push(node),
            None => self.root = Some(node),
        }
        Ok(())
    }

    fn properties(&mut self, anchor: usize, tag: Option<&Tag>, mark: Marker) -> Option<String> {
        if anchor != 0 {
            self.finding(Finding::Anchor, mark);
        }
        let tag = tag.map(|tag| format!("{}{}", tag.handle(), tag.suffix()))?;
        self.finding(Finding::Tag(tag.clone()), mark);
        Some(tag)
    }

    fn finding(&mut self, finding: Finding, mark: Marker) {
        let position = self.position(mark);
        self.findings.push((finding, position));
    }

    fn position(&self, mark: Marker) -> Position {
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Position {
            line: self.first_line.saturating_add(count(mark.line().saturating_sub(1))),
            column: count(mark.col()).saturating_add(1),
        }
    }

    fn range(&self, span: Span) -> Range<usize> {
        let end = self.text.len();
        let Range { start, end } = span.byte_range().unwrap_or(end..end);
        start.min(self.text.len())..end.min(self.text.len()).max(start.min(self.text.len()))
    }

    fn error(&self, kind: YamlErrorKind, mark: Marker) -> YamlError {
        YamlError { kind, position: self.position(mark) }
    }

    fn syntax(&self, error: &ScanError) -> YamlError {
        self.error(YamlErrorKind::Syntax(error.kind().to_string()), *error.marker())
    }
}

fn scalar_style(style: ScalarStyle) -> Style {
    match style {
        ScalarStyle::Plain => Style::Plain,
        ScalarStyle::SingleQuoted => Style::SingleQuoted,
        ScalarStyle::DoubleQuoted => Style::DoubleQuoted,
        ScalarStyle::Literal => Style::Literal,
        ScalarStyle::Folded => Style::Folded,
    }
}
