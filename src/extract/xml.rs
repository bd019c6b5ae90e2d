//! XML as events, within limits.
//!
//! Names in Office Open XML are matched by namespace, as Office does: elements of namespaces that
//! Office does not know are skipped, and only one of several alternatives is read. OpenDocument is
//! read by local names. Entities that a document defines are not resolved, so they cannot expand.
//! Depth is counted.

use std::rc::Rc;

use quick_xml::XmlVersion;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesStart, Event as Raw};
use quick_xml::name::QName;
use quick_xml::reader::Reader;

use crate::{DEPTH, ReadFailure};

/// Namespaces that Office understands, by their usual prefixes. The addresses at `purl.oclc.org`
/// belong to the Strict variant of ISO/IEC 29500.
const SPACES: &[(&str, &str)] = &[
    ("w", "http://schemas.openxmlformats.org/wordprocessingml/2006/main"),
    ("w", "http://purl.oclc.org/ooxml/wordprocessingml/main"),
    ("a", "http://schemas.openxmlformats.org/drawingml/2006/main"),
    ("a", "http://purl.oclc.org/ooxml/drawingml/main"),
    ("p", "http://schemas.openxmlformats.org/presentationml/2006/main"),
    ("p", "http://purl.oclc.org/ooxml/presentationml/main"),
    ("x", "http://schemas.openxmlformats.org/spreadsheetml/2006/main"),
    ("x", "http://purl.oclc.org/ooxml/spreadsheetml/main"),
    ("r", "http://schemas.openxmlformats.org/officeDocument/2006/relationships"),
    ("r", "http://purl.oclc.org/ooxml/officeDocument/relationships"),
    ("m", "http://schemas.openxmlformats.org/officeDocument/2006/math"),
    ("m", "http://purl.oclc.org/ooxml/officeDocument/math"),
    ("rel", "http://schemas.openxmlformats.org/package/2006/relationships"),
    ("mc", "http://schemas.openxmlformats.org/markup-compatibility/2006"),
    ("wp", "http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing"),
    ("wp", "http://purl.oclc.org/ooxml/drawingml/wordprocessingDrawing"),
    ("xdr", "http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing"),
    ("xdr", "http://purl.oclc.org/ooxml/drawingml/spreadsheetDrawing"),
    ("pic", "http://schemas.openxmlformats.org/drawingml/2006/picture"),
    ("pic", "http://purl.oclc.org/ooxml/drawingml/picture"),
    ("c", "http://schemas.openxmlformats.org/drawingml/2006/chart"),
    ("c", "http://purl.oclc.org/ooxml/drawingml/chart"),
    ("dgm", "http://schemas.openxmlformats.org/drawingml/2006/diagram"),
    ("dgm", "http://purl.oclc.org/ooxml/drawingml/diagram"),
    ("lc", "http://schemas.openxmlformats.org/drawingml/2006/lockedCanvas"),
    ("v", "urn:schemas-microsoft-com:vml"),
    ("o", "urn:schemas-microsoft-com:office:office"),
    ("w10", "urn:schemas-microsoft-com:office:word"),
    ("w14", "http://schemas.microsoft.com/office/word/2010/wordml"),
    ("w15", "http://schemas.microsoft.com/office/word/2012/wordml"),
    ("w16se", "http://schemas.microsoft.com/office/word/2015/wordml/symex"),
    ("w16cid", "http://schemas.microsoft.com/office/word/2016/wordml/cid"),
    ("w16", "http://schemas.microsoft.com/office/word/2018/wordml"),
    ("w16cex", "http://schemas.microsoft.com/office/word/2018/wordml/cex"),
    ("wp14", "http://schemas.microsoft.com/office/word/2010/wordprocessingDrawing"),
    ("wpc", "http://schemas.microsoft.com/office/word/2010/wordprocessingCanvas"),
    ("wpg", "http://schemas.microsoft.com/office/word/2010/wordprocessingGroup"),
    ("wpi", "http://schemas.microsoft.com/office/word/2010/wordprocessingInk"),
    ("wps", "http://schemas.microsoft.com/office/word/2010/wordprocessingShape"),
    ("wne", "http://schemas.microsoft.com/office/word/2006/wordml"),
    ("a14", "http://schemas.microsoft.com/office/drawing/2010/main"),
    ("a16", "http://schemas.microsoft.com/office/drawing/2014/main"),
    ("cx", "http://schemas.microsoft.com/office/drawing/2014/chartex"),
    ("cx1", "http://schemas.microsoft.com/office/drawing/2015/9/8/chartex"),
    ("cx2", "http://schemas.microsoft.com/office/drawing/2015/10/21/chartex"),
    ("cx4", "http://schemas.microsoft.com/office/drawing/2016/5/10/chartex"),
    ("aink", "http://schemas.microsoft.com/office/drawing/2016/ink"),
    ("am3d", "http://schemas.microsoft.com/office/drawing/2017/model3d"),
    ("c14", "http://schemas.microsoft.com/office/drawing/2007/8/2/chart"),
    ("sle", "http://schemas.microsoft.com/office/drawing/2010/slicer"),
    ("sle15", "http://schemas.microsoft.com/office/drawing/2012/slicer"),
    ("tsle", "http://schemas.microsoft.com/office/drawing/2012/timeslicer"),
    ("p14", "http://schemas.microsoft.com/office/powerpoint/2010/main"),
    ("p15", "http://schemas.microsoft.com/office/powerpoint/2012/main"),
    ("p159", "http://schemas.microsoft.com/office/powerpoint/2015/09/main"),
    ("p16", "http://schemas.microsoft.com/office/powerpoint/2015/main"),
    ("pslz", "http://schemas.microsoft.com/office/powerpoint/2016/slidezoom"),
    ("psez", "http://schemas.microsoft.com/office/powerpoint/2016/sectionzoom"),
    ("psuz", "http://schemas.microsoft.com/office/powerpoint/2016/summaryzoom"),
    ("p188", "http://schemas.microsoft.com/office/powerpoint/2018/8/main"),
    ("x14", "http://schemas.microsoft.com/office/spreadsheetml/2009/9/main"),
    ("x14ac", "http://schemas.microsoft.com/office/spreadsheetml/2009/9/ac"),
    ("x15", "http://schemas.microsoft.com/office/spreadsheetml/2010/11/main"),
    ("x15ac", "http://schemas.microsoft.com/office/spreadsheetml/2010/11/ac"),
    ("xtc", "http://schemas.microsoft.com/office/spreadsheetml/2018/threadedcomments"),
];
/// Namespaces whose attributes have prefixes.
const QUALIFIED: &[&str] = &["w", "w14", "m"];

