//! Microsoft's numbers: what is said at a sign-in, and what becomes of an account
//! when a refresh is refused.

use daysheet::error::{Error, Kind};
use daysheet::oauth::SignIn;
use daysheet::provider::Status;

use super::microsoft::{EMAIL, MIRA, home, tokens};
use super::token_server::{Answer, TokenServer, get, redirect, sign_in_at};

/// A refusal of the token endpoint: how a sign-in says it; and, after a refresh,
/// the status it leaves the account in and the reason that is kept.
struct Case {
    code: &'static str,
    number: u32,
    more: &'static str,
    sign_in: &'static str,
    status: Status,
    reason: &'static str,
}

const fn case(
    code: &'static str,
    number: u32,
    sign_in: &'static str,
    status: Status,
    reason: &'static str,
) -> Case {
    Case { code, number, more: "", sign_in, status, reason }
}

const CASES: &[Case] = &[
    case(
        "invalid_grant",
        65_001,
        "Microsoft refused the sign-in: the consent to this app is missing or was withdrawn \
         (AADSTS65001): run `daysheet account add microsoft` again and accept, or ask an \
         administrator if only they may consent; docs/setup-microsoft.md says how",
        Status::Revoked,
        "the consent to this app is missing or was withdrawn; AADSTS65001",
    ),
    case(
        "interaction_required",
        90_094,
        "Microsoft refused the sign-in: an administrator must consent to this app (AADSTS90094): \
         ask an administrator of the organisation for admin consent; docs/setup-microsoft.md says \
         how",
        Status::Expired,
        "an administrator must consent to this app; AADSTS90094",
    ),
    case(
        "consent_required",
        90_095,
        "Microsoft refused the sign-in: an administrator must consent to this app (AADSTS90095): \
         ask an administrator of the organisation for admin consent; docs/setup-microsoft.md says \
         how",
        Status::Expired,
        "an administrator must consent to this app; AADSTS90095",
    ),
    case(
        "invalid_grant",
        53_003,
        "Microsoft refused the sign-in: the organisation's conditional access does not allow it \
         from this device, place or app (AADSTS53003): ask an administrator what the policy needs, \
         or run `daysheet account add microsoft` on a device that meets it",
        Status::Expired,
        "the organisation's conditional access does not allow it from this device, place or app; \
         AADSTS53003",
    ),
    case(
        "interaction_required",
        50_005,
        "Microsoft refused the sign-in: the organisation's conditional access does not allow it \
         from this device, place or app (AADSTS50005): ask an administrator what the policy needs, \
         or run `daysheet account add microsoft` on a device that meets it",
        Status::Expired,
        "the organisation's conditional access does not allow it from this device, place or app; \
         AADSTS50005",
    ),
    case(
        "interaction_required",
        50_076,
        "Microsoft refused the sign-in: the organisation requires further proof, such as \
         multi-factor authentication (AADSTS50076): run `daysheet account add microsoft` again and \
         give the proof on the page",
        Status::Expired,
        "the organisation requires further proof, such as multi-factor authentication; AADSTS50076",
    ),
    case(
        "invalid_grant",
        50_173,
        "Microsoft refused the sign-in: the password was changed, or all sign-ins of the account \
         were ended (AADSTS50173): run `daysheet account add microsoft` again",
        Status::Revoked,
        "the password was changed, or all sign-ins of the account were ended; AADSTS50173",
    ),
    case(
        "invalid_grant",
        700_082,
        "Microsoft refused the sign-in: the sign-in was unused for too long (AADSTS700082): run \
         `daysheet account add microsoft` again",
        Status::Expired,
        "the sign-in was unused for too long; AADSTS700082",
    ),
    case(
        "invalid_grant",
        70_008,
        "Microsoft refused the sign-in: the sign-in has expired (AADSTS70008): run `daysheet account add microsoft` again",
        Status::Expired,
        "the sign-in has expired; AADSTS70008",
    ),
    case(
        "invalid_grant",
        70_000,
        "Microsoft refused the sign-in: the sign-in is no longer valid: it was withdrawn, has \
         expired or is another app's (AADSTS70000): run `daysheet account add microsoft` again",
        Status::Expired,
        "the sign-in is no longer valid: it was withdrawn, has expired or is another app's; \
         AADSTS70000",
    ),
    case(
        "invalid_grant",
        123_456,
        "Microsoft refused the sign-in (invalid_grant, AADSTS123456): run `daysheet account add microsoft` again",
        Status::Expired,
        "expired or revoked; a changed password, months without use or an administrator ends \
         grants; AADSTS123456",
    ),
    Case {
        more: r#","suberror":"protection_policy_required""#,
        ..case(
            "invalid_grant",
            123_456,
            "Microsoft refused the sign-in: the organisation's conditional access does not allow \
             it from this device, place or app (AADSTS123456): ask an administrator what the \
             policy needs, or run `daysheet account add microsoft` on a device that meets it",
            Status::Expired,
            "the organisation's conditional access does not allow it from this device, place or \
             app; AADSTS123456",
        )
    },
    // What is wrong with the app or the tenant is not the end of the grant.
    case(
        "invalid_request",
        90_002,
        "Microsoft refused the sign-in: there is no such tenant (AADSTS90002): check `--tenant` or DAYSHEET_MICROSOFT_TENANT: common, organizations, consumers, or the GUID or domain of a directory",
        Status::Ok,
        "",
    ),
    case(
        "invalid_grant",
        50_020,
        "Microsoft refused the sign-in: the account does not belong to the tenant (AADSTS50020): \
         name the account's tenant with `--tenant` or DAYSHEET_MICROSOFT_TENANT, or sign in with \
         another account",
        Status::Expired,
        "the account does not belong to the tenant; AADSTS50020",
    ),
    case(
        "invalid_request",
        50_194,
        "Microsoft refused the sign-in: the app is registered for one organisation only (AADSTS50194): name its tenant, a GUID or a domain, with `--tenant` or DAYSHEET_MICROSOFT_TENANT",
        Status::Ok,
        "",
    ),
    case(
        "invalid_request",
        9_002_346,
        "Microsoft refused the sign-in: the app is registered for personal accounts only (AADSTS9002346): use the tenant consumers: `--tenant consumers` or DAYSHEET_MICROSOFT_TENANT=consumers",
        Status::Ok,
        "",
    ),
    case(
        "invalid_request",
        500_200,
        "Microsoft refused the sign-in: the app is registered for work and school accounts only \
         (AADSTS500200): use a work or school account and the tenant organizations, or allow \
         personal accounts in the registration; docs/setup-microsoft.md says how",
        Status::Ok,
        "",
    ),
    case(
        "unauthorized_client",
        700_016,
        "Microsoft refused the sign-in: the tenant does not know the app (AADSTS700016): check \
         DAYSHEET_MICROSOFT_CLIENT_ID, and that the app is registered for the tenant; \
         docs/setup-microsoft.md says how",
        Status::Ok,
        "",
    ),
    case(
        "invalid_request",
        50_011,
        "Microsoft refused the sign-in: the app has no redirect URI http://localhost \
         (AADSTS50011): add http://localhost to the app under \"Mobile and desktop applications\"; \
         docs/setup-microsoft.md says how",
        Status::Ok,
        "",
    ),
    case(
        "invalid_client",
        7_000_218,
        "Microsoft refused the sign-in: the app is not registered as a public client (AADSTS7000218): switch on \"Allow public client flows\" for the app; docs/setup-microsoft.md says how",
        Status::Ok,
        "",
    ),
    case(
        "invalid_client",
        700_025,
        "Microsoft refused the sign-in: the app is a public client, but a secret is set \
         (AADSTS700025): remove DAYSHEET_MICROSOFT_CLIENT_SECRET",
        Status::Ok,
        "",
    ),
    case(
        "invalid_client",
        123_456,
        "Microsoft does not accept the OAuth client (AADSTS123456): check \
         DAYSHEET_MICROSOFT_CLIENT_ID and its secret; docs/setup-microsoft.md says where to get \
         them",
        Status::Ok,
        "",
    ),
    case(
        "invalid_grant",
        90_033,
        "Microsoft refused the sign-in: the service is busy (AADSTS90033): try again later",
        Status::Ok,
        "",
    ),
];

