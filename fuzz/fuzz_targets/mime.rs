//! Raw messages, with their charsets and wrapped lines.
#![no_main]

use daysheet_core::compose;
use daysheet_core::text::{self, charset, flowed};
use libfuzzer_sys::fuzz_target;

const CHARSETS: [Option<&str>; 8] = [
    None,
    Some("utf-8"),
    Some("utf-7"),
    Some("utf-16le"),
    Some("iso-2022-jp"),
    Some("gb18030"),
    Some("koi8-r"),
    Some("x-unknown"),
];

fuzz_target!(|data: &[u8]| {
    // Fails or not, but comes back.
    let _ = compose::read(data);
    let Some((first, rest)) = data.split_first() else { return };
    let charset = CHARSETS[usize::from(*first) % CHARSETS.len()];
    let (decoded, _) = charset::decode(rest, charset);
    let unwrapped = flowed::unflow(&decoded, first & 8 > 0);
    let clean = text::lines(&unwrapped);
    assert_eq!(text::visible(&clean), clean, "invisible characters stay");
    let header = text::cell(&text::header(&decoded));
    assert!(!header.contains('\n'), "a line breaks: {header:?}");
});
