"""Interop part: Daysheet against emulate, a Google that others wrote.

    emulate.py BINARY

Signs in on emulate's own pages with PKCE, then searches and reads the letters
of letters.py and compares with the rows written out below. What emulate's
search cannot do (OR, `-from:`, quoted values, labels by their dashed name) is
not asked of it; the sandbox and the unit tests have that.
"""

import json
import re
import sys
import urllib.parse

import google_emulate
import interop
import relay
from interop import project
from letters import EMAIL

checks = interop.Checks("emulate")

# Newest first, without the letter in spam.
ROWS = [
    # date, from, subject, flags, labels
    ["2026-03-15 10h00", "Okafor, Chidi <chidi@example.net>",
     "The contract of the third of February, second reading", {""}, {"Plans", "Receipts"}],
    ["2026-02-10 23h59", "Build Bot <bot@ci.example>",
     'Deploy "blue": done - 100%, [ok] {v2}', {""}, {""}],
    ["2026-02-09 11h00", "Billing <billing@supplier.example>",
     "Invoice 2026-014", {"attachment", "important"}, {"Receipts"}],
    ["2026-02-06 06h00", "Garden Weekly <news@garden.example>",
     "Seven plants for shade", {"unread"}, {"promotions"}],
    ["2026-02-05 08h30", "Jürgen Groß <juergen@example.org>",
     "Grüße aus Köln", {"starred"}, {""}],
    ["2026-02-04 09h12", "Nora Quint <nora@example.com>",
     "Re: Offsite agenda", {""}, {""}],
    ["2026-02-03 18h05", "Ana Ruiz <ana@example.org>",
     "Offsite agenda", {"unread"}, {"Plans"}],
]
COLUMNS = ["date", "from", "subject", "flags", "labels"]
CONTRACT, DEPLOY, INVOICE, NEWSLETTER, GREETINGS, REPLY, OFFSITE = [row[2] for row in ROWS]

# Query, then the subjects it finds.
QUERIES = [
    ("from:ana", [OFFSITE]),
    ("to:team@example.com", [DEPLOY]),
    ("subject:invoice", [INVOICE]),
    ("is:unread", [NEWSLETTER, OFFSITE]),
    ("is:starred", [GREETINGS]),
    ("is:important", [INVOICE]),
    ("has:attachment", [INVOICE]),
    ("in:sent", [REPLY]),
    ("label:plans", [CONTRACT, OFFSITE]),
    ("after:2026-02-09", [CONTRACT, DEPLOY, INVOICE]),
    ("after:2026-02-05 before:2026-02-07", [NEWSLETTER, GREETINGS]),
    ('"room <Elbe> & ends"', [OFFSITE]),
    ("plan bring", [REPLY, OFFSITE]),
    ("from:nobody", []),
]


def words(cell, separator):
    """A cell of several words as a set, whose order is ours to choose."""
    return set((cell or "").split(separator))


def table(rows):
    """Rows as ROWS has them."""
    return [
        [*cells, words(row["flags"], " "), words(row["labels"], ", ")]
        for row, cells in zip(rows, project(rows, "date", "from", "subject"))
    ]


def shown(rows):
    """Rows with sets made lists, so that a failure prints well."""
    return [[sorted(cell) if isinstance(cell, set) else cell for cell in row] for row in rows]


def sign_in(daysheet):
    code, printed, url, last = interop.sign_in(daysheet, EMAIL)
    asked = urllib.parse.parse_qs(urllib.parse.urlsplit(url).query)
    checks.same("sign-in ends well", code, 0)
    checks.that("sign-in prints who signed in", EMAIL in printed, printed)
    checks.that("the browser ends on a page of ours", "<" in last, last)
    checks.same("PKCE with S256", asked.get("code_challenge_method"), ["S256"])
    checks.that("a state is sent", len(asked.get("state", [""])[0]) >= 16, url)
    checks.same("a refresh token is asked for", asked.get("access_type"), ["offline"])
    checks.that("no secret in the URL", "interop-secret" not in url, url)
    listed = daysheet.run("account", "list").stdout
    checks.that("account list shows it", EMAIL in listed, listed)
    rows = daysheet.document("accounts")["accounts"]
    checks.same("accounts shows it", project(rows, "email", "provider", "status"),
                [[EMAIL, "google", "ok"]])


