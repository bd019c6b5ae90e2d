//! Runs a job on a stranger's bytes in a process of its own, which is confined and can be killed.
//!
//! The process is this program again (`daysheet worker`), which [`confine`] shuts in before it
//! reads the bytes. It returns data, never words of ours: what is said about it is up to the
//! pipeline. This module knows neither providers nor answers.

pub mod confine;
pub mod job;
pub mod notes;
pub mod places;

use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use daysheet_core::body::{ReadableText, ReadingOptions};
use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::provider::MessageContent;
use daysheet_extract::{AnswerLine, ExtractRequest};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};
use tokio::runtime::Handle;

pub use self::confine::WorkerReach;
use self::job::BodyText;
pub use self::job::{ConfinementProbe, WorkerJob};
use self::places::{WorkerPermit, WorkerPlaces};

/// The most bytes of a small job. Nearly all files of that size take a fraction of a second.
const SMALL: usize = 2 << 20;
/// The most bytes that a job may return.
const MAX_RESULT: u64 = 8 << 20;
/// The bytes of a worker's stderr that are looked at.
const COMPLAINT: u64 = 4 << 10;

/// How long things may take.
#[derive(Debug, Clone, Copy)]
pub struct WorkerTimes {
    /// A small job in the place for those; one that takes longer begins again as a large one.
    pub small: Duration,
    /// Any other job.
    pub large: Duration,
    /// All files that one call reads.
    pub call: Duration,
}

impl Default for WorkerTimes {
    fn default() -> Self {
        let [small, large, call] = [2, 20, 25].map(Duration::from_secs);
        Self { small, large, call }
    }
}

/// Starts workers. Clones share their places.
#[derive(Debug, Clone)]
pub struct Worker {
    program: PathBuf,
    places: Arc<WorkerPlaces>,
    times: WorkerTimes,
}

/// A place for a worker, held until it has ended. What it is to read is best fetched after its
/// place was had: then no more is in memory than is read.
#[derive(Debug)]
pub struct WorkerSlot<'w> {
    worker: &'w Worker,
    owner: Option<&'w str>,
    small: bool,
    permit: WorkerPermit,
}

/// A worker that is ended if its call is given up. Its end is waited for, because the system keeps
/// an entry for every process whose parent has not done so.
struct RunningWorker(Option<Child>);

impl Drop for RunningWorker {
    fn drop(&mut self) {
        let (Some(mut child), Ok(runtime)) = (self.0.take(), Handle::try_current()) else {
            return;
        };
        if matches!(child.try_wait(), Ok(None)) {
            let _ = child.start_kill();
            runtime.spawn(async move { child.wait().await });
        }
    }
}

/// How a worker ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkerEnd {
    /// It did all of its job.
    Whole,
    /// It took too long.
    Time,
    /// It needed too much memory.
    Memory,
    /// It needed too much stack: what it read is nested too deep.
    Deep,
    /// It returned too much.
    Full,
    /// It broke.
    Broken,
}

impl Worker {
    /// Returns workers that are this program again, which has to be Daysheet.
    pub fn this_program() -> Self {
        // The link leads to the running program even after it was replaced by another version.
        let program = if cfg!(target_os = "linux") {
            Some(PathBuf::from("/proc/self/exe"))
        } else {
            std::env::current_exe().ok()
        };
        Self::at(program.unwrap_or_else(|| PathBuf::from("daysheet")))
    }

    /// Returns workers that are the program at this path, which has to be Daysheet of this
    /// version.
    pub fn at(program: impl Into<PathBuf>) -> Self {
        let program = program.into();
        Self { program, places: Arc::default(), times: WorkerTimes::default() }
    }

    /// Sets how long things may take.
    #[must_use]
    pub fn times(self, times: WorkerTimes) -> Self {
        Self { times, ..self }
    }

    /// Returns how long one call may read files.
    pub fn call_time(&self) -> Duration {
        self.times.call
    }

