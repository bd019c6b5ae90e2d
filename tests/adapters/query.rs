//! The search language: its meaning, its translation for Gmail, and the queries it refuses.

use daysheet_core::query::{DateContext, Query, parse};
use daysheet_providers::google::mail::query::compile;
use jiff::tz::TimeZone;
use proptest::prelude::*;

/// Tuesday, 2026-11-17 10:30 in Berlin.
pub(crate) fn clock() -> DateContext {
    DateContext {
        now: "2026-11-17T09:30:00Z".parse().unwrap(),
        zone: TimeZone::get("Europe/Berlin").unwrap(),
    }
}

fn gmail(query: &str) -> String {
    match parse(query, &clock()) {
        Ok(query) => compile(&query).q,
        Err(error) => format!("! {error}"),
    }
}

/// Queries and Gmail's `q`, in addition to `query_cases`.
const COMPILED: &[(&str, &str)] = &cases! {
    "   ", "";
    "“annual  report”", "\"annual report\"";
    "http://x.example/y", "\"http://x.example/y\"";
    "schön", "schön";
    "日本", "日本";
    "FROM:lena", "from:lena";
    "from: lena", "from:lena";
    "to:team cc:print bcc:me", "to:team cc:print bcc:me";
    "from:(lena OR \"mira l\")", "(from:lena OR from:\"mira l\")";
    "from:(lena -okafor)", "from:lena -from:okafor";
    "filename:a-b.pdf", "filename:\"a-b.pdf\"";
    "in:Draft", "in:drafts";
    r#""say \"hi\" now" a\b"#, "\"say  hi  now\" \"a\\b\"";
    "in:junk", "in:spam";
    "in:bin", "in:trash";
    "in:all", "in:anywhere";
    "in:Clients", "label:clients";
    "folder:sent", "in:sent";
    "label:Clients/Nordlicht", "label:clients-nordlicht";
    "is:flagged", "is:starred";
    "is:Starred", "is:starred";
    "has:attachments", "has:attachment";
    "larger:300k", "larger:307200";
    "smaller:1024", "smaller:1024";
    "after:2026/02/03", "after:1770073200";
    "after:\"2026-02-03 18h05\"", "after:1770138300";
    "after:2026-02-03T17:05:00Z", "after:1770138300";
    "after:7d", "after:1794303000";
    "newer_than:7d", "after:1794303000";
    "older_than:1y", "before:1763371800";
    "after:36h", "after:1794778200";
    "after:2w", "after:1793698200";
    "after:1m", "after:1792225800";
    "after:today", "after:1794870000";
    "before:yesterday", "before:1794783600";
    "after:today -from:me", "after:1794870000 -from:me";
    "a OR b c", "(a OR b) c";
    "a AND b", "a b";
    "--5", "\"--5\"";
    "\"OR\"", "\"OR\"";
    "or", "or";
    "raw:list:x older_than:2d {a b}", "list:x older_than:2d {a b}";
    "from:lena is:unread -subject:spam (a OR \"b c\") larger:1M",
        "from:lena is:unread -subject:spam (a OR \"b c\") larger:1048576";
};

