//! Helpers to distinguish a text from a number. The grammar of numbers is each format's own.

/// Returns the rest after a sign, if there is one.
pub(super) fn sign(bytes: &[u8]) -> &[u8] {
    match bytes {
        [b'+' | b'-', rest @ ..] => rest,
        _ => bytes,
    }
}

/// Returns the rest after at least one digit.
pub(super) fn digits(bytes: &[u8]) -> Option<&[u8]> {
    let count = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if count == 0 { None } else { bytes.get(count..) }
}

/// Returns true if nothing is left but an exponent.
pub(super) fn ends(bytes: &[u8]) -> bool {
    match bytes {
        [] => true,
        [b'e' | b'E', rest @ ..] => digits(sign(rest)).is_some_and(<[u8]>::is_empty),
        _ => false,
    }
}
