//! OpenDocument files made member by member: what people do not see in them is left out.

use daysheet_core::text::visibility::HidingMethod;
use daysheet_extract::{Finding, HiddenUnit, ReadFailure};

use crate::cases::shown;
use crate::office::{relations, zip};
use crate::{ended, request};

/// Returns an OpenDocument sheet with these rows.
pub fn ods(styles: &str, rows: &str) -> Vec<u8> {
    let content = format!(
        "<office:document-content><office:automatic-styles>{styles}</office:automatic-styles><office:body>\
         <office:spreadsheet><table:table table:name='One'>{rows}</table:table></office:spreadsheet>\
         </office:body></office:document-content>"
    );
    zip(&[
        ("mimetype", "application/vnd.oasis.opendocument.spreadsheet"),
        ("content.xml", &content),
    ])
}

fn words(cells: &[&str]) -> String {
    let cells = cells.iter().map(|cell| format!("<table:table-cell office:value-type='string'><text:p>{cell}</text:p></table:table-cell>"));
    format!("<table:table-row>{}</table:table-row>", cells.collect::<String>())
}

#[test]
fn opendocument_sheets_are_read_alike() {
    let head = words(&["Item", "Qty"]) + &words(&["Lamp", "many"]);
    let secret = words(&["SECRET"]);
    let white = "<style:style style:name='w' style:family='table-cell'><style:text-properties fo:color='#ffffff'/></style:style>";
    let cases = [
        (
            "",
            format!(
                "{head}{}",
                secret
                    .replace("<table:table-row>", "<table:table-row table:visibility='collapse'>")
            ),
            Some("Row"),
        ),
        (
            "",
            format!(
                "{head}{}",
                secret.replace("<table:table-row>", "<table:table-row table:visibility='filter'>")
            ),
            Some("Filtered"),
        ),
        (
            "",
            format!(
                "<table:table-column table:number-columns-repeated='2'/><table:table-column table:visibility='collapse'/>{head}{}",
                words(&["a", "b", "SECRET"])
            ),
            Some("Column"),
        ),
        (
            white,
            format!(
                "{head}{}",
                secret.replace("<table:table-cell", "<table:table-cell table:style-name='w'")
            ),
            Some("Colour"),
        ),
        (
            "",
            format!(
                "{head}{}",
                words(&["a", "SECRET"])
                    .replace(
                        "<table:table-cell office:value-type='string'><text:p>S",
                        "<table:covered-table-cell office:value-type='string'><text:p>S"
                    )
                    .replace(
                        "SECRET</text:p></table:table-cell>",
                        "SECRET</text:p></table:covered-table-cell>"
                    )
            ),
            Some("Covered"),
        ),
        (
            "<style:style style:name='t' style:family='text'><style:text-properties fo:color='#ffffff'/></style:style>",
            format!("{head}{}", words(&["a <text:span text:style-name='t'>SECRET</text:span>"])),
            Some("Colour"),
        ),
        (
            "",
            format!(
                "{head}<table:table-row><table:table-cell office:value-type='float' office:value='42'><text:p/></table:table-cell></table:table-row>"
            ),
            Some("Marked"),
        ),
        ("", format!("{head}{secret}"), None),
    ];
    for (styles, rows, how) in cases {
        let got = shown(&request("a.ods"), &ods(styles, &rows));
        assert!(got.contains("\"Lamp\""), "{got}");
        assert_eq!(got.contains("SECRET"), how.is_none(), "{got}");
        assert!(how.is_none_or(|how| got.contains(&format!("how: {how}"))), "{how:?}: {got}");
    }
    // A million rows that are empty, and a filled one that is said to stand a billion times.
    let far = "<table:table-row table:number-rows-repeated='1048000'><table:table-cell table:number-columns-repeated='16384'/></table:table-row>";
    let many = secret
        .replace("<table:table-row>", "<table:table-row table:number-rows-repeated='1000000000'>");
    let many = many.replace(
        "<table:table-cell",
        "<table:table-cell table:number-columns-repeated='1000000000'",
    );
    let got =
        shown(&request("a.ods"), &ods("", &format!("{head}{far}{}{many}", words(&["far", "off"]))));
    assert!(got.contains("1048003\t\"far\"\t\"off\""), "{got:.400}");
    let bytes = zip(&[
        ("mimetype", "application/vnd.oasis.opendocument.spreadsheet"),
        ("META-INF/manifest.xml", "<manifest:encryption-data/>"),
        ("content.xml", "\u{1}"),
    ]);
    assert_eq!(ended("a.ods", &bytes).1.failure, Some(ReadFailure::Encrypted));
}

