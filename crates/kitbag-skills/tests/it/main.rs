//! The skills format at the crate's boundary: data in, whole values out.

mod declaration;
mod frontmatter;
mod frontmatter_properties;
mod sidecar;
mod split;
mod yaml;
