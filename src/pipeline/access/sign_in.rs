//! The `accounts` tool: lists the signed-in accounts, and signs in from a chat.
//!
//! `add` returns at once with the address of the sign-in page, or with a code to enter, and
//! continues in the background; `list` reports the outcome. If the server has pages, the sign-in
//! happens there, and `add` only returns the link. The sign-in itself is in `oauth`, the storage of
//! accounts in `accounts`.

use daysheet_core::access::AccessLevel;
use daysheet_core::budget::WholeAnswer;
use daysheet_core::call::client::{ClientPrompts, Confirmation};
use daysheet_core::choice::WordChoice;
use daysheet_core::encode::Document;
use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::provider::Account;
use daysheet_core::provider::ProviderConnector;
use daysheet_core::schemas::{ACCOUNT, ColumnLevel};
use daysheet_core::text::{Note, note, ours, quoted};
use serde_json::{Value, json};
use url::Url;

use super::sign_ins::{PendingSignIn, SignInState};
use crate::accounts::{Accounts, SignedOut};
use crate::config::Config;
use crate::oauth::{self, DeviceSignIn, GrantedTokens, SignIn, UnattendedAccess};
use crate::pipeline::context::Context;
use crate::pipeline::rows::rows_of;
use crate::pipeline::write::confirm::require_access;
use crate::pipeline::write::interrupted::begin_writing;
use crate::pipeline::write::report::{ItemOutcome, outcome_rows};
use crate::tools::accounts::{AccountsOp, ProviderChoice, SignInArguments};

/// A sign-in that is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FinishedSignIn {
    /// The account it was for.
    pub account: Account,
    /// A note if the result differs from the request.
    pub note: Option<String>,
}

/// A sign-in in progress, or tokens obtained without one.
#[derive(Debug)]
pub enum BegunSignIn {
    /// Through a browser that redirects to this machine.
    Browser(SignIn),
    /// With a code that is entered elsewhere.
    Device(DeviceSignIn),
    /// Without a person: tokens from a command, or through the service account with this address.
    Unattended(Box<GrantedTokens>, Option<String>),
}

impl BegunSignIn {
    /// Starts the sign-in that `add` requests.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] for an invalid request; the errors of [`SignIn::start`] and
    /// [`DeviceSignIn::start`].
    pub async fn start(
        config: &Config,
        connect: &dyn ProviderConnector,
        add: &SignInArguments,
    ) -> Result<Self> {
        add.check()?;
        let tenant = add.tenant.as_deref();
        let id = add.id();
        let way = oauth::unattended(config, &id);
        // Without a mailbox, its owner signs in, service account or not.
        if let Some(way @ UnattendedAccess::Service(account)) = way
            && add.mailbox.is_some()
        {
            let scopes = connect.scopes(&add.provider, false, config.access)?;
            let tokens = way.tokens(config, &id, tenant, &scopes).await?;
            return Ok(Self::Unattended(Box::new(tokens), Some(account.email.clone())));
        }
        let scopes = connect.scopes(&add.provider, add.mailbox.is_some(), config.access)?;
        let scopes = scopes.as_slice();
        if let Some(way @ UnattendedAccess::Command(_)) = way {
            let tokens = way.tokens(config, &id, tenant, scopes).await?;
            return Ok(Self::Unattended(Box::new(tokens), None));
        }
        if add.device {
            let device = DeviceSignIn::start(config, &add.provider, tenant, scopes).await?;
            return Ok(Self::Device(device));
        }
        let hint = add.address.as_deref();
        let sign_in = SignIn::start(config, &add.provider, tenant, scopes, hint).await?;
        Ok(Self::Browser(sign_in))
    }

    /// Waits for the person, adds the account with the scopes they granted, and shows the outcome
    /// in their browser.
    ///
    /// # Errors
    /// The errors of [`SignIn::wait`] and [`finish`].
    pub async fn finish(
        self,
        accounts: &Accounts,
        connect: &dyn ProviderConnector,
        add: &SignInArguments,
    ) -> Result<FinishedSignIn> {
        let (tokens, page) = match self {
            Self::Unattended(tokens, through) => {
                return unattended(accounts, connect, *tokens, add, through).await;
            }
            Self::Browser(sign_in) => {
                let (tokens, page) = sign_in.wait().await?;
                (tokens, Some(page))
            }
            Self::Device(device) => (device.wait().await?, None),
        };
        let finished = finish(accounts, connect, tokens, add).await;
        if let Some(page) = page {
            // The person is waiting in the browser, so it shows failures, too.
            match &finished {
                Ok(finished) => page.signed_in(finished.account.email.as_str()).await,
                Err(error) => page.failed(error).await,
            }
        }
        finished
    }
}

