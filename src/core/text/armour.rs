//! Signatures and encoded data within a text.
//!
//! PGP writes encrypted or signed content into the text. People do not read such lines: each block
//! becomes one line of ours that names it, and the lines around a signed text are removed. Blocks
//! are neither decoded nor verified here. A uuencoded file stays as it is.

use super::fence::OURS;

/// Number of characters of Base64 above which a run is data.
const MIN_ENCODED: usize = 2_000;
/// Header lines within a block of PGP (RFC 9580, 6.2.2).
const HEADERS: &[&str] = &["Version", "Comment", "Hash", "Charset", "MessageID"];
/// Minimum length of the lines of such a run, except the last one.
const MIN_LINE: usize = 40;

/// Replaces each block that is not text by one line of ours.
pub fn replace_blocks(text: &str) -> String {
    let lines: Vec<&str> = text.split('\n').collect();
    let mut out = Vec::with_capacity(lines.len());
    // True after the header of a signed text, until its signature.
    let mut signed = false;
    let mut at = 0;
    while let Some(rest) = lines.get(at..).filter(|rest| !rest.is_empty()) {
        let line = rest.first().copied().unwrap_or_default();
        let found = pgp(rest, &mut signed).or_else(|| encoded(rest));
        if let Some(block) = found {
            out.extend(block.name.map(|name| format!("{OURS}[{name}]")));
            at += block.lines;
        } else {
            let line = line.strip_prefix("- ").filter(|_| signed).unwrap_or(line);
            out.push(line.to_owned());
            at += 1;
        }
    }
    out.join("\n")
}

/// A block of lines, and the name written instead of it.
struct ArmourBlock {
    lines: usize,
    name: Option<String>,
}

/// Recognises a block of PGP, and the header of a signed text.
fn pgp(lines: &[&str], signed: &mut bool) -> Option<ArmourBlock> {
    let kind = lines.first()?.strip_prefix("-----BEGIN PGP ")?.strip_suffix("-----")?;
    if kind == "SIGNED MESSAGE" {
        *signed = true;
        // `Hash:` lines, up to the blank one.
        let head = lines.iter().skip(1).take_while(|line| line.starts_with("Hash: ")).count();
        let blank = usize::from(lines.get(head + 1).is_some_and(|line| line.is_empty()));
        return Some(ArmourBlock { lines: 1 + head + blank, name: None });
    }
    let name = match kind {
        "MESSAGE" => "PGP message: encrypted, nothing can be read here".to_owned(),
        "SIGNATURE" => "signed with PGP; the signature was not checked".to_owned(),
        "PUBLIC KEY BLOCK" | "PRIVATE KEY BLOCK" => format!("PGP {}", kind.to_lowercase()),
        _ => return None,
    };
    let end = format!("-----END PGP {kind}-----");
    // Anything else in a block is text that people read.
    let is_armour = |line: &str| {
        let digits = |b: u8| b.is_ascii_alphanumeric() || b"+/=".contains(&b);
        let header = || line.split_once(": ").is_some_and(|(name, _)| HEADERS.contains(&name));
        line.bytes().all(digits) || header()
    };
    let inside = lines.iter().skip(1).take_while(|line| is_armour(line)).count();
    // A block without an end is text: dropping it would also drop everything below.
    lines.get(inside + 1).filter(|line| **line == end)?;
    *signed = false;
    Some(ArmourBlock { lines: inside + 2, name: Some(name) })
}

/// Recognises a long run of Base64.
fn encoded(lines: &[&str]) -> Option<ArmourBlock> {
    let digits = |line: &&&str| {
        !line.is_empty() && line.bytes().all(|b| b.is_ascii_alphanumeric() || b"+/=".contains(&b))
    };
    let first = lines.first().filter(|line| line.len() >= MIN_LINE)?;
    let count =
        lines.iter().take_while(digits).take_while(|line| line.len() == first.len()).count();
    let rest = lines.get(count).filter(|line| line.len() < first.len() && digits(line));
    let last = usize::from(count > 0 && rest.is_some());
    let characters = first.len() * count + rest.map_or(0, |line| line.len());
    (characters > MIN_ENCODED).then(|| ArmourBlock {
        lines: count + last,
        name: Some(format!("{characters} characters of encoded data")),
    })
}
