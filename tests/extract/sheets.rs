//! Sheets made member by member: headings, numbers, and hidden cells.

use daysheet_core::text::visibility::HidingMethod;
use daysheet_extract::{AnswerLine, CellValue, ExtractRequest, Finding, HiddenUnit, ReadFailure};

use crate::cases::shown;
use crate::office::{relations, zip};
use crate::{ended, lines, request};

/// Returns a workbook with one sheet: the elements before its rows, the rows, and the elements
/// after them.
pub fn xlsx(before: &str, rows: &str, after: &str) -> Vec<u8> {
    let sheet = format!("<worksheet>{before}<sheetData>{rows}</sheetData>{after}</worksheet>");
    zip(&[
        (
            "xl/workbook.xml",
            "<workbook><sheets><sheet name='One' sheetId='1' r:id='r1'/></sheets></workbook>",
        ),
        (
            "xl/_rels/workbook.xml.rels",
            &relations(&[("worksheet", "worksheets/sheet1.xml"), ("styles", "styles.xml")]),
        ),
        ("xl/worksheets/_rels/sheet1.xml.rels", &relations(&[("table", "../tables/table1.xml")])),
        ("xl/tables/table1.xml", "<table ref='E1:F9'/>"),
        ("xl/worksheets/sheet1.xml", &sheet),
        ("xl/styles.xml", STYLES),
    ])
}

const STYLES: &str = "<styleSheet>
    <numFmts><numFmt numFmtId='200' formatCode=';;;'/><numFmt numFmtId='201' formatCode='#,##0.00\\ \"€\"'/>
        <numFmt numFmtId='202' formatCode='[$-409]d/m/yy h:mm AM/PM;@'/><numFmt numFmtId='203' formatCode='0.0\" kg\"'/>
        <numFmt numFmtId='204' formatCode='[$CHF-807] #,##0'/><numFmt numFmtId='205' formatCode='00000'/>
        <numFmt numFmtId='206' formatCode='[White]0'/><numFmt numFmtId='207' formatCode='0;-0;&quot; &quot;_);@'/>
        <numFmt numFmtId='208' formatCode='[&lt;9]&quot;&quot;;0'/></numFmts>
    <fonts><font/><font><color rgb='FFFFFFFF'/></font><font><color theme='0'/></font><font><sz val='1'/></font>
        <font><color theme='0' tint='-0.5'/></font><font><color indexed='9'/></font></fonts>
    <fills><fill><patternFill patternType='none'/></fill>
        <fill><patternFill patternType='solid'><fgColor rgb='FF1F4E79'/></patternFill></fill>
        <fill><patternFill patternType='solid'><fgColor theme='0'/></patternFill></fill></fills>
    <cellXfs><xf/><xf fontId='1'/><xf fontId='2'/><xf fontId='3'/><xf fontId='4'/><xf fontId='1' fillId='1'/>
        <xf fontId='1' fillId='2'/><xf numFmtId='200'/><xf numFmtId='201'/><xf numFmtId='202'/><xf numFmtId='203'/>
        <xf numFmtId='204'/><xf numFmtId='205'/><xf numFmtId='10'/><xf numFmtId='14'/><xf numFmtId='46'/><xf fontId='5'/>
        <xf numFmtId='206'/><xf numFmtId='207'/><xf numFmtId='208'/></cellXfs>
    </styleSheet>";

fn text(place: &str, style: u8, text: &str) -> String {
    format!("<c r='{place}' s='{style}' t='inlineStr'><is><t>{text}</t></is></c>")
}

const WHITE: &str = "<color rgb='FFFFFFFF'/>";
const BLACK: &str = "<color rgb='FF000000'/>";

/// Returns a cell of words, each in its own font if it has one.
fn words(style: u8, runs: &[(&str, &str)]) -> String {
    let run = |(font, text): &(&str, &str)| {
        let font = if font.is_empty() { String::new() } else { format!("<rPr>{font}</rPr>") };
        format!("<r>{font}<t>{text}</t></r>")
    };
    let runs: String = runs.iter().map(run).collect();
    format!("<c r='A3' s='{style}' t='inlineStr'><is>{runs}</is></c>")
}

