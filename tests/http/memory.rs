//! The memory of the process, as Linux counts it, while people hold requests open.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::common::issuer::TestIssuer;
use crate::common::thorough::thorough;
use crate::program::Program;
use crate::stage::Caller;

/// The audience of the tokens.
const HERE: &str = "https://mail.example.com/mcp";
/// The number of connections, and the bytes that each announces.
const CONNECTIONS: usize = 150;
const BODY: usize = 4_100_000;
/// The number of bodies that the server admits, of one person and of everyone.
const OF_ONE: usize = 4;
const OF_ALL: usize = 16;
/// The number of bodies of one person that may arrive or wait.
const ARRIVING: usize = 32;
const MIB: usize = 1 << 20;
/// The memory of a body in addition to its bytes, and the memory of a connection.
const BESIDES: (usize, usize) = (MIB / 2, MIB / 32);
/// The longest wait for an expected event.
const PATIENCE: Duration = Duration::from_secs(40);

/// People hold connections open whose long bodies never end. Memory grows only by the admitted
/// bodies, the others are refused, and another person is answered meanwhile.
#[tokio::test]
async fn unfinished_bodies_take_a_limited_memory() {
    let crowds: &[usize] = if thorough() { &[1, 3, 6] } else { &[1, 3] };
    for people in crowds {
        let issuer = TestIssuer::start().await;
        let token = |number: usize| issuer.token(&format!("p{number}"), HERE, &json!({}));
        let settings = [
            ("DAYSHEET_HTTP_ISSUER", &*issuer.url),
            ("DAYSHEET_HTTP_AUDIENCE", HERE),
            ("DAYSHEET_LIMITS_CALLS_PER_MINUTE", "0"),
        ];
        let mut program = Program::start(&settings).await;
        program.caller.http.token = token(*people);
        let other = &program.caller;
        small_call(other).await;
        let id = program.child.id().unwrap();
        let before = memory(id, "VmRSS:");

        let (answer, mut answers) = unbounded_channel();
        let sent = Arc::new(AtomicUsize::new(0));
        for at in 0..CONNECTIONS {
            let address = other.http.base.trim_start_matches("http://").to_owned();
            tokio::spawn(hold(address, token(at % people), sent.clone(), answer.clone()));
        }
        let each = CONNECTIONS / people;
        let refused = people * each.saturating_sub(ARRIVING);
        let let_in = (people * OF_ONE).min(OF_ALL);
        let mut statuses = Vec::new();
        for _ in 0..refused {
            statuses.push(tokio::time::timeout(PATIENCE, answers.recv()).await.unwrap().unwrap());
        }
        assert_eq!(statuses, vec!["HTTP/1.1 429"; refused], "{people} people");
        // Nothing more is taken if none is while ten calls of somebody else are answered.
        let settled = async {
            loop {
                let before_calls = sent.load(Relaxed);
                for _ in 0..10 {
                    small_call(other).await;
                }
                let grown = memory(id, "VmRSS:").saturating_sub(before);
                if sent.load(Relaxed) == before_calls && grown >= let_in * BODY {
                    return;
                }
            }
        };
        let settled = tokio::time::timeout(PATIENCE, settled).await;
        assert!(settled.is_ok(), "{people} people: fewer than {let_in} bodies are in memory");
        assert!(answers.is_empty(), "{people} people: {:?}", answers.try_recv());
        if thorough() {
            // Those that wait are refused, and those that do not end are timed out.
            let mut late = Vec::new();
            for _ in refused..CONNECTIONS {
                let next = tokio::time::timeout(PATIENCE, answers.recv()).await;
                late.push(next.unwrap().unwrap());
            }
            late.sort_unstable();
            let timed_out = vec!["HTTP/1.1 408"; let_in];
            let waited = vec!["HTTP/1.1 429"; CONNECTIONS - refused - let_in];
            assert_eq!(late, [timed_out, waited].concat(), "{people} people");
        }
        let growth = memory(id, "VmHWM:") - before;
        let most = let_in * (BODY + BESIDES.0) + CONNECTIONS * BESIDES.1;
        println!(
            "{people} people, {CONNECTIONS} bodies of {BODY} bytes: {refused} refused at once, \
             {let_in} let in; memory {} KiB before, {} KiB more at most of {} allowed",
            before / 1024,
            growth / 1024,
            most / 1024
        );
        assert!(growth <= most, "{people} people: {growth} bytes, {most} allowed");
    }
}

/// Calls a tool that needs no account.
async fn small_call(caller: &Caller) {
    let found = caller.ok("lookup", json!({"kind": "schemas"})).await;
    assert!(found.starts_with("schemas["), "{found}");
}

/// Returns a memory figure of a process, in bytes.
fn memory(process: u32, name: &str) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() * 1024
}

/// Sends a body except its last byte, as fast as the server reads it, and holds the connection
/// open. Counts the bytes in `sent`, and reports the status line of the response.
async fn hold(
    address: String,
    token: String,
    sent: Arc<AtomicUsize>,
    answer: UnboundedSender<String>,
) {
    let (mut back, mut there) = TcpStream::connect(address).await.unwrap().into_split();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n\
         Content-Type: application/json\r\nContent-Length: {BODY}\r\n\r\n"
    );
    let send = async move {
        there.write_all(head.as_bytes()).await?;
        let piece = vec![b' '; 50_000];
        let mut left = BODY - 1;
        while left > 0 {
            let count = there.write(&piece[..left.min(piece.len())]).await?;
            sent.fetch_add(count, Relaxed);
            left -= count;
        }
        std::io::Result::Ok(there)
    };
    // Dropped, the sending half would end the body.
    let sending = tokio::spawn(send);
    let mut status = [0; 12];
    let read = back.read_exact(&mut status).await;
    let status = String::from_utf8_lossy(&status).into_owned();
    let _ = answer.send(read.map_or_else(|error| error.to_string(), |_| status));
    sending.abort();
}
