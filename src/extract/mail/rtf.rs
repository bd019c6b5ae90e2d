//! Rich text (RTF): its words, without the invisible ones.
//!
//! Groups are kept on an explicit stack, so depth does not use call stack. Outlook wraps the HTML
//! of a message in RTF (MS-OXRTFEX): it is unwrapped for message bodies only, as Word shows the RTF
//! of a file by itself. Pictures, styles and field instructions are skipped; the target of a link
//! follows its words.

use daysheet_core::text::visibility::{self, HidingMethod, TextVisibility};
use std::collections::HashMap;

use encoding_rs::{Encoding, WINDOWS_1252};

use super::pages;
use super::rtf_state::{CharacterState, GroupClose, GroupState, GroupTarget};
use crate::run_style::{InkColour, RunStyle, WHITE};
use crate::story::OmissionTally;
use crate::{Finding, OutputSink, PieceMark, ReadFailure, StopReason, TextPiece, plain};

/// Maximum depth of groups; no program writes a hundred.
const MAX_DEPTH: usize = 2_000;
/// Maximum cells of a row.
const MAX_CELLS: usize = 500;
/// Maximum comments that are kept.
const COMMENTS: usize = 200;
/// A distance longer than any page, and the side of a shape below which its text is unreadable, in
/// twentieths of a point.
const FAR_AWAY: i32 = 40_000;
const FLAT: i32 = (visibility::FLAT * 20.0) as i32;

/// The content of a rich text.
#[derive(Debug, Default)]
pub struct RtfText {
    /// The text, or the HTML.
    pub text: String,
    /// True if `text` is the HTML that the RTF was made from.
    pub html: bool,
    /// The author and text of each comment.
    pub comments: Vec<(String, String)>,
    /// Findings about the omitted text.
    pub findings: Vec<Finding>,
}

/// Reads an RTF file.
pub fn read(bytes: &[u8], out: &mut OutputSink<'_>) -> Result<(), StopReason> {
    let rich = parse(bytes, false)?;
    for finding in rich.findings {
        out.find(finding);
    }
    let mut after = Vec::new();
    if let many @ 1.. = u32::try_from(rich.comments.len()).unwrap_or(u32::MAX) {
        after.push(TextPiece::Mark(PieceMark::Comments(many)));
    }
    for (author, comment) in rich.comments {
        after.extend([TextPiece::Mark(PieceMark::Comment { author }), TextPiece::Text(comment)]);
    }
    plain::give(&rich.text, Vec::new(), after, out)
}

/// Parses rich text. The `body` of a message may contain HTML, which is then returned.
///
/// # Errors
/// [`ReadFailure::Broken`] if the bytes are not RTF, [`ReadFailure::Depth`] if groups are nested too deep.
pub fn parse(bytes: &[u8], body: bool) -> Result<RtfText, ReadFailure> {
    if !bytes.starts_with(b"{\\rtf") {
        return Err(ReadFailure::Broken);
    }
    let mut reader = RtfReader { rest: bytes, body, ..RtfReader::default() };
    reader.run()?;
    Ok(reader.done())
}

#[derive(Debug, Default)]
struct RtfReader<'b> {
    rest: &'b [u8],
    state: GroupState,
    stack: Vec<GroupState>,
    page: Option<&'static Encoding>,
    fonts: HashMap<i32, &'static Encoding>,
    colours: Vec<[u8; 3]>,
    next_colour: [u8; 3],
    /// True if a picture or a cell's colour may be behind the text.
    background_unknown: bool,
    /// Bytes in one code page that are not decoded yet.
    bytes: Vec<u8>,
    /// The first half of a surrogate pair, which takes two `\u`.
    high: Option<u16>,
    /// The number of fallback characters still to skip after a `\u`.
    skip: usize,
    star: bool,
    /// True if HTML is accepted, and true if there is HTML.
    body: bool,
    html: bool,
    out: String,
    instruction: String,
    comment: String,
    author: String,
    property: String,
    value: String,
    comments: Vec<(String, String)>,
    /// For each cell of the row, true if a merged cell covers it; and the index of the open cell.
    cells: Vec<bool>,
    cell: usize,
    next_covered: bool,
    tally: OmissionTally,
}

