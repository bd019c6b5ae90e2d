//! Growth of work with its input, measured in allocated bytes: twice the input may allocate about
//! twice the bytes. Time is not measured, because it varies between runs; work that allocates no
//! memory is not seen.

use super::thorough::thorough;

/// The first number of repetitions of a unit; ten times as many in a thorough run.
const UNITS: usize = 600;
/// Bytes that any work may allocate, however small its input.
const FLOOR: u64 = 256 * 1024;

/// Does `work` on an input of so many units, and of twice as many; returns the bytes of both if
/// they more than double.
pub fn grows<T>(input: impl Fn(usize) -> T, work: impl Fn(&T)) -> Option<(u64, u64)> {
    let units = if thorough() { 10 * UNITS } else { UNITS };
    let bytes = |count: usize| {
        let input = input(count);
        allocation_counter::measure(|| work(&input)).bytes_total
    };
    // The first call also builds tables that are built once, which do not depend on the input.
    bytes(1);
    let (once, twice) = (bytes(units), bytes(2 * units));
    (2 * twice > 5 * once.max(FLOOR)).then_some((once, twice))
}
