//! The job of a worker: reads the job and its bytes, and writes the results line by line.
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

/// The stack size of the thread that does the job, in bytes.
const STACK: usize = 64 << 20;
/// The maximum sizes of a job's first line and of the bytes after it.
const HEAD: u64 = 1 << 20;
const MAX_FILE: u64 = 160 << 20;

/// A job for a worker.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum WorkerJob {
    /// Reads a file.
    File(ExtractRequest),
    /// Makes the parts of a message readable.
    Body(ReadingOptions),
    /// Tests the confinement.
    Probe(ConfinementProbe),
}

/// A test of the confinement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ConfinementProbe {
    /// Reports the resources that the worker can reach.
    Reach,
    /// Works endlessly.
    Time,
    /// Allocates more and more memory.
    Memory,
    /// Recurses endlessly.
    Stack,
    /// Writes output endlessly.
    Output,
    /// Panics.
    Panic,
    /// Aborts.
    Abort,
}

/// The readable text of a message, as the worker returns it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct BodyText {
    pub(super) kind: String,
    pub(super) text: String,
    pub(super) notes: Vec<String>,
    pub(super) payment: Option<NewAccount>,
    pub(super) orders: bool,
}

/// Confines the process, which must have only one thread, reads a job and does it.
///
/// # Errors
/// The process cannot be confined, the job is malformed, the output is closed, or the job panics.
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
    // Reserved at once: growing a buffer takes more than its final size.
    let mut bytes = Vec::with_capacity(usize::try_from(size.min(MAX_FILE)).unwrap_or(0));
    input.take(MAX_FILE).read_to_end(&mut bytes)?;
    match job {
        WorkerJob::File(request) => {
            extract(&request, &bytes, &mut |line| write(&mut output, &line))
        }
        WorkerJob::Body(reading) => {
            let (parts, obstacle) = serde_json::from_slice(&bytes)?;
            // The parts are a second copy, and the address space is limited.
            drop(bytes);
            let message = MessageContent { parts, obstacle, ..MessageContent::default() };
            let ReadableText { kind, text, notes, payment, orders, .. } =
                body::readable(&message, &reading);
            let notes = notes.iter().map(ToString::to_string).collect();
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

/// Writes a line. Lines written before a worker is killed are kept.
fn write(output: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *output, value)?;
    output.write_all(b"\n")?;
    output.flush()
}

#[expect(unconditional_recursion, reason = "it is what is tried")]
fn deeper(depth: u64) -> u64 {
    black_box(deeper(black_box(depth + 1)) + 1)
}
