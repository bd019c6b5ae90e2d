//! Mailboxes out of a folder of `.eml` and `.mbox` files, or out of the samples.
//!
//! Whose messages they are: those below a top-level folder with an `@` in its
//! name belong to that address. All others belong together, to the address
//! that most of them were delivered to (`Delivered-To`), or to
//! `me@example.com` where none says.
//!
//! A file or message that cannot be used is reported and skipped;
//! only a path that does not exist is an error.

pub(super) mod calendar;
mod files;
mod mbox;
mod shift;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use daysheet_core::error::Result;
use files::{FileFilter, unreadable};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use jiff::civil::Date;
use mbox::MboxMessage;
use shift::WeekShift;

use super::store::mailbox::{ArrivingMessage, Mailbox};
use super::store::message::{self, MAX_MESSAGE};

/// The mailboxes that the sandbox comes with: file, owner, messages. One
/// person's, in private and at work.
const SAMPLES: [(&str, &str, &[u8]); 2] = [
    ("sample.mbox", "mira@example.com", include_bytes!("../sample.mbox")),
    ("work.mbox", "mira@lindqvist-lamps.example", include_bytes!("../work.mbox")),
];

/// Whose mail it is when nothing tells.
const NOBODY: &str = "me@example.com";

/// Loading that is over sooner needs no progress bar.
const LONG: Duration = Duration::from_millis(700);

/// What was loaded and what was not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LoadReport {
    /// The number of messages loaded.
    pub messages: usize,
    /// The number of calendar entries loaded: a recurring event is one, and each
    /// of its occurrences that differs is one more.
    pub events: usize,
    /// What was passed over, as the file (`file:number` for a message in an
    /// mbox, from 1) and the reason.
    pub skipped: Vec<(String, String)>,
}

/// Loads the mailboxes of a path, or the samples, whose dates are moved to `today` if
/// that is given.
pub(super) fn load(
    mail: Option<&Path>,
    today: Option<Date>,
    progress: bool,
) -> Result<(Vec<Mailbox>, LoadReport)> {
    let mut loader = MailLoader::default();
    match mail {
        None => {
            loader.shift = WeekShift::to(today);
            for (name, owner, messages) in SAMPLES {
                loader.mbox(name, Some(owner), messages, |_| ());
            }
        }
        Some(path) => loader.path(path, progress)?,
    }
    Ok(loader.mailboxes())
}

/// What has been loaded so far.
#[derive(Default)]
struct MailLoader {
    messages: BTreeMap<Option<String>, Vec<ArrivingMessage>>,
    shift: Option<WeekShift>,
    report: LoadReport,
}

impl MailLoader {
    /// Loads every file of a path.
    fn path(&mut self, path: &Path, progress: bool) -> Result<()> {
        let filter = FileFilter {
            what: "mail",
            next: "name a folder of .eml and .mbox files, or one such file",
            is: |path| kind(path).is_some(),
        };
        let sources = files::sources(path, &filter, &mut self.report.skipped)?;
        let mut bar = LoadProgress::new(progress, sources.iter().map(|source| source.size).sum());
        for source in sources {
            let owner = source.owner.as_deref();
            let read = File::open(&source.path).and_then(|file| match kind(&source.path) {
                Some(MailFormat::Mbox) => {
                    self.mbox(&source.name, owner, BufReader::new(file), |done| {
                        bar.add(done);
                    });
                    Ok(())
                }
                _ => {
                    let mut bytes = Vec::new();
                    file.take(MAX_MESSAGE as u64 + 1).read_to_end(&mut bytes)?;
                    bar.add(bytes.len());
                    self.load_message(source.name.clone(), owner, &bytes, None);
                    Ok(())
                }
            });
            if let Err(error) = read {
                self.skip(source.name, unreadable(&error));
            }
        }
        bar.finish();
        Ok(())
    }

