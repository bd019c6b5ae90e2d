//! Notes for a shortened answer: the parts shown, the way to the rest, and the contents of the
//! other chunks.

use std::collections::HashSet;
use std::fmt;

use super::pieces::{AnswerPieces, ChosenRenderings, ShortenedCounts};
use crate::budget::response::WholeAnswer;
use crate::encode::Document;
use crate::row::{RowCell, RowTable};
use crate::schemas::CellKind;
use crate::text::{Note, NoteKey, counted, note, ours, quoted};

/// The maximum number of characters of the response's own notes in a shortened answer. Notes
/// after the rows are also limited to one character per four tokens of the budget, about a
/// sixteenth of it, because rows matter more.
const OWN: usize = 1_600;
/// The maximum number of sender names in the summary of a chunk.
const NAMES: usize = 3;
/// The maximum number of characters of such a name.
const NAME: usize = 24;

/// The limit that caused an answer to be shortened, as shown in the notes.
#[derive(Debug, Clone, Copy)]
pub(super) struct AnswerLimit {
    /// The requested budget, in tokens.
    pub(super) budget: usize,
    /// The maximum number of bytes, if that limit is reached before the budget.
    pub(super) ceiling: Option<usize>,
}

impl fmt::Display for AnswerLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.ceiling {
            Some(bytes) => write!(f, "{bytes} bytes, which no budget raises"),
            None => write!(f, "budget={}", self.budget),
        }
    }
}

/// The facts that the notes report.
pub(super) struct NoteContext<'a> {
    pub(super) limit: AnswerLimit,
    /// The number of the chunk, and of all chunks.
    pub(super) chunk: (usize, usize),
    pub(super) shortened: ShortenedCounts,
    /// The numbers of cut cells by column.
    pub(super) cuts: &'a [(&'static str, usize)],
    /// The id of the whole output.
    pub(super) id: &'a str,
}

