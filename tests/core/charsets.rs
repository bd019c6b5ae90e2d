//! Decoding of bytes: by the declared charset, by the bytes themselves, by detection.

use daysheet_core::text::Note;
use daysheet_core::text::charset::{decode, decode_in};
use encoding_rs::{
    BIG5, EUC_JP, EUC_KR, Encoding, GBK, ISO_8859_2, KOI8_R, SHIFT_JIS, WINDOWS_1250, WINDOWS_1251,
    WINDOWS_1252, WINDOWS_1253, WINDOWS_1254, WINDOWS_1255, WINDOWS_1256,
};

#[test]
fn bytes_are_decoded_by_their_charset() {
    let cases: [(&[u8], Option<&str>, &str, bool); 13] = [
        ("schön".as_bytes(), Some("iso-8859-1"), "schön", false),
        (b"sch\xf6n", Some("ISO-8859-1"), "schön", false),
        (b"sch\xf6n \x80", Some("cp1252"), "schön €", false),
        (b"sch\xf6n", None, "schön", true),
        (b"sch\xf6n", Some("made-up"), "schön", true),
        (b"\x93\xfa\x96\x7b", Some("x-sjis"), "日本", false),
        (b"\x1b$BF|K\\\x1b(B", Some("iso-2022-jp"), "日本", false),
        (b"\xcf\xf0\xe8\xe2\xe5\xf2", Some("\"windows-1251\""), "Привет", false),
        (b"Hi +ADw-b+AD4-", Some("unicode-1-1-utf-7"), "Hi <b>", false),
        (b"\xef\xbb\xbfbom", Some("utf8"), "bom", false),
        (b"\xf9\xec\xe5\xed", Some("iso-8859-8-i"), "שלום", false),
        (b"h\0i\0", Some("utf-16le"), "hi", false),
        (b"caf\xe9", Some("ansi_x3.110"), "café", false),
    ];
    for (bytes, charset, want, noted) in cases {
        let (text, note) = decode(bytes, charset);
        assert_eq!((text.as_str(), note.is_some()), (want, noted), "{charset:?}");
    }
}

