//! Reserved: see the workspace's architecture.
