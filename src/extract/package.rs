//! Files packed by zip, unpacked within limits.
//!
//! The only module that names the zip library. Sizes that an archive states are never trusted to
//! be small: what is unpacked is counted, over all its members together.

use std::collections::HashMap;
use std::io::{Cursor, ErrorKind, Read};

use daysheet_core::text::charset;
use zip::ZipArchive;
use zip::result::ZipError;

use crate::xml::{XmlEvent, XmlReader};
use crate::{InnerFile, ReadFailure, UNPACKED};

/// Files that an archive may have.
const MEMBERS: usize = 10_000;

/// An archive that is open.
pub struct OpenPackage<'a> {
    archive: ZipArchive<Cursor<&'a [u8]>>,
    /// Where each file is, by its name in lower case: writers disagree on it.
    places: HashMap<String, usize>,
    /// Bytes that may still be unpacked.
    left: u64,
}

/// What a part of an Office file says of another one.
pub struct PartRelation {
    /// The name by which the part speaks of it.
    pub id: String,
    /// What it is: the last part of its type's address.
    pub kind: String,
    /// Its name in the package; an address if it lies elsewhere.
    pub target: String,
}

impl<'a> OpenPackage<'a> {
    /// Opens an archive.
    ///
    /// Fails with [`ReadFailure::Broken`], or with [`ReadFailure::TooMany`] if files overlap or there
    /// are more than 10,000 of them.
    pub fn open(bytes: &'a [u8]) -> Result<Self, ReadFailure> {
        let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(failure)?;
        if archive.len() > MEMBERS || archive.has_overlapping_entries().map_err(failure)? {
            return Err(ReadFailure::TooMany);
        }
        let names = archive.file_names_raw().map(|raw| plain(&String::from_utf8_lossy(raw)));
        let places = names.enumerate().map(|(place, name)| (name, place)).collect();
        Ok(Self { archive, places, left: UNPACKED })
    }

    /// Returns its files in the order of its directory, as it states them; their numbers are
    /// those of [`unpack`](Self::unpack).
    pub fn files(&self) -> Vec<InnerFile> {
        let entries = (0..self.archive.len()).zip(1..).filter_map(|(index, part)| {
            let entry = self.archive.by_index_data(index).ok()?;
            let raw = || String::from_utf8_lossy(entry.name_raw()).into_owned();
            Some(InnerFile {
                part,
                name: entry.name().map_or_else(|_| raw(), std::borrow::Cow::into_owned),
                size: entry.size(),
                encrypted: entry.encrypted(),
                folder: entry.is_dir(),
            })
        });
        entries.collect()
    }

    /// Returns the bytes of file number `part`, from 1.
    ///
    /// Fails with [`ReadFailure::NoSuchPart`], [`ReadFailure::Encrypted`], [`ReadFailure::Broken`], or
    /// [`ReadFailure::TooMany`] if all that was unpacked exceeds [`UNPACKED`].
    pub fn unpack(&mut self, part: u32) -> Result<Vec<u8>, ReadFailure> {
        let count = u32::try_from(self.archive.len()).unwrap_or(u32::MAX);
        let index = part.checked_sub(1).filter(|_| part <= count);
        self.read_at(index.ok_or(ReadFailure::NoSuchPart(count))? as usize)
    }

    /// Returns true if there is a file with this name.
    pub fn has(&self, name: &str) -> bool {
        self.places.contains_key(&plain(name))
    }

    /// Returns the names that begin and end so, in lower case and in order.
    pub fn named(&self, start: &str, end: &str) -> Vec<String> {
        let fits = |name: &&String| name.starts_with(start) && name.ends_with(end);
        let mut names: Vec<String> = self.places.keys().filter(fits).cloned().collect();
        names.sort();
        names
    }

