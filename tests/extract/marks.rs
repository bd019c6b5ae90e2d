//! Text struck out, raised or lowered in Office and OpenDocument files, choices made in forms, and
//! signs of formulas.

use crate::cases::shown;
use crate::odf::{odf, pptx};
use crate::office::zip;
use crate::request;

fn docx(body: &str) -> String {
    let document = format!("<w:document><w:body><w:p>{body}</w:p></w:body></w:document>");
    let styles = "<w:styles><w:style w:type='character' w:styleId='Old'><w:rPr><w:strike/></w:rPr></w:style></w:styles>";
    let rels = "<Relationships><Relationship Id='r1' Type='http://x/styles' Target='styles.xml'/></Relationships>";
    let bytes = zip(&[
        ("word/document.xml", &document),
        ("word/_rels/document.xml.rels", rels),
        ("word/styles.xml", styles),
    ]);
    shown(&request("a.docx"), &bytes)
}

#[test]
fn struck_and_raised_words_of_documents_are_marked() {
    let run = |properties: &str, text: &str| {
        format!("<w:r><w:rPr>{properties}</w:rPr><w:t xml:space='preserve'>{text}</w:t></w:r>")
    };
    let up = "<w:vertAlign w:val='superscript'/>";
    let cases = [
        (run("", "now ") + &run("<w:strike/>", "old ") + &run("", "new"), "now ~~old~~ new\n"),
        (run("<w:dstrike/>", "a") + &run("<w:strike/><w:b/>", "b"), "~~ab~~\n"),
        (run("<w:rStyle w:val='Old'/>", "old"), "~~old~~\n"),
        (run("<w:rStyle w:val='Old'/><w:strike w:val='0'/>", "new"), "new\n"),
        (run("<w:strike/>", " "), ""),
        (run("", "10") + &run(up, "6") + &run("", " m") + &run(up, "-2"), "10⁶ m⁻²\n"),
        (run("", "H") + &run("<w:vertAlign w:val='subscript'/>", "2") + &run("", "O"), "H₂O\n"),
        (run("", "the 1") + &run(up, "st "), "the 1st\n"),
        (run("<w:vertAlign w:val='baseline'/>", "6"), "6\n"),
    ];
    for (body, expected) in cases {
        assert_eq!(docx(&body).replace("[Empty]\n", ""), expected, "{body}");
    }
}

#[test]
fn forms_of_documents_show_what_was_chosen() {
    let field = |data: &str, code: &str| {
        format!(
            "<w:r><w:fldChar w:fldCharType='begin'><w:ffData>{data}</w:ffData></w:fldChar></w:r><w:r><w:instrText>{code}</w:instrText></w:r><w:r><w:fldChar w:fldCharType='end'/></w:r><w:r><w:t> yes</w:t></w:r>"
        )
    };
    let list = "<w:listEntry w:val='one'/><w:listEntry w:val='two'/>";
    let cases = [
        ("<w:checkBox><w:default w:val='0'/><w:checked/></w:checkBox>".to_owned(), "☑ yes\n"),
        ("<w:checkBox><w:default w:val='1'/></w:checkBox>".to_owned(), "☑ yes\n"),
        (
            "<w:checkBox><w:default w:val='1'/><w:checked w:val='0'/></w:checkBox>".to_owned(),
            "☐ yes\n",
        ),
        (format!("<w:ddList><w:result w:val='1'/>{list}</w:ddList>"), "two yes\n"),
        (format!("<w:ddList>{list}</w:ddList>"), "one yes\n"),
        ("<w:textInput><w:default w:val='x'/></w:textInput>".to_owned(), " yes\n"),
    ];
    for (data, expected) in cases {
        assert_eq!(docx(&field(&data, "FORM")), expected, "{data}");
    }
}

#[test]
fn formulas_of_documents_keep_their_signs() {
    let run = |text: &str| format!("<m:r><m:t>{text}</m:t></m:r>");
    let fraction =
        |over: &str, under: &str| format!("<m:f><m:num>{over}</m:num><m:den>{under}</m:den></m:f>");
    let power = |of: &str, to: &str| {
        format!("<m:sSup><m:e>{}</m:e><m:sup>{}</m:sup></m:sSup>", run(of), run(to))
    };
    let root = |degree: &str, of: &str| {
        format!("<m:rad><m:deg>{degree}</m:deg><m:e>{}</m:e></m:rad>", run(of))
    };
    let brackets = |properties: &str| {
        format!("<m:d><m:dPr>{properties}</m:dPr><m:e>{}</m:e></m:d>", run("a+b"))
    };
    let cases = [
        (fraction(&run("a"), &run("b")), "a/b\n"),
        (fraction(&run("a+1"), &fraction(&run("b"), &run("2"))), "(a+1)/(b/2)\n"),
        (power("x", "2"), "x²\n"),
        (power("x", "n+k"), "x^(n+k)\n"),
        (format!("<m:sSub><m:e>{}</m:e><m:sub>{}</m:sub></m:sSub>", run("x"), run("i")), "x_i\n"),
        (root("", "2"), "√2\n"),
        (root(&run("3"), "a+b"), "³√(a+b)\n"),
        (brackets(""), "(a+b)\n"),
        (brackets("<m:begChr m:val='['/><m:endChr m:val=']'/>"), "[a+b]\n"),
        (
            "<m:nary><m:naryPr><m:chr m:val='∑'/></m:naryPr><m:sub/><m:sup/><m:e/></m:nary>"
                .to_owned()
                + &run("k"),
            "∑k\n",
        ),
    ];
    for (formula, expected) in cases {
        assert_eq!(docx(&format!("<m:oMath>{formula}</m:oMath>")), expected, "{formula}");
    }
}

#[test]
fn struck_and_raised_words_of_slides_and_texts_are_marked() {
    let run = |own: &str, text: &str| format!("<a:r><a:rPr {own}/><a:t>{text}</a:t></a:r>");
    let slide = format!(
        "<p:sp><p:txBody><a:p>{}{}{}</a:p></p:txBody></p:sp>",
        run("strike='sngStrike'", "old"),
        run("strike='noStrike'", " 10"),
        run("baseline='30000'", "6") + &run("baseline='-25000'", "2"),
    );
    assert_eq!(shown(&request("a.pptx"), &pptx(&slide, "")), "[Slide(1)]\n~~old~~ 10⁶₂\n");
    let style = |name: &str, properties: &str| {
        format!(
            "<style:style style:name='{name}' style:family='text'><style:text-properties {properties}/></style:style>"
        )
    };
    let styles = [
        style(
            "struck",
            "style:text-line-through-style='solid' style:text-line-through-type='single'",
        ),
        style("plain", "style:text-line-through-style='none'"),
        style("up", "style:text-position='super 58%'"),
        style("down", "style:text-position='-25% 58%'"),
    ];
    let span =
        |name: &str, text: &str| format!("<text:span text:style-name='{name}'>{text}</text:span>");
    let words = span("struck", &("old".to_owned() + &span("plain", "new")))
        + " 10"
        + &span("up", "6")
        + &span("down", "2");
    let body = format!(
        "</office:body><office:automatic-styles>{}</office:automatic-styles><office:body><office:text><text:p>{words}</text:p></office:text>",
        styles.concat()
    );
    assert_eq!(shown(&request("a.odt"), &odf("text", &body)), "~~old~~new 10⁶₂\n");
}
