//! Text of a message that repeats an older message of its thread in the same answer.
//!
//! Answers between the lines of a quote keep the quote, and so do forwards; with the older message
//! in the same answer, its lines are shown twice. Each run of such lines becomes a line of ours.
//! Linear in the text; messages of different threads are not compared.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use daysheet_core::row::{RowCell, RowTable};
use daysheet_core::text::fence::OURS;

use super::items::MessageLocation;
use super::messages::FetchedMessage;

/// The minimum numbers of lines and of characters that are worth a line of ours.
const LINES: usize = 3;
const CHARS: usize = 120;

/// Folds the text of messages that repeats older ones of their thread; `rows` and `places` have the
/// ids, dates and threads of the messages.
pub fn fold(fetched: &mut [FetchedMessage], rows: &RowTable, places: &[MessageLocation]) {
    let mut threads: Vec<(&MessageLocation, Vec<(String, ThreadPart<'_>)>)> = Vec::new();
    for (at, (one, place)) in fetched.iter_mut().zip(places).enumerate() {
        let Some(RowCell::Handle(kind, number)) = rows.cell(at, "id") else { continue };
        // The text form of times sorts in their order.
        let date = match rows.cell(at, "date") {
            Some(RowCell::Text(date)) => date.clone(),
            _ => String::new(),
        };
        let part =
            (date, ThreadPart { id: format!("{kind}{number}"), text: &mut one.readable.text });
        match threads.iter_mut().find(|(known, _)| known.is_beside(place)) {
            Some((_, parts)) => parts.push(part),
            None => threads.push((place, vec![part])),
        }
    }
    for (_, mut parts) in threads {
        parts.sort_by(|(one, _), (other, _)| one.cmp(other));
        fold_thread(parts.into_iter().map(|(_, part)| part));
    }
}

/// A message of a thread.
struct ThreadPart<'t> {
    /// Its id, as the answer has it.
    id: String,
    /// Its text, in which lines of ours are marked.
    text: &'t mut String,
}

/// Replaces the text of a thread's messages, the oldest first, that repeats older ones.
fn fold_thread<'t>(parts: impl Iterator<Item = ThreadPart<'t>>) {
    // The first place of three lines in a row: the message, and the number of the first line.
    let mut known: HashMap<u64, (usize, usize)> = HashMap::new();
    let mut read: Vec<Vec<String>> = Vec::new();
    let mut ids: Vec<String> = Vec::new();
    for part in parts {
        let lines: Vec<&str> = part.text.split('\n').collect();
        // Lines with words, by their number.
        let keys: Vec<(usize, String)> = lines
            .iter()
            .enumerate()
            .map(|(at, line)| (at, key(line, (ids.len(), at))))
            .filter(|(_, key)| !key.is_empty())
            .collect();
        let mut runs = Vec::new();
        let mut at = 0;
        while at < keys.len() {
            let rest = keys.get(at..).unwrap_or_default();
            let found = start(rest).and_then(|start| known.get(&start));
            let (message, from) = found.copied().unwrap_or((usize::MAX, 0));
            let older = read.get(message).and_then(|keys| keys.get(from..)).unwrap_or_default();
            let same = rest.iter().zip(older).take_while(|((_, a), b)| a == *b).count();
            if let Some((own, _)) = rest.split_at_checked(same)
                && let ([(first, _), ..], Some((last, _))) = (own, own.last())
            {
                let text = lines.get(*first..=*last).unwrap_or_default();
                let chars = text.iter().map(|line| line.chars().count() + 1).sum::<usize>() - 1;
                if chars >= CHARS && same >= LINES {
                    runs.push((*first, *last, message, chars));
                }
            }
            at += same.max(1);
        }
        let message = ids.len();
        for at in 0..keys.len() {
            if let Some(start) = start(keys.get(at..).unwrap_or_default()) {
                // The first place stays, so that a run refers to the oldest message with it.
                known.entry(start).or_insert((message, at));
            }
        }
        let mut out: Vec<String> = Vec::new();
        let mut next = 0;
        for (first, last, older, chars) in runs {
            out.extend(
                lines.get(next..first).unwrap_or_default().iter().map(|line| (*line).to_owned()),
            );
            let id = ids.get(older).map_or("", String::as_str);
            out.push(format!(
                "{OURS}[{chars} characters repeated from {id} not shown; quoted=true shows them]"
            ));
            next = last + 1;
        }
        if next > 0 {
            out.extend(lines.get(next..).unwrap_or_default().iter().map(|line| (*line).to_owned()));
            *part.text = out.join("\n");
        }
        ids.push(part.id);
        read.push(keys.into_iter().map(|(_, key)| key).collect());
    }
}

/// Returns a hash of the first [`LINES`] lines; `None` if there are fewer.
fn start(keys: &[(usize, String)]) -> Option<u64> {
    let mut hasher = DefaultHasher::new();
    for (_, key) in keys.get(..LINES)? {
        key.hash(&mut hasher);
    }
    Some(hasher.finish())
}

/// Returns the form of a line that is compared: without quote marks and superfluous spaces.
/// Punctuation counts, because amounts may differ by a comma. Empty for a blank line; a line with a
/// remark of ours, at this `place`, equals no other.
fn key(line: &str, place: (usize, usize)) -> String {
    if line.contains(OURS) {
        format!("{OURS}{place:?}")
    } else {
        let text = line.trim_start_matches(['>', ' ']);
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}
