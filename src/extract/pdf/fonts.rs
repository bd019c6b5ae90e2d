//! Which letters and digits the fonts of a page show as others: a font says twice what a code is,
//! by its encoding, which people see, and by its map to Unicode, which programs read.
//! Only letters and digits of ASCII in simple fonts are compared; the shapes of glyphs are not.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use hayro_interpret::hayro_cmap::{BfString, CMap};
use hayro_interpret::hayro_syntax::object::{Array, Dict, Name, Object, ObjectIdentifier, Stream};
use hayro_interpret::hayro_syntax::page::Page;
use unicode_normalization::UnicodeNormalization;

/// Fonts and forms of a page that are looked at, and levels of forms.
const ENTRIES: usize = 500;
const LEVELS: u32 = 8;
/// The bit of `/Flags` for a font with an encoding of its own.
const SYMBOLIC: u32 = 1 << 2;
/// Names of fonts whose letters are signs, and of fonts whose letters are known.
const SIGNS: [&str; 4] = ["Symbol", "Dingbats", "Wingdings", "Webdings"];
const STANDARD: [&str; 4] = ["Helvetica", "Arial", "Times", "Courier"];

/// Codes, each with the text that is read for it, that people see as another letter or digit.
pub(super) type Others = HashSet<(u32, String)>;

/// The fonts of a file that were looked at.
#[derive(Default)]
pub(super) struct Fonts {
    known: HashMap<ObjectIdentifier, Rc<Others>>,
}

impl Fonts {
    /// Returns what the fonts of a page show as others.
    pub fn of_page(&mut self, page: &Page<'_>) -> Others {
        let mut others = Others::new();
        let own = page.resources();
        let mut open = vec![(own.fonts.clone(), own.x_objects.clone(), 0)];
        let mut seen = HashSet::new();
        let mut left = ENTRIES;
        while let Some((fonts, forms, level)) = open.pop() {
            for name in fonts.keys().take(left) {
                left = left.saturating_sub(1);
                others.extend(self.of_font(&fonts, &name).iter().cloned());
            }
            for name in forms.keys().take(if level < LEVELS { left } else { 0 }) {
                left = left.saturating_sub(1);
                if forms.get_ref(&name).is_some_and(|id| !seen.insert(ObjectIdentifier::from(id))) {
                    continue;
                }
                let form = forms.get::<Stream<'_>>(&name);
                let Some(inner) = form.and_then(|form| form.dict().get::<Dict<'_>>("Resources"))
                else {
                    continue;
                };
                let inner = |key| inner.get::<Dict<'_>>(key).unwrap_or_default();
                open.push((inner("Font"), inner("XObject"), level + 1));
            }
        }
        others
    }

    fn of_font(&mut self, fonts: &Dict<'_>, name: &Name<'_>) -> Rc<Others> {
        let id = fonts.get_ref(name).map(ObjectIdentifier::from);
        if let Some(known) = id.and_then(|id| self.known.get(&id)) {
            return Rc::clone(known);
        }
        let font = fonts.get::<Dict<'_>>(name);
        let found = Rc::new(font.and_then(|font| others(&font)).unwrap_or_default());
        if let Some(id) = id {
            self.known.insert(id, Rc::clone(&found));
        }
        found
    }
}

/// Returns what a font shows as others; `None` for one that cannot be compared.
fn others(font: &Dict<'_>) -> Option<Others> {
    let kind = font.get::<Name<'_>>("Subtype")?;
    let base = font.get::<Name<'_>>("BaseFont");
    let base = base.as_ref().map_or("", |name| name.as_str());
    if !matches!(kind.as_str(), "Type1" | "MMType1" | "TrueType")
        || SIGNS.iter().any(|sign| base.contains(sign))
    {
        return None;
    }
    let about = font.get::<Dict<'_>>("FontDescriptor").unwrap_or_default();
    let embedded = ["FontFile", "FontFile2", "FontFile3"].iter().any(|key| about.contains_key(key));
    // Every viewer has these, with the letters where they are.
    let standard = !embedded && STANDARD.iter().any(|name| base.contains(name));
    let symbolic = about.get::<u32>("Flags").unwrap_or_default() & SYMBOLIC != 0 && !standard;
    if symbolic && kind.as_str() == "TrueType" {
        return None;
    }
    let map = font.get::<Stream<'_>>("ToUnicode")?;
    let map = CMap::parse(&map.decoded_data().ok()?, |_| None::<&[u8]>)?;
    let (mut others, mut same) = (Others::new(), 0);
    for (code, shown) in shown(font, embedded || symbolic) {
        let text = match map.lookup_bf_string(code) {
            Some(BfString::Char(character)) => character.to_string(),
            Some(BfString::String(text)) => text,
            None => continue,
        };
        let plain: String = text.nfkc().flat_map(char::to_lowercase).collect();
        if plain.trim() == shown.to_ascii_lowercase().to_string() {
            same += 1;
        } else if plain.contains(|c: char| c.is_alphanumeric() || c.is_ascii_punctuation()) {
            others.insert((code, text));
        }
    }
    // In a font of the file, names may be arbitrary; then most of them are wrong.
    (!embedded || others.len() <= same).then_some(others)
}

/// Returns the codes of a font that its encoding shows as letters and digits. With an encoding of
/// its own, only what the file changes in that is known.
fn shown(font: &Dict<'_>, own: bool) -> HashMap<u32, char> {
    let encoding = font.get::<Object<'_>>("Encoding");
    let (base, changes) = match encoding {
        Some(Object::Name(name)) => (Some(name), None),
        Some(Object::Dict(entries)) => {
            (entries.get::<Name<'_>>("BaseEncoding"), entries.get::<Array<'_>>("Differences"))
        }
        _ => (None, None),
    };
    // All of these have the letters and digits of ASCII at its places.
    let ascii = match base.as_ref().map(|name| name.as_str()) {
        Some("WinAnsiEncoding" | "MacRomanEncoding" | "StandardEncoding") => true,
        Some(_) => false,
        None => !own,
    };
    let codes = (0..=0x7F_u8).filter(|code| ascii && code.is_ascii_alphanumeric());
    let mut shown: HashMap<u32, char> =
        codes.map(|code| (u32::from(code), char::from(code))).collect();
    let mut code = 0_u32;
    for entry in changes.unwrap_or_default().iter::<Object<'_>>().take(512) {
        match entry {
            Object::Number(number) => code = number.as_f64() as u32,
            Object::Name(name) => {
                match character(name.as_str()) {
                    Some(character) => shown.insert(code, character),
                    None => shown.remove(&code),
                };
                code = code.saturating_add(1);
            }
            _ => {}
        }
    }
    shown
}

/// Returns the letter or digit that a glyph's name stands for.
fn character(name: &str) -> Option<char> {
    const DIGITS: [&str; 10] =
        ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"];
    let mut characters = name.chars();
    match (characters.next(), characters.next()) {
        (Some(character), None) => Some(character).filter(char::is_ascii_alphabetic),
        _ => DIGITS
            .iter()
            .zip('0'..='9')
            .find_map(|(digit, character)| (*digit == name).then_some(character)),
    }
}
