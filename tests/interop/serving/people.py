"""What surrounds many people at two instances: PostgreSQL, a balancer, an issuer, the sandbox
with two mailboxes each, and their sign-ins.

It checks nothing.
"""

import base64
import datetime
import glob
import json
import os
import pwd
import re
import shutil
import subprocess
import threading
import time
import urllib.parse

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

import interop
import relay
import stage

# A master key for tests: 32 bytes in base64.
MASTER_KEY = base64.b64encode(b"interop-interop-interop-interop!").decode()
CANARY = re.compile(r"canary(\d{4})")


# Mail -----------------------------------------------------------------------------

MESSAGE = """\
From: Friend of {word} <friend-{word}@elsewhere.example>
To: {address}
Subject: {word} message {number}
Date: {date}
Message-ID: <{word}-{number}-{address}>
MIME-Version: 1.0
Content-Type: text/plain; charset=utf-8

Dear {word}, this is message {number} for you alone.
"""

CALENDAR = """\
BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//interop//many//EN
BEGIN:VEVENT
UID:{word}-{address}
DTSTAMP:20260101T000000Z
DTSTART:{start}
DTEND:{end}
SUMMARY:{word} appointment
END:VEVENT
END:VCALENDAR
"""


class Person:
    """Somebody with a mailbox at each provider, whose every row has their word."""

    def __init__(self, number):
        self.number, self.word = number, f"canary{number:04}"
        self.name = f"person-{number:04}"
        self.google, self.microsoft = (f"p{number:04}@{one}.example" for one in ("one", "two"))
        self.addresses = {"google": self.google, "microsoft": self.microsoft}
        # What their last answers gave them to go on with.
        self.seen = {}


def write_mail(people, messages):
    """A folder for the sandbox with everybody's messages and an event of today."""
    root = interop.temp_folder("people")
    now = datetime.datetime.now(datetime.timezone.utc).replace(minute=0, second=0)
    for person in people:
        for address in person.addresses.values():
            folder = os.path.join(root, address)
            os.makedirs(folder)
            values = {"word": person.word, "address": address}
            for number in range(messages):
                date = (now - datetime.timedelta(hours=2 * number + 1)).strftime(
                    "%a, %d %b %Y %H:%M:%S +0000")
                with open(os.path.join(folder, f"{number:03}.eml"), "w") as file:
                    file.write(MESSAGE.format(number=number, date=date, **values))
            start, end = ((now + datetime.timedelta(hours=more)).strftime("%Y%m%dT%H%M%SZ")
                          for more in (1, 2))
            with open(os.path.join(folder, "calendar.ics"), "w") as file:
                file.write(CALENDAR.format(start=start, end=end, **values))
    return root


class Sandbox:
    """The sandbox as a process of its own, and a relay before its sign-ins that counts."""

    def __init__(self, binary, root, token_life, **settings):
        """With the mail and calendars of a folder, or the samples if `root` is None."""
        bare = interop.Daysheet(binary, running=True, **settings)
        self.port = interop.free_port()
        loaded = ["--mail", root, "--calendar", root] if root else []
        interop.start_server(
            [bare.binary, "sandbox", "--port", str(self.port), *loaded,
             "--token-life", str(token_life)], self.port, env=bare.env)
        self.base = f"http://127.0.0.1:{self.port}"
        self.lock = threading.Lock()
        # Refreshes that were granted and refused, and tokens that came a second time.
        self.granted = self.refused = self.reused = 0
        self.used = set()
        self.counted = f"http://127.0.0.1:{relay.serve(self.pass_on)}"

    def pass_on(self, method, target, headers, body):
        answer = relay.send(self.port, method, target, headers, body)
        form = urllib.parse.parse_qs(body.decode("utf-8", "replace")) if method == "POST" else {}
        if form.get("grant_type") == ["refresh_token"]:
            token = form["refresh_token"][0]
            with self.lock:
                self.granted += answer[0] == 200
                self.refused += answer[0] != 200
                # Google's stay the same; a used one of Microsoft's has a successor.
                self.reused += token in self.used
                if not token.startswith("1//"):
                    self.used.add(token)
        return answer

    def settings(self):
        """The settings of an instance in front of it."""
        return {
            **interop.google_at(self.counted, self.base),
            **interop.microsoft_at(self.counted, self.base),
            "google_auth_url": self.base + "/o/oauth2/v2/auth",
        }

    def sent(self, address):
        """The subjects of all that a mailbox has sent, as Gmail has them."""
        import oidc_stage
        status, got = oidc_stage.grant(
            self.base, "/o/oauth2/v2/auth", "/token", address,
            {"client_id": "interop", "client_secret": "secret"}, oidc_stage.GMAIL_SCOPE)
        if status != 200:
            raise RuntimeError(f"the sandbox gives no token for {address}: {got}")
        headers = {"Authorization": "Bearer " + got["access_token"]}
        base = "/gmail/v1/users/me/messages"

        def get(path):
            status, _, body = relay.send(self.port, "GET", path, headers)
            if status != 200:
                raise RuntimeError(f"{path} answers {status}: {body[:200]}")
            return json.loads(body)

        ids, page = [], ""
        while page is not None:
            listed = get(f"{base}?labelIds=SENT&maxResults=500&pageToken={page}"
                         if page else f"{base}?labelIds=SENT&maxResults=500")
            ids += [row["id"] for row in listed.get("messages", [])]
            page = listed.get("nextPageToken")
        subjects = []
        for one in ids:
            fields = get(f"{base}/{one}?format=metadata&metadataHeaders=Subject")
            subjects += [field["value"] for field in fields["payload"]["headers"]]
        return subjects


