//! The settings of `serve --http`.

use std::net::SocketAddr;
use std::path::PathBuf;

use url::Url;

use super::settings::{Settings, is_loopback};
use crate::error::{Error, Kind, Result};

/// How HTTP is served.
#[derive(Debug, Clone, Default)]
pub struct HttpSettings {
    /// The address that clients use, with a slash at its end; set when the server starts, if
    /// no setting has it.
    pub public_url: Option<Url>,
    /// Further hosts that requests may name, with or without a port.
    pub hosts: Vec<String>,
    /// Further origins whose pages may call, such as `https://app.example.com`.
    pub origins: Vec<String>,
    /// The PEM files of the certificate, with those that lead to the issuer's, and of its key.
    pub tls: Option<(PathBuf, PathBuf)>,
    /// True if a proxy before the server has TLS.
    pub proxy: bool,
    /// How the log is written.
    pub log: LogForm,
}

/// How the log is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LogForm {
    /// As text on a terminal, else as JSON.
    #[default]
    Automatic,
    /// As text.
    Text,
    /// One JSON object in a line.
    Json,
}

impl HttpSettings {
    /// Reads the settings.
    pub(super) fn from(settings: &Settings) -> Result<Self> {
        let path = |key| settings.get(key)?.map(|found| found.path()).transpose();
        let tls = match (path("http.certificate")?, path("http.key")?) {
            (Some(certificate), Some(key)) => Some((certificate, key)),
            (None, None) => None,
            _ => {
                return Err(Error::new(Kind::Config, "TLS needs a certificate and its key")
                    .next("set both http.certificate and http.key, or neither"));
            }
        };
        let public_url = settings.get("http.public_url")?;
        let public_url = public_url.map(|found| public(&found.value, &found.origin));
        Ok(Self {
            public_url: public_url.transpose()?,
            hosts: settings.words("http.hosts")?,
            origins: settings.words("http.origins")?,
            tls,
            proxy: settings.flag("http.proxy", ["off", "on"], false)?,
            log: settings.choice(
                "http.log",
                &[("auto", LogForm::Automatic), ("text", LogForm::Text), ("json", LogForm::Json)],
            )?,
        })
    }

    /// Sets the address that clients use.
    ///
    /// # Errors
    /// [`Kind::Config`] if it is none, or other machines could listen to what is said.
    pub fn use_public_url(&mut self, url: &str) -> Result<()> {
        self.public_url = Some(public(url, "--public-url")?);
        Ok(())
    }

    /// Takes the address that is listened at for the public one, unless a setting has that.
    ///
    /// # Errors
    /// [`Kind::Config`] if other machines could listen to what is said, or if they reach the
    /// address and no setting says by which name.
    pub fn listen_at(&mut self, address: SocketAddr) -> Result<()> {
        if !address.ip().is_loopback() {
            if self.tls.is_none() && !self.proxy {
                let what = format!("{address} can be reached from other machines, without TLS");
                return Err(Error::new(Kind::Config, what).next(
                    "set http.certificate and http.key, or --behind-proxy if a proxy has TLS, or \
                     use an address of this machine, such as 127.0.0.1:8750",
                ));
            }
            if self.public_url.is_none() {
                let what = format!("no setting says what clients call {address}");
                return Err(Error::new(Kind::Config, what)
                    .next("set --public-url to the address that clients use"));
            }
        }
        if self.public_url.is_none() {
            let scheme = if self.tls.is_some() { "https" } else { "http" };
            self.public_url = Url::parse(&format!("{scheme}://{address}/")).ok();
        }
        Ok(())
    }

    /// Returns true if the server is for this machine alone.
    pub fn is_local(&self) -> bool {
        let local = |host: &String| {
            Url::parse(&format!("http://{host}")).is_ok_and(|url| is_loopback(&url))
        };
        self.public_url.as_ref().is_none_or(is_loopback) && self.hosts.iter().all(local)
    }
}

/// Returns the address that clients use, with a slash at its end.
fn public(text: &str, origin: &str) -> Result<Url> {
    let url = Url::parse(text).ok();
    let url =
        url.filter(|url| url.scheme() == "https" || url.scheme() == "http" && is_loopback(url));
    let whole = |url: &Url| {
        url.path() == "/"
            && url.query().is_none()
            && url.fragment().is_none()
            && url.username().is_empty()
            && url.password().is_none()
    };
    url.filter(whole).ok_or_else(|| {
        Error::new(Kind::Config, format!("{origin} is not the address of a server"))
            .next("write it like https://mail.example.com; plain http is for this machine only")
    })
}
