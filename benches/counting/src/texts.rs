//! The texts that are counted, the same in every run.

/// The names of the texts, and the texts.
pub fn all() -> Vec<(&'static str, String)> {
    vec![
        ("rows", rows(170)),
        ("prose", prose(32_000)),
        ("HTML", html(84_000)),
        ("200 kB of one letter", "a".repeat(200_000)),
    ]
}

const NAMES: &[&str] = &[
    "Mira Lindqvist",
    "Jonas Weber",
    "Ana María Ruiz",
    "佐藤 健",
    "Zoë O'Neill",
];

const WORDS: &[&str] = &[
    "invoice",
    "lamps",
    "Thursday",
    "delivery",
    "reminder",
    "Rechnung",
    "offer",
    "for",
    "the",
    "studio",
    "meeting",
    "moved",
    "to",
    "Zürich",
    "new",
    "prices",
    "über",
    "your",
    "order",
    "shipped",
    "confirmation",
    "draft",
    "contract",
    "signature",
    "needed",
    "by",
    "noon",
];

/// Numbers without a pattern, the same in every run (Knuth's MMIX generator).
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }

    fn words(&mut self, count: usize) -> String {
        let words: Vec<_> = (0..count).map(|_| WORDS[self.below(WORDS.len())]).collect();
        words.join(" ")
    }
}

/// A table as an answer has it.
fn rows(count: usize) -> String {
    let mut dice = Dice(1);
    let mut text = format!("messages[{count}\t]{{id\tdate\tfrom\tsubject\tsnippet\tflags}}:\n");
    for row in 0..count {
        let (day, hour, minute) = (1 + dice.below(28), dice.below(24), dice.below(60));
        let name = NAMES[dice.below(NAMES.len())];
        let (subject, snippet) = (dice.words(5), dice.words(14));
        text += &format!(
            "  g{row}\t2026-03-{day:02} {hour:02}:{minute:02}\t{name} <{}@example.com>\tRe: {subject}\t\"{snippet}…\"\tunread\n",
            dice.below(1000),
        );
    }
    text
}

/// The project's own pages.
fn prose(bytes: usize) -> String {
    let pages = concat!(
        include_str!("../../../docs/providers.md"),
        include_str!("../../../docs/setup-google.md"),
        include_str!("../../../docs/setup-microsoft.md"),
        include_str!("../../../docs/architecture.md"),
    );
    pages.chars().take(bytes).collect()
}

/// A newsletter with inline styles.
fn html(bytes: usize) -> String {
    let mut dice = Dice(2);
    let mut text = String::from("<!DOCTYPE html>\n<html><body style=\"margin:0\">\n");
    while text.len() < bytes {
        let (color, width) = (dice.below(0x100_0000), dice.below(600));
        let (title, line) = (dice.words(4), dice.words(12));
        text += &format!(
            "<tr><td width=\"{width}\" style=\"padding:0 12px;font-family:Arial,sans-serif;color:#{color:06x}\">\
             <a href=\"https://news.example.com/c/{:08x}?utm_source=mail&amp;id={}\"><b>{title}</b></a>\
             <br>&nbsp;{line}</td></tr>\n",
            dice.below(1 << 31),
            dice.below(100_000),
        );
    }
    text
}
