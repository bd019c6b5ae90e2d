//! Conversations that wait for the user's answer, by their messages.

use daysheet::pipeline::mail::read::items::{MessageLocation, items};
use daysheet_core::budget::WholeAnswer;
use daysheet_core::encode::Document;
use daysheet_core::ids::ThreadId;
use daysheet_core::row::{RowCell, RowExtra, RowTable};
use daysheet_core::schemas::MESSAGE;

/// Messages from the newest on: date, sender, flags, conversation, and the expected results for
/// each.
#[test]
fn thread_shows_who_waits_for_an_answer() {
    let me = "Mira <mira@example.com>";
    let cases = [
        // The user's own draft is not an answer, and does not replace the message it replies to.
        ("05", me, "draft", "a", Some(false), false),
        ("04", "ann@far.example", "unread", "a", Some(true), true),
        // A sent message answers earlier ones, but only in its conversation.
        ("03", me, "", "a", Some(false), false),
        ("02", "ann@far.example", "unread", "a", Some(false), true),
        ("02", "bob@far.example", "unread", "b", Some(true), false),
        ("01", "bob@far.example", "", "b", None, false),
        // Messages without a conversation are judged one by one.
        ("01", "cat@far.example", "unread", "", Some(true), false),
        ("00", "cat@far.example", "unread", "", Some(true), false),
    ];
    let columns = ["id", "date", "from", "flags"];
    let columns = columns.iter().filter_map(|name| MESSAGE.field(name));
    let mut rows = RowTable::new(&MESSAGE, columns.collect());
    let mut places = Vec::new();
    for (at, (date, from, flags, conversation, ..)) in cases.iter().enumerate() {
        let text = |text: &str| RowCell::Text(text.to_owned());
        rows.push(
            vec![
                RowCell::Handle('m', at as u64 + 1),
                text(&format!("2026-02-{date} 10h00")),
                text(from),
                text(flags),
            ],
            RowExtra::default(),
        );
        places.push(MessageLocation {
            account: ("g".into(), "mira@example.com".into()),
            conversation: Some(ThreadId::from(*conversation)).filter(|id| !id.is_empty()),
        });
    }
    // The same conversation id in another account is a different conversation.
    if let Some(last) = places.get_mut(5) {
        last.account.0 = "m".into();
    }
    let response = WholeAnswer {
        document: Document { tables: vec![rows], ..Document::default() },
        ..WholeAnswer::default()
    };
    let found: Vec<_> =
        items(&response, &places).iter().map(|item| (item.hint.open, item.hint.end)).collect();
    let expected = cases.map(|(.., open, end)| (open, end));
    assert_eq!(found, expected);
}
