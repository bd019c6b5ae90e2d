//! A person's accounts: their permissions, connecting and disconnecting them, and the access level.

use std::sync::Arc;

use axum::extract::{Query, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Redirect, Response};
use daysheet_core::access::AccessLevel;
use daysheet_core::ids::AccountId;
use daysheet_core::provider::{Account, AccountStatus};
use jiff::tz::TimeZone;
use maud::{Markup, html};
use serde::Deserialize;

use super::clients::client_links;
use super::layout::{PageProblem, page, sentence, time};
use super::outcome::ConnectOutcome;
use super::session::{BrowserSession, FormPost, PageVisitor};
use super::state::PageState;
use super::work::carry_out;
use crate::config::Config;
use crate::oauth::{OAuthProvider, PROVIDERS, provider_named};

/// Scopes in words. Scopes that are URLs are listed by their last part.
const SCOPES: &[(&str, &str)] = &[
    ("gmail.readonly", "Read mail"),
    ("gmail.modify", "Read, organize, write and send mail, but not delete it permanently"),
    ("mail.google.com/", "Everything with mail, including permanent deletion"),
    ("gmail.settings.basic", "Change mail settings: filters, labels, automatic replies"),
    ("calendar.readonly", "Read calendars"),
    ("calendar", "Read and change calendars"),
    ("contacts.readonly", "Read contacts"),
    ("contacts", "Read and change contacts"),
    ("contacts.other.readonly", "Read the addresses you have written to"),
    ("Mail.Read", "Read mail"),
    ("Mail.ReadWrite", "Read, organize and draft mail"),
    ("Mail.Send", "Send mail"),
    ("Mail.Read.Shared", "Read the shared mailbox"),
    ("Mail.ReadWrite.Shared", "Read, organize and draft mail in the shared mailbox"),
    ("Mail.Send.Shared", "Send mail from the shared mailbox"),
    ("MailboxSettings.Read", "Read mail settings"),
    ("MailboxSettings.ReadWrite", "Change mail settings"),
    ("Contacts.Read", "Read contacts"),
    ("Contacts.ReadWrite", "Read and change contacts"),
    ("Calendars.Read", "Read calendars"),
    ("Calendars.ReadWrite", "Read and change calendars"),
    ("Calendars.Read.Shared", "Read shared calendars"),
    ("Calendars.ReadWrite.Shared", "Read and change shared calendars"),
    ("People.Read", "Read the people you work with"),
    ("User.Read", "Read your name and address"),
];
/// Scopes that only the sign-in itself needs; not shown.
const SILENT: &[&str] = &["offline_access", "openid", "profile", "email"];

/// Returns the permissions of an access level in words.
const fn allows(level: AccessLevel) -> &'static str {
    match level {
        AccessLevel::Read => "read, and change nothing",
        AccessLevel::Organize => "also mark, move and file mail and events",
        AccessLevel::Draft => "also write drafts, but not send them",
        AccessLevel::Send => "also send mail, invitations and answers",
        AccessLevel::Full => "also delete permanently",
    }
}

/// Returns a list of scopes in words; unknown scopes are shown unchanged.
pub(super) fn scopes(scopes: &[impl AsRef<str>]) -> Markup {
    let words = |scope: &str| {
        let known = SCOPES.iter().find(|(name, _)| {
            scope
                .strip_suffix(name)
                .is_some_and(|before| before.is_empty() || before.ends_with('/'))
        });
        known.map_or_else(|| scope.to_owned(), |(_, words)| (*words).to_owned())
    };
    html! {
        ul.words {
            @for scope in scopes.iter().map(AsRef::as_ref).filter(|scope| !SILENT.contains(scope)) {
                li { (words(scope)) }
            }
        }
    }
}

/// Returns true if accounts of a provider can be connected. A server for one person offers them
/// all, and explains which settings are missing.
pub(super) fn offers(config: &Config, provider: &OAuthProvider) -> bool {
    !config.shared || provider.has_client(config)
}

/// The account in a page's query.
#[derive(Debug, Deserialize)]
pub(super) struct NamedAccount {
    account: AccountId,
}

/// `GET /accounts`.
pub(super) async fn list(
    State(pages): State<Arc<PageState>>,
    headers: HeaderMap,
    PageVisitor { session, app, .. }: PageVisitor,
) -> std::result::Result<Response, PageProblem> {
    let outcome = ConnectOutcome::take(&pages, &session, &headers).await?;
    let accounts = app.accounts.list().await?;
    let uses = app.accounts.last_uses().await?;
    let zone = &app.config.zone;
    let body = html! {
        @if let Some(outcome) = &outcome { (outcome.markup()) }
        @if accounts.is_empty() {
            p #none { "No account is connected yet." }
        } @else {
            div.cards #accounts {
                @for account in &accounts { (card(account, uses.get(&account.id).copied(), zone)) }
            }
        }
        h2 { "Connect an account" }
        div.row {
            @for provider in PROVIDERS.iter().filter(|one| offers(&app.config, one)) {
                a.button id={ "connect-" (provider.name) } href={ "/connect/" (provider.name) } {
                    "Connect " (provider.title)
                }
            }
        }
        (client_links(&pages))
        (levels(&pages, &session, app.config.access))
    };
    let mut response = page("Accounts", Some(&session), body);
    if outcome.is_some() {
        ConnectOutcome::clear(&pages, &mut response);
    }
    Ok(response)
}

