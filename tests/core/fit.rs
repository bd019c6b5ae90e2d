//! Fitting of answers: the rows shown, the notes, and the invariants for any answer and any budget.

use std::collections::BTreeSet;

use daysheet_core::budget::count::Tokenizer;
use daysheet_core::budget::fit::{
    CEILING, FitOptions, FittedAnswer, ShortenedCounts, WholeBlocks, fit,
};
use daysheet_core::budget::plan::PlacementTier;
use daysheet_core::budget::value::ValueStrategy as Worth;
use daysheet_core::budget::{AnswerItem, LongText, RowLegend, WholeAnswer};
use daysheet_core::encode::{Delimiter, Document, Format};
use daysheet_core::error::{Error, ErrorKind};
use daysheet_core::row::{RowCell, RowExtra, RowTable};
use daysheet_core::schemas::{BODY, ColumnLevel, FOLDER, MESSAGE};
use daysheet_core::text::{Note, NoteKey, ours};
use proptest::prelude::*;

use crate::common::thorough::thorough;
use crate::encode::matching;

const SECRET: [u8; 32] = [7; 32];

/// Returns a note with a text that is built at run time.
fn text_note(text: String) -> Note {
    Note::from("noted").under(ours(text))
}

/// Adds a message's row whose texts consist of `word` and its number.
fn message(rows: &mut RowTable, number: u64, word: &str) {
    let cells = rows.columns().iter().map(|field| match field.name {
        "id" => RowCell::Handle('m', number),
        "date" => RowCell::Text(format!("2026-02-{:02} 18h05", 1 + number % 28)),
        "thread" => RowCell::Handle('t', number),
        "size" => RowCell::Count(i64::try_from(number).unwrap() * 1000),
        "has_attachments" => RowCell::Flag(false),
        "flags" => RowCell::Text(["", "unread"][number as usize % 2].to_owned()),
        "from" => RowCell::Text(format!("{word} Lee <{word}{number}@example.com>")),
        name => RowCell::Text(format!("{name} {number} {word}")),
    });
    rows.push(cells.collect(), RowExtra::default());
}

fn messages(count: u64, level: ColumnLevel) -> WholeAnswer {
    let mut rows = RowTable::new(&MESSAGE, MESSAGE.up_to(level));
    for number in 1..=count {
        message(&mut rows, number, ["Ann", "Bo", "Cy"][number as usize % 3]);
    }
    WholeAnswer {
        document: Document {
            scalars: vec![("zone", RowCell::Text("Europe/Berlin".to_owned()))],
            tables: vec![rows],
        },
        notes: vec![
            Note::from("newest first").under(ours(format!("messages: {count} of {count}"))),
        ],
        ..WholeAnswer::default()
    }
}

fn options(budget: usize, chunk: usize) -> FitOptions<'static> {
    FitOptions {
        format: Format::Toon(Delimiter::Tab),
        tokenizer: Tokenizer::O200k,
        budget,
        ceiling: CEILING,
        room: budget,
        stated_budget: budget,
        chunk,
        chunks: true,
        strategy: Worth::ElementCount,
        secret: &SECRET,
    }
}

fn fitted(response: &WholeAnswer, options: &FitOptions<'_>) -> Result<FittedAnswer, Error> {
    fit(response, options, |_| "k3f9x2abcd".to_owned())
}

/// Returns the ids of a document's rows.
fn ids(block: &str) -> Vec<String> {
    block
        .lines()
        .filter_map(|line| line.strip_prefix("  "))
        .map(|line| line.split('\t').next().unwrap().to_owned())
        .collect()
}

/// Returns all chunks of a response.
fn chunks(response: &WholeAnswer, options: &FitOptions<'_>) -> Result<Vec<FittedAnswer>, Error> {
    let first = fitted(response, &FitOptions { chunk: 1, ..*options })?;
    let count = first.chunk.1;
    let mut all = vec![first];
    for chunk in 2..=count {
        all.push(fitted(response, &FitOptions { chunk, ..*options })?);
    }
    Ok(all)
}

