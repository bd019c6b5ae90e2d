//! The switch for thorough test runs. Each test decides which rounds it adds.

/// Returns true in a thorough run, in which the longest tests try every round instead of some. The
/// nightly run is one.
pub fn thorough() -> bool {
    std::env::var_os("DAYSHEET_TEST_THOROUGH").is_some_and(|set| !set.is_empty())
}
