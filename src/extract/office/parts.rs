//! Content of a document or slide that is in other parts of the package: diagrams, charts,
//! documents of other formats, and link targets.

use std::collections::HashMap;

use super::chart;
use super::slide::read_part;
use crate::mail::rtf;
use crate::package::OpenPackage;
use crate::story::OmissionTally;
use crate::{FileKind, Finding, OutputSink, ReadFailure, kind_of, plain};

/// The links and texts that a part refers to, by relationship id.
#[derive(Default)]
pub struct RelatedParts {
    /// The targets of links.
    pub links: HashMap<String, String>,
    /// The texts of diagrams, charts and documents.
    pub texts: HashMap<String, String>,
}

impl RelatedParts {
    /// Reads the parts that the part with this path refers to.
    pub fn read(
        package: &mut OpenPackage<'_>,
        path: &str,
        tally: &mut OmissionTally,
        out: &mut OutputSink<'_>,
    ) -> Result<Self, ReadFailure> {
        let mut parts = Self::default();
        for relation in package.relations(path)? {
            let text = match relation.kind.as_str() {
                "hyperlink" => {
                    parts.links.insert(relation.id, relation.target);
                    continue;
                }
                "aFChunk" => {
                    let text = chunk(package, &relation.target, out);
                    if text.is_none() {
                        out.find(Finding::Chunk);
                    }
                    text
                }
                kind => drawn(package, kind, &relation.target, tally),
            };
            parts.texts.extend(text.map(|text| (relation.id, text)));
        }
        Ok(parts)
    }
}

/// Returns the text of a diagram (SmartArt) or chart, and `None` for parts of other kinds. A
/// damaged one, or a chart of the newer type (`chartEx`), counts as a picture.
pub fn drawn(
    package: &mut OpenPackage<'_>,
    kind: &str,
    path: &str,
    tally: &mut OmissionTally,
) -> Option<String> {
    let text = match kind {
        "diagramData" => read_part(package, path, false, tally),
        "chart" => package.text(path).and_then(|text| chart::text(&text.unwrap_or_default())),
        "chartEx" => Err(ReadFailure::Broken),
        _ => return None,
    };
    text.inspect_err(|_| tally.pictures += 1).ok()
}

/// Returns the text of a document that Word displays within another one. Formats that are seldom
/// used for this are not read.
fn chunk(package: &mut OpenPackage<'_>, path: &str, out: &mut OutputSink<'_>) -> Option<String> {
    let bytes = package.bytes(path).ok()??;
    match kind_of(&bytes, path, "") {
        FileKind::Html => Some(plain::html(plain::decoded(&bytes, out), out)),
        FileKind::Text => Some(plain::decoded(&bytes, out)),
        FileKind::Rtf => {
            let rich = rtf::parse(&bytes, false).ok()?;
            rich.findings.into_iter().for_each(|finding| out.find(finding));
            Some(rich.text)
        }
        _ => None,
    }
}
