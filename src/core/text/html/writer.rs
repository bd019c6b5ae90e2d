//! Composition of text from pieces of inline text and the breaks between them.
//!
//! White space, line breaks and paragraph breaks are not written at once but owed until more text
//! follows, so that any number of them amounts to the largest. The writer handles lines, quote
//! marks, list markers and emphasis, and is independent of HTML.

/// Maximum depth of quotes and lists; deeper ones are shown at this depth.
const MAX_QUOTES: usize = 6;
const MAX_ITEMS: usize = 4;

/// Significant white space of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhiteSpace {
    /// All of it, as `pre-wrap` keeps it.
    Kept,
    /// The ends of lines, as `pre-line` keeps them.
    Lines,
}

/// The beginning of every line.
enum LinePrefix {
    Quote,
    /// A list item: its marker on the first line, spaces of the same width on the following ones.
    Item {
        marker: String,
        used: bool,
    },
}

/// Emphasis in effect.
struct OpenEmphasis {
    sign: &'static str,
    /// True if its sign has been written and needs a closing one.
    open: bool,
}

/// The text so far, and the breaks owed before the next piece.
#[derive(Default)]
pub struct TextWriter {
    out: String,
    markdown: bool,
    prefixes: Vec<LinePrefix>,
    marks: Vec<OpenEmphasis>,
    /// Line breaks owed: one ends the line, two leave a blank one.
    gap: u8,
    space: bool,
    /// True if the current line is a no-break space alone: editors write blank lines this way.
    hard_space: bool,
    /// Depth of elements whose line breaks count, and of elements written on one line.
    verbatim: usize,
    flat: usize,
    last_quotes: usize,
    /// The position of the last closed emphasis, to merge it with the next.
    closed: Option<(&'static str, usize)>,
    pieces: usize,
    paragraph: ParagraphState,
    /// Positions in the text at which a backslash is missing, sorted except within a paragraph.
    escapes: Vec<usize>,
    /// A run of `*` or `_` after white space, which has a meaning if text follows at once.
    run: std::ops::Range<usize>,
    /// Marks of parts that have begun but have no text yet.
    parts: String,
}

/// Signs of the current paragraph that may have a meaning in Markdown, depending on later text.
/// Positions are bytes of the text.
#[derive(Default)]
struct ParagraphState {
    /// `<` that open a tag if a `>` follows.
    angles: Vec<usize>,
    /// Backticks, which have a meaning in pairs.
    ticks: Vec<usize>,
    /// True if it contains code, with backticks of ours.
    code: bool,
    /// The beginning of the line.
    line: usize,
    /// True if a line begins with `[`, as the definition of a link does.
    bracket: bool,
}

impl TextWriter {
    /// Creates an empty text.
    pub fn new(markdown: bool) -> Self {
        Self { markdown, ..Self::default() }
    }

    /// Returns the number of pieces of text written so far.
    pub fn pieces(&self) -> usize {
        self.pieces
    }

    /// Returns true while everything is written on one line.
    pub fn is_flat(&self) -> bool {
        self.flat > 0
    }

    fn at_line_start(&self) -> bool {
        self.gap > 0 || self.out.is_empty()
    }

    /// Writes text of a document; a run of white space becomes one space.
    pub fn text(&mut self, s: &str) {
        if self.verbatim > 0 && self.flat == 0 {
            self.verbatim_text(s);
            return;
        }
        let mut rest = s;
        while !rest.is_empty() {
            let end = rest.find(is_blank).unwrap_or(rest.len());
            let (word, after) = rest.split_at(end);
            if !word.is_empty() {
                self.write_word(word, !after.is_empty());
            }
            let end = after.find(|c| !is_blank(c)).unwrap_or(after.len());
            let (blank, after) = after.split_at(end);
            if self.at_line_start() {
                self.hard_space |= blank.contains('\u{a0}');
            } else {
                self.space |= !blank.is_empty();
            }
            rest = after;
        }
    }

