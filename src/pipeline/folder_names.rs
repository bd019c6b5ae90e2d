//! Names that arguments can be completed with.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Instant;

/// Names of folders, labels and categories, by the ids of their accounts.
#[derive(Debug, Default)]
pub(super) struct FolderNames(pub(super) Mutex<HashMap<String, (Instant, Vec<String>)>>);
