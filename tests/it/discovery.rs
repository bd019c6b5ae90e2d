//! Discoverability of tools in clients that load them only after a search.
//!
//! Claude Code and Codex give a model no tools at first, only a search over names, descriptions and
//! properties, which ranks by BM25.

use std::collections::{BTreeSet, HashMap};

use daysheet::server;

use crate::support::first_of;

/// Requests as people word them, each with the acceptable tools.
const REQUESTS: &[(&str, &[&str])] = &[
    ("what's on today", &["brief"]),
    ("agenda", &["brief"]),
    ("read my unread email", &["mail_search", "mail_read"]),
    ("show my inbox", &["mail_search"]),
    ("find the email from Ann about the invoice", &["mail_search"]),
    ("read the whole thread", &["mail_read"]),
    ("download the attachment", &["mail_attachment"]),
    ("reply to Ann", &["mail_draft"]),
    ("forward this message to Ann", &["mail_draft"]),
    ("create a draft to Bob", &["mail_draft"]),
    ("send the email", &["mail_send"]),
    ("stop these newsletters", &["mail_modify"]),
    ("archive these emails", &["mail_modify"]),
    ("mark everything as read", &["mail_modify"]),
    ("delete spam emails", &["mail_modify"]),
    ("what is Bob's email address", &["lookup"]),
    ("list my folders", &["lookup"]),
    ("appointments next week", &["calendar_search"]),
    ("who has not answered", &["calendar_search"]),
    ("find a slot with Bob", &["calendar_free"]),
    ("when am I free tomorrow", &["calendar_free"]),
    ("schedule a meeting with Bob", &["calendar_save"]),
    ("move the meeting to Friday", &["calendar_save"]),
    ("cancel the meeting", &["calendar_delete"]),
    ("accept the invitation", &["calendar_respond"]),
    ("decline the invite", &["calendar_respond"]),
    ("set an out of office reply", &["manage"]),
    ("create a rule for invoices", &["manage"]),
    ("connect my Gmail account", &["accounts"]),
    ("what has changed since yesterday", &["changes"]),
];

/// Words that searches ignore.
const STOP_WORDS: &str = "a about after all am an and any are as at be because before both but by \
    can did do does for from had has have how i if in into is it its me more most my no not now of \
    off on once only or other our out over own same should so some such t s than that the their \
    them then there these they this those through to too until up was we what when where which \
    who whom why will with you your";

/// Returns the words of a text without their endings.
fn terms(text: &str) -> Vec<String> {
    const ENDINGS: [&str; 11] =
        ["ations", "ation", "ments", "ment", "ings", "ing", "ies", "ers", "er", "ed", "s"];
    let stop: BTreeSet<&str> = STOP_WORDS.split_whitespace().collect();
    let lower = text.to_lowercase();
    let words = lower.split(|c: char| !c.is_ascii_alphanumeric());
    words
        .filter(|word| !word.is_empty() && !stop.contains(word))
        .map(|word| {
            let is_ending = |ending: &&&str| {
                let stem = word.strip_suffix(**ending);
                stem.is_some_and(|stem| stem.len() >= 3) && !word.ends_with("ss")
            };
            let ending = ENDINGS.iter().find(is_ending);
            word[..word.len() - ending.map_or(0, |ending| ending.len())].to_owned()
        })
        .collect()
}

/// Returns the tools that a search finds, best first, by BM25 with the usual weights.
fn ranked(query: &str, tools: &[(String, Vec<String>)]) -> Vec<String> {
    let (k, b) = (1.2, 0.75);
    let average =
        tools.iter().map(|(_, terms)| terms.len()).sum::<usize>() as f64 / tools.len() as f64;
    let mut scores = HashMap::new();
    for term in terms(query) {
        let times = |terms: &[String]| terms.iter().filter(|word| **word == term).count() as f64;
        let having = tools.iter().filter(|(_, terms)| times(terms) > 0.0).count() as f64;
        let rarity = (1.0 + (tools.len() as f64 - having + 0.5) / (having + 0.5)).ln();
        for (name, terms) in tools {
            let times = times(terms);
            if times > 0.0 {
                let length = 1.0 - b + b * terms.len() as f64 / average;
                *scores.entry(name.clone()).or_insert(0.0) +=
                    rarity * times * (k + 1.0) / (times + k * length);
            }
        }
    }
    let mut ranked: Vec<(String, f64)> = scores.into_iter().collect();
    ranked.sort_by(|(a, first), (b, second)| second.total_cmp(first).then(a.cmp(b)));
    ranked.into_iter().map(|(name, _)| name).collect()
}

#[test]
fn search_finds_the_tool_for_a_request() {
    let tools: Vec<(String, Vec<String>)> = server::list()
        .into_iter()
        .map(|tool| {
            let properties = tool.input_schema["properties"].as_object().unwrap();
            let properties: Vec<&str> = properties.keys().map(String::as_str).collect();
            let described = tool.description.unwrap();
            (
                tool.name.to_string(),
                terms(&format!("{} {described} {}", tool.name, properties.join(" "))),
            )
        })
        .collect();
    let (mut first, mut missed) = (0, Vec::new());
    for (request, right) in REQUESTS {
        let ranked = ranked(request, &tools);
        let at = ranked.iter().position(|name| right.contains(&name.as_str()));
        match at {
            Some(0) => first += 1,
            Some(1 | 2) => {}
            _ => missed.push((request, ranked)),
        }
    }
    assert!(missed.is_empty(), "{missed:#?}");
    assert!(first >= 27, "the right tool is first for {first} of {} requests", REQUESTS.len());
}

/// Before a search, Codex shows only the beginning of a server's instructions.
#[test]
fn instructions_begin_with_what_people_ask_for() {
    let beginning: String = server::INSTRUCTIONS.chars().take(247).collect();
    let words = [
        "Email", "Gmail", "Outlook", "Google Calendar", "Microsoft 365", "contacts", "agenda",
        "inbox", "calendar", "schedule", "meetings",
    ];
    assert_eq!(words.map(|word| first_of(&beginning, &[word])), words.map(Some));
    assert_eq!(first_of(&beginning, &["TOON"]), None);
}
