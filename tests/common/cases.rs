//! Tables of cases.

/// A table of cases, an array of tuples: a case ends with a semicolon, and what has no
/// room in its line stands indented below it. (rustfmt would write every part of such a
/// tuple into a line of its own.)
macro_rules! cases {
    ($($($part:expr),+;)+) => { [$(($($part),+)),+] };
}
