//! Helpers to distinguish texts from numbers. The grammar of numbers is up to each format.

/// Skips an optional sign.
pub(super) fn sign(bytes: &[u8]) -> &[u8] {
    match bytes {
        [b'+' | b'-', rest @ ..] => rest,
        _ => bytes,
    }
}

/// Skips at least one digit; `None` if there is no digit.
pub(super) fn digits(bytes: &[u8]) -> Option<&[u8]> {
    let count = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if count == 0 { None } else { bytes.get(count..) }
}

/// Returns true if the rest is empty or an exponent.
pub(super) fn ends(bytes: &[u8]) -> bool {
    match bytes {
        [] => true,
        [b'e' | b'E', rest @ ..] => digits(sign(rest)).is_some_and(<[u8]>::is_empty),
        _ => false,
    }
}