    /// Writes text whose white space CSS keeps. Markdown can keep only the lines.
    pub fn spaced(&mut self, s: &str, how: WhiteSpace) {
        if self.verbatim > 0 || self.flat > 0 {
            self.text(s);
        } else if how == WhiteSpace::Kept && !self.markdown {
            self.verbatim_text(s);
        } else {
            for (number, line) in s.split('\n').enumerate() {
                if number > 0 {
                    self.line_break();
                }
                self.text(line);
            }
        }
    }

    fn verbatim_text(&mut self, s: &str) {
        for (number, line) in s.split('\n').enumerate() {
            if number > 0 {
                self.line_break();
            }
            if !line.trim().is_empty() {
                self.settle();
                self.pieces += 1;
                self.out.push_str(line.trim_end_matches('\r'));
            } else if !self.at_line_start() {
                self.space |= !line.is_empty();
            }
        }
    }

    /// Writes a word; `ends` if white space follows it.
    fn write_word(&mut self, word: &str, ends: bool) {
        let start = self.at_line_start();
        self.settle();
        self.pieces += 1;
        if self.markdown && self.verbatim == 0 && !self.has_mark("`") {
            self.escaped(word, start, ends);
        } else {
            self.out.push_str(word);
        }
    }

    /// Writes a word, escaping the signs that have a meaning in Markdown.
    fn escaped(&mut self, word: &str, line_start: bool, ends: bool) {
        let opens = line_start && opens_block(word);
        let numbered = opens && word.starts_with(|c: char| c.is_ascii_digit());
        let mut before = self.out.chars().next_back().filter(|_| !line_start).unwrap_or(' ');
        // A run of one sign alone has a meaning only at the start of a line.
        let alone =
            is_blank(before) && ['*', '_'].iter().any(|sign| word.trim_matches(*sign).is_empty());
        let mut chars = word.char_indices().peekable();
        while let Some((at, c)) = chars.next() {
            let after = chars.peek().map(|(_, after)| *after);
            let place = self.out.len();
            let escape = match c {
                _ if opens && !numbered && at == 0 => true,
                // Before other characters, a backslash is literal.
                '\\' => after.is_none_or(|after| after.is_ascii_punctuation()),
                '*' => !alone,
                // Inside a word, it has no meaning.
                '_' => {
                    let within =
                        before.is_alphanumeric() && after.is_some_and(char::is_alphanumeric);
                    !(alone || within)
                }
                '|' => self.flat > 0,
                '.' | ')' => numbered && after.is_none(),
                // `](` makes a link, and `]:` at the start of a line makes a definition.
                '(' => before == ']',
                ':' => before == ']' && self.paragraph.bracket,
                '&' => is_entity(word.get(at + 1..).unwrap_or_default()),
                _ => false,
            };
            match c {
                '[' => self.paragraph.bracket |= place == self.paragraph.line,
                '<' if after.is_some_and(|c| c.is_ascii_alphabetic() || "/!?".contains(c)) => {
                    self.paragraph.angles.push(place);
                }
                '>' => self.escapes.append(&mut self.paragraph.angles),
                '`' if !escape => self.paragraph.ticks.push(place),
                _ => {}
            }
            if escape {
                self.out.push('\\');
            }
            self.out.push(c);
            before = c;
        }
        if alone && !ends {
            self.run = self.out.len() - word.len() + usize::from(opens)..self.out.len();
        }
    }

    /// Ends the paragraph: later text can no longer give its signs a meaning.
    fn end_paragraph(&mut self) {
        let ParagraphState { ticks, code, .. } = std::mem::take(&mut self.paragraph);
        if code || ticks.len() > 1 {
            self.escapes.extend(ticks);
        }
    }

    /// Writes a sign that is not text of the document, at a place of its own.
    pub fn raw(&mut self, s: &str) {
        if s.is_empty() {
            return;
        }
        self.space = false;
        let start = self.at_line_start();
        self.settle();
        self.out.push_str(if start { s.trim_start() } else { s });
    }

    /// Writes a word that is not text of the document, among its words.
    pub fn raw_word(&mut self, word: &str) {
        self.settle();
        self.pieces += 1;
        self.out.push_str(word);
    }

