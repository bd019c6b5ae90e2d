//! A table of an API's routes, which serves as its router as well.
//!
//! A request that is not in a table is not answered. Successful requests are counted by route, so
//! that a test can find routes that no client needs.

/// Creates a router from a table of routes: `"METHOD" ["segment", id] => call`. The ids of a path
/// are named by the variables that the call uses.
macro_rules! routes {
    ($call:ident below $base:literal {
        $($method:literal [$($segment:tt),*] => $value:expr,)*
    }) => {
        /// The names of all routes.
        pub(crate) const ROUTES: &[&str] =
            &[$(concat!($method, " ", $base $(, "/", stringify!($segment))*)),*];

        /// Returns the name of a request's route, and its call.
        #[allow(
            clippy::redundant_closure_for_method_calls,
            reason = "a call must accept contexts of any lifetime; the path of a method does not"
        )]
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
