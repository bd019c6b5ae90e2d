//! Microsoft: its authority and tenants, refresh tokens for a single use, and its differences when
//! a grant is revoked.

use std::sync::LazyLock;
use std::time::Duration;

use daysheet::accounts::{Accounts, SignedOut};
use daysheet::config::Config;
use daysheet::oauth::{GrantedTokens, PROVIDERS, SignIn};
use daysheet::tools::{self, ArgKind};
use daysheet_core::error::ErrorKind;
use daysheet_core::ids::AccountId;
use daysheet_core::provider::{Account, AccountStatus};
use oauth2::{AccessToken, RefreshToken};

use super::token_server::{
    Answer, TokenServer, config, get, page_text, parameter, redirect, sign_in_at, wait,
};
use crate::common::clock;

pub const EMAIL: &str = "mira@example.com";
pub static MIRA: LazyLock<AccountId> = LazyLock::new(|| "microsoft:mira@example.com".into());
const GUID: &str = "01234567-89ab-cdef-0123-456789abcdef";

/// Returns the tokens of a sign-in at a tenant; the access token's lifetime is in seconds.
pub fn tokens(tenant: &str, refresh: &str, lifetime: i64) -> GrantedTokens {
    GrantedTokens {
        provider: "microsoft",
        tenant: Some(tenant.to_owned()),
        access: AccessToken::new("old".to_owned()),
        refresh: Some(RefreshToken::new(refresh.to_owned())),
        expires: clock::now().as_second() + lifetime,
        scopes: Vec::new(),
        ends: None,
    }
}

/// Returns an answer with tokens of these scopes.
pub fn granted(scope: &str) -> Answer {
    Answer::new(
        "200 OK",
        format!(
            r#"{{"token_type":"Bearer","scope":"{scope}","expires_in":3599,"ext_expires_in":3599,"access_token":"at","refresh_token":"rt"}}"#
        ),
    )
}

#[tokio::test]
async fn sign_in_uses_the_tenant_and_short_scopes() {
    let server = TokenServer::start(|_, _| {
        granted(
            "https://graph.microsoft.com/Mail.Read https://graph.microsoft.com/User.Read openid",
        )
    })
    .await;
    let config = server.config();
    let scopes = ["offline_access", "Mail.Read"];
    let sign_in = SignIn::start(&config, "microsoft", None, &scopes, None).await.unwrap();
    assert!(
        sign_in.url().starts_with(&format!("{}/common/oauth2/v2.0/authorize?", server.base)),
        "{}",
        sign_in.url()
    );
    let port = url::Url::parse(sign_in.redirect_uri()).unwrap().port();
    let port = port.unwrap();
    for (name, value) in [
        ("response_type", "code"),
        ("response_mode", "query"),
        ("client_id", "the-client"),
        ("scope", "offline_access Mail.Read"),
        ("code_challenge_method", "S256"),
        ("prompt", "select_account"),
        ("login_hint", ""),
        ("access_type", ""),
        ("redirect_uri", &format!("http://localhost:{port}")),
    ] {
        assert_eq!(parameter(&sign_in, name), value, "{name}");
    }
    // The browser may use the name `localhost` or either of its addresses.
    let query = redirect(&sign_in, "code=the-code").replace("http://localhost", "");
    let (tokens, page) = tokio::join!(wait(sign_in), async {
        let stranger = get(&format!("http://127.0.0.1:{port}/")).await;
        assert!(stranger.starts_with("HTTP/1.1 404"), "{stranger}");
        get(&format!("http://localhost{}", query.replace('?', "/?"))).await
    });
    assert_eq!(
        page_text(&page),
        "200 Signed in to Microsoft as mira@example.com. You can close this page."
    );
    let tokens = tokens.unwrap();
    assert_eq!(tokens.scopes, ["Mail.Read", "User.Read", "openid"]);
    assert_eq!(tokens.tenant.as_deref(), Some("common"));
    let form = &server.forms()[0];
    assert_eq!(form["path"], "/common/oauth2/v2.0/token");
    assert_eq!(form["redirect_uri"], format!("http://localhost:{port}"));
    assert!(!form.contains_key("client_secret"), "a public client");
}

