//! Microsoft's error numbers, explained.
//!
//! Entra reports dozens of different problems by one of OAuth's few codes, and distinguishes them
//! by a number, `AADSTS…`. This module lists the ones that a person can resolve, grouped by
//! solution. `error_messages.rs` turns them into errors.

use super::error_response::OAuthErrorResponse;

/// The meaning of some numbers.
pub(super) struct AadstsError {
    /// The numbers.
    numbers: ErrorNumbers,
    /// The problem, as a clause.
    pub(super) why: &'static str,
    /// The next step. `{add}` is replaced by the command that signs in, `{setup}` by the page about
    /// registering the app.
    pub(super) next: &'static str,
    /// The effect of a refused refresh with this number on the grant.
    pub(super) end: RefusalMeaning,
}

/// The effect of a refusal on a grant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RefusalMeaning {
    /// The OAuth code decides whether the grant has ended.
    AsCoded,
    /// As [`RefusalMeaning::AsCoded`], but a grant that ended was withdrawn rather than expired.
    Withdrawn,
    /// The grant has not ended.
    Never,
}

type ErrorNumbers = &'static [u32];

const fn coded(numbers: ErrorNumbers, why: &'static str, next: &'static str) -> AadstsError {
    AadstsError { numbers, why, next, end: RefusalMeaning::AsCoded }
}

const fn withdrawn(numbers: ErrorNumbers, why: &'static str, next: &'static str) -> AadstsError {
    AadstsError { numbers, why, next, end: RefusalMeaning::Withdrawn }
}

const fn never(numbers: ErrorNumbers, why: &'static str, next: &'static str) -> AadstsError {
    AadstsError { numbers, why, next, end: RefusalMeaning::Never }
}

const AGAIN: &str = "run {add} again";
const TENANT: &str = "name the account's tenant with `--tenant` or DAYSHEET_MICROSOFT_TENANT, or \
                      sign in with another account";

