//! Tables of cases.

/// An array of tuples. A case ends with a semicolon; parts that do not fit on its line follow
/// indented below it. (rustfmt would put every part of such a tuple on a line of its own.)
macro_rules! cases {
    ($($($part:expr),+;)+) => { [$(($($part),+)),+] };
}
