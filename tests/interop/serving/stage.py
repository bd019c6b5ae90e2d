"""The stage of the parts about `daysheet serve --http`: instances, issuers and plain calls.

It checks nothing.
"""

import html
import json
import os
import re
import shutil
import subprocess
import threading
import time
import urllib.parse

import interop
import relay

MODERN = "2026-07-28"


def program(name, *others):
    """The path of a program, under the first name that it has here; Debian has balancers outside
    the path of users."""
    for one in (name, *others):
        if found := shutil.which(one, path=os.environ["PATH"] + ":/usr/sbin"):
            return found
    raise RuntimeError(f"no {name}: install it")


def check_in_node(checks, script, settings, before=""):
    """Runs a script that prints a check or a note per line as JSON; `before` begins their names."""
    done = subprocess.run([*node_script(script), json.dumps(settings)],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300)
    for line in done.stdout.splitlines():
        one = json.loads(line)
        if "note" in one:
            print(f"note  {checks.part}: {before}{one['note']}", flush=True)
        else:
            checks.that(before + one["name"], one["ok"], one["detail"])
    if done.returncode != 0:
        raise RuntimeError(done.stderr[-1500:])


def drawing(binary):
    """What the scripts of MCP Apps need: an instance that may do everything over a sandbox, another one
    that rules cards out, Chromium, and a folder for pictures."""
    for module in ("apps_common.mjs", "apps_host.mjs"):
        node_script(module)
    base, otherwise = (
        Instance(interop.Daysheet(binary, **more), "--sandbox", "--access", "full").base
        for more in ({}, {"approve": "terminal"}))
    return {"base": base, "otherwise": otherwise, "pictures": os.environ.get("PICTURES", ""),
            "chromium": program("chromium", "google-chrome")}


def node_script(name):
    """Node, and a script beside the packages that it needs."""
    here = os.path.dirname(os.path.abspath(__file__))
    return [program("node"), shutil.copy(os.path.join(here, name), os.environ["INTEROP_PACKAGES"])]


class Instance:
    """`daysheet serve --http` on a port, which can be killed and started again there."""

    def __init__(self, daysheet, *arguments, port=None, **settings):
        self.daysheet, self.arguments = daysheet, arguments
        self.env = {**daysheet.env, **{f"DAYSHEET_{name.upper()}": value
                                       for name, value in settings.items()}}
        self.port = port or interop.free_port()
        self.base = f"http://127.0.0.1:{self.port}"
        self.log = os.path.join(daysheet.home, f"log-{self.port}")
        self.start()

    def start(self):
        """Starts it and waits until it answers."""
        log = open(self.log, "a")
        self.process = interop.track(subprocess.Popen(
            [self.daysheet.binary, "serve", "--http", f"127.0.0.1:{self.port}", *self.arguments],
            env=self.env, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            start_new_session=True))
        log.close()
        end = time.monotonic() + interop.PATIENCE
        while time.monotonic() < end and self.process.poll() is None:
            try:
                if relay.send(self.port, "GET", "/healthz", {})[0] == 200:
                    return
            except OSError:
                pass
            time.sleep(0.05)
        raise RuntimeError(f"no instance at {self.port}:\n{self.log_end()}")

    def log_end(self):
        with open(self.log) as log:
            return log.read()[-1500:]

    def kill(self):
        """Ends it as a power cut does."""
        self.process.kill()
        self.process.wait()

    def stop(self):
        interop.stop(self.process)


def issuer(resource, callback):
    """Starts oidc-provider as the issuer of tokens for `resource`; returns its base."""
    port = interop.free_port()
    interop.start_server([*node_script("issuer.mjs"), str(port), resource, callback], port)
    return f"http://127.0.0.1:{port}"


class Refused(Exception):
    """A call that was answered by an error: the status of HTTP, and the text."""

    def __init__(self, status, text):
        super().__init__(f"{status}: {text}"[:600])
        self.status, self.text = status, str(text)