def search(daysheet):
    rows = daysheet.document("mail_search", {"fields": COLUMNS})["messages"]
    checks.same("all rows", shown(table(rows)), shown(ROWS))
    for query, subjects in QUERIES:
        rows = daysheet.document("mail_search", {"q": query})["messages"]
        checks.same(f"q={query}", [row["subject"] for row in rows], subjects)
    rows = daysheet.document("mail_search", {"folder": "Receipts"})["messages"]
    checks.same("folder by name", [row["subject"] for row in rows], [CONTRACT, INVOICE])

    rows = daysheet.document("mail_search", {"q": "from:ana", "detail": "full"})["messages"]
    got = project(rows, "to", "cc", "message_id", "folder")
    checks.same("the further columns", got, [[
        "Nora Quint <nora@example.com>", "Bo Lind <bo@example.org>",
        "<offsite-1@example.org>", "inbox",
    ]])
    # One account is not worth a column unless somebody asks for it.
    checks.that("no account among them", "account" not in rows[0], rows)
    rows = daysheet.document("mail_search", {"q": "from:ana", "fields": ["account"]})["messages"]
    checks.same("the account on demand", project(rows, "account"), [[EMAIL]])

    pages, cursor = [], None
    for _ in range(10):
        asked = {"limit": 3} if cursor is None else {"cursor": cursor}
        page = daysheet.document("mail_search", asked)
        pages.append([row["subject"] for row in page["messages"]])
        cursor = page.get("next")
        if cursor is None:
            break
    checks.same("pages of three", pages,
                [[CONTRACT, DEPLOY, INVOICE], [NEWSLETTER, GREETINGS, REPLY], [OFFSITE]])

    rows = daysheet.document("mail_search", {"by": "thread", "q": "subject:agenda"})["threads"]
    checks.same("a thread of two", project(rows, "date", "subject", "count"),
                [["2026-02-04 09h12", OFFSITE, 2]])
    people = rows[0]["people"] if rows else ""
    checks.that("its people", "Ana" in people and "Nora" in people, people)

    text = interop.first_block(daysheet.call("mail_search", {"q": "subject:deploy"}))
    checks.that("a tab-delimited table", re.search(r"^messages\[1\t\]\{id\t", text, re.M), text)
    quoted = r'"Deploy \"blue\": done - 100%, [ok] {v2}"'
    checks.that("the odd subject is quoted", quoted in text, text)

    refused = daysheet.run("call", "mail_search", "q=label:nowhere")
    checks.that("an unknown label is refused", refused.returncode != 0
                and "nowhere" in refused.stderr, refused.stdout + refused.stderr)


def folders(daysheet):
    rows = daysheet.document("lookup", {"kind": "folders"})["folders"]
    counts = {row["name"].lower(): [row["kind"], row["unread"], row["total"]] for row in rows}
    checks.same("inbox counts", counts.get("inbox"), ["system", 2, 5])
    checks.same("label counts", counts.get("plans"), ["user", 1, 2])


def read(daysheet):
    ids = {
        row["subject"]: row["id"]
        for row in daysheet.document("mail_search", {})["messages"]
    }
    threads = daysheet.document("mail_search", {"by": "thread", "q": "subject:agenda"})["threads"]

    def text_of(id, **arguments):
        document = daysheet.document("mail_read", {"ids": [id], **arguments})
        return "\n".join(row.get("text") or "" for row in document["bodies"])

    text = text_of(ids[OFFSITE])
    checks.that("plain text", "room <Elbe> & ends at 17." in text, text)
    text = text_of(ids[GREETINGS])
    checks.that("quoted-printable text", "Der Dom lässt grüßen" in text
                and "zehn nach acht" in text, text)
    text = text_of(ids[NEWSLETTER])
    checks.that("HTML made text", "Hosta, fern and five more" in text, text)
    checks.that("no preheader, style or tag", not re.search(r"Preheader|color:|<b>", text), text)
    text = text_of(ids[NEWSLETTER], links=True)
    checks.that("links on demand", "https://garden.example/shade?week=6" in text, text)
    text = text_of(ids[REPLY])
    checks.that("quoted history is folded", "I will bring it." in text
                and "> Please bring the plan." not in text, text)
    text = text_of(ids[REPLY], quoted=True)
    checks.that("quoted history on demand", "Please bring the plan." in text, text)

    document = daysheet.document("mail_read", {"ids": [ids[INVOICE]]})
    checks.same("the attachment", project(document.get("attachments", []), "name", "type", "size"),
                [["invoice-014.pdf", "application/pdf", 23]])
    checks.same("its message", [row["message"] for row in document.get("attachments", [])],
                [ids[INVOICE]])

    document = daysheet.document("mail_read", {"ids": [threads[0]["id"]]})
    checks.same("a thread, newest first", [row["subject"] for row in document["messages"]],
                [REPLY, OFFSITE])
    printed = daysheet.call("mail_read", {"ids": [ids[OFFSITE]]})
    checks.that("the text stands in a block of its own",
                "room <Elbe>" in printed and "room <Elbe>" not in interop.first_block(printed),
                printed)
    raw = text_of(ids[INVOICE], body="raw")
    checks.that("the raw letter", "Content-Type: multipart/mixed" in raw, raw)

    document = daysheet.run("call", "mail_read", '{"ids": ["19c20000000000ff"]}')
    said = document.stdout + document.stderr
    checks.that("an unknown id is said to be missing", re.search("no such|not found", said), said)


