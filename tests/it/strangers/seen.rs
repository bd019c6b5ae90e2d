//! Complete answers with untrusted text as a model sees them; `seen.txt` has each case with its
//! call.
//!
//! A case begins with `# ` and its name. Lines with `<` build its mailbox at Google, or change the
//! services' responses over the samples; the line with `>` is the call, and lines with `|` are the
//! answer. `\n`, `\t`, `\e` and `\u{…}` are escapes, and `WORD` replaces the fence's word. If
//! `DAYSHEET_ACCEPT` is set, the actual answers become the expected ones: review the difference.

#![cfg(feature = "documents")]

#[path = "../../extract/pdf/paper.rs"]
#[expect(dead_code, reason = "it makes more than is used here")]
mod paper;

use std::io::{Cursor, Write as _};
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use daysheet::cli::sandboxed::SandboxUser;
use daysheet::config::Config;
use daysheet_sandbox::AnswerAlteration;
use futures_util::StreamExt as _;
use futures_util::stream;
use serde_json::Value;
use tempfile::TempDir;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use self::paper::{Paper, stream as pdf_stream};
use super::{encoded, escaped};
use crate::common::clock;
use crate::support::{ME, Session, config, write_message};

const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/strangers/seen.txt");

/// A word in every case that no line of ours may contain.
const THEIRS: &str = "evil";

/// Sessions open at the same time.
const AT_ONCE: usize = 4;

/// A case of the file.
struct Case<'t> {
    /// The lines before its answer.
    head: Vec<&'t str>,
    expected: Vec<&'t str>,
}

fn cases(text: &str) -> (&str, Vec<Case<'_>>) {
    let (about, rest) = text.split_once("\n# ").unwrap();
    let case = |text| {
        let (expected, head) = str::lines(text)
            .filter(|line| !line.is_empty())
            .partition(|line| line.starts_with('|'));
        Case { head, expected }
    };
    (about, rest.split("\n# ").map(case).collect())
}

/// Returns a text with its escapes replaced.
fn unescaped(text: &str) -> String {
    let (mut chars, mut out) = (text.chars(), String::new());
    while let Some(c) = chars.next() {
        out.push(match (c, if c == '\\' { chars.next() } else { None }) {
            (_, Some('n')) => '\n',
            (_, Some('t')) => '\t',
            (_, Some('e')) => '\u{1b}',
            (_, Some('\\')) => '\\',
            (_, Some('u')) => {
                let code: String = chars.by_ref().skip(1).take_while(|c| *c != '}').collect();
                char::from_u32(u32::from_str_radix(&code, 16).unwrap()).unwrap()
            }
            (c, None) if c != '\\' => c,
            _ => panic!("an unknown escape: {text}"),
        });
    }
    out
}

/// Returns the parts of a file's content.
fn parts(content: &str) -> impl Iterator<Item = &str> {
    content.split(";;").map(str::trim)
}

