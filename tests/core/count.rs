//! Token counts, compared with the reference implementation.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use daysheet_core::budget::count::merge::PieceMerger;
use daysheet_core::budget::count::split::PieceIter;
use daysheet_core::budget::count::vocabulary::{self, TokenVocabulary};
use daysheet_core::budget::count::{TOKENIZER, Tokenizer, byte_limit, tokens};
use proptest::prelude::*;
use tiktoken_rs::CoreBPE;

/// Returns the reference for a tokenizer; the first call takes seconds.
fn reference(tokenizer: Tokenizer) -> &'static CoreBPE {
    match tokenizer {
        Tokenizer::O200k => tiktoken_rs::o200k_base_singleton(),
        Tokenizer::Cl100k => tiktoken_rs::cl100k_base_singleton(),
    }
}

/// Returns the counts of the two references.
fn expected(text: &str) -> [usize; 2] {
    Tokenizer::ALL.map(|one| reference(one).encode_ordinary(text).len())
}

fn merge_repeats(text: &str) -> [usize; 2] {
    Tokenizer::ALL.map(|one| one.count(text))
}

#[test]
fn the_first_tokenizer_is_the_default() {
    assert_eq!(TOKENIZER, "o200k_base");
    assert_eq!(tokens("daysheet"), Tokenizer::default().count("daysheet"));
}

/// Texts with their counts in `o200k_base` and `cl100k_base`.
const TEXTS: &[(&str, [usize; 2])] = &cases! {
    "", [0, 0];
    " ", [1, 1];
    "a", [1, 1];
    "Hello, world!", [4, 4];
    "it's WE'RE they'LL I'd he'S you've I'M can't", [14, 17];
    "it'ſ 'ſ' ſ", [8, 10];
    "'s't'm'd're've'll 'x ''s", [11, 11];
    "it’s not ‘that’", [6, 6];
    "tabs\tand  two   three    spaces", [8, 8];
    "\n\n\n", [1, 1];
    "line\r\n\r\nline\rline\n", [6, 6];
    "trailing  \t ", [4, 3];
    "trailing \n ", [4, 4];
    " \u{a0}\u{2003}\u{3000}wide\u{85}next\u{2028}line", [9, 11];
    "1 12 123 1234 12345 123456 1234567", [18, 18];
    "١٢٣٤ ४५६७ １２３４ Ⅷ ½ ²³", [21, 30];
    "3.14 1,234,567.89 -5% +49 30 1234567", [22, 22];
    "שלום עולם, מה שלומך?", [8, 20];
    "السلام عليكم ورحمة الله", [4, 17];
    "नमस्ते दुनिया, क्षत्रिय", [9, 21];
    "สวัสดีชาวโลก น้ำ", [8, 17];
    "வணக்கம் உலகம்", [5, 20];
    "\u{301}", [1, 1];
    "\u{301}\u{302}\u{303} e\u{301}\u{302}A\u{303}B", [9, 13];
    "Ｆｕｌｌｗｉｄｔｈ", [16, 18];
    "👨\u{200d}👩\u{200d}👧\u{200d}👦 👍🏽 🇩🇪🇫🇷 ❤\u{fe0f} 1\u{fe0f}\u{20e3}", [26, 43];
    "日本語のテキスト、中文文本。한국어 텍스트", [15, 21];
    "中A文B字's漢", [7, 8];
    "ǅungla ǈ ʰa İstanbul ııK Å ʕA", [21, 22];
    "https://example.com/a/b//c?d=e&f=g#h", [16, 16];
    "and/or //\n/* comment */\r\n///", [8, 7];
    "a...b!?!\n\n--- ***\n===\n", [8, 8];
    "path\\to\\file_name.rs:42", [9, 9];
    "camelCaseHTMLParserXMLHttpRequest2", [8, 7];
    "STRASSE Straße straße's", [6, 9];
    "McDonald'S O'Neill rock'n'roll", [10, 9];
    "SGVsbG8sIFdvcmxkISBUaGlzIGlzIGJhc2U2NA==", [26, 26];
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", [8, 8];
    "zqxjkvbpzqxjkvbp", [10, 10];
    "\0\0\u{1}\u{7f}\u{80}\u{9f}", [6, 6];
    "\u{feff}\u{200b}\u{ad}\u{e000}\u{10ffff}\u{378}", [11, 12];
    "<|endoftext|><|fim_prefix|>", [12, 13];
    "id\tstart\tsubject\ng1\t2026-03-02 09:30\t\"Lamps, 12 of them\"\ng2\t\t\n", [30, 30];
    "messages[2]{id,date,from,subject}:\n  g1,2026-03-02 09:30,Mira Lindqvist <mira@example.com>,\"Re: lamps, again\"\n  g2,2026-03-01 18:05,null,Rechnung Nr. 4711\n",
        [68, 69];
    "<td style=\"padding:0 12px;color:#1a1a1a\">&nbsp;</td>\n", [22, 22];
    "{\"a\":[1,2.5,null,true],\"b\":{\"c\":\"d\\n\"}}", [18, 18];
};

