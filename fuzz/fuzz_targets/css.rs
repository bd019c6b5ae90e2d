//! Style sheets of HTML mail, and style attributes.
#![no_main]

use daysheet_core::text::html::{TextStyle, html};
use libfuzzer_sys::fuzz_target;

const BODY: &str = "<div id=a class='b c'><p>one <span lang=en>two</span></p><table bgcolor=red>\
    <tr><td width=0>three</table><details><summary>four</summary>five</details></div>";

fuzz_target!(|style: &str| {
    let style = style.replace('<', "");
    let sheet = format!("<style>{style}</style>{BODY}");
    let _ = html(&sheet, TextStyle::Text, false);
    let attribute = style.replace('"', "'");
    let _ = html(&format!("<div style=\"{attribute}\">{BODY}</div>"), TextStyle::Text, false);
});
