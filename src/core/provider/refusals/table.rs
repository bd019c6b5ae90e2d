//! The table of refusals, with the texts that providers show.
//!
//! Microsoft reports dozens of different problems by one of OAuth's few codes, and distinguishes
//! them by a number, `AADSTS…`. Its rows are the ones that a person can resolve, grouped by
//! solution. `https://login.microsoftonline.com/error?code=NUMBER` explains each number. Google
//! distinguishes problems by codes, and some only by their descriptions.

use super::row::RefusalStage::{Call, Page, Refresh, SignIn};
use super::row::{KnownRefusal, RefusalMeaning};

const AGAIN: &str = "run {add} again";
const TENANT: &str = "name the account's tenant with `--tenant` or DAYSHEET_MICROSOFT_TENANT, or \
                      sign in with another account";

/// All known refusals.
pub const REFUSALS: &[KnownRefusal] = &[
    KnownRefusal::google(&["access_denied"], [
        "the consent was denied on its page",
        "run {add} again and allow the access; if the page said that the app is being tested, add \
         the address first: Google Auth Platform, Audience, Test users",
    ])
    .texts(&["Error 403: access_denied", "has not completed the Google verification process"]),
    KnownRefusal::google(&["redirect_uri_mismatch"], [
        "the OAuth client may not redirect to 127.0.0.1",
        "use an OAuth client of the type `Desktop app`; {setup} says how",
    ])
    .never()
    .texts(&["Error 400: redirect_uri_mismatch"]),
    KnownRefusal {
        end: RefusalMeaning::AsDescribed,
        ..KnownRefusal::google(&["invalid_grant"], [
            "expired or revoked; projects in Testing mode lose grants after 7 days",
            AGAIN,
        ])
    }
    .at(Refresh)
    .texts(&["Token has been expired or revoked."]),
    KnownRefusal::google(&["invalid_rapt"], [
        "the organisation requires signing in again from time to time",
        AGAIN,
    ])
    .texts(&["reauth related error (invalid_rapt)"]),
    KnownRefusal::google(&["policy_enforced"], [
        "the account has Advanced Protection, which allows only verified apps",
        "use another account; an OAuth client of your own is never verified",
    ])
    .texts(&["Error 400: policy_enforced", "is not approved by Advanced Protection"]),
    KnownRefusal::google(&["admin_policy_enforced"], [
        "the organisation of this account does not allow this app",
        "ask its administrator to trust the OAuth client's id under Security, API controls, or use \
         another account",
    ])
    .texts(&["Error 400: admin_policy_enforced"]),
    KnownRefusal::google(&["org_internal"], [
        "the app is only for accounts of its own organisation",
        "sign in with such an account, or set the user type External; {setup} says how",
    ])
    .texts(&["Error 403: org_internal"]),
    KnownRefusal::google(&["invalid_scope"], [
        "a requested scope is unknown",
        "enable the APIs for the project; {setup} says how",
    ])
    .never()
    .texts(&["Error 400: invalid_scope"]),
    KnownRefusal::google(&["deleted_client"], [
        "the OAuth client was deleted",
        "create another `Desktop app`, and set its id and secret; {setup} says how",
    ])
    .never()
    .texts(&["The OAuth client was deleted."]),
    KnownRefusal::google(&["invalid_client"], [
        "the OAuth client is unknown",
        "copy {client_id} again from Google's console, page Clients; {setup} says how",
    ])
    .phrases(&["client was not found"])
    .never()
    .texts(&["The OAuth client was not found."]),
    KnownRefusal::google(&["invalid_client"], [
        "the client secret is wrong",
        "copy DAYSHEET_GOOGLE_CLIENT_SECRET again from Google's console, page Clients, or download \
         credentials.json",
    ])
    .phrases(&["client secret is invalid", "unauthorized"])
    .never()
    .texts(&["The provided client secret is invalid."]),
    KnownRefusal::google(&["invalid_request", "invalid_client"], [
        "the client secret is missing",
        "set DAYSHEET_GOOGLE_CLIENT_SECRET, which Google's desktop apps have, too; {setup} says \
         where to get it",
    ])
    .phrases(&["client_secret is missing"])
    .never()
    .texts(&["client_secret is missing."]),
    KnownRefusal::google(&[], [
        "the app is not verified, which an app for your own use need not be",
        "press Advanced, and continue; such an app may have up to 100 users",
    ])
    .at(Page)
    .texts(&["Google hasn't verified this app"]),
    KnownRefusal::google(&["accessNotConfigured", "SERVICE_DISABLED"], [
        "an API is not enabled in the client id's Google Cloud project",
        "{api}, and try again in a minute",
    ])
    .at(Call)
    .texts(&["has not been used in project before or it is disabled"]),
    KnownRefusal::google(&["insufficientPermissions", "ACCESS_TOKEN_SCOPE_INSUFFICIENT"], [
        "the sign-in does not allow this",
        "run {add} and leave all permissions ticked",
    ])
    .at(Call)
    .withdrawn()
    .texts(&["Request had insufficient authentication scopes."]),
    KnownRefusal::google(&["notACalendarUser"], [
        "the account has no Google Calendar",
        "open calendar.google.com once with this account, or use another one",
    ])
    .at(Call)
    .texts(&["The user must be signed up for Google Calendar."]),
    KnownRefusal::google(&["failedPrecondition"], [
        "the account has no Gmail",
        "let the administrator of the organisation switch Gmail on, or use another account",
    ])
    .phrases(&["mail service not enabled"])
    .at(Call)
    .texts(&["Mail service not enabled"]),
    KnownRefusal::microsoft(&[65_001, 65_005, 90_008, 650_056], [
        "the consent to this app is missing or was withdrawn",
        "run {add} again and accept, or let an administrator of the organisation consent at \
         {consent}",
    ])
    .words(&["consent_required"])
    .withdrawn()
    .texts(&["The user or administrator has not consented to use the application with ID"]),
    KnownRefusal::microsoft(&[65_004], [
        "the consent was declined", "run {add} again and accept",
    ])
    .words(&["cancel", "authorization_declined", "access_denied"])
    .withdrawn(),
    KnownRefusal::microsoft(&[90_093, 90_094, 90_095], [
        "an administrator must consent to this app",
        "run {add} again after an administrator of the organisation has consented at {consent}",
    ])
    .texts(&["Need admin approval", "The grant requires admin permission"]),
    KnownRefusal::microsoft(&[50_105], [
        "the organisation has not assigned this app to the account",
        "ask an administrator of the organisation to assign it",
    ])
    .texts(&["The signed in user is not assigned to a role for the application"]),
    KnownRefusal::microsoft(&[7_000_112, 7_000_114], [
        "the organisation has disabled this app",
        "ask an administrator of the organisation, or use another app registration",
    ]),
    KnownRefusal::microsoft(&[50_005, 50_097, 50_131, 53_000, 53_001, 53_002, 53_003, 53_009, 53_011, 530_001, 530_003, 530_004, 530_034, 530_035], [
        "the organisation's conditional access does not allow it from this device, place or app",
        "ask an administrator what the policy needs, or run {add} on a device that meets it",
    ])
    .words(&["message_only", "protection_policy_required"])
    .texts(&["Your sign-in was successful but does not meet the criteria to access this resource"]),
    KnownRefusal::microsoft(&[50_072, 50_074, 50_076, 50_078, 50_079, 50_158, 53_004, 53_010], [
        "the organisation requires further proof, such as multi-factor authentication",
        "run {add} again and give the proof on the page",
    ])
    .words(&["basic_action", "additional_action", "interaction_required", "login_required"])
    .texts(&["you must use multi-factor authentication"]),
    KnownRefusal::microsoft(&[50_173], [
        "the password was changed, or all sign-ins of the account were ended",
        AGAIN,
    ])
    .words(&["user_password_expired"])
    .withdrawn()
    .texts(&["The provided grant has expired due to it being revoked"]),
    KnownRefusal::microsoft(&[50_055, 50_132, 50_133, 50_135, 50_144], [
        "the password was changed or has expired",
        AGAIN,
    ]),
    KnownRefusal::microsoft(&[50_002, 500_021, 500_022, 500_212, 500_213], [
        "the organisation or that tenant does not allow access across tenants",
        TENANT,
    ]),
    KnownRefusal::microsoft(&[700_082], [
        "the sign-in was unused for too long", AGAIN,
    ])
    .texts(&["The refresh token has expired due to inactivity"]),
    KnownRefusal::microsoft(&[70_043], [
        "the organisation requires signing in again from time to time", AGAIN,
    ]),
    KnownRefusal::microsoft(&[70_008, 700_084], [
        "the sign-in has expired", AGAIN,
    ])
    .words(&["token_expired"]),
    KnownRefusal::microsoft(&[70_000], [
        "the sign-in is no longer valid: it was withdrawn, has expired or is another app's",
        AGAIN,
    ])
    .words(&["bad_token", "client_mismatch"]),
    KnownRefusal::microsoft(&[54_005], [
        "the sign-in's code was already used", AGAIN,
    ]),
    KnownRefusal::microsoft(&[50_053], [
        "the account is locked",
        "wait, or ask an administrator of the organisation to unlock it",
    ]),
    KnownRefusal::microsoft(&[50_057], [
        "the account is disabled", "ask an administrator of the organisation",
    ])
    .withdrawn(),
    KnownRefusal::microsoft(&[70_018], [
        "the code is invalid", "run {add} again and enter the new code",
    ])
    .words(&["bad_verification_code"]),
    KnownRefusal::microsoft(&[70_019, 70_020], [
        "nobody entered the code before it expired",
        "run {add} again and enter the new code",
    ])
    .words(&["expired_token", "code_expired"]),
    KnownRefusal::microsoft(&[90_002, 900_021, 900_023], [
        "there is no such tenant",
        "check `--tenant` or DAYSHEET_MICROSOFT_TENANT: common, organizations, consumers, or the \
         GUID or domain of a directory",
    ])
    .never()
    .texts(&["Tenant not found"]),
    KnownRefusal::microsoft(&[16_000, 16_003, 50_014, 50_020, 50_034, 51_004, 90_072], [
        "the account does not belong to the tenant",
        TENANT,
    ])
    .texts(&["User account from identity provider does not exist in tenant"]),
    KnownRefusal::microsoft(&[50_194], [
        "the app is registered for one organisation only",
        "name its tenant, a GUID or a domain, with `--tenant` or DAYSHEET_MICROSOFT_TENANT",
    ])
    .never()
    .texts(&["Usage of the /common endpoint is not supported for such applications"]),
    KnownRefusal::microsoft(&[90_038, 900_432], [
        "the tenant is in another national cloud",
        "set that cloud's endpoints; {setup} lists them",
    ])
    .never(),
    KnownRefusal::microsoft(&[9_001_023], [
        "this way of signing in needs a tenant",
        "name the tenant organizations, or the account's, with `--tenant` or \
         DAYSHEET_MICROSOFT_TENANT",
    ])
    .never(),
    KnownRefusal::microsoft(&[9_002_331, 9_002_346], [
        "the app is registered for personal accounts only",
        "use the tenant consumers: `--tenant consumers` or DAYSHEET_MICROSOFT_TENANT=consumers",
    ])
    .never(),
    KnownRefusal::microsoft(&[9_002_332, 9_002_333, 500_200, 500_201, 500_208], [
        "the app is registered for work and school accounts only",
        "use a work or school account and the tenant organizations, or allow personal accounts in \
         the registration; {setup} says how",
    ])
    .never()
    .texts(&["Personal Microsoft accounts are not supported for this application"]),
    KnownRefusal::microsoft(&[70_001, 700_011, 700_016, 700_038], [
        "the tenant does not know the app",
        "check DAYSHEET_MICROSOFT_CLIENT_ID, and that the app is registered for the tenant; \
         {setup} says how",
    ])
    .never()
    .texts(&["Application with identifier was not found in the directory"]),
    KnownRefusal::microsoft(&[50_011, 70_004, 500_113, 900_971, 9_002_326, 9_002_327], [
        "the app has no redirect URI http://localhost",
        "add http://localhost to the app under \"Mobile and desktop applications\"; {setup} says \
         how",
    ])
    .never()
    .texts(&["The redirect URI specified in the request does not match the redirect URIs configured for the application",
        "No reply address is registered for the application"]),
    KnownRefusal::microsoft(&[7_000_218], [
        "the app is not registered as a public client",
        "switch on \"Allow public client flows\" for the app; {setup} says how",
    ])
    .never()
    .texts(&["The request body must contain the following parameter: 'client_assertion' or 'client_secret'"]),
    KnownRefusal::microsoft(&[700_025], [
        "the app is a public client, but a secret is set",
        "remove DAYSHEET_MICROSOFT_CLIENT_SECRET",
    ])
    .never(),
    KnownRefusal::microsoft(&[70_002, 7_000_215, 7_000_216, 7_000_222], [
        "the client secret is wrong or has expired",
        "remove DAYSHEET_MICROSOFT_CLIENT_SECRET and register the app as a public client; {setup} \
         says how",
    ])
    .never()
    .texts(&["Invalid client secret provided"]),
    KnownRefusal::microsoft(&[65_006, 70_011, 650_052, 650_053, 650_057, 28_002, 28_003], [
        "the app lacks a requested permission",
        "add the delegated permissions of Microsoft Graph to the app; {setup} says which",
    ])
    .words(&["invalid_scope"])
    .never()
    .texts(&["The provided value for the input parameter scope is not valid"]),
    KnownRefusal::microsoft(&[50_033, 50_087, 50_088, 50_196, 70_012, 90_006, 90_012, 90_024, 90_033, 90_055], [
        "the service is busy",
        "try again later",
    ])
    .never(),
    KnownRefusal::microsoft(&[], [
        "the sign-in does not allow this",
        "run {add} and allow all permissions",
    ])
    .words(&["ErrorAccessDenied", "AccessDenied", "Authorization_RequestDenied", "Forbidden"])
    .at(Call)
    .withdrawn()
    .texts(&["Access is denied. Check credentials and try again."]),
    KnownRefusal::microsoft(&[], [
        "the account has no mailbox that Microsoft Graph can read",
        "sign in with an account whose mail is on Exchange Online or Outlook.com",
    ])
    .words(&[
        "MailboxNotEnabledForRESTAPI", "MailboxNotSupportedForRESTAPI",
        "MailboxNotHostedInExchangeOnline",
    ])
    .at(Call)
    .texts(&["The mailbox is either inactive, soft-deleted, or is hosted on-premise."]),
    KnownRefusal::any(&["invalid_grant"], [
        "its code was already used or has expired",
        AGAIN,
    ])
    .at(SignIn)
    .texts(&["Malformed auth code."]),
    KnownRefusal::any(
        &["invalid_client", "unauthorized_client", "deleted_client", "disabled_client"],
        [
            "the OAuth client is not accepted",
            "check {client_id} and its secret; {setup} says where to get them",
        ],
    )
    .never(),
    KnownRefusal::any(&["server_error", "temporarily_unavailable"], [
        "the service has a problem",
        "try again later",
    ]),
];
