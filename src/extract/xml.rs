//! XML as events, within limits.
//!
//! Names are local ones: the formats that are read here never need a prefix to be told apart.
//! Entities that a document defines are not resolved, so none can grow; the depth is counted.

use quick_xml::XmlVersion;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesEnd, BytesStart, Event as Raw};
use quick_xml::reader::Reader;

use crate::{DEPTH, Failure};

/// A document that is being read.
pub struct Xml<'a> {
    reader: Reader<&'a [u8]>,
    depth: usize,
}

/// What comes next in a document.
pub enum Event<'a> {
    /// An element begins; an empty one begins and ends.
    Start(Element<'a>),
    /// An element ends.
    End(Ending<'a>),
    /// Text.
    Text(String),
}

/// The beginning of an element.
pub struct Element<'a>(BytesStart<'a>);

/// The end of an element.
pub struct Ending<'a>(BytesEnd<'a>);

impl<'a> Xml<'a> {
    /// Begins to read a document.
    pub fn new(text: &'a str) -> Self {
        let mut reader = Reader::from_str(text);
        reader.config_mut().expand_empty_elements = true;
        reader.config_mut().allow_dangling_amp = true;
        // A text may begin within an element.
        reader.config_mut().allow_unmatched_ends = true;
        Self { reader, depth: 0 }
    }

    /// Returns what comes next; `None` at the end.
    ///
    /// Fails with [`Failure::Broken`], or with [`Failure::Depth`] below [`DEPTH`] elements.
    pub fn step(&mut self) -> Result<Option<Event<'a>>, Failure> {
        loop {
            return Ok(Some(match self.reader.read_event().map_err(|_| Failure::Broken)? {
                Raw::Start(element) | Raw::Empty(element) => {
                    self.depth += 1;
                    if self.depth > DEPTH {
                        return Err(Failure::Depth);
                    }
                    Event::Start(Element(element))
                }
                Raw::End(ending) => {
                    self.depth = self.depth.saturating_sub(1);
                    Event::End(Ending(ending))
                }
                Raw::Text(text) => Event::Text(text.xml10_content().into_owned()),
                Raw::CData(text) => Event::Text(text.xml10_content().into_owned()),
                Raw::GeneralRef(entity) => {
                    let char = entity.resolve_char_ref().ok().flatten();
                    Event::Text(match char {
                        Some(char) => char.to_string(),
                        None => resolve_predefined_entity(&entity).unwrap_or_default().to_owned(),
                    })
                }
                Raw::Eof => return Ok(None),
                Raw::Comment(_) | Raw::Decl(_) | Raw::PI(_) | Raw::DocType(_) => continue,
            }));
        }
    }

    /// Returns where in the text reading is, in bytes.
    pub fn place(&self) -> usize {
        self.reader.buffer_position() as usize
    }

    /// Reads to the end of the element that began last, and returns the text within it.
    pub fn text(&mut self) -> Result<String, Failure> {
        let outer = self.depth;
        let mut text = String::new();
        while self.depth >= outer {
            match self.step()? {
                Some(Event::Text(part)) => text.push_str(&part),
                Some(_) => {}
                None => return Err(Failure::Broken),
            }
        }
        Ok(text)
    }

    /// Calls `each` with every element within the one that began last, to its end, but for
    /// properties that were changed (`rPrChange`).
    pub fn within(&mut self, mut each: impl FnMut(&Element<'a>)) -> Result<(), Failure> {
        let outer = self.depth;
        while self.depth >= outer {
            match self.step()? {
                Some(Event::Start(element)) if element.name().ends_with("PrChange") => {
                    self.skip()?;
                }
                Some(Event::Start(element)) => each(&element),
                Some(_) => {}
                None => return Err(Failure::Broken),
            }
        }
        Ok(())
    }

    /// Reads to the end of the element that began last.
    pub fn skip(&mut self) -> Result<(), Failure> {
        self.text().map(drop)
    }
}

impl Element<'_> {
    /// Returns the name.
    pub fn name(&self) -> String {
        self.0.local_name().as_ref().to_owned()
    }

    /// Returns the value of the first attribute with this name.
    pub fn attr(&self, name: &str) -> Option<String> {
        self.find(|key, _| key == name)
    }

    /// Returns the value of the attribute `id` that has a prefix: the name of a relation.
    pub fn link(&self) -> Option<String> {
        self.find(|key, prefixed| key == "id" && prefixed)
    }

    /// Returns the attribute as a number.
    pub fn number(&self, name: &str) -> Option<f64> {
        self.attr(name)?.trim().parse().ok()
    }

    /// Returns true if the attribute is there and stands for yes.
    pub fn flag(&self, name: &str) -> bool {
        self.attr(name).is_some_and(|value| matches!(value.as_str(), "1" | "true" | "on"))
    }

    fn find(&self, fits: impl Fn(&str, bool) -> bool) -> Option<String> {
        // The library would compare each attribute with all before it.
        let mut attributes = self.0.attributes();
        let mut attributes = attributes.with_checks(false).filter_map(Result::ok);
        let found = attributes.find(|attribute| {
            let (local, prefix) = attribute.key.decompose();
            fits(local.as_ref(), prefix.is_some())
        })?;
        let value = found.normalized_value(XmlVersion::Implicit1_0);
        Some(value.map_or_else(|_| found.value.clone().into_owned(), |value| value.into_owned()))
    }
}

impl Ending<'_> {
    /// Returns the name.
    pub fn name(&self) -> String {
        self.0.local_name().as_ref().to_owned()
    }
}
