//! The lines of an iCalendar document, and their components.
//!
//! The library does not report the line of a property, and treats a broken line as the end of the
//! document. So lines are unfolded here, and the library parses them one by one.

use std::borrow::Cow;

use calcard::icalendar::{ICalendarEntry, ICalendarParameterName, ICalendarValue};
use calcard::{Entry, Parser};

use super::event::COMPONENTS;
use crate::text::{Note, NoteTally, note, quoted};

/// The maximum nesting of components.
const MAX_DEPTH: usize = 16;

/// The maximum number of notes with the same text on different lines.
const ALIKE: usize = 5;

/// An unfolded line.
#[derive(Debug)]
pub struct ContentLine {
    /// Its number in the document, from 1.
    pub number: usize,
    /// The property's name, upper case.
    pub name: String,
    text: String,
}

/// A component with its own lines and its inner components.
#[derive(Debug)]
pub struct IcalComponent {
    /// Its name, upper case.
    pub name: String,
    /// The number of its `BEGIN` line.
    pub number: usize,
    /// The properties.
    pub lines: Vec<ContentLine>,
    /// The inner components.
    pub parts: Vec<IcalComponent>,
}

/// The notes on a document.
#[derive(Debug)]
pub struct DocumentNotes(NoteTally);

impl Default for DocumentNotes {
    fn default() -> Self {
        Self(NoteTally::new(ALIKE))
    }
}

impl DocumentNotes {
    /// Adds a note on a line.
    pub fn line(&mut self, number: usize, what: impl Into<Note>) {
        self.0.add(what.into().under(note!("line {}", number)));
    }

    /// Returns the notes, a few of each kind with a count of the rest.
    pub fn taken(self) -> Vec<Note> {
        self.0.notes()
    }
}

/// Returns the components of a document.
pub fn components(text: &str, notes: &mut DocumentNotes) -> Vec<IcalComponent> {
    let mut done = Vec::new();
    let mut open: Vec<IcalComponent> = Vec::new();
    let mut many = 0;
    // The number of open components within one that is too deep.
    let mut below = 0_usize;
    for (number, text) in lines(text) {
        let Some(name) = name(&text) else {
            if below == 0 && !text.trim().is_empty() {
                notes.line(number, note!("not a property: {}", quoted(&text)));
            }
            continue;
        };
        let value = text.split_once(':').map_or("", |(_, value)| value).trim();
        match name.as_str() {
            "BEGIN" if below > 0 => below += 1,
            "BEGIN" => {
                many += 1;
                if many > COMPONENTS {
                    notes.line(number, note!("only the first {} components were read", COMPONENTS));
                    break;
                }
                let kind = value.to_ascii_uppercase();
                // No component of a calendar can contain these, so an open one has lost its
                // END. Without this check it would swallow the next events.
                let is_outer =
                    matches!(&*kind, "VEVENT" | "VTODO" | "VJOURNAL" | "VFREEBUSY" | "VTIMEZONE");
                while is_outer
                    && open.len() > 1
                    && let Some(component) = open.pop()
                {
                    unended(&component, notes);
                    close(component, &mut open, &mut done);
                }
                if open.len() >= MAX_DEPTH {
                    notes.line(number, "components are nested too deeply");
                    below = 1;
                    continue;
                }
                open.push(IcalComponent {
                    name: kind,
                    number,
                    lines: Vec::new(),
                    parts: Vec::new(),
                });
            }
            "END" if below > 0 => below -= 1,
            "END" => {
                let value = value.to_ascii_uppercase();
                if !open.iter().any(|component| component.name == value) {
                    notes.line(number, note!("END without BEGIN: {}", quoted(&value)));
                    continue;
                }
                while let Some(component) = open.pop() {
                    let found = component.name == value;
                    if !found {
                        unended(&component, notes);
                    }
                    close(component, &mut open, &mut done);
                    if found {
                        break;
                    }
                }
            }
            _ if below > 0 => {}
            _ => match open.last_mut() {
                Some(component) => component.lines.push(ContentLine { number, name, text }),
                None => notes.line(number, "outside the calendar"),
            },
        }
    }
    while let Some(component) = open.pop() {
        unended(&component, notes);
        close(component, &mut open, &mut done);
    }
    done
}

fn unended(component: &IcalComponent, notes: &mut DocumentNotes) {
    notes.line(component.number, note!("{} has no END", quoted(&component.name)));
}

fn close(component: IcalComponent, open: &mut [IcalComponent], done: &mut Vec<IcalComponent>) {
    match open.last_mut() {
        Some(outer) => outer.parts.push(component),
        None => done.push(component),
    }
}

/// Returns UTF-8 text without folds inside characters; `None` if it has none or is not UTF-8.
pub fn whole_characters(bytes: &[u8]) -> Option<Vec<u8>> {
    if std::str::from_utf8(bytes).is_ok() {
        return None;
    }
    let mut whole: Vec<u8> = Vec::with_capacity(bytes.len());
    for byte in bytes {
        // Continuation bytes of a character.
        if matches!(byte, 0x80..=0xBF) {
            for fold in [&b"\r\n "[..], b"\r\n\t", b"\n ", b"\n\t"] {
                if whole.ends_with(fold) {
                    whole.truncate(whole.len() - fold.len());
                }
            }
        }
        whole.push(*byte);
    }
    std::str::from_utf8(&whole).is_ok().then_some(whole)
}

