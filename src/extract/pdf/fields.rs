//! Content of a PDF file other than its drawn pages: form fields, comments, links, layers, embedded
//! files.

use std::collections::HashSet;

use hayro_interpret::hayro_syntax::Pdf;
use hayro_interpret::hayro_syntax::object::{
    Array, Dict, Name, Object, ObjectIdentifier, Rect, Stream,
};
use hayro_interpret::hayro_syntax::page::Page;

use crate::InnerFile;

/// Maximum entries of a list, levels of a tree, and pages that are searched for files.
const ENTRIES: usize = 2_000;
const LEVELS: u32 = 16;
const PAGES: usize = 1_000;
/// Maximum links of a page, and characters of an address.
const LINKS: usize = 100;
const ADDRESS: usize = 300;
/// Bits of `/F`: hidden, and not displayed on screen.
const UNSEEN: u32 = 1 << 1 | 1 << 5;
/// Bits of `/Ff`: a password; a radio button; a push button; a list that displays only the chosen
/// item.
const PASSWORD: u32 = 1 << 13;
const RADIO: u32 = 1 << 15;
const PUSH: u32 = 1 << 16;
const COMBO: u32 = 1 << 17;
/// States of a ticked box that carry no further meaning.
const TICKED: [&str; 5] = ["Yes", "On", "True", "1", "Checked"];

/// The content that annotations add to a page.
#[derive(Default)]
pub(super) struct AnnotationContent {
    /// Form fields with their values.
    pub fields: Vec<FormField>,
    /// Comments, with their authors.
    pub comments: Vec<(String, String)>,
    /// Texts of annotations that are marked as hidden.
    pub hidden: Vec<String>,
    /// Links: the area on the page, in the page's units, and the target.
    pub links: Vec<(Rect, String)>,
}

/// A form field with a value.
pub(super) struct FormField {
    pub name: String,
    pub value: String,
    /// The area on the page, in the page's units.
    pub area: Rect,
    /// True if the field's drawing shows the value itself. A tick may consist of lines only, and a
    /// list shows all of its items.
    pub stated: bool,
}

/// Returns true if viewers draw form fields according to their values and ignore the stored
/// drawings (ISO 32000-1, 12.7.2).
pub(super) fn draws_values(pdf: &Pdf) -> bool {
    let form = catalog(pdf).and_then(|root| root.get::<Dict<'_>>("AcroForm"));
    form.and_then(|form| form.get::<bool>("NeedAppearances")).unwrap_or_default()
}

/// Returns the content that annotations add to a page. If viewers draw fields according to their
/// values, so are the states of buttons read.
pub(super) fn of_page(page: &Page<'_>, draws_values: bool) -> AnnotationContent {
    let mut added = AnnotationContent::default();
    let list = page.raw().get::<Array<'_>>("Annots").unwrap_or_default();
    for entry in list.iter::<Dict<'_>>().take(ENTRIES) {
        let kind = entry.get::<Name<'_>>("Subtype");
        let kind = kind.as_ref().map_or("", |kind| kind.as_str());
        let unseen = entry.get::<u32>("F").unwrap_or_default() & UNSEEN != 0;
        if kind == "Widget" && is(inherited(&entry, "FT").as_ref(), "Btn") {
            let state = (!unseen).then(|| button(&entry, draws_values)).flatten();
            added.fields.extend(state.map(|state| FormField::new(&entry, state, false)));
            continue;
        }
        if kind == "Link" && !unseen && added.links.len() < LINKS {
            added.links.extend(target(&entry));
        }
        let drawn = entry.get::<Dict<'_>>("AP").is_some_and(|drawings| drawings.contains_key("N"));
        let text = match kind {
            "Widget" => value(&entry),
            "Link" | "Popup" => None,
            // Its drawing is read with the page.
            "FreeText" if drawn && !unseen => None,
            _ => string(&entry, "Contents"),
        };
        let Some(text) = text.filter(|text| !text.trim().is_empty()) else { continue };
        if unseen {
            added.hidden.push(text);
        } else if kind == "Widget" {
            let list = is(inherited(&entry, "FT").as_ref(), "Ch") && flags(&entry) & COMBO == 0;
            added.fields.push(FormField::new(&entry, text, !list));
        } else {
            added.comments.push((string(&entry, "T").unwrap_or_default(), text));
        }
    }
    added
}

impl FormField {
    fn new(entry: &Dict<'_>, value: String, stated: bool) -> Self {
        let area = entry.get::<Rect>("Rect").unwrap_or(Rect::ZERO);
        Self { name: name(entry), value, area, stated }
    }
}

