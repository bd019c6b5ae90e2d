//! The frame of every page, recurring parts, and error pages.

use std::time::Duration;

use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER};
use axum::response::{Html, IntoResponse, Response};
use daysheet_core::error::{Error, ErrorKind};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use maud::{DOCTYPE, Markup, html};
use url::Url;

/// The pages in the navigation.
const NAVIGATION: [(&str, &str); 5] = [
    ("/accounts", "Accounts"),
    ("/approve", "Approvals"),
    ("/accounts/activity", "Activity"),
    ("/inspect", "Inspect"),
    ("/accounts/data", "Your data"),
];

/// The part of a session that the frame shows.
pub(super) trait SignedIn {
    /// Returns the person's name and the form to sign out.
    fn person(&self) -> Markup;
}

/// Returns a page. Without a session it has no navigation.
pub(super) fn page(title: &str, session: Option<&dyn SignedIn>, body: Markup) -> Response {
    framed(title, session, html! {}, body)
}

/// Returns a page that forwards the browser immediately, as the response to a form. A redirect
/// would be blocked, because browsers apply `form-action` to redirects, too.
pub(super) fn leading_on(title: &str, session: &dyn SignedIn, to: &Url, body: Markup) -> Response {
    let refresh = html! { meta http-equiv="refresh" content={ "0; url=" (to) }; };
    framed(title, Some(session), refresh, body)
}

fn framed(title: &str, session: Option<&dyn SignedIn>, head: Markup, body: Markup) -> Response {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) " – Daysheet" }
                link rel="stylesheet" href="/style.css";
                link rel="icon" type="image/svg+xml" href="/icon.svg";
                (head)
            }
            body {
                a.skip href="#main" { "Skip to content" }
                header {
                    p.name {
                        img src="/icon.svg" width="28" height="28" alt="";
                        " Daysheet"
                    }
                    @if let Some(session) = session { (navigation(title)) (session.person()) }
                }
                main #main tabindex="-1" {
                    h1 { (title) }
                    (body)
                }
            }
        }
    };
    Html(page.into_string()).into_response()
}

fn navigation(title: &str) -> Markup {
    html! {
        nav aria-label="Pages" {
            ul {
                @for (path, name) in NAVIGATION {
                    li { a href=(path) aria-current=[(name == title).then_some("page")] { (name) } }
                }
            }
        }
    }
}

/// Returns a part of a whole as a bar, for readers who are also shown the number.
pub(super) fn bar(percent: usize) -> Markup {
    html! {
        svg.bar viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true" {
            rect width=(percent) height="1" {}
        }
    }
}

/// Returns a time for readers, with its exact value for machines.
pub(super) fn time(seconds: i64, zone: &TimeZone) -> Markup {
    match Timestamp::from_second(seconds) {
        Ok(time) => html! {
            time datetime=(time) { (time.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M %Z")) }
        },
        Err(_) => html! { "unknown" },
    }
}

/// The reason why a page could not be shown, for people to read.
#[derive(Debug)]
pub(super) struct PageProblem {
    status: StatusCode,
    why: String,
    /// The wait after which the request may succeed.
    wait: Option<Duration>,
}

impl PageProblem {
    pub(super) fn new(status: StatusCode, why: impl Into<String>) -> Self {
        Self { status, why: why.into(), wait: None }
    }

    /// Returns the problem of an unknown page.
    pub(super) fn missing() -> Self {
        Self::new(StatusCode::NOT_FOUND, "there is no such page")
    }

    /// Returns the problem of a page requested by the wrong method.
    pub(super) fn bad_method() -> Self {
        let why = "this page cannot be opened in this way; open it from another page";
        Self::new(StatusCode::METHOD_NOT_ALLOWED, why)
    }

    /// Returns the problem of a request that cannot be understood.
    pub(super) fn bad(why: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, why)
    }
}

impl From<Error> for PageProblem {
    fn from(error: Error) -> Self {
        let status = match error.kind() {
            ErrorKind::Argument => StatusCode::BAD_REQUEST,
            ErrorKind::Auth => StatusCode::FORBIDDEN,
            ErrorKind::NotFound | ErrorKind::NoAccount => StatusCode::NOT_FOUND,
            ErrorKind::Internal | ErrorKind::Config => StatusCode::INTERNAL_SERVER_ERROR,
            ErrorKind::Network | ErrorKind::Timeout | ErrorKind::Provider(_) => {
                StatusCode::BAD_GATEWAY
            }
            ErrorKind::Store => StatusCode::SERVICE_UNAVAILABLE,
            ErrorKind::RateLimited(_) => StatusCode::TOO_MANY_REQUESTS,
            _ => StatusCode::CONFLICT,
        };
        let wait = match error.kind() {
            ErrorKind::RateLimited(wait) => wait,
            _ => None,
        };
        Self { wait, ..Self::new(status, words(&error)) }
    }
}

/// Returns an error in words for everyone. Errors that only the operator can fix are logged
/// instead, because they may contain paths or the address of the database.
pub(super) fn words(error: &Error) -> String {
    match error.kind() {
        ErrorKind::Store | ErrorKind::Config => {
            tracing::warn!(%error, "a page could not be shown");
            "this server cannot do it now, and its log says why: try again later".to_owned()
        }
        _ => error.to_string(),
    }
}

impl IntoResponse for PageProblem {
    fn into_response(self) -> Response {
        let body = html! {
            p #problem role="alert" { (sentence(&self.why)) }
            p { a href="/accounts" { "Go to your accounts" } }
        };
        let wait = self.wait.map(|wait| [(RETRY_AFTER, wait.as_secs().to_string())]);
        (self.status, wait, page("Something went wrong", None, body)).into_response()
    }
}

/// Returns a fragment, such as an error message, as a sentence.
pub(super) fn sentence(text: &str) -> String {
    let end = if text.ends_with(['.', '!', '?']) { "" } else { "." };
    format!("{}{end}", capitalized(text))
}

/// Returns a text that begins with a capital letter.
pub(super) fn capitalized(text: &str) -> String {
    let mut characters = text.chars();
    let first: String = characters.next().into_iter().flat_map(char::to_uppercase).collect();
    format!("{first}{}", characters.as_str())
}

/// Returns the style sheet of all pages.
pub(super) async fn style() -> Response {
    asset("text/css; charset=utf-8", include_str!("style.css"))
}

/// Returns the icon of all pages.
pub(super) async fn icon() -> Response {
    asset("image/svg+xml", include_str!("icon.svg"))
}

fn asset(media_type: &'static str, text: &'static str) -> Response {
    let headers = [(CONTENT_TYPE, media_type), (CACHE_CONTROL, "max-age=3600")];
    (headers, text).into_response()
}
