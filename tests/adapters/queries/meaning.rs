//! A plain definition of a query's meaning, and sample mails to evaluate it on.

use std::collections::HashMap;

use daysheet_core::query::{MessagePart, MessageState, PLACES, Query, QueryTerm};
use jiff::Timestamp;
use proptest::prelude::*;
use serde_json::{Value, json};

/// A mail with few words, so that queries often meet it.
#[derive(Debug, Clone)]
pub struct Mail {
    pub from: usize,
    pub to: Vec<usize>,
    pub cc: Vec<usize>,
    pub bcc: Vec<usize>,
    pub subject: String,
    pub body: String,
    pub files: Vec<&'static str>,
    pub size: u64,
    pub read: bool,
    pub starred: bool,
    pub important: bool,
    pub category: Option<&'static str>,
    pub folder: &'static str,
    pub received: i64,
}

/// Names and addresses; none holds another.
const PEOPLE: &[(&str, &str)] = &[
    ("Lena Okafor", "lena@studio.example"),
    ("Mira", "mira@example.com"),
    ("", "team@studio.example"),
    ("Plan Office", "plan@print.example"),
];

const WHO: &[&str] = &[
    "lena", "OKAFOR", "okafor lena", "studio.example", "lena@studio.example", "Mira@example.com",
    "plan", "nobody",
];
const WORDS: &[&str] = &["budget", "plan", "autumn", "Budget-plan", "autumn plan", "proof"];
const FILES: &[&str] = &["plan.pdf", "proof b.docx"];
const FOLDERS: &[&str] = &["inbox", "sent", "spam", "trash", "Clients", "Clients/Old"];
const CATEGORIES: &[&str] = &["Work", "Clients/Nordlicht"];

/// Returns folder names by id.
pub fn places() -> HashMap<String, String> {
    let named = |name: &&str| (format!("id of {name}"), (*name).to_owned());
    FOLDERS.iter().map(named).collect()
}

impl Mail {
    /// As Graph gives it.
    pub fn json(&self) -> Value {
        let person = |who: &usize| {
            let (name, address) = PEOPLE[*who];
            json!({"emailAddress": {"name": name, "address": address}})
        };
        let all = |who: &[usize]| Value::from(who.iter().map(person).collect::<Vec<_>>());
        json!({
            "from": person(&self.from), "toRecipients": all(&self.to),
            "ccRecipients": all(&self.cc), "bccRecipients": all(&self.bcc),
            "subject": self.subject, "isRead": self.read,
            "flag": {"flagStatus": if self.starred { "flagged" } else { "notFlagged" }},
            "importance": if self.important { "high" } else { "normal" },
            "hasAttachments": !self.files.is_empty(), "categories": self.category.as_slice(),
            "parentFolderId": format!("id of {}", self.folder),
            "receivedDateTime": self.received().to_string(),
        })
    }

    pub fn received(&self) -> Timestamp {
        Timestamp::from_second(self.received).unwrap()
    }

    /// Returns the texts of a part; a phrase matches within one of them.
    pub fn texts(&self, part: MessagePart) -> Vec<&str> {
        let names = |who: &[usize]| -> Vec<&str> {
            who.iter().flat_map(|who| [PEOPLE[*who].0, PEOPLE[*who].1]).collect()
        };
        match part {
            MessagePart::From => names(&[self.from]),
            MessagePart::To => [names(&self.to), names(&self.cc), names(&self.bcc)].concat(),
            MessagePart::Cc => names(&self.cc),
            MessagePart::Bcc => names(&self.bcc),
            MessagePart::Subject => vec![&self.subject],
            MessagePart::Body => vec![&self.body],
            MessagePart::Filename => self.files.clone(),
        }
    }

    pub fn address(&self) -> &'static str {
        PEOPLE[self.from].1
    }

    pub fn to_alone(&self) -> Vec<&str> {
        self.to.iter().flat_map(|who| [PEOPLE[*who].0, PEOPLE[*who].1]).collect()
    }
}

/// Returns true if the words of `phrase` occur consecutively in `text`.
pub fn says(text: &str, phrase: &str) -> bool {
    let plain = |text: &str| {
        let words: Vec<_> = text
            .split(|c: char| !c.is_ascii_alphanumeric())
            .filter(|word| !word.is_empty())
            .map(str::to_ascii_lowercase)
            .collect();
        format!(" {} ", words.join(" "))
    };
    plain(text).contains(&plain(phrase))
}

/// Returns true if the mail matches the query, in any folder.
pub fn means(query: &Query, mail: &Mail) -> bool {
    match query {
        Query::All(parts) => parts.iter().all(|part| means(part, mail)),
        Query::Any(parts) => parts.iter().any(|part| means(part, mail)),
        Query::Not(part) => !means(part, mail),
        Query::Raw(_) => unreachable!("no raw query is generated"),
        Query::Term(term) => match term {
            QueryTerm::Text(text) => [MessagePart::From, MessagePart::Subject, MessagePart::Body]
                .into_iter()
                .any(|part| mail.texts(part).iter().any(|field| says(field, text))),
            QueryTerm::In(part, text) => mail.texts(*part).iter().any(|field| says(field, text)),
            QueryTerm::Folder(name) => name == "anywhere" || name == mail.folder,
            QueryTerm::Label(name) | QueryTerm::Category(name) => {
                let same = |given: &str| given.replace('/', "-").eq_ignore_ascii_case(name);
                mail.category.is_some_and(|given| same(given) || given.eq_ignore_ascii_case(name))
            }
            QueryTerm::Is(MessageState::Unread) => !mail.read,
            QueryTerm::Is(MessageState::Read) => mail.read,
            QueryTerm::Is(MessageState::Starred) => mail.starred,
            QueryTerm::Is(MessageState::Important) => mail.important,
            QueryTerm::Attachment => !mail.files.is_empty(),
            QueryTerm::Larger(bytes) => mail.size > *bytes,
            QueryTerm::Smaller(bytes) => mail.size < *bytes,
            QueryTerm::Before(instant) => mail.received() < *instant,
            QueryTerm::After(instant) => mail.received() >= *instant,
        },
    }
}

