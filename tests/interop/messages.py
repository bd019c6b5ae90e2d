"""Interop part: the messages that Daysheet writes, read by parsers of others.

    messages.py BINARY

An MCP client (the Python SDK) writes and sends messages from one mailbox of the
sandbox to the other, at both providers. The copy that was sent and the one that
came in are then fetched from the sandbox's own endpoints, byte for byte (a
mail_read shows line ends as plain line feeds), and read by Python's `email` and
by postal-mime (npm). Both have to find what Daysheet was given, and the same.

Gmail is given a whole message, so all of its form is ours. Graph is given fields,
and Exchange makes the message: there the sandbox does, and its copy has the HTML
form alone. What is checked of such a message is what went through the fields, and
that it can be read.
"""

import asyncio
import base64
import email
import email.header
import email.policy
import email.utils
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import urllib.parse

import mcp

import interop
import relay

checks = interop.Checks("messages")

HOME = "mira@example.com"
WORK = "mira@lindqvist-lamps.example"
PROVIDER = {HOME: "gmail", WORK: "outlook"}
OTHER = {HOME: WORK, WORK: HOME}

# RFC 5322, 2.1.1, without the line end.
LONGEST_LINE = 998

# A picture of one pixel; what is in it does not matter, that it comes through does.
PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
EVERY_BYTE = bytes(range(256)) * 17 + b"\r\n.\r\nFrom \r\n\n\r"
MIXED_ENDS = b"one\r\ntwo\nthree\rfour\r\n\r\n\n\n\r\r.\r\n..\nFrom here\r\nlast without an end"

# What lies in the folder that files are attached from.
FILES = {
    "every byte.bin": EVERY_BYTE,
    "empty.bin": b"",
    "ends.txt": MIXED_ENDS,
    "empty.txt": b"",
    "Überweisung für Köln.txt": "Grüße\n".encode(),
    "日本語の報告書.pdf": b"%PDF-1.4\n\x00\xff\n%%EOF\n",
    "🎉 party 🇩🇪.csv": b"a;b\n1;2\n",
    "team 👩‍🚀, نامه‌ها.txt": b"joined",
    "semi;colon='x', 100%.txt": b"odd name",
    "long " + "name " * 25 + "end.txt": b"long name",
    "Ωmega.html": "<p>Ω</p>".encode(),
    "latin1.txt": "Grüße".encode("latin-1"),
    "pixel.png": PIXEL,
    "Bild für dich.png": PIXEL + b"two",
    "line.txt": b"x" * 5000,
    "half a megabyte.bin": hashlib.shake_256(b"daysheet").digest(500_000),
}


def data(name, content, media="application/octet-stream"):
    """A data: URL that carries a file along."""
    said = urllib.parse.quote(name)
    return f"data:{media};name={said};base64,{base64.b64encode(content).decode()}"


def message(name, **said):
    """One message to be written: what is said of it, and what is expected beyond."""
    expected = {key: said.pop(key) for key in
                ("people", "files", "text", "has", "html", "shown", "edit", "after", "copies")
                if key in said}
    return {"name": name, "said": said, **expected}


LONG_GERMAN = ("Größe „Übermaß“ – ein Betreff, der nicht enden will: " * 8)[:300].strip()
LONG_JAPANESE = "照明器具の見積もりについてのご連絡です" * 16
LONG_JAPANESE = LONG_JAPANESE[:300]
# A subject may have 1000 bytes, which is fewer than 300 of these.
LONG_EMOJI = "🎉🏳️🚀🇩🇪é" * 38
ONE_WORD = "Donaudampfschifffahrtsgesellschaftskapitän" * 7

