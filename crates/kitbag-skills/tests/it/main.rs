//! The skills format at the crate's boundary: data in, whole values out.

mod declaration;
mod digest;
mod frontmatter;
mod frontmatter_properties;
mod manifest;
mod media;
mod paths;
mod reading;
mod sidecar;
mod split;
mod yaml;
