//! Device codes: a program waits while a person types a short code elsewhere
//! (RFC 8628).
//!
//! Who may be let in, and the tokens, are the business of `tokens/mod.rs`; here is
//! only the request, the person's decision, and the number of polls.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use daysheet_core::error::Result;

use super::{AuthorizationRequest, TokenIssuer, fill, random};

/// How many codes are kept at a time; the oldest go first.
const MAX_DEVICES: usize = 256;

/// The characters of a user code: none that is easily taken for another, and
/// 32 of them, so that five random bits are one.
const ALPHABET: &[u8; 32] = b"ABCDEFGHJKLMNPQRSTUVWXYZ23456789";

/// The length of a user code.
const USER_CODE: usize = 9;

/// The codes handed out.
#[derive(Debug)]
pub(crate) struct DeviceCodes {
    /// How long a device waits between two questions.
    pub interval: Duration,
    /// How long a code is good.
    pub lifetime: Duration,
    devices: VecDeque<WaitingDevice>,
}

/// One waiting device.
#[derive(Debug)]
struct WaitingDevice {
    device_code: String,
    user_code: String,
    authorization: AuthorizationRequest,
    issued: Instant,
    last_poll: Option<Instant>,
    consent: DeviceConsent,
}

/// What the person answered.
#[derive(Debug)]
enum DeviceConsent {
    Pending,
    Granted { mailbox: String },
    Refused,
}

/// What a poll of a device returns.
#[derive(Debug)]
pub(crate) enum PollResult {
    /// No such code, or one whose tokens were fetched.
    Unknown,
    /// It asked sooner than it may.
    TooFast,
    /// The person has not typed the code yet.
    Pending,
    /// The person said no.
    Declined,
    /// The code's time is over.
    Expired,
    /// The person agreed. This is reported once.
    Granted {
        /// What was wished for.
        authorization: AuthorizationRequest,
        /// Whose mail may be read.
        mailbox: String,
    },
}

impl DeviceCodes {
    /// No codes yet.
    pub fn new(interval: Duration, lifetime: Duration) -> Self {
        Self { interval, lifetime, devices: VecDeque::new() }
    }

    /// Makes a pair of codes: the device's and the person's.
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

    /// The wish that waits for a user code, as typed by a person: in any case,
    /// with spaces or hyphens.
    pub fn authorization(&self, user_code: &str) -> Option<&AuthorizationRequest> {
        let code = normalize_code(user_code);
        let mut waiting = self.devices.iter().filter(|device| self.waits(device));
        let device = waiting.find(|device| device.user_code == code)?;
        Some(&device.authorization)
    }

    /// Keeps what the person said: yes for a mailbox, or no. False when no
    /// device waits for that code.
    pub fn say(&mut self, user_code: &str, mailbox: Option<String>) -> bool {
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

    /// Answers a device.
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
        match self.devices.remove(place) {
            Some(WaitingDevice {
                authorization,
                consent: DeviceConsent::Granted { mailbox },
                ..
            }) => PollResult::Granted { authorization, mailbox },
            _ => PollResult::Unknown,
        }
    }

    /// Forgets all codes.
    pub fn clear(&mut self) {
        self.devices.clear();
    }

    fn waits(&self, device: &WaitingDevice) -> bool {
        matches!(device.consent, DeviceConsent::Pending) && device.issued.elapsed() < self.lifetime
    }
}

/// A user code as it is kept.
fn normalize_code(user_code: &str) -> String {
    user_code
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|char| char.to_ascii_uppercase())
        .collect()
}

/// A random user code.
fn user_code() -> Result<String> {
    let mut bytes = [0; USER_CODE];
    fill(&mut bytes)?;
    Ok(bytes
        .iter()
        .filter_map(|byte| ALPHABET.get(usize::from(byte & 31)))
        .map(|digit| char::from(*digit))
        .collect())
}
