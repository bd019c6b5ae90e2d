"""Interop part: Daysheet against emulate, a Google that others wrote.

    emulate.py BINARY

Signs in on emulate's own pages with PKCE, then searches and reads the messages
of seed_messages.py and compares with the rows written out below. What emulate's
search cannot do (OR, `-from:`, quoted values, labels by their dashed name) is
not asked of it; the sandbox and the unit tests have that. Then it writes:
drafts, their sending, labels, filters, and batches of changes.

What emulate 0.12.2 lacks of Gmail's writing, and what is therefore not asked:
- It delivers nothing: what is sent lies among the sent, and comes in nowhere.
- Of a filter it keeps `from` and the labels; other criteria are lost in silence.
- It has no settings/vacation, no users.getProfile, no signatures, no People API.
- It has no resumable uploads; a message of more than 3 MB goes nowhere.
- It reads no names of files that are written as RFC 2231 says; the part `messages`
  has those.
- A search for in:spam, in:trash or in:anywhere finds neither spam nor trash without
  includeSpamTrash; there its own labels are looked at.
"""

import email
import email.policy
import json
import re
import sys
import urllib.parse

import google_emulate
import interop
import relay
from interop import project
from seed_messages import EMAIL

checks = interop.Checks("emulate")

# Newest first, without the message in spam.
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

# The ids in seed_messages.py of the invoice and of the message in spam.
INVOICE_ID, WON_ID = "19c2000000000005", "19c2000000000008"

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
    checks.that("the raw message", "Content-Type: multipart/mixed" in raw, raw)

    document = daysheet.run("call", "mail_read", '{"ids": ["19c20000000000ff"]}')
    said = document.stdout + document.stderr
    checks.that("an unknown id is said to be missing", re.search("no such|not found", said), said)


def subjects(daysheet, **asked):
    return [row["subject"] for row in daysheet.document("mail_search", asked)["messages"]]


def one(daysheet, query):
    """The handle of the one message that a query finds."""
    rows = daysheet.document("mail_search", {"q": query})["messages"]
    if len(rows) != 1:
        raise RuntimeError(f"{query} finds {rows}")
    return rows[0]["id"]


def raw_of(daysheet, id):
    """A message as RFC 5322 text, read by Python."""
    body = daysheet.document("mail_read", {"ids": [id], "body": "raw", "budget": 100_000})
    return email.message_from_string(body["bodies"][0]["text"], policy=email.policy.default)


