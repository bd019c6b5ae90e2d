//! Detection of the charset of text that declares none, as in browsers (`chardetng`).
//!
//! Many charsets fit a few letters, so the other words of the same message help to decide.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8};

use super::labels::{declared, value_after};

/// Number of bytes examined of a text, and of the message around it.
const LOOK: usize = 64 << 10;
/// Number of bytes above ASCII below which a text is too short to be detected by itself.
const SHORT: usize = 60;

/// Returns the charset of `bytes`, which are a part or a header field of `message`.
pub fn detect(bytes: &[u8], message: &[u8]) -> &'static Encoding {
    let text = beginning(bytes);
    let short = text.iter().filter(|byte| !byte.is_ascii()).count() < SHORT;
    let message = if short { beginning(message) } else { &[] };
    let fits = |encoding: &&'static Encoding| {
        !encoding.decode_without_bom_handling(text).1 && *encoding != UTF_8
    };
    // A charset that the message declares elsewhere is more likely than a guess.
    declared_in(message)
        .into_iter()
        .chain([guess(text, message)])
        .find(fits)
        .unwrap_or_else(|| guess(text, &[]))
}

fn beginning(bytes: &[u8]) -> &[u8] {
    bytes.get(..LOOK).unwrap_or(bytes)
}

/// Returns the charsets that a message declares anywhere, for a part or in an HTML document.
fn declared_in(message: &[u8]) -> Vec<&'static Encoding> {
    let head = String::from_utf8_lossy(message).to_ascii_lowercase();
    let labels =
        head.match_indices("charset").filter_map(|(at, _)| value_after(head.get(at..)?, "charset"));
    labels.filter_map(|label| declared(&label)).collect()
}

/// Returns the detector's guess for a text and the lines of the message around it.
fn guess(text: &[u8], message: &[u8]) -> &'static Encoding {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    detector.feed(text, false);
    // Lines in UTF-8 or ASCII are known without a guess, and would only mislead it.
    for line in
        message.split(|byte| *byte == b'\n').filter(|line| std::str::from_utf8(line).is_err())
    {
        detector.feed(b"\n", false);
        detector.feed(line, false);
    }
    detector.feed(b"\n", true);
    detector.guess(None, Utf8Detection::Deny)
}
