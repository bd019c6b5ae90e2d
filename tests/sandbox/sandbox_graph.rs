//! The sandbox's Graph half, from outside: routes, ids, filters, searches, pages, batches,
//! refusals.
//!
//! All requests go over HTTP, as in the rest of the program, to a small mailbox whose messages are
//! all in this file.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use daysheet_sandbox::{Sandbox, SandboxOptions};
use futures_util::future::join_all;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::common::client::{GOOGLE, ME, User, encoded, form};
use crate::common::clock;
use crate::graph_client::{TEAM, column, keys, signed_in, text};

/// The messages of [`ME`], by file name.
const MESSAGES: [(&str, &str); 9] = cases! {
    "budget",
        "X-Gmail-Labels: Inbox,Unread,Important\nFrom: Ana Lima <ana@example.com>\n\
         To: Mira Lindqvist <mira@example.com>\nSubject: Budget plan\n\
         Date: Tue, 3 Feb 2026 10:00:00 +0000\nMessage-ID: <b1@example.com>\n\
         Reply-To: desk@example.com\nDelivered-To: mira.l@example.com\n\n\
         The quarterly budget is fine.\nSee you.\n";
    "reply",
        "X-Gmail-Labels: Sent,Opened\nFrom: Mira Lindqvist <mira@example.com>\n\
         To: Ana Lima <ana@example.com>, ben@other.example\nSubject: Re: Budget plan\n\
         Date: Tue, 3 Feb 2026 12:30:00 +0100\nMessage-ID: <b2@example.com>\n\
         In-Reply-To: <b1@example.com>\n\n\
         Thanks a lot.\n\nOn Tuesday Ana Lima wrote:\n> The quarterly budget is fine.\n";
    "launch",
        "X-Gmail-Labels: Inbox,Opened,Starred,Clients/Nord,Receipts\n\
         From: =?utf-8?q?Lima=2C_Ben?= <ben@other.example>\nTo: mira@example.com\n\
         Cc: Ana Lima <ana@example.com>\nSubject: =?utf-8?b?TGF1bmNoIHDDpHJ0eQ==?=\n\
         Date: Wed, 4 Feb 2026 09:30:00 +0000\nMessage-ID: <l1@other.example>\n\
         MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=m\n\n\
         --m\nContent-Type: multipart/alternative; boundary=a\n\n\
         --a\nContent-Type: text/plain; charset=utf-8\n\nThe party plan, in words.\n\
         --a\nContent-Type: text/html; charset=utf-8\n\n\
         <p>The <b>party</b> plan, shown.</p><blockquote>older</blockquote>\n--a--\n\
         --m\nContent-Type: application/pdf; name=\"report 2026.pdf\"\n\
         Content-Disposition: attachment; filename=\"report 2026.pdf\"\n\
         Content-Transfer-Encoding: base64\n\nUERG\n--m--\n";
    "deals",
        "X-Gmail-Labels: Inbox,Unread,Category promotions\nFrom: shop@deals.example\n\
         Sender: Robot <robot@deals.example>\nTo: mira@example.com\nSubject: Weekly deals\n\
         Date: Thu, 5 Feb 2026 08:00:00 +0000\nMessage-ID: <d1@deals.example>\n\n\
         Nothing about a plan.\n";
    "spam",
        "X-Gmail-Labels: Spam,Unread\nFrom: x@spam.example\nTo: mira@example.com\n\
         Subject: Offer\nDate: Fri, 6 Feb 2026 08:00:00 +0000\n\nBuy.\n";
    "trash",
        "X-Gmail-Labels: Trash,Inbox,Opened\nFrom: Ana Lima <ana@example.com>\n\
         To: mira@example.com\nSubject: Old news\nDate: Sat, 10 Jan 2026 08:00:00 +0000\n\
         Message-ID: <t1@example.com>\n\nGone.\n";
    "draft",
        "X-Gmail-Labels: Drafts,Opened\nTo: Dan O'Brien <dan@example.com>\n\
         Bcc: Secret <secret@example.com>\nSubject: O'Brien's list\n\
         Date: Sat, 7 Feb 2026 08:00:00 +0000\n\nTo do.\n";
    "kept",
        "X-Gmail-Labels: Archived,Opened,Receipts\nFrom: \"Papierhaus\" <info@paper.example>\n\
         To: mira@example.com\nSubject: Kept note\nDate: Tue, 20 Jan 2026 08:00:00 +0000\n\
         Message-ID: <k1@paper.example>\nMIME-Version: 1.0\n\
         Content-Type: multipart/related; boundary=r\n\n\
         --r\nContent-Type: text/html\n\n<p>Look: <img src=\"cid:pic\"></p>\n\
         --r\nContent-Type: image/png; name=pic.png\nContent-ID: <pic>\n\
         Content-Transfer-Encoding: base64\n\nUE5H\n--r--\n";
    "forwarded",
        "X-Gmail-Labels: Archived,Opened\nFrom: ana@example.com\nTo: mira@example.com\n\
         Subject: Forwarded\nDate: Mon, 5 Jan 2026 08:00:00 +0000\nMessage-ID: <f1@example.com>\n\
         MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=f\n\n\
         --f\nContent-Type: text/plain\n\nAttached.\n\
         --f\nContent-Type: message/rfc822\n\nFrom: zoe@example.com\nSubject: The inner one\n\n\
         inside\n--f--\n";
};

/// All subjects, newest first.
const SUBJECTS: [&str; 9] = [
    "O'Brien's list", "Offer", "Weekly deals", "Launch pärty", "Re: Budget plan", "Budget plan",
    "Kept note", "Old news", "Forwarded",
];

async fn over(dir: &Path) -> Sandbox {
    let options =
        SandboxOptions { mail: Some(dir.to_owned()), ..SandboxOptions::new(clock::clock()) };
    Sandbox::start(options).await.unwrap()
}

/// Starts the mailboxes of this file, and signs in a user with all permissions.
async fn sandbox() -> (TempDir, Sandbox, User) {
    let dir = TempDir::new().unwrap();
    for (address, messages) in [
        (ME, &MESSAGES[..]),
        (TEAM, &[("t", "From: a@x.example\nSubject: For all\n\nhello\n")][..]),
    ] {
        let mailbox = dir.path().join(address);
        fs::create_dir(&mailbox).unwrap();
        for (name, message) in messages {
            fs::write(mailbox.join(format!("{name}.eml")), message).unwrap();
        }
    }
    let sandbox = over(dir.path()).await;
    assert_eq!(sandbox.report().skipped, []);
    let user = signed_in(&sandbox).await;
    (dir, sandbox, user)
}

// Lists -------------------------------------------------------------------

