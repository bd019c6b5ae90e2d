//! Bytes in any charset made into a string.
//!
//! Mail says which charset its text is in, and is wrong often enough that the
//! bytes themselves are asked first: what is valid UTF-8 is UTF-8. Only the
//! charsets whose bytes look like ASCII (ISO-2022, HZ, UTF-7) or hold zeros
//! (UTF-16) are believed before that. Undoing base64 and quoted-printable is
//! the mail parser's work.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};
use mail_parser::decoders::charsets::map::charset_decoder;

/// Said when neither the bytes nor the declared charset could be trusted.
const GUESSED: &str = "unknown charset, read as windows-1252";
/// Said when some bytes mean nothing in the charset that was used.
const DAMAGED: &str = "some characters could not be decoded";

/// The text in `bytes`, and a note if it may not be what was written.
pub fn decode(bytes: &[u8], charset: Option<&str>) -> (String, Option<&'static str>) {
    let label = charset.map(clean_label).unwrap_or_default();
    if let Some((marked, _)) = Encoding::for_bom(bytes) {
        return by(marked, bytes);
    }
    if label.contains("utf-7") || label.contains("utf7") {
        return utf7(bytes);
    }
    let declared = encoding(&label);
    if let Some(encoding) = declared
        && disguised(encoding, bytes)
    {
        return by(encoding, bytes);
    }
    if let Ok(text) = std::str::from_utf8(bytes) {
        return (text.to_owned(), None);
    }
    match declared {
        Some(encoding) => by(encoding, bytes),
        None => {
            let (text, _) = WINDOWS_1252.decode_without_bom_handling(bytes);
            (text.into_owned(), Some(GUESSED))
        }
    }
}

/// Decodes in `encoding`, or in the one a byte order mark names.
fn by(encoding: &'static Encoding, bytes: &[u8]) -> (String, Option<&'static str>) {
    let (text, _, damaged) = encoding.decode(bytes);
    (text.into_owned(), damaged.then_some(DAMAGED))
}

/// UTF-7, which browsers gave up and mail still meets; mail-parser reads it.
fn utf7(bytes: &[u8]) -> (String, Option<&'static str>) {
    match charset_decoder(b"utf-7") {
        // It takes each direct byte for a character, so only ASCII is safe.
        Some(decoder) if bytes.is_ascii() => {
            // The decoder lets go of a shifted run when something ends it.
            let mut whole = bytes.to_vec();
            whole.push(b'\n');
            let mut text = decoder(&whole);
            if text.ends_with('\n') {
                text.pop();
            }
            (text, None)
        }
        _ => by(UTF_8, bytes),
    }
}

/// True if text in `encoding` can pass for valid UTF-8 that it is not.
fn disguised(encoding: &'static Encoding, bytes: &[u8]) -> bool {
    if encoding == UTF_16LE || encoding == UTF_16BE {
        return bytes.contains(&0) || std::str::from_utf8(bytes).is_err();
    }
    encoding == encoding_rs::ISO_2022_JP && bytes.contains(&0x1b)
}

/// The label in lower case, without quotes, spaces and RFC 2231 language.
fn clean_label(raw: &str) -> String {
    raw.trim_matches(|c: char| c.is_whitespace() || matches!(c, '"' | '\''))
        .split(['*', ';', ' '])
        .next()
        .unwrap_or_default()
        .to_ascii_lowercase()
}

/// The encoding a label means: the web's labels first, then what mail programs
/// write instead of them.
fn encoding(label: &str) -> Option<&'static Encoding> {
    if let Some(found) = Encoding::for_label_no_replacement(label.as_bytes()) {
        return Some(found);
    }
    let dashed = label.replace('_', "-");
    let known = match dashed.as_str() {
        "utf8mb4" | "utf-8mb4" | "unicode" | "utf" | "utf-8n" | "cp65001" | "x-utf-8" => "utf-8",
        "ascii-us" | "ansi" | "ansi-x3.110" | "ansi-x3.110-1983" | "iso-ir-99" | "default"
        | "8bit" | "7bit" | "latin" | "en" | "us" | "iso-8859" | "x-user-defined" => "windows-1252",
        "cp932" | "ms932" | "windows-932" | "cp943" | "sjis" | "x-ms-cp932" => "shift_jis",
        "cp936" | "ms936" | "windows-936" | "x-gbk" | "euc-cn" | "hz-gb-2312" => "gbk",
        "gb18030-2005" | "cp54936" => "gb18030",
        "cp949" | "ms949" | "x-windows-949" | "uhc" | "ks-c-5601" => "euc-kr",
        "cp950" | "ms950" | "windows-950" | "x-big5" => "big5",
        "cp1256-arabic" => "windows-1256",
        "cp874" | "tis620" | "iso-8859-11" => "windows-874",
        "eucjp" | "x-eucjp" | "ujis" => "euc-jp",
        "koi8" | "koi" => "koi8-r",
        "macroman" | "x-mac-roman" | "mac" => "macintosh",
        "iso-8859-8i" => "iso-8859-8-i",
        "iso-8859-6i" => "iso-8859-6-i",
        other => return windows_number(other),
    };
    Encoding::for_label_no_replacement(known.as_bytes())
}

/// `cp-1252`, `win1252`, `windows1252`, `ms-1252`, `iso8859-15-windows`: the
/// number is what counts.
fn windows_number(label: &str) -> Option<&'static Encoding> {
    let digits: String = label.chars().filter(char::is_ascii_digit).collect();
    let windows = ["cp", "win", "ms", "x-cp", "ibm"]
        .iter()
        .any(|start| label.starts_with(start));
    if let Some(part) = digits.strip_prefix("8859") {
        return Encoding::for_label_no_replacement(format!("iso-8859-{part}").as_bytes());
    }
    if windows {
        return Encoding::for_label_no_replacement(format!("windows-{digits}").as_bytes());
    }
    None
}
