//! Form fields: visible values, values that a drawing states, and hidden values.

use super::paper::{Paper, at, stream};
use super::shown;
use crate::request;

/// Returns the output of a page with these widgets, without the text of the page itself. Object 10
/// draws an empty field, 11 the value `Ada Byron`, 12 the same on two lines, 13 in white, 14 turned
/// by a quarter, and 15 a list; 16 is a field for its widgets to inherit from.
fn got(catalog: &'static str, widgets: &[&str]) -> String {
    let drawing = |entries: &str, content: &str| {
        let usual = "/Type/XObject/Subtype/Form/BBox[0 0 180 20]/Resources<</Font<</F1 3 0 R>>>>";
        stream(&format!("{usual}{entries}"), content)
    };
    let name = at(2.0, 6.0, "Ada Byron");
    let mut objects = vec![
        drawing("", "/Tx BMC EMC"),
        drawing("", &name),
        drawing("", &(at(2.0, 12.0, "Ada") + &at(2.0, 1.0, "Byron"))),
        drawing("", &format!("1 g {name}")),
        drawing("/Matrix[0 1 -1 0 20 0]", &name),
        drawing("", &(at(2.0, 12.0, "Red") + &at(2.0, 1.0, "Blue"))),
        "<</FT/Tx/T(person)/V(Ada Byron)/Kids[17 0 R 18 0 R]>>".to_owned(),
    ];
    objects.extend(widgets.iter().map(|entries| {
        let usual = if entries.contains("/Rect") { "" } else { "/Rect[50 600 230 620]" };
        format!("<</Type/Annot/Subtype/Widget{usual}{entries}>>")
    }));
    let pages = vec![at(50.0, 700.0, "A form")];
    let page = "/Annots[17 0 R 18 0 R]";
    let paper = Paper { pages, catalog, page, objects, ..Paper::default() };
    let got = shown(&request("a.pdf"), &paper.bytes());
    got.strip_prefix("[page 1]\nA form\n").unwrap_or(&got).to_owned()
}

#[test]
fn values_are_shown_unless_a_drawing_states_them() {
    const HIDDEN: &str = "Hidden { how: Marked, count: 8, of: Characters }\n";
    let cases: &[(&str, &[&str], &str)] = &[
        ("empty", &["/Parent 16 0 R/AP<</N 10 0 R>>"], "[Fields]\nperson: Ada Byron\n"),
        ("none", &["/Parent 16 0 R"], "[Fields]\nperson: Ada Byron\n"),
        ("drawn", &["/Parent 16 0 R/AP<</N 11 0 R>>"], "\nAda Byron\n"),
        ("drawn on two lines", &["/Parent 16 0 R/AP<</N 12 0 R>>"], "\nAda\nByron\n"),
        (
            "drawn upwards",
            &["/Parent 16 0 R/AP<</N 14 0 R>>/Rect[50 400 70 580]"],
            "[page 1]\nAda Byron\n\nA form\n",
        ),
        (
            "drawn at one of two places",
            &[
                "/Parent 16 0 R/AP<</N 11 0 R>>",
                "/Parent 16 0 R/AP<</N 10 0 R>>/Rect[50 500 230 520]",
            ],
            "\nAda Byron\n[Fields]\nperson: Ada Byron\n",
        ),
        (
            "out of date",
            &["/FT/Tx/T(person)/V(Ada King)/AP<</N 11 0 R>>"],
            "\nAda Byron\n[Fields]\nperson: Ada King\n",
        ),
        (
            "out of date, and longer",
            &["/FT/Tx/T(person)/V(Byron)/AP<</N 11 0 R>>"],
            "\nAda Byron\n[Fields]\nperson: Byron\n",
        ),
        (
            "an item of a list by its text",
            &["/FT/Ch/Ff 131072/T(person)/V(7)/Opt[[(6)(Mary)][(7)(Ada Byron)]]/AP<</N 10 0 R>>"],
            "[Fields]\nperson: Ada Byron\n",
        ),
        (
            "an item of a list whose text is drawn",
            &["/FT/Ch/Ff 131072/T(person)/V(7)/Opt[[(6)(Mary)][(7)(Ada Byron)]]/AP<</N 11 0 R>>"],
            "\nAda Byron\n",
        ),
        (
            "items of a list of which all are drawn",
            &["/FT/Ch/T(colour)/V[(Red)]/Opt[(Red)(Blue)]/AP<</N 15 0 R>>"],
            "\nRed\nBlue\n[Fields]\ncolour: Red\n",
        ),
        ("empty value", &["/FT/Tx/T(note)/V( )/AP<</N 10 0 R>>"], ""),
        ("password", &["/FT/Tx/Ff 8192/T(pin)/V(1234)/AP<</N 10 0 R>>"], ""),
        (
            "drawn in white",
            &["/Parent 16 0 R/AP<</N 13 0 R>>"],
            "Hidden { how: Colour, count: 8, of: Characters }\n",
        ),
        ("hidden", &["/Parent 16 0 R/F 2/AP<</N 10 0 R>>"], HIDDEN),
        ("not for screens", &["/Parent 16 0 R/F 32/AP<</N 10 0 R>>"], HIDDEN),
        ("without an area", &["/Parent 16 0 R/Rect[50 600 50 600]/AP<</N 10 0 R>>"], HIDDEN),
        ("as high as a line", &["/Parent 16 0 R/Rect[50 600 230 601]/AP<</N 10 0 R>>"], HIDDEN),
        ("off the page", &["/Parent 16 0 R/Rect[700 600 900 620]"], HIDDEN),
    ];
    let wrong: Vec<_> = cases
        .iter()
        .map(|(name, widgets, expected)| (name, got("/AcroForm<<>>", widgets), expected))
        .filter(|(_, got, expected)| got != *expected)
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn buttons_are_as_viewers_draw_them() {
    let needed = "/AcroForm<</NeedAppearances true>>";
    let (tick, one, two) = (
        "/FT/Btn/T(Agree)/AP<</N<</Yes 10 0 R/Off 10 0 R>>>>",
        "/FT/Btn/Ff 32768/T(Size)/V/S/AP<</N<</S 10 0 R>>>>",
        "/FT/Btn/Ff 32768/T(Size)/V/S/AP<</N<</L 10 0 R>>>>",
    );
    let with = |button: &str, entries: &str| format!("{button}{entries}");
    let cases = [
        ("", vec![with(tick, "/V/Yes/AS/Off")], "[Fields]\nAgree: no\n"),
        (needed, vec![with(tick, "/V/Yes/AS/Off")], "[Fields]\nAgree: yes\n"),
        (needed, vec![with(tick, "/V/Off/AS/Yes")], "[Fields]\nAgree: no\n"),
        (needed, vec![with(tick, "/AS/Yes")], "[Fields]\nAgree: yes\n"),
        ("", vec![with(tick, "/V/Yes")], "[Fields]\nAgree: yes\n"),
        ("", vec![one.to_owned(), two.to_owned()], "[Fields]\nSize: S\n"),
        (needed, vec![with(one, "/AS/Off"), with(two, "/AS/L")], "[Fields]\nSize: S\n"),
        (
            needed,
            vec![with(tick, "/V/Yes/Rect[700 600 712 612]")],
            "Hidden { how: Marked, count: 3, of: Characters }\n",
        ),
    ];
    for (catalog, widgets, expected) in cases {
        let widgets: Vec<&str> = widgets.iter().map(String::as_str).collect();
        assert_eq!(got(catalog, &widgets), expected, "{catalog} {widgets:?}");
    }
}
