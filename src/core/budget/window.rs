//! Choice of the lines of a long text to show.
//!
//! [`window`] keeps the beginning, the end, and informative lines of the middle: a date, an
//! amount, a question, a deadline. It chooses line numbers; the text, its gap markers and the
//! pointer to the whole are up to the caller. Lines are never cut. A text with long lines should
//! be wrapped first, because the window ends at a line that is too long.

mod salience;

use std::ops::Range;

/// The end of a text that matters more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeadTailSplit {
    /// Bodies of messages: 70 % from the beginning, 30 % from the end.
    Head,
    /// Raw texts and logs: 30 % from the beginning, 70 % from the end.
    Tail,
}

impl HeadTailSplit {
    /// Returns the shares of the beginning and of the end.
    const fn shares(self) -> (u128, u128) {
        match self {
            Self::Head => (7, 3),
            Self::Tail => (3, 7),
        }
    }
}

/// The divisor for the share that informative lines of the middle may use: a fifth.
const TELLING: u128 = 5;

/// The kept lines of a text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TextWindow {
    /// Ascending ranges of line numbers from 0, with a gap between any two.
    pub ranges: Vec<Range<usize>>,
}

impl TextWindow {
    /// Returns the number of lines kept.
    pub fn lines(&self) -> usize {
        self.ranges.iter().map(ExactSizeIterator::len).sum()
    }

    /// Returns the missing ranges of a text of `total` lines. Each gap needs one marker.
    pub fn gaps(&self, total: usize) -> Vec<Range<usize>> {
        let mut gaps = Vec::new();
        let mut at = 0;
        for range in &self.ranges {
            if range.start > at {
                gaps.push(at..range.start);
            }
            at = range.end;
        }
        if at < total {
            gaps.push(at..total);
        }
        gaps
    }
}

/// Returns the lines of a text that fit into `budget`. `costs` are the tokens of each line with
/// its line break (a missing entry is 0), `marker` the tokens of the marker for a gap.
///
/// Lines are added in a fixed order, whatever the budget: from both ends by their shares, and an
/// informative line of the middle whenever such lines use at most a fifth in total. The window is
/// the longest prefix of this order that fits, so a larger budget only adds lines. If not even
/// the first line of the order fits, the next one that does is kept, if there is one.
pub fn window(
    lines: &[&str],
    costs: &[usize],
    marker: usize,
    budget: usize,
    split: HeadTailSplit,
) -> TextWindow {
    TextWindows::new(lines, costs, marker, split).within(budget)
}

/// The windows of one text at any size. The order of lines is computed once.
#[derive(Debug, Clone)]
pub struct TextWindows {
    /// All lines in the order in which they are added, each with its cost.
    order: Vec<(usize, u128)>,
    /// The cost of each prefix of the order, with its gap markers.
    spent: Vec<u128>,
    all: u128,
    marker: u128,
}

impl TextWindows {
    /// Prepares the windows of a text. The arguments are described at [`window`].
    pub fn new(lines: &[&str], costs: &[usize], marker: usize, split: HeadTailSplit) -> Self {
        let cost = |at: usize| costs.get(at).copied().unwrap_or(0) as u128;
        let marker = marker as u128;
        let order = order(lines, &cost, marker, split);
        let mut shown = vec![false; lines.len()];
        let mut gaps = 1;
        let mut sum = 0;
        let mut spent = Vec::with_capacity(order.len());
        for at in &order {
            let open = |next: Option<usize>| {
                let next = next.and_then(|next| shown.get(next));
                usize::from(next.is_some_and(|shown| !shown))
            };
            // A new line between two missing lines splits a gap in two; one between two shown
            // lines closes a gap.
            gaps = gaps + open(at.checked_sub(1)) + open(at.checked_add(1)) - 1;
            sum += cost(*at);
            if let Some(shown) = shown.get_mut(*at) {
                *shown = true;
            }
            spent.push(sum + gaps as u128 * marker);
        }
        Self {
            all: sum,
            order: order.into_iter().map(|at| (at, cost(at))).collect(),
            spent,
            marker,
        }
    }

