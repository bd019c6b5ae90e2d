//! The issuer: its endpoints and its signing keys.
//!
//! Both are fetched for the first token, and cached for as long as the issuer says, within limits.
//! An unknown key is looked up at most once a minute, so that forged tokens cannot make this server
//! flood the issuer. While the issuer is down, its last keys stay valid for a day. One request at a
//! time fetches; others wait for it only if the last keys do not suffice for them.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use daysheet_core::clock::Clock;
use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_providers::net;
use hyper::header::{ACCEPT, AUTHORIZATION, CACHE_CONTROL, CONTENT_TYPE};
use hyper::{HeaderMap, Request};
use jsonwebtoken::Algorithm;
use oauth2::ClientSecret;
use serde_json::{Map, Value};
use tokio::time::Instant;
use url::{Host, Url};

use crate::jwt::{CheckResult, IssuerKey, Jwt, TokenClaims, TokenUse};
use crate::{RequestDenial, VerifyResult};

/// The time limit of a request to the issuer, during which callers wait.
const LIMIT: Duration = Duration::from_secs(5);
/// The time for which keys are fresh if the issuer states none, and the limits for a stated time.
const FRESH: Duration = Duration::from_mins(10);
const MIN_FRESH: Duration = Duration::from_mins(1);
const MAX_FRESH: Duration = Duration::from_hours(1);
/// The time for which fetched keys are used while the issuer does not respond.
const KEPT: Duration = Duration::from_hours(24);
/// The pause after a failed attempt without any cached keys.
const RETRY: Duration = Duration::from_secs(5);
/// The maximum number of an issuer's keys that are read.
const KEYS: usize = 100;

/// The settings that tokens are checked against.
#[derive(Debug, Clone)]
pub struct IssuerSettings {
    /// The issuer's name for itself: an `https` URL, or `http` on this machine.
    pub issuer: String,
    /// The audience that tokens must have.
    pub audience: String,
    /// The allowed algorithms, from [`crate::ALGORITHMS`].
    pub algorithms: Vec<Algorithm>,
    /// The prefix that clients put before the name of a scope when they request it; may be empty.
    /// Tokens may have the prefix or not.
    pub scope_prefix: String,
    /// True if the issuer is asked about tokens that are not JWTs.
    pub introspection: bool,
    /// This server's own client at the issuer.
    pub client: Option<IssuerClient>,
    /// The minimum time between two lookups of an unknown key. Only tests change it.
    pub pause: Duration,
    /// The clock by which tokens expire.
    pub clock: Clock,
}

impl IssuerSettings {
    /// The default of [`IssuerSettings::pause`].
    pub const PAUSE: Duration = Duration::from_mins(1);
}

/// This server's own client at the issuer. `Debug` does not show the secret.
#[derive(Debug, Clone)]
pub struct IssuerClient {
    /// The client's id.
    pub id: String,
    /// The client's secret; `None` for a public client.
    pub secret: Option<ClientSecret>,
}

/// The time of the last attempt to fetch keys, and its error if it failed.
type FetchResult = (Instant, Option<Error>);

/// An issuer, and the metadata and keys that it has published.
pub(crate) struct Issuer {
    settings: IssuerSettings,
    known: Mutex<Option<Arc<IssuerKeys>>>,
    /// The last attempt to fetch. The request that fetches holds the lock.
    last: Arc<tokio::sync::Mutex<Option<FetchResult>>>,
}

/// The published keys and metadata of an issuer.
pub(crate) struct IssuerKeys {
    keys: Vec<IssuerKey>,
    pub(crate) metadata: IssuerMetadata,
    fetched: Instant,
    fresh: Duration,
}

/// The issuer's metadata (RFC 8414).
pub(crate) struct IssuerMetadata(Map<String, Value>);

