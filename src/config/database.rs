//! The PostgreSQL database for a state shared by several instances.

use daysheet_core::error::Result;
use url::Url;

use super::settings::SettingSources;

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

    /// Reads the setting `database`.
    pub(super) fn from(settings: &SettingSources) -> Result<Option<Self>> {
        let found = settings.get("database")?;
        found.map(|found| Self::parse(&found.value).map_err(|why| found.wrong(why))).transpose()
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
        write!(f, "DatabaseUrl({self})")
    }
}