#[tokio::test]
async fn filters_find_matching_messages() {
    let (_dir, _sandbox, user) = sandbox().await;
    assert_eq!(user.subjects("me/messages", &[]).await, SUBJECTS);
    let budget = user.message("Budget plan").await;
    let conversation = format!("conversationId eq '{}'", text(&budget["conversationId"]));
    let folder = format!("parentFolderId eq '{}'", text(&budget["parentFolderId"]));
    let [draft, spam, deals, launch, reply, plan, kept, old, forwarded] = SUBJECTS;
    for (filter, expected) in cases! {
        "isRead eq false", &[spam, deals, plan][..];
        "isRead ne true", &[spam, deals, plan];
        "not (isRead eq true)", &[spam, deals, plan];
        "isDraft eq true", &[draft];
        "hasAttachments eq true", &[launch, forwarded];
        "importance eq 'high'", &[plan];
        "importance ne 'normal'", &[plan];
        "flag/flagStatus eq 'flagged'", &[launch];
        "subject eq 'BUDGET PLAN'", &[plan];
        "subject eq 'O''Brien''s list'", &[draft];
        "startswith(subject,'re: ')", &[reply];
        "startswith( subject , 'Launch P' )", &[launch];
        "contains(subject,'plan')", &[reply, plan];
        "contains(subject,'PÄR')", &[launch];
        "not contains(subject,'e')", &[launch];
        "internetMessageId eq '<b2@example.com>'", &[reply];
        "internetMessageId eq 'b2@example.com'", &[];
        "from/emailAddress/address eq 'ANA@example.com'", &[plan, old, forwarded];
        "from/emailAddress/address ne 'ana@example.com' and isDraft eq false",
            &[spam, deals, launch, reply, kept];
        "from/emailAddress/name eq 'Lima, Ben'", &[launch];
        "from/emailAddress/name eq 'ana@example.com'", &[forwarded];
        "contains(from/emailAddress/name,'lima')", &[launch, plan, old];
        "startswith(from/emailAddress/address,'ben@')", &[launch];
        "sender/emailAddress/address eq 'robot@deals.example'", &[deals];
        "sender/emailAddress/name eq 'Mira Lindqvist'", &[reply];
        "receivedDateTime ge 2026-02-05T08:00:00Z", &[draft, spam, deals];
        "receivedDateTime gt 2026-02-05T08:00:00Z", &[draft, spam];
        "receivedDateTime lt 2026-01-10T08:00:00Z", &[forwarded];
        "receivedDateTime le 2026-01-10T09:00:00%2B01:00", &[];
        "receivedDateTime le 2026-01-10T09:00:00+01:00", &[old, forwarded];
        "sentDateTime eq 2026-02-03T11:30:00Z", &[reply];
        "receivedDateTime ge 2026-02-03 and receivedDateTime lt 2026-02-04", &[reply, plan];
        "categories/any(c:c eq 'receipts')", &[launch, kept];
        "categories/any(c:c eq 'Clients/Nord')", &[launch];
        "categories/any(x: x eq 'promotions') or isDraft eq true", &[draft, deals];
        "isDraft eq true or isRead eq false and importance eq 'high'", &[draft, plan];
        "(isDraft eq true or isRead eq false) and importance eq 'high'", &[plan];
        "not (isDraft eq true or isRead eq false) and not startswith(subject,'re')",
            &[launch, kept, old, forwarded];
        conversation.as_str(), &[reply, plan];
        folder.as_str(), &[deals, launch, plan];
    } {
        if filter.contains("%2B") {
            // A plus sign that was encoded twice is none.
            let reply = user.get(&format!("me/messages?{}", form([("$filter", filter)]))).await;
            assert_eq!(reply.refusal().0, 400, "{filter}");
            continue;
        }
        assert_eq!(
            user.subjects("me/messages", &[("$filter", filter)]).await,
            expected,
            "{filter}"
        );
    }
}

#[tokio::test]
async fn searches_find_matching_messages() {
    let (_dir, _sandbox, user) = sandbox().await;
    let [draft, spam, deals, launch, reply, plan, kept, old, forwarded] = SUBJECTS;
    for (search, expected) in [
        ("budget", &[reply, plan][..]),
        ("BUDGET quarterly", &[reply, plan]),
        ("budge", &[]),
        ("\\\"quarterly budget\\\"", &[reply, plan]),
        ("\\\"budget quarterly\\\"", &[]),
        ("plan", &[deals, launch, reply, plan]),
        ("party OR deals", &[deals, launch]),
        ("plan NOT budget", &[deals, launch]),
        ("plan AND NOT budget AND NOT deals", &[launch]),
        ("plan (deals OR party)", &[deals, launch]),
        ("offer OR plan budget", &[spam, reply, plan]),
        ("from:ana", &[plan, old, forwarded]),
        ("from:ana@example.com", &[plan, old, forwarded]),
        ("from:example.com", &[reply, plan, old, forwarded]),
        ("from:\\\"ana lima\\\"", &[plan, old]),
        ("from:\\\"lima ana\\\"", &[]),
        ("from:ana from:lima", &[plan, old]),
        ("to:ana", &[reply]),
        ("cc:ana", &[launch]),
        ("bcc:secret", &[draft]),
        ("subject:plan", &[reply, plan]),
        ("subject:\\\"budget plan\\\"", &[reply, plan]),
        ("subject:pärty", &[launch]),
        ("body:plan", &[deals, launch]),
        ("body:lima", &[reply]),
        ("attachment:report", &[launch]),
        ("attachment:\\\"report 2026.pdf\\\"", &[launch]),
        ("hasAttachments:true", &[launch, forwarded]),
        ("importance:high", &[plan]),
        ("received:2026-02-03", &[reply, plan]),
        ("received>=2026-02-05", &[draft, spam, deals]),
        ("received>2026-02-05", &[draft, spam]),
        ("received<2026-01-10", &[forwarded]),
        ("received>=2026-02-03 AND received<2026-02-04 from:mira", &[reply]),
        ("received:whenever", &[]),
        ("size>700", &[launch]),
        ("size<150", &[spam]),
        ("category:receipts", &[]),
        ("e-mail", &[]),
        ("o'brien's", &[draft]),
        ("note NOT from:ana", &[kept]),
        ("subject:note", &[kept]),
    ] {
        let value = format!("\"{search}\"");
        assert_eq!(
            user.subjects("me/messages", &[("$search", &value)]).await,
            expected,
            "{search}"
        );
    }
    let inbox = "me/mailFolders/inbox/messages";
    assert_eq!(user.subjects(inbox, &[("$search", "\"plan\"")]).await, [deals, launch, plan]);
    assert_eq!(user.subjects(inbox, &[("$search", "plan")]).await, [deals, launch, plan]);
}

#[tokio::test]
async fn messages_are_ordered_as_requested() {
    let (_dir, _sandbox, user) = sandbox().await;
    let mut up = SUBJECTS;
    up.reverse();
    for (order, expected) in [
        ("receivedDateTime desc", SUBJECTS),
        ("receivedDateTime", up),
        ("receivedDateTime asc", up),
    ] {
        let options = [("$orderby", order)];
        assert_eq!(user.subjects("me/messages", &options).await, expected, "{order}");
    }
    let since = "receivedDateTime ge 2026-02-05 and isRead eq false";
    let options = [("$filter", since), ("$orderby", "receivedDateTime")];
    assert_eq!(user.subjects("me/messages", &options).await, ["Weekly deals", "Offer"]);
}

