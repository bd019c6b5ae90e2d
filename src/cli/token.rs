//! `daysheet token`: creates a token for `serve --http --token-file`.

use std::process::ExitCode;

use daysheet_core::access::AccessLevel;
use daysheet_core::error::Result;

/// Prints a random token, and its line for the file.
pub(super) fn run(access: Option<AccessLevel>, label: Option<&str>) -> Result<ExitCode> {
    let (token, line) = daysheet_auth::new_token(access, label)?;
    say!("Token for the client (it will not be shown again):\n{token}\n");
    say!("Line for the server's token file (delete it there to withdraw the token):\n{line}");
    Ok(ExitCode::SUCCESS)
}
