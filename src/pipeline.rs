//! Request → projection → page → rows → text: the steps that all answers share.
//!
//! Every answer takes the same steps, 1 to 3 in [`search`](mail::search), [`lookup`],
//! [`read`](mail::read) and similar modules, 4 and 5 in [`fit`](answer::fit); [`run`] calls them.
//!
//! 1. `project` turns the chosen columns into the fields to request from the API.
//! 2. The provider answers with a page of its own objects: the only I/O to an API.
//! 3. `flatten` makes rows of them, and ids become handles: the complete response.
//! 4. `budget` chooses the part that fits.
//! 5. `encode` writes the document. Long texts follow in blocks of their own, and notes report
//!    missing parts.
//!
//! It names the port (`provider.rs`) and never a provider. Sign-in is in
//! [`sign_in`](access::sign_in).

mod access;
mod answer;
mod brief;
mod calendar;
mod changes;
mod complete;
mod context;
mod handles;
mod known_people;
mod local_files;
mod lookup;
pub mod mail;
mod people_cache;
mod rows;
mod run;
mod settings;
mod states;
mod titles;
mod undo;
mod write;

use std::sync::Arc;
use std::time::Duration;

pub use access::sign_in::{BegunSignIn, FinishedSignIn, finish};
pub use answer::fit::{AnswerStats, ToolAnswer};
pub use answer::inspect::{AnswerForm, InspectedAnswer};
pub use answer::offered::unoffered;
use daysheet_core::call::client::{ClientPrompts, NonInteractive};
use daysheet_core::encode::Document;
use daysheet_core::error::{Error, Result};
use daysheet_core::provider::ProviderConnector;
pub use mail::attachment::URI as ATTACHMENT_URI;
pub use titles::logged::LoggedObject;

use self::access::sign_in::{sign_out, signed_in};
use self::access::untrusted::distrust;
use self::answer::inspect::inspect;
use self::answer::output::has_output;
use self::complete::{FolderNames, complete_argument};
use self::context::Context;
use self::mail::attachment::attachment_bytes;
use self::run::{output_document, output_text, run_for};
use self::states::KeptStates;
use self::titles::logged::logged_titles;
use crate::accounts::{Accounts, SignedOut};
use crate::config::Config;
use crate::outputs::ResultStore;
use crate::pipeline::mail::send_recovery::SendRecovery;
use crate::prompts::CompletionValues;
use crate::store::Store;
use crate::tools::ToolRequest;
use crate::unsubscribe::post::OneClickUnsubscriber;

/// The default time limit for one account of several.
pub const PATIENCE: Duration = Duration::from_secs(15);

/// Carries out the calls of one store's accounts.
pub struct Pipeline {
    /// The settings, stores and connections that every call uses.
    context: Context,
    /// The names that arguments were lately completed with, which no call needs.
    folder_names: FolderNames,
}

impl Pipeline {
    /// Creates a pipeline over the accounts of one store.
    pub fn new(
        config: Arc<Config>,
        store: Store,
        accounts: Arc<Accounts>,
        connect: Arc<dyn ProviderConnector>,
    ) -> Self {
        let outputs = ResultStore::new(&config, store.clone(), accounts.clone());
        let states = KeptStates::new(outputs, SendRecovery::new(config.look));
        let context = Context { config, store, accounts, connect, patience: PATIENCE, states };
        Self { context, folder_names: FolderNames::default() }
    }

    /// Sets the poster that leaves mailing lists; by default it posts only to public addresses.
    #[must_use]
    pub fn with_unsubscriber(mut self, unsubscriber: OneClickUnsubscriber) -> Self {
        self.context.states.unsubscriber = unsubscriber;
        self
    }

    /// Sets how long one account of several may take before the answer is returned
    /// without it; 15 seconds by default.
    #[must_use]
    pub fn patience(mut self, patience: Duration) -> Self {
        self.context.patience = patience;
        self
    }

    /// Sets how long a message in doubt is looked for before it is reported as such, and how long
    /// after its sending began it may still be sent.
    #[must_use]
    pub fn with_send_recovery(mut self, look: Duration, open: Duration) -> Self {
        self.context.states.send_recovery = SendRecovery { look, open };
        self
    }