impl IssuerMetadata {
    /// Returns an endpoint. Only an issuer on this machine may have endpoints on it, so that no
    /// other issuer can make this server send requests to local services over plain HTTP.
    pub(crate) fn endpoint(&self, name: &str) -> Result<Url> {
        let local = self.text("issuer").is_some_and(|issuer| is_usable(issuer, true));
        let url =
            self.text(name).filter(|url| is_usable(url, false) || (local && is_usable(url, true)));
        url.and_then(|url| Url::parse(url).ok()).ok_or_else(|| {
            Error::new(ErrorKind::Config, format!("the issuer publishes no usable `{name}`"))
                .next("check http.issuer in the settings")
        })
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).and_then(Value::as_str)
    }

    /// Returns true if `name` is published as true.
    pub(crate) fn says(&self, name: &str) -> bool {
        self.0.get(name).and_then(Value::as_bool).unwrap_or(false)
    }

    /// Returns true if `name` lists `word`. An unpublished list contains only `default`.
    fn lists(&self, name: &str, word: &str, default: &str) -> bool {
        match self.0.get(name).and_then(Value::as_array) {
            Some(list) => list.iter().any(|one| one.as_str() == Some(word)),
            None => word == default,
        }
    }
}

/// Returns true if `url` can be an issuer's: `https`, or plain `http` on this machine.
pub fn is_issuer(url: &str) -> bool {
    (is_usable(url, true) || is_usable(url, false)) && !url.contains(['?', '#'])
}

/// Returns true for an absolute URL that secrets may be sent to: `https`, or on this machine also
/// `http`. `local` selects URLs on this machine or elsewhere.
fn is_usable(url: &str, local: bool) -> bool {
    let Ok(url) = Url::parse(url) else { return false };
    let here = match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback() || address.is_unspecified(),
        Some(Host::Ipv6(address)) => address.is_loopback() || address.is_unspecified(),
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        None => return false,
    };
    let scheme = url.scheme() == "https" || (here && url.scheme() == "http");
    scheme && here == local && url.username().is_empty() && url.password().is_none()
}

impl IssuerKeys {
    /// Returns the key that may have signed `jwt`: the one with its key id or, without a key id,
    /// the only key for the algorithm.
    fn key(&self, jwt: &Jwt, algorithm: Algorithm) -> Option<&IssuerKey> {
        let mut fitting = self.keys.iter().filter(|key| key.is_for(algorithm));
        match jwt.key_id() {
            Some(id) => fitting.find(|key| key.id() == Some(id)),
            None => fitting.next().filter(|_| fitting.next().is_none()),
        }
    }
}

impl Issuer {
    pub(crate) fn new(settings: IssuerSettings) -> Self {
        Self { settings, known: Mutex::default(), last: Arc::default() }
    }

    pub(crate) fn settings(&self) -> &IssuerSettings {
        &self.settings
    }

    /// Returns the claims of an access token, if it is valid.
    pub(crate) async fn access_claims(
        self: &Arc<Self>,
        jwt: &Jwt<'_>,
    ) -> VerifyResult<TokenClaims> {
        let claims = self.signed(jwt, TokenUse::Access).await?;
        let checked = claims
            .check_parties(&self.settings.issuer, &self.settings.audience)
            .and_then(|()| claims.check_is_access());
        checked.map_err(RequestDenial::Invalid)?;
        Ok(claims)
    }

    /// Returns the claims of a valid token that the issuer signed for this use.
    pub(crate) async fn signed(
        self: &Arc<Self>,
        jwt: &Jwt<'_>,
        use_: TokenUse,
    ) -> VerifyResult<TokenClaims> {
        let algorithm = jwt.algorithm(&self.settings.algorithms).map_err(RequestDenial::Invalid)?;
        let unknown = |known: &IssuerKeys| known.key(jwt, algorithm).is_none();
        let known = self.known(unknown).await.map_err(RequestDenial::Unavailable)?;
        let checked = || -> CheckResult<TokenClaims> {
            let key = known.key(jwt, algorithm).ok_or("the key of the token is unknown")?;
            let claims = jwt.claims(key, algorithm, use_)?;
            claims.time("exp")?.ok_or("the token has no expiry")?;
            claims.check_times(&self.settings.clock)?;
            Ok(claims)
        };
        checked().map_err(RequestDenial::Invalid)
    }

