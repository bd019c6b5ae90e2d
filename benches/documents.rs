//! The cost of reading attached files: time and memory of the reader alone, and tokens.
//!
//! The files are in `tests/extract/cases`, or generated if they are larger. Each is read in processes
//! of its own (`--read FILE`), and requested through the whole program, the larger ones at several
//! budgets. `--html DIR` compares the `.html` files of a folder with their texts, links included.

#[path = "../tests/extract/pdf/paper.rs"]
#[expect(dead_code, reason = "tests use more of it")]
mod paper;

use std::io::{Cursor, Write};
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use daysheet::cli::sandboxed::SandboxUser;
use daysheet_core::body::{PartForm, ReadingOptions, readable};
use daysheet_core::budget::count::tokens;
use daysheet_core::provider::{MessageContent, TextPart};
use daysheet_extract::{ExtractRequest, extract};
use paper::Paper;
use serde_json::json;
use zip::write::SimpleFileOptions;

use crate::common::{ALL, Embedded, again, heading, median, megabytes, option, output, timed};

/// The number of processes for each file of which the median is reported.
const ROUNDS: usize = 9;

/// The budgets for the generated files.
const BUDGETS: [usize; 2] = [1_000, 8_000];

const CASES: [&str; 9] = [
    "quote.docx", "quote.odt", "spring.pptx", "spring.odp", "prices.xls", "prices.xlsx",
    "prices.ods", "pdf/invoice.pdf", "pdf/minutes.pdf",
];

pub async fn run() {
    if let Some(file) = option("--read") {
        read(Path::new(&file));
    } else if let Some(folder) = option("--html") {
        compare(Path::new(&folder));
    } else {
        attached().await;
    }
}

/// Reads a file in this process; prints the milliseconds and the most memory.
fn read(path: &Path) {
    let bytes = std::fs::read(path).unwrap();
    let request = ExtractRequest {
        name: path.to_str().unwrap().to_owned(),
        media: String::new(),
        inside: Vec::new(),
        page: 1,
        sheet: None,
        zone: "Europe/Berlin".to_owned(),
    };
    let mut lines = 0;
    let mut keep = |_| {
        lines += 1;
        Ok(())
    };
    let (result, took) = timed(|| extract(&request, &bytes, &mut keep));
    result.unwrap();
    assert!(lines > 2, "{} has no text", path.display());
    println!("{took} {}", megabytes("self", "VmHWM").unwrap_or(f64::NAN));
}

/// Prints the tables of attached files.
async fn attached() {
    let folder = tempfile::tempdir().unwrap();
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/extract/cases");
    let mut files: Vec<_> = CASES.iter().map(|name| cases.join(name)).collect();
    for (name, bytes) in [("20 pages.pdf", pdf(20)), ("1000 rows.xlsx", xlsx(1_000))] {
        files.push(folder.path().join(name));
        std::fs::write(files.last().unwrap(), bytes).unwrap();
    }
    let mut message = "From: ana@example.com\nTo: mira@example.com\nSubject: Files\n\
        MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n"
        .to_owned();
    let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    for path in &files {
        message.push_str(&format!(
            "--b\nContent-Type: application/octet-stream\nContent-Transfer-Encoding: base64\n\
             Content-Disposition: attachment; filename=\"{}\"\n\n{}\n",
            name(path),
            STANDARD.encode(std::fs::read(path).unwrap())
        ));
    }
    let mail = folder.path().join("mail/mira@example.com");
    std::fs::create_dir_all(&mail).unwrap();
    std::fs::write(mail.join("files.eml"), message + "--b--\n").unwrap();
    let mail = Some(folder.path().join("mail"));
    let mut at = Embedded::start(mail, None, SandboxUser::Usual).await;
    at.ask("mail_search", &json!({}), ALL).await;
    at.ask("mail_attachment", &json!({"ids": "m1", "as": "list"}), ALL).await;

    let text = |number: usize| json!({"ids": format!("a{number}"), "as": "text"});
    let mut whole = Vec::new();
    heading(&["file", "bytes:", "ms:", "memory, MB:", "tokens:"]);
    for (path, number) in files.iter().zip(1..) {
        let runs = (0..ROUNDS).map(|_| {
            let printed = output(again("documents", &["--read"]).arg(path));
            let (took, memory) = printed.trim().split_once(' ').unwrap();
            (took.parse::<f64>().unwrap(), memory.parse::<f64>().unwrap())
        });
        let (times, memory): (Vec<f64>, Vec<f64>) = runs.unzip();
        let (took, memory) = (median(times).unwrap(), median(memory).unwrap());
        let (blocks, stats) = at.ask("mail_attachment", &text(number), ALL).await;
        whole.push(blocks.concat().lines().count());
        let (bytes, tokens) = (path.metadata().unwrap().len(), &stats["tokens"]);
        println!("| {} | {bytes} | {took:.1} | {memory:.1} | {tokens} |", name(path));
    }
    println!();
    heading(&["file", "budget:", "tokens:", "lines left out:"]);
    for (path, number) in files.iter().zip(1..).skip(CASES.len()) {
        for budget in BUDGETS {
            let (blocks, stats) = at.ask("mail_attachment", &text(number), budget).await;
            // A line in their place says how many they are.
            let out = whole[number - 1] + 1 - blocks.concat().lines().count();
            println!("| {} | {budget} | {} | {out} |", name(path), stats["tokens"]);
        }
    }
}

