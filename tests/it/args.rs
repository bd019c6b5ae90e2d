//! Arguments of tools: exactly the declared ones are read.

use daysheet::tools::{self, ArgKind, Tool, ToolArgument};
use daysheet_core::encode::{Delimiter, Format};
use serde_json::{Map, Value, json};

/// Returns the reading of a call without the words used, or the error.
fn read(tool: &'static Tool, arguments: &Map<String, Value>) -> String {
    let format = Format::Toon(Delimiter::Pipe);
    match tools::read(tool, Some(arguments.clone()), format) {
        Ok(request) => format!("{:?} {:?} {:?}", request.action, request.view, request.format),
        Err(error) => format!("! {error}"),
    }
}

/// Returns a valid call of a tool, to which arguments can be added.
fn call(tool: &Tool) -> Map<String, Value> {
    let call = match tool.name {
        "mail_read" => json!({"ids": "m1"}),
        "mail_attachment" => json!({"ids": "a1", "as": "text"}),
        "mail_draft" => json!({"mode": "reply", "id": "m1"}),
        "mail_send" => json!({"id": "d1"}),
        "mail_modify" => json!({"ids": "m1", "do": "read"}),
        "lookup" => json!({"kind": "contacts"}),
        "calendar_save" => json!({"events": [{"title": "x"}]}),
        "calendar_delete" => json!({"ids": "e1"}),
        "calendar_respond" => json!({"id": "e1", "response": "accept"}),
        "manage" => json!({"kind": "rule", "op": "create"}),
        "output_read" => json!({"id": "o1"}),
        "accounts" => json!({"op": "add", "provider": "google"}),
        _ => json!({}),
    };
    call.as_object().unwrap().clone()
}

/// Returns every argument, and every member of an argument with the argument's name.
fn arguments(tool: &'static Tool) -> Vec<(&'static ToolArgument, Option<&'static str>)> {
    let mut all = Vec::new();
    for arg in tool.args {
        all.push((arg, None));
        if let ArgKind::Objects(members) = arg.kind {
            all.extend(members.iter().map(|member| (member, Some(arg.name))));
        }
    }
    all
}

/// Returns the call of a tool with one more argument or member.
fn with(tool: &Tool, arg: &ToolArgument, within: Option<&str>, value: Value) -> Map<String, Value> {
    let mut call = call(tool);
    let value = match within {
        Some(_) => json!([{ arg.name: value }]),
        None => value,
    };
    call.insert(within.unwrap_or(arg.name).to_owned(), value);
    call
}

/// Each word of a choice is read as itself; other words are refused with the list of valid ones.
#[test]
fn each_word_is_read_as_itself() {
    // Pairs of words with the same meaning.
    let same = [["labels", "categories"], ["label", "category"]];
    let mut words_read = 0;
    for tool in tools::TOOLS {
        for (arg, within) in arguments(tool) {
            let ArgKind::Choice(words) = arg.kind else {
                continue;
            };
            let what = format!("{} {}", tool.name, arg.name);
            let mut known: Vec<(String, &str)> = Vec::new();
            for word in words {
                let meant = read(tool, &with(tool, arg, within, json!(word)));
                let unread = format!("! `{}` cannot be `{word}`: ", arg.name);
                assert!(!meant.starts_with(&unread), "{what}: {word} is not read");
                let shouted = json!(format!(" {} ", word.to_uppercase()));
                assert_eq!(read(tool, &with(tool, arg, within, shouted)), meant, "{what} {word}");
                if let Some((_, other)) = known.iter().find(|(other, _)| *other == meant) {
                    let alike = what == "lookup kind" || what == "manage kind";
                    assert!(alike && same.contains(&[other, word]), "{what}: {other} is {word}");
                }
                known.push((meant, word));
                words_read += 1;
            }
            let refused = read(tool, &with(tool, arg, within, json!("no such word")));
            let next = format!("use one of: {}", words.join(", "));
            let expected = format!("! `{}` cannot be `no such word`: {next}", arg.name);
            assert_eq!(refused, expected, "{what}");
        }
    }
    assert!(words_read > 100, "only {words_read} words");
}

/// Every declared argument is read: adding it changes the request.
#[test]
fn each_argument_is_read_by_its_tool() {
    for tool in tools::TOOLS {
        for (at, arg) in tool.args.iter().enumerate() {
            let twice = tool.args[..at].iter().any(|other| other.name == arg.name);
            assert!(!twice, "{} declares {} twice", tool.name, arg.name);
        }
        let plain = read(tool, &call(tool));
        assert!(!plain.starts_with('!'), "{}: {plain}", tool.name);
        for (arg, within) in arguments(tool) {
            let value = match arg.kind {
                ArgKind::Text | ArgKind::List => json!("7"),
                // A choice that differs from the default and from the plain call.
                ArgKind::Choice(words) => json!(words[words.len() - 1]),
                ArgKind::Columns(tables) => json!([tables[0].fields[0].name]),
                ArgKind::Number(_, most, _) => json!(most),
                ArgKind::Switch => json!(true),
                ArgKind::Objects(_) => json!([{}]),
                ArgKind::Settings => json!({"name": "x"}),
            };
            let read = read(tool, &with(tool, arg, within, value.clone()));
            assert_ne!(read, plain, "{} does not read {}", tool.name, arg.name);
            let unknown = format!("takes no argument `{}`", arg.name);
            assert!(!read.contains(&unknown), "{}: {read}", tool.name);
        }
        let mut more = call(tool);
        more.insert("no_such_argument".to_owned(), json!(1));
        assert!(read(tool, &more).starts_with("! "), "{}", tool.name);
    }
}

