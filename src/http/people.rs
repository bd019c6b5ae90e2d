//! The people who have called this instance recently, each with an app of their own.
//!
//! People share only the connections to the database: caches, cursor snapshots, handles and tokens
//! are in the app of one person. An app is a cache. It can be dropped between any two calls, and is
//! dropped after a while without one.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use daysheet_auth::CallingPerson;
use daysheet_core::access::AccessLevel;
use daysheet_core::error::Result;

use crate::app::App;
use crate::config::AccessBy;

/// The time for which an unused app is kept.
const IDLE: Duration = Duration::from_mins(10);
/// The maximum number of unused apps.
const MAX_IDLE_APPS: usize = 2_000;

/// An owner, an access level, and the limit that determines that level.
type AppKey = (String, AccessLevel, AccessBy);

/// The apps of people.
pub struct PersonApps {
    /// The app with the settings and the store from which the others are created.
    base: Arc<App>,
    apps: Mutex<HashMap<AppKey, CachedApp>>,
}

/// An app with the time of its last use.
struct CachedApp {
    app: Arc<App>,
    used: Instant,
}

impl CachedApp {
    /// Returns true if the app is in use or has a call in progress.
    fn is_busy(&self) -> bool {
        Arc::strong_count(&self.app) > 1 || !self.app.server().calls().is_idle()
    }
}

impl PersonApps {
    /// Creates the apps for the people in the store of `base`.
    pub fn new(base: Arc<App>) -> Self {
        Self { base, apps: Mutex::default() }
    }

    fn apps(&self) -> MutexGuard<'_, HashMap<AppKey, CachedApp>> {
        self.apps.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the app from which all others are created, with the server's settings.
    pub fn base(&self) -> &Arc<App> {
        &self.base
    }

    /// Returns the number of apps in memory.
    pub fn count(&self) -> usize {
        self.apps().len()
    }

    /// Drops the apps of a person whose rows were erased.
    pub fn forget(&self, owner: &str) {
        self.apps().retain(|(known, ..), _| known != owner);
    }

    /// Returns a person's app, with the lowest of three access levels: their token's, the
    /// settings', and their own choice.
    ///
    /// # Errors
    /// [`ErrorKind::Store`](daysheet_core::error::ErrorKind::Store) if their choice cannot be read.
    pub async fn app_of(&self, person: &CallingPerson) -> Result<Arc<App>> {
        // Read for each call, because another instance may have changed it.
        let own = self.base.store().for_owner(&person.owner).own_access().await?;
        let settings = (self.base.config.access, AccessBy::Settings);
        let own = (own.unwrap_or(AccessLevel::Full), AccessBy::Person);
        // If several are equally low, the first is named, because changing the others would have no
        // effect.
        let all = [settings, own, (person.access, AccessBy::Token)];
        let (access, by) = all.into_iter().min_by_key(|(access, _)| *access).unwrap_or(settings);
        let mut apps = self.apps();
        let key = (person.owner.clone(), access, by);
        if apps.len() >= MAX_IDLE_APPS && !apps.contains_key(&key) {
            // Apps in use are never dropped, even if that exceeds the limit.
            let idle = apps.iter().filter(|(_, kept)| !kept.is_busy());
            let oldest = idle.min_by_key(|(_, kept)| kept.used).map(|(key, _)| key.clone());
            oldest.and_then(|oldest| apps.remove(&oldest));
        }
        let used = Instant::now();
        let kept = apps.entry(key).or_insert_with(|| CachedApp {
            app: Arc::new(self.base.of_person(&person.owner, access, by)),
            used,
        });
        kept.used = used;
        Ok(kept.app.clone())
    }

    /// Drops apps that have not been used for a while.
    pub fn sweep(&self) {
        self.apps().retain(|_, kept| kept.used.elapsed() < IDLE || kept.is_busy());
    }

    /// Cancels calls that have not begun to write, and waits for the others, at most for `most`.
    pub async fn finish(&self, most: Duration) {
        let calls: Vec<_> = self.apps().values().map(|kept| kept.app.server().calls()).collect();
        let all = calls.iter().map(|calls| calls.finish(most));
        if futures_util::future::join_all(all).await.contains(&false) {
            tracing::warn!("the server stops while a write is still running");
        }
    }
}
