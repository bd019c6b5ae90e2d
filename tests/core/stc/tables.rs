//! Tables of complete STC texts, valid and invalid.

/// Compact JSON, and the STC of the same value in versions 1 and 2.
pub const TABLE: &[(&str, &str, &str)] = &cases! {
    // Values of every kind at the root.
    "null", "null", "null";
    "true", "true", "true";
    "-0", "-0", "-0";
    r#""""#, r#""""#, r#""""#;
    r#""plain text""#, r#""plain text""#, r#""plain text""#;
    r#""key: x""#, r#""key: x""#, r#""key: x""#;
    "{}", "{}", "{}";
    "[]", "[]", "[]";
    "[2]", "[2]", "[2]";
    r#"["a",","]"#, r#"["a",","]"#, r#"["a",","]"#;
    "[[2]]", "[[2]]", "[[2]]";
    "[[]]", "[[]]", "[[]]";
    "[{}]", "[{}]", "[{}]";
    "[{},{}]", "[{}, {}]", "[{}, {}]";
    r#"[{"a":1}]"#, "[{a: 1}]", "[{a: 1}]";
    r#"{"":""}"#, r#"{"": ""}"#, r#""": """#;
    r#"[{"a":1,"b":"x / y"},{"a":null,"b":"x"}]"#, r#"[2]{a,b}: 1,"x / y" / null,"x""#,
        r#"[2]{a,b}: 1,"x / y" / null,"x""#;
    r#"{"name":"foo","tags":["a","b"],"rows":[{"id":1,"name":"x"},{"id":2,"name":"y"}]}"#,
        r#"{name: "foo", tags[2]: "a","b", rows[2]{id,name}: 1,"x" / 2,"y"}"#,
        "name: foo, tags[2]: a,b, rows[2]{id,name}: 1,x / 2,y";
    r#"{"zone":"UTC","next":"p3","n":2,"b":true}"#, r#"{zone: "UTC", next: "p3", n: 2, b: true}"#,
        "zone: UTC, next: p3, n: 2, b: true";
    r#"{"a":{"b":{"c":null}},"d":{}}"#, "{a: {b: {c: null}}, d: {}}", "a: {b: {c: null}}, d: {}";
    r#"{"a-b":1,"2":2,"ä":3,"a b":4,"true":5,"_x9":6}"#,
        r#"{"a-b": 1, "2": 2, "ä": 3, "a b": 4, true: 5, _x9: 6}"#,
        r#""a-b": 1, "2": 2, "ä": 3, "a b": 4, true: 5, _x9: 6"#;
    r#"{"a,b":1,"{":2,"}: ":3,"[2]":[4],"\"":5,"/":6,"a\n":7}"#,
        r#"{"a,b": 1, "{": 2, "}: ": 3, "[2]"[1]: 4, "\"": 5, "/": 6, "a\n": 7}"#,
        r#""a,b": 1, "{": 2, "}: ": 3, "[2]"[1]: 4, "\"": 5, "/": 6, "a\n": 7"#;
    r#"{"a":1,"a":1,"a":[],"b":0,"a":2}"#, "{a: 1, a: 1, a: [], b: 0, a: 2}",
        "a: 1, a: 1, a: [], b: 0, a: 2";
    "[1e400,-0,0,1.0,1E+5,1e5,-0.0e-00,1234567890123456789012345678901234567890]",
        "[1e400,-0,0,1.0,1E+5,1e5,-0.0e-00,1234567890123456789012345678901234567890]",
        "[1e400,-0,0,1.0,1E+5,1e5,-0.0e-00,1234567890123456789012345678901234567890]";
    r#"{"a":["1","-0","1e400","+1","007","1.",".5","1.e5","true","null","false"]}"#,
        r#"{a[11]: "1","-0","1e400","+1","007","1.",".5","1.e5","true","null","false"}"#,
        r#"a[11]: "1","-0","1e400","+1","007","1.",".5","1.e5","true","null","false""#;
    r##"{"a":["2026-02-03 18h05","1-2","1e","e5","-","--","+","-1x",".","1.2.3","True","NULL","#","m12","'"]}"##,
        r##"{a[15]: "2026-02-03 18h05","1-2","1e","e5","-","--","+","-1x",".","1.2.3","True","NULL","#","m12","'"}"##,
        "a[15]: 2026-02-03 18h05,1-2,1e,e5,-,--,+,-1x,.,1.2.3,True,NULL,#,m12,'";
    r#"{"a":["a,b","a / b","a/b","/"," / ",", word: x","a:b","a;b","{a}","[2]: ","a\"b","\\","\\n"]}"#,
        r#"{a[13]: "a,b","a / b","a/b","/"," / ",", word: x","a:b","a;b","{a}","[2]: ","a\"b","\\","\\n"}"#,
        r#"a[13]: "a,b","a / b","a/b","/"," / ",", word: x","a:b",a;b,"{a}","[2]: ","a\"b","\\","\\n""#;
    r#"{"a":[""," ","x "," x","a  b","\t","\n","\r\n","\u0000","\b\f\u001f"]}"#,
        r#"{a[10]: ""," ","x "," x","a  b","\t","\n","\r\n","\u0000","\b\f\u001f"}"#,
        r#"a[10]: ""," ","x "," x",a  b,"\t","\n","\r\n","\u0000","\b\f\u001f""#;
    r#"{"a":["日本語","👩‍👩‍👧","שלום","Ærøskøbing"]}"#, r#"{a[4]: "日本語","👩‍👩‍👧","שלום","Ærøskøbing"}"#,
        "a[4]: 日本語,👩‍👩‍👧,שלום,Ærøskøbing";
    r#"{"l":[true,false],"m":[1,"a"],"n":[null,null],"o":[1,null],"p":[1],"q":[1,true]}"#,
        r#"{l[2]: true,false, m: [1, "a"], n: [null, null], o: [1, null], p[1]: 1, q: [1, true]}"#,
        "l[2]: true,false, m: [1, a], n: [null, null], o: [1, null], p[1]: 1, q: [1, true]";
    r#"{"rows":[{"a":1,"b":"x y"},{"a":null,"b":"x / y"}],"word":"z"}"#,
        r#"{rows[2]{a,b}: 1,"x y" / null,"x / y", word: "z"}"#,
        r#"rows[2]{a,b}: 1,x y / null,"x / y", word: z"#;
    r#"{"rows":[{"a":", word: 1"},{"a":"word"}],"word":{"rows":[{"a":1}]},"rows":[]}"#,
        r#"{rows[2]{a}: ", word: 1" / "word", word: {rows: [{a: 1}]}, rows: []}"#,
        r#"rows[2]{a}: ", word: 1" / word, word: {rows: [{a: 1}]}, rows: []"#;
    r#"[{"a,b":1,"}: ":2,"":3,"c":4},{"a,b":5,"}: ":6,"":7,"c":8}]"#,
        r#"[2]{"a,b","}: ","",c}: 1,2,3,4 / 5,6,7,8"#,
        r#"[2]{"a,b","}: ","",c}: 1,2,3,4 / 5,6,7,8"#;
    r#"[{"a":1,"a":2},{"a":3,"a":4}]"#, "[2]{a,a}: 1,2 / 3,4", "[2]{a,a}: 1,2 / 3,4";
    r#"[[{"a":1},{"a":2}],[{"a":3}],"x",[4,5],6]"#, r#"[[2]{a}: 1 / 2, [{a: 3}], "x", [4,5], 6]"#,
        r#"[[2]{a}: 1 / 2, [{a: 3}], "x", [4,5], 6]"#;
    r#"[{"a":1},{"b":1}]"#, "[{a: 1}, {b: 1}]", "[{a: 1}, {b: 1}]";
    r#"{"r":[{"a":1,"b":2},{"b":2,"a":1}]}"#, "{r: [{a: 1, b: 2}, {b: 2, a: 1}]}",
        "r: [{a: 1, b: 2}, {b: 2, a: 1}]";
    r#"[{"a":1},{"a":1,"b":2}]"#, "[{a: 1}, {a: 1, b: 2}]", "[{a: 1}, {a: 1, b: 2}]";
    r#"[{"a":1},{"a":[]}]"#, "[{a: 1}, {a: []}]", "[{a: 1}, {a: []}]";
    r#"[{"a":1},2]"#, "[{a: 1}, 2]", "[{a: 1}, 2]";
    "[1,[2]]", "[1, [2]]", "[1, [2]]";
    r#"{"l":[1,{"t":[{"a":1},{"a":2}],"u":3},"x"],"m":[[],{}]}"#,
        r#"{l: [1, {t[2]{a}: 1 / 2, u: 3}, "x"], m: [[], {}]}"#,
        "l: [1, {t[2]{a}: 1 / 2, u: 3}, x], m: [[], {}]";
    r#"{"key":"x: y","":[{"a":"b"},{"a":"c"}]}"#, r#"{key: "x: y", ""[2]{a}: "b" / "c"}"#,
        r#"key: "x: y", ""[2]{a}: b / c"#;
    "{\"a\":[\"a\u{7f}\",\"\u{85}\",\"a\u{2028}b\",\"\u{2029}\",\"\u{a0}x\",\"x\u{3000}\",\"\u{feff}\",\"a\u{a0}b\"]}",
        "{a[8]: \"a\\u007f\",\"\\u0085\",\"a\\u2028b\",\"\\u2029\",\"\u{a0}x\",\"x\u{3000}\",\"\u{feff}\",\"a\u{a0}b\"}",
        "a[8]: \"a\\u007f\",\"\\u0085\",\"a\\u2028b\",\"\\u2029\",\"\u{a0}x\",\"x\u{3000}\",\"\u{feff}\",a\u{a0}b";
};

