//! Text files and tables as text, with the complete output of each.

use daysheet_core::text::fence::OURS;
use daysheet_extract::{AnswerLine, CellValue, ContentBlock, ExtractRequest, TextPiece};
use serde_json::Value;

use crate::{lines, request};

/// Returns the output of a file, one item a line: marks in brackets, cells between bars.
pub fn shown(request: &ExtractRequest, bytes: &[u8]) -> String {
    let mut out = String::new();
    let span = |of: &daysheet_extract::BlockSpan| {
        format!("{:?} {}-{} of {}, next {:?}", of.unit, of.first, of.last, of.of, of.next)
    };
    for line in lines(request, bytes) {
        match line {
            AnswerLine::Kind(kind) => out.push_str(&format!("{}\n", kind.name())),
            AnswerLine::Block(ContentBlock::Text(text)) => {
                for piece in text.pieces {
                    match piece {
                        TextPiece::Text(text) => out.push_str(&format!("{}\n", text.trim_end())),
                        TextPiece::Mark(mark) => out.push_str(&format!("[{mark:?}]\n")),
                    }
                }
                out.extend(text.of.map(|of| format!("({})\n", span(&of))));
            }
            AnswerLine::Block(ContentBlock::Sheet(sheet)) => {
                out.extend(sheet.before.iter().map(|line| format!("above: {line}\n")));
                out.push_str(&format!("{}\n", sheet.columns.join("|")));
                for (number, cells) in sheet.rows {
                    let cells: Vec<_> = cells.iter().map(cell).collect();
                    out.push_str(&format!("{number}: {}\n", cells.join("|")));
                }
                out.push_str(&format!("({})\n", span(&sheet.of)));
            }
            AnswerLine::Block(ContentBlock::Rows { table, objects, more, .. }) => {
                for object in objects {
                    out.push_str(&format!("{table:?}{}\n", row_values("", &object)));
                }
                out.push_str(&format!("(more: {more})\n"));
            }
            AnswerLine::Block(ContentBlock::Files { files, more, .. }) => {
                for file in files {
                    let locked = if file.encrypted { " encrypted" } else { "" };
                    let folder = if file.folder { " folder" } else { "" };
                    let (part, name, size) = (file.part, file.name, file.size);
                    out.push_str(&format!("/{part} {name} {size}{locked}{folder}\n"));
                }
                out.push_str(&format!("(more: {more})\n"));
            }
            AnswerLine::End(end) => {
                out.extend(end.findings.iter().map(|finding| format!("{finding:?}\n")));
                out.extend(end.failure.map(|failure| format!("failed: {failure:?}\n")));
            }
        }
    }
    out
}

/// Returns the values of a row with their paths, without null, false and empty values.
pub fn row_values(path: &str, value: &Value) -> String {
    let below = |key: &str, value| {
        row_values(&if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }, value)
    };
    match value {
        Value::Null | Value::Bool(false) => String::new(),
        Value::String(text) if text.is_empty() => String::new(),
        Value::Array(values) => {
            let of = |(at, value): (usize, _)| below(&at.to_string(), value);
            values.iter().enumerate().map(of).collect()
        }
        Value::Object(members) => members.iter().map(|(key, value)| below(key, value)).collect(),
        value => format!(" {path}={value}"),
    }
}

fn cell(value: &CellValue) -> String {
    match value {
        CellValue::Null => "~".to_owned(),
        CellValue::Flag(flag) => flag.to_string(),
        CellValue::Number(number) => format!("#{number}"),
        CellValue::Text(text) => text.clone(),
    }
}