/// Returns the note on cut cells, by column.
pub(super) fn cut_note(cuts: &[(&'static str, usize)], id: &str) -> Note {
    note!("{}; whole: output_read id={}", ours(cut_cells(cuts)), ours(id)).with_key(NoteKey::Cut)
}

fn cut_cells(cuts: &[(&'static str, usize)]) -> String {
    let columns: Vec<String> =
        cuts.iter().map(|(column, count)| format!("{column} in {count}")).collect();
    format!("cut cells: {}", columns.join(", "))
}

/// Separates the notes that are written before the rows, as one value per key, from the others.
/// In an answer without a document all notes follow the text.
pub(super) fn split(
    response: &WholeAnswer,
    notes: Vec<Note>,
) -> (Vec<(&'static str, RowCell)>, Vec<Note>) {
    let (first, others): (Vec<Note>, Vec<Note>) =
        notes.into_iter().partition(|note| note.key().is_some());
    let values = NoteKey::ALL.into_iter().filter_map(|key| {
        let own = first.iter().filter(|note| note.key() == Some(key));
        let own: Vec<&str> = own.map(|note| &**note).collect();
        (!own.is_empty()).then(|| (key.name(), own.join("; ")))
    });
    if response.document == Document::default() {
        let line = |note: &Note| note.key().map(|key| note.under(key.name()));
        return (Vec::new(), first.iter().filter_map(line).chain(others).collect());
    }
    (values.map(|(name, text)| (name, RowCell::Text(text))).collect(), others)
}

/// Returns the block of notes; `None` if the list is empty.
pub(super) fn block(notes: &[Note]) -> Option<String> {
    (!notes.is_empty()).then(|| notes.join("\n"))
}

/// Returns the response's notes that fit next to a shortened answer: the counts, the notes before
/// the rows, the others. Notes about rows that are not shown are left out.
fn own(response: &WholeAnswer, budget: usize, is_shown: impl Fn(&Note) -> bool) -> Vec<Note> {
    let (first, others): (Vec<&Note>, Vec<&Note>) =
        response.notes.iter().filter(|note| is_shown(note)).partition(|note| note.key().is_some());
    let mut others = others.into_iter();
    let mut chars = 0;
    let mut notes: Vec<Note> = Vec::new();
    let mut dropped: Vec<&Note> = Vec::new();
    for note in others.next().into_iter().chain(first).chain(others) {
        let length = note.chars().count();
        let most = if note.key().is_some() { OWN } else { OWN.min(budget / 4) };
        // The first note has the counts, which every answer must show whatever their length.
        if notes.is_empty() || chars + length <= most {
            chars += length;
            notes.push(note.clone());
        } else {
            dropped.push(note);
        }
    }
    if !dropped.is_empty() {
        let more = counted(dropped.len(), "more note is", "more notes are");
        let more = note!("{} in the whole answer", more);
        // Dropped warnings must not go unnoticed, so their count is shown before the rows.
        let is_first = dropped.iter().any(|note| note.key().is_some());
        notes.push(if is_first { more.with_key(NoteKey::Cut) } else { more });
    }
    notes
}

/// Returns the notes repeated in every later chunk: the counts, and notes about rows that the
/// chunk shows.
fn repeated(response: &WholeAnswer, is_shown: impl Fn(&Note) -> bool) -> Vec<Note> {
    let counts = response.notes.iter().find(|note| note.key().is_none());
    let about = response.notes.iter().filter(|note| note.row().is_some() && is_shown(note));
    counts.into_iter().chain(about).cloned().collect()
}

/// Returns the names (first cells) of the rows that a chunk shows.
fn shown_rows(
    response: &WholeAnswer,
    pieces: &AnswerPieces,
    chosen: &ChosenRenderings,
) -> HashSet<String> {
    let items = pieces.items.iter().enumerate();
    let shown = items.filter(|(at, _)| pieces.look(chosen, *at).is_some());
    let rows = shown.flat_map(|(_, item)| &item.rows);
    let name =
        |(table, row): &(usize, usize)| Some(response.document.tables.get(*table)?.row_name(*row));
    rows.filter_map(name).collect()
}

/// Returns the notes of one chunk.
pub(super) fn notes(
    response: &WholeAnswer,
    pieces: &AnswerPieces,
    chosen: &ChosenRenderings,
    context: &NoteContext<'_>,
) -> Vec<Note> {
    let ShortenedCounts { shown, of, lowered, windows, .. } = context.shortened;
    let (chunk, count) = context.chunk;
    let rows = shown_rows(response, pieces, chosen);
    let is_shown = |note: &Note| note.row().is_none_or(|row| rows.contains(row));
    let mut notes = if chunk == 1 {
        own(response, context.limit.budget, is_shown)
    } else {
        repeated(response, is_shown)
    };
    notes.extend(response.legend.note(|row| rows.contains(row)));
    let mut parts = Vec::new();
    if count > 1 {
        let items: Vec<usize> =
            (0..chosen.len()).filter(|at| pieces.look(chosen, *at).is_some()).collect();
        parts.push(format!("chunk {chunk} of {count}: {} of {of}", ranges(&items)));
    } else if shown < of {
        parts.push(format!("{shown} of {of}"));
    }
    if lowered > 0 {
        parts.push(format!("{lowered} with fewer columns"));
    }
    if windows > 0 {
        parts.push(counted(windows, "text cut", "texts cut").to_string());
    }
    // All rows and texts fit, so only notes were too long.
    if parts.is_empty() {
        parts.push("notes cut".to_owned());
    }
    let mut cut = format!("to fit {}: {}", context.limit, parts.join(", "));
    // These counts are for the whole answer, so they are shown once.
    if chunk == 1 && !context.cuts.is_empty() {
        cut.push_str("; ");
        cut.push_str(&cut_cells(context.cuts));
    }
    let cut = note!("{}; whole: output_read id={}", ours(cut), ours(&context.id));
    notes.push(cut.with_key(NoteKey::Cut));
    if chunk == 1 {
        notes.extend(shown_of_tables(response, pieces, chosen));
    }
    notes
}

/// Returns notes as long as any chunk's, to reserve tokens before its rows are known. The actual
/// notes are counted after the chunk is written.
pub(super) fn likely(
    response: &WholeAnswer,
    pieces: &AnswerPieces,
    cuts: &[(&'static str, usize)],
    limit: AnswerLimit,
    first: bool,
) -> Vec<Note> {
    let of = pieces.items.len();
    let context = NoteContext {
        limit,
        chunk: (if first { 1 } else { of.max(2) }, of.max(2)),
        shortened: ShortenedCounts {
            shown: of,
            of,
            lowered: of.max(1),
            windows: response.texts.len(),
            ..ShortenedCounts::default()
        },
        cuts,
        id: &pieces.id,
    };
    notes(response, pieces, &vec![None; of], &context)
}

/// Returns notes on the shown part of each table that has a call of its own. Tables without a row
/// in this chunk share one line without their calls, because later chunks have their rows.
fn shown_of_tables(
    response: &WholeAnswer,
    pieces: &AnswerPieces,
    chosen: &ChosenRenderings,
) -> Vec<Note> {
    let (mut full, mut dropped, mut notes) = (Vec::new(), Vec::new(), Vec::new());
    for (table, call) in &response.calls {
        let Some(rows) = response.document.tables.get(*table) else {
            continue;
        };
        let (name, of) = (rows.name(), rows.len());
        match shown_of(*table, pieces, chosen) {
            (shown, 0) if shown == of => full.push(name.into_owned()),
            (0, _) => dropped.push(format!("{name} {of}")),
            (shown, lowered) => {
                let fewer = match lowered {
                    0 => String::new(),
                    lowered => format!(", {lowered} with fewer columns"),
                };
                let (fewer, call) = (ours(fewer), ours(call));
                notes.push(note!(
                    "{}: shortened, {} of {}{}; all: {}",
                    ours(name),
                    shown,
                    of,
                    fewer,
                    call
                ));
            }
        }
    }
    let joined = |parts: Vec<String>| (!parts.is_empty()).then(|| ours(parts.join(", ")));
    let full = joined(full).map(|names| note!("full: {}", names));
    let dropped = joined(dropped).map(|names| note!("dropped here: {}", names));
    full.into_iter().chain(notes).chain(dropped).collect()
}

/// Returns the number of rows of a table that are shown, and how many of these have fewer
/// columns.
fn shown_of(table: usize, pieces: &AnswerPieces, chosen: &ChosenRenderings) -> (usize, usize) {
    let (mut shown, mut lowered) = (0, 0);
    for (at, item) in pieces.items.iter().enumerate() {
        let own = item.rows.iter().filter(|(own, _)| *own == table).count();
        if let Some(look) = pieces.look(chosen, at) {
            let most = pieces.looks.get(at).into_iter().flatten();
            let most = most.map(|look| look.level).max();
            shown += own;
            lowered += if Some(look.level) < most { own } else { 0 };
        }
    }
    (shown, lowered)
}

/// Adds a line for each chunk but the first, as many as `fits` accepts. The last line covers the
/// remaining chunks.
pub(super) fn index(
    response: &WholeAnswer,
    pieces: &AnswerPieces,
    chunks: &[Vec<usize>],
    notes: &mut Vec<Note>,
    fits: impl Fn(&str) -> bool,
) {
    let line = |number: usize, items: &[usize]| {
        let mut line = format!("chunk={}: {}", number + 1, ranges(items));
        for part in summary(response, pieces, items) {
            line.push_str(", ");
            line.push_str(&part);
        }
        note!("{}", ours(line))
    };
    let rest = |from: usize| -> Option<Note> {
        let items: Vec<usize> = chunks.get(from..)?.iter().flatten().copied().collect();
        let (first, last) = (from + 1, chunks.len());
        match chunks.len() - from {
            0 => None,
            1 => Some(note!("chunk={}: {}", first, ours(span(&items)))),
            _ => Some(note!("chunk={} to {}: {}", first, last, ours(span(&items)))),
        }
    };
    let base = notes.clone();
    // The shortest form is added without a check: its tokens were reserved.
    let mut best = base.clone();
    best.extend(rest(1));
    for lines in 0..chunks.len() {
        let mut tried = base.clone();
        let own = chunks.iter().enumerate().skip(1).take(lines);
        tried.extend(own.map(|(number, items)| line(number, items)));
        tried.extend(rest(lines + 1));
        if !fits(&tried.join("\n")) {
            break;
        }
        best = tried;
    }
    *notes = best;
}

/// Formats positions as ranges counted from 1: `1-20, 23`.
fn ranges(items: &[usize]) -> String {
    let mut sorted = items.to_vec();
    sorted.sort_unstable();
    let runs = sorted.chunk_by(|one, other| one + 1 == *other);
    let parts: Vec<String> = runs
        .filter_map(|run| match (run.first()?, run.last()?) {
            (one, other) if one == other => Some((one + 1).to_string()),
            (first, last) => Some(format!("{}-{}", first + 1, last + 1)),
        })
        .collect();
    match parts.len() {
        // Chunks filled by value can have scattered positions. A long list of ranges would
        // cost more tokens than it is worth.
        0..=4 => parts.join(", "),
        _ => format!("{} places within {}", items.len(), span(items)),
    }
}

/// Formats the first and last position.
fn span(items: &[usize]) -> String {
    match (items.iter().min(), items.iter().max()) {
        (Some(first), Some(last)) => format!("{}-{}", first + 1, last + 1),
        _ => String::new(),
    }
}

/// Summarizes items: the first and last day, the number of unread messages, the senders. Items
/// without any of these are summarized by the first and last name.
fn summary(response: &WholeAnswer, pieces: &AnswerPieces, items: &[usize]) -> Vec<String> {
    let rows: Vec<(&RowTable, usize)> = items
        .iter()
        .filter_map(|at| {
            let (table, row) = pieces.items.get(*at)?.rows.first()?;
            Some((response.document.tables.get(*table)?, *row))
        })
        .collect();
    let mut parts = Vec::new();
    let days: Vec<&str> = rows.iter().filter_map(|(table, row)| day(table, *row)).collect();
    if let (Some(first), Some(last)) = (days.iter().min(), days.iter().max()) {
        parts.push(if first == last { (*first).to_owned() } else { format!("{first} to {last}") });
    }
    let unread = rows.iter().filter(|(table, row)| {
        let flags = text(table, *row, "flags").unwrap_or_default();
        flags.split(' ').any(|flag| flag == "unread")
    });
    match unread.count() {
        0 => {}
        count => parts.push(format!("{count} unread")),
    }
    let mut names: Vec<String> = Vec::new();
    for (table, row) in &rows {
        let name = text(table, *row, "from").unwrap_or_default();
        let name = short(name.split(" <").next().unwrap_or(name).trim_matches('"').trim());
        // Two characters are the quotes around an empty name.
        if name.len() > 2 && !names.contains(&name) {
            names.push(name);
        }
    }
    if !names.is_empty() {
        let shown: Vec<&str> = names.iter().take(NAMES).map(String::as_str).collect();
        let mut line = format!("from {}", shown.join(", "));
        if names.len() > NAMES {
            line.push_str(&format!(" +{}", names.len() - NAMES));
        }
        parts.push(line);
    }
    // Folders, contacts and the like have neither times nor senders.
    if parts.is_empty() {
        let mut names = rows.iter().filter_map(|(table, row)| text(table, *row, "name"));
        if let Some(first) = names.next() {
            let last = names.next_back().map(|last| format!(" to {}", short(last)));
            parts.push(format!("{}{}", short(first), last.unwrap_or_default()));
        }
    }
    parts
}

/// Shortens an untrusted name.
fn short(name: &str) -> String {
    quoted(&name.chars().take(NAME).collect::<String>()).to_string()
}

fn text<'a>(table: &'a RowTable, row: usize, column: &str) -> Option<&'a str> {
    match table.cell(row, column)? {
        RowCell::Text(text) => Some(text),
        _ => None,
    }
}

/// Returns the day of a row's first time.
fn day(table: &RowTable, row: usize) -> Option<&str> {
    let (cells, _) = table.row(row)?;
    let timed = |kind: CellKind| matches!(kind, CellKind::Time | CellKind::Start);
    let mut times = table.columns().iter().zip(cells);
    let (_, cell) = times.find(|(field, _)| timed(field.kind))?;
    let RowCell::Text(text) = cell else {
        return None;
    };
    // The date may follow a weekday.
    text.split(' ').find(|word| word.len() == 10 && word.contains('-'))
}