#[test]
fn texts_have_the_reference_token_counts() {
    for (text, count) in TEXTS {
        assert_eq!(merge_repeats(text), *count, "{text:?}");
        assert_eq!(expected(text), *count, "{text:?}");
        // The counts also hold inside a longer text, away from its ends.
        let inside = format!("{text}{text} {text}\n{text}x{text}");
        assert_eq!(merge_repeats(&inside), expected(&inside), "{inside:?}");
    }
}

#[test]
fn files_have_the_reference_token_counts() {
    for text in [
        include_str!("../../README.md"),
        include_str!("../../docs/reference/tools.md"),
        include_str!("../fixtures/gmail.json"),
        include_str!("../fixtures/outlook.json"),
        include_str!("../fixtures/sample-agenda.tsv"),
        include_str!("count.rs"),
    ] {
        assert_eq!(merge_repeats(text), expected(text));
    }
}

#[test]
fn long_runs_have_the_reference_token_counts() {
    for unit in [
        "a", "Ab", "é", "中", "中A", "😀", "\u{301}", "=", "/", " ", "\t", "\r\n", "7", "٣", "' ",
        "\0", "क्षि",
    ] {
        let run = unit.repeat(3_000 / unit.len());
        assert_eq!(merge_repeats(&run), expected(&run), "{unit:?}");
    }
}

/// Texts with their pieces in `o200k_base` and `cl100k_base`, between bars.
const PIECES: &[(&str, &str, &str)] = &[
    ("", "", ""),
    ("Hello, world!", "Hello|,| world|!", "Hello|,| world|!"),
    ("HelloWorld", "Hello|World", "HelloWorld"),
    ("HTMLParser", "HTMLParser", "HTMLParser"),
    ("中A", "中|A", "中A"),
    ("A中B中CD ", "A中B中|CD| ", "A中B中CD| "),
    ("it's WE'RE", "it's| WE'RE", "it|'s| WE|'RE"),
    ("it'ſ", "it'ſ", "it|'ſ"),
    ("'s 'x 'v", "'s| '|x| '|v", "'s| '|x| '|v"),
    ("$'s", "$'|s", "$'|s"),
    ("1's", "1|'s", "1|'s"),
    ("1234567", "123|456|7", "123|456|7"),
    ("a1", "a|1", "a|1"),
    (" 12", " |12", " |12"),
    ("(word)", "(word|)", "(word|)"),
    ("((word))", "((|word|))", "((|word|))"),
    ("\u{301}", "\u{301}", "\u{301}"),
    ("\u{301}A", "\u{301}|A", "\u{301}A"),
    ("\u{301}\u{301}a", "\u{301}\u{301}a", "\u{301}\u{301}|a"),
    ("e\u{301}t", "e\u{301}t", "e|\u{301}t"),
    ("!\u{301}", "!\u{301}", "!\u{301}"),
    ("!!\u{301}'s", "!!\u{301}'|s", "!!\u{301}'|s"),
    ("ab//\n/cd", "ab|//\n/|cd", "ab|//\n|/cd"),
    (" //\r\n a", " //\r\n| a", " //\r\n| a"),
    ("a  b", "a| | b", "a| | b"),
    ("a\t\tb", "a|\t|\tb", "a|\t|\tb"),
    ("a\t1", "a|\t|1", "a|\t|1"),
    ("a \n \n  b", "a| \n \n| | b", "a| \n \n| | b"),
    ("a \n  ", "a| \n|  ", "a| \n  "),
    ("  ", "  ", "  "),
    ("\u{a0}a\u{200b}b", "\u{a0}a|\u{200b}b", "\u{a0}a|\u{200b}b"),
];