class Caller:
    """Plain MCP calls over HTTP with a token: one request, one answer."""

    def __init__(self, port, token, modern=True):
        self.port, self.modern = port, modern
        self.headers = {"Content-Type": "application/json",
                        "Accept": "application/json, text/event-stream"}
        if token:
            self.headers["Authorization"] = f"Bearer {token}"
        self.number = 0

    def ask(self, method, params, name=None):
        """The result of a request. Raises `Refused`, or an error of the connection."""
        self.number += 1
        headers = dict(self.headers)
        if self.modern:
            headers |= {"MCP-Protocol-Version": MODERN, "Mcp-Method": method}
            if name:
                headers["Mcp-Name"] = name
            params = {**params, "_meta": {
                "io.modelcontextprotocol/protocolVersion": MODERN,
                "io.modelcontextprotocol/clientInfo": {"name": "interop", "version": "1"},
                "io.modelcontextprotocol/clientCapabilities": {}}}
        message = {"jsonrpc": "2.0", "id": self.number, "method": method, "params": params}
        status, _, body = relay.exchange(self.port, "POST", "/mcp", headers,
                                         json.dumps(message).encode())
        text = body.decode("utf-8", "replace")
        if status != 200:
            raise Refused(status, text)
        if text.startswith(("event:", "data:", "id:", ":")):
            text = next(line[6:] for line in text.splitlines() if line.startswith("data: {"))
        answer = json.loads(text)
        if "error" in answer:
            raise Refused(status, answer["error"])
        return answer["result"]

    def call(self, tool, **arguments):
        """The texts of a tool's answer."""
        result = self.ask("tools/call", {"name": tool, "arguments": arguments}, tool)
        texts = [block.get("text", "") for block in result.get("content", [])]
        if result.get("isError"):
            raise Refused(200, "\n".join(texts))
        return texts

    def document(self, tool, **arguments):
        """Block 1 of a call with format json, as a value."""
        return json.loads(self.call(tool, **arguments, format="json")[0])


class Typescript:
    """The official TypeScript client in a process of its own."""

    def __init__(self, url, mode, token="", callback=None, person=None):
        own = ["oauth", callback] if callback else []
        self.process = interop.track(subprocess.Popen(
            [*node_script("client.mjs"), url, mode, *own], env={**os.environ, "TOKEN": token},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True))
        self.opened = self.line()
        if "visit" in self.opened:
            self.visited = self.opened["visit"]
            self.tell(person(self.visited))
            self.opened = self.line()
        if "failed" in self.opened:
            raise RuntimeError(self.opened["failed"])

    def line(self):
        # A client that hangs is ended, and its line is empty.
        timer = threading.Timer(interop.PATIENCE, self.process.kill)
        timer.start()
        try:
            return json.loads(self.process.stdout.readline() or '{"failed": "it ended"}')
        finally:
            timer.cancel()

    def tell(self, text):
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()

    def __call__(self, method, params=None):
        self.tell(json.dumps([method, params or {}]))
        return self.line()

    def close(self):
        self.process.stdin.close()
        self.process.wait(10)


def query_of(url):
    """The query of an address, as a dict."""
    return dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(url).query))


class Browser:
    """A browser without scripts: redirects, cookies by origin, and forms."""

    def __init__(self):
        self.cookies, self.url, self.status, self.page = {}, "", 0, ""

    def go(self, url, form=None):
        """Follows an address, or posts a form, until a page comes."""
        for _ in range(20):
            url = urllib.parse.urljoin(self.url, url)
            at = urllib.parse.urlsplit(url)
            # Cookies do not tell ports apart, but our servers differ by nothing else.
            held = self.cookies.setdefault(at.netloc, {})
            headers = {"Cookie": "; ".join(f"{name}={value}" for name, value in held.items())}
            if form is not None:
                headers["Origin"] = f"{at.scheme}://{at.netloc}"
            self.status, answer, self.page = interop.browse(url, form, headers)
            for cookie in answer.get_all("set-cookie") or []:
                name, _, value = cookie.split(";")[0].strip().partition("=")
                held[name] = value
                if not value or "max-age=0" in cookie.lower():
                    held.pop(name)
            self.url, form = url, None
            if self.status not in (301, 302, 303, 307, 308):
                return self
            url = answer["location"]
        raise RuntimeError(f"too many redirects at {url}")

    def follow(self, name):
        """Follows the link with an id."""
        found = re.search(rf'<a [^>]*id="{name}"[^>]*>', self.page)
        if not found:
            raise RuntimeError(f"no link {name} at {self.url} ({self.status}): {self.page[-900:]}")
        return self.go(html.unescape(re.search(r'href="([^"]*)"', found.group()).group(1)))

    def submit(self, wanted, **values):
        """Posts the first form that `wanted` is true for, with its fields and `values`."""
        for form in interop.Forms(self.page).all:
            if wanted(form):
                return self.go(form["action"] or self.url, {**form["fields"], **values})
        raise RuntimeError(f"no such form at {self.url} ({self.status}): {self.page[-1500:]}")
