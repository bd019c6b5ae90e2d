//! Injected faults: their kinds and frequency.
//!
//! [`FaultRates`] gives the probability of each kind of failure of an API request. Draws come from a
//! counter, so that the same sequence of requests fails at the same places in every run. The form
//! of a failure on the wire is decided by each provider's half, which has its own error bodies.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use daysheet_core::error::{Error, Result};
use futures_util::future::BoxFuture;
use hyper::Method;
use hyper::body::Bytes;
use serde_json::Value;

/// The default delay of requests that are carried out late.
const LATE: Duration = Duration::from_millis(400);

/// The probability, from 0 to 1, that an API request fails, by kind of failure.
///
/// The rates share one draw per request, so they add up. If their sum exceeds 1, every request
/// fails and later kinds are cut off. Sign-in is exempt, except from the delay.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FaultRates {
    /// The rates, in the order of the names in `KINDS`.
    pub rates: [f64; 12],
    /// The delay of late requests; 400 ms if zero.
    pub after: Duration,
    /// The end of the paths that may fail. An empty text is any path.
    pub only: String,
    /// If true, only requests that change something may fail.
    pub writes: bool,
    /// The only one of these requests that may fail, counted from 1 since the faults were set. 0 is
    /// all of them.
    pub nth: u64,
    /// The time that every answer is delayed, without delaying other requests.
    pub delay: Duration,
}

/// A change to the JSON of an API's answers before they are sent, to imitate a hostile or broken
/// service.
#[derive(Clone)]
pub struct AnswerAlteration(Arc<dyn Fn(&mut Value) + Send + Sync>);

impl AnswerAlteration {
    /// Passes each answer to `change`.
    pub fn new(change: impl Fn(&mut Value) + Send + Sync + 'static) -> Self {
        Self(Arc::new(change))
    }

    /// Returns the changed body. A body that is not JSON is unchanged.
    pub(super) fn apply(&self, body: Vec<u8>) -> Vec<u8> {
        match serde_json::from_slice(&body) {
            Ok(mut value) => {
                (self.0)(&mut value);
                value.to_string().into_bytes()
            }
            Err(_) => body,
        }
    }
}

impl fmt::Debug for AnswerAlteration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Alter")
    }
}

/// A request to an API, and the length of its answer.
#[derive(Debug, Clone)]
pub struct ApiExchange {
    /// The method.
    pub method: Method,
    /// The path as sent.
    pub path: String,
    /// The query as sent, without `?`; an empty text if the URL has no query.
    pub query: String,
    /// The request's body.
    pub body: Bytes,
    /// The length of the answer's body in bytes, before compression.
    pub answer: usize,
}

/// An observer of every API answer before it is sent. The answer is delayed until the returned
/// future ends, so that tests can find out which requests wait for others.
#[derive(Clone)]
pub struct AnswerObserver(Arc<dyn Fn(ApiExchange) -> BoxFuture<'static, ()> + Send + Sync>);

impl AnswerObserver {
    /// Passes each exchange to `see`.
    pub fn new(
        see: impl Fn(ApiExchange) -> BoxFuture<'static, ()> + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(see))
    }

    pub(super) fn see(&self, exchange: ApiExchange) -> BoxFuture<'static, ()> {
        (self.0)(exchange)
    }
}

impl fmt::Debug for AnswerObserver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Observer")
    }
}

/// A failure drawn for one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DrawnFault {
    /// Answered with 429 and `Retry-After: 1`.
    TooMany,
    /// Answered with 403 and the reason `rateLimitExceeded`.
    Forbidden,
    /// Answered with 500.
    Server,
    /// Answered with 503.
    Unavailable,
    /// Answered with 504, like a gateway after a timeout.
    Timeout,
    /// Answered with 502 and an HTML page where JSON is expected.
    Html,
    /// The connection is closed before any answer.
    Reset,
    /// The connection is closed in the middle of the body.
    Half,
    /// Carried out, and then the connection is closed before any answer.
    Lost,
    /// Carried out, and then answered with 504.
    Gate,
    /// The connection is closed at once, and the request is carried out later.
    Late,
    /// Answered with 504 at once, and carried out later.
    Overdue,
}

impl DrawnFault {
    /// Returns true if the request is carried out nevertheless.
    pub(super) fn is_carried_out(self) -> bool {
        matches!(self, Self::Half | Self::Lost | Self::Gate | Self::Late | Self::Overdue)
    }
}

