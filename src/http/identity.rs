//! The identity of callers, and responses to denied requests.
//!
//! A denial names the issuer's metadata (RFC 9728) and the scope to request (RFC 6750), so that a
//! client without a token can obtain one without any setup.

use std::net::IpAddr;

use axum::Router;
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_ORIGIN, AUTHORIZATION, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE,
};
use axum::http::request::Parts;
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use daysheet_auth::{
    ALGORITHMS, CallingPerson, IssuerClient, IssuerSettings, RequestDenial, TokenList,
    TokenVerifier, is_issuer, scope_of,
};
use daysheet_core::access::AccessLevel;
use daysheet_core::error::{Error, ErrorKind, Result};
use serde::Deserialize;
use serde_json::{Value, json};
use url::Url;

use crate::config::Config;
use crate::tools;

/// The path of the metadata for everything at this address, and as a prefix for `/mcp`.
const METADATA: &str = ".well-known/oauth-protected-resource";

/// Returns the verifier that the settings select for a server listening on `address`.
///
/// # Errors
/// [`ErrorKind::Config`] if the settings contradict each other or cannot be used, or if other machines
/// could reach a server without tokens.
pub fn verifier(config: &Config, address: IpAddr) -> Result<TokenVerifier> {
    // Behind a proxy, anyone can reach an address of this machine.
    let local = address.is_loopback() && !config.http.proxy && config.http.is_local();
    let identity = &config.identity;
    let wrong = |what: &str, next: &str| Err(Error::new(ErrorKind::Config, what).next(next));
    match (&identity.issuer, &identity.token_file) {
        (Some(_), Some(_)) => wrong(
            "both an issuer and a token file are set",
            "keep --issuer (http.issuer) for many people, or --token-file (http.token_file) for one",
        ),
        (Some(issuer), None) if !is_issuer(issuer) => wrong(
            "http.issuer is not the URL of an issuer",
            "use its https URL; plain http is allowed on this machine only",
        ),
        (Some(issuer), None) => at_issuer(issuer, config),
        (None, Some(path)) => Ok(TokenVerifier::Known(TokenList::open(path)?)),
        (None, None) if local => Ok(TokenVerifier::open(config.access)),
        (None, None) => wrong(
            &format!(
                "other machines could call this server without a token: {}",
                match (address.is_loopback(), config.http.proxy) {
                    (false, _) => "its address is not of this machine alone",
                    (true, true) => "it is behind a proxy (--behind-proxy or http.proxy)",
                    (true, false) => "http.public_url or http.hosts names another machine",
                }
            ),
            "set --issuer (many people) or --token-file (one person; `daysheet token` makes a \
             token), or use an address of this machine, such as 127.0.0.1:8750",
        ),
    }
}

fn at_issuer(issuer: &str, config: &Config) -> Result<TokenVerifier> {
    let identity = &config.identity;
    let client = &identity.client;
    let client = client
        .id
        .as_ref()
        .map(|id| IssuerClient { id: id.to_string(), secret: client.secret.clone() });
    // The introspection endpoint requires authorization (RFC 7662, 2.1).
    if identity.introspection && client.as_ref().is_none_or(|client| client.secret.is_none()) {
        return Err(Error::new(
            ErrorKind::Config,
            "introspection needs a client with a secret at the issuer",
        )
        .next("set http.client_id and http.client_secret"));
    }
    let named = |word: &String| {
        let known = ALGORITHMS.iter().find(|(name, _)| name.eq_ignore_ascii_case(word));
        known.map(|&(_, algorithm)| algorithm).ok_or_else(|| {
            let names = ALGORITHMS.map(|(name, _)| name).join(", ");
            Error::new(
                ErrorKind::Config,
                "http.algorithms contains an unknown or symmetric algorithm",
            )
            .next(format!("use one or more of {names}"))
        })
    };
    let algorithms = if identity.algorithms.is_empty() {
        ALGORITHMS.map(|(_, algorithm)| algorithm).to_vec()
    } else {
        identity.algorithms.iter().map(named).collect::<Result<_>>()?
    };
    let audience = identity.audience.clone().or_else(|| resource(config).map(String::from));
    let audience = audience.ok_or_else(|| {
        Error::new(ErrorKind::Internal, "the verifier was made before the address was known")
    })?;
    Ok(TokenVerifier::at_issuer(IssuerSettings {
        issuer: issuer.to_owned(),
        audience,
        algorithms,
        scope_prefix: identity.scope_prefix.clone(),
        introspection: identity.introspection,
        client,
        pause: IssuerSettings::PAUSE,
        clock: config.clock.clone(),
    }))
}

