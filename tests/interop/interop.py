"""What the parts of the interop tests share: checks, processes, signing in.

Every part is a program `PART.py BINARY`, started by `run` with the partners
installed and their npm commands on PATH. It prints one line per check and
closes with `N passed, N failed`; its exit code is 1 when a check failed.
This file knows the command line of Daysheet and no partner in particular.
"""

import atexit
import html.parser
import json
import os
import queue
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import urllib.error
import urllib.parse
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))

# Longest wait for a server to listen or a command to end, in seconds.
PATIENCE = 60

# Longest text of a failed check that is worth reading.
SHOWN = 1500


class Checks:
    """Counts checks, one printed line each."""

    def __init__(self, part):
        self.part = part
        self.passed = self.failed = 0

    def that(self, name, holds, detail=""):
        """One check that is true or false; `detail` is shown when it is false."""
        if holds:
            self.passed += 1
            print(f"ok    {self.part}: {name}", flush=True)
        else:
            self.failed += 1
            print(f"FAIL  {self.part}: {name}", flush=True)
            for line in str(detail)[:SHOWN].splitlines():
                print(f"      {line}", flush=True)
        return bool(holds)

    def same(self, name, got, want):
        """One check that two values are equal."""
        detail = "got  " + json.dumps(got, ensure_ascii=False, default=str)
        detail += "\nwant " + json.dumps(want, ensure_ascii=False, default=str)
        return self.that(name, got == want, detail)

    def section(self, name):
        """A block of checks whose breaking off is one failed check."""
        return Section(self, name)

    def close(self):
        """Prints the closing line and ends the program."""
        stop_all()
        print(f"{self.passed} passed, {self.failed} failed", flush=True)
        sys.exit(1 if self.failed or not self.passed else 0)


class Section:
    """Turns an exception inside a block into a failed check."""

    def __init__(self, checks, name):
        self.checks, self.name = checks, name

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if error is None or not isinstance(error, Exception):
            return False
        lines = traceback.format_exception(kind, error, trace)
        self.checks.that(f"{self.name} runs to its end", False, "".join(lines)[-SHOWN:])
        return True


# Processes and folders ------------------------------------------------------

_running = []
_folders = []


def temp_folder(name):
    """A new folder that is gone when the program ends."""
    path = tempfile.mkdtemp(prefix=f"daysheet-{name}-")
    _folders.append(path)
    return path


def track(process):
    """Remembers a process, started in a session of its own, to end it at last."""
    _running.append(process)
    return process


def stop(process):
    """Ends one process that we started, and what it started in its group."""
    if process.poll() is None:
        for sign in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(process.pid, sign)
                process.wait(5)
                break
            except (ProcessLookupError, subprocess.TimeoutExpired):
                continue
    if process in _running:
        _running.remove(process)


def stop_all():
    """Ends every process and removes every folder of this program."""
    for process in list(_running):
        stop(process)
    while _folders:
        shutil.rmtree(_folders.pop(), ignore_errors=True)


def processes_with(name, value):
    """The ids of the processes that have a variable of this value in their environment (Linux)."""
    mark = f"{name}={value}".encode()
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                if mark in file.read().split(b"\0"):
                    found.append(int(pid))
        except OSError:
            # It has ended, or another user owns it.
            continue
    return found


atexit.register(stop_all)
for _sign in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(_sign, lambda *_: sys.exit(130))