/// True when a search opens the folder: spam and trash only if they are named.
pub fn opened(query: &Query, mail: &Mail) -> bool {
    fn named(query: &Query, negated: bool, place: &str) -> bool {
        match query {
            Query::All(parts) | Query::Any(parts) => {
                parts.iter().any(|part| named(part, negated, place))
            }
            Query::Not(part) => named(part, !negated, place),
            Query::Term(QueryTerm::Folder(name)) => {
                !negated && (name == place || name == "anywhere")
            }
            _ => false,
        }
    }
    !matches!(mail.folder, "spam" | "trash") || named(query, false, mail.folder)
}

fn one_of(list: &'static [&'static str]) -> impl Strategy<Value = String> {
    prop::sample::select(list).prop_map(str::to_owned)
}

/// A moment near a few days, so that bounds and mails meet.
fn moment() -> impl Strategy<Value = i64> {
    (0..4_i64, 0..4_i64).prop_map(|(day, hour)| 1_770_076_800 + day * 86_400 + hour * 21_600)
}

/// A condition; words of the text, files and sizes only with `texts`.
pub fn any_term(texts: bool) -> BoxedStrategy<QueryTerm> {
    let instant = || moment().prop_map(|at| Timestamp::from_second(at).unwrap());
    let people = prop::sample::select(
        &[MessagePart::From, MessagePart::To, MessagePart::Cc, MessagePart::Bcc][..],
    );
    let state =
        [MessageState::Unread, MessageState::Read, MessageState::Starred, MessageState::Important];
    let labels = &["work", "Clients/nordlicht", "clients-nordlicht", "Home"];
    let properties = prop_oneof![
        3 => (people, one_of(WHO)).prop_map(|(part, who)| QueryTerm::In(part, who)),
        2 => one_of(WORDS).prop_map(|text| QueryTerm::In(MessagePart::Subject, text)),
        2 => one_of(FOLDERS).prop_map(QueryTerm::Folder),
        2 => one_of(PLACES).prop_map(QueryTerm::Folder),
        1 => one_of(labels).prop_map(QueryTerm::Label),
        1 => one_of(&["WORK", "promotions"]).prop_map(QueryTerm::Category),
        3 => prop::sample::select(state.to_vec()).prop_map(QueryTerm::Is),
        1 => Just(QueryTerm::Attachment),
        1 => instant().prop_map(QueryTerm::Before),
        1 => instant().prop_map(QueryTerm::After),
    ];
    if !texts {
        return properties.boxed();
    }
    let files = &["pdf", "plan", "b.docx"];
    prop_oneof![
        16 => properties,
        4 => one_of(WORDS).prop_map(QueryTerm::Text),
        1 => one_of(WORDS).prop_map(|text| QueryTerm::In(MessagePart::Body, text)),
        1 => one_of(files).prop_map(|text| QueryTerm::In(MessagePart::Filename, text)),
        1 => (0..3_u64).prop_map(|size| QueryTerm::Larger(size * 100)),
        1 => (0..3_u64).prop_map(|size| QueryTerm::Smaller(size * 100)),
    ]
    .boxed()
}

/// A query as it could be parsed, without raw parts.
pub fn any_query(texts: bool) -> impl Strategy<Value = Query> {
    any_term(texts).prop_map(Query::Term).prop_recursive(4, 16, 4, |inner| {
        let group = prop::collection::vec(inner.clone(), 1..4);
        prop_oneof![
            2 => group.clone().prop_map(Query::All),
            2 => group.prop_map(Query::Any),
            1 => inner.prop_map(|part| Query::Not(Box::new(part))),
        ]
    })
}

/// A mail.
pub fn any_mail() -> impl Strategy<Value = Mail> {
    let people = || prop::collection::vec(0..PEOPLE.len(), 0..2);
    let text = || prop::collection::vec(one_of(WORDS), 0..3).prop_map(|words| words.join(", "));
    let flags = any::<(bool, bool, bool)>();
    (
        (0..PEOPLE.len(), people(), people(), people()),
        (text(), text()),
        prop::sample::subsequence(FILES, 0..=FILES.len()),
        (0..300_u64, moment()),
        flags,
        prop::option::of(prop::sample::select(CATEGORIES)),
        prop::sample::select(FOLDERS),
    )
        .prop_map(
            |(who, (subject, body), files, (size, received), flags, category, folder)| Mail {
                from: who.0,
                to: who.1,
                cc: who.2,
                bcc: who.3,
                subject,
                body,
                files,
                size,
                read: flags.0,
                starred: flags.1,
                important: flags.2,
                category,
                folder,
                received,
            },
        )
}
