//! Hostile files, and files without text.

use daysheet_extract::{AnswerLine, BlockSpan, ContentBlock, ExtractRequest, PartUnit};

use super::paper::{Paper, at, stream};
use super::shown;
use crate::{lines, request};

fn spans(request: &ExtractRequest, bytes: &[u8]) -> Vec<BlockSpan> {
    let blocks = lines(request, bytes).into_iter().filter_map(|line| match line {
        AnswerLine::Block(ContentBlock::Text(text)) => text.of,
        _ => None,
    });
    blocks.collect()
}

#[test]
fn of_ten_thousand_pages_a_hundred_are_read() {
    let pages =
        (1..=10_000).map(|page| at(50.0, 700.0, &format!("This is page {page}."))).collect();
    let bytes = Paper { pages, ..Paper::default() }.bytes();
    let from = |page| ExtractRequest { page, ..request("a.pdf") };
    let span =
        |first, next| BlockSpan { unit: PartUnit::Page, first, last: first, of: 10_000, next };
    let first = spans(&from(1), &bytes);
    assert_eq!((first.len(), first[0], first[99]), (100, span(1, Some(2)), span(100, Some(101))));
    assert_eq!(spans(&from(9_999), &bytes), [span(9_999, Some(10_000)), span(10_000, None)]);
    assert!(shown(&from(10_000), &bytes).starts_with("[page 10000]\nThis is page 10000."));
    assert_eq!(shown(&from(10_001), &bytes), "NoSuchPage(10000)\n");
}

/// Returns the start of a file. `end` computes its length from the position where its page shows
/// text.
fn cut_off(end: impl Fn(usize) -> usize) -> Vec<u8> {
    let before = "0 g 0 0 10 10 re f\n".repeat(20);
    let mut bytes = Paper::of(&format!("{before}{}", at(50.0, 700.0, "Lost"))).bytes();
    let stream = bytes.windows(6).position(|window| window == b"stream").unwrap();
    bytes.truncate(end(stream));
    bytes
}