#[test]
fn response_within_budget_is_unchanged() {
    let response = messages(3, ColumnLevel::Core);
    let fitted = fitted(&response, &options(8_000, 1)).unwrap();
    assert_eq!(fitted.shortened, None);
    assert_eq!(fitted.chunk, (1, 1));
    assert_eq!(
        fitted.blocks,
        [
            Format::Toon(Delimiter::Tab).encode(&response.document),
            "messages: 3 of 3: newest first".to_owned()
        ]
    );
}

#[test]
fn columns_are_dropped_before_rows() {
    let response = messages(30, ColumnLevel::Core);
    let whole = fitted(&response, &options(8_000, 1)).unwrap().tokens;
    let less = fitted(&response, &options(whole - 20, 1)).unwrap();
    let shortened = less.shortened.unwrap();
    assert_eq!((shortened.shown, shortened.of), (30, 30));
    assert!(shortened.lowered > 0 && shortened.lowered < 30, "{shortened:?}");
    // The most complete rows are the first ones, and their table keeps the name.
    let names: Vec<&str> = less.blocks[0]
        .lines()
        .filter(|line| line.contains('['))
        .map(|line| line.split('[').next().unwrap())
        .collect();
    assert_eq!(names, ["messages", "messages_minimal"]);
    let ids = ids(&less.blocks[0]);
    let expected: Vec<String> = (1..=30).map(|number| format!("m{number}")).collect();
    assert_eq!(ids, expected);
}

#[test]
fn impossible_budget_error_names_a_sufficient_one() {
    for (response, budget) in
        [(messages(3, ColumnLevel::Core), 100), (messages(60, ColumnLevel::More), 110)]
    {
        let error = fitted(&response, &options(budget, 1)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::BudgetTooSmall);
        let text = error.to_string();
        let needed: usize = text
            .strip_prefix("budget_too_small needed=")
            .and_then(|rest| rest.split(':').next())
            .and_then(|number| number.parse().ok())
            .unwrap();
        let then = fitted(&response, &options(needed, 1)).unwrap();
        assert!(then.tokens <= needed, "{text}");
    }
}

/// A tool without chunks shows the rows that fit, and names the full output.
#[test]
fn output_holds_what_unchunked_answers_omit() {
    let response = messages(60, ColumnLevel::Core);
    let options = FitOptions { chunks: false, ..options(400, 1) };
    let fitted = fitted(&response, &options).unwrap();
    let ShortenedCounts { shown, lowered, .. } = fitted.shortened.unwrap();
    assert_eq!(fitted.chunk, (1, 1));
    let cut = format!(
        "cut: \"to fit budget=400: {shown} of 60, {lowered} with fewer columns; whole: output_read \
         id=k3f9x2abcd\"\n"
    );
    assert!(fitted.blocks[0].contains(&cut), "{}", fitted.blocks[0]);
    assert_eq!(fitted.blocks[1], "messages: 60 of 60: newest first");
}

/// A warning is in the chunk that shows its message, and before the message's rows.
#[test]
fn warnings_go_with_their_rows() {
    let mut response = messages(60, ColumnLevel::Core);
    let warned = ["m3", "m31", "m60"];
    for row in warned {
        let warning = text_note(format!("{row}: dmarc failed")).with_key(NoteKey::Warning);
        response.notes.push(warning.about(row.to_owned()));
    }
    let count = fitted(&response, &options(900, 1)).unwrap().chunk.1;
    let mut seen = Vec::new();
    for chunk in 1..=count {
        let document = fitted(&response, &options(900, chunk)).unwrap().blocks.remove(0);
        let (values, rows) = document.split_once("\nmessages").unwrap();
        for row in warned {
            let is_warned = values.contains(&format!("{row}: dmarc failed"));
            assert_eq!(is_warned, rows.contains(&format!("\n  {row}\t")), "{chunk}: {document}");
            seen.extend(is_warned.then_some(row));
        }
    }
    assert_eq!((seen, count > 2), (warned.to_vec(), true));
    // With many warnings the counts stay in place, and the omitted warnings are counted.
    for number in 0..60 {
        let warning = text_note(format!("m1: sign {number} of {}", "a forged sender ".repeat(4)));
        response.notes.push(warning.with_key(NoteKey::Warning).about("m1".to_owned()));
    }
    let fitted = fitted(&response, &options(2_000, 1)).unwrap();
    assert!(fitted.blocks[1].starts_with("messages: 60 of 60"), "{}", fitted.blocks[1]);
    assert!(
        fitted.blocks[0].contains(" more notes are in the whole answer"),
        "{}",
        fitted.blocks[0]
    );
}

