//! How an API names its routes: once each, in a table that is the router, too.
//!
//! What is not in a table is not answered, and requests that succeed are counted by
//! their routes, so that a test can tell the routes that nothing needs.

/// Makes a router of a table of routes: `"METHOD" ["segment", id] => call`. The
/// names of a path's ids are those of the variables that the call is made of.
macro_rules! routes {
    ($call:ident below $base:literal {
        $($method:literal [$($segment:tt),*] => $value:expr,)*
    }) => {
        /// The names of all routes.
        pub(crate) const ROUTES: &[&str] =
            &[$(concat!($method, " ", $base $(, "/", stringify!($segment))*)),*];

        /// The name of a request's route, and what it calls.
        fn route<'a>(method: &str, path: &'a [&'a str]) -> Option<(&'static str, $call<'a>)> {
            match (method, path) {
                $(($method, [$($segment),*]) => Some((
                    concat!($method, " ", $base $(, "/", stringify!($segment))*),
                    $value,
                )),)*
                _ => None,
            }
        }
    };
}

pub(crate) use routes;