#[test]
fn texts_are_split_by_the_patterns() {
    for (text, cased, plain) in PIECES {
        let pieces =
            Tokenizer::ALL.map(|one| PieceIter::new(text, one).collect::<Vec<_>>().join("|"));
        assert_eq!(pieces, [*cased, *plain], "{text:?}");
        assert_eq!(merge_repeats(text), expected(text), "{text:?}");
    }
}

/// Ranges, first and last, of characters that the reference does not know: Unicode 17 and 18 assign
/// letters, marks and numbers there, and its tables are of Unicode 16.
const NEWER: &[(u32, u32)] = &[
    (0x558, 0x558),
    (0x58b, 0x58c),
    (0x5c8, 0x5c9),
    (0x88f, 0x88f),
    (0xb53, 0xb54),
    (0xc5c, 0xc5c),
    (0xcdc, 0xcdc),
    (0x1acf, 0x1af0),
    (0x208f, 0x208f),
    (0x209d, 0x209f),
    (0xa7ce, 0xa7cf),
    (0xa7d2, 0xa7d2),
    (0xa7d4, 0xa7d4),
    (0xa7dd, 0xa7dd),
    (0xa7e2, 0xa7e2),
    (0xa7f1, 0xa7f1),
    (0xab6c, 0xab6d),
    (0x107bb, 0x107bf),
    (0x10940, 0x10959),
    (0x10ec5, 0x10ec7),
    (0x10ecb, 0x10ecf),
    (0x10ed9, 0x10eee),
    (0x10ef0, 0x10efb),
    (0x11b0a, 0x11b0a),
    (0x11b60, 0x11b67),
    (0x11db0, 0x11ddb),
    (0x11de0, 0x11de9),
    (0x11df0, 0x11df1),
    (0x1246f, 0x1246f),
    (0x12475, 0x1247f),
    (0x12550, 0x12686),
    (0x16ea0, 0x16eb8),
    (0x16ebb, 0x16ed3),
    (0x16ff2, 0x16ff6),
    (0x187f8, 0x187ff),
    (0x18cd6, 0x18cda),
    (0x18d09, 0x18d20),
    (0x18d80, 0x18df2),
    (0x18e00, 0x19191),
    (0x191a0, 0x191d2),
    (0x1b123, 0x1b128),
    (0x1b168, 0x1b168),
    (0x1d127, 0x1d128),
    (0x1d250, 0x1d252),
    (0x1d25b, 0x1d25c),
    (0x1d25f, 0x1d25f),
    (0x1d280, 0x1d281),
    (0x1d6a6, 0x1d6a6),
    (0x1df1f, 0x1df24),
    (0x1df2b, 0x1df81),
    (0x1df90, 0x1df96),
    (0x1dfcd, 0x1dfff),
    (0x1e6c0, 0x1e6de),
    (0x1e6e0, 0x1e6f5),
    (0x1e6fe, 0x1e6ff),
    (0x2b73a, 0x2b73f),
    (0x2b81e, 0x2b81e),
    (0x2cea2, 0x2cead),
    (0x323b0, 0x33479),
    (0x3d000, 0x3fc3f),
];

fn is_newer(c: char) -> bool {
    NEWER.iter().any(|(first, last)| (*first..=*last).contains(&u32::from(c)))
}

/// Returns texts that reveal a character's class: a letter keeps `'s` attached, and a number joins
/// the digits around it.
fn probes(c: char) -> [String; 4] {
    [
        format!("{c}'s"),
        format!("1{c}1111"),
        format!("a{c}Ba's {c}'ve"),
        format!("x{c}  {c}{c} y {c}\n{c} "),
    ]
}