/// A note about several rows names only rows of its chunk.
#[test]
fn legend_explains_only_shown_rows() {
    let mut response = messages(60, ColumnLevel::Core);
    let rows = |from: usize| (from..=60).step_by(2).map(|row| format!("m{row}")).collect();
    let groups = vec![("odd".to_owned(), rows(1)), ("even".to_owned(), rows(2))];
    response.legend = RowLegend { name: "why", groups };
    for chunk in chunks(&response, &options(900, 1)).unwrap() {
        let why = chunk.blocks[1].lines().find_map(|line| line.strip_prefix("why: ")).unwrap();
        let named = why.split([' ', ';']).filter(|word| word.starts_with('m'));
        let named: BTreeSet<String> = named.map(str::to_owned).collect();
        assert_eq!(named, ids(&chunk.blocks[0]).into_iter().collect(), "{why}");
    }
}

#[test]
fn missing_chunk_is_refused() {
    let response = messages(3, ColumnLevel::Core);
    assert_eq!(
        fitted(&response, &options(8_000, 2)).unwrap_err().to_string(),
        "chunk=2: there is one chunk: leave out `chunk`, or use the `next` cursor for what follows"
    );
    // The rest of a cut text is not a chunk.
    let cut = fitted(&long_message(400, false), &options(600, 2)).unwrap_err().to_string();
    let (before, line) = cut.split_once(" offset=").unwrap();
    let words = "chunk=2: there is one chunk; a text was cut, not split: output_read id=";
    assert!(before.starts_with(words), "{cut}");
    assert!(line.split(' ').next().unwrap().parse::<usize>().unwrap() > 1, "{cut}");
}

/// Returns a response with one body of so many lines.
fn long_message(lines: usize, tail: bool) -> WholeAnswer {
    let mut response = messages(1, ColumnLevel::Core);
    let text: String =
        (1..=lines).map(|line| format!("This is line {line} of the letter.\n")).collect();
    let mut bodies = RowTable::new(&BODY, BODY.up_to(ColumnLevel::Core));
    bodies.push(
        vec![
            RowCell::Handle('m', 1),
            RowCell::Text("b1".to_owned()),
            RowCell::Text("plain".to_owned()),
            RowCell::Count(i64::try_from(text.chars().count()).unwrap()),
            RowCell::Count(i64::try_from(text.chars().count()).unwrap()),
        ],
        RowExtra::default(),
    );
    response.document.tables.push(bodies);
    response.texts.push(LongText {
        name: "b1".to_owned(),
        text,
        row: Some((1, 0)),
        tail,
        ..LongText::default()
    });
    response.items = Some(vec![AnswerItem {
        rows: vec![(0, 0), (1, 0)],
        text: Some(0),
        ..AnswerItem::default()
    }]);
    response
}

/// Markers of a window name the line at which the omitted part begins, in the whole output.
#[test]
fn window_markers_name_where_missing_text_begins() {
    for (tail, budget) in [(false, 400), (true, 400), (false, 2_000), (true, 8_000)] {
        let response = long_message(9_000, tail);
        let mut output = String::new();
        let fitted = fit(&response, &options(budget, 1), |whole| {
            output = whole.text();
            "k3f9x2abcd".to_owned()
        })
        .unwrap();
        let all: Vec<&str> = output.lines().collect();
        let block: Vec<&str> = fitted.blocks[1].lines().collect();
        let word = block[0].strip_prefix("<<<b1 ").unwrap();
        assert_eq!(*block.last().unwrap(), format!("{word}>>>"));
        // The window and its gaps, read in turn, give the whole text.
        let mut walked: Vec<&str> = Vec::new();
        for line in &block[1..block.len() - 1] {
            match line.strip_prefix(&format!("…{word} ")) {
                None => walked.push(line),
                Some(marker) => {
                    let (count, offset) = marker.split_once(" lines left out, offset=").unwrap();
                    let (count, offset): (usize, usize) =
                        (count.parse().unwrap(), offset.parse().unwrap());
                    walked.extend(&all[offset - 1..offset - 1 + count]);
                }
            }
        }
        let whole: Vec<&str> = response.texts[0].text.lines().collect();
        assert!(walked == whole, "budget {budget}: {} lines", walked.len());
        let (head, end) = (block[1], block[block.len() - 2]);
        assert_eq!(
            (head, end),
            ("This is line 1 of the letter.", "This is line 9000 of the letter.")
        );
    }
}

