//! Long answers: where and how long they are kept, their removal with their accounts, and complete
//! reading in pages.
#![cfg(test)]

mod program;
mod reading;

use std::path::Path;
use std::sync::Arc;
use std::sync::LazyLock;
use std::time::Duration;

use daysheet::accounts::{Accounts, steady};
use daysheet::config::Config;
use daysheet::outputs::{ResultStore, StoredOutput, hash, parse_id};
use daysheet::store::Store;
use daysheet_core::clock::{Clock, ManualClock};
use daysheet_core::ids::AccountId;
use daysheet_core::text::{LINE, wrapped};
use jiff::tz::TimeZone;
use proptest::prelude::*;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, Connection, SqliteConnection};
use tempfile::TempDir;

use crate::common::clock;
use crate::common::harness::tokens;

static MIRA: LazyLock<AccountId> = LazyLock::new(|| "google:mira@example.com".into());
const RECIPE: &str = r#"{"tool":"mail_search","arguments":{"q":"lamp"}}"#;

/// A process of the user, with its own memory.
struct Process {
    outputs: ResultStore,
    accounts: Arc<Accounts>,
}

fn config(home: &Path, outputs: &str) -> Config {
    let var = |name: &str| {
        Some(match name {
            "DAYSHEET_HOME" => home.to_str().unwrap().to_owned(),
            "DAYSHEET_KEY_STORE" => "file".to_owned(),
            "DAYSHEET_OUTPUTS" => outputs.to_owned(),
            // No server listens at this address.
            "DAYSHEET_GOOGLE_REVOKE_URL" => "http://127.0.0.1:9/".to_owned(),
            _ => return None,
        })
    };
    Config::from(var, None, Some(TimeZone::UTC), clock::clock()).unwrap()
}

fn process(home: &Path, outputs: &str) -> Process {
    process_at(home, outputs, clock::clock())
}

fn process_at(home: &Path, outputs: &str, clock: Clock) -> Process {
    let config = Arc::new(Config { clock, ..config(home, outputs) });
    let store = Store::new(&config);
    let accounts = Arc::new(Accounts::new(config.clone(), store.clone()));
    Process { outputs: ResultStore::new(&config, store, accounts.clone()), accounts }
}

impl Process {
    async fn sign_in(&self, email: &str) -> AccountId {
        self.accounts.add(tokens("google", "x", "y"), email).await.unwrap().id
    }

    async fn keep(&self, text: &str, accounts: &[&AccountId]) -> String {
        let accounts: Vec<AccountId> = accounts.iter().map(|id| (*id).clone()).collect();
        self.outputs.keep(RECIPE, text, &accounts).await
    }

    /// Returns the stored form of an output: `text`, `recipe` or `nothing`.
    async fn has(&self, hash: &str) -> &'static str {
        match self.outputs.get(hash).await.unwrap() {
            Some(StoredOutput::Text(_)) => "text",
            Some(StoredOutput::Recipe { .. }) => "recipe",
            None => "nothing",
        }
    }

    async fn text(&self, hash: &str) -> String {
        match self.outputs.get(hash).await.unwrap() {
            Some(StoredOutput::Text(text)) => text.to_string(),
            other => panic!("{other:?}"),
        }
    }
}

/// Opens a connection that bypasses the store.
async fn raw(home: &Path) -> SqliteConnection {
    let options = SqliteConnectOptions::new().filename(home.join("daysheet.db"));
    SqliteConnection::connect_with(&options).await.unwrap()
}

async fn run(home: &Path, sql: impl Into<String>) {
    sqlx::query(AssertSqlSafe(sql.into())).execute(&mut raw(home).await).await.unwrap();
}

/// Returns the hashes that have rows.
async fn rows(home: &Path) -> Vec<String> {
    sqlx::query_scalar("SELECT hash FROM outputs ORDER BY hash")
        .fetch_all(&mut raw(home).await)
        .await
        .unwrap()
}

/// Returns the bytes of all files in a state folder.
fn bytes(home: &Path) -> Vec<u8> {
    std::fs::read_dir(home)
        .unwrap()
        .flat_map(|file| std::fs::read(file.unwrap().path()).unwrap())
        .collect()
}

fn holds(home: &Path, words: &str) -> bool {
    let bytes = bytes(home);
    bytes.windows(words.len()).any(|window| window == words.as_bytes())
}

