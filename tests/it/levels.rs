//! What each access level may do, and that the docs say the same.

use std::collections::BTreeSet;
use std::sync::Arc;

use daysheet::access::Access;
use daysheet::accounts::Accounts;
use daysheet::provider::Connect;
use daysheet::providers::Providers;
use daysheet::store::Store;
use tempfile::TempDir;

use crate::support::config;

const WRITING: &str = include_str!("../../docs/writing.md");

/// The texts between backticks, as scopes without what they all begin with.
fn spans(text: &str) -> BTreeSet<String> {
    let inside = text.split('`').skip(1).step_by(2);
    inside.map(bare).collect()
}

fn bare(scope: &str) -> String {
    let short = scope.rsplit("/auth/").next().unwrap_or_default();
    short.to_owned()
}

fn set<'a>(words: impl IntoIterator<Item = &'a str>) -> BTreeSet<String> {
    words.into_iter().map(bare).collect()
}

#[tokio::test]
async fn the_docs_name_the_scopes_that_are_asked_for() {
    let home = TempDir::new().unwrap();
    let config = Arc::new(config(home.path(), &[]));
    let accounts = Arc::new(Accounts::new(config.clone(), Store::new(&config)));
    let providers = Providers::new(config, accounts);
    let asked = |provider: &str, shared: bool, level: Access| {
        let scopes = providers.scopes(provider, shared, level).unwrap();
        let mut scopes = set(scopes);
        // It keeps the sign-in, and opens nothing.
        scopes.remove("offline_access");
        scopes
    };
    // The table of levels says what each asks for beyond the one before it, and
    // in place of what.
    let mut before = [BTreeSet::new(), BTreeSet::new()];
    for level in Access::ALL {
        let row = WRITING
            .lines()
            .find(|line| line.starts_with(&format!("| `{}`", level.word())))
            .unwrap();
        let cells: Vec<&str> = row.split('|').collect();
        for (at, provider) in ["google", "microsoft"].into_iter().enumerate() {
            let now = asked(provider, false, level);
            let mut expected: BTreeSet<String> = now.difference(&before[at]).cloned().collect();
            if cells[3 + at].contains("in place of") {
                expected.extend(before[at].difference(&now).cloned());
            }
            assert_eq!(
                spans(cells[3 + at]),
                expected,
                "{provider} {}",
                level.word()
            );
            before[at] = now;
        }
    }
    let line = include_str!("../../docs/setup-google.md")
        .lines()
        .find(|line| line.starts_with("- **Scopes**"))
        .unwrap();
    let mut named = spans(line);
    named.remove("draft");
    assert_eq!(named, asked("google", false, Access::Draft), "{line}");
    // Microsoft's page names those of every level and kind of mailbox.
    let rows = include_str!("../../docs/setup-microsoft.md")
        .lines()
        .skip_while(|line| !line.starts_with("| permission "))
        .skip(2)
        .take_while(|line| line.starts_with('|'));
    let mut named: BTreeSet<String> = rows
        .flat_map(|row| spans(row.split('|').nth(1).unwrap()))
        .collect();
    assert!(named.remove("offline_access") && named.remove("Place.Read.All"));
    let mut all = asked("microsoft", false, Access::Send);
    all.extend(asked("microsoft", true, Access::Send));
    assert_eq!(named, all);
}