#[tokio::test]
async fn invalid_list_requests_are_refused() {
    let (_dir, _sandbox, user) = sandbox().await;
    let since = "isRead eq true and receivedDateTime ge 2026-01-01";
    let to = "toRecipients/any(r:r/emailAddress/address eq 'a@x')";
    for (options, code) in [
        (&[("$filter", "isRead")][..], "BadRequest"),
        (&[("$filter", "(isRead eq true")], "BadRequest"),
        (&[("$filter", "isRead eq true isDraft eq true")], "BadRequest"),
        (&[("$filter", "subject eq 'x")], "BadRequest"),
        (&[("$filter", "isRead eq 'true'")], "BadRequest"),
        (&[("$filter", "receivedDateTime ge '2026-02-03'")], "BadRequest"),
        (&[("$filter", "x eq 'y'")], "BadRequest"),
        (&[("$filter", "endsof(subject,'y')")], "BadRequest"),
        (&[("$filter", to)], "ErrorInvalidUrlQueryFilter"),
        (&[("$filter", "contains(body/content,'x')")], "ErrorInvalidUrlQueryFilter"),
        (&[("$filter", "importance gt 'low'")], "ErrorInvalidUrlQueryFilter"),
        (&[("$filter", "conversationId eq 'x'")], "ErrorInvalidIdMalformed"),
        (&[("$filter", since), ("$orderby", "receivedDateTime")], "InefficientFilter"),
        (&[("$orderby", "x")], "ErrorInvalidUrlQuery"),
        (&[("$orderby", "bodyPreview")], "ErrorInvalidUrlQuery"),
        (&[("$select", "subject,x")], "RequestBroker--ParseUri"),
        (&[("$top", "0")], "RequestBroker--ParseUri"),
        (&[("$top", "1001")], "RequestBroker--ParseUri"),
        (&[("$count", "yes")], "RequestBroker--ParseUri"),
        (&[("$select", "id"), ("$select", "id")], "RequestBroker--ParseUri"),
        (&[("$apply", "x")], "BadRequest"),
        (&[("$search", "\"a\""), ("$filter", "isRead eq true")], "SearchWithFilter"),
        (&[("$search", "\"a\""), ("$orderby", "subject")], "SearchWithOrderBy"),
        (&[("$search", "from:ana")], "BadRequest"),
        (&[("$search", "\"a")], "BadRequest"),
        (&[("$search", "\"a)\"")], "BadRequest"),
        (&[("$search", "\"a OR\"")], "BadRequest"),
        (&[("$skiptoken", "abc")], "ErrorInvalidUrlQuery"),
    ] {
        let query = form(options.iter().copied());
        let (status, reported, _) = user.get(&format!("me/messages?{query}")).await.refusal();
        assert_eq!((status, reported.as_str()), (400, code), "{options:?}");
    }
}

#[tokio::test]
async fn pages_are_an_exact_partition() {
    let (_dir, _sandbox, user) = sandbox().await;
    for (options, expected) in [
        (&[][..], SUBJECTS.len()),
        (&[("$top", "2")], 9),
        (&[("$top", "3"), ("$count", "true")], 9),
        (&[("$top", "9")], 9),
        (&[("$top", "2"), ("$filter", "isRead eq false")], 3),
        (&[("$top", "2"), ("$orderby", "receivedDateTime")], 9),
        (&[("$top", "1"), ("$search", "\"subject:plan OR \\\"party plan\\\"\"")], 3),
    ] {
        let mut all = Vec::new();
        let query = form(options.iter().copied());
        let mut next = Some(format!("me/messages?%24select=subject&{query}"));
        while let Some(path) = next {
            let page = user.json(&path).await;
            all.extend(column(&page, "subject"));
            let count = options.contains(&("$count", "true")).then(|| json!(9));
            assert_eq!(page.get("@odata.count"), count.as_ref());
            next = page.get("@odata.nextLink").map(|link| text(link).to_owned());
            if let Some(link) = &next {
                let url = url::Url::parse(link).unwrap();
                assert!(link.starts_with(&format!("{}/v1.0/me/messages?", user.base)), "{link}");
                let params: BTreeMap<String, String> = url.query_pairs().into_owned().collect();
                for (name, value) in options {
                    assert_eq!(params[*name], *value, "{link}");
                }
                let searched = options.iter().any(|(name, _)| *name == "$search");
                assert_eq!(params.contains_key("$skip"), !searched);
                assert_eq!(params.contains_key("$skiptoken"), searched);
            }
        }
        assert_eq!(all.len(), expected, "{options:?}");
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), expected);
    }
    let paged = user.get("me/messages").await;
    assert_eq!(paged.header("preference-applied"), "");
    let small = user.prefer("me/messages", "odata.maxpagesize=4").await;
    assert_eq!(small.json()["value"].as_array().unwrap().len(), 4);
    assert_eq!(small.header("preference-applied"), "odata.maxpagesize=4");
    assert_eq!(user.subjects("me/messages", &[("$skip", "8")]).await, ["Forwarded"]);
    assert!(user.subjects("me/messages", &[("$skip", "90")]).await.is_empty());
    // Links of a search fit no other list.
    for (query, searched) in [("%24top=2", false), ("%24top=2&%24search=%22plan%22", true)] {
        let page = user.json(&format!("me/messages?{query}")).await;
        let link = text(&page["@odata.nextLink"]).to_owned();
        let other = link.replace("me/messages", "me/mailFolders/inbox/messages");
        let other = user.get(&other).await;
        if searched {
            assert_eq!(other.refusal().1, "ErrorInvalidUrlQuery");
        } else {
            assert_eq!(other.status, 200);
        }
        assert_eq!(user.get(&link).await.status, 200);
    }
}

// Messages ----------------------------------------------------------------

