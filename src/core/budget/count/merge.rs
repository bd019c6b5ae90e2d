//! Byte pair merging: how many tokens a piece is.
//!
//! A piece starts as single bytes. Of all neighbours that together are a token,
//! those of the lowest rank are joined, of equals the first in the piece, until
//! no two are left. The pairs wait in a heap, so that a run of 200,000 letters
//! costs what its length times its logarithm does; for the usual dozen letters
//! that is as fast as searching them anew for each join. No recursion, and
//! nothing is known of how a text is split.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::vocabulary::TokenVocabulary;

/// The rank of bytes that are not a token.
const NONE: u32 = u32::MAX;

/// Counts pieces one after the other, and reuses its buffers: about 20 bytes for each
/// byte of the longest piece.
#[derive(Debug)]
pub struct PieceMerger<'a> {
    vocabulary: &'a TokenVocabulary<'a>,
    /// The parts, each at the position of its first byte; the other positions are unused.
    parts: Vec<TokenPart>,
    /// The pairs that can be joined, as [`entry`] makes them. A stale pair stays until
    /// it comes up: its rank then differs from its part's.
    pairs: BinaryHeap<Reverse<u64>>,
    steps: usize,
}

/// A part of a piece, first one byte, at last one token.
#[derive(Clone, Copy, Debug)]
struct TokenPart {
    /// Where the part before begins; past every piece for the first.
    before: u32,
    /// Where the next begins, which is where this one ends.
    next: u32,
    /// The rank of it and the next together, or [`NONE`].
    rank: u32,
}

impl<'a> PieceMerger<'a> {
    /// Creates a merger for that vocabulary.
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
        let Ok(end) = u32::try_from(piece.len()) else {
            return piece.len();
        };
        if self.vocabulary.rank(piece).is_some() {
            return 1;
        }
        self.parts.clear();
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
        let TokenPart { before, next, .. } = self.part(left).filter(|part| part.rank == rank)?;
        let right = self.parts.get_mut(next as usize)?;
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

    /// Looks up the rank of the part that begins there joined with the next.
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

    /// Returns the bytes of the part that begins there and of the next.
    fn pair<'p>(&self, piece: &'p [u8], at: u32) -> Option<&'p [u8]> {
        let next = self.part(self.part(at)?.next)?;
        piece.get(at as usize..next.next as usize)
    }

    fn part(&self, at: u32) -> Option<TokenPart> {
        self.parts.get(at as usize).copied()
    }
}

/// Returns a pair as the heap orders it: its rank, then its position.
fn entry(rank: u32, at: u32) -> Reverse<u64> {
    Reverse((u64::from(rank) << 32) | u64::from(at))
}
