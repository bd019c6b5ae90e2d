//! Connecting an account: to the provider's consent page and back.
//!
//! A sign-in in progress is a sealed ticket in the person's own rows; its id is the `state` of the
//! redirect. Another person's session finds no ticket with that id, and another browser of the same
//! person has another session, so that an attacker cannot make a person connect an account that
//! someone else signed in to. Any instance can finish the sign-in.

use std::collections::HashMap;
use std::sync::Arc;

use axum::extract::{Path, Query, RawQuery, State};
use axum::response::Response;
use daysheet_core::error::{Error, ErrorKind, Result};
use maud::{Markup, html};
use serde::{Deserialize, Serialize};
use url::Url;

use super::accounts;
use super::layout::{PageProblem, leading_on, page, words};
use super::outcome::ConnectOutcome;
use super::session::{BrowserSession, FormPost, PageVisitor};
use super::state::PageState;
use super::work::carry_out;
use crate::app::App;
use crate::config::Config;
use crate::oauth::{WebSignIn, provider_named};
use crate::pipeline::{FinishedSignIn, finish};
use crate::store::{SealedText, TicketKind};
use crate::tools::accounts::SignInArguments;

/// The time limit for the consent page, in seconds.
const PATIENCE: i64 = 15 * 60;
/// The purpose that the contents of tickets are sealed for.
const STATE: &str = "connect";
/// The path that the consent page redirects to.
const CALLBACK: &str = "/connect/callback";

/// A sign-in in progress.
#[derive(Serialize, Deserialize)]
struct BegunConnection {
    sign_in: WebSignIn,
    hint: Option<String>,
    mailbox: Option<String>,
    provider: String,
    /// A token of the session that started the sign-in; it is useless for anything else.
    session: String,
}

impl BegunConnection {
    fn read(bytes: &[u8]) -> Result<Self> {
        serde_json::from_slice(bytes).map_err(|_| {
            Error::new(ErrorKind::Store, "a sign-in in progress cannot be read")
                .next("start the sign-in again")
        })
    }
}

/// Replaces next steps that need the server's operator or a command line.
fn for_people(config: &Config, error: Error) -> Error {
    match error.kind() {
        ErrorKind::Auth if config.shared => Error::new(ErrorKind::Auth, error.message())
            .next("try again; if it fails again, show this to the operator of this server"),
        _ => error,
    }
}

/// `GET /connect/{provider}`: shows the permissions that will be requested.
pub(super) async fn ask(
    PageVisitor { session, app, .. }: PageVisitor,
    Path(provider): Path<String>,
    Query(suggested): Query<HashMap<String, String>>,
) -> std::result::Result<Response, PageProblem> {
    let provider = provider_named(&provider)?;
    if !accounts::offers(&app.config, provider) {
        let what = format!("{} accounts cannot be connected to this server yet", provider.title);
        return Err(Error::new(ErrorKind::Auth, what).next("ask its operator for it").into());
    }
    let value = |name: &str| suggested.get(name).map_or("", String::as_str);
    let shared = !value("mailbox").is_empty();
    let scopes = app.connect.scopes(provider.name, shared, app.config.access)?;
    let action = format!("/connect/{}", provider.name);
    let tenants = provider.name == "microsoft";
    let body = html! {
        p {
            "Daysheet sends you to " (provider.title) ", where you sign in and allow access. The \
             account is then connected to "
            @if let Some(name) = &session.name { strong { (name) } } @else { "you" }
            " here, and to nobody else."
        }
        h2 { "Permissions that Daysheet requests" }
        (accounts::scopes(&scopes))
        p.hint {
            "Your access level is " strong { (app.config.access.word()) } ". A lower level \
             requests less: " a href="/accounts#level" { "change it" } " first."
        }
        form method="post" action=(action) {
            (session.field(&action))
            (text_field(&TextField {
                name: "hint",
                label: "Address (optional)",
                value: value("hint"),
                hint: "The address to suggest on the sign-in page.",
            }))
            @if tenants {
                (text_field(&TextField {
                    name: "mailbox",
                    label: "Shared mailbox (optional)",
                    value: value("mailbox"),
                    hint: "The address of a mailbox that others share with you.",
                }))
                (text_field(&TextField {
                    name: "tenant",
                    label: "Tenant (optional)",
                    value: value("tenant"),
                    hint: "The domain of your organization's directory, if sign-in needs it.",
                }))
            }
            div.row {
                button.main #continue { "Continue to " (provider.title) }
                a.button href="/accounts" { "Cancel" }
            }
        }
    };
    Ok(page(&format!("Connect a {} account", provider.title), Some(&session), body))
}

/// A text field of the form.
struct TextField<'a> {
    /// The name in the form's content, and the element's id.
    name: &'a str,
    /// The text in front of the field.
    label: &'a str,
    /// The text that the field has at first.
    value: &'a str,
    /// The explanation below the field.
    hint: &'a str,
}

