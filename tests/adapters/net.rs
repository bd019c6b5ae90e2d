//! The HTTPS client that everything except the Graph SDK shares.

use std::io::Write;

use daysheet_providers::net::{self, FetchFailure};
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::tap::{HttpResponse, Tap, empty};

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

/// Reads a response, up to 1 MiB. If it was decompressed, its headers no longer mention the
/// compression.
async fn read(answer: HttpResponse) -> Result<String, String> {
    let coding = answer.headers.iter().find(|(name, _)| *name == "content-encoding").cloned();
    let tap = Tap::start(None).await;
    tap.say(move |request| {
        assert_eq!(request.header("accept-encoding"), "gzip");
        assert!(request.header("user-agent").starts_with("daysheet/"), "{request:?}");
        assert!(request.header("user-agent").ends_with(" (gzip)"), "{request:?}");
        Some(answer.clone())
    });
    let request = hyper::Request::get(format!("{}/x", tap.base)).body(Vec::new()).unwrap();
    match net::exchange(request, 1 << 20, None).await {
        Ok(read) => {
            let left = read.answer.headers().get("content-encoding");
            assert_eq!(left.is_some(), coding.is_some_and(|(_, value)| value == "br"));
            Ok(String::from_utf8_lossy(read.answer.body()).into_owned())
        }
        Err(FetchFailure::Long) => Err("long".to_owned()),
        Err(FetchFailure::Broken(why)) if why.contains("decompressed") => Err("damaged".to_owned()),
        Err(FetchFailure::Broken(_)) => Err("broken".to_owned()),
        Err(FetchFailure::Unreached(why)) => Err(why),
    }
}

#[tokio::test]
async fn responses_are_decompressed_up_to_a_limit() {
    let most = 1 << 20;
    let whole = gzip(&vec![b'x'; most]);
    let (text, over) = ("a line\n".repeat(20_000), gzip(&vec![b'x'; most + 1]));
    let mut damaged = gzip(text.as_bytes());
    let middle = damaged.len() / 2;
    damaged[middle] ^= 0x55;
    let cut = gzip(text.as_bytes())[..middle].to_vec();
    // A kilobyte for each megabyte of it.
    let bomb = gzip(&vec![0; 64 << 20]);
    let coded =
        |coding: &str, body: Vec<u8>| empty(200).header("content-encoding", coding).body(body);
    let cases = [
        ("compressed", coded("gzip", gzip(text.as_bytes())), Ok(text.as_str())),
        ("in capitals", coded("GZIP", gzip(b"hi")), Ok("hi")),
        ("empty, compressed", coded("gzip", gzip(b"")), Ok("")),
        ("no content", empty(204).header("content-encoding", "gzip"), Ok("")),
        ("not compressed", empty(200).body("hi"), Ok("hi")),
        ("another coding", coded("br", b"as it is".to_vec()), Ok("as it is")),
        ("as long as it may be", coded("gzip", whole), Ok(&*"x".repeat(most))),
        ("longer", coded("gzip", over), Err("long")),
        ("a bomb", coded("gzip", bomb), Err("long")),
        ("longer, not compressed", empty(200).body("x".repeat(most + 1)), Err("long")),
        ("damaged", coded("gzip", damaged), Err("damaged")),
        ("without its end", coded("gzip", cut), Err("damaged")),
        (
            "with more after its end",
            coded("gzip", [gzip(b"hi"), gzip(b"ho")].concat()),
            Err("damaged"),
        ),
        ("not gzip", coded("gzip", b"{\"id\": 1}".to_vec()), Err("damaged")),
        (
            "broken off",
            coded("gzip", gzip(text.as_bytes())[..middle].to_vec()).cut(),
            Err("broken"),
        ),
    ];
    for (name, answer, expected) in cases {
        let read = read(answer).await;
        let begins = read.clone().map(|text| text.chars().take(20).collect::<String>());
        assert!(
            read.as_deref().map_err(std::string::String::as_str) == expected,
            "{name}: {begins:?}"
        );
    }
}
