//! Microsoft's error numbers: the message at a sign-in, and the account's status after a refused
//! refresh.

use daysheet::oauth::SignIn;
use daysheet_core::error::{Error, ErrorKind};
use daysheet_core::provider::AccountStatus;

use super::microsoft::{EMAIL, MIRA, tokens};
use super::token_server::{Answer, TokenServer, get, redirect, sign_in_at};

/// A refusal by the token endpoint: its code, Microsoft's number, and further members of the
/// response; the account's status after a refresh; the message at a sign-in; and the stored reason.
type Case = (&'static str, u32, &'static str, AccountStatus, &'static str, &'static str);

const CASES: &[Case] = &cases! {
    "invalid_grant", 65_001, "", AccountStatus::Revoked,
        "Microsoft refused the sign-in: the consent to this app is missing or was withdrawn \
         (AADSTS65001): run `daysheet account add microsoft` again and accept, or ask an \
         administrator if only they may consent; docs/setup-microsoft.md says how",
        "the consent to this app is missing or was withdrawn; AADSTS65001";
    "interaction_required", 90_094, "", AccountStatus::Expired,
        "Microsoft refused the sign-in: an administrator must consent to this app (AADSTS90094): \
         ask an administrator of the organisation for admin consent; docs/setup-microsoft.md says \
         how",
        "an administrator must consent to this app; AADSTS90094";
    "consent_required", 90_095, "", AccountStatus::Expired,
        "Microsoft refused the sign-in: an administrator must consent to this app (AADSTS90095): \
         ask an administrator of the organisation for admin consent; docs/setup-microsoft.md says \
         how",
        "an administrator must consent to this app; AADSTS90095";
    "invalid_grant", 53_003, "", AccountStatus::Expired,
        "Microsoft refused the sign-in: the organisation's conditional access does not allow it \
         from this device, place or app (AADSTS53003): ask an administrator what the policy needs, \
         or run `daysheet account add microsoft` on a device that meets it",
        "the organisation's conditional access does not allow it from this device, place or app; \
         AADSTS53003";
    "interaction_required", 50_005, "", AccountStatus::Expired,
        "Microsoft refused the sign-in: the organisation's conditional access does not allow it \
         from this device, place or app (AADSTS50005): ask an administrator what the policy needs, \
         or run `daysheet account add microsoft` on a device that meets it",
        "the organisation's conditional access does not allow it from this device, place or app; \
         AADSTS50005";
    "interaction_required", 50_076, "", AccountStatus::Expired,
        "Microsoft refused the sign-in: the organisation requires further proof, such as \
         multi-factor authentication (AADSTS50076): run `daysheet account add microsoft` again and \
         give the proof on the page",
        "the organisation requires further proof, such as multi-factor authentication; AADSTS50076";
    "invalid_grant", 50_173, "", AccountStatus::Revoked,
        "Microsoft refused the sign-in: the password was changed, or all sign-ins of the account \
         were ended (AADSTS50173): run `daysheet account add microsoft` again",
        "the password was changed, or all sign-ins of the account were ended; AADSTS50173";
    "invalid_grant", 700_082, "", AccountStatus::Expired,
        "Microsoft refused the sign-in: the sign-in was unused for too long (AADSTS700082): run \
         `daysheet account add microsoft` again",
        "the sign-in was unused for too long; AADSTS700082";
    "invalid_grant", 70_008, "", AccountStatus::Expired,
        "Microsoft refused the sign-in: the sign-in has expired (AADSTS70008): run `daysheet account add microsoft` again",
        "the sign-in has expired; AADSTS70008";
    "invalid_grant", 70_000, "", AccountStatus::Expired,
        "Microsoft refused the sign-in: the sign-in is no longer valid: it was withdrawn, has \
         expired or is another app's (AADSTS70000): run `daysheet account add microsoft` again",
        "the sign-in is no longer valid: it was withdrawn, has expired or is another app's; \
         AADSTS70000";
    "invalid_grant", 123_456, "", AccountStatus::Expired,
        "Microsoft refused the sign-in (invalid_grant, AADSTS123456): run `daysheet account add microsoft` again",
        "expired or revoked; a changed password, months without use or an administrator ends \
         grants; AADSTS123456";
    "invalid_grant", 123_456, r#","suberror":"protection_policy_required""#, AccountStatus::Expired,
        "Microsoft refused the sign-in: the organisation's conditional access does not allow \
         it from this device, place or app (AADSTS123456): ask an administrator what the \
         policy needs, or run `daysheet account add microsoft` on a device that meets it",
        "the organisation's conditional access does not allow it from this device, place or \
         app; AADSTS123456";
    // Errors of the app or the tenant do not end the grant.
    "invalid_request", 90_002, "", AccountStatus::Ok,
        "Microsoft refused the sign-in: there is no such tenant (AADSTS90002): check `--tenant` or DAYSHEET_MICROSOFT_TENANT: common, organizations, consumers, or the GUID or domain of a directory", "";
    "invalid_grant", 50_020, "", AccountStatus::Expired,
        "Microsoft refused the sign-in: the account does not belong to the tenant (AADSTS50020): \
         name the account's tenant with `--tenant` or DAYSHEET_MICROSOFT_TENANT, or sign in with \
         another account",
        "the account does not belong to the tenant; AADSTS50020";
    "invalid_request", 50_194, "", AccountStatus::Ok,
        "Microsoft refused the sign-in: the app is registered for one organisation only (AADSTS50194): name its tenant, a GUID or a domain, with `--tenant` or DAYSHEET_MICROSOFT_TENANT", "";
    "invalid_request", 9_002_346, "", AccountStatus::Ok,
        "Microsoft refused the sign-in: the app is registered for personal accounts only (AADSTS9002346): use the tenant consumers: `--tenant consumers` or DAYSHEET_MICROSOFT_TENANT=consumers", "";
    "invalid_request", 500_200, "", AccountStatus::Ok,
        "Microsoft refused the sign-in: the app is registered for work and school accounts only \
         (AADSTS500200): use a work or school account and the tenant organizations, or allow \
         personal accounts in the registration; docs/setup-microsoft.md says how", "";
    "unauthorized_client", 700_016, "", AccountStatus::Ok,
        "Microsoft refused the sign-in: the tenant does not know the app (AADSTS700016): check \
         DAYSHEET_MICROSOFT_CLIENT_ID, and that the app is registered for the tenant; \
         docs/setup-microsoft.md says how", "";
    "invalid_request", 50_011, "", AccountStatus::Ok,
        "Microsoft refused the sign-in: the app has no redirect URI http://localhost \
         (AADSTS50011): add http://localhost to the app under \"Mobile and desktop applications\"; \
         docs/setup-microsoft.md says how", "";
    "invalid_client", 7_000_218, "", AccountStatus::Ok,
        "Microsoft refused the sign-in: the app is not registered as a public client (AADSTS7000218): switch on \"Allow public client flows\" for the app; docs/setup-microsoft.md says how", "";
    "invalid_client", 700_025, "", AccountStatus::Ok,
        "Microsoft refused the sign-in: the app is a public client, but a secret is set \
         (AADSTS700025): remove DAYSHEET_MICROSOFT_CLIENT_SECRET", "";
    "invalid_client", 123_456, "", AccountStatus::Ok,
        "Microsoft does not accept the OAuth client (AADSTS123456): check \
         DAYSHEET_MICROSOFT_CLIENT_ID and its secret; docs/setup-microsoft.md says where to get \
         them", "";
    "invalid_grant", 90_033, "", AccountStatus::Ok,
        "Microsoft refused the sign-in: the service is busy (AADSTS90033): try again later", "";
};

