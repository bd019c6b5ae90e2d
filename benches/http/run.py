"""What HTTP costs, and how many callers an instance bears; beside two other servers.

    benches/http/run BINARY [PEERS]

The environment may name some STEPS alone (overhead memory people two peers), and how many
seconds each load is LONG.

BINARY is a release build, PEERS a folder where the other servers are, or come to be installed;
without it they are left out. Needs wrk, nginx and Python with the partners of tests/interop.
Everything runs on this machine and shares its cores: compare figures of one run alone. The
upstream is the sandbox, which answers at once.
"""

import json
import os
import re
import socket
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
INTEROP = os.path.join(HERE, "..", "..", "tests", "interop")
sys.path[:0] = [INTEROP, os.path.join(INTEROP, "serving"), os.path.join(INTEROP, "peers")]

import installed  # noqa: E402
import interop  # noqa: E402
import peers  # noqa: E402
import people  # noqa: E402
import stage  # noqa: E402

EMAIL = "mira@example.com"
SEARCH = {"name": "mail_search", "arguments": {"limit": 10, "account": EMAIL}}
PAIRS, LONG, CLIENTS = 400, int(os.environ.get("LONG", "5")), (1, 32, 256)
# Open connections that call nothing.
IDLE = 1000
# No limit for one person is to be in the way.
UNLIMITED = {"limits_calls_per_minute": "100000", "limits_calls_at_once": "1000"}


def message(method, params, number=1):
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params})


# Overhead -------------------------------------------------------------------------


class Line:
    """An instance over stdio."""

    def __init__(self, daysheet):
        self.process = interop.track(subprocess.Popen(
            [daysheet.binary, "serve", "--sandbox"], env=daysheet.env, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True))
        self.ask(message("initialize", {
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "bench", "version": "1"}}))
        self.process.stdin.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')

    def ask(self, text):
        self.process.stdin.write(text.encode() + b"\n")
        self.process.stdin.flush()
        return self.process.stdout.readline()


class Wire:
    """A connection that is kept, with as little of a client as can be."""

    def __init__(self, port, headers=None, path="/mcp"):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.file = self.socket.makefile("rb")
        fields = {"Host": f"127.0.0.1:{port}", "Content-Type": "application/json",
                  "Accept": "application/json, text/event-stream", **(headers or {})}
        self.head = f"POST {path} HTTP/1.1\r\n" + "".join(
            f"{name}: {value}\r\n" for name, value in fields.items())

    def ask(self, text):
        body = text.encode()
        self.socket.sendall(f"{self.head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        self.fields, length = {}, 0
        self.status = int(self.file.readline().split()[1])
        while (line := self.file.readline().strip()):
            name, _, value = line.decode().partition(":")
            self.fields[name.lower()] = value.strip()
        if "content-length" in self.fields:
            return self.file.read(int(self.fields["content-length"]))
        body = b""
        while length := int(self.file.readline() or b"0", 16):
            body += self.file.read(length)
            self.file.readline()
        self.file.readline()
        return body


def overhead(binary):
    line, at = Line(interop.Daysheet(binary)), stage.Instance(
        interop.Daysheet(binary), "--sandbox", **UNLIMITED)
    ways = {"stdio": line, "http": Wire(at.port)}
    for what, text in {"a search for 10": message("tools/call", SEARCH),
                       "tools/list": message("tools/list", {})}.items():
        times = {name: [] for name in ways}
        for turn in range(PAIRS + 20):
            for name, way in ways.items():
                begun = time.perf_counter()
                answer = way.ask(text)
                took = time.perf_counter() - begun
                if turn >= 20:
                    times[name].append(took * 1e3)
        assert b"result" in answer and b'"isError":true' not in answer, answer[:300]
        medians = {name: statistics.median(found) for name, found in times.items()}
        print(f"{what}: {medians['stdio']:.2f} ms over stdio, {medians['http']:.2f} over HTTP, "
              f"{medians['http'] - medians['stdio']:+.2f} ms (median of {PAIRS}; at most +1)")
    interop.stop(line.process)
    at.stop()


# Throughput -----------------------------------------------------------------------

# Counts answers that are no results.
SCRIPT = """\
wrk.method = "POST"
wrk.body = [==[%s]==]
%s
local wrong = 0
function setup(thread) all = thread end
function response(status, headers, body)
  if status ~= 200 or body:find('"isError":true', 1, true) or not body:find('"result"', 1, true)
  then wrong = wrong + 1; thread_wrong = wrong end
end
function done(summary) print("WRONG " .. tostring(all:get("thread_wrong") or 0)) end
"""


def busy():
    """Jiffies that all cores worked, and had."""
    fields = [int(one) for one in open("/proc/stat").readline().split()[1:]]
    return sum(fields) - fields[3] - fields[4], sum(fields)


def wrk(port, clients, text, headers=None):
    """Calls per second, median milliseconds, and how much of all cores was used."""
    fields = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
              **(headers or {})}
    path = os.path.join(interop.temp_folder("wrk"), "call.lua")
    with open(path, "w") as file:
        file.write(SCRIPT % (text, "\n".join(
            f"wrk.headers[{json.dumps(name)}] = {json.dumps(value)}"
            for name, value in fields.items())))
    before = busy()
    done = subprocess.run(
        ["wrk", "-t1", f"-c{clients}", f"-d{LONG}s", "--timeout", "60s", "--latency",
         "-s", path, f"http://127.0.0.1:{port}/mcp"], capture_output=True, text=True, check=True)
    after = busy()
    used = (after[0] - before[0]) / (after[1] - before[1])
    rate = float(re.search(r"Requests/sec:\s+([\d.]+)", done.stdout).group(1))
    number, unit = re.search(r"50%\s+([\d.]+)(us|ms|s|m)\b", done.stdout).groups()
    wrong = re.search(r"WRONG (\d+)", done.stdout).group(1)
    errors = re.search(r"Socket errors:.*", done.stdout)
    if wrong != "0" or errors:
        print(f"  {wrong} answers are wrong; {errors and errors.group(0)}")
    return rate, float(number) * {"us": 1e-3, "ms": 1, "s": 1e3, "m": 6e4}[unit], used