MARKDOWN = """\
# Lampen für Köln

Hallo **Welt**, *schön* & <gut>: [Seite](https://lindqvist-lamps.example/a?b=1&c=2).

- eins
- zwei
  - zwei a

1. first
2. second

> quoted

```
let x = a < b && c;
```

| a | b |
|---|---|
| 1 | 2 |
"""
PLAIN = """\
Dear Käthe,

From here on it gets odd.
.
..a line that begins with dots
>From the past
a line with spaces at its end   
\ttab, = equals, =20, 100% & <b>not bold</b>
""" + "A very long line without any break at all, which goes on and on. " * 40 + """

-- 
Mira 🎉 日本語 עברית"""
HTML = """\
<div><p>Grüße, <b>bold</b> &amp; <i>italic</i></p>
<table><tr><td>1</td><td>2</td></tr></table>
<p>""" + "A paragraph in one line that is longer than any line may be. " * 40 + """</p>
<p>日本語 🎉</p></div>"""

ODD_PEOPLE = [
    ("Müller, Jürgen", "juergen@example.org"),
    ('Ana "Annie" Ruiz', "ana@example.org"),
    ("Søren Ångström", "soren@example.org"),
    ("🎉 Party 🚀 Team", "party@example.org"),
    ("O'Neil (Sales), Pat", "pat@example.org"),
    ("back\\slash", "back@example.org"),
    ("山田 太郎", "yamada@example.org"),
    ("Dr. A. B. Smith", "smith@example.org"),
    ("Ein sehr langer Name " + "mit Umlauten äöü " * 5 + "am Ende", "lang@example.org"),
    ("x=y; z:w", "signs@example.org"),
    ("", "plain+tag@example.org"),
]


def written(person):
    """A person as one writes them to Daysheet: the name quoted if there is one."""
    name, address = person
    if not name:
        return address
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}" <{address}>'


def said_of(people):
    return [written(person) for person in people]


MANY = [(f"Person Nummer {n} Größe", f"person{n}@many.example") for n in range(120)]


