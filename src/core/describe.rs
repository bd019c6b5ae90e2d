//! Descriptions of the registry: JSON Schemas, docs pages, and rows about itself.
//!
//! Everything is derived from `schemas/`, deterministically. Committed copies are kept up to date
//! by tests that rewrite them.

use serde_json::{Map, Value, json};

use crate::flatten::RowRoom;
use crate::schemas::{
    ATTACHMENT_TEXT, BODY, CellKind, ColumnLevel, ColumnReader, EVENT, Service, TABLES, Table,
    TableColumn, ValueSource, wire,
};

/// Returns the resource URI of a table's schema.
pub fn uri(table: &Table) -> String {
    format!("daysheet://schema/{}", table.name)
}

/// Returns the JSON Schema (2020-12) of one row of `table`, as in `format: json` and `stc`.
///
/// Every column is a property. The first column is in every row, the others if they were
/// requested.
pub fn json_schema(table: &Table) -> Value {
    let mut properties = Map::new();
    let settable = table.fields.iter().any(|field| field.settable);
    for (at, field) in table.fields.iter().enumerate() {
        properties.insert(field.name.to_owned(), property(field, at == 0, settable));
    }
    if has_provider_id(table) {
        properties.insert(
            "provider_id".to_owned(),
            json!({"type": "string", "description": "The provider's own id; only in JSON."}),
        );
    }
    if [BODY.name, ATTACHMENT_TEXT.name].contains(&table.name) {
        properties.insert(
            "text".to_owned(),
            json!({"type": "string", "description": "The text itself; only in JSON.", "x-untrusted": true}),
        );
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": uri(table),
        "title": table.name,
        "description": table.doc,
        "version": table.version,
        "type": "object",
        "properties": properties,
        "required": table.fields.first().map(|field| vec![field.name]),
    })
}

/// Returns true if the rows of `table` have provider ids.
fn has_provider_id(table: &Table) -> bool {
    table.fields.first().is_some_and(|key| matches!(key.kind, CellKind::Handle(_)))
}

/// The pattern of a day with its weekday.
const WEEKDAY: &str = "[A-Z][a-z]{2} [0-9]{4}-[0-9]{2}-[0-9]{2}";
/// The pattern of a time of day, with the offset in an hour that the clocks repeat.
const CLOCK: &str = "[0-9]{2}h[0-9]{2}( [+-][0-9]{4})?";

fn property(field: &TableColumn, is_key: bool, settable: bool) -> Value {
    let name = match field.kind {
        CellKind::Handle(_)
        | CellKind::Text
        | CellKind::Words
        | CellKind::Time
        | CellKind::Start
        | CellKind::End => "string",
        CellKind::Flag => "boolean",
        CellKind::Count => "integer",
    };
    let mut property = Map::new();
    // Only the key is never null.
    property.insert("type".to_owned(), if is_key { json!(name) } else { json!([name, "null"]) });
    match field.kind {
        CellKind::Handle(prefix) => {
            property.insert("pattern".to_owned(), json!(format!("^{prefix}[1-9][0-9]*$")));
        }
        CellKind::Time => {
            property.insert(
                "pattern".to_owned(),
                json!("^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}h[0-9]{2}$"),
            );
        }
        CellKind::Start => {
            // Only events have a time zone of their own.
            let beside = if field.table == EVENT.name { "( = [^=]+)?" } else { "" };
            let pattern = format!("^{WEEKDAY}( {CLOCK}{beside})?$");
            property.insert("pattern".to_owned(), json!(pattern));
        }
        CellKind::End => {
            property.insert(
                "pattern".to_owned(),
                json!(format!("^({CLOCK}|[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}|{WEEKDAY} {CLOCK})$")),
            );
        }
        _ => {}
    }
    if let Some(cap) = field.untrusted {
        // JSON always has all guests of an event, so their number is not limited.
        let guests = field.table == EVENT.name && matches!(field.name, "people" | "attendees");
        if !guests {
            property.insert("maxLength".to_owned(), json!(longest(cap)));
        }
        property.insert("x-untrusted".to_owned(), json!(true));
    }
    property.insert("description".to_owned(), json!(field.doc));
    // If some columns can be set, the others are marked as read-only.
    if settable {
        property.insert("readOnly".to_owned(), json!(!field.settable));
    }
    property.insert("x-level".to_owned(), json!(field.level.word()));
    let origins: Map<String, Value> = APIS
        .iter()
        .filter_map(|api| Some((api.name().to_owned(), json!(origin(field.source(*api), "")?))))
        .collect();
    property.insert("x-origin".to_owned(), Value::Object(origins));
    Value::Object(property)
}

/// Returns the maximum length of a capped text in characters. A row about one object has more
/// room than a row of a list, and a list in a cell may end with a count.
pub fn longest(cap: u16) -> usize {
    RowRoom::One.cap(cap) + " +99999".len()
}

const APIS: &[Service] = &[Service::Google, Service::Microsoft, Service::Local];

