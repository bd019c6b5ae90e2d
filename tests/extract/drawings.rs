//! Other parts that documents and slides show: diagrams, charts, documents of other formats.

use crate::cases::shown;
use crate::office::{relations, zip};
use crate::request;

const DIAGRAM: &str = "<dgm:dataModel><dgm:ptLst>
    <dgm:pt><dgm:t><a:p><a:r><a:t>Order</a:t></a:r></a:p></dgm:t></dgm:pt>
    <dgm:pt type='parTrans'><dgm:t><a:p/></dgm:t></dgm:pt>
    <dgm:pt><dgm:t><a:p><a:r><a:t>Ship</a:t></a:r></a:p></dgm:t></dgm:pt></dgm:ptLst></dgm:dataModel>";

/// A column chart with a title of two runs, two series, and a category without a value.
const CHART: &str = "<c:chartSpace><c:chart><c:title><c:tx><c:rich><a:p><a:r><a:t>Sales</a:t></a:r>
    <a:r><a:t> 2026</a:t></a:r></a:p></c:rich></c:tx></c:title><c:plotArea><c:barChart>
    <c:ser><c:tx><c:strRef><c:strCache><c:pt idx='0'><c:v>Lamps</c:v></c:pt></c:strCache></c:strRef></c:tx>
    <c:dLbls><c:tx><c:rich><a:p><a:r><a:t>best</a:t></a:r></a:p></c:rich></c:tx></c:dLbls>
    <c:cat><c:strRef><c:strCache><c:pt idx='0'><c:v>North</c:v></c:pt><c:pt idx='1'><c:v>007</c:v></c:pt></c:strCache></c:strRef></c:cat>
    <c:val><c:numRef><c:numCache><c:formatCode>General</c:formatCode><c:pt idx='0'><c:v>41</c:v></c:pt><c:pt idx='1'><c:v>0.30000000000000004</c:v></c:pt></c:numCache></c:numRef></c:val></c:ser>
    <c:ser><c:tx><c:v>Cables</c:v></c:tx>
    <c:cat><c:strRef><c:strCache><c:pt idx='0'><c:v>North</c:v></c:pt><c:pt idx='1'><c:v>007</c:v></c:pt></c:strCache></c:strRef></c:cat>
    <c:val><c:numLit><c:pt idx='1'><c:v>17</c:v></c:pt></c:numLit></c:val></c:ser></c:barChart>
    <c:valAx><c:title><c:tx><c:rich><a:p><a:r><a:t>Pieces</a:t></a:r></a:p></c:rich></c:tx></c:title></c:valAx>
    </c:plotArea></c:chart></c:chartSpace>";
const ROWS: &str = "Sales 2026\n | Lamps | Cables\nNorth | 41 |\n007 | 0.3 | 17\n";

/// A chart of points by day, of points by number, and of categories with levels.
const POINTS: &str = "<c:chartSpace><c:chart><c:plotArea><c:scatterChart>
    <c:ser><c:xVal><c:numRef><c:numCache><c:formatCode>d/m/yyyy</c:formatCode><c:pt idx='0'><c:v>46342</c:v></c:pt></c:numCache></c:numRef></c:xVal>
    <c:yVal><c:numRef><c:numCache><c:pt idx='0'><c:v>-2.5</c:v></c:pt></c:numCache></c:numRef></c:yVal></c:ser>
    <c:ser><c:tx><c:v>B</c:v></c:tx><c:xVal><c:numLit><c:pt idx='4000000000'><c:v>7</c:v></c:pt></c:numLit></c:xVal></c:ser>
    <c:ser><c:tx><c:v>C</c:v></c:tx><c:cat><c:multiLvlStrRef><c:multiLvlStrCache><c:lvl><c:pt idx='0'><c:v>May</c:v></c:pt></c:lvl>
    <c:lvl><c:pt idx='0'><c:v>2026</c:v></c:pt></c:lvl></c:multiLvlStrCache></c:multiLvlStrRef></c:cat></c:ser>
    </c:scatterChart></c:plotArea></c:chart></c:chartSpace>";