def cases(me):
    """The messages of one mailbox. Each goes to the other one, too."""
    you = OTHER[me]
    to_you = [("", you)]

    def new(name, subject, **more):
        people = more.pop("people", {"to": to_you})
        said = {field: said_of(list_) for field, list_ in people.items()}
        return message(f"{PROVIDER[me]}, {name}", account=me, subject=subject,
                      people=people, **{"body": "ok", **said, **more})

    def attached(*names):
        return {"attach": list(names), "files": {name: FILES[name] for name in names}}

    yield new("Markdown", "Markdown", body=MARKDOWN,
              html=["<strong>Welt</strong>", "<em>schön</em>", "&lt;gut&gt;", "<li>zwei",
                    "a &lt; b &amp;&amp; c", "https://lindqvist-lamps.example/a?b=1&amp;c=2",
                    "<blockquote>", "<h1>"],
              has=["*Welt*", "Lampen für Köln", "<gut>", "let x = a < b && c;",
                   "https://lindqvist-lamps.example/a?b=1&c=2"])
    yield new("text", "Text", body=PLAIN, body_format="text", text=PLAIN,
              html=["&lt;b&gt;not bold&lt;/b&gt;", "日本語 עברית", "100% &amp;"])
    yield new("HTML", "HTML", body=HTML, body_format="html",
              html=["<b>bold</b>", "<td>2</td>", "日本語 🎉", "<i>italic</i>"],
              has=["Grüße", "日本語 🎉"])
    for name, subject in (
        ("a German subject of 300", LONG_GERMAN), ("a Japanese subject of 300", LONG_JAPANESE),
        ("a subject of emoji", LONG_EMOJI), ("a subject of one word", ONE_WORD),
        ("an ASCII subject of 300", ("word " * 60).strip()),
        ("an ASCII subject without spaces", "x" * 300),
        ("a subject that looks encoded", "=?utf-8?Q?looks_so?= and =?x?"),
        ("a subject with signs", 'Re: [x] "quoted" <angled> 100%, a;b=c\\d'),
        # Joiners are invisible, and make one sign of several; Persian needs them.
        ("a subject of joined emoji", "Crew 👩‍🚀 🏳️‍🌈"), ("a Persian subject", "نامه‌های تازه"),
        ("a right-to-left subject", "שלום עולם – مرحبا بالعالم"),
    ):
        yield new(name, subject)
    yield new("odd names", "Names", people={
        "to": to_you + ODD_PEOPLE[:4], "cc": ODD_PEOPLE[4:8], "bcc": ODD_PEOPLE[8:]})
    yield new("names with joiners", "Joined names", people={
        "to": to_you + [("👩‍🚀 Crew", "crew@example.org"), ("نامه‌ها", "messages@example.org")]})
    yield new("a file's name with joiners", "Joined file", **attached("team 👩‍🚀, نامه‌ها.txt"))
    yield new("120 recipients", "Many", people={"to": to_you + MANY[:60], "cc": MANY[60:]})
    yield new("IDN", "IDN", people={
        "to": to_you + [("Jürgen", "juergen@münchen.example"), ("", "info@例え.example")],
        "cc": [("", "x@xn--mnchen-3ya.example")]})
    yield new("Bcc alone", "Secret", people={"bcc": to_you + [("Ä, B", "ab@example.org")]})
    yield new("files of bytes", "Files", **attached("every byte.bin", "empty.bin", "ends.txt",
                                                    "empty.txt", "line.txt", "latin1.txt"))
    yield new("files of odd names", "Names of files", **attached(
        "Überweisung für Köln.txt", "日本語の報告書.pdf", "🎉 party 🇩🇪.csv",
        "semi;colon='x', 100%.txt", "long " + "name " * 25 + "end.txt", "Ωmega.html"))
    yield new("half a megabyte", "Large", **attached("half a megabyte.bin"))
    carried = {"Größe 🎉.bin": EVERY_BYTE, "leer.txt": b"", "ends.txt": MIXED_ENDS}
    yield new("data: URLs", "Data", attach=[data(*item) for item in carried.items()], files=carried)
    yield new("inline images", "Pictures",
              body="See ![one](cid:pixel.png) and ![two](cid:Bild%20f%C3%BCr%20dich.png).",
              shown=["pixel.png", "Bild für dich.png"],
              **attached("pixel.png", "Bild für dich.png", "ends.txt"))
    yield new("an inline image in HTML", "Picture", body_format="html",
              body='<p>See <img src="cid:pixel.png" alt="x"></p>', shown=["pixel.png"],
              **attached("pixel.png"))
    yield new("an edited message", "First", body="first",
              edit={"subject": "Second: größer", "body": "**second**", "body_format": "md",
                    "attach": ["ends.txt"]},
              files={"ends.txt": MIXED_ENDS}, has=["*second*"], html=["<strong>second</strong>"])
    yield new("no body", "No body", body="")
    # Answers; `after` names what is done with the message that came last.
    for mode in ("reply", "reply_all", "forward"):
        yield message(f"{PROVIDER[me]}, {mode}", after=mode, account=me, body=f"An **answer** ä {mode}",
                     html=["<strong>answer</strong>", "Lampen"],
                     has=["*answer*", "Lampen"],
                     **({"to": [you]} if mode == "forward" else {}))


# Reading --------------------------------------------------------------------


