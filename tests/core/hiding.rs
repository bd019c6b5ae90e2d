//! Text that a sender hides from human readers of a message but shows to machines: hundreds of
//! tricks, and harmless markup that resembles them.
//!
//! A trick is caught if its text is left out, or if a note reports that the message may hide text.

use std::collections::BTreeMap;

use daysheet_core::text::html::{TextStyle, WORK, html, html_within};
use daysheet_core::text::visibility::HidingMethod;

use crate::text::text;

/// Messages that hide SECRET, each in a different way, between two visible words.
const TRICKS: &[(&str, &str)] = &cases! {
    // Plain styles and attributes.
    "none", "<p style='display:none'>SECRET</p>";
    "none, important", "<p style='display:none!important'>SECRET</p>";
    "none, spaced", "<p style=' display : none ; '>SECRET</p>";
    "none, in capitals", "<p style='DISPLAY:NONE'>SECRET</p>";
    "none, escaped", "<p style='d\\69 splay:n\\6fne'>SECRET</p>";
    "none, escaped with a sign", "<p style='dis\\play:none'>SECRET</p>";
    "none, after a comment", "<p style='/* x */display:none'>SECRET</p>";
    "none, around comments", "<p style='display/**/:/**/none/**/'>SECRET</p>";
    "none, a comment with a semicolon", "<p style='color:red/* ; */;display:none'>SECRET</p>";
    "none, a string with a comment", "<p style='content:\"/*\";display:none;x:\"*/\"'>SECRET</p>";
    "none, a string with a semicolon", "<p style='font-family:\"a;b\";display:none'>SECRET</p>";
    "none, an address with a semicolon",
        "<p style='background:url(data:a;b);display:none'>SECRET</p>";
    // Invalid declarations after the hiding one, which browsers ignore.
    "later: bogus", "<p style='display:none;display:bogus'>SECRET</p>";
    "later: empty", "<p style='display:none;display:'>SECRET</p>";
    "later: two words", "<p style='display:none;display:block none'>SECRET</p>";
    "later: another program's", "<p style='display:none;display:-ms-flexbox'>SECRET</p>";
    "later: bang", "<p style='display:none;display:block!ie'>SECRET</p>";
    "later: important and bogus", "<p style='display:none;display:bogus!important'>SECRET</p>";
    "later: cut by a comment", "<p style='display:none;display:blo/**/ck'>SECRET</p>";
    "later: visibility", "<p style='visibility:hidden;visibility:shown'>SECRET</p>";
    "later: opacity", "<p style='opacity:0;opacity:full'>SECRET</p>";
    "later: opacity of a length", "<p style='opacity:0;opacity:1px'>SECRET</p>";
    "later: size", "<p style='font-size:0;font-size:big'>SECRET</p>";
    "later: size below nothing", "<p style='font-size:0;font-size:-20px'>SECRET</p>";
    "later: colour", "<p style='color:#fff;color:blackish'>SECRET</p>";
    "later: colour of bad numbers", "<p style='color:#fff;color:rgb(dark)'>SECRET</p>";
    "later: colour of five digits", "<p style='color:#fff;color:#12345'>SECRET</p>";
    "later: clip", "<p style='position:absolute;clip:rect(0,0,0,0);clip:none'>SECRET</p>";
    "later: clip-path", "<p style='clip-path:inset(50%);clip:auto'>SECRET</p>";
    "later: position", "<p style='position:absolute;left:-9999px;position:here'>SECRET</p>";
    "later: transform", "<p style='transform:scale(0);transform:bigger'>SECRET</p>";
    "later: filter", "<p style='filter:opacity(0);filter:clear'>SECRET</p>";
    "later: another filter's", "<p style='filter:opacity(0);content-visibility:visible'>SECRET</p>";
    "later: overflow", "<p style='height:0;overflow:hidden;overflow:shown'>SECRET</p>";
    "later: overflow of one side",
        "<p style='height:0;overflow:hidden;overflow-x:visible'>SECRET</p>";
    "later: height", "<p style='height:0;overflow:hidden;height:tall'>SECRET</p>";
    "later: width", "<p style='max-width:0;overflow:hidden;width:100px'>SECRET</p>";
    "later: line height", "<p style='line-height:0;font-size:2px;line-height:tall'>SECRET</p>";
    // Odd values.
    "size of a part", "<p style='font-size:0.05em'>SECRET</p>";
    "size in calc", "<p style='font-size:calc(0px)'>SECRET</p>";
    "size as a power", "<p style='font-size:1e-9px'>SECRET</p>";
    "size in quarter millimetres", "<p style='font-size:.2q'>SECRET</p>";
    "offset as a power", "<p style='position:absolute;left:-1e5px'>SECRET</p>";
    "colour without its sign", "<style>.x{color:ffffff}</style><p class=x>SECRET</p>";
    "short colour without its sign", "<style>.x{color:fff}</style><p class=x>SECRET</p>";
    "colour of the page", "<p style='color:canvas'>SECRET</p>";
    "colour of a window", "<p style='color:window'>SECRET</p>";
    "a box that scrolls", "<p style='height:0;overflow:scroll'>SECRET</p>";
    "a box that may scroll", "<p style='max-height:0;overflow:auto'>SECRET</p>";
    "visibility of what is around",
        "<div style='visibility:hidden'><p style='visibility:inherit'>SECRET</p></div>";
    "visibility unset",
        "<div style='visibility:hidden'><p style='visibility:unset'>SECRET</p></div>";
    // Style sheets.
    "sheet", "<style>.x{display:none}</style><p class=x>SECRET</p>";
    "sheet: media all", "<style>@media all{.x{display:none}}</style><p class=x>SECRET</p>";
    "sheet: media screen", "<style>@media screen{.x{display:none}}</style><p class=x>SECRET</p>";
    "sheet: only screen",
        "<style>@media only screen{.x{display:none}}</style><p class=x>SECRET</p>";
    "sheet: not print", "<style>@media not print{.x{display:none}}</style><p class=x>SECRET</p>";
    "sheet: at least a pixel",
        "<style>@media (min-width:1px){.x{display:none}}</style><p class=x>SECRET</p>";
    "sheet: at most very wide",
        "<style>@media (max-width:9999px){.x{display:none}}</style><p class=x>SECRET</p>";
    "sheet: a range", "<style>@media (width>=1px){.x{display:none}}</style><p class=x>SECRET</p>";
    "sheet: one of several",
        "<style>@media print,screen{.x{display:none}}</style><p class=x>SECRET</p>";
    "sheet: in each other",
        "<style>@media screen{@media (min-width:1px){.x{display:none}}}</style><p class=x>SECRET</p>";
    "sheet: not small",
        "<style>@media not (max-width:600px){.x{display:none}}</style><p class=x>SECRET</p>";
    "sheet: either",
        "<style>@media (max-width:1px) or (min-width:1px){.x{display:none}}</style><p class=x>SECRET</p>";
    "sheet: light",
        "<style>@media (prefers-color-scheme:light){.x{display:none}}</style><p class=x>SECRET</p>";
    "sheet: any pixels",
        "<style>@media (-webkit-min-device-pixel-ratio:0){.x{display:none}}</style><p class=x>SECRET</p>";
    "sheet: supports",
        "<style>@supports (display:grid){.x{display:none}}</style><p class=x>SECRET</p>";
    "sheet: does not support",
        "<style>@supports not (display:bogus){.x{display:none}}</style><p class=x>SECRET</p>";
    "sheet: layer", "<style>@layer a{.x{display:none}}</style><p class=x>SECRET</p>";
    "sheet: layer without a name", "<style>@layer{.x{display:none}}</style><p class=x>SECRET</p>";
    "sheet: layers named before",
        "<style>@layer a,b;@layer b{.x{display:none}}</style><p class=x>SECRET</p>";
    "sheet: container",
        "<style>body{container-type:size}@container (min-width:1px){.x{display:none}}</style><p class=x>SECRET</p>";
    "sheet: scope", "<style>@scope (body){.x{display:none}}</style><p class=x>SECRET</p>";
    "sheet: escaped media", "<style>@m\\65 dia all{.x{display:none}}</style><p class=x>SECRET</p>";
    "sheet: in a rule", "<style>div{.x{display:none}}</style><div><p class=x>SECRET</p></div>";
    "sheet: in a rule, beside", "<style>.y{&.x{display:none}}</style><p class='x y'>SECRET</p>";
    "sheet: in a rule, after what it says",
        "<style>div{color:red;.x{display:none}}</style><div><p class=x>SECRET</p></div>";
    "sheet: media in a rule", "<style>.x{@media screen{display:none}}</style><p class=x>SECRET</p>";
    "sheet: media attribute",
        "<style media='screen and (min-width:1px)'>.x{display:none}</style><p class=x>SECRET</p>";
    "sheet: media attribute in capitals",
        "<style media=ALL>.x{display:none}</style><p class=x>SECRET</p>";
    "sheet: in a comment of HTML", "<style><!-- .x{display:none} --></style><p class=x>SECRET</p>";
    "sheet: after the end of one", "<style>--> .x{display:none}</style><p class=x>SECRET</p>";
    "sheet: a string with a comment",
        "<style>.a{content:\"/*\"}.x{display:none}.b{content:\"*/\"}</style><p class=x>SECRET</p>";
    "sheet: a string with a brace",
        "<style>.a::before{content:\"}\"}.x{display:none}</style><p class=x>SECRET</p>";
    "sheet: a string that opens",
        "<style>.a::before{content:\"{\"}.x{display:none}</style><p class=x>SECRET</p>";
    "sheet: a string without end",
        "<style>.a{content:\"x\n}.x{display:none}</style><p class=x>SECRET</p>";
    "sheet: a quote that is escaped",
        "<style>.a{content:\"\\\"}\"}.x{display:none}</style><p class=x>SECRET</p>";
    "sheet: a brace that is escaped",
        "<style>.a\\}b{color:red}.x{display:none}</style><p class=x>SECRET</p>";
    "sheet: an address with a brace",
        "<style>.a{background:url(x}y)}.x{display:none}</style><p class=x>SECRET</p>";
    "sheet: a comment with a brace",
        "<style>.a{color:red/* } */}.x{display:none}</style><p class=x>SECRET</p>";
    "sheet: a comment in a selector",
        "<style>.x/**/.y{display:none}</style><p class='x y'>SECRET</p>";
    "sheet: a comment without end", "<style>.x{display:none}/*</style><p class=x>SECRET</p>";
    "sheet: a rule without end", "<style>.x{display:none</style><p class=x>SECRET</p>";
    "sheet: an import before",
        "<style>@import url(x.css);.x{display:none}</style><p class=x>SECRET</p>";
    "sheet: a charset before",
        "<style>@charset \"utf-8\";.x{display:none}</style><p class=x>SECRET</p>";
    "sheet: a font before",
        "<style>@font-face{font-family:x;src:url(a)}.x{display:none}</style><p class=x>SECRET</p>";
    "sheet: frames before",
        "<style>@keyframes a{from{top:0}to{top:1px}}.x{display:none}</style><p class=x>SECRET</p>";
    "sheet: invalid later", "<style>.x{display:none;display:bogus}</style><p class=x>SECRET</p>";
    "sheet: invalid in a later rule",
        "<style>.x{display:none}.x{display:bogus}</style><p class=x>SECRET</p>";
    "sheet: invalid in the element",
        "<style>.x{display:none}</style><p class=x style='display:bogus'>SECRET</p>";
    // Selectors.
    "selector: other case", "<style>.HIDE{display:none}</style><p class=hide>SECRET</p>";
    "selector: id in other case", "<style>#HIDE{display:none}</style><p id=hide>SECRET</p>";
    "selector: escaped", "<style>.md\\:x{display:none}</style><p class='md:x'>SECRET</p>";
    "selector: escaped dot", "<style>.a\\.b{display:none}</style><p class='a.b'>SECRET</p>";
    "selector: escaped number", "<style>.\\31 23{display:none}</style><p class=123>SECRET</p>";
    "selector: all in", "<style>.x *{display:none}</style><div class=x><p>SECRET</p></div>";
    "selector: all with a name", "<style>*.x{display:none}</style><p class=x>SECRET</p>";
    "selector: attribute", "<style>[title]{display:none}</style><p title=a>SECRET</p>";
    "selector: attribute's value",
        "<style>p[title=\"a b\"]{display:none}</style><p title='a b'>SECRET</p>";
    "selector: attribute's beginning",
        "<style>[class^=x]{display:none}</style><p class=xyz>SECRET</p>";
    "selector: attribute's end", "<style>[class$='z']{display:none}</style><p class=xyz>SECRET</p>";
    "selector: attribute's middle",
        "<style>[class*=y]{display:none}</style><p class=xyz>SECRET</p>";
    "selector: attribute's word",
        "<style>[class~=y]{display:none}</style><p class='x y'>SECRET</p>";
    "selector: attribute's language",
        "<style>[lang|=en]{display:none}</style><p lang=en-GB>SECRET</p>";
    "selector: attribute in any case",
        "<style>[title=A i]{display:none}</style><p title=a>SECRET</p>";
    "selector: sign in a value",
        "<style>[title='a > b']{display:none}</style><p title='a > b'>SECRET</p>";
    "selector: comma in a value",
        "<style>[title='a,b'],i{display:none}</style><p title='a,b'>SECRET</p>";
    "selector: right in, without spaces",
        "<style>div>p{display:none}</style><div><p>SECRET</p></div>";
    "selector: lines between", "<style>div\n\tp{display:none}</style><div><p>SECRET</p></div>";
    "selector: beyond Ascii", "<style>.größe{display:none}</style><p class=größe>SECRET</p>";
    // Properties that are not computed, and positions.
    "not computed: a variable",
        "<style>:root{--z:.01}</style><p style='zoom:var(--z)'>SECRET</p>";
    "not computed: a sum",
        "<p style='zoom:calc(1/4/4/4)'>SECRET</p>";
    "not computed: empty later",
        "<p style='filter:opacity(0);filter:'>SECRET</p>";
    "not computed: invalid later",
        "<p style='zoom:.01;zoom:foo'>SECRET</p>";
    "not computed: another browser's later",
        "<p style='filter:opacity(0);filter:alpha(opacity=90)'>SECRET</p>";
    "not computed: letters in inches",
        "<p style='letter-spacing:-1in'>SECRET</p>";
    "not computed: a stroke in inches",
        "<p style='-webkit-text-stroke:.5in #fff'>SECRET</p>";
    "not computed: a thick stroke",
        "<p style='-webkit-text-stroke:thick #fff'>SECRET</p>";
    "not computed: zoom in zoom",
        "<div style='zoom:.5'><div style='zoom:.5'><p style='zoom:.5'>SECRET</p></div></div>";
    "not computed: a first line without fill",
        "<style>.x::first-line{-webkit-text-fill-color:transparent}</style><p class=x>SECRET</p>";
    "not computed: a basis of a pixel",
        "<div style='display:flex'><div style='flex:0 0 1px;overflow:hidden'>SECRET</div></div>";
    "not computed: a shadow within",
        "<p style='color:#000;box-shadow:inset 0 99px #000'>SECRET</p>";
    "not computed: a shadow over it",
        "<p>SECRET</p><div style='position:relative;box-shadow:0 -100px #fff'>x</div>";
    "not computed: under a box of a variable",
        "<style>:root{--w:#fff}</style><div style='position:relative'>SECRET<div style='position:absolute;inset:0;background:var(--w)'></div></div>";
    "placed: fixed in a moved box",
        "<div style='transform:translateX(-9999px)'><p style='position:fixed;left:0'>SECRET</p></div>";
    "placed: absolute in a box that cuts it off",
        "<div style='transform:translate(0);overflow:hidden;height:0'><p style='position:absolute'>SECRET</p></div>";
    "placed: a little above",
        "<p style='position:absolute;top:-60px'>SECRET</p>";
    "placed: a little to the left",
        "<p style='position:absolute;left:-200px'>SECRET</p>";
    "placed: by its margin",
        "<p style='margin-left:-250px'>SECRET</p>";
    "placed: flat",
        "<p style='transform:scale(10,.01)'>SECRET</p>";
    "placed: slanted",
        "<p style='transform:skewX(89.9deg)'>SECRET</p>";
    "later: a display of no browser",
        "<p style='display:none;display:run-in'>SECRET</p>";
    "later: a width of no browser",
        "<p style='width:0;overflow:hidden;width:content'>SECRET</p>";
    "selector: in a list with a host",
        "<style>.x,:host(a){display:none}</style><p class=x>SECRET</p>";
    "sheet: a title beside that of an icon",
        "<link rel=icon title=a href=x><style title=b>.x{display:none}</style><p class=x>SECRET</p>";
    "sheet: a font of half the size",
        "<style>@font-face{font-family:x;src:local(Arial);size-adjust:21%}</style><p style='font-family:x'>SECRET</p>";
};