    /// Writes a sign right after the last text, before the breaks owed.
    pub fn suffix(&mut self, s: &str) {
        self.out.push_str(s);
    }

    /// Ends the line; leaves an empty line blank.
    pub fn line_break(&mut self) {
        self.hard_space = false;
        if self.flat > 0 {
            self.space = true;
        } else if !self.out.is_empty() {
            self.gap = if self.gap == 0 { 1 } else { 2 };
        }
    }

    /// Marks the edge of a block: the next text is `lines` lines further down.
    pub fn block(&mut self, lines: u8) {
        if self.flat > 0 {
            self.space = true;
            return;
        }
        // The first paragraph of a list item follows the marker directly.
        let marker = matches!(self.prefixes.last(), Some(LinePrefix::Item { used: false, .. }));
        let lines = match (self.hard_space, marker) {
            (true, _) => 2,
            (false, true) => lines.min(1),
            (false, false) => lines,
        };
        self.hard_space = false;
        self.space = false;
        if !self.out.is_empty() {
            self.gap = self.gap.max(lines);
        }
    }

    /// Drops the blank line after the last text, unless another block requests one.
    pub fn tighten(&mut self) {
        self.gap = self.gap.min(1);
    }

    /// Writes everything up to [`Self::end_flat`] on one line.
    pub fn begin_flat(&mut self) {
        self.flat += 1;
    }

    /// Ends the effect of [`Self::begin_flat`].
    pub fn end_flat(&mut self) {
        self.flat = self.flat.saturating_sub(1);
    }

    /// Keeps the line breaks of the text, up to [`Self::end_verbatim`].
    pub fn begin_verbatim(&mut self) {
        self.verbatim += 1;
    }

    /// Ends the effect of [`Self::begin_verbatim`].
    pub fn end_verbatim(&mut self) {
        self.verbatim = self.verbatim.saturating_sub(1);
    }

    /// Quotes the following lines one level deeper.
    pub fn begin_quote(&mut self) {
        self.prefixes.push(LinePrefix::Quote);
    }

    /// Begins a list item: the next line has its marker, the following ones are indented.
    pub fn begin_item(&mut self, marker: String) {
        self.prefixes.push(LinePrefix::Item { marker, used: false });
    }

    /// Ends the innermost quote or list item.
    pub fn end_prefix(&mut self) {
        self.prefixes.pop();
    }

    /// Begins a part of the message, with `mark` before its first text.
    pub fn begin_part(&mut self, mark: char) {
        self.parts.push(mark);
    }

    /// Ends the innermost part, with `mark` after its text, if there is any.
    pub fn end_part(&mut self, mark: char) {
        if self.parts.pop().is_none() {
            self.out.push(mark);
        }
    }

    /// Returns the last lines that are not blank, at most `most`.
    pub fn tail(&self, most: usize) -> Vec<&str> {
        // Lines that introduce a quote are short, and there may be many quotes.
        let from = self.out.floor_char_boundary(self.out.len().saturating_sub(1_024));
        let end = self.out.get(from..).unwrap_or_default();
        let lines = end.rsplit('\n').filter(|line| !line.trim().is_empty());
        let mut tail: Vec<&str> = lines.take(most).collect();
        tail.reverse();
        tail
    }

    /// Begins emphasis, with `sign` around the text.
    pub fn begin_mark(&mut self, sign: &'static str) {
        self.marks.push(OpenEmphasis { sign, open: false });
    }

    /// Ends the innermost emphasis.
    pub fn end_mark(&mut self) {
        if let Some(mark) = self.marks.pop()
            && mark.open
        {
            self.end_run();
            self.out.push_str(mark.sign);
            self.closed = Some((mark.sign, self.out.len()));
        }
    }

    /// Returns true if emphasis with `sign` is in effect.
    pub fn has_mark(&self, sign: &str) -> bool {
        self.marks.iter().any(|mark| mark.sign == sign)
    }

    /// Escapes the run of signs before the text that follows.
    fn end_run(&mut self) {
        self.escapes.extend(std::mem::take(&mut self.run));
    }

