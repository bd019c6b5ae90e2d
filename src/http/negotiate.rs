//! The format that a request prefers, by `Accept` and `Accept-Encoding` (RFC 9110, 12.5).
//!
//! STC is chosen only by name: `*/*` and `*` do not include it.

use axum::http::header::{ACCEPT, ACCEPT_ENCODING, AsHeaderName};
use axum::http::{HeaderMap, HeaderValue};

/// The media type of STC.
pub const STC_TYPE: &str = "application/stc+json";
/// The content coding that writes JSON as STC.
pub const STC: &str = "stc";
/// The quality of an item without `q`, in thousandths.
const FULL: u16 = 1_000;

/// The forms of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextForm {
    /// TOON with fenced texts and notes, as plain text.
    Text,
    /// The same with the media type of TOON.
    Toon,
    /// JSON.
    Json,
    /// STC as a media type.
    Stc,
    /// JSON in the content coding STC.
    Coded,
}

impl TextForm {
    /// The forms in our order of preference, which decides between equal qualities.
    const ALL: [Self; 5] = [Self::Text, Self::Json, Self::Toon, Self::Stc, Self::Coded];

    /// Returns the media types that select the form, the response's type first.
    const fn types(self) -> &'static [&'static str] {
        match self {
            Self::Text => &["text/plain"],
            Self::Toon => &["text/toon"],
            Self::Json => &["application/json"],
            Self::Stc => &[STC_TYPE],
            Self::Coded => &[STC_TYPE, "application/json"],
        }
    }

    /// Returns the value of `Content-Type`.
    pub const fn content_type(self) -> &'static str {
        match self {
            Self::Text => "text/plain; charset=utf-8",
            Self::Toon => "text/toon; charset=utf-8",
            Self::Json => "application/json",
            Self::Stc | Self::Coded => STC_TYPE,
        }
    }
}

/// Returns the form that a request prefers, or `None` if it accepts no available form.
pub fn choose(headers: &HeaderMap) -> Option<TextForm> {
    let types = weighted(headers, ACCEPT);
    let encodings = weighted(headers, ACCEPT_ENCODING);
    let quality = |form: TextForm| {
        let of = |name: &&str| type_quality(types.as_deref(), name, form == TextForm::Stc);
        let by_type = form.types().iter().map(of).max().unwrap_or(0);
        let by_encoding = match form {
            TextForm::Coded => {
                encodings.as_deref().and_then(|all| quality_of(all, STC)).unwrap_or(0)
            }
            _ => identity(encodings.as_deref()),
        };
        (by_type > 0 && by_encoding > 0).then_some((by_type, by_encoding))
    };
    // `max_by_key` returns the last of equal items, hence the reverse order.
    let forms = TextForm::ALL.into_iter().rev();
    let chosen = forms.filter_map(|form| Some((quality(form)?, form))).max_by_key(|(q, _)| *q);
    chosen.map(|(_, form)| form)
}

/// Returns the quality of a media type by the most specific range that includes it.
fn type_quality(ranges: Option<&[(String, u16)]>, name: &str, by_name: bool) -> u16 {
    let Some(ranges) = ranges else {
        // Without `Accept`, everything is acceptable, except STC.
        return if by_name { 0 } else { FULL };
    };
    let main = name.split('/').next().unwrap_or_default();
    let all = [
        quality_of(ranges, name),
        quality_of(ranges, &format!("{main}/*")),
        quality_of(ranges, "*/*"),
    ];
    let looked = if by_name { all.get(..1) } else { all.get(..) };
    looked.unwrap_or_default().iter().find_map(|found| *found).unwrap_or(0)
}

/// Returns the quality of a response without encoding: acceptable unless excluded, and the last
/// choice if encodings are listed.
fn identity(encodings: Option<&[(String, u16)]>) -> u16 {
    match encodings {
        None | Some([]) => FULL,
        Some(listed) => quality_of(listed, "identity")
            .or_else(|| quality_of(listed, "*").filter(|quality| *quality == 0))
            .unwrap_or(1),
    }
}

/// Returns the quality of the listed item with this name.
fn quality_of(listed: &[(String, u16)], name: &str) -> Option<u16> {
    listed.iter().find(|(one, _)| one == name).map(|(_, quality)| *quality)
}

/// Reads a header of names with qualities: names in lower case, qualities in thousandths.
/// Parameters other than `q`, and items with an invalid quality, are left out. `None` without the
/// header.
fn weighted(headers: &HeaderMap, name: impl AsHeaderName) -> Option<Vec<(String, u16)>> {
    let mut values = headers.get_all(name).iter().peekable();
    values.peek()?;
    let texts = values.filter_map(|value: &HeaderValue| value.to_str().ok());
    Some(texts.flat_map(|text| items(text, ',')).filter_map(|item| weighed(&item)).collect())
}

/// Reads the name and the quality of one item.
fn weighed(item: &str) -> Option<(String, u16)> {
    let mut parts = items(item, ';').into_iter();
    let name = parts.next()?.to_ascii_lowercase();
    let weight = parts.find_map(|part| {
        let (name, value) = part.split_once('=')?;
        name.trim().eq_ignore_ascii_case("q").then(|| value.trim().to_owned())
    });
    let quality = weight.map_or(Some(FULL), |weight| thousandths(&weight))?;
    (!name.is_empty()).then_some((name, quality))
}

/// Splits a text outside its quoted strings.
fn items(text: &str, at: char) -> Vec<String> {
    let (mut quoted, mut escaped) = (false, false);
    let parts = text.split(|char: char| {
        let inside = quoted;
        match char {
            _ if std::mem::take(&mut escaped) => {}
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            _ => {}
        }
        char == at && !inside
    });
    parts.map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect()
}

/// Reads `0`, `1` or a decimal between them with at most three digits.
fn thousandths(text: &str) -> Option<u16> {
    let (whole, rest) = text.split_once('.').unwrap_or((text, ""));
    let digits = rest.len() <= 3 && rest.bytes().all(|digit| digit.is_ascii_digit());
    let rest: u16 = format!("{rest:0<3}").parse().ok().filter(|_| digits)?;
    match whole {
        "0" => Some(rest),
        "1" if rest == 0 => Some(FULL),
        _ => None,
    }
}
