//! Kinds of files, by their bytes, name and media type.

use daysheet_extract::{FileKind, Finding, ReadFailure, kind_of};

use crate::ended;
use crate::office::{deflated, zip};

#[test]
fn bytes_win_over_names_and_names_over_media_types() {
    let cases: &[(&[u8], &str, &str, FileKind)] = &[
        (b"%PDF-1.7\n", "a.txt", "text/plain", FileKind::Pdf),
        (b"junk\n%PDF-1.4\n", "", "", FileKind::Pdf),
        (b"{\\rtf1 a}", "a.doc", "", FileKind::Rtf),
        (b"\x89PNG\r\n", "a.pdf", "", FileKind::Picture),
        (b"\x78\x9f\x3e\x22\0\0", "winmail.dat", "", FileKind::Tnef),
        (b"BEGIN:VCALENDAR\r\n", "a.txt", "", FileKind::Calendar),
        (b"\xef\xbb\xbfbegin:vcard\r\n", "", "", FileKind::Contacts),
        (b"PK\x03\x04 broken", "a.docx", "", FileKind::Zip),
        (b"a,b\n", "a.csv", "text/plain", FileKind::Csv),
        (b"a,b\n", "a", "text/csv; charset=utf-8", FileKind::Csv),
        (b"<p>x", "a.htm", "", FileKind::Html),
        (b"<!DOCTYPE HTML>", "a.unknown", "", FileKind::Html),
        (b"<?xml version='1.0'?>", "", "", FileKind::Xml),
        (b"{}", "a.json", "", FileKind::Json),
        (b"# a", "README.md", "", FileKind::Markdown),
        (b"a", "a.pdf", "application/pdf", FileKind::Text),
        (b"Subject: a\n\nb", "a.eml", "", FileKind::Mail),
        (b"\xff\xfea\0", "a.txt", "", FileKind::Text),
        (b"\0\x01\x02\x03\0\0\0\0", "a.txt", "", FileKind::Binary),
        (b"\0\x01\x02\x03\0\0\0\0", "smime.p7m", "", FileKind::Smime),
        (b"-----BEGIN PGP MESSAGE-----", "a.asc", "", FileKind::Pgp),
        (b"a\0b\0c\0", "a.csv", "", FileKind::Csv),
        (b"<table><tr><td>a", "a.xls", "", FileKind::Html),
        (b"a\tb\n", "a.xls", "application/vnd.ms-excel", FileKind::Tsv),
        (b"<svg/>", "a.svg", "image/svg+xml", FileKind::Xml),
        (b"From: a\nTo: b\nSubject: c\n\nd", "", "", FileKind::Mail),
        (b"From: a\nand then\nTo: b\n", "", "", FileKind::Text),
        (b"Content-Type: multipart/signed\n\nx", "smime.p7m", "", FileKind::Mail),
        (b"", "", "", FileKind::Text),
    ];
    let got = cases.iter().map(|(bytes, name, media, _)| kind_of(bytes, name, media));
    let wrong: Vec<_> = got.zip(cases).filter(|(got, case)| *got != case.3).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn files_that_are_not_read_say_what_they_are() {
    let (kind, end) = ended("a.pdf", b"\x89PNG\r\n");
    assert_eq!(kind, FileKind::Picture);
    assert_eq!(end.failure, Some(ReadFailure::NotRead(FileKind::Picture)));
    assert_eq!(end.findings, [Finding::NamedOtherwise]);
    let (kind, end) = ended("a.pdf", b"");
    assert_eq!((kind, end.failure), (FileKind::Text, Some(ReadFailure::Empty)));
    assert_eq!(end.findings, []);
    let (kind, end) = ended("a.pgp", b"-----BEGIN PGP MESSAGE-----");
    assert_eq!((kind, end.failure), (FileKind::Pgp, Some(ReadFailure::Encrypted)));
}

#[test]
fn opendocument_is_known_wherever_it_states_its_media_type() {
    let manifest = |media: &str| {
        format!(
            "<manifest:manifest><manifest:file-entry manifest:full-path='/' manifest:media-type='{media}'/>\
             <manifest:file-entry manifest:full-path='Object 1/' \
             manifest:media-type='application/vnd.oasis.opendocument.spreadsheet'/></manifest:manifest>"
        )
    };
    let kinds = [
        ("text", FileKind::Odt),
        ("text-template", FileKind::Odt),
        ("spreadsheet", FileKind::Ods),
        ("presentation", FileKind::Odp),
        ("graphics", FileKind::Zip),
    ];
    for (name, kind) in kinds {
        let media = format!("application/vnd.oasis.opendocument.{name}");
        let (content, manifest) = (("content.xml", "<a/>"), manifest(&media));
        let members: [&[(&str, &str)]; 4] = [
            &[("mimetype", &media), content],
            &[content, ("mimetype", &media)],
            &[content, ("META-INF/manifest.xml", &manifest)],
            &[content, ("META-INF/manifest.xml", &manifest), ("mimetype", &media)],
        ];
        for members in members {
            assert_eq!(kind_of(&zip(members), "a.zip", ""), kind, "{members:?}");
            assert_eq!(kind_of(&deflated(members), "a.zip", ""), kind, "deflated {members:?}");
        }
    }
    let other = zip(&[("mimetype", "application/epub+zip"), ("content.xml", "<a/>")]);
    assert_eq!(kind_of(&other, "a.odt", ""), FileKind::Zip);
}
