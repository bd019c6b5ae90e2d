//! Replacement for `sandboxed.rs` without the feature `sandbox`: real accounts only, and no flags
//! for others.

use clap::Args;
use daysheet_core::error::Result;

use crate::app::App;
use crate::config::Config;

/// No flags.
#[derive(Debug, Args, Default)]
pub(super) struct SandboxFlags {}

impl SandboxFlags {
    /// Returns false, as this build has no sandbox.
    #[cfg(feature = "http")]
    pub(super) const fn is_on(&self) -> bool {
        false
    }
}

impl App {
    /// Opens the app over real accounts.
    pub(super) async fn open(config: Config, _: &SandboxFlags) -> Result<(Self, ())> {
        Ok((Self::new(config), ()))
    }
}