    /// Waits for a place for a job of about this many bytes; `owner` is one person of many.
    pub async fn place<'w>(&'w self, owner: Option<&'w str>, bytes: usize) -> WorkerSlot<'w> {
        let small = bytes <= SMALL;
        let permit =
            if small { self.places.small(owner).await } else { self.places.large(owner).await };
        WorkerSlot { worker: self, owner, small, permit }
    }

    /// Makes the texts of a message readable; `None` if the worker was ended before.
    ///
    /// # Errors
    /// Those of [`WorkerSlot::file`].
    pub async fn body(
        &self,
        owner: Option<&str>,
        message: &MessageContent,
        reading: &ReadingOptions,
    ) -> Result<Option<ReadableText>> {
        let bytes = serde_json::to_vec(&(&message.parts, &message.obstacle))
            .map_err(|_| broken("the parts have no form"))?;
        let place = self.place(owner, bytes.len()).await;
        let (output, ended) = place.done(&WorkerJob::Body(reading.clone()), &bytes).await?;
        let found =
            (ended == WorkerEnd::Whole).then(|| serde_json::from_slice::<BodyText>(&output));
        let Some(Ok(BodyText { kind, text, notes, payment, orders })) = found else {
            return Ok(None);
        };
        let kinds = ["plain", "html", "mixed"];
        Ok(Some(ReadableText {
            kind: kinds.into_iter().find(|known| **known == *kind).unwrap_or_default(),
            text,
            notes: notes::checked(notes),
            payment,
            orders,
            ..ReadableText::default()
        }))
    }

    /// Returns what a worker can reach.
    ///
    /// # Errors
    /// Those of [`WorkerSlot::file`].
    pub async fn reach(&self) -> Result<WorkerReach> {
        let (output, _) =
            self.run(&WorkerJob::Probe(ConfinementProbe::Reach), &[], self.times.large).await?;
        serde_json::from_slice(&output).map_err(|_| broken("it returned nothing"))
    }

    /// Makes a worker exceed one of its limits; returns how it ended.
    ///
    /// # Errors
    /// Those of [`WorkerSlot::file`].
    pub async fn exceed(&self, limit: ConfinementProbe) -> Result<WorkerEnd> {
        Ok(self.run(&WorkerJob::Probe(limit), &[], self.times.large).await?.1)
    }

    /// Runs a worker for a job; returns what the worker wrote, and how it ended.
    async fn run(
        &self,
        job: &WorkerJob,
        bytes: &[u8],
        longest: Duration,
    ) -> Result<(Vec<u8>, WorkerEnd)> {
        let mut head =
            serde_json::to_vec(&(job, bytes.len())).map_err(|_| broken("its job has no form"))?;
        head.push(b'\n');
        let child = self.command().spawn().map_err(|error| broken(&error.to_string()))?;
        let mut running = RunningWorker(Some(child));
        let Some(child) = &mut running.0 else {
            return Err(broken("it has ended"));
        };
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(mut stdin), Some(stdout), Some(stderr)) = pipes else {
            return Err(broken("it has no pipes"));
        };
        let (mut output, mut complaint) = (Vec::new(), Vec::new());
        let work = async {
            // A worker that has enough reads no further, which is no error.
            let feed = async move {
                let _ = stdin.write_all(&head).await;
                let _ = stdin.write_all(bytes).await;
            };
            // A reader that is dropped ends a worker that writes more.
            let read = async { stdout.take(MAX_RESULT + 1).read_to_end(&mut output).await.is_ok() };
            let hear = async { stderr.take(COMPLAINT).read_to_end(&mut complaint).await.is_ok() };
            tokio::join!(feed, read, hear);
            child.wait().await
        };
        let finished = tokio::time::timeout(longest, work).await;
        let ended = match finished {
            Err(_elapsed) => {
                // Waits for its end, too.
                let _ = child.kill().await;
                WorkerEnd::Time
            }
            Ok(_) if output.len() as u64 > MAX_RESULT => WorkerEnd::Full,
            Ok(Ok(status)) => ended(status, &complaint),
            Ok(Err(_)) => WorkerEnd::Broken,
        };
        if ended != WorkerEnd::Whole {
            let complaint = String::from_utf8_lossy(&complaint);
            tracing::debug!(?ended, %complaint, "a worker did not finish");
        }
        if complaint.starts_with(confine::COMPLAINT.as_bytes()) {
            Err(broken("it could not be confined"))
        } else {
            Ok((output, ended))
        }
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.arg("worker").env_clear().kill_on_drop(true);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // Each further arena of the allocator would take address space, which is limited.
        command.env("MALLOC_ARENA_MAX", "1");
        #[cfg(unix)]
        command.arg0("daysheet").current_dir("/");
        #[cfg(windows)]
        {
            /// `CREATE_NO_WINDOW`.
            const NO_WINDOW: u32 = 0x0800_0000;
            command.creation_flags(NO_WINDOW);
            command.envs(std::env::var_os("SystemRoot").map(|root| ("SystemRoot", root)));
        }
        command
    }
}

