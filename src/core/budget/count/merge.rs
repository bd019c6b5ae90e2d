//! Byte pair merging: the number of tokens in a piece.
//!
//! A piece starts as single bytes. Of all neighbours that together form a token, the pair with
//! the lowest rank is joined, among equals the first in the piece, until no pair is left. Pairs
//! are kept in a heap, so a run of n letters costs n log n steps, even with 200,000 letters; for
//! the usual dozen letters this is as fast as searching all pairs again for each join. There is
//! no recursion. Splitting a text into pieces is in `split.rs`.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::vocabulary::TokenVocabulary;

/// The rank of bytes that are not a token.
const NONE: u32 = u32::MAX;

/// Counts pieces one after another, and reuses its buffers: about 20 bytes for each byte of the
/// longest piece.
#[derive(Debug)]
pub struct PieceMerger<'a> {
    vocabulary: &'a TokenVocabulary<'a>,
    /// The parts, each at the index of its first byte; the other entries are unused.
    parts: Vec<TokenPart>,
    /// The pairs that can be joined, as made by [`entry`]. A stale pair stays until it is popped,
    /// and is recognised by a rank other than its part's.
    pairs: BinaryHeap<Reverse<u64>>,
    steps: usize,
}

/// A part of a piece: initially one byte, finally one token.
#[derive(Clone, Copy, Debug)]
struct TokenPart {
    /// The start of the previous part; out of range for the first part.
    before: u32,
    /// The start of the next part, which is the end of this one.
    next: u32,
    /// The rank of this part joined with the next, or [`NONE`].
    rank: u32,
}

impl<'a> PieceMerger<'a> {
    /// Creates a merger for `vocabulary`.
    pub fn new(vocabulary: &'a TokenVocabulary<'a>) -> Self {
        Self { vocabulary, parts: Vec::new(), pairs: BinaryHeap::new(), steps: 0 }
    }

    /// Returns the number of pieces and pairs examined so far.
    pub fn steps(&self) -> usize {
        self.steps
    }

    /// Counts the tokens of `piece`. For a piece of 4 GB or more, counts its bytes.
    pub fn count(&mut self, piece: &[u8]) -> usize {
        self.steps += 1;
        // Positions have 32 bits to keep the parts small. The number of bytes is an upper
        // bound.
        let Ok(end) = u32::try_from(piece.len()) else {
            return piece.len();
        };
        // Most pieces are a token themselves and need no merging.
        if self.vocabulary.rank(piece).is_some() {
            return 1;
        }
        self.parts.clear();
        // The position before the first part wraps to one that no part has.
        self.parts.extend((0..end).map(|at| TokenPart {
            before: at.wrapping_sub(1),
            next: at + 1,
            rank: NONE,
        }));
        self.pairs.clear();
        for at in 0..end {
            self.rank(piece, at);
        }
        let mut count = piece.len();
        while let Some(Reverse(pair)) = self.pairs.pop() {
            self.steps += 1;
            if self.join(piece, pair).is_some() {
                count -= 1;
            }
        }
        count
    }

    /// Joins the two parts of a pair, unless the pair is stale.
    fn join(&mut self, piece: &[u8], pair: u64) -> Option<()> {
        let (rank, left) = ((pair >> 32) as u32, pair as u32);
        let TokenPart { before, next, .. } = self.part_at(left).filter(|part| part.rank == rank)?;
        let right = self.parts.get_mut(next as usize)?;
        // The right part no longer exists, so a pair that begins with it is stale from here
        // on.
        right.rank = NONE;
        let end = right.next;
        self.parts.get_mut(left as usize)?.next = end;
        if let Some(after) = self.parts.get_mut(end as usize) {
            after.before = left;
        }
        self.rank(piece, left);
        self.rank(piece, before);
        Some(())
    }

    /// Looks up the rank of the part at `at` joined with the next one.
    fn rank(&mut self, piece: &[u8], at: u32) {
        self.steps += 1;
        let rank = self.pair(piece, at).and_then(|bytes| self.vocabulary.rank(bytes));
        if let Some(rank) = rank {
            self.pairs.push(entry(rank, at));
        }
        if let Some(part) = self.parts.get_mut(at as usize) {
            part.rank = rank.unwrap_or(NONE);
        }
    }

    /// Returns the bytes of the part at `at` and the next one.
    fn pair<'p>(&self, piece: &'p [u8], at: u32) -> Option<&'p [u8]> {
        let next = self.part_at(self.part_at(at)?.next)?;
        piece.get(at as usize..next.next as usize)
    }

    /// Returns the part that begins at a byte.
    fn part_at(&self, at: u32) -> Option<TokenPart> {
        self.parts.get(at as usize).copied()
    }
}

/// Returns the heap entry of a pair, ordered by rank and by position among equal ranks.
fn entry(rank: u32, at: u32) -> Reverse<u64> {
    Reverse((u64::from(rank) << 32) | u64::from(at))
}
