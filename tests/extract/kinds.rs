//! What a file is: by its bytes, its name and its media type.

use daysheet_extract::{Failure, Finding, Kind, kind_of};

use crate::ended;
use crate::office::{deflated, zip};

#[test]
fn bytes_win_over_names_and_names_over_media_types() {
    let cases: &[(&[u8], &str, &str, Kind)] = &[
        (b"%PDF-1.7\n", "a.txt", "text/plain", Kind::Pdf),
        (b"junk\n%PDF-1.4\n", "", "", Kind::Pdf),
        (b"{\\rtf1 a}", "a.doc", "", Kind::Rtf),
        (b"\x89PNG\r\n", "a.pdf", "", Kind::Picture),
        (b"\x78\x9f\x3e\x22\0\0", "winmail.dat", "", Kind::Tnef),
        (b"BEGIN:VCALENDAR\r\n", "a.txt", "", Kind::Calendar),
        (b"\xef\xbb\xbfbegin:vcard\r\n", "", "", Kind::Contacts),
        (b"PK\x03\x04 broken", "a.docx", "", Kind::Zip),
        (b"a,b\n", "a.csv", "text/plain", Kind::Csv),
        (b"a,b\n", "a", "text/csv; charset=utf-8", Kind::Csv),
        (b"<p>x", "a.htm", "", Kind::Html),
        (b"<!DOCTYPE HTML>", "a.unknown", "", Kind::Html),
        (b"<?xml version='1.0'?>", "", "", Kind::Xml),
        (b"{}", "a.json", "", Kind::Json),
        (b"# a", "README.md", "", Kind::Markdown),
        (b"a", "a.pdf", "application/pdf", Kind::Text),
        (b"Subject: a\n\nb", "a.eml", "", Kind::Mail),
        (b"\xff\xfea\0", "a.txt", "", Kind::Text),
        (b"\0\x01\x02\x03\0\0\0\0", "a.txt", "", Kind::Binary),
        (b"\0\x01\x02\x03\0\0\0\0", "smime.p7m", "", Kind::Smime),
        (b"-----BEGIN PGP MESSAGE-----", "a.asc", "", Kind::Pgp),
        (b"a\0b\0c\0", "a.csv", "", Kind::Csv),
        (b"<table><tr><td>a", "a.xls", "", Kind::Html),
        (b"a\tb\n", "a.xls", "application/vnd.ms-excel", Kind::Tsv),
        (b"<svg/>", "a.svg", "image/svg+xml", Kind::Xml),
        (b"From: a\nTo: b\nSubject: c\n\nd", "", "", Kind::Mail),
        (b"From: a\nand then\nTo: b\n", "", "", Kind::Text),
        (b"Content-Type: multipart/signed\n\nx", "smime.p7m", "", Kind::Mail),
        (b"", "", "", Kind::Text),
    ];
    let got = cases.iter().map(|(bytes, name, media, _)| kind_of(bytes, name, media));
    let wrong: Vec<_> = got.zip(cases).filter(|(got, case)| *got != case.3).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn files_that_are_not_read_say_what_they_are() {
    let (kind, end) = ended("a.pdf", b"\x89PNG\r\n");
    assert_eq!(kind, Kind::Picture);
    assert_eq!(end.failure, Some(Failure::NotRead(Kind::Picture)));
    assert_eq!(end.findings, [Finding::NamedOtherwise]);
    let (kind, end) = ended("a.pdf", b"");
    assert_eq!((kind, end.failure), (Kind::Text, Some(Failure::Empty)));
    assert_eq!(end.findings, []);
    let (kind, end) = ended("a.pgp", b"-----BEGIN PGP MESSAGE-----");
    assert_eq!((kind, end.failure), (Kind::Pgp, Some(Failure::Encrypted)));
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
        ("text", Kind::Odt),
        ("text-template", Kind::Odt),
        ("spreadsheet", Kind::Ods),
        ("presentation", Kind::Odp),
        ("graphics", Kind::Zip),
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
    assert_eq!(kind_of(&other, "a.odt", ""), Kind::Zip);
}