/// The declared prefixes: the depth of the declaration, the prefix, and the entry of [`SPACES`]
/// that it names; empty for a namespace that Office does not know.
type NamespaceScopes = Rc<Vec<(usize, String, &'static str)>>;

/// A document that is being read.
pub struct XmlReader<'a> {
    reader: Reader<&'a [u8]>,
    depth: usize,
    /// The namespaces whose names appear without a prefix in events; empty to match all elements by
    /// local name.
    own: &'static [&'static str],
    scopes: NamespaceScopes,
    /// For each open `AlternateContent`, true if one of its alternatives was read.
    chosen: Vec<bool>,
}

/// The next event of a document.
pub enum XmlEvent<'a> {
    /// The beginning of an element. An empty element yields a beginning and an end.
    Start(XmlElement<'a>),
    /// The end of an element.
    End(ElementEnd),
    /// Text.
    Text(String),
}

/// The beginning of an element.
pub struct XmlElement<'a> {
    raw: BytesStart<'a>,
    name: String,
    /// The namespace and the known prefixes; `None` if local names are matched.
    space: Option<(&'static str, NamespaceScopes)>,
}

/// The end of an element.
pub struct ElementEnd(String);

impl<'a> XmlReader<'a> {
    /// Creates a reader that matches local names.
    pub fn new(text: &'a str) -> Self {
        Self::with_namespaces(text, &[])
    }