/// If both addresses of `localhost` are available, the server listens on both.
#[tokio::test]
async fn both_localhost_addresses_are_listened_on() {
    let server = TokenServer::start(|_, _| granted("Mail.Read")).await;
    let config = server.config();
    if std::net::TcpListener::bind("[::1]:0").is_err() {
        return;
    }
    let sign_in = SignIn::start(&config, "microsoft", None, &["mail"], Some(EMAIL)).await.unwrap();
    assert_eq!(parameter(&sign_in, "login_hint"), EMAIL);
    assert_eq!(parameter(&sign_in, "prompt"), "", "the hint has chosen");
    let redirect = redirect(&sign_in, "code=the-code").replace("localhost", "[::1]");
    let (tokens, page) = tokio::join!(wait(sign_in), get(&redirect));
    assert!(page.starts_with("HTTP/1.1 200"), "{page}");
    tokens.unwrap();
}

/// The tenant in an account's token requests: that given when it was added, or the setting.
#[tokio::test]
async fn tenant_is_chosen_checked_and_stored() {
    let server = TokenServer::start(|_, _| granted("Mail.Read")).await;
    for (tenant_argument, path) in [
        (None, "common"),
        (Some("organizations"), "organizations"),
        (Some(" Consumers "), "consumers"),
        (Some(GUID), GUID),
        (Some("contoso.example"), "contoso.example"),
    ] {
        let config = server.config();
        let tokens = sign_in_at(&config, "microsoft", tenant_argument).await.unwrap();
        assert_eq!(tokens.tenant.as_deref(), Some(path));
        let accounts = server.accounts();
        let account = accounts.add(tokens, EMAIL).await.unwrap();
        assert_eq!(account.tenant.as_deref(), Some(path));
        assert_eq!(accounts.refreshed_after_401(&MIRA, "at").await.unwrap(), "at");
        let paths: Vec<String> = server.forms().iter().map(|it| it["path"].clone()).collect();
        let expected = format!("/{path}/oauth2/v2.0/token");
        // The refresh uses the same endpoint as the sign-in.
        assert_eq!(paths[paths.len() - 2..], [expected.clone(), expected]);
    }
    let config = server.config();
    for (provider, tenant, text) in cases! {
        "microsoft", "../evil",
            "that is not a tenant: use common, organizations, consumers, or the GUID or domain of \
             a directory";
        "microsoft", "",
            "that is not a tenant: use common, organizations, consumers, or the GUID or domain of \
             a directory";
        "google", "common", "Google has no tenants: leave out the tenant";
    } {
        let error =
            SignIn::start(&config, provider, Some(tenant), &["mail"], None).await.unwrap_err();
        assert_eq!((error.kind(), error.to_string().as_str()), (ErrorKind::Argument, text));
    }
}

/// In a national cloud, short scope names would mean the global cloud's Graph.
#[tokio::test]
async fn national_cloud_is_asked_for_its_own_scopes() {
    let home = tempfile::tempdir().unwrap();
    for (graph, scope) in cases! {
        "https://graph.microsoft.com/v1.0/", "offline_access Mail.Read";
        "https://graph.microsoft.us/v1.0/", "offline_access https://graph.microsoft.us/Mail.Read";
        "https://microsoftgraph.chinacloudapi.cn/v1.0",
            "offline_access https://microsoftgraph.chinacloudapi.cn/Mail.Read";
        "http://127.0.0.1:9/v1.0", "offline_access Mail.Read";
    } {
        let mut config = config(home.path(), "http://127.0.0.1:9", Some("the-client"));
        config.endpoints.graph = graph.parse().unwrap();
        let scopes = ["offline_access", "Mail.Read"];
        let sign_in = SignIn::start(&config, "microsoft", None, &scopes, None).await.unwrap();
        assert_eq!(parameter(&sign_in, "scope"), scope);
    }
}

/// An authority that revokes the whole grant if a refresh token is used twice.
#[tokio::test]
async fn refresh_token_is_never_used_twice() {
    let server = TokenServer::start(|number, form| {
        if form["refresh_token"] != format!("rt-{number}") {
            return Answer::entra("invalid_grant", 70_000, "");
        }
        Answer::tokens(&format!("at-{number}"), Some(&format!("rt-{}", number + 1)), 0)
            .after(Duration::from_millis(50))
    })
    .await;
    let first = server.accounts();
    first.add(tokens("organizations", "rt-0", 0), EMAIL).await.unwrap();
    let others: Vec<Accounts> = (0..3).map(|_| server.accounts()).collect();
    for round in 0..3 {
        // Two processes ask several times at once. Every token is stale when it arrives, so every
        // call refreshes, but never with a used token.
        let asks = others.iter().flat_map(|it| [it.bearer(&MIRA), it.bearer(&MIRA)]);
        for token in futures_util::future::join_all(asks).await {
            assert!(token.unwrap().starts_with("at-"), "{round}");
        }
    }
    let used: Vec<String> =
        server.forms().iter().map(|form| form["refresh_token"].clone()).collect();
    let expected: Vec<String> = (0..used.len()).map(|number| format!("rt-{number}")).collect();
    assert_eq!(used, expected);
    assert!(server.forms().iter().all(|it| it["path"] == "/organizations/oauth2/v2.0/token"));
    assert_eq!(first.find(None).await.unwrap().status, AccountStatus::Ok);
}

