//! `accounts`: signing in and out.

use daysheet_core::choice::{WordChoice, words};
use daysheet_core::error::{Error, Result};
use daysheet_core::ids::AccountId;

use super::kinds::{ACCOUNT, TEXT, choice, default, tool};
use super::view::AnswerView;

tool! {
    /// List, add (connect), remove or re-authorise Gmail, Google, Outlook, Microsoft 365 accounts.
    /// `add` opens a sign-in page.
    accounts(Reversible, Read) => Accounts;
    pub struct AccountsRequest {
        op: AccountsOperation = default(),
        provider: Option<ProviderChoice> = choice(),
        account: Option<String> = ACCOUNT,
        /// device: a code to enter on another machine; Microsoft only
        flow: SignInFlow = default(),
        /// Microsoft only
        tenant: Option<String> = TEXT,
        /// A mailbox shared with you; at Google by service account
        mailbox: Option<String> = TEXT,
        ..AnswerView { format }
    }
}

words! {
    /// What to do with accounts.
    #[derive(Default)]
    pub enum AccountsOperation {
        /// Say who is signed in.
        #[default]
        List = "list",
        /// Sign in.
        Add = "add",
        /// Sign out.
        Remove = "remove",
        /// Sign in again.
        Reauth = "reauth",
    }
}

words! {
    /// Where to sign in.
    #[expect(missing_docs, reason = "the words say it")]
    pub enum ProviderChoice {
        Google = "google",
        Microsoft = "microsoft",
    }
}

words! {
    /// How to sign in.
    #[derive(Default)]
    pub enum SignInFlow {
        /// With a browser here.
        #[default]
        Browser = "browser",
        /// With a code that is entered on another machine.
        Device = "device",
    }
}

/// An operation on accounts.
#[derive(Debug, Clone)]
pub enum AccountsOp {
    /// List the signed-in accounts, or the accounts of one provider.
    List(Option<ProviderChoice>),
    /// Sign in.
    Add(SignInArguments),
    /// Sign in again.
    Again {
        /// The account by address.
        account: String,
        /// True to enter a code on another machine, as with [`SignInArguments::device`].
        device: bool,
    },
    /// Sign out.
    Remove {
        /// The account by address.
        account: String,
    },
}

/// The arguments of a sign-in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SignInArguments {
    /// The provider's name.
    pub provider: String,
    /// The tenant to sign in at; `None` for the tenant in the settings.
    pub tenant: Option<String>,
    /// The address to suggest on the sign-in page.
    pub address: Option<String>,
    /// The mailbox to open, if it is not the user's own but shared with them.
    pub mailbox: Option<String>,
    /// True to enter a code on another machine instead of using a browser here.
    pub device: bool,
}

impl SignInArguments {
    /// Returns the id that the account will have, or an empty text if its address is unknown yet.
    pub fn id(&self) -> AccountId {
        // An account is named after its mailbox, not after the person who opens it.
        let owner = self.mailbox.as_ref().or(self.address.as_ref());
        let id = |owner: &String| format!("{}:{}", self.provider, owner.trim().to_lowercase());
        owner.map(|owner| id(owner).into()).unwrap_or_default()
    }

    /// Checks the requirements of every sign-in.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`](daysheet_core::error::ErrorKind::Argument) if the shared mailbox is
    /// not an address.
    pub fn check(&self) -> Result<()> {
        match &self.mailbox {
            Some(mailbox) if !mailbox.contains('@') => {
                Err(Error::argument("the shared mailbox is not an address")
                    .next("give its full e-mail address"))
            }
            _ => Ok(()),
        }
    }
}

impl AccountsRequest {
    /// Returns the requested operation.
    ///
    /// # Errors
    /// If an argument that the operation needs is missing.
    pub(super) fn operation(self) -> Result<AccountsOp> {
        let device = self.flow == SignInFlow::Device;
        let account = |op: &str| {
            self.account.clone().ok_or_else(|| {
                Error::argument(format!("`op: {op}` needs `account`"))
                    .next("call accounts with op=list to see the addresses")
            })
        };
        Ok(match self.op {
            AccountsOperation::List => AccountsOp::List(self.provider),
            AccountsOperation::Add => {
                let provider = self.provider.ok_or_else(|| {
                    Error::argument("`op: add` needs `provider`")
                        .next(format!("use one of: {}", ProviderChoice::WORDS.join(", ")))
                })?;
                AccountsOp::Add(SignInArguments {
                    provider: provider.word().to_owned(),
                    tenant: self.tenant,
                    address: self.account,
                    mailbox: self.mailbox,
                    device,
                })
            }
            AccountsOperation::Remove => AccountsOp::Remove { account: account("remove")? },
            AccountsOperation::Reauth => AccountsOp::Again { account: account("reauth")?, device },
        })
    }
}
