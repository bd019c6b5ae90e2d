//! How work grows with its input, measured in the bytes that it allocates: input twice as long
//! may take about twice as many. Time is not measured, because it differs from run to run; work
//! that allocates nothing is not seen.

use super::thorough::thorough;

/// How often a unit is repeated, first; in a thorough run, ten times as often.
const UNITS: usize = 600;
/// Bytes that any work may take, however small its input.
const FLOOR: u64 = 256 * 1024;

/// Does `work` on an input of so many units, and of twice as many; returns the bytes of both if
/// they more than double.
pub fn grows<T>(input: impl Fn(usize) -> T, work: impl Fn(&T)) -> Option<(u64, u64)> {
    let units = if thorough() { 10 * UNITS } else { UNITS };
    let bytes = |count: usize| {
        let input = input(count);
        allocation_counter::measure(|| work(&input)).bytes_total
    };
    // What is built once, such as a table, is not of this input.
    bytes(1);
    let (once, twice) = (bytes(units), bytes(2 * units));
    (2 * twice > 5 * once.max(FLOOR)).then_some((once, twice))
}
