//! JSON Web Tokens: their form, signature and claims (RFC 7519, RFC 8725).
//!
//! The library checks the signature. Claims are checked here, because the library treats a claim of
//! the wrong type as absent. Nothing is fetched: headers that refer to a key (`jku`, `x5u`) or
//! contain one (`jwk`, `x5c`) are not read.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use daysheet_core::clock::Clock;
use daysheet_core::text;
use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey};
use serde::Deserialize;
use serde_json::{Map, Value};

/// A result whose error is a refusal without any part of the token.
pub(crate) type CheckResult<T> = std::result::Result<T, &'static str>;

/// The tolerated difference between the clocks of issuer and server, in seconds.
const SKEW: f64 = 60.0;
/// The maximum length of a subject in bytes, as in OpenID Connect.
const SUBJECT: usize = 255;
/// The maximum width of a name.
const NAME: usize = 80;

/// The algorithms that the settings may allow: those that only the issuer can sign with.
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
    /// For calls to this server (access token).
    Access,
    /// For identifying the person who signed in (ID token).
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

/// A token in the form of a JWT, unchecked.
pub(crate) struct Jwt<'a> {
    header: JwtHeader,
    /// The signed text: header and claims.
    signed: &'a str,
    claims: &'a str,
    signature: &'a str,
}

impl<'a> Jwt<'a> {
    /// Reads a token; `None` if it does not have the form of a JWT.
    ///
    /// # Errors
    /// A refusal if its header is malformed or requires unknown extensions.
    pub(crate) fn read(token: &'a str) -> Option<CheckResult<Self>> {
        let (signed, signature) = token.rsplit_once('.')?;
        let (header, claims) = signed.split_once('.')?;
        let header = URL_SAFE_NO_PAD.decode(header).ok()?;
        // Opaque tokens may contain dots, too.
        if !matches!(serde_json::from_slice(&header), Ok(Value::Object(_))) {
            return None;
        }
        let header: JwtHeader = match serde_json::from_slice(&header) {
            Ok(header) => header,
            Err(_) => return Some(Err("the header of the token is malformed")),
        };
        // RFC 7515, 4.1.11: extensions that are not understood must be refused.
        if header.crit.is_some() {
            return Some(Err("the token requires unknown extensions"));
        }
        Some(Ok(Self { header, signed, claims, signature }))
    }

    /// Returns the token's algorithm.
    ///
    /// # Errors
    /// A refusal if the algorithm is not among `allowed`.
    pub(crate) fn algorithm(&self, allowed: &[Algorithm]) -> CheckResult<Algorithm> {
        let named = ALGORITHMS.iter().find(|(name, _)| *name == self.header.alg);
        named
            .map(|&(_, algorithm)| algorithm)
            .filter(|algorithm| allowed.contains(algorithm))
            .ok_or("the algorithm of the token is not allowed")
    }

    /// Returns the id of the signing key, if the header names it.
    pub(crate) fn key_id(&self) -> Option<&str> {
        self.header.kid.as_deref()
    }

    /// Returns the claims of a token that `key` signed for this use.
    ///
    /// # Errors
    /// A refusal of any other token.
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
    /// Reads a published key; `None` for keys that are not for signatures, or of an unsupported
    /// kind.
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
            // Everyone who can check a symmetric key's signature can also sign.
            AlgorithmParameters::OctetKey(_) => return None,
        };
        // A key may be published for a single algorithm (RFC 7517, 4.4).
        if let Some(only) = common.key_algorithm {
            let only = only.to_string();
            algorithms.retain(|known| {
                ALGORITHMS.iter().any(|(name, algorithm)| algorithm == known && *name == only)
            });
        }
        let key = DecodingKey::from_jwk(&jwk).ok()?;
        Some(Self { id: common.key_id.clone(), algorithms, key })
    }

    /// Returns true if the key is suitable for `algorithm`.
    pub(crate) fn is_for(&self, algorithm: Algorithm) -> bool {
        self.algorithms.contains(&algorithm)
    }

    /// Returns the id of the key.
    pub(crate) fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }
}

/// The claims of a token, or the issuer's response about a token.
#[derive(Clone)]
pub(crate) struct TokenClaims(pub(crate) Map<String, Value>);

impl TokenClaims {
    /// Returns a claim if it is a string.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).and_then(Value::as_str)
    }

    /// Returns a time claim in seconds since 1970.
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

    /// Refuses tokens other than access tokens (ID tokens, refresh tokens, logout tokens), and
    /// tokens bound to a key of the sender.
    pub(crate) fn check_is_access(&self) -> CheckResult<()> {
        if ["nonce", "at_hash", "c_hash", "events"].iter().any(|name| self.0.contains_key(*name)) {
            return Err("the token is not an access token");
        }
        if self.0.contains_key("cnf") {
            return Err("tokens bound to a key of the sender are not supported");
        }
        // The values of Keycloak, Hydra, Cognito and RFC 7662.
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
    /// A refusal if it is missing, blank or too long.
    pub(crate) fn subject(&self) -> CheckResult<&str> {
        self.text("sub")
            .filter(|subject| !subject.trim().is_empty() && subject.len() <= SUBJECT)
            .ok_or("the token has no subject")
    }

    /// Returns the scopes in `scope` or `scp`, each a string or a list.
    pub(crate) fn scopes(&self) -> impl Iterator<Item = &str> {
        ["scope", "scp"].into_iter().filter_map(|name| self.0.get(name)).flat_map(|value| {
            let list = value.as_array().into_iter().flatten().filter_map(Value::as_str);
            value.as_str().unwrap_or_default().split(' ').chain(list)
        })
    }

    /// Returns the person's name or address, safe to show.
    pub(crate) fn name(&self) -> Option<String> {
        let names = ["name", "preferred_username", "email", "username"];
        let names = names.iter().filter_map(|name| self.text(name)).map(text::cell);
        names.map(|name| text::clip(name, NAME).0).find(|name| !name.is_empty())
    }
}