/// Texts in the legacy code pages of their countries, decoded as Firefox detects them.
#[test]
fn text_without_a_declared_charset_is_detected() {
    let cases: [(&'static Encoding, &str); 14] = cases! {
        WINDOWS_1251, "Добрый день! Счёт за услуги связи приложен, оплатите его до конца месяца.";
        KOI8_R, "Добрый день! Счёт за услуги связи приложен, оплатите его до конца месяца.";
        WINDOWS_1250, "Dobrý den, přikládáme fakturu za služby, žádáme o úhradu do konce měsíce.";
        ISO_8859_2, "Dzień dobry, proszę zapłacić fakturę do końca miesiąca, w załączniku są szczegóły.";
        WINDOWS_1252, "Grüße aus München – die Rechnung für März hängt an, schöne Ostertage!";
        WINDOWS_1253, "Καλημέρα σας, σας στέλνουμε το τιμολόγιο για τις υπηρεσίες του μήνα.";
        WINDOWS_1254, "Sayın müşterimiz, faturanızı ay sonuna kadar ödemenizi rica ederiz, teşekkürler.";
        WINDOWS_1255, "שלום רב, מצורפת חשבונית עבור שירותי התקשורת של החודש הנוכחי.";
        WINDOWS_1256, "السلام عليكم، نرفق لكم فاتورة الخدمات لهذا الشهر مع الشكر.";
        SHIFT_JIS, "お世話になっております。今月分の請求書をお送りいたします。";
        EUC_JP, "お世話になっております。今月分の請求書をお送りいたします。";
        GBK, "您好，附件是本月的服务费账单，请在月底之前支付，谢谢。";
        BIG5, "您好，附件是本月的服務費帳單，請在月底之前支付，謝謝。";
        EUC_KR, "안녕하세요. 이번 달 서비스 요금 청구서를 보내 드립니다.";
    };
    for (encoding, text) in cases {
        let (bytes, _, unknown) = encoding.encode(text);
        assert!(!unknown, "{text}");
        for charset in [None, Some("us-ascii"), Some("x-unknown")] {
            let (read, doubt) = decode(&bytes, charset);
            assert_eq!((read.as_str(), doubt.map(|doubt| doubt.detected)), (text, Some(true)));
        }
    }
    assert_eq!(decode(b"\x1b$BF|K\\\x1b(B", None).0, "日本");
    assert_eq!(decode(b"\x1b[1mbold\x1b[0m", None), ("\x1b[1mbold\x1b[0m".to_owned(), None));
    let doubt = |bytes: &[u8], charset| Note::from(decode(bytes, charset).1.unwrap()).to_string();
    assert_eq!(doubt(b"caf\xe9", None), "no known charset is declared, read as windows-1252");
    assert_eq!(doubt(b"\x81", Some("shift_jis")), "some characters could not be decoded");
}

/// A two-word text fits many charsets; the rest of its message decides.
#[test]
fn short_text_is_detected_by_the_rest_of_its_message() {
    let subject = b"\xd1\xf7\xb8\xf2";
    let body = WINDOWS_1251.encode("\nОплатите, пожалуйста, услуги связи до конца месяца.").0;
    let cases: [(&[u8], &str); 5] = [
        (&body, "Счёт"),
        (b"Content-Type: text/plain; charset=windows-1251\n\n=C4=E0", "Счёт"),
        (b"Content-Type: text/plain; charset=\"GB2312\"\n\n", "痒蛤"),
        // A declaration of UTF-8 or ASCII cannot be right for these bytes.
        (b"charset=utf-8\ncharset=us-ascii\ncharset = 'koi8-r'\n\n\xc3\xa9", "яВ╦Р"),
        // A charset in which the bytes are invalid is skipped, too.
        (b"charset=iso-2022-jp\ncharset=windows-1251\n\n", "Счёт"),
    ];
    for (message, want) in cases {
        assert_eq!(decode_in(subject, None, message).0, want, "{message:?}");
    }
    assert_eq!(decode_in(subject, Some("koi8-r"), &body).0, "яВ╦Р");
}

#[test]
fn charsets_that_browsers_lack_are_read() {
    let cases: [(&[u8], &str, &str); 9] = cases! {
        b"\x1b$)C\x0e>H3g\x0f hi\n\x0eGQ1[", "ISO-2022-KR", "안녕 hi\n한글";
        b"plain", "iso-2022-kr", "plain";
        b"~{<:Ky2;~} ~~ ~{VP~}", "hz-gb-2312", "己所不 ~ 中";
        b"a ~ b", "hz", "a ~ b";
        b"M\x81ller 5 \x9c", "cp850", "Müller 5 £";
        b"5 \xd5", "cp858", "5 €";
        b"\xe1\x82", "IBM437", "ßé";
        b"\x88\xa2\xfd", "cp852", "łóř";
        "é".as_bytes(), "cp850", "é";
    };
    for (bytes, charset, want) in cases {
        assert_eq!(decode(bytes, Some(charset)), (want.to_owned(), None), "{charset}");
    }
}

#[test]
fn charsets_are_found_by_all_their_names() {
    let cases: [(&[u8], &str, &str); 9] = cases! {
        b"\x93\xfa\x96\x7b", "日本",
            "cp932 CP-932 x-cp932 ms932 MS_932 x-ms932 windows-932 windows-31j cswindows31j ms_kanji \
             sjis x-sjis SJIS-win shift_jis shift-jis shiftjis cp943c ibm-943";
        b"\xc6\xfc\xcb\xdc", "日本", "euc-jp eucjp EUC_JP x-euc-jp ujis eucJP-win cp51932";
        b"\x1b$BF|K\\\x1b(B", "日本",
            "iso-2022-jp ISO-2022-JP-2 iso2022jp cp50220 cp50221 iso-2022-jp-ms";
        b"\xc4\xe3\xba\xc3", "你好",
            "gb2312 GB_2312-80 gbk cp936 ms936 euc-cn gb18030 GB-18030 x-gbk";
        b"\xa7A\xa6n", "你好", "big5 big-5 cp950 ms950 x-big5 big5-eten big5-hkscs";
        b"\xc7\xd1\xb1\xdb", "한글",
            "euc-kr euckr cp949 ms949 uhc ks_c_5601-1987 ks_c_5601 x-windows-949";
        b"\xcf\xf0\xe8", "При", "windows-1251 cp1251 cp-1251 win1251 win-1251 ms-cyrl x-cp1251";
        b"\xf0\xd2\xc9", "При", "koi8-r koi8 koi-8-r cp20866 KOI8_R";
        b"caf\xe9", "café",
            "iso-8859-1 iso8859-1 iso88591 latin1 latin-1 cp1252 windows1252 ansi cp28591 \
             iso_8859-1:1987";
    };
    for (bytes, want, labels) in cases {
        for label in labels.split_whitespace() {
            assert_eq!(decode(bytes, Some(label)), (want.to_owned(), None), "{label}");
        }
    }
}