impl RtfReader<'_> {
    fn run(&mut self) -> Result<(), ReadFailure> {
        while let Some(byte) = self.next_byte() {
            match byte {
                b'{' => {
                    self.flush();
                    if self.stack.len() >= MAX_DEPTH {
                        return Err(ReadFailure::Depth);
                    }
                    // A group also ends the fallback of a `\u` (RTF 1.9.1).
                    (self.skip, self.star) = (0, false);
                    let inner = GroupState { after: "", closes: None, ..self.state.clone() };
                    self.stack.push(std::mem::replace(&mut self.state, inner));
                }
                b'}' => {
                    self.flush();
                    (self.skip, self.star) = (0, false);
                    self.close();
                    let Some(outer) = self.stack.pop() else { break };
                    self.state = outer;
                    if self.stack.is_empty() {
                        break;
                    }
                }
                b'\\' => self.control(),
                b'\r' | b'\n' => {}
                byte => self.byte(byte),
            }
        }
        self.flush();
        Ok(())
    }

    /// Returns the next byte.
    fn next_byte(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    fn control(&mut self) {
        let Some(first) = self.next_byte() else { return };
        if !first.is_ascii_alphabetic() {
            return self.symbol(first);
        }
        // Names of control words have at most 32 letters.
        let more = self.rest.iter().take(31).take_while(|byte| byte.is_ascii_alphabetic()).count();
        let (word, rest) = self.rest.split_at(more);
        let mut name = String::from(char::from(first));
        name.extend(word.iter().copied().map(char::from));
        self.rest = rest;
        let minus = usize::from(self.rest.first() == Some(&b'-'));
        let digits = self.rest.iter().skip(minus).take(10);
        let digits = digits.take_while(|byte| byte.is_ascii_digit()).count();
        let mut number = None;
        if digits > 0 {
            let (text, rest) = self.rest.split_at(minus + digits);
            let text: String = text.iter().copied().map(char::from).collect();
            number = Some(text.parse::<i64>().map_or(0, |number| {
                i32::try_from(number).unwrap_or(if number < 0 { i32::MIN } else { i32::MAX })
            }));
            self.rest = rest;
        }
        if self.rest.first() == Some(&b' ') {
            self.next_byte();
        }
        if name == "bin" {
            // The bytes are raw: a brace among them does not end the group.
            let many = usize::try_from(number.unwrap_or(0)).unwrap_or(0);
            self.rest = self.rest.get(many..).unwrap_or_default();
        } else if name != "u" && self.skip > 0 {
            // A control word counts as one character of the fallback.
            self.skip -= 1;
        } else {
            self.apply_word(&name, number);
        }
    }

    fn symbol(&mut self, symbol: u8) {
        match symbol {
            b'\'' => {
                let digit = |byte: Option<u8>| byte.and_then(|byte| char::from(byte).to_digit(16));
                let (one, two) = (digit(self.next_byte()), digit(self.next_byte()));
                let value = one.zip(two).and_then(|(one, two)| u8::try_from(one * 16 + two).ok());
                if let Some(value) = value {
                    self.byte(value);
                }
            }
            b'*' => self.star = true,
            _ if self.skip > 0 => self.skip -= 1,
            b'~' => self.text("\u{a0}"),
            b'_' => self.text("\u{2011}"),
            b'{' | b'}' | b'\\' => self.byte(symbol),
            // A backslash before a line break means `\par`.
            b'\r' | b'\n' => self.text("\n"),
            _ => {}
        }
    }

    /// Adds a byte of the text, in the code page of its font.
    fn byte(&mut self, byte: u8) {
        if self.skip > 0 {
            self.skip -= 1;
            return;
        }
        match self.state.target {
            // Font names are dropped; a semicolon ends a colour.
            GroupTarget::Fonts => {}
            GroupTarget::Colours if byte == b';' => {
                self.colours.push(std::mem::take(&mut self.next_colour));
            }
            GroupTarget::Skipped | GroupTarget::Never | GroupTarget::Colours => {}
            _ => self.bytes.push(byte),
        }
    }

    /// Decodes the pending bytes, which are in one code page.
    fn flush(&mut self) {
        if self.bytes.is_empty() {
            return;
        }
        let bytes = std::mem::take(&mut self.bytes);
        let page = self.state.characters.page.or(self.page).unwrap_or(WINDOWS_1252);
        self.push(&page.decode_without_bom_handling(&bytes).0);
    }

    fn text(&mut self, text: &str) {
        self.flush();
        self.push(text);
    }

    fn push(&mut self, text: &str) {
        match self.state.target {
            GroupTarget::Body if self.html => {
                if !self.state.rtf_only {
                    self.out.push_str(text);
                }
            }
            GroupTarget::Body if self.state.characters.deleted => self.tally.delete(text),
            GroupTarget::Body => {
                if self.tally.sees(self.visibility(), text) {
                    if self.state.characters.inserted {
                        self.tally.insert(text);
                    }
                    self.out.push_str(text);
                }
            }
            GroupTarget::Tag => self.out.push_str(text),
            GroupTarget::Instruction => self.instruction.push_str(text),
            GroupTarget::Comment => self.comment.push_str(text),
            GroupTarget::Author => self.author.push_str(text),
            GroupTarget::Property => self.property.push_str(text),
            GroupTarget::Value => self.value.push_str(text),
            GroupTarget::Skipped
            | GroupTarget::Never
            | GroupTarget::Fonts
            | GroupTarget::Colours => {}
        }
    }

    /// Returns the visibility of the next text.
    fn visibility(&self) -> TextVisibility {
        let state = &self.state;
        let characters = &state.characters;
        let covered = state.in_table && self.cells.get(self.cell) == Some(&true);
        let paint = |index: usize| {
            self.colours.get(index).map_or(InkColour::Other, |rgb| InkColour::Rgb(*rgb))
        };
        let behind = [characters.behind, state.paragraph].into_iter().find(|index| *index > 0);
        let background = match behind {
            Some(index) => paint(index),
            None if self.background_unknown => InkColour::Other,
            None => WHITE,
        };
        // The length of a line is unknown, but none is as long as a page.
        let begins = state.left.min(state.left.saturating_add(state.first));
        let beside = !(-FAR_AWAY..FAR_AWAY).contains(&begins);
        let text_style = RunStyle {
            vanish: Some(characters.vanish),
            size: characters.size.map(f64::from),
            raised: Some(f64::from(characters.raised) / 2.0),
            width: characters.width.map(f64::from),
            spacing: Some(f64::from(characters.spacing) / 20.0),
            // Colour 0 is the automatic one, which contrasts with the background.
            colour: (characters.colour > 0).then(|| paint(characters.colour)),
            ..RunStyle::default()
        };
        let hides = [(covered, HidingMethod::Covered), (beside, HidingMethod::OffPage)];
        let hides = hides.into_iter().find_map(|(hides, how)| hides.then_some(how));
        text_style.visibility(background).or(hides).or(state.unseen)
    }

    /// Completes the element that ends with the group.
    fn close(&mut self) {
        let after = self.state.after;
        match self.state.closes {
            Some(GroupClose::Label(at)) => {
                let label = self.out.get(at..).unwrap_or_default().trim();
                let label = match label {
                    "" => String::new(),
                    label if label.contains(char::is_alphanumeric) => format!("{label} "),
                    // Bullets are characters of symbol fonts.
                    _ => "- ".to_owned(),
                };
                self.out.truncate(at);
                self.out.push_str(&label);
            }
            Some(GroupClose::Comment) => {
                let comment = std::mem::take(&mut self.comment);
                if self.comments.len() < COMMENTS && !comment.trim().is_empty() {
                    self.comments.push((self.author.trim().to_owned(), comment));
                }
            }
            Some(GroupClose::Value) => {
                let (name, value) =
                    (std::mem::take(&mut self.property), std::mem::take(&mut self.value));
                // The surrounding groups belong to the property and to the shape.
                let at = self.stack.len().checked_sub(2);
                if let Some(shape) = at.and_then(|at| self.stack.get_mut(at))
                    && name.trim() == "fHidden"
                    && value.trim() == "1"
                {
                    shape.unseen = Some(HidingMethod::Marked);
                }
            }
            Some(GroupClose::Author) | None => {}
            Some(GroupClose::Field) => {
                let instruction = std::mem::take(&mut self.instruction);
                let mut words = instruction.split_whitespace();
                let is_link = words.next().is_some_and(|word| word == "HYPERLINK");
                if let (true, Some(target)) = (is_link, words.next()) {
                    let target = target.trim_matches('"');
                    if target.contains(':') && !self.out.ends_with(target) {
                        self.push(&format!(" <{target}>"));
                    }
                }
            }
        }
        self.push(after);
    }

    fn enter(&mut self, target: GroupTarget) {
        if self.state.target != GroupTarget::Never {
            self.state.target = target;
        }
    }

    /// Carries out a control word with its number.
    fn apply_word(&mut self, name: &str, number: Option<i32>) {
        self.flush();
        let star = std::mem::take(&mut self.star);
        let on = number != Some(0);
        let index = usize::try_from(number.unwrap_or(0)).unwrap_or(0);
        match name {
            "u" => self.unicode(number.unwrap_or(0)),
            "uc" => self.state.fallback = Some(index.min(16)),
            // Text.
            "par" | "line" | "sect" | "softline" => self.push("\n"),
            "page" | "column" => self.push("\n\n"),
            "tab" => self.push("\t"),
            "cell" => self.end_cell(),
            "nestcell" => self.push(" | "),
            "row" | "nestrow" => self.end_row(name == "row"),
            "emdash" => self.push("—"),
            "endash" => self.push("–"),
            "bullet" => self.push("•"),
            "lquote" => self.push("‘"),
            "rquote" => self.push("’"),
            "ldblquote" => self.push("“"),
            "rdblquote" => self.push("”"),
            "emspace" | "enspace" | "qmspace" => self.push(" "),
            // Appearance of characters.
            "plain" => self.state.characters = CharacterState::default(),
            "pard" => self.reset_paragraph(),
            "intbl" => self.state.in_table = on,
            // The properties of nested rows are skipped, so these belong to the outer row.
            "trowd" if self.state.target == GroupTarget::Body => self.begin_row(),
            "clmrg" | "clvmrg" => self.next_covered = true,
            "cellx" if self.state.target == GroupTarget::Body && self.cells.len() < MAX_CELLS => {
                self.cells.push(std::mem::take(&mut self.next_covered));
            }
            "v" => self.state.characters.vanish = on,
            "deleted" => self.state.characters.deleted = on,
            "revised" => self.state.characters.inserted = on,
            "fs" => self.state.characters.size = number,
            // The default is three points (RTF 1.9.1).
            "up" => self.state.characters.raised = number.unwrap_or(6),
            "dn" => self.state.characters.raised = number.unwrap_or(6).saturating_neg(),
            "charscalex" => self.state.characters.width = number,
            "expndtw" => self.state.characters.spacing = number.unwrap_or(0),
            "li" | "lin" => self.state.left = number.unwrap_or(0),
            "fi" => self.state.first = number.unwrap_or(0),
            "cf" => self.state.characters.colour = index,
            "cb" | "highlight" | "chcbpat" => self.state.characters.behind = index,
            "cbpat" => self.state.paragraph = index,
            "clcbpat" | "background" | "clshdng" | "chshdng" | "shading" => {
                self.background_unknown = true;
                if name == "background" {
                    self.enter(GroupTarget::Never);
                }
            }
            // Code pages.
            "ansicpg" => self.page = Some(pages::code_page(u32::try_from(index).unwrap_or(0))),
            "mac" => self.page = Some(pages::code_page(10_000)),
            "f" | "af" if name == "f" => self.select_font(number.unwrap_or(0)),
            "fcharset" if self.state.target == GroupTarget::Fonts => self.set_font_page(index),
            "red" | "green" | "blue" if self.state.target == GroupTarget::Colours => {
                self.set_colour_part(name, index);
            }
            // HTML in RTF.
            "fromhtml" if self.body => self.html = on,
            "htmlrtf" => self.state.rtf_only = on,
            "htmltag" if star && self.html => self.enter(GroupTarget::Tag),
            // Groups.
            "fonttbl" => self.enter(GroupTarget::Fonts),
            "colortbl" => self.enter(GroupTarget::Colours),
            "listtext" | "pntext" if !self.html => {
                self.state.closes = Some(GroupClose::Label(self.out.len()));
            }
            "field" => self.state.closes = Some(GroupClose::Field),
            "fldinst" => self.begin_instruction(),
            "annotation" => self.begin_comment(),
            "atnauthor" => self.begin_author(),
            "shpleft" | "shptop" | "shpright" | "shpbottom" => {
                self.set_shape_side(name, number.unwrap_or(0));
            }
            "sn" => self.begin_property(),
            "sv" => self.begin_value(),
            "shptxt" => self.begin_shape_text(),
            "ud" | "fldrslt" => self.enter(GroupTarget::Body),
            "footnote" => self.begin_footnote(),
            "header" | "headerl" | "headerr" | "headerf" | "footer" | "footerl" | "footerr"
            | "footerf" => self.state.after = "\n",
            "upr" | "shpinst" => self.enter(GroupTarget::Skipped),
            "info" | "pict" | "stylesheet" | "shprslt" | "nonshppict" | "tc" | "xe" | "rxe"
            | "filetbl" | "listtable" | "listoverridetable" | "revtbl" | "atnid"
            | "nonesttables" => {
                self.enter(GroupTarget::Never);
            }
            // `\*` marks a group that readers may skip if they do not know it.
            _ if star => self.enter(GroupTarget::Never),
            _ => {}
        }
    }

    /// Ends a cell of a table.
    fn end_cell(&mut self) {
        // The separator between cells belongs to no cell, so no merge may hide it.
        let cell = std::mem::replace(&mut self.cell, usize::MAX);
        self.push(" | ");
        self.cell = cell.saturating_add(1);
    }

    /// Ends a row of a table, or of a table within a cell.
    fn end_row(&mut self, is_outer: bool) {
        let kept = self.out.trim_end_matches(" | ").len();
        self.out.truncate(kept);
        if is_outer {
            self.push("\n");
            self.cell = 0;
        } else if !self.html {
            // The control word is in the group of the row's properties, which is not text.
            self.out.push('\n');
        }
    }

    /// Resets the properties of the paragraph.
    fn reset_paragraph(&mut self) {
        (self.state.paragraph, self.state.in_table) = (0, false);
        (self.state.left, self.state.first) = (0, 0);
    }

    /// Begins the definition of a row.
    fn begin_row(&mut self) {
        self.cells.clear();
        (self.cell, self.next_covered) = (0, false);
    }

    /// Selects a font by its number, and with it the code page of the text.
    fn select_font(&mut self, font: i32) {
        self.state.characters.font = font;
        // Within the font table, `\f` declares a font instead of selecting one.
        if self.state.target != GroupTarget::Fonts {
            self.state.characters.page = self.fonts.get(&self.state.characters.font).copied();
        }
    }

    /// Sets the code page of the font that is being declared.
    fn set_font_page(&mut self, charset: usize) {
        if let Some(page) = pages::of_charset(charset) {
            self.fonts.insert(self.state.characters.font, page);
        }
    }

    /// Sets one part of the colour that is being declared.
    fn set_colour_part(&mut self, name: &str, value: usize) {
        let at = ["red", "green", "blue"].iter().position(|one| *one == name);
        if let Some(slot) = at.and_then(|at| self.next_colour.get_mut(at)) {
            *slot = u8::try_from(value.min(255)).unwrap_or(255);
        }
    }

    /// Begins the instruction of a field.
    fn begin_instruction(&mut self) {
        self.instruction.clear();
        self.enter(GroupTarget::Instruction);
    }

    /// Begins a comment.
    fn begin_comment(&mut self) {
        self.state.closes = Some(GroupClose::Comment);
        self.enter(GroupTarget::Comment);
    }

    /// Begins the author of a comment.
    fn begin_author(&mut self) {
        self.author.clear();
        self.state.closes = Some(GroupClose::Author);
        self.enter(GroupTarget::Author);
    }

    /// Sets the position of one side of the shape.
    fn set_shape_side(&mut self, name: &str, position: i32) {
        let sides = ["shpleft", "shptop", "shpright", "shpbottom"];
        let at = sides.iter().position(|side| *side == name);
        if let Some(side) = at.and_then(|at| self.state.shape.get_mut(at)) {
            *side = position;
        }
    }

    /// Begins the name of a property of the shape.
    fn begin_property(&mut self) {
        self.property.clear();
        self.enter(GroupTarget::Property);
    }

    /// Begins the value of a property of the shape.
    fn begin_value(&mut self) {
        self.value.clear();
        self.state.closes = Some(GroupClose::Value);
        self.enter(GroupTarget::Value);
    }

    /// Begins the text of the shape.
    fn begin_shape_text(&mut self) {
        self.state.unseen = self.state.unseen.or(beside(self.state.shape));
        self.enter(GroupTarget::Body);
    }

    /// Begins a footnote, which is written in brackets.
    fn begin_footnote(&mut self) {
        self.push(" [");
        self.state.after = "]";
    }

    /// Adds a character by its UTF-16 code unit, and skips its fallback.
    fn unicode(&mut self, number: i32) {
        self.skip = self.state.fallback.unwrap_or(1);
        // Code units above 32,767 are written as negative numbers.
        let Ok(unit) = u16::try_from(number & 0xffff) else { return };
        let units = match self.high.take() {
            Some(high) => vec![high, unit],
            None if (0xd800..0xdc00).contains(&unit) => {
                self.high = Some(unit);
                return;
            }
            None => vec![unit],
        };
        for c in char::decode_utf16(units) {
            self.push(c.unwrap_or(char::REPLACEMENT_CHARACTER).encode_utf8(&mut [0; 4]));
        }
    }

    fn done(self) -> RtfText {
        let findings = self.tally.findings();
        RtfText { text: self.out, html: self.html, comments: self.comments, findings }
    }
}

/// Returns the way in which a shape with these sides hides its text: it is too small to be read, or
/// so far away that it is off the page, from any origin.
fn beside([left, top, right, bottom]: [i32; 4]) -> Option<HidingMethod> {
    let far = |near: i32, far: i32| near >= FAR_AWAY || far <= -FAR_AWAY;
    if right.saturating_sub(left) < FLAT || bottom.saturating_sub(top) < FLAT {
        // If no side is stated, the size is unknown.
        [left, top, right, bottom].iter().any(|side| *side != 0).then_some(HidingMethod::Clipped)
    } else if far(left, right) || far(top, bottom) {
        Some(HidingMethod::OffPage)
    } else {
        None
    }
}
