//! Scripts of letters, and letters that look like those of another script.

use icu_properties::CodePointMapData;
use icu_properties::props::Script;

/// True for a word whose letters are of scripts that are not written together.
pub(super) fn is_mixed(word: &str) -> bool {
    let scripts = CodePointMapData::<Script>::new();
    let mut found: Vec<Script> = Vec::new();
    for c in word.chars() {
        let script = scripts.get(c);
        let counts = script != Script::Common && script != Script::Inherited;
        if counts && !found.contains(&script) {
            found.push(script);
        }
    }
    // Unicode's highly restrictive profile (UTS 39): what East Asia writes with
    // Latin between.
    let together: [&[Script]; 3] = [
        &[Script::Latin, Script::Han, Script::Hiragana, Script::Katakana],
        &[Script::Latin, Script::Han, Script::Bopomofo],
        &[Script::Latin, Script::Han, Script::Hangul],
    ];
    found.len() > 1 && !together.iter().any(|set| found.iter().all(|one| set.contains(one)))
}

/// Letters of Cyrillic and Greek that look like one of Latin.
const LIKE: &[(char, char)] = &[
    ('а', 'a'),
    ('ԁ', 'd'),
    ('е', 'e'),
    ('һ', 'h'),
    ('і', 'i'),
    ('ј', 'j'),
    ('ӏ', 'l'),
    ('о', 'o'),
    ('р', 'p'),
    ('ԛ', 'q'),
    ('ѕ', 's'),
    ('с', 'c'),
    ('у', 'y'),
    ('ѵ', 'v'),
    ('ԝ', 'w'),
    ('х', 'x'),
    ('к', 'k'),
    ('м', 'm'),
    ('т', 't'),
    ('в', 'b'),
    ('г', 'r'),
    ('α', 'a'),
    ('ο', 'o'),
    ('ν', 'v'),
    ('ρ', 'p'),
    ('τ', 't'),
    ('υ', 'u'),
    ('κ', 'k'),
    ('ι', 'i'),
    ('χ', 'x'),
    ('γ', 'y'),
    ('ı', 'i'),
    ('ɡ', 'g'),
    ('ɑ', 'a'),
];

/// The letters of Cyrillic that are hardly told from Latin's at all.
const TWINS: &str = "аеһіјӏорԛѕсуԝхԁѵ";

/// A domain as it would be read in Latin, when one of its labels is all of
/// letters that look Latin.
pub(super) fn latin(domain: &str) -> Option<String> {
    let twin = |label: &str| {
        let letters = || label.chars().filter(|c| !c.is_ascii_digit() && *c != '-');
        letters().next().is_some() && letters().all(|c| TWINS.contains(c))
    };
    domain.split('.').any(twin).then(|| domain.chars().map(plain).collect())
}

fn plain(c: char) -> char {
    LIKE.iter().find(|(like, _)| *like == c).map_or(c, |(_, c)| *c)
}

/// What is left of a text when signs that look alike are taken for one.
pub(super) fn skeleton(text: &str) -> String {
    let one: String = text
        .to_lowercase()
        .chars()
        .map(plain)
        .map(|c| match c {
            '0' => 'o',
            '1' | 'i' | '|' => 'l',
            '5' => 's',
            c => c,
        })
        .collect();
    one.replace("rn", "m").replace("vv", "w").replace("cl", "d")
}
