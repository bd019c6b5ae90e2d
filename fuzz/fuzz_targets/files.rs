//! Attached files of all kinds; the first byte chooses the name and the way in.
#![no_main]

use std::io::{Cursor, Write};

use daysheet_extract::{AnswerLine, ExtractRequest, extract};
use libfuzzer_sys::fuzz_target;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

const NAMES: [&str; 12] = [
    "", "a.csv", "a.tsv", "a.html", "a.eml", "a.ics", "a.vcf", "a.txt", "a.xml", "a.xls", "a.zip",
    "a.pdf",
];

/// Ends a name and the contents of a packed file: no text has this byte.
const END: u8 = 0xff;

/// Packs alternating names and contents into an archive, because a fuzzer does not find valid
/// checksums.
fn packed(bytes: &[u8]) -> Vec<u8> {
    let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    let mut parts = bytes.split(|byte| *byte == END);
    while let (Some(name), Some(contents)) = (parts.next(), parts.next()) {
        if archive.start_file(String::from_utf8_lossy(name), stored).is_ok() {
            archive.write_all(contents).expect("memory is written to");
        }
    }
    archive.finish().expect("memory is written to").into_inner()
}

fuzz_target!(|data: &[u8]| {
    let Some((first, bytes)) = data.split_first() else { return };
    let (name, bytes) = match NAMES.get(usize::from(first & 15)) {
        Some(name) => (*name, bytes.to_vec()),
        None => ("", packed(bytes)),
    };
    let request = ExtractRequest {
        name: name.to_owned(),
        media: String::new(),
        inside: vec![1; usize::from(first >> 6)],
        page: 1 + u32::from(first >> 4 & 1),
        sheet: (first & 32 > 0).then(|| "1".to_owned()),
        zone: "Europe/Berlin".to_owned(),
    };
    let mut lines = Vec::new();
    let written = extract(&request, &bytes, &mut |line| {
        lines.push(line);
        Ok(())
    });
    assert!(written.is_ok(), "nothing fails but the output");
    assert!(matches!(lines.first(), Some(AnswerLine::Kind(_))), "the kind comes first");
    assert!(matches!(lines.last(), Some(AnswerLine::End(_))), "the end comes last");
});
