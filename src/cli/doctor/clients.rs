//! Checks of the OAuth clients: their form, and the provider's answers to them.

use daysheet_core::error::ErrorKind;

use super::finding::{CheckName, Finding, FindingState};
use crate::app::App;
use crate::config::{Config, is_guid};
use crate::oauth;

/// Parts of the sample values in guides.
const PLACEHOLDERS: &[&str] = &[
    "your", "example", "placeholder", "xxx", "changeme", "client_id", "client-id", "<", "{", "...",
    "01234567-89ab", "00000000-0000",
];

/// Checks the OAuth clients of these providers; online, also with their providers.
pub(super) async fn clients(app: &App, providers: &[&str], offline: bool) -> Vec<Finding> {
    let mut found = Vec::new();
    for &provider in providers {
        found.extend(client(app, provider, offline).await);
    }
    found
}

async fn client(app: &App, provider: &str, offline: bool) -> Vec<Finding> {
    let config = &app.config;
    let title = oauth::provider_named(provider).map_or(provider, |one| one.title);
    let problems = match provider {
        "google" => google(config),
        _ => microsoft(config),
    };
    if !problems.is_empty() {
        return problems.into_iter().map(|finding| finding.about(title)).collect();
    }
    let good = |what: &str| vec![Finding::good(CheckName::Client, what).about(title)];
    if offline {
        return good("an OAuth client is set");
    }
    let scopes = app.connect.scopes(provider, false, config.access).unwrap_or_default();
    match oauth::check_client(config, provider, &scopes).await {
        Ok(()) => good("accepts the OAuth client"),
        Err(error) => {
            let is_network = matches!(error.kind(), ErrorKind::Network | ErrorKind::Timeout);
            let state = if is_network { FindingState::Skipped } else { FindingState::Failed };
            vec![Finding::of_error(CheckName::Client, state, &error)]
        }
    }
}

fn failed(what: impl Into<String>) -> Finding {
    Finding::new(CheckName::Client, FindingState::Failed, what)
}

/// Returns the problem of an invalid id.
fn wrong_id(id: &str, form: &str) -> String {
    let lower = id.to_lowercase();
    if PLACEHOLDERS.iter().any(|part| lower.contains(part)) {
        return "the client id is a placeholder of a guide".to_owned();
    }
    if id.contains('@') {
        return "the client id is an e-mail address".to_owned();
    }
    if id.starts_with("GOCSPX-") {
        return "the client id is a client secret".to_owned();
    }
    format!("the client id does not have the form {form}")
}

fn google(config: &Config) -> Vec<Finding> {
    let client = &config.google;
    let next = "copy DAYSHEET_GOOGLE_CLIENT_ID from Google's console, page Clients; \
                docs/guide/setup-google.md says how";
    let Some(id) = &client.id else {
        return vec![failed("no OAuth client is set").next(next)];
    };
    let ending = ".apps.googleusercontent.com";
    let number = id.strip_suffix(ending).and_then(|name| name.split('-').next());
    let is_id = number.is_some_and(|number| {
        !number.is_empty() && number.chars().all(|digit| digit.is_ascii_digit())
    });
    if !is_id {
        return vec![failed(wrong_id(id, &format!("NUMBER-LETTERS{ending}"))).next(next)];
    }
    // The pages of a server need a Web client.
    if client.is_web && config.http.public_url.is_none() {
        let next = "create a client of the type `Desktop app`, and download its JSON; \
                    docs/guide/setup-google.md says how";
        return vec![failed("credentials.json is of a Web client").next(next)];
    }
    let Some(secret) = &client.secret else {
        let next = "set DAYSHEET_GOOGLE_CLIENT_SECRET, which Google's desktop apps have, too";
        return vec![failed("the client secret is missing").next(next)];
    };
    let secret = secret.secret();
    let next = "copy DAYSHEET_GOOGLE_CLIENT_SECRET again from Google's console, page Clients";
    if secret.ends_with(ending) {
        return vec![failed("the client secret is a client id").next(next)];
    }
    let lower = secret.to_lowercase();
    if PLACEHOLDERS.iter().any(|part| lower.contains(part)) && !secret.starts_with("GOCSPX-") {
        return vec![failed("the client secret is a placeholder of a guide").next(next)];
    }
    Vec::new()
}

fn microsoft(config: &Config) -> Vec<Finding> {
    let client = &config.microsoft;
    let next = "copy Application (client) ID from the overview page of the app into \
                DAYSHEET_MICROSOFT_CLIENT_ID; docs/guide/setup-microsoft.md says how";
    let Some(id) = &client.id else {
        return vec![failed("no OAuth client is set").next(next)];
    };
    let is_placeholder = PLACEHOLDERS.iter().any(|part| id.to_lowercase().contains(part));
    if !is_guid(id) || is_placeholder {
        return vec![failed(wrong_id(id, "of a GUID")).next(next)];
    }
    if client.secret.is_some() && config.http.public_url.is_none() {
        let next = "remove DAYSHEET_MICROSOFT_CLIENT_SECRET; a desktop app has none";
        return vec![failed("a client secret is set for a public client").next(next)];
    }
    Vec::new()
}