/// Returns further tricks, which are too long to write down.
fn long_tricks() -> Vec<(&'static str, String)> {
    let names = |count: usize| (0..count).map(|at| format!("n{at} ")).collect::<String>();
    let rules =
        |count: usize| (0..count).map(|at| format!(".r{at}{{color:red}}")).collect::<String>();
    let list = |count: usize| (0..count).map(|at| format!(".l{at},")).collect::<String>();
    let same = ".x{color:red}".repeat(60);
    let deep = "<div>".repeat(300);
    let ends = "</div>".repeat(300);
    let parts = " ".repeat(2_000);
    let attributes: String = (0..1_500).map(|at| format!("a{at} ")).collect();
    Vec::from(cases! {
        "deep: style", format!("{deep}<div style='display:none'>SECRET</div>{ends}");
        "deep: sheet",
            format!("<style>.x{{display:none}}</style>{deep}<div class=x>SECRET</div>{ends}");
        "deep: sheet for a tag",
            format!("<style>i{{display:none}}</style>{deep}<i>SECRET</i>{ends}");
        "deep: attribute", format!("{deep}<div hidden>SECRET</div>{ends}");
        "deep: colour", format!("{deep}<font color=white>SECRET</font>{ends}");
        "deep: template", format!("{deep}<template>SECRET</template>{ends}");
        "deep: choice", format!("{deep}<dialog>SECRET</dialog>{ends}");
        "deep: ended elsewhere",
            format!("{deep}<div style='display:none'><table><td></div>SECRET</table>{ends}");
        "many rules",
            format!("<style>{}.x{{display:none}}</style><p class=x>SECRET</p>", rules(6_000));
        "many rules before the end",
            format!("<style>.x{{display:none}}{}</style><p class=x>SECRET</p>", rules(6_000));
        "many rules for a name",
            format!("<style>.x{{display:none}}{same}</style><p class=x>SECRET</p>");
        "many selectors",
            format!("<style>{}.x{{display:none}}</style><p class=x>SECRET</p>", list(80));
        "too many rules",
            format!("<style>{}.x{{display:none}}</style><p class=x>SECRET</p>", rules(50_000));
        "many names",
            format!("<style>.x{{display:none}}</style><p class='{}x'>SECRET</p>", names(30));
        "deep rules",
            format!(
                "<style>{}.x{{display:none}}</style><p class=x>SECRET</p>",
                "@media screen{".repeat(10)
            );
        "too deep rules",
            format!(
                "<style>{}.x{{display:none}}</style><p class=x>SECRET</p>",
                "@media screen{".repeat(60)
            );
        "spaces in a tag", format!("<p{parts}style='display:none'>SECRET</p>");
        "spaces in a value", format!("<p title='{parts}' style='display:none'>SECRET</p>");
        "quotes in a value",
            format!("<p title=\"{}\" style='display:none'>SECRET</p>", "'".repeat(2_000));
        "many attributes", format!("<p {attributes}style='display:none'>SECRET</p>");
        "a long value",
            format!(
                "<style>.x{{color:{}red;display:none}}</style><p class=x>SECRET</p>",
                " ".repeat(5_000)
            );
        "a long address",
            format!(
                "<style>.x{{background:url({});display:none}}</style><p class=x>SECRET</p>",
                "a".repeat(5_000)
            );
        "long brackets",
            format!(
                "<style>.x{{display:none;width:{}</style><p class=x>SECRET</p>",
                "(".repeat(5_000)
            );
    })
}

