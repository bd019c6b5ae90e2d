//! The rate limiter of the adapters: the waits that services request, and the next steps of errors.

use std::time::Duration;

use daysheet_core::error::{Error, ErrorKind};
use daysheet_core::provider::upstream::UpstreamShare;
use daysheet_core::provider::{ProviderEndpoints, ServiceSettings, TokenSource};
use daysheet_providers::limiter::{RateLimiter, retry_after};

use crate::common::clock;

#[test]
fn retry_after_is_read_as_seconds_or_date() {
    let now: jiff::Timestamp = "2026-02-03T17:05:00Z".parse().unwrap();
    for (value, seconds) in [
        ("7", Some(7)),
        (" 120 ", Some(120)),
        ("99999999999", Some(86_400)),
        ("Tue, 03 Feb 2099 17:05:30 GMT", Some(86_400)),
        ("Tue, 03 Feb 2026 17:05:30 GMT", Some(30)),
        ("Tue, 03 Feb 2026 17:04:30 GMT", Some(0)),
        ("soon", None),
    ] {
        assert_eq!(retry_after(value, now), seconds.map(Duration::from_secs), "{value}");
    }
}

/// The people of a server sign in on its page, others by a command.
#[test]
fn final_errors_say_how_to_sign_in() {
    for (page, way) in [
        (None, "run `daysheet account add google`"),
        (Some("https://mail.example.com/connect/"), "open https://mail.example.com/connect/google"),
    ] {
        let services = ServiceSettings {
            endpoints: ProviderEndpoints::below(&"http://127.0.0.1:9/".parse().unwrap()).unwrap(),
            look: Duration::ZERO,
            retry: Duration::ZERO,
            clock: clock::clock(),
            share: UpstreamShare::default(),
            connect: page.map(|page| page.parse().unwrap()),
        };
        let limiter = RateLimiter::new(TokenSource::fixed("t"), "google", "Google", 1, &services);
        let rejected = limiter.advise(Error::new(ErrorKind::Provider(401), "no"));
        assert_eq!(rejected.next_step(), Some(way));
        let refused = Error::new(ErrorKind::Auth, "no").next("run {add} and allow it");
        let refused = limiter.advise(refused);
        assert_eq!(refused.next_step(), Some(format!("{way} and allow it").as_str()));
    }
}
