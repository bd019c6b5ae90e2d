//! The structure of CSS: where strings, comments, escapes and brackets end.
//!
//! What a declaration or a selector means is not known here. Everything ends
//! where the text ends, as CSS has it, and nothing recurses.

/// What stands up to a mark that is not within brackets, and that mark; the end
/// of the text has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece<'a> {
    /// The text before the mark.
    pub text: &'a str,
    /// The mark.
    pub mark: Option<u8>,
}

/// A statement: a declaration, or a rule with its block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Statement<'a> {
    /// What stands before the block, or all of a declaration.
    pub head: &'a str,
    /// What stands between the braces.
    pub block: Option<&'a str>,
}

/// Bytes that are neither in strings nor comments nor escaped.
struct Bare<'a> {
    css: &'a str,
    at: usize,
}

impl Bare<'_> {
    fn byte(&self, at: usize) -> Option<u8> {
        self.css.as_bytes().get(at).copied()
    }

    /// The place after what is escaped from `from` on: a sign, or its number and
    /// the space that ends it.
    fn escaped(&self, from: usize) -> usize {
        let digit = |at: &usize| self.byte(*at).is_some_and(|byte| byte.is_ascii_hexdigit());
        match (from..from + 6).take_while(digit).count() {
            0 => from + 1,
            digits => {
                let end = from + digits;
                let blank = self.byte(end).is_some_and(|byte| byte.is_ascii_whitespace());
                end + usize::from(blank)
            }
        }
    }

    /// Returns the place after a string that begins at `from`; a line break ends it, too.
    fn string(&self, from: usize, quote: u8) -> usize {
        let mut at = from + 1;
        while let Some(byte) = self.byte(at) {
            match byte {
                b'\\' => at += 2,
                b'\n' | b'\r' | b'\x0c' => return at,
                byte if byte == quote => return at + 1,
                _ => at += 1,
            }
        }
        self.css.len()
    }

    /// Returns the place after the address of a `url(` without quotes, if one ends with
    /// the parenthesis at `at`.
    fn address(&self, at: usize) -> Option<usize> {
        let name = self.css.as_bytes().get(at.checked_sub(3)?..at)?;
        let mut end = at + 1;
        while self.byte(end).is_some_and(|byte| byte.is_ascii_whitespace()) {
            end += 1;
        }
        if !name.eq_ignore_ascii_case(b"url") || matches!(self.byte(end), Some(b'"' | b'\'')) {
            return None;
        }
        while let Some(byte) = self.byte(end) {
            match byte {
                b'\\' => end += 2,
                b')' => return Some(end + 1),
                _ => end += 1,
            }
        }
        Some(self.css.len())
    }
}

impl Iterator for Bare<'_> {
    type Item = (usize, u8);

    fn next(&mut self) -> Option<(usize, u8)> {
        loop {
            let (at, byte) = (self.at, self.byte(self.at)?);
            self.at = match byte {
                b'\\' => self.escaped(at + 1),
                b'/' if self.byte(at + 1) == Some(b'*') => {
                    let rest = self.css.as_bytes().get(at + 2..).unwrap_or_default();
                    let end = rest.windows(2).position(|pair| pair == b"*/");
                    end.map_or(self.css.len(), |end| at + end + 4)
                }
                b'"' | b'\'' => self.string(at, byte),
                b'(' => match self.address(at) {
                    Some(end) => end,
                    None => {
                        self.at = at + 1;
                        return Some((at, byte));
                    }
                },
                _ => {
                    self.at = at + 1;
                    return Some((at, byte));
                }
            };
        }
    }
}