#[tokio::test]
async fn every_aadsts_number_is_explained() {
    for case in CASES {
        let home = home();
        let answer = || Answer::entra(case.code, case.number, case.more);
        let server = TokenServer::start(move |_, _| answer()).await;
        let config = server.config(home.path());
        let error = sign_in_at(&config, "microsoft", None).await.unwrap_err();
        assert_eq!(error.to_string(), case.sign_in);
        assert_eq!(error.kind(), Kind::Auth);

        let accounts = server.accounts(home.path());
        accounts.add(tokens("common", "rt", 0), EMAIL).await.unwrap();
        let refused = accounts.bearer(MIRA).await.unwrap_err();
        let account = accounts.find(None).await.unwrap();
        assert_eq!(account.status, case.status, "{}", case.number);
        if case.status == Status::Ok {
            assert_eq!(refused.to_string(), case.sign_in);
            assert_eq!(account.problem, None);
            continue;
        }
        let problem = format!("the Microsoft grant of {EMAIL} was refused ({})", case.reason);
        let text = format!("{problem}: run `daysheet account add microsoft`");
        assert_eq!(refused.to_string(), text);
        assert_eq!(account.problem, Some(problem));
        // Another process says the same without asking.
        let asked = server.count();
        let again = server.accounts(home.path()).bearer(MIRA).await;
        assert_eq!(again.unwrap_err().to_string(), text);
        assert_eq!(server.count(), asked);
    }
}

/// The number may come in the redirect, or in the description alone.
#[tokio::test]
async fn error_number_is_found_wherever_it_stands() {
    let home = home();
    let server = TokenServer::start(|_, _| {
        Answer::new(
            "400 Bad Request",
            r#"{"error":"invalid_grant","error_description":"AADSTS50173: changed."}"#,
        )
    })
    .await;
    let config = server.config(home.path());
    let error = sign_in_at(&config, "microsoft", None).await.unwrap_err();
    assert!(error.message().contains("(AADSTS50173)"), "{error}");
    for (query, text) in cases! {
        "error=access_denied&error_description=AADSTS65004%3A+User+declined&error_subcode=cancel",
            "the consent was declined (AADSTS65004)";
        "error=access_denied&error_subcode=cancel", "the consent was declined";
        "error=invalid_client&error_description=AADSTS650052%3A+x",
            "the app lacks a requested permission (AADSTS650052)";
        "error=server_error&error_description=AADSTS123456%3A+x",
            "Microsoft has a problem (AADSTS123456)";
        "error=interaction_required", "the organisation requires further proof";
    } {
        let sign_in = SignIn::start(&config, "microsoft", None, &["mail"], None).await.unwrap();
        let redirect = redirect(&sign_in, query);
        let (ended, page) = tokio::join!(sign_in.wait(), get(&redirect));
        let error: Error = ended.unwrap_err();
        assert!(error.message().contains(text), "{query}: {error}");
        assert!(page.contains("Not signed in") && page.contains(text), "{page}");
    }
}
