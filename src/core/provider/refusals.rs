//! The refusals of providers that a person can resolve, and their signs.
//!
//! The table (`refusals/table.rs`) serves sign-ins, refreshes, calls of the adapters, the doctor and
//! `docs/guide/troubleshooting.md`. This module compares answers with the table. Its callers read the answers,
//! and complete the next steps.

mod row;
mod table;

pub use self::row::{KnownRefusal, RefusalMeaning, RefusalStage};
pub use self::table::REFUSALS;

/// The parts of an answer that show which refusal it is.
#[derive(Debug, Clone, Copy)]
pub struct RefusalSigns<'a> {
    /// The provider's name.
    pub provider: &'a str,
    /// The request that was refused: [`RefusalStage::SignIn`], [`RefusalStage::Refresh`] or
    /// [`RefusalStage::Call`].
    pub stage: RefusalStage,
    /// Microsoft's number.
    pub number: Option<u32>,
    /// The codes, the most exact first; empty ones are ignored.
    pub words: [&'a str; 2],
    /// The description, or the result of [`known_phrase`] for it.
    pub description: &'a str,
}

/// Returns the refusal with these signs, if it is known: by its number, or by a code.
pub fn known_refusal(signs: &RefusalSigns<'_>) -> Option<&'static KnownRefusal> {
    let here: Vec<&KnownRefusal> = REFUSALS.iter().filter(|row| row.is_at(signs)).collect();
    if let Some(number) = signs.number
        && let Some(row) = here.iter().find(|row| row.numbers.contains(&number))
    {
        return Some(row);
    }
    let description = signs.description.to_lowercase();
    let mut words = signs.words.iter().filter(|word| !word.is_empty());
    words.find_map(|word| {
        let worded = here.iter().filter(|row| {
            let is_named = row.words.iter().any(|known| known.eq_ignore_ascii_case(word));
            // With a number, `invalid_grant` means other problems than a used code.
            is_named && (signs.number.is_none() || row.stage != RefusalStage::SignIn)
        });
        let described =
            |row: &&&KnownRefusal| row.phrases.iter().any(|phrase| description.contains(phrase));
        let plain = |row: &&&KnownRefusal| row.phrases.is_empty();
        let found = worded.clone().find(described).or_else(|| worded.clone().find(plain));
        found.copied()
    })
}

/// Returns the part of a description that distinguishes a refusal from others; empty without one.
/// The rest may repeat a request or name people.
pub fn known_phrase(description: &str) -> &'static str {
    let description = description.to_lowercase();
    let mut phrases = REFUSALS.iter().flat_map(|row| row.phrases.iter());
    phrases.find(|phrase| description.contains(**phrase)).copied().unwrap_or_default()
}

impl KnownRefusal {
    /// Returns true if the refusal is one of this provider, at this stage.
    fn is_at(&self, signs: &RefusalSigns<'_>) -> bool {
        let of_tokens = matches!(signs.stage, RefusalStage::SignIn | RefusalStage::Refresh);
        (self.provider.is_empty() || self.provider == signs.provider)
            && (self.stage == signs.stage || (self.stage == RefusalStage::Tokens && of_tokens))
    }
}
