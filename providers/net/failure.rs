//! The reasons why a response is incomplete.

/// The reason why a response is incomplete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FetchFailure {
    /// No connection could be made; the text names the cause.
    Unreached(String),
    /// The connection broke before the response was complete.
    Broken(String),
    /// The response exceeds the limit.
    Long,
}
