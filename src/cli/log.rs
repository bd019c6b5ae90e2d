//! The log: on stderr, because stdout belongs to answers.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;

use crate::config::{Config, LogForm};
use crate::error::{Error, Kind, Result};

/// Starts the log; `over_http` is true for a server of HTTP, whose log programs read.
///
/// # Errors
/// [`Kind::Config`] if the setting is not a filter.
pub(super) fn start(config: &Config, over_http: bool) -> Result<()> {
    let wrong = || {
        Error::new(Kind::Config, "DAYSHEET_LOG is not a log filter")
            .next("use error, warn, info, debug or trace")
    };
    let filter = config.log.as_deref().unwrap_or("warn");
    let mut filter = EnvFilter::try_new(filter).map_err(|_| wrong())?;
    // What libraries say below this is whole messages, with mail in them.
    for library in ["rmcp", "hyper", "hyper_util", "h2", "sqlx", "rustls", "html5ever"] {
        let quiet = format!("{library}=warn");
        filter = filter.add_directive(quiet.parse().map_err(|_| wrong())?);
    }
    let log = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(false);
    let json = match config.http.log {
        LogForm::Automatic => !std::io::stderr().is_terminal(),
        form => form == LogForm::Json,
    };
    match over_http && json {
        true => log.json().flatten_event(true).with_span_list(false).init(),
        false => log.init(),
    }
    Ok(())
}
