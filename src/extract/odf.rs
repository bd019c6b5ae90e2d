//! OpenDocument: texts, presentations and sheets.

mod shapes;
mod sheet;
mod slides;
mod styles;
mod text;

use self::styles::Styles;
use crate::package::Package;
use crate::{Failure, Finding, Kind, Out, Stop};

/// Reads such a file.
pub fn read(kind: Kind, bytes: &[u8], out: &mut Out<'_>) -> Result<(), Stop> {
    let mut package = Package::open(bytes)?;
    let manifest = package.text("META-INF/manifest.xml")?.unwrap_or_default();
    if manifest.contains("encryption-data") {
        return Err(Failure::Encrypted.into());
    }
    let content = package.text("content.xml")?.ok_or(Failure::Broken)?;
    let shared = package.text("styles.xml")?.unwrap_or_default();
    let mut styles = Styles::default();
    styles.read(&shared)?;
    styles.read(&content)?;
    if !package.named("basic/", "").is_empty() {
        out.find(Finding::Macros);
    }
    match kind {
        Kind::Ods => sheet::read(&content, &styles, out),
        Kind::Odp => text::slides(&content, &shared, &styles, out),
        _ => text::document(&content, &shared, &styles, out),
    }
}
