//! The tokenizers and their vocabularies: the tokens' bytes and ranks, as embedded in the program.
//!
//! The files in `src/core/assets/` contain a ready hash table, so nothing is built at startup, and
//! only the pages that are accessed are loaded into memory. All numbers are little-endian; the parts
//! follow one another without gaps:
//!
//! | part | bytes | content |
//! |---|---|---|
//! | magic | 8 | [`MAGIC`] |
//! | tokens | 4 | the number of tokens |
//! | slots | 4 | the number of slots of the hash table |
//! | longest | 4 | the length of the longest token in bytes |
//! | table | 4 each slot | 0 if empty, else the rank plus 1 (low 18 bits) and 14 bits of the hash |
//! | ends | 3 each token | the end of its bytes, counted from the beginning of the first, by rank |
//! | text | the rest | the bytes of all tokens, by rank |
//!
//! A token is in the first free slot at or after the slot of its hash. Reading never fails:
//! lookups in a file that is not a vocabulary find no token. The sources of the files are in
//! `src/core/assets/README.md`.

/// The file of `o200k_base`.
pub const O200K: &[u8] = include_bytes!("../../assets/o200k_base.vocab");

/// The file of `cl100k_base`.
pub const CL100K: &[u8] = include_bytes!("../../assets/cl100k_base.vocab");

/// The beginning of a file; the last digit is the version of the layout.
pub const MAGIC: &[u8; 8] = b"dayvoc 1";

/// The number of bits of a slot that hold the rank; the others are from the hash.
const RANK_BITS: u32 = 18;

/// The number of slots for every two tokens. A table that is two thirds full is small, and still
/// rejects unknown bytes after a few slots.
const SLOTS_FOR_TWO: usize = 3;

/// The multiplier of the hash: odd and without a pattern in its bits (the fraction of the golden
/// ratio).
const MIX: u64 = 0x9e37_79b9_7f4a_7c15;

/// A vocabulary with the pattern that belongs to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Tokenizer {
    /// `o200k_base`: 199,998 tokens.
    #[default]
    O200k,
    /// `cl100k_base`: 100,256 tokens.
    Cl100k,
}

impl Tokenizer {
    /// Every tokenizer, the default first.
    pub const ALL: [Self; 2] = [Self::O200k, Self::Cl100k];

    /// Returns the name given by its authors.
    pub const fn name(self) -> &'static str {
        match self {
            Self::O200k => "o200k_base",
            Self::Cl100k => "cl100k_base",
        }
    }

    /// Returns the bytes of its vocabulary, for [`TokenVocabulary::new`].
    pub const fn file(self) -> &'static [u8] {
        match self {
            Self::O200k => O200K,
            Self::Cl100k => CL100K,
        }
    }
}

/// A vocabulary, borrowed from its file.
#[derive(Clone, Copy, Debug, Default)]
pub struct TokenVocabulary<'a> {
    longest: usize,
    slots: &'a [[u8; 4]],
    ends: &'a [[u8; 3]],
    text: &'a [u8],
}

impl<'a> TokenVocabulary<'a> {
    /// Returns the vocabulary in `file`, or an empty one if the file is invalid.
    pub fn new(file: &'a [u8]) -> Self {
        Self::read(file).unwrap_or_default()
    }

    fn read(file: &'a [u8]) -> Option<Self> {
        let (magic, rest) = file.split_first_chunk::<8>()?;
        let (tokens, rest) = number(rest)?;
        let (slots, rest) = number(rest)?;
        let (longest, rest) = number(rest)?;
        let (table, rest) = rest.split_at_checked(slots.checked_mul(4)?)?;
        let (ends, text) = rest.split_at_checked(tokens.checked_mul(3)?)?;
        (magic == MAGIC).then_some(Self {
            longest,
            slots: table.as_chunks().0,
            ends: ends.as_chunks().0,
            text,
        })
    }

