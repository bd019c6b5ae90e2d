//! Microsoft: its authority and tenants, the device flow, its many numbers, and
//! what differs when a grant ends or is given back.

use std::time::Duration;

use daysheet::accounts::{Account, Accounts, SignedOut, Status};
use daysheet::config::Config;
use daysheet::error::{Error, Kind, Result};
use daysheet::oauth::{DeviceSignIn, SERVICES, SignIn, Tokens};
use daysheet::tools::{self, ArgKind};
use oauth2::{AccessToken, RefreshToken};

use super::token_server::{
    Answer, TokenServer, config, get, parameter, redirect, sign_in_at, wait,
};

const EMAIL: &str = "mira@example.com";
const MIRA: &str = "microsoft:mira@example.com";
const GUID: &str = "01234567-89ab-cdef-0123-456789abcdef";

fn home() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

fn tokens(tenant: &str, refresh: &str, lifetime: i64) -> Tokens {
    Tokens {
        provider: "microsoft",
        tenant: Some(tenant.to_owned()),
        access: AccessToken::new("old".to_owned()),
        refresh: Some(RefreshToken::new(refresh.to_owned())),
        expires: jiff::Timestamp::now().as_second() + lifetime,
        scopes: Vec::new(),
    }
}

/// Tokens with these scopes.
fn granted(scope: &str) -> Answer {
    Answer::new(
        "200 OK",
        format!(
            r#"{{"token_type":"Bearer","scope":"{scope}","expires_in":3599,"ext_expires_in":3599,"access_token":"at","refresh_token":"rt"}}"#
        ),
    )
}

