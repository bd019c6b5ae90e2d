//! Unpacking of zip files, within limits.
//!
//! The only module that uses the zip library. The sizes that an archive states are not trusted:
//! unpacked bytes are counted across all members.

use std::collections::HashMap;
use std::io::{Cursor, ErrorKind, Read};

use daysheet_core::text::charset;
use zip::ZipArchive;
use zip::result::ZipError;

use crate::xml::{XmlEvent, XmlReader};
use crate::{InnerFile, ReadFailure, UNPACKED};

/// Maximum files in an archive.
const MEMBERS: usize = 10_000;

/// An open archive.
pub struct OpenPackage<'a> {
    archive: ZipArchive<Cursor<&'a [u8]>>,
    /// The position of each file by its lower-case name, as writers disagree on case.
    indexes: HashMap<String, usize>,
    /// Bytes that may still be unpacked.
    left: u64,
}

/// A relationship from a part of an Office file to another part (ECMA-376, Part 2).
pub struct PartRelation {
    /// The id by which the part refers to it.
    pub id: String,
    /// The last segment of its type's address.
    pub kind: String,
    /// The name of the target in the package, or an address if it is external.
    pub target: String,
}

impl<'a> OpenPackage<'a> {
    /// Opens an archive.
    ///
    /// # Errors
    ///
    /// [`ReadFailure::Broken`], or [`ReadFailure::TooMany`] if entries overlap or there are more than
    /// 10,000.
    pub fn open(bytes: &'a [u8]) -> Result<Self, ReadFailure> {
        let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(failure)?;
        // Overlapping entries are the mark of a zip bomb: many members share one compressed block.
        if archive.len() > MEMBERS || archive.has_overlapping_entries().map_err(failure)? {
            return Err(ReadFailure::TooMany);
        }
        let names = archive.file_names_raw().map(|raw| plain(&String::from_utf8_lossy(raw)));
        let indexes = names.enumerate().map(|(index, name)| (name, index)).collect();
        Ok(Self { archive, indexes, left: UNPACKED })
    }

    /// Returns the files in directory order, with the sizes that the directory states. Their
    /// numbers are the ones that [`unpack`](Self::unpack) takes.
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

    /// Returns the bytes of the file with the number `part`, from 1.
    ///
    /// # Errors
    ///
    /// [`ReadFailure::NoSuchPart`], [`ReadFailure::Encrypted`], [`ReadFailure::Broken`], or
    /// [`ReadFailure::TooMany`] if all unpacked bytes together exceed [`UNPACKED`].
    pub fn unpack(&mut self, part: u32) -> Result<Vec<u8>, ReadFailure> {
        let count = u32::try_from(self.archive.len()).unwrap_or(u32::MAX);
        let index = part.checked_sub(1).filter(|_| part <= count);
        self.read_at(index.ok_or(ReadFailure::NoSuchPart(count))? as usize)
    }

    /// Returns true if there is a file with this name.
    pub fn has(&self, name: &str) -> bool {
        self.indexes.contains_key(&plain(name))
    }

    /// Returns the sorted lower-case names with this beginning and end.
    pub fn names_between(&self, start: &str, end: &str) -> Vec<String> {
        let fits = |name: &&String| name.starts_with(start) && name.ends_with(end);
        let mut names: Vec<String> = self.indexes.keys().filter(fits).cloned().collect();
        names.sort();
        names
    }

    /// Returns the text of the file with this name, if there is one. Fails like
    /// [`unpack`](Self::unpack).
    pub fn text(&mut self, name: &str) -> Result<Option<String>, ReadFailure> {
        Ok(self.bytes(name)?.map(|bytes| charset::decode(&bytes, None).0))
    }

    /// Returns the bytes of the file with this name, if there is one. Fails like
    /// [`unpack`](Self::unpack).
    pub fn bytes(&mut self, name: &str) -> Result<Option<Vec<u8>>, ReadFailure> {
        self.indexes.get(&plain(name)).copied().map(|index| self.read_at(index)).transpose()
    }

    /// Returns the relationships of the part with this name, or an empty list.
    pub fn relations(&mut self, name: &str) -> Result<Vec<PartRelation>, ReadFailure> {
        let (folder, file) = name.rsplit_once('/').unwrap_or(("", name));
        let Some(text) = self.text(&joined(folder, &format!("_rels/{file}.rels")))? else {
            return Ok(Vec::new());
        };
        let mut xml = XmlReader::with_namespaces(&text, &["rel"]);
        let mut relations = Vec::new();
        while let Some(event) = xml.step()? {
            if let XmlEvent::Start(element) = event
                && element.name() == "Relationship"
                && let (Some(id), Some(kind), Some(target)) =
                    (element.attr("Id"), element.attr("Type"), element.attr("Target"))
            {
                let external = element.attr("TargetMode").is_some_and(|mode| mode == "External");
                let kind = kind.rsplit('/').next().unwrap_or_default().to_owned();
                // An external target is an address: it has no path to resolve against the folder.
                let target = if external { target } else { joined(folder, &target) };
                relations.push(PartRelation { id, kind, target });
            }
        }
        Ok(relations)
    }

    /// Returns the link targets of the part with this name, by relationship id.
    pub fn links(&mut self, name: &str) -> Result<HashMap<String, String>, ReadFailure> {
        let links = self.relations(name)?.into_iter();
        let links = links.filter(|relation| relation.kind == "hyperlink");
        Ok(links.map(|relation| (relation.id, relation.target)).collect())
    }

    /// Returns the name of the main part of a package, or `usual` if it is not declared.
    pub fn main(&mut self, usual: &str) -> Result<String, ReadFailure> {
        let mut relations = self.relations("")?.into_iter();
        let main = relations.find(|relation| relation.kind == "officeDocument");
        Ok(main.map_or_else(|| usual.to_owned(), |relation| relation.target))
    }

    fn read_at(&mut self, index: usize) -> Result<Vec<u8>, ReadFailure> {
        let file = self.archive.by_index(index).map_err(failure)?;
        // A member that states too large a size is rejected before anything is unpacked.
        if file.size() > self.left {
            return Err(ReadFailure::TooMany);
        }
        let mut bytes = Vec::new();
        // The stated size may be false: read one byte more than allowed, to notice that there is
        // more.
        let read = file.take(self.left + 1).read_to_end(&mut bytes);
        let read = read.map_err(|error| match error.kind() {
            // The worker has little memory, so allocation can fail before the limit is reached.
            ErrorKind::OutOfMemory => ReadFailure::TooMany,
            _ => ReadFailure::Broken,
        })? as u64;
        self.left = self.left.checked_sub(read).ok_or(ReadFailure::TooMany)?;
        Ok(bytes)
    }
}

/// Returns the failure for an error of the archive.
fn failure(error: ZipError) -> ReadFailure {
    match error {
        ZipError::UnsupportedArchive(ZipError::PASSWORD_REQUIRED) | ZipError::InvalidPassword => {
            ReadFailure::Encrypted
        }
        _ => ReadFailure::Broken,
    }
}

/// Returns a name in the form in which names are compared.
fn plain(name: &str) -> String {
    name.trim_start_matches('/').replace('\\', "/").to_lowercase()
}

/// Returns the name of the part that `target` refers to from `folder`.
// Some programs write targets with a leading slash, from the root of the package.
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
