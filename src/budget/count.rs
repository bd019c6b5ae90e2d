//! Real token counts.
//!
//! The tokenizer takes tens of megabytes and a tenth of a second to build, so
//! it is built at the first count, and serving never counts.

use tiktoken_rs::o200k_base_singleton;

/// The name of the vocabulary that [`tokens`] counts in.
pub const TOKENIZER: &str = "o200k_base";

/// How many tokens `text` is.
pub fn tokens(text: &str) -> usize {
    o200k_base_singleton().encode_ordinary(text).len()
}
