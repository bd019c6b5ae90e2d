//! Requests to services, shared between people.

use std::sync::{Arc, Mutex};

use daysheet_core::error::{Error, ErrorKind};
use daysheet_core::provider::upstream::{CountKind, UpstreamRequests, UpstreamShare, outcome};

/// Makes requests one after another, and records `name` as each one begins.
async fn requests(share: &UpstreamShare, count: usize, name: usize, begun: &Mutex<Vec<usize>>) {
    for _ in 0..count {
        let _place = share.place().await;
        begun.lock().unwrap().push(name);
        for _ in 0..5 {
            tokio::task::yield_now().await;
        }
    }
}

/// Each case has the number of other people, the requests that each makes at once, and the number
/// of their requests that may begin between two requests of one more person, of which the test
/// allows twice as many. Everyone shares 8 places.
#[tokio::test]
async fn nobody_waits_for_the_end_of_anothers_job() {
    // Next to one person with a thousand requests, a place stays free, because no person gets them
    // all.
    let cases = [(1, 1_000, 2), (4, 1_000, 8), (20, 50, 40)];
    for (others, at_once, between) in cases {
        let upstream = UpstreamRequests::new(8);
        let begun = Arc::new(Mutex::new(Vec::new()));
        let mut running = tokio::task::JoinSet::new();
        for other in 1..=others {
            let share = upstream.share_of(&format!("p-{other}"));
            for _ in 0..at_once {
                let (share, begun) = (share.clone(), begun.clone());
                running.spawn(async move { requests(&share, 3, other, &begun).await });
            }
        }
        while upstream.in_flight() < 2 * others.min(4) {
            tokio::task::yield_now().await;
        }
        requests(&upstream.share_of("me"), 10, 0, &begun).await;
        let begun = begun.lock().unwrap().clone();
        let mine: Vec<usize> = (0..begun.len()).filter(|at| begun[*at] == 0).collect();
        let most = mine.windows(2).map(|two| two[1] - two[0] - 1).max().unwrap();
        assert!(mine.len() == 10 && most <= 2 * between, "{others} others: {most}");
        running.shutdown().await;
        assert_eq!(upstream.in_flight(), 0);
    }
}

#[tokio::test]
async fn long_responses_take_turns_between_people() {
    let upstream = UpstreamRequests::new(8);
    let (one, same, other) =
        (upstream.share_of("p-1"), upstream.share_of("p-1"), upstream.share_of("p-2"));
    let turn = one.own_turn().await;
    assert!(turn.is_some());
    let waits = |share: UpstreamShare| async move {
        let soon = std::time::Duration::from_millis(20);
        tokio::time::timeout(soon, share.own_turn()).await.is_err()
    };
    assert!(waits(same.clone()).await);
    assert!(!waits(other).await);
    drop(turn);
    assert!(!waits(same).await);
}

#[test]
fn requests_are_counted_by_outcome() {
    let upstream = UpstreamRequests::new(8);
    let cases = [
        (Ok(()), "2xx"),
        (Err(ErrorKind::RateLimited(None)), "throttled"),
        (Err(ErrorKind::Provider(404)), "4xx"),
        (Err(ErrorKind::NotFound), "4xx"),
        (Err(ErrorKind::Provider(503)), "5xx"),
        (Err(ErrorKind::Network), "network"),
        (Err(ErrorKind::Timeout), "timeout"),
        (Err(ErrorKind::Argument), "other"),
        (Err(ErrorKind::Provider(200)), "other"),
    ];
    for (response, word) in cases {
        let response = response.map_err(|kind| Error::new(kind, "no"));
        assert_eq!(outcome(&response), word, "{response:?}");
        upstream.count(CountKind::Request, "google", word);
    }
    let counts = upstream.counts();
    let of = |word| counts.iter().find(|(one, _)| one.outcome == word).map(|(_, count)| *count);
    assert_eq!((of("2xx"), of("4xx"), of("timeout")), (Some(1), Some(2), Some(1)));
}
