//! Codes and tokens: who was let in, to what, until when.
//!
//! Held in memory and gone with the process. Provider-neutral but for the look
//! of the tokens; no request or answer is read or made here.

use std::collections::{HashMap, VecDeque};
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use crate::error::{Error, Kind, Result};

/// How long a code is good.
const CODE_LIFETIME: Duration = Duration::from_secs(600);

/// How many consent pages may be open, and codes untraded, at a time.
const MAX_OPEN: usize = 256;

/// Whose sign-in a code or token came from. What one issuer gave out opens
/// nothing at the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Issuer {
    /// Google's sign-in, for the Gmail and People APIs.
    Google,
    /// Microsoft's sign-in (Entra ID), for Graph.
    Microsoft,
}

impl Issuer {
    /// A code in the issuer's looks.
    fn code(self) -> Result<String> {
        match self {
            Self::Google => random("4/0A", 48),
            Self::Microsoft => random("1.A", 580),
        }
    }

    /// An access token in the issuer's looks. Microsoft's has the outside of a
    /// JWT, and nothing inside that a client could come to depend on: Graph's
    /// tokens are for Graph to read.
    fn access_token(self) -> Result<String> {
        match self {
            Self::Google => random("ya29.a0", 150),
            Self::Microsoft => Ok(format!(
                "{}.{}",
                random("eyJ0eXAiOiJKV1QiLCJhbGciOiJSUzI1NiJ9.", 850)?,
                random("", 256)?
            )),
        }
    }

    /// A refresh token in the issuer's looks.
    fn refresh_token(self) -> Result<String> {
        match self {
            Self::Google => random("1//0", 72),
            Self::Microsoft => random("1.A", 780),
        }
    }
}

/// An authorization request that passed the checks.
#[derive(Debug, Clone)]
pub(super) struct Wish {
    /// Whom it was sent to.
    pub issuer: Issuer,
    /// Who asks.
    pub client_id: String,
    /// Where the answer goes.
    pub redirect_uri: String,
    /// The client's own mark, given back as it came.
    pub state: String,
    /// The scopes, separated by spaces.
    pub scope: String,
    /// The PKCE challenge (S256).
    pub challenge: String,
    /// True when a refresh token was asked for.
    pub offline: bool,
}

/// A wish that was granted for a mailbox.
#[derive(Debug)]
pub(super) struct Code {
    /// What was wished for.
    pub wish: Wish,
    /// Whose mail may be read.
    pub mailbox: String,
}

/// A granted access, as tokens name it.
#[derive(Debug, Clone)]
struct Grant {
    number: u64,
    issuer: Issuer,
    client_id: String,
    scope: String,
    mailbox: String,
}

/// Tokens fresh from the press.
#[derive(Debug)]
pub(super) struct Issued {
    access: String,
    scope: String,
    /// The refresh token, where one was asked for.
    pub refresh: Option<String>,
}

/// What an access token allows.
#[derive(Debug, Clone)]
pub(super) struct Access {
    /// Who gave it out: the other issuer's APIs must refuse it.
    pub issuer: Issuer,
    /// The mailbox's address.
    pub mailbox: String,
    /// The scopes, separated by spaces.
    pub scope: String,
}

impl Access {
    /// True when a scope of this name was granted, in short or as a URI that
    /// ends in the name (`Mail.Read`, `https://graph.microsoft.com/mail.read`).
    pub fn has(&self, name: &str) -> bool {
        self.scope.split(' ').any(|scope| {
            let short = scope.rsplit_once('/').map_or(scope, |(_, short)| short);
            short.eq_ignore_ascii_case(name) || scope == name
        })
    }
}

/// All codes and tokens of a running sandbox.
#[derive(Debug)]
pub(super) struct SignIn {
    lifetime: Duration,
    grants: u64,
    open: VecDeque<(String, Wish)>,
    codes: VecDeque<(String, Instant, Code)>,
    access: HashMap<String, (Instant, Grant)>,
    refresh: HashMap<String, Grant>,
}

impl SignIn {
    /// Nobody is signed in yet; access tokens will live for `lifetime`.
    pub fn new(lifetime: Duration) -> Self {
        Self {
            lifetime,
            grants: 0,
            open: VecDeque::new(),
            codes: VecDeque::new(),
            access: HashMap::new(),
            refresh: HashMap::new(),
        }
    }

    /// Keeps a wish until its consent page comes back with the ticket.
    pub fn hold(&mut self, wish: Wish) -> Result<String> {
        let ticket = random("", 24)?;
        self.open.truncate(MAX_OPEN - 1);
        self.open.push_front((ticket.clone(), wish));
        Ok(ticket)
    }