def of_python(raw):
    """What Python's `email` finds, in the form of messages.mjs; and its complaints."""
    message = email.message_from_bytes(raw, policy=email.policy.default)
    complaints = [f"{part.get_content_type()}: {defect!r}"
                  for part in message.walk() for defect in part.defects]
    for part in message.walk():
        for name, value in part.items():
            complaints += [f"{name}: {defect!r}" for defect in getattr(value, "defects", ())]

    # The new policy of Python before 3.13 keeps the folding between two encoded words
    # of a name, which RFC 2047, 6.2 takes away; the older reading does as it says.
    older = email.message_from_bytes(raw, policy=email.policy.compat32)

    def people(field):
        found = email.utils.getaddresses(older.get_all(field, []))
        structured = [one.addr_spec for header in message.get_all(field, [])
                      for one in header.addresses]
        if structured != [address for _, address in found]:
            complaints.append(f"{field}: read as {structured} and as {found}")
        return [[str(email.header.make_header(email.header.decode_header(name))), address]
                for name, address in found]

    texts = {"plain": [], "html": []}
    files = []
    for part in parts(message):
        kind, disposition = part.get_content_type(), part.get_content_disposition()
        if kind in ("text/plain", "text/html") and disposition is None:
            texts[part.get_content_subtype()].append(part.get_content())
            continue
        content = (part.get_payload(0).as_bytes() if kind == "message/rfc822"
                   else part.get_payload(decode=True))
        files.append({
            "name": part.get_filename(), "media": kind, "disposition": disposition,
            "cid": part["content-id"] and str(part["content-id"]).strip(),
            "sha256": hashlib.sha256(content).hexdigest(),
            "coding": str(part.get("content-transfer-encoding", "7bit")).lower(),
            "line_sha256": hashlib.sha256(content + b"\n").hexdigest(),
        })
    found = {
        "subject": str(message["subject"]),
        "from": people("from"), "to": people("to"), "cc": people("cc"), "bcc": people("bcc"),
        "message_id": one_line(message["message-id"]),
        "in_reply_to": one_line(message["in-reply-to"]),
        "references": (one_line(message["references"]) or "").split(),
        "text": "".join(texts["plain"]) if texts["plain"] else None,
        "html": "".join(texts["html"]) if texts["html"] else None,
        "files": files,
    }
    counts = {field: len(message.get_all(field, [])) for field in
              ("from", "to", "cc", "bcc", "subject", "date", "message-id", "mime-version")}
    forms = [len(texts["plain"]), len(texts["html"])]
    return found, complaints, counts, forms


def parts(message):
    """The leaves of a message; a message inside it is one."""
    if message.is_multipart() and message.get_content_type() != "message/rfc822":
        for part in message.iter_parts():
            yield from parts(part)
    else:
        yield message


def one_line(header):
    return None if header is None else re.sub(r"\s+", " ", str(header)).strip()


def plain(text):
    """A text without what a line end and the end of a text may be."""
    return None if text is None else text.replace("\r\n", "\n").rstrip("\n")


def of_postal_mime(messages):
    """What postal-mime finds in each of {name: raw}."""
    node = shutil.which("node")
    if node is None:
        raise RuntimeError("node is not on PATH: run this part through tests/interop/run")
    path = os.path.join(interop.temp_folder("messages"), "messages.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump([{"name": name, "raw": base64.b64encode(raw).decode()}
                   for name, raw in messages.items()], file)
    # Node finds packages beside the script, so the script goes to them.
    script = shutil.copy(os.path.join(interop.HERE, "messages.mjs"), os.environ["INTEROP_PACKAGES"])
    done = subprocess.run([node, script, path], capture_output=True, text=True,
                          encoding="utf-8", timeout=interop.PATIENCE)
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    return {line["name"]: line["found"] for line in map(json.loads, done.stdout.splitlines())}


# Checking -------------------------------------------------------------------


def check_form(name, raw):
    """What every message on a wire has to be, whoever made it."""
    lines = raw.split(b"\r\n")
    bare = [line for line in lines if b"\n" in line or b"\r" in line]
    checks.that(f"{name}: no bare CR or LF", not bare, bare[:3])
    longest = max(map(len, lines))
    checks.that(f"{name}: no line is longer than {LONGEST_LINE}", longest <= LONGEST_LINE, longest)
    wide = [line for line in lines if not line.isascii() or b"\0" in line]
    checks.that(f"{name}: 7-bit", not wide, wide[:3])


def ascii_domain(address):
    """An address with its domain as it stands in a header."""
    local, at, domain = address.rpartition("@")
    return local + at + domain.encode("idna").decode()