/// Returns an account with its actions. `used` is the time of its last use, in seconds since 1970.
fn card(account: &Account, used: Option<i64>, zone: &TimeZone) -> Markup {
    html! {
        section.card {
            h2 { (account.email) }
            @if let Some(via) = &account.via { p.hint { "through " (via) } }
            p { (title(&account.provider)) " · " (status(account)) }
            p.hint {
                "Added " (time(account.added.as_second(), zone)) ". "
                @match used {
                    Some(used) => { "Last used " (time(used, zone)) "." }
                    None => { "Never used." }
                }
            }
            details {
                summary { "Permissions" }
                (scopes(&account.scopes))
            }
            (actions(account))
        }
    }
}

fn title(provider: &str) -> &str {
    provider_named(provider).map_or(provider, |provider| provider.title)
}

fn status(account: &Account) -> Markup {
    html! {
        @if account.status == AccountStatus::Ok { "Ready" } @else {
            strong { "Sign in again" }
            @if let Some(problem) = &account.problem { ": " (sentence(problem)) }
        }
    }
}

fn actions(account: &Account) -> Markup {
    let query = |pairs: &[(&str, &str)]| {
        url::form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish()
    };
    let tenant = account.tenant.as_deref().map(|tenant| ("tenant", tenant));
    let again: Vec<_> = match &account.via {
        // The person to sign in is the one with whom the mailbox is shared.
        Some(via) => [("hint", via.as_str()), ("mailbox", account.email.as_str())]
            .into_iter()
            .chain(tenant)
            .collect(),
        None => std::iter::once(("hint", account.email.as_str())).chain(tenant).collect(),
    };
    html! {
        div.row {
            a.button href={ "/connect/" (account.provider) "?" (query(&again)) }
                aria-label={ "Sign in again: " (account.email) } { "Sign in again" }
            a.button.danger
                href={ "/accounts/disconnect?" (query(&[("account", account.id.as_str())])) }
                aria-label={ "Disconnect " (account.email) } { "Disconnect" }
        }
    }
}

/// Returns the form for the person's own access level.
fn levels(pages: &PageState, session: &BrowserSession, now: AccessLevel) -> Markup {
    let server = pages.service.people.base().config.access;
    let most = session.access().min(server);
    let who = if most < server { "The token that you signed in with" } else { "This server" };
    html! {
        h2 #level { "Your access level" }
        p {
            "What programs may do with your accounts. " (who) " allows you up to "
            strong { (most.word()) } "; you can choose a lower level."
        }
        form method="post" action="/accounts/level" {
            (session.field("/accounts/level"))
            label for="level-choice" { "Access level" }
            select #level-choice name="level" {
                @for level in AccessLevel::ALL.into_iter().filter(|level| *level <= most) {
                    option value=(level.word()) selected[level == now] {
                        (level.word()) ": " (allows(level))
                    }
                }
            }
            div.row { button #save-level { "Save" } }
        }
    }
}

/// `POST /accounts/level`.
pub(super) async fn level(
    State(pages): State<Arc<PageState>>,
    post: FormPost,
) -> std::result::Result<Response, PageProblem> {
    let level = post.field("level").and_then(AccessLevel::find);
    let level = level.ok_or_else(|| PageProblem::bad("this access level does not exist"))?;
    let most = pages.service.people.base().config.access;
    if level > most {
        return Err(PageProblem::bad(format!(
            "nothing was changed: this server allows `{}` at most",
            most.word()
        )));
    }
    post.manager()?.app.store().set_own_access(level).await?;
    Ok(Redirect::to("/accounts#level").into_response())
}

/// `GET /accounts/disconnect`: asks for confirmation.
pub(super) async fn ask(
    PageVisitor { session, app, .. }: PageVisitor,
    Query(named): Query<NamedAccount>,
) -> std::result::Result<Response, PageProblem> {
    let account = app.accounts.by_id(&named.account).await?;
    let body = html! {
        p {
            "Daysheet deletes its tokens for " strong { (account.email) } " and asks "
            (title(&account.provider)) " to revoke its access. Your mail and events do not change."
        }
        form method="post" action="/accounts/disconnect" {
            (session.field("/accounts/disconnect"))
            input type="hidden" name="account" value=(account.id);
            div.row {
                button.danger #confirm-disconnect { "Disconnect" }
                a.button href="/accounts" { "Cancel" }
            }
        }
    };
    Ok(page(&format!("Disconnect {}?", account.email), Some(&session), body))
}

/// `POST /accounts/disconnect`.
pub(super) async fn disconnect(post: FormPost) -> std::result::Result<Response, PageProblem> {
    let PageVisitor { session, app, .. } = post.manager()?;
    let account = app.accounts.by_id(&post.field("account").unwrap_or_default().into()).await?;
    let (pipeline, id) = (app.pipeline.clone(), account.id.clone());
    let work = async move { pipeline.sign_out(id.as_str()).await };
    let (outcome, problem) = carry_out(app, work).await?;
    let body = html! {
        p #outcome { (account.email) " is disconnected: " (outcome) "." }
        @if let Some(problem) = problem { p.failed { (sentence(&problem.to_string())) } }
        p { a.button href="/accounts" { "Back to your accounts" } }
    };
    Ok(page("Disconnected", Some(session), body))
}
