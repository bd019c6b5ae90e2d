//! `daysheet doctor` on broken installations, and the table of refusals in
//! `docs/guide/troubleshooting.md`.
//!
//! A case of `tests/fixtures/doctor.txt` begins with `# case: ` and its name. Its head:
//!
//! - `@ NAME=VALUE` is a variable; an empty value removes one.
//! - `@ sign in google mira@example.com` signs in, before the variables of the case apply.
//! - `@ on PATH BODY STATUS ANSWER` replaces the answers to requests whose path begins with `PATH`
//!   and whose body contains `BODY` (`*` for any). The answer of a redirect is its location.
//! - `@ date …` is the `Date` of all answers.
//! - `@ tls` starts a server with a certificate of the tests, on the port `[TLS]`.
//! - `@ postgres CODE MESSAGE` starts a PostgreSQL on the port `[POSTGRES]` that refuses every user.
//! - `@ build=postgres` runs the case only in builds with this feature, `@ build=!postgres` only in
//!   others.
//! - `@ sh …` is a line for the shell, in the folder that has `state` and `user`.
//!
//! `$ ` is the call, below which is its output, and `= ` its exit code unless that is 0. If
//! `DAYSHEET_ACCEPT` is set, the actual outputs become the expected ones.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use daysheet::app::App;
use daysheet::config::Config;
use daysheet::oauth::check_loopback;
use daysheet_core::provider::refusals::{REFUSALS, RefusalStage};
use daysheet_sandbox::{Sandbox, SandboxOptions};
use futures_util::StreamExt as _;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::Command;

use crate::common::clock;

const CASES: &str = "tests/fixtures/doctor.txt";
const PAGE: &str = "docs/guide/troubleshooting.md";
const PROGRAM: &str = env!("CARGO_BIN_EXE_daysheet");
/// A word that only secrets contain.
const SECRET: &str = "hunter2";
/// Cases that run at the same time.
const AT_ONCE: usize = 4;

/// A replaced answer: the beginning of the path, a part of the body, the status, the answer.
pub type Replaced = (String, String, String, String);

/// The variables of an installation that works, with its providers at `base`.
pub fn working(base: &str, folder: &Path) -> BTreeMap<String, String> {
    let paths = [
        ("GMAIL", ""),
        ("GOOGLE_CALENDAR", "calendar/v3/"),
        ("GOOGLE_PEOPLE", ""),
        ("GOOGLE_AUTH", "o/oauth2/v2/auth"),
        ("GOOGLE_TOKEN", "token"),
        ("GOOGLE_REVOKE", "revoke"),
        ("GRAPH", "v1.0/"),
        ("MICROSOFT_AUTHORITY", ""),
    ];
    let endpoints = paths.map(|(name, path)| (format!("{name}_URL"), format!("{base}/{path}")));
    let others = [
        ("HOME", folder.join("state").display().to_string()),
        ("KEY_STORE", "file".to_owned()),
        ("ZONE", "Europe/Berlin".to_owned()),
        ("GOOGLE_CLIENT_ID", "123456789012-abc0def.apps.googleusercontent.com".to_owned()),
        ("GOOGLE_CLIENT_SECRET", format!("GOCSPX-{SECRET}")),
        ("MICROSOFT_CLIENT_ID", "6f1c2d3e-7a8b-4c5d-9e0f-a1b2c3d4e5f6".to_owned()),
        ("SANDBOX_NOW", clock::WRITTEN.to_owned()),
    ];
    let others = others.map(|(name, value)| (name.to_owned(), value));
    let all = endpoints.into_iter().chain(others);
    all.map(|(name, value)| (format!("DAYSHEET_{name}"), value)).collect()
}