/// Adds an account whose tokens came without a person. They must be for the requested address,
/// because the settings name it.
async fn unattended(
    accounts: &Accounts,
    connect: &dyn ProviderConnector,
    tokens: GrantedTokens,
    add: &SignInArguments,
    through: Option<String>,
) -> Result<FinishedSignIn> {
    let requested = add.mailbox.as_ref().or(add.address.as_ref()).map_or("", |one| one.trim());
    // A service account's token is the mailbox's own; a command's may open a shared mailbox.
    let mailbox = add.mailbox.as_deref().filter(|_| through.is_none());
    let person = connect.address(tokens.provider, tokens.access.secret(), mailbox).await?;
    let account = match (through, mailbox) {
        (None, Some(mailbox)) if !requested.eq_ignore_ascii_case(person.trim()) => {
            accounts.add_shared(tokens, mailbox, &person).await?
        }
        (_, _) if !requested.eq_ignore_ascii_case(person.trim()) => {
            return Err(Error::argument(format!(
                "the token for {} is one of {}",
                quoted(requested),
                quoted(person.trim())
            ))
            .next("correct the address, in the settings too"));
        }
        (Some(through), _) => accounts.add_shared(tokens, &person, &through).await?,
        (None, _) => accounts.add(tokens, &person).await?,
    };
    Ok(FinishedSignIn { account, note: None })
}

/// Adds an account from new tokens: asks the provider for their owner, and stores both.
/// The provider's answer counts; a note says if `add` requested another account.
///
/// # Errors
/// Those of [`ProviderConnector::address`] and [`Accounts::add`].
pub async fn finish(
    accounts: &Accounts,
    connect: &dyn ProviderConnector,
    tokens: GrantedTokens,
    add: &SignInArguments,
) -> Result<FinishedSignIn> {
    let mailbox = add.mailbox.as_deref();
    let person = connect.address(tokens.provider, tokens.access.secret(), mailbox).await?;
    let account = match mailbox {
        Some(mailbox) if !mailbox.trim().eq_ignore_ascii_case(person.trim()) => {
            accounts.add_shared(tokens, mailbox, &person).await?
        }
        _ => accounts.add(tokens, &person).await?,
    };
    let requested = add.address.as_deref().map(str::trim);
    let note = requested.filter(|requested| !requested.eq_ignore_ascii_case(person.trim())).map(
        |requested| {
            let person = person.trim();
            if account.via.is_some() {
                format!("{requested} was to sign in for {}, but {person} did", account.email)
            } else {
                format!(
                    "{requested} was to sign in, but {person} did: the account is stored as {}",
                    account.email
                )
            }
        },
    );
    Ok(FinishedSignIn { account, note })
}

/// The note for clients that show no questions. Some do not ask the user by themselves either.
const UNASKED: &str =
    "this client shows no questions: mail_send sends without asking (`confirm` = `always` refuses)";

pub(crate) async fn accounts(
    ctx: &Context,
    op: AccountsOp,
    caller: &dyn ClientPrompts,
) -> Result<WholeAnswer> {
    match op {
        AccountsOp::List(provider) => account_list(ctx, provider, caller).await,
        AccountsOp::Add(add) => account_add(ctx, add, caller).await,
        AccountsOp::Again { account, device } => {
            let account = ctx.accounts.find(Some(&account)).await?;
            let (address, mailbox) = match account.via {
                Some(via) => (via, Some(account.email.into())),
                None => (account.email.into(), None),
            };
            let add = SignInArguments {
                provider: account.provider,
                tenant: account.tenant,
                address: Some(address),
                mailbox,
                device,
            };
            account_add(ctx, add, caller).await
        }
        AccountsOp::Remove { account } => {
            // It revokes the grant at the provider.
            require_access(ctx, AccessLevel::Organize, "signing an account out")?;
            // From here on it is completed: without its account, a grant would be forgotten.
            begin_writing(ctx).await?;
            let (outcome, problem) = sign_out(ctx, &account).await?;
            let outcome = ItemOutcome::new(account, "remove", "done", outcome.to_string());
            let mut response = account_outcome(ctx, outcome);
            response.notes.extend(problem.as_ref().map(Note::from));
            Ok(response)
        }
    }
}

/// Signs an account out and drops its stored data. Returns the outcome for its grant, and the error
/// if some of the data could not be dropped.
///
/// # Errors
/// The errors of [`Accounts::remove`].
pub async fn sign_out(ctx: &Context, account: &str) -> Result<(SignedOut, Option<Error>)> {
    // Found before the removal, because the id is needed afterwards.
    let known = ctx.accounts.find(Some(account)).await;
    let outcome = ctx.accounts.remove(account).await?;
    let Ok(known) = known else {
        return Ok((outcome, None));
    };
    // The rows in these do not name their accounts, so all are dropped.
    ctx.states.snapshots.clear();
    ctx.states.shown.clear();
    Ok((outcome, ctx.states.outputs.purge(&known.id).await.err()))
}

