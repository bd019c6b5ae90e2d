//! Folders of mail for the sandbox.

use std::path::Path;

/// Writes a small message into a folder.
pub fn letter(folder: &Path, name: &str, headers: &str, body: &str) {
    std::fs::create_dir_all(folder).unwrap();
    std::fs::write(folder.join(name), format!("{headers}\n\n{body}")).unwrap();
}
