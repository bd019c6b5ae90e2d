//! Ports of this machine, on which a program listens for the redirect of a sign-in, or serves the
//! page for approvals. `listener.rs` answers on them.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};

use daysheet_core::error::{Error, ErrorKind, Result};
use tokio::net::TcpListener;

/// Listens on a free port of this machine at the addresses of `host`.
///
/// Some machines resolve `localhost` to `::1` first, so that address is used as well. If it is
/// unavailable, browsers fall back to 127.0.0.1. They would not if another program listens there,
/// in which case another port is chosen.
pub(super) async fn listen(host: &str) -> io::Result<(u16, Vec<TcpListener>)> {
    loop {
        let socket = TcpListener::bind(("127.0.0.1", 0)).await?;
        let port = socket.local_addr()?.port();
        if host != "localhost" {
            return Ok((port, vec![socket]));
        }
        match TcpListener::bind(("::1", port)).await {
            Ok(other) => return Ok((port, vec![socket, other])),
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => {}
            Err(_) => return Ok((port, vec![socket])),
        }
    }
}

/// Returns the error for a machine that gives this program no port.
pub(crate) fn no_port(error: &io::Error) -> Error {
    let what = format!("cannot listen on any port of 127.0.0.1 ({})", error.kind());
    Error::new(ErrorKind::Network, what).next(
        "let the security policy that confines this program allow it to listen there; until then, \
         sign in with --device (Microsoft), and approve writes with `daysheet approve`",
    )
}

/// Checks that a port is free for a sign-in or the page for approvals. `bind` listens on an address.
///
/// # Errors
/// [`ErrorKind::Network`] with the next step if `bind` fails.
pub fn check_loopback<T>(bind: impl FnOnce(SocketAddr) -> io::Result<T>) -> Result<()> {
    bind((Ipv4Addr::LOCALHOST, 0).into()).map(drop).map_err(|error| no_port(&error))
}