impl WorkerSlot<'_> {
    /// Reads a file. The lines that were returned before the worker was ended are kept.
    ///
    /// # Errors
    /// [`ErrorKind::Internal`] if no worker can be started, or it cannot be confined.
    pub async fn file(
        self,
        request: &ExtractRequest,
        bytes: &[u8],
    ) -> Result<(Vec<AnswerLine>, WorkerEnd)> {
        let (output, ended) = self.done(&WorkerJob::File(request.clone()), bytes).await?;
        let mut lines = Vec::new();
        for line in output.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            match serde_json::from_slice(line) {
                Ok(line) => lines.push(line),
                // The last one may have been cut.
                Err(_) => break,
            }
        }
        let ended = match (ended, lines.last()) {
            (WorkerEnd::Whole, Some(AnswerLine::End(_))) => WorkerEnd::Whole,
            (WorkerEnd::Whole, _) => WorkerEnd::Broken,
            (other, _) => other,
        };
        Ok((lines, ended))
    }

    /// Does a job; returns what the worker wrote, and how it ended.
    async fn done(mut self, job: &WorkerJob, bytes: &[u8]) -> Result<(Vec<u8>, WorkerEnd)> {
        let Worker { places, times, .. } = self.worker;
        if self.small && bytes.len() <= SMALL {
            let (output, ended) = self.worker.run(job, bytes, times.small).await?;
            if ended != WorkerEnd::Time {
                return Ok((output, ended));
            }
        }
        if self.small {
            // What is small may still be a lot of work, and others wait for this place.
            drop(self.permit);
            self.permit = places.large(self.owner).await;
        }
        self.worker.run(job, bytes, times.large).await
    }
}

fn broken(why: &str) -> Error {
    Error::new(ErrorKind::Internal, format!("the process that reads files did not start ({why})"))
        .next("save the file with as=file")
}

/// Returns how a worker ended that was not stopped from outside.
fn ended(status: ExitStatus, complaint: &[u8]) -> WorkerEnd {
    let says = |text: &str| complaint.windows(text.len()).any(|part| part == text.as_bytes());
    if status.success() {
        return WorkerEnd::Whole;
    }
    if says("memory allocation of") {
        return WorkerEnd::Memory;
    }
    if says("has overflowed its stack") {
        return WorkerEnd::Deep;
    }
    #[cfg(unix)]
    {
        use std::os::unix::process::ExitStatusExt;
        match status.signal() {
            // `SIGXCPU`
            Some(24) => return WorkerEnd::Time,
            // `SIGKILL`: a system that is short of memory ends the largest process.
            Some(9) => return WorkerEnd::Memory,
            // `SIGSEGV`
            Some(11) => return WorkerEnd::Deep,
            _ => {}
        }
    }
    WorkerEnd::Broken
}