#[tokio::test]
async fn message_has_all_its_properties() {
    let (_dir, _sandbox, user) = sandbox().await;
    let list = user.json("me/messages?%24filter=subject%20eq%20%27Launch%20p%C3%A4rty%27").await;
    let context = format!("{}/v1.0/$metadata#users('mira%40example.com')/messages", user.base);
    assert_eq!(list["@odata.context"], context);
    let message = &list["value"][0];
    let id = text(&message["id"]);
    let expected = json!({
        "@odata.etag": format!("W/\"{}\"", text(&message["changeKey"])), "id": id,
        "createdDateTime": "2026-02-04T09:30:00Z", "lastModifiedDateTime": "2026-02-04T09:30:00Z",
        "changeKey": message["changeKey"], "categories": ["Clients/Nord", "Receipts"],
        "receivedDateTime": "2026-02-04T09:30:00Z", "sentDateTime": "2026-02-04T09:30:00Z",
        "hasAttachments": true, "internetMessageId": "<l1@other.example>",
        "subject": "Launch pärty", "bodyPreview": "The party plan, in words.",
        "importance": "normal", "parentFolderId": message["parentFolderId"],
        "conversationId": message["conversationId"], "isRead": true, "isDraft": false,
        "webLink": format!(
            "https://outlook.office365.com/owa/?ItemID={}&exvsurl=1&viewmodel=ReadMessageItem",
            encoded(id)
        ),
        "inferenceClassification": "focused",
        "body": {
            "contentType": "html",
            "content": "<p>The <b>party</b> plan, shown.</p><blockquote>older</blockquote>",
        },
        "sender": { "emailAddress": { "name": "Lima, Ben", "address": "ben@other.example" } },
        "from": { "emailAddress": { "name": "Lima, Ben", "address": "ben@other.example" } },
        "toRecipients": [
            { "emailAddress": { "name": "mira@example.com", "address": "mira@example.com" } },
        ],
        "ccRecipients": [{ "emailAddress": { "name": "Ana Lima", "address": "ana@example.com" } }],
        "bccRecipients": [], "replyTo": [], "flag": { "flagStatus": "flagged" },
    });
    assert_eq!(*message, expected);
    let path = format!("me/messages/{}", encoded(id));
    let single = user.json(&path).await;
    let mut whole = expected.as_object().unwrap().clone();
    whole.insert("@odata.context".to_owned(), format!("{context}/$entity").into());
    assert_eq!(single, Value::Object(whole));

    for (prefer, applied) in [("IdType=\"ImmutableId\"", true), ("respond-async", false)] {
        let reply = user.prefer(&path, prefer).await;
        assert_eq!(reply.header("preference-applied"), if applied { prefer } else { "" });
    }
    let raw = user.get(&format!("{path}/$value")).await;
    assert_eq!(raw.header("content-type"), "text/plain");
    assert!(raw.text().starts_with("X-Gmail-Labels: Inbox,Opened,Starred"), "{}", raw.text());

    let draft = user.message("O'Brien's list").await;
    assert!(draft.get("from").is_none() && draft.get("sender").is_none());
    assert_eq!((&draft["isDraft"], &draft["internetMessageId"]), (&json!(true), &Value::Null));
    let dan = json!({ "emailAddress": { "name": "Dan O'Brien", "address": "dan@example.com" } });
    assert_eq!(draft["toRecipients"], json!([dan]));
    let deals = user.message("Weekly deals").await;
    assert_eq!(deals["sender"]["emailAddress"]["name"], "Robot");
    assert_eq!(deals["from"]["emailAddress"]["name"], "shop@deals.example");
    assert_eq!(deals["categories"], json!(["promotions"]));
    assert_eq!(deals["inferenceClassification"], "other");
    assert_eq!(deals["body"]["contentType"], "text");
    let plan = user.message("Budget plan").await;
    assert_eq!((&plan["importance"], &plan["isRead"]), (&json!("high"), &json!(false)));
    assert_eq!(plan["replyTo"][0]["emailAddress"]["address"], "desk@example.com");
    let reply = user.message("Re: Budget plan").await;
    assert_eq!(reply["conversationId"], plan["conversationId"]);
}

#[tokio::test]
async fn select_returns_exactly_the_named_properties() {
    let (_dir, _sandbox, user) = sandbox().await;
    let id = user.message("Budget plan").await["id"].clone();
    let path = format!("me/messages/{}", encoded(text(&id)));
    let inbox = "me/mailFolders/inbox";
    for (path, select, expected) in cases! {
        "me/messages", "subject", &["@odata.etag", "id", "subject"][..];
        "me/messages", "id", &["@odata.etag", "id"];
        path.as_str(), "from,isRead", &["@odata.context", "@odata.etag", "from", "id", "isRead"];
        path.as_str(), "flag", &["@odata.context", "@odata.etag", "flag", "id"];
        path.as_str(), "internetMessageHeaders",
            &["@odata.context", "@odata.etag", "id", "internetMessageHeaders"];
        "me/mailFolders", "displayName", &["displayName", "id"];
        inbox, "unreadItemCount", &["@odata.context", "id", "unreadItemCount"];
        "me/outlook/masterCategories", "color", &["color", "id"];
        "me", "mail,proxyAddresses", &["@odata.context", "mail", "proxyAddresses"];
        "me/contacts", "displayName", &["displayName", "id"];
        "me/people", "scoredEmailAddresses", &["id", "scoredEmailAddresses"];
    } {
        let answer = user.json(&format!("{path}?%24select={select}")).await;
        let entity = answer["value"].get(0).unwrap_or(&answer);
        assert_eq!(keys(entity), expected, "{path} {select}");
        if answer.get("value").is_some() {
            assert!(text(&answer["@odata.context"]).ends_with(&format!("({select})")));
        }
    }
    for (path, kind) in [
        ("me", "user"),
        ("me/messages", "message"),
        (path.as_str(), "message"),
        ("me/mailFolders", "mailFolder"),
        (inbox, "mailFolder"),
        ("me/outlook/masterCategories", "outlookCategory"),
        ("me/contacts", "contact"),
        ("me/people", "person"),
    ] {
        let message =
            format!("Could not find a property named 'nope' on type 'microsoft.graph.{kind}'.");
        assert_eq!(
            user.get(&format!("{path}?%24select=id,nope")).await.refusal(),
            (400, "RequestBroker--ParseUri".to_owned(), message)
        );
    }
}

#[tokio::test]
async fn a_slash_too_many_is_none() {
    let (_dir, _sandbox, user) = sandbox().await;
    let path = "me/messages?$select=subject&$top=2".replace('$', "%24");
    let once = user.json(&path).await;
    let twice = user.json(&format!("/v1.0//{path}")).await;
    assert_eq!(column(&twice, "subject"), column(&once, "subject"));
    assert_eq!(user.get("/v1.0///me").await.status, 400);
}

