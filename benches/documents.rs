//! The cost of reading attached files: time and memory of the worker process, and tokens.
//!
//! `cargo bench --bench documents [-- --html DIR]` reads the files of `tests/extract/cases` and
//! larger generated ones, each in its own worker, and requests them through the whole program at
//! several budgets. With `DIR` it compares the tokens of all its `.html` files with the tokens of
//! their texts, links included. The tables are in `docs/budget.md`.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::zombie_processes,
    reason = "a benchmark prints its table and stops at the first surprise"
)]
#![expect(unsafe_code, reason = "only `wait4` has the memory that a process needed")]

#[path = "../tests/extract/pdf/paper.rs"]
#[expect(dead_code, reason = "tests use more of it")]
mod paper;

use std::io::{Cursor, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use daysheet::app::App;
use daysheet::cli::client::InProcessClient;
use daysheet::cli::sandboxed::SandboxUser;
use daysheet::config::Config;
use daysheet::worker::Worker;
use daysheet::worker::job::WorkerJob;
use daysheet_core::body::{PartForm, ReadingOptions, readable};
use daysheet_core::budget::count::{TOKENIZER, tokens};
use daysheet_core::clock::Clock;
use daysheet_core::provider::{MessageContent, TextPart};
use daysheet_extract::ExtractRequest;
use daysheet_sandbox::FaultRates;
use paper::Paper;
use serde_json::{Value, json};
use zip::write::SimpleFileOptions;

/// The number of workers per file of which the median is reported.
const ROUNDS: usize = 9;

/// The budgets for files that exceed one budget.
const BUDGETS: &[usize] = &[1_000, 2_000, 8_000];

const CASES: &[&str] = &[
    "quote.docx", "quote.odt", "spring.pptx", "spring.odp", "prices.xls", "prices.xlsx",
    "prices.ods", "pdf/invoice.pdf", "pdf/minutes.pdf",
];

/// A file of this many pages, each with 40 lines.
fn pdf(pages: usize) -> Vec<u8> {
    let line = "The kiln was serviced on 4 March and holds 1,280 degrees for six hours.";
    let page = |page| {
        let lines = (1..=40).map(|at| {
            let y = 780.0 - f64::from(at) * 18.0;
            paper::at(50.0, y, &format!("{page}.{at}: {line}"))
        });
        lines.collect()
    };
    Paper { pages: (1..=pages).map(page).collect(), ..Paper::default() }.bytes()
}

/// A sheet of this many rows below its heading.
fn xlsx(rows: usize) -> Vec<u8> {
    let text = |text: &str| format!("<c t='inlineStr'><is><t>{text}</t></is></c>");
    let head = ["No.", "Item", "Price"].map(text).concat();
    let rows = (1..=rows).map(|row| {
        let item = text(&format!("Shade {row}, linen"));
        format!("<row><c><v>{row}</v></c>{item}<c><v>{}.{:02}</v></c></row>", row * 7, row % 100)
    });
    let sheet = format!(
        "<worksheet><sheetData><row>{head}</row>{}</sheetData></worksheet>",
        rows.collect::<String>()
    );
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

/// The median time of a worker from its start to its end, and its memory in megabytes.
fn read(name: &str, bytes: &[u8]) -> (Duration, f64) {
    let request = ExtractRequest {
        name: name.to_owned(),
        media: String::new(),
        inside: Vec::new(),
        page: 1,
        sheet: None,
        zone: "Europe/Berlin".to_owned(),
    };
    let head = serde_json::to_string(&(WorkerJob::File(request), bytes.len())).unwrap();
    let mut runs: Vec<(Duration, f64)> = (0..ROUNDS)
        .map(|_| {
            let begin = Instant::now();
            let mut child = Command::new(env!("CARGO_BIN_EXE_daysheet"))
                .arg("worker")
                .env_clear()
                .env("MALLOC_ARENA_MAX", "1")
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .unwrap();
            let mut stdin = child.stdin.take().unwrap();
            stdin.write_all(format!("{head}\n").as_bytes()).unwrap();
            stdin.write_all(bytes).unwrap();
            drop(stdin);
            let mut output = String::new();
            child.stdout.take().unwrap().read_to_string(&mut output).unwrap();
            assert!(output.contains("\"failure\":null"), "{name}: {output}");
            // SAFETY: both are memory of ours, and the child is waited for nowhere else.
            let kilobytes = unsafe {
                let (mut status, mut usage) = (0, std::mem::zeroed::<libc::rusage>());
                assert_eq!(
                    libc::wait4(child.id() as i32, &raw mut status, 0, &raw mut usage),
                    child.id() as i32
                );
                usage.ru_maxrss
            };
            (begin.elapsed(), kilobytes as f64 / 1024.0)
        })
        .collect();
    runs.sort_by_key(|(time, _)| *time);
    runs[ROUNDS / 2]
}

/// An answer of `mail_attachment as=text`: its tokens, and its notes.
async fn ask(client: &mut InProcessClient, id: &str, budget: usize) -> (Value, String) {
    let arguments = json!({"ids": id, "as": "text", "budget": budget});
    let (answer, stats) = client.call_with_stats("mail_attachment", arguments).await.unwrap();
    assert!(!answer.is_error, "{answer:?}");
    (stats["tokens"].clone(), answer.blocks.last().unwrap().clone())
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/extract/cases");
    let files = CASES.iter().map(|name| (*name, std::fs::read(folder.join(name)).unwrap()));
    let mut files: Vec<(&str, Vec<u8>)> = files.collect();
    let cases = files.len();
    files.push(("20 pages.pdf", pdf(20)));
    files.push(("1000 rows.xlsx", xlsx(1_000)));
    // First of all: a worker counts the memory of the process that starts it as its own.
    let read: Vec<(Duration, f64)> = files.iter().map(|(name, bytes)| read(name, bytes)).collect();

    let home = tempfile::tempdir().unwrap();
    let mail = home.path().join("mail/mira@example.com");
    std::fs::create_dir_all(&mail).unwrap();
    let mut message = "From: ana@example.com\nTo: mira@example.com\nSubject: Files\n\
        MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n"
        .to_owned();
    for (name, bytes) in &files {
        let name = name.rsplit('/').next().unwrap();
        let bytes = STANDARD.encode(bytes);
        message.push_str(&format!(
            "--b\nContent-Type: application/octet-stream\nContent-Transfer-Encoding: base64\n\
             Content-Disposition: attachment; filename=\"{name}\"\n\n{bytes}\n"
        ));
    }
    std::fs::write(mail.join("files.eml"), message + "--b--\n").unwrap();
    let var = |name: &str| match name {
        "DAYSHEET_HOME" => home.path().to_str().map(str::to_owned),
        "DAYSHEET_KEY_STORE" => Some("file".to_owned()),
        _ => None,
    };
    let worker = Some(Worker::at(env!("CARGO_BIN_EXE_daysheet")));
    let config = Config { worker, ..Config::from(var, None, None, Clock::system()).unwrap() };
    let mail = Some(home.path().join("mail"));
    let (app, _sandbox) =
        App::sandboxed(config, mail, None, FaultRates::default(), SandboxUser::Usual)
            .await
            .unwrap();
    let mut client = InProcessClient::connect(app.server()).await.unwrap();
    client.call("mail_search", json!({})).await.unwrap();
    client.call("mail_attachment", json!({"ids": "m1", "as": "list"})).await.unwrap();

    println!("| file | bytes | ms | memory, MB | tokens of {TOKENIZER} |\n|---|---|---|---|---|");
    for (at, ((name, bytes), (time, memory))) in files.iter().zip(read).enumerate() {
        let (tokens, _) = ask(&mut client, &format!("a{}", at + 1), 100_000).await;
        let (size, time) = (bytes.len(), time.as_secs_f64() * 1e3);
        println!("| {name} | {size} | {time:.1} | {memory:.1} | {tokens} |");
    }
    println!("\n| file | budget | tokens | notes |\n|---|---|---|---|");
    for (at, (name, _)) in files.iter().enumerate().skip(cases) {
        for budget in BUDGETS {
            let (tokens, notes) = ask(&mut client, &format!("a{}", at + 1), *budget).await;
            println!("| {name} | {budget} | {tokens} | {} |", notes.replace('\n', "; "));
        }
    }
    html();
}

/// Compares the HTML of the folder after `--html` with its text.
fn html() {
    let folder = std::env::args().skip_while(|argument| argument != "--html").nth(1);
    let Some(folder) = folder.map(PathBuf::from) else { return };
    let (mut count, mut raw, mut ours) = (0, 0, 0);
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let Ok(source) = std::fs::read_to_string(&path) else { continue };
        count += 1;
        raw += tokens(&source);
        let message = MessageContent {
            parts: vec![vec![vec![TextPart::Html(source)]]],
            ..MessageContent::default()
        };
        let reading = ReadingOptions {
            subject: String::new(),
            form: PartForm::Text,
            quoted: false,
            signature: false,
            links: true,
        };
        ours += tokens(&readable(&message, &reading).text);
    }
    let fewer = 100.0 * (1.0 - f64::from(ours as u32) / f64::from(raw as u32));
    println!("\nHTML of {count} messages: {raw} tokens, their text {ours}: {fewer:.1} % fewer");
}
