//! Hostile files, each also at twice the length. `tests/core/growth.rs` does the same with
//! messages.

use daysheet_extract::extract;

use crate::common::growth::grows;
use crate::odf::{odf, ods, pptx};
use crate::office::docx;
use crate::pdf::paper::Paper;
use crate::request;
use crate::sheets::xlsx;

/// The repeated content of each file: the extension, a name, and the content.
const FILES: &[(&str, &str, &str)] = &[
    ("docx", "paragraphs", "<w:p><w:r><w:t>x</w:t></w:r></w:p>"),
    ("docx", "runs", "<w:r><w:t>x</w:t></w:r>"),
    ("docx", "open paragraphs", "<w:p>"),
    (
        "docx",
        "rows of a table",
        "<w:tbl><w:tr><w:tc><w:p><w:r><w:t>x</w:t></w:r></w:p></w:tc></w:tr></w:tbl>",
    ),
    ("docx", "nested tables", "<w:tbl><w:tr><w:tc>"),
    (
        "docx",
        "numbered paragraphs",
        "<w:p><w:pPr><w:numPr><w:ilvl w:val='1'/><w:numId w:val='7'/></w:numPr></w:pPr><w:r><w:t>x</w:t></w:r></w:p>",
    ),
    ("docx", "hidden runs", "<w:p><w:r><w:rPr><w:vanish/></w:rPr><w:t>x</w:t></w:r></w:p>"),
    (
        "docx",
        "raised runs",
        "<w:p><w:r><w:rPr><w:position w:val='9999'/></w:rPr><w:t>x</w:t></w:r></w:p>",
    ),
    ("docx", "deleted text", "<w:p><w:del><w:r><w:delText>x</w:delText></w:r></w:del></w:p>"),
    ("docx", "comments", "<w:p><w:r><w:commentReference w:id='0'/></w:r></w:p>"),
    ("docx", "footnotes", "<w:p><w:r><w:footnoteReference w:id='2'/></w:r></w:p>"),
    ("odt", "paragraphs", "<text:p>x</text:p>"),
    ("odt", "spans", "<text:p><text:span>x</text:span></text:p>"),
    ("odt", "open spans", "<text:p><text:span>x"),
    ("odt", "nested lists", "<text:list><text:list-item>"),
    ("odt", "sections", "<text:section><text:p>x</text:p></text:section>"),
    (
        "odt",
        "hidden text",
        "<text:p><text:hidden-text text:is-hidden='true'>x</text:hidden-text></text:p>",
    ),
    (
        "odt",
        "frames",
        "<text:p><draw:frame svg:width='1cm' svg:height='1cm' svg:x='99cm'><draw:text-box><text:p>x</text:p></draw:text-box></draw:frame></text:p>",
    ),
    (
        "odt",
        "tables",
        "<table:table><table:table-row><table:table-cell><text:p>x</text:p></table:table-cell></table:table-row></table:table>",
    ),
    ("pptx", "shapes", "<p:sp><p:txBody><a:p><a:r><a:t>x</a:t></a:r></a:p></p:txBody></p:sp>"),
    ("pptx", "groups", "<p:grpSp>"),
    (
        "pptx",
        "closed groups",
        "<p:grpSp><p:sp><p:txBody><a:p><a:r><a:t>x</a:t></a:r></a:p></p:txBody></p:sp></p:grpSp>",
    ),
    (
        "pptx",
        "pictures",
        "<p:pic><p:nvPicPr><p:cNvPr id='1' name='x' descr='y'/></p:nvPicPr></p:pic>",
    ),
    (
        "pptx",
        "placed shapes",
        "<p:sp><p:spPr><a:xfrm><a:off x='0' y='0'/><a:ext cx='900000' cy='900000'/></a:xfrm></p:spPr><p:txBody><a:p><a:r><a:t>x</a:t></a:r></a:p></p:txBody></p:sp>",
    ),
    (
        "pptx",
        "covered shapes",
        "<p:sp><p:spPr><a:xfrm><a:off x='0' y='0'/><a:ext cx='900000' cy='900000'/></a:xfrm><a:solidFill><a:srgbClr val='FF0000'/></a:solidFill></p:spPr><p:txBody><a:p><a:r><a:t>x</a:t></a:r></a:p></p:txBody></p:sp>",
    ),
    (
        "pptx",
        "tables",
        "<p:graphicFrame><a:graphic><a:graphicData><a:tbl><a:tr><a:tc><a:txBody><a:p><a:r><a:t>x</a:t></a:r></a:p></a:txBody></a:tc></a:tr></a:tbl></a:graphicData></a:graphic></p:graphicFrame>",
    ),
    (
        "odp",
        "pages",
        "<draw:page><draw:frame><draw:text-box><text:p>x</text:p></draw:text-box></draw:frame></draw:page>",
    ),
    ("odp", "groups", "<draw:page><draw:g>"),
    ("odp", "shapes", "<draw:custom-shape><text:p>x</text:p></draw:custom-shape>"),
    ("xlsx", "rows", "<row><c t='inlineStr'><is><t>x</t></is></c></row>"),
    ("xlsx", "cells", "<c t='inlineStr'><is><t>x</t></is></c>"),
    ("xlsx", "numbers", "<row><c><v>1</v></c></row>"),
    ("xlsx", "far cells", "<row><c r='XFD1'><v>1</v></c></row>"),
    ("xlsx", "dates", "<row><c s='14'><v>45000</v></c></row>"),
    ("xlsx", "styles", "<row><c s='9'><v>1</v></c></row>"),
    ("xlsx", "missing strings", "<row><c t='s'><v>9</v></c></row>"),
    (
        "ods",
        "rows",
        "<table:table-row><table:table-cell office:value-type='string'><text:p>x</text:p></table:table-cell></table:table-row>",
    ),
    (
        "ods",
        "repeated rows",
        "<table:table-row table:number-rows-repeated='1000'><table:table-cell><text:p>x</text:p></table:table-cell></table:table-row>",
    ),
    (
        "ods",
        "repeated cells",
        "<table:table-row><table:table-cell table:number-columns-repeated='1000'><text:p>x</text:p></table:table-cell></table:table-row>",
    ),
    ("ods", "cells", "<table:table-cell><text:p>x</text:p></table:table-cell>"),
    ("rtf", "groups", "{"),
    ("rtf", "closed groups", "{x}"),
    ("rtf", "paragraphs", "x\\par "),
    ("rtf", "control words", "\\b0\\i0 "),
    ("rtf", "characters", "\\'e4"),
    ("rtf", "destinations", "{\\*\\x y}"),
    ("rtf", "cells", "\\trowd x\\cell\\row "),
    ("pdf", "lines", "BT /F1 12 Tf 10 10 Td (x) Tj ET\n"),
    ("pdf", "open texts", "BT "),
    ("pdf", "states", "q "),
    ("pdf", "closed states", "q Q "),
    ("pdf", "rectangles", "0 0 9 9 re f\n"),
    ("pdf", "clips", "0 0 9 9 re W n\n"),
    ("pdf", "marks", "/Span <</ActualText (x)>> BDC EMC\n"),
    ("csv", "rows", "a,b\n"),
    ("csv", "cells", "a,"),
    ("csv", "open quotes", "\"a"),
    ("ics", "events", "BEGIN:VEVENT\r\nDTSTART:20260101T100000Z\r\nSUMMARY:x\r\nEND:VEVENT\r\n"),
    ("ics", "open events", "BEGIN:VEVENT\r\n"),
    ("ics", "folded lines", "SUMMARY:x\r\n y\r\n"),
    ("ics", "parameters", "ATTENDEE;CN=x:mailto:a@b.example\r\n"),
    ("vcf", "cards", "BEGIN:VCARD\r\nFN:x\r\nEND:VCARD\r\n"),
    ("vcf", "addresses", "EMAIL:a@b.example\r\n"),
    ("eml", "header fields", "X-A: b\r\n"),
    ("eml", "parts", "--b\r\nContent-Type: text/plain\r\n\r\nx\r\n"),
    ("txt", "lines", "x\n"),
];