/// Query and its error.
const REFUSED: &[(&str, &str)] = &cases! {
    "\"annual",
        "the quote at character 1 is not closed: close it, or leave it out";
    "from:\"x",
        "the quote at character 6 is not closed: close it, or leave it out";
    "a \"\" b",
        "the query has an empty phrase `\"\"`: put words between the quotes, or leave them out";
    "(a b", "the query has an unclosed `(`: close it, or put it in quotes";
    "{a", "the query has an unclosed `{`: close it, or put it in quotes";
    "a) b",
        "the query has an unmatched `)`: remove it, or put it in quotes";
    "()", "the query has an empty group: put terms between the brackets, or remove them";
    "OR b",
        "`OR` needs a term on each side: write `a OR b`, or \"or\" in quotes for the word";
    "a OR",
        "the query ends where it needs a term: add the missing term, or remove the `OR` or `-` \
         before it";
    "from:", "`from:` has no value: write it directly after the colon";
    "raw:", "`raw:` has no value: write it directly after the colon";
    "is:big",
        "unknown `is:big`: use is:unread, is:read, is:starred, is:flagged, is:important, \
             is:answered, is:unanswered, is:bulk or is:direct";
    "is:direct OR is:read",
        "`is:direct` works once, without `-`, outside groups and OR: use to:, cc: or bcc: instead";
    "-is:direct",
        "`is:direct` works once, without `-`, outside groups and OR: use to:, cc: or bcc: instead";
    "is:bulk -is:bulk",
        "`is:bulk` works once, outside groups and OR: search for each separately";
    "is:bulk",
        "only mail_search knows `is:answered`, `is:unanswered`, `is:bulk` and `is:direct`: search \
         with it first, and give the ids";
    "has:link", "unknown `has:link`: use has:attachment, or filename:pdf for files of a kind";
    "larger:huge",
        "`larger:huge` is not a size: write bytes, or a number with k, M or G: larger:5M";
    "larger:99999999999999999999G",
        "`larger:99999999999999999999G` is not a size: write bytes, or a number with k, M or G: \
         larger:5M";
    "after:someday",
        "`after:someday` is not a date: write 2026-02-03, \"2026-02-03 18h05\", 7d (also h, w, m, \
         y), today or yesterday";
    "after:2026-02-31",
        "`after:2026-02-31` is not a date: write 2026-02-03, \"2026-02-03 18h05\", 7d (also h, w, \
         m, y), today or yesterday";
    "before:28229y",
        "`before:28229y` is not a date: write 2026-02-03, \"2026-02-03 18h05\", 7d (also h, w, m, \
         y), today or yesterday";
    "from:(a to:b)",
        "the group of `from:` contains an operator: put plain words in the group";
};

#[test]
fn queries_compile_to_gmail_search() {
    let wrong: Vec<_> = COMPILED
        .iter()
        .filter(|(query, expected)| gmail(query) != *expected)
        .map(|(query, expected)| format!("{query}\n  is     {}\n  not    {expected}", gmail(query)))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn bad_queries_are_refused_with_next_step() {
    for (query, expected) in REFUSED {
        assert_eq!(gmail(query), format!("! {expected}"), "{query}");
    }
    let unknown = gmail("Re: lunch");
    assert!(unknown.starts_with("! unknown operator `re:`: use from: to: "), "{unknown}");
    let long = "x".repeat(5000);
    assert!(gmail(&long).starts_with("! the query is 5000 bytes long"));
    let deep = format!("{}a{}", "(".repeat(500), ")".repeat(500));
    assert!(gmail(&deep).starts_with("! the query nests groups deeper than 32"));
}

#[test]
fn conditions_gmail_lacks_are_named() {
    let query = parse("body:deadline body:plan", &clock()).unwrap();
    assert_eq!(
        compile(&query).notes,
        ["Gmail cannot search only the body: `body:` searched the whole message"]
    );
}

fn count(query: &Query) -> usize {
    match query {
        Query::All(parts) | Query::Any(parts) => parts.iter().map(count).sum(),
        Query::Not(part) => count(part),
        Query::Term(_) | Query::Raw(_) => 1,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Any text is parsed or refused, and never taken for a query that matches everything.
    #[test]
    fn no_query_fails_open(text in "[-a-z:\"(){} O R\\PC]{0,40}") {
        if let Ok(query) = parse(&text, &clock()) {
            prop_assert_eq!(count(&query) == 0, text.trim().is_empty() || only_and(&text), "{}", text);
            let compiled = compile(&query);
            prop_assert_eq!(compiled.q.is_empty(), count(&query) == 0);
        }
    }
}

/// Returns true if the text consists only of the implicit AND.
fn only_and(text: &str) -> bool {
    text.split_whitespace().all(|word| matches!(word, "AND" | "&&"))
}