fn archive(members: &[(&str, String)]) -> Vec<u8> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, text) in members {
        archive.start_file(*name, SimpleFileOptions::default()).unwrap();
        archive.write_all(text.as_bytes()).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

fn relations(targets: &[(&str, &str)]) -> String {
    let one = |(at, (kind, target)): (usize, &(&str, &str))| {
        format!("<Relationship Id='r{at}' Type='http://x/{kind}' Target='{target}'/>")
    };
    let all: String = targets.iter().enumerate().map(one).collect();
    format!("<Relationships>{all}</Relationships>")
}

/// Returns a Word document from its body and the texts of a comment and of a header.
fn docx(content: &str) -> Vec<u8> {
    let mut parts = parts(content);
    let mut next = || parts.next().unwrap_or_default();
    archive(&[
        ("word/document.xml", format!("<w:document><w:body>{}</w:body></w:document>", next())),
        ("word/comments.xml", format!("<w:comments>{}</w:comments>", next())),
        ("word/header1.xml", format!("<w:hdr>{}</w:hdr>", next())),
        (
            "word/_rels/document.xml.rels",
            relations(&[("comments", "comments.xml"), ("header", "header1.xml")]),
        ),
    ])
}

/// Returns a workbook of one sheet from the sheet's name, its state, and its cells by rows.
fn xlsx(content: &str) -> Vec<u8> {
    let mut parts = parts(content);
    let mut next = || parts.next().unwrap_or_default();
    let (name, state) = (next(), next());
    let sheet = format!("<sheet name='{name}' sheetId='1' state='{state}' r:id='r0'/>");
    let rows = parts.zip(1..).map(|(row, number)| {
        let cells =
            row.split(" | ").zip('A'..).map(|(text, column)| match text.strip_prefix('=') {
                Some(formula) => {
                    format!("<c r='{column}{number}' t='str'><f>{formula}</f><v>x</v></c>")
                }
                None => {
                    format!("<c r='{column}{number}' t='inlineStr'><is><t>{text}</t></is></c>")
                }
            });
        format!("<row r='{number}'>{}</row>", cells.collect::<String>())
    });
    let rows: String = rows.collect();
    archive(&[
        (
            "xl/workbook.xml",
            format!(
                "<workbook><sheets>{sheet}<sheet name='Prices' sheetId='2' r:id='r1'/></sheets></workbook>"
            ),
        ),
        (
            "xl/_rels/workbook.xml.rels",
            relations(&[
                ("worksheet", "worksheets/sheet1.xml"),
                ("worksheet", "worksheets/sheet2.xml"),
            ]),
        ),
        (
            "xl/worksheets/sheet1.xml",
            format!("<worksheet><sheetData>{rows}</sheetData></worksheet>"),
        ),
        (
            "xl/worksheets/sheet2.xml",
            "<worksheet><sheetData><row r='1'><c r='A1'><v>1</v></c></row></sheetData></worksheet>"
                .to_owned(),
        ),
    ])
}

/// Returns a PDF of one page from its operators, further entries of the catalog and of the page,
/// and objects.
fn pdf(content: &str) -> Vec<u8> {
    let mut parts = parts(content);
    let mut next = || parts.next().unwrap_or_default().to_owned();
    let (page, catalog, entries) = (next(), next(), next());
    let objects = parts.map(|object| match object.strip_prefix("stream ") {
        Some(text) => pdf_stream("/Type/EmbeddedFile", text),
        None => object.to_owned(),
    });
    let mut paper = Paper::of(&page);
    paper.objects = objects.collect();
    paper.catalog = catalog.leak();
    paper.page = entries.leak();
    paper.resources = "/Properties<</Off 10 0 R>>";
    paper.bytes()
}

/// Writes the message of a case; returns false if the case has none.
fn write(folder: &Path, lines: &[&str]) -> bool {
    let mut headers = format!("To: {ME}\nMIME-Version: 1.0\n");
    let (mut body, mut files) = (String::new(), String::new());
    let mut there = false;
    for line in lines {
        let (name, value) = line.split_once(": ").unwrap();
        let value = unescaped(value);
        let words: Vec<&str> = name.split(' ').collect();
        match words.as_slice() {
            ["swap"] => continue,
            ["text"] => body = format!("Content-Type: text/plain; charset=utf-8\n\n{value}\n"),
            ["html"] => body = format!("Content-Type: text/html; charset=utf-8\n\n{value}\n"),
            ["file", name, media] => {
                let bytes = match *media {
                    "docx" => docx(&value),
                    "xlsx" => xlsx(&value),
                    "pdf" => pdf(&value),
                    "zip" => {
                        let name = |name| (name, "x".to_owned());
                        archive(&parts(&value).map(name).collect::<Vec<_>>())
                    }
                    _ => value.into_bytes(),
                };
                files.push_str(&format!(
                    "--b\nContent-Type: {}\nContent-Transfer-Encoding: base64\n\
                     Content-Disposition: attachment; filename*=utf-8''{}\n\n{}\n",
                    if media.contains('/') { *media } else { "application/octet-stream" },
                    escaped(&unescaped(&name.replace('_', " "))),
                    STANDARD.encode(bytes),
                ));
            }
            // The phrase before an address is encoded separately.
            [name] => {
                let value = match value.rsplit_once(" <") {
                    Some((phrase, address)) => format!("{} <{address}", encoded(phrase)),
                    None if value.is_ascii() && !value.contains('\n') => value,
                    None => encoded(&value),
                };
                headers.push_str(&format!("{name}: {value}\n"));
            }
            _ => panic!("an unknown line: {line}"),
        }
        there = true;
    }
    for usual in [
        "From: Ana <ana@example.com>",
        "Date: Tue, 3 Nov 2026 10:00:00 +0000",
        "Subject: Hi",
        "Message-ID: <1@example.com>",
    ] {
        let name = usual.split(':').next().unwrap();
        if !headers.contains(&format!("\n{name}:")) {
            headers.push_str(&format!("{usual}\n"));
        }
    }
    if body.is_empty() {
        body = "Content-Type: text/plain\n\nhello\n".to_owned();
    }
    headers.push_str("Content-Type: multipart/mixed; boundary=b");
    if there {
        write_message(&folder.join(ME), "one.eml", &headers, &format!("--b\n{body}{files}--b--\n"));
    }
    there
}

/// Returns the answer to the call of a case, line by line.
async fn seen(case: &Case<'_>) -> Vec<String> {
    let lines =
        |sign: &'static str| case.head.iter().filter_map(move |line| line.strip_prefix(sign));
    let inputs: Vec<&str> = lines("< ").collect();
    let mail = TempDir::new().unwrap();
    let has_mail = write(mail.path(), &inputs);
    let who = if has_mail { SandboxUser::These(&[("google", ME)]) } else { SandboxUser::Usual };
    let folder = has_mail.then(|| mail.path());
    let home = TempDir::new().unwrap();
    let config = Config { clock: clock::written(), ..config(home.path(), &[]) };
    let mut session = Session::start(config, home, folder, who).await;
    session.ok("mail_search", serde_json::json!({"limit": 1})).await;
    if has_mail {
        session.ok("mail_attachment", serde_json::json!({"ids": "m1"})).await;
    }
    let swaps: Vec<(String, Value)> = inputs
        .iter()
        .filter_map(|line| line.strip_prefix("swap: ")?.split_once(" => "))
        .map(|(old, new)| (unescaped(old), unescaped(new).into()))
        .collect();
    if !swaps.is_empty() {
        session.sandbox.set_alter(Some(AnswerAlteration::new(move |answer| {
            super::fields::visit(answer, "", &mut |_, value| {
                if let Some((_, new)) = swaps.iter().find(|(old, _)| *value == old.as_str()) {
                    *value = new.clone();
                }
            });
        })));
    }
    let mut calls = lines("> ").peekable();
    loop {
        let (tool, arguments) = calls.next().expect("a call").split_once(' ').unwrap();
        let answer = session.call(tool, serde_json::from_str(arguments).unwrap()).await;
        if calls.peek().is_none() {
            return shown(&answer.blocks);
        }
    }
}

/// Returns blocks as lines, after checking that no untrusted text passes for ours.
fn shown(blocks: &[String]) -> Vec<String> {
    let mut all = Vec::new();
    for (at, block) in blocks.iter().enumerate() {
        let fence = block.strip_prefix("<<<").and_then(|rest| rest.lines().next()?.split_once(' '));
        match fence {
            Some((_, word)) => {
                assert!(block.ends_with(&format!("\n{word}>>>")), "{block}");
                assert_eq!(block.matches(&format!("{word}>>>")).count(), 1, "{block}");
                let block = block.replace(word, "WORD");
                all.extend(block.lines().map(|line| format!("| {line}").trim_end().to_owned()));
            }
            None => {
                for line in block.lines() {
                    // Rows are indented; scalars and notes quote untrusted text.
                    let ours: String = line.split('`').step_by(2).collect();
                    let row = at == 0 && (line.starts_with("  ") || line.starts_with('{'));
                    assert!(row || !ours.contains(THEIRS), "{line}\n{blocks:#?}");
                    all.push(format!("| {line}"));
                }
            }
        }
        if at + 1 < blocks.len() {
            all.push("|".to_owned());
        }
    }
    all
}

#[tokio::test]
async fn what_strangers_write_is_seen_for_what_it_is() {
    let text = std::fs::read_to_string(PATH).unwrap();
    let (about, cases) = cases(&text);
    assert!(cases.len() >= 80, "{} cases", cases.len());
    let answers: Vec<Vec<String>> =
        stream::iter(&cases).map(seen).buffered(AT_ONCE).collect().await;
    let (mut wrong, mut now) = (Vec::new(), about.to_owned());
    for (case, answer) in cases.iter().zip(&answers) {
        now += &format!("\n# {}\n{}\n", case.head.join("\n"), answer.join("\n"));
        if case.expected != *answer {
            wrong.push(format!("{}\n{}", case.head.join("\n"), answer.join("\n")));
        }
    }
    if std::env::var_os("DAYSHEET_ACCEPT").is_some() {
        std::fs::write(PATH, now).unwrap();
        return;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}