    /// Returns the text of the file with this name, if there is one; fails like
    /// [`unpack`](Self::unpack).
    pub fn text(&mut self, name: &str) -> Result<Option<String>, ReadFailure> {
        Ok(self.bytes(name)?.map(|bytes| charset::decode(&bytes, None).0))
    }

    /// Returns the bytes of the file with this name, if there is one; fails like
    /// [`unpack`](Self::unpack).
    pub fn bytes(&mut self, name: &str) -> Result<Option<Vec<u8>>, ReadFailure> {
        self.places.get(&plain(name)).copied().map(|index| self.read_at(index)).transpose()
    }

    /// Returns what the part with this name says of others; empty if it says nothing.
    pub fn relations(&mut self, name: &str) -> Result<Vec<PartRelation>, ReadFailure> {
        let (folder, file) = name.rsplit_once('/').unwrap_or(("", name));
        let Some(text) = self.text(&joined(folder, &format!("_rels/{file}.rels")))? else {
            return Ok(Vec::new());
        };
        let mut xml = XmlReader::of(&text, &["rel"]);
        let mut relations = Vec::new();
        while let Some(event) = xml.step()? {
            if let XmlEvent::Start(element) = event
                && element.name() == "Relationship"
                && let (Some(id), Some(kind), Some(target)) =
                    (element.attr("Id"), element.attr("Type"), element.attr("Target"))
            {
                let external = element.attr("TargetMode").is_some_and(|mode| mode == "External");
                let kind = kind.rsplit('/').next().unwrap_or_default().to_owned();
                let target = if external { target } else { joined(folder, &target) };
                relations.push(PartRelation { id, kind, target });
            }
        }
        Ok(relations)
    }

    /// Returns where the links of the part with this name lead, by their ids.
    pub fn links(&mut self, name: &str) -> Result<HashMap<String, String>, ReadFailure> {
        let links = self.relations(name)?.into_iter();
        let links = links.filter(|relation| relation.kind == "hyperlink");
        Ok(links.map(|relation| (relation.id, relation.target)).collect())
    }

    /// Returns the name of the part that a package is about.
    pub fn main(&mut self, usual: &str) -> Result<String, ReadFailure> {
        let mut relations = self.relations("")?.into_iter();
        let main = relations.find(|relation| relation.kind == "officeDocument");
        Ok(main.map_or_else(|| usual.to_owned(), |relation| relation.target))
    }

    fn read_at(&mut self, index: usize) -> Result<Vec<u8>, ReadFailure> {
        let file = self.archive.by_index(index).map_err(failure)?;
        // One that states too much is too large, whatever there is of it.
        if file.size() > self.left {
            return Err(ReadFailure::TooMany);
        }
        let mut bytes = Vec::new();
        let read = file.take(self.left + 1).read_to_end(&mut bytes);
        let read = read.map_err(|error| match error.kind() {
            // The process that reads has little memory, so that this comes before the limit.
            ErrorKind::OutOfMemory => ReadFailure::TooMany,
            _ => ReadFailure::Broken,
        })? as u64;
        self.left = self.left.checked_sub(read).ok_or(ReadFailure::TooMany)?;
        Ok(bytes)
    }
}

/// Returns what an error of the archive means.
fn failure(error: ZipError) -> ReadFailure {
    match error {
        ZipError::UnsupportedArchive(ZipError::PASSWORD_REQUIRED) | ZipError::InvalidPassword => {
            ReadFailure::Encrypted
        }
        _ => ReadFailure::Broken,
    }
}

/// Returns a name as it is looked for.
fn plain(name: &str) -> String {
    name.trim_start_matches('/').replace('\\', "/").to_lowercase()
}

/// Returns where a part lies that one in `folder` names.
fn joined(folder: &str, target: &str) -> String {
    let whole = match target.strip_prefix('/') {
        Some(absolute) => absolute.to_owned(),
        None => format!("{folder}/{target}"),
    };
    let mut parts: Vec<&str> = Vec::new();
    for part in whole.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}
