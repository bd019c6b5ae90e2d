//! The people whom this instance has answered lately, each with an app of their own.
//!
//! What is shared between people is the connection to the database and nothing else: caches,
//! cursors' snapshots, handles and tokens are in the app of one person. An app is a cache; it
//! can be dropped at any time between two calls.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use daysheet_auth::Person;

use crate::access::Access;
use crate::app::App;
use crate::error::Result;

/// The apps of people.
pub struct People {
    /// The settings and the store, from which the others are made.
    base: Arc<App>,
    /// By owner, and by the access level of the token.
    apps: Mutex<HashMap<(String, Access), Arc<App>>>,
}

impl People {
    /// Creates the apps of the people whose rows are in the store of `base`.
    pub fn new(base: Arc<App>) -> Self {
        Self { base, apps: Mutex::default() }
    }

    /// Returns the app of a person, with the lower of the access of their token and the
    /// settings.
    ///
    /// # Errors
    /// Those of opening an app.
    pub fn app_of(&self, person: &Person) -> Result<Arc<App>> {
        let access = person.access.min(self.base.config.access);
        let mut apps = self.apps.lock().unwrap_or_else(PoisonError::into_inner);
        let app = apps
            .entry((person.owner.clone(), access))
            .or_insert_with(|| Arc::new(self.base.of_person(&person.owner, access)));
        Ok(app.clone())
    }
}