const STYLES: &str = "<style:style style:name='hid' style:family='text'><style:text-properties text:display='none'/></style:style>
    <style:style style:name='heir' style:family='text' style:parent-style-name='hid'/>
    <style:style style:name='white' style:family='text'><style:text-properties fo:color='#ffffff'/></style:style>
    <style:style style:name='own' style:family='text'><style:text-properties fo:color='#ffffff' style:use-window-font-color='true' loext:opacity='0%'/></style:style>
    <style:style style:name='marked' style:family='text'><style:text-properties fo:color='#ffffff' fo:background-color='#203040'/></style:style>
    <style:style style:name='pale' style:family='text'><style:text-properties fo:color='#eeeeee'/></style:style>
    <style:style style:name='tiny' style:family='text'><style:text-properties fo:font-size='1pt'/></style:style>
    <style:style style:name='tiny2' style:family='text'><style:text-properties fo:font-size='1pt'/></style:style>
    <style:style style:name='scaled' style:family='text'><style:text-properties style:text-position='super 10%'/></style:style>
    <style:style style:name='close' style:family='text'><style:text-properties fo:letter-spacing='-12pt'/></style:style>
    <style:style style:name='yellow' style:family='text'><style:text-properties fo:color='#ffff00' fo:background-color='#ffff00'/></style:style>
    <style:style style:name='left' style:family='paragraph'><style:paragraph-properties fo:margin-left='-40cm'/></style:style>
    <style:style style:name='right' style:family='paragraph'><style:paragraph-properties fo:margin-left='21cm'/></style:style>
    <style:style style:name='indented' style:family='paragraph'><style:paragraph-properties fo:margin-left='5cm' fo:text-indent='-1cm'/></style:style>
    <style:style style:name='small' style:family='text'><style:text-properties fo:font-size='4pt'/></style:style>
    <style:style style:name='banner' style:family='paragraph'><style:paragraph-properties fo:background-color='#203040'/><style:text-properties fo:color='#ffffff'/></style:style>
    <style:style style:name='dark' style:family='table-cell'><style:table-cell-properties fo:background-color='#203040'/></style:style>
    <style:style style:name='off' style:family='drawing-page'><style:drawing-page-properties presentation:visibility='hidden'/></style:style>
    <style:style style:name='blue' style:family='graphic'><style:graphic-properties draw:fill='solid' draw:fill-color='#203040'/></style:style>
    <style:style style:name='bare' style:family='drawing-page'><style:drawing-page-properties presentation:display-footer='false'/></style:style>
    <style:style style:name='blue' style:family='drawing-page'><style:drawing-page-properties draw:fill='solid' draw:fill-color='#203040'/></style:style>
    <text:list-style style:name='L'><text:list-level-style-number text:level='1' style:num-format='1' style:num-suffix='.'/>
        <text:list-level-style-bullet text:level='2'/></text:list-style>";

/// Returns an OpenDocument file of a kind with this body.
pub fn odf(kind: &str, body: &str) -> Vec<u8> {
    let content = format!(
        "<office:document-content><office:automatic-styles>{STYLES}</office:automatic-styles>\
         <office:body>{body}</office:body></office:document-content>"
    );
    zip(&[
        ("mimetype", &format!("application/vnd.oasis.opendocument.{kind}")),
        ("content.xml", &content),
    ])
}

