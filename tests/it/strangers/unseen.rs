//! Invisible characters, hidden line ends and terminal controls, which no answer of any tool may
//! contain in any format, whatever senders, organizers and contacts write.

use std::collections::HashMap;

use daysheet::cli::sandboxed::SandboxUser;
use daysheet_sandbox::AnswerAlteration;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::fields::visit;
use super::{encoded, escaped};
use crate::answers::{STEPS, filled, remembered};
use crate::support::{ME, Session, column, write_message};

/// Tags, zero-width characters, direction marks, fillers, noncharacters, separators and terminal
/// controls, with a word on both sides that shows that the text arrived.
const UNSEEN: &str = "Zq\u{e0041}\u{e0042}\u{e007f}\u{200b}\u{2060}\u{feff}\u{202e}\u{2066}\
                      \u{3164}\u{ffa0}\u{115f}\u{fdd0}\u{fdd1}\u{fdef}\u{ffff}\u{2028}\u{2029}\
                      \u{9b}2J\u{7f}\u{1b}[31m\u{1b}]0;x\u{7}qZ";

/// Members of the services' objects that other people write.
const THEIRS: &[&str] = &[
    "bodyPreview", "comment", "content", "description", "displayName", "emailAddress/name",
    "filename", "givenName", "location", "name", "snippet", "subject", "summary", "title",
    "unstructuredName",
];

/// Ids in the services' responses, which must be cleaned like any other text.
const IDS: &[&str] = &["id", "messageId", "resourceName", "threadId"];

const FORMATS: [&str; 3] = ["toon", "json", "stc"];

/// Checks an answer for forbidden characters; returns true if it shows the text.
fn check(what: &str, blocks: &[String]) -> bool {
    for block in blocks {
        for c in UNSEEN.chars().filter(|c| !c.is_ascii_graphic()) {
            // Also in JSON's escaped form.
            let escape = format!("\\u{:04x}", u32::from(c));
            let at = block.find(c).or_else(|| block.find(&escape));
            let around = at.map(|at| block[at..].chars().take(80).collect::<String>());
            assert_eq!(around, None, "{what}: {escape}");
        }
    }
    blocks.iter().any(|block| block.contains("Zq"))
}

#[tokio::test]
async fn no_field_of_an_answer_hides_characters() {
    let mut session = Session::written(SandboxUser::Usual).await;
    let mut known = HashMap::new();
    for (tool, arguments, remember) in STEPS {
        let mut call = filled(arguments, &known);
        call["format"] = "json".into();
        let answer = session.call(tool, call).await;
        let document = serde_json::from_str(&answer.blocks[0]).unwrap();
        remembered(&document, &answer.blocks, remember, &mut known);
    }
    for (altered, least) in [(THEIRS, 90), (IDS, 30)] {
        session.sandbox.set_alter(Some(hiding(altered)));
        let mut shown = 0;
        for format in FORMATS {
            for (tool, arguments, _) in STEPS {
                let mut call = filled(arguments, &known);
                call["format"] = format.into();
                let answer = session.call(tool, call).await;
                let what = format!("{format}: {tool} {arguments}");
                shown += usize::from(check(&what, &answer.blocks));
            }
        }
        assert!(shown >= least, "{shown}");
    }
}

/// Inserts the text into members of these names, and into header fields.
fn hiding(members: &'static [&'static str]) -> AnswerAlteration {
    AnswerAlteration::new(move |answer| {
        visit(answer, "", &mut |place, value| {
            let is = |name: &&str| place.ends_with(&format!("/{name}"));
            let header = ["*Subject/value", "*From/value"].iter().any(is) && members == THEIRS;
            if (header || members.iter().any(is))
                && let Value::String(text) = value
            {
                text.insert_str(0, UNSEEN);
            }
        });
    })
}

