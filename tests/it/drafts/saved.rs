//! `mail_attachment`: files listed, saved and returned.

use serde_json::json;

use super::asked;
use crate::support::Session;

#[tokio::test]
async fn attachments_are_listed_saved_and_returned() {
    let mut session = Session::sample().await;
    let parts = "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n";
    let text = "--b\nContent-Type: text/plain\n\nDo you?\n--b\nContent-Type: application/pdf\n\
                Content-Disposition: attachment; filename=offer.pdf\n\n%PDF!\n--b--";
    let message = asked(&mut session, "offer", parts, text).await;
    let blocks = session.ok("mail_attachment", json!({"ids": message})).await;
    assert_eq!(
        blocks,
        [
            "attachments[1\t]{id\tmessage\tname\ttype\tsize}:\n  a1\tm1\toffer.pdf\tapplication/pdf\t5",
            "attachments: 1",
        ]
    );
    let blocks = session.ok("mail_attachment", json!({"ids": "a1"})).await;
    let path = session.app.config.files[0].canonicalize().unwrap().join("offer.pdf");
    assert_eq!(blocks, [format!("path: {}\nbytes: 5\nsha256: 3e7af98cac5a433c", path.display())]);
    assert_eq!(std::fs::read(&path).unwrap(), b"%PDF!");
    // The same file is not saved twice; a different file with the same name gets a number.
    let blocks = session.ok("mail_attachment", json!({"ids": "a1"})).await;
    assert_eq!(blocks[1], "the file already exists, with the same content");
    std::fs::write(&path, "%PDF?").unwrap();
    let blocks = session.ok("mail_attachment", json!({"ids": "m1", "as": "file"})).await;
    let second = path.with_file_name("offer (2).pdf");
    assert!(blocks[0].starts_with(&format!("path: {}\n", second.display())), "{}", blocks[0]);
    let both = json!({"ids": ["m1", "a1", "a9"], "as": "file", "dir": "new/sub"});
    let blocks = session.ok("mail_attachment", both).await;
    let new = path.parent().unwrap().join("new/sub/offer.pdf");
    assert_eq!(
        blocks,
        [format!(
            "outcomes[2\t]{{item\top\tresult\tdetail}}:\n  a9\tsave\tfailed\t\"there is no \
             `a9`: use an id from a search or lookup\"\n  \
             a1\tsave\tdone\t{}",
            new.display()
        )]
    );
    session.ok("mail_attachment", json!({"ids": "a1", "overwrite": true})).await;
    assert_eq!(std::fs::read(&path).unwrap(), b"%PDF!");
    let blocks = session.ok("mail_attachment", json!({"ids": "a1", "as": "link"})).await;
    assert_eq!(
        blocks,
        [
            "name: offer.pdf\ntype: application/pdf\nbytes: 5\nlink: \"daysheet://attachment/a1\"",
            "read the link as a resource to get the file",
        ]
    );
    let pipeline = session.app.pipeline.clone();
    let (bytes, kind) = pipeline.attachment_bytes("daysheet://attachment/a1").await.unwrap();
    assert_eq!((bytes.as_slice(), kind.as_str()), (b"%PDF!".as_slice(), "application/pdf"));
    assert!(pipeline.attachment_bytes("daysheet://attachment/a9").await.is_err());
    let blocks = session.ok("mail_attachment", json!({"ids": "a1", "as": "inline"})).await;
    assert_eq!(blocks[0], "name: offer.pdf\ntype: application/pdf\nbytes: 5\nbase64: o1");
    assert_eq!(blocks[1].lines().nth(1), Some("JVBERiE="));
    assert_eq!(blocks[2], "a1 is between the fences, in Base64");
    for (arguments, expected) in [
        (
            json!({"ids": ["m1", "a1"], "as": "inline"}),
            "as=inline and as=link take one attachment: give one id such as a3, or as=file",
        ),
        (json!({"ids": "m1", "as": "link"}), "m1 is not an attachment"),
        (json!({"ids": "a1", "dir": "../.."}), "../.. is outside the allowed folders"),
    ] {
        let error = session.error("mail_attachment", arguments).await;
        assert!(error.starts_with(expected), "{error}");
    }
}
