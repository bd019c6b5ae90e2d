//! Targets of links in Office and OpenDocument files, which are shown if the link text does not
//! state them.

use crate::cases::shown;
use crate::odf::{odf, ods};
use crate::office::zip;
use crate::request;

/// The relations of a part with the links `r1` and `r2`.
const LINKS: &str = "<Relationships><Relationship Id='r1' Type='http://x/hyperlink' TargetMode='External' Target='https://evil.example/a'/><Relationship Id='r2' Type='http://x/hyperlink' TargetMode='External' Target='mailto:ada@lamps.example?subject=x'/></Relationships>";

fn field(instruction: &str, between: &str) -> String {
    format!(
        "<w:p><w:r><w:fldChar w:fldCharType='begin'/></w:r><w:r><w:instrText>{instruction}</w:instrText></w:r><w:r><w:fldChar w:fldCharType='separate'/></w:r><w:r><w:t>here</w:t></w:r>{between}<w:r><w:fldChar w:fldCharType='end'/></w:r><w:r><w:t> after</w:t></w:r></w:p>"
    )
}

#[test]
fn links_of_documents_show_where_they_lead() {
    let link =
        |id: &str, runs: &str| format!("<w:p><w:hyperlink r:id='{id}'>{runs}</w:hyperlink></w:p>");
    let run = |text: &str| format!("<w:r><w:t xml:space='preserve'>{text}</w:t></w:r>");
    let cases = [
        (
            link("r1", &(run("https://") + &run("bank.example"))),
            "https://bank.example <https://evil.example/a>\n",
        ),
        (link("r1", &run("see here ")), "see here <https://evil.example/a>\n"),
        (link("r1", &run("see https://evil.example/a")), "see https://evil.example/a\n"),
        (link("r1", &run("evil.example/a/")), "evil.example/a/\n"),
        (link("r1", &run("a")), "a <https://evil.example/a>\n"),
        (
            link("r2", &run("ada@lamps.example")),
            "ada@lamps.example <mailto:ada@lamps.example?subject=x>\n",
        ),
        (link("r9", &run("to a place")), "to a place\n"),
        (
            link("r1", "<w:r><w:rPr><w:vanish/></w:rPr><w:t>unseen</w:t></w:r>")
                + &format!("<w:p>{}</w:p>", run("Seen")),
            "Seen\n[Hidden { how: Marked, count: 6, of: Characters }]\n",
        ),
        (
            field(" HYPERLINK \"https://evil.example/b\" \\o \"tip\" ", ""),
            "here <https://evil.example/b> after\n",
        ),
        (
            field("HYPERLINK https://evil.example/b", "</w:p><w:p>"),
            "here <https://evil.example/b>\n after\n",
        ),
        (field("HYPERLINK \\l \"place\"", ""), "here after\n"),
        (field("PAGE", ""), "here after\n"),
        (
            format!(
                "<w:p><w:fldSimple w:instr=' HYPERLINK \"https://evil.example/b\"'>{}</w:fldSimple></w:p>",
                run("here")
            ),
            "here <https://evil.example/b>\n",
        ),
    ];
    for (body, expected) in cases {
        let bytes = zip(&[
            ("word/document.xml", &format!("<w:document><w:body>{body}</w:body></w:document>")),
            ("word/_rels/document.xml.rels", LINKS),
        ]);
        assert_eq!(shown(&request("a.docx"), &bytes), expected, "{body}");
    }
}

