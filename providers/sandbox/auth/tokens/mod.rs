//! Codes and tokens: who was let in, to what, until when.
//!
//! Held in memory and gone with the process. Provider-neutral but for the look
//! of the tokens; no request or answer is read or made here. The codes that
//! people type for a device are in `device_codes.rs`.

pub(crate) mod device_codes;

use std::collections::{HashMap, VecDeque};
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use daysheet_core::error::{Error, ErrorKind, Result};
use device_codes::DeviceCodes;

/// How long a code is good.
const CODE_LIFETIME: Duration = Duration::from_secs(600);

/// How many consent pages may be open, and codes untraded, at a time.
const MAX_OPEN: usize = 256;

/// Whose sign-in a code or token came from. What one issuer gave out opens
/// nothing at the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenIssuer {
    /// Google's sign-in, for the Gmail and People APIs.
    Google,
    /// Microsoft's sign-in (Entra ID), for Graph.
    Microsoft,
}

impl TokenIssuer {
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
pub(crate) struct AuthorizationRequest {
    /// Whom it was sent to.
    pub issuer: TokenIssuer,
    /// Who asks.
    pub client_id: String,
    /// Where the answer goes; empty for a device, which fetches it.
    pub redirect_uri: String,
    /// The client's own mark, given back as it came.
    pub state: String,
    /// The scopes, separated by spaces.
    pub scope: String,
    /// The PKCE challenge (S256); empty for a device.
    pub challenge: String,
    /// True if a refresh token was requested.
    pub offline: bool,
}

/// Why a code is not good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoCode {
    /// It was never given out, or its time is over.
    Unknown,
    /// It was traded before.
    Spent,
}

/// How a refresh token stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RefreshStatus<'a> {
    /// It was never given out.
    Unknown,
    /// Its successor was used, so it is over.
    Rotated,
    /// Its grant was ended.
    Revoked,
    /// It may be used by this client for these scopes.
    Good {
        /// The client it was made for.
        client_id: &'a str,
        /// The scopes granted, separated by spaces.
        scope: &'a str,
    },
}

/// A refresh token in the books.
#[derive(Debug)]
struct RefreshToken {
    grant: AccessGrant,
    /// The token it was made by, where refresh tokens rotate.
    parent: Option<String>,
    life: RefreshState,
}

/// A refresh token's life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RefreshState {
    Good,
    Rotated,
    Revoked,
}

/// A wish that was granted for a mailbox.
#[derive(Debug)]
pub(crate) struct AuthorizationCode {
    /// What was wished for.
    pub authorization: AuthorizationRequest,
    /// Whose mail may be read.
    pub mailbox: String,
}

/// A granted access, as tokens name it.
#[derive(Debug, Clone)]
struct AccessGrant {
    number: u64,
    issuer: TokenIssuer,
    client_id: String,
    scope: String,
    mailbox: String,
}

/// Tokens fresh from the press.
#[derive(Debug)]
pub(crate) struct IssuedTokens {
    /// The access token.
    pub access: String,
    /// The scopes, separated by spaces.
    pub scope: String,
    /// The refresh token, if it was requested.
    pub refresh: Option<String>,
}

/// What an access token allows.
#[derive(Debug, Clone)]
pub(crate) struct TokenAccess {
    /// Who gave it out: the other issuer's APIs must refuse it.
    pub issuer: TokenIssuer,
    /// The mailbox's address.
    pub mailbox: String,
    /// The scopes, separated by spaces.
    pub scope: String,
}

