//! PowerPoint presentations, slide by slide, with speaker notes and comments.

use daysheet_core::text::visibility::HidingMethod;
use std::collections::HashMap;

use super::parts::drawn;
use super::scene::SlideScene;
use super::scene::shape::SLIDE;
use super::slide::{SlideReader, read_part};
use crate::package::{OpenPackage, PartRelation};
use crate::story::{OmissionTally, SlideDeck, StoryWriter};
use crate::xml::{XmlEvent, XmlReader};
use crate::{Finding, OutputSink, PAGES, PieceMark, ReadFailure, StopReason};

/// Reads a presentation.
pub fn read(bytes: &[u8], out: &mut OutputSink<'_>) -> Result<(), StopReason> {
    let mut package = OpenPackage::open(bytes)?;
    let main = package.main("ppt/presentation.xml")?;
    let relations = package.relations(&main)?;
    let text = package.text(&main)?.ok_or(ReadFailure::Broken)?;
    let (slides, size) = presentation(&text, &relations)?;
    let authors = authors(&mut package, &relations)?;
    let of = slides.len() as u64;
    let first = out.request.page.max(1);
    if u64::from(first) > of.max(1) {
        return Err(ReadFailure::NoSuchPage(of).into());
    }
    if package.has("ppt/vbaProject.bin") {
        out.find(Finding::Macros);
    }
    let mut deck = SlideDeck::new(of, OmissionTally::default());
    // A closure, so that an early return still reports the findings of the slides before it.
    let mut give = || -> Result<(), StopReason> {
        for (path, number) in slides.iter().zip(1..).skip(first as usize - 1).take(PAGES as usize) {
            let text = package.text(path)?.ok_or(ReadFailure::Broken)?;
            let relations = package.relations(path)?;
            let scene = SlideScene::read(&mut package, &text, &relations)?;
            let tally = std::mem::take(&mut deck.tally);
            let links = package.links(path)?;
            let mut slide = SlideReader::new(size, scene, links, tally);
            slide.read(&text)?;
            deck.tally = slide.tally;
            let unseen = slide.unseen;
            let mut story = StoryWriter::default();
            story.mark(PieceMark::Slide(number));
            for line in slide.story.plain().lines() {
                story.line(line);
            }
            if slide.shown {
                let related =
                    SlideRelations { relations: &relations, unseen: &unseen, authors: &authors };
                add_related_parts(&mut package, &related, &mut deck.tally, &mut story)?;
            }
            deck.give(number, slide.shown, story, out)?;
        }
        Ok(())
    };
    let ended = give();
    deck.end(ended, out)
}

/// Returns the paths of the slides in order, and their common size.
fn presentation(
    text: &str,
    relations: &[PartRelation],
) -> Result<(Vec<String>, (f64, f64)), ReadFailure> {
    let (mut slides, mut size) = (Vec::new(), (f64::MAX, f64::MAX));
    let mut xml = XmlReader::with_namespaces(text, SLIDE);
    while let Some(event) = xml.step()? {
        let XmlEvent::Start(element) = event else { continue };
        match element.name().as_str() {
            "sldId" => {
                let id = element.link().unwrap_or_default();
                let found = relations.iter().find(|relation| relation.id == id);
                slides.extend(found.map(|relation| relation.target.clone()));
            }
            "sldSz" => {
                let side = |name| element.number(name).unwrap_or(f64::MAX);
                size = (side("cx"), side("cy"));
            }
            _ => {}
        }
    }
    Ok((slides, size))
}

/// Returns the authors of comments, by id.
fn authors(
    package: &mut OpenPackage<'_>,
    relations: &[PartRelation],
) -> Result<HashMap<String, String>, ReadFailure> {
    let mut authors = HashMap::new();
    // `commentAuthors` for older comments, `authors` for the newer ones.
    for relation in relations.iter().filter(|relation| relation.kind.ends_with("uthors")) {
        let Some(text) = package.text(&relation.target)? else { continue };
        let mut xml = XmlReader::with_namespaces(&text, &["p", "p188"]);
        while let Some(event) = xml.step()? {
            if let XmlEvent::Start(element) = event
                && let (Some(id), Some(name)) = (element.attr("id"), element.attr("name"))
            {
                authors.insert(id, name);
            }
        }
    }
    Ok(authors)
}

/// The relations of a slide to other parts, and the data needed to show those.
struct SlideRelations<'a> {
    /// The relationships of the slide.
    relations: &'a [PartRelation],
    /// The relationships that hidden shapes refer to, by id.
    unseen: &'a HashMap<String, HidingMethod>,
    /// The authors of comments, by id.
    authors: &'a HashMap<String, String>,
}

/// Adds the content of a slide that is in other parts: diagrams, charts, notes, comments.
fn add_related_parts(
    package: &mut OpenPackage<'_>,
    related: &SlideRelations<'_>,
    tally: &mut OmissionTally,
    story: &mut StoryWriter,
) -> Result<(), ReadFailure> {
    let SlideRelations { relations, unseen, authors } = *related;
    for PartRelation { id, kind, target } in relations {
        match kind.as_str() {
            "notesSlide" => {
                story.below(PieceMark::Notes, &read_part(package, target, true, tally)?);
            }
            "comments" => {
                comments(&package.text(target)?.unwrap_or_default(), authors, story)?;
            }
            kind => {
                let text = drawn(package, kind, target, tally).unwrap_or_default();
                match unseen.get(id) {
                    Some(how) => tally.hide(*how, &text),
                    None => text.lines().for_each(|line| story.line(line)),
                }
            }
        }
    }
    Ok(())
}

/// Adds the comments on a slide, of the older and the newer format.
fn comments(
    text: &str,
    authors: &HashMap<String, String>,
    story: &mut StoryWriter,
) -> Result<(), ReadFailure> {
    let mut found: Vec<(String, String)> = Vec::new();
    let mut xml = XmlReader::with_namespaces(text, &["p", "a", "p188"]);
    while let Some(event) = xml.step()? {
        let XmlEvent::Start(element) = event else { continue };
        match element.name().as_str() {
            "cm" | "reply" => {
                let author = authors.get(&element.attr("authorId").unwrap_or_default());
                found.push((author.cloned().unwrap_or_default(), String::new()));
            }
            "text" | "t" => {
                let text = xml.text()?;
                found.last_mut().into_iter().for_each(|(_, comment)| comment.push_str(&text));
            }
            _ => {}
        }
    }
    if !found.is_empty() {
        story.mark(PieceMark::Comments(found.len() as u32));
    }
    for (author, text) in found {
        story.below(PieceMark::Comment { author }, &text);
    }
    Ok(())
}