# PostgreSQL -----------------------------------------------------------------------


class Postgres:
    """A cluster of our own. Daysheet's role is as a server should have it: row-level security
    holds for it."""

    def __init__(self):
        found = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"),
                       key=lambda path: int(path.split("/")[4]))
        program = found[-1] if found else shutil.which("initdb")
        if program is None:
            raise RuntimeError("no initdb: install postgresql")
        self.programs = os.path.dirname(program)
        self.root = interop.temp_folder("postgres")
        self.user = None
        if os.geteuid() == 0:
            # It refuses to run as root.
            self.user = "postgres" if "postgres" in {one.pw_name for one in pwd.getpwall()} \
                else "nobody"
            shutil.chown(self.root, self.user)
        self.data = os.path.join(self.root, "data")
        self.port = interop.free_port()
        self.run("initdb", "-D", self.data, "-U", "postgres", "--auth=trust", "--encoding=UTF8",
                 "--no-locale", "--no-sync")
        self.start()
        self.psql("postgres", "CREATE ROLE daysheet LOGIN")
        self.psql("postgres", "CREATE DATABASE daysheet OWNER daysheet")
        self.url = f"postgres://daysheet@127.0.0.1:{self.port}/daysheet"

    def run(self, program, *arguments):
        done = subprocess.run(
            [os.path.join(self.programs, program), *arguments], user=self.user, cwd="/",
            capture_output=True, text=True, timeout=interop.PATIENCE)
        if done.returncode != 0:
            raise RuntimeError(f"{program}: {done.stdout}{done.stderr}")
        return done.stdout

    def psql(self, database, command):
        return self.run("psql", "-h", "127.0.0.1", "-p", str(self.port), "-U", "postgres",
                        "-At", "-c", command, database)

    def start(self):
        command = [os.path.join(self.programs, "postgres"), "-D", self.data, "-p", str(self.port),
                   "-k", self.root, "-c", "listen_addresses=127.0.0.1", "-c",
                   "max_connections=200"]
        log = open(os.path.join(self.root, "log"), "a")
        self.process = interop.track(subprocess.Popen(
            command, user=self.user, cwd="/", stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            start_new_session=True))
        log.close()
        end = time.monotonic() + interop.PATIENCE
        while time.monotonic() < end:
            try:
                self.psql("postgres", "SELECT 1")
                return
            except RuntimeError:
                time.sleep(0.1)
        raise RuntimeError("PostgreSQL does not start")

    def restart(self, pause):
        """Ends it as a service manager does, and starts it after `pause` seconds."""
        self.run("pg_ctl", "stop", "-D", self.data, "-m", "fast")
        self.process.wait()
        time.sleep(pause)
        self.start()


# The issuer -----------------------------------------------------------------------


