//! Names of files, so that they are names and nothing else.

use crate::text;

/// The most bytes of a name; file systems have 255.
const MAX_LEN: usize = 150;
/// The most bytes of an ending that is kept when a name is shortened.
const MAX_ENDING: usize = 12;
/// Names that Windows has for devices, with any ending.
const DEVICES: &[&str] = &["con", "prn", "aux", "nul", "conin$", "conout$"];

/// The name of a file whose own has nothing left.
pub const UNNAMED: &str = "attachment";

/// Returns a file name that is valid in any folder: no path, no control or invisible
/// characters, none with a meaning to the system, no leading dots, of limited length.
/// [`UNNAMED`] if nothing is left.
pub fn clean(given: &str) -> String {
    let last = given.rsplit(['/', '\\']).next().unwrap_or_default();
    let name: String = text::visible(&text::cell(last))
        .chars()
        .map(|c| match c {
            '<' | '>' | ':' | '"' | '|' | '?' | '*' => '_',
            c => c,
        })
        .collect();
    let name = name.trim_start_matches(['.', ' ', '-', '~']).trim_end_matches(['.', ' ']);
    let name = shorten(name);
    if name.is_empty() {
        return UNNAMED.to_owned();
    }
    let stem = name.split('.').next().unwrap_or_default().trim().to_lowercase();
    let numbered = stem
        .strip_prefix("com")
        .or_else(|| stem.strip_prefix("lpt"))
        .is_some_and(|rest| rest.chars().count() == 1 && !rest.chars().all(char::is_alphabetic));
    if numbered || DEVICES.contains(&stem.as_str()) { format!("_{name}") } else { name }
}

/// Shortens a name to [`MAX_LEN`] bytes and keeps its ending.
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