def free_port():
    """A port of 127.0.0.1 that the system says is free."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def resident(pid):
    """Resident memory of a process in megabytes, with what it started."""
    pids, total = [pid], 0
    for one in pids:
        children = f"/proc/{one}/task/{one}/children"
        pids += [int(child) for child in open(children).read().split()]
        kilobytes = re.search(r"VmRSS:\s+(\d+)", open(f"/proc/{one}/status").read())
        total += int(kilobytes.group(1))
    return total / 1024


def start_server(command, port, env=None, cwd=None):
    """Starts a server and waits until it takes connections on `port`."""
    log = tempfile.TemporaryFile(mode="w+")
    process = track(subprocess.Popen(
        command, env=env, cwd=cwd, stdin=subprocess.DEVNULL, stdout=log,
        stderr=subprocess.STDOUT, start_new_session=True,
    ))
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return process
        except OSError:
            time.sleep(0.05)
    stop(process)
    log.seek(0)
    raise RuntimeError(f"{command[0]} does not listen on {port}:\n{log.read()[-800:]}")


def start_proxy(upstream, report):
    """Starts the contract proxy before `upstream`; returns its base URL."""
    process = track(subprocess.Popen(
        [sys.executable, os.path.join(HERE, "check_google.py"), "0", upstream, report],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, start_new_session=True,
    ))
    first = process.stdout.readline().split()
    if len(first) != 2 or first[0] != "listening":
        raise RuntimeError("the contract proxy did not start")
    threading.Thread(target=process.stdout.read, daemon=True).start()
    return f"http://127.0.0.1:{first[1]}"


# Daysheet -------------------------------------------------------------------


# Nobody answers there.
NOWHERE = "http://127.0.0.1:9"


class Daysheet:
    """The binary under test with a state folder and endpoints of its own.

    Over a sandbox its clock stands still, so that the samples are as they are written, unless it
    has to run beside the clock of a partner.
    """

    def __init__(self, binary, running=False, **settings):
        self.binary = os.path.abspath(binary)
        self.home = temp_folder("home")
        # Nothing of the caller's own accounts or settings may leak in.
        self.env = {k: v for k, v in os.environ.items() if not k.startswith("DAYSHEET_")}
        self.env.update(
            DAYSHEET_HOME=self.home,
            DAYSHEET_KEY_STORE="file",
            DAYSHEET_ZONE="Europe/Berlin",
            TZ="Europe/Berlin",
        )
        if not running:
            self.env["DAYSHEET_SANDBOX_NOW"] = "2026-11-16T11:05+01:00"
            # The clock is stopped only if all endpoints are on this machine.
            if any(name.endswith("_url") for name in settings):
                nowhere = google_at(NOWHERE) | microsoft_at(NOWHERE)
                urls = {name: url for name, url in nowhere.items() if name.endswith("_url")}
                settings = urls | settings
        self.env.update({f"DAYSHEET_{name.upper()}": value for name, value in settings.items()})

    def run(self, *arguments, stdin=""):
        """Runs one command to its end."""
        return subprocess.run(
            [self.binary, *arguments], env=self.env, input=stdin, capture_output=True,
            text=True, encoding="utf-8", timeout=PATIENCE,
        )

    def call(self, tool, arguments=None, form=None, sandbox=False):
        """The text that `daysheet call` prints, without its last line end."""
        command = ["call", tool, json.dumps(arguments or {}, ensure_ascii=False)]
        if form:
            command += ["--format", form]
        if sandbox:
            command.append("--sandbox")
        done = self.run(*command)
        if done.returncode != 0:
            said = (done.stdout + done.stderr).strip()
            raise CallFailed(f"{tool} {json.dumps(arguments)}: exit {done.returncode}: {said}")
        return done.stdout.removesuffix("\n")

    def document(self, tool, arguments=None):
        """Block 1 of a call with format json, as a value."""
        return json.loads(first_block(self.call(tool, arguments, form="json")))


class CallFailed(Exception):
    """A `daysheet call` that did not exit with 0."""


def first_block(printed):
    """Block 1 of what `daysheet call` prints; it never holds a blank line."""
    return printed.split("\n\n", 1)[0]


def project(rows, *columns):
    """Rows with the named columns alone, as lists; of a start, not the local time beside it."""
    def cell(row, column):
        value = row.get(column)
        return value.split(" = ")[0] if column == "start" and value else value
    return [[cell(row, column) for column in columns] for row in rows]


# Signing in -----------------------------------------------------------------


class NoRedirect(urllib.request.HTTPRedirectHandler):
    """Shows redirects instead of following them."""

    def redirect_request(self, *_):
        return None


_browser = urllib.request.build_opener(NoRedirect)


def browse(url, form=None, headers=None):
    """Status, headers and text of one request, redirects not followed."""
    data = urllib.parse.urlencode(form).encode() if form is not None else None
    request = urllib.request.Request(url, data=data, headers=headers or {})
    try:
        answer = _browser.open(request, timeout=PATIENCE)
    except urllib.error.HTTPError as error:
        answer = error
    with answer:
        return answer.status, answer.headers, answer.read().decode("utf-8", "replace")


class Forms(html.parser.HTMLParser):
    """The forms of a page: action, and the fields a browser would send."""

    def __init__(self, page):
        super().__init__()
        self.all = []
        self.open = None
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        if tag == "form":
            self.open = {"action": given.get("action", ""), "fields": {}, "choices": {}}
            self.all.append(self.open)
        elif self.open is not None and tag in ("input", "button") and given.get("name"):
            name, value = given["name"], given.get("value") or ""
            if tag == "button" or given.get("type") in ("radio", "submit"):
                self.open["choices"].setdefault(name, []).append(value)
            else:
                self.open["fields"][name] = value

    def handle_endtag(self, tag):
        if tag == "form":
            self.open = None


def consent(url, email):
    """Does what a person does on a sign-in page; returns where it leads.

    Two kinds of pages are known: one form per account, and one form with the
    accounts as radio buttons and a button per decision.
    """
    status, headers, page = browse(url)
    if status != 200:
        raise RuntimeError(f"the sign-in page answers {status}: {page[:300]}")
    for form in Forms(page).all:
        values = dict(form["fields"])
        ours = email in values.values()
        for name, choices in form["choices"].items():
            for wish in (email, "allow"):
                if wish in choices:
                    values[name] = wish
                    ours = ours or wish == email
        if not ours:
            continue
        action = urllib.parse.urljoin(url, form["action"])
        status, headers, page = browse(action, values)
        if status not in (302, 303):
            raise RuntimeError(f"the consent form answers {status}: {page[:300]}")
        return headers["location"]
    raise RuntimeError(f"the sign-in page offers no {email}: {page[-600:]}")


def sign_in(daysheet, email, paste=False, provider="google", person=consent, more=(),
            command=()):
    """Runs `account add PROVIDER --no-browser`, or another command, and plays the browser.

    Returns the exit code, what was printed, the authorization URL and the page
    that the person sees last. With `paste`, the redirect URL is typed on stdin
    instead of visited. `person` is given the URL and the address, and returns
    where the provider's pages lead in the end. `more` are further arguments.
    """
    process = track(subprocess.Popen(
        [daysheet.binary, *(command or ("account", "add", provider)), "--no-browser", *more],
        env=daysheet.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, encoding="utf-8", start_new_session=True,
    ))
    lines = queue.Queue()

    def read():
        for line in process.stdout:
            lines.put(line)
        lines.put(None)

    threading.Thread(target=read, daemon=True).start()
    printed, url, last = [], None, ""
    end = time.monotonic() + PATIENCE
    try:
        while (line := lines.get(timeout=max(0.1, end - time.monotonic()))) is not None:
            printed.append(line)
            if url is None and line.strip().startswith("http"):
                url = line.strip()
                target = person(url, email)
                if paste:
                    process.stdin.write(target + "\n")
                    process.stdin.flush()
                else:
                    _, _, last = browse(target)
        code = process.wait(max(0.1, end - time.monotonic()))
    except queue.Empty:
        raise RuntimeError("sign-in does not end; it printed: " + "".join(printed)) from None
    finally:
        stop(process)
    return code, "".join(printed), url, last


def google_at(base, gmail=None, token="/token", revoke="/revoke"):
    """The settings that put Google's endpoints below one base URL."""
    return {
        "gmail_url": gmail or base,
        "google_calendar_url": (gmail or base) + "/calendar/v3/",
        "google_people_url": gmail or base,
        "google_auth_url": base + "/o/oauth2/v2/auth",
        "google_token_url": base + token,
        "google_revoke_url": base + revoke,
        "google_client_id": "interop.apps.googleusercontent.com",
        "google_client_secret": "interop-secret",
    }


def microsoft_at(base, graph=None):
    """The settings that put Microsoft's endpoints below one base URL."""
    return {
        "graph_url": (graph or base) + "/v1.0/",
        "microsoft_authority_url": base + "/",
        "microsoft_client_id": "interop",
    }