def _number(value):
    """A number of a JSON Web Key."""
    raw = value.to_bytes((value.bit_length() + 7) // 8, "big")
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def _who(headers):
    """Whom a browser's cookie names."""
    cookie = next((value for name, value in headers.items() if name.lower() == "cookie"), "")
    return cookie.partition("who=")[2].split(";")[0]


class Issuer:
    """An OpenID provider that takes everybody for whom their cookie says, without a page."""

    def __init__(self):
        self.key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        self.codes = {}
        self.base = f"http://127.0.0.1:{relay.serve(self.answer)}"

    def token(self, subject, audience, seconds=3600, **claims):
        now = int(time.time())
        return jwt.encode({"iss": self.base, "sub": subject, "aud": audience, "iat": now,
                           "exp": now + seconds, **claims}, self.key, "RS256", {"kid": "1"})

    def answer(self, method, target, headers, body):
        url = urllib.parse.urlsplit(target)
        form = dict(urllib.parse.parse_qsl(url.query if method == "GET" else body.decode()))
        if url.path.startswith("/.well-known/"):
            return self.json({
                "issuer": self.base, "authorization_endpoint": self.base + "/authorize",
                "token_endpoint": self.base + "/token", "jwks_uri": self.base + "/jwks",
                "response_types_supported": ["code"], "subject_types_supported": ["public"],
                "id_token_signing_alg_values_supported": ["RS256"],
                "code_challenge_methods_supported": ["S256"]})
        if url.path == "/jwks":
            public = self.key.public_key().public_numbers()
            return self.json({"keys": [{"kty": "RSA", "kid": "1", "use": "sig", "alg": "RS256",
                                        "n": _number(public.n), "e": _number(public.e)}]})
        if url.path == "/authorize":
            code = base64.urlsafe_b64encode(os.urandom(18)).decode()
            self.codes[code] = form, _who(headers)
            back = urllib.parse.urlencode({"code": code, "state": form.get("state", ""),
                                           "iss": self.base})
            return 302, {"Location": f"{form['redirect_uri']}?{back}"}, b""
        if url.path == "/token" and form.get("code") in self.codes:
            asked, who = self.codes.pop(form["code"])
            nonce = {"nonce": asked["nonce"]} if "nonce" in asked else {}
            return self.json({
                "token_type": "Bearer", "expires_in": 3600, "access_token": "of no use",
                "id_token": self.token(who, asked["client_id"], name=who, **nonce)})
        return 404, {}, b""

    @staticmethod
    def json(value):
        return 200, {"Content-Type": "application/json"}, json.dumps(value).encode()


# The balancer ---------------------------------------------------------------------

NGINX = """\
daemon off;
pid {root}/pid;
error_log {root}/error.log;
worker_processes 1;
events {{ worker_connections 1024; }}
http {{
  access_log off;
  client_body_temp_path {root};
  proxy_temp_path {root};
  fastcgi_temp_path {root};
  uwsgi_temp_path {root};
  scgi_temp_path {root};
  upstream instances {{
    {servers}
    keepalive 64;
  }}
  server {{
    listen 127.0.0.1:{port};
    location / {{
      proxy_pass http://instances;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host $http_host;
      proxy_set_header X-Forwarded-Proto $scheme;
      # Only what no instance has read is given to the other one.
      proxy_next_upstream error;
      proxy_connect_timeout 1s;
    }}
  }}
}}
"""


class Balancer:
    """nginx, which hands requests round."""

    def __init__(self, ports, port):
        root = interop.temp_folder("nginx")
        servers = "\n    ".join(f"server 127.0.0.1:{one} max_fails=0;" for one in ports)
        path = os.path.join(root, "nginx.conf")
        with open(path, "w") as file:
            file.write(NGINX.format(root=root, port=port, servers=servers))
        interop.start_server([stage.program("nginx"), "-c", path, "-p", root, "-e",
                              root + "/error.log"], port)


# Signing in -----------------------------------------------------------------------


def connect(person, base, issuer):
    """Connects both mailboxes of a person on Daysheet's pages; returns their browser."""
    browser = stage.Browser()
    browser.cookies[urllib.parse.urlsplit(issuer.base).netloc] = {"who": person.name}
    for provider, address in person.addresses.items():
        path = f"/connect/{provider}"
        browser.go(base + path)
        browser.submit(lambda form: form["action"] == path)
        browser.follow("continue")
        # The sandbox's consent page.
        browser.submit(lambda form: "mailbox" in form["choices"], mailbox=address,
                       decision="allow")
        if browser.status != 200 or 'id="connected"' not in browser.page:
            raise RuntimeError(f"{address} is not connected: {browser.status} "
                               f"{browser.page[-800:]}")
    return browser