    /// Returns the issuer's keys and metadata. They are fetched again if they are no longer fresh,
    /// or if something is `missing` from them.
    ///
    /// # Errors
    /// An error of the issuer, if the last keys are too old.
    pub(crate) async fn known(
        self: &Arc<Self>,
        missing: impl Fn(&IssuerKeys) -> bool,
    ) -> Result<Arc<IssuerKeys>> {
        let good =
            |known: &Arc<IssuerKeys>| known.fetched.elapsed() < known.fresh && !missing(known);
        if let Some(known) = self.kept().filter(&good) {
            return Ok(known);
        }
        let mut last = match self.last.clone().try_lock_owned() {
            Ok(last) => last,
            // Another request is fetching, which may take long while the issuer is down.
            Err(_) => match self.kept().filter(|known| !missing(known)) {
                Some(known) => return Ok(known),
                None => self.last.clone().lock_owned().await,
            },
        };
        // Another request may have fetched them while this one waited.
        let kept = self.kept();
        if let Some(known) = kept.clone().filter(&good) {
            return Ok(known);
        }
        // With keys, the pause limits lookups of unknown ones; without any, it limits retries.
        let pause = if kept.is_some() { self.settings.pause } else { RETRY };
        if let Some((at, error)) = &*last
            && at.elapsed() < pause
            && let Some(outcome) = kept.clone().map(Ok).or(error.clone().map(Err))
        {
            return outcome;
        }
        let issuer = self.clone();
        // On a task of its own: if a caller disconnects, the attempt must not end with it, because
        // the next caller would start another one at once.
        let fetching = tokio::spawn(async move {
            let fetched = issuer.fetch().await.map(Arc::new);
            *last = Some((Instant::now(), fetched.as_ref().err().cloned()));
            match &fetched {
                Ok(known) => {
                    let mut kept = issuer.known.lock().unwrap_or_else(PoisonError::into_inner);
                    *kept = Some(known.clone());
                }
                Err(error) => tracing::warn!(%error, "the issuer could not be reached"),
            }
            fetched
        });
        let interrupted =
            |_ended| Error::new(ErrorKind::Internal, "asking the issuer was interrupted");
        fetching.await.map_err(interrupted)?.or_else(|error| kept.ok_or(error))
    }

    /// Returns the last keys and metadata unless they are too old.
    pub(crate) fn kept(&self) -> Option<Arc<IssuerKeys>> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.clone().filter(|known| known.fetched.elapsed() < KEPT)
    }

    async fn fetch(&self) -> Result<IssuerKeys> {
        let metadata = self.discover().await?;
        let request = Request::get(metadata.endpoint("jwks_uri")?.as_str()).header(ACCEPT, "*/*");
        let (headers, json) = send(request.body(Vec::new())).await?;
        let keys = json.get("keys").and_then(Value::as_array);
        let keys = keys.ok_or_else(|| {
            Error::new(ErrorKind::Config, "the issuer publishes no keys at its `jwks_uri`")
        })?;
        let keys = keys.iter().take(KEYS).filter_map(IssuerKey::read).collect();
        Ok(IssuerKeys { keys, metadata, fetched: Instant::now(), fresh: freshness(&headers) })
    }

    /// Fetches the metadata from OpenID Connect's URL or, if that fails, from RFC 8414's.
    async fn discover(&self) -> Result<IssuerMetadata> {
        let issuer = &self.settings.issuer;
        let wrong = || {
            Error::new(ErrorKind::Config, format!("{issuer} is not the URL of an issuer"))
                .next("correct http.issuer in the settings")
        };
        if !is_issuer(issuer) {
            return Err(wrong());
        }
        let base = issuer.trim_end_matches('/');
        let mut beside = Url::parse(issuer).map_err(|_| wrong())?;
        let path = beside.path().trim_end_matches('/').to_owned();
        // RFC 8414, 3.1: the well-known part comes before the issuer's own path.
        beside.set_path(&format!("/.well-known/oauth-authorization-server{path}"));
        let mut failed = wrong();
        for url in [format!("{base}/.well-known/openid-configuration"), beside.to_string()] {
            match send(Request::get(url).header(ACCEPT, "application/json").body(Vec::new())).await
            {
                Ok((_, json)) => {
                    let metadata = IssuerMetadata(json);
                    // Without this check, one issuer could impersonate another.
                    return if metadata.text("issuer") == Some(issuer) {
                        Ok(metadata)
                    } else {
                        Err(Error::new(
                            ErrorKind::Config,
                            format!("the issuer at {issuer} names itself differently"),
                        )
                        .next("copy `issuer` from its metadata, including any slash at the end"))
                    };
                }
                // An issuer with only one of the two documents answers 4xx for the other.
                Err(error) if matches!(error.kind(), ErrorKind::Provider(400..=499)) => {
                    failed = error;
                }
                Err(error) => return Err(error),
            }
        }
        Err(failed)
    }

    /// Posts a form to an endpoint of the issuer as this server's client, and returns the response.
    pub(crate) async fn post(
        &self,
        metadata: &IssuerMetadata,
        name: &str,
        form: &[(&str, &str)],
    ) -> Result<Map<String, Value>> {
        let client = self.settings.client.as_ref().ok_or_else(|| {
            Error::new(ErrorKind::Config, "this server has no client at the issuer")
                .next("set http.client_id and http.client_secret")
        })?;
        let url = metadata.endpoint(name)?;
        let mut pairs: Vec<(&str, &str)> = form.to_vec();
        let mut request = Request::post(url.as_str())
            .header(ACCEPT, "application/json")
            .header(CONTENT_TYPE, "application/x-www-form-urlencoded");
        let methods = format!("{name}_auth_methods_supported");
        let basic = "client_secret_basic";
        match &client.secret {
            // RFC 8414: without a published list, `client_secret_basic` is the method.
            Some(secret) if metadata.lists(&methods, basic, basic) => {
                let pair = [client.id.as_str(), secret.secret()].map(form_encoded).join(":");
                request = request.header(AUTHORIZATION, format!("Basic {}", STANDARD.encode(pair)));
            }
            Some(secret) => {
                pairs.push(("client_id", &client.id));
                pairs.push(("client_secret", secret.secret()));
            }
            None => {
                pairs.push(("client_id", &client.id));
            }
        }
        let body =
            url::form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish();
        let request = request.body(body.into_bytes());
        Ok(send(request).await?.1)
    }
}