def check_said(name, case, found, counts, forms, copy):
    """Compares what a parser finds with what was said."""
    me = case["said"]["account"]
    want = {**case["said"], **case.get("edit", {})}
    if "after" not in case:
        checks.same(f"{name}: the subject", found["subject"], want["subject"])
        for field in ("to", "cc", "bcc"):
            people = [[who, ascii_domain(address)]
                      for who, address in case["people"].get(field, [])]
            if field == "bcc" and copy == "received":
                people = []
            checks.same(f"{name}: {field}", found[field], people)
    checks.same(f"{name}: from", [address for _, address in found["from"]], [me])
    once = ("from", "subject", "date", "message-id", "mime-version")
    checks.same(f"{name}: once each", [counts[field] for field in once], [1] * len(once))
    checks.that(f"{name}: no field of people twice",
                all(counts[field] <= 1 for field in ("to", "cc", "bcc")), counts)
    if copy == "received":
        checks.same(f"{name}: no Bcc", counts["bcc"], 0)
    if PROVIDER[me] == "gmail":
        checks.same(f"{name}: one text and one HTML", forms, [1, 1])
        if "text" in case:
            checks.same(f"{name}: the text", plain(found["text"]), case["text"])
        missing = [part for part in case.get("has", []) if part not in (found["text"] or "")]
        checks.that(f"{name}: the text has what was written", not missing,
                    f"{missing}\n{found['text']}")
    else:
        # Exchange would add the text; the sandbox sends on what it was given.
        fine = ([0, 1], [1, 1]) if want["body"] else ([0, 1], [1, 1], [1, 0])
        checks.that(f"{name}: one HTML, at most one text", forms in fine, forms)
    missing = [part for part in case.get("html", []) if part not in (found["html"] or "")]
    checks.that(f"{name}: the HTML has what was written", not missing,
                f"{missing}\n{found['html']}")
    want_files = sorted((file, hashlib.sha256(content).hexdigest())
                        for file, content in case.get("files", {}).items())
    got_files = sorted((file["name"] or "", file["sha256"]) for file in found["files"])
    checks.same(f"{name}: the files, byte for byte", got_files, want_files)
    shown = [file for file in found["files"] if file["cid"]
             and f'"cid:{file["cid"].strip("<>")}"' in (found["html"] or "")]
    checks.same(f"{name}: the pictures shown", sorted(file["name"] for file in shown),
                sorted(case.get("shown", [])))
    checks.that(f"{name}: they are inline, the others attached", all(
        file["disposition"] == ("inline" if file in shown else "attachment")
        for file in found["files"]), found["files"])


def comparable(found):
    """Without what two parsers may tell differently and mean the same."""
    flat = {key: value for key, value in found.items() if key != "files"}
    # A text of nothing is no text for one, and an empty one for the other.
    flat.update(text=plain(found["text"] or ""), html=plain(found["html"] or ""))
    for at, file in enumerate(found["files"]):
        flat.update({f"file {at}, {key}": file[key]
                     for key in ("name", "media", "disposition", "cid", "sha256")})
    return flat


def forgive_lines(got, found):
    """postal-mime ends a text that is not in Base64 with a line feed, though the
    line end before a boundary belongs to the boundary (RFC 2046, 5.1.1). Gmail's
    messages have no such files; the sandbox's Exchange does."""
    for theirs, ours in zip(got["files"], found["files"]):
        if ours["coding"] != "base64" and theirs["sha256"] == ours["line_sha256"]:
            theirs["sha256"] = ours["sha256"]


# Writing --------------------------------------------------------------------


