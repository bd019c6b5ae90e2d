//! The number of messages that fit into a budget, from the sandbox's mailbox or a folder of mail.
//!
//! `cargo bench --bench budget [-- --mail DIR]` requests, through the whole program, the newest
//! hundred messages with all columns at several budgets. It prints how many of them the first chunk
//! shows with how many columns, the planned and the real cost, and for comparison how many would be
//! shown if messages were dropped at full detail instead. It also reads five messages at the same
//! budgets. The table is in `docs/budget.md`.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a benchmark prints its table and stops at the first surprise"
)]

use std::path::PathBuf;

use daysheet::app::App;
use daysheet::cli::client::InProcessClient;
use daysheet::cli::sandboxed::SandboxUser;
use daysheet::config::Config;
use daysheet_core::budget::count::{TOKENIZER, tokens};
use daysheet_core::clock::Clock;
use daysheet_sandbox::FaultRates;
use serde_json::{Value, json};

const BUDGETS: &[usize] = &[600, 1_200, 2_300, 4_000, 8_000];

/// A budget that holds everything below the ceiling.
const ALL: usize = 100_000;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let mail = mail();
    let home = tempfile::tempdir().unwrap();
    let var = |name: &str| match name {
        "DAYSHEET_HOME" => home.path().to_str().map(str::to_owned),
        "DAYSHEET_KEY_STORE" => Some("file".to_owned()),
        "DAYSHEET_ZONE" => Some("Europe/Berlin".to_owned()),
        _ => None,
    };
    let config = Config::from(var, None, None, Clock::system()).unwrap();
    let who = match mail {
        Some(_) => SandboxUser::Usual,
        None => SandboxUser::These(&[("google", "mira@example.com")]),
    };
    let (app, _sandbox) =
        App::sandboxed(config, mail, None, FaultRates::default(), who).await.unwrap();
    let mut client = InProcessClient::connect(app.server()).await.unwrap();

    let list = json!({"detail": "full", "limit": 100});
    let (whole, _) = ask(&mut client, "mail_search", &list, ALL).await;
    let mut lines = whole[0].lines();
    let heads: Vec<&str> = lines.by_ref().take_while(|line| !line.starts_with("  ")).collect();
    let rows: Vec<&str> = whole[0].lines().filter(|line| line.starts_with("  ")).collect();
    println!(
        "mail_search, {} messages, all columns: {} tokens of {TOKENIZER} whole\n",
        rows.len(),
        whole.iter().map(|block| tokens(block)).sum::<usize>()
    );
    println!(
        "| budget | full | standard | minimal | shown | planned | real | chunks | rows at full detail instead |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for budget in BUDGETS {
        let (_, meta) = ask(&mut client, "mail_search", &list, *budget).await;
        // The same heading and notes, and whole rows while they fit.
        let mut text = format!("{}\n{}", heads.join("\n"), whole.last().unwrap());
        let mut instead = 0;
        for row in &rows {
            text.push('\n');
            text.push_str(row);
            if tokens(&text) > *budget {
                break;
            }
            instead += 1;
        }
        let levels = match meta["levels"].as_object() {
            Some(levels) => {
                ["full", "standard", "minimal"].map(|name| levels[name].as_u64().unwrap())
            }
            None => [rows.len() as u64, 0, 0],
        };
        println!(
            "| {budget} | {} | {} | {} | {} | {} | {} | {} | {instead} |",
            levels[0],
            levels[1],
            levels[2],
            levels.iter().sum::<u64>(),
            meta["planned"],
            meta["tokens"],
            meta["chunks"],
        );
    }

    let found = json!({"fields": ["id", "size"], "limit": 100, "format": "json"});
    let (found, _) = ask(&mut client, "mail_search", &found, ALL).await;
    let found: Value = serde_json::from_str(&found[0]).unwrap();
    let mut messages: Vec<(i64, String)> = found["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["size"].as_i64().unwrap_or(0), row["id"].as_str().unwrap().to_owned()))
        .collect();
    messages.sort();
    let ids: Vec<String> = messages.into_iter().rev().take(5).map(|(_, id)| id).collect();
    let read = json!({"ids": ids, "quoted": true});
    let (whole, meta) = ask(&mut client, "mail_read", &read, ALL).await;
    println!(
        "\nmail_read, the 5 largest messages: {} characters, {} tokens whole\n",
        whole.iter().map(|block| block.chars().count()).sum::<usize>(),
        meta["tokens"]
    );
    println!("| budget | messages | cut | characters of text | planned | real | chunks |");
    println!("|---|---|---|---|---|---|---|");
    for budget in BUDGETS {
        let (blocks, meta) = ask(&mut client, "mail_read", &read, *budget).await;
        let shown: usize =
            blocks[1..blocks.len() - 1].iter().map(|block| block.chars().count()).sum();
        let levels = meta["levels"].as_object();
        println!(
            "| {budget} | {} | {} | {shown} | {} | {} | {} |",
            levels.map_or(5, |levels| levels.values().filter_map(Value::as_u64).sum()),
            meta["windows"].as_u64().unwrap_or(0),
            meta["planned"],
            meta["tokens"],
            meta["chunks"],
        );
    }
}

/// The blocks of an answer and their statistics.
async fn ask(
    client: &mut InProcessClient,
    tool: &str,
    arguments: &Value,
    budget: usize,
) -> (Vec<String>, Value) {
    let mut arguments = arguments.clone();
    arguments["budget"] = budget.into();
    let (answer, stats) = client.call_with_stats(tool, arguments).await.unwrap();
    assert!(!answer.is_error, "{answer:?}");
    (answer.blocks, stats)
}

/// The folder after `--mail`.
fn mail() -> Option<PathBuf> {
    let mut arguments = std::env::args().skip_while(|argument| argument != "--mail");
    arguments.nth(1).map(PathBuf::from)
}
