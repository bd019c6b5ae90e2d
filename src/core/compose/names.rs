//! File names of attachments, made safe to store.

use crate::text;

/// The maximum length of a name in bytes; file systems allow 255.
const MAX_LEN: usize = 150;
/// The maximum length in bytes of an ending that is kept when a name is shortened.
const MAX_ENDING: usize = 12;
/// Names of devices on Windows, reserved with any ending.
const DEVICES: &[&str] = &["con", "prn", "aux", "nul", "conin$", "conout$"];

/// The name for a file whose own name has no valid characters.
pub const UNNAMED: &str = "attachment";

/// Returns a file name that is valid in any folder: without a path, control or invisible
/// characters, characters with a meaning to the system, and leading dots, and of limited length.
/// [`UNNAMED`] if no valid characters remain.
pub fn clean(given: &str) -> String {
    let last = given.rsplit(['/', '\\']).next().unwrap_or_default();
    let name: String = text::visible(&text::cell(last))
        .chars()
        .map(|c| match c {
            '<' | '>' | ':' | '"' | '|' | '?' | '*' => '_',
            c => c,
        })
        .collect();
    // A leading dot hides a file, a dash looks like an option, a tilde like a home folder.
    // Windows drops dots and spaces at the end.
    let name = name.trim_start_matches(['.', ' ', '-', '~']).trim_end_matches(['.', ' ']);
    let name = shorten(name);
    if name.is_empty() {
        return UNNAMED.to_owned();
    }
    let stem = name.split('.').next().unwrap_or_default().trim().to_lowercase();
    let numbered = stem
        // `com1` to `com9`, `lpt1` to `lpt9`, and the same with superscript digits, are
        // devices.
        .strip_prefix("com")
        .or_else(|| stem.strip_prefix("lpt"))
        .is_some_and(|rest| rest.chars().count() == 1 && !rest.chars().all(char::is_alphabetic));
    if numbered || DEVICES.contains(&stem.as_str()) { format!("_{name}") } else { name }
}

/// Shortens a name to [`MAX_LEN`] bytes, keeping its ending.
fn shorten(name: &str) -> String {
    if name.len() <= MAX_LEN {
        return name.to_owned();
    }
    let ending = name
        .rfind('.')
        .and_then(|at| name.get(at..))
        .filter(|ending| ending.len() <= MAX_ENDING)
        .unwrap_or_default();
    let mut end = MAX_LEN - ending.len();
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    let stem = name.get(..end).unwrap_or_default().trim_end();
    format!("{stem}{ending}")
}
