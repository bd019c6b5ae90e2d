//! One search language at two providers: the complete requests to each, and that Graph's results,
//! checked on our side, match the meaning of the query.

mod graph;
mod meaning;

use std::collections::HashMap;

use daysheet_core::query::{MessagePart, Query, QueryTerm, parse};
use daysheet_providers::google::mail::query as gmail_query;
use daysheet_providers::microsoft::mail::query::resolve_me;
use daysheet_providers::microsoft::mail::query::{
    self as outlook_query, FolderNames, GraphQuery, SearchScope, folders, matches, reads,
};
use meaning::{Mail, any_mail, any_query, any_term, means, places};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::query::clock;
use crate::common::query_cases::{CASES, Case};

/// The cases of pictures and signs, which Outlook's subjects are looked through
/// for, and which the sandbox's Gmail finds everywhere.
#[rustfmt::skip] // As above.
const SIGNS: &[Case] = &[
    ("subject:🎉 in:inbox",
        &[r#"subject:"🎉" in:inbox"#],
        &["in inbox", r#"rest:   subject:"🎉""#]),
    ("subject:🎉 invoice",
        &[r#"subject:"🎉" invoice"#],
        &["mail", r#"search: \"invoice\""#, r#"rest:   subject:"🎉""#]),
];

fn parsed(query: &str) -> Query {
    parse(query, &clock()).unwrap_or_else(|error| panic!("{query}: {error}"))
}

/// Returns the request to Gmail: `q`, and a line per note.
fn gmail(query: &Query) -> Vec<String> {
    let compiled = gmail_query::compile(query);
    let mut lines = vec![compiled.q];
    lines.extend(compiled.notes.iter().map(|note| format!("note: {note}")));
    lines
}

/// Returns the request to Graph, with a line per part that is present.
fn graph(query: &Query) -> Vec<String> {
    let GraphQuery { scope, filter, search, rest, notes } =
        match outlook_query::compile(Some(query)) {
            Ok(compiled) => compiled,
            Err(error) => return vec![format!("! {error}")],
        };
    let mut lines = vec![match scope {
        SearchScope::Mail => "mail".to_owned(),
        SearchScope::Anywhere => "anywhere".to_owned(),
        SearchScope::Folder(name) => format!("in {name}"),
    }];
    lines.extend(filter.map(|text| format!("filter: {text}")));
    lines.extend(search.map(|text| format!("search: {text}")));
    lines.extend(rest.map(|rest| format!("rest:   {}", show(&rest))));
    lines.extend(notes.iter().map(|note| format!("note:   {note}")));
    lines
}

/// A query as it would be written, with all its brackets.
fn show(query: &Query) -> String {
    let group = |parts: &[Query], between: &str| {
        let parts: Vec<_> = parts.iter().map(show).collect();
        format!("({})", parts.join(between))
    };
    match query {
        Query::All(parts) => group(parts, " "),
        Query::Any(parts) => group(parts, " OR "),
        Query::Not(part) => format!("-{}", show(part)),
        Query::Raw(raw) => format!("raw:{raw}"),
        Query::Term(term) => match term {
            QueryTerm::Text(text) => format!("{text:?}"),
            QueryTerm::In(part, text) => format!("{}:{text:?}", part.operator()),
            QueryTerm::Folder(name) => format!("in:{name}"),
            QueryTerm::Label(name) => format!("label:{name}"),
            QueryTerm::Category(name) => format!("category:{name}"),
            QueryTerm::Is(state) => format!("is:{}", format!("{state:?}").to_lowercase()),
            QueryTerm::Attachment => "has:attachment".to_owned(),
            QueryTerm::Larger(bytes) => format!("larger:{bytes}"),
            QueryTerm::Smaller(bytes) => format!("smaller:{bytes}"),
            QueryTerm::Before(instant) => format!("before:{instant}"),
            QueryTerm::After(instant) => format!("after:{instant}"),
        },
    }
}

#[test]
fn queries_are_written_in_each_providers_language() {
    let mut wrong = Vec::new();
    for (query, for_gmail, for_graph) in CASES.iter().chain(SIGNS) {
        let parsed = match parse(query, &clock()) {
            Ok(query) => [gmail(&query), graph(&query)],
            // Refused before any provider is asked.
            Err(error) => [vec![format!("! {error}")], vec![format!("! {error}")]],
        };
        for (is, expected) in parsed.into_iter().zip([*for_gmail, *for_graph]) {
            if is != expected {
                wrong.push(format!(
                    "{query}\n  is   {}\n  not  {}",
                    is.join("\n       "),
                    expected.join("\n       ")
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn query_cases_are_unique() {
    let mut seen: Vec<_> = CASES.iter().map(|(query, ..)| query).collect();
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), CASES.len());
}

#[test]
fn absent_query_matches_every_message() {
    assert_eq!(outlook_query::compile(None).unwrap(), GraphQuery::default());
}

#[test]
fn folder_names_are_collected_once_without_system_folders() {
    for (query, expected) in cases! {
        "in:inbox budget", &[][..];
        "in:Clients (in:\"Nord licht\" OR -in:Clients) label:x in:spam", &["Clients", "Nord licht"];
    } {
        assert_eq!(folders(&parsed(query)), expected, "{query}");
    }
}

#[test]
fn me_means_the_accounts_address() {
    let query = parsed("from:me OR (-to:ME cc:meg subject:me me)");
    assert_eq!(
        show(&resolve_me(&query, "mira@example.com")),
        r#"(from:"mira@example.com" OR (-to:"mira@example.com" cc:"meg" subject:"me" "me"))"#
    );
}

#[test]
fn only_fields_that_checks_need_are_requested() {
    for (query, expected) in cases! {
        "from:a -from:b", &["from"][..];
        "to:a", &["toRecipients", "ccRecipients", "bccRecipients"];
        "cc:a bcc:b", &["ccRecipients", "bccRecipients"];
        "is:read OR is:unread", &["isRead"];
        "is:starred is:important", &["flag", "importance"];
        "category:a label:b in:c", &["categories", "parentFolderId"];
        "has:attachment before:7d after:8d subject:x",
            &["hasAttachments", "receivedDateTime", "subject"];
    } {
        assert_eq!(reads(&parsed(query)), expected, "{query}");
    }
}

/// Query and whether the message below meets it.
const MET: &[(&str, bool)] = &[
    ("from:lena", true),
    ("from:LENA", true),
    ("from:len", false),
    ("from:\"okafor lena\"", true),
    ("from:\"lena okafor\"", false),
    ("from:studio.example", true),
    ("from:@studio.example", true),
    ("from:lena@studio.example", true),
    ("from:\"lena lena\"", false),
    ("to:mira", true),
    ("to:proofs", true),
    ("to:hidden", true),
    ("to:lena", false),
    ("cc:proofs", true),
    ("cc:mira", false),
    ("bcc:hidden@print.example", true),
    ("subject:proof", true),
    ("subject:\"autumn catalogue\"", true),
    ("subject:\"catalogue autumn\"", false),
    ("subject:cat", false),
    ("is:unread", true),
    ("is:read", false),
    ("is:starred", true),
    ("is:important", true),
    ("has:attachment", true),
    ("category:print", true),
    ("label:clients-nordlicht", true),
    ("category:Clients", false),
    ("category:promotions", false),
    ("before:2026-02-03T17:05:00Z", false),
    ("before:2026-02-03T17:05:01Z", true),
    ("after:2026-02-03T17:05:00Z", true),
    ("after:2026-02-03T17:05:01Z", false),
    ("in:Clients/Nordlicht", true),
    ("in:nordlicht", true),
    ("in:\"F1=\"", true),
    ("in:Clients", false),
    ("in:inbox", false),
    ("subject:🎉", true),
    ("subject:€", false),
    ("in:anywhere", true),
    ("is:unread (in:inbox OR -from:mira)", true),
    ("-(is:unread is:starred)", false),
];

#[test]
fn messages_are_checked_against_the_query() {
    let message = json!({
        "parentFolderId": "F1=", "receivedDateTime": "2026-02-03T17:05:00Z",
        "subject": "Proof for the autumn\u{ad} catalogue 🎉", "importance": "High", "isRead": false,
        "hasAttachments": true, "categories": ["Clients/Nordlicht", "Print"],
        "flag": {"flagStatus": "Flagged"},
        "from": {"emailAddress": {"name": "Okafor, Lena", "address": "lena@studio.example"}},
        "toRecipients": [{"emailAddress": {"name": "Mira", "address": "mira@example.com"}}],
        "ccRecipients": [{"emailAddress": {"address": "proofs@print.example"}}],
        "bccRecipients": [{"emailAddress": {"name": null, "address": "hidden@print.example"}}],
    });
    let names = HashMap::from([
        ("F1=".to_owned(), "Clients/Nordlicht".to_owned()),
        ("F2=".to_owned(), "inbox".to_owned()),
    ]);
    for (query, expected) in MET {
        let query = parsed(query);
        let met = matches(&query, &message, &FolderNames { names: &names });
        assert_eq!(met, *expected, "{}", show(&query));
    }
    // A folder of the user's with the name of a place is not that place.
    let names = HashMap::from([("F1=".to_owned(), "Inbox".to_owned())]);
    let inbox = parsed("in:inbox");
    assert!(!matches(&inbox, &message, &FolderNames { names: &names }));
}

/// JSON with Graph's names at odd values.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "\\PC{0,12}".prop_map(Value::from),
        "(flagged|high|F1|2026-02-03T17:05:00Z)".prop_map(Value::from),
    ];
    let name = "(from|toRecipients|ccRecipients|bccRecipients|emailAddress|name|address|subject\
                |isRead|flag|flagStatus|importance|hasAttachments|categories|receivedDateTime\
                |parentFolderId)";
    leaf.prop_recursive(4, 48, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::hash_map(name, inner, 0..8)
                .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
}

/// Queries as no parser gives them: empty groups, raw parts, odd texts.
fn odd_query() -> impl Strategy<Value = Query> {
    let text = prop_oneof![
        "\\PC{0,12}",
        "[-\"()*:\\\\'“” \t\nORAND@.a]{0,10}",
        "[a-z']{1,4}@[a-z']{1,4}\\.[a-z]{1,3}",
    ];
    let worded = (0..10_usize, text).prop_map(|(kind, text)| match kind {
        0 => QueryTerm::Text(text),
        1 => QueryTerm::In(MessagePart::From, text),
        2 => QueryTerm::In(MessagePart::To, text),
        3 => QueryTerm::In(MessagePart::Bcc, text),
        4 => QueryTerm::In(MessagePart::Subject, text),
        5 => QueryTerm::In(MessagePart::Body, text),
        6 => QueryTerm::In(MessagePart::Filename, text),
        7 => QueryTerm::Folder(text),
        8 => QueryTerm::Label(text),
        _ => QueryTerm::Category(text),
    });
    let leaf = prop_oneof![
        4 => worded.prop_map(Query::Term),
        4 => any_term(true).prop_map(Query::Term),
        1 => (any::<bool>(), -377_705_023_201..253_402_207_200_i64).prop_map(|(before, at)| {
            let at = jiff::Timestamp::from_second(at).unwrap();
            Query::Term(if before { QueryTerm::Before(at) } else { QueryTerm::After(at) })
        }),
    ];
    let tree = leaf.prop_recursive(5, 24, 4, |inner| {
        let group = prop::collection::vec(inner.clone(), 0..4);
        prop_oneof![
            group.clone().prop_map(Query::All),
            group.prop_map(Query::Any),
            inner.prop_map(|part| Query::Not(Box::new(part))),
        ]
    });
    let raw = "(\\$filter=|\\$search=|\\$|)[ \"\\\\a()$=]{0,8}".prop_map(Query::Raw);
    prop_oneof![9 => tree, 1 => raw.clone(), 1 => raw.prop_map(|raw| Query::All(vec![raw]))]
}

/// Returns true if the mail passes both the request to Graph and the check of its results.
fn found(compiled: &GraphQuery, mail: &Mail) -> bool {
    let names = places();
    let places = FolderNames { names: &names };
    let in_scope = match &compiled.scope {
        SearchScope::Mail => !matches!(mail.folder, "spam" | "trash"),
        SearchScope::Anywhere => true,
        SearchScope::Folder(name) => mail.folder == name,
    };
    in_scope
        && compiled.filter.iter().all(|text| graph::filters(text, mail))
        && compiled.search.iter().all(|text| graph::searches(text, mail))
        && compiled.rest.iter().all(|rest| matches(rest, &mail.json(), &places))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Every query yields a well-formed request in at most one of Graph's languages, or an error.
    #[test]
    fn any_query_gives_well_formed_graph_requests(query in odd_query()) {
        gmail_query::compile(&query);
        let Ok(compiled) = outlook_query::compile(Some(&query)) else {
            return Ok(());
        };
        prop_assert!(compiled.filter.is_none() || compiled.search.is_none());
        if let Some(rest) = &compiled.rest {
            for term in rest.terms() {
                let one = reads(&Query::Term(term.clone()));
                prop_assert!(!one.is_empty(), "{} is left over", show(rest));
            }
        }
        if let Query::Raw(_) = query {
            if let Some(search) = &compiled.search {
                prop_assert!(graph::is_escaped(search), "{}", search);
            }
            return Ok(());
        }
        if let Some(search) = &compiled.search {
            prop_assert!(graph::reads_kql(search), "{}", search);
        }
        if let Some(filter) = &compiled.filter {
            prop_assert!(filter.starts_with("receivedDateTime "));
            prop_assert!(graph::reads_odata(filter), "{}", filter);
        }
    }

    /// Any JSON is a message, if an odd one.
    #[test]
    fn checking_arbitrary_json_never_panics(query in odd_query(), message in any_json()) {
        let names = places();
        let places = FolderNames { names: &names };
        let met = matches(&query, &message, &places);
        let not = Query::Not(Box::new(query));
        prop_assert_eq!(matches(&not, &message, &places), !met);
    }

    /// A message is enough to decide any query without words of the text, files or sizes.
    #[test]
    fn local_check_decides_as_the_query_does(query in any_query(false), mail in any_mail()) {
        let names = places();
        let met = matches(&query, &mail.json(), &FolderNames { names: &names });
        prop_assert_eq!(met, means(&query, &mail), "{} for {:?}", show(&query), mail);
    }

    /// The request and the check of its results together match the meaning of the query.
    #[test]
    fn request_and_check_together_mean_the_query(query in any_query(true), mails in prop::collection::vec(any_mail(), 8)) {
        let Ok(compiled) = outlook_query::compile(Some(&query)) else {
            return Ok(());
        };
        for mail in mails {
            let expected = means(&query, &mail) && meaning::opened(&query, &mail);
            prop_assert_eq!(
                found(&compiled, &mail), expected,
                "{}\n{:?}\n{:?}", show(&query), compiled, mail
            );
        }
    }
}
