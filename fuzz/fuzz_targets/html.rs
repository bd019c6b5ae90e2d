//! HTML mail as text, with quotes folded.
#![no_main]

use daysheet_core::text;
use daysheet_core::text::html::{TextStyle, html};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|source: &str| {
    for style in [TextStyle::Text, TextStyle::Markdown] {
        let read = html(source, style, true);
        assert_eq!(text::visible(&read.text), read.text, "invisible characters stay");
        assert!(!read.text.contains(text::fence::OURS), "our mark stays");
        let _ = text::quote::split_quoted(&read.text);
    }
});
