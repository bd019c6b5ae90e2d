//! Static tokens: a file with a hash per line, for the server of a single person.
//!
//! A token is 256 random bits, so that a plain hash of it is enough: there is nothing to guess.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use daysheet_core::access::Access;
use daysheet_core::error::{Error, Kind, Result};
use daysheet_core::text;
use sha2::{Digest, Sha256};

use crate::Person;

/// What every token begins with, so that scanners for secrets can find it.
const PREFIX: &str = "daysheet_";
/// The random bytes of a token.
const BYTES: usize = 32;

/// The SHA-256 of a token.
type Hash = [u8; 32];

/// The tokens that are taken, each with the person who has it.
pub struct TokenList(Vec<(Hash, Person)>);

impl TokenList {
    /// Reads lines of a hash in 64 hexadecimal digits and perhaps an access level; without one,
    /// everything is allowed that the settings allow. Labels are comments, which begin with `#`.
    ///
    /// # Errors
    /// [`Kind::Config`] for a line that is not like that, and for a file without a token.
    pub fn read(text: &str) -> Result<Self> {
        let mut list = Vec::new();
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.split('#').next().unwrap_or_default();
            let words: Vec<&str> = line.split_whitespace().collect();
            // A level that is mistyped must not allow everything.
            let entry = match words.as_slice() {
                [] => continue,
                [hash] => from_hex(hash).zip(Some(Access::Full)),
                [hash, level] => from_hex(hash).zip(Access::find(level)),
                _ => None,
            };
            let (hash, access) = entry.ok_or_else(|| {
                Error::new(
                    Kind::Config,
                    format!("line {number} is not the SHA-256 of a token and an access level"),
                )
                .next("write the line that `daysheet token` prints; labels begin with #")
            })?;
            list.push((hash, Person::local(access)));
        }
        if list.is_empty() {
            return Err(Error::new(Kind::Config, "there is no token")
                .next("add the line that `daysheet token` prints"));
        }
        Ok(Self(list))
    }

    /// Returns who has `token`. The time it takes does not depend on how much of a hash is right.
    pub(crate) fn person_of(&self, token: &str) -> Option<Person> {
        let hash = hash(token);
        let found = self.0.iter().fold(None, |found, (known, person)| {
            let differing =
                known.iter().zip(&hash).fold(0, |all, (one, other)| all | (one ^ other));
            if differing == 0 { Some(person) } else { found }
        });
        found.cloned()
    }
}

impl FromIterator<(String, Person)> for TokenList {
    fn from_iter<T: IntoIterator<Item = (String, Person)>>(people: T) -> Self {
        Self(people.into_iter().map(|(token, person)| (hash(&token), person)).collect())
    }
}

/// Shows no hash.
impl std::fmt::Debug for TokenList {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "TokenList({} tokens)", self.0.len())
    }
}

/// Makes a random token. Returns it, and its line for the file.
///
/// # Errors
/// [`Kind::Internal`] if the system has no random bytes.
pub fn new_token(access: Option<Access>, label: Option<&str>) -> Result<(String, String)> {
    let mut bytes = [0; BYTES];
    getrandom::fill(&mut bytes).map_err(|error| {
        Error::new(Kind::Internal, format!("the system random generator failed ({error})"))
    })?;
    let token = format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(bytes));
    let mut line: String = hash(&token).iter().map(|byte| format!("{byte:02x}")).collect();
    if let Some(access) = access {
        line.push_str(&format!(" {}", access.word()));
    }
    if let Some(label) = label {
        line.push_str(&format!(" # {}", text::cell(label)));
    }
    Ok((token, line))
}

fn hash(token: &str) -> Hash {
    Sha256::digest(token.as_bytes()).into()
}

fn from_hex(text: &str) -> Option<Hash> {
    if text.len() != 64 || !text.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    let mut hash = Hash::default();
    for (byte, at) in hash.iter_mut().zip((0..).step_by(2)) {
        *byte = u8::from_str_radix(text.get(at..at + 2)?, 16).ok()?;
    }
    Some(hash)
}