/// Markup of newsletters that hides no text from the reader.
const HONEST: &[(&str, &str)] = &cases! {
    "for small screens",
        "<style>@media (max-width:600px){.d{display:none!important}}</style><p class=d>SHOWN</p>";
    "for small screens only",
        "<style>@media only screen and (max-width:480px){td,.d{display:none}}</style><p class=d>SHOWN</p>";
    "a range of small screens",
        "<style>@media (width<=600px){.d{display:none}}</style><p class=d>SHOWN</p>";
    "for print", "<style>@media print{.d{display:none}}</style><p class=d>SHOWN</p>";
    "for the dark",
        "<style>@media (prefers-color-scheme:dark){.d{display:none}}</style><p class=d>SHOWN</p>";
    "for upright screens",
        "<style>@media (orientation:portrait){.d{display:none}}</style><p class=d>SHOWN</p>";
    "for fine screens",
        "<style>@media (min-resolution:2dppx),(-webkit-min-device-pixel-ratio:1.5){.d{display:none}}</style><p class=d>SHOWN</p>";
    "for one program",
        "<style>@media yahoo{.d{display:none}}[owa] .d{display:none}</style><p class=d>SHOWN</p>";
    "for another program",
        "<style>u + .body .d{display:none}</style><div class=body><p class=d>SHOWN</p></div>";
    "under the mouse", "<style>.d:hover{display:none}</style><p class=d>SHOWN</p>";
    "an attribute that is not there",
        "<style>[data-outlook] p,p[title=x]{display:none}</style><p class=d>SHOWN</p>";
    "shown by its own rule",
        "<style>.d{display:none}p.d{display:block}</style><p class=d>SHOWN</p>";
    "shown after all", "<p style='display:none;display:block'>SHOWN</p>";
    "shown by a colour with a name", "<p style='color:#fff;color:tomato'>SHOWN</p>";
    "shown by a colour of numbers", "<p style='color:#fff;color:hsl(200 50% 40%)'>SHOWN</p>";
    "a bang that nobody knows", "<p style='display:none!ie'>SHOWN</p>";
    "cut by a comment", "<p style='display:no/**/ne'>SHOWN</p>";
    "a brace too many", "<style>}.d{display:none}</style><p class=d>SHOWN</p>";
    "for Outlook alone", "<p style='mso-hide:all'>SHOWN</p>";
    "wide again", "<p style='overflow:hidden;width:0;width:100%'>SHOWN</p>";
    "columns that float on a ground",
        "<div style='background:#036;color:#fff'><p style='float:left;width:50%'>SHOWN</p><div style='clear:both'></div></div>";
    "columns that float in a cell",
        "<table width=100%><tr><td bgcolor=#003366><div style='float:left;color:#fff'>SHOWN</div></table>";
    "a title on a dark picture",
        "<div style='background:#000;position:relative;height:200px'><h1 style='position:absolute;bottom:9px;color:#fff'>SHOWN</h1></div>";
    "room for the edge of a phone",
        "<style>.d{padding:20px max(20px,env(safe-area-inset-right)) env(safe-area-inset-bottom,9px)}</style><p class=d>SHOWN</p>";
    "a font of the sender",
        "<style>@font-face{font-family:x;src:url(x.woff2);size-adjust:97%}</style><p style='font-family:x'>SHOWN</p>";
    "shadows of cards",
        "<div style='box-shadow:0 4px 24px 0 rgba(0,0,0,.1),0 1px 2px rgba(0,0,0,.2);border-radius:8px;overflow:hidden'><div style='display:flex'><div style='flex:1'>SHOWN</div></div></div>";
    "filters of Internet Explorer",
        "<p style='filter:alpha(opacity=50)'>SHOWN</p><p style='filter:progid:DXImageTransform.Microsoft.gradient(startColorstr=#fff)'></p>";
    "a field of a form",
        "<style>::placeholder{color:#767676}</style><p>SHOWN</p><input type=hidden placeholder=x>";
};

