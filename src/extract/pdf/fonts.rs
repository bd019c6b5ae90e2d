//! Unicode mappings of a page's fonts, beyond the ones that hayro reads.
//!
//! Letters and digits that a font displays as others: a font states the meaning of a code twice, in
//! its encoding, which people see, and in its map to Unicode, which programs read. Only ASCII
//! letters and digits in simple fonts are compared; the shapes of glyphs are not.
//!
//! Characters of embedded fonts that use one of Adobe's collections and have no map to Unicode: the
//! collection numbers its characters (CID; ISO 32000-1, 9.7.3 and 9.10.2). hayro does this for
//! fonts that are not embedded, and supplies the maps.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use hayro_interpret::font::Glyph;
use hayro_interpret::hayro_cmap::{BfString, CMap, CMapName, CidFamily, load_embedded};
use hayro_interpret::hayro_syntax::object::{Array, Dict, Name, Object, ObjectIdentifier, Stream};
use hayro_interpret::hayro_syntax::page::Page;
use unicode_normalization::UnicodeNormalization;

/// Maximum fonts and forms of a page that are read, and levels of forms.
const ENTRIES: usize = 500;
const LEVELS: u32 = 8;
/// The bit of `/Flags` for a font with an encoding of its own.
const SYMBOLIC: u32 = 1 << 2;
/// Names of symbol fonts, and of fonts with standard letters.
const SIGNS: [&str; 4] = ["Symbol", "Dingbats", "Wingdings", "Webdings"];
const STANDARD: [&str; 4] = ["Helvetica", "Arial", "Times", "Courier"];

/// Codes that people see as another letter or digit, each with the text that programs read.
type MisleadingCodes = HashSet<(u32, String)>;

/// The mappings of a page's fonts.
#[derive(Default)]
pub(super) struct PageFonts {
    pub others: MisleadingCodes,
    collected: Vec<Rc<CollectionFont>>,
}

impl PageFonts {
    /// Returns the text of a glyph by its number in a collection.
    pub fn text(&self, glyph: &Glyph<'_>) -> Option<BfString> {
        let (false, Glyph::Outline(outline)) = (self.collected.is_empty(), glyph) else {
            return None;
        };
        // A glyph identifies its font only by name, so all fonts of that name have to agree.
        let name = outline.font_data()?.postscript_name?;
        let fonts = self.collected.iter().filter(|font| font.name == name);
        let mut texts = fonts.map(|font| font.text(glyph.char_code()));
        let first = texts.next()?;
        first.filter(|first| texts.all(|text| text.as_ref() == Some(first)))
    }
}

/// A font of one of Adobe's collections.
struct CollectionFont {
    /// The name, without the tag of a subset.
    name: String,
    /// The CID of each code, and the text of each CID.
    numbers: CMap,
    texts: Rc<CMap>,
}

impl CollectionFont {
    fn text(&self, code: u32) -> Option<BfString> {
        let number = (1..=4).find_map(|bytes| self.numbers.lookup_cid_code(code, bytes))?;
        self.texts.lookup_bf_string(number)
    }
}

/// The mappings of a font.
struct KnownFont {
    others: MisleadingCodes,
    collected: Option<Rc<CollectionFont>>,
}

/// The fonts of a file that have been read.
#[derive(Default)]
pub(super) struct FontCache {
    known: HashMap<ObjectIdentifier, Rc<KnownFont>>,
    /// The texts of collections.
    texts: HashMap<CidFamily, Rc<CMap>>,
}

