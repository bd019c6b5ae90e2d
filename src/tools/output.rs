//! `output_read`: which lines of an answer that was shortened.

use super::kinds::{BUDGET, NEEDED, TEXT, common, limit, tool};
use super::view::AnswerView;

tool! {
    /// Read more of a shortened answer, by the id in its notes.
    output_read(Read, Read) => Output;
    pub struct OutputRead {
        // As in notes and markers.
        id: String = NEEDED,
        /// First line
        offset: Option<u32> = common(1, 10_000_000, 1),
        /// Lines
        limit: Option<u32> = limit(1, 5_000, 200),
        /// Regular expression
        grep: Option<String> = TEXT,
        budget: Option<u32> = BUDGET,
        ..AnswerView { format }
    }
}
