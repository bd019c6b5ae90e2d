//! Slides made shape by shape: the order and the fills of shapes decide which words are visible.

use crate::cases::shown;
use crate::odf::{deck, odf, pptx};
use crate::office::zip;
use crate::request;

/// White behind all slides.
pub const LIGHT: &str = "<p:bgRef idx='1001'><a:schemeClr val='bg1'/></p:bgRef>";
/// An inch.
const INCH: f64 = 914_400.0;

/// A place in inches: left, top, width and height.
type Place = (f64, f64, f64, f64);

fn place((x, y, wide, high): Place) -> String {
    let [x, y, wide, high] = [x, y, wide, high].map(|length| (length * INCH) as i64);
    format!("<a:xfrm><a:off x='{x}' y='{y}'/><a:ext cx='{wide}' cy='{high}'/></a:xfrm>")
}

pub fn solid(colour: &str) -> String {
    format!("<a:solidFill><a:srgbClr val='{colour}'/></a:solidFill>")
}

/// Returns a shape with a fill and no words.
fn filled(at: Place, fill: &str) -> String {
    let at = place(at);
    format!(
        "<p:sp><p:nvSpPr><p:cNvPr id='9'/></p:nvSpPr><p:spPr>{at}<a:prstGeom prst='rect'/>{fill}</p:spPr></p:sp>"
    )
}

/// Returns a box with words of this fill.
pub fn words(at: Place, fill: &str) -> String {
    let at = place(at);
    format!(
        "<p:sp><p:spPr>{at}</p:spPr><p:txBody><a:bodyPr/><a:p><a:r><a:rPr>{fill}</a:rPr><a:t>SECRET</a:t></a:r></a:p></p:txBody></p:sp>"
    )
}

/// Returns a shape that takes its colours from the theme, with words as light as the page.
fn styled(fill: &str) -> String {
    let at = place((1.0, 1.0, 3.0, 1.0));
    format!(
        "<p:sp><p:spPr>{at}{fill}</p:spPr><p:style><a:fillRef idx='1'><a:schemeClr val='accent1'/></a:fillRef><a:fontRef idx='minor'><a:schemeClr val='lt1'/></a:fontRef></p:style><p:txBody><a:p><a:r><a:t>SECRET</a:t></a:r></a:p></p:txBody></p:sp>"
    )
}

/// Returns a table of one cell with these properties, of a style.
fn table(style: &str, cell: &str, fill: &str) -> String {
    format!(
        "<p:graphicFrame><p:xfrm><a:off x='0' y='0'/><a:ext cx='900000' cy='900000'/></p:xfrm><a:graphic><a:graphicData><a:tbl><a:tblPr>{style}</a:tblPr><a:tr><a:tc><a:txBody><a:p><a:r><a:rPr>{fill}</a:rPr><a:t>SECRET</a:t></a:r></a:p></a:txBody><a:tcPr>{cell}</a:tcPr></a:tc></a:tr></a:tbl></a:graphicData></a:graphic></p:graphicFrame>"
    )
}

fn group(inner: &str) -> String {
    format!(
        "<p:grpSp><p:grpSpPr><a:xfrm><a:off x='914400' y='914400'/><a:ext cx='2743200' cy='914400'/><a:chOff x='0' y='0'/><a:chExt cx='300' cy='100'/></a:xfrm></p:grpSpPr>{inner}</p:grpSp>"
    )
}

