//! Failures on purpose: what goes wrong, and how often.
//!
//! A client that was only ever answered well is not tested. [`FaultRates`] says
//! with which probability an API request fails and in which way; the draws
//! come from a counter, so the same sequence of requests fails in the same
//! places on every run. What a failure looks like on the wire is not decided
//! here: each provider's half has error bodies of its own.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use daysheet_core::error::{Error, Result};
use futures_util::future::BoxFuture;
use hyper::Method;
use hyper::body::Bytes;
use serde_json::Value;

/// The default delay of what is carried out late.
const LATE: Duration = Duration::from_millis(400);

/// How often, from 0 to 1, an API request is made to fail, by kind of failure.
///
/// The rates share one draw per request, so they add up; a sum above 1 leaves
/// no request unharmed and cuts off the later kinds.
/// Sign-in is spared, but for the delay.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FaultRates {
    /// Answered with 429 and `Retry-After: 1`.
    pub rate_429: f64,
    /// Answered with 403 and the reason `rateLimitExceeded`.
    pub rate_403: f64,
    /// Answered with 500.
    pub rate_500: f64,
    /// Answered with 503.
    pub rate_503: f64,
    /// Answered with 504, as a gateway that waited in vain.
    pub rate_504: f64,
    /// Answered with 502 and an HTML page where JSON is expected.
    pub html: f64,
    /// The connection is closed before any answer.
    pub reset: f64,
    /// The connection is closed in the middle of the body.
    pub half: f64,
    /// Carried out, and then the connection is closed before any answer.
    pub lost: f64,
    /// Carried out, and then answered with 504.
    pub gate: f64,
    /// The connection is closed at once, and it is carried out later.
    pub late: f64,
    /// Answered with 504 at once, and carried out later.
    pub overdue: f64,
    /// How much later; 400 ms if zero.
    pub after: Duration,
    /// What the path of a request ends in that may fail; any may if it is empty.
    pub only: String,
    /// If true, only requests that change something may fail.
    pub writes: bool,
    /// Which of those alone may fail, counted from 1 since the faults were set;
    /// every one if 0.
    pub nth: u64,
    /// The time every answer is held back, without holding up the others.
    pub delay: Duration,
}

/// Changes the JSON of an API's answer before it is sent: what a hostile or
/// broken service would say in its place.
#[derive(Clone)]
pub struct AnswerAlteration(Arc<dyn Fn(&mut Value) + Send + Sync>);

impl AnswerAlteration {
    /// Hands each answer to `change`.
    pub fn new(change: impl Fn(&mut Value) + Send + Sync + 'static) -> Self {
        Self(Arc::new(change))
    }

