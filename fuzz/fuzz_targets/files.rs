//! Attached files of all kinds; the first byte chooses the name and the way in.
#![no_main]

use daysheet_extract::{Line, Request, extract};
use libfuzzer_sys::fuzz_target;

const NAMES: [&str; 12] = [
    "", "a.csv", "a.tsv", "a.html", "a.eml", "a.ics", "a.vcf", "a.txt", "a.xml", "a.xls", "a.zip",
    "a.pdf",
];

fuzz_target!(|data: &[u8]| {
    let Some((first, bytes)) = data.split_first() else { return };
    let name = NAMES[usize::from(first & 15) % NAMES.len()];
    let request = Request {
        name: name.to_owned(),
        media: String::new(),
        inside: vec![1; usize::from(first >> 6)],
        page: 1 + u32::from(first >> 4 & 1),
        sheet: (first & 32 > 0).then(|| "1".to_owned()),
        zone: "Europe/Berlin".to_owned(),
    };
    let mut lines = Vec::new();
    let written = extract(&request, bytes, &mut |line| {
        lines.push(line);
        Ok(())
    });
    assert!(written.is_ok(), "nothing fails but the output");
    assert!(matches!(lines.first(), Some(Line::Kind(_))), "the kind comes first");
    assert!(matches!(lines.last(), Some(Line::End(_))), "the end comes last");
});
