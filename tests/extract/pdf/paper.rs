//! PDF files, written as text.

use std::fmt::Write as _;

/// A PDF file to write: its objects, from number 1. Helvetica is `/F1`.
#[derive(Default)]
pub struct Paper {
    /// The content stream of each page.
    pub pages: Vec<String>,
    /// Entries of the catalog, of each page, and of the resources.
    pub catalog: &'static str,
    pub page: &'static str,
    pub resources: &'static str,
    /// Objects from number 10.
    pub objects: Vec<String>,
}

impl Paper {
    /// Returns a file of one page.
    pub fn of(content: &str) -> Self {
        Self { pages: vec![content.to_owned()], ..Self::default() }
    }

    /// Returns the bytes of the file.
    pub fn bytes(&self) -> Vec<u8> {
        let first = 10 + self.objects.len();
        let kids: Vec<String> =
            (0..self.pages.len()).map(|at| format!("{} 0 R", first + 2 * at)).collect();
        let mut objects = vec![
            (1, format!("<</Type/Catalog/Pages 2 0 R {}>>", self.catalog)),
            (2, format!("<</Type/Pages/Count {}/Kids[{}]>>", kids.len(), kids.join(" "))),
            (
                3,
                "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>"
                    .to_owned(),
            ),
        ];
        objects
            .extend(self.objects.iter().enumerate().map(|(at, object)| (10 + at, object.clone())));
        for (at, content) in self.pages.iter().enumerate() {
            let page = format!(
                "<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents {} 0 R\
                 /Resources<</Font<</F1 3 0 R>>{}>>{}>>",
                first + 2 * at + 1,
                self.resources,
                self.page,
            );
            objects.push((first + 2 * at, page));
            objects.push((first + 2 * at + 1, stream("", content)));
        }
        let mut out = "%PDF-1.7\n".to_owned();
        let mut table = String::from("0 1\n0000000000 65535 f \n");
        for (number, object) in &objects {
            writeln!(table, "{number} 1\n{:010} 00000 n ", out.len()).unwrap();
            write!(out, "{number} 0 obj\n{object}\nendobj\n").unwrap();
        }
        let (start, size) = (out.len(), first + 2 * self.pages.len());
        write!(out, "xref\n{table}trailer<</Size {size}/Root 1 0 R>>\nstartxref\n{start}\n%%EOF")
            .unwrap();
        out.into_bytes()
    }
}

/// Returns a stream object.
pub fn stream(entries: &str, content: &str) -> String {
    format!("<</Length {} {entries}>>stream\n{content}\nendstream", content.len())
}

/// Returns the operators that show a line at a position, 12 points high.
pub fn at(x: f64, y: f64, text: &str) -> String {
    format!("BT /F1 12 Tf {x} {y} Td ({text}) Tj ET\n")
}