/// Runs a case, and returns it with its actual output.
async fn actual(case: &str, sandbox: &str) -> String {
    let folder = TempDir::new().unwrap();
    for name in ["state", "user/project"] {
        std::fs::create_dir_all(folder.path().join(name)).unwrap();
    }
    let (head, call) = case.split_once("\n$ ").unwrap();
    let call = call.lines().next().unwrap();
    let lines: Vec<&str> = head.lines().filter_map(|line| line.strip_prefix("@ ")).collect();
    let after = |sign: &str| lines.iter().filter_map(|line| line.strip_prefix(sign)).collect();
    let builds: Vec<&str> = after("build=");
    if !builds.into_iter().all(is_built) {
        return case.trim_end().to_owned() + "\n";
    }
    let replaced: Vec<&str> = after("on ");
    let replaced = replaced.into_iter().map(|line| {
        let words: Vec<String> = line.splitn(4, ' ').map(str::to_owned).collect();
        <[String; 4]>::try_from(words).map(Replaced::from).unwrap()
    });
    let dates: Vec<&str> = after("date ");
    let date = dates.first().copied().unwrap_or("Mon, 16 Nov 2026 10:05:00 GMT");
    let base = front(sandbox, replaced.collect(), date.to_owned()).await;
    let mut env = working(&base, folder.path());
    let sign_ins: Vec<&str> = after("sign in ");
    if !sign_ins.is_empty() {
        // Directly, because the replaced answers are those to the doctor.
        let at_sandbox = working(sandbox, folder.path());
        let var = |name: &str| at_sandbox.get(name).cloned();
        let config = Config::from(var, None, None, clock::written()).unwrap();
        let app = App::new(config);
        for words in sign_ins {
            let (provider, address) = words.split_once(' ').unwrap();
            app.consent(provider, address).await.unwrap();
        }
        app.close().await;
    }
    let mut ports = vec![("[PORT]", base.rsplit(':').next().unwrap().to_owned())];
    #[cfg(feature = "http")]
    if lines.contains(&"tls") {
        ports.push(("[TLS]", untrusted().await.to_string()));
    }
    let refusals: Vec<&str> = after("postgres ");
    for refusal in refusals {
        ports.push(("[POSTGRES]", refusing_postgres(refusal).await.to_string()));
    }
    let fill = |text: &str| {
        let text = text.replace("[DIR]", folder.path().to_str().unwrap());
        let text = text.replace("[PROGRAM]", PROGRAM);
        ports.iter().fold(text, |text, (name, port)| text.replace(name, port))
    };
    let is_variable = |line: &&&str| line.starts_with(|c: char| c.is_ascii_uppercase());
    for line in lines.iter().filter(is_variable) {
        let (name, value) = line.split_once('=').unwrap();
        match value {
            "" => drop(env.remove(name)),
            value => drop(env.insert(name.to_owned(), fill(value))),
        }
    }
    env.insert("HOME".to_owned(), folder.path().join("user").display().to_string());
    env.insert("PATH".to_owned(), "/usr/bin:/bin".to_owned());
    let shell = |line: String, at: &Path| {
        let mut shell = Command::new("sh");
        shell.args(["-c", &line]).current_dir(at).env_clear().envs(&env);
        shell
    };
    let steps: Vec<&str> = after("sh ");
    for line in steps {
        assert!(shell(fill(line), folder.path()).status().await.unwrap().success(), "{line}");
    }
    let line = call.replace("daysheet ", &format!("'{PROGRAM}' "));
    let output = shell(line, &folder.path().join("user/project")).output().await.unwrap();
    let mut out = String::from_utf8(output.stdout).unwrap();
    out += std::str::from_utf8(&output.stderr).unwrap();
    assert!(!out.contains(SECRET), "{out}");
    for (value, name) in [
        (folder.path().to_str().unwrap(), "[DIR]"),
        (PROGRAM, "[PROGRAM]"),
        (env!("CARGO_PKG_VERSION"), "[VERSION]"),
    ] {
        out = out.replace(value, name);
    }
    for (name, port) in &ports {
        out = out.replace(&format!(":{port}"), &format!(":{name}"));
    }
    // The platform and the optional parts of a build.
    out = regex::Regex::new(r"(daysheet \[VERSION\]), .*").unwrap().replace(&out, "$1, …").into();
    // The key is another one each time.
    out = regex::Regex::new("key [0-9a-f]{8}").unwrap().replace_all(&out, "key [KEY]").into_owned();
    if let Some(code) = output.status.code().filter(|code| *code != 0) {
        out += &format!("= {code}\n");
    }
    format!("{head}\n$ {call}\n{out}")
}

/// Returns true if this build has a feature, or with `!` has it not.
fn is_built(feature: &str) -> bool {
    match feature {
        "http" => cfg!(feature = "http"),
        "postgres" => cfg!(feature = "postgres"),
        "!postgres" => !cfg!(feature = "postgres"),
        other => panic!("unknown build: {other}"),
    }
}

