//! Helpers that the test programs share, such as a client of the sandbox.

#[macro_use]
mod cases;
pub mod client;
pub mod clock;
pub mod harness;
pub mod messages;
#[cfg(unix)]
pub mod postgres;
/// Replacements for systems without a PostgreSQL cluster.
#[cfg(not(unix))]
pub mod postgres {
    pub fn in_files() {}

    pub fn database(_: &std::path::Path) -> Option<String> {
        None
    }

    pub fn texts(_: &str, _: &str) -> Vec<String> {
        Vec::new()
    }
}
pub mod query_cases;
pub mod thorough;