impl FontCache {
    /// Returns the mappings of a page's fonts.
    pub fn of_page(&mut self, page: &Page<'_>) -> PageFonts {
        let mut found = PageFonts::default();
        let own = page.resources();
        let mut open = vec![(own.fonts.clone(), own.x_objects.clone(), 0)];
        let mut seen = HashSet::new();
        let mut left = ENTRIES;
        while let Some((fonts, forms, level)) = open.pop() {
            for name in fonts.keys().take(left) {
                left = left.saturating_sub(1);
                let font = self.of_font(&fonts, &name);
                found.others.extend(font.others.iter().cloned());
                found.collected.extend(font.collected.clone());
            }
            for name in forms.keys().take(if level < LEVELS { left } else { 0 }) {
                left = left.saturating_sub(1);
                // Forms may refer to one another in circles.
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
        found
    }

    fn of_font(&mut self, fonts: &Dict<'_>, name: &Name<'_>) -> Rc<KnownFont> {
        let id = fonts.get_ref(name).map(ObjectIdentifier::from);
        if let Some(known) = id.and_then(|id| self.known.get(&id)) {
            return Rc::clone(known);
        }
        let font = fonts.get::<Dict<'_>>(name).unwrap_or_default();
        let found = Rc::new(KnownFont {
            others: others(&font).unwrap_or_default(),
            collected: self.collected(&font).map(Rc::new),
        });
        if let Some(id) = id {
            self.known.insert(id, Rc::clone(&found));
        }
        found
    }

    /// Returns a font that has no map to Unicode, with the collection of its encoding or its
    /// descendant.
    fn collected(&mut self, font: &Dict<'_>) -> Option<CollectionFont> {
        if font.contains_key("ToUnicode") {
            return None;
        }
        let mut descendants = font.get::<Array<'_>>("DescendantFonts")?.iter::<Dict<'_>>();
        let numbers = match font.get::<Object<'_>>("Encoding")? {
            Object::Name(name) => {
                CMap::parse(load_embedded(CMapName::from_bytes(&name))?, load_embedded)
            }
            Object::Stream(map) => CMap::parse(&map.decoded_data().ok()?, load_embedded),
            _ => None,
        }?;
        let stated = numbers.metadata().character_collection.as_ref();
        let family = match stated.map(|collection| collection.family.clone()) {
            // Identity encodings name no collection with texts; the descendant's `CIDSystemInfo`
            // does.
            Some(family) if family.ucs2_cmap().is_some() => family,
            _ => {
                let info = descendants.next()?.get::<Dict<'_>>("CIDSystemInfo")?;
                let text = |key| {
                    info.get::<Object<'_>>(key)
                        .and_then(hayro_interpret::hayro_syntax::object::Object::into_string)
                };
                CidFamily::from_registry_ordering(&text("Registry")?, &text("Ordering")?)
            }
        };
        let map = family.ucs2_cmap()?;
        let texts = match self.texts.get(&family) {
            Some(texts) => Rc::clone(texts),
            None => Rc::new(CMap::parse(load_embedded(map)?, load_embedded)?),
        };
        self.texts.insert(family, Rc::clone(&texts));
        let name = font.get::<Name<'_>>("BaseFont")?;
        let name = match name.as_str().split_once('+') {
            Some((mark, name)) if mark.len() == 6 => name,
            _ => name.as_str(),
        };
        Some(CollectionFont { name: name.to_owned(), numbers, texts })
    }
}

/// Returns the codes that a font displays as other characters, or `None` if it cannot be compared.
fn others(font: &Dict<'_>) -> Option<MisleadingCodes> {
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
    // Every viewer has these fonts, with letters at their standard codes.
    let standard = !embedded && STANDARD.iter().any(|name| base.contains(name));
    let symbolic = about.get::<u32>("Flags").unwrap_or_default() & SYMBOLIC != 0 && !standard;
    if symbolic && kind.as_str() == "TrueType" {
        return None;
    }
    let map = font.get::<Stream<'_>>("ToUnicode")?;
    let map = CMap::parse(&map.decoded_data().ok()?, |_| None::<&[u8]>)?;
    let (mut others, mut same) = (MisleadingCodes::new(), 0);
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
    // An embedded font may use arbitrary glyph names, in which case most of them differ.
    (!embedded || others.len() <= same).then_some(others)
}

/// Returns the codes that an encoding displays as letters and digits. For a font with an encoding
/// of its own, only the differences stated in the file are known.
fn shown(font: &Dict<'_>, own: bool) -> HashMap<u32, char> {
    let encoding = font.get::<Object<'_>>("Encoding");
    let (base, changes) = match encoding {
        Some(Object::Name(name)) => (Some(name), None),
        Some(Object::Dict(entries)) => {
            (entries.get::<Name<'_>>("BaseEncoding"), entries.get::<Array<'_>>("Differences"))
        }
        _ => (None, None),
    };
    // All of these have the ASCII letters and digits at their ASCII codes.
    let ascii = match base.as_ref().map(hayro_interpret::hayro_syntax::object::Name::as_str) {
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
                    // The difference replaces a letter with a glyph that is not compared.
                    None => shown.remove(&code),
                };
                code = code.saturating_add(1);
            }
            _ => {}
        }
    }
    shown
}

/// Returns the letter or digit with this glyph name.
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
