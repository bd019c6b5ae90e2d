//! Detection of a file's kind: by its first bytes, its name, then its media type.
//!
//! The bytes win over the sender's claims. Text has no signature, so its name decides.

use daysheet_core::text::charset;

use crate::package::OpenPackage;
use crate::{FileKind, compound};

/// Signatures of pictures.
const PICTURES: &[&[u8]] =
    &[b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"II*\0", b"MM\0*", b"\0\0\x01\0"];
/// Header fields, several of which each message has.
const FIELDS: &[&str] = &[
    "received:", "return-path:", "delivered-to:", "from:", "to:", "subject:", "date:",
    "message-id:", "mime-version:", "content-type:", "dkim-signature:",
];
/// Bytes that are searched for a signature.
const HEAD: usize = 8 << 10;

/// Returns the kind of a file.
pub fn kind_of(bytes: &[u8], name: &str, media: &str) -> FileKind {
    let head = bytes.get(..HEAD.min(bytes.len())).unwrap_or_default();
    let named = by_name(name);
    if head.starts_with(b"PK\x03\x04") || head.starts_with(b"PK\x05\x06") {
        return packed(bytes);
    }
    if head.starts_with(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1") {
        return of_compound(bytes);
    }
    if head.starts_with(b"{\\rtf") {
        return FileKind::Rtf;
    }
    if head.starts_with(b"\x78\x9f\x3e\x22") {
        return FileKind::Tnef;
    }
    // The header of a PDF may follow other lines: readers accept it within the first 1,024 bytes.
    if head.windows(5).take(1024).any(|five| five == b"%PDF-") {
        return FileKind::Pdf;
    }
    // `RIFF` and `BM` alone are too common as beginnings of other files.
    let riff = head.starts_with(b"RIFF") && head.get(8..12) == Some(b"WEBP");
    let bitmap = head.starts_with(b"BM") && head.get(6..10) == Some(&[0; 4]);
    if riff || bitmap || PICTURES.iter().any(|magic| head.starts_with(magic)) {
        return FileKind::Picture;
    }
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    let begins = |with: &str| {
        text.get(..with.len()).is_some_and(|start| start.eq_ignore_ascii_case(with.as_bytes()))
    };
    if begins("BEGIN:VCALENDAR") {
        return FileKind::Calendar;
    }
    if begins("BEGIN:VCARD") {
        return FileKind::Contacts;
    }
    if begins("-----BEGIN PGP MESSAGE") {
        return FileKind::Pgp;
    }
    let marked = head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff");
    // UTF-16 without a byte order mark would count as binary because of its zero bytes.
    let wide = marked || charset::wide(head).is_some();
    let binary = !wide
        && head.iter().filter(|byte| **byte < 9 || (14..27).contains(*byte)).count() * 50
            > head.len();
    if binary {
        return match named.or_else(|| by_media(media)) {
            Some(FileKind::Smime) => FileKind::Smime,
            Some(FileKind::Pgp) => FileKind::Pgp,
            Some(FileKind::Mail) => FileKind::Mail,
            _ => FileKind::Binary,
        };
    }
    // Outlook stores a signed message whole in its `smime.p7m`, as MIME rather than CMS.
    if named == Some(FileKind::Smime) && (begins("content-type:") || begins("mime-version:")) {
        return FileKind::Mail;
    }
    let textual = |kind: &FileKind| {
        matches!(
            kind,
            FileKind::Csv
                | FileKind::Tsv
                | FileKind::Html
                | FileKind::Text
                | FileKind::Markdown
                | FileKind::Json
                | FileKind::Xml
                | FileKind::Mail
                | FileKind::Smime
        )
    };
    if let Some(kind) = named.filter(textual).or_else(|| by_media(media).filter(textual)) {
        return kind;
    }
    if ["<!doctype html", "<html", "<table", "<meta", "<style"].into_iter().any(begins) {
        return FileKind::Html;
    }
    if begins("<?xml") {
        return FileKind::Xml;
    }
    match named {
        // Programs export CSV, TSV or HTML under the name of a workbook.
        Some(FileKind::Xls | FileKind::Xlsx) => delimited(text),
        None if is_mail(text) => FileKind::Mail,
        _ => FileKind::Text,
    }
}

/// Returns the kind of a text with cells, judged by its first line.
fn delimited(text: &[u8]) -> FileKind {
    let line = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
    if line.contains(&b'\t') { FileKind::Tsv } else { FileKind::Csv }
}

/// Returns true for text that begins like a message: at least three known header fields.
fn is_mail(text: &[u8]) -> bool {
    let line = |line: &[u8]| String::from_utf8_lossy(line).to_ascii_lowercase();
    let lines = text.split(|byte| *byte == b'\n').map(|one| line(one.trim_ascii_end()));
    let mut fields = lines.take_while(|line| !line.is_empty());
    let is_field = |line: &str| FIELDS.iter().any(|field| line.starts_with(field));
    fields.next().is_some_and(|first| {
        (is_field(&first) || first.starts_with("from "))
            && fields.filter(|line| is_field(line)).nth(1).is_some()
    })
}

