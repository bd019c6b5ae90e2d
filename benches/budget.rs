//! The number of messages that fit into a budget, from the sandbox's mailbox or `--mail DIR`.
//!
//! The whole program lists the newest hundred messages with all columns at several budgets. The
//! table has the messages of the first chunk by their number of columns, the planned and the real
//! cost, and for comparison the number of messages that fit if others are dropped at full detail
//! instead. A second table has the five largest messages, read at the same budgets.

use std::cmp::Reverse;

use daysheet::cli::sandboxed::SandboxUser;
use daysheet_core::budget::count::{TOKENIZER, tokens};
use serde_json::{Value, json};

use crate::common::{ALL, Embedded, heading, option};

const BUDGETS: [usize; 5] = [600, 1_200, 2_300, 4_000, 8_000];

pub async fn run() {
    let mail = option("--mail");
    let who = match mail {
        Some(_) => SandboxUser::Usual,
        None => SandboxUser::These(&[("google", "mira@example.com")]),
    };
    let mut at = Embedded::start(mail.map(Into::into), None, who).await;
    list(&mut at).await;
    read(&mut at).await;
}

async fn list(at: &mut Embedded) {
    let list = json!({"detail": "full", "limit": 100});
    let (whole, stats) = at.ask("mail_search", &list, ALL).await;
    let (rows, heads): (Vec<&str>, Vec<&str>) =
        whole[0].lines().partition(|line| line.starts_with("  "));
    let tokens_of = &stats["tokens"];
    println!(
        "mail_search, {} messages, all columns: {tokens_of} tokens of {TOKENIZER} in full\n",
        rows.len()
    );
    heading(&[
        "budget",
        "full",
        "standard",
        "minimal",
        "shown",
        "planned",
        "real",
        "chunks",
        "rows at full detail instead",
    ]);
    for budget in BUDGETS {
        let (_, stats) = at.ask("mail_search", &list, budget).await;
        // The same heading and notes, and whole rows while they fit.
        let mut text = format!("{}\n{}", heads.join("\n"), whole.last().unwrap());
        let fits = |row: &&&str| {
            text.push('\n');
            text.push_str(row);
            tokens(&text) <= budget
        };
        let instead = rows.iter().take_while(fits).count();
        // An answer that fits has no levels.
        let level = |name: &str, whole| stats["levels"][name].as_u64().unwrap_or(whole);
        let full = level("full", rows.len() as u64);
        let (standard, minimal) = (level("standard", 0), level("minimal", 0));
        let shown = full + standard + minimal;
        println!(
            "| {budget} | {full} | {standard} | {minimal} | {shown} | {} | {instead} |",
            cost(&stats)
        );
    }
}

async fn read(at: &mut Embedded) {
    let list = json!({"fields": ["id", "size"], "limit": 100, "format": "json"});
    let (found, _) = at.ask("mail_search", &list, ALL).await;
    let mut found: Value = serde_json::from_str(&found[0]).unwrap();
    let messages = found["messages"].as_array_mut().unwrap();
    messages.sort_by_key(|row| Reverse(row["size"].as_i64()));
    let ids: Vec<&Value> = messages.iter().take(5).map(|row| &row["id"]).collect();
    let read = json!({"ids": ids, "quoted": true});
    let characters =
        |blocks: &[String]| -> usize { blocks.iter().map(|block| block.chars().count()).sum() };
    let (whole, stats) = at.ask("mail_read", &read, ALL).await;
    println!(
        "\nmail_read, the 5 largest messages: {} characters, {} tokens in full\n",
        characters(&whole),
        stats["tokens"]
    );
    heading(&["budget", "messages", "cut", "characters of text", "planned", "real", "chunks"]);
    for budget in BUDGETS {
        let (blocks, stats) = at.ask("mail_read", &read, budget).await;
        let levels = stats["levels"].as_object();
        let shown: u64 = levels.map_or(5, |levels| levels.values().filter_map(Value::as_u64).sum());
        let (cut, text) = (stats["windows"].as_u64().unwrap_or(0), &blocks[1..blocks.len() - 1]);
        println!("| {budget} | {shown} | {cut} | {} | {} |", characters(text), cost(&stats));
    }
}

/// Returns the cells of planned tokens, tokens and chunks; the first is empty if the answer fits.
fn cost(stats: &Value) -> String {
    let planned = stats["planned"].as_u64().map_or(String::new(), |tokens| tokens.to_string());
    format!("{planned} | {} | {}", stats["tokens"], stats["chunks"])
}