/// The names in a fault specification, in the order of the draw.
const KINDS: [(&str, DrawnFault); 12] = [
    ("429", DrawnFault::TooMany),
    ("403", DrawnFault::Forbidden),
    ("500", DrawnFault::Server),
    ("503", DrawnFault::Unavailable),
    ("504", DrawnFault::Timeout),
    ("html", DrawnFault::Html),
    ("reset", DrawnFault::Reset),
    ("half", DrawnFault::Half),
    ("lost", DrawnFault::Lost),
    ("gate", DrawnFault::Gate),
    ("late", DrawnFault::Late),
    ("overdue", DrawnFault::Overdue),
];

impl FaultRates {
    /// Returns the delay of requests that are carried out late.
    pub(super) fn lateness(&self) -> Duration {
        if self.after.is_zero() { LATE } else { self.after }
    }

    /// Returns the failure of request number `count`, if it fails.
    pub(super) fn draw(&self, count: u64) -> Option<DrawnFault> {
        let mut left = unit(count);
        for ((_, fault), rate) in KINDS.into_iter().zip(self.rates) {
            if left < rate {
                return Some(fault);
            }
            left -= rate;
        }
        None
    }
}

/// Parses `429=0.2,reset=0.05,delay=50ms`. The empty text means no faults.
impl FromStr for FaultRates {
    type Err = Error;

    fn from_str(spec: &str) -> Result<Self> {
        let mut faults = Self::default();
        for item in spec.split(',').map(str::trim).filter(|item| !item.is_empty()) {
            let (name, value) = item
                .split_once('=')
                .map(|(name, value)| (name.trim(), value.trim()))
                .ok_or_else(|| bad_item(item, "has no `=`"))?;
            let time =
                || delay(value).ok_or_else(|| bad_item(item, "is not a delay such as 50ms or 2s"));
            match name {
                "only" => value.clone_into(&mut faults.only),
                "writes" => faults.writes = matches!(value, "1" | "true"),
                "nth" => {
                    faults.nth = value.parse().map_err(|_| bad_item(item, "is not a number"))?;
                }
                "delay" => faults.delay = time()?,
                "after" => faults.after = time()?,
                name => {
                    let kind = KINDS.iter().position(|(known, _)| *known == name);
                    let rate = kind.and_then(|kind| faults.rates.get_mut(kind));
                    let rate = rate.ok_or_else(|| bad_item(item, "names no fault"))?;
                    let value = value.parse().ok().filter(|rate| (0.0..=1.0).contains(rate));
                    *rate = value.ok_or_else(|| bad_item(item, "is not a rate from 0 to 1"))?;
                }
            }
        }
        let sum: f64 = faults.rates.iter().sum();
        // The tolerance is for rates such as 0.1, whose sum is not exact.
        if sum > 1.0 + 1e-9 {
            return Err(Error::argument("the fault rates add up to more than 1")
                .next("lower them so that some requests can succeed"));
        }
        Ok(faults)
    }
}

/// Returns the error for one item of a specification.
fn bad_item(item: &str, why: &str) -> Error {
    let known: Vec<&str> = KINDS.iter().map(|(name, _)| *name).collect();
    Error::argument(format!("fault `{item}` {why}")).next(format!(
        "use {}=RATE (0 to 1), delay=TIME (50ms, 2s), after=TIME, only=PATH (/send), writes=1 and \
         nth=NUMBER, separated by commas",
        known.join("|")
    ))
}

/// Parses `50ms` or `2s`, up to a minute. A longer delay would look like a hang.
fn delay(text: &str) -> Option<Duration> {
    let (digits, unit) = match text.strip_suffix("ms") {
        Some(digits) => (digits, 1),
        None => (text.strip_suffix('s')?, 1_000),
    };
    let millis = digits.parse::<u64>().ok()?.checked_mul(unit)?;
    (millis <= 60_000).then(|| Duration::from_millis(millis))
}

/// Maps a counter to the unit interval (SplitMix64's finaliser).
fn unit(count: u64) -> f64 {
    let mut bits = count.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^= bits >> 31;
    // An f64 represents 53 bits exactly.
    (bits >> 11) as f64 / (1u64 << 53) as f64
}
