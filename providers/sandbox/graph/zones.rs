//! The names of time zones as Exchange has them: Windows' for what it stores,
//! Windows' and IANA's for what it is asked.

use std::str::FromStr;

use chrono_tz::{TZ_VARIANTS, Tz};
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use windows_timezones::WindowsTimezone;

use super::error::{GraphError, unknown_zone};

/// A zone under the requested name.
#[derive(Debug, Clone)]
pub(crate) struct RequestedZone {
    /// The name, as it was asked.
    pub name: String,
    /// The zone.
    pub zone: TimeZone,
}

impl RequestedZone {
    /// UTC, the zone of responses unless another is requested.
    pub fn utc() -> Self {
        Self { name: "UTC".to_owned(), zone: TimeZone::UTC }
    }

    /// The zone of a name, Windows' or IANA's; others are refused.
    pub fn of(name: &str) -> Result<Self, GraphError> {
        let zone = find(name).ok_or_else(|| unknown_zone(name))?;
        Ok(Self { name: name.to_owned(), zone })
    }

    /// The local time of an instant, as it is written.
    pub fn local(&self, at: Timestamp) -> String {
        graph_time(self.zone.to_datetime(at))
    }
}

/// A local time, as Graph writes it: seven digits of a second.
pub(super) fn graph_time(local: DateTime) -> String {
    let hundred_nanoseconds = local.subsec_nanosecond() / 100;
    format!("{}.{hundred_nanoseconds:07}", local.strftime("%Y-%m-%dT%H:%M:%S"))
}

/// A time in milliseconds as it is written.
pub(crate) fn time(milliseconds: i64) -> String {
    let time = Timestamp::from_second(milliseconds.div_euclid(1_000)).unwrap_or_default();
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// The zone of a name.
fn find(name: &str) -> Option<TimeZone> {
    match WindowsTimezone::from_str(name) {
        Ok(WindowsTimezone::Utc) => Some(TimeZone::UTC),
        Ok(windows) => TimeZone::get(windows.tzdb_id()).ok(),
        Err(_) => TimeZone::get(name).ok(),
    }
}

/// IANA's name of a zone that goes by either name.
pub(super) fn iana_name(name: &str) -> Option<String> {
    let zone = find(name)?;
    Some(zone.iana_name().unwrap_or("UTC").to_owned())
}

/// Windows' name of IANA's zone (CLDR): its own, else that of the first whose clocks
/// agree with its, else IANA's name.
pub(super) fn windows_name(iana: &str) -> &str {
    if iana == "UTC" {
        return iana;
    }
    let named = |zone: Tz| WindowsTimezone::try_from(zone).ok().map(WindowsTimezone::name);
    let clock = find(iana).map(|zone| offsets(&zone));
    let alike = |zone: &Tz| find(zone.name()).map(|zone| offsets(&zone)) == clock;
    let own = Tz::from_str(iana).ok().and_then(named);
    own.or_else(|| TZ_VARIANTS.into_iter().filter(alike).find_map(named)).unwrap_or(iana)
}

/// The offsets of a zone at the turns of seasons.
fn offsets(zone: &TimeZone) -> [i32; 4] {
    ["01-15", "03-20", "07-15", "10-29"].map(|day| {
        let at = format!("2026-{day}T12:00:00Z").parse();
        zone.to_offset(at.unwrap_or_default()).seconds()
    })
}