class Office:
    """A Daysheet with both mailboxes of a sandbox, an MCP client, and a look at
    the sandbox's own copies."""

    def __init__(self, binary):
        port = interop.free_port()
        bare = interop.Daysheet(binary)
        interop.start_server([bare.binary, "sandbox", "--port", str(port)], port, env=bare.env)
        self.sandbox = port
        self.keys = {}
        # The relay learns the tokens by which the copies are fetched.
        gate = relay.serve(self.relayed)
        self.host = f"127.0.0.1:{gate}"
        base, gated = f"http://127.0.0.1:{port}", f"http://{self.host}"
        self.folder = interop.temp_folder("files")
        for name, content in FILES.items():
            with open(os.path.join(self.folder, name), "wb") as file:
                file.write(content)
        self.daysheet = interop.Daysheet(
            binary, **interop.google_at(base, gated), **interop.microsoft_at(base, gated),
            access="full", files=self.folder,
            new_recipients="allow", sends_per_hour="1000", recipients_per_hour="100000",
        )
        for address, provider in ((HOME, "google"), (WORK, "microsoft")):
            code, printed, _, _ = interop.sign_in(self.daysheet, address, provider=provider)
            checks.that(f"sign-in of {address}", code == 0 and address in printed, printed)

    def relayed(self, method, target, headers, body):
        for name, value in headers.items():
            if name.lower() == "authorization":
                provider = "outlook" if target.startswith("/v1.0/") else "gmail"
                self.keys[provider] = value
        return relay.send(self.sandbox, method, target, headers, body, host=self.host)

    def raw(self, provider, id):
        """A message as the provider holds it."""
        quoted = urllib.parse.quote(id, safe="")
        target = {"gmail": f"/gmail/v1/users/me/messages/{quoted}?format=raw",
                  "outlook": f"/v1.0/me/messages/{quoted}/$value"}[provider]
        status, _, content = relay.send(
            self.sandbox, "GET", target, {"Authorization": self.keys[provider]}, host=self.host)
        if status != 200:
            raise RuntimeError(f"{target}: {status}: {content[:300]}")
        if provider == "outlook":
            return content
        packed = json.loads(content)["raw"]
        return base64.urlsafe_b64decode(packed + "=" * (-len(packed) % 4))


class Desk:
    """Calls tools, and takes a refusal for an exception."""

    def __init__(self, session):
        self.session = session

    async def __call__(self, tool, **arguments):
        result = await self.session.call_tool(tool, {**arguments, "format": "json"})
        texts = [block.text for block in result.content if block.type == "text"]
        if result.is_error:
            raise RuntimeError(f"{tool} {json.dumps(arguments)[:300]}: {' '.join(texts)}")
        return json.loads(texts[0])

    async def newest(self, account, folder=None):
        asked = {"account": account, "limit": 5,
                 "fields": ["id", "message_id", "folder", "subject"]}
        if folder:
            asked["folder"] = folder
        return (await self("mail_search", **asked))["messages"]


async def post(desk, office, case, last):
    """Writes and sends one message; its two copies."""
    said = dict(case["said"])
    if "attach" in said:
        said["attach"] = [office.path(item) for item in said["attach"]]
    if "after" in case:
        said.update(mode=case["after"], id=last)
    draft = await desk("mail_draft", **{k: v for k, v in said.items() if v != ""})
    if "edit" in case:
        edit = dict(case["edit"])
        if "attach" in edit:
            edit["attach"] = [office.path(item) for item in edit["attach"]]
        await desk("mail_draft", mode="edit", id=draft["draft"], **edit)
    outcome = (await desk("mail_send", id=draft["draft"]))["outcomes"][0]
    checks.same(f"{case['name']}: is sent", outcome["result"], "sent")
    me = case["said"]["account"]
    sent = (await desk.newest(me, "sent"))[0]
    came = [row for row in await desk.newest(OTHER[me])
            if row["message_id"] == sent["message_id"] and row["folder"] == "inbox"]
    if not checks.that(f"{case['name']}: came in once", len(came) == 1, came):
        return None
    shown = {}
    for copy, account, row in (("sent", me, sent), ("received", OTHER[me], came[0])):
        raw = office.raw(PROVIDER[account], row["provider_id"])
        # What mail_read shows is the same message, with plain line feeds.
        read = await desk("mail_read", ids=[row["id"]], body="raw", budget=100_000)
        body = read["bodies"][0]
        whole = raw.decode().replace("\r\n", "\n")
        seen = body["text"] or ""
        # A large one is shown as far as the budget goes.
        same = (seen.rstrip("\n") == whole.rstrip("\n") if body["shown"] == body["chars"]
                else whole.startswith(seen[:2000]))
        checks.that(f"{case['name']}, {copy}: mail_read shows the raw message", seen and same,
                    f"{seen[:400]!r}\n{whole[:400]!r}")
        shown[copy] = raw
    return {"case": case, "raw": shown, "id": came[0]["id"], "message_id": sent["message_id"]}