#[tokio::test]
async fn ids_are_safe_in_urls_and_found() {
    let (_dir, sandbox, user) = sandbox().await;
    let list = user.json("me/messages").await;
    let immutable = user.prefer("me/messages", "IdType=\"ImmutableId\"").await.json();
    let ids = column(&list, "id");
    let lasting = column(&immutable, "id");
    let mut signs = String::new();
    for ((id, lasting), subject) in ids.iter().zip(&lasting).zip(SUBJECTS) {
        assert!(id.len() == 152 && id.starts_with("AAMkA") && id.ends_with('='), "{id}");
        assert!(lasting.len() == 68 && lasting.starts_with("AAkAL"), "{lasting}");
        signs.push_str(id);
        for id in [id, lasting] {
            let message = user.json(&format!("me/messages/{}", encoded(id))).await;
            assert_eq!(message["subject"], subject);
            assert_eq!(message["id"], **ids.iter().find(|id| *id == text(&message["id"])).unwrap());
        }
    }
    assert!(signs.contains('-') && signs.contains('_'), "{signs}");
    assert!(!signs.contains(['/', '+']), "{signs}");
    let conversations = column(&list, "conversationId");
    for id in &conversations {
        assert!(id.len() == 80 && id.starts_with("AAQkA"), "{id}");
    }
    assert_eq!(conversations.iter().collect::<BTreeSet<_>>().len(), 8);
    for id in column(&user.json("me/mailFolders").await, "id") {
        assert!(id.len() == 120 && id.starts_with("AAMkA"), "{id}");
    }
    // The same messages in another run have the same ids.
    let again = signed_in(&sandbox).await;
    assert_eq!(column(&again.json("me/messages").await, "id"), ids);

    let known = &ids[0];
    let mut other = STANDARD.decode(known.replace('-', "/").replace('_', "+")).unwrap();
    other[95] ^= 1;
    let other = STANDARD.encode(&other);
    let cut = &known[..148];
    for (id, status, code) in [
        ("1", 400, "ErrorInvalidIdMalformed"),
        ("AAMkA", 400, "ErrorInvalidIdMalformed"),
        (cut, 400, "ErrorInvalidIdMalformed"),
        (conversations[0].as_str(), 400, "ErrorInvalidIdMalformed"),
        (other.as_str(), 404, "ErrorItemNotFound"),
    ] {
        for rest in ["", "/$value", "/attachments"] {
            let reply = user.get(&format!("me/messages/{}{rest}", encoded(id))).await;
            let (got, word, _) = reply.refusal();
            assert_eq!((got, word.as_str()), (status, code), "{id}{rest}");
        }
    }
    // Unencoded, a slash in an id is one in the path.
    if let Some(slashed) = ids.iter().find(|id| id.contains('/')) {
        assert_eq!(user.get(&format!("me/messages/{slashed}")).await.status, 400);
    }
}

#[tokio::test]
async fn all_kinds_of_attachments_are_returned() {
    let (_dir, _sandbox, user) = sandbox().await;
    let of = |message: &Value| format!("me/messages/{}/attachments", encoded(text(&message["id"])));
    let launch = user.message("Launch pärty").await;
    let list = user.json(&of(&launch)).await;
    let id = text(&list["value"][0]["id"]).to_owned();
    assert!(id.len() == 180 && id.starts_with(&text(&launch["id"])[..148]), "{id}");
    let mut report = json!({
        "@odata.type": "#microsoft.graph.fileAttachment",
        "@odata.mediaContentType": "application/pdf", "id": id,
        "lastModifiedDateTime": "2026-02-04T09:30:00Z", "name": "report 2026.pdf",
        "contentType": "application/pdf", "size": 3, "isInline": false, "contentId": null,
        "contentLocation": null, "contentBytes": "UERG",
    });
    assert_eq!(list["value"], json!([report]));
    let path = format!("{}/{}", of(&launch), encoded(&id));
    assert_eq!(user.get(&format!("{path}/$value")).await.text(), "PDF");
    let single = user.json(&path).await;
    report["@odata.context"] = single["@odata.context"].clone();
    assert_eq!(single, report);
    let named = user.json(&format!("{path}?%24select=name,size")).await;
    assert_eq!(
        keys(&named),
        ["@odata.context", "@odata.mediaContentType", "@odata.type", "id", "name", "size"]
    );
    let cast = format!("{}?%24select=microsoft.graph.fileAttachment%2FcontentBytes", of(&launch));
    assert_eq!(user.json(&cast).await["value"][0]["contentBytes"], "UERG");
    let bare = user.get(&format!("{path}?%24select=contentBytes")).await;
    let message = "Could not find a property named 'contentBytes' on type \
                   'microsoft.graph.attachment'.";
    assert_eq!(bare.refusal().2, message);
    let lasting = user.prefer(&of(&launch), "IdType=\"ImmutableId\"").await.json();
    let lasting = format!("{}/{}", of(&launch), encoded(text(&lasting["value"][0]["id"])));
    assert_eq!(user.json(&lasting).await["name"], "report 2026.pdf");

    let kept = user.message("Kept note").await;
    assert_eq!(kept["hasAttachments"], false);
    let inline = user.json(&of(&kept)).await;
    assert_eq!(inline["value"][0]["isInline"], true);
    assert_eq!(inline["value"][0]["contentId"], "pic");
    let stranger = format!("{}/{}", of(&kept), encoded(&id));
    assert_eq!(user.get(&stranger).await.refusal().1, "ErrorItemNotFound");
    let none = format!("{}/abc", of(&kept));
    assert_eq!(user.get(&none).await.refusal().1, "ErrorInvalidIdMalformed");

    let forwarded = user.message("Forwarded").await;
    let inner = user.json(&of(&forwarded)).await["value"][0].clone();
    assert_eq!(
        inner,
        json!({
            "@odata.type": "#microsoft.graph.itemAttachment", "id": inner["id"],
            "lastModifiedDateTime": "2026-01-05T08:00:00Z", "name": "The inner one",
            "contentType": null, "size": inner["size"], "isInline": false,
        })
    );
    let raw = format!("{}/{}/$value", of(&forwarded), encoded(text(&inner["id"])));
    assert!(user.get(&raw).await.text().starts_with("From: zoe@example.com"));
}

#[tokio::test]
async fn folders_are_listed_with_their_children() {
    let (_dir, _sandbox, user) = sandbox().await;
    let mut tree = String::new();
    let mut open = vec![("me/mailFolders".to_owned(), 0)];
    while let Some((path, depth)) = open.pop() {
        let query = "%24top=50&includeHiddenFolders=true";
        let list = user.json(&format!("{path}?{query}")).await;
        for folder in list["value"].as_array().unwrap() {
            let indent = "  ".repeat(depth);
            let (name, total) = (text(&folder["displayName"]), &folder["totalItemCount"]);
            writeln!(tree, "{indent}{name} {total}/{}", folder["unreadItemCount"]).unwrap();
            if folder["childFolderCount"] != 0 {
                let id = encoded(text(&folder["id"]));
                open.push((format!("me/mailFolders/{id}/childFolders"), depth + 1));
            }
        }
    }
    assert_eq!(
        tree,
        "Archive 2/0\nConversation Action Settings 0/0\nConversation History 0/0\n\
         Deleted Items 1/0\nDrafts 1/0\nInbox 3/2\nJunk Email 1/1\nOutbox 0/0\nProjects 0/0\n\
         RSS Feeds 0/0\nSent Items 1/0\nSync Issues 0/0\n\
         \x20 Conflicts 0/0\n  Local Failures 0/0\n  Server Failures 0/0\n\
         \x20 2026 0/0\n  2026 0/0\n"
    );
    let first = user.json("me/mailFolders?%24count=true").await;
    assert_eq!(
        (first["value"].as_array().unwrap().len(), &first["@odata.count"]),
        (10, &json!(11))
    );
    let rest = user.json(text(&first["@odata.nextLink"])).await;
    assert_eq!(column(&rest, "displayName"), ["Sync Issues"]);
    for (name, subjects) in [
        ("inbox", &["Weekly deals", "Launch pärty", "Budget plan"][..]),
        ("Inbox", &["Weekly deals", "Launch pärty", "Budget plan"]),
        ("sentitems", &["Re: Budget plan"]),
        ("drafts", &["O'Brien's list"]),
        ("junkemail", &["Offer"]),
        ("deleteditems", &["Old news"]),
        ("archive", &["Kept note", "Forwarded"]),
        ("outbox", &[]),
        ("msgfolderroot", &[]),
    ] {
        let folder = user.json(&format!("me/mailFolders/{name}")).await;
        let id = encoded(text(&folder["id"]));
        for name in [name, id.as_str()] {
            let path = format!("me/mailFolders/{name}/messages");
            assert_eq!(user.subjects(&path, &[]).await, subjects, "{name}");
        }
        let message = user.json(&format!("me/mailFolders/{id}/messages")).await["value"][0].clone();
        if subjects.is_empty() {
            continue;
        }
        assert_eq!(message["parentFolderId"], folder["id"]);
    }
    let [team, nowhere] = [("team", user.message("Offer").await["id"].clone()), ("x", json!("x"))];
    for (_, id) in [team, nowhere] {
        let reply = user.get(&format!("me/mailFolders/{}", encoded(text(&id)))).await;
        assert_eq!(reply.refusal().1, "ErrorInvalidIdMalformed");
    }
}

