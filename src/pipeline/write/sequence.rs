//! The writes of a call that has several items: one after the other, until a failure that would
//! affect the others, too.

use daysheet_core::error::{Error, Result};

use crate::pipeline::write::report::{ItemOutcome, WriteReport};

/// The writes of a call, in order.
pub(crate) struct WriteSequence {
    /// The operation, as the outcomes name it.
    op: &'static str,
    /// True if the call has no other item.
    is_single: bool,
    /// True once a failure has ended the call.
    has_ended: bool,
}

impl WriteSequence {
    /// Creates the sequence of a call with so many items.
    pub(crate) fn new(op: &'static str, items: usize) -> Self {
        Self { op, is_single: items == 1, has_ended: false }
    }

    /// Reports the failed write of an item.
    ///
    /// # Errors
    /// The given one, if it is the only thing to report: the call has one item, which was certainly
    /// not written. A write whose outcome is unknown is reported.
    pub(crate) fn fail(
        &mut self,
        item: &str,
        error: Error,
        report: &mut WriteReport,
    ) -> Result<()> {
        if self.is_single && !error.is_open() {
            return Err(error);
        }
        self.has_ended = error.ends_batch();
        report.outcomes.push(ItemOutcome::failed(item, self.op, &error));
        Ok(())
    }
}
