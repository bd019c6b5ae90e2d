//! Sign-ins that a provider refuses: the steps of `tests/transcripts/sign_in.txt`.

use daysheet::oauth::{DeviceSignIn, GrantedTokens, SignIn};
use daysheet::pipeline::BegunSignIn;
use daysheet::tools::accounts::SignInArguments;
use daysheet_core::error::Error;
use daysheet_core::provider::AccountStatus;

use super::device::code;
use super::microsoft::{EMAIL, tokens};
use super::outcome::Mira;
use super::token_server::{Answer, TokenServer, get, page_text, redirect, sign_in_at};
use super::unattended::service_account;

/// Returns what each step shows, which begins with its flow and the provider:
///
/// - `token google ANSWER`: the token endpoint answers a sign-in, and then a refresh.
/// - `page google QUERY`: the consent page redirects with this query.
/// - `begin microsoft ANSWER`, `device microsoft ANSWER`: the endpoint answers the request for a
///   device code, or the one for its tokens.
/// - `service google ANSWER`: the token endpoint answers a service account.
///
/// An answer is an HTTP status with a body, or an OAuth error, which Microsoft's number and further
/// members may follow.
pub async fn answers(steps: impl Iterator<Item = &str>) -> Vec<Vec<String>> {
    let mut all = Vec::new();
    for step in steps {
        let words: Vec<&str> = step.splitn(3, ' ').collect();
        let [flow, provider, rest] = words[..] else { panic!("{step}") };
        all.push(match flow {
            "token" => token(provider, rest.to_owned()).await,
            "page" => page(provider, rest).await,
            "begin" | "device" => device(provider, rest.to_owned(), flow == "begin").await,
            "service" => service(provider, rest.to_owned()).await,
            _ => panic!("an unknown flow: {step}"),
        });
    }
    // The port of the imitated provider differs between runs.
    let server = regex::Regex::new(r"http://127\.0\.0\.1:\d+/").unwrap();
    for line in all.iter_mut().flatten() {
        *line = server.replace_all(line, "[SERVER]/").into_owned();
    }
    all
}

fn answer(words: &str) -> Answer {
    let (first, rest) = words.split_once(' ').unwrap_or((words, ""));
    let (number, more) = rest.split_once(' ').unwrap_or((rest, ""));
    match number.parse() {
        _ if first.parse::<u16>().is_ok() => Answer::new(first.to_owned().leak(), rest),
        Ok(number) => Answer::entra(first, number, more),
        Err(_) => Answer::error(first),
    }
}

fn shown(error: &Error) -> String {
    format!("! {:?}: {error}", error.kind())
}

async fn token(provider: &str, words: String) -> Vec<String> {
    let server = TokenServer::start(move |_, _| answer(&words)).await;
    let error = sign_in_at(&server.config(), provider, None).await.unwrap_err();
    assert_eq!(server.count(), 1, "asked once and nowhere else: {error}");
    let granted = match provider {
        "google" => GrantedTokens { provider: "google", tenant: None, ..tokens("", "rt", 0) },
        _ => tokens("common", "rt", 0),
    };
    let accounts = server.accounts();
    let id = accounts.add(granted, EMAIL).await.unwrap().id;
    let mut lines = vec![shown(&error)];
    let Err(refused) = accounts.bearer(&id).await else {
        lines.push("| then refreshed".to_owned());
        return lines;
    };
    let account = accounts.find(None).await.unwrap();
    if account.status == AccountStatus::Ok {
        assert_eq!((shown(&refused), account.problem), (shown(&error), None));
    } else {
        let problem = account.problem.unwrap();
        assert_eq!(refused.message(), problem);
        // The list of accounts has the reason, and this note with the cure.
        let ended = accounts.limits(&accounts.find(None).await.unwrap(), &[]).await.unwrap().ended;
        assert_eq!(ended.map(|ended| shown(&ended)), Some(shown(&refused)));
        // Another process reports the same without a request.
        let count = server.count();
        let other = server.accounts().bearer(&id).await.unwrap_err();
        assert_eq!((shown(&other), server.count()), (shown(&refused), count));
        lines.push(format!("! then {}: {refused}", account.status));
    }
    lines
}

async fn page(provider: &str, query: &str) -> Vec<String> {
    let server = TokenServer::start(|_, _| Answer::error("unasked")).await;
    let sign_in = SignIn::start(&server.config(), provider, None, &["mail"], None).await.unwrap();
    let redirect = redirect(&sign_in, query);
    let (ended, page) = tokio::join!(sign_in.wait(), get(&redirect));
    assert_eq!(server.count(), 0);
    vec![shown(&ended.map(drop).unwrap_err()), format!("| {}", page_text(&page))]
}

async fn device(provider: &str, words: String, at_once: bool) -> Vec<String> {
    let server = TokenServer::start(move |number, _| match number {
        0 if !at_once => code(0, 900),
        _ => answer(&words),
    })
    .await;
    let begun = DeviceSignIn::start(&server.config(), provider, None, &["mail"]).await;
    let ended = match begun {
        Ok(begun) => begun.wait().await,
        Err(error) => Err(error),
    };
    assert_eq!(server.count(), if at_once { 1 } else { 2 });
    vec![shown(&ended.map(drop).unwrap_err())]
}

async fn service(provider: &str, words: String) -> Vec<String> {
    let server = TokenServer::start(move |_, _| answer(&words)).await;
    let mut config = server.config();
    config.google_service_account = Some(service_account());
    let add = SignInArguments {
        provider: provider.to_owned(),
        mailbox: Some(EMAIL.to_owned()),
        ..SignInArguments::default()
    };
    let error = BegunSignIn::start(&config, &Mira, &add).await.map(drop).unwrap_err();
    let form = &server.forms()[0];
    assert_eq!(form["grant_type"], "urn:ietf:params:oauth:grant-type:jwt-bearer");
    assert_eq!(form["assertion"].split('.').count(), 3);
    vec![shown(&error)]
}