fn mail(body: &str) -> String {
    format!("<p>before</p>{body}<p>after</p>")
}

#[test]
fn hidden_text_tricks_are_caught() {
    let tricks = TRICKS.iter().map(|(name, body)| (*name, (*body).to_owned()));
    let mut open = Vec::new();
    let mut count = 0;
    for (name, body) in tricks.chain(long_tricks()) {
        count += 1;
        let got = html(&mail(&body), TextStyle::Text, false);
        let reported = !got.doubt.is_empty() || got.cut;
        if got.text.contains("SECRET") && !reported {
            open.push(name);
        }
        // Hidden text is counted, and the text around it stays.
        let text = got.hidden.chars > 0 || got.deep > 0 || reported;
        assert!(text || open.last() == Some(&name), "{name}: {got:?}");
        assert!(got.text.starts_with("before"), "{name}: {:.200}", got.text);
        let last = name.starts_with("deep") || name == "a comment without end";
        assert!(last || got.text.ends_with("after"), "{name}: {:.200}", got.text);
    }
    println!("{} of {count} tricks are caught", count - open.len());
    assert!(open.is_empty(), "{open:#?}");
}

#[test]
fn visible_text_of_honest_mail_is_shown() {
    for (name, body) in HONEST {
        let got = html(&mail(body), TextStyle::Text, false);
        assert_eq!(got.text, "before\n\nSHOWN\n\nafter", "{name}");
        assert_eq!((got.hidden.chars, got.deep, got.cut), (0, 0, false), "{name}");
        assert!(got.doubt.is_empty(), "{name}: {:?}", got.doubt);
    }
    // Deeply nested elements without hidden text are flattened.
    let deep = format!("{}SHOWN{}", "<div>".repeat(400), "</div>".repeat(400));
    let got = html(&mail(&deep), TextStyle::Text, false);
    assert_eq!((got.text.as_str(), got.deep), ("before\n\nSHOWN\n\nafter", 0));
}

