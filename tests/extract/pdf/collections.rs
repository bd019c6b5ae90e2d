//! Embedded fonts of Adobe's character collections without a map to Unicode.

use super::paper::{Paper, stream};
use super::shown;
use crate::request;

/// Returns a TrueType font in hexadecimal digits: glyph 1 is a square, 0 is empty.
fn font() -> String {
    let words =
        |words: &[u16]| words.iter().flat_map(|word| word.to_be_bytes()).collect::<Vec<_>>();
    let square = words(&[1, 0, 0, 500, 500, 3, 0, 0x0101, 0x0101, 0, 500, 0, 65036, 0, 0, 500, 0]);
    let tables: [(&[u8; 4], Vec<u8>); 6] = [
        (b"glyf", square.clone()),
        (
            b"head",
            words(&[
                1, 0, 1, 0, 0, 0, 0x5F0F, 0x3CF5, 0, 1000, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 500, 500,
                0, 8, 2, 0, 0,
            ]),
        ),
        (b"hhea", words(&[1, 0, 800, 65336, 0, 600, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2])),
        (b"hmtx", words(&[600, 0, 600, 0])),
        (b"loca", words(&[0, 0, square.len() as u16 / 2])),
        (b"maxp", words(&[1, 0, 2, 4, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0])),
    ];
    let mut head = words(&[1, 0, tables.len() as u16, 0, 0, 0]);
    let mut body = Vec::new();
    for (name, table) in &tables {
        let at = 12 + 16 * tables.len() + body.len();
        head.extend_from_slice(*name);
        head.extend(
            [0, at as u32, table.len() as u32].iter().flat_map(|number| number.to_be_bytes()),
        );
        body.extend_from_slice(table);
        body.resize(body.len().next_multiple_of(4), 0);
    }
    head.iter().chain(&body).map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the output of a page that shows these codes, the second ones in another font.
fn got(codes: [&str; 2], fonts: [(&str, &str, &str); 2]) -> String {
    let show = |(font, codes)| format!("/C{font} 12 Tf <{codes}> Tj ");
    let shows: String = (0..).zip(codes).map(show).collect();
    let descriptor = "<</Type/FontDescriptor/FontName/AAAAAA+Tiny/Flags 4/FontBBox[0 0 500 500]\
        /ItalicAngle 0/Ascent 800/Descent -200/CapHeight 700/StemV 80/FontFile2 11 0 R>>";
    let mut objects = vec![
        descriptor.to_owned(),
        stream("/Filter/ASCIIHexDecode", &font()),
        stream("/Filter/ASCIIHexDecode", &"0001".repeat(9000)),
    ];
    for (name, encoding, ordering) in fonts {
        objects.push(format!(
            "<</Type/Font/Subtype/Type0/BaseFont/AAAAAA+{name}/Encoding/{encoding}/DescendantFonts[\
             <</Type/Font/Subtype/CIDFontType2/BaseFont/AAAAAA+{name}/CIDToGIDMap 12 0 R/DW 600\
             /CIDSystemInfo<</Registry(Adobe)/Ordering({ordering})/Supplement 0>>\
             /FontDescriptor 10 0 R>>]>>"
        ));
    }
    let own = "/Type/XObject/Subtype/Form/BBox[0 0 600 800]\
        /Resources<</Font<</C0 13 0 R/C1 14 0 R>>>>";
    objects.push(stream(own, &format!("BT 50 700 Td {shows} ET")));
    let (pages, resources) = (vec!["/Form Do".to_owned()], "/XObject<</Form 15 0 R>>");
    let paper = Paper { pages, resources, objects, ..Paper::default() };
    let got = shown(&request("a.pdf"), &paper.bytes());
    got.strip_prefix("[page 1]\n").unwrap_or(&got).to_owned()
}

#[test]
fn codes_are_read_by_the_collection_of_their_font() {
    let unknown = "�\nUnmapped(2)\n";
    let cases = [
        ("Identity-H", "Japan1", "00220023034b", "ABあ\n"),
        ("Identity-V", "Japan1", "0022", "A\n"),
        ("Identity-H", "GB1", "002211cf", "A中\n"),
        ("Identity-H", "CNS1", "00220295", "A中\n"),
        ("Identity-H", "Korea1", "0022043e", "A가\n"),
        ("90ms-RKSJ-H", "Japan1", "4182a0", "Aあ\n"),
        ("UniGB-UCS2-H", "Identity", "00414e00", "A一\n"),
        ("KSCms-UHC-H", "Korea1", "41b0a1", "A가\n"),
        ("ETen-B5-H", "CNS1", "41a440", "A一\n"),
        ("Identity-H", "Identity", "00220023", unknown),
        ("Identity-H", "Japan9", "00220023", unknown),
    ];
    for (encoding, ordering, codes, expected) in cases {
        let font = ("Tiny", encoding, ordering);
        assert_eq!(got([codes, ""], [font, font]), expected, "{encoding} {ordering}");
    }
}

#[test]
fn fonts_of_one_name_have_to_agree() {
    let japan = ("Tiny", "Identity-H", "Japan1");
    let korea = |name| (name, "Identity-H", "Korea1");
    assert_eq!(got(["0022", "0022"], [japan, korea("Tiny")]), "AA\n");
    assert_eq!(got(["034b", "034b"], [japan, korea("Tiny")]), "�\nUnmapped(2)\n");
    assert_eq!(got(["034b", "034b"], [japan, korea("Other")]), "あ²\n");
}
