//! The one-click request that leaves a list (RFC 8058).
//!
//! Its URL is untrusted. It is called only over https, only at public addresses, and at exactly the
//! address that was checked, without cookies or anything else that identifies the user. Redirects
//! are not followed.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use daysheet_core::error::{Error, ErrorKind, Result};
use http_body_util::Full;
use hyper::Request;
use hyper::body::Bytes;
use hyper::header::{CONTENT_TYPE, HOST};
use hyper_rustls::{FixedServerNameResolver, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use rustls::pki_types::ServerName;
use url::Url;

/// The time limit of the request.
const TIMEOUT: Duration = Duration::from_secs(10);
/// The body of the request (RFC 8058).
const BODY: &str = "List-Unsubscribe=One-Click";

/// Sends one-click requests.
#[derive(Debug, Clone, Copy, Default)]
pub struct OneClickUnsubscriber {
    loopback: bool,
}

impl OneClickUnsubscriber {
    /// Creates an unsubscriber that calls public addresses over https.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates an unsubscriber for tests that also calls this machine, even over plain http.
    pub fn on_loopback() -> Self {
        Self { loopback: true }
    }

    /// Sends the request.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] for an address that must not be called, so that no request was sent;
    /// [`ErrorKind::Provider`] for a refusal; [`ErrorKind::Network`] and [`ErrorKind::Timeout`] if the outcome is
    /// unknown. Messages name only the host.
    pub async fn post(&self, url: &Url) -> Result<()> {
        let host = url.host_str().unwrap_or_default().to_owned();
        match tokio::time::timeout(TIMEOUT, self.exchange(url, &host)).await {
            Ok(answer) => answer,
            Err(_elapsed) => Err(Error::new(
                ErrorKind::Timeout,
                format!("{host} did not answer within {} seconds", TIMEOUT.as_secs()),
            )),
        }
    }

    async fn exchange(&self, url: &Url, host: &str) -> Result<()> {
        let address = self.address(url, host).await?;
        // The checked address is called, because the name might resolve to another one by now. TLS
        // still verifies the name.
        let mut target = url.clone();
        target.set_ip_host(address.ip()).map_err(|()| refusal(host))?;
        target.set_fragment(None);
        let name = ServerName::try_from(host.trim_matches(['[', ']']).to_owned())
            .map_err(|_| refusal(host))?;
        let mut http = HttpConnector::new();
        http.enforce_http(false);
        let connector = HttpsConnectorBuilder::new()
            .with_provider_and_webpki_roots(rustls::crypto::ring::default_provider())
            .map_err(|error| {
                Error::new(ErrorKind::Internal, format!("TLS cannot be set up: {error}"))
            })?
            .https_or_http()
            .with_server_name_resolver(FixedServerNameResolver::new(name))
            .enable_http1()
            .wrap_connector(http);
        let client: Client<_, Full<Bytes>> = Client::builder(TokioExecutor::new()).build(connector);
        let named = match url.port() {
            Some(port) => format!("{host}:{port}"),
            None => host.to_owned(),
        };
        let request = Request::post(target.as_str())
            .header(HOST, named)
            .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
            .body(Full::new(Bytes::from_static(BODY.as_bytes())))
            .map_err(|_| refusal(host))?;
        let answer = client
            .request(request)
            .await
            .map_err(|_| Error::new(ErrorKind::Network, format!("{host} was not reached")))?;
        // The body is of no interest, and is not read.
        let status = answer.status();
        match status.as_u16() {
            200..=299 => Ok(()),
            300..=399 => Err(Error::new(
                ErrorKind::Provider(status.as_u16()),
                format!("{host} redirects, which is not followed"),
            )
            .next("let the user open the link in the message")),
            code => Err(Error::new(ErrorKind::Provider(code), format!("{host} refused ({code})"))
                .next("let the user open the link in the message")),
        }
    }

    /// Returns the address to call, if all addresses of the host may be called.
    async fn address(&self, url: &Url, host: &str) -> Result<SocketAddr> {
        let port = url.port_or_known_default().unwrap_or(443);
        let bare = host.trim_matches(['[', ']']);
        let found: Vec<SocketAddr> = tokio::net::lookup_host((bare, port))
            .await
            .map_err(|_| {
                Error::argument(format!("{host} is an unknown host"))
                    .next("let the user open the link in the message")
            })?
            .collect();
        let local = |one: &SocketAddr| self.loopback && one.ip().is_loopback();
        // A single private address is enough to refuse the host.
        let allowed = match url.scheme() {
            "https" => found.iter().all(|one| is_public(one.ip()) || local(one)),
            "http" => found.iter().all(local),
            _ => false,
        };
        match found.first() {
            Some(first) if allowed => Ok(*first),
            _ => Err(refusal(host)),
        }
    }
}

fn refusal(host: &str) -> Error {
    Error::argument(format!("{host} was not called: not a public https address"))
        .next("let the user open the link in the message")
}

/// Returns true for addresses of the public Internet: neither this machine, nor a private network,
/// nor addresses that embed one of those.
pub fn is_public(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => public_v4(ip),
        IpAddr::V6(ip) => public_v6(ip),
    }
}

fn public_v4(ip: Ipv4Addr) -> bool {
    let [a, b, c, _] = ip.octets();
    let own = ip.is_loopback()
        || ip.is_private()
        || ip.is_link_local()
        || ip.is_unspecified()
        || ip.is_broadcast()
        || ip.is_multicast()
        || ip.is_documentation();
    let special = a == 0
        || (a == 100 && (64..128).contains(&b))
        || (a == 192 && b == 0 && c == 0)
        || (a == 192 && b == 88 && c == 99)
        || (a == 198 && (18..20).contains(&b))
        || a >= 240;
    !own && !special
}

fn public_v6(ip: Ipv6Addr) -> bool {
    let [first, second, ..] = ip.segments();
    let [.., a, b, c, d] = ip.octets();
    let last = Ipv4Addr::new(a, b, c, d);
    if ip.to_ipv4_mapped().is_some() || (first == 0x64 && second == 0xff9b) {
        return public_v4(last);
    }
    // Global unicast is 2000::/3. Within it, 6to4 and Teredo embed other addresses, and
    // 2001:db8::/32 and 3fff::/20 are for documentation.
    first & 0xe000 == 0x2000
        && first != 0x2002
        && !(first == 0x2001 && (second == 0 || second == 0xdb8))
        && first != 0x3fff
}
