//! A PostgreSQL for the tests: the server of `DATABASE_URL`, else a private cluster in a temporary
//! folder, reached by a socket with an unprivileged role. It ends with the process of the tests.

use std::cell::{Cell, RefCell};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use sha2::{Digest, Sha256};
use sqlx::any::{AnyRow, install_default_drivers};
use sqlx::{AnyConnection, AssertSqlSafe, Connection, Row};
use url::Url;

/// The user id that runs the cluster if root runs the tests, because PostgreSQL refuses root.
const NOBODY: u32 = 65_534;

thread_local! {
    /// The server on which tests of this thread keep their state.
    static CHOSEN: RefCell<Option<String>> = const { RefCell::new(None) };
    /// True during a test that keeps its state [`in_files`].
    static FILES: Cell<bool> = const { Cell::new(false) };
}

/// A private cluster.
pub struct Cluster {
    folder: PathBuf,
    programs: PathBuf,
    root: bool,
    /// Ends the cluster and removes its folder once its stdin is closed.
    _keeper: Child,
}

impl Cluster {
    /// Starts a cluster; `None` if PostgreSQL is not installed or the build leaves it out.
    pub fn start() -> Option<Self> {
        let programs = cfg!(feature = "postgres").then(programs).flatten()?;
        let folder = tempfile::Builder::new().prefix("daysheet-pg-").tempdir().unwrap().keep();
        std::fs::set_permissions(&folder, PermissionsExt::from_mode(0o700)).unwrap();
        let root = folder.metadata().unwrap().uid() == 0;
        if root {
            chown(&folder, Some(NOBODY), Some(NOBODY)).unwrap();
        }
        let script = format!(
            "initdb -D data -U postgres -A trust -E UTF8 -N >log 2>&1 && {START} && echo up; \
             read _; pg_ctl -D data -m immediate -w stop >/dev/null 2>&1; cd / && rm -rf {}",
            folder.display()
        );
        let mut keeper = Command::new("sh");
        keeper.args(["-c", &script]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut keeper = as_user(keeper, &folder, &programs, root).spawn().unwrap();
        let mut up = [0; 2];
        let started = std::io::Read::read_exact(keeper.stdout.as_mut().unwrap(), &mut up);
        let log = || std::fs::read_to_string(folder.join("log")).unwrap_or_default();
        assert!(started.is_ok(), "PostgreSQL did not start: {}", log());
        let cluster = Self { folder, programs, root, _keeper: keeper };
        let admin = cluster.url("postgres", "postgres");
        run(&admin, "CREATE ROLE daysheet LOGIN");
        run(&admin, "CREATE DATABASE daysheet OWNER daysheet");
        Some(cluster)
    }

    pub fn url(&self, user: &str, database: &str) -> String {
        let host = self.folder.display();
        format!("postgres:///{database}?host={host}&user={user}")
    }

    /// Stops the server, which breaks all connections, and starts it again after a pause.
    pub fn restart_after(&self, pause: Duration) {
        self.control("pg_ctl -D data -m immediate -w stop");
        std::thread::sleep(pause);
        self.control(START);
    }

    fn control(&self, script: &str) {
        let mut command = Command::new("sh");
        command.args(["-c", &format!("{script} >/dev/null 2>&1 </dev/null")]);
        let done = as_user(command, &self.folder, &self.programs, self.root).status();
        assert!(done.unwrap().success(), "{script}");
    }
}

const START: &str = "pg_ctl -D data -l log -w -o \"-k $PWD -c listen_addresses= -c fsync=off \
                     -c max_connections=200\" start >/dev/null 2>&1";

fn as_user(mut command: Command, folder: &Path, programs: &Path, root: bool) -> Command {
    let path = format!("{}:/usr/bin:/bin", programs.display());
    command.current_dir(folder).env("PATH", path).env("LC_ALL", "C.UTF-8");
    if root {
        command.uid(NOBODY).gid(NOBODY);
    }
    command
}

/// Returns the folder with `initdb` and `pg_ctl`.
fn programs() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let installed = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let installed = installed.map(|version| version.path().join("bin"));
    let mut folders = std::env::split_paths(&path).chain(installed);
    folders.find(|folder| folder.join("initdb").exists() && folder.join("pg_ctl").exists())
}