/// Readable text that is easily overlooked: it is shown and reported as in doubt.
#[test]
fn what_is_easily_overlooked_is_shown_and_in_doubt() {
    let cases = cases! {
        "color:#eee", Some(HidingMethod::Pale);
        "color:#ddd", None;
        "color:#eee;font-size:24px", None;
        "color:#1b1b1b;background:#0c0c0c", Some(HidingMethod::Pale);
        "color:#000;opacity:.07", Some(HidingMethod::Pale);
        "color:#eee;background:url(x.png)", None;
        "font-size:4px", Some(HidingMethod::Tiny);
        "font-size:6px", None;
    };
    for (look, why) in cases {
        let got = html(&format!("<p style='{look}'>SHOWN"), TextStyle::Text, false);
        assert_eq!(got.text, "SHOWN", "{look}");
        assert_eq!(got.doubt.why, why.into_iter().collect(), "{look}");
    }
}

/// Style sheets that demand too much work are abandoned: their work is counted, and the message is
/// reported as in doubt. Without the limit, some of these would take minutes.
///
/// The messages and the limit are scaled down by the same factor, so that a sheet's demand for a
/// paragraph is the same share of the limit as in the largest message.
#[test]
fn sheets_that_ask_for_too_much_end_at_a_limit() {
    const SMALLER: usize = 20;
    let paragraphs = "<p>x</p>".repeat(4_000 / SMALLER);
    let many = |one: &str, count: usize, by: &str| vec![one; count].join(by);
    let sheets = cases! {
        "universal", many("*{color:red}", 15_000, "");
        "nested", "a,b,c,d{".repeat(2_000);
        "weight of &", "&:is(&,&){".repeat(70);
        "siblings", format!("{}p{{color:red}}", "p+".repeat(10_000));
        "long selectors", format!("{}p{{color:red}}", "p+".repeat(190)).repeat(20);
        "has", "p:has(*),body:has(~ i),:has(i):has(b):has(u){color:red}".repeat(300);
        "nth", ":nth-child(2n of :nth-last-child(3n of p)){color:red}".repeat(200);
        "math", format!("p{{font-size:calc({})}}", many("1px", 580, " + "));
        "transforms", format!("p{{transform:{}}}", many("scale(1)", 440, " "));
        "gradient", format!("p{{background:linear-gradient({})}}", many("red", 1_000, ","));
    };
    let mut endless = Vec::new();
    for (name, sheet) in sheets {
        let page = format!("<style>{sheet}</style>{paragraphs}<p style='display:none'>SECRET</p>");
        let got = html_within(&page, TextStyle::Text, false, WORK / SMALLER);
        if !got.doubt.incomplete || got.text.contains("SECRET") {
            endless.push((name, got.doubt));
        }
    }
    assert!(endless.is_empty(), "{endless:#?}");
    // One of the messages at full size.
    let gradient = format!("p{{background:linear-gradient({})}}", many("red", 1_000, ","));
    let whole = format!("<style>{gradient}</style>{}", "<p>x</p>".repeat(4_000));
    assert!(html(&whole, TextStyle::Text, false).doubt.incomplete);
    let attributes: String = (0..200_000).map(|at| format!("a{at}=b ")).collect();
    assert!(html(&format!("<p {attributes}>x</p>"), TextStyle::Text, false).cut);
}

