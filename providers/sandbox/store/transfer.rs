//! Transfer encodings, decoded without ever failing.
//!
//! Broken mail is still mail: what can be decoded is, and the rest is passed
//! over (base64) or kept as written (quoted-printable), as mail programs do.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::lines;

/// Decodes base64, passing over what is none.
pub(super) fn base64(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    // As it should be: every line stands for itself.
    if lines(text).all(|line| STANDARD.decode_vec(line.trim_ascii(), &mut out).is_ok()) {
        return out;
    }
    out.clear();
    let mut bits = 0u32;
    let mut count = 0;
    for byte in text {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            // Padding ends a run; some mailers go on with another.
            b'=' => {
                count = 0;
                continue;
            }
            _ => continue,
        };
        bits = (bits << 6) | u32::from(value);
        count += 1;
        // Bytes leave as soon as they are whole: after 2, 3 and 4 messages.
        match count {
            2 => out.push((bits >> 4) as u8),
            3 => out.push((bits >> 2) as u8),
            4 => {
                out.push(bits as u8);
                count = 0;
            }
            _ => {}
        }
    }
    out
}

/// Decodes quoted-printable (RFC 2045, 6.7).
pub(super) fn quoted_printable(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        if *byte != b'=' {
            out.push(*byte);
            continue;
        }
        match after {
            [b'\n', after @ ..] | [b'\r', b'\n', after @ ..] => rest = after,
            [high, low, after @ ..] => match (hex(*high), hex(*low)) {
                (Some(high), Some(low)) => {
                    out.push((high << 4) | low);
                    rest = after;
                }
                _ => out.push(b'='),
            },
            _ => out.push(b'='),
        }
    }
    out
}

/// The value of a hexadecimal digit.
fn hex(digit: u8) -> Option<u8> {
    let value = char::from(digit).to_digit(16)?;
    u8::try_from(value).ok()
}
