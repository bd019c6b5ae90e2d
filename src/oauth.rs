//! Signing in: OAuth 2.0 over the `oauth2` crate.
//!
//! What differs between providers is one [`Service`] entry each: endpoints,
//! extra parameters, words. The flows are the same for all: consent in a
//! browser that comes back to this machine (`oauth/sign_in.rs`, whose listener is
//! `oauth/listener.rs`), and here what is done with a code or a refresh token at
//! the token endpoint. `oauth/words.rs` turns the protocol's error codes into
//! sentences.
//!
//! It keeps nothing: tokens are handed to `accounts.rs`. No token, code or
//! client secret gets into an error, a log or a `Debug` output, and a token
//! endpoint that redirects is not followed.

use std::time::Duration;

use oauth2::basic::{BasicClient, BasicErrorResponseType, BasicTokenResponse};
use oauth2::{
    AccessToken, AuthType, AuthUrl, AuthorizationCode, EndpointNotSet, EndpointSet, HttpRequest,
    HttpResponse, PkceCodeVerifier, RedirectUrl, RefreshToken, RequestTokenError, TokenResponse,
    TokenUrl,
};
use url::Url;

use crate::config::{Config, OauthClient};
use crate::error::{Error, Kind, Result};
use crate::net;

mod listener;
mod sign_in;
mod words;

pub use sign_in::{Paster, SignIn};
pub(crate) use words::grant_ended;

/// How long an access token is taken to last if the provider does not say.
/// Google and Microsoft say, and say about an hour.
const DEFAULT_LIFETIME: Duration = Duration::from_secs(3600);

/// What one provider does differently from another.
pub struct Service {
    /// The name in settings, account ids and commands.
    pub name: &'static str,
    /// The name for people.
    pub title: &'static str,
    /// The consent page.
    auth: fn(&Config) -> Result<Url>,
    /// The token endpoint.
    token: fn(&Config) -> Result<Url>,
    /// The revocation endpoint, if the provider has one.
    revoke: fn(&Config) -> Option<Url>,
    /// The OAuth client that the user registered.
    client: fn(&Config) -> &OauthClient,
    /// Parameters that the consent page is given besides the standard ones.
    params: &'static [(&'static str, &'static str)],
    /// The variable that names the client id, and the page that says how to get
    /// one.
    client_id: &'static str,
    setup: &'static str,
    /// Where people see and withdraw what they have granted.
    grants: &'static str,
    /// Why a grant may have ended that nobody withdrew.
    ends: &'static str,
}

/// The providers that one can sign in to.
pub const SERVICES: &[Service] = &[Service {
    name: "google",
    title: "Google",
    auth: |config| Ok(config.endpoints.google_auth.clone()),
    token: |config| Ok(config.endpoints.google_token.clone()),
    revoke: |config| Some(config.endpoints.google_revoke.clone()),
    client: |config| &config.google,
    // Without the first there is no refresh token at all, without the second
    // only the first time that an account consents.
    params: &[("access_type", "offline"), ("prompt", "consent")],
    client_id: "DAYSHEET_GOOGLE_CLIENT_ID",
    setup: "docs/setup-google.md",
    grants: "https://myaccount.google.com/connections",
    ends: "projects in Testing mode lose grants after 7 days",
}];

/// The provider called `name`.
///
/// # Errors
/// [`Kind::Argument`] with the names there are.
pub fn service(name: &str) -> Result<&'static Service> {
    SERVICES
        .iter()
        .find(|service| service.name == name)
        .ok_or_else(|| {
            let names: Vec<&str> = SERVICES.iter().map(|service| service.name).collect();
            Error::argument("one cannot sign in to that provider")
                .next(format!("use one of: {}", names.join(", ")))
        })
}

/// What a provider granted. `Debug` shows no token.
#[derive(Debug, Clone)]
pub struct Tokens {
    /// The provider's name, such as `google`.
    pub provider: &'static str,
    /// What requests are made with.
    pub access: AccessToken,
    /// What the next access token is had for. There always is one after a
    /// sign-in; after a refresh only if the provider changed it.
    pub refresh: Option<RefreshToken>,
    /// When the access token expires, in seconds since 1970.
    pub expires: i64,
    /// The scopes granted; people may have unticked some of those asked for.
    /// After a refresh they may be empty, which means the same as before.
    pub scopes: Vec<String>,
}

impl Tokens {
    fn new(service: &Service, answer: &BasicTokenResponse) -> Self {
        let lifetime = answer.expires_in().unwrap_or(DEFAULT_LIFETIME);
        let lifetime = i64::try_from(lifetime.as_secs()).unwrap_or(i64::MAX);
        let scopes = answer.scopes().map(Vec::as_slice).unwrap_or_default();
        Self {
            provider: service.name,
            access: answer.access_token().clone(),
            refresh: answer.refresh_token().cloned(),
            expires: jiff::Timestamp::now().as_second().saturating_add(lifetime),
            scopes: scopes.iter().map(|scope| scope.to_string()).collect(),
        }
    }
}

/// Why a token request brought no tokens.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// The code or refresh token is not good, or no longer (`invalid_grant`).
    /// True if the provider said that it was revoked and did not say that it
    /// might have expired.
    Grant {
        /// See above.
        revoked: bool,
    },
    /// Anything else, in words; trying again later may help.
    Other(Error),
}

/// A client of the `oauth2` crate with what every flow needs.
type Client = BasicClient<EndpointSet, EndpointNotSet, EndpointNotSet, EndpointNotSet, EndpointSet>;

