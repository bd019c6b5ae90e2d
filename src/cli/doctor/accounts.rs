//! Checks of the signed-in accounts: their tokens, their scopes, and one cheap call of each API.

use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::project::Projection;
use daysheet_core::provider::{Account, AccountStatus, PeopleQuery};
use daysheet_core::schemas::CONTACT;

use super::finding::{CheckName, Finding, FindingState};
use crate::app::App;

/// Checks the accounts; online, also with their providers.
pub(super) async fn accounts(app: &App, offline: bool) -> Vec<Finding> {
    let all = match known(app).await {
        Ok(all) => all,
        Err(error) => {
            return vec![Finding::of_error(CheckName::Accounts, FindingState::Failed, &error)];
        }
    };
    if all.is_empty() {
        let next = "run `daysheet account add google` or `daysheet account add microsoft`";
        let what = "no account is signed in";
        return vec![Finding::new(CheckName::Accounts, FindingState::Failed, what).next(next)];
    }
    let mut found = Vec::new();
    for account in &all {
        let findings = one(app, account, offline).await;
        found.extend(findings.into_iter().map(|finding| finding.about(account.email.as_str())));
    }
    found
}

/// Returns the signed-in accounts, without creating or changing the database.
pub(super) async fn known(app: &App) -> Result<Vec<Account>> {
    let is_current = app.store().state().await?.is_current();
    if is_current { app.accounts.list().await } else { Ok(Vec::new()) }
}

async fn one(app: &App, account: &Account, offline: bool) -> Vec<Finding> {
    let fail = |error: &Error| Finding::of_error(CheckName::Accounts, FindingState::Failed, error);
    // Offline, this returns the reason that was stored with the account.
    if (!offline || account.status != AccountStatus::Ok)
        && let Err(error) = refreshed(app, account).await
    {
        return vec![fail(&error)];
    }
    let mut found = Vec::new();
    let shared = account.via.is_some() && account.provider != "google";
    let wanted = app.connect.scopes(&account.provider, shared, app.config.access);
    match app.accounts.limits(account, &wanted.unwrap_or_default()).await {
        Ok(limits) => {
            found.extend(limits.lacking.iter().map(fail));
            found.extend(
                limits.ending.iter().map(|error| {
                    Finding::of_error(CheckName::Accounts, FindingState::Warning, error)
                }),
            );
        }
        Err(error) => found.push(fail(&error)),
    }
    if !offline {
        for (api, outcome) in calls(app, account).await {
            if let Err(error) = outcome {
                // Each API is enabled by itself.
                found.push(fail(&error).about(api));
            }
        }
    }
    if found.is_empty() {
        let what = if offline { "signed in" } else { "mail, calendars and contacts answer" };
        found.push(Finding::good(CheckName::Accounts, what));
    }
    found
}

/// Gets a new access token, which shows that the grant lasts. The age of the present token does not
/// matter.
async fn refreshed(app: &App, account: &Account) -> Result<()> {
    let token = app.accounts.bearer(&account.id).await?;
    app.accounts.refreshed_after_401(&account.id, &token).await.map(drop)
}

/// Makes one cheap call of each API.
async fn calls(app: &App, account: &Account) -> Vec<(&'static str, Result<()>)> {
    let mail = async { app.connect.mailbox(account)?.names().await.map(drop) };
    let calendars = async { app.connect.calendars(account)?.calendars().await.map(drop) };
    let contacts = async {
        let people = PeopleQuery { limit: 1, ..PeopleQuery::default() };
        let mailbox = app.connect.mailbox(account)?;
        match mailbox.lookup(&CONTACT, &people, &Projection::default()).await {
            // A shared mailbox has no contacts.
            Err(error) if error.kind() == ErrorKind::Argument => Ok(()),
            outcome => outcome.map(drop),
        }
    };
    let (mail, calendars, contacts) = tokio::join!(mail, calendars, contacts);
    vec![("mail", mail), ("calendars", calendars), ("contacts", contacts)]
}