/// Waits until no sign-in of this process is pending, and returns their notes;
/// fails with the first error.
pub async fn signed_in(ctx: &Context) -> Result<Vec<String>> {
    loop {
        // Created before the check, so that a sign-in that ends in between is not missed.
        let changed = ctx.states.sign_ins.changed.notified();
        if ctx.states.sign_ins.open() == 0 {
            let mut notes = Vec::new();
            // Taken out, so that each outcome is returned only once.
            for one in ctx.states.sign_ins.with(std::mem::take) {
                match one.state {
                    SignInState::Failed(error) => return Err(error),
                    SignInState::Noted(note) => notes.push(note),
                    SignInState::Open => {}
                }
            }
            return Ok(notes);
        }
        changed.await;
    }
}

/// Returns the signed-in accounts as objects of ours.
pub(crate) async fn account_objects(ctx: &Context) -> Result<Vec<Value>> {
    let object = |account: &Account| {
        json!({
            "email": account.email,
            "provider": account.provider,
            "status": account.status.to_string(),
            "problem": account.problem,
            "via": account.via,
            "scopes": account.scopes.join(" "),
            "added": account.added.to_string().get(..10),
        })
    };
    Ok(ctx.accounts.list().await?.iter().map(object).collect())
}

/// Returns the note that no account is signed in, with the way to add one.
pub(crate) fn no_account_note(ctx: &Context) -> Note {
    note!("no account is signed in: {}", ours(ctx.accounts.how_to_add()))
}

async fn account_list(
    ctx: &Context,
    provider: Option<ProviderChoice>,
    caller: &dyn ClientPrompts,
) -> Result<WholeAnswer> {
    let mut objects = account_objects(ctx).await?;
    let mut notes = Vec::new();
    // An outcome is reported once; a pending page is reported until it is done.
    ctx.states.sign_ins.with(|waiting| {
        objects.extend(waiting.iter().filter_map(PendingSignIn::row));
        for one in waiting.iter() {
            if let SignInState::Noted(note) = &one.state {
                notes.push(note!("{}", ours(note)));
            }
        }
        waiting.retain(PendingSignIn::is_open);
    });
    // Before the filter: a provider without accounts does not mean that no account is signed in.
    let is_none = objects.is_empty();
    if let Some(provider) = provider {
        objects.retain(|one| one.get("provider").is_some_and(|is| is == provider.word()));
    }
    let columns = ACCOUNT.up_to(ColumnLevel::More);
    let rows = rows_of(&ctx.local(), &ACCOUNT, &columns, &objects, &mut notes);
    notes.push(if is_none { no_account_note(ctx) } else { note!("accounts: {}", rows.len()) });
    for account in ctx.accounts.list().await? {
        if provider.is_some_and(|provider| account.provider != provider.word()) {
            continue;
        }
        let shared = account.via.is_some();
        let wanted = ctx.connect.scopes(&account.provider, shared, ctx.config.access);
        let limits = ctx.accounts.limits(&account, &wanted.unwrap_or_default()).await?;
        // The row has the refusal already.
        if let Some(next) = limits.ended.as_ref().and_then(Error::next_step) {
            notes.push(note!("{}: {}", quoted(account.email.as_str()), ours(next)));
        }
        for limit in [limits.lacking, limits.ending].into_iter().flatten() {
            notes.push(note!("{}: {}", quoted(account.email.as_str()), ours(limit)));
        }
    }
    let sends = ctx.config.access >= AccessLevel::Send && !ctx.config.always_confirm;
    if sends && !caller.can_ask() {
        notes.push(UNASKED.into());
    }
    Ok(WholeAnswer {
        document: Document { scalars: Vec::new(), tables: vec![rows] },
        notes,
        ..WholeAnswer::default()
    })
}