/// Deep HTML, and long simple HTML, is read to its end.
#[test]
fn sheets_that_only_look_like_much_are_read_to_the_end() {
    let deep = "(".repeat(100_000);
    for page in [
        format!("<style>@media {deep}{{p{{display:none}}}}</style><p>x"),
        format!("<p style='font-size:{}'>x", "calc(".repeat(100_000)),
        format!("<style>{}x</style><p>x", ":is(".repeat(10_000)),
        format!("<style>p{{width:{}</style><p>x", "calc(".repeat(100_000)),
        format!("<style>p{{color:{}</style><p>x", "rgb(from ".repeat(100_000)),
    ] {
        assert_eq!(html(&page, TextStyle::Text, false).text, "x", "{page:.60}");
    }
    // Each of these boxes may cover all the text before it.
    let covers = format!(
        "<style>i{{position:absolute;background:#fff}}</style>{}",
        "x<i></i>".repeat(20_000)
    );
    let got = html(&covers, TextStyle::Text, false);
    assert_eq!((got.doubt.chars, got.doubt.why), (20_000, [HidingMethod::Covered].into()));
}

/// Markup that hides `SECRET` between `before` and `after`.
const HIDING: &[&str] = &[
    "<p hidden>SECRET</p>",
    "<p style='display:none'>SECRET</p>",
    "<p style='DISPLAY : NONE !important; color:red'>SECRET</p>",
    "<p style='display:/**/none'>SECRET</p>",
    "<p style='d\\69splay:none'>SECRET</p>",
    "<p style='visibility:hidden'><b>SECRET</b></p>",
    "<p style='opacity:0'>SECRET</p>",
    "<p style='opacity:0.01'>SECRET</p>",
    "<p style='font-size:0'>SECRET</p>",
    "<p style='font-size:0px'><span>SECRET</span></p>",
    "<p style='font-size:1px'>SECRET</p>",
    "<p style='font:0/0 a'>SECRET</p>",
    "<div style='max-height:0;overflow:hidden'>SECRET</div>",
    "<div style='height:0;overflow:hidden'>SECRET</div>",
    "<div style='width:0px; overflow: hidden'>SECRET</div>",
    "<div style='text-indent:-9999px'>SECRET</div>",
    "<div style='position:absolute;left:-9999px'>SECRET</div>",
    "<div style='position:fixed;top:-100vh'>SECRET</div>",
    "<div style='clip:rect(0 0 0 0);position:absolute'>SECRET</div>",
    "<div style='transform:scale(0)'>SECRET</div>",
    "<p style='color:#fff'>SECRET</p>",
    "<p style='color:white'><span>SECRET</span></p>",
    "<p style='color:rgb(255, 255,255)'>SECRET</p>",
    "<p style='color:hsl(0,0%,100%)'>SECRET</p>",
    "<p style='color:#fefefe;background:#FFF'>SECRET</p>",
    "<p style='color:transparent'>SECRET</p>",
    "<p style='color:rgba(0,0,0,0)'>SECRET</p>",
    "<font color=white>SECRET</font>",
    "<font color=ffffff>SECRET</font>",
    "<table bgcolor='#000000'><tr><td style='color:#010101'>SECRET</td></tr></table>",
    "<div style='background:#000'><div style='background:white;color:white'>SECRET</div></div>",
    "<style>.x{display:none}</style><p class='y x'>SECRET</p>",
    "<style>#x , .q{font-size:0!important}</style><p id=x style='font-size:16px'>SECRET</p>",
    "<style>@media screen{.x{display:block}} p.x{display:none}</style><p class=x>SECRET</p>",
    "<style>.x{color:#fff}</style><p class=x>SECRET</p>",
    "<style>body .x > p{display:none}</style><div class=x><p>SECRET</p></div>",
    "<style>div p.x, b{opacity:0}</style><div><div><p class=x>SECRET</p></div></div>",
    "<p style='color:ivory'>SECRET</p>",
    "<dialog>SECRET</dialog>",
    "<!-- SECRET --><script>SECRET</script><textarea hidden>SECRET</textarea>",
    "<img alt='SECRET' style='display:none'><img alt='SECRET' width=1 height=1>",
    "<select><option selected><option>SECRET</select><meter>SECRET</meter>",
];

