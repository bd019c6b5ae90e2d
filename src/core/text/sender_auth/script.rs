//! Scripts of letters, and letters that look like letters of another script, by Unicode's tables
//! (UTS 39).

use unicode_script::{Script, UnicodeScript};
use unicode_security::confusable_detection::skeleton as prototypes;
use unicode_security::mixed_script::AugmentedScriptSet;

/// Returns true for a word with letters of scripts that are not written together. East Asian
/// scripts mixed with Latin are allowed (the highly restrictive profile).
pub(crate) fn is_mixed(word: &str) -> bool {
    let mut latin = false;
    let mut others = AugmentedScriptSet::default();
    for c in word.chars() {
        match c.script() {
            Script::Common | Script::Inherited => {}
            Script::Latin => latin = true,
            _ => others.intersect_with(c.into()),
        }
    }
    if latin { !(others.hanb || others.jpan || others.kore) } else { others.is_empty() }
}

/// Cyrillic letters that look almost like Latin ones. Unicode has more, which honest words contain.
const TWINS: &str = "аеһіјӏорԛѕсуԝхԁѵ";

/// Returns a domain as it would be read in Latin, if one of its labels consists of letters that
/// look Latin.
pub(crate) fn latin(domain: &str) -> Option<String> {
    let twin = |label: &str| {
        let chars = || label.chars().filter(|c| !c.is_ascii_digit() && *c != '-');
        chars().next().is_some() && chars().all(|c| TWINS.contains(c))
    };
    domain.split('.').any(twin).then(|| in_latin(domain))
}

/// Replaces the letters of a domain that look Latin by Latin ones.
pub(crate) fn in_latin(domain: &str) -> String {
    let plain = |c: char| {
        if TWINS.contains(c) { prototypes(&c.to_string()).collect() } else { String::from(c) }
    };
    domain.chars().map(plain).collect()
}

/// Replaces characters that look alike by one of them, so that similar texts become equal.
pub(super) fn skeleton(text: &str) -> String {
    let one: String = prototypes(&text.to_lowercase())
        .flat_map(char::to_lowercase)
        .map(|c| match c {
            // Similar enough to deceive, but different in Unicode's tables.
            'i' => 'l',
            '5' => 's',
            'ʙ' => 'b',
            'ĸ' => 'k',
            'ᴛ' => 't',
            'χ' => 'x',
            c => c,
        })
        .collect();
    one.replace('ʍ', "rn").replace("vv", "w").replace("cl", "d")
}
