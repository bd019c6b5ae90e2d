//! Text of OpenDocument files and slides hidden by its place, its size or a condition, and ordinary
//! text next to it. Text that is certainly hidden is left out; text that programs show differently
//! is in doubt.

use std::fmt::Write;

use crate::cases::shown;
use crate::odf::{odf, pptx};
use crate::request;
use crate::slides::LIGHT;

const STYLES: &str = "<style:style style:name='far' style:family='text'><style:text-properties style:text-position='9999% 100%'/></style:style>
    <style:style style:name='low' style:family='text'><style:text-properties style:text-position='-9999% 100%'/></style:style>
    <style:style style:name='high' style:family='text'><style:text-properties style:text-position='1500% 100%'/></style:style>
    <style:style style:name='super' style:family='text'><style:text-properties style:text-position='super 58%'/></style:style>
    <style:style style:name='sub' style:family='text'><style:text-properties style:text-position='-33% 58%'/></style:style>
    <style:style style:name='nothing' style:family='text'><style:text-properties style:text-position='0% 1%'/></style:style>
    <style:style style:name='thin' style:family='text'><style:text-properties style:text-scale='1%'/></style:style>
    <style:style style:name='narrow' style:family='text'><style:text-properties style:text-scale='80%'/></style:style>
    <style:style style:name='tight' style:family='text'><style:text-properties fo:font-size='40pt' fo:letter-spacing='-2pt'/></style:style>
    <style:style style:name='clear' style:family='text'><style:text-properties loext:opacity='2%'/></style:style>
    <style:style style:name='white' style:family='text'><style:text-properties fo:color='#ffffff'/></style:style>
    <style:style style:name='aside' style:family='paragraph'><style:paragraph-properties fo:margin-left='50cm'/></style:style>
    <style:style style:name='first' style:family='paragraph'><style:paragraph-properties fo:text-indent='-60cm'/></style:style>
    <style:style style:name='hanging' style:family='paragraph'><style:paragraph-properties fo:margin-left='2cm' fo:text-indent='-2cm'/></style:style>
    <style:style style:name='paged' style:family='graphic'><style:graphic-properties style:horizontal-rel='page'/></style:style>
    <style:style style:name='glass' style:family='graphic'><style:graphic-properties draw:fill='solid' draw:fill-color='#203040' draw:opacity='0%'/></style:style>
    <style:style style:name='blue' style:family='graphic'><style:graphic-properties draw:fill='solid' draw:fill-color='#203040' draw:opacity='100%'/></style:style>";
/// The page layout of printed notes comes before the page layout of the slides.
const PAGES: &str = "<style:page-layout style:name='P0'><style:page-layout-properties fo:page-width='21cm' fo:page-height='29cm'/></style:page-layout>
    <style:page-layout style:name='P1'><style:page-layout-properties fo:page-width='28cm' fo:page-height='21cm'/></style:page-layout>
    <style:master-page style:name='M' style:page-layout-name='P1'/>
    <draw:layer-set><draw:layer draw:name='off' draw:display='none'/><draw:layer draw:name='layout'/></draw:layer-set>";

/// A name, the body of a file, and its expected output without empty lines.
type Case<'a> = (&'a str, String, String);