/// Styles that resemble hiding but show the text.
const SHOWING: &[&str] = &[
    "<td style='background:#06c'><a href=x style='color:#fff'>VISIBLE</a></td>",
    "<table bgcolor=navy><tr><td><font color=white>VISIBLE</font></td></tr></table>",
    "<table background='bg.png'><tr><td style='color:#fff'>VISIBLE</td></tr></table>",
    "<div style='background-image:url(x.png)'><p style='color:white'>VISIBLE</p></div>",
    "<div style='background:linear-gradient(red, blue)'><p style='color:white'>VISIBLE</p></div>",
    "<style>.btn{background:#000;color:#fff}</style><a class=btn href=x>VISIBLE</a>",
    "<style>.box td{background:#000}</style><div class=box><table><tr><td style='color:#fff'>VISIBLE</table></div>",
    "<style>@media print{p{display:none}} .a .b, .a > .b, p:nth-child(9){display:none}</style><p class=b>VISIBLE</p>",
    "<style>.a > .b{display:none}</style><div class=a><div><p class=b>VISIBLE</p></div></div>",
    "<style>.m{display:none}</style><p class=m style='display:block'>VISIBLE</p>",
    "<div style='font-size:0'><span style='font-size:14px'>VISIBLE</span></div>",
    "<div style='visibility:hidden'><p style='visibility:visible'>VISIBLE</p></div>",
    "<a href=x style='mso-hide:all;background:#eee'>VISIBLE</a>",
    "<p style='font: 700 14px Arial; line-height:0; text-indent:-2em'>VISIBLE</p>",
    "<div style='width:1px;min-width:100%;overflow:hidden'>VISIBLE</div>",
    "<div style='color:#fff'><a href='http://x.org'>VISIBLE</a></div>",
    "<p style='color:#eee'>VISIBLE</p>",
    "<p style='opacity:.9;height:0;margin-left:-20px;position:absolute'>VISIBLE</p>",
];