#[tokio::test]
async fn every_aadsts_number_is_explained() {
    for (code, number, more, status, text, reason) in CASES {
        let answer = || Answer::entra(code, *number, more);
        let server = TokenServer::start(move |_, _| answer()).await;
        let config = server.config();
        let error = sign_in_at(&config, "microsoft", None).await.unwrap_err();
        assert_eq!(error.to_string(), *text);
        assert_eq!(error.kind(), ErrorKind::Auth);

        let accounts = server.accounts();
        accounts.add(tokens("common", "rt", 0), EMAIL).await.unwrap();
        let refused = accounts.bearer(&MIRA).await.unwrap_err();
        let account = accounts.find(None).await.unwrap();
        assert_eq!(account.status, *status, "{number}");
        if *status == AccountStatus::Ok {
            assert_eq!(refused.to_string(), *text);
            assert_eq!(account.problem, None);
            continue;
        }
        let problem = format!("the Microsoft grant of {EMAIL} was refused ({reason})");
        let again = format!("{problem}: run `daysheet account add microsoft`");
        assert_eq!(refused.to_string(), again);
        assert_eq!(account.problem, Some(problem));
        // Another process reports the same without a request.
        let count = server.count();
        let other = server.accounts().bearer(&MIRA).await;
        assert_eq!(other.unwrap_err().to_string(), again);
        assert_eq!(server.count(), count);
    }
}

/// The number may be in the redirect, or only in the description.
#[tokio::test]
async fn error_number_is_found_wherever_it_stands() {
    let server = TokenServer::start(|_, _| {
        Answer::new(
            "400 Bad Request",
            r#"{"error":"invalid_grant","error_description":"AADSTS50173: changed."}"#,
        )
    })
    .await;
    let config = server.config();
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
