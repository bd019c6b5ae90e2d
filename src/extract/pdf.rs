//! Text of PDF files, page by page, as a person sees it: characters are assembled into lines by
//! their positions, and invisible ones are left out and counted. Pictures are never decoded.

mod device;
mod fields;
mod fonts;
mod forms;
mod hidden;
mod layout;
mod probe;

use daysheet_core::text::visibility::{FLAT, HidingMethod};
use std::collections::{BTreeMap, HashSet};
use std::rc::Rc;

use daysheet_core::text::orders::gives_orders_unseen;
use device::{DrawnPage, PageGlyph};
use fields::{AnnotationContent, FormField};
use fonts::{FontCache, PageFonts};
use forms::FormCounts;
use hayro_interpret::hayro_syntax::object::Rect as Area;
use hayro_interpret::hayro_syntax::page::Page;
use hayro_interpret::hayro_syntax::{LoadPdfError, Pdf};
use hayro_interpret::kurbo::Rect;
use hayro_interpret::{
    Context, InterpreterCache, InterpreterSettings, RectExt as _, TransformExt, interpret_page,
};

use crate::{
    BlockSpan, ContentBlock, EmbeddedFile, Finding, HiddenUnit, OutputSink, PAGES, PartUnit,
    PieceMark, ReadFailure, StopReason, TextBlock, TextPiece,
};

/// The share of a page from which a picture counts as the page.
const SCAN: f64 = 0.6;
/// Ground cells that may be painted on all pages together; see [`hidden`].
const PAINTED: u64 = 400_000_000;
/// Characters of hidden text that are checked for orders.
const ORDERS: usize = 4096;
/// Bytes at the end of a file that are searched for its end marker. Readers search 1,024.
const TAIL: usize = 2048;
/// Maximum bytes of a link's words.
const WORDS: usize = 120;
/// A file without layers. If a page is drawn with its catalog, hayro draws all layers.
const LAYERLESS: &[u8] = b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n\
    2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n\
    3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>endobj\n\
    trailer<</Root 1 0 R/Size 4>>\n%%EOF";

/// Returns true if a file is cut off, or has fewer pages than it states.
fn damaged(pdf: &Pdf, bytes: &[u8]) -> bool {
    let tail = bytes.get(bytes.len().saturating_sub(TAIL)..).unwrap_or_default();
    let marked = |mark: &[u8]| tail.windows(mark.len()).any(|window| window == mark);
    let ends = marked(b"%%EOF") || marked(b"startxref");
    !ends || fields::pages(pdf).is_some_and(|stated| stated > pdf.pages().len() as u64)
}

/// Counts across the pages.
#[derive(Default)]
struct PageCounts {
    hidden: BTreeMap<HidingMethod, u64>,
    /// Characters that are shown although they may be hidden.
    doubt: BTreeMap<HidingMethod, u64>,
    unmapped: u64,
    others: u64,
    pictures: u64,
    /// Pages that are pictures of text.
    scans: Vec<u32>,
    order: bool,
    text: bool,
    /// True if viewers draw form fields according to their values.
    draws_values: bool,
}