const AADSTS_ERRORS: &[AadstsError] = &[
    withdrawn(
        &[65_001, 65_005, 90_008, 650_056],
        "the consent to this app is missing or was withdrawn",
        "run {add} again and accept, or ask an administrator if only they may consent; {setup} \
         says how",
    ),
    withdrawn(&[65_004], "the consent was declined", "run {add} again and accept"),
    coded(
        &[90_093, 90_094, 90_095],
        "an administrator must consent to this app",
        "ask an administrator of the organisation for admin consent; {setup} says how",
    ),
    coded(
        &[50_105],
        "the organisation has not assigned this app to the account",
        "ask an administrator of the organisation to assign it",
    ),
    coded(
        &[7_000_112, 7_000_114],
        "the organisation has disabled this app",
        "ask an administrator of the organisation, or use another app registration",
    ),
    coded(
        &[
            50_005, 50_097, 50_131, 53_000, 53_001, 53_002, 53_003, 53_009, 53_011, 530_001,
            530_003, 530_004, 530_034, 530_035,
        ],
        "the organisation's conditional access does not allow it from this device, place or app",
        "ask an administrator what the policy needs, or run {add} on a device that meets it",
    ),
    coded(
        &[50_072, 50_074, 50_076, 50_078, 50_079, 50_158, 53_004, 53_010],
        "the organisation requires further proof, such as multi-factor authentication",
        "run {add} again and give the proof on the page",
    ),
    withdrawn(
        &[50_173],
        "the password was changed, or all sign-ins of the account were ended",
        AGAIN,
    ),
    coded(
        &[50_055, 50_132, 50_133, 50_135, 50_144],
        "the password was changed or has expired",
        AGAIN,
    ),
    coded(
        &[50_002, 500_021, 500_022, 500_212, 500_213],
        "the organisation or that tenant does not allow access across tenants",
        TENANT,
    ),
    coded(&[700_082], "the sign-in was unused for too long", AGAIN),
    coded(&[70_043], "the organisation requires signing in again from time to time", AGAIN),
    coded(&[70_008, 700_084], "the sign-in has expired", AGAIN),
    coded(
        &[70_000],
        "the sign-in is no longer valid: it was withdrawn, has expired or is another app's",
        AGAIN,
    ),
    coded(&[54_005], "the sign-in's code was already used", AGAIN),
    coded(
        &[50_053],
        "the account is locked",
        "wait, or ask an administrator of the organisation to unlock it",
    ),
    withdrawn(&[50_057], "the account is disabled", "ask an administrator of the organisation"),
    coded(&[70_018], "the code is invalid", "run {add} again and enter the new code"),
    coded(
        &[70_019, 70_020],
        "nobody entered the code before it expired",
        "run {add} again and enter the new code",
    ),
    never(
        &[90_002, 900_021, 900_023],
        "there is no such tenant",
        "check `--tenant` or DAYSHEET_MICROSOFT_TENANT: common, organizations, consumers, or the \
         GUID or domain of a directory",
    ),
    coded(
        &[16_000, 16_003, 50_014, 50_020, 50_034, 51_004, 90_072],
        "the account does not belong to the tenant",
        TENANT,
    ),
    never(
        &[50_194],
        "the app is registered for one organisation only",
        "name its tenant, a GUID or a domain, with `--tenant` or DAYSHEET_MICROSOFT_TENANT",
    ),
    never(
        &[90_038, 900_432],
        "the tenant is in another national cloud",
        "set that cloud's endpoints; {setup} lists them",
    ),
    never(
        &[9_001_023],
        "this way of signing in needs a tenant",
        "name the tenant organizations, or the account's, with `--tenant` or \
         DAYSHEET_MICROSOFT_TENANT",
    ),
    never(
        &[9_002_331, 9_002_346],
        "the app is registered for personal accounts only",
        "use the tenant consumers: `--tenant consumers` or DAYSHEET_MICROSOFT_TENANT=consumers",
    ),
    never(
        &[9_002_332, 9_002_333, 500_200, 500_201, 500_208],
        "the app is registered for work and school accounts only",
        "use a work or school account and the tenant organizations, or allow personal accounts in \
         the registration; {setup} says how",
    ),
    never(
        &[70_001, 700_011, 700_016, 700_038],
        "the tenant does not know the app",
        "check DAYSHEET_MICROSOFT_CLIENT_ID, and that the app is registered for the tenant; \
         {setup} says how",
    ),
    never(
        &[50_011, 70_004, 500_113, 900_971, 9_002_326, 9_002_327],
        "the app has no redirect URI http://localhost",
        "add http://localhost to the app under \"Mobile and desktop applications\"; {setup} says \
         how",
    ),
    never(
        &[7_000_218],
        "the app is not registered as a public client",
        "switch on \"Allow public client flows\" for the app; {setup} says how",
    ),
    never(
        &[700_025],
        "the app is a public client, but a secret is set",
        "remove DAYSHEET_MICROSOFT_CLIENT_SECRET",
    ),
    never(
        &[70_002, 7_000_215, 7_000_216, 7_000_222],
        "the client secret is wrong or has expired",
        "remove DAYSHEET_MICROSOFT_CLIENT_SECRET and register the app as a public client; {setup} \
         says how",
    ),
    never(
        &[70_011, 650_052, 650_053, 650_057, 28_002, 28_003],
        "the app lacks a requested permission",
        "add the delegated permissions of Microsoft Graph to the app; {setup} says which",
    ),
    never(
        &[50_033, 50_087, 50_088, 50_196, 70_012, 90_006, 90_012, 90_024, 90_033, 90_055],
        "the service is busy",
        "try again later",
    ),
];

/// The problems for words without a known number.
const WORDS: &[(&str, u32)] = &[
    ("cancel", 65_004),
    ("authorization_declined", 65_004),
    ("access_denied", 65_004),
    ("consent_required", 65_001),
    ("user_password_expired", 50_173),
    ("bad_token", 70_000),
    ("client_mismatch", 70_000),
    ("token_expired", 70_008),
    ("protection_policy_required", 53_009),
    ("basic_action", 50_076),
    ("additional_action", 50_076),
    ("message_only", 53_003),
    ("interaction_required", 50_076),
    ("login_required", 50_076),
    ("bad_verification_code", 70_018),
    ("expired_token", 70_020),
    ("code_expired", 70_020),
    ("invalid_scope", 70_011),
];

/// Returns the problem, if it is known: by number, by the word for the remedy, or by OAuth's code,
/// in this order.
pub(super) fn trouble_of(response: &OAuthErrorResponse) -> Option<&'static AadstsError> {
    let numbered =
        |number: u32| AADSTS_ERRORS.iter().find(|aadsts| aadsts.numbers.contains(&number));
    let worded = |word: &str| {
        WORDS.iter().find(|(known, _)| *known == word).and_then(|&(_, number)| numbered(number))
    };
    // `suberror` precedes OAuth's code, which is `invalid_grant` for many different problems.
    response
        .number
        .and_then(numbered)
        .or_else(|| worded(&response.suberror))
        .or_else(|| worded(&response.error))
}