def throughput(name, port, text, headers=None):
    """Prints and returns the calls per second by the number of clients."""
    wire = Wire(port, headers)
    answer = wire.ask(text)
    if wire.status != 200 or b'"isError":true' in answer or b'"result"' not in answer:
        print(f"{name}: cannot be measured: {wire.status} {answer[:400]}")
        return {}
    rates = {}
    for clients in CLIENTS:
        rates[clients], median, used = wrk(port, clients, text, headers)
        print(f"{name}, {clients} clients: {rates[clients]:.0f} calls a second, median "
              f"{median:.1f} ms, {used:.0%} of all cores", flush=True)
    return rates


def session(port, headers):
    """The header of a session with a peer, if it wants one."""
    wire = Wire(port, headers)
    wire.ask(message("initialize", {"protocolVersion": "2025-06-18", "capabilities": {},
                                    "clientInfo": {"name": "bench", "version": "1"}}))
    found = wire.fields.get("mcp-session-id")
    if found:
        headers = {**headers, "Mcp-Session-Id": found}
        Wire(port, headers).ask('{"jsonrpc":"2.0","method":"notifications/initialized"}')
    return headers


def connected(binary, provider, sandbox):
    """A Daysheet of one person with one mailbox."""
    daysheet = interop.Daysheet(
        binary, **interop.google_at(sandbox), **interop.microsoft_at(sandbox),
        **UNLIMITED)
    code, printed, _, _ = interop.sign_in(daysheet, EMAIL, provider=provider)
    assert code == 0, printed
    return daysheet


def against_peers(binary, folder):
    bare = interop.Daysheet(binary)
    port = interop.free_port()
    interop.start_server([binary, "sandbox", "--port", str(port)], port, env=bare.env)
    sandbox = f"http://127.0.0.1:{port}"
    # The same facts: a search of google_workspace_mcp has ids alone, and its next call the rows.
    theirs = {
        "google": ("google_workspace_mcp", peers.google, {
            "ten messages": [
                lambda _: {"name": "search_gmail_messages", "arguments": {
                    "query": "in:inbox", "user_google_email": EMAIL, "page_size": 10}},
                lambda found: {"name": "get_gmail_messages_content_batch", "arguments": {
                    "message_ids": re.findall(r"Message ID: (\w+)", found),
                    "user_google_email": EMAIL, "format": "metadata"}}],
            "labels": [lambda _: {"name": "list_gmail_labels",
                                  "arguments": {"user_google_email": EMAIL}}]}),
        "microsoft": ("ms-365-mcp-server", peers.microsoft, {
            "ten messages": [lambda _: {"name": "list-mail-messages", "arguments": {"top": 10}}],
            "labels": [lambda _: {"name": "list-mail-folders", "arguments": {}}]}),
    }
    ours = {"ten messages": {"name": "mail_search", "arguments": {"limit": 10, "folder": "inbox"}},
            "labels": {"name": "lookup", "arguments": {"kind": "folders"}}}
    for provider, (name, start, calls) in theirs.items():
        instance = stage.Instance(connected(binary, provider, sandbox))
        own = {what: throughput(f"daysheet, {provider}, {what}", instance.port,
                                message("tools/call", call)) for what, call in ours.items()}
        print(f"daysheet, {provider}: {interop.resident(instance.process.pid):.0f} MB afterwards")
        instance.stop()
        if not folder:
            continue
        installed.install(folder, "workspace-mcp", "softeria")
        for what, steps in calls.items():
            # Anew for each: too many callers at once leave one of them unable to answer anybody.
            process, port, headers = start(folder, sandbox, EMAIL)
            started, headers = interop.resident(process.pid), session(port, headers)
            seconds, answer = dict.fromkeys(CLIENTS, 0.0), ""
            for step in steps:
                call = step(answer)
                text = message("tools/call", call)
                answer = Wire(port, headers).ask(text).decode()
                rates = throughput(f"{name}, {call['name']}", port, text, headers)
                for clients in CLIENTS:
                    rate = rates.get(clients)
                    seconds[clients] += 1 / rate if rate else float("inf")
            for clients in CLIENTS:
                print(f"  {what}, {clients} clients: daysheet answers "
                      f"{own[what][clients] * seconds[clients]:.1f} times as often (at least 10)")
            print(f"{name}: {started:.0f} MB when it had started, "
                  f"{interop.resident(process.pid):.0f} afterwards")
            interop.stop(process)