    /// The changed body; what is no JSON stays as it is.
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

/// A request to an API, and how long the answer to it is.
#[derive(Debug, Clone)]
pub struct ApiExchange {
    /// The method.
    pub method: Method,
    /// The path, as it was sent.
    pub path: String,
    /// The body of the request.
    pub body: Bytes,
    /// The length of the body of the answer before it is compressed, in bytes.
    pub answer: usize,
}

/// Sees every answer of an API before it is sent, and holds it back until its future ends:
/// so it can be found out which requests wait for which.
#[derive(Clone)]
pub struct AnswerObserver(Arc<dyn Fn(ApiExchange) -> BoxFuture<'static, ()> + Send + Sync>);

impl AnswerObserver {
    /// Hands each exchange to `see`.
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

/// One failure, drawn for one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DrawnFault {
    /// Too many requests, with a time to wait.
    TooMany,
    /// Refused for now, dressed as a lack of permission.
    Forbidden,
    /// The server's own failure.
    Server,
    /// The server has no time.
    Unavailable,
    /// Somebody behind the server did not answer in time.
    Timeout,
    /// A page for people in place of an answer for programs.
    Html,
    /// No answer at all.
    Reset,
    /// Half an answer.
    Half,
    /// No answer, but done.
    Lost,
    /// Done, and a gateway that waited in vain.
    Gate,
    /// No answer, and done after that.
    Late,
    /// A gateway that waited in vain, and done after that.
    Overdue,
}

/// A rate's place in [`FaultRates`].
type RateField = fn(&mut FaultRates) -> &mut f64;

/// The names of a fault specification, in the order of the draw.
const RATES: [(&str, DrawnFault, RateField); 12] = [
    ("429", DrawnFault::TooMany, |faults| &mut faults.rate_429),
    ("403", DrawnFault::Forbidden, |faults| &mut faults.rate_403),
    ("500", DrawnFault::Server, |faults| &mut faults.rate_500),
    ("503", DrawnFault::Unavailable, |faults| &mut faults.rate_503),
    ("504", DrawnFault::Timeout, |faults| &mut faults.rate_504),
    ("html", DrawnFault::Html, |faults| &mut faults.html),
    ("reset", DrawnFault::Reset, |faults| &mut faults.reset),
    ("half", DrawnFault::Half, |faults| &mut faults.half),
    ("lost", DrawnFault::Lost, |faults| &mut faults.lost),
    ("gate", DrawnFault::Gate, |faults| &mut faults.gate),
    ("late", DrawnFault::Late, |faults| &mut faults.late),
    ("overdue", DrawnFault::Overdue, |faults| &mut faults.overdue),
];

impl FaultRates {
    /// How late what is carried out late is.
    pub(super) fn lateness(&self) -> Duration {
        if self.after.is_zero() { LATE } else { self.after }
    }

    /// The failure of request number `count`, if it is to fail.
    pub(super) fn draw(&self, count: u64) -> Option<DrawnFault> {
        let mut left = unit(count);
        let mut rates = self.clone();
        for (_, fault, rate) in RATES {
            let rate = *rate(&mut rates);
            if left < rate {
                return Some(fault);
            }
            left -= rate;
        }
        None
    }
}

/// Reads `429=0.2,reset=0.05,delay=50ms`; the empty text is no fault at all.
impl FromStr for FaultRates {
    type Err = Error;

    fn from_str(spec: &str) -> Result<Self> {
        let mut faults = Self::default();
        for item in spec.split(',').map(str::trim).filter(|item| !item.is_empty()) {
            let (name, value) = item
                .split_once('=')
                .map(|(name, value)| (name.trim(), value.trim()))
                .ok_or_else(|| bad_item(item, "has no `=`"))?;
            if name == "only" {
                value.clone_into(&mut faults.only);
            } else if name == "writes" {
                faults.writes = matches!(value, "1" | "true");
            } else if name == "nth" {
                faults.nth = value.parse().map_err(|_| bad_item(item, "is not a number"))?;
            } else if name == "delay" || name == "after" {
                let time = delay(value)
                    .ok_or_else(|| bad_item(item, "is not a delay such as 50ms or 2s"))?;
                match name {
                    "delay" => faults.delay = time,
                    _ => faults.after = time,
                }
            } else if let Some((_, _, rate)) = RATES.iter().find(|(known, ..)| *known == name) {
                let value = value.parse().ok().filter(|rate| (0.0..=1.0).contains(rate));
                *rate(&mut faults) =
                    value.ok_or_else(|| bad_item(item, "is not a rate from 0 to 1"))?;
            } else {
                return Err(bad_item(item, "names no fault"));
            }
        }
        let sum: f64 = RATES.iter().map(|(_, _, rate)| *rate(&mut faults)).sum();
        if sum > 1.0 + 1e-9 {
            return Err(Error::argument("the fault rates add up to more than 1")
                .next("lower them so that some requests can succeed"));
        }
        Ok(faults)
    }
}

/// The complaint about one item of a specification.
fn bad_item(item: &str, why: &str) -> Error {
    let known: Vec<&str> = RATES.iter().map(|(name, ..)| *name).collect();
    Error::argument(format!("fault `{item}` {why}")).next(format!(
        "use {}=RATE (0 to 1), delay=TIME (50ms, 2s), after=TIME, only=PATH (/send), writes=1 and \
         nth=NUMBER, separated by commas",
        known.join("|")
    ))
}

/// `50ms` or `2s`, up to a minute: more looks like a hang, not like a delay.
fn delay(text: &str) -> Option<Duration> {
    let (digits, unit) = match text.strip_suffix("ms") {
        Some(digits) => (digits, 1),
        None => (text.strip_suffix('s')?, 1_000),
    };
    let millis = digits.parse::<u64>().ok()?.checked_mul(unit)?;
    (millis <= 60_000).then(|| Duration::from_millis(millis))
}

/// The counter's number in the unit interval (SplitMix64's finaliser).
fn unit(count: u64) -> f64 {
    let mut bits = count.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^= bits >> 31;
    // The upper 53 bits are what an f64 holds exactly.
    (bits >> 11) as f64 / (1u64 << 53) as f64
}
