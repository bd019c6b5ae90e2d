//! The provider's redirect after the consent page: its content, and its way to the sign-in.
//!
//! `sign_in.rs` waits for it, `listener.rs` receives it from a browser, and people may paste it.

use daysheet_core::error::{Error, ErrorKind, Result};
use oauth2::{AuthorizationCode, CsrfToken};
use tokio::sync::{mpsc, oneshot};
use url::Url;

use super::error_messages;
use super::error_response::{OAuthErrorResponse, RefusalFields};
use super::providers::OAuthProvider;

/// The outcome of a sign-in, for the page.
pub(super) enum CallbackOutcome {
    /// The address of the account.
    SignedIn(String),
    /// The reason for the failure, in words.
    Failed(String),
}

/// The response of the consent page with the right state, and the channel for showing the outcome
/// in the browser.
pub(super) struct ConsentResponse {
    /// The code, or the provider's refusal.
    pub(super) answer: std::result::Result<AuthorizationCode, OAuthErrorResponse>,
    /// The channel for the outcome; `None` if the address was pasted.
    pub(super) page: Option<oneshot::Sender<CallbackOutcome>>,
}

/// The content of the provider's redirect.
pub(super) struct RedirectParameters {
    /// The code, or the provider's refusal.
    pub(super) outcome: std::result::Result<AuthorizationCode, OAuthErrorResponse>,
    /// The state, if there is one.
    pub(super) state: Option<String>,
}

/// Reads the query of a provider's redirect; `None` if it has neither a code nor an error.
pub(super) fn read_redirect(query: &str) -> Option<RedirectParameters> {
    let value = |name: &str| {
        url::form_urlencoded::parse(query.as_bytes())
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.into_owned())
            .filter(|value| !value.is_empty())
    };
    let outcome = match (value("code"), value("error")) {
        (_, Some(error)) => Err(OAuthErrorResponse::new(&RefusalFields {
            error: &error,
            suberror: &value("error_subcode").unwrap_or_default(),
            description: &value("error_description").unwrap_or_default(),
        })),
        (Some(code), None) => Ok(AuthorizationCode::new(code)),
        (None, None) => return None,
    };
    Some(RedirectParameters { outcome, state: value("state") })
}

/// Accepts the response of the consent page, pasted or redirected.
#[derive(Clone)]
pub struct ResponseReceiver {
    /// The provider of the consent page.
    pub(super) provider: &'static OAuthProvider,
    /// The address that the consent page redirects to.
    pub(super) redirect: String,
    /// The state of this sign-in, which the redirect must have.
    pub(super) state: CsrfToken,
    /// The channel to the sign-in, with room for one response.
    pub(super) callbacks: mpsc::Sender<ConsentResponse>,
}

impl ResponseReceiver {
    /// Accepts the complete address that the browser ended on. The sign-in continues in
    /// [`SignIn::wait`](super::SignIn::wait).
    ///
    /// # Errors
    /// [`ErrorKind::Auth`] if the text is another address, belongs to another sign-in, or comes too
    /// late. The sign-in keeps waiting.
    pub fn paste(&self, text: &str) -> Result<()> {
        // People paste addresses with quotation marks or in angle brackets.
        let text = text.trim().trim_matches(['"', '\'', '<', '>']);
        let url =
            Url::parse(text).map_err(|_no_url| error_messages::not_a_redirect(&self.redirect))?;
        let query = url.query().unwrap_or_default();
        match self.read(query) {
            RedirectQuery::Nothing => Err(error_messages::not_a_redirect(&self.redirect)),
            RedirectQuery::WrongState => Err(error_messages::wrong_state(self.provider)),
            RedirectQuery::Answer(answer) => self.hand_in(ConsentResponse { answer, page: None }),
        }
    }

    /// Reads the query of the provider's redirect.
    pub(super) fn read(&self, query: &str) -> RedirectQuery {
        match read_redirect(query) {
            None => RedirectQuery::Nothing,
            // Checked for refusals, too: any page could send one and end the sign-in.
            Some(RedirectParameters { outcome, state: Some(state) })
                if state == *self.state.secret() =>
            {
                RedirectQuery::Answer(outcome)
            }
            Some(_) => RedirectQuery::WrongState,
        }
    }

    /// Passes a response on to the waiting sign-in; only the first one is accepted.
    pub(super) fn hand_in(&self, callback: ConsentResponse) -> Result<()> {
        self.callbacks.try_send(callback).map_err(|_taken| {
            Error::new(ErrorKind::Auth, "this sign-in is over: it was already answered")
                .next("see the result of the first answer")
        })
    }

    /// Returns the provider's name for people.
    pub(super) fn title(&self) -> &'static str {
        self.provider.title
    }
}

/// The content of a redirect's query.
pub(super) enum RedirectQuery {
    /// Neither code nor error.
    Nothing,
    /// A code or an error of another sign-in, or without a valid state.
    WrongState,
    /// This sign-in's code or error.
    Answer(std::result::Result<AuthorizationCode, OAuthErrorResponse>),
}