# Memory ---------------------------------------------------------------------------


def memory(binary):
    at = stage.Instance(interop.Daysheet(binary), **UNLIMITED)
    time.sleep(1)
    idle, wires, used = interop.resident(at.process.pid), [], []
    # What the first session needs once is not what each needs.
    for count in (1, IDLE):
        while len(wires) < count:
            wires.append(Wire(at.port))
            wires[-1].ask(message("initialize", {
                "protocolVersion": "2025-06-18", "capabilities": {},
                "clientInfo": {"name": "bench", "version": "1"}}))
            wires[-1].ask('{"jsonrpc":"2.0","method":"notifications/initialized"}')
        time.sleep(1)
        used.append(interop.resident(at.process.pid))
    first, many = used
    print(f"resident: {idle:.1f} MB idle (at most 30), {first:.1f} with a session, {many:.1f} with "
          f"{IDLE} (at most 60): {(many - first) * 1024 / (IDLE - 1):.1f} kB each (at most 20)")
    del wires
    at.stop()


def many_people(binary):
    """The same when every session is another person's, over PostgreSQL."""
    postgres, issuer, port = people.Postgres(), people.Issuer(), interop.free_port()
    at = stage.Instance(interop.Daysheet(
        binary, database=postgres.url, http_issuer=issuer.base, keys_value=people.MASTER_KEY,
        **UNLIMITED), port=port)
    time.sleep(1)
    idle = interop.resident(at.process.pid)
    wires = []
    for number in range(IDLE):
        token = issuer.token(f"person-{number}", f"{at.base}/mcp", scope="daysheet:read")
        wires.append(Wire(port, {"Authorization": f"Bearer {token}"}))
        answer = wires[-1].ask(message("tools/call", {"name": "accounts", "arguments": {}}))
        assert wires[-1].status == 200, answer
    time.sleep(1)
    many = interop.resident(at.process.pid)
    print(f"resident with {IDLE} people: {idle:.1f} MB before, {many:.1f} then (at most 60), "
          f"{(many - idle) * 1024 / IDLE:.1f} kB each")
    at.stop()


# Two instances ----------------------------------------------------------------------


def two_instances(binary):
    sandbox_port, postgres = interop.free_port(), people.Postgres()
    bare = interop.Daysheet(binary)
    interop.start_server([binary, "sandbox", "--port", str(sandbox_port)], sandbox_port,
                         env=bare.env)
    daysheet = interop.Daysheet(
        binary, **interop.google_at(f"http://127.0.0.1:{sandbox_port}"), database=postgres.url,
        keys_value=people.MASTER_KEY, **UNLIMITED)
    code, printed, _, _ = interop.sign_in(daysheet, EMAIL)
    assert code == 0, printed
    instances = [stage.Instance(daysheet) for _ in range(2)]
    for what, text in {"a search": message("tools/call", SEARCH),
                       "tools/list": message("tools/list", {})}.items():
        rates = []
        for count in (1, 2):
            port = interop.free_port()
            people.Balancer([one.port for one in instances[:count]], port)
            rate, median, used = wrk(port, 32, text)
            rates.append(rate)
            print(f"{what}, {count} behind nginx, 32 clients: {rate:.0f} calls a second, "
                  f"{used:.0%} of all cores")
        print(f"  two answer {rates[1] / rates[0]:.2f} times as many as one (at least 1.7, "
              "unless the cores are spent)")


def main():
    binary = os.path.abspath(sys.argv[1])
    folder = sys.argv[2] if len(sys.argv) > 2 else None
    steps = {"overhead": lambda: overhead(binary), "memory": lambda: memory(binary),
             "peers": lambda: against_peers(binary, folder),
             "people": lambda: many_people(binary), "two": lambda: two_instances(binary)}
    for name in os.environ.get("STEPS", " ".join(steps)).split():
        try:
            steps[name]()
        except Exception as error:  # The next figure does not depend on this one.
            print(f"{name}: cannot be measured: {error!r}"[:1500])


if __name__ == "__main__":
    main()
