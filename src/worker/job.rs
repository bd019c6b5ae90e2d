//! What a worker does: reads a job and its bytes, and writes what comes of it, line by line.
//!
//! Runs in the worker's own process, which is confined before it reads anything.

use std::hint::black_box;
use std::io::{self, BufRead, Read, Write};
use std::thread;

use daysheet_core::body::{self, NewAccount, ReadableText, ReadingOptions};
use daysheet_core::provider::MessageContent;
use daysheet_extract::{ExtractRequest, extract};
use serde::{Deserialize, Serialize};

use super::confine::{WorkerReach, confine, landlock};

/// The stack of the thread that does the job, in bytes.
const STACK: usize = 64 << 20;
/// The most bytes of a job's first line, and of what follows it.
const HEAD: u64 = 1 << 20;
const MAX_FILE: u64 = 160 << 20;

/// A job for a worker.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum WorkerJob {
    /// To read a file.
    File(ExtractRequest),
    /// To make the parts of a message readable.
    Body(ReadingOptions),
    /// To try the confinement.
    Probe(ConfinementProbe),
}

/// What a worker tries, to see what holds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ConfinementProbe {
    /// What it can reach.
    Reach,
    /// To work without end.
    Time,
    /// To take more and more memory.
    Memory,
    /// To call itself without end.
    Stack,
    /// To return without end.
    Output,
    /// To panic.
    Panic,
    /// To abort.
    Abort,
}

/// The text of a message, as it is returned.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct BodyText {
    pub(super) kind: String,
    pub(super) text: String,
    pub(super) notes: Vec<String>,
    pub(super) payment: Option<NewAccount>,
    pub(super) orders: bool,
}

/// Confines the process, which has no other thread yet, reads a job and does it.
///
/// # Errors
/// If the process cannot be confined, the job has no form, nobody takes what comes of it, or
/// doing it panics.
pub fn run(
    input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
) -> io::Result<()> {
    let landlock = landlock();
    let thread = thread::Builder::new().stack_size(STACK);
    let done = thread.spawn(move || work(landlock, input, output))?.join();
    done.unwrap_or_else(|_panic| Err(io::Error::other("the job panicked")))
}

fn work(
    landlock: Option<&'static str>,
    input: impl Read,
    mut output: impl Write,
) -> io::Result<()> {
    let by = confine(landlock)?;
    let mut input = io::BufReader::new(input);
    let mut head = Vec::new();
    input.by_ref().take(HEAD).read_until(b'\n', &mut head)?;
    let (job, size): (WorkerJob, u64) = serde_json::from_slice(&head)?;
    // Reserved at once: a buffer that grows takes more than its size.
    let mut bytes = Vec::with_capacity(usize::try_from(size.min(MAX_FILE)).unwrap_or(0));
    input.take(MAX_FILE).read_to_end(&mut bytes)?;
    match job {
        WorkerJob::File(request) => {
            extract(&request, &bytes, &mut |line| write(&mut output, &line))
        }
        WorkerJob::Body(reading) => {
            let (parts, obstacle) = serde_json::from_slice(&bytes)?;
            drop(bytes);
            let message = MessageContent { parts, obstacle, ..MessageContent::default() };
            let ReadableText { kind, text, notes, payment, orders, .. } =
                body::readable(&message, &reading);
            let notes = notes.iter().map(|note| note.to_string()).collect();
            write(&mut output, &BodyText { kind: kind.to_owned(), text, notes, payment, orders })
        }
        WorkerJob::Probe(ConfinementProbe::Reach) => write(&mut output, &WorkerReach::tried(by)),
        WorkerJob::Probe(ConfinementProbe::Time) => loop {
            black_box(());
        },
        WorkerJob::Probe(ConfinementProbe::Memory) => {
            let mut taken = Vec::new();
            loop {
                taken.push(black_box(vec![1_u8; 1 << 20]));
            }
        }
        WorkerJob::Probe(ConfinementProbe::Stack) => write(&mut output, &deeper(0)),
        WorkerJob::Probe(ConfinementProbe::Output) => loop {
            write(&mut output, &"x".repeat(1 << 16))?;
        },
        #[expect(clippy::panic, reason = "it is what is tried")]
        WorkerJob::Probe(ConfinementProbe::Panic) => panic!("as it was asked to"),
        WorkerJob::Probe(ConfinementProbe::Abort) => std::process::abort(),
    }
}

/// Writes a line. What is written before a worker is ended is kept.
fn write(output: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *output, value)?;
    output.write_all(b"\n")?;
    output.flush()
}

#[expect(unconditional_recursion, reason = "it is what is tried")]
fn deeper(depth: u64) -> u64 {
    black_box(deeper(black_box(depth + 1)) + 1)
}
