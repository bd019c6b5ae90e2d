//! The PostgreSQL database for a state shared by several instances.

use daysheet_core::error::{Error, Result};
use url::Url;

use super::Config;

/// A PostgreSQL database. `Debug` and `Display` show neither user nor password.
#[derive(Clone, PartialEq, Eq)]
pub struct DatabaseUrl(Url);

impl DatabaseUrl {
    /// Reads `postgres://user:password@host:port/name`.
    ///
    /// # Errors
    /// The problem, as a clause to follow the name of the setting.
    pub fn parse(text: &str) -> std::result::Result<Self, &'static str> {
        if !cfg!(feature = "postgres") {
            return Err("needs PostgreSQL, which this build leaves out: build it with \
                        `--features postgres`");
        }
        let wrong = "is not a URL like postgres://user:password@host/name";
        let url = Url::parse(text).map_err(|_quotes_it| wrong)?;
        if !matches!(url.scheme(), "postgres" | "postgresql") {
            return Err(wrong);
        }
        Ok(Self(url))
    }

    /// Returns the URL, including the password.
    pub fn url(&self) -> &Url {
        &self.0
    }
}

/// Shows the host and the name of the database.
impl std::fmt::Display for DatabaseUrl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // A `host` parameter, such as the folder of a Unix socket, takes precedence.
        let named = self.0.query_pairs().find(|(key, _)| key == "host");
        let host = match (&named, self.0.host_str()) {
            (Some((_, host)), _) => host,
            (None, Some(host)) if !host.is_empty() => host,
            _ => "localhost",
        };
        write!(f, "PostgreSQL at {host}")?;
        if let Some(port) = self.0.port() {
            write!(f, ":{port}")?;
        }
        match self.0.path().trim_start_matches('/') {
            "" => Ok(()),
            name => write!(f, " (database {name})"),
        }
    }
}

impl std::fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Database({self})")
    }
}

impl Config {
    /// Stores the state in the PostgreSQL database at this URL, given by `option` of the command
    /// line.
    ///
    /// # Errors
    /// [`Kind::Argument`](daysheet_core::error::ErrorKind::Argument) if it is not the URL of a database.
    pub fn use_database(&mut self, option: &str, url: &str) -> Result<()> {
        let database = DatabaseUrl::parse(url);
        self.database = Some(database.map_err(|why| Error::argument(format!("{option} {why}")))?);
        Ok(())
    }
}