fn check(name: &str, cases: &[Case<'_>], file: impl Fn(&str) -> Vec<u8>) {
    let mut wrong = String::new();
    for (what, body, expected) in cases {
        let got =
            shown(&request(name), &file(body)).replace("\n\n", "\n").replace("[Slide(1)]\n", "");
        if got != *expected {
            writeln!(wrong, "{what}: expected\n{expected}but got\n{got}").unwrap();
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

fn hidden(how: &str) -> String {
    format!("After.\n[Hidden {{ how: {how}, count: 6, of: Characters }}]\n")
}

fn doubt(how: &str) -> String {
    format!("SECRET\nAfter.\n[Doubt {{ how: {how}, count: 6 }}]\n")
}

fn seen() -> String {
    "SECRET\nAfter.\n".to_owned()
}

fn styled(kind: &str, body: &str) -> Vec<u8> {
    let styles = format!("<office:automatic-styles>{STYLES}{PAGES}</office:automatic-styles>");
    odf(kind, &format!("</office:body>{styles}<office:body>{body}"))
}

fn paragraph(style: &str, span: &str) -> String {
    format!(
        "<text:p text:style-name='{style}'><text:span text:style-name='{span}'>SECRET</text:span></text:p>"
    )
}

/// Returns a shape with these attributes.
fn drawn(shape: &str, attributes: &str) -> String {
    let words = paragraph("", "");
    let within =
        if shape == "frame" { format!("<draw:text-box>{words}</draw:text-box>") } else { words };
    format!("<draw:{shape} {attributes}>{within}</draw:{shape}>")
}

#[test]
fn writer_text_out_of_sight_is_left_out_or_in_doubt() {
    let size = "svg:width='5cm' svg:height='2cm'";
    let field = |name: &str, attributes: &str| {
        format!("<text:p><text:{name} {attributes} text:string-value='SECRET'/></text:p>")
    };
    let around = |name: &str, attributes: &str| {
        format!("<text:{name} {attributes}>{}</text:{name}>", paragraph("", ""))
    };
    let in_paragraph =
        |attributes: &str| format!("<text:p><text:hidden-paragraph {attributes}/>SECRET</text:p>");
    let marked = |attributes: &str| {
        format!(
            "<text:p><text:bookmark-start text:name='b' {attributes}/>SECRET<text:bookmark-end text:name='b'/></text:p>"
        )
    };
    let frame = |inner: &str| {
        format!(
            "<text:p><draw:frame>{inner}<draw:text-box>{}</draw:text-box></draw:frame></text:p>",
            paragraph("", "")
        )
    };
    let shape =
        |shape: &str, attributes: &str| format!("<text:p>{}</text:p>", drawn(shape, attributes));
    let cases: Vec<Case<'_>> = vec![
        ("plain", paragraph("", ""), seen()),
        ("raised off the page", paragraph("", "far"), hidden("OffPage")),
        ("lowered off the page", paragraph("", "low"), hidden("OffPage")),
        ("raised far", paragraph("", "high"), doubt("OffPage")),
        ("exponent", paragraph("", "super"), seen()),
        ("of no size", paragraph("", "nothing"), hidden("Tiny")),
        ("of no width", paragraph("", "thin"), hidden("Tiny")),
        ("narrow", paragraph("", "narrow"), seen()),
        ("a title that is set tight", paragraph("", "tight"), seen()),
        ("transparent", paragraph("", "clear"), hidden("Transparent")),
        ("beside the page", paragraph("aside", ""), hidden("OffPage")),
        (
            "beside the page, in a table",
            format!(
                "<table:table><table:table-row><table:table-cell>{}</table:table-cell></table:table-row></table:table>",
                paragraph("aside", "")
            ),
            hidden("OffPage"),
        ),
        ("with a first line beside the page", paragraph("first", ""), doubt("OffPage")),
        ("hanging", paragraph("hanging", ""), seen()),
        (
            "field that is hidden",
            field("hidden-text", "text:is-hidden='true' text:condition='ooow:x'"),
            hidden("Marked"),
        ),
        (
            "field whose condition is true",
            field("hidden-text", "text:is-hidden='false' text:condition='ooow:1'"),
            hidden("Marked"),
        ),
        (
            "field whose condition is false",
            field("hidden-text", "text:condition='ooow:FALSE'"),
            seen(),
        ),
        (
            "field of any condition",
            field("hidden-text", "text:condition='ooow:1==1'"),
            doubt("Marked"),
        ),
        ("paragraph that is hidden", in_paragraph("text:is-hidden='true'"), hidden("Marked")),
        (
            "paragraph whose condition is true",
            in_paragraph("text:condition='ooow:TRUE'"),
            hidden("Marked"),
        ),
        (
            "paragraph of any condition",
            in_paragraph("text:condition='ooow:a &gt; 1'"),
            doubt("Marked"),
        ),
        (
            "paragraph that is shown",
            in_paragraph("text:is-hidden='false' text:condition='ooow:0'"),
            seen(),
        ),
        (
            "section whose condition is true",
            around("section", "text:display='condition' text:condition='ooow:1'"),
            hidden("Marked"),
        ),
        (
            "section of any condition",
            around("section", "text:display='condition' text:condition='ooow:a'"),
            doubt("Marked"),
        ),
        (
            "section that ignores its condition",
            around("section", "text:display='true' text:condition='ooow:1'"),
            seen(),
        ),
        (
            "variable that is not shown",
            "<text:p><text:variable-set text:display='none'>SECRET</text:variable-set></text:p>"
                .to_owned(),
            hidden("Marked"),
        ),
        (
            "variable",
            "<text:p><text:variable-set text:display='value'>SECRET</text:variable-set></text:p>"
                .to_owned(),
            seen(),
        ),
        ("bookmark that hides", marked("loext:hidden='true' loext:condition=''"), hidden("Marked")),
        (
            "bookmark of any condition",
            marked("loext:hidden='true' loext:condition='a'"),
            doubt("Marked"),
        ),
        ("bookmark", marked(""), seen()),
        ("frame", shape("frame", &format!("svg:x='-1cm' svg:y='1cm' {size}")), seen()),
        (
            "frame beside the page",
            shape("frame", &format!("draw:style-name='paged' svg:x='-20cm' {size}")),
            doubt("OffPage"),
        ),
        ("frame that may be on the page", shape("frame", &format!("svg:x='-20cm' {size}")), seen()),
        (
            "shape beside the page",
            shape("custom-shape", &format!("text:anchor-type='page' svg:y='-20cm' {size}")),
            doubt("OffPage"),
        ),
        ("flat frame", shape("frame", "svg:width='5cm' svg:height='0.01cm'"), doubt("Clipped")),
        ("frame that grows", shape("frame", "svg:width='5cm'"), seen()),
        (
            "frame with a picture and text",
            frame("<draw:image/>"),
            hidden("Covered") + "[Pictures(1)]\n",
        ),
        ("frame with a title", frame("<svg:title>T</svg:title>"), seen()),
    ];
    check("a.odt", &cases, |body| {
        styled("text", &format!("<office:text>{body}<text:p>After.</text:p></office:text>"))
    });
}

#[test]
fn shapes_out_of_sight_on_slides_are_left_out_or_in_doubt() {
    let size = "svg:width='5cm' svg:height='2cm'";
    let slide = |shape: &str, attributes: &str| drawn(shape, &format!("{attributes} {size}"));
    let white = |style: &str| {
        drawn("rect", &format!("draw:style-name='{style}' svg:x='1cm' svg:y='1cm' {size}"))
            .replace("text:style-name=''>SECRET", "text:style-name='white'>SECRET")
    };
    let boxed = |words: &str| {
        format!(
            "<draw:frame svg:x='1cm' svg:y='1cm' {size}><draw:text-box>{words}</draw:text-box></draw:frame>"
        )
    };
    let cases: Vec<Case<'_>> = vec![
        ("on the slide", slide("frame", "svg:x='1cm' svg:y='1cm'"), seen()),
        ("beyond the page of the notes", slide("frame", "svg:x='23cm' svg:y='1cm'"), seen()),
        ("on the left", slide("rect", "svg:x='-20cm' svg:y='1cm'"), hidden("OffPage")),
        ("below", slide("frame", "svg:x='1cm' svg:y='22cm'"), hidden("OffPage")),
        ("moved away", slide("frame", "draw:transform='rotate (0.5) translate (-40cm 1cm)'"), hidden("OffPage")),
        ("turned", slide("frame", "draw:transform='rotate (0.5) translate (4cm, 1cm)'"), seen()),
        ("changed", slide("frame", "draw:transform='matrix (1 0 0 1 -40cm 0cm)'"), seen()),
        ("a line on the right", "<draw:line svg:x1='40cm' svg:x2='30cm' svg:y1='1cm' svg:y2='1cm'><text:p>SECRET</text:p></draw:line>".to_owned(), hidden("OffPage")),
        ("a line", "<draw:line svg:x1='4cm' svg:x2='9cm' svg:y1='1cm' svg:y2='1cm'><text:p>SECRET</text:p></draw:line>".to_owned(), seen()),
        ("without a size", drawn("ellipse", "svg:x='1cm' svg:y='1cm' svg:width='0cm' svg:height='0cm'"), doubt("Clipped")),
        ("on a layer that is off", slide("frame", "draw:layer='off'"), hidden("Layer")),
        ("on a layer", slide("frame", "draw:layer='layout'"), seen()),
        ("on a fill that is transparent", white("glass"), hidden("Colour")),
        ("on a fill", white("blue"), seen()),
        ("indented beyond the slide", boxed(&paragraph("aside", "")), hidden("OffPage")),
        ("raised", boxed(&paragraph("", "far")), hidden("OffPage")),
    ];
    check("a.odp", &cases, |body| {
        styled(
            "presentation",
            &format!(
                "<office:presentation><draw:page draw:master-page-name='M'>{body}<draw:frame><draw:text-box><text:p>After.</text:p></draw:text-box></draw:frame></draw:page></office:presentation>"
            ),
        )
    });
}

/// Shapes on a sheet are below its rows, whether they are anchored to a cell or to the sheet.
#[test]
fn shapes_of_sheets_are_seen_by_their_place_and_look() {
    let shape = |attributes: &str, span: &str| {
        drawn("custom-shape", attributes)
            .replace("style-name=''>S", &format!("style-name='{span}'>S"))
    };
    let rows = |finding: &str, after: &str| {
        format!("[sheet One, rows 1 to 1 of 1]\nA\tB\n\"a\"\t\"b\"\n{after}{finding}")
    };
    let hidden =
        |how: &str| rows(&format!("[Hidden {{ how: {how}, count: 6, of: Characters }}]\n"), "");
    let cases = [
        ("far down", shape("svg:x='1cm' svg:y='900cm'", ""), rows("", "SECRET\n")),
        ("beside", shape("svg:x='-20cm' svg:width='5cm'", ""), hidden("OffPage")),
        ("off", shape("draw:display='none'", ""), hidden("Marked")),
        ("thin", shape("", "thin"), hidden("Tiny")),
    ];
    for anchor in ["cell", "sheet"] {
        check("a.ods", &cases, |body| {
            let cell = |words: &str, more: &str| {
                format!(
                    "<table:table-cell office:value-type='string'><text:p>{words}</text:p>{more}</table:table-cell>"
                )
            };
            let (in_cell, on_sheet) = if anchor == "cell" { (body, "") } else { ("", body) };
            let row = |one: String, other: String| {
                format!("<table:table-row>{one}{other}</table:table-row>")
            };
            let rows = row(cell("A", ""), cell("B", "")) + &row(cell("a", in_cell), cell("b", ""));
            styled(
                "spreadsheet",
                &format!(
                    "<office:spreadsheet><table:table table:name='One'><table:shapes>{on_sheet}</table:shapes>{rows}</table:table></office:spreadsheet>"
                ),
            )
        });
    }
}

#[test]
fn slide_text_out_of_sight_is_left_out_or_in_doubt() {
    let inch = 914_400;
    // A box at this place in inches, with properties of its body, its list, its paragraph and run.
    let boxed = |[x, y, wide, high]: [i64; 4],
                 body: &str,
                 list: &str,
                 paragraph: &str,
                 run: &str| {
        format!(
            "<p:sp><p:spPr><a:xfrm><a:off x='{}' y='{}'/><a:ext cx='{}' cy='{}'/></a:xfrm></p:spPr><p:txBody>{body}<a:lstStyle>{list}</a:lstStyle>\
             <a:p><a:pPr {paragraph}/><a:r><a:rPr {run}/><a:t>SECRET</a:t></a:r></a:p></p:txBody></p:sp>",
            x * inch,
            y * inch,
            wide * inch,
            high * inch
        )
    };
    let usual = [1, 1, 4, 1];
    let run = |run: &str| boxed(usual, "", "", "", run);
    let body = |place: [i64; 4], body: &str| boxed(place, body, "", "", "");
    let group = |x: i64, inner: &str| {
        format!(
            "<p:grpSp><p:grpSpPr><a:xfrm><a:off x='0' y='0'/><a:ext cx='9000000' cy='6000000'/><a:chOff x='{x}' y='0'/><a:chExt cx='9000000' cy='6000000'/></a:xfrm></p:grpSpPr>{inner}</p:grpSp>"
        )
    };
    let turned = |place: [i64; 4]| body(place, "").replace("<a:xfrm>", "<a:xfrm rot='5400000'>");
    let long = |clip: &str| {
        body([1, 1, 1, 1], clip).replace(
            "</a:p>",
            &format!("</a:p>{}", "<a:p><a:r><a:t>.</a:t></a:r></a:p>".repeat(12)),
        )
    };
    let dots = ".\n".repeat(12);
    let cases: Vec<Case<'_>> = vec![
        ("raised off the slide", run("baseline='9999000'"), hidden("OffPage")),
        ("raised far", run("baseline='900000'"), doubt("OffPage")),
        ("index", run("baseline='-25000'"), seen()),
        ("pressed together", run("spc='-10000'"), hidden("Tiny")),
        ("a title that is set tight", run("sz='4400' spc='-300'"), seen()),
        (
            "pressed together by its list",
            boxed(usual, "", "<a:lvl1pPr><a:defRPr spc='-10000'/></a:lvl1pPr>", "", ""),
            hidden("Tiny"),
        ),
        (
            "tiny by its list",
            boxed(usual, "", "<a:lvl1pPr><a:defRPr sz='100'/></a:lvl1pPr>", "", ""),
            hidden("Tiny"),
        ),
        (
            "a size of its own",
            boxed(usual, "", "<a:lvl1pPr><a:defRPr sz='100'/></a:lvl1pPr>", "", "sz='1800'"),
            seen(),
        ),
        (
            "shrunk to nothing",
            body(usual, "<a:bodyPr><a:normAutofit fontScale='1000'/></a:bodyPr>"),
            hidden("Tiny"),
        ),
        (
            "shrunk to fit",
            body(
                usual,
                "<a:bodyPr><a:normAutofit fontScale='62.5%' lnSpcReduction='20000'/></a:bodyPr>",
            ),
            seen(),
        ),
        (
            "indented beyond the slide",
            boxed(usual, "", "", "marL='9144000'", ""),
            hidden("OffPage"),
        ),
        (
            "indented so by its list",
            boxed(usual, "", "<a:lvl1pPr marL='9144000'/>", "", ""),
            hidden("OffPage"),
        ),
        (
            "with a first line beside the slide",
            boxed(usual, "", "", "marL='0' indent='-20000000'", ""),
            doubt("OffPage"),
        ),
        ("hanging", boxed(usual, "", "", "marL='342900' indent='-342900'", ""), seen()),
        ("pushed out of its box", body(usual, "<a:bodyPr lIns='9144000'/>"), doubt("OffPage")),
        ("pulled out of its box", body(usual, "<a:bodyPr rIns='9144000'/>"), doubt("OffPage")),
        (
            "with insets",
            body(usual, "<a:bodyPr lIns='182880' tIns='91440' rIns='182880' bIns='91440'/>"),
            seen(),
        ),
        (
            "in a box that clips and has no height",
            body([1, 1, 4, 0], "<a:bodyPr vertOverflow='clip'/>"),
            hidden("Clipped"),
        ),
        ("in a box without a height", body([1, 1, 4, 0], "<a:bodyPr/>"), doubt("Clipped")),
        (
            "in a box that fits its text",
            body([1, 1, 0, 0], "<a:bodyPr wrap='none'><a:spAutoFit/></a:bodyPr>"),
            seen(),
        ),
        (
            "more than its box shows",
            long("<a:bodyPr vertOverflow='clip'/>"),
            format!("SECRET\n{dots}After.\n[Doubt {{ how: Clipped, count: 18 }}]\n"),
        ),
        ("more than its box holds", long("<a:bodyPr/>"), format!("SECRET\n{dots}After.\n")),
        (
            "beside the slide in a group",
            group(20 * inch, &body([1, 1, 4, 1], "")),
            hidden("OffPage"),
        ),
        (
            "in a group that moves it to the slide",
            group(-20 * inch, &body([-20, 1, 4, 1], "")),
            seen(),
        ),
        ("turned onto the slide", turned([-2, 1, 1, 5]), seen()),
        ("turned beside the slide", turned([-9, 1, 4, 1]), hidden("OffPage")),
    ];
    check("a.pptx", &cases, |body| {
        pptx(&format!("{body}<p:sp><a:p><a:r><a:t>After.</a:t></a:r></a:p></p:sp>"), LIGHT)
    });
}