#[test]
fn what_gives_no_text_says_why() {
    let empty = Paper::of("0 g 0 0 10 10 re f");
    let locked = {
        let mut bytes = String::from_utf8(Paper::of(&at(9.0, 9.0, "a")).bytes()).unwrap();
        let key = "00".repeat(32);
        let lock = format!(
            "trailer<</Encrypt<</Filter/Standard/V 1/R 2/P -4/O<{key}>/U<{key}>>>/ID[<00><00>]"
        );
        bytes = bytes.replace("trailer<<", &lock);
        bytes.into_bytes()
    };
    // Readers search for the objects of a file whose table is not where it says.
    let lost = |bytes: &[u8]| {
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        text.replace("startxref\n", "startxref\n9").replace("trailer", "trailer\n").into_bytes()
    };
    let cases: &[(&str, Vec<u8>, &str)] = &[
        ("empty", empty.bytes(), "Empty\n"),
        ("no pages", Paper::default().bytes(), "Empty\n"),
        ("locked, and its table is lost", lost(&locked), "Encrypted\n"),
        ("no objects but a table that is lost", lost(b"%PDF-1.7\nstartxref\n"), "Broken\n"),
        ("cut off before its text", cut_off(|at| at), "Damaged\nBroken\n"),
        ("cut off within its text", cut_off(|at| at + 90), "Damaged\nBroken\n"),
        ("no objects", b"%PDF-1.7\nnothing".to_vec(), "Broken\n"),
        ("locked", locked, "Encrypted\n"),
        (
            "cut",
            Paper::of(&at(50.0, 700.0, "Still here")).bytes()[..500].to_vec(),
            "[page 1]\nStill here\nDamaged\n",
        ),
    ];
    let wrong: Vec<_> = cases
        .iter()
        .map(|(name, bytes, expected)| (name, shown(&request("a.pdf"), bytes), expected))
        .filter(|(_, got, expected)| got != *expected)
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn pages_that_are_lost_are_reported() {
    let pages = (1..=60).map(|page| at(50.0, 700.0, &format!("This is page {page}."))).collect();
    let whole = Paper { pages, ..Paper::default() }.bytes();
    let half = shown(&request("a.pdf"), &whole[..whole.len() / 2]);
    assert!(half.contains("page 20.") && !half.contains("page 60."), "{half}");
    assert!(half.ends_with("Damaged\n"), "{half}");
    assert!(shown(&request("a.pdf"), &whole).ends_with("This is page 60.\n"));
    // Its end is there, and what is behind it is short; or its pages are fewer than it states.
    let end = [whole.as_slice(), b"\n-- \nscanned by a gateway\n"].concat();
    assert!(shown(&request("a.pdf"), &end).ends_with("This is page 60.\n"));
    let fewer = String::from_utf8(whole).unwrap().replace("/Count 60", "/Count 61");
    assert!(shown(&request("a.pdf"), fewer.as_bytes()).ends_with("Damaged\n"));
}

#[test]
fn nothing_loops_or_overflows() {
    let form = "/Type/XObject/Subtype/Form/BBox[0 0 600 800]/Resources<</XObject<</A 10 0 R>>>>";
    let itself = Paper {
        pages: vec![format!("/A Do {}", at(50.0, 700.0, "Seen"))],
        resources: "/XObject<</A 10 0 R>>",
        objects: vec![stream(form, "/A Do")],
        ..Paper::default()
    };
    let paints = "0.5 g 0 0 600 800 re f ".repeat(2_000);
    let paths: String =
        (0..3_000).map(|at| format!("{} 0 m {} 800 l ", at % 600, (at * 7) % 600)).collect();
    let characters = at(1.0, 700.0, "a").repeat(30_000);
    let cases = [
        ("a form within itself", itself),
        ("2,000 covers", Paper::of(&format!("{paints}{}", at(50.0, 700.0, "Seen")))),
        ("zigzag", Paper::of(&format!("{}0 g f {}", paths.repeat(20), at(50.0, 700.0, "Seen")))),
        ("one place", Paper::of(&format!("{characters}{}", at(50.0, 400.0, "Seen")))),
        (
            "numbers",
            Paper::of(&format!(
                "1e38 0 0 1e38 0 0 cm 0 0 1e38 1e38 re f Q {}",
                at(1e30, -1e30, "a")
            )),
        ),
    ];
    for (name, paper) in cases {
        let bytes = paper.bytes();
        let run = std::thread::Builder::new().stack_size(64 << 20);
        let run = run.spawn(move || shown(&request("a.pdf"), &bytes)).unwrap();
        let got = run.join().unwrap_or_else(|_| panic!("{name}"));
        assert!(got.contains("Seen") || name == "numbers", "{name}: {got}");
    }
}

/// Returns a file whose forms draw the next one `calls` times, on `levels` levels. The first page
/// draws the first form with `seen`; the second page draws none.
fn nested(calls: usize, levels: usize, seen: &str) -> Paper {
    let form = |at: usize| {
        let next = 11 + at;
        let entries = format!(
            "/Type/XObject/Subtype/Form/BBox[0 0 600 800]/Resources<</XObject<</A {next} 0 R>>>>"
        );
        stream(&entries, &"/A Do ".repeat(calls))
    };
    let last = stream("/Type/XObject/Subtype/Form/BBox[0 0 600 800]", "0 0 1 1 re f");
    Paper {
        pages: vec![format!("{seen} {}", at(50.0, 700.0, "First")), at(50.0, 700.0, "Second")],
        resources: "/XObject<</A 10 0 R>>/ExtGState<</M<</SMask<</S/Alpha/G 10 0 R>>>>>>",
        objects: (0..levels).map(form).chain([last]).collect(),
        ..Paper::default()
    }
}

/// Drawings by forms are counted before they are drawn. A page that draws too much is left out.
#[test]
fn forms_that_draw_one_another_too_often_are_not_drawn() {
    let both = "[page 1]\nFirst\n[page 2]\nSecond\n";
    let second = "[page 2]\nSecond\nTangled(1)\n";
    for (calls, levels, seen, expected) in [
        (12, 10, "/A Do", second),
        (2, 30, "/A Do", second),
        (12, 10, "/M gs", second),
        (12, 4, "/A Do", both),
        (1, 60, "/A Do", both),
        (12, 10, "", both),
    ] {
        let bytes = nested(calls, levels, seen).bytes();
        assert_eq!(shown(&request("a.pdf"), &bytes), expected, "{calls} {levels} {seen}");
    }
}
