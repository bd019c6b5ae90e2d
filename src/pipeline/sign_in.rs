//! The accounts tool: who is signed in, and signing in from a chat.
//!
//! `add` answers at once with the address of the sign-in page and goes on in
//! the background; `list` says how it went. What a sign-in is stands in
//! `oauth`, what an account is in `accounts`.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::task::AbortHandle;

use super::{Draft, Pipeline};
use crate::accounts::{Account, Accounts};
use crate::encode::Document;
use crate::error::{Error, Result};
use crate::oauth::{SignIn, Tokens};
use crate::provider::Connect;
use crate::request::AccountsOp;
use crate::schemas::{ACCOUNT, Level, OUTCOME};

/// A sign-in that is over: the account it was for.
pub type Finished = Account;

/// Sign-ins that were started in this process and not yet told about.
#[derive(Debug, Default)]
pub(super) struct SignIns {
    waiting: Mutex<Vec<Pending>>,
    changed: Notify,
}

#[derive(Debug)]
struct Pending {
    provider: String,
    address: Option<String>,
    /// `None` while the page is open.
    failed: Option<Error>,
    /// What waits for the page.
    task: Option<AbortHandle>,
    number: u64,
}

impl SignIns {
    fn with<T>(&self, change: impl FnOnce(&mut Vec<Pending>) -> T) -> T {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut waiting)
    }

    fn open(&self) -> usize {
        self.with(|waiting| waiting.iter().filter(|one| one.failed.is_none()).count())
    }
}

/// Makes an account of fresh tokens: asks the provider whose they are, and
/// keeps both.
pub async fn finish(
    accounts: &Accounts,
    connect: &dyn Connect,
    tokens: Tokens,
) -> Result<Finished> {
    let address = connect
        .address(tokens.provider, tokens.access.secret())
        .await?;
    accounts.add(tokens, &address).await
}

impl Pipeline {
    pub(super) async fn accounts(&self, op: AccountsOp) -> Result<Draft> {
        match op {
            AccountsOp::List => self.account_list().await,
            AccountsOp::Add { provider, address } => self.account_add(provider, address).await,
            AccountsOp::Again { account } => {
                let account = self.accounts.find(Some(&account)).await?;
                self.account_add(account.provider, Some(account.email))
                    .await
            }
            AccountsOp::Remove { account } => {
                let problem = self.accounts.remove(&account).await?;
                let detail = problem.map_or_else(
                    || "the grant is revoked and the tokens are forgotten".to_owned(),
                    |why| {
                        format!(
                            "the tokens are forgotten, but the grant could not be revoked: {why}"
                        )
                    },
                );
                Ok(self.outcome(&account, "remove", "done", &detail))
            }
        }
    }

    /// Waits until no sign-in of this process is open any more; fails as the
    /// last of them failed.
    pub async fn signed_in(&self) -> Result<()> {
        loop {
            let changed = self.sign_ins.changed.notified();
            if self.sign_ins.open() == 0 {
                let failed = self
                    .sign_ins
                    .with(|waiting| waiting.pop().and_then(|one| one.failed));
                return failed.map_or(Ok(()), Err);
            }
            changed.await;
        }
    }

    async fn account_list(&self) -> Result<Draft> {
        let known = self.accounts.list().await?;
        let mut objects: Vec<Value> = known
            .iter()
            .map(|account| {
                json!({
                    "email": account.email,
                    "provider": account.provider,
                    "status": account.status.to_string(),
                    "problem": account.problem,
                    "scopes": account.scopes.join(" "),
                    "added": account.added.to_string().get(..10),
                })
            })
            .collect();
        // A failure is told once; an open page is told until it is over.
        let pending = self.sign_ins.with(|waiting| {
            let shown: Vec<Value> = waiting.iter().map(pending_row).collect();
            waiting.retain(|one| one.failed.is_none());
            shown
        });
        objects.extend(pending);
        let mut notes = Vec::new();
        let columns = ACCOUNT.up_to(Level::More);
        let rows = self
            .local()
            .rows(&ACCOUNT, &columns, &objects, &HashMap::new(), &mut notes);
        notes.push(if objects.is_empty() {
            "no account is signed in: call accounts with op=add, or run `daysheet account add google`"
                .to_owned()
        } else {
            format!("accounts: {}", rows.len())
        });
        Ok(Draft {
            document: Document {
                scalars: Vec::new(),
                tables: vec![rows],
            },
            texts: Vec::new(),
            notes,
        })
    }

    async fn account_add(&self, provider: String, address: Option<String>) -> Result<Draft> {
        let scopes = self.connect.scopes(&provider)?;
        let sign_in = SignIn::start(&self.config, &provider, scopes, address.as_deref()).await?;
        let url = sign_in.url().to_owned();
        let opened = self.config.browser && open::that_detached(&url).is_ok();
        let number = self.sign_ins.with(|waiting| {
            let number = waiting.iter().map(|one| one.number + 1).max().unwrap_or(0);
            // A newer page for the same account takes the place of the older.
            waiting.retain(|one| {
                let same = one.provider == provider && one.address == address;
                if same && let Some(task) = &one.task {
                    task.abort();
                }
                !same
            });
            waiting.push(Pending {
                provider: provider.clone(),
                address: address.clone(),
                failed: None,
                task: None,
                number,
            });
            number
        });
        let (accounts, connect) = (self.accounts.clone(), self.connect.clone());
        let sign_ins = self.sign_ins.clone();
        let task = tokio::spawn(async move {
            let outcome = match sign_in.wait().await {
                Ok(tokens) => finish(&accounts, &*connect, tokens).await,
                Err(error) => Err(error),
            };
            sign_ins.with(|waiting| match outcome {
                Ok(_) => waiting.retain(|one| one.number != number),
                Err(error) => {
                    if let Some(one) = waiting.iter_mut().find(|one| one.number == number) {
                        one.failed = Some(error);
                    }
                }
            });
            sign_ins.changed.notify_waiters();
        });
        self.sign_ins.with(|waiting| {
            if let Some(one) = waiting.iter_mut().find(|one| one.number == number) {
                one.task = Some(task.abort_handle());
            }
        });
        let how = if opened { "a browser opens" } else { "open" };
        Ok(self.outcome(
            address.as_deref().unwrap_or(&provider),
            "add",
            "waiting",
            &format!("{how} {url} to sign in; then call accounts with op=list"),
        ))
    }

    fn outcome(&self, item: &str, op: &str, result: &str, detail: &str) -> Draft {
        let object = json!({"item": item, "op": op, "result": result, "detail": detail});
        let mut notes = Vec::new();
        let columns = OUTCOME.up_to(Level::Core);
        let rows = self
            .local()
            .rows(&OUTCOME, &columns, &[object], &HashMap::new(), &mut notes);
        Draft {
            document: Document {
                scalars: Vec::new(),
                tables: vec![rows],
            },
            texts: Vec::new(),
            notes,
        }
    }
}

fn pending_row(one: &Pending) -> Value {
    json!({
        "email": one.address.as_deref().unwrap_or("(new account)"),
        "provider": one.provider,
        "status": if one.failed.is_some() { "failed" } else { "waiting for the sign-in page" },
        "problem": one.failed.as_ref().map(ToString::to_string),
    })
}