/// Reads a PDF file.
pub fn read(bytes: &[u8], out: &mut OutputSink<'_>) -> Result<(), StopReason> {
    let pdf = load(bytes)?;
    let of = pdf.pages().len() as u64;
    let first = out.request.page;
    if u64::from(first) > of.max(1) {
        return Err(ReadFailure::NoSuchPage(of).into());
    }
    let draws_values = fields::draws_values(&pdf);
    let mut counts = PageCounts { draws_values, ..PageCounts::default() };
    let layers = fields::layers(&pdf);
    let off = layers.off.len() as u64;
    let over = LayerProbes {
        all: (off > 0).then(|| load(LAYERLESS)).transpose()?,
        fewer: layers.fewer().map(|bytes| load(bytes.as_bytes())).transpose()?,
    };
    // The findings of the pages read so far are reported even if the reading fails.
    let ended = pages(&pdf, &over, first, out, &mut counts);
    for (how, count) in counts.hidden {
        out.find(Finding::Hidden { how, count, of: HiddenUnit::Characters });
    }
    for (how, count) in counts.doubt {
        out.find(Finding::Doubt { how, count });
    }
    if off > 0 {
        out.find(Finding::Hidden { how: HidingMethod::Layer, count: off, of: HiddenUnit::Layers });
    }
    for run in counts.scans.chunk_by(|a, b| a + 1 == *b) {
        if let (Some(first), Some(last)) = (run.first(), run.last()) {
            out.find(Finding::Scan { first: *first, last: *last });
        }
    }
    for (count, finding) in [
        (counts.unmapped, Finding::Unmapped as fn(u64) -> Finding),
        (counts.others, Finding::Others),
        (counts.pictures, Finding::Pictures),
    ] {
        if count > 0 {
            out.find(finding(count));
        }
    }
    if counts.order {
        out.find(Finding::Order);
    }
    let damaged = damaged(&pdf, bytes);
    if damaged {
        out.find(Finding::Damaged);
    }
    ended?;
    // The list belongs to the file, so it is emitted once.
    let files = if first == 1 { fields::files(&pdf) } else { Vec::new() };
    if !files.is_empty() {
        let files = files.iter().zip(1..).map(|(file, part)| file.listed(part)).collect();
        out.block(ContentBlock::Files { files, more: 0, next: None })?;
    } else if !counts.text && counts.scans.is_empty() && first == 1 && of <= u64::from(PAGES) {
        let why = if damaged { ReadFailure::Broken } else { ReadFailure::Empty };
        return Err(why.into());
    }
    Ok(())
}

/// Returns the embedded file with the number `part`, from 1.
pub fn inside(bytes: &[u8], part: u32) -> Result<EmbeddedFile, ReadFailure> {
    let pdf = load(bytes)?;
    let files = fields::files(&pdf);
    let file = usize::try_from(part).ok().and_then(|part| files.get(part.checked_sub(1)?));
    let file = file.ok_or(ReadFailure::NoSuchPart(files.len() as u32))?;
    Ok(EmbeddedFile { name: file.name.clone(), bytes: file.bytes().ok_or(ReadFailure::Broken)? })
}

fn load(bytes: &[u8]) -> Result<Pdf, ReadFailure> {
    Pdf::new(bytes.to_vec()).map_err(|error| match error {
        LoadPdfError::Decryption(_) => ReadFailure::Encrypted,
        // If hayro has to rebuild the table of objects, it does not report encryption.
        LoadPdfError::Invalid if bytes.windows(8).any(|key| key == b"/Encrypt") => {
            ReadFailure::Encrypted
        }
        LoadPdfError::Invalid => ReadFailure::Broken,
    })
}

/// Files whose catalogs replace the original one when pages are drawn again, to find out the effect
/// of their layers.
struct LayerProbes {
    /// Without layers, so content of switched-off ones is drawn, too.
    all: Option<Pdf>,
    /// With the layers switched off that a viewer may switch off on screen.
    fewer: Option<Pdf>,
}

/// Emits the pages of a call as one block each, so that a failure loses a single page.
fn pages(
    pdf: &Pdf,
    over: &LayerProbes,
    first: u32,
    out: &mut OutputSink<'_>,
    counts: &mut PageCounts,
) -> Result<(), StopReason> {
    let cache = InterpreterCache::new();
    let of = pdf.pages().len() as u64;
    let mut left = PAINTED;
    let mut fonts = FontCache::default();
    let mut forms = FormCounts::default();
    for (page, number) in
        pdf.pages().iter().zip(1..).skip((first as usize).saturating_sub(1)).take(PAGES as usize)
    {
        // A page is checked before it is drawn, as hayro has no limit of its own.
        if !forms.allow(page) {
            out.find(Finding::Tangled(number));
            continue;
        }
        let fonts = Rc::new(fonts.of_page(page));
        let draw = |over, left| draw(page, over, &cache, left, Rc::clone(&fonts));
        let mut drawn = draw(pdf, left);
        left = drawn.finish();
        if let Some(fewer) = &over.fewer {
            // The second drawing gets no backdrop cells: only the characters and their positions
            // are compared.
            drawn.doubt_layers(&draw(fewer, 0));
        }
        if let Some(all) = &over.all {
            drawn.add_layers(draw(all, 0));
        }
        let pieces = pieces(page, number, drawn, counts);
        let next = (u64::from(number) < of).then_some(number + 1);
        let at = u64::from(number);
        let span = BlockSpan { unit: PartUnit::Page, first: at, last: at, of, next };
        out.block(ContentBlock::Text(TextBlock { pieces, of: Some(span) }))?;
    }
    Ok(())
}