#[test]
fn output_hash_is_derived_from_its_text() {
    assert_eq!(hash(""), "dsec266w45");
    assert_eq!(hash("messages: []"), "7u44bacz85");
    let some = hash("messages: []");
    for (text, expected) in [
        (some.as_str(), Some(some.as_str())),
        (&format!("daysheet://output/{some}"), Some(&some)),
        (&format!(" {some} "), Some(&some)),
        ("", None),
        ("m12", None),
        ("daysheet://output/", None),
        ("daysheet://schema/message", None),
        ("hash0hash0", None),
        ("aaaaaaaaaaa", None),
        ("aaaaaaaaä", None),
    ] {
        assert_eq!(parse_id(text), expected, "{text}");
    }
}

#[test]
fn long_texts_are_split_at_line_ends() {
    let cases: &[(&str, usize, &[&str])] = &[
        ("", 5, &[]),
        ("\n", 5, &["\n"]),
        ("a\n\nb", 5, &["a\n", "\n", "b"]),
        ("a\r\nb\n", 5, &["a\r\n", "b\n"]),
        // A line's end does not count as one of its characters.
        ("abcde\nabcde", 5, &["abcde\n", "abcde"]),
        ("abcdef\n", 5, &["abcde", "f\n"]),
        // After the last blank in the second half, which may be a tab.
        ("ab cd ef gh", 8, &["ab cd ", "ef gh"]),
        ("ab\tcd\tef\tgh\n", 8, &["ab\tcd\t", "ef\tgh\n"]),
        ("ab cdefghijkl", 8, &["ab cdefg", "hijkl"]),
        ("ååååååå", 3, &["ååå", "ååå", "å"]),
        ("日本語テキスト", 4, &["日本語テ", "キスト"]),
        ("abc", 0, &["a", "b", "c"]),
    ];
    for (text, most, expected) in cases {
        assert_eq!(wrapped(text, *most), *expected, "{text:?}");
    }
}

/// Texts with short and long lines, in several scripts.
fn texts() -> impl Strategy<Value = String> {
    let line =
        prop_oneof!["[a-e ]{0,12}", "[a-zé日\t ]{0,1600}", "[a-z]{400,1400}", Just(String::new()),];
    (proptest::collection::vec(line, 0..12), any::<bool>()).prop_map(|(lines, end)| {
        let end = if end { "\n" } else { "" };
        format!("{}{end}", lines.join("\n"))
    })
}

proptest! {
    #[test]
    fn no_byte_is_lost_between_pieces(text in texts(), most in 1_usize..600) {
        let lines = wrapped(&text, most);
        prop_assert_eq!(lines.concat(), text.as_str());
        for line in &lines {
            let inner = line.strip_suffix('\n').unwrap_or(line);
            prop_assert!(!line.is_empty() && inner.chars().count() <= most);
            prop_assert!(!inner.contains('\n'));
        }
        // The beginning of a text has the same lines.
        for end in 0..lines.len() {
            let beginning = lines[..end].concat();
            prop_assert_eq!(&wrapped(&beginning, most), &lines[..end]);
        }
    }
}

/// Outputs evicted from memory can be requested again.
#[tokio::test]
async fn memory_keeps_the_most_recently_used() {
    let home = TempDir::new().unwrap();
    let one = process(home.path(), "memory");
    let mut hashes = Vec::new();
    for number in 0..4 {
        let text = format!("{number} {}", "x".repeat(1_000_000));
        hashes.push(one.keep(&text, &[]).await);
    }
    // All four fit, and the first is used once more.
    assert_eq!(one.has(&hashes[0]).await, "text");
    for number in 4..7 {
        let text = format!("{number} {}", "x".repeat(1_000_000));
        hashes.push(one.keep(&text, &[]).await);
    }
    let evicted: Vec<bool> = {
        let mut evicted = Vec::new();
        for hash in &hashes {
            evicted.push(one.has(hash).await == "recipe");
        }
        evicted
    };
    assert_eq!(evicted, [false, true, true, true, false, false, false]);
    assert_eq!(
        one.outputs.get(&hashes[1]).await.unwrap(),
        Some(StoredOutput::Recipe { recipe: RECIPE.to_owned(), accounts: Vec::new() })
    );
    // Keeping the same text again takes no more space.
    for _ in 0..3 {
        one.keep(&format!("6 {}", "x".repeat(1_000_000)), &[]).await;
    }
    assert_eq!(one.has(&hashes[4]).await, "text");
}

