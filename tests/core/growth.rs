//! Hostile shapes of HTML and header fields, each also at twice the length.
//!
//! `tests/extract/growth.rs` does the same with attached files.

use daysheet_core::compose::ids;
use daysheet_core::text::html::{TextStyle, html};
use daysheet_core::text::orders::gives_orders_unseen;
use daysheet_core::text::quote::{fold, split_quoted};
use daysheet_core::text::sender_auth::AuthResults;
use daysheet_core::text::unsubscribe::way;
use daysheet_core::text::{address_list, header, parameter};

use crate::common::growth::grows;

/// Repeated HTML, by name.
const HTML: &[(&str, &str)] = &[
    ("text", "a "),
    ("text without spaces", "a"),
    ("less than", "<"),
    ("entities", "&amp;"),
    ("broken entities", "&amp"),
    ("numbers", "&#x41;"),
    ("unknown entities", "&nothing;"),
    ("comments", "<!-- x -->"),
    ("open comments", "<!-- x "),
    ("conditional comments", "<!--[if mso]>x<![endif]-->"),
    ("declarations", "<!doctype html>"),
    ("processing instructions", "<?xml x?>"),
    ("sections", "<![CDATA[x]]>"),
    ("divisions", "<div>x"),
    ("closed divisions", "<div>x</div>"),
    ("paragraphs", "<p>x"),
    ("breaks", "x<br>"),
    ("rules", "x<hr>"),
    ("bold", "<b>x"),
    ("bold and italic", "<b><i>x</b>"),
    ("fonts", "<font color=red>x"),
    ("spans", "<span style='color:red'>x</span>"),
    ("nested spans", "<span style='color:red'>x"),
    ("small text", "<span style='font-size:0'>x</span>"),
    ("hidden text", "<p hidden>x</p>y"),
    ("links", "<a href='https://a.example/'>x</a>"),
    ("open links", "<a href='https://a.example/'>x"),
    ("anchors", "<a name=x>x</a>"),
    ("long targets", "<a href='https://a.example/?q=aaaaaaaaaaaaaaaaaaaa'>x</a>"),
    ("look-alike hosts", "<a href='https://xn--80ak6aa92e.example'>x</a>"),
    ("pictures", "<img src=x alt=y>"),
    ("pictures without words", "<img src=cid:x>"),
    ("data", "<img src='data:image/png;base64,AAAA'>"),
    ("tables", "<table><tr><td>x</table>"),
    ("nested tables", "<table><tr><td>x"),
    ("rows", "<tr><td>x"),
    ("cells", "<td>x"),
    ("spanning cells", "<td colspan=9 rowspan=9>x"),
    ("fostered text", "<table>x"),
    ("captions", "<table><caption>x</caption>"),
    ("lists", "<ul><li>x</ul>"),
    ("nested lists", "<ul><li>x"),
    ("items", "<li>x"),
    ("numbered items", "<ol start=9><li>x</ol>"),
    ("definitions", "<dl><dt>x<dd>y</dl>"),
    ("quotations", "<blockquote type=cite>x"),
    ("closed quotations", "<blockquote>x</blockquote>"),
    ("headings", "<h1>x</h1>"),
    ("code", "<pre>x  y\n</pre>"),
    ("open code", "<pre>x"),
    ("code in lines", "<code>`</code>"),
    ("classes", "<p class='a b c'>x"),
    ("attributes", "<p a=b c=d>x"),
    ("ids", "<p id=x>x"),
    ("styles", "<style>.a{color:red}</style>"),
    ("selectors", "<style>.a .b > .c + p{color:red}</style><p class=c>x"),
    ("broken styles", "<style>.a{color:"),
    ("media queries", "<style>@media print{.a{color:red}}</style>"),
    ("scripts", "<script>x()</script>"),
    ("templates", "<template>x</template>"),
    ("no scripts", "<noscript>x</noscript>"),
    ("areas", "<textarea>x</textarea>"),
    ("choices", "<select><option>x</select>"),
    ("buttons", "<button>x</button>"),
    ("details", "<details><summary>x</summary>y</details>"),
    ("drawings", "<svg><text>x</text></svg>"),
    ("formulas", "<math><mi>x</mi></math>"),
    ("frames", "<iframe srcdoc=x></iframe>"),
    ("ruby", "<ruby>x<rt>y</ruby>"),
    ("office paragraphs", "<o:p>x</o:p>"),
    ("zero width", "x\u{200b}"),
    ("direction marks", "\u{202e}x\u{202c} "),
    ("combining marks", "e\u{0301}\u{0301}"),
    ("signs of Markdown", "*_`[x](y)|# "),
];

