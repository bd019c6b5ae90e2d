//! Access tokens printed by a command of the user's, such as `gcloud auth print-access-token`.
//!
//! The command is a program with arguments, as listed in the settings; no shell is involved. Its
//! output is used as a token, and never shown, logged or quoted in an error. Its stderr is dropped.
//! Either may contain secrets.

use std::process::Stdio;
use std::time::Duration;

use daysheet_core::clock::Clock;
use daysheet_core::error::{Error, ErrorKind, Result};
use oauth2::AccessToken;
use serde_json::Value;
use tokio::io::AsyncReadExt;
use tokio::process::Command;

use super::tokens::is_sendable;

/// The time limit of a command; shorter than other processes wait for the account's tokens.
const LIMIT: Duration = Duration::from_secs(15);
/// The maximum number of bytes of output that are read.
const MAX_OUTPUT: usize = 64 * 1024;
/// The assumed lifetime of a token without a stated one, in seconds. Commands may print a token
/// from a cache, where it has been for a while.
const LIFETIME: i64 = 300;

/// Runs the command for the account `id`. Returns the token and its expiry in seconds since 1970.
///
/// # Errors
/// [`ErrorKind::Config`] if the command cannot be started or prints no token, [`ErrorKind::Auth`] if it
/// fails, [`ErrorKind::Timeout`] if it takes too long.
pub(super) async fn token(
    id: &str,
    command: &[String],
    clock: &Clock,
) -> Result<(AccessToken, i64)> {
    let (program, arguments) = command.split_first().ok_or_else(|| {
        Error::new(ErrorKind::Config, format!("the token command of {id} is empty"))
    })?;
    let mut process = Command::new(program);
    // With an empty stdin, most commands that ask a question fail instead of waiting.
    process.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    // Dropped at the time limit or with a cancelled call, and must not continue afterwards.
    let mut child = process.kill_on_drop(true).spawn().map_err(|error| {
        Error::new(
            ErrorKind::Config,
            format!("the token command of {id} could not be started ({})", error.kind()),
        )
        .next("give the full path of its program in `token_command`")
    })?;
    let finished = async {
        let mut output = Vec::new();
        if let Some(stdout) = child.stdout.take() {
            // One byte more than allowed shows that the output is too long.
            stdout.take(MAX_OUTPUT as u64 + 1).read_to_end(&mut output).await?;
        }
        // A program that prints more is killed rather than waited for.
        let status = if output.len() > MAX_OUTPUT { None } else { Some(child.wait().await?) };
        Ok::<_, std::io::Error>((status, output))
    };
    let finished = tokio::time::timeout(LIMIT, finished).await.map_err(|_elapsed| {
        Error::new(
            ErrorKind::Timeout,
            format!("the token command of {id} took over {} seconds", LIMIT.as_secs()),
        )
        .next("run it in a terminal: it may be waiting for an answer")
    })?;
    let (status, output) = finished.map_err(|error| {
        Error::new(ErrorKind::Auth, format!("the token command of {id} broke ({})", error.kind()))
            .next("try again")
    })?;
    if let Some(status) = status
        && !status.success()
    {
        let code = status.code().map_or("a signal".to_owned(), |code| format!("code {code}"));
        return Err(Error::new(
            ErrorKind::Auth,
            format!("the token command of {id} failed with {code}"),
        )
        .next("run it in a terminal to see why: its own sign-in may have ended"));
    }
    let token = status.and_then(|_ended| read(&output, clock.seconds()));
    token.ok_or_else(|| {
        Error::new(ErrorKind::Config, format!("the token command of {id} printed no access token"))
            .next(
                "it must print the token alone, or JSON with `access_token` and `expires_in`, as \
                 gcloud and az do",
            )
    })
}

/// Reads a token and its expiry: the token alone, or an object with the names of OAuth, `gcloud` or
/// `az`.
fn read(output: &[u8], now: i64) -> Option<(AccessToken, i64)> {
    let text = std::str::from_utf8(output).ok()?.trim();
    let object =
        if text.starts_with('{') { serde_json::from_str::<Value>(text).ok()? } else { Value::Null };
    let named = ["access_token", "accessToken", "token"];
    let token = match &object {
        Value::Null => text,
        object => named.iter().find_map(|name| object.get(name)?.as_str())?,
    };
    let number = |name: &str| {
        let value = object.get(name)?;
        value.as_i64().or_else(|| value.as_str()?.parse().ok())
    };
    // An absolute time in seconds since 1970, as `az` prints it, is more exact than a lifetime.
    let expires = number("expires_on")
        .or_else(|| Some(now.saturating_add(number("expires_in")?)))
        .unwrap_or(now + LIFETIME);
    let token = AccessToken::new(token.to_owned());
    // This also refuses messages that the command prints in place of a token: they have spaces.
    is_sendable(&token).then_some((token, expires))
}
