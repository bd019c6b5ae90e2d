//! Authorization codes and tokens of both sign-ins.
//!
//! They are held in memory and end with the process. Only the appearance of the tokens depends on
//! the provider, in `authorization.rs`; requests and answers are handled in `google.rs` and
//! `entra/`. Device codes are in `device_codes.rs`.

pub(crate) mod authorization;
pub(crate) mod device_codes;

use std::collections::{HashMap, VecDeque};
use std::time::{Duration, Instant};

use authorization::{AuthorizationRequest, TokenIssuer};
use daysheet_core::error::Result;
use device_codes::DeviceCodes;

use crate::auth::random::random;

/// The lifetime of an authorization code: RFC 6749, 4.1.2, recommends ten minutes at most.
const CODE_LIFETIME: Duration = Duration::from_mins(10);

/// The maximum number of open consent pages, and of remembered codes.
const MAX_OPEN: usize = 256;

/// The reason why a code is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoCode {
    /// It was never issued, or has expired.
    Unknown,
    /// It was exchanged before.
    Spent,
}

/// A stored refresh token.
#[derive(Debug)]
pub(crate) struct RefreshToken {
    /// The access that it renews.
    pub grant: TokenAccess,
    /// The token it was rotated from, if any.
    parent: Option<String>,
    /// The state.
    pub life: RefreshState,
}

/// The state of a refresh token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RefreshState {
    /// It is valid.
    Good,
    /// Its successor was used, so it is no longer valid.
    Rotated,
    /// Its grant was ended.
    Revoked,
}

/// A request that was granted for a mailbox.
#[derive(Debug)]
pub(crate) struct AuthorizationCode {
    /// The granted request.
    pub authorization: AuthorizationRequest,
    /// The address of the mailbox that may be read.
    pub mailbox: String,
}

/// Newly issued tokens.
#[derive(Debug)]
pub(crate) struct IssuedTokens {
    /// The access token.
    pub access: String,
    /// The scopes, separated by spaces.
    pub scope: String,
    /// The refresh token, if it was requested.
    pub refresh: Option<String>,
}

/// The access that a token gives.
#[derive(Debug, Clone)]
pub(crate) struct TokenAccess {
    /// The number of the grant, which all its tokens share.
    number: u64,
    /// The issuer: the other one's APIs must refuse the token.
    pub issuer: TokenIssuer,
    /// The client it was issued to.
    pub client_id: String,
    /// The scopes, separated by spaces.
    pub scope: String,
    /// The mailbox's address.
    pub mailbox: String,
}

impl TokenAccess {
    /// Returns true if a scope of this name was granted, in its short form or as a URI that ends in
    /// the name (`Mail.Read`, `https://graph.microsoft.com/mail.read`). Case is ignored.
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
    /// The lifetime of access tokens.
    pub lifetime: Duration,
    grants: u64,
    open: VecDeque<(String, AuthorizationRequest)>,
    /// An exchanged code leaves its entry behind, so that a second attempt is recognised.
    codes: VecDeque<(String, TokenIssuer, Instant, Option<AuthorizationCode>)>,
    access: HashMap<String, (Instant, TokenAccess)>,
    refresh: HashMap<String, RefreshToken>,
    /// The codes of devices that wait for a person.
    pub devices: DeviceCodes,
}

impl SignIn {
    /// Creates an empty set of codes and tokens; access tokens are valid for `lifetime`.
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

    /// Stores a request until its consent page returns with the ticket.
    pub fn hold(&mut self, authorization: AuthorizationRequest) -> Result<String> {
        let ticket = random("", 24)?;
        // Nothing else removes the requests of pages that are never submitted.
        self.open.truncate(MAX_OPEN - 1);
        self.open.push_front((ticket.clone(), authorization));
        Ok(ticket)
    }

    /// Returns and removes the request of a ticket.
    pub fn take_request(
        &mut self,
        issuer: TokenIssuer,
        ticket: &str,
    ) -> Option<AuthorizationRequest> {
        let place = self
            .open
            .iter()
            .position(|(known, authorization)| known == ticket && authorization.issuer == issuer)?;
        self.open.remove(place).map(|(_, authorization)| authorization)
    }

    /// Issues the code of a granted request.
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