/// Other answers of the protocol are clean, too: completions, prompts and resources.
#[tokio::test]
async fn no_completion_prompt_or_resource_hides_characters() {
    let mut session = Session::written(SandboxUser::Usual).await;
    session.sandbox.set_alter(Some(hiding(THEIRS)));
    let arguments = json!({"q": "in:inbox", "budget": 700, "known": "?"});
    let blocks = session.ok("mail_search", arguments).await.concat();
    let (_, output) = blocks.split_once("output_read id=").unwrap();
    let output: String = output.chars().take_while(char::is_ascii_alphanumeric).collect();
    let folder = json!({"ref": {"type": "ref/prompt", "name": "review_folder"},
                        "argument": {"name": "folder", "value": "zq"}});
    let column = json!({"ref": {"type": "ref/prompt", "name": "review_folder"},
                        "argument": {"name": "columns", "value": format!("{UNSEEN},id")}});
    for (method, params) in cases! {
        "completion/complete", folder;
        "completion/complete", column;
        "prompts/get", json!({"name": "review_folder", "arguments": {"folder": "inbox"}});
        "prompts/get", json!({"name": "review_folder", "arguments": {"folder": UNSEEN}});
        "resources/read", json!({"uri": format!("daysheet://output/{output}")});
        "resources/read", json!({"uri": format!("daysheet://attachment/{UNSEEN}")});
    } {
        let what = format!("{method} {params}");
        let answer = match session.client.request(method, params).await {
            Ok(answer) => answer,
            Err(error) => error.to_string().into(),
        };
        let mut texts = Vec::new();
        visit(&mut answer.clone(), "", &mut |place, value| {
            // A resource's URI repeats the request.
            if let (Value::String(text), false) = (value, place.ends_with("/uri")) {
                texts.push(text.clone());
            }
        });
        assert!(check(&what, &texts), "{what}: {answer}");
    }
}

/// Writes a message with the text in its header fields, its body, and the name and content of its
/// file.
fn mailbox(folder: &std::path::Path, body: &str) {
    let word = encoded(UNSEEN);
    let headers = format!(
        "From: {word} <eve@evil.example>\nReply-To: {word} <eve@evil.example>\n\
         To: {word} <{ME}>\nSubject: {word}\nX-Odd: {UNSEEN}\nMessage-ID: <1@evil.example>\n\
         Date: Tue, 3 Nov 2026 10:00:00 +0000\nMIME-Version: 1.0\n\
         Content-Type: multipart/mixed; boundary=b"
    );
    let name = escaped(&format!("{UNSEEN}.txt"));
    let body = format!(
        "--b\nContent-Type: text/{body}; charset=utf-8\n\n<p>{UNSEEN}</p> {}\n\
         --b\nContent-Type: text/plain; charset=utf-8\n\
         Content-Disposition: attachment; filename*=utf-8''{name}\n\n{UNSEEN}\n--b--\n",
        UNSEEN.repeat(40)
    );
    write_message(&folder.join(ME).join("INBOX"), "1.eml", &headers, &body);
}

#[tokio::test]
async fn no_message_hides_characters() {
    for (who, body) in cases! {
        SandboxUser::These(&[("google", ME)]), "plain";
        SandboxUser::These(&[("google", ME)]), "html";
        SandboxUser::These(&[("microsoft", ME)]), "html";
    } {
        let mail = TempDir::new().unwrap();
        mailbox(mail.path(), body);
        let mut session = Session::signed_in(TempDir::new().unwrap(), Some(mail.path()), who).await;
        let found = session.json("mail_search", json!({})).await;
        let id = column(&found, "messages", "id")[0].clone();
        session.ok("mail_attachment", json!({"ids": id})).await;
        for (tool, arguments) in cases! {
            "mail_search", json!({});
            "mail_search", json!({"by": "thread"});
            "mail_search", json!({"by": "sender"});
            "mail_read", json!({"ids": [id]});
            "mail_read", json!({"ids": [id], "body": "markdown"});
            "mail_read", json!({"ids": [id], "body": "html"});
            "mail_read", json!({"ids": [id], "body": "headers"});
            "mail_read", json!({"ids": [id], "body": "raw"});
            "mail_attachment", json!({"ids": id});
            "mail_attachment", json!({"ids": "a1", "as": "text"});
            "mail_draft", json!({"mode": "reply", "id": id, "body": "x"});
            "mail_draft", json!({"mode": "forward", "id": id, "to": [ME], "body": "x"});
            "brief", json!({});
        } {
            for format in FORMATS {
                let mut arguments = arguments.clone();
                arguments["format"] = format.into();
                let what = format!("{body}: {tool} {arguments}");
                let answer = session.call(tool, arguments.clone()).await;
                assert!(!answer.is_error, "{what}: {:?}", answer.blocks);
                check(&what, &answer.blocks);
            }
        }
        // The remaining parts of an answer are checked, too.
        let arguments = json!({"ids": [id], "body": "raw", "budget": 700, "known": "?"});
        let blocks = session.ok("mail_read", arguments).await;
        let output = blocks.iter().find_map(|block| block.split("output_read id=").nth(1));
        let output: String =
            output.unwrap().chars().take_while(char::is_ascii_alphanumeric).collect();
        for arguments in [json!({"id": output}), json!({"id": output, "grep": "Zq"})] {
            let blocks = session.ok("output_read", arguments).await;
            assert!(check("output_read", &blocks), "{blocks:?}");
        }
    }
}
