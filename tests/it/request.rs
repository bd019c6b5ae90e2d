//! Reading of arguments: lenient in form, strict in content, and refused with the next step.

use daysheet::tools::{self, ColumnChoice, ToolAction, ToolEffect};
use daysheet_core::encode::{Delimiter, Format};
use daysheet_core::schemas::{CONTACT, MESSAGE, ROOM, THREAD};
use serde_json::{Value, json};

const TOON: Format = Format::Toon(Delimiter::Tab);

fn parse(tool: &str, arguments: &Value) -> String {
    let tool = tools::find(tool).unwrap();
    match tools::read(tool, arguments.as_object().cloned(), TOON) {
        Ok(request) => format!("{:?}", request.action),
        Err(error) => format!("! {error}"),
    }
}

#[test]
fn columns_are_named_in_either_number() {
    for (table, name, columns) in [
        (&CONTACT, "email", ["name", "emails"]),
        (&ROOM, "emails", ["name", "email"]),
        (&MESSAGE, "label", ["id", "labels"]),
        (&THREAD, "flag", ["id", "flags"]),
        (&THREAD, "flags", ["id", "flags"]),
    ] {
        let found = ColumnChoice::Named(vec![name.to_owned()]).columns_of(table).unwrap();
        let found: Vec<&str> = found.iter().map(|field| field.name).collect();
        assert_eq!(found, columns, "{name}");
    }
}

#[test]
fn lenient_argument_forms_are_accepted() {
    let plain = parse(
        "mail_search",
        &json!({"q": "x", "limit": 5, "by": "thread", "fields": ["id", "subject"]}),
    );
    for same in [
        json!({"q": " x ", "limit": "5", "by": "Thread", "fields": "id,subject"}),
        json!({"Q": "x", "limit": 5.0, "by": "thread", "fields": "[\"id\", \"subject\"]"}),
        json!({"q": "x", "limit": 5, "by": "thread", "fields": ["id", "subject"], "account": null, "folder": ""}),
    ] {
        assert_eq!(parse("mail_search", &same), plain, "{same}");
    }
    assert_eq!(
        parse("mail_read", &json!({"ids": "m1, t2,m1", "quoted": "true", "body": "md"})),
        "MailRead(MailRead { ids: [\"m1\", \"t2\"], body: Markdown, quoted: true, signature: false, links: false, cursor: None, tz: None, account: None })"
    );
    assert_eq!(parse("accounts", &json!({})), "Accounts(List(None))");
    assert_eq!(
        parse("accounts", &json!({"op": "reauth", "account": "a@x.example"})),
        "Accounts(Again { account: \"a@x.example\", device: false })"
    );
    assert_eq!(
        parse(
            "accounts",
            &json!({"op": "add", "provider": "Microsoft", "flow": "device", "tenant": "consumers",
                    "account": "a@x.example", "mailbox": "team@x.example"})
        ),
        "Accounts(Add(SignInArguments { provider: \"microsoft\", tenant: Some(\"consumers\"), \
         address: Some(\"a@x.example\"), mailbox: Some(\"team@x.example\"), device: true }))"
    );
}