/// Returns a document with this body, which refers to these parts as `r1`, ….
fn docx(body: &str, parts: &[(&str, &str)]) -> Vec<u8> {
    let drawing = "<w:p><w:r><w:drawing><dgm:relIds r:dm='r1'/></w:drawing></w:r></w:p>";
    let own = relations(&[("diagramData", "data2.xml")]);
    zip(&[
        ("word/document.xml", &format!("<w:document><w:body>{body}</w:body></w:document>")),
        ("word/_rels/document.xml.rels", &relations(parts)),
        ("word/data1.xml", DIAGRAM),
        ("word/data2.xml", &DIAGRAM.replace("Order", "Pay")),
        ("word/chart1.xml", CHART),
        ("word/chart2.xml", POINTS),
        ("word/a.html", "<p>One chunk</p><p style='display:none'>SECRET</p>"),
        ("word/a.rtf", "{\\rtf1 Rich{\\v SECRET}}"),
        ("word/a.txt", "Plain"),
        ("word/a.docx", "PK\x03\x04"),
        ("word/damaged.xml", "<c:chartSpace><c:chart"),
        ("word/header1.xml", &format!("<w:hdr>{drawing}</w:hdr>")),
        ("word/_rels/header1.xml.rels", &own),
        (
            "word/footnotes.xml",
            &format!("<w:footnotes><w:footnote w:id='2'>{drawing}</w:footnote></w:footnotes>"),
        ),
        ("word/_rels/footnotes.xml.rels", &own),
    ])
}