/// Returns true if the extension claims another kind than the bytes show.
pub fn named_otherwise(kind: FileKind, name: &str) -> bool {
    let marked = |kind| {
        matches!(
            kind,
            FileKind::Pdf
                | FileKind::Docx
                | FileKind::Xlsx
                | FileKind::Xls
                | FileKind::Xlsb
                | FileKind::Pptx
                | FileKind::Odt
                | FileKind::Ods
                | FileKind::Odp
                | FileKind::Rtf
                | FileKind::Msg
                | FileKind::Zip
                | FileKind::Picture
                | FileKind::Doc
                | FileKind::Ppt
        )
    };
    // Between two kinds of text the name decides, so only kinds with a signature can contradict it.
    by_name(name).is_some_and(|named| named != kind && (marked(named) || marked(kind)))
        && kind != FileKind::Encrypted
}

/// Returns the kind that the extension claims.
fn by_name(name: &str) -> Option<FileKind> {
    let (_, ending) = name.rsplit_once('.')?;
    Some(match ending.to_ascii_lowercase().as_str() {
        "pdf" => FileKind::Pdf,
        "docx" | "docm" | "dotx" => FileKind::Docx,
        "xlsx" | "xlsm" | "xltx" => FileKind::Xlsx,
        "xls" => FileKind::Xls,
        "xlsb" => FileKind::Xlsb,
        "pptx" | "pptm" | "ppsx" => FileKind::Pptx,
        "odt" | "ott" => FileKind::Odt,
        "ods" | "ots" => FileKind::Ods,
        "odp" | "otp" => FileKind::Odp,
        "rtf" => FileKind::Rtf,
        "csv" => FileKind::Csv,
        "tsv" | "tab" => FileKind::Tsv,
        "htm" | "html" | "xhtml" => FileKind::Html,
        "txt" | "log" | "text" => FileKind::Text,
        "md" | "markdown" => FileKind::Markdown,
        "json" => FileKind::Json,
        "xml" | "svg" => FileKind::Xml,
        "eml" => FileKind::Mail,
        "msg" => FileKind::Msg,
        "ics" => FileKind::Calendar,
        "vcf" => FileKind::Contacts,
        "zip" => FileKind::Zip,
        "png" | "jpg" | "jpeg" | "gif" | "webp" | "bmp" | "tif" | "tiff" | "heic" => {
            FileKind::Picture
        }
        "doc" => FileKind::Doc,
        "ppt" => FileKind::Ppt,
        "pgp" | "gpg" => FileKind::Pgp,
        "p7m" | "p7s" => FileKind::Smime,
        _ => return None,
    })
}

/// Returns the kind that a media type claims.
fn by_media(media: &str) -> Option<FileKind> {
    let bare = media.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    Some(match bare.as_str() {
        "text/csv" => FileKind::Csv,
        "text/tab-separated-values" => FileKind::Tsv,
        "text/html" => FileKind::Html,
        "text/plain" => FileKind::Text,
        "text/markdown" => FileKind::Markdown,
        "application/json" => FileKind::Json,
        "application/xml" | "text/xml" => FileKind::Xml,
        "message/rfc822" => FileKind::Mail,
        "application/pkcs7-mime" | "application/x-pkcs7-mime" => FileKind::Smime,
        "application/pgp-encrypted" => FileKind::Pgp,
        _ => return None,
    })
}

/// Returns the kind of a zip file, judged by its members. OpenDocument states its media type in a
/// member of its own (`mimetype`), which repacking may compress, move or drop; the manifest states
/// it again.
fn packed(bytes: &[u8]) -> FileKind {
    let Ok(mut package) = OpenPackage::open(bytes) else {
        return FileKind::Zip;
    };
    let parts = [
        ("word/document.xml", FileKind::Docx),
        ("xl/workbook.bin", FileKind::Xlsb),
        ("xl/workbook.xml", FileKind::Xlsx),
        ("ppt/presentation.xml", FileKind::Pptx),
    ];
    if let Some((_, kind)) = parts.into_iter().find(|(name, _)| package.has(name)) {
        return kind;
    }
    let mut stated = |name| package.text(name).ok().flatten();
    let media = stated("mimetype").or_else(|| stated("META-INF/manifest.xml"));
    // The first media type of a manifest describes the file itself.
    let media = media.as_deref().and_then(|media| media.split_once("vnd.oasis.opendocument."));
    let kinds =
        [("text", FileKind::Odt), ("spreadsheet", FileKind::Ods), ("presentation", FileKind::Odp)];
    let kind = media.and_then(|(_, of)| kinds.into_iter().find(|(kind, _)| of.starts_with(kind)));
    kind.map_or(FileKind::Zip, |(_, kind)| kind)
}

/// Returns the kind of an OLE compound file, judged by its streams.
fn of_compound(bytes: &[u8]) -> FileKind {
    let Ok(file) = compound::open(bytes) else {
        return FileKind::Binary;
    };
    let kinds = [
        ("/EncryptedPackage", FileKind::Encrypted),
        ("/__properties_version1.0", FileKind::Msg),
        ("/Workbook", FileKind::Xls),
        ("/Book", FileKind::Xls),
        ("/WordDocument", FileKind::Doc),
        ("/PowerPoint Document", FileKind::Ppt),
    ];
    let found = kinds.into_iter().find(|(stream, _)| file.exists(stream));
    // Other compound files (drawings, installers) have no reader.
    found.map_or(FileKind::Binary, |(_, kind)| kind)
}