/// Starts a server with TLS and a certificate of the tests. Returns its port.
#[cfg(feature = "http")]
async fn untrusted() -> u16 {
    use rustls::pki_types::pem::PemObject as _;
    use rustls::pki_types::{CertificateDer, PrivateKeyDer};
    let file = |name: &str| format!("{}/tests/fixtures/{name}", env!("CARGO_MANIFEST_DIR"));
    let certificate = CertificateDer::from_pem_file(file("localhost.pem")).unwrap();
    let key = PrivateKeyDer::from_pem_file(file("localhost-key.pem")).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(config));
    let socket = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = socket.local_addr().unwrap().port();
    tokio::spawn(async move {
        loop {
            let (stream, _) = socket.accept().await.unwrap();
            // The doctor ends the handshake.
            tokio::spawn(acceptor.accept(stream));
        }
    });
    port
}

/// Starts a PostgreSQL that asks for a password, and refuses it with an error: the code and the
/// message (<https://www.postgresql.org/docs/current/protocol-flow.html>). Returns its port.
async fn refusing_postgres(refusal: &str) -> u16 {
    let (code, message) = refusal.split_once(' ').unwrap();
    let fields = format!("SFATAL\0VFATAL\0C{code}\0M{message}\0\0");
    let length = u32::try_from(fields.len() + 4).unwrap();
    let error = [b"E", &length.to_be_bytes()[..], fields.as_bytes()].concat();
    let socket = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = socket.local_addr().unwrap().port();
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = socket.accept().await.unwrap();
            let error = error.clone();
            tokio::spawn(async move {
                let mut bytes = [0; 1024];
                // A request for TLS precedes the start.
                for answer in [&b"N"[..], b"R\0\0\0\x08\0\0\0\x03", &error] {
                    if stream.read(&mut bytes).await.is_ok_and(|count| count > 0) {
                        let _ = stream.write_all(answer).await;
                    }
                }
            });
        }
    });
    port
}

/// Starts a server in front of the sandbox that replaces some answers, and the dates of all. Returns
/// its address.
pub async fn front(sandbox: &str, replaced: Vec<Replaced>, date: String) -> String {
    let socket = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", socket.local_addr().unwrap());
    let behind = sandbox.strip_prefix("http://").unwrap().to_owned();
    let replaced = Arc::new(replaced);
    tokio::spawn(async move {
        loop {
            let (stream, _) = socket.accept().await.unwrap();
            let (behind, replaced, date) = (behind.clone(), replaced.clone(), date.clone());
            tokio::spawn(async move {
                // The doctor also connects without a request.
                if let Some(request) = request(stream).await {
                    answer(request, &behind, &replaced, &date).await;
                }
            });
        }
    });
    base
}

/// A connection with the head and the body of its request.
struct FrontRequest {
    stream: TcpStream,
    head: String,
    body: String,
}

async fn request(mut stream: TcpStream) -> Option<FrontRequest> {
    let mut text = String::new();
    loop {
        let mut bytes = [0; 4096];
        let count = stream.read(&mut bytes).await.ok().filter(|count| *count > 0)?;
        // The beginning of a TLS handshake.
        if bytes[0] == 0x16 {
            return None;
        }
        text.push_str(&String::from_utf8_lossy(&bytes[..count]));
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head
                .lines()
                .find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok())
                .unwrap_or(0);
            if body.len() >= length {
                let (head, body) = (head.to_owned(), body.to_owned());
                return Some(FrontRequest { stream, head, body });
            }
        }
    }
}

async fn answer(request: FrontRequest, behind: &str, replaced: &[Replaced], date: &str) {
    let FrontRequest { mut stream, head, body } = request;
    let path = head.split(' ').nth(1).unwrap();
    let own = replaced.iter().find(|(start, part, ..)| {
        path.starts_with(start.as_str()) && (part == "*" || body.contains(part.as_str()))
    });
    let bytes = if let Some((_, _, status, text)) = own {
        let (location, text) = match status.as_str() {
            "302" => (format!("Location: {text}\r\n"), ""),
            _ => (String::new(), text.as_str()),
        };
        format!(
            "HTTP/1.1 {status} Replaced\r\n{location}Date: {date}\r\nConnection: close\r\n\
             Content-Length: {}\r\n\r\n{text}",
            text.len()
        )
        .into_bytes()
    } else {
        let mut sandbox = TcpStream::connect(behind).await.unwrap();
        let lines = head.lines().filter(|line| !line.to_lowercase().starts_with("connection:"));
        let head: String = lines.map(|line| format!("{line}\r\n")).collect();
        let sent = format!("{head}Connection: close\r\n\r\n{body}");
        sandbox.write_all(sent.as_bytes()).await.unwrap();
        let mut bytes = Vec::new();
        sandbox.read_to_end(&mut bytes).await.unwrap();
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
        let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
        let lines = head.lines().filter(|line| !line.to_lowercase().starts_with("date:"));
        let head: String = lines.map(|line| format!("{line}\r\n")).collect();
        [format!("{head}Date: {date}").as_bytes(), &bytes[end..]].concat()
    };
    // The client may have disconnected.
    let _ = stream.write_all(&bytes).await;
}