fn number(place: &str, style: u8, value: &str) -> String {
    format!("<c r='{place}' s='{style}'><v>{value}</v></c>")
}

fn row(number: u32, attributes: &str, cells: &[String]) -> String {
    format!("<row r='{number}' {attributes}>{}</row>", cells.concat())
}

#[test]
fn cells_that_nobody_sees_are_left_out_and_others_stay() {
    let cell = |how, count, of| Some(Finding::Hidden { how, count, of });
    let plain = || vec![text("A3", 0, "SECRET")];
    let style = |style| row(3, "", &[text("A3", style, "SECRET")]);
    let cases: Vec<(&str, &str, String, &str, Option<Finding>)> = vec![
        (
            "a hidden row",
            "",
            row(3, "hidden='1'", &plain()),
            "",
            cell(HidingMethod::Row, 1, HiddenUnit::Rows),
        ),
        (
            "a row without height",
            "",
            row(3, "ht='0' customHeight='1'", &plain()),
            "",
            cell(HidingMethod::Row, 1, HiddenUnit::Rows),
        ),
        (
            "a filtered row",
            "",
            row(3, "hidden='1'", &plain()),
            "<autoFilter ref='A1:B9'/>",
            cell(HidingMethod::Filtered, 1, HiddenUnit::Rows),
        ),
        (
            "a hidden column",
            "<cols><col min='4' max='9' hidden='1'/></cols>",
            row(3, "", &[text("D3", 0, "SECRET")]),
            "",
            cell(HidingMethod::Column, 1, HiddenUnit::Columns),
        ),
        (
            "a column without width",
            "<cols><col min='4' max='4' width='0'/></cols>",
            row(3, "", &[text("D3", 0, "SECRET")]),
            "",
            cell(HidingMethod::Column, 1, HiddenUnit::Columns),
        ),
        ("white", "", style(1), "", cell(HidingMethod::Colour, 1, HiddenUnit::Cells)),
        ("white by the theme", "", style(2), "", cell(HidingMethod::Colour, 1, HiddenUnit::Cells)),
        (
            "white by the palette",
            "",
            style(16),
            "",
            cell(HidingMethod::Colour, 1, HiddenUnit::Cells),
        ),
        ("white on white", "", style(6), "", cell(HidingMethod::Colour, 1, HiddenUnit::Cells)),
        ("a point", "", style(3), "", cell(HidingMethod::Tiny, 1, HiddenUnit::Cells)),
        (
            "a format that shows nothing",
            "",
            style(7),
            "",
            cell(HidingMethod::Marked, 1, HiddenUnit::Cells),
        ),
        (
            "a number in a format that shows nothing",
            "",
            row(3, "", &[number("A3", 7, "42")]),
            "",
            cell(HidingMethod::Marked, 1, HiddenUnit::Cells),
        ),
        (
            "a zero in a format that shows none",
            "",
            row(3, "", &[number("A3", 18, "0")]),
            "",
            cell(HidingMethod::Marked, 1, HiddenUnit::Cells),
        ),
        (
            "white by its format",
            "",
            row(3, "", &[number("A3", 17, "42")]),
            "",
            cell(HidingMethod::Colour, 1, HiddenUnit::Cells),
        ),
        (
            "below a merged cell",
            "",
            row(3, "", &[text("A3", 0, "Lamps"), text("B3", 0, "SECRET")])
                + &row(4, "", &[text("A4", 0, "SECRET"), text("B4", 0, "SECRET")]),
            "<mergeCells><mergeCell ref='A3:B4'/></mergeCells>",
            cell(HidingMethod::Covered, 3, HiddenUnit::Cells),
        ),
        (
            "white words in a cell",
            "",
            row(3, "", &[words(0, &[("", "black"), (WHITE, "SECRET")])]),
            "",
            cell(HidingMethod::Colour, 6, HiddenUnit::Characters),
        ),
        (
            "white words in a white cell",
            "",
            row(3, "", &[words(1, &[("", "SECRET"), (BLACK, "black")])]),
            "",
            cell(HidingMethod::Colour, 6, HiddenUnit::Characters),
        ),
        (
            "a point, in a cell",
            "",
            row(3, "", &[words(0, &[("<sz val='1'/>", "SECRET"), ("", "black")])]),
            "",
            cell(HidingMethod::Tiny, 6, HiddenUnit::Characters),
        ),
    ];
    let kept = vec![
        ("plain", "", style(0), ""),
        ("grey by the theme", "", style(4), ""),
        ("white on blue", "", style(5), ""),
        ("white on what a rule paints", "", style(1), "<conditionalFormatting sqref='A1:A9 C1'/>"),
        ("white on what a table paints", "", row(3, "", &[text("E3", 1, "SECRET")]), ""),
        ("a row that is not hidden", "", row(3, "hidden='0'", &plain()), ""),
        (
            "a merged cell",
            "",
            row(3, "", &[text("A3", 0, "SECRET")]),
            "<mergeCells><mergeCell ref='A3:B4'/></mergeCells>",
        ),
        (
            "beside a merged cell",
            "",
            row(3, "", &[text("A3", 0, "Lamps"), text("C3", 0, "SECRET")]),
            "<mergeCells><mergeCell ref='A2:B3'/><mergeCell ref='A4:C4'/></mergeCells>",
        ),
        ("black words in a white cell", "", row(3, "", &[words(1, &[(BLACK, "SECRET")])]), ""),
        ("white words on blue", "", row(3, "", &[words(5, &[(WHITE, "SECRET")])]), ""),
        (
            "white words on what a rule paints",
            "",
            row(3, "", &[words(0, &[(WHITE, "SECRET")])]),
            "<conditionalFormatting sqref='A1:A9 C1'/>",
        ),
        ("text in a format for numbers", "", row(3, "", &[text("A3", 18, "SECRET")]), ""),
        ("a format with conditions", "", row(3, "", &[text("A3", 19, "SECRET")]), ""),
        ("a low row", "", row(3, "ht='3'", &plain()), ""),
        ("beside a hidden column", "<cols><col min='2' max='9' hidden='1'/></cols>", style(0), ""),
        (
            "a cell that no library expects",
            "",
            row(3, "", &["<c r='A3' t='e'><v>#SPILL! SECRET</v><extLst/></c>".to_owned()]),
            "",
        ),
    ];
    let top = row(1, "", &[text("A1", 0, "Item"), text("B1", 0, "Qty")])
        + &row(2, "", &[text("A2", 0, "Lamp"), number("B2", 0, "1")]);
    let mut wrong = Vec::new();
    let hidden = cases.iter().map(|case| (case.0, case.1, &case.2, case.3, case.4.as_ref(), false));
    let kept = kept.iter().map(|case| (case.0, case.1, &case.2, case.3, None, true));
    for (name, before, rows, after, finding, stays) in hidden.chain(kept) {
        let got = shown(&request("a.xlsx"), &xlsx(before, &format!("{top}{rows}"), after));
        let found = finding.is_none_or(|finding| got.contains(&format!("[{finding:?}]")));
        if got.contains("SECRET") != stays || !got.contains("\"Lamp\"") || !found {
            wrong.push(format!("{name}: {got}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn numbers_read_as_a_person_sees_them() {
    let cases: &[(u8, &str, &str, &str)] = &[
        (0, "4", "C", "4"),
        (0, "0.30000000000000004", "C", "0.3"),
        (0, "1e20", "C", "1e20"),
        (0, "-0", "C", "0"),
        (8, "129.5", "C (€)", "129.5"),
        (9, "46056.753472222", "C", "\"2026-02-03 18h05\""),
        (14, "46056", "C", "\"2026-02-03\""),
        (14, "-3", "C", "-3"),
        (15, "1.0625", "C", "\"25:30\""),
        (10, "2.5", "C (kg)", "2.5"),
        (11, "1200", "C (CHF)", "1200"),
        (12, "1067", "C", "\"01067\""),
        (13, "0.075", "C (%)", "7.5"),
    ];
    for (style, value, heading, expected) in cases {
        let cells = [number("A1", 0, "1"), number("B1", 0, "2"), number("C1", *style, value)];
        let got = shown(&request("a.xlsx"), &xlsx("", &row(1, "", &cells), ""));
        let wanted = format!("A\tB\t{heading}\n1\t2\t{expected}\n");
        assert!(got.contains(&wanted), "{style} {value}: {got}");
    }
    // A column with two units has them in its cells.
    let rows = row(1, "", &[number("A1", 8, "1.5"), number("B1", 13, "0.1")])
        + &row(2, "", &[number("A2", 11, "2"), number("B2", 13, "0.2")]);
    let got = shown(&request("a.xlsx"), &xlsx("", &rows, ""));
    assert!(got.contains("A\tB (%)\n\"1.5 €\"\t10\n\"2 CHF\"\t20\n"), "{got}");
}

#[test]
fn headings_become_columns() {
    let cases: &[(&[&[&str]], &str)] = &[
        (&[&["Item", "Qty"], &["Lamp", "4"]], "Item\tQty\n\"Lamp\"\t4\n"),
        (&[&["Title"], &["Item", "Qty"], &["Lamp", "4"]], "Title\nItem\tQty\n\"Lamp\"\t4\n"),
        (&[&["Item", "Item"], &["Lamp", "4"]], "Item\tItem_2\n\"Lamp\"\t4\n"),
        (&[&["Land", "2024"], &["Wien", "4"]], "Land\t2024\n\"Wien\"\t4\n"),
        (&[&["1", "2"], &["3", "4"]], "A\tB\n1\t2\n3\t4\n"),
        (&[&["Lamp", "4"], &["Lamp", "5"]], "A\tB\n\"Lamp\"\t4\n\"Lamp\"\t5\n"),
        (
            &[&["a", "b"], &["1", "2", "3", "4", "5"]],
            "A\tB\tC\tD\tE\n\"a\"\t\"b\"\t\t\t\n1\t2\t3\t4\t5\n",
        ),
        (&[&["Item", "Qty", "Note"], &["Lamp", "4"]], "Item\tQty\tNote\n\"Lamp\"\t4\t\n"),
        (&[&["Names"], &["Ada"], &["Bo"]], "A\n\"Names\"\n\"Ada\"\n\"Bo\"\n"),
    ];
    for (rows, expected) in cases {
        let rows: String = rows
            .iter()
            .zip(1..)
            .map(|(cells, at)| {
                let cells: Vec<String> = cells
                    .iter()
                    .zip('A'..)
                    .map(|(cell, column)| {
                        let place = format!("{column}{at}");
                        if cell.parse::<f64>().is_ok() {
                            number(&place, 0, cell)
                        } else {
                            text(&place, 0, cell)
                        }
                    })
                    .collect();
                row(at, "", &cells)
            })
            .collect();
        let got = shown(&request("a.xlsx"), &xlsx("", &rows, ""));
        assert!(got.contains(expected), "{got}");
    }
}

#[test]
fn long_sheets_come_in_pages() {
    let rows: String = (2..=2501)
        .map(|at| {
            row(
                at,
                "",
                &[number(&format!("A{at}"), 0, &at.to_string()), text(&format!("B{at}"), 0, "x")],
            )
        })
        .collect();
    let rows = row(1, "", &[text("A1", 0, "Number"), text("B1", 0, "Word")]) + &rows;
    let bytes = xlsx("", &rows, "");
    let page = |page| shown(&ExtractRequest { page, ..request("a.xlsx") }, &bytes);
    assert!(page(1).starts_with("[sheet One, rows 1 to 1000 of 2500]\nNumber\tWord\n2\t\"x\"\n"));
    assert!(
        page(3).starts_with("[sheet One, rows 2001 to 2500 of 2500]\nNumber\tWord\n2002\t\"x\"\n")
    );
    assert_eq!(page(4), "[NoSuchPage(3)]\n");
    let named = |sheet: &str| {
        shown(&ExtractRequest { sheet: Some(sheet.to_owned()), ..request("a.xlsx") }, &bytes)
    };
    assert!(named("ONE").starts_with("[sheet One") && named("1").starts_with("[sheet One"));
    assert_eq!(named("Two"), "[NoSuchSheet([\"One\"])]\n");
}

#[test]
fn sheets_made_to_hurt_end_in_an_answer() {
    // Cells in the last corner, and far beyond it.
    let far = row(1, "", &[text("A1", 0, "near")])
        + &row(1_048_576, "", &[text("XFD1048576", 0, "far"), text("ZZZZZ9", 0, "beyond")]);
    let got = shown(&request("a.xlsx"), &xlsx("", &far, ""));
    assert!(
        got.contains("row\tA\tXFD\n1\t\"near\"\t\n1048576\t\t\"far\"\n") && !got.contains("beyond"),
        "{got}"
    );
    let wide: String = (0..60_000).map(|number| format!(" a{number}='1'")).collect();
    let wide = format!("<row r='1'><c r='A1'{wide}><v>7</v></c></row>");
    assert!(shown(&request("a.xlsx"), &xlsx("", &wide, "")).contains("A\n7\n"));
    let strings = "<sst count='4000000000' uniqueCount='4000000000'><si><t>a</t></si></sst>";
    let bytes = zip(&[
        ("xl/workbook.xml", "<workbook><sheet name='One' r:id='r1'/></workbook>"),
        (
            "xl/_rels/workbook.xml.rels",
            &relations(&[("worksheet", "s.xml"), ("sharedStrings", "t.xml")]),
        ),
        (
            "xl/s.xml",
            "<sheetData><row><c t='s'><v>0</v></c><c t='s'><v>9</v></c></row></sheetData>",
        ),
        ("xl/t.xml", strings),
    ]);
    assert!(shown(&request("a.xlsx"), &bytes).contains("A\n\"a\"\n"));
    let broken = xlsx("", "<row><c><v>7</c></row>", "");
    assert_eq!(ended("a.xlsx", &broken).1.failure, Some(ReadFailure::Broken));
    // A sheet whose relation is not there, of which calamine panics.
    let mut book = vec![0x9c, 0x01, 24, 1, 0, 0, 0, 1, 0, 0, 0, 4, 0, 0, 0];
    book.extend("rId9".encode_utf16().flat_map(u16::to_le_bytes));
    book.extend([0, 0, 0, 0]);
    book[2] = (book.len() - 3) as u8;
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    archive.start_file("xl/workbook.bin", zip::write::SimpleFileOptions::default()).unwrap();
    std::io::Write::write_all(&mut archive, &book).unwrap();
    let book = archive.finish().unwrap().into_inner();
    assert_eq!(ended("a.xlsb", &book).1.failure, Some(ReadFailure::Broken));
    assert_eq!(ended("a.xlsx", &xlsx("", "", "")).1.failure, Some(ReadFailure::Empty));
}

#[test]
fn cells_keep_their_kinds() {
    let bytes = xlsx(
        "",
        &row(
            1,
            "",
            &[
                text("A1", 0, "007"),
                number("B1", 0, "7"),
                "<c r='C1' t='b'><v>1</v></c>".to_owned(),
            ],
        ),
        "",
    );
    let sheet = lines(&request("a.xlsx"), &bytes).into_iter().find_map(|line| match line {
        AnswerLine::Block(daysheet_extract::ContentBlock::Sheet(sheet)) => Some(sheet),
        _ => None,
    });
    let kinds = [
        CellValue::Text("007".to_owned()),
        CellValue::Number("7".to_owned()),
        CellValue::Flag(true),
    ];
    assert_eq!(sheet.unwrap().rows, [(1, kinds.to_vec())]);
}
