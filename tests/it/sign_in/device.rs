//! The device flow: a code that is entered on another machine, or never.

use std::time::Duration;

use daysheet::oauth::DeviceSignIn;
use daysheet_core::error::Result;

use super::microsoft::granted;
use super::token_server::{Answer, TokenServer};
use crate::common::clock;

pub fn code(interval: u32, lifetime: u32) -> Answer {
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
    let shown = format!("DeviceSignIn {{ provider: microsoft, expires: {}, .. }}", begun.expires());
    assert_eq!(format!("{begun:?}"), shown);
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

/// The provider still waits when the code expires, and a code may be meant for the terminal.
#[tokio::test]
async fn device_codes_expire_and_are_tame() {
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
    let server = TokenServer::start(|_, _| {
        Answer::new("200 OK", r#"{"user_code":"\u001b[31m","device_code":"d","verification_uri":"https://x.example","expires_in":9}"#)
    })
    .await;
    let shown = device(&server, None).await.unwrap();
    assert_eq!(shown.user_code(), "31m", "nothing that a terminal would obey");
}