/// Returns the lines, with folded ones joined.
fn lines(text: &str) -> Vec<(usize, String)> {
    // Some programs begin a file with a byte order mark.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut all: Vec<(usize, String)> = Vec::new();
    for (at, part) in text.split('\n').enumerate() {
        let part = part.strip_suffix('\r').unwrap_or(part);
        match (part.strip_prefix([' ', '\t']), all.last_mut()) {
            (Some(rest), Some((_, line))) => line.push_str(rest),
            _ => all.push((at + 1, part.to_owned())),
        }
    }
    all
}

/// Returns the name of the property on a line.
fn name(line: &str) -> Option<String> {
    let end = line.find([';', ':'])?;
    let name = line.get(..end)?.trim();
    let right = !name.is_empty()
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    right.then(|| name.to_ascii_uppercase())
}

impl ContentLine {
    /// Returns the property, parsed by the library.
    pub fn read(&self) -> Option<IcalProperty> {
        // The library parses only whole components.
        let text = format!("BEGIN:VEVENT\r\n{}\r\nEND:VEVENT\r\n", mended(&self.text));
        match Parser::new(&text).entry() {
            Entry::ICalendar(calendar) => {
                let event = calendar.components.into_iter().next()?;
                event.entries.into_iter().next().map(IcalProperty)
            }
            _ => None,
        }
    }

    /// Returns the text after the first colon, unchanged.
    pub fn value(&self) -> &str {
        self.text.split_once(':').map_or("", |(_, value)| value)
    }

    /// Returns the line unchanged.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl IcalComponent {
    /// Returns the first property with this name that can be parsed.
    pub fn property(&self, name: &str) -> Option<IcalProperty> {
        let mut lines = self.lines.iter().filter(|line| line.name == name);
        lines.find_map(ContentLine::read)
    }

    /// Returns the text of a property; empty if it is missing.
    pub fn text(&self, name: &str) -> String {
        self.property(name).map(|property| property.text()).unwrap_or_default()
    }
}

/// A property parsed by the library.
#[derive(Debug)]
pub struct IcalProperty(ICalendarEntry);

impl IcalProperty {
    /// Returns the values.
    pub fn values(&self) -> &[ICalendarValue] {
        &self.0.values
    }

    /// Returns the first value as text. Parts that the library splits at commas are joined.
    pub fn text(&self) -> String {
        let texts: Vec<&str> = self.0.values.iter().filter_map(ICalendarValue::as_text).collect();
        clean(&texts.join(","))
    }

    /// Returns a parameter's first value.
    pub fn param(&self, name: &str) -> Option<&str> {
        let mut params = self.0.params.iter();
        let param = params.find(|param| match &param.name {
            ICalendarParameterName::Other(other) => other.eq_ignore_ascii_case(name),
            known => known.as_str().eq_ignore_ascii_case(name),
        })?;
        param.value.as_text().filter(|text| !text.is_empty())
    }

    /// Returns a parameter's first value, decoded (RFC 6868).
    pub fn param_text(&self, name: &str) -> Option<String> {
        // In two steps, because the second circumflex of `^^n` does not begin an escape.
        let parts = self.param(name)?.split("^^");
        let parts = parts.map(|part| part.replace("^n", "\n").replace("^'", "\""));
        Some(parts.collect::<Vec<_>>().join("^"))
    }
}

/// Returns a line with two common errors corrected: a `TZID` with a colon and without quotes,
/// such as `GMT+05:30`, and `VALUE=DATE` for a time.
fn mended(line: &str) -> Cow<'_, str> {
    const ZONE: &str = ";TZID=";
    const DATE: &str = ";VALUE=DATE:";
    let upper = line.to_ascii_uppercase();
    let at = |what: &str| upper.find(what).map(|at| at + what.len());
    let (zone, date) = (at(ZONE), at(DATE));
    if let Some((head, rest)) = zone.and_then(|at| line.split_at_checked(at)) {
        // The value begins with a year, which distinguishes its colon from one in the zone.
        let is_value = |(at, _): &(usize, &str)| {
            let value = rest.get(at + 1..at + 5);
            value.is_some_and(|year| year.bytes().all(|byte| byte.is_ascii_digit()))
        };
        let value = rest.match_indices(':').find(is_value).map_or(rest.len(), |(at, _)| at);
        let end = rest.find(';').unwrap_or(value).min(value);
        if let Some((id, rest)) = rest.split_at_checked(end)
            && id.contains(':')
            && !id.contains('"')
        {
            return format!("{head}\"{id}\"{rest}").into();
        }
    }
    if let Some((head, value)) = date.and_then(|at| line.split_at_checked(at)) {
        let time = value.split_once(['T', 't']).map_or("", |(_, time)| time);
        // Midnight is the day itself, so the value can stay a day.
        if time.bytes().any(|byte| matches!(byte, b'1'..=b'9')) {
            let head = head.get(..head.len() - DATE.len()).unwrap_or_default();
            return format!("{head}:{value}").into();
        }
    }
    line.into()
}

/// Cleans a text: line ends are `\n`, and other control characters except the tab are removed.
pub fn clean(text: &str) -> String {
    text.replace("\r\n", "\n")
        .chars()
        .filter_map(|c| match c {
            '\r' | '\u{2028}' | '\u{2029}' => Some('\n'),
            '\n' | '\t' => Some(c),
            c if c.is_control() => None,
            c => Some(c),
        })
        .collect()
}