/// Returns the URL of `/mcp`.
fn resource(config: &Config) -> Option<Url> {
    config.pages.as_ref()?.join("mcp").ok()
}

/// Returns the bearer token of a request, if it has one.
///
/// # Errors
/// [`RequestDenial::Malformed`] for a token in the URL or several tokens, [`RequestDenial::Invalid`] for a
/// malformed token.
pub fn bearer(request: &Parts) -> std::result::Result<Option<&str>, RequestDenial> {
    let query = request.uri.query().unwrap_or_default();
    if url::form_urlencoded::parse(query.as_bytes()).any(|(name, _)| name == "access_token") {
        // URLs appear in logs and browser histories.
        return Err(RequestDenial::Malformed("do not put a token in a URL"));
    }
    let mut headers = request.headers.get_all(AUTHORIZATION).iter();
    let Some(header) = headers.next() else {
        return Ok(None);
    };
    if headers.next().is_some() {
        return Err(RequestDenial::Malformed("the request has two tokens"));
    }
    let header = header.to_str().map_err(|_| RequestDenial::Malformed("the token is not text"))?;
    let (scheme, token) = header.split_once(' ').unwrap_or((header, ""));
    if !scheme.eq_ignore_ascii_case("bearer") {
        // Other schemes are for proxies, not for this server.
        return Ok(None);
    }
    let sign = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte);
    if !token.is_empty() && token.bytes().all(sign) {
        Ok(Some(token))
    } else {
        Err(RequestDenial::Invalid("the token is malformed"))
    }
}

/// The responses to callers whose token is missing or insufficient.
pub struct AuthChallenge {
    /// The URL of `/mcp` and the issuer of its tokens; `None` without an issuer.
    resource: Option<(Url, String)>,
    /// The prefix of scope names.
    prefix: String,
    /// The access level of the settings, which no token can exceed.
    most: AccessLevel,
}

impl AuthChallenge {
    /// Creates the challenges for a server with these settings.
    pub fn new(config: &Config, verifier: &TokenVerifier) -> Self {
        let (resource, prefix) = match verifier {
            TokenVerifier::Issuer(at) => {
                let resource = resource(config).map(|url| (url, at.issuer().to_owned()));
                (resource, at.scope_prefix().to_owned())
            }
            _ => (None, String::new()),
        };
        Self { resource, prefix, most: config.access }
    }

    /// Returns the scope for an access level.
    fn scope(&self, access: AccessLevel) -> String {
        format!("{}{}", self.prefix, scope_of(access))
    }

