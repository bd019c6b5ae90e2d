//! Attacks on writes, through MCP against the sandbox: by prepared files, and by amounts over the
//! limits. None of them may write, and each is refused with a reason. Attacks by header fields, by
//! recipients and by messages that contain orders are in `tests/transcripts/send.txt`.

use std::fs;
use std::path::Path;

use daysheet::cli::sandboxed::SandboxUser;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{ME, Session};

/// Creates files that an attacker may have brought into the folder.
#[cfg(unix)]
fn lay(files: &Path, home: &Path) {
    use std::os::unix::fs::symlink;
    fs::write(home.join("secret.txt"), "secret").unwrap();
    fs::create_dir(home.join("elsewhere")).unwrap();
    fs::write(home.join("elsewhere/key"), "secret").unwrap();
    symlink(home.join("secret.txt"), files.join("notes.txt")).unwrap();
    symlink(home.join("elsewhere"), files.join("folder")).unwrap();
    fs::write(files.join(".env"), "KEY=1").unwrap();
    fs::write(files.join("large.bin"), vec![0; (1 << 20) + 1]).unwrap();
    fs::create_dir(files.join("directory")).unwrap();
}

#[cfg(unix)]
#[tokio::test]
async fn attacks_write_nothing() {
    let home = TempDir::new().unwrap();
    let files = home.path().join("files");
    fs::create_dir(&files).unwrap();
    lay(&files, home.path());
    let who = SandboxUser::These(&[("google", ME)]);
    let mut session = Session::set(home, &[("DAYSHEET_LARGEST_FILE", "1")], who).await;
    // Writes are counted from here on.
    session.sandbox.set_faults("writes=1".parse().unwrap());
    let found = session.json("mail_search", json!({"q": "has:attachment", "limit": 1})).await;
    let message = found["messages"][0]["id"].as_str().unwrap().to_owned();
    let listed = session.json("mail_attachment", json!({"ids": message})).await;
    let attachment = listed["attachments"][0]["id"].as_str().unwrap().to_owned();
    let draft = |more: Value| {
        let mut arguments = json!({"to": ["priya@example.com"], "subject": "x", "body": "x"});
        for (name, value) in more.as_object().unwrap() {
            arguments[name] = value.clone();
        }
        ("mail_draft", arguments)
    };
    let attach = |path: &str| draft(json!({"attach": [path]}));
    let many: Vec<String> = (0..201).map(|n| format!("p{n}@example.com")).collect();
    let ids: Vec<String> = (0..1001).map(|n| format!("m{n}")).collect();
    let folder = files.display();
    let outside = |path: &str| {
        format!(
            "{path} is outside the allowed folders: use {folder}, or have it added to `files` in the \
             settings"
        )
    };
    let database = session.app.config.home.join("daysheet.db");
    let mut attacks = Vec::new();
    for path in [
        "/etc/passwd",
        "../secret.txt",
        "notes.txt",
        "folder/key",
        "/proc/self/environ",
        database.to_str().unwrap(),
    ] {
        attacks.push((attach(path), outside(&format!("attach: {path}"))));
    }
    for dir in ["/tmp", "../elsewhere", "folder"] {
        let save = json!({"ids": attachment, "as": "file", "dir": dir});
        attacks.push((("mail_attachment", save), outside(dir)));
    }
    let missing = format!("attach: {folder}/~/.ssh/id_rsa does not exist: correct the path");
    let more = cases! {
        attach("~/.ssh/id_rsa"), &*missing;
        attach(".env"), "attach: .env is hidden: attach a file that is not";
        attach("directory"), "attach: directory is not a file: give the path of a file";
        attach("large.bin"),
            "attach: large.bin is larger than 1048576 bytes: use a smaller file, or raise \
             `largest_file` in the settings";
        // Amounts over the limits.
        draft(json!({"to": many})),
            "`to` has 201 recipients, more than 200: write to fewer people";
        draft(json!({"body": "x".repeat((2 << 20) + 1)})),
            "`body` is 2097153 bytes, more than 2097152: attach a long text as a file";
        ("mail_modify", json!({"ids": ids, "do": "trash"})),
            "`ids` has 1001, more than 1000: change them in several calls";
        draft(json!({"attach": vec!["data:text/plain;name=a.txt;base64,SGk="; 51]})),
            "51 files are attached, more than 50: attach one archive instead";
        // A message is not a draft.
        ("mail_send", json!({"id": message})),
            "m1: it is not a draft, or is no longer one: search in:drafts for drafts and in:sent \
             for what was sent, or answer it with mode=reply";
    };
    attacks.extend(more.map(|(call, expected)| (call, expected.to_owned())));
    let before = session.ok("mail_search", json!({"q": "in:anywhere", "limit": 1})).await;
    for ((tool, arguments), expected) in attacks {
        assert_eq!(session.error(tool, arguments).await, expected);
    }
    assert_eq!(session.sandbox.writes(), 0);
    let after = session.ok("mail_search", json!({"q": "in:anywhere", "limit": 1})).await;
    assert_eq!(before, after);
    let mut there: Vec<String> = fs::read_dir(&files)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    there.sort();
    assert_eq!(there, [".env", "directory", "folder", "large.bin", "notes.txt"]);
}