    /// Returns the settings.
    pub fn config(&self) -> &Config {
        &self.context.config
    }

    /// Returns the rows of its person.
    pub fn store(&self) -> &Store {
        &self.context.store
    }

    /// Carries out a request whose caller can be neither asked nor notified.
    ///
    /// # Errors
    /// The errors of [`Pipeline::run_for`].
    pub async fn run(&self, request: ToolRequest) -> Result<ToolAnswer> {
        self.run_for(request, &NonInteractive).await
    }

    /// Carries out a request.
    ///
    /// # Errors
    /// The errors of the tool; [`daysheet_core::error::ErrorKind::BudgetTooSmall`] if not even the smallest form
    /// of the answer fits.
    pub async fn run_for(
        &self,
        request: ToolRequest,
        caller: &dyn ClientPrompts,
    ) -> Result<ToolAnswer> {
        run_for(&self.context, request, caller).await
    }

    /// Carries out a request that only reads, and returns its answer in every format.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`](daysheet_core::error::ErrorKind::Argument) for a tool that writes;
    /// the errors of [`Pipeline::run_for`].
    pub async fn inspect(&self, request: ToolRequest) -> Result<InspectedAnswer> {
        inspect(&self.context, request).await
    }

    /// Reads the subject or title of each object, in their order, cut to one short line. Objects
    /// without a title yield `None`, and deleted or unreadable objects an error.
    pub async fn logged_titles(&self, objects: Vec<LoggedObject>) -> Vec<Result<Option<String>>> {
        logged_titles(&self.context, objects).await
    }

    /// Returns the values that `typed` can become, and their total number.
    ///
    /// # Errors
    /// [`ErrorKind::Store`](daysheet_core::error::ErrorKind::Store), and the errors of an unknown
    /// `account`.
    pub async fn complete(
        &self,
        values: CompletionValues,
        typed: &str,
        account: Option<&str>,
    ) -> Result<(Vec<String>, usize)> {
        complete_argument(&self.context, &self.folder_names, values, typed, account).await
    }

    /// Returns the bytes and the media type of an attachment, by its handle or URI.
    ///
    /// # Errors
    /// The errors of reading the attachment.
    pub async fn attachment_bytes(&self, uri: &str) -> Result<(Vec<u8>, String)> {
        attachment_bytes(&self.context, uri).await
    }

    /// Returns the complete text of an output, by its hash or URI.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`](daysheet_core::error::ErrorKind::NotFound) if the output does not
    /// exist, or no longer; [`ErrorKind::Conflict`](daysheet_core::error::ErrorKind::Conflict) if
    /// the call was repeated and its answer has changed; the errors of the repeated call.
    pub async fn output_text(&self, id: &str) -> Result<Arc<str>> {
        output_text(&self.context, id).await
    }

    /// Returns an output as a document, with long texts as fields of its rows. `None` if its call
    /// writes, and is therefore not repeated.
    ///
    /// # Errors
    /// The errors of [`Pipeline::output_text`].
    pub async fn output_document(&self, hash: &str) -> Result<Option<Document>> {
        output_document(&self.context, hash).await
    }

    /// Returns true if there is an output with this hash.
    ///
    /// # Errors
    /// [`ErrorKind::Store`](daysheet_core::error::ErrorKind::Store).
    pub async fn has_output(&self, hash: &str) -> Result<bool> {
        has_output(&self.context, hash).await
    }

    /// Signs an account out, and drops its stored data.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`](daysheet_core::error::ErrorKind::NotFound) if the account does not
    /// exist; [`ErrorKind::Store`](daysheet_core::error::ErrorKind::Store). An error next to the
    /// outcome means that some of the data could not be dropped.
    pub async fn sign_out(&self, account: &str) -> Result<(SignedOut, Option<Error>)> {
        sign_out(&self.context, account).await
    }

    /// Waits until every sign-in that was begun has ended; returns their notes.
    ///
    /// # Errors
    /// The error of a sign-in that failed.
    pub async fn signed_in(&self) -> Result<Vec<String>> {
        signed_in(&self.context).await
    }

    /// Counts untrusted text as shown from the start, because other processes answer the same
    /// person.
    pub fn distrust(&self) {
        distrust(&self.context);
    }
}