/// Fails with all cases that differ.
pub fn all_give(cases: &[(&str, &[u8], &str)]) {
    let got = cases.iter().map(|(name, bytes, _)| shown(&request(name), bytes));
    let wrong: Vec<_> = got.zip(cases).filter(|(got, case)| got != case.2).collect();
    let wrong =
        wrong.into_iter().map(|(got, case)| format!("{}:\n{got}\nnot:\n{}", case.0, case.2));
    let wrong: Vec<_> = wrong.collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn text_files_come_as_they_are_in_any_charset() {
    all_give(&[
        ("a.txt", b"one\ntwo", "txt\none\ntwo\n"),
        ("a.txt", b"", "txt\nfailed: Empty\n"),
        ("a.md", b"# a\n\n* b", "md\n# a\n\n* b\n"),
        ("a.json", b"{\"b\": 1}", "json\n{\"b\": 1}\n"),
        ("utf8.txt", b"\xef\xbb\xbfG\xc3\xbcte", "txt\nGüte\n"),
        ("latin.txt", b"G\xfcte", "txt\nGüte\nCharset(\"windows-1252\")\n"),
        ("wide.txt", b"\xff\xfeG\0\xfc\0", "txt\nGü\n"),
        ("nomark.txt", b"H\0e\0l\0l\0o\0", "txt\nHello\n"),
        (
            "a.xml",
            b"<?xml version='1.0' encoding='koi8-r'?><a>\xd7</a>",
            "xml\n<?xml version='1.0' encoding='koi8-r'?><a>в</a>\n",
        ),
        (
            "a.html",
            b"<meta charset=windows-1251><h1>\xc0</h1><p>b<p style='display:none'>gone</p>",
            "html\nА\n\nb\nHidden { how: Marked, count: 4, of: Characters }\n",
        ),
    ]);
    let mut latin = request("a.txt");
    latin.media = "text/plain; charset=\"iso-8859-2\"".to_owned();
    assert_eq!(shown(&latin, b"\xb1"), "txt\ną\n");
    // What may be hidden is counted once, and what is nested too deep is left out.
    let html = format!(
        "<p style='color:#eee'>pale<p style='font-size:3px'>tiny{}<div hidden>deep",
        "<div>".repeat(300)
    );
    let want = format!(
        "html\n{OURS}[this may include hidden text]\n\npale\n\ntiny\n\
         Hidden {{ how: Marked, count: 4, of: Characters }}\n\
         Doubt {{ how: Pale, count: 8 }}\nDoubt {{ how: Tiny, count: 0 }}\n"
    );
    assert_eq!(shown(&request("a.html"), html.as_bytes()), want);
    // Sheets that are too large to read whole.
    let stops = ["red"; 1_000].join(",");
    let large = format!(
        "<style>p{{background:linear-gradient({stops})}}</style>{}",
        "<p>x</p>".repeat(4_000)
    );
    assert!(shown(&request("a.html"), large.as_bytes()).ends_with("\nStylesUnread\n"));
}

#[test]
fn long_texts_come_in_pieces_that_join_to_the_whole() {
    let text: String = (0..60_000).map(|line| format!("line {line} ü\n")).collect();
    let mut joined = String::new();
    let mut next = Some(1);
    while let Some(page) = next {
        let request = ExtractRequest { page, ..request("a.txt") };
        let found = lines(&request, text.as_bytes());
        let [_, AnswerLine::Block(ContentBlock::Text(block)), _] = &found[..] else {
            panic!("{found:?}")
        };
        let [TextPiece::Text(piece)] = &block.pieces[..] else { panic!("not one piece") };
        assert!(piece.ends_with('\n') && piece.len() <= daysheet_extract::PIECE);
        joined.push_str(piece);
        next = block.of.unwrap().next;
    }
    assert!(joined == text);
    let request = ExtractRequest { page: 9, ..request("a.txt") };
    assert_eq!(shown(&request, text.as_bytes()), "txt\nfailed: NoSuchPage(4)\n");
}

#[test]
fn tables_as_text_come_with_headings_and_numbers() {
    all_give(&[
        (
            "a.csv",
            b"Item,Qty,Zip\n\"Lamp, \"\"big\"\"\",4,01234\nBulb,-1.5,\n",
            "csv\nItem|Qty|Zip\n2: Lamp, \"big\"|#4|01234\n3: Bulb|#-1.5|~\n(Row 1-2 of 2, next None)\n",
        ),
        (
            "semicolons.csv",
            b"Item;Price\nLamp, brass;1,50\nBulb, small;2,00\n",
            "csv\nItem|Price\n2: Lamp, brass|1,50\n3: Bulb, small|2,00\n(Row 1-2 of 2, next None)\n",
        ),
        ("sep.csv", b"sep=|\r\na|b\r\n1|2\r\n", "csv\na|b\n2: #1|#2\n(Row 1-1 of 1, next None)\n"),
        ("a.tsv", b"a\tb\n1\t2\n", "tsv\na|b\n2: #1|#2\n(Row 1-1 of 1, next None)\n"),
        ("bare.csv", b"1,2\n3,4\n", "csv\nA|B\n1: #1|#2\n2: #3|#4\n(Row 1-2 of 2, next None)\n"),
        (
            "title.csv",
            b"Prices of May\n\nItem,Qty\nLamp,4,extra\n",
            "csv\nabove: Prices of May\nItem|Qty|C\n3: Lamp|#4|extra\n(Row 1-1 of 1, next None)\n",
        ),
        (
            "account.csv",
            b"Account;;\nIBAN:;DE12;\nHolder:;Ada;\n;;\nDay;Text;Sum\n01.02.2026;Rent;-500,00\n02.02.2026;Wage;2000,00\n",
            "csv\nabove: Account\nabove: IBAN: DE12\nabove: Holder: Ada\nDay|Text|Sum\n6: 01.02.2026|Rent|-500,00\n7: 02.02.2026|Wage|2000,00\n(Row 1-2 of 2, next None)\n",
        ),
        (
            "narrow.csv",
            b"Name,Mail\nAda,a@x,Oslo\nBen,b@x,Rome\n",
            "csv\nName|Mail|C\n2: Ada|a@x|Oslo\n3: Ben|b@x|Rome\n(Row 1-2 of 2, next None)\n",
        ),
        (
            "uneven.csv",
            b"1,2\n3,4,5\n6,7,8\n",
            "csv\nA|B|C\n1: #1|#2|~\n2: #3|#4|#5\n3: #6|#7|#8\n(Row 1-3 of 3, next None)\n",
        ),
        (
            "ids.csv",
            b"id\n12345678901234567890\n",
            "csv\nA\n1: id\n2: 12345678901234567890\n(Row 1-2 of 2, next None)\n",
        ),
        ("words.csv", b"Anna\nBen\n", "csv\nA\n1: Anna\n2: Ben\n(Row 1-2 of 2, next None)\n"),
        (
            "broken.csv",
            b"a,b\n\"open,1\n",
            "csv\nA|B\n1: a|b\n2: open,1|~\n(Row 1-2 of 2, next None)\n",
        ),
        (
            "lines.csv",
            b";;\nItem;Qty;\n;;\nLamp;4;\n",
            "csv\nItem|Qty|C\n4: Lamp|#4|~\n(Row 1-1 of 1, next None)\n",
        ),
        ("empty.csv", b"\n,\n", "csv\nfailed: Empty\n"),
    ]);
}

#[test]
fn rows_come_by_the_thousand_with_the_headings() {
    let mut text = "n,square\n".to_owned();
    text.extend((1..=2500).map(|n| format!("{n},{}\n", n * n)));
    let mut request = request("a.csv");
    request.page = 3;
    let found = shown(&request, text.as_bytes());
    assert!(found.starts_with("csv\nn|square\n2002: #2001|#4004001\n"), "{found}");
    assert!(found.ends_with("\n(Row 2001-2500 of 2500, next None)\n"), "{found}");
    request.page = 2;
    assert!(shown(&request, text.as_bytes()).ends_with("(Row 1001-2000 of 2500, next Some(3))\n"));
    request.page = 4;
    assert_eq!(shown(&request, text.as_bytes()), "csv\nfailed: NoSuchPage(3)\n");
}
