//! Browser sign-in to the pages at the issuer: an authorization code with PKCE, a state and a nonce
//! (OAuth 2.1, OpenID Connect).
//!
//! Nothing is stored here between the two steps. The caller stores the result of [`WebSignIn::begin`],
//! returns it only to the same browser, and uses it once.

use std::sync::Arc;

use daysheet_core::access::AccessLevel;
use daysheet_core::error::{Error, ErrorKind, Result};
use oauth2::{CsrfToken, PkceCodeChallenge, PkceCodeVerifier};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use url::Url;

use crate::issuer::{Issuer, IssuerClient};
use crate::jwt::{CheckResult, Jwt, TokenClaims, TokenUse};
use crate::{CallingPerson, RequestDenial, TokenSubject};

/// The requested scopes: for the subject, and for a name to show.
const SCOPES: &str = "openid profile email";

/// The state of a sign-in until the browser returns. It is a secret of that browser and must be
/// stored encrypted. `Debug` does not show it.
#[derive(Serialize, Deserialize)]
pub struct PendingSignIn {
    state: CsrfToken,
    nonce: CsrfToken,
    verifier: PkceCodeVerifier,
    redirect: Url,
}

impl std::fmt::Debug for PendingSignIn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PendingSignIn").finish_non_exhaustive()
    }
}

/// Sign-in with a browser.
#[derive(Debug)]
pub struct WebSignIn {
    issuer: Arc<Issuer>,
    client: IssuerClient,
}

impl WebSignIn {
    /// Creates the sign-in at `issuer`, if this server has a client there.
    pub(crate) fn new(issuer: Arc<Issuer>) -> Option<Self> {
        let client = issuer.settings().client.clone()?;
        Some(Self { issuer, client })
    }

    /// Returns the issuer's name for itself.
    pub fn issuer(&self) -> &str {
        &self.issuer.settings().issuer
    }

    /// Begins a sign-in that returns to `redirect`. Returns the URL for the browser, and the state
    /// for [`WebSignIn::finish`].
    ///
    /// # Errors
    /// [`ErrorKind::Network`], [`ErrorKind::Timeout`], [`ErrorKind::Provider`] or [`ErrorKind::Config`] if the issuer
    /// does not respond or its metadata is not usable.
    pub async fn begin(&self, redirect: &Url) -> Result<(Url, PendingSignIn)> {
        let known = self.issuer.known(|_| false).await?;
        let mut url = known.metadata.endpoint("authorization_endpoint")?;
        let (challenge, verifier) = PkceCodeChallenge::new_random_sha256();
        let pending = PendingSignIn {
            state: CsrfToken::new_random(),
            nonce: CsrfToken::new_random(),
            verifier,
            redirect: redirect.clone(),
        };
        url.query_pairs_mut().extend_pairs([
            ("response_type", "code"),
            ("client_id", &self.client.id),
            ("redirect_uri", redirect.as_str()),
            ("scope", SCOPES),
            ("state", pending.state.secret()),
            ("nonce", pending.nonce.secret()),
            ("code_challenge", challenge.as_str()),
            ("code_challenge_method", "S256"),
        ]);
        Ok((url, pending))
    }

    /// Finishes a sign-in with the query of the redirect. Returns the person who signed in, with
    /// full access, because they use the pages themselves.
    ///
    /// # Errors
    /// [`ErrorKind::Auth`] if the query belongs to another sign-in or reports a refusal, or if the ID
    /// token is not valid; see [`WebSignIn::begin`] for others.
    pub async fn finish(&self, pending: PendingSignIn, query: &str) -> Result<CallingPerson> {
        let known = self.issuer.known(|_| false).await?;
        let answer = IssuerAnswer::read(query).map_err(refused)?;
        let issuer = self.issuer();
        if answer.state != *pending.state.secret() {
            return Err(refused("the answer belongs to another sign-in"));
        }
        // The code of one issuer must not be sent to another (RFC 9207).
        let named = known.metadata.says("authorization_response_iss_parameter_supported");
        if answer.issuer.as_ref().map_or(named, |named| named != issuer) {
            return Err(refused("the answer does not name this issuer"));
        }
        let code = answer.code.map_err(|denied| {
            refused(if denied {
                "the sign-in was declined"
            } else {
                "the issuer refused the sign-in"
            })
        })?;
        let form = [
            ("grant_type", "authorization_code"),
            ("code", &code),
            ("redirect_uri", pending.redirect.as_str()),
            ("code_verifier", pending.verifier.secret()),
        ];
        let tokens = self.issuer.post(&known.metadata, "token_endpoint", &form).await;
        let tokens = tokens.map_err(|error| match error.kind() {
            ErrorKind::Provider(400..=499) => refused("the issuer refused the code"),
            _ => error,
        })?;
        let token = tokens.get("id_token").and_then(Value::as_str);
        let token = token.ok_or_else(|| refused("the issuer sent no ID token"))?;
        let jwt = Jwt::read(token).unwrap_or(Err("the ID token is not a JWT")).map_err(refused)?;
        let claims =
            self.issuer.signed(&jwt, TokenUse::Identity).await.map_err(|denial| match denial {
                RequestDenial::Invalid(why) => refused(why),
                RequestDenial::Unavailable(error) => error,
                _ => refused("the ID token is not valid"),
            })?;
        let subject = self.check(&claims, &pending).map_err(refused)?;
        Ok(CallingPerson::new(TokenSubject { issuer, subject }, claims.name(), AccessLevel::Full))
    }

    /// Checks that an ID token is for this client and this sign-in. Returns its subject.
    fn check<'a>(&self, claims: &'a TokenClaims, pending: &PendingSignIn) -> CheckResult<&'a str> {
        claims.check_parties(self.issuer(), &self.client.id)?;
        if claims.0.get("azp").is_some_and(|azp| azp.as_str() != Some(&self.client.id)) {
            return Err("the ID token is for another client");
        }
        if claims.text("nonce") != Some(pending.nonce.secret()) {
            return Err("the ID token belongs to another sign-in");
        }
        claims.subject()
    }
}

/// The issuer's response, delivered by the browser.
struct IssuerAnswer {
    state: String,
    issuer: Option<String>,
    /// The code, or true if the person declined.
    code: std::result::Result<String, bool>,
}

impl IssuerAnswer {
    fn read(query: &str) -> CheckResult<Self> {
        let [mut state, mut issuer, mut code, mut error] = [const { None }; 4];
        for (name, value) in url::form_urlencoded::parse(query.as_bytes()) {
            let place = match &*name {
                "state" => &mut state,
                "iss" => &mut issuer,
                "code" => &mut code,
                "error" => &mut error,
                _ => continue,
            };
            // A repeated parameter could be read differently by different programs.
            if place.replace(value.into_owned()).is_some() {
                return Err("the answer has a parameter twice");
            }
        }
        let code = match (code, error) {
            (Some(code), None) => Ok(code),
            (None, Some(error)) => Err(error == "access_denied"),
            _ => return Err("the answer has no code"),
        };
        Ok(Self { state: state.ok_or("the answer has no state")?, issuer, code })
    }
}

/// Returns the error of a failed sign-in.
fn refused(why: &str) -> Error {
    Error::new(ErrorKind::Auth, format!("nobody was signed in: {why}")).next("sign in again")
}