/// STC in forms that we do not write, and its value.
pub const OTHERS: &[(&str, &str)] = &cases! {
    // JSON is STC, with blanks in the same places.
    r#" { "a" : [ 1 , "b" ] , "c" : { } } "#, r#"{"a":[1,"b"],"c":{}}"#;
    "{a:1,b[2]:1,2,c:3}", r#"{"a":1,"b":[1,2],"c":3}"#;
    "{\n  a [2]{b, c}:\n    1, 2\n    / 3, 4\n}\n", r#"{"a":[{"b":1,"c":2},{"b":3,"c":4}]}"#;
    r#"[2]{a}:1/"b""#, r#"[{"a":1},{"a":"b"}]"#;
    // A table after the colon, as the reference encoder writes it.
    r"{a: [2]{b}: 1 / 2, c: [2]: 1,2, d: 3}", r#"{"a":[{"b":1},{"b":2}],"c":[1,2],"d":3}"#;
    // A count in a place where we write none.
    "[0]:", "[]";
    r#"[[2]: 1,"a", [1]{b}: null]"#, r#"[[1,"a"],[{"b":null}]]"#;
    // Version 2 across several lines.
    "zone:\n  UTC,\nrows[2]{a,b}:\n  1,x y\n  / 2,z,\nlast: {a: 1,\r\n\tb:  2}",
        r#"{"zone":"UTC","rows":[{"a":1,"b":"x y"},{"a":2,"b":"z"}],"last":{"a":1,"b":2}}"#;
    r#"a:b,"c d"[0]:,e: f"#, r#"{"a":"b","c d":[],"e":"f"}"#;
};

