//! Tables of refusals, which all services share; each service turns a row into its own format.

/// Defines a function for each row: the parts of its message, then the HTTP status, the words of
/// the service's format, and the message. The function `make` of the service builds the error.
macro_rules! refusals {
    ($make:path => $error:ty, $text:ty; $(
        $name:ident$(($($part:ident),*))?: $status:ident, $($word:expr),+; $message:literal;
    )*) => {
        $(pub(crate) fn $name($($($part: $text),*)?) -> $error {
            $make(hyper::StatusCode::$status, $($word),+, format!($message))
        })*
    };
}

pub(crate) use refusals;