/// Returns the area and target of a link to an address outside of the file.
fn target(link: &Dict<'_>) -> Option<(Rect, String)> {
    let address = string(&link.get::<Dict<'_>>("A")?, "URI")?;
    let mut characters = address.chars().filter(|c| !c.is_whitespace() && !c.is_control());
    let mut address = String::new();
    for character in characters.by_ref().take(ADDRESS) {
        // The address is shown within Markdown.
        match character {
            '!' | '(' | ')' | '<' | '>' | '[' | ']' | '\\' => {
                address.push_str(&format!("%{:02X}", u32::from(character)));
            }
            character => address.push(character),
        }
    }
    if characters.next().is_some() {
        address.push('…');
    }
    (!address.is_empty()).then_some((link.get::<Rect>("Rect")?, address))
}

/// Returns an entry of a field, possibly inherited from its parents.
fn inherited<'a>(field: &Dict<'a>, key: &str) -> Option<Object<'a>> {
    let mut field = field.clone();
    for _ in 0..LEVELS {
        if let Some(found) = field.get::<Object<'_>>(key) {
            return Some(found);
        }
        field = field.get::<Dict<'_>>("Parent")?;
    }
    None
}

/// Returns true if an entry is this name.
fn is(entry: Option<&Object<'_>>, name: &str) -> bool {
    matches!(entry, Some(Object::Name(own)) if own.as_str() == name)
}

/// Returns the state of a button: `yes` or `no`, or the choice among several. Returns `None` for an
/// option that is not chosen, and for a push button.
fn button(field: &Dict<'_>, draws_values: bool) -> Option<String> {
    let flags = flags(field);
    if flags & PUSH != 0 {
        return None;
    }
    // Boxes of one field are alternatives, too.
    let kids = field.get::<Dict<'_>>("Parent").and_then(|field| field.get::<Array<'_>>("Kids"));
    let several = !field.contains_key("T") && kids.is_some_and(|kids| kids.raw_iter().count() > 1);
    let one = several || flags & RADIO != 0;
    let value = match inherited(field, "V") {
        Some(Object::Name(name)) => Some(name),
        _ => None,
    };
    let drawn = field.get::<Name<'_>>("AS");
    let state = if draws_values { value.or(drawn) } else { drawn.or(value) };
    // A state that this button cannot draw belongs to another button of the field.
    let drawings = field.get::<Dict<'_>>("AP").and_then(|of| of.get::<Dict<'_>>("N"));
    let state = state.filter(|state| drawings.is_none_or(|all| all.contains_key(state)));
    let state = state.as_ref().map_or("Off", |state| state.as_str());
    match state {
        "Off" | "" if one => None,
        "Off" | "" => Some("no".to_owned()),
        ticked if !one && TICKED.iter().any(|known| known.eq_ignore_ascii_case(ticked)) => {
            Some("yes".to_owned())
        }
        // States may be indexes into a list of their texts.
        state => match inherited(field, "Opt") {
            Some(Object::Array(texts)) => {
                let text = state.parse().ok().and_then(|at| texts.iter::<Object<'_>>().nth(at));
                let text =
                    text.and_then(hayro_interpret::hayro_syntax::object::Object::into_string);
                Some(text.map_or_else(|| state.to_owned(), |text| decoded(text.as_bytes())))
            }
            _ => Some(state.to_owned()),
        },
    }
}

/// Returns the bits of `/Ff`.
fn flags(field: &Dict<'_>) -> u32 {
    inherited(field, "Ff")
        .and_then(hayro_interpret::hayro_syntax::object::Object::into_i32)
        .unwrap_or_default() as u32
}

/// Returns the value of a field as text, or the chosen items of a list.
fn value(field: &Dict<'_>) -> Option<String> {
    if flags(field) & PASSWORD != 0 {
        return None;
    }
    // An item of a list may be a pair: the value, and the text that people see.
    let items = match inherited(field, "Opt") {
        Some(Object::Array(items)) => items,
        _ => Array::default(),
    };
    let shown = |value: String| {
        let mut pairs = items.iter::<Array<'_>>().take(ENTRIES).map(|pair| {
            let mut texts = pair
                .iter::<Object<'_>>()
                .filter_map(hayro_interpret::hayro_syntax::object::Object::into_string);
            let mut next = || texts.next().map(|text| decoded(text.as_bytes()));
            (next(), next())
        });
        let pair = pairs.find(|(own, _)| own.as_ref() == Some(&value));
        pair.and_then(|(_, text)| text).unwrap_or(value)
    };
    let one = |value: Object<'_>| match value {
        Object::String(text) => Some(shown(decoded(text.as_bytes()))),
        Object::Name(name) => Some(name.as_str().to_owned()).filter(|name| name != "Off"),
        Object::Stream(text) => Some(decoded(&text.decoded_data().ok()?)),
        _ => None,
    };
    match inherited(field, "V")? {
        Object::Array(values) => {
            let values: Vec<String> =
                values.iter::<Object<'_>>().take(ENTRIES).filter_map(one).collect();
            Some(values.join(", "))
        }
        value => one(value),
    }
}

