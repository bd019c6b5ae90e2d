//! Windows code pages, by which RTF and Outlook name charsets.

use encoding_rs::{Encoding, WINDOWS_1252};

/// Returns the encoding of a Windows code page, or windows-1252 if it is unsupported.
pub fn code_page(number: u32) -> &'static Encoding {
    let label = match number {
        874 => "windows-874",
        932 | 942 | 943 => "shift_jis",
        936 | 20936 => "gbk",
        949 | 1361 | 51949 => "euc-kr",
        950 => "big5",
        866 => "ibm866",
        10000 => "macintosh",
        20866 => "koi8-r",
        21866 => "koi8-u",
        50220..=50222 => "iso-2022-jp",
        51932 => "euc-jp",
        54936 => "gb18030",
        65001 => "utf-8",
        iso @ 28592..=28606 => &format!("iso-8859-{}", iso - 28590),
        other => &format!("windows-{other}"),
    };
    Encoding::for_label_no_replacement(label.as_bytes()).unwrap_or(WINDOWS_1252)
}

/// Returns the encoding of a font's character set, or `None` for the document's own.
pub fn of_charset(number: usize) -> Option<&'static Encoding> {
    let page = match number {
        0 => 1252,
        77 => 10_000,
        128 => 932,
        129 | 130 => 949,
        134 => 936,
        136 => 950,
        161 => 1253,
        162 => 1254,
        163 => 1258,
        177 => 1255,
        178 => 1256,
        186 => 1257,
        204 => 1251,
        222 => 874,
        238 => 1250,
        _ => return None,
    };
    Some(code_page(page))
}