/// Encodes the id or the secret of a client for HTTP Basic (RFC 6749, section 2.3.1).
fn form_encoded(text: &str) -> String {
    url::form_urlencoded::byte_serialize(text.as_bytes()).collect()
}

/// Sends a request to the issuer. Redirects are not followed.
async fn send(
    request: hyper::http::Result<Request<Vec<u8>>>,
) -> Result<(HeaderMap, Map<String, Value>)> {
    let request = request.map_err(|_opaque| {
        Error::new(ErrorKind::Internal, "a request to the issuer is malformed")
    })?;
    let (parts, body) = net::send_within(request, LIMIT).await?.into_parts();
    let status = parts.status.as_u16();
    if !parts.status.is_success() {
        return Err(Error::new(
            ErrorKind::Provider(status),
            format!("the issuer answered with HTTP {status}"),
        )
        .next("try again later, or check http.issuer in the settings"));
    }
    match serde_json::from_slice(&body) {
        Ok(json) => Ok((parts.headers, json)),
        Err(_) => Err(Error::new(ErrorKind::Provider(status), "the issuer's answer is not JSON")
            .next("check http.issuer in the settings")),
    }
}

/// Returns the time for which a response is fresh, by its `Cache-Control` and within our limits.
fn freshness(headers: &HeaderMap) -> Duration {
    let control = headers.get(CACHE_CONTROL).and_then(|value| value.to_str().ok());
    let control = control.unwrap_or_default().to_ascii_lowercase();
    let mut directives = control.split(',').map(str::trim);
    // Obeying these would cost the issuer two requests per call.
    if directives.clone().any(|word| matches!(word, "no-store" | "no-cache")) {
        return MIN_FRESH;
    }
    let age = directives.find_map(|word| word.strip_prefix("max-age=")?.parse().ok());
    age.map_or(FRESH, |age| Duration::from_secs(age).clamp(MIN_FRESH, MAX_FRESH))
}

/// Shows only the settings.
impl std::fmt::Debug for Issuer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Issuer").field(&self.settings).finish()
    }
}