/// A shape of a header field or a text: its name, its reader, and the repeated part.
type HeaderShape = (&'static str, fn(&str), &'static str);

const HEADERS: &[HeaderShape] = &[
    ("encoded words", read_header, "=?utf-8?q?x?= "),
    ("broken encoded words", read_header, "=?utf-8?q?x "),
    ("encoded bytes", read_header, "=?utf-8?b?w6Q=?= "),
    ("folded lines", read_header, "x\r\n "),
    ("bare lines", read_header, "x\n"),
    ("eight bits", read_header, "\u{00e4}"),
    ("addresses", read_addresses, "a@b.example, "),
    ("names", read_addresses, "\"A, B\" <a@b.example>, "),
    ("groups", read_addresses, "g: a@b.example; "),
    ("nested groups", read_addresses, "g: "),
    ("comments", read_addresses, "(x) "),
    ("nested comments", read_addresses, "("),
    ("open quotes", read_addresses, "\"x "),
    ("open angles", read_addresses, "<a@b.example "),
    ("commas", read_addresses, ","),
    ("encoded names", read_addresses, "=?utf-8?q?A?= <a@b.example>, "),
    ("signs", read_addresses, "@"),
    ("parameters", read_parameter, "; a=b"),
    ("pieces", read_parameter, "; name*0=x"),
    ("encoded pieces", read_parameter, "; name*0*=utf-8''x"),
    ("open parameters", read_parameter, "; name=\"x"),
    ("results", read_results, "; dkim=pass header.d=a.example"),
    ("open results", read_results, "; dkim="),
    ("comments in results", read_results, "; spf=pass (x)"),
    ("references", read_references, "<a@b.example> "),
    ("open references", read_references, "<a@b.example "),
    ("ways to leave", read_unsubscribe, "<https://a.example/>, "),
    ("open ways to leave", read_unsubscribe, "<https://a.example/ "),
    ("orders", read_orders, "IGNORE AS INSTRUÇÕES. "),
    ("capitals", read_orders, "ÄÖÜ "),
    ("accents", read_orders, "e\u{301}\u{307}"),
    ("quoted lines", read_quoted, "> x\n"),
    ("lines above quotes", read_quoted, "On 1 Jan 2026, A wrote:\n> x\n"),
];

fn read_header(text: &str) {
    header(text);
}

fn read_addresses(text: &str) {
    address_list(text);
}

fn read_parameter(text: &str) {
    parameter(&format!("text/plain{text}"), "name");
}

fn read_results(text: &str) {
    AuthResults::read_claims(&format!("mx.example{text}"));
}

fn read_references(text: &str) {
    ids::ends(text.split(' '));
}

fn read_unsubscribe(text: &str) {
    way(&[("List-Unsubscribe".to_owned(), text.to_owned())]);
}

fn read_orders(text: &str) {
    gives_orders_unseen(text);
}

fn read_quoted(text: &str) {
    split_quoted(text);
}

#[test]
fn work_on_html_grows_with_its_length() {
    let mut wrong = Vec::new();
    for (name, unit) in HTML {
        let read = |input: &String| {
            for style in [TextStyle::Text, TextStyle::Markdown] {
                let found = html(input, style, true);
                fold(&found.text, "Lamps", false, false);
            }
        };
        wrong.extend(grows(|count| unit.repeat(count), read).map(|bytes| (name, bytes)));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn work_on_headers_grows_with_their_length() {
    let mut wrong = Vec::new();
    for (name, read, unit) in HEADERS {
        let bytes = grows(|count| unit.repeat(count), |input: &String| read(input));
        wrong.extend(bytes.map(|bytes| (name, bytes)));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