/// Returns a text field with its label and its hint.
fn text_field(field: &TextField) -> Markup {
    let TextField { name, label, value, hint } = field;
    html! {
        label for=(name) { (label) }
        input id=(name) name=(name) type="text" value=(value) autocomplete="off"
            aria-describedby={ (name) "-hint" };
        p.hint id={ (name) "-hint" } { (hint) }
    }
}

/// `POST /connect/{provider}`: sends the browser to the consent page.
pub(super) async fn begin(
    State(pages): State<Arc<PageState>>,
    Path(provider): Path<String>,
    post: FormPost,
) -> std::result::Result<Response, PageProblem> {
    let PageVisitor { session, app, .. } = &post.visitor;
    let provider = provider_named(&provider)?;
    let text = |name: &str| post.field(name).map(str::to_owned);
    let add = SignInArguments {
        provider: provider.name.to_owned(),
        tenant: text("tenant"),
        address: text("hint"),
        mailbox: text("mailbox"),
        device: false,
    };
    add.check()?;
    let page = consent_page(&pages, session, app, &add).await;
    let page = page.map_err(|error| for_people(&app.config, error))?;
    let body = html! {
        p { a.button.main #continue href=(page) { "Continue to " (provider.title) } }
    };
    Ok(leading_on(&format!("Continue to {}", provider.title), session, &page, body))
}

/// Begins a sign-in and returns the URL of the consent page.
async fn consent_page(
    pages: &PageState,
    session: &BrowserSession,
    app: &App,
    add: &SignInArguments,
) -> Result<Url> {
    let scopes = app.connect.scopes(&add.provider, add.mailbox.is_some(), app.config.access)?;
    let (config, redirect) = (&app.config, pages.address(CALLBACK));
    let sign_in =
        WebSignIn::begin(config, &add.provider, add.tenant.as_deref(), &scopes, &redirect)?;
    let begun = BegunConnection {
        sign_in,
        hint: add.address.clone(),
        mailbox: add.mailbox.clone(),
        provider: add.provider.clone(),
        session: session.token(CALLBACK),
    };
    let content = serde_json::to_vec(&begun)
        .map_err(|_| Error::new(ErrorKind::Internal, "a sign-in could not be serialized"))?;
    let sealed = app.store().seal(STATE, &content).await?;
    let state = app.store().put_ticket(TicketKind::Connection, sealed.as_str(), PATIENCE).await?;
    begun.sign_in.page(config, state, begun.hint.as_deref())
}

/// `GET /connect/callback`: handles the return from the consent page. It redirects to the accounts,
/// so that the browser's history does not keep the code, and the page can be reloaded.
pub(super) async fn back(
    State(pages): State<Arc<PageState>>,
    PageVisitor { session, app, .. }: PageVisitor,
    RawQuery(query): RawQuery,
) -> std::result::Result<Response, PageProblem> {
    let query = query.unwrap_or_default();
    let state = url::form_urlencoded::parse(query.as_bytes()).find(|(key, _)| key == "state");
    let state = state.map(|(_, state)| state.into_owned()).unwrap_or_default();
    let other = || {
        PageProblem::bad(
            "this sign-in was already finished, has expired, or was started in another browser or \
             by another person; nothing was connected",
        )
    };
    let sealed =
        app.store().take_ticket(TicketKind::Connection, &state).await?.ok_or_else(other)?;
    let begun =
        BegunConnection::read(&app.store().unseal(STATE, &SealedText::stored(sealed)).await?)?;
    if !session.is_token(CALLBACK, &begun.session) {
        return Err(other());
    }
    let provider = provider_named(&begun.provider)?;
    // The code works once: if the browser disconnects now, the grant must not be lost.
    let work = connected(app.clone(), begun, query);
    let outcome = match carry_out(&app, work).await {
        Ok(FinishedSignIn { account, note, .. }) => {
            let what = format!("{} account connected: {}", provider.title, account.email);
            ConnectOutcome { what, note, again: None }
        }
        Err(error) => {
            let what = format!("not connected: {}", words(&for_people(&app.config, error)));
            ConnectOutcome { what, note: None, again: Some(provider.name.to_owned()) }
        }
    };
    Ok(outcome.redirect(&pages, &session).await?)
}

/// Exchanges the code and adds the account.
async fn connected(app: Arc<App>, begun: BegunConnection, query: String) -> Result<FinishedSignIn> {
    let tokens = begun.sign_in.finish(&app.config, &query).await?;
    let add = SignInArguments {
        provider: begun.provider,
        address: begun.hint,
        mailbox: begun.mailbox,
        ..SignInArguments::default()
    };
    finish(&app.accounts, &*app.connect, tokens, &add).await
}
