//! A third provider in about 830 lines: mail over plain JMAP (RFC 8620, RFC 8621), read-only,
//! behind the same port as Gmail and Outlook.
//!
//! `JMAP_TOKEN=… cargo run --example jmap https://mail.example/jmap/session`
//! lists the inbox of a JMAP server. To become part of the program, it would need a sign-in; see
//! "Add a provider" in `docs/reference/extending.md`.

#![allow(clippy::print_stdout, reason = "an example shows what it got")]

mod client;
mod mailbox;
mod mapping;
mod objects;
mod query;

use std::collections::HashMap;
use std::time::Duration;

use daysheet_core::clock::Clock;
use daysheet_core::encode::{Document, Format};
use daysheet_core::flatten::{RowContext, RowRoom, flatten};
use daysheet_core::project::project;
use daysheet_core::provider::upstream::UpstreamShare;
use daysheet_core::provider::{
    ListRequest, Mailbox, ProviderEndpoints, ServiceSettings, TokenSource,
};
use daysheet_core::query::{DateContext, parse};
use daysheet_core::schemas::{ColumnLevel, MESSAGE};
use jiff::tz::TimeZone;
use url::Url;

use crate::mailbox::JmapMailbox;

/// The number of messages that are listed.
const LIMIT: usize = 20;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let session = std::env::args().nth(1).ok_or("name the URL of a JMAP session")?;
    // Not an argument, because other users of the machine see those.
    let token = std::env::var("JMAP_TOKEN").map_err(|_missing| "set JMAP_TOKEN")?;
    let services = ServiceSettings {
        // Those of the other services, which nothing here calls.
        endpoints: ProviderEndpoints::below(&Url::parse(&session)?)?,
        look: Duration::ZERO,
        retry: Duration::from_millis(250),
        clock: Clock::system(),
        share: UpstreamShare::default(),
        connect: None,
    };
    let mailbox = JmapMailbox::new(&services, TokenSource::fixed(&token), &session)?;

    let dates = DateContext { now: services.clock.now(), zone: TimeZone::system() };
    let columns = MESSAGE.up_to(ColumnLevel::Core);
    let request = ListRequest {
        query: Some(parse("in:inbox", &dates)?),
        folder: None,
        projection: project(mailbox.api(), &columns),
        limit: LIMIT,
        oldest: false,
        cursor: None,
        hidden: false,
    };
    let page = mailbox.messages(&request).await?;
    let names: HashMap<String, String> = mailbox.names().await?;
    let context = RowContext {
        api: mailbox.api(),
        zone: &dates.zone,
        account: "",
        address: "",
        names: &names,
        room: RowRoom::List,
    };
    let (rows, _) = flatten(&MESSAGE, &columns, &page.items, &context);
    let document = Document { scalars: Vec::new(), tables: vec![rows] };
    println!("{}", Format::default().encode(&document));
    Ok(())
}
