//! What STC looks like, and what is no STC: whole texts.

/// JSON without blanks, and the STC of the same value.
pub const TABLE: &[(&str, &str)] = &[
    // Roots of every kind.
    ("null", "null"),
    ("true", "true"),
    ("-0", "-0"),
    (r#""""#, r#""""#),
    (r#""plain text""#, "plain text"),
    (r#""key""#, "key"),
    (r#""key: x""#, r#""key: x""#),
    ("{}", "{}"),
    ("[]", "[0]:"),
    ("[2]", "[1]: 2"),
    ("[[2]]", "[[1]: 2]"),
    ("[[]]", "[[0]:]"),
    ("[{}]", "[{}]"),
    ("[{},{}]", "[{}, {}]"),
    (r#"{"":""}"#, r#""": """#),
    // Members.
    (
        r#"{"zone":"UTC","next":"p3","n":2}"#,
        "zone: UTC, next: p3, n: 2",
    ),
    (
        r#"{"a":{"b":{"c":null}},"d":{}}"#,
        "a: {b: {c: null}}, d: {}",
    ),
    (
        r#"{"a-b":1,"2":2,"ä":3,"a b":4,"true":5,"_x9":6}"#,
        r#""a-b": 1, "2": 2, "ä": 3, "a b": 4, true: 5, _x9: 6"#,
    ),
    (
        r#"{"a,b":1,"{":2,"}: ":3,"[2]":[4],"\"":5,"/":6,"a\n":7}"#,
        r#""a,b": 1, "{": 2, "}: ": 3, "[2]"[1]: 4, "\"": 5, "/": 6, "a\n": 7"#,
    ),
    (
        r#"{"a":1,"a":1,"a":[],"b":0,"a":2}"#,
        "a: 1, a: 1, a[0]:, b: 0, a: 2",
    ),
    // Numbers keep their lexemes.
    (
        "[1e400,-0,0,1.0,1E+5,1e5,-0.0e-00,1234567890123456789012345678901234567890]",
        "[8]: 1e400,-0,0,1.0,1E+5,1e5,-0.0e-00,1234567890123456789012345678901234567890",
    ),
    // Texts that would read as something else.
    (
        r#"["1","-0","1e400","+1","007","1.",".5","1.e5","true","null","false"]"#,
        r#"[11]: "1","-0","1e400","+1","007","1.",".5","1.e5","true","null","false""#,
    ),
    // And those that only look so.
    (
        r##"["2026-02-03 18h05","1-2","1e","e5","-","--","+","-1x",".","1.2.3","True","NULL","#","m12","'"]"##,
        "[15]: 2026-02-03 18h05,1-2,1e,e5,-,--,+,-1x,.,1.2.3,True,NULL,#,m12,'",
    ),
    (
        r#"["a,b","a / b","a/b","/"," / ",", word: x","a:b","a;b","{a}","[2]: ","a\"b","\\","\\n"]"#,
        r#"[13]: "a,b","a / b","a/b","/"," / ",", word: x","a:b",a;b,"{a}","[2]: ","a\"b","\\","\\n""#,
    ),
    (
        r#"[""," ","x "," x","a  b","\t","\n","\r\n","\u0000","\b\f\u001f"]"#,
        r#"[10]: ""," ","x "," x",a  b,"\t","\n","\r\n","\u0000","\b\f\u001f""#,
    ),
    // What ends a line somewhere, or is blank somewhere, is quoted.
    (
        "[\"a\u{7f}\",\"\u{85}\",\"a\u{2028}b\",\"\u{2029}\",\"\u{a0}x\",\"x\u{3000}\",\"\u{feff}\",\"a\u{a0}b\"]",
        "[8]: \"a\\u007f\",\"\\u0085\",\"a\\u2028b\",\"\\u2029\",\"\u{a0}x\",\"x\u{3000}\",\"\u{feff}\",a\u{a0}b",
    ),
    (
        r#"["日本語","👩‍👩‍👧","שלום","Ærøskøbing"]"#,
        "[4]: 日本語,👩‍👩‍👧,שלום,Ærøskøbing",
    ),
    // Tables, and what comes after them.
    (
        r#"{"rows":[{"a":1,"b":"x y"},{"a":null,"b":"x / y"}],"word":"z"}"#,
        r#"rows[2]{a,b}: 1,x y / null,"x / y", word: z"#,
    ),
    (
        r#"{"rows":[{"a":", word: 1"},{"a":"word"}],"word":{"rows":[{"a":1}]},"rows":[]}"#,
        r#"rows[2]{a}: ", word: 1" / word, word: {rows[1]{a}: 1}, rows[0]:"#,
    ),
    (
        r#"[{"a,b":1,"}: ":2,"":3,"c":4},{"a,b":5,"}: ":6,"":7,"c":8}]"#,
        r#"[2]{"a,b","}: ","",c}: 1,2,3,4 / 5,6,7,8"#,
    ),
    (r#"[{"a":1,"a":2},{"a":3,"a":4}]"#, "[2]{a,a}: 1,2 / 3,4"),
    (
        r#"[[{"a":1},{"a":2}],[{"a":3}],"x",[4,5],6]"#,
        "[[2]{a}: 1 / 2, [1]{a}: 3, x, [2]: 4,5, 6]",
    ),
    // Almost tables.
    (r#"[{"a":1},{"b":1}]"#, "[{a: 1}, {b: 1}]"),
    (
        r#"[{"a":1,"b":2},{"b":2,"a":1}]"#,
        "[{a: 1, b: 2}, {b: 2, a: 1}]",
    ),
    (r#"[{"a":1},{"a":1,"b":2}]"#, "[{a: 1}, {a: 1, b: 2}]"),
    (r#"[{"a":1},{"a":[]}]"#, "[{a: 1}, {a[0]:}]"),
    (r#"[{"a":1},2]"#, "[{a: 1}, 2]"),
    (r#"[1,[2]]"#, "[1, [1]: 2]"),
    (
        r#"{"l":[1,{"t":[{"a":1},{"a":2}],"u":3},"x"],"m":[[],{}]}"#,
        "l: [1, {t[2]{a}: 1 / 2, u: 3}, x], m: [[0]:, {}]",
    ),
];

/// Texts that are not STC, and what is said of them.
pub const WRONG: &[(&str, &str)] = &[
    ("", "1:1: expected a value"),
    (" a", "1:1: such text stands in quotes"),
    ("a ", "1:2: expected the end of the text"),
    ("a: 1,", "1:6: expected a blank"),
    ("a: 1, ", "1:7: expected a key"),
    ("a: 1, 2", "1:7: expected a key"),
    ("a: 1, b", "1:8: expected `:` or `[` behind the key"),
    ("a:1", "1:3: expected a blank"),
    ("a: Europe/Berlin", "1:4: such text stands in quotes"),
    ("a: b:c", "1:4: such text stands in quotes"),
    ("a: b \"c\"", "1:4: such text stands in quotes"),
    (
        "a: b\nc: d",
        "1:5: expected `, ` and a key, or the end of the text",
    ),
    ("a: \u{a0}b", "1:4: such text stands in quotes"),
    (
        "a: +1",
        "1:4: not a number of JSON: put it in quotes if it is text",
    ),
    (
        "a: 007",
        "1:4: not a number of JSON: put it in quotes if it is text",
    ),
    (
        "a: 1.",
        "1:4: not a number of JSON: put it in quotes if it is text",
    ),
    ("a: {b: 1", "1:9: expected `, ` or `}`"),
    (
        "a: {b: 1}}",
        "1:10: expected `, ` and a key, or the end of the text",
    ),
    ("a: [1, 2", "1:9: expected `, ` or `]`"),
    (
        "a: [2]: 1,2",
        "1:7: expected `, ` and a key, or the end of the text",
    ),
    ("a: \"b", "1:4: the string has no closing quote"),
    (
        "a: \"b\nc\"",
        "1:6: a control character in a string: write an escape",
    ),
    ("a: \"é\\x\"", "1:6: no escape of JSON"),
    ("a: \"\\u12é4\"", "1:5: no escape of JSON"),
    ("a: \"\\u+123\"", "1:5: no escape of JSON"),
    (
        "a: \"\\ud800\"",
        "1:5: half of a surrogate pair is no character",
    ),
    (
        "a: \"\\ud800\\ud800\"",
        "1:5: half of a surrogate pair is no character",
    ),
    (
        "a: \"\\udc00\\ud800\"",
        "1:5: half of a surrogate pair is no character",
    ),
    // Counts.
    ("a[2]: 1,2,3", "1:10: more than 2 items"),
    ("a[2]: 1", "1:8: 1 of 2 items"),
    ("a[3]: 1,2, b: 3", "1:10: 2 of 3 items"),
    ("a[2]: 1, 2", "1:8: 1 of 2 items"),
    (
        "a[0]: 1",
        "1:6: expected `, ` and a key, or the end of the text",
    ),
    ("[0]:,", "1:5: more than 0 items"),
    ("a[1]:", "1:6: expected a blank"),
    ("a[1]: ", "1:7: expected a value"),
    ("a[02]: 1,2", "1:3: not a count"),
    ("a[99999999999999999999]: 1", "1:3: not a count"),
    ("a[]: 1", "1:3: not a count"),
    ("a[1]x", "1:5: expected `:` or `{`"),
    ("a[0]{b}:", "1:3: not a count"),
    ("a[1]{}: 1", "1:6: expected a key"),
    ("a[1]{b;c}: 1,2", "1:7: expected `,` or `}`"),
    ("a[1]{b}:1", "1:9: expected a blank"),
    ("a[2]{b}: 1", "1:11: 1 of 2 rows"),
    ("a[2]{b}: 1, c: 2", "1:11: 1 of 2 rows"),
    ("a[2]{b}: 1/2", "1:10: such text stands in quotes"),
    ("a[1]{b}: 1 / 2", "1:11: more than 1 rows"),
    ("a[1]{b,c}: 1", "1:13: 1 of 2 cells"),
    ("a[2]{b,c}: 1,2 / 3", "1:19: 1 of 2 cells"),
    ("a[2]{b,c}:\n1,2,3 /\n4,5", "2:4: more than 2 cells"),
    ("a[2]{b}: 1 / {}", "1:14: expected a value"),
    ("a[4000000000]: 1", "1:17: 1 of 4000000000 items"),
];