#[test]
fn token_counts_differ_only_for_newer_characters() {
    for (first, last) in NEWER {
        for c in [*first, *last].map(|c| char::from_u32(c).unwrap()) {
            let differs = probes(c).iter().any(|text| merge_repeats(text)[0] != expected(text)[0]);
            assert!(differs, "U+{:04X} is no longer newer", u32::from(c));
        }
    }
    // All characters below the first block of emoji are tried; above it, only samples.
    let low = ('\0'..='\u{58f}').chain('\u{2000}'..='\u{20ff}');
    let high = ('\u{590}'..=char::MAX).step_by(997);
    for c in low.chain(high).filter(|c| !is_newer(*c)) {
        for text in probes(c) {
            assert_eq!(merge_repeats(&text), expected(&text), "{text:?}");
        }
    }
}

/// Characters and words that the tokenizers' patterns treat specially, at least one of each kind.
static NASTY: LazyLock<Vec<&str>> = LazyLock::new(|| {
    "a B é É ǅ ʰ ʕ 中 文 क ि ् ก ั ß İ ı K Å ſ \u{301} \u{fe0f} \u{20e3} ' ' 's 'S 'ſ 're 'VE 'Ll \
     'd M 1 22 ٣ Ⅷ ² ½ / // . ! - _ == 😀 👨\u{200d}👩 \u{1f3fd} ש م \u{ad} \u{200b} \u{feff} \
     \u{e000} \u{378} \u{10ffff} \0 \u{7f} hello World HTTP Straße YWJj"
        .split(' ')
        .chain([
            " ", " ", "  ", "\t", "\n", "\n", "\r\n", "\r", "\u{b}", "\u{c}", "\u{85}", "\u{a0}",
            "\u{1680}", "\u{2003}", "\u{2028}", "\u{2029}", "\u{3000}",
        ])
        .collect()
});

fn nasty() -> impl Strategy<Value = String> {
    proptest::collection::vec(proptest::sample::select(NASTY.as_slice()), 0..16)
        .prop_map(|parts| parts.concat())
}

/// Any characters that the reference knows, mostly from the planes in use.
fn any_text() -> impl Strategy<Value = String> {
    let c = prop_oneof![
        any::<char>(),
        proptest::char::range('\0', '\u{ff}'),
        proptest::char::range('\u{100}', '\u{33ff}'),
        proptest::char::range('\u{a000}', '\u{1ffff}'),
    ];
    let c = c.prop_filter("newer than the reference", |c| !is_newer(*c));
    proptest::collection::vec(c, 0..16).prop_map(String::from_iter)
}

fn check(text: &str) -> Result<(), TestCaseError> {
    let counted = merge_repeats(text);
    prop_assert_eq!(counted, expected(text), "{:?}", text);
    for (tokenizer, count) in Tokenizer::ALL.into_iter().zip(counted) {
        prop_assert!(byte_limit(text) >= count);
        prop_assert_eq!(PieceIter::new(text, tokenizer).collect::<String>(), text);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(12_000) })]

    #[test]
    fn any_hostile_text_has_the_reference_count(text in nasty()) {
        check(&text)?;
    }

    #[test]
    fn any_text_has_the_reference_count(text in any_text()) {
        check(&text)?;
    }
}

/// A step is an examined character, piece or pair. Work quadratic in the length would exceed the
/// bound a thousandfold.
#[test]
fn counting_work_grows_linearly() {
    for unit in [
        "a", "A", "Ab", "aB", "é", "中", "中A", "A中", "😀", "\u{301}", "\u{301}A", "=", "/",
        "!\n", "'", " ", "\t", "\r\n", "\n ", " \n", "7", "\0", "क्षि", "Zm9v", "zq",
    ] {
        for length in [20, 400, 40_000] {
            let text = unit.repeat(length / unit.len());
            for tokenizer in Tokenizer::ALL {
                let work = tokenizer.work(&text);
                assert!(work.steps <= 10 * text.len(), "{unit:?} {length}: {} steps", work.steps);
                assert!(work.tokens <= text.len());
            }
        }
    }
}