impl TokenAccess {
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
pub(crate) struct SignIn {
    lifetime: Duration,
    grants: u64,
    open: VecDeque<(String, AuthorizationRequest)>,
    /// A code that was traded leaves its place behind, so that it is known again.
    codes: VecDeque<(String, TokenIssuer, Instant, Option<AuthorizationCode>)>,
    access: HashMap<String, (Instant, AccessGrant)>,
    refresh: HashMap<String, RefreshToken>,
    /// The codes that wait for people to type them.
    pub devices: DeviceCodes,
}

impl SignIn {
    /// Nobody is signed in yet; access tokens will live for `lifetime`.
    pub fn new(lifetime: Duration, devices: DeviceCodes) -> Self {
        Self {
            lifetime,
            devices,
            grants: 0,
            open: VecDeque::new(),
            codes: VecDeque::new(),
            access: HashMap::new(),
            refresh: HashMap::new(),
        }
    }

    /// Keeps a wish until its consent page comes back with the ticket.
    pub fn hold(&mut self, authorization: AuthorizationRequest) -> Result<String> {
        let ticket = random("", 24)?;
        self.open.truncate(MAX_OPEN - 1);
        self.open.push_front((ticket.clone(), authorization));
        Ok(ticket)
    }

    /// Gives the wish of a ticket, once.
    pub fn take(&mut self, issuer: TokenIssuer, ticket: &str) -> Option<AuthorizationRequest> {
        let place = self
            .open
            .iter()
            .position(|(known, authorization)| known == ticket && authorization.issuer == issuer)?;
        self.open.remove(place).map(|(_, authorization)| authorization)
    }

    /// Grants a wish.
    pub fn issue_code(
        &mut self,
        authorization: AuthorizationRequest,
        mailbox: String,
    ) -> Result<String> {
        let code = authorization.issuer.code()?;
        self.codes.truncate(MAX_OPEN - 1);
        self.codes.push_front((
            code.clone(),
            authorization.issuer,
            Instant::now(),
            Some(AuthorizationCode { authorization, mailbox }),
        ));
        Ok(code)
    }

    /// Gives what a code was issued for, once and in time.
    pub fn take_code(
        &mut self,
        issuer: TokenIssuer,
        code: &str,
    ) -> std::result::Result<AuthorizationCode, NoCode> {
        let (_, _, issued, stored) = self
            .codes
            .iter_mut()
            .find(|(known, from, ..)| known == code && *from == issuer)
            .ok_or(NoCode::Unknown)?;
        let code = stored.take().ok_or(NoCode::Spent)?;
        if issued.elapsed() < CODE_LIFETIME { Ok(code) } else { Err(NoCode::Unknown) }
    }

    /// Makes the tokens of a new grant.
    pub fn issue_tokens(
        &mut self,
        authorization: &AuthorizationRequest,
        mailbox: String,
    ) -> Result<IssuedTokens> {
        self.grants += 1;
        let grant = AccessGrant {
            number: self.grants,
            issuer: authorization.issuer,
            client_id: authorization.client_id.clone(),
            scope: authorization.scope.clone(),
            mailbox,
        };
        let mut issued = self.issue_access(grant.clone())?;
        if authorization.offline {
            issued.refresh = Some(self.issue_refresh(grant, None)?);
        }
        Ok(issued)
    }

    /// How a refresh token stands with an issuer.
    pub fn standing(&self, issuer: TokenIssuer, refresh_token: &str) -> RefreshStatus<'_> {
        let known = self.refresh.get(refresh_token);
        let Some(stored) = known.filter(|stored| stored.grant.issuer == issuer) else {
            return RefreshStatus::Unknown;
        };
        match stored.life {
            RefreshState::Rotated => RefreshStatus::Rotated,
            RefreshState::Revoked => RefreshStatus::Revoked,
            RefreshState::Good => RefreshStatus::Good {
                client_id: &stored.grant.client_id,
                scope: &stored.grant.scope,
            },
        }
    }

    /// A new access token by a refresh token, which stays.
    pub fn refresh(&mut self, refresh_token: &str) -> Result<Option<IssuedTokens>> {
        match self.good_grant(refresh_token) {
            Some(grant) => self.issue_access(grant).map(Some),
            None => Ok(None),
        }
    }

