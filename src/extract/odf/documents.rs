//! OpenDocument texts and presentations as a whole, and the shapes of sheets.
//!
//! `text.rs` reads their text.

use super::slides::backgrounds;
use super::styles::OdfStyles;
use super::text::OdtReader;
use crate::run_style::{InkColour, PageSize, WHITE};
use crate::story::{OmissionTally, SlideDeck, StoryWriter, give};
use crate::{OutputSink, PAGES, PieceMark, ReadFailure, StopReason};

/// Reads a text.
pub fn document(
    content: &str,
    shared: &str,
    styles: &OdfStyles,
    out: &mut OutputSink<'_>,
) -> Result<(), StopReason> {
    let mut reader = OdtReader::new(styles, styles.page.unwrap_or(WHITE));
    reader.read(content)?;
    let mut story = std::mem::take(&mut reader.story);
    story.below(PieceMark::Footnotes, &std::mem::take(&mut reader.notes).concat());
    reader.comments(&mut story);
    // `styles.xml` has the headers and footers of the pages.
    reader.read(shared)?;
    story.below(PieceMark::HeaderFooter, &std::mem::take(&mut reader.running).concat());
    reader.tally.findings().into_iter().for_each(|finding| out.find(finding));
    give(story.pieces(), out)
}

/// Returns the text of shapes on a sheet, which has no right edge.
pub fn shapes(
    text: &str,
    styles: &OdfStyles,
    tally: &mut OmissionTally,
) -> Result<String, ReadFailure> {
    let mut reader = OdtReader::new(styles, InkColour::Other);
    reader.sheet = PageSize { wide: f64::MAX, high: f64::MAX, margin: 0.0 };
    reader.on_sheet = true;
    std::mem::swap(&mut reader.tally, tally);
    // Pictures on a sheet are not counted.
    let pictures = reader.tally.pictures;
    let read = reader.read(text);
    std::mem::swap(&mut reader.tally, tally);
    tally.pictures = pictures;
    read.map(|()| reader.story.plain())
}

/// Reads a presentation.
pub fn slides(
    content: &str,
    shared: &str,
    styles: &OdfStyles,
    out: &mut OutputSink<'_>,
) -> Result<(), StopReason> {
    let mut reader = OdtReader::new(styles, InkColour::Other);
    reader.pages = backgrounds(content, shared, styles)?;
    // `content.xml` has all slides, so the requested ones are cut from the whole.
    reader.read(content)?;
    let slides = std::mem::take(&mut reader.slides);
    let of = slides.len() as u64;
    let first = out.request.page.max(1);
    if u64::from(first) > of.max(1) {
        return Err(ReadFailure::NoSuchPage(of).into());
    }
    let mut deck = SlideDeck::new(of, reader.tally);
    let mut asked = slides.into_iter().zip(1..).skip(first as usize - 1).take(PAGES as usize);
    let ended = asked.try_for_each(|((shown, text), number)| {
        let mut story = StoryWriter::default();
        story.mark(PieceMark::Slide(number));
        story.append(text);
        deck.give(number, shown, story, out)
    });
    deck.end(ended, out)
}
