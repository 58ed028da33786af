//! The skills format at the crate's boundary: data in, whole values out.

mod activation;
mod attach;
mod budget;
mod catalogue;
mod consent;
mod copy;
mod declaration;
mod digest;
mod discovery;
mod frontmatter;
mod frontmatter_properties;
mod library;
mod manifest;
mod media;
mod paths;
mod problems;
mod reading;
mod review;
mod sidecar;
mod split;
mod substitute;
mod tokens;
mod tree;
mod validate;
mod yaml;