async fn account_add(
    ctx: &Context,
    add: SignInArguments,
    caller: &dyn ClientPrompts,
) -> Result<WholeAnswer> {
    if let Some(page) = connect_page(ctx, &add)? {
        return account_add_on_page(ctx, &add, page.as_str(), caller).await;
    }
    let begun = BegunSignIn::start(&ctx.config, &*ctx.connect, &add).await?;
    let detail = match &begun {
        BegunSignIn::Unattended(..) => {
            let finished = begun.finish(&ctx.accounts, &*ctx.connect, &add).await?;
            let detail = "signed in as the settings say, without a page";
            let outcome = ItemOutcome::new(finished.account.email, "add", "done", detail);
            return Ok(account_outcome(ctx, outcome));
        }
        BegunSignIn::Device(device) => device.message(),
        BegunSignIn::Browser(sign_in) => {
            let url = sign_in.url();
            let opened = ctx.config.browser && open::that_detached(url).is_ok();
            let how = if opened { "a browser opened" } else { "open" };
            format!("{how} {url} to sign in")
        }
    };
    let address = add.mailbox.as_ref().or(add.address.as_ref());
    let item = address.unwrap_or(&add.provider).clone();
    let number = ctx.states.sign_ins.with(|waiting| {
        let number = waiting.iter().map(|one| one.number + 1).max().unwrap_or(0);
        // A newer page for the same account replaces the older one.
        waiting.retain(|one| {
            let same = one.add.provider == add.provider
                && one.add.address == add.address
                && one.add.mailbox == add.mailbox;
            if same && let Some(task) = &one.task {
                task.abort();
            }
            !same
        });
        waiting.push(PendingSignIn {
            add: add.clone(),
            state: SignInState::Open,
            task: None,
            number,
        });
        number
    });
    let (accounts, connect) = (ctx.accounts.clone(), ctx.connect.clone());
    let sign_ins = ctx.states.sign_ins.clone();
    let task = tokio::spawn(async move {
        let state = match begun.finish(&accounts, &*connect, &add).await {
            Ok(finished) => finished.note.map(SignInState::Noted),
            Err(error) => Some(SignInState::Failed(error)),
        };
        sign_ins.with(|waiting| match state {
            // A success without a note needs no report, because the list shows the account.
            None => waiting.retain(|one| one.number != number),
            Some(state) => {
                if let Some(one) = waiting.iter_mut().find(|one| one.number == number) {
                    one.state = state;
                }
            }
        });
        sign_ins.changed.notify_waiters();
    });
    // The task may already have ended and removed its entry.
    ctx.states.sign_ins.with(|waiting| {
        if let Some(one) = waiting.iter_mut().find(|one| one.number == number) {
            one.task = Some(task.abort_handle());
        }
    });
    let detail = format!("{detail}; then call accounts with op=list");
    Ok(account_outcome(ctx, ItemOutcome::new(item, "add", "waiting", detail)))
}

/// Returns the page of the server on which the account is connected; `None` if there are no pages,
/// or if no person signs in.
///
/// # Errors
/// [`ErrorKind::Argument`] for a request that no page can make.
fn connect_page(ctx: &Context, add: &SignInArguments) -> Result<Option<Url>> {
    let suggested = [
        ("tenant", add.tenant.as_deref()),
        ("hint", add.address.as_deref()),
        ("mailbox", add.mailbox.as_deref()),
    ];
    let page = match oauth::unattended(&ctx.config, &add.id()) {
        // With a device code too: it would connect the mailbox of anyone who enters it to
        // the person who asked for it.
        None => ctx.config.connect_page(&add.provider, &suggested),
        Some(_) => None,
    };
    if page.is_some() {
        add.check()?;
        // Called for its errors alone; the page requests the scopes itself.
        ctx.connect.scopes(&add.provider, add.mailbox.is_some(), ctx.config.access)?;
    }
    Ok(page)
}

/// Leaves the sign-in to a page of the server: the client opens it if it can, else the answer
/// has the link.
async fn account_add_on_page(
    ctx: &Context,
    add: &SignInArguments,
    page: &str,
    caller: &dyn ClientPrompts,
) -> Result<WholeAnswer> {
    let title = oauth::provider_named(&add.provider)?.title;
    let why = format!("Connect a {title} account to Daysheet");
    let item = add.mailbox.as_ref().or(add.address.as_ref()).unwrap_or(&add.provider);
    let (result, detail) = match caller.open_page(&why, page).await {
        Confirmation::Yes => ("waiting", format!("the user was shown {page}")),
        Confirmation::Unavailable | Confirmation::Unanswered | Confirmation::Planned => {
            ("waiting", format!("ask the user to open {page} and sign in"))
        }
        Confirmation::No => {
            return Err(Error::new(ErrorKind::Auth, "the user declined to open the sign-in page")
                .next(format!("nothing was changed; the page is {page}")));
        }
        Confirmation::Later => {
            return Err(Error::new(ErrorKind::Auth, "the user has to sign in first"));
        }
    };
    let detail = format!("{detail}; then call accounts with op=list");
    Ok(account_outcome(ctx, ItemOutcome::new(item, "add", result, detail)))
}

/// Returns the response about one account.
fn account_outcome(ctx: &Context, outcome: ItemOutcome) -> WholeAnswer {
    let rows = outcome_rows(ctx, &[outcome]);
    WholeAnswer {
        document: Document { scalars: Vec::new(), tables: vec![rows] },
        ..WholeAnswer::default()
    }
}