/// Texts that are not STC, and the error for each.
pub const WRONG: &[(&str, &str)] = &[
    ("", "1:1: expected a value"),
    (" ", "1:2: expected a value"),
    ("a", "1:1: such text must be in quotes"),
    ("{a: b}", "1:5: such text must be in quotes"),
    ("{a: null, b: True}", "1:14: such text must be in quotes"),
    ("[2]{a}: 1 / b", "1:13: such text must be in quotes"),
    ("{a[1]: b}", "1:8: such text must be in quotes"),
    ("{a: 1,}", "1:7: expected a key"),
    ("{a: 1, 2}", "1:8: expected a key"),
    ("{a: 1, b}", "1:9: expected `:` after the key"),
    ("{a}", "1:3: expected `:` after the key"),
    ("{a: 1", "1:6: expected `,` or `}`"),
    ("{a: 1}}", "1:7: expected the end of the text"),
    ("{a: 1} / 2", "1:8: expected the end of the text"),
    ("[1, 2", "1:6: expected `,` or `]`"),
    ("[1,]", "1:4: expected a value"),
    ("a: 1,", "1:6: expected a key"),
    ("a: 1, b", "1:8: expected `:` after the key"),
    ("a: Europe/Berlin", "1:4: such text must be in quotes"),
    ("a: b:c", "1:4: such text must be in quotes"),
    ("a: b \"c\"", "1:4: such text must be in quotes"),
    ("a: b\nc: d", "2:1: expected `,` or the end of the text"),
    ("a: \u{a0}b", "1:4: such text must be in quotes"),
    ("{a: +1}", "1:5: not a JSON number: put it in quotes if it is text"),
    ("a: 007", "1:4: not a JSON number: put it in quotes if it is text"),
    ("{a: 1.}", "1:5: not a JSON number: put it in quotes if it is text"),
    ("{a: \"b", "1:5: the string has no closing quote"),
    ("{a: \"b\nc\"}", "1:7: a control character in a string: escape it"),
    ("{a: \"é\\x\"}", "1:7: not a JSON escape"),
    ("{a: \"\\u12é4\"}", "1:6: not a JSON escape"),
    ("{a: \"\\u+123\"}", "1:6: not a JSON escape"),
    ("{a: \"\\ud800\"}", "1:6: half of a surrogate pair is not a character"),
    ("{a: \"\\udc00\\ud800\"}", "1:6: half of a surrogate pair is not a character"),
    // Counts.
    ("{a[2]: 1,2,3}", "1:12: more than 2 items"),
    ("{a[2]: 1,2, 3}", "1:13: more than 2 items"),
    ("{a[2]: 1}", "1:9: 1 of 2 items"),
    ("{a[3]: 1,2, b: 3}", "1:11: 2 of 3 items"),
    ("a[2]: x,y,z", "1:11: more than 2 items"),
    ("a[3]: x,y, b: 3", "1:10: 2 of 3 items"),
    ("{a[0]: 1}", "1:8: expected `,` or `}`"),
    ("[1]:", "1:5: expected a value"),
    ("{a[02]: 1,2}", "1:4: not a count"),
    ("{a[99999999999999999999]: 1}", "1:4: not a count"),
    ("{a[]: 1}", "1:3: expected `:` after the key"),
    ("{a[1]x}", "1:3: expected `:` after the key"),
    ("{a[0]{b}: 1}", "1:4: not a count"),
    ("{a[1]{}: 1}", "1:7: expected a key"),
    ("{a[1]{b;c}: 1,2}", "1:8: expected `,` or `}`"),
    ("{a[2]{b}: 1}", "1:12: 1 of 2 rows"),
    ("{a[2]{b}: 1, c: 2}", "1:12: 1 of 2 rows"),
    ("{a[1]{b}: 1 / 2}", "1:12: more than 1 rows"),
    ("{a[1]{b,c}: 1}", "1:14: 1 of 2 cells"),
    ("{a[2]{b,c}: 1,2 / 3}", "1:20: 1 of 2 cells"),
    ("{a[2]{b,c}:\n1,2,3 /\n4,5}", "2:4: more than 2 cells"),
    ("{a[1]{b}: 1,2}", "1:13: more than 1 cells"),
    ("{a[2]{b}: 1 / {}}", "1:15: expected a value"),
    ("a[2]{b}: Europe/Berlin", "1:10: such text must be in quotes"),
    ("{a[4000000000]: 1}", "1:18: 1 of 4000000000 items"),
];