// People, settings, and who may see what ----------------------------------

#[tokio::test]
async fn own_profile_contacts_and_people_are_returned() {
    let (_dir, _sandbox, user) = sandbox().await;
    let me = user.json("me").await;
    assert_eq!(
        me,
        json!({
            "@odata.context": format!("{}/v1.0/$metadata#users/$entity", user.base),
            "displayName": "Mira Lindqvist", "mail": ME, "userPrincipalName": ME, "id": me["id"],
        })
    );
    let proxies = user.json("me?%24select=proxyAddresses").await;
    assert_eq!(
        proxies["proxyAddresses"],
        json!([
            "SMTP:mira@example.com",
            "smtp:mira@example.onmicrosoft.com",
            "smtp:mira.l@example.com",
        ])
    );
    let settings = user.json("me/mailboxSettings").await;
    assert_eq!(settings["timeZone"], "W. Europe Standard Time");
    assert_eq!(settings["automaticRepliesSetting"]["status"], "disabled");
    let categories = user.json("me/outlook/masterCategories").await;
    assert_eq!(
        column(&categories, "displayName"),
        ["forums", "updates", "personal", "promotions", "social", "Receipts", "Clients/Nord"]
    );
    let by_address = "me/contacts?$filter=emailAddresses/any(a:a/address%20eq%20'ANA@example.com')";
    for (path, expected) in [
        // Those the owner wrote to; a later message gave Ben a name.
        ("me/contacts", &["Ana Lima", "Lima, Ben"][..]),
        (by_address, &["Ana Lima"]),
        ("me/people?$search=%22ana%22", &["Ana Lima"]),
        ("me/people?$search=%22lim%22", &["Ana Lima", "Lima, Ben"]),
        ("me/people?$search=%22paper%22", &["Papierhaus"]),
        ("me/people?$search=%22spam%22", &[]),
    ] {
        let list = user.json(path).await;
        assert_eq!(column(&list, "displayName"), expected, "{path}");
    }
    let refused = user.get("me/contacts?%24search=%22ana%22").await;
    assert_eq!(refused.refusal().2, "The query parameter '$search' is not supported.");
}

#[tokio::test]
async fn permissions_limit_what_is_readable() {
    let (_dir, sandbox, user) = sandbox().await;
    let team = format!("users/{TEAM}/messages");
    assert_eq!(user.subjects(&team, &[]).await, ["For all"]);
    assert_eq!(
        user.subjects(&format!("users/{}/messages", ME.to_uppercase()), &[]).await,
        SUBJECTS
    );
    let own = user.message("Offer").await;
    let own = format!("users/{TEAM}/messages/{}", encoded(text(&own["id"])));
    assert_eq!(user.get(&own).await.refusal().1, "ErrorItemNotFound");
    assert_eq!(
        user.get("users/nobody@example.com/messages").await.refusal(),
        (
            404,
            "ErrorInvalidUser".to_owned(),
            "The requested user 'nobody@example.com' is invalid.".to_owned()
        )
    );
    let denied = (
        403,
        "ErrorAccessDenied".to_owned(),
        "Access is denied. Check credentials and try again.".to_owned(),
    );
    // Which paths each permission opens, and no other.
    let paths = [
        "me",
        "me/messages",
        "me/mailFolders",
        &team,
        "me/contacts",
        "me/people",
        "me/mailboxSettings",
        "me/outlook/masterCategories",
    ];
    for (scope, opened) in [
        ("User.Read", &paths[..1]),
        ("Mail.Read", &paths[1..3]),
        ("Mail.ReadWrite", &paths[1..3]),
        ("Mail.Read.Shared", &paths[3..4]),
        ("Contacts.Read", &paths[4..5]),
        ("People.Read", &paths[5..6]),
        ("MailboxSettings.Read", &paths[6..]),
        ("MailboxSettings.ReadWrite", &paths[6..]),
        ("Mail.Send", &[]),
    ] {
        let user = User::at_graph(sandbox.base(), ME, scope).await;
        for path in paths {
            let reply = user.get(path).await;
            if opened.contains(&path) {
                assert_eq!(reply.status, 200, "{path} by {scope}");
            } else {
                assert_eq!(reply.refusal(), denied, "{path} by {scope}");
            }
        }
    }
}

