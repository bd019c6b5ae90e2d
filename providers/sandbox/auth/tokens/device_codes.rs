//! Device codes (RFC 8628): a program polls while a person enters a short code on another machine.
//!
//! This is only the pending request, the person's decision and the pace of polling. Consent and
//! tokens are in `tokens.rs`.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use daysheet_core::error::Result;

use super::authorization::{AuthorizationRequest, TokenIssuer};
use crate::auth::random::{fill, random};

/// The maximum number of codes; the oldest are dropped first.
const MAX_DEVICES: usize = 256;

/// The characters of a user code. Those that are easily confused (0 and O, 1 and I) are missing,
/// and 32 remain, so five random bits make one character.
const ALPHABET: &[u8; 32] = b"ABCDEFGHJKLMNPQRSTUVWXYZ23456789";

/// The length of a user code.
const USER_CODE: usize = 9;

/// All issued codes.
#[derive(Debug)]
pub(crate) struct DeviceCodes {
    /// The minimum time between two polls.
    pub interval: Duration,
    /// The lifetime of a code.
    pub lifetime: Duration,
    devices: VecDeque<WaitingDevice>,
}

/// A device that waits for its tokens.
#[derive(Debug)]
struct WaitingDevice {
    device_code: String,
    user_code: String,
    authorization: AuthorizationRequest,
    issued: Instant,
    last_poll: Option<Instant>,
    consent: DeviceConsent,
}

/// The person's decision.
#[derive(Debug)]
enum DeviceConsent {
    Pending,
    Granted { mailbox: String },
    Refused,
}

/// The result of a poll.
#[derive(Debug)]
pub(crate) enum PollResult {
    /// Unknown code, or one whose tokens were fetched.
    Unknown,
    /// Polled before the interval had passed.
    TooFast,
    /// The code has not been entered yet.
    Pending,
    /// The person declined.
    Declined,
    /// The code has expired.
    Expired,
    /// The person agreed. This is reported once.
    Granted {
        /// The device's request.
        authorization: AuthorizationRequest,
        /// The mailbox that the tokens open.
        mailbox: String,
    },
}

impl DeviceCodes {
    /// Creates an empty set of codes.
    pub fn new(interval: Duration, lifetime: Duration) -> Self {
        Self { interval, lifetime, devices: VecDeque::new() }
    }

    /// Issues a pair of codes: the device's and the person's.
    pub fn issue(&mut self, authorization: AuthorizationRequest) -> Result<(String, String)> {
        let device_code = random("", 160)?;
        let user_code = user_code()?;
        self.devices.truncate(MAX_DEVICES - 1);
        self.devices.push_front(WaitingDevice {
            device_code: device_code.clone(),
            user_code: user_code.clone(),
            authorization,
            issued: Instant::now(),
            last_poll: None,
            consent: DeviceConsent::Pending,
        });
        Ok((device_code, user_code))
    }

    /// Returns the pending request of a user code as a person types it: in any case, with spaces or
    /// hyphens.
    pub fn authorization(&self, user_code: &str) -> Option<&AuthorizationRequest> {
        let code = normalize_code(user_code);
        let mut waiting = self.devices.iter().filter(|device| self.waits(device));
        let device = waiting.find(|device| device.user_code == code)?;
        Some(&device.authorization)
    }

    /// Records the person's decision: a mailbox, or `None` to decline. Returns false if no device
    /// waits for the code.
    pub fn say(&mut self, user_code: &str, mailbox: Option<String>) -> bool {
        // An expired code is reported as unknown to the person too; only the device learns that it
        // expired.
        if self.authorization(user_code).is_none() {
            return false;
        }
        let code = normalize_code(user_code);
        let Some(device) = self.devices.iter_mut().find(|device| {
            device.user_code == code && matches!(device.consent, DeviceConsent::Pending)
        }) else {
            return false;
        };
        device.consent =
            mailbox.map_or(DeviceConsent::Refused, |mailbox| DeviceConsent::Granted { mailbox });
        true
    }

    /// Answers a device's poll.
    pub fn poll(&mut self, issuer: TokenIssuer, client_id: &str, device_code: &str) -> PollResult {
        let place = self.devices.iter().position(|device| {
            device.device_code == device_code
                && device.authorization.issuer == issuer
                && device.authorization.client_id == client_id
        });
        let Some((place, device)) =
            place.and_then(|place| Some((place, self.devices.get_mut(place)?)))
        else {
            return PollResult::Unknown;
        };
        let now = Instant::now();
        // Early polls count as well: a device that ignores `slow_down` never gets its tokens.
        let before = device.last_poll.replace(now);
        if now.duration_since(device.issued) >= self.lifetime {
            return PollResult::Expired;
        }
        if before.is_some_and(|before| now.duration_since(before) < self.interval) {
            return PollResult::TooFast;
        }
        match &device.consent {
            DeviceConsent::Pending => return PollResult::Pending,
            DeviceConsent::Refused => return PollResult::Declined,
            DeviceConsent::Granted { .. } => {}
        }
        // Tokens are issued once per device code, so a repeated poll finds no code.
        match self.devices.remove(place) {
            Some(WaitingDevice {
                authorization,
                consent: DeviceConsent::Granted { mailbox },
                ..
            }) => PollResult::Granted { authorization, mailbox },
            _ => PollResult::Unknown,
        }
    }

    /// Drops all codes.
    pub fn clear(&mut self) {
        self.devices.clear();
    }

    fn waits(&self, device: &WaitingDevice) -> bool {
        matches!(device.consent, DeviceConsent::Pending) && device.issued.elapsed() < self.lifetime
    }
}

/// Returns a user code in its stored form: upper case, without separators.
fn normalize_code(user_code: &str) -> String {
    user_code
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|char| char.to_ascii_uppercase())
        .collect()
}

/// Returns a random user code.
fn user_code() -> Result<String> {
    let mut bytes = [0; USER_CODE];
    fill(&mut bytes)?;
    Ok(bytes
        .iter()
        // 32 divides 256, so each character is equally likely.
        .filter_map(|byte| ALPHABET.get(usize::from(byte & 31)))
        .map(|digit| char::from(*digit))
        .collect())
}
