//! A vocabulary as it lies in the program: which bytes are a token, and which
//! rank it has.
//!
//! The files in `assets/` hold a hash table that is ready to be asked, so that
//! nothing is built at the start and only the pages that are asked come into
//! memory. All numbers are little-endian; a part begins where the one before
//! it ends:
//!
//! | part | bytes | what |
//! |---|---|---|
//! | magic | 8 | [`MAGIC`] |
//! | tokens | 4 | how many there are |
//! | slots | 4 | how many the hash table has |
//! | longest | 4 | bytes of the longest token |
//! | table | 4 each slot | 0 for an empty one, else the rank plus 1 in the low 18 bits and 14 bits of the hash above them |
//! | ends | 3 each token | where its bytes end, counted from the first one's beginning, by rank |
//! | text | the rest | the bytes of all tokens, by rank |
//!
//! A token lies in the first free slot at or after the one its hash names.
//! Reading is total: in a file that is no vocabulary nothing is found. Where
//! the files come from is in `assets/README.md`.

/// The file of `o200k_base`.
pub const O200K: &[u8] = include_bytes!("../../../../assets/o200k_base.vocab");

/// The file of `cl100k_base`.
pub const CL100K: &[u8] = include_bytes!("../../../../assets/cl100k_base.vocab");

/// The beginning of a file; the last digit is the version of the layout.
pub const MAGIC: &[u8; 8] = b"dayvoc 1";

/// The number of bits of a slot that hold the rank; the others are from the hash.
const RANK_BITS: u32 = 18;

/// Slots for every two tokens: a table two thirds full is small, and still
/// says no after a few slots.
const SLOTS_FOR_TWO: usize = 3;

/// What hashes are mixed with: odd, and without a pattern in its bits (the
/// fraction of the golden ratio).
const MIX: u64 = 0x9e37_79b9_7f4a_7c15;

/// A vocabulary, borrowed from its file.
#[derive(Clone, Copy, Debug, Default)]
pub struct TokenVocabulary<'a> {
    longest: usize,
    slots: &'a [[u8; 4]],
    ends: &'a [[u8; 3]],
    text: &'a [u8],
}

impl<'a> TokenVocabulary<'a> {
    /// Returns the vocabulary in `file`, or an empty one if it holds none.
    pub fn of(file: &'a [u8]) -> Self {
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

    /// Returns the number of tokens; their ranks are the numbers below it.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns true if it has no tokens.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns the bytes of the token of that rank.
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
        if bytes.len() > self.longest {
            return None;
        }
        let hash = hash(bytes);
        // Every slot once, from the one that the hash names.
        let (head, tail) = self.slots.split_at_checked(home(hash, self.slots.len()))?;
        for slot in tail.iter().chain(head) {
            let slot = u32::from_le_bytes(*slot);
            if slot == 0 {
                return None;
            }
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

/// Returns the file of a vocabulary, from its tokens by rank. `None` if there are more
/// of them than a slot can index (262,143), or more bytes than an end can (16 MB).
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

/// Returns a number of four bytes, and the rest.
fn number(file: &[u8]) -> Option<(usize, &[u8])> {
    let (number, rest) = file.split_first_chunk()?;
    Some((usize::try_from(u32::from_le_bytes(*number)).ok()?, rest))
}

/// Hashes bytes, with the same result on every machine: eight at a time, padded with 0.
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
    let start = !(bytes.len() as u64);
    mixed(words.iter().fold(start, mixed), &last)
}

/// Returns the slot of a hash: its upper half as a share of the table.
fn home(hash: u64, slots: usize) -> usize {
    (((hash >> 32) * slots as u64) >> 32) as usize
}

/// Returns the bits of a hash that a slot keeps, which are not those of [`home`].
fn mark(hash: u64) -> u32 {
    hash as u32 >> RANK_BITS
}
