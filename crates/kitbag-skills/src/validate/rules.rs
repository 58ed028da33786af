//! The table of rules: the one place that says what is checked, and how much it costs in which profile.

use serde::Serialize;

use super::Profile;
use crate::Severity;

/// One rule of the validator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct RuleInfo {
    /// The stable name, such as `name-uppercase`.
    pub id: &'static str,
    /// What the rule says, in one sentence without its final stop.
    pub summary: &'static str,
    /// What breaking it costs under [`Profile::Strict`]; `None` where it is not looked at.
    pub strict: Option<Severity>,
    /// What breaking it costs under [`Profile::Portable`]; `None` where it is not looked at.
    pub portable: Option<Severity>,
}

impl RuleInfo {
    /// What breaking the rule costs under `profile`; `None` where it is not looked at.
    pub fn severity(&self, profile: Profile) -> Option<Severity> {
        match profile {
            Profile::Strict => self.strict,
            Profile::Portable => self.portable,
        }
    }
}

/// Every rule, grouped by what it looks at and in a stable order.
pub fn rules() -> &'static [RuleInfo] {
    TABLE
}

macro_rules! severity {
    (E) => {
        Some(Severity::Error)
    };
    (W) => {
        Some(Severity::Warning)
    };
    (N) => {
        Some(Severity::Note)
    };
    (o) => {
        None
    };
}

macro_rules! table {
    ($($name:ident $id:literal $strict:ident $portable:ident $summary:literal;)*) => {
        $(pub(super) const $name: RuleInfo = RuleInfo {
            id: $id,
            summary: $summary,
            strict: severity!($strict),
            portable: severity!($portable),
        };)*

        const TABLE: &[RuleInfo] = &[$($name),*];
    };
}