    /// Creates a reader for Office Open XML. Names in the namespaces `own` are local names; others
    /// get the prefix that Office uses for their namespace (`mc:Choice`).
    pub fn with_namespaces(text: &'a str, own: &'static [&'static str]) -> Self {
        let mut reader = Reader::from_str(text);
        reader.config_mut().expand_empty_elements = true;
        // Some writers leave a bare `&` in text.
        reader.config_mut().allow_dangling_amp = true;
        // The text may be a part of a document that begins within an element.
        reader.config_mut().allow_unmatched_ends = true;
        Self { reader, depth: 0, own, scopes: NamespaceScopes::default(), chosen: Vec::new() }
    }

    /// Returns the next event, or `None` at the end.
    ///
    /// # Errors
    ///
    /// [`ReadFailure::Broken`], or [`ReadFailure::Depth`] if more than [`DEPTH`] elements are nested.
    pub fn step(&mut self) -> Result<Option<XmlEvent<'a>>, ReadFailure> {
        loop {
            return Ok(Some(match self.reader.read_event().map_err(|_| ReadFailure::Broken)? {
                Raw::Start(element) | Raw::Empty(element) => {
                    self.depth += 1;
                    if self.depth > DEPTH {
                        return Err(ReadFailure::Depth);
                    }
                    if let Some(element) = self.element(element) {
                        XmlEvent::Start(element)
                    } else {
                        self.skip()?;
                        continue;
                    }
                }
                Raw::End(ending) => {
                    // The namespace has to be looked up before `end` drops the element's
                    // declarations.
                    let space = self.space(ending.name());
                    let name = self.name(ending.name(), space);
                    if name == "mc:AlternateContent" {
                        self.chosen.pop();
                    }
                    self.end();
                    XmlEvent::End(ElementEnd(name))
                }
                Raw::Text(text) => XmlEvent::Text(text.xml10_content().into_owned()),
                Raw::CData(text) => XmlEvent::Text(text.xml10_content().into_owned()),
                Raw::GeneralRef(entity) => {
                    let char = entity.resolve_char_ref().ok().flatten();
                    XmlEvent::Text(match char {
                        Some(char) => char.to_string(),
                        None => resolve_predefined_entity(&entity).unwrap_or_default().to_owned(),
                    })
                }
                Raw::Eof => return Ok(None),
                Raw::Comment(_) | Raw::Decl(_) | Raw::PI(_) | Raw::DocType(_) => continue,
            }));
        }
    }