/// The rows of the chunks are disjoint, and their union is complete.
#[test]
fn chunks_hold_everything_exactly_once() {
    for (count, budget) in [(60, 700), (52, 600), (400, 1_200)] {
        let response = messages(count, ColumnLevel::More);
        let all = chunks(&response, &options(budget, 1)).unwrap();
        assert!(all.len() > 1);
        let mut seen = Vec::new();
        for chunk in &all {
            assert!(chunk.tokens <= budget, "{}", chunk.tokens);
            seen.extend(ids(&chunk.blocks[0]));
        }
        let expected: Vec<String> = (1..=count).map(|number| format!("m{number}")).collect();
        assert_eq!(seen, expected);
    }
}

/// The ceiling holds for any budget; the excess is in further chunks or behind markers.
#[test]
fn no_answer_exceeds_the_ceiling() {
    let response = long_message(9_000, false);
    let all = chunks(&response, &options(100_000, 1)).unwrap();
    assert_eq!(all.len(), 1);
    let bytes: usize = all[0].blocks.iter().map(String::len).sum();
    assert!((50_000..=CEILING).contains(&bytes), "{bytes}");
    let response = messages(900, ColumnLevel::More);
    let all = chunks(&response, &options(100_000, 1)).unwrap();
    let mut seen = Vec::new();
    for chunk in &all {
        assert!(chunk.blocks.iter().map(String::len).sum::<usize>() <= CEILING);
        // The note does not suggest a larger budget, because the ceiling is the limit.
        assert!(chunk.blocks[0].contains("\"to fit 65536 bytes, which no budget raises: chunk"));
        seen.extend(ids(&chunk.blocks[0]));
    }
    seen.sort();
    seen.dedup();
    assert_eq!((seen.len(), all.len() > 1), (900, true));
    let smaller = fitted(&response, &options(8_000, 1)).unwrap();
    assert!(smaller.blocks[0].contains("\"to fit budget=8000: chunk 1 of"));
}

/// Each chunk names the limit that it reaches: words have many bytes per token, other texts few.
#[test]
fn each_chunk_names_its_own_limit() {
    let mut rows = RowTable::new(&MESSAGE, MESSAGE.up_to(ColumnLevel::More));
    for number in 1..=60 {
        let word =
            if number <= 30 { "communication ".repeat(20) } else { "🪿𓂀 7·".repeat(30) };
        message(&mut rows, number, word.trim());
    }
    let document = Document { scalars: Vec::new(), tables: vec![rows] };
    let response = WholeAnswer { document, ..WholeAnswer::default() };
    let all = chunks(&response, &options(20_000, 1)).unwrap();
    let first = &all[0].blocks[0];
    assert!(first.contains("\"to fit 65536 bytes, which no budget raises: chunk 1"), "{first}");
    let second = &all[all.len() / 2].blocks[0];
    assert!(second.contains("\"to fit budget=20000: chunk"), "{second}");
}