def calendar(daysheet):
    """What emulate has of calendars: the list, events made, listed and deleted,
    and busy times. It has no events.get, which comes before every deletion: the
    relay makes one of emulate's own list, and passes on everything else."""
    upstream = int(daysheet.env["DAYSHEET_GMAIL_URL"].rsplit(":", 1)[1])
    seen = []

    def relayed(method, target, headers, body):
        seen.append(f"{method} {target.split('?')[0]}")
        one = re.fullmatch(r"(/calendar/v3/calendars/[^/]+/events)/([^/?]+)(\?.*)?", target)
        if method != "GET" or not one:
            return relay.send(upstream, method, target, headers, body)
        listed = relay.send(upstream, "GET", one[1], headers)
        events = json.loads(listed[2])["items"]
        found = [event for event in events if event["id"] == one[2]]
        if not found:
            error = {"error": {"code": 404, "message": "Not Found", "status": "NOT_FOUND"}}
            return 404, {"Content-Type": "application/json"}, json.dumps(error).encode()
        return 200, {"Content-Type": "application/json"}, json.dumps(found[0]).encode()

    url = f"http://127.0.0.1:{relay.serve(relayed)}/calendar/v3/"
    daysheet.env["DAYSHEET_GOOGLE_CALENDAR_URL"] = url
    rows = daysheet.document("lookup", {"kind": "calendars"})["calendars"]
    checks.same("the calendars", project(rows, "name", "access", "main"), [[EMAIL, "owner", True]])
    week = {"from": "2027-02-01", "to": "2027-02-07"}
    want = [["Wed 2027-02-03 10h00", "11h30", "Offsite", "Elbe"],
            ["Thu 2027-02-04", "2027-02-05", "Holiday", None]]
    made = daysheet.document("calendar_save", {"events": [
        {"title": "Offsite", "start": "2027-02-03 10h00", "duration": "90m", "where": "Elbe"},
        {"title": "Holiday", "start": "2027-02-04", "end": "2027-02-05", "show": "free"},
    ]})["events"]
    columns = ("start", "end", "title", "where")
    checks.same("what was made", project(made, *columns), want)
    rows = daysheet.document("calendar_search", week)["events"]
    checks.same("what is listed", project(rows, *columns), want)
    busy = daysheet.document("calendar_free", week)["busy"]
    checks.same("when she is busy", project(busy, "who", "start", "end"),
                [[EMAIL, "Wed 2027-02-03 10h00", "11h30"]])
    daysheet.document("calendar_delete", {"id": rows[0]["id"]})
    rows = daysheet.document("calendar_search", week)["events"]
    checks.same("what is left", project(rows, *columns), want[1:])
    for call in ("GET /calendar/v3/users/me/calendarList", "POST /calendar/v3/freeBusy"):
        checks.that(f"emulate was asked: {call}", call in seen, seen)
    for method in ("GET", "POST", "DELETE"):
        asked = [call for call in seen
                 if call.startswith(f"{method} /calendar/v3/calendars/") and "/events" in call]
        checks.that(f"emulate was asked: {method} events", asked, seen)


def sign_out(daysheet):
    done = daysheet.run("account", "remove", EMAIL)
    checks.that("account remove ends well", done.returncode == 0, done.stdout + done.stderr)
    checks.that("revocation is taken", done.returncode == 0
                and "could not be revoked" not in done.stdout, done.stdout)
    listed = daysheet.run("account", "list")
    checks.that("account list is empty", listed.returncode == 0
                and EMAIL not in listed.stdout, listed.stdout + listed.stderr)
    refused = daysheet.run("call", "mail_search", "q=agenda")
    checks.that("a search says to sign in", refused.returncode != 0
                and "account add google" in refused.stderr, refused.stdout + refused.stderr)


def paste(daysheet):
    code, printed, _, _ = interop.sign_in(daysheet, EMAIL, paste=True)
    checks.that("sign-in by a pasted address", code == 0 and EMAIL in printed, printed)
    rows = daysheet.document("mail_search", {"q": "from:ana"})["messages"]
    checks.same("a search after it", [row["subject"] for row in rows], [OFFSITE])


def main():
    with checks.section("the part"):
        base = google_emulate.start()
        daysheet = interop.Daysheet(sys.argv[1], **google_emulate.settings(base))
        for step in (sign_in, search, folders, read, calendar, sign_out, paste):
            with checks.section(step.__name__):
                step(daysheet)
    checks.close()


if __name__ == "__main__":
    main()