#[cfg(unix)]
#[tokio::test]
async fn broken_installations_are_named() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(CASES);
    let text = std::fs::read_to_string(&path).unwrap();
    let options = SandboxOptions::new(clock::written());
    let sandbox = Sandbox::start(options).await.unwrap();
    let mut cases = text.split("# case: ");
    let mut all = cases.next().unwrap().to_owned();
    let outputs: Vec<String> = futures_util::stream::iter(cases)
        .map(|case| actual(case, sandbox.base()))
        .buffered(AT_ONCE)
        .collect()
        .await;
    assert!(outputs.len() >= 40, "only {} cases were read", outputs.len());
    for output in outputs {
        all += &format!("# case: {output}\n");
    }
    let all = format!("{}\n", all.trim_end());
    if std::env::var_os("DAYSHEET_ACCEPT").is_some() {
        std::fs::write(&path, &all).unwrap();
    }
    assert_eq!(all, std::fs::read_to_string(&path).unwrap());
}

/// The cases cannot take the ports of the machine away.
#[test]
fn machine_without_free_ports_is_named() {
    assert!(check_loopback(std::net::TcpListener::bind).is_ok());
    let denied = |address: std::net::SocketAddr| -> std::io::Result<()> {
        assert_eq!(address.to_string(), "127.0.0.1:0");
        Err(std::io::ErrorKind::PermissionDenied.into())
    };
    assert_eq!(
        check_loopback(denied).unwrap_err().to_string(),
        "cannot listen on any port of 127.0.0.1 (permission denied): let the security policy that \
         confines this program allow it to listen there; until then, sign in with --device \
         (Microsoft), and approve writes with `daysheet approve`"
    );
}

/// The rows of the table as a page shows them.
fn rows() -> String {
    let mut out = String::new();
    for (provider, title) in [("google", "Google"), ("microsoft", "Microsoft"), ("", "Either")] {
        out +=
            &format!("\n### {title}\n\n| at the provider | cause | next step |\n|---|---|---|\n");
        for row in REFUSALS.iter().filter(|row| row.provider == provider) {
            let numbers = row.numbers.iter().map(|number| format!("`AADSTS{number}`"));
            let texts = row.texts.iter().map(|text| format!("“{text}”"));
            let words = row.words.iter().map(|word| format!("`{word}`"));
            let signs: Vec<String> = texts.chain(numbers).chain(words).collect();
            let name = if provider.is_empty() { "PROVIDER" } else { provider };
            let next = row
                .next
                .replace("{add}", &format!("`daysheet account add {name}`"))
                .replace("{setup}", &format!("[setup-{name}.md](setup-{name}.md)"))
                .replace("{client_id}", &format!("`DAYSHEET_{}_CLIENT_ID`", name.to_uppercase()))
                .replace(
                    "{consent}",
                    "`https://login.microsoftonline.com/TENANT/adminconsent?client_id=CLIENT_ID`",
                )
                .replace("{api}", "enable the API on the page that the message names");
            let next = next.replace("[setup-PROVIDER.md](setup-PROVIDER.md)", "its setup page");
            out += &format!("| {} | {} | {next} |\n", signs.join(", "), row.why);
        }
    }
    out
}

#[test]
fn troubleshooting_lists_all_refusals() {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(PAGE)).unwrap();
    let start = "<!-- generated from src/core/provider/refusals/table.rs -->\n";
    let (before, rest) = text.split_once(start).unwrap();
    let (_, after) = rest.split_once("\n<!-- end -->").unwrap();
    let page = format!("{before}{start}{}\n<!-- end -->{after}", rows());
    if let Some(problem) = crate::generated::stale(PAGE, page) {
        panic!("{problem}");
    }
    // Each has a sign by which a person or the program finds it.
    for row in REFUSALS {
        let has_codes = !row.numbers.is_empty() || !row.words.is_empty();
        assert!(has_codes || row.stage == RefusalStage::Page, "{}", row.why);
        assert!(has_codes || !row.texts.is_empty(), "{}", row.why);
    }
}
