//! Time from the start of the process to the answer of `initialize`, memory at that point and while
//! listing, the round trips of a page and of a month, and the size of the program.

use serde_json::json;

use crate::common::{DAYSHEET, figure, figures, local, median, timed};
use crate::server::Server;

/// The number of starts of which the median is reported.
const STARTS: usize = 21;

pub async fn run() {
    let home = tempfile::tempdir().unwrap();
    let settings = local(home.path(), "UTC");
    let mut starts = Vec::new();
    let mut resident = None;
    for _ in 0..STARTS {
        let (server, took) = timed(|| Server::start(&settings, &[]));
        starts.push(took);
        resident = server.memory("VmRSS");
        server.end();
    }
    let list = |server: &mut Server| {
        let answer = server.call("mail_search", &json!({"limit": 50})).concat();
        assert!(answer.contains("messages[50"), "{answer}");
    };
    figures();
    let start = median(starts).unwrap();
    figure("start to the answer of `initialize`", format!("{start:.1} ms"), "at most 10 ms");
    if let Some(now) = resident {
        figure("memory after that", format!("{now:.1} MB"), "at most 12 MB");
    }
    let mut server = Server::start(&settings, &["--sandbox"]);
    list(&mut server);
    if let Some(most) = server.memory("VmHWM") {
        let what = "most memory while listing 50 messages, with the sandbox in the process";
        figure(what, format!("{most:.1} MB"), "under 40 MB");
    }
    server.end();
    let month = json!({"from": "2026-11-01", "to": "2026-11-30"});
    for delay in [50, 200] {
        let fault = format!("delay={delay}ms");
        let mut server = Server::start(&settings, &["--sandbox", "--fault", &fault]);
        let ((), listed) = timed(|| list(&mut server));
        let (_, month) = timed(|| server.call("calendar_search", &month));
        for (what, took, goal) in [("50 messages", listed, 4), ("a month of events", month, 3)] {
            let what = format!("listing {what}, every response {delay} ms late");
            let trips = format!("{:.1} round trips", took / f64::from(delay));
            figure(&what, trips, &format!("at most {goal}"));
        }
        server.end();
    }
    let size = std::fs::metadata(DAYSHEET).unwrap().len() as f64 / 1e6;
    figure("the program's file", format!("{size:.1} MB"), "");
}