    /// Gives the wish of a ticket, once.
    pub fn take(&mut self, issuer: Issuer, ticket: &str) -> Option<Wish> {
        let place = self
            .open
            .iter()
            .position(|(known, wish)| known == ticket && wish.issuer == issuer)?;
        self.open.remove(place).map(|(_, wish)| wish)
    }

    /// Grants a wish.
    pub fn issue_code(&mut self, wish: Wish, mailbox: String) -> Result<String> {
        let code = wish.issuer.code()?;
        self.codes.truncate(MAX_OPEN - 1);
        self.codes
            .push_front((code.clone(), Instant::now(), Code { wish, mailbox }));
        Ok(code)
    }

    /// Gives what a code was issued for, once and in time.
    pub fn take_code(&mut self, issuer: Issuer, code: &str) -> Option<Code> {
        let place = self
            .codes
            .iter()
            .position(|(known, _, of)| known == code && of.wish.issuer == issuer)?;
        let (_, issued, code) = self.codes.remove(place)?;
        (issued.elapsed() < CODE_LIFETIME).then_some(code)
    }

    /// Makes the tokens of a new grant.
    pub fn issue_tokens(&mut self, wish: &Wish, mailbox: String) -> Result<Issued> {
        self.grants += 1;
        let grant = Grant {
            number: self.grants,
            issuer: wish.issuer,
            client_id: wish.client_id.clone(),
            scope: wish.scope.clone(),
            mailbox,
        };
        let mut issued = self.issue_access(grant.clone())?;
        if wish.offline {
            let token = wish.issuer.refresh_token()?;
            self.refresh.insert(token.clone(), grant);
            issued.refresh = Some(token);
        }
        Ok(issued)
    }

    /// The client that a refresh token was made for.
    pub fn client_of(&self, issuer: Issuer, refresh_token: &str) -> Option<&str> {
        let grant = self.refresh.get(refresh_token)?;
        (grant.issuer == issuer).then_some(&grant.client_id)
    }

    /// A new access token by a refresh token.
    pub fn refresh(&mut self, refresh_token: &str) -> Result<Option<Issued>> {
        let Some(grant) = self.refresh.get(refresh_token).cloned() else {
            return Ok(None);
        };
        self.issue_access(grant).map(Some)
    }

    fn issue_access(&mut self, grant: Grant) -> Result<Issued> {
        let now = Instant::now();
        self.access.retain(|_, (until, _)| *until > now);
        let access = grant.issuer.access_token()?;
        let scope = grant.scope.clone();
        self.access
            .insert(access.clone(), (now + self.lifetime, grant));
        Ok(Issued {
            access,
            scope,
            refresh: None,
        })
    }

    /// The token endpoint's answer about an access token.
    pub fn token_answer(&self, issued: &Issued) -> Value {
        json!({
            "access_token": issued.access,
            "expires_in": self.lifetime.as_secs(),
            "scope": issued.scope,
            "token_type": "Bearer",
        })
    }

    /// What an access token allows, while it is good.
    pub fn access(&self, token: &str) -> Option<Access> {
        let (until, grant) = self.access.get(token)?;
        (*until > Instant::now()).then(|| Access {
            issuer: grant.issuer,
            mailbox: grant.mailbox.clone(),
            scope: grant.scope.clone(),
        })
    }

    /// Ends the grant of a token; false for a token that is not good.
    pub fn revoke(&mut self, issuer: Issuer, token: &str) -> bool {
        let known = self.access.get(token).map(|(_, grant)| grant);
        let known = known.or_else(|| self.refresh.get(token));
        let Some(grant) = known.filter(|grant| grant.issuer == issuer) else {
            return false;
        };
        let number = grant.number;
        self.access.retain(|_, (_, grant)| grant.number != number);
        self.refresh.retain(|_, grant| grant.number != number);
        true
    }

    /// Ends all grants.
    pub fn revoke_all(&mut self) {
        self.codes.clear();
        self.access.clear();
        self.refresh.clear();
    }

    /// Ends all access tokens, as time would.
    pub fn expire_access_tokens(&mut self) {
        self.access.clear();
    }
}

/// A token of so many random bytes.
fn random(prefix: &str, bytes: usize) -> Result<String> {
    let mut buffer = vec![0; bytes];
    getrandom::fill(&mut buffer).map_err(|error| {
        Error::new(
            Kind::Internal,
            format!("the system gives no random numbers: {error}"),
        )
    })?;
    Ok(format!("{prefix}{}", URL_SAFE_NO_PAD.encode(buffer)))
}
