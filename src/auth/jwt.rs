//! JSON Web Tokens: their form, their signature and their claims (RFC 7519, RFC 8725).
//!
//! The library checks the signature. The claims are checked here, because the library treats a
//! claim of the wrong type as absent. Nothing is fetched: headers that refer to a key (`jku`,
//! `x5u`) or contain one (`jwk`, `x5c`) are not even read.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use daysheet_core::clock::Clock;
use daysheet_core::text;
use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey};
use serde::Deserialize;
use serde_json::{Map, Value};

/// A result whose error is a refusal that quotes nothing of the token.
pub(crate) type CheckResult<T> = std::result::Result<T, &'static str>;

/// The number of seconds by which the clocks of an issuer and this machine may differ.
const SKEW: f64 = 60.0;
/// The longest subject in bytes, as in OpenID Connect.
const SUBJECT: usize = 255;
/// The maximum width of a name.
const NAME: usize = 80;

/// The algorithms that the settings can allow: those with which only the issuer can sign.
pub const ALGORITHMS: [(&str, Algorithm); 9] = [
    ("RS256", Algorithm::RS256),
    ("RS384", Algorithm::RS384),
    ("RS512", Algorithm::RS512),
    ("PS256", Algorithm::PS256),
    ("PS384", Algorithm::PS384),
    ("PS512", Algorithm::PS512),
    ("ES256", Algorithm::ES256),
    ("ES384", Algorithm::ES384),
    ("EdDSA", Algorithm::EdDSA),
];

/// The purpose of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenUse {
    /// Calls to this server.
    Access,
    /// To identify who signed in.
    Identity,
}

/// The header of a token. A member that occurs twice is an error.
#[derive(Deserialize)]
struct JwtHeader {
    alg: String,
    typ: Option<String>,
    kid: Option<String>,
    crit: Option<Value>,
}

/// A token in the form of a JWT. Nothing about it has been checked yet.
pub(crate) struct Jwt<'a> {
    header: JwtHeader,
    /// Header and claims, as they were signed.
    signed: &'a str,
    claims: &'a str,
    signature: &'a str,
}

impl<'a> Jwt<'a> {
    /// Reads a token; `None` if it does not have the form of a JWT.
    ///
    /// # Errors
    /// If its header is malformed or requires unknown extensions.
    pub(crate) fn read(token: &'a str) -> Option<CheckResult<Self>> {
        let (signed, signature) = token.rsplit_once('.')?;
        let (header, claims) = signed.split_once('.')?;
        let header = URL_SAFE_NO_PAD.decode(header).ok()?;
        if !matches!(serde_json::from_slice(&header), Ok(Value::Object(_))) {
            return None;
        }
        let header: JwtHeader = match serde_json::from_slice(&header) {
            Ok(header) => header,
            Err(_) => return Some(Err("the header of the token is malformed")),
        };
        if header.crit.is_some() {
            return Some(Err("the token requires unknown extensions"));
        }
        Some(Ok(Self { header, signed, claims, signature }))
    }

    /// Returns the algorithm, if it is one of `allowed`.
    ///
    /// # Errors
    /// If it is not.
    pub(crate) fn algorithm(&self, allowed: &[Algorithm]) -> CheckResult<Algorithm> {
        let named = ALGORITHMS.iter().find(|(name, _)| *name == self.header.alg);
        named
            .map(|&(_, algorithm)| algorithm)
            .filter(|algorithm| allowed.contains(algorithm))
            .ok_or("the algorithm of the token is not allowed")
    }

    /// Returns the id of the key that signed it.
    pub(crate) fn key_id(&self) -> Option<&str> {
        self.header.kid.as_deref()
    }

    /// Returns the claims, if `key` signed them for this use.
    ///
    /// # Errors
    /// If it did not.
    pub(crate) fn claims(
        &self,
        key: &IssuerKey,
        algorithm: Algorithm,
        use_: TokenUse,
    ) -> CheckResult<TokenClaims> {
        self.check_type(use_)?;
        // The library panics if the key is of another kind.
        let signed = key.is_for(algorithm)
            && jsonwebtoken::crypto::verify(
                self.signature,
                self.signed.as_bytes(),
                &key.key,
                algorithm,
            )
            .unwrap_or(false);
        if !signed {
            return Err("the signature of the token is not the issuer's");
        }
        let claims = URL_SAFE_NO_PAD.decode(self.claims).ok();
        let claims = claims.and_then(|claims| serde_json::from_slice(&claims).ok());
        claims.map(TokenClaims).ok_or("the claims of the token are malformed")
    }

    /// Refuses a token whose header declares another use.
    fn check_type(&self, use_: TokenUse) -> CheckResult<()> {
        let typ = self.header.typ.as_deref().map(str::to_ascii_lowercase);
        let typ = typ.as_deref().map(|typ| typ.strip_prefix("application/").unwrap_or(typ));
        match (use_, typ) {
            (_, Some("jwt")) | (TokenUse::Access, Some("at+jwt")) | (TokenUse::Identity, None) => {
                Ok(())
            }
            _ => Err("the token is of the wrong type"),
        }
    }
}

/// A public key of an issuer.
pub(crate) struct IssuerKey {
    id: Option<String>,
    algorithms: Vec<Algorithm>,
    key: DecodingKey,
}