/// The advice to sign in again includes everything that the account was added with.
#[tokio::test]
async fn shared_mailbox_error_repeats_its_sign_in_arguments() {
    let server = TokenServer::start(|_, _| Answer::entra("invalid_grant", 70_008, "")).await;
    let accounts = server.accounts();
    let shared: Account = accounts
        .add_shared(tokens(GUID, "rt", 0), "Team@Example.com", " Mira@example.com")
        .await
        .unwrap();
    assert_eq!(shared.id, "microsoft:team@example.com");
    assert_eq!(shared.via.as_deref(), Some(EMAIL));
    let error = accounts.bearer(&shared.id).await.unwrap_err();
    assert_eq!(
        error.next_step(),
        Some(
            "run `daysheet account add microsoft --tenant 01234567-89ab-cdef-0123-456789abcdef \
             --mailbox team@example.com` again"
        )
    );
    let not_found = accounts.by_id(&"microsoft:x@example.com".into()).await.unwrap_err();
    assert_eq!(
        not_found.to_string(),
        "the account x@example.com is not signed in: call accounts with op=add \
         provider=microsoft, or run `daysheet account add microsoft`"
    );
}

#[tokio::test]
async fn signing_out_says_where_to_revoke_the_grant() {
    let server = TokenServer::start(|_, _| Answer::error("unasked")).await;
    let accounts = server.accounts();
    accounts.add(tokens("common", "rt", 3599), EMAIL).await.unwrap();
    let outcome = accounts.remove(EMAIL).await.unwrap();
    assert!(matches!(outcome, SignedOut::ByHand(_)));
    assert_eq!(
        outcome.to_string(),
        "the tokens are deleted; to withdraw the app's access too, open \
         https://account.live.com/consent/Manage (personal account) or \
         https://myapps.microsoft.com (work or school account)"
    );
    assert_eq!(server.count(), 0);
    assert!(accounts.list().await.unwrap().is_empty());
}

/// The tool offers exactly the available providers.
#[test]
fn tool_offers_exactly_the_existing_providers() {
    let tool = tools::find("accounts").unwrap();
    let provider = tool.args.iter().find(|arg| arg.name == "provider").unwrap();
    let names: Vec<&str> = PROVIDERS.iter().map(|service| service.name).collect();
    let ArgKind::Choice(words) = provider.kind else {
        panic!("a choice");
    };
    assert_eq!(words, names);
}

/// The tenant in the settings is checked at start.
#[test]
fn tenant_setting_is_checked_at_start() {
    let set = |tenant: &str| {
        let tenant = tenant.to_owned();
        let var = move |name: &str| match name {
            "DAYSHEET_HOME" => Some("/tmp/daysheet-test".to_owned()),
            "DAYSHEET_MICROSOFT_TENANT" => Some(tenant.clone()),
            _ => None,
        };
        Config::from(var, None, None, clock::clock()).map(|config| config.microsoft_tenant)
    };
    for (tenant, expected) in [
        ("", "common"),
        ("Organizations", "organizations"),
        (GUID, GUID),
        ("a-b.Example.com", "a-b.example.com"),
    ] {
        assert_eq!(set(tenant).unwrap(), expected);
    }
    for tenant in [
        "everybody",
        "a/b",
        "a..b",
        ".a",
        "a.b/",
        "-a.example",
        "a.example?x=1",
        "..",
        "01234567-89ab-cdef-0123-456789abcdeg",
        "a b.example",
        "%2e.example",
    ] {
        let error = set(tenant).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Config, "{tenant}");
        assert_eq!(
            error.to_string(),
            "DAYSHEET_MICROSOFT_TENANT is not a tenant: use common, organizations, consumers, or \
             the GUID or domain of a directory",
            "{tenant}"
        );
    }
}