#[tokio::test]
async fn oversized_text_loses_only_its_end() {
    let home = TempDir::new().unwrap();
    let one = process(home.path(), "memory");
    let full = "x".repeat(1 << 20);
    let lines: String = (0..40_000).map(|n| format!("line {n:<30}\n")).collect();
    let long = format!("a\n{}", "words of one line ".repeat(80_000));
    for (text, reported) in cases! {
        full.as_str(), "";
        &lines,
            "[the last 10880 of 40000 lines are not kept, 391680 of 1440000 bytes: ask for less to \
             read them, by limit, fewer ids or a shorter time]";
        &long,
            "[the last 787 of 2893 lines are not kept, 391707 of 1440002 bytes: ask for less to \
             read them, by limit, fewer ids or a shorter time]";
    } {
        let stored = one.text(&one.keep(text, &[]).await).await;
        assert!(stored.len() <= 1 << 20);
        if reported.is_empty() {
            assert_eq!(stored, text);
            continue;
        }
        let (head, last) = stored.rsplit_once('\n').unwrap();
        assert_eq!(last, reported);
        assert!(text.starts_with(head));
        // Lines of the stored text have the same numbers as in the whole text.
        let (all, mut some) = (wrapped(text, LINE), wrapped(&stored, LINE));
        some.pop();
        let end = some.len() - 1;
        assert_eq!(some[..end], all[..end]);
        assert_eq!(some[end].trim_end_matches('\n'), all[end].trim_end_matches('\n'));
    }
}

#[tokio::test]
async fn outputs_are_deleted_with_their_account() {
    for outputs in ["memory", "disk"] {
        let home = TempDir::new().unwrap();
        let one = process(home.path(), outputs);
        let other = process(home.path(), outputs);
        let mira = one.sign_in("mira_l@example.com").await;
        // As a pattern, the other account's name would match this one.
        let other_mira = one.sign_in("mira-l@example.com").await;
        let of_mira = one.keep("of mira", &[&mira]).await;
        let of_both = one.keep("of both", &[&other_mira, &mira]).await;
        let of_other = one.keep("of the other", &[&other_mira]).await;
        let of_nobody = one.keep("of nobody", &[]).await;
        let all = [&of_mira, &of_both, &of_other, &of_nobody];
        // The other process has them in its memory, too.
        for (hash, text) in all.iter().zip(["of mira", "of both", "of the other"]) {
            let known: &[&AccountId] = match text {
                "of mira" => &[&mira],
                "of both" => &[&other_mira, &mira],
                _ => &[&other_mira],
            };
            assert_eq!(other.keep(text, known).await, **hash);
            assert_eq!(other.has(hash).await, "text");
        }
        one.accounts.forget(&mira).await.unwrap();
        for process in [&one, &other] {
            let mut left = Vec::new();
            for hash in all {
                left.push(process.has(hash).await);
            }
            let nobodys = if outputs == "disk" || std::ptr::eq(process, &raw const one) {
                "text"
            } else {
                "recipe"
            };
            assert_eq!(left, ["nothing", "nothing", "text", nobodys], "{outputs}");
        }
        let mut left = vec![of_other, of_nobody];
        left.sort();
        assert_eq!(rows(home.path()).await, left);
    }
}

/// After signing out elsewhere and signing in again, earlier outputs are not served.
#[tokio::test]
async fn new_sign_in_revives_no_old_outputs() {
    let home = TempDir::new().unwrap();
    let one = process(home.path(), "disk");
    let other = process(home.path(), "disk");
    one.sign_in("mira@example.com").await;
    let hash = one.keep("of mira", &[&MIRA]).await;
    other.accounts.forget(&MIRA).await.unwrap();
    other.sign_in("mira@example.com").await;
    run(home.path(), "UPDATE accounts SET added = added + 10").await;
    assert_eq!(one.has(&hash).await, "nothing");
}

/// An answer that arrives after its account was removed is not kept.
#[tokio::test]
async fn output_of_a_removed_account_is_discarded() {
    let home = TempDir::new().unwrap();
    let one = process(home.path(), "disk");
    let hash = one.keep("of mira", &[&MIRA]).await;
    assert_eq!(one.has(&hash).await, "nothing");
    assert_eq!(rows(home.path()).await, Vec::<String>::new());
}

/// All parts of a call see the accounts of its own store at its beginning, and outputs of an
/// account removed meanwhile are not kept.
#[tokio::test]
async fn call_sees_the_accounts_that_it_began_with() {
    let home = tempfile::tempdir().unwrap();
    let (one, two) = (process(home.path(), "memory"), process(home.path(), "memory"));
    let id = one.sign_in("mira@example.com").await;
    let call = async {
        assert_eq!(one.accounts.list().await.unwrap().len(), 1);
        two.accounts.forget(&id).await.unwrap();
        assert_eq!(one.accounts.by_id(&id).await.unwrap().id, id);
        assert!(one.accounts.list_now().await.unwrap().is_empty());
        assert!(two.accounts.list().await.unwrap().is_empty());
        let hash = one.keep("something long", &[&id]).await;
        assert_eq!(one.has(&hash).await, "nothing");
    };
    steady(call).await;
    assert!(one.accounts.list().await.unwrap().is_empty());
}

