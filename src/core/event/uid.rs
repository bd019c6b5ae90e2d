//! The identity of a series: UIDs that name the same events.
//!
//! Exchange derives UIDs from GlobalObjectIds, written in hex (MS-OXCICAL, 2.1.3.1.1.20.26; the
//! bytes are described in MS-OXOCAL, 2.2.1.27). Comparing occurrences of a series is left to the
//! callers.

use std::borrow::Cow;

/// The first 16 bytes of every GlobalObjectId.
const PREFIX: &str = "040000008200E00074C5B7101A82E008";
/// The hex digits of bytes 17 to 20, the date of an occurrence. The data follow after the time of
/// creation, eight zeros and the length.
const DATE: std::ops::Range<usize> = 32..40;
const DATA: usize = 80;
/// `vCal-Uid` and its version, followed by the UID that another program gave the event.
const FOREIGN: &str = "7643616C2D55696401000000";

/// Returns the UID that all occurrences of a series share in every calendar: a GlobalObjectId
/// without its date, or the foreign UID inside it. Any other UID is returned trimmed.
pub fn series_uid(uid: &str) -> Cow<'_, str> {
    let uid = uid.trim();
    let upper = uid.to_ascii_uppercase();
    let is_global = upper.len() >= DATA && upper.bytes().all(|byte| byte.is_ascii_hexdigit());
    let (true, Some(created)) = (is_global && upper.starts_with(PREFIX), upper.get(DATE.end..))
    else {
        return uid.into();
    };
    let data = upper.get(DATA..).and_then(|data| data.strip_prefix(FOREIGN));
    match data.and_then(decoded) {
        Some(foreign) => foreign.into(),
        None => format!("{PREFIX}00000000{created}").into(),
    }
}

/// Returns the text of hex digits up to a NUL; `None` if it is empty or not UTF-8.
fn decoded(hex: &str) -> Option<String> {
    let (pairs, _) = hex.as_bytes().as_chunks::<2>();
    let bytes =
        pairs.iter().map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok());
    let text = bytes.map_while(|byte| byte.filter(|byte| *byte != 0)).collect();
    String::from_utf8(text).ok().filter(|text| !text.is_empty())
}
