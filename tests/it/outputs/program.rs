//! Outputs as a client sees them: the tool, the resource, and signing out.

use std::path::Path;

use daysheet::app::App;
use daysheet::cli::client::InProcessClient;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{MIRA, config, process, rows};

/// Starts the whole program over a state folder with stored outputs.
async fn client(home: &Path, outputs: &str) -> (App, InProcessClient) {
    let app = App::new(config(home, outputs));
    let client = InProcessClient::connect(app.server()).await.unwrap();
    (app, client)
}

async fn call(client: &mut InProcessClient, arguments: Value) -> Vec<String> {
    let answer = client.call("output_read", arguments).await.unwrap();
    assert!(!answer.is_error, "{answer:?}");
    answer.blocks
}

#[tokio::test]
async fn outputs_are_read_page_by_page() {
    let home = TempDir::new().unwrap();
    let text: String = (1..=10).map(|n| format!("line {n}\n")).collect();
    let hash = process(home.path(), "disk").keep(&text, &[]).await;
    let (_app, mut client) = client(home.path(), "disk").await;
    let uri = format!("daysheet://output/{hash}");
    for (arguments, document, shown, notes) in cases! {
        json!({"id": hash}), format!("output: {hash}\nlines: 10\nfrom: 1\nto: 10"), text.trim_end(),
            "lines 1 to 10 of 10";
        json!({"id": uri, "offset": 4, "limit": 2}),
            format!("output: {hash}\nlines: 10\nfrom: 4\nto: 5\nnext: 6"), "line 4\nline 5",
            "lines 4 to 5 of 10; offset=6 has more";
        json!({"id": hash, "grep": "LINE 1$", "limit": 2, "format": "json"}),
            format!(r#"{{"output":"{hash}","lines":10}}"#), "", "matches: 0 of 10 lines";
        json!({"id": hash, "grep": "line 1$", "limit": 2, "format": "json"}),
            format!(
                r#"{{"output":"{hash}","lines":10,"from":1,"to":2,"next":3,"text":"1: line 1\n2- line 2"}}"#
            ), "", "matches: 1 of 10 lines; offset=3 has more";
    } {
        let blocks = call(&mut client, arguments).await;
        assert_eq!(blocks[0], document);
        match shown {
            "" => assert_eq!(blocks.len(), 2),
            shown => {
                let lines: Vec<&str> = blocks[1].lines().collect();
                assert_eq!(lines[1..lines.len() - 1].join("\n"), shown);
            }
        }
        assert_eq!(blocks.last().unwrap(), notes);
    }
    // 120 tokens are reserved for the text around the lines.
    let blocks = call(&mut client, json!({"id": hash, "budget": 136})).await;
    assert_eq!(*blocks.last().unwrap(), "lines 1 to 4 of 10; offset=5 has more");
    for (arguments, expected) in cases! {
        json!({"id": "m12"}),
            "there is no output `m12`, or it expired: use the id from the notes of a shortened \
             answer"
                .to_owned();
        json!({"id": "daysheet://output/aaaaaaaaaa"}),
            "there is no output `aaaaaaaaaa`, or it expired: use the id from the notes of a \
             shortened answer"
                .to_owned();
        json!({"id": hash, "offset": 11}),
            "the output has 10 lines, but `offset` is 11: give an offset from 1 to 10".to_owned();
        json!({"id": hash, "grep": "a(b"}),
            "`grep` is not a regular expression at character 2: unclosed group: correct it; escape \
             special characters such as ( [ * + ? . with \\"
                .to_owned();
    } {
        let answer = client.call("output_read", arguments).await.unwrap();
        assert!(answer.is_error);
        assert_eq!(answer.blocks, [expected]);
    }
}

/// Reading an output never repeats a write.
#[tokio::test]
async fn only_reads_are_repeated_for_outputs() {
    let home = TempDir::new().unwrap();
    let one = process(home.path(), "memory");
    let recipe = r#"{"tool":"calendar_save","arguments":null}"#;
    let hash = one.outputs.keep(recipe, "saved", &[]).await;
    let forged = r#"{"tool":"calendar_delete","arguments":{"id":"e1"}}"#;
    let other = one.outputs.keep(forged, "deleted", &[]).await;
    let unknown = r#"{"tool":"mail_find","arguments":{}}"#;
    let third = one.outputs.keep(unknown, "found", &[]).await;
    let (_app, mut client) = client(home.path(), "memory").await;
    for (hash, expected) in cases! {
        &hash,
            format!(
                "calendar_save's answer `{hash}` is no longer kept: search for what it \
                 changed; it is not repeated"
            );
        &other,
            format!(
                "calendar_delete's answer `{other}` is no longer kept: search for what it \
                 changed; it is not repeated"
            );
        &third,
            format!(
                "there is no output `{third}`, or it expired: use the id from the notes of a \
                 shortened answer"
            );
    } {
        let answer = client.call("output_read", json!({"id": hash})).await;
        assert_eq!(answer.unwrap().blocks, [expected]);
    }
}

#[tokio::test]
async fn outputs_are_listed_as_resources() {
    let home = TempDir::new().unwrap();
    let hash = process(home.path(), "disk").keep("a\nb\n", &[]).await;
    let (_app, mut client) = client(home.path(), "disk").await;
    let listed = client.request("resources/templates/list", json!({})).await;
    assert_eq!(
        listed.unwrap()["resourceTemplates"],
        json!([{
            "uriTemplate": "daysheet://output/{hash}",
            "name": "output",
            "description": "The whole of a shortened answer; its notes give the hash",
            "mimeType": "text/plain",
        }, {
            "uriTemplate": "daysheet://attachment/{handle}",
            "name": "attachment",
            "description": "An attachment; mail_attachment as=link gives the address",
        }])
    );
    let uri = format!("daysheet://output/{hash}");
    let read = client.request("resources/read", json!({"uri": uri})).await;
    assert_eq!(
        read.unwrap()["contents"],
        json!([{"uri": uri, "mimeType": "text/plain", "text": "a\nb\n"}])
    );
    let unknown = json!({"uri": "daysheet://output/aaaaaaaaaa"});
    assert_eq!(
        client.request("resources/read", unknown).await.unwrap_err().message(),
        "there is no output `aaaaaaaaaa`, or it expired: use the id from the notes of a shortened \
         answer"
    );
}

/// Signing out by the tool removes the account's outputs at once.
#[tokio::test]
async fn signing_out_deletes_outputs() {
    let home = TempDir::new().unwrap();
    let one = process(home.path(), "disk");
    one.sign_in("mira@example.com").await;
    let hash = one.keep("of mira", &[&MIRA]).await;
    let (_app, mut client) = client(home.path(), "disk").await;
    call(&mut client, json!({"id": hash})).await;
    let arguments = json!({"op": "remove", "account": "mira@example.com"});
    let removed = client.call("accounts", arguments).await.unwrap();
    assert!(!removed.is_error, "{removed:?}");
    let answer = client.call("output_read", json!({"id": hash})).await;
    assert!(answer.unwrap().is_error);
    assert_eq!(rows(home.path()).await, Vec::<String>::new());
}