    /// Writes the breaks owed, so that text can follow.
    fn settle(&mut self) {
        if self.gap > 0 || self.space {
            self.run = 0..0;
        }
        self.end_run();
        self.hard_space = false;
        if self.out.is_empty() {
            self.begin_line();
        } else if self.gap > 0 {
            // In Markdown, emphasis cannot span blocks: it is closed at the end of a line and
            // begins again with the next text.
            for mark in self.marks.iter_mut().rev().filter(|mark| mark.open) {
                mark.open = false;
                self.out.push_str(mark.sign);
            }
            self.out.push('\n');
            if self.gap > 1 {
                self.end_paragraph();
                // A blank line belongs to the quotes that the lines above and below it share.
                let quotes = self.quotes().min(self.last_quotes);
                let marks = vec![">"; quotes].join(" ");
                self.out.push_str(&marks);
                self.out.push('\n');
            }
            self.begin_line();
        } else if self.space && !self.out.ends_with(' ') {
            self.out.push(' ');
        }
        self.gap = 0;
        self.space = false;
        self.paragraph.code |= self.has_mark("`");
        self.out.push_str(&std::mem::take(&mut self.parts));
        for mark in self.marks.iter_mut().filter(|mark| !mark.open) {
            mark.open = true;
            // Emphasis that continues at once loses its closing sign.
            if self.closed == Some((mark.sign, self.out.len())) {
                let end = self.out.len() - mark.sign.len();
                self.out.truncate(end);
            } else {
                self.out.push_str(mark.sign);
            }
        }
    }

    fn quotes(&self) -> usize {
        self.prefixes
            .iter()
            .filter(|prefix| matches!(prefix, LinePrefix::Quote))
            .count()
            .min(MAX_QUOTES)
    }

    fn begin_line(&mut self) {
        self.last_quotes = self.quotes();
        let (mut quotes, mut items) = (0, 0);
        for prefix in &mut self.prefixes {
            match prefix {
                LinePrefix::Quote if quotes < MAX_QUOTES => {
                    quotes += 1;
                    self.out.push_str("> ");
                }
                LinePrefix::Item { marker, used } => {
                    items += 1;
                    if !*used {
                        *used = true;
                        self.out.push_str(marker);
                    } else if items <= MAX_ITEMS {
                        self.out.extend(marker.chars().map(|_| ' '));
                    }
                }
                LinePrefix::Quote => {}
            }
        }
        self.paragraph.line = self.out.len();
    }

    /// Returns the complete text.
    pub fn finish(mut self) -> String {
        while !self.marks.is_empty() {
            self.end_mark();
        }
        self.end_paragraph();
        // Backslashes are inserted at the end, because they shift all later positions.
        self.escapes.sort_unstable();
        let mut out = String::with_capacity(self.out.len() + self.escapes.len());
        let mut from = 0;
        for place in self.escapes {
            out.push_str(self.out.get(from..place).unwrap_or_default());
            out.push('\\');
            from = place;
        }
        out.push_str(self.out.get(from..).unwrap_or_default());
        out
    }
}

fn is_blank(c: char) -> bool {
    c.is_whitespace() || c == '\u{2800}'
}

/// Returns true for a word that begins a heading, a quote, a list, a rule or a block of code at the
/// start of a line. `--` begins a signature and has no meaning in Markdown.
fn opens_block(word: &str) -> bool {
    let only = |signs: &[char]| word.trim_matches(signs).is_empty();
    let number = word.strip_suffix(['.', ')']).unwrap_or_default();
    word.starts_with('>')
        || word.starts_with("~~~")
        || word.len() <= 6 && only(&['#'])
        || word != "--" && (only(&['-']) || only(&['=']) || only(&['*']) || only(&['_']))
        || word == "+"
        || matches!(number.len(), 1..=9) && number.bytes().all(|b| b.is_ascii_digit())
}

/// Returns true if the text after a `&` makes it an entity.
fn is_entity(rest: &str) -> bool {
    let name =
        rest.bytes().take(32).take_while(|b| b.is_ascii_alphanumeric() || *b == b'#').count();
    name > 0 && rest.as_bytes().get(name) == Some(&b';')
}