#[test]
fn links_of_slides_show_where_they_lead() {
    let run = |id: &str, text: &str| {
        format!("<a:r><a:rPr><a:hlinkClick r:id='{id}'/></a:rPr><a:t>{text}</a:t></a:r>")
    };
    let shape = |own: &str, runs: &str| {
        format!(
            "<p:sp><p:nvSpPr><p:cNvPr id='2'>{own}</p:cNvPr></p:nvSpPr><p:txBody><a:p>{runs}</a:p></p:txBody></p:sp>"
        )
    };
    let plain = "<a:r><a:t> or not</a:t></a:r>";
    let whole = "<a:hlinkClick r:id='r1'/>";
    let cases = [
        (
            shape("", &(run("r1", "bank") + &run("r1", ".example") + plain)),
            "bank.example <https://evil.example/a> or not",
        ),
        (
            shape("", &(run("r1", "one") + &run("r2", "ada@lamps.example"))),
            "one <https://evil.example/a>ada@lamps.example <mailto:ada@lamps.example?subject=x>",
        ),
        (shape("", &run("r1", "evil.example/a")), "evil.example/a"),
        (shape(whole, plain) + &shape("", plain), " or not <https://evil.example/a>\n\n or not"),
    ];
    for (slide, expected) in cases {
        let slide = format!("<p:sld><p:cSld><p:spTree>{slide}</p:spTree></p:cSld></p:sld>");
        let bytes = zip(&[
            (
                "ppt/presentation.xml",
                "<p:presentation><p:sldIdLst><p:sldId r:id='r1'/></p:sldIdLst></p:presentation>",
            ),
            (
                "ppt/_rels/presentation.xml.rels",
                "<Relationships><Relationship Id='r1' Type='http://x/slide' Target='slide1.xml'/></Relationships>",
            ),
            ("ppt/slide1.xml", &slide),
            ("ppt/_rels/slide1.xml.rels", LINKS),
        ]);
        assert_eq!(
            shown(&request("a.pptx"), &bytes),
            format!("[Slide(1)]\n{expected}\n"),
            "{slide}"
        );
    }
}

#[test]
fn links_of_opendocument_files_show_where_they_lead() {
    let cases = [
        (
            "<text:a xlink:href='https://evil.example/a'>https://bank.example</text:a>, please",
            "https://bank.example <https://evil.example/a>, please",
        ),
        (
            "<text:a xlink:href='https://evil.example/'><text:span>evil.example</text:span></text:a>",
            "evil.example",
        ),
        ("<text:a xlink:href='#place'>a place</text:a>", "a place"),
    ];
    for (words, expected) in cases {
        let body = format!("<office:text><text:p>{words}</text:p></office:text>");
        assert_eq!(
            shown(&request("a.odt"), &odf("text", &body)),
            format!("{expected}\n"),
            "{words}"
        );
        let cell = |text: &str| {
            format!(
                "<table:table-cell office:value-type='string'><text:p>{text}</text:p></table:table-cell>"
            )
        };
        let rows =
            format!("<table:table-row>{}{}</table:table-row>", cell("x"), cell(words)).repeat(2);
        let got = shown(&request("a.ods"), &ods("", &rows));
        assert!(got.contains(&format!("\"x\"\t\"{expected}\"\n")), "{words}: {got}");
    }
}

#[test]
fn links_of_workbooks_show_where_they_lead() {
    let cell =
        |place: &str, inner: &str| format!("<c r='{place}' t='str'>{inner}<v>bank.example</v></c>");
    let rows = |first: String| {
        format!(
            "<row r='1'><c r='A1' t='str'><v>Item</v></c><c r='B1' t='str'><v>Where</v></c></row><row r='2'>{first}<c r='B2'><v>7</v></c></row>"
        )
    };
    let links = |inner: &str| format!("<hyperlinks>{inner}</hyperlinks>");
    let after = "bank.example <https://evil.example/a>";
    let cases = [
        (rows(cell("A2", "")), links("<hyperlink ref='A2' r:id='r1'/>"), after),
        (rows(cell("A2", "")), links("<hyperlink ref='A2:B9' r:id='r1'/>"), after),
        (rows(cell("A2", "")), links("<hyperlink ref='A3' r:id='r1'/>"), "bank.example"),
        (rows(cell("A2", "")), links("<hyperlink ref='A2' location='One!A1'/>"), "bank.example"),
        (
            rows(cell("A2", "<f>HYPERLINK(\"https://evil.example/a\",\"bank.example\")</f>")),
            String::new(),
            after,
        ),
        (rows(cell("A2", "<f>B2&amp;\"x\"</f>")), String::new(), "bank.example"),
    ];
    for (rows, links, expected) in cases {
        let sheet = format!("<worksheet><sheetData>{rows}</sheetData>{links}</worksheet>");
        let bytes = zip(&[
            (
                "xl/workbook.xml",
                "<workbook><sheets><sheet name='One' sheetId='1' r:id='r1'/></sheets></workbook>",
            ),
            (
                "xl/_rels/workbook.xml.rels",
                "<Relationships><Relationship Id='r1' Type='http://x/worksheet' Target='sheet1.xml'/></Relationships>",
            ),
            ("xl/sheet1.xml", &sheet),
            ("xl/_rels/sheet1.xml.rels", LINKS),
        ]);
        let got = shown(&request("a.xlsx"), &bytes);
        assert!(got.contains(&format!("\"{expected}\"\t7\n")), "{links}: {got}");
    }
}