#[tokio::test]
async fn invalid_requests_are_refused() {
    let (_dir, sandbox, mut user) = sandbox().await;
    for (path, status, code, message) in [
        ("me/drawings", 400, "BadRequest", "Resource not found for the segment 'drawings'."),
        ("us", 400, "BadRequest", "Resource not found for the segment 'us'."),
        ("me/messages/x/y", 400, "BadRequest", "Resource not found for the segment 'y'."),
    ] {
        assert_eq!(user.get(path).await.refusal(), (status, code.to_owned(), message.to_owned()));
    }
    let bearer = format!("Bearer {}", user.token);
    let headers = [("authorization", bearer.as_str()), ("client-request-id", "mine")];
    let reply = user.send("DELETE", "/v1.0/me/messages", &headers, "").await;
    let message = "Specified HTTP method is not allowed for the request target.";
    assert_eq!(reply.refusal(), (405, "Request_BadRequest".to_owned(), message.to_owned()));
    assert_eq!(reply.header("client-request-id"), "mine");
    assert_eq!(reply.header("request-id").len(), 36);
    // A body without its length never gets past the front end.
    let address = user.base.trim_start_matches("http://").to_owned();
    let mut stream = tokio::net::TcpStream::connect(&address).await.unwrap();
    let request =
        format!("POST /v1.0/$batch HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 411 "), "{answer}");

    let code = "InvalidAuthenticationToken".to_owned();
    let message = "Lifetime validation failed, the token is expired.";
    let mut stranger = signed_in(&sandbox).await;
    let scope = "https://www.googleapis.com/auth/Mail.Read";
    stranger.token = stranger.token_of(&GOOGLE, ME, scope).await;
    let reply = stranger.get("me/messages").await;
    assert_eq!(reply.refusal(), (401, code.clone(), message.to_owned()));
    sandbox.expire_access_tokens();
    let expired = user.get("me").await;
    assert_eq!(expired.refusal(), (401, code.clone(), message.to_owned()));
    assert!(
        expired.header("www-authenticate").starts_with("Bearer realm=\"\", authorization_uri=")
    );
    user.token = String::new();
    let reply = user.send("GET", "/v1.0/me", &[], "").await;
    assert_eq!(reply.refusal(), (401, code, "Access token is empty.".to_owned()));
}

// Batches, throttling, failures -------------------------------------------

#[tokio::test]
async fn batch_parts_are_answered_individually() {
    let (_dir, sandbox, user) = sandbox().await;
    let id = text(&user.message("Budget plan").await["id"]).to_owned();
    let before = sandbox.requests();
    let reply = user
        .batch(&json!({ "requests": [
            { "id": "a", "method": "GET", "url": "/me/messages?$top=1&$select=subject" },
            { "id": "b", "method": "GET", "url": format!("me/messages/{}?$select=body", encoded(&id)),
              "headers": { "Prefer": "IdType=\"ImmutableId\"" } },
            { "id": "c", "method": "GET", "url": "/me/messages/nope" },
            { "id": "d", "method": "GET", "url": format!("/me/messages/{}/$value", encoded(&id)) },
            { "id": "e", "method": "POST", "url": "/$batch", "body": { "requests": [] },
              "headers": { "content-type": "application/json" } },
            { "id": "f", "method": "GET", "url": "/me/messages?$search=\"https://x\"" },
            { "id": "g", "method": "GET", "url": "/me/messages?$top=1&$select=subject",
              "headers": { "Accept": "application/json;odata.metadata=none" } },
        ] }))
        .await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    assert_eq!(sandbox.requests() - before, 1);
    let body = reply.json();
    let answers: BTreeMap<&str, &Value> = body["responses"]
        .as_array()
        .unwrap()
        .iter()
        .map(|answer| (text(&answer["id"]), answer))
        .collect();
    assert_eq!(answers["a"]["status"], 200);
    assert_eq!(answers["a"]["body"]["value"][0]["subject"], "O'Brien's list");
    let mut bare = answers["a"]["body"].clone();
    bare.as_object_mut().unwrap().remove("@odata.context").unwrap();
    bare["value"][0].as_object_mut().unwrap().remove("@odata.etag").unwrap();
    assert_eq!(answers["g"]["body"], bare);
    let next = text(&answers["a"]["body"]["@odata.nextLink"]);
    assert_eq!(column(&user.json(next).await, "subject"), ["Offer"]);
    assert!(text(&answers["b"]["body"]["id"]).starts_with("AAkAL"));
    assert_eq!(answers["b"]["headers"]["Preference-Applied"], "IdType=\"ImmutableId\"");
    assert_eq!(answers["c"]["status"], 400);
    assert_eq!(answers["c"]["body"]["error"]["code"], "ErrorInvalidIdMalformed");
    assert_eq!(answers["d"]["headers"]["Content-Type"], "text/plain");
    let raw = STANDARD.decode(text(&answers["d"]["body"])).unwrap();
    assert!(raw.starts_with(b"X-Gmail-Labels: Inbox,Unread,Important"));
    assert_eq!(answers["e"]["status"], 400);
    assert_eq!(answers["f"]["status"], 200);

    let kind = json!({ "Content-Type": "application/json" });
    let get = |id: usize| json!({ "id": id.to_string(), "method": "GET", "url": "/me" });
    let erase = "/me/messages/x/permanentDelete";
    for requests in [
        (0..21).map(get).collect::<Value>(),
        json!([get(1), get(1)]),
        json!([]),
        json!([{ "method": "GET", "url": "/me" }]),
        json!([{ "id": "1", "url": "/me" }]),
        json!([{ "id": "1", "method": "GET", "url": "https://graph.microsoft.com/v1.0/me" }]),
        json!([{ "id": "a", "method": "GET", "url": "/me" }, { "id": "A", "method": "GET", "url": "/me" }]),
        // Whatever writes has a body and says of what type.
        json!([get(2), { "id": "1", "method": "POST", "url": erase }]),
        json!([{ "id": "1", "method": "POST", "url": erase, "headers": kind }]),
        json!([{ "id": "1", "method": "PATCH", "url": "/me/messages/x", "body": {} }]),
        json!([{ "id": "1", "method": "DELETE", "url": "/me/messages/x", "body": {} }]),
    ] {
        let (status, code, _) = user.batch(&json!({ "requests": requests })).await.refusal();
        assert_eq!((status, code.as_str()), (400, "BadRequest"), "{requests}");
    }
    // Faults hit single requests.
    sandbox.set_faults("429=0.3,504=0.2".parse().unwrap());
    let mut seen = BTreeSet::new();
    for _ in 0..10 {
        let reply = user.batch(&json!({ "requests": (0..20).map(get).collect::<Value>() })).await;
        if reply.status != 200 {
            continue;
        }
        for answer in reply.json()["responses"].as_array().unwrap() {
            let status = answer["status"].as_u64().unwrap();
            let wait = answer["headers"].get("Retry-After").map(text);
            assert_eq!(wait, (status == 429).then_some("1"));
            seen.insert(status);
        }
    }
    assert_eq!(seen, BTreeSet::from([200, 429, 504]));
    sandbox.expire_access_tokens();
    sandbox.set_faults("".parse().unwrap());
    assert_eq!(user.batch(&json!({ "requests": [] })).await.status, 401);
}

#[tokio::test]
async fn fifth_concurrent_request_is_throttled() {
    let (_dir, sandbox, user) = sandbox().await;
    sandbox.set_faults("delay=300ms".parse().unwrap());
    let many = join_all((0..7).map(|_| user.get("me"))).await;
    let mut statuses: Vec<u16> = many.iter().map(|reply| reply.status).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 200, 200, 200, 429, 429, 429]);
    let refused = many.iter().find(|reply| reply.status == 429).unwrap();
    assert_eq!(
        refused.refusal(),
        (
            429,
            "ApplicationThrottled".to_owned(),
            "Application is over its MailboxConcurrency limit.".to_owned()
        )
    );
    assert_eq!(refused.header("retry-after"), "1");
    // Each mailbox counts for itself, and places come free again.
    let team = format!("users/{TEAM}/messages");
    let both =
        join_all((0..8).map(|number| user.get(if number % 2 == 0 { "me" } else { &team }))).await;
    assert!(both.iter().all(|reply| reply.status == 200));
}