/// Returns the fully qualified name of a field.
fn name(field: &Dict<'_>) -> String {
    let mut names = Vec::new();
    let mut field = Some(field.clone());
    for _ in 0..LEVELS {
        let Some(own) = field else { break };
        names.extend(string(&own, "T"));
        field = own.get::<Dict<'_>>("Parent");
    }
    names.reverse();
    names.join(".")
}

/// The layers of a file, by object.
#[derive(Default)]
pub(super) struct FileLayers {
    /// The layers that are switched off.
    pub off: HashSet<ObjectIdentifier>,
    /// Layers that are on, but not meant for the screen. Viewers that honour the usage hide them
    /// (ISO 32000-1, 8.11.4.4); others do not.
    pub unsure: HashSet<ObjectIdentifier>,
}

impl FileLayers {
    /// Returns a file whose catalog also switches off the layers in doubt, if there are any.
    pub fn fewer(&self) -> Option<String> {
        let ids: Vec<String> = self
            .off
            .iter()
            .chain(&self.unsure)
            .take(ENTRIES)
            .map(|id| format!("{} {} R", id.obj_number, id.gen_number))
            .collect();
        (!self.unsure.is_empty()).then(|| {
            format!(
                "%PDF-1.5\n1 0 obj<</Type/Catalog/Pages 2 0 R/OCProperties<</D<</OFF[{}]>>>>>>endobj\n\
                 2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n\
                 3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>endobj\n\
                 trailer<</Root 1 0 R/Size 4>>\n%%EOF",
                ids.join(" ")
            )
        })
    }
}

/// Returns the layers of a file that are off, or may be.
pub(super) fn layers(pdf: &Pdf) -> FileLayers {
    let mut layers = FileLayers::default();
    let Some(all) = catalog(pdf).and_then(|root| root.get::<Dict<'_>>("OCProperties")) else {
        return layers;
    };
    let Some(state) = all.get::<Dict<'_>>("D") else { return layers };
    let ids = |of: &Dict<'_>, key: &str| -> Vec<ObjectIdentifier> {
        let list = of.get::<Array<'_>>(key).unwrap_or_default();
        list.raw_iter().filter_map(|entry| Some(entry.as_obj_ref()?.into())).collect()
    };
    if state.get::<Name<'_>>("BaseState").is_some_and(|base| base.as_str() == "OFF") {
        layers.off.extend(ids(&all, "OCGs"));
    }
    // `ON` and `OFF` list the exceptions from the base state (ISO 32000-1, 8.11.4.3).
    for id in ids(&state, "ON") {
        layers.off.remove(&id);
    }
    layers.off.extend(ids(&state, "OFF"));
    let automatic = state.get::<Array<'_>>("AS").unwrap_or_default();
    for usage in automatic.iter::<Dict<'_>>().take(ENTRIES) {
        if usage.get::<Name<'_>>("Event").is_none_or(|event| event.as_str() != "View") {
            continue;
        }
        for id in ids(&usage, "OCGs").into_iter().take(ENTRIES) {
            let stated =
                pdf.xref().get::<Dict<'_>>(id).and_then(|layer| layer.get::<Dict<'_>>("Usage"));
            let stated = stated.and_then(|usage| usage.get::<Dict<'_>>("View"));
            let stated = stated.and_then(|view| view.get::<Name<'_>>("ViewState"));
            if stated.is_some_and(|state| state.as_str() == "OFF") && !layers.off.contains(&id) {
                layers.unsure.insert(id);
            }
        }
    }
    layers
}

/// Returns the number of pages that a file states.
pub(super) fn pages(pdf: &Pdf) -> Option<u64> {
    catalog(pdf)?.get::<Dict<'_>>("Pages")?.get::<u32>("Count").map(u64::from)
}

fn catalog(pdf: &Pdf) -> Option<Dict<'_>> {
    pdf.xref().get::<Dict<'_>>(pdf.xref().root_id())
}