/// Draws a page with its fonts, and with the layers that the catalog of `over` switches on.
fn draw<'a>(
    page: &'a Page<'a>,
    over: &'a Pdf,
    cache: &InterpreterCache<'a>,
    left: u64,
    fonts: Rc<PageFonts>,
) -> DrawnPage {
    let (width, height) = page.render_dimensions();
    let area = Rect::new(0.0, 0.0, f64::from(width), f64::from(height));
    let (transform, settings) =
        (page.initial_transform(true).to_kurbo(), InterpreterSettings::default());
    let mut context = Context::new(transform, area, cache, over.xref(), settings);
    let mut drawn = DrawnPage::new(area, left, fonts);
    interpret_page(page, &mut context, &mut drawn);
    drawn
}

/// Returns the text of a page, and counts the hidden content.
fn pieces(
    page: &Page<'_>,
    number: u32,
    drawn: DrawnPage,
    counts: &mut PageCounts,
) -> Vec<TextPiece> {
    let (unseen, seen): (Vec<PageGlyph>, Vec<PageGlyph>) =
        drawn.glyphs.into_iter().partition(|glyph| glyph.hidden.is_some());
    // Text that is drawn a second time visibly is neither hidden nor in doubt.
    let around = |glyph: &PageGlyph| {
        let (character, (x, y)) = (glyph.character, glyph.cell());
        // Positions are in units of two points; a copy may be in a neighbouring one.
        (-1..=1).flat_map(move |dx| (-1..=1).map(move |dy| (character, x + dx, y + dy)))
    };
    let (sure, unsure): (Vec<&PageGlyph>, Vec<&PageGlyph>) =
        seen.iter().partition(|glyph| glyph.doubt.is_none());
    let mut drawn_cells: HashSet<_> = sure.into_iter().flat_map(around).collect();
    for glyph in unsure.iter().filter(|glyph| !glyph.character.is_whitespace()) {
        let (x, y) = glyph.cell();
        if let Some(how) = glyph.doubt
            && !drawn_cells.contains(&(glyph.character, x, y))
        {
            *counts.doubt.entry(how).or_default() += 1;
        }
    }
    drawn_cells.extend(unsure.into_iter().flat_map(around));
    let unseen: Vec<PageGlyph> = unseen
        .into_iter()
        .filter(|glyph| {
            let (x, y) = glyph.cell();
            !drawn_cells.contains(&(glyph.character, x, y))
        })
        .collect();
    counts.unmapped += drawn.unmapped;
    counts.others += seen.iter().filter(|glyph| glyph.other).count() as u64;
    let behind =
        |g: &PageGlyph| matches!(g.hidden, Some(HidingMethod::Invisible | HidingMethod::Covered));
    let (mut recognised, mut unseen): (Vec<PageGlyph>, Vec<PageGlyph>) =
        unseen.into_iter().partition(behind);
    // A large picture with hardly any text is a scan, and the text behind it is its OCR layer.
    let bare = seen.len() < 20 || seen.len() * 5 < recognised.len();
    let scan = drawn.picture >= SCAN && bare;
    if !scan {
        unseen.append(&mut recognised);
    }
    let mut pieces = vec![TextPiece::Mark(PieceMark::Page(number))];
    let text = layout::text(&seen);
    if !scan {
        counts.pictures += drawn.pictures;
    } else if recognised.is_empty() {
        counts.scans.push(number);
    }
    counts.text |= !text.is_empty();
    if !text.is_empty() {
        pieces.push(TextPiece::Text(text));
    }
    if !recognised.is_empty() {
        counts.text = true;
        pieces
            .extend([TextPiece::Mark(PieceMark::Scan), TextPiece::Text(layout::text(&recognised))]);
    }
    for glyph in unseen.iter().filter(|glyph| !glyph.character.is_whitespace()) {
        if let Some(how) = glyph.hidden {
            *counts.hidden.entry(how).or_default() += 1;
        }
    }
    let few = unseen.get(..ORDERS.min(unseen.len())).unwrap_or_default();
    counts.order |= gives_orders_unseen(&layout::text(few));
    let mut added = fields::of_page(page, counts.draws_values);
    let links = links(page, &added.links, seen.iter().chain(&recognised));
    if !links.is_empty() {
        counts.text = true;
        pieces.push(TextPiece::Text(links.join("\n")));
    }
    let glyphs = seen.iter().chain(&recognised).chain(&unseen);
    let fields = field_lines(page, &mut added, glyphs);
    for text in &added.hidden {
        let count = text.chars().filter(|character| !character.is_whitespace()).count() as u64;
        *counts.hidden.entry(HidingMethod::Marked).or_default() += count;
        let few = text.get(..text.floor_char_boundary(ORDERS)).unwrap_or_default();
        counts.order |= gives_orders_unseen(few);
    }
    if !fields.is_empty() {
        counts.text = true;
        pieces.extend([TextPiece::Mark(PieceMark::Fields), TextPiece::Text(fields.join("\n"))]);
    }
    if !added.comments.is_empty() {
        counts.text = true;
        pieces.push(TextPiece::Mark(PieceMark::Comments(added.comments.len() as u32)));
        for (author, text) in added.comments {
            pieces.extend([TextPiece::Mark(PieceMark::Comment { author }), TextPiece::Text(text)]);
        }
    }
    if pieces.len() == 1 {
        // A page without content yields no text, not even its mark.
        pieces.clear();
    }
    pieces
}