/// Describes the location of a source in words; `None` for an absent one.
fn origin(source: ValueSource, base: &str) -> Option<String> {
    let at = |path: &str| format!("{base}{path}");
    Some(match source {
        ValueSource::Absent => return None,
        ValueSource::Account => "the account".to_owned(),
        ValueSource::Added(words) => words.to_owned(),
        ValueSource::Path(path)
        | ValueSource::Converted(path, _)
        | ValueSource::EpochMs(path)
        | ValueSource::Rfc3339(path)
        | ValueSource::GoogleWhen(path)
        | ValueSource::GraphWhen(path)
        | ValueSource::Address(path)
        | ValueSource::Addresses(path)
        | ValueSource::Join(path) => at(path),
        ValueSource::Not(ValueSource::Has(path, word)) => format!("{word} not in {}", at(path)),
        ValueSource::Not(inner) => format!("not {}", origin(*inner, base)?),
        ValueSource::Is(path, word) => format!("{} = {word}", at(path)),
        ValueSource::Has(path, word) => format!("{word} in {}", at(path)),
        ValueSource::There(path) => format!("{} exists", at(path)),
        ValueSource::Until(_, end) => origin(*end, base)?,
        ValueSource::Header(name) | ValueSource::HeaderAddresses(name) => {
            format!("{base}header {name}")
        }
        ValueSource::Names(path) => format!("names of {}", at(path)),
        ValueSource::Flags(words) => conditions(words, base)?,
        ValueSource::First(words, otherwise) => {
            format!("first of: {}; else {otherwise}", conditions(words, base)?)
        }
        ValueSource::Either(sources) => {
            let each: Option<Vec<_>> = sources.iter().map(|one| origin(*one, base)).collect();
            each?.join(" or ")
        }
        ValueSource::Provided(condition, inner) => {
            format!("{} if {}", origin(*inner, base)?, origin(*condition, base)?)
        }
        ValueSource::Oldest(list, inner) => format!("oldest {}", member(list, *inner, base)?),
        ValueSource::Newest(list, inner) => format!("newest {}", member(list, *inner, base)?),
        ValueSource::Each(list, inner) => format!("each {}", member(list, *inner, base)?),
        ValueSource::Tally(list, inner) => format!("number of {}", member(list, *inner, base)?),
        ValueSource::Any(list, inner) => format!("any {}", member(list, *inner, base)?),
        ValueSource::Event(paths) => paths.join(", "),
        ValueSource::Column(column) => column_origin(column, base)?,
    })
}

/// Describes the location of a source in the elements of a list.
fn member(list: &str, inner: ValueSource, base: &str) -> Option<String> {
    origin(inner, &format!("{base}{list}/"))
}

/// Describes the location of a value that only one column has.
fn column_origin(column: ColumnReader, base: &str) -> Option<String> {
    let at = |path: &str| format!("{base}{path}");
    Some(match column {
        ColumnReader::Count(path) => format!("length of {}", at(path)),
        ColumnReader::From { sender, draft } => {
            let (sender, draft) = (origin(*sender, base)?, origin(*draft, base)?);
            format!("{sender} or the address of the account if {draft}")
        }
        ColumnReader::Snippet { text, .. } => origin(*text, base)?,
        ColumnReader::Link(path) => format!("the account and {}", at(path)),
        ColumnReader::Bulk(_, name, []) => format!("{base}header {name} exists"),
        ColumnReader::Bulk(_, name, words) => {
            format!("{base}header {name} = {}", words.join("|"))
        }
        ColumnReader::Unsubscribe(_) => {
            format!("{base}headers {}", wire::UNSUBSCRIBE.join(" and "))
        }
        ColumnReader::Auth(_) => format!("{base}header {}", wire::RESULTS),
        ColumnReader::Warn { .. } => {
            let (from, reply_to) = wire::SENDER;
            format!("{base}headers {from}, {reply_to} and {}", wire::RESULTS)
        }
    })
}

/// Describes words, each with the location of its condition.
fn conditions(words: &[(&str, ValueSource)], base: &str) -> Option<String> {
    let parts: Option<Vec<_>> = words
        .iter()
        .map(|(word, source)| Some(format!("{word}: {}", origin(*source, base)?)))
        .collect();
    Some(parts?.join(", "))
}

/// Returns a table as a row of the `schema` table.
pub fn summary(table: &Table) -> Value {
    let columns: Vec<_> = table
        .fields
        .iter()
        .map(|field| match field.level {
            ColumnLevel::More => format!("({})", field.name),
            _ => field.name.to_owned(),
        })
        .collect();
    json!({
        "name": table.name,
        "version": table.version,
        "columns": columns.join(" "),
        "doc": table.doc,
    })
}

/// Returns the page `docs/reference/tables.md`.
pub fn tables_page() -> String {
    let mut page = String::from(
        "# Tables\n\n\
         This page is generated from `schemas/`; a test rewrites it when it is stale.\n\n\
         `mail_search` shows the columns of level *key* with `detail: minimal`, *core* too by \
         default, and *more* too with `detail: full`; `fields` names columns one by one, and the \
         first column is always included. Text marked with a width is untrusted: it is cleaned and \
         cut there, ending in `…`; a double-width character counts two, and `mail_read` shows four \
         times the width. A missing text is empty (`\"\"`), and a value that is unknown or that a \
         provider does not have is null. Columns with a `*` are those that `manage` can set.\n",
    );
    for table in TABLES {
        page.push_str(&format!(
            "\n## {}\n\n{}\nKey of the rows in a document: `{}`. Version {}. Schema: `{}`.\n\n",
            table.name,
            table.doc,
            table.plural,
            table.version,
            uri(table)
        ));
        page.push_str("| column | level | type | meaning | origin |\n|---|---|---|---|---|\n");
        for field in table.fields {
            let kind = match (field.kind, field.untrusted) {
                (CellKind::Handle(prefix), _) => format!("handle `{prefix}…`"),
                (kind, Some(cap)) => format!("{}, {cap} wide", kind.word()),
                (kind, None) => kind.word().to_owned(),
            };
            let origins: Vec<_> = APIS
                .iter()
                .filter_map(|api| {
                    Some(format!("{}: {}", api.name(), origin(field.source(*api), "")?))
                })
                .collect();
            page.push_str(&format!(
                "| `{}`{} | {} | {kind} | {} | {} |\n",
                field.name,
                if field.settable { " *" } else { "" },
                field.level.word(),
                field.doc.replace('|', "\\|"),
                origins.join("<br>").replace('|', "\\|")
            ));
        }
    }
    page
}
