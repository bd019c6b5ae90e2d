//! The OAuth client that a user enters: read, checked with its provider, and written into the
//! settings file.

use std::path::PathBuf;

use daysheet_core::error::{Error, ErrorKind, Result};
use toml_edit::{DocumentMut, value};

use crate::app::App;
use crate::cli::doctor;
use crate::cli::install::{SettingsEdit, write};
use crate::config::Config;

/// The entered values.
#[derive(Default)]
pub(super) struct EnteredClient {
    pub(super) id: Option<String>,
    pub(super) secret: Option<String>,
    /// The path of `credentials.json`.
    pub(super) credentials: Option<PathBuf>,
    /// Microsoft's tenant.
    pub(super) tenant: Option<String>,
}

impl EnteredClient {
    /// Reads the text of a paste: the path of a file, or an id.
    pub(super) fn of_text(text: &str) -> Self {
        let text = text.trim().trim_matches(['"', '\'']);
        let path = std::path::absolute(text).ok().filter(|path| path.is_file());
        let id = path.is_none().then(|| text.to_owned());
        Self { id, credentials: path, ..Self::default() }
    }

    /// Returns the change of the settings file, with its other parts and comments kept.
    ///
    /// # Errors
    /// [`ErrorKind::Config`] if the file cannot be read or is not TOML.
    pub(super) fn edit(&self, config: &Config, provider: &str) -> Result<SettingsEdit> {
        let file = config.file.clone().unwrap_or_else(|| config.home.join("config.toml"));
        let wrong = |what: &str| {
            Error::new(ErrorKind::Config, format!("{} {what}", file.display()))
                .next("correct it, and call setup again")
        };
        let before = match std::fs::read_to_string(&file) {
            Ok(text) => Some(text),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(_) => return Err(wrong("cannot be read")),
        };
        let text = before.as_deref().unwrap_or_default();
        let mut document: DocumentMut = text.parse().map_err(|_| wrong("is not TOML"))?;
        let section = document.entry(provider).or_insert_with(toml_edit::table);
        let section = section
            .as_table_like_mut()
            .ok_or_else(|| wrong(&format!("has no section `{provider}`")))?;
        let credentials = self.credentials.as_ref().map(|path| path.display().to_string());
        for (key, text) in [
            ("client_id", self.id.as_ref()),
            ("client_secret", self.secret.as_ref()),
            ("credentials", credentials.as_ref()),
            ("tenant", self.tenant.as_ref()),
        ] {
            if let Some(text) = text {
                section.insert(key, value(text));
            }
        }
        let secrets = self.secret.iter().cloned().collect();
        Ok(SettingsEdit { file, before, after: document.to_string(), secrets })
    }

    /// Checks the client as it would be set, and writes it. Returns the problems instead, if there
    /// are some.
    ///
    /// # Errors
    /// [`ErrorKind::Config`] if the settings cannot be read or written.
    pub(super) async fn save(
        &self,
        config: &Config,
        provider: &'static str,
    ) -> Result<std::result::Result<PathBuf, Vec<String>>> {
        let edit = self.edit(config, provider)?;
        let var = |name: &str| std::env::var(name).ok();
        let file = Some((edit.file.as_path(), edit.after.as_str()));
        let entered = match Config::from(var, file, None, config.clock.clone()) {
            Ok(entered) => entered,
            Err(error) => return Ok(Err(vec![error.to_string()])),
        };
        let problems = doctor::client_problems(&App::new(entered), provider).await;
        if !problems.is_empty() {
            return Ok(Err(problems));
        }
        write(&edit)?;
        Ok(Ok(edit.file))
    }
}