fn client(config: &Config, service: &Service) -> Result<Client> {
    let registered = (service.client)(config);
    let id = registered
        .id
        .clone()
        .ok_or_else(|| words::no_client(service))?;
    let mut client = BasicClient::new(id)
        // In the body, not in a header: both providers take it there, and for
        // public clients there is no other way.
        .set_auth_type(AuthType::RequestBody)
        .set_auth_uri(AuthUrl::from_url((service.auth)(config)?))
        .set_token_uri(TokenUrl::from_url((service.token)(config)?));
    if let Some(secret) = &registered.secret {
        client = client.set_client_secret(secret.clone());
    }
    Ok(client)
}

/// Trades the code that came back from the consent page for tokens.
///
/// # Errors
/// [`Kind::Auth`] with what to do, [`Kind::Network`] or [`Kind::Timeout`].
async fn exchange(
    config: &Config,
    service: &Service,
    code: AuthorizationCode,
    verifier: PkceCodeVerifier,
    redirect: RedirectUrl,
) -> Result<Tokens> {
    let client = client(config, service)?.set_redirect_uri(redirect);
    let answer = client
        .exchange_code(code)
        .set_pkce_verifier(verifier)
        .request_async(&post)
        .await
        .map_err(|error| match refusal(service, error) {
            Refusal::Grant { .. } => words::used_code(service),
            Refusal::Other(error) => error,
        })?;
    let tokens = Tokens::new(service, &answer);
    if tokens.refresh.is_none() {
        return Err(words::no_refresh_token(service));
    }
    Ok(tokens)
}

/// Gets a new access token, and maybe a new refresh token, for `token`.
pub(crate) async fn refresh(
    config: &Config,
    service: &Service,
    token: &RefreshToken,
) -> std::result::Result<Tokens, Refusal> {
    let client = client(config, service).map_err(Refusal::Other)?;
    let answer = client
        .exchange_refresh_token(token)
        .request_async(&post)
        .await
        .map_err(|error| refusal(service, error))?;
    Ok(Tokens::new(service, &answer))
}

/// Asks the provider to end the grant that `token` belongs to. A grant that had
/// ended before is no error.
///
/// # Errors
/// [`Kind::Auth`], [`Kind::Network`] or [`Kind::Timeout`]; the grant may then go
/// on, and the message says where to end it by hand.
pub(crate) async fn revoke(config: &Config, service: &Service, token: &RefreshToken) -> Result<()> {
    let by_hand = |error: Error| {
        Error::new(error.kind(), error.message().to_owned())
            .next(format!("withdraw the grant at {}", service.grants))
    };
    let Some(url) = (service.revoke)(config) else {
        return Err(by_hand(Error::new(
            Kind::Auth,
            format!("{} has no way to end a grant from here", service.title),
        )));
    };
    // Not through the crate, which refuses plain http even on loopback.
    let body = url::form_urlencoded::Serializer::new(String::new())
        .append_pair("token", token.secret())
        .finish();
    let request = hyper::Request::post(url.as_str())
        .header(
            hyper::header::CONTENT_TYPE,
            "application/x-www-form-urlencoded",
        )
        .body(body.into_bytes())
        .map_err(|_opaque| Error::new(Kind::Internal, "a revocation could not be written"))?;
    let answer = net::send(request).await.map_err(by_hand)?;
    // 400 with `invalid_token` is how Google says that there is nothing to end.
    let gone = answer.status() == hyper::StatusCode::BAD_REQUEST
        && words::error_code(answer.body()).as_deref() == Some("invalid_token");
    if answer.status().is_success() || gone {
        return Ok(());
    }
    Err(by_hand(Error::new(
        Kind::Auth,
        format!(
            "{} answered the revocation with HTTP {}",
            service.title,
            answer.status().as_u16()
        ),
    )))
}

/// Sends a token request for the `oauth2` crate. Answers that cannot be about
/// the grant are errors here already, while their status is known.
async fn post(request: HttpRequest) -> Result<HttpResponse> {
    let answer = net::send(request).await?;
    let status = answer.status();
    if status.is_redirection() {
        return Err(Error::new(
            Kind::Config,
            "the token endpoint redirects, and tokens are sent nowhere but where was said",
        )
        .next("correct its URL in the settings"));
    }
    if status.is_server_error() || status == hyper::StatusCode::TOO_MANY_REQUESTS {
        return Err(Error::new(
            Kind::Provider(status.as_u16()),
            format!("the token endpoint answered with HTTP {}", status.as_u16()),
        )
        .next("try again later"));
    }
    Ok(answer)
}

/// Sorts what the `oauth2` crate made of a failed token request. What the server
/// sent beside the error code is not shown: it may repeat what we sent.
fn refusal(
    service: &Service,
    error: RequestTokenError<Error, oauth2::basic::BasicErrorResponse>,
) -> Refusal {
    match error {
        RequestTokenError::ServerResponse(answer) => {
            if *answer.error() == BasicErrorResponseType::InvalidGrant {
                let said = answer
                    .error_description()
                    .map(|words| words.to_ascii_lowercase())
                    .unwrap_or_default();
                return Refusal::Grant {
                    revoked: said.contains("revoked") && !said.contains("expired"),
                };
            }
            Refusal::Other(words::refused(service, answer.error().as_ref()))
        }
        RequestTokenError::Request(error) => Refusal::Other(error),
        RequestTokenError::Parse(..) | RequestTokenError::Other(_) => Refusal::Other(
            Error::new(
                Kind::Auth,
                format!("{}'s token endpoint gave no answer of OAuth", service.title),
            )
            .next("check the endpoint URLs in the settings"),
        ),
    }
}
