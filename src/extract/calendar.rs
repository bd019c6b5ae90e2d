//! iCalendar files, as rows of events, and the texts of their descriptions.

use daysheet_core::event_time::find_zone;
use daysheet_core::ical::{self, rows};

use crate::{Block, Failure, Out, Piece, RowsOf, Stop, TextBlock, plain};

/// Events on a page.
const EVENTS: usize = 200;

/// Reads such a file.
pub fn read(bytes: &[u8], out: &mut Out<'_>) -> Result<(), Stop> {
    let text = plain::decoded(bytes, out);
    // The server states a zone that exists.
    let zone = find_zone(&out.request.zone).or_else(|| find_zone("UTC"));
    let document = zone.and_then(|zone| ical::read(&text, &zone).ok()).ok_or(Failure::Broken)?;
    let kind = document.method.as_deref().unwrap_or("publish").to_lowercase();
    let timed = document.entries.iter().map(|entry| (entry, true));
    let timeless = document.timeless.iter().map(|entry| (entry, false));
    let all: Vec<_> = timed.chain(timeless).collect();
    if all.is_empty() {
        return Err(Failure::Empty.into());
    }
    let (all, more, next) = out.page(all, EVENTS)?;
    let (mut objects, mut pieces) = (Vec::new(), Vec::new());
    for (entry, timed) in all {
        let times = timed.then(|| (entry.start.when(), entry.end.when()));
        objects.push(rows::object(&kind, entry, &entry.guests, times).into());
        let link = entry.link.as_deref().filter(|link| !entry.notes.contains(link));
        let about = [entry.notes.trim(), link.unwrap_or_default()];
        let about = about.iter().filter(|text| !text.is_empty()).copied().collect::<Vec<_>>();
        if !about.is_empty() {
            pieces.push(Piece::Text(format!("{}\n{}\n", entry.title, about.join("\n"))));
        }
    }
    out.block(Block::Rows { table: RowsOf::Invitation, objects, more, next })?;
    if !pieces.is_empty() {
        out.block(Block::Text(TextBlock { pieces, of: None }))?;
    }
    Ok(())
}