    /// Returns the element that begins, or `None` if Office would not read it.
    fn element(&mut self, raw: BytesStart<'a>) -> Option<XmlElement<'a>> {
        if self.own.is_empty() {
            let name = raw.local_name().as_ref().to_owned();
            return Some(XmlElement { raw, name, space: None });
        }
        self.declare(&raw);
        let space = self.space(raw.name());
        let name = self.name(raw.name(), space);
        let element = XmlElement { raw, name, space: Some((space, self.scopes.clone())) };
        let read = match element.name.as_str() {
            "mc:AlternateContent" => {
                self.chosen.push(false);
                true
            }
            "mc:Choice" | "mc:Fallback" => {
                let needed = element.attr("Requires");
                // `Requires` lists prefixes. An alternative is chosen only if Office knows all
                // their namespaces, and only the first that fits is read.
                let known = |prefix: &str| !space_of(&self.scopes, prefix).is_empty();
                let fits = element.name == "mc:Fallback"
                    || needed.is_some_and(|needed| needed.split_whitespace().all(known));
                let chosen = self.chosen.last_mut();
                fits && chosen.is_some_and(|chosen| !std::mem::replace(chosen, true))
            }
            _ => !space.is_empty(),
        };
        read.then_some(element)
    }

    /// Records the prefixes that an element declares.
    fn declare(&mut self, raw: &BytesStart<'_>) {
        let mut attributes = raw.attributes();
        let declared: Vec<_> = attributes
            .with_checks(false)
            .filter_map(Result::ok)
            .filter_map(|attribute| {
                let prefix = match attribute.key.decompose() {
                    (local, Some(prefix)) if prefix.as_ref() == "xmlns" => {
                        local.as_ref().to_owned()
                    }
                    (local, None) if local.as_ref() == "xmlns" => String::new(),
                    _ => return None,
                };
                let known = SPACES.iter().find(|(_, address)| *address == attribute.value.as_ref());
                Some((self.depth, prefix, known.map_or("", |(space, _)| space)))
            })
            .collect();
        if !declared.is_empty() {
            Rc::make_mut(&mut self.scopes).extend(declared);
        } else if self.depth == 1 && raw.name().prefix().is_none() {
            // A document without any namespace declaration is read as what its place in the package
            // implies.
            let own = self.own.first().copied().unwrap_or_default();
            Rc::make_mut(&mut self.scopes).push((1, String::new(), own));
        }
    }

    /// Returns the namespace of a name.
    fn space(&self, name: QName<'_>) -> &'static str {
        if self.own.is_empty() {
            return "";
        }
        let prefix = name.prefix();
        space_of(&self.scopes, prefix.as_ref().map_or("", |prefix| prefix.as_ref()))
    }

    /// Returns a name as events show it.
    fn name(&self, name: QName<'_>, space: &str) -> String {
        let local = name.local_name();
        if self.own.is_empty() || self.own.contains(&space) {
            return local.as_ref().to_owned();
        }
        format!("{space}:{}", local.as_ref())
    }

    /// Leaves an element and drops the prefixes that it declared.
    fn end(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        let depth = self.depth;
        // Cloning the shared list is costly, and few elements declare prefixes.
        if self.scopes.last().is_some_and(|(at, ..)| *at > depth) {
            Rc::make_mut(&mut self.scopes).retain(|(at, ..)| *at <= depth);
        }
    }

    /// Returns the position of the reader in the text, in bytes.
    pub fn offset(&self) -> usize {
        self.reader.buffer_position() as usize
    }

    /// Reads to the end of the element that began last, and returns the text within it.
    pub fn text(&mut self) -> Result<String, ReadFailure> {
        let outer = self.depth;
        let mut text = String::new();
        while self.depth >= outer {
            match self.step()? {
                Some(XmlEvent::Text(part)) => text.push_str(&part),
                Some(_) => {}
                None => return Err(ReadFailure::Broken),
            }
        }
        Ok(text)
    }

    /// Calls `each` with every element within the one that began last, except for former properties
    /// of tracked changes (`rPrChange`).
    pub fn within(&mut self, mut each: impl FnMut(&XmlElement<'a>)) -> Result<(), ReadFailure> {
        let outer = self.depth;
        while self.depth >= outer {
            match self.step()? {
                Some(XmlEvent::Start(element)) if element.name().ends_with("PrChange") => {
                    self.skip()?;
                }
                Some(XmlEvent::Start(element)) => each(&element),
                Some(_) => {}
                None => return Err(ReadFailure::Broken),
            }
        }
        Ok(())
    }

    /// Skips to the end of the element that began last.
    pub fn skip(&mut self) -> Result<(), ReadFailure> {
        let mut inner = 1;
        while inner > 0 {
            match self.reader.read_event().map_err(|_| ReadFailure::Broken)? {
                // `skip` does not go through `step`, so it counts the depth itself.
                Raw::Start(_) if self.depth + inner > DEPTH => return Err(ReadFailure::Depth),
                Raw::Start(_) => inner += 1,
                Raw::End(_) => inner -= 1,
                Raw::Eof => return Err(ReadFailure::Broken),
                _ => {}
            }
        }
        self.end();
        Ok(())
    }
}

impl XmlElement<'_> {
    /// Returns the name.
    pub fn name(&self) -> String {
        self.name.clone()
    }

    /// Returns the value of the first attribute with this name in the element's own namespace.
    pub fn attr(&self, name: &str) -> Option<String> {
        self.find(|key, prefix| {
            key == name
                && self.space.as_ref().is_none_or(|(space, scopes)| match prefix {
                    Some(prefix) => space_of(scopes, prefix) == *space,
                    // `val` without a prefix has no meaning in WordprocessingML, so Office ignores
                    // it.
                    None => !QUALIFIED.contains(space),
                })
        })
    }

    /// Returns the relationship id in the attribute `r:id`.
    pub fn link(&self) -> Option<String> {
        self.relation("id")
    }

    /// Returns the relationship id in the attribute `r:NAME`.
    pub fn relation(&self, name: &str) -> Option<String> {
        let (_, scopes) = self.space.as_ref()?;
        self.find(|key, prefix| {
            key == name && prefix.is_some_and(|prefix| space_of(scopes, prefix) == "r")
        })
    }

    /// Returns an attribute as a number.
    pub fn number(&self, name: &str) -> Option<f64> {
        self.attr(name)?.trim().parse().ok()
    }

    /// Returns true if the attribute is present and true.
    pub fn flag(&self, name: &str) -> bool {
        self.attr(name).is_some_and(|value| matches!(value.as_str(), "1" | "true" | "on"))
    }

    fn find(&self, fits: impl Fn(&str, Option<&str>) -> bool) -> Option<String> {
        // The library's check for duplicates compares each attribute with all before it.
        let mut attributes = self.raw.attributes();
        let mut attributes = attributes.with_checks(false).filter_map(Result::ok);
        let found = attributes.find(|attribute| {
            let (local, prefix) = attribute.key.decompose();
            fits(local.as_ref(), prefix.as_ref().map(std::convert::AsRef::as_ref))
        })?;
        let value = found.normalized_value(XmlVersion::Implicit1_0);
        Some(value.map_or_else(|_| found.value.clone().into_owned(), std::borrow::Cow::into_owned))
    }
}

impl ElementEnd {
    /// Returns the name.
    pub fn name(&self) -> String {
        self.0.clone()
    }
}

/// Returns the namespace of a prefix; an undeclared prefix has its usual meaning.
fn space_of(scopes: &NamespaceScopes, prefix: &str) -> &'static str {
    let declared = scopes.iter().rev().find(|(_, known, _)| known == prefix);
    let usual = || SPACES.iter().find(|(space, _)| *space == prefix).map(|(space, _)| *space);
    declared.map(|(.., space)| *space).or_else(usual).unwrap_or_default()
}