#[test]
fn hidden_text_is_removed_and_visible_text_kept() {
    for trick in HIDING {
        for style in [TextStyle::Text, TextStyle::Markdown] {
            let got = html(&format!("<p>before</p>{trick}<p>after</p>"), style, true);
            assert_eq!(got.text, "before\n\nafter", "{trick}");
        }
    }
    for trick in SHOWING {
        let input = if trick.starts_with("<td") {
            format!("<table><tr>{trick}</tr></table><p>after</p>")
        } else {
            format!("{trick}<p>after</p>")
        };
        let got = text(&input);
        assert!(got.contains("VISIBLE") && got.contains("after"), "{trick}: {got}");
    }
    let counted =
        html("a<p style='display:none'>12 34<style>x</style></p>", TextStyle::Text, false);
    assert_eq!((counted.text.as_str(), counted.hidden.chars), ("a", 4));
}

/// Pages that hide a word and near twins that show it, as Chromium renders them. Mail programs drop
/// many of their styles.
/// `tests/interop/hiding.py` generates this file and compares it with Chromium.
const CASES: &str = include_str!("hiding/cases.txt");

/// Text that Chromium hides is left out or reported, and text that it shows is never left out.
#[test]
fn pages_have_the_visibility_of_chromium_or_are_in_doubt() {
    let mut counts = BTreeMap::<String, usize>::new();
    let mut wrong = Vec::new();
    for case in CASES.split("\n\n").filter(|case| !case.trim().is_empty()) {
        let (name, rest) = case.split_once('\n').unwrap();
        let (drawn, page) = rest.split_once('\n').unwrap();
        let kind = drawn.split(' ').nth(1).unwrap();
        let got = html(page, TextStyle::Text, false);
        let outcome = match (got.text.contains("SECRET"), got.doubt.is_empty()) {
            (false, _) => "left out",
            (true, true) => "shown",
            (true, false) => "in doubt",
        };
        if matches!((kind, outcome), ("shown", "left out") | ("hidden" | "either", "shown")) {
            wrong.push((name, drawn, got));
        }
        *counts.entry(format!("{kind}: {outcome}")).or_default() += 1;
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    let counts: String = counts.iter().map(|(kind, count)| format!("{kind} {count}\n")).collect();
    assert_eq!(counts, OUTCOMES);
}

/// Of the pages in doubt, most use properties and rules that are not computed.
const OUTCOMES: &str = "\
either: in doubt 6
either: left out 1
hidden: in doubt 167
hidden: left out 251
shown: in doubt 86
shown: shown 237
";
