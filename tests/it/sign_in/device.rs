//! The device flow: a code that is entered on another machine, or never.

use std::time::Duration;

use daysheet::oauth::DeviceSignIn;
use daysheet_core::error::{ErrorKind, Result};

use super::microsoft::granted;
use super::token_server::{Answer, TokenServer, config};
use crate::common::clock;

fn code(interval: u32, lifetime: u32) -> Answer {
    Answer::new(
        "200 OK",
        format!(
            r#"{{"user_code":"ABCD-1234","device_code":"the-code","verification_uri":"https://login.example/device","expires_in":{lifetime},"interval":{interval},"message":"ask somebody else"}}"#
        ),
    )
}

async fn device(server: &TokenServer, tenant: Option<&str>) -> Result<DeviceSignIn> {
    let config = server.config();
    DeviceSignIn::start(&config, "microsoft", tenant, &["offline_access", "Mail.Read"]).await
}

#[tokio::test]
async fn device_code_signs_in_from_another_machine() {
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
    assert_eq!(begun.expires().as_second() - clock::now().as_second(), 900);
    let shown = format!("{begun:?}");
    assert!(!shown.contains("the-code") && !shown.contains("ABCD"), "{shown}");
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
        assert_eq!(form["grant_type"], "urn:ietf:params:oauth:grant-type:device_code");
    }
}

/// Other ends of a device flow.
#[tokio::test]
async fn every_device_code_failure_is_explained() {
    type Case = (fn() -> Answer, &'static str);
    let cases: &[Case] = &cases! {
        || Answer::entra("authorization_declined", 65_004, ""),
            "Microsoft refused the sign-in: the consent was declined (AADSTS65004): run `daysheet \
             account add microsoft` again and accept";
        || Answer::error("authorization_declined"),
            "Microsoft refused the sign-in: the consent was declined: run `daysheet account add \
             microsoft` again and accept";
        || Answer::entra("expired_token", 70_020, ""),
            "Microsoft refused the sign-in: nobody entered the code before it expired \
             (AADSTS70020): run `daysheet account add microsoft` again and enter the new code";
        || Answer::error("bad_verification_code"),
            "Microsoft refused the sign-in: the code is invalid: run `daysheet account add \
             microsoft` again and enter the new code";
        || Answer::entra("invalid_client", 7_000_218, ""),
            "Microsoft refused the sign-in: the app is not registered as a public client \
             (AADSTS7000218): switch on \"Allow public client flows\" for the app; \
             docs/setup-microsoft.md says how";
    };
    for (answer, text) in cases {
        let server = TokenServer::start(move |number, _| match number {
            0 => code(0, 900),
            _ => answer(),
        })
        .await;
        let error = device(&server, None).await.unwrap().wait().await;
        let error = error.unwrap_err();
        assert_eq!((error.kind(), error.to_string().as_str()), (ErrorKind::Auth, *text));
        assert_eq!(server.count(), 2);
    }
    // The provider still waits when the code expires.
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
    // The flow does not begin.
    let server = TokenServer::start(|_, _| Answer::entra("invalid_request", 90_002, "")).await;
    let error = device(&server, None).await.unwrap_err();
    assert!(error.message().contains("no such tenant (AADSTS90002)"), "{error}");
    let server = TokenServer::start(|_, _| {
        Answer::new("200 OK", r#"{"user_code":"\u001b[31m","device_code":"d","verification_uri":"https://x.example","expires_in":9}"#)
    })
    .await;
    let shown = device(&server, None).await.unwrap();
    assert_eq!(shown.user_code(), "31m", "nothing that a terminal would obey");
}

#[tokio::test]
async fn device_codes_are_offered_by_microsoft_only() {
    let home = tempfile::tempdir().unwrap();
    let config = config(home.path(), "http://127.0.0.1:9", Some("the-client"));
    let error = DeviceSignIn::start(&config, "google", None, &["mail"]).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Argument);
    assert_eq!(
        error.to_string(),
        "Google's device flow does not support mail scopes: sign in through a browser: `daysheet \
         account add google --no-browser` takes the address the page ends on, pasted from any \
         machine"
    );
}