    /// Loads the messages of an mbox, telling how many bytes each took.
    fn mbox(
        &mut self,
        name: &str,
        owner: Option<&str>,
        file: impl io::BufRead,
        mut done: impl FnMut(usize),
    ) {
        let mut count = 0;
        let read = mbox::read(file, MAX_MESSAGE, |MboxMessage { bytes, time }| {
            count += 1;
            done(bytes.len());
            self.load_message(format!("{name}:{count}"), owner, &bytes, time);
        });
        match read {
            Err(error) => self.skip(name.to_owned(), unreadable(&error)),
            Ok(()) if count == 0 => {
                self.skip(name.to_owned(), "it holds no mbox separator (`From …` line)".to_owned());
            }
            Ok(()) => {}
        }
    }

    /// Loads one message.
    fn load_message(&mut self, name: String, owner: Option<&str>, bytes: &[u8], time: Option<i64>) {
        let (raw, time) = match (message::wire_form(bytes), self.shift) {
            (raw, None) => (raw, time),
            (raw, Some(shift)) => (shift.message(&raw), time.map(|time| shift.seconds(time))),
        };
        let raw: Arc<[u8]> = raw.into();
        match message::facts(&raw, time) {
            Ok(facts) => {
                let owner = owner.map(str::to_lowercase);
                let arrival = ArrivingMessage { name, raw, facts };
                self.messages.entry(owner).or_default().push(arrival);
            }
            Err(why) => self.skip(name, why.to_owned()),
        }
    }

    /// Notes what was passed over.
    fn skip(&mut self, name: String, why: String) {
        self.report.skipped.push((name, why));
    }

    /// Puts the messages into mailboxes, in the order of the addresses. There is
    /// always one, be it empty.
    fn mailboxes(self) -> (Vec<Mailbox>, LoadReport) {
        let mut report = self.report;
        let mut owned: BTreeMap<String, Vec<ArrivingMessage>> = BTreeMap::new();
        for (owner, messages) in self.messages {
            let owner = owner.unwrap_or_else(|| commonest(&messages));
            owned.entry(owner).or_default().extend(messages);
        }
        if owned.is_empty() {
            owned.insert(NOBODY.to_owned(), Vec::new());
        }
        let mailboxes: Vec<Mailbox> = owned
            .into_iter()
            .map(|(owner, messages)| {
                Mailbox::new(owner, messages, |name| {
                    let why = "it is a copy of a letter already loaded".to_owned();
                    report.skipped.push((name, why));
                })
            })
            .collect();
        report.messages = mailboxes.iter().map(|mailbox| mailbox.messages.len()).sum();
        (mailboxes, report)
    }
}

/// What a file holds, by its name.
enum MailFormat {
    Message,
    Mbox,
}

/// The format of a file, for those that are mail.
fn kind(path: &Path) -> Option<MailFormat> {
    let extension = path.extension()?;
    if extension.eq_ignore_ascii_case("eml") {
        Some(MailFormat::Message)
    } else if extension.eq_ignore_ascii_case("mbox") {
        Some(MailFormat::Mbox)
    } else {
        None
    }
}

/// The address that most messages were delivered to.
fn commonest(messages: &[ArrivingMessage]) -> String {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for arrival in messages {
        let address = arrival.facts.delivered_to.trim_matches(['<', '>']).to_lowercase();
        if address.contains('@') && !address.contains(char::is_whitespace) {
            *counts.entry(address).or_default() += 1;
        }
    }
    // Of several that lead, the first of the alphabet.
    let most = counts.into_iter().rev().max_by_key(|(_, count)| *count);
    most.map_or_else(|| NOBODY.to_owned(), |(address, _)| address)
}

/// A progress bar that appears only when loading takes its time.
struct LoadProgress {
    bar: Option<ProgressBar>,
    since: Instant,
}

impl LoadProgress {
    fn new(shown: bool, total: u64) -> Self {
        let style = ProgressStyle::with_template("loading mail {wide_bar} {bytes}/{total_bytes}");
        let bar = shown.then(|| {
            let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::hidden());
            match style {
                Ok(style) => bar.with_style(style),
                Err(_) => bar,
            }
        });
        Self { bar, since: Instant::now() }
    }

    fn add(&mut self, bytes: usize) {
        let Some(bar) = &self.bar else { return };
        if bar.is_hidden() && self.since.elapsed() > LONG {
            // Draws nothing where stderr is no terminal.
            bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        bar.inc(bytes as u64);
    }

    fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