/// Rows without times and senders are summarised by their names.
#[test]
fn index_names_the_rows_of_other_chunks() {
    let mut rows = RowTable::new(&FOLDER, FOLDER.up_to(ColumnLevel::More));
    for number in 1..=200 {
        let cells = rows.columns().iter().map(|field| match field.name {
            "id" => RowCell::Handle('f', number),
            "name" => RowCell::Text(format!("Projects/{number}")),
            _ => RowCell::Null,
        });
        rows.push(cells.collect(), RowExtra::default());
    }
    let document = Document { scalars: Vec::new(), tables: vec![rows] };
    let response = WholeAnswer { document, ..WholeAnswer::default() };
    let all = chunks(&response, &options(1_200, 1)).unwrap();
    let notes = all[0].blocks.last().unwrap();
    let line = notes.lines().find(|line| line.starts_with("chunk=2: ")).unwrap();
    let (_, names) = line.split_once(", ").unwrap();
    let (first, last) = names.split_once(" to ").unwrap();
    assert!(first.starts_with("`Projects/") && last.starts_with("`Projects/"), "{line}");
}

/// Any text, and hostile samples.
fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        matching("[a-z ]{0,20}"),
        matching("\\PC{0,20}"),
        Just("שלום עולם".to_owned()),
        Just("👩‍👩‍👧‍👦🇩🇪".to_owned()),
        Just("\"a\tb\"\n{c}".to_owned()),
        Just("2026年2月3日の会議".to_owned()),
    ]
}

#[derive(Debug, Clone)]
struct Made {
    response: WholeAnswer,
    pins: BTreeSet<String>,
}

/// Any answer: rows of two tables, long texts, tiers and pins.
fn made() -> impl Strategy<Value = Made> {
    let tier = prop_oneof![
        1 => Just(PlacementTier::Critical),
        2 => Just(PlacementTier::High),
        8 => Just(PlacementTier::Medium),
        2 => Just(PlacementTier::Low)
    ];
    let item = (
        word(),
        tier,
        prop::bool::weighted(0.05),
        prop::option::weighted(0.3, (0..120usize, word(), any::<bool>())),
    );
    (
        prop::collection::vec(item, 0..14),
        prop::collection::vec(word(), 0..4),
        0..3usize,
        any::<bool>(),
    )
        .prop_map(|(items, folders, notes, grouped)| {
            let mut response = messages(0, ColumnLevel::More);
            let mut bodies = RowTable::new(&BODY, BODY.up_to(ColumnLevel::Core));
            let mut reported = Vec::new();
            let mut pins = BTreeSet::new();
            for (at, (word, tier, pinned, text)) in items.into_iter().enumerate() {
                let number = at as u64 + 1;
                message(&mut response.document.tables[0], number, &word);
                let mut item =
                    AnswerItem { rows: vec![(0, at)], tier, pinned, ..AnswerItem::default() };
                item.hint.position = at;
                if pinned || tier == PlacementTier::Critical {
                    pins.insert(format!("m{number}"));
                }
                if let Some((lines, word, tail)) = text.filter(|_| grouped) {
                    let text = format!("{word} {word}.\n").repeat(lines);
                    let chars = i64::try_from(text.chars().count()).unwrap();
                    item.rows.push((1, bodies.len()));
                    item.text = Some(response.texts.len());
                    response.texts.push(LongText {
                        name: format!("b{}", response.texts.len() + 1),
                        text,
                        row: Some((1, bodies.len())),
                        tail,
                        ..LongText::default()
                    });
                    let cells = vec![
                        RowCell::Handle('m', number),
                        RowCell::Text(format!("b{}", response.texts.len())),
                        RowCell::Text("plain".to_owned()),
                        RowCell::Count(chars),
                        RowCell::Count(chars),
                    ];
                    bodies.push(cells, RowExtra::default());
                }
                reported.push(item);
            }
            response.document.tables.push(bodies);
            let mut rows = RowTable::new(&FOLDER, FOLDER.up_to(ColumnLevel::More));
            for (at, word) in folders.iter().enumerate() {
                let width = rows.columns().len();
                let mut cells = vec![RowCell::Text(word.clone()); width];
                cells[0] = RowCell::Handle('f', at as u64 + 1);
                rows.push(cells, RowExtra::default());
            }
            response.document.tables.push(rows);
            response.notes.extend((0..notes).map(|at| text_note(format!("note {at}"))));
            if grouped {
                response.items = Some(reported);
            } else {
                pins.clear();
            }
            Made { response, pins }
        })
}

