//! The settings: their defaults and their precedence. The errors are in
//! `tests/transcripts/settings.txt`.
#![cfg(test)]

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::Path;

use daysheet::config::{Config, KeyStore, unknown};
use daysheet_core::access::AccessLevel;
use daysheet_core::encode::{Delimiter, Format};
use daysheet_core::error::Result;
use jiff::tz::TimeZone;

use crate::common::clock;

/// Returns settings from variables and a settings file at `/etc/daysheet/config.toml`.
fn settings(vars: &[(&str, &str)], file: Option<&str>) -> Result<Config> {
    let var = |name: &str| {
        let home = [("DAYSHEET_HOME", "/tmp/daysheet-test")];
        let mut all = vars.iter().chain(&home);
        all.find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
    };
    let file = file.map(|text| (Path::new("/etc/daysheet/config.toml"), text));
    Config::from(var, file, None, clock::clock())
}

/// Returns the names of all variables.
pub fn variables() -> BTreeSet<String> {
    let read = RefCell::new(BTreeSet::from(["DAYSHEET_CONFIG".to_owned()]));
    let var = |name: &str| {
        read.borrow_mut().insert(name.to_owned());
        None
    };
    Config::from(var, None, None, clock::clock()).unwrap();
    read.take()
}

#[test]
fn defaults_work_without_any_setting() {
    let config = settings(&[], None).unwrap();
    assert_eq!(config.home, Path::new("/tmp/daysheet-test"));
    assert_eq!(config.endpoints.gmail.as_str(), "https://gmail.googleapis.com/");
    assert_eq!(
        config.endpoints.google_calendar.as_str(),
        "https://www.googleapis.com/calendar/v3/"
    );
    assert_eq!(config.endpoints.google_token.as_str(), "https://oauth2.googleapis.com/token");
    assert_eq!(config.endpoints.graph.as_str(), "https://graph.microsoft.com/v1.0/");
    assert_eq!(config.key_store, KeyStore::Keychain);
    assert_eq!(config.format, Format::Toon(Delimiter::Tab));
    assert_eq!(config.zone, TimeZone::UTC);
    assert_eq!(config.access, AccessLevel::Draft);
    assert_eq!((config.budget, config.reserve), (8_000, 0));
    assert_eq!(config.look, std::time::Duration::from_secs(8));
    assert!(config.google.id.is_none() && config.log.is_none() && config.file.is_none());
}

#[test]
fn environment_overrides_the_file() {
    let file = r#"
        format = "json"
        delimiter = "pipe"
        zone = "Europe/Berlin"
        log = "debug"
        [google]
        client_id = "from-file"
        client_secret = "shh-file"
        [endpoints]
        graph = "https://graph.example/v1.0"
    "#;
    let vars = [
        ("DAYSHEET_FORMAT", "TOON"),
        ("DAYSHEET_GOOGLE_CLIENT_ID", "from-env"),
        // An empty variable counts as not set.
        ("DAYSHEET_ZONE", ""),
    ];
    let config = settings(&vars, Some(file)).unwrap();
    assert_eq!(config.format, Format::Toon(Delimiter::Pipe));
    let config_of = |format| settings(&[("DAYSHEET_FORMAT", format)], Some(file)).unwrap();
    assert_eq!(config_of("stc").format, Format::Stc);
    assert_eq!(config_of("").format, Format::Json);
    assert_eq!(config.zone.iana_name(), Some("Europe/Berlin"));
    assert_eq!(config.log.as_deref(), Some("debug"));
    assert_eq!(config.google.id.as_ref().unwrap().as_str(), "from-env");
    assert_eq!(config.google.secret.as_ref().unwrap().secret(), "shh-file");
    assert_eq!(
        config.endpoints.graph.as_str(),
        "https://graph.example/v1.0/",
        "a base gets the slash that joining paths needs"
    );
    assert!(!format!("{config:?}").contains("shh-file"));
}

#[test]
fn numbers_and_truths_stand_as_such_or_as_texts() {
    for (budget, browser, pictures) in [("8001", "false", "true"), ("'8001'", "'print'", "'allow'")]
    {
        let file = format!("budget={budget}\nbrowser={browser}\nremote_pictures={pictures}");
        let config = settings(&[], Some(&file)).unwrap();
        assert_eq!((config.budget, config.browser, config.remote_pictures), (8_001, false, true));
    }
}

#[test]
fn accounts_without_a_sign_in_are_set() {
    let folder = tempfile::tempdir().unwrap();
    let key = crate::sign_in::unattended::key_file(folder.path());
    let file = "[token_command]\n\"google:Mira@example.com\" = [\"gcloud\", \"auth\"]";
    let config = settings(&[("DAYSHEET_GOOGLE_SERVICE_ACCOUNT", &key)], Some(file)).unwrap();
    let words = ["gcloud", "auth"].map(str::to_owned).to_vec();
    assert_eq!(
        Vec::from_iter(&config.token_commands),
        [(&"google:mira@example.com".to_owned(), &words)]
    );
    let account = config.google_service_account.as_ref().unwrap();
    assert_eq!(account.email, "daysheet@sandbox.iam.gserviceaccount.com");
    assert!(!format!("{config:?}").contains("PRIVATE KEY"));
    // Real tokens are not used in the sandbox.
    let mut config = config;
    config.use_sandbox("http://127.0.0.1:4100").unwrap();
    assert!(config.token_commands.is_empty() && config.google_service_account.is_none());
}

