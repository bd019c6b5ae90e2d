//! Static tokens: a file with one hash per line, for the server of a single person. A changed file
//! is read again, so that tokens of a running server can be withdrawn.
//!
//! A token consists of 256 random bits, so it cannot be guessed, and a plain hash suffices.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use daysheet_core::access::AccessLevel;
use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::text;
use sha2::{Digest, Sha256};

use crate::CallingPerson;

/// The prefix of every token, by which secret scanners recognize it.
const PREFIX: &str = "daysheet_";
/// The number of random bytes in a token.
const BYTES: usize = 32;

/// The minimum time between two checks of the file.
const LOOK: Duration = Duration::from_secs(1);

/// The SHA-256 of a token.
type TokenHash = [u8; 32];
type CacheEntries = Vec<(TokenHash, CallingPerson)>;

/// The accepted tokens, each with its holder.
pub struct TokenList {
    /// The file to read again whenever it has changed.
    file: Option<PathBuf>,
    known: Mutex<KnownTokens>,
}

struct KnownTokens {
    entries: CacheEntries,
    /// The file's modification time and length, if they could be read.
    version: Option<(SystemTime, u64)>,
    looked: Instant,
}

impl TokenList {
    /// Reads lines of a hash (64 hexadecimal digits) and an optional access level; without a level,
    /// only the settings limit access. Labels are comments that begin with `#`.
    ///
    /// # Errors
    /// [`ErrorKind::Config`] for any other line, and for a text without tokens.
    pub fn read(text: &str) -> Result<Self> {
        Self::new(None, None, entries(text)?)
    }

    /// Reads a file of such lines, and reads it again whenever it has changed: a token whose line
    /// was deleted is refused a second later. While the file cannot be read or has an invalid line,
    /// the previous tokens stay valid.
    ///
    /// # Errors
    /// [`ErrorKind::Config`] if it cannot be read now, or as for [`TokenList::read`].
    pub fn open(path: &Path) -> Result<Self> {
        // Taken before reading, so that a change in between is noticed later.
        let version = version(path);
        let named = |error: Error| error.context(path.display());
        Self::new(Some(path.to_owned()), version, load(path)?).map_err(named)
    }

    fn new(
        file: Option<PathBuf>,
        version: Option<(SystemTime, u64)>,
        entries: CacheEntries,
    ) -> Result<Self> {
        if entries.is_empty() {
            return Err(Error::new(ErrorKind::Config, "the file has no token")
                .next("add the line that `daysheet token` prints"));
        }
        let known = KnownTokens { entries, version, looked: Instant::now() };
        Ok(Self { file, known: Mutex::new(known) })
    }

    /// Returns the holder of `token`.
    pub(crate) fn person_of(&self, token: &str) -> Option<CallingPerson> {
        self.find(&hash(token))
    }

    /// Returns the holder of the token with this [`fingerprint`]; `None` if it was withdrawn.
    pub(crate) fn holder(&self, fingerprint: &str) -> Option<CallingPerson> {
        self.find(&from_hex(fingerprint)?)
    }

    /// Returns the holder of the token with this hash, in a time that does not depend on how much
    /// of a hash matches.
    fn find(&self, hash: &TokenHash) -> Option<CallingPerson> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(path) = self.file.as_ref().filter(|_| known.looked.elapsed() >= LOOK) {
            known.renew(path);
        }
        let found = known.entries.iter().fold(None, |found, (one, person)| {
            let differing = one.iter().zip(hash).fold(0, |all, (one, other)| all | (one ^ other));
            if differing == 0 { Some(person) } else { found }
        });
        found.cloned()
    }
}

impl KnownTokens {
    /// Reads the file again if it has changed.
    fn renew(&mut self, path: &Path) {
        self.looked = Instant::now();
        let version = version(path);
        if version == self.version {
            return;
        }
        // Even if reading fails: the warning is logged once per change.
        self.version = version;
        match load(path) {
            // The list may now be empty: all tokens were withdrawn.
            Ok(entries) => self.entries = entries,
            Err(error) => tracing::warn!(%error, "the previous tokens stay valid"),
        }
    }
}

fn version(path: &Path) -> Option<(SystemTime, u64)> {
    let metadata = std::fs::metadata(path).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}

fn load(path: &Path) -> Result<CacheEntries> {
    let text = std::fs::read_to_string(path).map_err(|error| {
        Error::new(ErrorKind::Config, format!("{} cannot be read ({error})", path.display()))
    })?;
    entries(&text).map_err(|error| error.context(path.display()))
}

fn entries(text: &str) -> Result<CacheEntries> {
    let mut list = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.split('#').next().unwrap_or_default();
        let words: Vec<&str> = line.split_whitespace().collect();
        // A mistyped level must not mean full access.
        let entry = match words.as_slice() {
            [] => continue,
            [hash] => from_hex(hash).zip(Some(AccessLevel::Full)),
            [hash, level] => from_hex(hash).zip(AccessLevel::find(level)),
            _ => None,
        };
        let (hash, access) = entry.ok_or_else(|| {
            Error::new(
                ErrorKind::Config,
                format!("line {number} is not the SHA-256 of a token and a known level"),
            )
            .next("copy the line that `daysheet token` prints; labels begin with #")
        })?;
        list.push((hash, CallingPerson::local(access)));
    }
    Ok(list)
}

impl FromIterator<(String, CallingPerson)> for TokenList {
    fn from_iter<T: IntoIterator<Item = (String, CallingPerson)>>(people: T) -> Self {
        let entries = people.into_iter().map(|(token, person)| (hash(&token), person)).collect();
        let known = KnownTokens { entries, version: None, looked: Instant::now() };
        Self { file: None, known: Mutex::new(known) }
    }
}

/// Shows only the file, no hashes.
impl std::fmt::Debug for TokenList {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TokenList").field("file", &self.file).finish_non_exhaustive()
    }
}

/// Creates a random token. Returns it with its line for the file.
///
/// # Errors
/// [`ErrorKind::Internal`] if the system random generator failed.
pub fn new_token(access: Option<AccessLevel>, label: Option<&str>) -> Result<(String, String)> {
    let mut bytes = [0; BYTES];
    getrandom::fill(&mut bytes).map_err(|error| {
        Error::new(ErrorKind::Internal, format!("the system random generator failed ({error})"))
    })?;
    let token = format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(bytes));
    let mut line = fingerprint(&token);
    if let Some(access) = access {
        line.push_str(&format!(" {}", access.word()));
    }
    if let Some(label) = label {
        line.push_str(&format!(" # {}", text::cell(label)));
    }
    Ok((token, line))
}

/// Returns the hash of a token in hexadecimal digits, which identifies the token but gives no
/// access.
pub fn fingerprint(token: &str) -> String {
    hash(token).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn hash(token: &str) -> TokenHash {
    Sha256::digest(token.as_bytes()).into()
}

fn from_hex(text: &str) -> Option<TokenHash> {
    if text.len() != 64 || !text.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    let mut hash = TokenHash::default();
    for (byte, at) in hash.iter_mut().zip((0..).step_by(2)) {
        *byte = u8::from_str_radix(text.get(at..at + 2)?, 16).ok()?;
    }
    Some(hash)
}