#[tokio::test]
async fn output_text_on_disk_is_sealed_or_absent() {
    let home = TempDir::new().unwrap();
    let text = "The lamps of Anselm are blue";
    let one = process(home.path(), "memory");
    let hash = one.keep(text, &[]).await;
    assert!(holds(home.path(), &hash) && !holds(home.path(), "Anselm"));
    // Another process knows how to repeat the call.
    assert_eq!(process(home.path(), "memory").has(&hash).await, "recipe");

    let one = process(home.path(), "disk");
    assert_eq!(one.has(&hash).await, "recipe");
    assert_eq!(one.keep(text, &[]).await, hash);
    assert!(!holds(home.path(), "Anselm"));
    let again = process(home.path(), "disk");
    assert_eq!(again.text(&hash).await, text);
    // The seal of a row does not open another row.
    let moved = hash_of_row(&hash);
    run(home.path(), format!("UPDATE outputs SET hash = '{moved}' WHERE hash = '{hash}'")).await;
    assert_eq!(process(home.path(), "disk").has(&moved).await, "recipe");
    // Without the key the text is unreadable, which is not an error.
    let hash = one.keep("another text", &[]).await;
    std::fs::remove_file(home.path().join("key")).unwrap();
    assert_eq!(process(home.path(), "disk").has(&hash).await, "recipe");
}

/// Returns another hash.
fn hash_of_row(hash: &str) -> String {
    hash.chars().rev().collect::<String>().replace('a', "b")
}

/// After the setting is switched off, the next output removes all texts from disk.
#[tokio::test]
async fn stored_texts_are_deleted_when_switched_off() {
    let home = TempDir::new().unwrap();
    let disk = process(home.path(), "disk");
    let hash = disk.keep("kept on disk", &[]).await;
    let memory = process(home.path(), "memory");
    assert_eq!(memory.has(&hash).await, "recipe");
    memory.keep("kept in memory", &[]).await;
    assert_eq!(process(home.path(), "disk").has(&hash).await, "recipe");
}

#[tokio::test]
async fn disk_keeps_the_most_recently_used() {
    let home = TempDir::new().unwrap();
    let time = ManualClock::at(clock::now());
    let one = process_at(home.path(), "disk", time.clock());
    let mut hashes = Vec::new();
    for text in ["one", "two", "three"] {
        hashes.push(one.keep(text, &[]).await);
        time.advance(Duration::from_secs(1));
    }
    // If each were 12 MiB, only two of them would fit.
    run(home.path(), "UPDATE outputs SET size = 12582912").await;
    let another = process_at(home.path(), "disk", time.clock());
    assert_eq!(another.has(&hashes[0]).await, "text");
    time.advance(Duration::from_secs(1));
    hashes.push(one.keep("four", &[]).await);
    let again = process(home.path(), "disk");
    let mut left = Vec::new();
    for hash in &hashes {
        left.push(again.has(hash).await);
    }
    assert_eq!(left, ["text", "recipe", "text", "text"]);
    // Requested again, it is stored again.
    one.keep("two", &[]).await;
    assert_eq!(process(home.path(), "disk").has(&hashes[1]).await, "text");
}

#[tokio::test]
async fn outputs_are_kept_for_thirty_days() {
    let home = TempDir::new().unwrap();
    let one = process(home.path(), "disk");
    let (old, older) = (one.keep("old", &[]).await, one.keep("older", &[]).await);
    let day = 86_400_000_000_i64;
    for (hash, days) in [(&old, 29), (&older, 31)] {
        let sql =
            format!("UPDATE outputs SET saved = saved - {} WHERE hash = '{hash}'", days * day);
        run(home.path(), sql).await;
    }
    let again = process(home.path(), "disk");
    assert_eq!(again.has(&older).await, "nothing");
    assert_eq!(again.has(&old).await, "text");
    assert_eq!(rows(home.path()).await.len(), 2);
    // The next output removes rows that are too old. The other one was used in the meantime.
    run(home.path(), format!("UPDATE outputs SET saved = saved - {day}")).await;
    let new = again.keep("new", &[]).await;
    let mut left = vec![new, old];
    left.sort();
    assert_eq!(rows(home.path()).await, left);
}

#[tokio::test]
async fn unwritable_output_store_is_no_error() {
    let home = TempDir::new().unwrap();
    std::fs::write(home.path().join("daysheet.db"), vec![7; 8192]).unwrap();
    let one = process(home.path(), "disk");
    let hash = one.keep("some text", &[]).await;
    assert_eq!(one.text(&hash).await, "some text");
}