#[test]
fn unintelligible_arguments_are_refused() {
    for (tool, arguments, expected) in cases! {
        "mail_search", json!({"limit": -1}),
            "`limit` cannot be `-1`: use a whole number from 1 to 100";
        "mail_search", json!({"limit": 0}),
            "`limit` cannot be `0`: use a whole number from 1 to 100";
        "mail_search", json!({"limit": 1e300}),
            "`limit` cannot be `1e+300`: use a whole number from 1 to 100";
        "mail_search", json!({"limit": "many"}),
            "`limit` cannot be `many`: use a whole number from 1 to 100";
        "mail_search", json!({"format": "xml"}),
            "`format` cannot be `xml`: use one of: toon, json, stc";
        "mail_search", json!({"by": "folder"}),
            "`by` cannot be `folder`: use one of: message, thread, sender";
        "mail_search", json!({"q": {"a": 1}}), "`q` cannot be `{\"a\":1}`: use text";
        "mail_search", json!({"fields": 7}), "`fields` cannot be `7`: use a list of strings";
        "mail_search", json!({"fields": [7]}), "`fields` cannot be `7`: use a list of strings";
        "mail_search", json!({"fields": ["id", "colour"]}),
            "by=message has no column `colour`: use some of: id, date, from, subject, snippet, flags, draft, to, cc, bcc, thread, folder, labels, size, has_attachments, due, message_id, bulk, unsubscribe, auth, warn, answered, chars, link, account";
        "mail_search", json!({"fields": ["to"], "by": "thread"}),
            "by=thread has no column `to`, which by=message has: use some of: id, date, people, subject, count, last, snippet, flags, link, account";
        "mail_search", json!({"colour": "x"}),
            "mail_search takes no argument `colour`: use some of: q, account, folder, by, sort, fields, detail, limit, snippet, tz, cursor, budget, chunk, known, format";
        "mail_search", json!({"limits": 5}),
            "mail_search takes no argument `limits`: use `limit`, or some of: q, account, folder, by, sort, fields, detail, limit, snippet, tz, cursor, budget, chunk, known, format";
        "mail_search", json!({"q": "x", "query": "x"}), "`q` is given twice: give it once, with all values";
        "mail_draft", json!({"end": "x"}),
            "mail_draft takes no argument `end`: use some of: mode, id, to, cc, bcc, subject, body, body_format, append, quote, from, attach, detach, importance, account, budget, format";
        "calendar_save", json!({"title": "x", "events": [{"start": "tomorrow"}]}),
            "calendar_save takes no argument `title`: use some of: ids, scope, account, calendar, events, ics, notify, if_conflict, dry_run, undo, format";
        "manage", json!({"kind": "rule", "op": "create", "set": ["then"]}),
            "`set` cannot be `then`: use a list of column=value";
        "manage", json!({"kind": "rule", "op": "create", "set": ["then=read", "then=star"]}),
            "`set` has `then` twice: give each column once; a list of values has commas between them";
        "mail_read", json!({}),
            "mail_read needs `ids`, or a `cursor`: give ids such as m12 from mail_search";
        "mail_read", json!({"ids": []}),
            "mail_read needs `ids`, or a `cursor`: give ids such as m12 from mail_search";
        "mail_read", json!({"ids": ["m1"], "quoted": "perhaps"}),
            "`quoted` cannot be `perhaps`: use true or false";
        "lookup", json!({}),
            "lookup needs `kind`: use one of: folders, labels, categories, calendars, rooms, contacts, aliases, signatures, rules, auto_reply, \
             settings, accounts, schemas";
        "lookup", json!({"kind": "chairs"}),
            "`kind` cannot be `chairs`: use one of: folders, labels, categories, calendars, rooms, \
             contacts, aliases, signatures, rules, auto_reply, settings, accounts, schemas";
        "accounts", json!({"op": "remove"}),
            "`op: remove` needs `account`: call accounts with op=list to see the addresses";
    } {
        assert_eq!(parse(tool, &arguments), format!("! {expected}"), "{tool} {arguments}");
    }
    let many: Vec<_> = (1..=26).map(|n| format!("m{n}")).collect();
    assert_eq!(
        parse("mail_read", &json!({"ids": many})),
        "! `ids` has 26 ids, more than 25: read them in several calls"
    );
    // A huge or hostile value is quoted briefly and on one line.
    let huge = "x\n".repeat(5_000_000);
    let reported = parse("mail_search", &json!({"by": huge}));
    assert!(reported.len() < 200 && !reported.contains('\n'), "{}", reported.len());
}

/// A call that only reads can be repeated for `output_read`, within its budget.
#[test]
fn effect_is_that_of_the_call() {
    for (arguments, expected) in cases! {
        json!({"ids": "a1"}), ToolEffect::Reversible;
        json!({"ids": "a1", "as": "file"}), ToolEffect::Reversible;
        json!({"ids": "a1", "as": "list", "dir": "x"}), ToolEffect::Reversible;
        json!({"ids": "a1", "as": "list"}), ToolEffect::Read;
        json!({"ids": "a1", "as": "text"}), ToolEffect::Read;
        json!({"ids": "a1/2"}), ToolEffect::Read;
        json!({"ids": "a1", "page": 2}), ToolEffect::Read;
    } {
        let tool = tools::find("mail_attachment").unwrap();
        let request = tools::read(tool, arguments.as_object().cloned(), TOON).unwrap();
        assert_eq!(request.call.effect, expected, "{arguments}");
    }
}

#[test]
fn format_of_a_call_overrides_the_default() {
    let format = |arguments: Value, default| {
        let tool = tools::find("accounts").unwrap();
        let request = tools::read(tool, arguments.as_object().cloned(), default).unwrap();
        assert!(matches!(request.action, ToolAction::Accounts(_)));
        request.format
    };
    let pipe = Format::Toon(Delimiter::Pipe);
    assert_eq!(format(json!({}), pipe), pipe);
    assert_eq!(format(json!({"format": "toon"}), pipe), pipe);
    assert_eq!(format(json!({"format": "JSON"}), pipe), Format::Json);
    assert_eq!(format(json!({"format": "stc"}), pipe), Format::Stc);
    assert_eq!(format(json!({"format": "toon"}), Format::Json), TOON);
    assert_eq!(format(json!({"format": "toon"}), Format::Stc), TOON);
}
