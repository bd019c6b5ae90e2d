"""The stage of oidc.py: oidc-provider, somebody with a browser on its pages, a gate
before the sandbox's APIs, and Daysheet at work between them.

It checks nothing; what has to come of it stands in oidc.py.
"""

import base64
import collections
import hashlib
import http.cookiejar
import json
import os
import queue
import re
import secrets
import shutil
import subprocess
import sys
import threading
import time
import urllib.parse
import urllib.request

import interop
import relay

EMAIL = "mira@example.com"
MICROSOFT_SCOPE = (
    "User.Read Mail.Read MailboxSettings.Read Contacts.Read People.Read Calendars.ReadWrite "
    "offline_access"
)
GMAIL_SCOPE = "https://www.googleapis.com/auth/gmail.readonly"

# Seconds after which a token that was fresh has expired: the two of oidc.mjs, and
# one because oidc-provider counts whole seconds.
STALL = 3.2


# The partner ------------------------------------------------------------------


class Partner:
    """oidc-provider at a port of its own."""

    def __init__(self):
        node = shutil.which("node")
        if node is None:
            raise RuntimeError("node is not on PATH: run this part through tests/interop/run")
        packages = os.environ["INTEROP_PACKAGES"]
        # Node finds packages beside the script, so the script goes to them.
        script = shutil.copy(os.path.join(interop.HERE, "oidc.mjs"), packages)
        self.port = interop.free_port()
        interop.start_server([node, script, str(self.port)], self.port)
        self.base = f"http://127.0.0.1:{self.port}"

    def seen(self, client="interop"):
        """What happened to a client so far, as counts."""
        _, _, body = relay.send(self.port, "GET", "/control/seen", {})
        return collections.Counter(json.loads(body).get(client, {}))

    def delay(self, client, before=0, after=0):
        """Milliseconds that token requests of a client wait from now on."""
        target = f"/control/delay?client={client}&before={before}&after={after}"
        relay.send(self.port, "GET", target, {})

    def post(self, path, **form):
        """Status and answer of a form that is posted."""
        status, _, body = relay.send(
            self.port, "POST", path, {"Content-Type": "application/x-www-form-urlencoded"},
            urllib.parse.urlencode(form).encode())
        return status, json.loads(body)

    def active(self, token):
        """True if oidc-provider says that a token is."""
        own = base64.b64encode(b"gate:gate-secret").decode()
        status, _, body = relay.send(
            self.port, "POST", "/introspect",
            {"Content-Type": "application/x-www-form-urlencoded", "Authorization": f"Basic {own}"},
            urllib.parse.urlencode({"token": token}).encode())
        if status != 200:
            raise RuntimeError(f"introspection answers {status}: {body[:200]}")
        return json.loads(body)["active"]


class Person:
    """Somebody with a browser on oidc-provider's pages."""

    def __init__(self, allow=True):
        self.allow = allow
        self.opener = urllib.request.build_opener(
            interop.NoRedirect, urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))

    def fetch(self, url, form=None):
        data = urllib.parse.urlencode(form).encode() if form is not None else None
        try:
            answer = self.opener.open(urllib.request.Request(url, data=data), timeout=60)
        except urllib.error.HTTPError as error:
            answer = error
        with answer:
            return answer.status, answer.headers, answer.read().decode()

    def goes(self, url, email, code=None):
        """Fills in every form until the pages lead elsewhere, or to no form.
        Returns where they led, or the last page."""
        here = urllib.parse.urlsplit(url).netloc
        form = None
        for _ in range(20):
            status, headers, page = self.fetch(url, form)
            form = None
            if status in (302, 303):
                url = urllib.parse.urljoin(url, headers["location"])
                if urllib.parse.urlsplit(url).netloc != here:
                    return url
                continue
            refusal = re.search(r'href="([^"]*/abort)"', page)
            forms = interop.Forms(page).all
            if refusal and not self.allow:
                url = urllib.parse.urljoin(url, refusal.group(1))
            elif forms and status == 200:
                form = forms[0]["fields"]
                if "login" in form:
                    form.update(login=email, password="sample")
                if not form.get("user_code", True):
                    if code is None:
                        # It asks for another code when one was declined.
                        return page
                    form["user_code"], code = code, None
                url = urllib.parse.urljoin(url, forms[0]["action"])
            else:
                return page
        raise RuntimeError(f"the pages go round in circles at {url}")


def browser(url, email):
    return Person().goes(url, email)


# The gate before the APIs -----------------------------------------------------


