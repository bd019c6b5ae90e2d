//! Runs jobs on untrusted bytes in a process of its own, which is confined and can be killed.
//!
//! The process is this program again (`daysheet worker`), which [`confine`] restricts before it
//! reads the bytes. It returns data, never wording of ours, which is left to the pipeline.
//! Providers and answers are unknown here.

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

/// The maximum size of a small job, in bytes. Nearly all files of that size take a fraction of a
/// second.
const SMALL: usize = 2 << 20;
/// The maximum size of a job's output, in bytes.
const MAX_RESULT: u64 = 8 << 20;
/// The number of bytes of a worker's stderr that are read.
const COMPLAINT: u64 = 4 << 10;

/// The time limits.
#[derive(Debug, Clone, Copy)]
pub struct WorkerTimes {
    /// A small job in the place for small jobs. If it takes longer, it is restarted as a large one.
    pub small: Duration,
    /// A large job.
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

/// A place for a worker, held until the worker has ended. Fetch the bytes to read after acquiring
/// it, so that no more bytes are in memory than are being read.
#[derive(Debug)]
pub struct WorkerSlot<'w> {
    worker: &'w Worker,
    owner: Option<&'w str>,
    small: bool,
    permit: WorkerPermit,
}

/// A worker that is killed if its call is dropped. Its exit is awaited, because the system keeps an
/// entry for every process that its parent has not waited for.
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

/// The way a worker ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkerEnd {
    /// It completed its job.
    Whole,
    /// It exceeded its time.
    Time,
    /// It exceeded its memory.
    Memory,
    /// It exceeded its stack, because its input is nested too deeply.
    Deep,
    /// It wrote too much output.
    Full,
    /// It crashed.
    Broken,
}

impl Worker {
    /// Creates workers that run this program, which has to be Daysheet.
    pub fn this_program() -> Self {
        // The link leads to the running program, even after that was replaced by another version.
        let program = if cfg!(target_os = "linux") {
            Some(PathBuf::from("/proc/self/exe"))
        } else {
            std::env::current_exe().ok()
        };
        Self::at(program.unwrap_or_else(|| PathBuf::from("daysheet")))
    }

    /// Creates workers that run the program at this path, which has to be Daysheet of this version.
    pub fn at(program: impl Into<PathBuf>) -> Self {
        let program = program.into();
        Self { program, places: Arc::default(), times: WorkerTimes::default() }
    }

    /// Sets the time limits.
    #[must_use]
    pub fn times(self, times: WorkerTimes) -> Self {
        Self { times, ..self }
    }

    /// Returns the time for which one call may read files.
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

    /// Makes the texts of a message readable; `None` if the worker was ended before it finished.
    ///
    /// # Errors
    /// See [`WorkerSlot::file`].
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
        // The worker may be under the control of what it read, so only known words are taken.
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

    /// Returns the resources that a worker can reach.
    ///
    /// # Errors
    /// See [`WorkerSlot::file`].
    pub async fn reach(&self) -> Result<WorkerReach> {
        let (output, _) =
            self.run(&WorkerJob::Probe(ConfinementProbe::Reach), &[], self.times.large).await?;
        serde_json::from_slice(&output).map_err(|_| broken("it returned nothing"))
    }

    /// Makes a worker exceed one of its limits; returns the way it ended.
    ///
    /// # Errors
    /// See [`WorkerSlot::file`].
    pub async fn exceed(&self, limit: ConfinementProbe) -> Result<WorkerEnd> {
        Ok(self.run(&WorkerJob::Probe(limit), &[], self.times.large).await?.1)
    }

    /// Runs a worker for a job; returns its output and the way it ended.
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
            // A worker may stop reading when it has enough, which is no error.
            let feed = async move {
                let _ = stdin.write_all(&head).await;
                let _ = stdin.write_all(bytes).await;
            };
            // Dropping the reader ends a worker that writes more.
            let read = async { stdout.take(MAX_RESULT + 1).read_to_end(&mut output).await.is_ok() };
            let hear = async { stderr.take(COMPLAINT).read_to_end(&mut complaint).await.is_ok() };
            tokio::join!(feed, read, hear);
            child.wait().await
        };
        let finished = tokio::time::timeout(longest, work).await;
        let ended = match finished {
            Err(_elapsed) => {
                // This also waits for its end.
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
        // The environment may contain secrets, and a confined process needs none of it.
        command.arg("worker").env_clear().kill_on_drop(true);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // Each additional arena of the allocator would use address space, which is limited.
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
    /// Reads a file. Lines that were returned before the worker was ended are kept.
    ///
    /// # Errors
    /// [`ErrorKind::Internal`] if no worker can be started, or if it cannot be confined.
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
                // The last line may be incomplete.
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

    /// Does a job; returns the worker's output and the way it ended.
    async fn done(mut self, job: &WorkerJob, bytes: &[u8]) -> Result<(Vec<u8>, WorkerEnd)> {
        let Worker { places, times, .. } = self.worker;
        if self.small && bytes.len() <= SMALL {
            let (output, ended) = self.worker.run(job, bytes, times.small).await?;
            if ended != WorkerEnd::Time {
                return Ok((output, ended));
            }
        }
        if self.small {
            // A small job may still be a lot of work, and others wait for this place.
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

/// Returns the way a worker ended that was not killed by this process.
fn ended(status: ExitStatus, complaint: &[u8]) -> WorkerEnd {
    let says = |text: &str| complaint.windows(text.len()).any(|part| part == text.as_bytes());
    if status.success() {
        return WorkerEnd::Whole;
    }
    // The messages of Rust's runtime, before it aborts the process.
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
            // `SIGKILL`: a system short of memory kills the largest process.
            Some(9) => return WorkerEnd::Memory,
            // `SIGSEGV`
            Some(11) => return WorkerEnd::Deep,
            _ => {}
        }
    }
    WorkerEnd::Broken
}