// Columns: constant, id, severity when strict, severity when portable (E, W, N, or `o` for off), summary.
table! {
    PATH_MISSING "path-missing" E E "something exists at the path";
    PATH_NOT_A_SKILL "path-not-a-skill" E E "the path is a directory or a `SKILL.md`";
    SKILL_MD_MISSING "skill-md-missing" E E "the directory holds a `SKILL.md`";
    SKILL_MD_CASE "skill-md-case" W E "the file is spelt `SKILL.md`, not `skill.md`";
    SKILL_MD_LINK "skill-md-link" o E "`SKILL.md` is a file of its own, not a link";
    SKILL_MD_UNREADABLE "skill-md-unreadable" E E "`SKILL.md` is a regular file that can be read";
    SKILL_MD_TOO_LARGE "skill-md-too-large" E E "`SKILL.md` is at most 4 MiB";
    SKILL_MD_NOT_UTF8 "skill-md-not-utf8" E E "`SKILL.md` is UTF-8";

    BYTE_ORDER_MARK "byte-order-mark" N E "`SKILL.md` does not begin with a byte order mark";
    FRONTMATTER_MISSING "frontmatter-missing" E E "`SKILL.md` begins with frontmatter";
    FRONTMATTER_NOT_FIRST "frontmatter-not-first" E E "the opening `---` is the first line";
    FRONTMATTER_FENCE "frontmatter-fence" E E "the opening line is `---`, and nothing but blanks follows";
    FENCE_BLANK "fence-blank" o E "no blanks follow the `---` of the opening line";
    FRONTMATTER_UNCLOSED "frontmatter-unclosed" E E "a line `---` closes the frontmatter";
    FRONTMATTER_DOTS "frontmatter-dots" E E "the closing line is `---`, not `...`";
    FRONTMATTER_INNER_FENCE "frontmatter-inner-fence" W W "no `---` stands inside a frontmatter value";
    YAML_INVALID "yaml-invalid" E E "the frontmatter is YAML within the caps on size, depth and aliases";
    YAML_NOT_A_MAPPING "yaml-not-a-mapping" E E "the frontmatter is a mapping";
    YAML_KEY "yaml-key" E E "every frontmatter key is plain text";
    YAML_DUPLICATE_KEY "yaml-duplicate-key" E E "no key stands twice in one mapping";
    YAML_TAB "yaml-tab" E E "no tab stands outside of quotes, block text and comments";
    YAML_ANCHOR "yaml-anchor" E W "no anchors and aliases";
    YAML_TAG "yaml-tag" E E "no YAML tags";
    YAML_FLOW "yaml-flow" N o "lists and maps are written in block style";
    YAML_COMMENT_CUT "yaml-comment-cut" W W "no value ends in ` # ...`, which YAML reads as a comment";

    FIELD_UNKNOWN "field-unknown" E W "only the six fields of the specification are used";
    NAME_MISSING "name-missing" E E "`name` is given";
    NAME_EMPTY "name-empty" E E "`name` is text and not blank";
    NAME_TOO_LONG "name-too-long" E E "`name` has at most 64 characters";
    NAME_UPPERCASE "name-uppercase" E W "`name` is lower-case";
    NAME_HYPHEN_EDGE "name-hyphen-edge" E W "`name` neither begins nor ends with a hyphen";
    NAME_HYPHEN_DOUBLE "name-hyphen-double" E W "`name` has no two hyphens in a row";
    NAME_CHARACTERS "name-characters" E W "`name` consists of letters, digits and hyphens";
    NAME_NOT_ASCII "name-not-ascii" W W "`name` is ASCII, which every client reads alike";
    NAME_DIRECTORY "name-directory" E E "`name` is the directory's name";
    NAME_RESERVED "name-reserved" W W "`name` holds neither `anthropic` nor `claude`, which an upload to Anthropic refuses";
    NAME_TYPED "name-typed" W E "`name` is quoted where YAML would read a number, a boolean or null";
    DESCRIPTION_MISSING "description-missing" E E "`description` is given";
    DESCRIPTION_EMPTY "description-empty" E E "`description` is text and not blank";
    DESCRIPTION_TOO_LONG "description-too-long" E E "`description` has at most 1,024 characters";
    DESCRIPTION_TYPED "description-typed" W E "`description` is quoted where YAML would read a number, a boolean or null";
    DESCRIPTION_MARKUP "description-markup" W W "`description` holds no XML tags, which an upload to Anthropic refuses";
    COMPATIBILITY_TYPE "compatibility-type" E W "`compatibility` is text";
    COMPATIBILITY_EMPTY "compatibility-empty" E W "`compatibility` is not blank";
    COMPATIBILITY_TOO_LONG "compatibility-too-long" E W "`compatibility` has at most 500 characters";
    LICENSE_TYPE "license-type" E W "`license` is text";
    METADATA_TYPE "metadata-type" E W "`metadata` is a map";
    METADATA_NESTED "metadata-nested" W W "the values in `metadata` are text, not lists or maps";
    ALLOWED_TOOLS_TYPE "allowed-tools-type" W W "`allowed-tools` is text, not a list or map";
    ALLOWED_TOOLS_COMMA "allowed-tools-comma" W W "the tools in `allowed-tools` are parted by spaces, not commas";
    ARGUMENT_HINT_TYPE "argument-hint-type" o E "`argument-hint` is text: quote it where it begins with `[`";

    BODY_EMPTY "body-empty" W W "the body is not empty";
    BODY_LINES "body-lines" W W "the body has at most 500 lines";
    BODY_TOKENS "body-tokens" W W "the body has at most about 5,000 tokens";
    ARGUMENT_IN_CODE "argument-in-code" W W "no `$1` stands in code of a skill that declares no arguments";

    TAG_CHARACTER "tag-character" E E "no Unicode tag characters, which hide text from people and not from models";
    HIDDEN_CHARACTER "hidden-character" W W "no zero-width or other invisible characters";
    BIDI_CONTROL "bidi-control" W W "no controls that reorder the shown text";
    CONTROL_CHARACTER "control-character" W W "no control characters";
    REFERENCE_ESCAPE "reference-escape" W W "no reference or link leads out of the skill's directory";
    REFERENCE_HOST_PATH "reference-host-path" W W "no absolute path of somebody's own machine";
    REFERENCE_MISSING "reference-missing" W W "every file that is referred to exists";
    SECRET "secret" W W "nothing looks like a key or a password";
    PIPE_TO_SHELL "pipe-to-shell" W W "nothing downloaded is piped into an interpreter";
    UNPINNED_RUNNER "unpinned-runner" W W "a package that is fetched and run has a version";

    FINDINGS_CUT "findings-cut" N N "at most 100 findings are told of one file, and 1,000 of one skill";
    FILES_CUT "files-cut" N N "the local checks read at most 2,000 files, 1 MiB of each and 16 MiB in all";
}