#[test]
fn documents_show_diagrams_charts_and_documents_of_other_formats() {
    let run = |properties: &str, inner: &str| {
        format!(
            "<w:p><w:r><w:rPr>{properties}</w:rPr><w:t>Before</w:t><w:drawing><wp:inline>{inner}\
             </wp:inline></w:drawing><w:t>after</w:t></w:r></w:p>"
        )
    };
    let hidden =
        |count: u32| format!("[Hidden {{ how: Marked, count: {count}, of: Characters }}]\n");
    let diagram = ("diagramData", "data1.xml");
    let graphic = "<a:graphic><a:graphicData><dgm:relIds r:dm='r1'/></a:graphicData></a:graphic>";
    let chart = "<a:graphic><a:graphicData><c:chart r:id='r1'/></a:graphicData></a:graphic>";
    let chunk = "<w:p><w:r><w:t>Before</w:t></w:r></w:p><w:altChunk r:id='r1'/>".to_owned();
    let noted = "<w:p><w:r><w:t>a</w:t><w:footnoteReference w:id='2'/></w:r></w:p>".to_owned();
    let section = "<w:sectPr><w:headerReference w:type='default' r:id='r1'/></w:sectPr>".to_owned();
    let cases = [
        (run("", graphic), diagram, "Before\nOrder\nShip\nafter\n".to_owned()),
        (
            run("", &format!("<wp:docPr hidden='1'/>{graphic}")),
            diagram,
            format!("Beforeafter\n{}", hidden(9)),
        ),
        (run("<w:vanish/>", graphic), diagram, hidden(20) + "[Empty]\n"),
        (
            format!("<w:del>{}</w:del>", run("", graphic)),
            diagram,
            "[Deleted(20)]\n[Empty]\n".to_owned(),
        ),
        (run("", chart), ("chart", "chart1.xml"), format!("Before\n{ROWS}after\n")),
        (
            run("", chart),
            ("chart", "chart2.xml"),
            "Before\n2026-11-16 | -2.5\n | B\n7 |\n | C\n2026 May |\nafter\n".to_owned(),
        ),
        (run("", chart), ("chart", "none.xml"), "Before\n\nafter\n".to_owned()),
        (run("", chart), ("chart", "damaged.xml"), "Beforeafter\n[Pictures(1)]\n".to_owned()),
        (
            format!("<w:tbl><w:tr><w:tc><w:tcPr><w:hMerge/></w:tcPr>{chunk}</w:tc></w:tr></w:tbl>"),
            ("aFChunk", "a.txt"),
            "[Hidden { how: Covered, count: 11, of: Characters }]\n[Empty]\n".to_owned(),
        ),
        (run("", ""), ("chartEx", "chart3.xml"), "Beforeafter\n[Pictures(1)]\n".to_owned()),
        (chunk.clone(), ("aFChunk", "a.html"), "Before\nOne chunk\n".to_owned() + &hidden(6)),
        (chunk.clone(), ("aFChunk", "a.rtf"), "Before\nRich\n".to_owned() + &hidden(6)),
        (chunk.clone(), ("aFChunk", "a.txt"), "Before\nPlain\n".to_owned()),
        (chunk, ("aFChunk", "a.docx"), "Before\n[Chunk]\n".to_owned()),
        (noted, ("footnotes", "footnotes.xml"), "a[^1]\n[Footnotes]\n[^1] Pay\nShip\n".to_owned()),
        (section, ("header", "header1.xml"), "[HeaderFooter]\nPay\nShip\n".to_owned()),
    ];
    let wrong: Vec<_> = cases
        .into_iter()
        .map(|(body, part, expected)| (shown(&request("a.docx"), &docx(&body, &[part])), expected))
        .filter(|(got, expected)| got != expected)
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn slides_show_diagrams_and_charts() {
    let frame = |properties: &str, inner: &str| {
        format!(
            "<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr {properties}/></p:nvGraphicFramePr>\
             <a:graphic><a:graphicData>{inner}</a:graphicData></a:graphic></p:graphicFrame>"
        )
    };
    let frames = frame("", "<c:chart r:id='r1'/>")
        + &frame("", "<dgm:relIds r:dm='r2'/>")
        + &frame("hidden='1'", "<dgm:relIds r:dm='r4'/>");
    let parts = [
        ("chart", "../chart1.xml"),
        ("diagramData", "../data1.xml"),
        ("chartEx", "../chart3.xml"),
        ("diagramData", "../data2.xml"),
    ];
    let bytes = zip(&[
        (
            "ppt/presentation.xml",
            "<p:presentation><p:sldIdLst><p:sldId id='256' r:id='r1'/></p:sldIdLst></p:presentation>",
        ),
        ("ppt/_rels/presentation.xml.rels", &relations(&[("slide", "slides/slide1.xml")])),
        (
            "ppt/slides/slide1.xml",
            &format!("<p:sld><p:cSld><p:spTree>{frames}</p:spTree></p:cSld></p:sld>"),
        ),
        ("ppt/slides/_rels/slide1.xml.rels", &relations(&parts)),
        ("ppt/chart1.xml", CHART),
        ("ppt/data1.xml", DIAGRAM),
        ("ppt/data2.xml", DIAGRAM),
    ]);
    let got = shown(&request("a.pptx"), &bytes);
    let hidden = "[Hidden { how: Marked, count: 9, of: Characters }]\n";
    assert_eq!(got, format!("[Slide(1)]\n{ROWS}Order\nShip\n{hidden}[Pictures(1)]\n"));
}

/// Boxes of text that are hidden, beside the page or too small to read, rows that are hidden, and
/// text in the colour of the page.
#[test]
fn what_nobody_sees_of_documents_is_left_out() {
    let text = |words: &str| format!("<w:p><w:r><w:t>{words}</w:t></w:r></w:p>");
    let boxed = |shape: &str, end: &str| {
        let content = text("SECRET");
        format!(
            "<w:p><w:r><w:t>Seen</w:t>{shape}<w:txbxContent>{content}</w:txbxContent>{end}</w:r></w:p>"
        )
    };
    let drawn = |place: &str, size: &str, properties: &str| {
        boxed(
            &format!(
                "<w:drawing><wp:anchor>{place}<wp:extent {size}/><wp:docPr {properties}/><wps:txbx>"
            ),
            "</wps:txbx></wp:anchor></w:drawing>",
        )
    };
    let at = |side: &str, from: &str, emu: i64| {
        format!(
            "<wp:position{side} relativeFrom='{from}'><wp:posOffset>{emu}</wp:posOffset></wp:position{side}>"
        )
    };
    let vml = |style: &str| {
        boxed(
            &format!("<w:pict><v:shape style='{style}'><v:textbox>"),
            "</v:textbox></v:shape></w:pict>",
        )
    };
    let row = |properties: &str| {
        let cell = |words: &str| format!("<w:tc>{}</w:tc>", text(words));
        format!(
            "{}<w:tbl><w:tr><w:trPr>{properties}</w:trPr>{}</w:tr><w:tr>{}</w:tr></w:tbl>",
            text("Seen"),
            cell("SECRET"),
            cell("cell")
        )
    };
    let coloured = |background: &str, colour: &str| {
        (
            background.to_owned(),
            format!(
                "{}<w:p><w:r><w:rPr><w:color w:val='{colour}'/></w:rPr><w:t>SECRET</w:t></w:r></w:p>",
                text("Seen")
            ),
        )
    };
    let body = |body: String| (String::new(), body);
    let usual = "cx='900000' cy='900000'";
    let red = "<w:background w:color='FF0000'/>";
    let picture =
        "<w:background w:color='FF0000'><v:background><v:fill/></v:background></w:background>";
    for (what, (background, body), settings, how) in [
        ("usual box", body(drawn("", usual, "")), "", ""),
        ("marked box", body(drawn("", usual, "hidden='1'")), "", "Marked"),
        ("box of one EMU", body(drawn("", "cx='1' cy='900000'", "")), "", "Clipped"),
        ("box on the left", body(drawn(&at("H", "page", -9_000_000), usual, "")), "", "OffPage"),
        ("box above", body(drawn(&at("V", "paragraph", -90_000_000), usual, "")), "", "OffPage"),
        ("box on the right", body(drawn(&at("H", "column", 9_000_000), usual, "")), "", "OffPage"),
        ("box in the margin", body(drawn(&at("H", "column", -900_000), usual, "")), "", ""),
        (
            "usual shape",
            body(vml("position:absolute;margin-left:10pt;width:90pt;height:20pt")),
            "",
            "",
        ),
        ("hidden shape", body(vml("width:90pt;visibility: hidden")), "", "Marked"),
        (
            "shape beside",
            body(vml("position:absolute;margin-left:-2000pt;width:90pt")),
            "",
            "OffPage",
        ),
        ("flat shape", body(vml("width:90pt;height:.1mm")), "", "Clipped"),
        ("hidden row", body(row("<w:hidden/>")), "", "Row"),
        ("row that is not", body(row("<w:hidden w:val='0'/>")), "", ""),
        ("colour of the page", coloured(red, "FF0000"), "<w:displayBackgroundShape/>", "Colour"),
        ("colour of a page that is white", coloured(red, "FF0000"), "", ""),
        ("white on white", coloured(red, "FFFFFF"), "", "Colour"),
        ("before a picture", coloured(picture, "FF0000"), "<w:displayBackgroundShape/>", ""),
    ] {
        let document = format!("<w:document>{background}<w:body>{body}</w:body></w:document>");
        let settings = format!("<w:settings>{settings}</w:settings>");
        let bytes = zip(&[
            ("word/document.xml", document.as_str()),
            ("word/_rels/document.xml.rels", &relations(&[("settings", "settings.xml")])),
            ("word/settings.xml", &settings),
        ]);
        let got = shown(&request("a.docx"), &bytes);
        let hidden = format!("[Hidden {{ how: {how}, count: 6, of: Characters }}]\n");
        assert_eq!(
            (got.contains("SECRET"), got.contains(&hidden), got.contains("Seen")),
            (how.is_empty(), !how.is_empty(), true),
            "{what}: {got}"
        );
    }
}