impl IssuerKey {
    /// Reads a published key; `None` if it is not for signatures that can be checked here.
    pub(crate) fn read(json: &Value) -> Option<Self> {
        let jwk = Jwk::deserialize(json).ok()?;
        let common = &jwk.common;
        if !matches!(common.public_key_use, None | Some(PublicKeyUse::Signature)) {
            return None;
        }
        let mut algorithms = match &jwk.algorithm {
            AlgorithmParameters::RSA(_) => vec![
                Algorithm::RS256,
                Algorithm::RS384,
                Algorithm::RS512,
                Algorithm::PS256,
                Algorithm::PS384,
                Algorithm::PS512,
            ],
            AlgorithmParameters::EllipticCurve(key) => match key.curve {
                EllipticCurve::P256 => vec![Algorithm::ES256],
                EllipticCurve::P384 => vec![Algorithm::ES384],
                _ => return None,
            },
            AlgorithmParameters::OctetKeyPair(_) => vec![Algorithm::EdDSA],
            // Everyone who knows a symmetric key can sign with it.
            AlgorithmParameters::OctetKey(_) => return None,
        };
        if let Some(only) = common.key_algorithm {
            let only = only.to_string();
            algorithms.retain(|known| {
                ALGORITHMS.iter().any(|(name, algorithm)| algorithm == known && *name == only)
            });
        }
        let key = DecodingKey::from_jwk(&jwk).ok()?;
        Some(Self { id: common.key_id.clone(), algorithms, key })
    }

    /// Returns true if the key is of the kind that `algorithm` needs.
    pub(crate) fn is_for(&self, algorithm: Algorithm) -> bool {
        self.algorithms.contains(&algorithm)
    }

    /// Returns the id of the key.
    pub(crate) fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }
}

/// The claims of a token, or those of an issuer about a token.
#[derive(Clone)]
pub(crate) struct TokenClaims(pub(crate) Map<String, Value>);

impl TokenClaims {
    /// Returns a claim that is a string.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).and_then(Value::as_str)
    }

    /// Returns a time in seconds since 1970.
    pub(crate) fn time(&self, name: &str) -> CheckResult<Option<f64>> {
        match self.0.get(name) {
            None => Ok(None),
            Some(value) => value.as_f64().map(Some).ok_or("a time of the token is not a number"),
        }
    }

    /// Refuses a token that has expired or is not valid yet.
    pub(crate) fn check_times(&self, clock: &Clock) -> CheckResult<()> {
        let now = clock.seconds() as f64;
        if self.time("exp")?.is_some_and(|end| end + SKEW <= now) {
            return Err("the token has expired");
        }
        for begin in ["nbf", "iat"] {
            if self.time(begin)?.is_some_and(|begin| begin - SKEW > now) {
                return Err("the token is not valid yet");
            }
        }
        Ok(())
    }

    /// Refuses a token of another issuer or for another audience.
    pub(crate) fn check_parties(&self, issuer: &str, audience: &str) -> CheckResult<()> {
        if self.text("iss") != Some(issuer) {
            return Err("the token is from another issuer");
        }
        self.check_audience(audience)
    }

    /// Refuses a token for another audience.
    pub(crate) fn check_audience(&self, audience: &str) -> CheckResult<()> {
        let meant = match self.0.get("aud") {
            Some(Value::Array(all)) => all.iter().any(|one| one.as_str() == Some(audience)),
            one => one.and_then(Value::as_str) == Some(audience),
        };
        meant.then_some(()).ok_or("the token is for another audience")
    }

    /// Refuses tokens that are not access tokens (ID tokens, refresh tokens, logout tokens), and
    /// tokens that are bound to a key of the sender.
    pub(crate) fn check_is_access(&self) -> CheckResult<()> {
        if ["nonce", "at_hash", "c_hash", "events"].iter().any(|name| self.0.contains_key(*name)) {
            return Err("the token is not an access token");
        }
        if self.0.contains_key("cnf") {
            return Err("tokens bound to a key of the sender are not supported");
        }
        // The words of Keycloak, Hydra, Cognito and RFC 7662.
        for (name, words) in [
            ("typ", ["bearer", "at+jwt"]),
            ("token_use", ["access", "access_token"]),
            ("token_type", ["bearer", "access_token"]),
        ] {
            let word = self.0.get(name).map(|word| word.as_str().unwrap_or_default());
            if word.is_some_and(|word| !words.iter().any(|known| known.eq_ignore_ascii_case(word)))
            {
                return Err("the token is not an access token");
            }
        }
        Ok(())
    }

    /// Returns the subject of the token.
    ///
    /// # Errors
    /// If there is none.
    pub(crate) fn subject(&self) -> CheckResult<&str> {
        self.text("sub")
            .filter(|subject| !subject.trim().is_empty() && subject.len() <= SUBJECT)
            .ok_or("the token has no subject")
    }

    /// Returns the scopes in `scope` or `scp`, whether one string or a list.
    pub(crate) fn scopes(&self) -> impl Iterator<Item = &str> {
        ["scope", "scp"].into_iter().filter_map(|name| self.0.get(name)).flat_map(|value| {
            let list = value.as_array().into_iter().flatten().filter_map(Value::as_str);
            value.as_str().unwrap_or_default().split(' ').chain(list)
        })
    }

    /// Returns the name or address of the person, made safe to show.
    pub(crate) fn name(&self) -> Option<String> {
        let names = ["name", "preferred_username", "email", "username"];
        let names = names.iter().filter_map(|name| self.text(name)).map(text::cell);
        names.map(|name| text::clip(name, NAME).0).find(|name| !name.is_empty())
    }
}