/// Compares the HTML of a folder with its text.
fn compare(folder: &Path) {
    let (mut count, mut raw, mut ours) = (0, 0, 0);
    for entry in std::fs::read_dir(folder).unwrap() {
        let Ok(source) = std::fs::read_to_string(entry.unwrap().path()) else { continue };
        count += 1;
        raw += tokens(&source);
        let parts = vec![vec![vec![TextPart::Html(source)]]];
        let message = MessageContent { parts, ..MessageContent::default() };
        let reading = ReadingOptions {
            subject: String::new(),
            form: PartForm::Text,
            quoted: false,
            signature: false,
            links: true,
        };
        ours += tokens(&readable(&message, &reading).text);
    }
    let fewer = 100.0 * (1.0 - ours as f64 / raw as f64);
    println!("HTML of {count} messages: {raw} tokens, their text {ours}: {fewer:.1} % fewer");
}

/// Returns a file of this many pages, each with 40 lines.
fn pdf(pages: usize) -> Vec<u8> {
    let line = "The kiln was serviced on 4 March and holds 1,280 degrees for six hours.";
    let page = |page| {
        let line = |at| {
            let y = 780.0 - f64::from(at) * 18.0;
            paper::at(50.0, y, &format!("{page}.{at}: {line}"))
        };
        (1..=40).map(line).collect()
    };
    Paper { pages: (1..=pages).map(page).collect(), ..Paper::default() }.bytes()
}

/// Returns a sheet of this many rows below its heading.
fn xlsx(rows: usize) -> Vec<u8> {
    let text = |text: &str| format!("<c t='inlineStr'><is><t>{text}</t></is></c>");
    let head = ["No.", "Item", "Price"].map(text).concat();
    let rows = (1..=rows).map(|row| {
        let item = text(&format!("Shade {row}, linen"));
        format!("<row><c><v>{row}</v></c>{item}<c><v>{}.{:02}</v></c></row>", row * 7, row % 100)
    });
    let rows = rows.collect::<String>();
    let sheet = format!("<worksheet><sheetData><row>{head}</row>{rows}</sheetData></worksheet>");
    let book = "<workbook><sheets><sheet name='Prices' sheetId='1' r:id='r1'/></sheets></workbook>";
    let relations = "<Relationships><Relationship Id='r1' Type='http://x/worksheet' \
        Target='worksheets/sheet1.xml'/></Relationships>";
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in [
        ("xl/workbook.xml", book),
        ("xl/_rels/workbook.xml.rels", relations),
        ("xl/worksheets/sheet1.xml", &sheet),
    ] {
        archive.start_file(name, SimpleFileOptions::default()).unwrap();
        archive.write_all(content.as_bytes()).unwrap();
    }
    archive.finish().unwrap().into_inner()
}
