//! Columns → what to request from an API.
//!
//! The registry declares where a provider's JSON has each column; this file collects
//! these paths, so that nothing is fetched that no column shows and nothing is shown
//! that was not fetched. It builds no request: the adapters turn a [`Projection`] into
//! `fields`, `metadataHeaders`, `$select`.

use crate::schemas::{Api, Field, Source, wire};

/// The paths in a provider's JSON that a set of columns reads.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Projection {
    /// Full paths, object keys joined by `/`, each once, in column order.
    pub paths: Vec<String>,
    /// Names of the mail headers read, each once, in column order.
    pub headers: Vec<&'static str>,
    /// True when ids have to be turned into names (labels, folders).
    pub names: bool,
}

/// Collects what the columns need from objects of `api`.
pub fn project(api: Api, columns: &[&'static Field]) -> Projection {
    let mut projection = Projection::default();
    for field in columns {
        projection.read("", field.source(api));
    }
    projection
}

impl Projection {
    /// Returns true if every path is one of `given`, so that no second call is needed.
    pub fn within(&self, given: &[&str]) -> bool {
        self.headers.is_empty() && self.paths.iter().all(|path| given.contains(&path.as_str()))
    }

    /// Returns the first keys of all paths, each once: the selection for an API that
    /// selects whole properties (`$select`).
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

    fn read(&mut self, base: &str, source: Source) {
        match source {
            Source::Absent | Source::Account | Source::Owner | Source::Added(_) => {}
            Source::Path(path)
            | Source::Escaped(path)
            | Source::Not(path)
            | Source::Is(path, _)
            | Source::Name(path)
            | Source::Has(path, _)
            | Source::Lacks(path, _)
            | Source::EpochMs(path)
            | Source::Rfc3339(path)
            | Source::Address(path)
            | Source::Addresses(path)
            | Source::Join(path)
            | Source::Length(path)
            | Source::There(path)
            | Source::Markup(path)
            | Source::Zone(path)
            | Source::GmailPage(path)
            | Source::Rule(path)
            | Source::GoogleWhen(path) => self.path(base, path),
            Source::Both(one, other) => {
                self.path(base, one);
                self.path(base, other);
            }
            Source::GraphWhen(path, all_day) => {
                self.path(base, path);
                if !all_day.is_empty() {
                    self.path(base, all_day);
                }
            }
            Source::Word(_, inner) => self.read(base, *inner),
            Source::Provided(one, other)
            | Source::Until(one, other)
            | Source::Beside(one, other)
            | Source::Opening(one, other) => {
                self.read(base, *one);
                self.read(base, *other);
            }
            Source::Guests(names, _) => {
                let list = join(base, names.list);
                let optional = [names.me, names.comment, names.proposed];
                for path in [names.name, names.address, names.answer].into_iter().chain(optional) {
                    if !path.is_empty() {
                        self.path(&list, path);
                    }
                }
                self.path(&list, names.organizer.0);
                self.path(&list, names.optional.0);
                self.path(&list, names.room.0);
            }
            Source::Names(path) => {
                self.names = true;
                self.path(base, path);
            }
            Source::Header(name) | Source::HeaderAddresses(name) => {
                self.path(base, wire::HEADERS);
                if !self.headers.contains(&name) {
                    self.headers.push(name);
                }
            }
            Source::Heading(path, name, _) => self.headings(base, path, &[name]),
            Source::Unsubscribe(path) => self.headings(base, path, &wire::UNSUBSCRIBE),
            Source::SenderAuth(path) => {
                self.headings(base, path, &[wire::RESULTS, wire::SENDER.0]);
            }
            Source::SenderWarnings(path, opening, spam) => {
                let (from, reply_to) = wire::SENDER;
                self.headings(base, path, &[wire::RESULTS, from, reply_to]);
                self.read(base, *opening);
                match spam {
                    // Its name is only needed of a message without results.
                    Source::Names(path) => self.path(base, path),
                    flag => self.read(base, *flag),
                }
            }
            Source::Flags(words) | Source::First(words, _) => {
                for (_, condition) in words {
                    self.read(base, *condition);
                }
            }
            Source::Either(sources) => {
                for source in sources {
                    self.read(base, *source);
                }
            }
            Source::Oldest(list, inner)
            | Source::Newest(list, inner)
            | Source::Each(list, inner)
            | Source::Tally(list, inner)
            | Source::Any(list, inner) => self.read(&join(base, list), *inner),
        }
    }

    /// Headers in a list of them.
    fn headings(&mut self, base: &str, path: &str, names: &[&'static str]) {
        self.path(base, path);
        for name in names {
            // Only Gmail takes a list of header names.
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