#[tokio::test]
async fn faults_have_the_form_of_graph_errors() {
    let (_dir, sandbox, user) = sandbox().await;
    for (spec, status, code, wait) in [
        ("429=1", 429, "TooManyRequests", "1"),
        ("403=1", 403, "ErrorAccessDenied", ""),
        ("500=1", 500, "InternalServerError", ""),
        ("503=1", 503, "ErrorServerBusy", "1"),
        ("504=1", 504, "UnknownError", ""),
    ] {
        sandbox.set_faults(spec.parse().unwrap());
        let reply = user.get("me").await;
        let (got, word, _) = reply.refusal();
        assert_eq!((got, word.as_str(), reply.header("retry-after")), (status, code, wait));
    }
    sandbox.set_faults("html=1".parse().unwrap());
    let page = user.get("me").await;
    assert_eq!((page.status, page.header("content-type")), (502, "text/html; charset=UTF-8"));
    let bearer = format!("Bearer {}", user.token);
    for spec in ["reset=1", "half=1"] {
        sandbox.set_faults(spec.parse().unwrap());
        let headers = [("authorization", bearer.as_str())];
        let broken = user.try_send("GET", "/v1.0/me", &headers, "").await;
        assert!(broken.is_err(), "{spec}");
    }
}

/// Pages of a large mailbox arrive quickly at any offset.
#[tokio::test]
async fn pages_of_large_mailboxes_are_quick() {
    let dir = TempDir::new().unwrap();
    let mut mbox = String::new();
    for number in 0..10_000 {
        let (day, minute) = (1 + number / 1_000, number % 60);
        write!(
            mbox,
            "From - Mon Jan  5 08:00:00 2026\nFrom: Person {} <p{}@example.com>\n\
             To: mira@example.com\nSubject: Letter {number}\n\
             Date: {day} Jan 2026 08:{minute:02}:00 +0000\nMessage-ID: <{number}@example.com>\n\n\
             Text {number}\n\n",
            number % 100,
            number % 100
        )
        .unwrap();
    }
    fs::create_dir(dir.path().join(ME)).unwrap();
    fs::write(dir.path().join(ME).join("all.mbox"), mbox).unwrap();
    let sandbox = over(dir.path()).await;
    let user = signed_in(&sandbox).await;
    let filter = "from/emailAddress/address eq 'p7@example.com'";
    let newest = user.json("me/messages?%24top=1").await["value"][0].clone();
    let conversation = format!(
        "conversationId eq '{}' or parentFolderId eq '{}'",
        text(&newest["conversationId"]),
        text(&newest["parentFolderId"])
    );
    for options in [
        &[][..],
        &[("$skip", "9990")],
        &[("$filter", filter)],
        &[("$filter", conversation.as_str())],
        &[("$filter", "isRead eq false"), ("$skip", "9000")],
        &[("$orderby", "receivedDateTime asc"), ("$skip", "5000")],
    ] {
        // What is read once is read at the first request.
        user.subjects("me/messages", options).await;
        let start = Instant::now();
        assert_eq!(user.subjects("me/messages", options).await.len(), 10);
        let taken = start.elapsed();
        assert!(taken < Duration::from_millis(500), "{options:?}: {taken:?}");
    }
}

/// Malformed and hostile messages are returned as valid JSON.
#[tokio::test]
async fn hostile_messages_come_as_json() {
    let deep: String = (0..300)
        .map(|depth| format!("Content-Type: multipart/mixed; boundary=b{depth}\n\n--b{depth}\n"))
        .collect();
    let many = "a@x.example, ".repeat(5_000);
    let messages: [(&str, Vec<u8>); 7] = [
        ("bytes", b"From: \xff\xfe <\xe9@x>\nSubject: \xe9\xe8\n\n\xff\xfe\x00".to_vec()),
        ("brackets", b"From: <<<<a@b>>>>, ,;:\nTo: :;:;,,\nSubject: <>\n\nx".to_vec()),
        ("quotes", b"From: \"never closed <a@b>\nTo: (((((\nSubject: \"\\\n\nx".to_vec()),
        ("groups", b"From: g: a@x, b@x;, c@x\nTo: undisclosed-recipients:;\n\nx".to_vec()),
        ("deep", format!("From: d@x\nSubject: deep\nMIME-Version: 1.0\n{deep}end").into_bytes()),
        ("many", format!("From: m@x\nSubject: many\nTo: {many}\n\nx").into_bytes()),
        ("words", b"From: =?utf-8?q?=FF=00=0A?= <a@x>\nSubject: =?x?q?y?=\n\nx".to_vec()),
    ];
    let dir = TempDir::new().unwrap();
    fs::create_dir(dir.path().join(ME)).unwrap();
    for (name, message) in &messages {
        fs::write(dir.path().join(ME).join(format!("{name}.eml")), message).unwrap();
    }
    let sandbox = over(dir.path()).await;
    assert_eq!(sandbox.report().skipped, []);
    let user = signed_in(&sandbox).await;
    let select = "id,subject,body,bodyPreview,from,sender,toRecipients,replyTo,\
                  internetMessageHeaders,hasAttachments";
    let list = user.json(&format!("me/messages?%24top=50&%24select={select}")).await;
    let rows = list["value"].as_array().unwrap();
    assert_eq!(rows.len(), messages.len());
    let of = |subject: &str| rows.iter().find(|row| row["subject"] == subject).unwrap();
    assert_eq!(of("éè")["from"]["emailAddress"]["address"], "é@x");
    assert_eq!(of("many")["toRecipients"].as_array().unwrap().len(), 500);
    let group = rows.iter().find(|row| row["from"]["emailAddress"]["address"] == "a@x");
    assert_eq!(group.unwrap()["toRecipients"], json!([]));
    for (name, query) in [
        ("$search", "\"from:x NOT subject:many\"".to_owned()),
        ("$filter", "contains(from/emailAddress/name,'x')".to_owned()),
    ] {
        let path = format!("me/messages?{}", form([(name, query.as_str())]));
        assert_eq!(user.get(&path).await.status, 200, "{path}");
    }
    for (name, query) in [
        ("$search", format!("\"{}a\"", "(".repeat(10_000))),
        ("$search", format!("\"{}a\"", "NOT ".repeat(10_000))),
        ("$filter", format!("{}isRead eq true", "(".repeat(10_000))),
        ("$filter", format!("{}isRead eq true", "not ".repeat(5_000))),
        ("$filter", format!("{}true", "categories/any(a:".repeat(1_000))),
    ] {
        let path = format!("me/messages?{}", form([(name, query.as_str())]));
        assert_eq!(user.get(&path).await.refusal().1, "BadRequest");
    }
}
