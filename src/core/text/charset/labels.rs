//! Labels of charsets: as standards register them, and as mail programs write them.

use encoding_rs::Encoding;

/// Returns the encoding that a clean label declares; `None` for names of ASCII, which text with
/// other characters cannot be in.
pub(super) fn declared(label: &str) -> Option<&'static Encoding> {
    let ascii = ["us-ascii", "ascii", "ansi_x3.4-1968", "ascii-us", "7bit", "8bit", "default"];
    encoding(label).filter(|_| !ascii.contains(&label))
}

/// Returns the value after `name=`, a clean label.
pub(super) fn value_after(text: &str, name: &str) -> Option<String> {
    let (_, rest) = text.split_once(name)?;
    let rest = rest.trim_start().strip_prefix('=')?.trim_start();
    let rest = rest.trim_start_matches(['"', '\'']);
    let ends = |c: char| !c.is_ascii_alphanumeric() && !matches!(c, '-' | '_' | ':' | '.');
    rest.split(ends).next().filter(|value| !value.is_empty()).map(str::to_owned)
}

/// Returns the label in lower case, without quotes, spaces and RFC 2231 language.
pub(super) fn clean_label(raw: &str) -> String {
    raw.trim_matches(|c: char| c.is_whitespace() || matches!(c, '"' | '\''))
        .split(['*', ';', ' '])
        .next()
        .unwrap_or_default()
        .to_ascii_lowercase()
}

/// Returns the encoding that a label means: first by the labels of the web, then by names that mail
/// programs write instead.
pub(super) fn encoding(label: &str) -> Option<&'static Encoding> {
    if let Some(found) = Encoding::for_label_no_replacement(label.as_bytes()) {
        return Some(found);
    }
    let dashed = label.replace('_', "-");
    if let Some(found) = Encoding::for_label_no_replacement(dashed.as_bytes()) {
        return Some(found);
    }
    let known = match dashed.as_str() {
        "utf8mb4" | "utf-8mb4" | "unicode" | "utf" | "utf-8n" | "x-utf-8" | "utf-8-sig"
        | "utf8-sig" | "utf-8-bom" | "utf-8-mac" | "utf-8-strict" => "utf-8",
        "ascii-us" | "ansi" | "ansi-x3.110" | "ansi-x3.110-1983" | "iso-ir-99" | "default"
        | "8bit" | "7bit" | "latin" | "latin-1" | "iso-latin-1" | "western" | "en" | "us"
        | "iso-8859" | "x-user-defined" | "ms-ansi" => "windows-1252",
        "latin-2" | "iso-latin-2" => "iso-8859-2",
        "latin-5" => "iso-8859-9",
        "latin-9" => "iso-8859-15",
        "sjis" | "sjis-win" | "sjis-open" | "shiftjis" | "x-shift-jis" | "cswindows31j"
        | "windows31j" | "x-windows-31j" | "mskanji" | "x-ms-cp932" => "shift_jis",
        "x-gbk" | "euc-cn" | "euccn" | "gb-2312" | "gb2312-80" | "gb-2312-80" | "hz-gb-2312"
        | "hz" => "gbk",
        "gb18030-2005" | "gb18030-2000" | "gb-18030" => "gb18030",
        "uhc" | "x-uhc" | "euckr" | "ks-c-5601" => "euc-kr",
        "x-big5" | "big-5" | "big5-eten" | "big5-tw" => "big5",
        "tis620" | "tis-620-2533" | "iso-8859-11" => "windows-874",
        "eucjp" | "x-eucjp" | "ujis" | "eucjp-win" | "eucjp-ms" | "euc-jp-ms" => "euc-jp",
        "iso2022jp"
        | "iso-2022-jp-1"
        | "iso-2022-jp-2"
        | "iso-2022-jp-3"
        | "iso-2022-jp-ms"
        | "iso-2022-jp-2004"
        | "x-windows-iso2022jp"
        | "jis" => "iso-2022-jp",
        "koi8" | "koi" | "koi-8-r" => "koi8-r",
        "macroman" | "x-mac-roman" | "mac" => "macintosh",
        "ms-ee" => "windows-1250",
        "ms-cyrl" => "windows-1251",
        "iso-8859-8i" => "iso-8859-8-i",
        "iso-8859-6i" => "iso-8859-6-i",
        other => return numbered_charset(other),
    };
    Encoding::for_label_no_replacement(known.as_bytes())
}

/// Returns the encoding of a label with a number that decides: `cp-1252`, `win1252`, `ibm943c`,
/// `ms-932`, `iso8859-15-windows`.
fn numbered_charset(label: &str) -> Option<&'static Encoding> {
    let digits: String = label.chars().filter(char::is_ascii_digit).collect();
    if let Some(part) = digits.strip_prefix("8859") {
        return Encoding::for_label_no_replacement(format!("iso-8859-{part}").as_bytes());
    }
    let label = label.strip_prefix("x-").unwrap_or(label);
    let page = ["cp", "win", "ms", "ibm", "codepage"].iter().any(|start| label.starts_with(start));
    if !page {
        return None;
    }
    // Code page identifiers of Windows.
    let known = match digits.parse::<u16>().ok()? {
        819 => "windows-1252",
        866 => "ibm866",
        932 | 942 | 943 => "shift_jis",
        936 => "gbk",
        949 | 51949 => "euc-kr",
        950 => "big5",
        10000 => "macintosh",
        20127 => "windows-1252",
        20866 => "koi8-r",
        21866 => "koi8-u",
        20932 | 51932 => "euc-jp",
        51936 => "gbk",
        50220..=50222 => "iso-2022-jp",
        54936 => "gb18030",
        65001 => "utf-8",
        iso @ 28591..=28606 => &format!("iso-8859-{}", iso - 28590),
        other => &format!("windows-{other}"),
    };
    Encoding::for_label_no_replacement(known.as_bytes())
}
