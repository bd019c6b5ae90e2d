//! PowerPoint presentations, slide by slide, with the speaker's notes and comments.

use std::collections::HashMap;

use super::parts::drawn;
use super::scene::{SLIDE, Scene};
use super::slide::{Slide, part};
use crate::package::{Package, Relation};
use crate::story::{Deck, Story, Tally};
use crate::xml::{Event, Xml};
use crate::{Failure, Finding, How, Mark, Out, PAGES, Stop};

/// Reads a presentation.
pub fn read(bytes: &[u8], out: &mut Out<'_>) -> Result<(), Stop> {
    let mut package = Package::open(bytes)?;
    let main = package.main("ppt/presentation.xml")?;
    let relations = package.relations(&main)?;
    let text = package.text(&main)?.ok_or(Failure::Broken)?;
    let (slides, size) = presentation(&text, &relations)?;
    let authors = authors(&mut package, &relations)?;
    let of = slides.len() as u64;
    let first = out.request.page.max(1);
    if u64::from(first) > of.max(1) {
        return Err(Failure::NoSuchPage(of).into());
    }
    if package.has("ppt/vbaProject.bin") {
        out.find(Finding::Macros);
    }
    let mut deck = Deck::new(of, Tally::default());
    let mut give = || -> Result<(), Stop> {
        for (path, number) in slides.iter().zip(1..).skip(first as usize - 1).take(PAGES as usize) {
            let text = package.text(path)?.ok_or(Failure::Broken)?;
            let relations = package.relations(path)?;
            let scene = Scene::read(&mut package, &text, &relations)?;
            let tally = std::mem::take(&mut deck.tally);
            let links = package.links(path)?;
            let mut slide = Slide::new(size, scene, links, tally);
            slide.read(&text)?;
            deck.tally = slide.tally;
            let unseen = slide.unseen;
            let mut story = Story::default();
            story.mark(Mark::Slide(number));
            for line in slide.story.plain().lines() {
                story.line(line);
            }
            if slide.shown {
                more(&mut package, &relations, &unseen, &authors, &mut deck.tally, &mut story)?;
            }
            deck.give(number, slide.shown, story, out)?;
        }
        Ok(())
    };
    let ended = give();
    deck.end(ended, out)
}

/// Returns the slides in their order, and the size of each.
fn presentation(text: &str, relations: &[Relation]) -> Result<(Vec<String>, (f64, f64)), Failure> {
    let (mut slides, mut size) = (Vec::new(), (f64::MAX, f64::MAX));
    let mut xml = Xml::of(text, SLIDE);
    while let Some(event) = xml.step()? {
        let Event::Start(element) = event else { continue };
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

/// Returns the names of those who comment, by their ids.
fn authors(
    package: &mut Package<'_>,
    relations: &[Relation],
) -> Result<HashMap<String, String>, Failure> {
    let mut authors = HashMap::new();
    for relation in relations.iter().filter(|relation| relation.kind.ends_with("uthors")) {
        let Some(text) = package.text(&relation.target)? else { continue };
        let mut xml = Xml::of(&text, &["p", "p188"]);
        while let Some(event) = xml.step()? {
            if let Event::Start(element) = event
                && let (Some(id), Some(name)) = (element.attr("id"), element.attr("name"))
            {
                authors.insert(id, name);
            }
        }
    }
    Ok(authors)
}

/// Adds what belongs to a slide but lies in parts of its own: diagrams, charts, notes, comments.
fn more(
    package: &mut Package<'_>,
    relations: &[Relation],
    unseen: &HashMap<String, How>,
    authors: &HashMap<String, String>,
    tally: &mut Tally,
    story: &mut Story,
) -> Result<(), Failure> {
    for Relation { id, kind, target } in relations {
        match kind.as_str() {
            "notesSlide" => story.below(Mark::Notes, &part(package, target, true, tally)?),
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

/// Adds the comments on a slide, of the older and the newer kind.
fn comments(
    text: &str,
    authors: &HashMap<String, String>,
    story: &mut Story,
) -> Result<(), Failure> {
    let mut found: Vec<(String, String)> = Vec::new();
    let mut xml = Xml::of(text, &["p", "a", "p188"]);
    while let Some(event) = xml.step()? {
        let Event::Start(element) = event else { continue };
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
        story.mark(Mark::Comments(found.len() as u32));
    }
    for (author, text) in found {
        story.below(Mark::Comment { author }, &text);
    }
    Ok(())
}
