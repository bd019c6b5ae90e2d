//! What comes along with a message where `$expand` names it: its attachments,
//! and extended properties.

use serde_json::{Value, json};

use super::attachments;
use crate::graph::error::{Refusal, bad_request};
use crate::graph::exchange::office::Notes;
use crate::graph::params::Options;

/// What extended properties of one value are called.
pub(super) const PROPERTIES: &str = "singleValueExtendedProperties";

/// What is to be given along.
#[derive(Debug, Default)]
pub(super) struct Expansion<'a> {
    /// The attachments, as far as they are wanted.
    pub attachments: Option<Options<'a>>,
    /// The ids of the extended properties.
    wanted: Option<Vec<&'a str>>,
}

/// Reads `attachments`, `attachments($select=…)` and
/// `singleValueExtendedProperties($filter=id eq '…')`, separated by commas.
pub(super) fn of(text: &str) -> Result<Expansion<'_>, Refusal> {
    let refused = || bad_request(format!("The $expand clause '{text}' is not supported."));
    let mut expansion = Expansion::default();
    for item in items(text) {
        let (name, inner) = match item.split_once('(') {
            Some((name, inner)) => (name, Some(inner.strip_suffix(')').ok_or_else(refused)?)),
            None => (item, None),
        };
        match name {
            "attachments" => {
                let mut options = Options::default();
                if let Some(inner) = inner {
                    let names = inner.trim().strip_prefix("$select=").ok_or_else(refused)?;
                    options.select = Some(names.split(',').map(str::trim).collect());
                    options.check_select(&attachments::PROPERTIES, "attachment")?;
                }
                expansion.attachments = Some(options);
            }
            PROPERTIES => {
                let filter = inner.and_then(|inner| inner.trim().strip_prefix("$filter="));
                let ids = filter.ok_or_else(refused)?.split(" or ").map(|part| {
                    let id = part.trim().strip_prefix("id eq '")?.strip_suffix('\'');
                    id.filter(|id| !id.contains('\''))
                });
                let ids: Option<Vec<&str>> = ids.collect();
                expansion.wanted = Some(ids.ok_or_else(refused)?);
            }
            _ => return Err(refused()),
        }
    }
    Ok(expansion)
}

impl Expansion<'_> {
    /// The extended properties that are wanted and there; nothing where there
    /// are none.
    pub fn properties(&self, notes: &Notes) -> Option<Value> {
        let wanted = self.wanted.as_ref()?;
        let is_wanted = |id: &str| wanted.iter().any(|it| it.eq_ignore_ascii_case(id));
        let found = notes.properties.iter().filter(|(id, _)| is_wanted(id));
        let found: Vec<Value> =
            found.map(|(id, value)| json!({ "id": id, "value": value })).collect();
        (!found.is_empty()).then(|| found.into())
    }
}

/// The items of a list whose commas may stand in brackets.
fn items(text: &str) -> Vec<&str> {
    let mut depth = 0usize;
    text.split(|sign: char| {
        match sign {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        sign == ',' && depth == 0
    })
    .map(str::trim)
    .collect()
}