fn budget() -> impl Strategy<Value = usize> {
    prop_oneof![0..300usize, 100..3_000usize, Just(100_000), Just(usize::MAX)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: if thorough() { 600 } else { 200 }, failure_persistence: None, ..ProptestConfig::default() })]

    /// The invariants for any answer, budget and format.
    #[test]
    fn any_answer_keeps_the_budget_invariants(made in made(), budget in budget(), format in prop::sample::select(vec![
        Format::Toon(Delimiter::Tab), Format::Toon(Delimiter::Comma), Format::Json, Format::Stc,
    ]), strategy in prop::sample::select(Worth::ALL.to_vec())) {
        let options = FitOptions { format, strategy, ..options(budget, 1) };
        let response = &made.response;
        let all = match chunks(response, &options) {
            Ok(all) => all,
            Err(error) => {
                prop_assert_eq!(error.kind(), ErrorKind::BudgetTooSmall);
                let text = error.to_string();
                let needed = text.strip_prefix("budget_too_small needed=").unwrap();
                let needed: usize = needed.split(':').next().unwrap().parse().unwrap();
                prop_assert!(needed > budget && needed < 100_000, "{}", text);
                let options = FitOptions { format, strategy: options.strategy, ..self::options(needed, 1) };
                prop_assert!(fitted(response, &options).is_ok(), "{} {:?}", text, fitted(response, &options));
                return Ok(());
            }
        };
        let whole = WholeBlocks::new(response, format, &SECRET);
        let mut seen: Vec<String> = Vec::new();
        for (number, chunk) in all.iter().enumerate() {
            let tokens: usize = chunk.blocks.iter().map(|block| Tokenizer::O200k.count(block)).sum();
            // The blocks are joined by line breaks, one token each.
            let tokens = tokens + chunk.blocks.len() - 1;
            prop_assert_eq!(tokens, chunk.tokens);
            prop_assert!(tokens <= budget, "{} of {}", tokens, budget);
            prop_assert!(chunk.blocks.iter().map(String::len).sum::<usize>() <= CEILING);
            prop_assert_eq!(chunk.shortened.is_none(), all.len() == 1 && chunk.blocks == whole.blocks);
            // Block 1 is a pure document, and its rows are those of the chunk.
            let document: serde_json::Value = match format {
                Format::Json => serde_json::from_str(&chunk.blocks[0]).unwrap(),
                Format::Stc => {
                    let json = daysheet_core::encode::stc::parse::parse(&chunk.blocks[0]).unwrap();
                    serde_json::from_str(&json.to_json()).unwrap()
                }
                Format::Toon(_) => toon_format::decode(&chunk.blocks[0], &toon_format::DecodeOptions::new().with_strict(true)).unwrap(),
            };
            let mut here = Vec::new();
            for (name, rows) in document.as_object().unwrap() {
                let family = name.split('_').next().unwrap();
                for row in rows.as_array().into_iter().flatten() {
                    if family != "bodies" {
                        here.push(row["id"].as_str().unwrap().to_owned());
                    }
                }
            }
            let anything = response.document.tables.iter().any(|table| !table.is_empty());
            prop_assert!(!anything || !here.is_empty(), "chunk {}", number);
            if number == 0 {
                for pin in &made.pins {
                    prop_assert!(here.contains(pin), "{}", pin);
                }
            }
            seen.extend(here);
            // Fitting is deterministic.
            let again = fitted(response, &FitOptions { chunk: number + 1, ..options }).unwrap();
            prop_assert_eq!(&again, chunk);
        }
        let mut expected: Vec<String> = Vec::new();
        for table in &response.document.tables {
            if table.table().name != "body" {
                let name = |cell: &RowCell| match cell {
                    RowCell::Handle(kind, number) => format!("{kind}{number}"),
                    other => panic!("{other:?}"),
                };
                expected.extend(table.rows().map(|row| name(&row[0])));
            }
        }
        seen.sort();
        expected.sort();
        prop_assert_eq!(seen, expected);
    }
}
