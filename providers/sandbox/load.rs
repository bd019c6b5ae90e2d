//! Mailboxes from a folder of `.eml` and `.mbox` files, or from the samples.
//!
//! Messages below a top-level folder with an `@` in its name belong to that address. All others
//! belong together to the address that most of them were delivered to (`Delivered-To`), or to
//! `me@example.com` if none has that field.
//!
//! Files and messages that cannot be used are reported and skipped. Only a path that does not exist
//! is an error.

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

/// The sample mailboxes of one person, private and at work: file, owner, messages.
const SAMPLES: [(&str, &str, &[u8]); 2] = [
    ("sample.mbox", "mira@example.com", include_bytes!("sample.mbox")),
    ("work.mbox", "mira@lindqvist-lamps.example", include_bytes!("work.mbox")),
];

/// The owner of mail that names none.
const NOBODY: &str = "me@example.com";

/// The time after which loading shows a progress bar.
const LONG: Duration = Duration::from_millis(700);

/// A summary of loading.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LoadReport {
    /// The number of messages loaded.
    pub messages: usize,
    /// The number of calendar entries loaded. A recurring event is one, and each of its exceptions
    /// another.
    pub events: usize,
    /// Skipped files (or `file:number` for a message in an mbox, from 1), each with the reason.
    pub skipped: Vec<(String, String)>,
    /// Addresses without a mailbox that the given calendars belong to: only their free and busy
    /// times can be queried.
    pub colleagues: Vec<String>,
}

/// Loads the mailboxes of a path, or the samples with their dates moved to `today` if given.
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

/// The messages loaded so far.
#[derive(Default)]
struct MailLoader {
    messages: BTreeMap<Option<String>, Vec<ArrivingMessage>>,
    shift: Option<WeekShift>,
    report: LoadReport,
}

impl MailLoader {
    /// Loads all files of a path.
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
                    // One byte over the limit, so that `message::facts` refuses larger messages.
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

    /// Loads the messages of an mbox. `done` receives the size of each.
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

    /// Records a skipped message or file.
    fn skip(&mut self, name: String, why: String) {
        self.report.skipped.push((name, why));
    }

    /// Builds the mailboxes in the order of their addresses. There is always at least one.
    fn mailboxes(self) -> (Vec<Mailbox>, LoadReport) {
        let mut report = self.report;
        let mut owned: BTreeMap<String, Vec<ArrivingMessage>> = BTreeMap::new();
        for (owner, messages) in self.messages {
            let owner = owner.unwrap_or_else(|| commonest(&messages));
            // The owner of messages outside folders may have a folder as well.
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

/// The format of a mail file, by its name.
enum MailFormat {
    Message,
    Mbox,
}

/// Returns the format of a file, or `None` if it is not mail.
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

/// Returns the address that most messages were delivered to.
fn commonest(messages: &[ArrivingMessage]) -> String {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for arrival in messages {
        let address = arrival.facts.delivered_to.trim_matches(['<', '>']).to_lowercase();
        if address.contains('@') && !address.contains(char::is_whitespace) {
            *counts.entry(address).or_default() += 1;
        }
    }
    // `max_by_key` returns the last of equal counts: reversed, the alphabetically first address.
    let most = counts.into_iter().rev().max_by_key(|(_, count)| *count);
    most.map_or_else(|| NOBODY.to_owned(), |(address, _)| address)
}

/// A progress bar that appears only if loading takes long.
struct LoadProgress {
    bar: Option<ProgressBar>,
    since: Instant,
}

impl LoadProgress {
    fn new(shown: bool, total: u64) -> Self {
        let style = ProgressStyle::with_template("loading mail {wide_bar} {bytes}/{total_bytes}");
        let bar = shown.then(|| {
            // Hidden until loading proves to be long, so that a quick start prints nothing.
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
            // Draws nothing if stderr is not a terminal.
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