    /// Returns the number of tokens. Ranks are less than this number.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns true if it has no tokens.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns the bytes of the token with that rank.
    pub fn token(&self, rank: u32) -> Option<&'a [u8]> {
        let rank = usize::try_from(rank).ok()?;
        let end = |rank: usize| {
            let [low, middle, high] = *self.ends.get(rank)?;
            usize::try_from(u32::from_le_bytes([low, middle, high, 0])).ok()
        };
        let begin = match rank.checked_sub(1) {
            Some(before) => end(before)?,
            None => 0,
        };
        self.text.get(begin..end(rank)?)
    }

    /// Returns the rank of `bytes`, if they are a token.
    pub fn rank(&self, bytes: &[u8]) -> Option<u32> {
        // A long piece is not hashed in vain.
        if bytes.len() > self.longest {
            return None;
        }
        let hash = hash(bytes);
        // Probes every slot once, starting at the slot of the hash.
        let (head, tail) = self.slots.split_at_checked(home(hash, self.slots.len()))?;
        for slot in tail.iter().chain(head) {
            let slot = u32::from_le_bytes(*slot);
            if slot == 0 {
                return None;
            }
            // The stored bits of the hash reject nearly all other tokens without reading
            // their bytes.
            if slot >> RANK_BITS == mark(hash) {
                let rank = (slot & ((1 << RANK_BITS) - 1)).wrapping_sub(1);
                if self.token(rank) == Some(bytes) {
                    return Some(rank);
                }
            }
        }
        None
    }
}

/// Returns the file of a vocabulary, given its tokens by rank. `None` if there are more tokens
/// than a slot can index (262,143), or more bytes than an end can (16 MB).
pub fn file(tokens: &[Vec<u8>]) -> Option<Vec<u8>> {
    let (mut ends, mut text) = (Vec::new(), Vec::new());
    let slots = (tokens.len() * SLOTS_FOR_TWO).div_ceil(2);
    let mut table = vec![0_u32; slots];
    for (rank, token) in tokens.iter().enumerate() {
        text.extend_from_slice(token);
        let [low, middle, high, 0] = u32::try_from(text.len()).ok()?.to_le_bytes() else {
            return None;
        };
        ends.extend([low, middle, high]);
        let next = u32::try_from(rank + 1).ok()?;
        if next >> RANK_BITS != 0 {
            return None;
        }
        let hash = hash(token);
        let (head, tail) = table.split_at_mut_checked(home(hash, slots))?;
        let free = tail.iter_mut().chain(head).find(|slot| **slot == 0)?;
        *free = (mark(hash) << RANK_BITS) | next;
    }
    let longest = tokens.iter().map(Vec::len).max().unwrap_or_default();
    let mut file = MAGIC.to_vec();
    for count in [tokens.len(), table.len(), longest] {
        file.extend(u32::try_from(count).ok()?.to_le_bytes());
    }
    file.extend(table.iter().flat_map(|slot| slot.to_le_bytes()));
    file.extend(ends);
    file.extend(text);
    Some(file)
}

/// Splits a four-byte number off the beginning of a file.
fn number(file: &[u8]) -> Option<(usize, &[u8])> {
    let (number, rest) = file.split_first_chunk()?;
    Some((usize::try_from(u32::from_le_bytes(*number)).ok()?, rest))
}

/// Hashes bytes, eight at a time and padded with 0. The result is the same on every machine.
fn hash(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks();
    let mut last = [0; 8];
    for (to, from) in last.iter_mut().zip(rest) {
        *to = *from;
    }
    let mixed = |hash: u64, word: &[u8; 8]| {
        let product = u128::from(hash ^ u64::from_le_bytes(*word)) * u128::from(MIX);
        ((product >> 64) as u64) ^ (product as u64)
    };
    // Includes the length, because padding would make some different tokens equal.
    let start = !(bytes.len() as u64);
    mixed(words.iter().fold(start, mixed), &last)
}

/// Returns the slot of a hash: its upper half, scaled to the size of the table.
fn home(hash: u64, slots: usize) -> usize {
    (((hash >> 32) * slots as u64) >> 32) as usize
}

/// Returns the bits of a hash that a slot stores. [`home`] uses other bits.
fn mark(hash: u64) -> u32 {
    hash as u32 >> RANK_BITS
}
