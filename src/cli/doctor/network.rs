//! Checks of the connections to the providers, each step by itself: name, TCP, TLS and HTTP. The
//! clock is compared with the `Date` of their answers.

use std::time::Duration;

use daysheet_core::clock::Clock;
use daysheet_providers::net::{self, FetchFailure};
use futures_util::future::join_all;
use hyper::header::DATE;
use jiff::Timestamp;
use jiff::fmt::rfc2822;
use tokio::net::{TcpStream, lookup_host};
use tokio::time::timeout;
use url::Url;

use super::finding::{CheckName, Finding, FindingState};
use crate::config::Config;

/// The time limit of each step.
const STEP: Duration = Duration::from_secs(8);
/// The difference of clocks that signatures and certificates tolerate, in seconds.
const TOLERATED: i64 = 300;
/// Variables that name a proxy.
const PROXIES: &[&str] = &["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];

/// Checks the connections to the hosts of these providers, and the clock.
pub(super) async fn network(config: &Config, providers: &[&str]) -> Vec<Finding> {
    let all = &config.endpoints;
    let google =
        [&all.google_auth, &all.google_token, &all.gmail, &all.google_calendar, &all.google_people];
    let microsoft = [&all.microsoft_authority, &all.graph];
    let mut urls: Vec<&Url> = Vec::new();
    for provider in providers {
        let of_provider: &[&Url] = if *provider == "google" { &google } else { &microsoft };
        for url in of_provider {
            let is_same =
                |known: &&Url| known.scheme() == url.scheme() && place(known) == place(url);
            if !urls.iter().any(is_same) {
                urls.push(url);
            }
        }
    }
    let results = join_all(urls.iter().map(|url| reach(url))).await;
    let mut found = Vec::new();
    let mut reached = Vec::new();
    let mut dated = None;
    for (url, result) in urls.iter().zip(results) {
        match result {
            Ok(date) => {
                reached.push(place(url));
                dated = dated.or_else(|| Some((place(url), date?)));
            }
            Err((what, next)) => {
                found.push(Finding::new(CheckName::Network, FindingState::Failed, what).next(next));
            }
        }
    }
    if !reached.is_empty() {
        let what = format!("reached {}", reached.join(", "));
        found.push(Finding::good(CheckName::Network, what));
    }
    found.push(match dated {
        Some((host, date)) => clock(&config.clock, &host, date),
        None => Finding::new(CheckName::Clock, FindingState::Skipped, "no provider was reached"),
    });
    found
}

/// Returns the host with its port, if that is not the usual one.
fn place(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

/// Connects to a host, and returns the time of its answer. An error is the problem with its next
/// step.
async fn reach(url: &Url) -> Result<Option<Timestamp>, (String, String)> {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    let port = url.port_or_known_default().unwrap_or(443);
    let place = place(url);
    let addresses = match timeout(STEP, lookup_host((host, port))).await {
        Ok(Ok(addresses)) => addresses.collect::<Vec<_>>(),
        Ok(Err(_)) | Err(_) => {
            let next = "check the network connection and its DNS server".to_owned();
            return Err((
                format!("the name {host} is not found (DNS)"),
                without_proxy(&place, next),
            ));
        }
    };
    let mut refused = "no address".to_owned();
    let mut is_open = false;
    for address in addresses {
        match timeout(STEP, TcpStream::connect(address)).await {
            Ok(Ok(_)) => {
                is_open = true;
                break;
            }
            Ok(Err(error)) => refused = error.kind().to_string(),
            Err(_) => refused = "no answer".to_owned(),
        }
    }
    if !is_open {
        let next = format!("let the firewall allow connections to {host}, port {port}");
        return Err((
            format!("{place} refuses connections ({refused})"),
            without_proxy(&place, next),
        ));
    }
    let mut root = url.clone();
    root.set_path("/");
    root.set_query(None);
    let broken = |what: String, next: &str| Err((what, next.to_owned()));
    let Ok(request) = hyper::Request::head(root.as_str()).body(Vec::new()) else {
        return broken(
            format!("{place} has no usable URL"),
            "correct its endpoint in the settings",
        );
    };
    match timeout(STEP, net::exchange(request, net::BODY_CAP, None)).await {
        Ok(Ok(whole)) => {
            let date = whole.answer.headers().get(DATE).and_then(|date| date.to_str().ok());
            let date = date.and_then(|date| rfc2822::parse(date).ok());
            Ok(date.map(|date| date.timestamp()))
        }
        Ok(Err(FetchFailure::Long)) => Ok(None),
        Ok(Err(FetchFailure::Unreached(cause) | FetchFailure::Broken(cause))) => {
            if cause.contains("certificate") {
                return broken(
                    format!("the certificate of {place} is not trusted ({cause})"),
                    "let the proxy or virus scanner that replaces certificates leave out this \
                     host; if the clock is wrong, correct it",
                );
            }
            let next =
                without_proxy(&place, "check for a proxy or firewall that breaks TLS".to_owned());
            Err((format!("the connection to {place} breaks ({cause})"), next))
        }
        Err(_) => {
            let next = without_proxy(&place, "try again later".to_owned());
            Err((format!("{place} accepts connections, but does not answer"), next))
        }
    }
}

/// Returns the next step, or the one about a proxy if one is set.
fn without_proxy(place: &str, next: String) -> String {
    let set = |name: &&&str| std::env::var(**name).is_ok_and(|value| !value.is_empty());
    match PROXIES.iter().find(set) {
        Some(name) => format!(
            "allow direct connections to {place}: {name} is set, but Daysheet uses no proxy"
        ),
        None => next,
    }
}

/// Compares the clock with the time of an answer.
fn clock(clock: &Clock, host: &str, date: Timestamp) -> Finding {
    let ahead = clock.seconds().saturating_sub(date.as_second());
    if ahead.abs() <= TOLERATED {
        return Finding::good(CheckName::Clock, format!("agrees with {host}"));
    }
    let off = match ahead.abs() {
        off if off < 2 * 3_600 => format!("{} minutes", off / 60),
        off if off < 2 * 86_400 => format!("{} hours", off / 3_600),
        off => format!("{} days", off / 86_400),
    };
    let way = if ahead > 0 { "ahead of" } else { "behind" };
    let what = format!("the clock is {off} {way} that of {host}");
    let next = "set the clock, or switch on its synchronization: sign-ins and certificates fail";
    Finding::new(CheckName::Clock, FindingState::Failed, what).next(next)
}