    /// Returns the granted request of a code, once and before it expires.
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
        // Taken before the time is checked: a late attempt consumes the code as well.
        let code = stored.take().ok_or(NoCode::Spent)?;
        if issued.elapsed() < CODE_LIFETIME { Ok(code) } else { Err(NoCode::Unknown) }
    }

    /// Issues the tokens of a new grant.
    pub fn issue_tokens(
        &mut self,
        authorization: &AuthorizationRequest,
        mailbox: String,
    ) -> Result<IssuedTokens> {
        self.grants += 1;
        let grant = TokenAccess {
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

    /// Returns a refresh token of an issuer, if it was ever issued.
    pub fn standing(&self, issuer: TokenIssuer, refresh_token: &str) -> Option<&RefreshToken> {
        self.refresh.get(refresh_token).filter(|stored| stored.grant.issuer == issuer)
    }

    /// Issues an access token for a refresh token, which stays valid, as at Google. `None` if the
    /// refresh token is not valid.
    pub fn refresh(&mut self, refresh_token: &str) -> Result<Option<IssuedTokens>> {
        match self.good_grant(refresh_token) {
            Some(grant) => self.issue_access(grant).map(Some),
            None => Ok(None),
        }
    }

    /// Issues an access token and a refresh token for a refresh token, as Entra does. The old
    /// refresh token stays valid until its successor is used, so that a client whose answer was
    /// lost can try again. `None` if the refresh token is not valid.
    pub fn rotate(&mut self, refresh_token: &str) -> Result<Option<IssuedTokens>> {
        let Some(grant) = self.good_grant(refresh_token) else {
            return Ok(None);
        };
        let mut issued = self.issue_access(grant.clone())?;
        issued.refresh = Some(self.issue_refresh(grant, Some(refresh_token.to_owned()))?);
        // This use proves that the client has received the token, so the one before it can end.
        let parent = self.refresh.get(refresh_token);
        let parent = parent.and_then(|stored| stored.parent.clone());
        if let Some(parent) = parent.and_then(|parent| self.refresh.get_mut(&parent)) {
            parent.life = RefreshState::Rotated;
        }
        Ok(Some(issued))
    }

    fn good_grant(&self, refresh_token: &str) -> Option<TokenAccess> {
        let stored = self.refresh.get(refresh_token)?;
        (stored.life == RefreshState::Good).then(|| stored.grant.clone())
    }

    fn issue_refresh(&mut self, grant: TokenAccess, parent: Option<String>) -> Result<String> {
        let token = grant.issuer.refresh_token()?;
        let life = RefreshState::Good;
        let stored = RefreshToken { grant, parent, life };
        self.refresh.insert(token.clone(), stored);
        Ok(token)
    }

    fn issue_access(&mut self, grant: TokenAccess) -> Result<IssuedTokens> {
        let now = Instant::now();
        // Expired tokens are dropped here, where the map grows, because nothing else removes them.
        self.access.retain(|_, (until, _)| *until > now);
        let access = grant.issuer.access_token()?;
        let scope = grant.scope.clone();
        self.access.insert(access.clone(), (now + self.lifetime, grant));
        Ok(IssuedTokens { access, scope, refresh: None })
    }

    /// Returns the access that a token gives, if it is valid.
    pub fn access(&self, token: &str) -> Option<TokenAccess> {
        let (until, grant) = self.access.get(token)?;
        (*until > Instant::now()).then(|| grant.clone())
    }

    /// Ends the grant of a token. Returns false for a token that is not valid.
    pub fn revoke(&mut self, issuer: TokenIssuer, token: &str) -> bool {
        // Either token of the pair ends the whole grant, as at Google (RFC 7009, 2.1).
        let known = self.access.get(token).map(|(_, grant)| grant.clone());
        let known = known.or_else(|| self.good_grant(token));
        let Some(grant) = known.filter(|grant| grant.issuer == issuer) else {
            return false;
        };
        self.access.retain(|_, (_, other)| other.number != grant.number);
        self.end_refresh_tokens(|other| other.number == grant.number);
        true
    }

    /// Ends all grants, and drops codes that are not exchanged yet.
    pub fn revoke_all(&mut self) {
        self.codes.clear();
        self.devices.clear();
        self.access.clear();
        self.end_refresh_tokens(|_| true);
    }

    fn end_refresh_tokens(&mut self, which: impl Fn(&TokenAccess) -> bool) {
        for stored in self.refresh.values_mut() {
            if which(&stored.grant) {
                // Kept instead of removed: Entra tells a revoked token (AADSTS50173) from an
                // unknown one.
                stored.life = RefreshState::Revoked;
            }
        }
    }

    /// Ends all access tokens, as if they had expired.
    pub fn expire_access_tokens(&mut self) {
        self.access.clear();
    }
}