#[test]
fn plain_http_is_allowed_on_this_machine() {
    for base in [
        "http://127.0.0.1:8080", "http://127.8.9.1:1/", "http://[::1]:8080/",
        "http://localhost:3/", "http://LOCALHOST:3/",
    ] {
        let config = settings(&[("DAYSHEET_GMAIL_URL", base)], None).unwrap();
        assert!(config.endpoints.gmail.as_str().ends_with('/'));
    }
}

#[test]
fn credentials_are_read_as_they_were_downloaded() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config.toml");
    let text = "[google]\ncredentials = \"client.json\"";
    let read = |json: &str, vars: &[(&str, &str)]| {
        std::fs::write(folder.path().join("client.json"), json).unwrap();
        let var = |name: &str| {
            vars.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        };
        Config::from(var, Some((&path, text)), None, clock::clock())
    };
    for kind in ["installed", "web"] {
        let json = format!(r#"{{"{kind}":{{"client_id":"the-id","client_secret":"shh"}}}}"#);
        let google = read(&json, &[]).unwrap().google;
        assert_eq!(google.id.unwrap().as_str(), "the-id");
        assert_eq!(google.secret.unwrap().secret(), "shh");
    }
    // A client id from a variable does not use the file's secret.
    let json = r#"{"installed":{"client_id":"the-id","client_secret":"shh"}}"#;
    let vars = [("DAYSHEET_GOOGLE_CLIENT_ID", "mine")];
    let google = read(json, &vars).unwrap().google;
    assert_eq!(google.id.unwrap().as_str(), "mine");
    assert!(google.secret.is_none());
}

#[test]
fn sandbox_replaces_every_endpoint() {
    let mut config = settings(&[], None).unwrap();
    config.use_sandbox("http://127.0.0.1:4100").unwrap();
    let base = |url: &url::Url| url.as_str().replace("http://127.0.0.1:4100", "");
    assert_eq!(base(&config.endpoints.gmail), "/");
    assert_eq!(base(&config.endpoints.google_calendar), "/calendar/v3/");
    assert_eq!(base(&config.endpoints.google_auth), "/o/oauth2/v2/auth");
    assert_eq!(base(&config.endpoints.google_token), "/token");
    assert_eq!(base(&config.endpoints.google_revoke), "/revoke");
    assert_eq!(base(&config.endpoints.graph), "/v1.0/");
    assert!(config.google.id.is_some());
    assert!(config.use_sandbox("https://gmail.googleapis.com/").is_err());
}

#[test]
fn unknown_variables_are_named_with_the_nearest() {
    let known: Vec<String> = variables().into_iter().collect();
    for (name, warning) in [
        ("DAYSHEET_ACCES", Some("did you mean DAYSHEET_ACCESS?")),
        ("DAYSHEET_PUBLIC_URL", Some("did you mean DAYSHEET_HTTP_PUBLIC_URL?")),
        ("DAYSHEET_HTTP_PUBLICURL", Some("did you mean DAYSHEET_HTTP_PUBLIC_URL?")),
        ("DAYSHEET_COLOUR", Some("`daysheet --help` lists what there is")),
        ("DAYSHEET_ACCESS", None),
        ("DAYSHEETS_ACCESS", None),
        ("HOME", None),
        // Variables that Kubernetes sets for a service of this name.
        ("DAYSHEET_SERVICE_HOST", None),
        ("DAYSHEET_PORT_8750_TCP_ADDR", None),
    ] {
        let found = unknown([name.to_owned()].into_iter(), &known);
        let expected = warning.map(|next| format!("{name} is not a setting: {next}"));
        assert_eq!(found, Vec::from_iter(expected), "{name}");
    }
}

/// A leftover clock setting does not stop the clock of real accounts.
#[test]
fn clock_is_stopped_only_if_every_endpoint_is_on_this_machine() {
    let services = ["GMAIL", "GOOGLE_CALENDAR", "GOOGLE_PEOPLE", "GOOGLE_AUTH", "GOOGLE_TOKEN"];
    let services = services.into_iter().chain(["GOOGLE_REVOKE", "GRAPH", "MICROSOFT_AUTHORITY"]);
    let endpoints: Vec<String> = services.map(|name| format!("DAYSHEET_{name}_URL")).collect();
    let now = |here: usize| {
        let mut vars = vec![(clock::SETTING, "2027-03-28T03:30+02:00")];
        let at = |name| (name, "http://127.0.0.1:9/");
        vars.extend(endpoints.iter().take(here).map(String::as_str).map(at));
        settings(&vars, None).unwrap().clock.now()
    };
    assert_eq!(now(endpoints.len()).to_string(), "2027-03-28T01:30:00Z");
    for here in 0..endpoints.len() {
        assert_eq!(now(here), clock::now(), "{here}");
    }
}