    /// A new access token and a new refresh token. The one that was used stays
    /// good until its successor is used: should the answer get lost, the
    /// client can ask again.
    pub fn rotate(&mut self, refresh_token: &str) -> Result<Option<IssuedTokens>> {
        let Some(grant) = self.good_grant(refresh_token) else {
            return Ok(None);
        };
        let mut issued = self.issue_access(grant.clone())?;
        issued.refresh = Some(self.issue_refresh(grant, Some(refresh_token.to_owned()))?);
        let parent = self.refresh.get(refresh_token);
        let parent = parent.and_then(|stored| stored.parent.clone());
        if let Some(parent) = parent.and_then(|parent| self.refresh.get_mut(&parent)) {
            parent.life = RefreshState::Rotated;
        }
        Ok(Some(issued))
    }

    fn good_grant(&self, refresh_token: &str) -> Option<AccessGrant> {
        let stored = self.refresh.get(refresh_token)?;
        (stored.life == RefreshState::Good).then(|| stored.grant.clone())
    }

    fn issue_refresh(&mut self, grant: AccessGrant, parent: Option<String>) -> Result<String> {
        let token = grant.issuer.refresh_token()?;
        let life = RefreshState::Good;
        let stored = RefreshToken { grant, parent, life };
        self.refresh.insert(token.clone(), stored);
        Ok(token)
    }

    fn issue_access(&mut self, grant: AccessGrant) -> Result<IssuedTokens> {
        let now = Instant::now();
        self.access.retain(|_, (until, _)| *until > now);
        let access = grant.issuer.access_token()?;
        let scope = grant.scope.clone();
        self.access.insert(access.clone(), (now + self.lifetime, grant));
        Ok(IssuedTokens { access, scope, refresh: None })
    }

    /// How long access tokens live.
    pub fn lifetime(&self) -> Duration {
        self.lifetime
    }

    /// What an access token allows, while it is good.
    pub fn access(&self, token: &str) -> Option<TokenAccess> {
        let (until, grant) = self.access.get(token)?;
        (*until > Instant::now()).then(|| TokenAccess {
            issuer: grant.issuer,
            mailbox: grant.mailbox.clone(),
            scope: grant.scope.clone(),
        })
    }

    /// Ends the grant of a token; false for a token that is not good.
    pub fn revoke(&mut self, issuer: TokenIssuer, token: &str) -> bool {
        let known = self.access.get(token).map(|(_, grant)| grant.clone());
        let known = known.or_else(|| self.good_grant(token));
        let Some(grant) = known.filter(|grant| grant.issuer == issuer) else {
            return false;
        };
        self.access.retain(|_, (_, other)| other.number != grant.number);
        self.end_refresh_tokens(|other| other.number == grant.number);
        true
    }

    /// Ends all grants, and what was on its way to one.
    pub fn revoke_all(&mut self) {
        self.codes.clear();
        self.devices.clear();
        self.access.clear();
        self.end_refresh_tokens(|_| true);
    }

    fn end_refresh_tokens(&mut self, which: impl Fn(&AccessGrant) -> bool) {
        for stored in self.refresh.values_mut() {
            if which(&stored.grant) {
                stored.life = RefreshState::Revoked;
            }
        }
    }

    /// Ends all access tokens, as time would.
    pub fn expire_access_tokens(&mut self) {
        self.access.clear();
    }
}

/// A token of so many random bytes.
pub(crate) fn random(prefix: &str, bytes: usize) -> Result<String> {
    let mut buffer = vec![0; bytes];
    fill(&mut buffer)?;
    Ok(format!("{prefix}{}", URL_SAFE_NO_PAD.encode(buffer)))
}

/// Fills a buffer with random bytes.
fn fill(buffer: &mut [u8]) -> Result<()> {
    getrandom::fill(buffer).map_err(|error| {
        Error::new(ErrorKind::Internal, format!("the system gives no random numbers: {error}"))
    })
}
