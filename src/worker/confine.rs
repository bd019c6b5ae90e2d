//! Confines the process that reads untrusted bytes: no files, no network, no further processes, and
//! limits on memory and time.
//!
//! Three mechanisms are combined, so that a system that lacks one is still protected by the others:
//! Landlock and seccomp on Linux, and POSIX limits everywhere except on Windows. With
//! `RLIMIT_NOFILE` at 0, nothing further can be opened, while the pipes stay open. The restrictions
//! are never lifted: the process ends with its job.

use std::fs::File;
use std::io;
use std::net::TcpListener;
use std::process::Command;

use serde::{Deserialize, Serialize};

/// The beginning of a worker's message that it cannot be confined.
pub const COMPLAINT: &str = "not confined";

/// The maximum address space, in bytes.
#[cfg(unix)]
const MEMORY: u64 = 512 << 20;
/// The CPU time in seconds: until a signal that can be caught, and until the system kills the
/// process.
#[cfg(unix)]
const WORK: (u64, u64) = (10, 12);

/// The resources that a worker can reach; none if it is confined.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerReach {
    /// True if a file can be opened.
    pub files: bool,
    /// True if a socket can be opened.
    pub network: bool,
    /// True if a process can be started.
    pub processes: bool,
    /// The names of its environment variables.
    pub environment: Vec<String>,
    /// The mechanisms that confine it.
    pub by: Vec<String>,
}

impl WorkerReach {
    /// Tries to use every resource.
    pub(super) fn tried(by: Vec<&str>) -> Self {
        let program = std::env::current_exe().unwrap_or_else(|_| "/bin/true".into());
        let environment = std::env::vars_os().map(|(name, _)| name.to_string_lossy().into_owned());
        Self {
            files: ["/", "/proc/self/status"].into_iter().any(|path| File::open(path).is_ok()),
            network: TcpListener::bind("127.0.0.1:0").is_ok(),
            processes: Command::new(program).arg("--version").spawn().is_ok(),
            environment: environment.collect(),
            by: by.into_iter().map(str::to_owned).collect(),
        }
    }
}

/// Forbids files, TCP and signals to other processes as far as the kernel supports that, and
/// returns the name of the mechanism. It applies to the calling thread and to threads started
/// later, so it has to be called first.
pub fn landlock() -> Option<&'static str> {
    // If the server is killed, the result is of no use.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
    #[cfg(target_os = "linux")]
    let landlock = linux::landlock();
    #[cfg(not(target_os = "linux"))]
    let landlock = None;
    landlock
}

/// Confines the process completely; it starts no further threads. Returns the mechanisms that are
/// active.
///
/// # Errors
/// A POSIX limit cannot be set on a system that has all of them.
pub fn confine(landlock: Option<&'static str>) -> io::Result<Vec<&'static str>> {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "only Unix has limits"))]
    let mut by = Vec::from_iter(landlock);
    #[cfg(unix)]
    by.extend(limits()?);
    #[cfg(target_os = "linux")]
    by.extend(linux::seccomp());
    Ok(by)
}

#[cfg(unix)]
fn limits() -> io::Result<Option<&'static str>> {
    use rustix::process::{Resource, Rlimit, setrlimit};
    let limits = [
        (Resource::Core, (0, 0)),
        (Resource::Fsize, (0, 0)),
        (Resource::Nproc, (0, 0)),
        (Resource::As, (MEMORY, MEMORY)),
        (Resource::Cpu, WORK),
        (Resource::Nofile, (0, 0)),
    ];
    for (resource, (current, maximum)) in limits {
        let limit = Rlimit { current: Some(current), maximum: Some(maximum) };
        match setrlimit(resource, limit) {
            Ok(()) => {}
            // macOS does not limit the address space.
            Err(_) if !cfg!(target_os = "linux") => {}
            Err(error) => {
                return Err(io::Error::other(format!("{COMPLAINT}: {resource:?}: {error}")));
            }
        }
    }
    Ok(Some("limits"))
}

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::BTreeMap;
    use std::error::Error;

    use landlock::{ABI, Access, AccessFs, AccessNet, Ruleset, RulesetAttr, RulesetStatus, Scope};
    use seccompiler::{
        BpfProgram, SeccompAction, SeccompCmpArgLen as Length, SeccompCmpOp as Operator,
        SeccompCondition as Condition, SeccompFilter, SeccompRule, apply_filter_all_threads,
    };

    /// The system calls for reading, computing and writing. A systemd unit has to allow them, which
    /// `tests/interop/serving/packaging.py` checks.
    const CALLS: &[i64] = &[
        libc::SYS_read,
        libc::SYS_readv,
        libc::SYS_write,
        libc::SYS_writev,
        libc::SYS_mmap,
        libc::SYS_munmap,
        libc::SYS_mremap,
        libc::SYS_mprotect,
        libc::SYS_madvise,
        libc::SYS_brk,
        libc::SYS_futex,
        libc::SYS_rt_sigaction,
        libc::SYS_rt_sigprocmask,
        libc::SYS_rt_sigreturn,
        libc::SYS_sigaltstack,
        libc::SYS_getrandom,
        libc::SYS_clock_gettime,
        libc::SYS_clock_nanosleep,
        libc::SYS_sched_yield,
        libc::SYS_sched_getaffinity,
        libc::SYS_getpid,
        libc::SYS_gettid,
        libc::SYS_exit,
        libc::SYS_exit_group,
        libc::SYS_close,
        libc::SYS_fstat,
        libc::SYS_lseek,
        libc::SYS_fcntl,
        libc::SYS_set_robust_list,
        libc::SYS_rseq,
        libc::SYS_restart_syscall,
    ];

    pub(super) fn landlock() -> Option<&'static str> {
        // Landlock does not apply to threads that already exist.
        let alone = std::fs::read_dir("/proc/self/task").is_ok_and(|tasks| tasks.count() == 1);
        let restrict = || {
            let rules = Ruleset::default()
                .handle_access(AccessFs::from_all(ABI::V5))?
                .handle_access(AccessNet::from_all(ABI::V4))?
                .scope(Scope::from_all(ABI::V6))?;
            // Without any rule, nothing is allowed.
            rules.create()?.restrict_self()
        };
        let status = restrict().ok()?;
        (alone && status.ruleset != RulesetStatus::NotEnforced).then_some("landlock")
    }

    /// Forbids all other system calls, with an error that lets libraries continue.
    pub(super) fn seccomp() -> Option<&'static str> {
        let filter = || -> Result<(), Box<dyn Error>> {
            let mut rules: BTreeMap<i64, _> =
                CALLS.iter().map(|call| (*call, Vec::new())).collect();
            // Aborting itself is the only signal that the process may send.
            let is = |at, value: u32| Condition::new(at, Length::Dword, Operator::Eq, value.into());
            let abort = [is(0, std::process::id())?, is(2, libc::SIGABRT.unsigned_abs())?];
            rules.insert(libc::SYS_tgkill, vec![SeccompRule::new(abort.to_vec())?]);
            let denied = SeccompAction::Errno(libc::EPERM.unsigned_abs());
            let arch = std::env::consts::ARCH.try_into()?;
            let program: BpfProgram =
                SeccompFilter::new(rules, denied, SeccompAction::Allow, arch)?.try_into()?;
            Ok(apply_filter_all_threads(&program)?)
        };
        filter().ok().map(|()| "seccomp")
    }
}