/// Ambiguous guesses are refused.
#[test]
fn doubtful_guesses_are_refused() {
    for (tool, guess, error) in cases! {
        "calendar_save", json!({"title": "x", "start_date": "2026-02-03", "start_time": "15:00"}),
            "`start` is given twice: give it once, with all values";
        "calendar_save", json!({"title": "Board", "summary": "budget"}),
            "`title` is given twice: give it once, with all values";
        "calendar_save", json!({"id": "e1", "events": [{"attendees": ["bo@example.com"]}]}),
            "events takes no argument `attendees`: use some of: id, title, start,";
        "calendar_save", json!({"events": [{"title": "x", "start": "2026-02-03", "end_date": "2026-02-04"}]}),
            "events takes no argument `end_date`: use some of: id, title, start,";
        "mail_draft", json!({"start": "x"}), "mail_draft takes no argument `start`: use some of: mode,";
        "calendar_respond", json!({"id": "e1", "response": "accept", "end": "Friday"}),
            "calendar_respond takes no argument `end`: use some of: id,";
    } {
        let read = read(tools::find(tool).unwrap(), guess.as_object().unwrap());
        assert!(read.starts_with(&format!("! {error}")), "{tool} {guess}: {read}");
    }
}

/// Calls as models write them at their first attempt, and the calls that are meant.
#[test]
fn guesses_are_read_as_what_they_mean() {
    for (tool, guess, meant) in cases! {
        "mail_search", json!({"query": "x", "max_results": 5}), ("mail_search", json!({"q": "x", "limit": 5}));
        "mail_search", json!({"pageToken": "p1"}), ("mail_search", json!({"cursor": "p1"}));
        "mail_read", json!({"message_id": "m1"}), ("mail_read", json!({"ids": ["m1"]}));
        "mail_read", json!({"id": "m1"}), ("mail_read", json!({"ids": ["m1"]}));
        "mail_modify", json!({"ids": "m1", "do": "mark_read"}), ("mail_modify", json!({"ids": "m1", "do": "read"}));
        "mail_modify", json!({"ids": "m1", "action": "Mark as unread"}), ("mail_modify", json!({"ids": "m1", "do": "unread"}));
        "calendar_search", json!({"start": "today", "end": "+2d", "timezone": "UTC"}),
            ("calendar_search", json!({"from": "today", "to": "+2d", "tz": "UTC"}));
        "calendar_free", json!({"attendees": ["bo@example.com"], "timeMin": "today"}),
            ("calendar_free", json!({"who": ["bo@example.com"], "from": "today"}));
        "calendar_save", json!({"title": "x", "start": "tomorrow 9am", "account": "a@example.com"}),
            ("calendar_save", json!({"events": [{"title": "x", "start": "tomorrow 9am"}], "account": "a@example.com"}));
        "calendar_save", json!({"summary": "x", "startTime": "tomorrow 9am", "people": ["bo@example.com"], "notify": "all"}),
            ("calendar_save", json!({"events": [{"title": "x", "start": "tomorrow 9am", "people": ["bo@example.com"]}], "notify": "all"}));
        "calendar_save", json!({"id": "e1", "location": "Hall"}),
            ("calendar_save", json!({"ids": ["e1"], "events": [{"where": "Hall"}]}));
        "calendar_respond", json!({"event_id": "e1", "response": "accepted"}),
            ("calendar_respond", json!({"id": "e1", "response": "accept"}));
        "output_read", json!({"hash": "kpe3ayevpe"}), ("output_read", json!({"id": "kpe3ayevpe"}));
        "manage", json!({"kind": "rule", "op": "list"}), ("lookup", json!({"kind": "rules"}));
        "manage", json!({"kind": "folders", "op": "show", "set": {}, "dry_run": false, "id": null}),
            ("lookup", json!({"kind": "folders"}));
        "mail_draft", json!({"mode": "reply-all", "id": "m1"}), ("mail_draft", json!({"mode": "reply_all", "id": "m1"}));
        "calendar_save", json!({"title": "x", "summary": null, "start": "tomorrow 9am"}),
            ("calendar_save", json!({"events": [{"title": "x", "start": "tomorrow 9am"}]}));
        "manage", json!({"kind": "category", "op": "List", "name": "Bills"}),
            ("lookup", json!({"kind": "categories", "q": "Bills"}));
        "manage", json!({"kind": "auto_reply", "op": "get", "account": "a@example.com"}),
            ("lookup", json!({"kind": "auto_reply", "account": "a@example.com"}));
        "manage", json!({"kind": "rule", "op": "create", "set": ["when=from:ann", "then=label:a=b"]}),
            ("manage", json!({"kind": "rule", "op": "create", "set": {"when": "from:ann", "then": "label:a=b"}}));
    } {
        let (other, meant) = meant;
        let read =
            |tool: &str, call: &Value| read(tools::find(tool).unwrap(), call.as_object().unwrap());
        let expected = read(other, &meant);
        assert!(!expected.starts_with('!'), "{meant}: {expected}");
        assert_eq!(read(tool, &guess), expected, "{tool} {guess}");
    }
}
