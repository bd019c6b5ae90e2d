//! Random blocks built from bytes: small ones and odd ones.

use daysheet_core::budget::plan::{BlockRendering, PlacementTier, PlannedBlock};

/// A source of bytes; past its end it returns zeros.
pub struct Bytes<'a>(pub &'a [u8]);

impl Bytes<'_> {
    fn next(&mut self) -> usize {
        let Some((first, rest)) = self.0.split_first() else {
            return 0;
        };
        self.0 = rest;
        usize::from(*first)
    }

    fn below(&mut self, most: usize) -> usize {
        self.next() % most
    }

    fn size(&mut self, most: usize) -> usize {
        match self.next() {
            255 => usize::MAX,
            254 => usize::MAX / 2,
            253 => usize::MAX - 1,
            byte => byte % most,
        }
    }

    fn value(&mut self) -> f64 {
        match self.next() {
            255 => f64::NAN,
            254 => f64::INFINITY,
            253 => f64::NEG_INFINITY,
            252 => 1e308,
            251 => -1.0,
            250 => -0.0,
            249 => f64::MIN_POSITIVE,
            byte => (byte % 21) as f64 / 20.0,
        }
    }
}

/// The input of a plan.
#[derive(Debug)]
pub struct Case {
    pub blocks: Vec<PlannedBlock>,
    pub headings: Vec<usize>,
    pub budget: usize,
}

/// Returns an arbitrary case: unordered renderings, and headings that do not exist or are named
/// twice.
pub fn hostile(bytes: &[u8]) -> Case {
    let mut bytes = Bytes(bytes);
    let budget = bytes.size(64);
    let headings = (0..bytes.below(4)).map(|_| bytes.size(6)).collect();
    let blocks = (0..bytes.below(8)).map(|_| {
        let kind = bytes.next();
        let renderings = (0..kind % 5).map(|_| BlockRendering {
            tokens: bytes.size(12),
            value: bytes.value(),
            headings: match bytes.below(12) {
                0 => vec![2, 1, 1],
                one @ 1..=5 => vec![one - 1],
                _ => Vec::new(),
            },
        });
        let renderings = renderings.collect();
        let tier = match kind / 5 % 10 {
            0 => PlacementTier::Critical,
            1 | 2 => PlacementTier::High,
            3 | 4 => PlacementTier::Low,
            _ => PlacementTier::Medium,
        };
        PlannedBlock { renderings, tier, pinned: kind > 230, list: None }
    });
    let blocks = blocks.collect();
    Case { blocks, headings, budget }
}

/// A small generator with a fixed seed.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, most: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) % most
    }
}

/// Returns a case as the planner expects it, with renderings in ascending order of cost and value:
/// up to `most` blocks of up to four renderings, up to three headings, and a budget that is mostly
/// too small for all of them.
pub fn orderly(random: &mut Random, most: u64, budget: u64) -> Case {
    let headings: Vec<usize> = (0..random.below(4)).map(|_| 1 + random.below(5) as usize).collect();
    let blocks = (0..=random.below(most)).map(|_| {
        let (mut tokens, mut value) = (0, 0.0);
        let renderings = (0..=random.below(4)).map(|_| {
            tokens += 1 + random.below(8) as usize;
            value += (1 + random.below(20)) as f64 / 20.0;
            let plain = headings.is_empty() || random.below(3) == 0;
            BlockRendering {
                tokens,
                value,
                headings: if plain {
                    Vec::new()
                } else {
                    vec![random.below(headings.len() as u64) as usize]
                },
            }
        });
        let renderings = renderings.collect();
        let tiers =
            [PlacementTier::Medium, PlacementTier::Medium, PlacementTier::High, PlacementTier::Low];
        PlannedBlock {
            renderings,
            tier: tiers[random.below(4) as usize],
            pinned: random.below(8) == 0,
            list: None,
        }
    });
    let blocks = blocks.collect();
    let budget = 5 + random.below(budget) as usize;
    Case { blocks, headings, budget }
}
