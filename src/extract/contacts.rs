//! vCard files, as rows of contacts. Properties without a column are listed as text.

use calcard::vcard::{VCard, VCardProperty, VCardValue};
use calcard::{Entry, Parser};
use serde_json::json;

use crate::{
    ContentBlock, OutputSink, ReadFailure, RowsOf, StopReason, TextBlock, TextPiece, plain,
};

/// Contacts on a page.
const CONTACTS: usize = 500;
/// Maximum entries of a file that are read to find contacts.
const ENTRIES: usize = 20_000;
/// Maximum bytes of a file.
const MAX_LEN: usize = 8 << 20;

/// Reads a vCard file.
pub fn read(bytes: &[u8], out: &mut OutputSink<'_>) -> Result<(), StopReason> {
    let text = plain::decoded(bytes, out);
    if text.len() > MAX_LEN {
        return Err(ReadFailure::TooMany.into());
    }
    let mut parser = Parser::new(&text);
    let mut cards = Vec::new();
    for _ in 0..ENTRIES {
        match parser.entry() {
            Entry::VCard(card) => cards.push(card),
            Entry::Eof => break,
            _ => {}
        }
    }
    if cards.is_empty() {
        return Err(ReadFailure::Broken.into());
    }
    let (cards, more, next) = out.page(cards, CONTACTS)?;
    let (mut objects, mut pieces) = (Vec::new(), Vec::new());
    for card in &cards {
        let emails = all(card, &VCardProperty::Email);
        let [phones, companies, roles] =
            [VCardProperty::Tel, VCardProperty::Org, VCardProperty::Title]
                .map(|property| all(card, &property));
        // The card of a company may have no name of its own.
        let name = name(card).or_else(|| companies.first().cloned());
        objects.push(json!({
            "name": name,
            "emails": emails,
            "company": companies.first(),
            "role": roles.first(),
            "phone": phones.first(),
        }));
        let more = phones.iter().skip(1).map(|phone| ("Phone", phone.clone()));
        let more: Vec<_> = more.chain(rest(card)).collect();
        if !more.is_empty() {
            let lines = more.iter().map(|(what, value)| format!("{what}: {value}\n"));
            let lines: String = lines.collect();
            pieces.push(TextPiece::Text(format!("{}\n{lines}", name.unwrap_or_default())));
        }
    }
    out.block(ContentBlock::Rows { table: RowsOf::Contact, objects, more, next })?;
    if !pieces.is_empty() {
        out.block(ContentBlock::Text(TextBlock { pieces, of: None }))?;
    }
    Ok(())
}

/// Returns the properties of a contact that have no column and are worth reading.
fn rest(card: &VCard) -> impl Iterator<Item = (&'static str, String)> {
    let named = [
        ("Address", VCardProperty::Adr),
        ("Birthday", VCardProperty::Bday),
        ("Link", VCardProperty::Url),
        ("Note", VCardProperty::Note),
    ];
    named.into_iter().flat_map(|(what, property)| {
        all(card, &property).into_iter().map(move |value| (what, value))
    })
}

/// Returns the formatted name (`FN`), or one composed of the parts of `N`.
fn name(card: &VCard) -> Option<String> {
    all(card, &VCardProperty::Fn).into_iter().next().or_else(|| {
        let entry = card.property(&VCardProperty::N)?;
        let part = |at: usize| entry.values.get(at).map(text).unwrap_or_default();
        // RFC 6350, 6.2.2: family, given, additional names, prefixes, suffixes.
        let parts = [part(3), part(1), part(2), part(0), part(4)];
        let parts: Vec<_> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        Some(parts.join(" ")).filter(|name| !name.is_empty())
    })
}

/// Returns all values of a property.
fn all(card: &VCard, property: &VCardProperty) -> Vec<String> {
    let values = card.properties(property).map(|entry| {
        let parts = entry.values.iter().map(text).filter(|part| !part.is_empty());
        parts.collect::<Vec<_>>().join(", ")
    });
    // vCard 4 allows URIs as values of `EMAIL` and `TEL`.
    let bare = |value: String| match value.split_once(':') {
        Some(("mailto" | "tel" | "MAILTO" | "TEL", rest)) => rest.to_owned(),
        _ => value,
    };
    values.map(bare).filter(|value| !value.is_empty()).collect()
}

fn text(value: &VCardValue) -> String {
    match value {
        VCardValue::Text(text) => text.trim().to_owned(),
        VCardValue::Component(parts) => parts.join(" ").trim().to_owned(),
        VCardValue::PartialDateTime(date) => {
            let parts =
                [date.year.map(u32::from), date.month.map(u32::from), date.day.map(u32::from)];
            let parts: Vec<_> =
                parts.into_iter().flatten().map(|part| format!("{part:02}")).collect();
            parts.join("-")
        }
        _ => String::new(),
    }
}