pub fn span(style: &str) -> String {
    format!("<text:p>Shown. <text:span text:style-name='{style}'>SECRET</text:span></text:p>")
}

#[test]
fn what_writer_does_not_show_is_left_out_and_what_it_shows_stays() {
    let changes = |kind: &str| {
        format!(
            "<text:tracked-changes><text:changed-region text:id='c'><text:{kind}><office:change-info><dc:creator>Ada</dc:creator>\
         </office:change-info><text:p>SECRET</text:p></text:{kind}></text:changed-region></text:tracked-changes>"
        )
    };
    let cases: Vec<(String, Option<Finding>)> = [
        (span("hid"), HidingMethod::Marked),
        (span("heir"), HidingMethod::Marked),
        (span("white"), HidingMethod::Colour),
        (span("tiny"), HidingMethod::Tiny),
        (span("tiny2"), HidingMethod::Tiny),
        (span("scaled"), HidingMethod::Tiny),
        (span("close"), HidingMethod::Tiny),
        (span("yellow"), HidingMethod::Colour),
        ("<text:p text:style-name='left'>SECRET</text:p>".to_owned(), HidingMethod::OffPage),
        ("<text:p text:style-name='right'>SECRET</text:p>".to_owned(), HidingMethod::OffPage),
        ("<text:section text:display='none'><text:p>SECRET</text:p></text:section>".to_owned(), HidingMethod::Marked),
        ("<text:section text:is-hidden='true' text:display='condition'><text:p>SECRET</text:p></text:section>".to_owned(), HidingMethod::Marked),
        ("<text:p><text:hidden-paragraph text:is-hidden='true'/>SECRET</text:p>".to_owned(), HidingMethod::Marked),
        ("<text:p><text:hidden-text text:is-hidden='true' text:string-value='SECRET'/></text:p>".to_owned(), HidingMethod::Marked),
        ("<table:table><table:table-row table:visibility='collapse'><table:table-cell><text:p>SECRET</text:p></table:table-cell></table:table-row></table:table>".to_owned(), HidingMethod::Row),
        ("<table:table><table:table-row><table:table-cell/><table:covered-table-cell><text:p>SECRET</text:p></table:covered-table-cell></table:table-row></table:table>".to_owned(), HidingMethod::Covered),
        ("<text:p><draw:frame draw:display='none'><draw:text-box><text:p>SECRET</text:p></draw:text-box></draw:frame></text:p>".to_owned(), HidingMethod::Marked),
    ]
    .into_iter()
    .map(|(body, how)| (body, Some(Finding::Hidden { how, count: 6, of: HiddenUnit::Characters })))
    .chain([
        (changes("deletion"), Some(Finding::Deleted(6))),
        ("<text:p><draw:frame><svg:title>SECRET</svg:title><svg:desc>SECRET</svg:desc></draw:frame></text:p>".to_owned(), None),
        ("<office:forms><form:text form:value='SECRET'/></office:forms>".to_owned(), None),
    ])
    .collect();
    let kept = [
        span(""),
        span("own"),
        span("marked"),
        span("small"),
        "<text:p text:style-name='indented'>SECRET</text:p>".to_owned(),
        "<text:p text:style-name='banner'>SECRET</text:p>".to_owned(),
        format!(
            "<table:table><table:table-row><table:table-cell table:style-name='dark'>{}</table:table-cell></table:table-row></table:table>",
            span("white")
        ),
        "<text:section text:display='true'><text:p>SECRET</text:p></text:section>".to_owned(),
        "<text:p><text:hidden-text text:is-hidden='false' text:string-value='SECRET'/></text:p>"
            .to_owned(),
        "<text:p><text:title>SECRET</text:title></text:p>".to_owned(),
        format!(
            "<text:p><draw:frame><draw:text-box>{}</draw:text-box></draw:frame></text:p>",
            span("white")
        ),
    ];
    let mut wrong = Vec::new();
    for (body, finding) in cases {
        let bytes =
            odf("text", &format!("<office:text>{body}<text:p>After.</text:p></office:text>"));
        let (got, found) = (shown(&request("a.odt"), &bytes), ended("a.odt", &bytes).1.findings);
        if got.contains("SECRET")
            || !got.contains("After.\n")
            || found.into_iter().next() != finding
        {
            wrong.push(format!("{body}: {got}"));
        }
    }
    for body in kept {
        let got =
            shown(&request("a.odt"), &odf("text", &format!("<office:text>{body}</office:text>")));
        if !got.contains("SECRET") {
            wrong.push(format!("{body}: {got}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_text_reads_in_order() {
    let body = "<office:text><text:tracked-changes><text:changed-region xml:id='c'><text:insertion/></text:changed-region></text:tracked-changes>
        <text:h text:outline-level='2'>Terms</text:h>
        <text:p>We<text:s text:c='2'/>deliver
            <text:change-start text:change-id='c'/>three<text:change-end text:change-id='c'/> lamps<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>A note.</text:p></text:note-body></text:note>.<text:line-break/>Soon.<office:annotation><dc:creator>Ada</dc:creator><dc:date>2026</dc:date><text:p>Why?</text:p></office:annotation></text:p>
        <text:list text:style-name='L'><text:list-item><text:p>First</text:p><text:p>more</text:p><text:list><text:list-item><text:p>Inner</text:p></text:list-item></text:list></text:list-item><text:list-item><text:p>Second</text:p></text:list-item></text:list>
        <table:table><table:table-row><table:table-cell><text:p>Lamp</text:p></table:table-cell><table:table-cell><text:p>129</text:p></table:table-cell></table:table-row></table:table></office:text>";
    let expected = "## Terms\nWe  deliver three lamps[^1].\nSoon.\n1. First\nmore\n  - Inner\n2. Second\nLamp | 129\n\
        [Footnotes]\n[^1] A note.\n[Comments(1)]\n[Comment { author: \"Ada\" }]\nWhy?\n[Inserted(5)]\n";
    assert_eq!(shown(&request("a.odt"), &odf("text", body)), expected);
}

#[test]
fn slides_of_opendocument_come_one_by_one() {
    let body = "<office:presentation><draw:page><draw:frame presentation:class='title'><draw:text-box><text:p>Lamps</text:p></draw:text-box></draw:frame>
        <draw:frame svg:x='-20cm' svg:y='1cm' svg:width='5cm'><draw:text-box><text:p>SECRET</text:p></draw:text-box></draw:frame>
        <presentation:notes><draw:frame><draw:text-box><text:p>Smile.</text:p></draw:text-box></draw:frame></presentation:notes></draw:page>
        <draw:page draw:style-name='off'><draw:frame><draw:text-box><text:p>SECRET</text:p></draw:text-box></draw:frame></draw:page></office:presentation>";
    let page = "<style:page-layout><style:page-layout-properties fo:page-width='28cm' fo:page-height='21cm'/></style:page-layout>";
    let bytes = odf("presentation", &format!("</office:body>{page}<office:body>{body}"));
    let got = shown(&request("a.odp"), &bytes);
    assert!(got.starts_with("[Slide(1)]\n# Lamps\n") && got.contains("[Notes]\nSmile.\n"), "{got}");
    assert!(got.contains("[Hidden { how: Marked, count: 1, of: Slides }]"), "{got}");
}

#[test]
fn slides_of_opendocument_show_the_footer_that_they_name() {
    let page = |entries: &str, footer: &str| {
        format!(
            "<draw:page {entries} presentation:use-footer-name='{footer}'><draw:frame><draw:text-box><text:p>Text</text:p></draw:text-box></draw:frame>
             <presentation:notes><draw:frame><draw:text-box><text:p>Smile.</text:p></draw:text-box></draw:frame></presentation:notes></draw:page>"
        )
    };
    let body = format!(
        "<office:presentation><presentation:footer-decl presentation:name='f1'>Lamps AB</presentation:footer-decl>\
         <presentation:header-decl presentation:name='f2'>SECRET</presentation:header-decl>{}{}{}</office:presentation>",
        page("", "f1"),
        page("draw:style-name='bare'", "f1"),
        page("", "f2"),
    );
    let notes = "[Notes]\nSmile.\n";
    let next = |last: u32| format!("[Slide {last} to {last} of 3]\n");
    let expected = format!(
        "[Slide(1)]\nText\n\nLamps AB\n{notes}{}[Slide(2)]\nText\n{notes}{}[Slide(3)]\nText\n{notes}",
        next(1),
        next(2),
    );
    assert_eq!(shown(&request("a.odp"), &odf("presentation", &body)), expected);
}

#[test]
fn white_words_of_a_slide_are_seen_on_what_is_painted() {
    let box_of = |style: &str, text: &str| {
        format!(
            "<draw:frame draw:style-name='{style}'><draw:text-box><text:p>Seen \
             <text:span text:style-name='white'>{text}</text:span></text:p></draw:text-box></draw:frame>"
        )
    };
    let picture = "<draw:frame><draw:image/></draw:frame>";
    let cases = [
        ("", box_of("", "SECRET"), false),
        (
            "",
            box_of("", "SECRET") + "<presentation:notes>" + picture + "</presentation:notes>",
            false,
        ),
        ("blue", box_of("", "SECRET"), true),
        ("", box_of("blue", "SECRET"), true),
        ("", box_of("", "SECRET") + &box_of("blue", ""), true),
        ("", box_of("", "SECRET") + picture, true),
    ];
    for (page, shapes, seen) in cases {
        let body = format!(
            "<office:presentation><draw:page draw:style-name='{page}'>{shapes}</draw:page></office:presentation>"
        );
        let got = shown(&request("a.odp"), &odf("presentation", &body));
        let hidden = got.contains("[Hidden { how: Colour, count: 6, of: Characters }]");
        assert!(got.contains("SECRET") == seen && hidden != seen, "{page} {shapes}: {got}");
    }
}

/// Returns a presentation of one slide with this tree of shapes, on white or on blue.
pub fn pptx(slide: &str, ground: &str) -> Vec<u8> {
    deck(slide, "", ground)
}

/// Returns a presentation of one slide, with this layout and background.
pub fn deck(slide: &str, layout: &str, ground: &str) -> Vec<u8> {
    let layout = format!("<p:sldLayout>{layout}</p:sldLayout>");
    let slide = format!("<p:sld><p:cSld><p:spTree>{slide}</p:spTree></p:cSld></p:sld>");
    let master = format!(
        "<p:sldMaster><p:cSld><p:bg>{ground}</p:bg></p:cSld><p:clrMap bg1=\"lt1\"/></p:sldMaster>"
    );
    zip(&[
        (
            "ppt/presentation.xml",
            "<p:presentation><p:sldIdLst><p:sldId id='256' r:id='r1'/></p:sldIdLst><p:sldSz cx='9144000' cy='6858000'/></p:presentation>",
        ),
        ("ppt/_rels/presentation.xml.rels", &relations(&[("slide", "slides/slide1.xml")])),
        ("ppt/slides/slide1.xml", &slide),
        ("ppt/slides/_rels/slide1.xml.rels", &relations(&[("slideLayout", "../layout.xml")])),
        ("ppt/layout.xml", &layout),
        ("ppt/_rels/layout.xml.rels", &relations(&[("slideMaster", "master.xml")])),
        ("ppt/master.xml", &master),
        ("ppt/_rels/master.xml.rels", &relations(&[("theme", "theme.xml")])),
        (
            "ppt/theme.xml",
            "<a:theme><a:lt1><a:sysClr val='window' lastClr='FFFFFF'/></a:lt1></a:theme>",
        ),
    ])
}

/// Returns a shape with the attributes `own` and these properties, and a run with `run`.
fn shape(own: &str, properties: &str, run: &str) -> String {
    format!(
        "<p:sp><p:nvSpPr><p:cNvPr id='2' {own}/></p:nvSpPr><p:spPr>{properties}</p:spPr><p:txBody><a:p><a:r>{run}<a:t>SECRET</a:t></a:r></a:p></p:txBody></p:sp>"
    )
}

#[test]
fn what_a_slide_does_not_show_is_left_out_and_what_it_shows_stays() {
    let white = "<a:rPr><a:solidFill><a:srgbClr val='FFFFFF'/></a:solidFill></a:rPr>";
    let place =
        |x: i64| format!("<a:xfrm><a:off x='{x}' y='0'/><a:ext cx='100' cy='100'/></a:xfrm>");
    let (light, blue) = (
        "<p:bgRef idx='1001'><a:schemeClr val='bg1'/></p:bgRef>",
        "<p:bgPr><a:solidFill><a:srgbClr val='203040'/></a:solidFill></p:bgPr>",
    );
    let hidden = [
        (shape("hidden='1'", "", ""), "Marked"),
        (
            format!(
                "<p:grpSp><p:nvGrpSpPr><p:cNvPr hidden='1'/></p:nvGrpSpPr>{}</p:grpSp>",
                shape("", "", "")
            ),
            "Marked",
        ),
        (shape("", &place(-5000), ""), "OffPage"),
        (shape("", &place(9_144_000), ""), "OffPage"),
        (shape("", "", "<a:rPr sz='100'/>"), "Tiny"),
        (shape("", "", "<a:rPr sz='100'/>"), "Tiny"),
        (shape("", "", "<a:rPr><a:noFill/></a:rPr>"), "Transparent"),
        (
            shape(
                "",
                "",
                "<a:rPr><a:solidFill><a:schemeClr val='tx1'><a:alpha val='0'/></a:schemeClr></a:solidFill></a:rPr>",
            ),
            "Transparent",
        ),
        (shape("", "", white), "Colour"),
        (
            "<a:tbl><a:tr><a:tc rowSpan='2'/></a:tr><a:tr><a:tc vMerge='1'><a:p><a:r><a:t>SECRET</a:t></a:r></a:p></a:tc></a:tr></a:tbl>".to_owned(),
            "Covered",
        ),
        (
            shape("", "", "<a:rPr><a:solidFill><a:schemeClr val='bg1'/></a:solidFill></a:rPr>"),
            "Colour",
        ),
    ];
    let blue_shape = "<a:solidFill><a:srgbClr val='203040'/></a:solidFill>";
    let kept = [
        (shape("", "", ""), light),
        (shape("", &place(0), ""), light),
        (shape("", "", "<a:rPr sz='600'/>"), light),
        (shape("", "", "<a:rPr><a:ln><a:noFill/></a:ln></a:rPr>"), light),
        (shape("", "", white), blue),
        (shape("", blue_shape, white), light),
        (shape("", "", white) + &shape("", blue_shape, ""), light),
        ("<p:pic/>".to_owned() + &shape("", "", white), light),
        (
            shape(
                "",
                "",
                "<a:rPr><a:solidFill><a:schemeClr val='bg1'><a:lumMod val='50000'/></a:schemeClr></a:solidFill></a:rPr>",
            ),
            light,
        ),
        (
            shape("", "", "<a:rPr><a:solidFill><a:srgbClr val='FF0000'/></a:solidFill></a:rPr>"),
            light,
        ),
    ];
    let mut wrong = Vec::new();
    for (slide, how) in hidden {
        let got = shown(&request("a.pptx"), &pptx(&slide, light));
        if got.contains("SECRET") || !got.contains(&format!("how: {how}, count: 6")) {
            wrong.push(format!("{slide}: {got}"));
        }
    }
    for (slide, ground) in kept {
        let got = shown(&request("a.pptx"), &pptx(&slide, ground));
        if !got.contains("SECRET") {
            wrong.push(format!("{slide}: {got}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