def grant(base, authorize, token, email, client, scope, verifier=None, challenge=None,
          person=None, redirect=None, **more):
    """A sign-in by hand: status and answer of the token endpoint, or of the
    redirect that holds an error. `more` are further parameters of both requests."""
    verifier = verifier or secrets.token_urlsafe(40)
    if challenge is None:
        digest = hashlib.sha256(verifier.encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
    redirect = redirect or ("http://127.0.0.1:9/" if "secret" in client.get("client_secret", "")
                            else "http://localhost:9")
    asked = {
        "client_id": client["client_id"], "redirect_uri": redirect, "response_type": "code",
        "scope": scope, "state": "interop", "prompt": "consent", **more,
    }
    if challenge:
        asked.update(code_challenge=challenge, code_challenge_method="S256")
    target = (person or interop.consent)(f"{base}{authorize}?{urllib.parse.urlencode(asked)}", email)
    got = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(target).query))
    if "code" not in got:
        return 0, got
    form = {**client, "grant_type": "authorization_code", "code": got["code"],
            "redirect_uri": redirect, "code_verifier": verifier, **more}
    port = urllib.parse.urlsplit(base).port
    status, _, body = relay.send(
        port, "POST", token, {"Content-Type": "application/x-www-form-urlencoded"},
        urllib.parse.urlencode(form).encode())
    return status, json.loads(body)


class Gate:
    """The sandbox's APIs for whoever oidc-provider has signed in."""

    def __init__(self, partner, sandbox):
        self.partner, self.sandbox = partner, sandbox
        base = f"http://127.0.0.1:{sandbox}"
        status, google = grant(base, "/o/oauth2/v2/auth", "/token", EMAIL,
                               {"client_id": "interop", "client_secret": "secret"}, GMAIL_SCOPE)
        second, microsoft = grant(base, "/common/oauth2/v2.0/authorize",
                                  "/common/oauth2/v2.0/token", EMAIL,
                                  {"client_id": "interop"}, MICROSOFT_SCOPE)
        if (status, second) != (200, 200):
            raise RuntimeError(f"the sandbox gives no token: {google} {microsoft}")
        self.own = {"google": google["access_token"], "microsoft": microsoft["access_token"]}
        self.lock = threading.Lock()
        self.passed = self.refused = 0
        # Seconds that every request waits after it was let in.
        self.slow = 0.0
        # One of so many requests waits at the door until its token has expired;
        # none if this is 0. What is asked again goes through at once.
        self.one_of = 0
        self.asked = set()
        self.port = relay.serve(self.answer)
        self.base = f"http://127.0.0.1:{self.port}"

    def answer(self, method, target, headers, body):
        headers = {name.lower(): value for name, value in headers.items()}
        token = headers.get("authorization", "").removeprefix("Bearer ")
        if self.is_stalled((target, body)):
            time.sleep(STALL)
        active = bool(token) and self.partner.active(token)
        provider = "microsoft" if target.startswith("/v1.0/") else "google"
        # The sandbox says no in its provider's own words.
        headers["authorization"] = "Bearer " + (self.own[provider] if active else "expired")
        with self.lock:
            self.passed += active
            self.refused += not active
        if active:
            time.sleep(self.slow)
        return relay.send(self.sandbox, method, target, headers, body,
                          host=f"127.0.0.1:{self.port}")


    def is_stalled(self, request):
        with self.lock:
            if not self.one_of or request in self.asked:
                return False
            self.asked.add(request)
            return len(self.asked) % self.one_of == 1


# Daysheet ---------------------------------------------------------------------


def daysheet_for(partner, gate, client="interop"):
    """A Daysheet with a home of its own; nobody is signed in."""
    settings = {
        **interop.google_at(partner.base, gate.base),
        **interop.microsoft_at(partner.base, gate.base),
        "google_people_url": gate.base,
        "microsoft_client_id": client,
    }
    return interop.Daysheet(sys.argv[1], running=True, **settings)


def sign_in(daysheet, provider):
    return interop.sign_in(daysheet, EMAIL, provider=provider, person=browser)


class Served:
    """`daysheet serve` over stdio, with any number of calls in flight."""

    def __init__(self, daysheet):
        self.process = interop.track(subprocess.Popen(
            [daysheet.binary, "serve"], env=daysheet.env, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, encoding="utf-8",
            start_new_session=True))
        self.lock = threading.Lock()
        self.waiting = {}
        self.last = 0
        threading.Thread(target=self.read, daemon=True).start()
        self.ask("initialize", {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "interop", "version": "1"},
        })
        self.write({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def read(self):
        for line in self.process.stdout:
            message = json.loads(line)
            with self.lock:
                waiting = self.waiting.pop(message.get("id"), None)
            if waiting:
                waiting.put(message)

    def write(self, message):
        with self.lock:
            self.process.stdin.write(json.dumps(message) + "\n")
            self.process.stdin.flush()

    def ask(self, method, params):
        answer = queue.Queue()
        with self.lock:
            self.last += 1
            id = self.last
            self.waiting[id] = answer
        self.write({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
        return answer.get(timeout=interop.PATIENCE * 2)

    def call(self, tool, **arguments):
        """The texts of a tool's answer. Raises `CallFailed` for an error."""
        message = self.ask("tools/call", {"name": tool, "arguments": arguments})
        result = message.get("result") or {}
        texts = [block.get("text", "") for block in result.get("content", [])]
        if "error" in message or result.get("isError"):
            raise interop.CallFailed(str(texts or message))
        return texts

    def end(self):
        self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            pass
        interop.stop(self.process)