/// An embedded file.
pub(super) struct PdfAttachment<'a> {
    pub name: String,
    data: Stream<'a>,
}

impl PdfAttachment<'_> {
    /// Returns its entry in a list of files.
    pub fn listed(&self, part: u32) -> InnerFile {
        let stated = self.data.dict().get::<Dict<'_>>("Params");
        let stated = stated.and_then(|entries| entries.get::<u32>("Size")).map(u64::from);
        let size = stated.unwrap_or_else(|| self.data.raw_data().len() as u64);
        InnerFile { part, name: self.name.clone(), size, encrypted: false, folder: false }
    }

    /// Returns its content.
    pub fn bytes(&self) -> Option<Vec<u8>> {
        Some(self.data.decoded_data().ok()?.into_owned())
    }
}

/// Returns the embedded files: first the document's, then the ones attached by annotations.
pub(super) fn files(pdf: &Pdf) -> Vec<PdfAttachment<'_>> {
    let mut files = Vec::new();
    let tree = catalog(pdf)
        .and_then(|root| root.get::<Dict<'_>>("Names"))
        .and_then(|names| names.get::<Dict<'_>>("EmbeddedFiles"));
    let mut nodes: Vec<(Dict<'_>, u32)> = tree.map(|root| (root, 0)).into_iter().collect();
    for _ in 0..ENTRIES {
        let Some((node, level)) = nodes.pop() else { break };
        if level < LEVELS {
            let kids = node.get::<Array<'_>>("Kids").unwrap_or_default();
            let kids: Vec<_> =
                kids.iter::<Dict<'_>>().take(ENTRIES).map(|kid| (kid, level + 1)).collect();
            // The nodes are a stack: reversed, they come off in the order of the tree.
            nodes.extend(kids.into_iter().rev());
        }
        let names = node.get::<Array<'_>>("Names").unwrap_or_default();
        files.extend(
            names
                .iter::<Object<'_>>()
                .take(ENTRIES)
                .filter_map(|entry| embedded(&entry.into_dict()?)),
        );
    }
    for page in pdf.pages().iter().take(PAGES) {
        let list = page.raw().get::<Array<'_>>("Annots").unwrap_or_default();
        let files_of =
            list.iter::<Dict<'_>>().take(ENTRIES).filter_map(|entry| embedded(&entry.get("FS")?));
        files.extend(files_of);
    }
    files.truncate(ENTRIES);
    files
}

fn embedded<'a>(file: &Dict<'a>) -> Option<PdfAttachment<'a>> {
    let data = file.get::<Dict<'_>>("EF")?;
    let data = data.get::<Stream<'_>>("UF").or_else(|| data.get("F"))?;
    let name = string(file, "UF").or_else(|| string(file, "F")).unwrap_or_default();
    Some(PdfAttachment { name, data })
}

/// Returns a text entry.
fn string(of: &Dict<'_>, key: &str) -> Option<String> {
    Some(decoded(of.get::<Object<'_>>(key)?.into_string()?.as_bytes()))
}

/// Decodes a text: UTF-16 or UTF-8 if it has a byte order mark, or PDFDocEncoding.
fn decoded(bytes: &[u8]) -> String {
    /// The characters from 0x80.
    const HIGH: &str = "•†‡…—–ƒ⁄‹›−‰„“”‘’‚™ﬁﬂŁŒŠŸŽıłœšž\u{FFFD}€";
    let wide = |rest: &[u8], big: bool| {
        let units = rest.chunks_exact(2).filter_map(|pair| <[u8; 2]>::try_from(pair).ok());
        let units =
            units.map(|pair| if big { u16::from_be_bytes(pair) } else { u16::from_le_bytes(pair) });
        char::decode_utf16(units).map(|character| character.unwrap_or('\u{FFFD}')).collect()
    };
    let text: String = match bytes {
        [0xFE, 0xFF, rest @ ..] => wide(rest, true),
        [0xFF, 0xFE, rest @ ..] => wide(rest, false),
        [0xEF, 0xBB, 0xBF, rest @ ..] => String::from_utf8_lossy(rest).into_owned(),
        bytes => bytes
            .iter()
            .map(|byte| match byte {
                0x80..=0xA0 => HIGH.chars().nth(usize::from(byte - 0x80)).unwrap_or('\u{FFFD}'),
                byte => char::from(*byte),
            })
            .collect(),
    };
    text.replace("\r\n", "\n").replace('\r', "\n")
}
