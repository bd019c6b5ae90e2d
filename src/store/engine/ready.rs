//! Connections to SQLite for single statements.
//!
//! The pool tests each returned connection, which for SQLite is a switch to the connection's thread
//! and back, and takes as long as many a statement. So a few connections leave the pool
//! permanently, and a statement uses a free one of them. Transactions use the connections of the
//! pool.

use std::ops::{Deref, DerefMut};
use std::sync::{Arc, PoisonError};

use sqlx::pool::PoolConnection;
use sqlx::{Any, AnyConnection, Connection as _};
use tokio::sync::{Mutex, OwnedMutexGuard};

/// The number of these connections.
const MAX_READY: usize = 2;

/// The connections that have left the pool.
#[derive(Default)]
pub(in crate::store) struct ReadyConnections(std::sync::Mutex<Vec<Arc<Mutex<AnyConnection>>>>);

/// A connection for statements outside of transactions. Dropping it returns it.
pub(in crate::store) enum StatementConnection {
    /// A connection that returns to the pool.
    Pooled(PoolConnection<Any>),
    /// A connection that has left the pool.
    Ready(OwnedMutexGuard<AnyConnection>),
}

impl ReadyConnections {
    /// Returns a free connection, if there is one.
    pub(in crate::store) fn lease(&self) -> Option<StatementConnection> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter().find_map(|one| one.clone().try_lock_owned().ok()).map(StatementConnection::Ready)
    }

    /// Takes a connection out of the pool, unless there are enough.
    pub(in crate::store) async fn lend(
        &self,
        connection: PoolConnection<Any>,
    ) -> StatementConnection {
        let lent = {
            let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if all.len() >= MAX_READY {
                return StatementConnection::Pooled(connection);
            }
            let lent = Arc::new(Mutex::new(connection.detach()));
            all.push(lent.clone());
            lent
        };
        StatementConnection::Ready(lent.lock_owned().await)
    }

    /// Removes and returns all connections, as the thread of one has ended.
    pub(in crate::store) fn forget(&self) -> Vec<Arc<Mutex<AnyConnection>>> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Closes all connections that are not in use; the others close when they are returned.
    pub(in crate::store) async fn close(&self) {
        for connection in self.forget().into_iter().filter_map(Arc::into_inner) {
            if let Err(error) = connection.into_inner().close().await {
                tracing::debug!(%error, "a connection was not closed");
            }
        }
    }
}

impl Deref for StatementConnection {
    type Target = AnyConnection;

    fn deref(&self) -> &AnyConnection {
        match self {
            Self::Pooled(connection) => connection,
            Self::Ready(connection) => connection,
        }
    }
}

impl DerefMut for StatementConnection {
    fn deref_mut(&mut self) -> &mut AnyConnection {
        match self {
            Self::Pooled(connection) => connection,
            Self::Ready(connection) => connection,
        }
    }
}