/// Cuts `css` at each of `marks` that stands in no brackets.
pub fn pieces<'a>(css: &'a str, marks: &'a [u8]) -> impl Iterator<Item = Piece<'a>> {
    let mut bare = Bare { css, at: 0 };
    let mut from = Some(0);
    std::iter::from_fn(move || {
        let start = from?;
        let mut open: Vec<u8> = Vec::new();
        for (at, byte) in bare.by_ref() {
            if open.is_empty() && marks.contains(&byte) {
                from = Some(at + 1);
                return Some(Piece {
                    text: css.get(start..at).unwrap_or_default(),
                    mark: Some(byte),
                });
            }
            match byte {
                b'(' => open.push(b')'),
                b'[' => open.push(b']'),
                b'{' => open.push(b'}'),
                byte if open.last() == Some(&byte) => {
                    open.pop();
                }
                _ => {}
            }
        }
        from = None;
        Some(Piece { text: css.get(start..).unwrap_or_default(), mark: None })
    })
}

/// Returns the statements of a sheet, or of the block of a rule.
pub fn statements(css: &str) -> Vec<Statement<'_>> {
    let mut found = Vec::new();
    let mut rest = css;
    loop {
        let Some(piece) = pieces(rest, b"{;}").next() else {
            return found;
        };
        let after = piece.text.len() + usize::from(piece.mark.is_some());
        rest = rest.get(after..).unwrap_or_default();
        let mut block = None;
        if piece.mark == Some(b'{')
            && let Some(inner) = pieces(rest, b"}").next()
        {
            let after = inner.text.len() + usize::from(inner.mark.is_some());
            rest = rest.get(after..).unwrap_or_default();
            block = Some(inner.text);
        }
        if block.is_some() || !piece.text.trim().is_empty() {
            let head = piece.text;
            found.push(Statement { head, block });
        }
        if piece.mark.is_none() {
            return found;
        }
    }
}

/// Replaces the comments of `css` by `instead`; those in strings stay.
pub fn without_comments(css: &str, instead: &str) -> String {
    let mut out = String::with_capacity(css.len());
    let mut rest = css;
    while let Some(at) = rest.find(['/', '"', '\'', '\\']) {
        let (before, mark) = rest.split_at(at);
        out.push_str(before);
        let bare = Bare { css: mark, at: 0 };
        let end = match mark.as_bytes() {
            [b'/', b'*', body @ ..] => {
                out.push_str(instead);
                let end = body.windows(2).position(|pair| pair == b"*/");
                rest = end.and_then(|end| mark.get(end + 4..)).unwrap_or_default();
                continue;
            }
            [quote @ (b'"' | b'\''), ..] => bare.string(0, *quote).min(mark.len()),
            [b'\\', ..] => mark.chars().take(2).map(char::len_utf8).sum(),
            _ => 1,
        };
        let end = (end..=mark.len()).find(|end| mark.is_char_boundary(*end)).unwrap_or(mark.len());
        let (markup, after) = mark.split_at(end);
        out.push_str(markup);
        rest = after;
    }
    out.push_str(rest);
    out
}

/// Returns a name at the beginning of `text` with its escapes read, and the rest.
pub fn name(text: &str) -> (String, &str) {
    let mut out = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let after = rest.get(first.len_utf8()..).unwrap_or_default();
        rest = match first {
            '\\' => escape(after, &mut out),
            c if c.is_alphanumeric() || !c.is_ascii() || matches!(c, '-' | '_') => {
                out.push(c);
                after
            }
            _ => break,
        };
    }
    (out, rest)
}

/// Returns `text` with its escapes read.
pub fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        out.push_str(before);
        rest = escape(after, &mut out);
    }
    out.push_str(rest);
    out
}

/// Writes the character an escape stands for and returns what follows it.
fn escape<'a>(escape: &'a str, out: &mut String) -> &'a str {
    let digits = escape.bytes().take(6).take_while(u8::is_ascii_hexdigit).count();
    if digits == 0 {
        let first = escape.chars().next();
        out.extend(first.filter(|c| *c != '\n'));
        return first.map_or("", |c| escape.get(c.len_utf8()..).unwrap_or_default());
    }
    let (hex, after) = escape.split_at(digits);
    out.extend(u32::from_str_radix(hex, 16).ok().and_then(char::from_u32));
    after
        .strip_prefix("\r\n")
        .or_else(|| after.strip_prefix([' ', '\n', '\t', '\r', '\x0c']))
        .unwrap_or(after)
}
