//! OpenDocument: texts, presentations and sheets.

mod documents;
mod shapes;
mod sheet;
mod slides;
mod styles;
mod text;

use self::styles::OdfStyles;
use crate::package::OpenPackage;
use crate::{FileKind, Finding, OutputSink, ReadFailure, StopReason};

/// Reads an OpenDocument file.
pub fn read(kind: FileKind, bytes: &[u8], out: &mut OutputSink<'_>) -> Result<(), StopReason> {
    let mut package = OpenPackage::open(bytes)?;
    let manifest = package.text("META-INF/manifest.xml")?.unwrap_or_default();
    // OpenDocument encrypts the members one by one, so the archive itself opens without a password.
    if manifest.contains("encryption-data") {
        return Err(ReadFailure::Encrypted.into());
    }
    let content = package.text("content.xml")?.ok_or(ReadFailure::Broken)?;
    let shared = package.text("styles.xml")?.unwrap_or_default();
    let mut styles = OdfStyles::default();
    styles.read(&shared)?;
    // The automatic styles in `content.xml` come second, as they are based on the shared ones.
    styles.read(&content)?;
    if !package.names_between("basic/", "").is_empty() {
        out.find(Finding::Macros);
    }
    match kind {
        FileKind::Ods => sheet::read(&content, &styles, out),
        FileKind::Odp => documents::slides(&content, &shared, &styles, out),
        _ => documents::document(&content, &shared, &styles, out),
    }
}