def drafts(daysheet):
    """Drafts made, changed, thrown away and sent; and a sending whose answer is lost."""
    made = daysheet.document("mail_draft", {
        "to": ['"Müller, Jürgen" <juergen@example.org>'], "bcc": ["secret@example.org"],
        "subject": "Grüße aus Köln – 🎉", "body": "**Hallo** Jürgen",
        "attach": ["data:text/plain;name=note.txt;base64,aGk="],
    })
    draft = made["draft"]
    checks.same("a draft's people", [made["from"], made["to"], made["bcc"]],
                [f"Nora Quint <{EMAIL}>", '"Müller, Jürgen" <juergen@example.org>', "secret@example.org"])
    checks.same("a draft's file", made["attached"], "note.txt 2 B")
    checks.same("it lies among the drafts", subjects(daysheet, folder="drafts"),
                ["Grüße aus Köln – 🎉"])
    changed = daysheet.document("mail_draft", {
        "mode": "edit", "id": draft, "cc": ["ana@example.org"], "subject": "Plan B"})
    checks.same("what is changed, and what not", project([changed], "to", "cc", "bcc", "subject"),
                [[made["to"], "ana@example.org", made["bcc"], "Plan B"]])
    checks.same("it is still one draft", subjects(daysheet, folder="drafts"), ["Plan B"])
    before = subjects(daysheet, folder="sent")
    sent = daysheet.document("mail_send", {"id": draft})["outcomes"]
    checks.same("it is sent", project(sent, "item", "op", "result"), [[draft, "send", "sent"]])
    checks.same("once", subjects(daysheet, folder="sent"), ["Plan B", *before])
    again = daysheet.document("mail_send", {"id": draft})["outcomes"]
    checks.same("and not again", [row["result"] for row in again], ["already sent"])
    checks.same("still once", subjects(daysheet, folder="sent"), ["Plan B", *before])
    checks.same("no draft is left", subjects(daysheet, folder="drafts"), [])
    made = raw_of(daysheet, one(daysheet, "in:sent subject:plan"))
    checks.same("its people as Python reads them",
                [[one.display_name, one.addr_spec] for one in made["to"].addresses],
                [["Müller, Jürgen", "juergen@example.org"]])
    checks.same("its parts", [part.get_content_type() for part in made.walk()
                              if not part.is_multipart()], ["text/plain", "text/html", "text/plain"])
    files = [[part.get_filename(), part.get_content()] for part in made.iter_attachments()]
    checks.same("its file", files, [["note.txt", "hi"]])

    offsite = one(daysheet, "from:ana")
    reply = daysheet.document("mail_draft", {"mode": "reply", "id": offsite, "body": "Noted."})
    checks.same("a reply", project([reply], "to", "subject"),
                [["Ana Ruiz <ana@example.org>", "Re: Offsite agenda"]])
    daysheet.document("mail_send", {"id": reply["draft"]})
    made = raw_of(daysheet, one(daysheet, "in:sent noted"))
    checks.same("it answers by its Message-ID", str(made["in-reply-to"]), "<offsite-1@example.org>")
    thread = daysheet.document("mail_search", {"by": "thread", "q": "subject:agenda"})["threads"]
    checks.same("and stays in its thread", project(thread, "subject", "count"), [[OFFSITE, 3]])

    doomed = daysheet.document("mail_draft", {"subject": "Doomed", "body": "x"})["draft"]
    outcome = daysheet.document("mail_draft", {"mode": "discard", "id": doomed})["outcomes"]
    checks.same("a draft thrown away", [row["result"] for row in outcome], ["done"])
    checks.same("is gone", subjects(daysheet, folder="drafts"), [])

    upstream = int(daysheet.env["DAYSHEET_GMAIL_URL"].rsplit(":", 1)[1])
    sendings = []

    def lossy(method, target, headers, body):
        answer = relay.send(upstream, method, target, headers, body)
        if target.startswith("/gmail/v1/users/me/drafts/send"):
            sendings.append(answer[0])
            return 504, {"Content-Type": "text/plain"}, b"the answer is lost"
        return answer

    lost = daysheet.document("mail_draft", {"to": ["ana@example.org"], "subject": "Lost answer",
                                            "body": "x"})["draft"]
    direct = daysheet.env["DAYSHEET_GMAIL_URL"]
    daysheet.env["DAYSHEET_GMAIL_URL"] = f"http://127.0.0.1:{relay.serve(lossy)}"
    outcome = daysheet.document("mail_send", {"id": lost})["outcomes"]
    daysheet.env["DAYSHEET_GMAIL_URL"] = direct
    checks.same("a sending whose answer is lost is found among the sent",
                [row["result"] for row in outcome], ["sent"])
    checks.same("and was asked for once", sendings, [200])
    checks.same("it is there once", subjects(daysheet, folder="sent").count("Lost answer"), 1)