/// Returns the bytes of a file of this kind.
fn file(kind: &str, content: &str) -> Vec<u8> {
    match kind {
        "docx" => docx(content),
        "odt" => odf("text", &format!("<office:text>{content}</office:text>")),
        "odp" => {
            odf("presentation", &format!("<office:presentation>{content}</office:presentation>"))
        }
        "pptx" => pptx(content, ""),
        "xlsx" => xlsx("", content, ""),
        "ods" => ods("", content),
        "pdf" => Paper::of(content).bytes(),
        "rtf" => format!("{{\\rtf1 {content}").into_bytes(),
        "ics" => format!("BEGIN:VCALENDAR\r\n{content}").into_bytes(),
        "vcf" => format!("BEGIN:VCARD\r\n{content}").into_bytes(),
        "eml" => format!("Content-Type: multipart/mixed; boundary=b\r\nSubject: x\r\n{content}")
            .into_bytes(),
        _ => content.as_bytes().to_vec(),
    }
}

#[test]
fn work_on_files_grows_with_their_length() {
    let mut wrong = Vec::new();
    for (kind, name, unit) in FILES {
        let request = request(&format!("a.{kind}"));
        let input = |count| file(kind, &unit.repeat(count));
        let bytes = grows(input, |bytes: &Vec<u8>| {
            extract(&request, bytes, &mut |_| Ok(())).unwrap();
        });
        wrong.extend(bytes.map(|bytes| (kind, name, bytes)));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
