//! The names of time zones. Exchange stores Windows names, and accepts both Windows and IANA names.

use std::str::FromStr;

use chrono_tz::{TZ_VARIANTS, Tz};
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use windows_timezones::WindowsTimezone;

use super::error::{GraphError, unknown_zone};

/// A time zone under the requested name.
#[derive(Debug, Clone)]
pub(crate) struct RequestedZone {
    /// The name as requested.
    pub name: String,
    /// The zone.
    pub zone: TimeZone,
}

impl RequestedZone {
    /// Returns UTC, the zone of responses unless another is requested.
    pub fn utc() -> Self {
        Self { name: "UTC".to_owned(), zone: TimeZone::UTC }
    }

    /// Returns the zone of a Windows or IANA name.
    ///
    /// # Errors
    ///
    /// 400 for an unknown name.
    pub fn from_name(name: &str) -> Result<Self, GraphError> {
        let zone = find(name).ok_or_else(|| unknown_zone(name))?;
        Ok(Self { name: name.to_owned(), zone })
    }

    /// Returns the local time of an instant in Graph's format.
    pub fn local(&self, at: Timestamp) -> String {
        graph_time(self.zone.to_datetime(at))
    }
}

/// Formats a local time as Graph does, with seven digits of a second.
pub(super) fn graph_time(local: DateTime) -> String {
    let hundred_nanoseconds = local.subsec_nanosecond() / 100;
    format!("{}.{hundred_nanoseconds:07}", local.strftime("%Y-%m-%dT%H:%M:%S"))
}

/// Formats a time in milliseconds as UTC, without fractions of a second.
pub(crate) fn time(milliseconds: i64) -> String {
    let time = Timestamp::from_second(milliseconds.div_euclid(1_000)).unwrap_or_default();
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Returns the zone of a name.
fn find(name: &str) -> Option<TimeZone> {
    match WindowsTimezone::from_str(name) {
        // The library maps it to `Etc/UTC`, whose name would reach clients.
        Ok(WindowsTimezone::Utc) => Some(TimeZone::UTC),
        Ok(windows) => TimeZone::get(windows.tzdb_id()).ok(),
        Err(_) => TimeZone::get(name).ok(),
    }
}

/// Returns the IANA name of a zone under either name.
pub(super) fn iana_name(name: &str) -> Option<String> {
    let zone = find(name)?;
    Some(zone.iana_name().unwrap_or("UTC").to_owned())
}

/// Returns the Windows name of an IANA zone: its own in CLDR, or else the name of the first zone
/// with the same clocks, or else the IANA name.
pub(super) fn windows_name(iana: &str) -> &str {
    if iana == "UTC" {
        return iana;
    }
    let named = |zone: Tz| WindowsTimezone::try_from(zone).ok().map(WindowsTimezone::name);
    let clock = find(iana).map(|zone| offsets(&zone));
    let alike = |zone: &Tz| find(zone.name()).map(|zone| offsets(&zone)) == clock;
    let own = Tz::from_str(iana).ok().and_then(named);
    // The library may know a zone under an older name alone (`Asia/Calcutta`).
    own.or_else(|| TZ_VARIANTS.into_iter().filter(alike).find_map(named)).unwrap_or(iana)
}

/// Returns the offsets of a zone at four times of the year.
fn offsets(zone: &TimeZone) -> [i32; 4] {
    ["01-15", "03-20", "07-15", "10-29"].map(|day| {
        // On 20 March and 29 October, America and Europe are out of step: their clocks change in
        // different weeks.
        let at = format!("2026-{day}T12:00:00Z").parse();
        zone.to_offset(at.unwrap_or_default()).seconds()
    })
}
