//! `daysheet store`: maintenance of the database.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Subcommand;
use daysheet_core::error::{Error, ErrorKind, Result};

use crate::config::Config;
use crate::store::{CheckFindings, RotationOutcome, SERVER, Store, new_key};

#[derive(Debug, Subcommand)]
pub(super) enum StoreCommand {
    /// Bring the tables up to date.
    ///
    /// Every start does this; the command does it in advance, and prints the versions.
    Migrate,
    /// Copy the database to a new file, even while it is in use.
    ///
    /// The file contains everything except the master key and the audit log of a single user
    /// (audit.jsonl). To restore it, stop all processes, replace daysheet.db with it, and delete
    /// daysheet.db-wal and daysheet.db-shm. For PostgreSQL, this prints the command to run.
    Backup {
        /// The file; it must not exist.
        file: PathBuf,
    },
    /// Check that the database is intact and that every secret in it can be decrypted.
    Check {
        /// Also print the number of rows of each owner.
        #[arg(long)]
        owners: bool,
    },
    /// Copy all rows of all owners from SQLite to PostgreSQL, in one transaction.
    ///
    /// Stop all other processes first. The rows in SQLite do not change. A target that already has
    /// rows of one of the owners is refused. Secrets stay encrypted with the same master key.
    Move {
        /// The target database, such as postgres://user@host/name.
        #[arg(long, value_name = "URL")]
        to: String,
    },
    /// Delete rows that are older than the retention settings allow.
    ///
    /// A server does this once a day.
    Purge,
    /// Replace the master key.
    ///
    /// If Daysheet keeps the key itself, a random key replaces it. On a server, first list both
    /// keys on every instance, the new one on a line above the old one; once this command has
    /// succeeded, remove the old one. The command can be interrupted and repeated, and instances
    /// keep running.
    RotateKey {
        /// Also give every owner a new data key, and encrypt their tokens with it.
        #[arg(long)]
        data_keys: bool,
    },
    /// Print a new master key, for keys.file, keys.value or the output of keys.command.
    NewKey,
}

/// Prints a new master key. This needs no settings.
pub(super) fn print_key() -> Result<ExitCode> {
    say!("{}", new_key()?);
    Ok(ExitCode::SUCCESS)
}

/// Runs the command. Fails if any part of it failed.
pub(super) async fn run(config: Config, command: &StoreCommand) -> Result<ExitCode> {
    let store = Store::new(&config);
    let done = match command {
        StoreCommand::RotateKey { data_keys } => {
            store.rotate_key(*data_keys).await.and_then(rotated)
        }
        // `cli.rs` handles this before it loads the settings, so that it works without valid ones.
        StoreCommand::NewKey => return print_key(),
        StoreCommand::Migrate => store.migrate().await.map(|(before, now)| match before {
            Some(before) if usize::try_from(before) == Ok(now) => {
                say!("The schema is up to date: version {now}.");
            }
            Some(before) => say!("The schema was migrated from version {before} to {now}."),
            None => say!("The database was created with version {now} of the schema."),
        }),
        StoreCommand::Backup { file } => store.backup(file).await.map(|()| {
            say!("The database was copied to {}.", file.display());
            say!("The copy does not contain the master key: keep a copy of that elsewhere.");
        }),
        StoreCommand::Check { owners } => {
            store.check().await.and_then(|found| checked(&found, *owners))
        }
        StoreCommand::Move { to } => move_to(&store, &config, to).await,
        StoreCommand::Purge => {
            store.purge().await.map(|deleted| say!("Deleted: {}.", many(deleted, "row")))
        }
    };
    store.close().await;
    done.map(|()| ExitCode::SUCCESS)
}

/// Returns a count with its noun, in the plural if needed.
fn many<N: PartialEq + From<u8> + std::fmt::Display>(count: N, what: &str) -> String {
    if count == N::from(1) { format!("1 {what}") } else { format!("{count} {what}s") }
}

fn rotated(done: RotationOutcome) -> Result<()> {
    say!("Master key {} is in use.", done.master);
    let (keys, owners) = (many(done.sealed, "data key"), many(done.owners, "owner"));
    say!("Re-encrypted: {keys} of {owners}.");
    if done.accounts > 0 {
        let accounts = many(done.accounts, "account");
        say!("Re-encrypted with new data keys: the tokens of {accounts}.");
    }
    if let Some((owner, why)) = done.failed.first() {
        let owners = many(done.failed.len(), "owner");
        let what = format!("the keys of {owners} could not be replaced: {owner}: {why}");
        return Err(Error::new(ErrorKind::Store, what));
    }
    if let Some(setting) = done.setting {
        say!("The old keys can be removed from {setting} on all instances.");
    }
    Ok(())
}

async fn move_to(store: &Store, config: &Config, to: &str) -> Result<()> {
    let mut there = config.clone();
    there.use_database("--to", to)?;
    let target = Store::new(&there);
    let moved = store.transfer(&target).await;
    // Closed even if the transfer failed.
    target.close().await;
    let moved = moved?;
    let (rows, owners) = (many(moved.rows, "row"), many(moved.owners, "owner"));
    say!("Copied and counted: {rows} of {owners}.");
    say!("The rows in SQLite are unchanged: set `database`, test, and then delete them.");
    say!(
        "The master key is the same. To replace it, list a new one above it and run \
         `daysheet store rotate-key` on the server."
    );
    Ok(())
}

fn checked(found: &CheckFindings, owners: bool) -> Result<()> {
    say!("{}: version {} of the schema.", found.place, found.version);
    let mut all = std::collections::BTreeMap::new();
    for (owner, rows) in &found.rows {
        if owners {
            let rows: Vec<String> =
                rows.iter().map(|(table, count)| format!("{table} {count}")).collect();
            say!("{owner}: {}", rows.join(", "));
        }
        for (table, count) in rows {
            *all.entry(table).or_insert(0) += count;
        }
    }
    let all: Vec<String> = all.iter().map(|(table, count)| format!("{table} {count}")).collect();
    let owners = found.rows.keys().filter(|owner| *owner != SERVER).count();
    if all.is_empty() {
        say!("There are no rows.");
    } else {
        say!("Rows of {} and of the server: {}.", many(owners, "owner"), all.join(", "));
    }
    if let Some(master) = &found.master {
        say!("Master key in use: {master}.");
    }
    say!("Decrypted: {}.", many(found.sealed, "secret"));
    for warning in &found.warnings {
        say!("Warning: {warning}.");
    }
    for problem in &found.problems {
        say!("Problem: {problem}.");
    }
    // The exit code tells scripts that there are problems.
    match found.problems.len() {
        0 => Ok(()),
        1 => Err(Error::new(ErrorKind::Store, "the check found a problem")),
        many => Err(Error::new(ErrorKind::Store, format!("the check found {many} problems"))),
    }
}