def modify(daysheet):
    """One thing with many messages, by batchModify; and back again."""
    upstream = int(daysheet.env["DAYSHEET_GMAIL_URL"].rsplit(":", 1)[1])
    asked, key = [], {}

    def relayed(method, target, headers, body):
        key.update((k, v) for k, v in headers.items() if k.lower() == "authorization")
        if method == "POST":
            asked.append([target.split("?")[0].rsplit("/", 1)[1], body and json.loads(body)])
        return relay.send(upstream, method, target, headers, body)

    direct = daysheet.env["DAYSHEET_GMAIL_URL"]
    daysheet.env["DAYSHEET_GMAIL_URL"] = f"http://127.0.0.1:{relay.serve(relayed)}"

    def do(**arguments):
        return daysheet.document("mail_modify", arguments)

    def held(id):
        """The labels that emulate has of a message; nothing if it has it no more."""
        target = f"/gmail/v1/users/me/messages/{id}?format=minimal"
        status, _, content = relay.send(upstream, "GET", target, key)
        return set(json.loads(content)["labelIds"]) if status == 200 else status

    unread = subjects(daysheet, q="is:unread")
    tried = do(q="is:unread", do="read", dry_run=True)
    checks.that("a trial changes nothing", subjects(daysheet, q="is:unread") == unread
                and not asked, [tried, asked])
    done = do(q="is:unread", do="read")
    checks.same("all unread are read", [done["done"], subjects(daysheet, q="is:unread")],
                [len(unread), []])
    batches = [[what, len(body["ids"]), body["addLabelIds"], body["removeLabelIds"]]
               for what, body in asked]
    checks.same("by one batch", batches, [["batchModify", len(unread), [], ["UNREAD"]]])
    do(undo=done["undo"])
    checks.same("and unread again", subjects(daysheet, q="is:unread"), unread)
    invoice = one(daysheet, "subject:invoice")
    # What is done, what then finds it, and where undoing brings it back.
    for verb, to, query in (
        ("star", None, "is:starred subject:invoice"),
        ("label", ["Plans"], "label:plans subject:invoice"),
        ("unlabel", ["Receipts"], "subject:invoice"),
        ("spam", None, None),
        ("trash", None, None),
    ):
        done = do(ids=[invoice], do=verb, **({"to": to} if to else {}))
        checks.that(f"{verb} is done", done.get("done") == 1 and done.get("undo"), done)
        if query:
            checks.same(f"{verb} is seen", subjects(daysheet, q=query), [INVOICE])
        else:
            labels = held(INVOICE_ID)
            checks.that(f"{verb} is where it lies", verb.upper() in labels
                        and "INBOX" not in labels, labels)
            checks.same(f"{verb} is out of sight", subjects(daysheet, q="subject:invoice"), [])
        do(undo=done["undo"])
        row = table(daysheet.document("mail_search", {
            "q": "subject:invoice", "fields": COLUMNS})["messages"])
        checks.same(f"{verb} is undone", shown(row), shown([ROWS[2]]))
    done = do(ids=[invoice], do="archive")
    checks.same("archived", subjects(daysheet, q="in:inbox subject:invoice"), [])
    checks.same("but not trashed", subjects(daysheet, q="subject:invoice"), [INVOICE])
    do(undo=done["undo"])
    checks.same("back in the inbox", subjects(daysheet, q="in:inbox subject:invoice"), [INVOICE])
    done = do(ids=[invoice], do="label", to=["Made"], create=True)
    checks.same("a label made on the way", subjects(daysheet, folder="Made"), [INVOICE])
    checks.that("there is one in spam", "SPAM" in held(WON_ID), held(WON_ID))
    gone = do(ids=[WON_ID], do="delete")
    checks.same("deleted for good", [gone.get("done"), gone.get("undo"), held(WON_ID)],
                [1, None, 404])
    do(undo=done["undo"])
    daysheet.env["DAYSHEET_GMAIL_URL"] = direct


def setting_up(daysheet):
    """Labels and filters."""
    def manage(**arguments):
        return daysheet.document("manage", arguments)

    def names():
        rows = daysheet.document("lookup", {"kind": "labels"})["labels"]
        return sorted(row["name"] for row in rows)

    known = names()
    manage(kind="label", op="create", name="Trips/2027")
    # Gmail shows a level only if it is a label itself.
    checks.same("a label and the one above", names(), sorted([*known, "Trips", "Trips/2027"]))
    manage(kind="label", op="rename", id="Trips/2027", name="Trips/2028")
    checks.same("a label renamed", names(), sorted([*known, "Trips", "Trips/2028"]))
    for name in ("Trips/2028", "Trips"):
        manage(kind="label", op="delete", id=name)
    checks.same("labels deleted", names(), known)

    made = manage(kind="rule", op="create",
                  set={"when": "from:ana@example.org", "then": "label:Plans star important"})
    rows = daysheet.document("lookup", {"kind": "rules"})["rules"]
    checks.same("a filter", project(rows, "when", "then"), project(made["rules"], "when", "then"))
    checks.that("as it was said", rows and "ana@example.org" in rows[0]["when"]
                and words(rows[0]["then"], " ") == {"label:Plans", "star", "important"}, rows)
    ran = manage(kind="rule", op="run", id=rows[0]["id"])
    checks.same("run over what is there",
                subjects(daysheet, q="is:starred from:ana"), [OFFSITE])
    checks.that("it says so", ran, ran)
    daysheet.document("mail_modify", {"q": "from:ana", "do": "unstar"})
    manage(kind="rule", op="delete", id=rows[0]["id"])
    checks.same("no filter is left", daysheet.document("lookup", {"kind": "rules"})["rules"], [])


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
    checks.same("the calendars", project(rows, "name", "access", "main"), [["main", "owner", True]])
    week = {"from": "2027-02-01", "to": "2027-02-07"}
    want = [["Wed 2027-02-03 10h00", "11h30", "Offsite", "Elbe"],
            ["Thu 2027-02-04", "2027-02-05", "Holiday", ""]]
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
        # `full` for the one deletion; nobody is new to a test.
        daysheet = interop.Daysheet(
            sys.argv[1], running=True, **google_emulate.settings(base), access="full",
            new_recipients="allow")
        for step in (sign_in, search, folders, read, modify, drafts, setting_up, calendar, sign_out, paste):
            with checks.section(step.__name__):
                step(daysheet)
    checks.close()


if __name__ == "__main__":
    main()