def check_answer(name, case, found, before):
    """An answer's threading and people."""
    original, mode = before["found"], case["after"]
    prefix = {"forward": ("Fwd: ", "FW: ")}.get(mode, ("Re: ",))
    checks.that(f"{name}: the subject", found["subject"] in
                {start + original["subject"] for start in prefix}, found["subject"])
    if mode == "forward":
        return
    checks.same(f"{name}: In-Reply-To", found["in_reply_to"], original["message_id"])
    checks.same(f"{name}: References", found["references"],
                [*original["references"], original["message_id"]])
    got = sorted(address for field in ("to", "cc") for _, address in found[field])
    want = {address for field in ("from", "to", "cc") for _, address in original[field]}
    want -= {case["said"]["account"]}
    sender = [address for _, address in original["from"]]
    checks.same(f"{name}: who is answered", got, sender if mode == "reply" else sorted(want))


async def drive(office):
    """All messages, with their copies."""
    parameters = mcp.StdioServerParameters(
        command=office.daysheet.binary, args=["serve", "--access", "full"],
        env=office.daysheet.env)
    posted = []
    async with mcp.Client(parameters, mode="legacy",
                          read_timeout_seconds=interop.PATIENCE) as session:
        desk = Desk(session)
        for me in (HOME, WORK):
            # What is answered: a message of the other mailbox with more people in it.
            opening = message(
                f"{PROVIDER[OTHER[me]]}, to be answered", account=OTHER[me],
                subject="Lampen für Köln", body="Lampen?\n\nGrüße", people={
                    "to": [("", me), ("Müller, Jürgen", "juergen@example.org")],
                    "cc": [("", "cc@example.org")]},
                to=[me, '"Müller, Jürgen" <juergen@example.org>'], cc=["cc@example.org"])
            first = None
            with checks.section(opening["name"]):
                first = await post(desk, office, opening, None)
                posted.append(first)
            for case in cases(me):
                with checks.section(case["name"]):
                    one = await post(desk, office, case, first and first["id"])
                    if one and "after" in case:
                        one["before"] = first
                    if one:
                        posted.append(one)
    return [one for one in posted if one]


def main():
    posted = []
    with checks.section("the messages"):
        office = Office(sys.argv[1])
        office.path = lambda item: (item if item.startswith("data:")
                                    else os.path.join(office.folder, item))
        posted = asyncio.run(drive(office))
    checks.that(f"{len(posted)} messages were sent, at least 50", len(posted) >= 50)
    with checks.section("the parsers"):
        other = of_postal_mime({f"{one['case']['name']}, {copy}": raw
                                for one in posted for copy, raw in one["raw"].items()})
        for one in posted:
            for copy, raw in one["raw"].items():
                name = f"{one['case']['name']}, {copy}"
                with checks.section(name):
                    check_form(name, raw)
                    found, complaints, counts, forms = of_python(raw)
                    one.setdefault("found", found)
                    checks.that(f"{name}: no defects", not complaints, "\n".join(complaints))
                    check_said(name, one["case"], found, counts, forms, copy)
                    checks.same(f"{name}: the Message-ID", found["message_id"], one["message_id"])
                    if "before" in one:
                        check_answer(name, one["case"], found, one["before"])
                    if PROVIDER[one["case"]["said"]["account"]] == "outlook":
                        forgive_lines(other[name], found)
                    got, want = comparable(other[name]), comparable(found)
                    differing = {key: [got.get(key), want[key]] for key in want
                                 if got.get(key) != want[key]}
                    differing.update({key: got[key] for key in got.keys() - want.keys()})
                    checks.that(f"{name}: both parsers find the same", not differing,
                                json.dumps(differing, ensure_ascii=False))
    checks.close()


if __name__ == "__main__":
    main()