    /// Returns the window that fits into `budget`.
    pub fn within(&self, budget: usize) -> TextWindow {
        let budget = budget as u128;
        let count = self.order.len();
        if self.all <= budget {
            return TextWindow { ranges: ranges(0..count) };
        }
        // A longer prefix may cost less, because a line can close a gap, so the search is
        // from the end.
        let most = self.spent.iter().rposition(|spent| *spent <= budget);
        let most = most.map_or(0, |rank| rank + 1);
        let mut taken: Vec<usize> = self.order.iter().take(most).map(|(at, _)| *at).collect();
        if taken.is_empty() {
            let last = count.saturating_sub(1);
            let alone = |(at, cost): &&(usize, u128)| {
                let gaps = u128::from(*at > 0) + u128::from(*at < last);
                cost + gaps * self.marker <= budget
            };
            taken.extend(self.order.iter().find(alone).map(|(at, _)| *at));
        }
        taken.sort_unstable();
        TextWindow { ranges: ranges(taken) }
    }
}

/// Merges ascending line numbers into ranges.
fn ranges(lines: impl IntoIterator<Item = usize>) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for at in lines {
        match ranges.last_mut() {
            Some(last) if last.end == at => last.end += 1,
            _ => ranges.push(at..at + 1),
        }
    }
    ranges
}

/// Returns all lines in the order in which they are added.
fn order(
    lines: &[&str],
    cost: &impl Fn(usize) -> u128,
    marker: u128,
    split: HeadTailSplit,
) -> Vec<usize> {
    let scores: Vec<usize> = lines.iter().map(|line| salience::salience(line)).collect();
    // Signs found in most lines, such as the times in a log, are not informative.
    let reach = |least: usize| scores.iter().filter(|each| **each >= least).count();
    let usual = (1..=salience::MAX_KINDS).rfind(|least| 2 * reach(*least) > lines.len());
    let mut telling: Vec<(usize, usize)> = (0..)
        .zip(&scores)
        .filter(|(_, tells)| **tells > usual.unwrap_or(0))
        .map(|(at, tells)| (*tells, at))
        .collect();
    telling.sort_by_key(|(tells, at)| (std::cmp::Reverse(*tells), *at));
    let mut telling = telling.into_iter().map(|(_, at)| at).peekable();

    let (head_share, tail_share) = split.shares();
    let mut taken = vec![false; lines.len()];
    let mut order = Vec::with_capacity(lines.len());
    // The lines between the two ends, and the tokens used by each source.
    let mut middle = 0..lines.len();
    let (mut head, mut tail, mut lone_lines) = (0_u128, 0_u128, 0_u128);
    while !middle.is_empty() {
        let is_taken = |at: usize| taken.get(at).copied().unwrap_or(true);
        if is_taken(middle.start) {
            middle.start += 1;
            continue;
        }
        let last = middle.end - 1;
        if is_taken(last) {
            middle.end = last;
            continue;
        }
        while telling.next_if(|at| is_taken(*at)).is_some() {}
        let lone = telling.peek().map(|at| (*at, cost(*at) + marker));
        let at = match lone {
            Some((at, more))
                if TELLING * (lone_lines + more) <= head + tail + lone_lines + more =>
            {
                lone_lines += more;
                at
            }
            _ => {
                let first = middle.start;
                // Continue at the end that would have used less of its share.
                let ahead = (head + cost(first)) * tail_share;
                if ahead <= (tail + cost(last)) * head_share {
                    head += cost(first);
                    first
                } else {
                    tail += cost(last);
                    last
                }
            }
        };
        if let Some(taken) = taken.get_mut(at) {
            *taken = true;
        }
        order.push(at);
    }
    order
}