#[tokio::test]
async fn a_sign_in_goes_to_the_tenant_and_brings_short_scopes() {
    let home = home();
    let server = TokenServer::start(|_, _| {
        granted(
            "https://graph.microsoft.com/Mail.Read https://graph.microsoft.com/User.Read openid",
        )
    })
    .await;
    let config = server.config(home.path());
    let scopes = ["offline_access", "Mail.Read"];
    let sign_in = SignIn::start(&config, "microsoft", None, &scopes, None)
        .await
        .unwrap();
    assert!(
        sign_in
            .url()
            .starts_with(&format!("{}/common/oauth2/v2.0/authorize?", server.base)),
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
    // The browser comes by the name, or by either address of it.
    let query = redirect(&sign_in, "code=the-code").replace("http://localhost", "");
    let (tokens, page) = tokio::join!(wait(sign_in), async {
        let stranger = get(&format!("http://127.0.0.1:{port}/")).await;
        assert!(stranger.starts_with("HTTP/1.1 404"), "{stranger}");
        get(&format!("http://localhost{}", query.replace('?', "/?"))).await
    });
    assert!(page.contains("Signed in to Microsoft as mira@"), "{page}");
    let tokens = tokens.unwrap();
    assert_eq!(tokens.scopes, ["Mail.Read", "User.Read", "openid"]);
    assert_eq!(tokens.tenant.as_deref(), Some("common"));
    let form = &server.forms()[0];
    assert_eq!(form["path"], "/common/oauth2/v2.0/token");
    assert_eq!(form["redirect_uri"], format!("http://localhost:{port}"));
    assert!(!form.contains_key("client_secret"), "a public client");
}

/// Where one address of `localhost` is enough, the other is listened on as well.
#[tokio::test]
async fn both_addresses_of_localhost_are_listened_on() {
    let home = home();
    let server = TokenServer::start(|_, _| granted("Mail.Read")).await;
    let config = server.config(home.path());
    if std::net::TcpListener::bind("[::1]:0").is_err() {
        return;
    }
    let sign_in = SignIn::start(&config, "microsoft", None, &["mail"], Some(EMAIL))
        .await
        .unwrap();
    assert_eq!(parameter(&sign_in, "login_hint"), EMAIL);
    assert_eq!(parameter(&sign_in, "prompt"), "", "the hint has chosen");
    let redirect = redirect(&sign_in, "code=the-code").replace("localhost", "[::1]");
    let (tokens, page) = tokio::join!(wait(sign_in), get(&redirect));
    assert!(page.contains("Signed in"), "{page}");
    tokens.unwrap();
}

/// Where tokens are asked for: what the account add says, else the settings.
#[tokio::test]
async fn a_tenant_is_chosen_checked_and_kept() {
    let server = TokenServer::start(|_, _| granted("Mail.Read")).await;
    for (asked, path) in [
        (None, "common"),
        (Some("organizations"), "organizations"),
        (Some(" Consumers "), "consumers"),
        (Some(GUID), GUID),
        (Some("contoso.example"), "contoso.example"),
    ] {
        let home = home();
        let config = server.config(home.path());
        let tokens = sign_in_at(&config, "microsoft", asked).await.unwrap();
        assert_eq!(tokens.tenant.as_deref(), Some(path));
        let accounts = server.accounts(home.path());
        let account = accounts.add(tokens, EMAIL).await.unwrap();
        assert_eq!(account.tenant.as_deref(), Some(path));
        assert_eq!(
            accounts.refreshed_after_401(MIRA, "at").await.unwrap(),
            "at"
        );
        let paths: Vec<String> = server.forms().iter().map(|it| it["path"].clone()).collect();
        let expected = format!("/{path}/oauth2/v2.0/token");
        // The refresh goes where the sign-in went.
        assert_eq!(paths[paths.len() - 2..], [expected.clone(), expected]);
    }
    let home = home();
    let config = server.config(home.path());
    for (provider, tenant, said) in [
        (
            "microsoft",
            "../evil",
            "that is no tenant: use common, organizations, consumers, or the GUID or domain of a directory",
        ),
        (
            "microsoft",
            "",
            "that is no tenant: use common, organizations, consumers, or the GUID or domain of a directory",
        ),
        (
            "google",
            "common",
            "Google has no tenants: leave the tenant out",
        ),
    ] {
        let error = SignIn::start(&config, provider, Some(tenant), &["mail"], None)
            .await
            .unwrap_err();
        assert_eq!(
            (error.kind(), error.to_string().as_str()),
            (Kind::Argument, said)
        );
    }
}

/// In a national cloud, a short name would mean the global cloud's Graph.
#[tokio::test]
async fn a_national_cloud_is_asked_for_its_own_permissions() {
    let home = home();
    for (graph, scope) in [
        (
            "https://graph.microsoft.com/v1.0/",
            "offline_access Mail.Read",
        ),
        (
            "https://graph.microsoft.us/v1.0/",
            "offline_access https://graph.microsoft.us/Mail.Read",
        ),
        (
            "https://microsoftgraph.chinacloudapi.cn/v1.0",
            "offline_access https://microsoftgraph.chinacloudapi.cn/Mail.Read",
        ),
        ("http://127.0.0.1:9/v1.0", "offline_access Mail.Read"),
    ] {
        let mut config = config(home.path(), "http://127.0.0.1:9", Some("the-client"));
        config.endpoints.graph = graph.parse().unwrap();
        let scopes = ["offline_access", "Mail.Read"];
        let sign_in = SignIn::start(&config, "microsoft", None, &scopes, None)
            .await
            .unwrap();
        assert_eq!(parameter(&sign_in, "scope"), scope);
    }
}

fn code(interval: u32, lifetime: u32) -> Answer {
    Answer::new(
        "200 OK",
        format!(
            r#"{{"user_code":"ABCD-1234","device_code":"the-code","verification_uri":"https://login.example/device","expires_in":{lifetime},"interval":{interval},"message":"ask somebody else"}}"#
        ),
    )
}

async fn device(server: &TokenServer, tenant: Option<&str>) -> Result<DeviceSignIn> {
    let home = home();
    let config = server.config(home.path());
    DeviceSignIn::start(
        &config,
        "microsoft",
        tenant,
        &["offline_access", "Mail.Read"],
    )
    .await
}

#[tokio::test]
async fn a_code_is_entered_on_another_machine() {
    let server = TokenServer::start(|number, _| match number {
        0 => code(0, 900),
        1 => Answer::entra("authorization_pending", 70_016, ""),
        2 => Answer::new("503 Service Unavailable", ""),
        3 => Answer::error("slow_down"),
        _ => granted("https://graph.microsoft.com/Mail.Read"),
    })
    .await;
    let begun = device(&server, Some("consumers")).await.unwrap();
    assert_eq!(begun.user_code(), "ABCD-1234");
    assert_eq!(begun.verification_uri(), "https://login.example/device");
    assert_eq!(
        begun.message(),
        "open https://login.example/device on any machine and enter the code ABCD-1234 within 15 \
         minutes"
    );
    let left = begun.expires().as_second() - jiff::Timestamp::now().as_second();
    assert!((890..=900).contains(&left), "{left}");
    let shown = format!("{begun:?}");
    assert!(
        !shown.contains("the-code") && !shown.contains("ABCD"),
        "{shown}"
    );
    let started = std::time::Instant::now();
    let tokens = begun.wait().await.unwrap();
    assert!(started.elapsed() >= Duration::from_secs(5), "slowed down");
    assert_eq!(tokens.access.secret(), "at");
    assert_eq!(tokens.scopes, ["Mail.Read"]);
    assert_eq!(tokens.tenant.as_deref(), Some("consumers"));
    let forms = server.forms();
    assert_eq!(forms.len(), 5);
    assert_eq!(forms[0]["path"], "/consumers/oauth2/v2.0/devicecode");
    assert_eq!(forms[0]["scope"], "offline_access Mail.Read");
    for form in &forms[1..] {
        assert_eq!(form["path"], "/consumers/oauth2/v2.0/token");
        assert_eq!(form["device_code"], "the-code");
        assert_eq!(form["client_id"], "the-client");
        assert_eq!(
            form["grant_type"],
            "urn:ietf:params:oauth:grant-type:device_code"
        );
    }
}

/// What a device flow may end with instead.
#[tokio::test]
async fn a_code_that_comes_to_nothing_has_words() {
    type Case = (fn() -> Answer, &'static str);
    let cases: &[Case] = &[
        (
            || Answer::entra("authorization_declined", 65_004, ""),
            "Microsoft refused the sign-in: the consent was declined (AADSTS65004): run `daysheet \
             account add microsoft` again and accept",
        ),
        (
            || Answer::error("authorization_declined"),
            "Microsoft refused the sign-in: the consent was declined: run `daysheet account add \
             microsoft` again and accept",
        ),
        (
            || Answer::entra("expired_token", 70_020, ""),
            "Microsoft refused the sign-in: nobody entered the code before it expired \
             (AADSTS70020): run `daysheet account add microsoft` again and enter the new code",
        ),
        (
            || Answer::error("bad_verification_code"),
            "Microsoft refused the sign-in: the code is not good: run `daysheet account add \
             microsoft` again and enter the new code",
        ),
        (
            || Answer::entra("invalid_client", 7_000_218, ""),
            "Microsoft refused the sign-in: the app is not registered as a public client \
             (AADSTS7000218): switch on \"Allow public client flows\" for the app; \
             docs/setup-microsoft.md says how",
        ),
    ];
    for (answer, said) in cases {
        let server = TokenServer::start(move |number, _| match number {
            0 => code(0, 900),
            _ => answer(),
        })
        .await;
        let error = device(&server, None).await.unwrap().wait().await;
        let error = error.unwrap_err();
        assert_eq!(
            (error.kind(), error.to_string().as_str()),
            (Kind::Auth, *said)
        );
        assert_eq!(server.count(), 2);
    }
    // The provider goes on waiting, and the code's time is over.
    let server = TokenServer::start(|number, _| match number {
        0 => code(1, 1),
        _ => Answer::entra("authorization_pending", 70_016, ""),
    })
    .await;
    let error = device(&server, None).await.unwrap().wait().await;
    assert_eq!(
        error.unwrap_err().message(),
        "Microsoft refused the sign-in: nobody entered the code before it expired"
    );
    // It does not begin.
    let server = TokenServer::start(|_, _| Answer::entra("invalid_request", 90_002, "")).await;
    let error = device(&server, None).await.unwrap_err();
    assert!(
        error.message().contains("no such tenant (AADSTS90002)"),
        "{error}"
    );
    let server = TokenServer::start(|_, _| {
        Answer::new("200 OK", r#"{"user_code":"\u001b[31m","device_code":"d","verification_uri":"https://x.example","expires_in":9}"#)
    })
    .await;
    let shown = device(&server, None).await.unwrap();
    assert_eq!(
        shown.user_code(),
        "31m",
        "nothing that a terminal would obey"
    );
}

#[tokio::test]
async fn a_device_flow_is_microsofts_alone() {
    let home = home();
    let config = config(home.path(), "http://127.0.0.1:9", Some("the-client"));
    let error = DeviceSignIn::start(&config, "google", None, &["mail"])
        .await
        .unwrap_err();
    assert_eq!(error.kind(), Kind::Argument);
    assert_eq!(
        error.to_string(),
        "Google's device flow does not carry mail scopes: sign in through a browser: `daysheet \
         account add google --no-browser` takes the address that the page ends on, pasted from \
         any machine"
    );
}

/// A refusal of the token endpoint: how a sign-in says it; and, after a refresh,
/// the status it leaves the account in and the reason that is kept.
struct Case {
    code: &'static str,
    number: u32,
    more: &'static str,
    sign_in: &'static str,
    status: Status,
    reason: &'static str,
}

const fn case(
    code: &'static str,
    number: u32,
    sign_in: &'static str,
    status: Status,
    reason: &'static str,
) -> Case {
    Case {
        code,
        number,
        more: "",
        sign_in,
        status,
        reason,
    }
}

const CASES: &[Case] = &[
    case(
        "invalid_grant",
        65_001,
        "Microsoft refused the sign-in: the consent to this app is missing or was withdrawn (AADSTS65001): run `daysheet account add microsoft` again and accept; where only administrators may consent, ask one; docs/setup-microsoft.md says how",
        Status::Revoked,
        "the consent to this app is missing or was withdrawn; AADSTS65001",
    ),
    case(
        "interaction_required",
        90_094,
        "Microsoft refused the sign-in: an administrator has to consent to this app (AADSTS90094): ask an administrator of the organisation for admin consent; docs/setup-microsoft.md says how",
        Status::Expired,
        "an administrator has to consent to this app; AADSTS90094",
    ),
    case(
        "consent_required",
        90_095,
        "Microsoft refused the sign-in: an administrator has to consent to this app (AADSTS90095): ask an administrator of the organisation for admin consent; docs/setup-microsoft.md says how",
        Status::Expired,
        "an administrator has to consent to this app; AADSTS90095",
    ),
    case(
        "invalid_grant",
        53_003,
        "Microsoft refused the sign-in: conditional access of the organisation does not allow it from this device, place or app (AADSTS53003): ask an administrator what the policy needs, or run `daysheet account add microsoft` on a device that meets it",
        Status::Expired,
        "conditional access of the organisation does not allow it from this device, place or app; AADSTS53003",
    ),
    case(
        "interaction_required",
        50_005,
        "Microsoft refused the sign-in: conditional access of the organisation does not allow it from this device, place or app (AADSTS50005): ask an administrator what the policy needs, or run `daysheet account add microsoft` on a device that meets it",
        Status::Expired,
        "conditional access of the organisation does not allow it from this device, place or app; AADSTS50005",
    ),
    case(
        "interaction_required",
        50_076,
        "Microsoft refused the sign-in: the organisation asks for a further proof, such as multi-factor authentication (AADSTS50076): run `daysheet account add microsoft` again and give the proof on the page",
        Status::Expired,
        "the organisation asks for a further proof, such as multi-factor authentication; AADSTS50076",
    ),
    case(
        "invalid_grant",
        50_173,
        "Microsoft refused the sign-in: the password was changed or has expired (AADSTS50173): run `daysheet account add microsoft` again",
        Status::Revoked,
        "the password was changed or has expired; AADSTS50173",
    ),
    case(
        "invalid_grant",
        700_082,
        "Microsoft refused the sign-in: the sign-in was not used for too long (AADSTS700082): run `daysheet account add microsoft` again",
        Status::Expired,
        "the sign-in was not used for too long; AADSTS700082",
    ),
    case(
        "invalid_grant",
        70_008,
        "Microsoft refused the sign-in: the sign-in has expired (AADSTS70008): run `daysheet account add microsoft` again",
        Status::Expired,
        "the sign-in has expired; AADSTS70008",
    ),
    case(
        "invalid_grant",
        70_000,
        "Microsoft refused the sign-in: the sign-in is not valid any more: it was withdrawn, has expired or is another app's (AADSTS70000): run `daysheet account add microsoft` again",
        Status::Expired,
        "the sign-in is not valid any more: it was withdrawn, has expired or is another app's; AADSTS70000",
    ),
    case(
        "invalid_grant",
        123_456,
        "Microsoft refused the sign-in (invalid_grant, AADSTS123456): run `daysheet account add microsoft` again",
        Status::Expired,
        "expired or revoked; a changed password, months without use or an administrator end grants; AADSTS123456",
    ),
    Case {
        more: r#","suberror":"protection_policy_required""#,
        ..case(
            "invalid_grant",
            123_456,
            "Microsoft refused the sign-in: conditional access of the organisation does not allow it from this device, place or app (AADSTS123456): ask an administrator what the policy needs, or run `daysheet account add microsoft` on a device that meets it",
            Status::Expired,
            "conditional access of the organisation does not allow it from this device, place or app; AADSTS123456",
        )
    },
    // What is wrong with the app or the tenant is not the end of the grant.
    case(
        "invalid_request",
        90_002,
        "Microsoft refused the sign-in: there is no such tenant (AADSTS90002): check `--tenant` or DAYSHEET_MICROSOFT_TENANT: common, organizations, consumers, or the GUID or domain of a directory",
        Status::Ok,
        "",
    ),
    case(
        "invalid_grant",
        50_020,
        "Microsoft refused the sign-in: the account does not belong to the tenant (AADSTS50020): name the tenant that the account belongs to with `--tenant` or DAYSHEET_MICROSOFT_TENANT, or sign in with another account",
        Status::Expired,
        "the account does not belong to the tenant; AADSTS50020",
    ),
    case(
        "invalid_request",
        50_194,
        "Microsoft refused the sign-in: the app is registered for one organisation only (AADSTS50194): name its tenant, a GUID or a domain, with `--tenant` or DAYSHEET_MICROSOFT_TENANT",
        Status::Ok,
        "",
    ),
    case(
        "invalid_request",
        9_002_346,
        "Microsoft refused the sign-in: the app is registered for personal accounts only (AADSTS9002346): use the tenant consumers: `--tenant consumers` or DAYSHEET_MICROSOFT_TENANT=consumers",
        Status::Ok,
        "",
    ),
    case(
        "invalid_request",
        500_200,
        "Microsoft refused the sign-in: the app is registered for work and school accounts only (AADSTS500200): use a work or school account and the tenant organizations, or let the registration take personal accounts; docs/setup-microsoft.md says how",
        Status::Ok,
        "",
    ),
    case(
        "unauthorized_client",
        700_016,
        "Microsoft refused the sign-in: the tenant does not know the app (AADSTS700016): check DAYSHEET_MICROSOFT_CLIENT_ID, and that the tenant is one the app is registered for; docs/setup-microsoft.md says how",
        Status::Ok,
        "",
    ),
    case(
        "invalid_request",
        50_011,
        "Microsoft refused the sign-in: the app is not registered to come back to http://localhost (AADSTS50011): add http://localhost to the app under \"Mobile and desktop applications\"; docs/setup-microsoft.md says how",
        Status::Ok,
        "",
    ),
    case(
        "invalid_client",
        7_000_218,
        "Microsoft refused the sign-in: the app is not registered as a public client (AADSTS7000218): switch on \"Allow public client flows\" for the app; docs/setup-microsoft.md says how",
        Status::Ok,
        "",
    ),
    case(
        "invalid_client",
        700_025,
        "Microsoft refused the sign-in: the app is a public client and has no secret, but one is set (AADSTS700025): remove DAYSHEET_MICROSOFT_CLIENT_SECRET",
        Status::Ok,
        "",
    ),
    case(
        "invalid_client",
        123_456,
        "Microsoft does not accept the OAuth client (AADSTS123456): check DAYSHEET_MICROSOFT_CLIENT_ID and its secret; docs/setup-microsoft.md says where they come from",
        Status::Ok,
        "",
    ),
    case(
        "invalid_grant",
        90_033,
        "Microsoft refused the sign-in: the service is busy (AADSTS90033): try again later",
        Status::Ok,
        "",
    ),
];

#[tokio::test]
async fn every_number_has_words() {
    for case in CASES {
        let home = home();
        let answer = || Answer::entra(case.code, case.number, case.more);
        let server = TokenServer::start(move |_, _| answer()).await;
        let config = server.config(home.path());
        let error = sign_in_at(&config, "microsoft", None).await.unwrap_err();
        assert_eq!(error.to_string(), case.sign_in);
        assert_eq!(error.kind(), Kind::Auth);

        let accounts = server.accounts(home.path());
        accounts
            .add(tokens("common", "rt", 0), EMAIL)
            .await
            .unwrap();
        let refused = accounts.bearer(MIRA).await.unwrap_err();
        let account = accounts.find(None).await.unwrap();
        assert_eq!(account.status, case.status, "{}", case.number);
        if case.status == Status::Ok {
            assert_eq!(refused.to_string(), case.sign_in);
            assert_eq!(account.problem, None);
            continue;
        }
        let problem = format!(
            "the Microsoft grant of {EMAIL} was refused ({})",
            case.reason
        );
        let said = format!("{problem}: run `daysheet account add microsoft`");
        assert_eq!(refused.to_string(), said);
        assert_eq!(account.problem, Some(problem));
        // Another process says the same without asking.
        let asked = server.count();
        let again = server.accounts(home.path()).bearer(MIRA).await;
        assert_eq!(again.unwrap_err().to_string(), said);
        assert_eq!(server.count(), asked);
    }
}

/// The number may come in the redirect, or in the description alone.
#[tokio::test]
async fn a_number_is_found_where_it_stands() {
    let home = home();
    let server = TokenServer::start(|_, _| {
        Answer::new(
            "400 Bad Request",
            r#"{"error":"invalid_grant","error_description":"AADSTS50173: changed."}"#,
        )
    })
    .await;
    let config = server.config(home.path());
    let error = sign_in_at(&config, "microsoft", None).await.unwrap_err();
    assert!(
        error
            .message()
            .contains("password was changed or has expired (AADSTS50173)"),
        "{error}"
    );
    for (query, said) in [
        (
            "error=access_denied&error_description=AADSTS65004%3A+User+declined&error_subcode=cancel",
            "the consent was declined (AADSTS65004)",
        ),
        (
            "error=access_denied&error_subcode=cancel",
            "the consent was declined",
        ),
        (
            "error=invalid_client&error_description=AADSTS650052%3A+x",
            "a permission that was asked for does not exist for the app (AADSTS650052)",
        ),
        (
            "error=server_error&error_description=AADSTS123456%3A+x",
            "Microsoft has a problem (AADSTS123456)",
        ),
        (
            "error=interaction_required",
            "the organisation asks for a further proof",
        ),
    ] {
        let sign_in = SignIn::start(&config, "microsoft", None, &["mail"], None)
            .await
            .unwrap();
        let redirect = redirect(&sign_in, query);
        let (ended, page) = tokio::join!(sign_in.wait(), get(&redirect));
        let error: Error = ended.unwrap_err();
        assert!(error.message().contains(said), "{query}: {error}");
        assert!(
            page.contains("Not signed in") && page.contains(said),
            "{page}"
        );
    }
}

/// An authority that ends the whole grant when a refresh token comes twice.
#[tokio::test]
async fn no_refresh_token_is_used_twice() {
    let home = home();
    let server = TokenServer::start(|number, form| {
        if form["refresh_token"] != format!("rt-{number}") {
            return Answer::entra("invalid_grant", 70_000, "");
        }
        Answer::tokens(
            &format!("at-{number}"),
            Some(&format!("rt-{}", number + 1)),
            0,
        )
        .after(Duration::from_millis(50))
    })
    .await;
    let first = server.accounts(home.path());
    first
        .add(tokens("organizations", "rt-0", 0), EMAIL)
        .await
        .unwrap();
    let others: Vec<Accounts> = (0..3).map(|_| server.accounts(home.path())).collect();
    for round in 0..3 {
        // Two processes at once, each several times: every token is stale when
        // it comes, so everybody refreshes, and nobody with a used token.
        let asks = others
            .iter()
            .flat_map(|it| [it.bearer(MIRA), it.bearer(MIRA)]);
        for token in futures_util::future::join_all(asks).await {
            assert!(token.unwrap().starts_with("at-"), "{round}");
        }
    }
    let used: Vec<String> = server
        .forms()
        .iter()
        .map(|form| form["refresh_token"].clone())
        .collect();
    let expected: Vec<String> = (0..used.len())
        .map(|number| format!("rt-{number}"))
        .collect();
    assert_eq!(used, expected);
    assert!(
        server
            .forms()
            .iter()
            .all(|it| it["path"] == "/organizations/oauth2/v2.0/token")
    );
    assert_eq!(first.find(None).await.unwrap().status, Status::Ok);
}

/// How to sign in again is said with all that the account was added with.
#[tokio::test]
async fn a_shared_mailbox_says_how_it_is_added_again() {
    let home = home();
    let server = TokenServer::start(|_, _| Answer::entra("invalid_grant", 70_008, "")).await;
    let accounts = server.accounts(home.path());
    let shared: Account = accounts
        .add_shared(
            tokens(GUID, "rt", 0),
            "Team@Example.com",
            " Mira@example.com",
        )
        .await
        .unwrap();
    assert_eq!(shared.id, "microsoft:team@example.com");
    assert_eq!(shared.via.as_deref(), Some(EMAIL));
    let error = accounts.bearer(&shared.id).await.unwrap_err();
    assert_eq!(
        error.next_step(),
        Some(
            "run `daysheet account add microsoft --tenant 01234567-89ab-cdef-0123-456789abcdef \
             --mailbox team@example.com`"
        )
    );
    let gone = accounts.by_id("microsoft:x@example.com").await.unwrap_err();
    assert_eq!(
        gone.to_string(),
        "the account x@example.com is not signed in: call accounts with op=add \
         provider=microsoft, or run `daysheet account add microsoft`"
    );
}

#[tokio::test]
async fn signing_out_says_where_the_grant_is_withdrawn() {
    let home = home();
    let server = TokenServer::start(|_, _| Answer::error("unasked")).await;
    let accounts = server.accounts(home.path());
    accounts
        .add(tokens("common", "rt", 3599), EMAIL)
        .await
        .unwrap();
    let outcome = accounts.remove(EMAIL).await.unwrap();
    assert!(matches!(outcome, SignedOut::ByHand(_)));
    assert_eq!(
        outcome.to_string(),
        "the tokens are forgotten; to withdraw the app's access as well, open \
         https://account.live.com/consent/Manage (personal account) or \
         https://myapps.microsoft.com (work or school account)"
    );
    assert_eq!(server.count(), 0);
    assert!(accounts.list().await.unwrap().is_empty());
}

/// The tool offers the providers that there are, and no other.
#[test]
fn the_tool_knows_every_service() {
    let tool = tools::find("accounts").unwrap();
    let provider = tool.args.iter().find(|arg| arg.name == "provider").unwrap();
    let names: Vec<&str> = SERVICES.iter().map(|service| service.name).collect();
    let ArgKind::Choice(words) = provider.kind else {
        panic!("a choice");
    };
    assert_eq!(words, names);
}

/// The settings say the tenant, and what stands there is checked at start.
#[test]
fn a_tenant_is_a_setting() {
    let set = |tenant: &str| {
        let tenant = tenant.to_owned();
        let var = move |name: &str| match name {
            "DAYSHEET_HOME" => Some("/tmp/daysheet-test".to_owned()),
            "DAYSHEET_MICROSOFT_TENANT" => Some(tenant.clone()),
            _ => None,
        };
        Config::from(var, None, None).map(|config| config.microsoft_tenant)
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
        assert_eq!(error.kind(), Kind::Config, "{tenant}");
        assert_eq!(
            error.to_string(),
            "DAYSHEET_MICROSOFT_TENANT is no tenant: use common, organizations, consumers, or \
             the GUID or domain of a directory",
            "{tenant}"
        );
    }
}
