//! What formats look at to tell a text from a number. The grammar of numbers is
//! each format's own.

/// What follows a sign, if there is one.
pub(super) fn sign(bytes: &[u8]) -> &[u8] {
    match bytes {
        [b'+' | b'-', rest @ ..] => rest,
        _ => bytes,
    }
}

/// What follows at least one digit.
pub(super) fn digits(bytes: &[u8]) -> Option<&[u8]> {
    let count = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if count == 0 { None } else { bytes.get(count..) }
}

/// True when nothing is left but an exponent.
pub(super) fn ends(bytes: &[u8]) -> bool {
    match bytes {
        [] => true,
        [b'e' | b'E', rest @ ..] => digits(sign(rest)).is_some_and(<[u8]>::is_empty),
        _ => false,
    }
}
