//! `mail_attachment`: files listed, saved, handed over.

use serde_json::json;

use super::mira::{Mira, jonas};

#[tokio::test]
async fn attachments_are_listed_saved_and_returned() {
    let mira = Mira::new(&[]).await;
    mira.put(jonas());
    let message = mira.message("m1").await;
    assert_eq!(
        mira.call("mail_attachment", json!({"id": message})).await.unwrap(),
        [
            "attachments[1\t]{id\tmessage\tname\ttype\tsize}:\n  a1\tm1\toffer.pdf\tapplication/pdf\t5",
            "attachments: 1",
        ]
    );
    let blocks = mira.call("mail_attachment", json!({"id": "a1"})).await.unwrap();
    let path = mira.folder().canonicalize().unwrap().join("offer.pdf");
    assert_eq!(blocks, [format!("path: {}\nbytes: 5\nsha256: 3e7af98cac5a433c", path.display())]);
    assert_eq!(std::fs::read(&path).unwrap(), b"%PDF!");
    let error = mira.call("mail_attachment", json!({"id": "a1"})).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "{} already exists: say overwrite=true to replace it, or give another folder as `dir`",
            path.display()
        )
    );
    mira.call("mail_attachment", json!({"id": "a1", "overwrite": true})).await.unwrap();
    assert_eq!(
        mira.call("mail_attachment", json!({"id": "a1", "as": "link"})).await.unwrap(),
        [
            "name: offer.pdf\ntype: application/pdf\nbytes: 5\nlink: \"daysheet://attachment/a1\"",
            "read the link as a resource to get the file",
        ]
    );
    let (bytes, kind) = mira.pipeline.attachment_bytes("daysheet://attachment/a1").await.unwrap();
    assert_eq!((bytes.as_slice(), kind.as_str()), (b"%PDF!".as_slice(), "application/pdf"));
    assert!(mira.pipeline.attachment_bytes("daysheet://attachment/a9").await.is_err());
    let blocks = mira.call("mail_attachment", json!({"id": "a1", "as": "inline"})).await.unwrap();
    assert_eq!(blocks[0], "name: offer.pdf\ntype: application/pdf\nbytes: 5\nbase64: o1");
    assert!(blocks[1].contains("\nJVBERiE=\n"), "{}", blocks[1]);
    assert_eq!(blocks[2], "a1 is between the fences, in Base64");
    for (arguments, expected) in cases! {
        json!({"id": message, "as": "file"}),
            "m1 is not an attachment: give one such as a3; as=list shows those of a message";
        json!({"id": "a1", "dir": "../.."}), "../.. is outside the allowed folders";
    } {
        let error = mira.call("mail_attachment", arguments).await.unwrap_err();
        assert!(error.to_string().starts_with(expected), "{error}");
    }
}