/// Returns the server of this process, and starts it on first use. Reports on stderr if PostgreSQL
/// is not installed.
pub fn server() -> Option<&'static str> {
    static SERVER: OnceLock<Option<(String, Option<Cluster>)>> = OnceLock::new();
    let server = SERVER.get_or_init(|| {
        if !cfg!(feature = "postgres") {
            return None;
        }
        if let Ok(url) = std::env::var("DATABASE_URL") {
            return Some((url, None));
        }
        let cluster = Cluster::start();
        if cluster.is_none() {
            let _ = writeln!(
                std::io::stderr(),
                "left out: the tests over PostgreSQL, which is not installed; DATABASE_URL may \
                 name a server"
            );
        }
        cluster.map(|cluster| (cluster.url("daysheet", "daysheet"), Some(cluster)))
    });
    server.as_ref().map(|(url, _)| url.as_str())
}

/// Runs tests with their state in PostgreSQL, if there is one.
pub fn over(tests: &[fn()]) {
    let Some(server) = server() else {
        return;
    };
    CHOSEN.set(Some(server.to_owned()));
    for test in tests {
        test();
    }
    CHOSEN.set(None);
}

/// Keeps the state of this thread's test in files, even if all other tests run over PostgreSQL: for
/// tests about files.
pub fn in_files() -> InFiles {
    FILES.set(true);
    InFiles
}

/// The guard of [`in_files`]; the state is in files until it is dropped.
pub struct InFiles;

impl Drop for InFiles {
    fn drop(&mut self) {
        FILES.set(false);
    }
}

/// Returns the server of all tests if `DAYSHEET_TEST_DATABASE` names one; `private` names the
/// cluster of this process.
fn of_all() -> Option<String> {
    match std::env::var("DAYSHEET_TEST_DATABASE").ok()?.as_str() {
        "" => None,
        "private" => server().map(str::to_owned),
        url => Some(url.to_owned()),
    }
}

/// Returns the database for the state folder `home`, with a schema of its own, if this test runs
/// [`over`] a server or all tests do.
pub fn database(home: &Path) -> Option<String> {
    if FILES.get() {
        return None;
    }
    let server = CHOSEN.with_borrow(Clone::clone).or_else(of_all)?;
    Some(schema_of(&server, home))
}

/// Returns the database on a server for the state folder `home`.
pub fn schema_of(server: &str, home: &Path) -> String {
    let digest = Sha256::digest(home.as_os_str().as_encoded_bytes());
    let schema: String = digest.iter().take(10).map(|byte| format!("{byte:02x}")).collect();
    let schema = format!("t_{schema}");
    run(server, &format!("CREATE SCHEMA IF NOT EXISTS {schema}"));
    let mut url = Url::parse(server).unwrap();
    url.query_pairs_mut().append_pair("options[search_path]", &schema);
    url.into()
}

/// Runs a statement.
pub fn run(url: &str, sql: &str) {
    ask(url, sql);
}

/// Runs a query of one column as the owner `local`; returns its values.
pub fn texts(url: &str, sql: &str) -> Vec<String> {
    let rows = ask(url, &format!("SELECT set_config('daysheet.owner', 'local', false); {sql}"));
    rows.iter().skip(1).map(|row| row.get(0)).collect()
}

fn ask(url: &str, sql: &str) -> Vec<AnyRow> {
    let (url, sql) = (url.to_owned(), sql.to_owned());
    let work = async move {
        install_default_drivers();
        let started = Instant::now();
        let mut connection = loop {
            match AnyConnection::connect(&url).await {
                Ok(connection) => break connection,
                Err(error) => assert!(started.elapsed() < Duration::from_secs(10), "{error}"),
            }
        };
        let rows = sqlx::raw_sql(AssertSqlSafe(sql)).fetch_all(&mut connection).await.unwrap();
        connection.close().await.unwrap();
        rows
    };
    let thread = std::thread::spawn(|| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.unwrap().block_on(work)
    });
    thread.join().unwrap()
}
