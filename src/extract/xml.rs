//! XML as events, within limits.
