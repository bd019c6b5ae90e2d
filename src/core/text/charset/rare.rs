//! Charsets that `encoding_rs` lacks, because browsers dropped them or never had them, and old
//! programs still write: ISO-2022-KR, HZ, and the code pages of DOS for Western and Central Europe.

use encoding_rs::{EUC_KR, Encoding, GBK};

/// The upper halves of code pages of DOS, from 0x80.
const PAGE_437: &str = "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐\
     └┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{a0}";
const PAGE_850: &str = "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐\
     └┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u{ad}±‗¾¶§÷¸°¨·¹³²■\u{a0}";
const PAGE_852: &str = "ÇüéâäůćçłëŐőîŹÄĆÉĹĺôöĽľŚśÖÜŤťŁ×čáíóúĄąŽžĘę¬źČş«»░▒▓│┤ÁÂĚŞ╣║╗╝Żż┐\
     └┴┬├─┼Ăă╚╔╩╦╠═╬¤đĐĎËďŇÍÎě┘┌█▄ŢŮ▀ÓßÔŃńňŠšŔÚŕŰýÝţ´\u{ad}˝˛ˇ˘§÷¸°¨˙űŘř■\u{a0}";

/// Decodes a 7-bit charset whose text passes for ASCII; `None` if `bytes` are not in one.
pub fn shifted(bytes: &[u8], label: &str) -> Option<String> {
    let (into, out_of, encoding): (&[u8], &[u8], &'static Encoding) = match label {
        // RFC 1557
        "iso-2022-kr" | "csiso2022kr" | "iso2022kr" | "cp50225" => (b"\x0e", b"\x0f", EUC_KR),
        // RFC 1843
        "hz-gb-2312" | "hz" | "cp52936" => (b"~{", b"~}", GBK),
        _ => return None,
    };
    if !bytes.is_ascii() || !bytes.windows(into.len()).any(|start| start == into) {
        return None;
    }
    let mut plain = Vec::with_capacity(bytes.len());
    let (mut rest, mut high) = (bytes, 0);
    while let Some((byte, after)) = rest.split_first() {
        if let Some(after) = rest.strip_prefix(into) {
            (rest, high) = (after, 0x80);
        } else if let Some(after) = rest.strip_prefix(out_of) {
            (rest, high) = (after, 0);
        } else if let Some(after) = rest.strip_prefix(b"\x1b$)C") {
            // RFC 1557 requires this designation at the beginning; it has no further effect.
            rest = after;
        } else if let Some(after) =
            rest.strip_prefix(b"~~").filter(|_| encoding == GBK && high == 0)
        {
            plain.push(b'~');
            rest = after;
        } else {
            // A line ends a shift (RFC 1843, 2), and some programs rely on it.
            high = if *byte == b'\n' { 0 } else { high };
            plain.push(if byte.is_ascii_graphic() { byte | high } else { *byte });
            rest = after;
        }
    }
    Some(encoding.decode_without_bom_handling(&plain).0.into_owned())
}

/// Decodes a code page of DOS; `None` for other labels.
pub fn dos(bytes: &[u8], label: &str) -> Option<String> {
    let number =
        ["cp", "ibm", "dos-", "dos", "cspc"].iter().find_map(|start| label.strip_prefix(start))?;
    let page = match number.trim_start_matches('0') {
        "437" | "8codepage437" => PAGE_437,
        "850" | "850multilingual" | "858" => PAGE_850,
        "852" | "p852" => PAGE_852,
        _ => return None,
    };
    let upper: Vec<char> = page.chars().collect();
    let euro = number.ends_with("858");
    let character = |byte: &u8| match byte.checked_sub(0x80) {
        None => char::from(*byte),
        // The only difference of page 858.
        Some(0x55) if euro => '€',
        Some(at) => upper.get(usize::from(at)).copied().unwrap_or(char::REPLACEMENT_CHARACTER),
    };
    Some(bytes.iter().map(character).collect())
}
