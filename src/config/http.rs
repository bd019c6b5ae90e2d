//! The settings of `serve --http`.

use std::net::SocketAddr;
use std::path::PathBuf;

use daysheet_core::error::{Error, ErrorKind, Result};
use url::Url;

use super::settings::{SettingSources, is_loopback};

/// The settings of the HTTP server.
#[derive(Debug, Clone, Default)]
pub struct HttpSettings {
    /// The URL that clients use, ending in a slash. Without a setting, it is derived when the
    /// server starts.
    pub public_url: Option<Url>,
    /// Additional hosts that requests may name, with or without a port.
    pub hosts: Vec<String>,
    /// Additional origins whose pages may make requests, such as `https://app.example.com`.
    pub origins: Vec<String>,
    /// The PEM files of the certificate chain and of its private key.
    pub tls: Option<(PathBuf, PathBuf)>,
    /// True if a proxy in front of the server terminates TLS.
    pub proxy: bool,
    /// The format of the log.
    pub log: LogForm,
}

/// The format of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LogForm {
    /// Text on a terminal, otherwise JSON.
    #[default]
    Automatic,
    /// Text.
    Text,
    /// One JSON object per line.
    Json,
}

impl HttpSettings {
    /// Reads the settings.
    pub(super) fn from(settings: &SettingSources) -> Result<Self> {
        let path = |key| settings.get(key)?.map(|found| found.path()).transpose();
        let tls = match (path("http.certificate")?, path("http.key")?) {
            (Some(certificate), Some(key)) => Some((certificate, key)),
            (None, None) => None,
            _ => {
                return Err(Error::new(
                    ErrorKind::Config,
                    "TLS needs both a certificate and its key",
                )
                .next("set both http.certificate and http.key, or neither"));
            }
        };
        let origins = settings.words("http.origins")?;
        if let Some(found) = settings.get("http.origins")?
            && !origins.iter().all(|origin| is_origin(origin))
        {
            return Err(found
                .wrong("is no list of origins between commas")
                .next("write them like https://app.example.com"));
        }
        let public_url = settings.get("http.public_url")?;
        let public_url = public_url.map(|found| public(&found.value, &found.origin));
        Ok(Self {
            public_url: public_url.transpose()?,
            hosts: settings.words("http.hosts")?,
            origins,
            tls,
            proxy: settings.flag("http.proxy", ["off", "on"], false)?,
            log: settings.choice(
                "http.log",
                &[("auto", LogForm::Automatic), ("text", LogForm::Text), ("json", LogForm::Json)],
            )?,
        })
    }

    /// Sets the URL that clients use.
    ///
    /// # Errors
    /// [`ErrorKind::Config`] if it is not the URL of a server, or would send secrets unencrypted.
    pub fn use_public_url(&mut self, url: &str) -> Result<()> {
        self.public_url = Some(public(url, "--public-url")?);
        Ok(())
    }

    /// Derives the public URL from the server's address, unless a setting has it.
    ///
    /// # Errors
    /// [`ErrorKind::Config`] if other machines could reach the address without TLS, or if they can reach
    /// it and no setting has the public URL.
    pub fn listen_at(&mut self, address: SocketAddr) -> Result<()> {
        // On loopback, plain http is safe, and clients can use the address itself.
        if !address.ip().is_loopback() {
            if self.tls.is_none() && !self.proxy {
                let what = format!("{address} can be reached from other machines, but has no TLS");
                return Err(Error::new(ErrorKind::Config, what).next(
                    "set http.certificate and http.key, or --behind-proxy if a proxy terminates \
                     TLS, or use a loopback address, such as 127.0.0.1:8750",
                ));
            }
            if self.public_url.is_none() {
                let what = format!("the URL by which clients reach {address} is not set");
                return Err(Error::new(ErrorKind::Config, what)
                    .next("set --public-url, for example to https://mail.example.com"));
            }
        }
        if self.public_url.is_none() {
            let scheme = if self.tls.is_some() { "https" } else { "http" };
            self.public_url = Url::parse(&format!("{scheme}://{address}/")).ok();
        }
        Ok(())
    }

    /// Returns true if the server is only for this machine.
    pub fn is_local(&self) -> bool {
        // Parsed within a URL, because a host may have a port or be an address in brackets.
        let local = |host: &String| {
            Url::parse(&format!("http://{host}")).is_ok_and(|url| is_loopback(&url))
        };
        self.public_url.as_ref().is_none_or(is_loopback) && self.hosts.iter().all(local)
    }
}

/// Returns true for a scheme and a host, optionally with a port.
fn is_origin(text: &str) -> bool {
    let host = text.trim_end_matches('/').split_once("://").map(|(_, host)| host);
    host.is_some_and(|host| !host.is_empty() && !host.contains(['/', '?', '#', '@']))
}

/// Reads the URL that clients use; it ends in a slash.
fn public(text: &str, origin: &str) -> Result<Url> {
    let url = Url::parse(text).ok();
    let url =
        url.filter(|url| url.scheme() == "https" || url.scheme() == "http" && is_loopback(url));
    // The pages and their cookies use paths from the root.
    let whole = |url: &Url| {
        url.path() == "/"
            && url.query().is_none()
            && url.fragment().is_none()
            && url.username().is_empty()
            && url.password().is_none()
    };
    url.filter(whole).ok_or_else(|| {
        Error::new(ErrorKind::Config, format!("{origin} is not the URL of a server"))
            .next("write it like https://mail.example.com; plain http is allowed on loopback only")
    })
}
