//! Outlook's automatic replies, language and time zone.
//!
//! They are one object, of which Graph changes only the given fields. Times are written in UTC.

use daysheet_core::error::{Error, Result};
use daysheet_core::event::time;
use daysheet_core::provider::mail::{AutoReply, ReplyAudience};
use daysheet_core::text::brief;
use graph_rs_sdk::http::Method;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::{Map, Value, json};

use crate::json::{nested, text};
use crate::microsoft::calendar::zones;
use crate::microsoft::mail::mailbox::OutlookMailbox;
use crate::written::has_values;

/// Returns the settings.
pub async fn settings(outlook: &OutlookMailbox) -> Result<Value> {
    outlook.own("settings")?;
    let request = outlook.graph().mailbox_url("mailboxSettings", &[]);
    outlook.graph().get(&request).await
}

/// Returns the automatic reply.
pub async fn auto_reply(outlook: &OutlookMailbox) -> Result<AutoReply> {
    Ok(read(nested(&settings(outlook).await?, "automaticRepliesSetting")))
}

fn read(setting: &Value) -> AutoReply {
    let status = text(setting, "status");
    let scheduled = status.eq_ignore_ascii_case("scheduled");
    let time = |key| {
        let time = nested(setting, key);
        let zone = match text(time, "timeZone") {
            "" => "UTC",
            zone => zone,
        };
        // Outlook keeps old times that no longer apply.
        time::local(text(time, "dateTime"), zone).filter(|_| scheduled)
    };
    let some = |key| Some(text(setting, key)).filter(|text| !text.trim().is_empty());
    AutoReply {
        on: scheduled || status.eq_ignore_ascii_case("alwaysEnabled"),
        from: time("scheduledStartDateTime"),
        to: time("scheduledEndDateTime"),
        subject: None,
        html: some("internalReplyMessage").map(str::to_owned),
        external: Some(text(setting, "externalReplyMessage").to_owned()),
        audience: match text(setting, "externalAudience").to_lowercase().as_str() {
            "all" => Some(ReplyAudience::All),
            "contactsonly" => Some(ReplyAudience::Contacts),
            "none" => Some(ReplyAudience::Organization),
            _ => None,
        },
    }
}

/// Sets the automatic reply and returns the settings afterwards. Text and audience stay unless
/// given.
pub async fn set_auto_reply(outlook: &OutlookMailbox, reply: &AutoReply) -> Result<Value> {
    outlook.own("settings")?;
    let body = auto_reply_json(reply, outlook.graph().now())?;
    change(outlook, &json!({ "automaticRepliesSetting": body })).await
}

fn auto_reply_json(reply: &AutoReply, now: Timestamp) -> Result<Value> {
    if reply.subject.is_some() {
        return Err(Error::argument("Outlook's automatic replies have no subject")
            .next("leave out the subject"));
    }
    let utc = |at: Timestamp| {
        let local = at.strftime("%Y-%m-%dT%H:%M:%S").to_string();
        json!({"dateTime": local, "timeZone": "UTC"})
    };
    let mut body = Map::new();
    let mut put = |key: &str, value: Value| drop(body.insert(key.to_owned(), value));
    match (reply.on, reply.from, reply.to) {
        (false, ..) => put("status", "disabled".into()),
        (true, None, None) => put("status", "alwaysEnabled".into()),
        (true, Some(_), None) => {
            return Err(Error::argument(
                "Outlook's automatic replies need an end as well as a start",
            )
            .next("give the end"));
        }
        (true, from, Some(to)) => {
            // Graph requires both times of a scheduled reply.
            let from = from.unwrap_or(now);
            if to <= from {
                return Err(Error::argument("the automatic replies would end before they start")
                    .next("give an end after the start"));
            }
            put("status", "scheduled".into());
            put("scheduledStartDateTime", utc(from));
            put("scheduledEndDateTime", utc(to));
        }
    }
    let texts = [("internalReplyMessage", &reply.html), ("externalReplyMessage", &reply.external)];
    for (key, text) in texts {
        if let Some(html) = text {
            put(key, html.as_str().into());
        }
    }
    if let Some(audience) = reply.audience {
        let word = match audience {
            ReplyAudience::All => "all",
            ReplyAudience::Contacts => "contactsOnly",
            // This concerns outside senders only; the organization always receives the reply.
            ReplyAudience::Organization => "none",
        };
        put("externalAudience", word.into());
    }
    Ok(body.into())
}

/// Sets the language (a BCP 47 tag) and the time zone (an IANA or Windows name), and returns the
/// settings afterwards.
pub async fn set(
    outlook: &OutlookMailbox,
    language: Option<&str>,
    time_zone: Option<&str>,
) -> Result<Value> {
    outlook.own("settings")?;
    let mut body = Map::new();
    if let Some(language) = language {
        let tag = language.trim();
        let good = (2..=35).contains(&tag.len())
            && tag.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        if !good {
            return Err(Error::argument(format!("`{}` is not a language tag", brief(language)))
                .next("give one such as en-GB or de-DE"));
        }
        body.insert("language".to_owned(), json!({ "locale": tag }));
    }
    if let Some(zone) = time_zone {
        let today = outlook.graph().now().to_zoned(TimeZone::UTC).date();
        let known = zones::windows(zone.trim(), today);
        let known = known.ok_or_else(|| {
            Error::argument(format!("Outlook has no time zone `{}`", brief(zone)))
                .next("use an IANA name such as Europe/Berlin, or a Windows name")
        })?;
        body.insert("timeZone".to_owned(), known.into());
    }
    if body.is_empty() {
        return Err(
            Error::argument("there is nothing to set").next("give a language or a time zone")
        );
    }
    let body = Value::Object(body);
    let mut now = change(outlook, &body).await?;
    // A Windows zone stands for many cities; the answer names the one that was given.
    let given = time_zone.and_then(|zone| time::zone_name(zone.trim()));
    if let (Some(given), Some(shown)) = (given, now.get_mut("timeZone"))
        && Some(&*shown) == body.get("timeZone")
    {
        *shown = given.into();
    }
    Ok(now)
}

async fn change(outlook: &OutlookMailbox, body: &Value) -> Result<Value> {
    let request = outlook.graph().mailbox_url("mailboxSettings", &[]);
    let set = async || {
        let found = settings(outlook).await?;
        Ok(Some(found).filter(|found| has_values(Some(found), body)))
    };
    outlook.graph().write_for_sure(&Method::PATCH, &request, None, Some(body), set).await?;
    // The response to the change contains only the changed fields.
    settings(outlook).await.map_err(|error| error.context("it was set, but could not be read back"))
}
