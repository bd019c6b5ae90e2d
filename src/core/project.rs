//! Projection of columns: the paths to request from an API.
//!
//! The registry declares the location of each column in a provider's JSON; this file collects
//! these paths, so that only shown columns are fetched and only fetched columns are shown. The
//! adapters convert a [`Projection`] into parts of requests: `fields`, `metadataHeaders`,
//! `$select`.

use crate::schemas::{ColumnReader, Service, TableColumn, ValueSource, wire};

/// The paths in a provider's JSON that a set of columns reads.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Projection {
    /// Full paths, object keys joined by `/`, each once, in column order.
    pub paths: Vec<String>,
    /// Names of the mail header fields, each once, in column order.
    pub headers: Vec<&'static str>,
    /// True if ids have to be converted to names (labels, folders).
    pub names: bool,
}

/// Collects the paths that the columns need from objects of `api`.
pub fn project(api: Service, columns: &[&'static TableColumn]) -> Projection {
    let mut projection = Projection::default();
    for field in columns {
        projection.read("", field.source(api));
    }
    projection
}

impl Projection {
    /// Returns true if all paths are among `given`, so that no second call is needed.
    pub fn within(&self, given: &[&str]) -> bool {
        self.headers.is_empty() && self.paths.iter().all(|path| given.contains(&path.as_str()))
    }

    /// Returns the first keys of all paths, each once, for an API that selects whole properties
    /// (`$select`).
    pub fn roots(&self) -> Vec<&str> {
        let mut roots: Vec<&str> = Vec::new();
        for path in &self.paths {
            let root = path.split('/').next().unwrap_or(path);
            if !roots.contains(&root) {
                roots.push(root);
            }
        }
        roots
    }

    /// Adds the paths of a source, in objects whose path is `base`.
    fn read(&mut self, base: &str, source: ValueSource) {
        match source {
            ValueSource::Absent | ValueSource::Account | ValueSource::Added(_) => {}
            ValueSource::Path(path)
            | ValueSource::Converted(path, _)
            | ValueSource::Is(path, _)
            | ValueSource::Has(path, _)
            | ValueSource::There(path)
            | ValueSource::EpochMs(path)
            | ValueSource::Rfc3339(path)
            | ValueSource::GoogleWhen(path)
            | ValueSource::GraphWhen(path)
            | ValueSource::Address(path)
            | ValueSource::Addresses(path)
            | ValueSource::Join(path) => self.path(base, path),
            ValueSource::Names(path) => {
                self.names = true;
                self.path(base, path);
            }
            ValueSource::Header(name) | ValueSource::HeaderAddresses(name) => {
                self.headings(base, wire::HEADERS, &[name]);
            }
            ValueSource::Not(inner) => self.read(base, *inner),
            ValueSource::Provided(one, other) | ValueSource::Until(one, other) => {
                self.read(base, *one);
                self.read(base, *other);
            }
            ValueSource::Flags(words) | ValueSource::First(words, _) => {
                for (_, condition) in words {
                    self.read(base, *condition);
                }
            }
            ValueSource::Either(sources) => {
                for source in sources {
                    self.read(base, *source);
                }
            }
            ValueSource::Oldest(list, inner)
            | ValueSource::Newest(list, inner)
            | ValueSource::Each(list, inner)
            | ValueSource::Tally(list, inner)
            | ValueSource::Any(list, inner) => self.read(&join(base, list), *inner),
            ValueSource::Event(paths) => paths.iter().for_each(|path| self.path(base, path)),
            ValueSource::Column(column) => self.read_column(base, column),
        }
    }

    /// Adds the paths of a value that only one column has.
    fn read_column(&mut self, base: &str, column: ColumnReader) {
        match column {
            ColumnReader::Count(path) | ColumnReader::Link(path) => self.path(base, path),
            ColumnReader::From { sender: one, draft: other }
            | ColumnReader::Snippet { text: one, subject: other } => {
                self.read(base, *one);
                self.read(base, *other);
            }
            ColumnReader::Bulk(path, name, _) => self.headings(base, path, &[name]),
            ColumnReader::Unsubscribe(path) => self.headings(base, path, &wire::UNSUBSCRIBE),
            ColumnReader::Auth(path) => {
                self.headings(base, path, &[wire::RESULTS, wire::SENDER.0]);
            }
            ColumnReader::Warn { headers, text, spam } => {
                let (from, reply_to) = wire::SENDER;
                self.headings(base, headers, &[wire::RESULTS, from, reply_to]);
                self.read(base, *text);
                match spam {
                    // The folder's name is only needed for a message without results, and
                    // costs a request, so its id is enough here.
                    ValueSource::Names(path) => self.path(base, path),
                    flag => self.read(base, *flag),
                }
            }
        }
    }

    /// Adds header fields of the list at a path.
    fn headings(&mut self, base: &str, path: &str, names: &[&'static str]) {
        self.path(base, path);
        for name in names {
            // Only Gmail accepts a list of header names; Graph returns all header fields
            // together.
            if path == wire::HEADERS && !self.headers.contains(name) {
                self.headers.push(name);
            }
        }
    }

    fn path(&mut self, base: &str, path: &str) {
        let path = join(base, path);
        if !self.paths.contains(&path) {
            self.paths.push(path);
        }
    }
}

fn join(base: &str, path: &str) -> String {
    if base.is_empty() { path.to_owned() } else { format!("{base}/{path}") }
}