#[test]
fn every_token_has_its_rank() {
    for (tokenizer, count) in Tokenizer::ALL.into_iter().zip([199_998, 100_256]) {
        let vocabulary = TokenVocabulary::new(tokenizer.file());
        assert_eq!(vocabulary.len(), count);
        for rank in 0..u32::try_from(count).unwrap() {
            let token = vocabulary.token(rank).unwrap();
            assert_eq!(vocabulary.rank(token), Some(rank), "{token:?}");
        }
        let next = u32::try_from(count).unwrap();
        for rank in [next, next + 1, u32::MAX] {
            assert_eq!(vocabulary.token(rank), None);
        }
        for no_token in ["", "zqzq", "<|endoftext|>", &"a".repeat(200)] {
            assert_eq!(vocabulary.rank(no_token.as_bytes()), None, "{no_token}");
        }
        for byte in 0..=u8::MAX {
            assert!(vocabulary.rank(&[byte]).is_some(), "{byte}");
        }
    }
}

/// A vocabulary of six tokens, as its file.
fn small() -> Vec<u8> {
    vocabulary::file(&["a", "b", "c", "bc", "ab", "abc"].map(Vec::from)).unwrap()
}

#[test]
fn vocabulary_file_has_its_documented_layout() {
    let file = small();
    assert_eq!(file[..8], *vocabulary::MAGIC);
    assert_eq!(file[8..20], [6, 0, 0, 0, 9, 0, 0, 0, 3, 0, 0, 0]);
    assert_eq!(file[20 + 9 * 4..], *b"\x01\0\0\x02\0\0\x03\0\0\x05\0\0\x07\0\0\x0a\0\0abcbcababc");
    let vocabulary = TokenVocabulary::new(&file);
    let mut merger = PieceMerger::new(&vocabulary);
    // `bc` has the lower rank, so `ab` is never merged.
    let counts = ["abc", "abca", "aabcb", "ab", "ba", "bcbc", "xyz", ""]
        .map(|piece| merger.count(piece.as_bytes()));
    assert_eq!(counts, [1, 2, 3, 1, 2, 2, 3, 0]);
}

#[test]
fn oversized_vocabulary_is_refused() {
    let tokens: Vec<_> = (0..1_u32 << 18).map(|n| n.to_le_bytes().to_vec()).collect();
    assert!(vocabulary::file(&tokens[1..]).is_some());
    assert_eq!(vocabulary::file(&tokens), None);
    assert_eq!(vocabulary::file(&[vec![0; 1 << 24]]), None);
    let nothing = vocabulary::file(&[]).unwrap();
    assert!(TokenVocabulary::new(&nothing).is_empty());
    assert_eq!(TokenVocabulary::new(&nothing).rank(b""), None);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_vocabulary_still_counts_tokens(
        changes in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 0..12),
        cut in any::<proptest::sample::Index>(),
        piece in "[abc]{0,40}",
    ) {
        let mut file = small();
        for (at, byte) in changes {
            let at = at.index(file.len());
            file[at] = byte;
        }
        let cut = cut.index(2 * file.len());
        file.truncate(cut);
        for rank in 0..16 {
            TokenVocabulary::new(&file).token(rank);
        }
        let vocabulary = TokenVocabulary::new(&file);
        let count = PieceMerger::new(&vocabulary).count(piece.as_bytes());
        prop_assert!(count <= piece.len().max(1));
    }
}

/// Compares the vocabularies with the reference implementation's. If they differ, it rewrites them
/// and fails.
#[test]
fn vocabularies_are_current() {
    for tokenizer in Tokenizer::ALL {
        let reference = reference(tokenizer);
        let tokens: Vec<_> = (0..).map_while(|rank| reference.decode_bytes(&[rank]).ok()).collect();
        let expected = vocabulary::file(&tokens).unwrap();
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let file = root.join(format!("src/core/assets/{}.vocab", tokenizer.name()));
        if fs::read(&file).ok().as_ref() != Some(&expected) {
            fs::write(&file, expected).unwrap();
            panic!("{} was stale and has been rewritten: commit it", file.display());
        }
    }
}
