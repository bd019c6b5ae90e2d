//! `brief`: the range and the account.

use super::kinds::{ANY_ACCOUNT, TEXT, tool};
use super::view::AnswerView;

tool! {
    /// Today's agenda, or any range, in one answer: what is on, what clashes, mail that needs you.
    brief(Read, Read) => Brief;
    // Times stay as written: they depend on the current time and on the zone.
    pub struct BriefRequest {
        /// Default: today
        from: Option<String> = TEXT,
        to: Option<String> = TEXT,
        account: Option<String> = ANY_ACCOUNT,
        tz: Option<String> = TEXT,
        ..AnswerView { budget, reserve, chunk, known, format }
    }
}
