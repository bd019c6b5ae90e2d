//! Mailboxes of transcripts: a message and its files, from lines of text.

#[path = "../../extract/pdf/paper.rs"]
#[expect(dead_code, reason = "it makes more than is used here")]
mod paper;

use std::io::{Cursor, Write as _};
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use self::paper::{Paper, stream as pdf_stream};
use crate::strangers::{encoded, escaped};
use crate::support::{ME, write_message};

/// Returns a text with its escapes replaced.
pub fn unescaped(text: &str) -> String {
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

/// Writes a message from its lines; returns false without any.
pub fn write(folder: &Path, number: usize, lines: &[&str]) -> bool {
    let mut headers = format!("To: {ME}\nMIME-Version: 1.0\n");
    let (mut body, mut files) = (String::new(), String::new());
    let mut there = false;
    for line in lines {
        let (name, value) = line.split_once(": ").unwrap();
        let value = unescaped(value);
        let words: Vec<&str> = name.split(' ').collect();
        match words.as_slice() {
            ["swap" | "add"] => continue,
            ["text"] => body = format!("Content-Type: text/plain; charset=utf-8\n\n{value}\n"),
            ["html"] => body = format!("Content-Type: text/html; charset=utf-8\n\n{value}\n"),
            ["part", media] => files
                .push_str(&format!("--b\nContent-Type: {}\n\n{value}\n", media.replace('_', " "))),
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
                    // Several addresses.
                    Some(_) if value.is_ascii() && value.contains(">, ") => value,
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
        &format!("Message-ID: <{}@example.com>", number + 1),
    ] {
        let name = usual.split(':').next().unwrap();
        if !headers.contains(&format!("\n{name}:")) {
            headers.push_str(&format!("{usual}\n"));
        }
    }
    if body.is_empty() {
        body = "Content-Type: text/plain\n\nhello\n".to_owned();
    }
    if files.is_empty() {
        let (media, text) = body.split_once("\n\n").unwrap();
        headers.push_str(media);
        body = text.to_owned();
    } else {
        headers.push_str("Content-Type: multipart/mixed; boundary=b");
        body = format!("--b\n{body}{files}--b--\n");
    }
    if there {
        write_message(folder, &format!("{number}.eml"), &headers, &body);
    }
    there
}
