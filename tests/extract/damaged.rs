//! Files by other programs, damaged at random: reading ends, and always with the same result.

use std::io::{Cursor, Read};
use std::path::Path;

use zip::ZipArchive;

use crate::cases::shown;
use crate::office::zip;
use crate::request;

/// Pseudo-random numbers, the same in each run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) as usize % end.max(1)
    }
}

/// Returns a text with one damage: a missing part, a repeated part, or a huge number.
fn damaged(text: &str, numbers: &mut Numbers) -> String {
    let mut place = |end: usize| text.floor_char_boundary(numbers.below(end));
    let from = place(text.len());
    let to = (from + 1 + place(60)).min(text.len());
    let to = text.ceil_char_boundary(to);
    let digits = text[from..].find(|c: char| c.is_ascii_digit()).map(|at| from + at);
    match (from % 3, digits) {
        (0, _) => format!("{}{}", &text[..from], &text[to..]),
        (1, _) => format!("{}{}", &text[..to], &text[from..]),
        (_, Some(at)) => format!("{}4294967295{}", &text[..at], &text[at + 1..]),
        (_, None) => text[..from].to_owned(),
    }
}

#[test]
fn damaged_files_end_in_an_answer() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/extract/cases");
    let mut numbers = Numbers(118);
    for name in
        ["quote.docx", "prices.xlsx", "spring.pptx", "quote.odt", "prices.ods", "spring.odp"]
    {
        let bytes = std::fs::read(folder.join(name)).unwrap();
        let mut archive = ZipArchive::new(Cursor::new(bytes)).unwrap();
        let mut members: Vec<(String, String)> = Vec::new();
        for index in 0..archive.len() {
            let mut member = archive.by_index(index).unwrap();
            let mut text = String::new();
            let name = member.name().unwrap().into_owned();
            if member.read_to_string(&mut text).is_ok() {
                members.push((name, text));
            }
        }
        for _ in 0..40 {
            let chosen = numbers.below(members.len());
            let text = damaged(&members[chosen].1, &mut numbers);
            let files: Vec<(&str, &str)> = members
                .iter()
                .enumerate()
                .map(|(index, (name, own))| {
                    (name.as_str(), if index == chosen { &text } else { own })
                })
                .map(|(name, text)| (name, text.as_str()))
                .collect();
            let bytes = zip(&files);
            let request = request(name);
            assert_eq!(shown(&request, &bytes), shown(&request, &bytes), "{name}");
        }
    }
}
