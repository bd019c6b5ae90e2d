//! Finds texts that give orders to an assistant.
//!
//! A guess by words: what it finds is pointed out, or not shown where a line would do; it is
//! no protection by itself.

use super::cell;

/// Verbs of an order to an assistant to do something else, in lower case.
const VERBS: &[&str] = &["ignore", "disregard", "forget", "override"];
/// Words for the instructions that are meant, not those on a box of lamps.
const ORDERED: &[&str] = &["all", "your", "system"];
/// Such words that people use of each other's instructions, too: they count after a verb that
/// begins a sentence.
const EARLIER: &[&str] = &["any", "previous", "prior", "earlier", "above"];
/// Words for the instructions of the sender.
const OWN: &[&str] = &["my", "our"];
/// Words from the verb to the instructions.
const ORDER: usize = 6;

/// Returns true for a text that gives orders to an assistant.
pub fn gives_orders(text: &str) -> bool {
    let text = cell(text);
    // Nearly all texts have no such word at all.
    if !text.split(|c: char| !c.is_alphanumeric()).any(is_instruction) {
        return false;
    }
    // Each word, and whether it begins a sentence.
    let mut words: Vec<(String, bool)> = Vec::new();
    let mut begins = true;
    for part in text.split_inclusive(|c: char| !c.is_alphanumeric()) {
        let word = part.trim_end_matches(|c: char| !c.is_alphanumeric());
        if !word.is_empty() {
            words.push((word.to_lowercase(), begins || word.starts_with(char::is_uppercase)));
            begins = false;
        }
        begins |= part.ends_with(['.', '!', '?', ':', ';']);
    }
    let orders = |from: usize, begins: bool| {
        let next = words.get(from..).unwrap_or_default().iter().map(|(word, _)| word.as_str());
        let next = next.take(ORDER);
        let before = next.clone().take_while(|word| !is_instruction(word));
        let has = |list: &[&str]| before.clone().any(|word| list.contains(&word));
        next.clone().any(is_instruction) && (has(ORDERED) || begins && has(EARLIER) && !has(OWN))
    };
    let mut verbs = words.iter().enumerate().filter(|(_, (word, _))| VERBS.contains(&&**word));
    verbs.any(|(at, (_, begins))| orders(at + 1, *begins))
}

fn is_instruction(word: &str) -> bool {
    ["instruction", "instructions", "prompt", "prompts"]
        .iter()
        .any(|one| word.eq_ignore_ascii_case(one))
}
