//! Whether a run of the tests is a thorough one. Which rounds a test then adds is its own affair.

/// Returns true for a thorough run: the longest tests then try every round instead of some. The
/// nightly run is one.
pub fn thorough() -> bool {
    std::env::var_os("DAYSHEET_TEST_THOROUGH").is_some_and(|set| !set.is_empty())
}
