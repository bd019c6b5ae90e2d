//! Opaque tokens, which only the issuer can interpret (RFC 7662).
//!
//! The issuer's responses are cached briefly, so that it is not asked for each call, while a
//! revoked token is soon refused.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use daysheet_core::error::{Error, ErrorKind};
use serde_json::Value;
use sha2::{Digest, Sha256};
use tokio::sync::Semaphore;
use tokio::time::Instant;

use crate::issuer::Issuer;
use crate::jwt::{CheckResult, TokenClaims};
use crate::{RequestDenial, VerifyResult};

/// The time for which a response is cached.
const KEPT: Duration = Duration::from_secs(30);
/// The maximum number of cached responses; each has a few hundred bytes of claims. Half of them are
/// reserved for active tokens, so that invalid tokens cannot crowd them out.
const MAX_CACHED: usize = 10_000;
/// The maximum number of concurrent requests to the issuer; each unknown token costs one.
const AT_ONCE: usize = 16;

/// The claims of an active token or a refusal, and the time until which it is cached.
type CachedAnswer = (CheckResult<TokenClaims>, Instant);

/// Introspection of tokens at an issuer.
pub(crate) struct IntrospectionClient {
    issuer: Arc<Issuer>,
    /// Cached responses by the hash of the token.
    answers: Mutex<HashMap<[u8; 32], CachedAnswer>>,
    places: Semaphore,
}

impl IntrospectionClient {
    /// Creates the introspection at `issuer`, if the settings enable it.
    pub(crate) fn new(issuer: Arc<Issuer>) -> Option<Self> {
        let wanted = issuer.settings().introspection;
        wanted.then(|| Self { issuer, answers: Mutex::default(), places: Semaphore::new(AT_ONCE) })
    }

    /// Returns the issuer's claims about a token, if it is a valid access token for this server.
    pub(crate) async fn claims(&self, token: &str) -> VerifyResult<TokenClaims> {
        let hash: [u8; 32] = Sha256::digest(token.as_bytes()).into();
        let kept = || {
            let answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
            answers.get(&hash).filter(|(_, until)| Instant::now() < *until).cloned()
        };
        let answer = if let Some((answer, _)) = kept() {
            answer
        } else {
            let _place = self.places.acquire().await;
            // Another call with the same token may have asked meanwhile.
            match kept() {
                Some((answer, _)) => answer,
                None => self.ask(token, hash).await?,
            }
        };
        // Checked on each call, because a cached token may have expired.
        let checked = answer.and_then(|claims| self.check(&claims).map(|()| claims));
        checked.map_err(RequestDenial::Invalid)
    }

    async fn ask(&self, token: &str, hash: [u8; 32]) -> VerifyResult<CheckResult<TokenClaims>> {
        let known = self.issuer.known(|_| false).await.map_err(RequestDenial::Unavailable)?;
        let form = [("token", token), ("token_type_hint", "access_token")];
        let answer = self.issuer.post(&known.metadata, "introspection_endpoint", &form).await;
        let claims = answer.map_err(|error| {
            tracing::warn!(%error, "a token could not be introspected");
            RequestDenial::Unavailable(match error.kind() {
                // The issuer refuses this server's own client, which the caller cannot change.
                ErrorKind::Provider(401 | 403) => {
                    Error::new(ErrorKind::Config, "the issuer refuses this server's client")
                        .next("correct http.client_id and http.client_secret")
                }
                _ => error,
            })
        })?;
        let active = claims.get("active").and_then(Value::as_bool) == Some(true);
        let answer = active.then(|| TokenClaims(claims)).ok_or("the token is not active");
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        let most = if active { MAX_CACHED } else { MAX_CACHED / 2 };
        if answers.len() >= most {
            let now = Instant::now();
            answers.retain(|_, (_, until)| now < *until);
        }
        if answers.len() < most {
            answers.insert(hash, (answer.clone(), Instant::now() + KEPT));
        }
        Ok(answer)
    }

    /// Checks the issuer's claims. The issuer may be missing, but the audience must be named:
    /// without it, a token for another server would be valid here.
    fn check(&self, claims: &TokenClaims) -> CheckResult<()> {
        let settings = self.issuer.settings();
        if claims.0.contains_key("iss") {
            claims.check_parties(&settings.issuer, &settings.audience)?;
        }
        claims.check_audience(&settings.audience)?;
        claims.check_times(&settings.clock)?;
        claims.check_is_access()
    }
}

/// Shows no token.
impl std::fmt::Debug for IntrospectionClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("IntrospectionClient").finish_non_exhaustive()
    }
}