#[test]
fn words_without_contrast_or_below_something_are_hidden_where_they_are() {
    let (white, blue) = (solid("FFFFFF"), solid("203040"));
    let (here, there) = ((1.0, 1.0, 3.0, 0.5), (1.0, 5.0, 8.0, 1.0));
    let around = (0.5, 0.5, 9.0, 2.0);
    let glass =
        "<a:solidFill><a:srgbClr val='FFFFFF'><a:alpha val='30000'/></a:srgbClr></a:solidFill>";
    let gradient = |one: &str, other: &str| {
        format!(
            "<a:gradFill><a:gsLst><a:gs><a:srgbClr val='{one}'/></a:gs><a:gs><a:srgbClr val='{other}'/></a:gs></a:gsLst></a:gradFill>"
        )
    };
    let part =
        |x: f64| format!("<a:xfrm><a:off x='{x}' y='0'/><a:ext cx='100' cy='100'/></a:xfrm>");
    let in_group = |x: f64, fill: &str| {
        format!("<p:sp><p:spPr>{}<a:prstGeom prst='rect'/>{fill}</p:spPr></p:sp>", part(x))
    };
    let style = "<a:tableStyleId>{5C22544A-7EE6-4342-B048-85BDC9FD1C3A}</a:tableStyleId>";
    let bare = "<a:tableStyleId>{2D5ABB26-0587-4C30-8999-92F81FD0307C}</a:tableStyleId>";
    let appears = "<p:timing><p:spTgt spid='9'/></p:timing>";
    let marked = format!("{white}<a:highlight><a:srgbClr val='000000'/></a:highlight>");
    let listed = format!(
        "<p:sp><p:spPr>{}</p:spPr><p:txBody><a:lstStyle><a:lvl1pPr><a:defRPr>{white}</a:defRPr></a:lvl1pPr></a:lstStyle><a:p><a:r><a:t>SECRET</a:t></a:r></a:p></p:txBody></p:sp>",
        place(here)
    );
    let grey =
        "<a:solidFill><a:schemeClr val='bg1'><a:lumMod val='95000'/></a:schemeClr></a:solidFill>";
    let tall = (1.0, 1.0, 3.0, 4.0);
    let cases: Vec<(&str, String, Option<&str>)> = vec![
        (
            "white, and a shape elsewhere",
            words(here, &white) + &filled(there, &blue),
            Some("Colour"),
        ),
        (
            "white above a shape elsewhere",
            filled(there, &blue) + &words(here, &white),
            Some("Colour"),
        ),
        (
            "white beside a picture",
            "<p:pic><p:spPr>".to_owned()
                + &place(there)
                + "</p:spPr></p:pic>"
                + &words(here, &white),
            Some("Colour"),
        ),
        ("white on a bar", filled(around, &blue) + &words(here, &white), None),
        (
            "white on a bar that is hardly smaller",
            filled((1.0, 1.0, 3.0, 0.45), &blue) + &words(here, &white),
            None,
        ),
        (
            "white on its own fill",
            words(here, &white).replace("</p:spPr>", &format!("{blue}</p:spPr>")),
            None,
        ),
        (
            "white on a picture",
            "<p:pic><p:spPr>".to_owned()
                + &place(around)
                + "</p:spPr></p:pic>"
                + &words(here, &white),
            None,
        ),
        (
            "white on a gradient",
            filled(around, &gradient("203040", "FFFFFF")) + &words(here, &white),
            None,
        ),
        (
            "white on a gradient of white",
            filled(around, &gradient("FEFEFE", "FFFFFF")) + &words(here, &white),
            Some("Colour"),
        ),
        (
            "white on a white card on a bar",
            filled(around, &blue) + &filled(around, &white) + &words(here, &white),
            Some("Colour"),
        ),
        ("blue on blue", filled(around, &blue) + &words(here, &blue), Some("Colour")),
        ("light grey", words(here, grey), Some("Colour")),
        ("white on its marker", words(here, &marked), None),
        ("white by the list of its shape", listed, Some("Colour")),
        ("light words of a style on its colour", styled(""), None),
        ("light words of a style on white", styled(&white), Some("Colour")),
        ("light words of a style on nothing", styled("<a:noFill/>"), Some("Colour")),
        (
            "white beside a shape in a group",
            group(&in_group(200.0, &blue)) + &words((1.0, 1.0, 1.0, 0.5), &white),
            Some("Colour"),
        ),
        (
            "white on a shape in a group",
            group(&in_group(0.0, &blue)) + &words((1.0, 1.0, 1.0, 0.5), &white),
            None,
        ),
        (
            "below a shape in a group",
            words((1.0, 1.0, 1.0, 0.5), "") + &group(&in_group(0.0, &blue)),
            Some("Covered"),
        ),
        ("white in a table with a style", table(style, "", &white), None),
        ("white in a bare table", table(bare, "", &white), Some("Colour")),
        ("white in a cell with a fill", table(bare, &blue, &white), None),
        ("white in a white cell", table(style, &white, &white), Some("Colour")),
        ("below a shape", words(here, "") + &filled(around, &white), Some("Covered")),
        (
            "below a shape of a style",
            words(here, "") + &styled("").replace("SECRET", ""),
            Some("Covered"),
        ),
        (
            "below a shape over the words of a tall box",
            words(tall, "") + &filled(around, &blue),
            Some("Covered"),
        ),
        ("above a shape", filled(around, &white) + &words(here, ""), None),
        ("below glass", words(here, "") + &filled(around, glass), None),
        (
            "below a picture",
            words(here, "") + "<p:pic><p:spPr>" + &place(around) + "</p:spPr></p:pic>",
            None,
        ),
        ("below part of a shape", words(here, "") + &filled((1.0, 1.0, 0.3, 0.5), &white), None),
        ("below a shape that moves", words(here, "") + &filled(around, &white) + appears, None),
        (
            "below a shape that is hidden",
            words(here, "") + &filled(around, &white).replace("id='9'", "id='9' hidden='1'"),
            None,
        ),
        (
            "below a turned shape",
            words(here, "") + &filled(around, &white).replace("<a:xfrm>", "<a:xfrm rot='2700000'>"),
            None,
        ),
        (
            "below a star",
            words(here, "") + &filled(around, &white).replace("'rect'", "'star5'"),
            None,
        ),
    ];
    let mut wrong = Vec::new();
    for (name, slide, how) in cases {
        let got = shown(&request("a.pptx"), &pptx(&slide, LIGHT));
        let right = match how {
            Some(how) => !got.contains("SECRET") && got.contains(&format!("how: {how}, count: 6")),
            None => got.contains("SECRET") && !got.contains("Hidden"),
        };
        if !right {
            wrong.push(format!("{name}: {got}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn placeholders_have_the_place_and_the_fill_that_their_layout_gives() {
    let (white, blue) = (solid("FFFFFF"), solid("203040"));
    let (top, below) = (place((0.0, 0.0, 10.0, 1.0)), place((0.0, 3.0, 10.0, 1.0)));
    let holder = |properties: &str, words: &str| {
        format!(
            "<p:sp><p:nvSpPr><p:nvPr><p:ph type='title'/></p:nvPr></p:nvSpPr><p:spPr>{properties}</p:spPr>{words}</p:sp>"
        )
    };
    let title = format!(
        "<p:txBody><a:p><a:r><a:rPr>{white}</a:rPr><a:t>SECRET</a:t></a:r></a:p></p:txBody>"
    );
    let bar = filled((0.0, 0.0, 10.0, 1.0), &blue);
    let cases = [
        ("the fill of the layout", holder(&(top.clone() + &blue), ""), "", true),
        ("a bar of the layout", bar.clone() + &holder(&top, ""), "", true),
        ("a bar elsewhere", bar.clone() + &holder(&below, ""), "", false),
        ("a place of its own", bar + &holder(&top, ""), below.as_str(), false),
        ("no layout's placeholder", String::new(), "", false),
    ];
    for (name, layout, own, seen) in cases {
        let got = shown(&request("a.pptx"), &deck(&holder(own, &title), &layout, LIGHT));
        assert_eq!(
            (got.contains("SECRET"), !got.contains("Hidden")),
            (seen, seen),
            "{name}: {got}"
        );
    }
}

#[test]
fn presentations_without_slides_hold_no_text() {
    let pptx = zip(&[("ppt/presentation.xml", "<p:presentation><p:sldIdLst/></p:presentation>")]);
    let odp = odf("presentation", "<office:presentation/>");
    for (name, bytes) in [("a.pptx", pptx), ("a.odp", odp)] {
        assert_eq!(shown(&request(name), &bytes), "[Empty]\n");
    }
}