    /// Returns the routes of the metadata, if there is an issuer.
    pub fn routes<S: Clone + Send + Sync + 'static>(&self) -> Router<S> {
        let Some((resource, issuer)) = &self.resource else {
            return Router::new();
        };
        let scopes = AccessLevel::ALL.into_iter().filter(|level| *level <= self.most);
        let document = json!({
            "resource": resource.as_str(),
            "authorization_servers": [issuer],
            "scopes_supported": scopes.map(|access| self.scope(access)).collect::<Vec<_>>(),
            "bearer_methods_supported": ["header"],
            "resource_name": "Daysheet",
        })
        .to_string();
        // Clients in browsers may read the document, which contains no secrets.
        let headers = [(CONTENT_TYPE, "application/json"), (ACCESS_CONTROL_ALLOW_ORIGIN, "*")];
        let answer = move || std::future::ready((headers, document.clone()));
        Router::new()
            .route(&format!("/{METADATA}"), get(answer.clone()))
            .route(&format!("/{METADATA}/mcp"), get(answer))
    }

    /// Returns the response to a denied request.
    pub fn denied(&self, denial: &RequestDenial) -> Response {
        let most = || Some(self.scope(self.most));
        match denial {
            RequestDenial::Missing => {
                self.refuse(StatusCode::UNAUTHORIZED, None, "a token is required", most())
            }
            RequestDenial::Malformed(why) => {
                self.refuse(StatusCode::BAD_REQUEST, Some("invalid_request"), why, None)
            }
            RequestDenial::Invalid(why) => {
                self.refuse(StatusCode::UNAUTHORIZED, Some("invalid_token"), why, most())
            }
            RequestDenial::Insufficient => {
                self.lacking("the token has none of this server's scopes", self.most)
            }
            RequestDenial::Unavailable(error) => {
                tracing::warn!(%error, "a token could not be checked");
                let wait = [(RETRY_AFTER, "5")];
                (StatusCode::SERVICE_UNAVAILABLE, wait, "the token cannot be checked right now\n")
                    .into_response()
            }
        }
    }

    /// Returns the response to a tool call that the settings allow but the token does not, so that
    /// the client can request a token with a higher scope. `None` for all other requests. The call
    /// itself is refused elsewhere.
    pub fn step_up(&self, person: &CallingPerson, body: &[u8]) -> Option<Response> {
        // Without an issuer, or at the highest level, no other token would allow more.
        if self.resource.is_none() || person.access >= self.most {
            return None;
        }
        let call = CallHead::deserialize(&serde_json::from_slice::<Value>(body).ok()?).ok()?;
        let tool = tools::find(&call.params.name).filter(|_| call.method == "tools/call")?;
        let lacks = tool.access > person.access && tool.access <= self.most;
        lacks.then(|| self.lacking(&format!("the token does not allow {}", tool.name), tool.access))
    }

    fn lacking(&self, why: &str, access: AccessLevel) -> Response {
        let scope = self.scope(access);
        let why = format!("{why}: get one with the scope {scope}");
        self.refuse(StatusCode::FORBIDDEN, Some("insufficient_scope"), &why, Some(scope))
    }

    fn refuse(
        &self,
        status: StatusCode,
        error: Option<&str>,
        why: &str,
        scope: Option<String>,
    ) -> Response {
        let metadata = self
            .resource
            .as_ref()
            .and_then(|(resource, _)| resource.join(&format!("{METADATA}/mcp")).ok());
        let parameters = [
            // RFC 6750, 3.1: a response to a request without a token names no error.
            ("error", error.map(str::to_owned)),
            ("error_description", error.map(|_| why.to_owned())),
            ("scope", scope.filter(|_| metadata.is_some())),
            ("resource_metadata", metadata.as_ref().map(Url::to_string)),
        ];
        let parameters: Vec<String> = parameters
            .into_iter()
            .filter_map(|(name, value)| Some(format!("{name}=\"{}\"", value?)))
            .collect();
        let challenge = format!("Bearer {}", parameters.join(", "));
        let challenge = HeaderValue::try_from(challenge.trim_end());
        let headers: Vec<(HeaderName, HeaderValue)> =
            challenge.ok().map(|challenge| (WWW_AUTHENTICATE, challenge)).into_iter().collect();
        let mut response = (status, format!("{why}\n")).into_response();
        response.headers_mut().extend(headers);
        response
    }
}

/// The parts of a tool call that are read here.
#[derive(Deserialize)]
struct CallHead {
    method: String,
    params: Named,
}

#[derive(Deserialize)]
struct Named {
    name: String,
}