/// Returns a line for each field of a page whose value is not drawn. Values of fields that are off
/// the page, or have no room, count as hidden.
fn field_lines<'g>(
    page: &Page<'_>,
    added: &mut AnnotationContent,
    glyphs: impl Iterator<Item = &'g PageGlyph> + Clone,
) -> Vec<String> {
    let transform = page.initial_transform(true).to_kurbo();
    let (width, height) = page.render_dimensions();
    let paper = Rect::new(0.0, 0.0, f64::from(width), f64::from(height));
    let mut lines = Vec::new();
    for FormField { name, value, area, stated } in added.fields.drain(..) {
        let area = transform.transform_rect_bbox(area.to_kurbo().abs());
        // The drawn value may be broken into lines. A hidden drawing of it is counted as hidden
        // already.
        let around = area.inflate(1.0, 1.0);
        let drawn = glyphs.clone().filter(|glyph| around.contains(glyph.middle()));
        let drawn = drawn.map(|glyph| glyph.character).filter(|c| !c.is_whitespace());
        if stated && drawn.eq(value.chars().filter(|c| !c.is_whitespace())) {
            continue;
        }
        let line = format!("{name}: {value}");
        if area.width().min(area.height()) < FLAT || area.intersect(paper).is_zero_area() {
            added.hidden.push(value);
        } else if !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines
}

/// Returns a line for each link of a page that its text does not state, in Markdown, so that later
/// stages can flag links whose words name another host.
fn links<'g>(
    page: &Page<'_>,
    links: &[(Area, String)],
    glyphs: impl Iterator<Item = &'g PageGlyph> + Clone,
) -> Vec<String> {
    let transform = page.initial_transform(true).to_kurbo();
    // A link that spans several lines is stored as several links to one address.
    let same = links.chunk_by(|(_, one), (_, next)| one == next);
    let mut lines = Vec::new();
    for link in same {
        let Some((_, address)) = link.first() else { continue };
        let words = link.iter().map(|(area, _)| {
            let area = transform.transform_rect_bbox(area.to_kurbo().abs());
            let within = glyphs.clone().filter(|glyph| area.contains(glyph.middle()));
            layout::text(&within.cloned().collect::<Vec<_>>())
        });
        let words = words.collect::<Vec<_>>().join(" ").replace(['[', ']'], " ");
        let stated: String = words.split_whitespace().collect::<String>().to_lowercase();
        let words: Vec<&str> = words.split_whitespace().collect();
        let mut words = words.join(" ");
        words.truncate(words.floor_char_boundary(WORDS));
        let line = match words.as_str() {
            _ if stated.contains(&bare(address)) => continue,
            "" => address.clone(),
            words => format!("[{words}]({address})"),
        };
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines
}

/// Returns the part of an address that people write in text.
fn bare(address: &str) -> String {
    let address = address.to_lowercase();
    let rest = ["https://", "http://", "mailto:", "tel:"]
        .iter()
        .find_map(|scheme| address.strip_prefix(scheme))
        .unwrap_or(&address);
    rest.strip_prefix("www.").unwrap_or(rest).trim_end_matches('/').to_owned()
}
