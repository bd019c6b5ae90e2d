"""Interop part: what Daysheet sends to Microsoft Graph, and what its sandbox
answers, held to a description of Graph by Prism.

    graph_contract.py BINARY

The description, OpenAPI made from Microsoft's published metadata, is not part
of this project: DAYSHEET_GRAPH_CONTRACT says where it lies, by default
../shared/contracts/graph-openapi-98.json beside the repository. Where it is
absent the part says so in a line of its own, checks its own router alone, and
does not fail.

    daysheet → front → Prism → back → sandbox
                 └─────────────────────┘   paths that the description lacks

The front reads Prism's header `sl-violations`, of a batch and then of each of its
parts. The back writes the front's address into the
Host header, for the sandbox puts it into its nextLinks and Daysheet follows
none to another origin. Sign-in passes neither: the description says nothing
about OAuth.
"""

import collections
import json
import os
import re
import shutil
import sys

import calendar_search
import interop
import writing
from graph_router import Contract, Router

checks = interop.Checks("graph")

CONTRACT = os.environ.get("DAYSHEET_GRAPH_CONTRACT") or os.path.normpath(
    os.path.join(interop.HERE, "..", "..", "..", "shared", "contracts", "graph-openapi-98.json")
)

WORK = "mira@lindqvist-lamps.example"
HOME = "mira@example.com"

# What is asked for in the name of WORK with both mailboxes signed in, and then in
# that of HOME, shared with WORK. Tool and arguments; M and T stand for a message and
# a thread found before, A for a message with an attachment, ALL for the newest
# messages.
SCENARIO = [
    ("mail_search", {}),
    ("mail_search", {"limit": 3}),
    ("mail_search", {"detail": "minimal"}),
    ("mail_search", {"detail": "full", "limit": 5}),
    ("mail_search", {"fields": ["id"]}),
    ("mail_search", {"fields": ["id", "size", "labels", "message_id", "folder", "thread"]}),
    ("mail_search", {"sort": "oldest", "limit": 2, "fields": ["subject", "link"]}),
    ("mail_search", {"q": "lamp", "sort": "oldest", "limit": 2}),
    # As $filter.
    ("mail_search", {"q": "is:unread"}),
    ("mail_search", {"q": "is:read has:attachment"}),
    ("mail_search", {"q": "is:starred OR is:important", "limit": 4}),
    ("mail_search", {"q": "after:2026-10-01 before:7d"}),
    ("mail_search", {"q": "-is:unread is:important"}),
    ("mail_search", {"q": "category:red"}),
    ("mail_search", {"folder": "inbox", "q": "is:unread", "limit": 2}),
    # As KQL in $search.
    ("mail_search", {"q": "lamp"}),
    ("mail_search", {"q": "from:olbrich subject:launch"}),
    ("mail_search", {"q": "subject:invoice OR subject:\"two words\" -from:bot"}),
    ("mail_search", {"q": "to:mira cc:anselm body:lab"}),
    ("mail_search", {"q": "has:attachment larger:1k smaller:5M filename:pdf"}),
    ("mail_search", {"q": "(from:jonas OR to:jonas) after:2026-01-01", "limit": 3}),
    ("mail_search", {"q": "launch is:unread"}),
    ("mail_search", {"q": "Größe & Maß +1%#?"}),
    ("mail_search", {"q": "it's 'quoted' \"a b\""}),
    # Folders.
    ("mail_search", {"folder": "inbox", "limit": 2}),
    ("mail_search", {"folder": "sent"}),
    ("mail_search", {"folder": "drafts"}),
    ("mail_search", {"folder": "spam"}),
    ("mail_search", {"folder": "trash"}),
    ("mail_search", {"folder": "archive"}),
    ("mail_search", {"q": "in:anywhere", "limit": 5}),
    ("mail_search", {"q": "in:inbox launch"}),
    # Threads.
    ("mail_search", {"by": "thread", "limit": 4}),
    ("mail_search", {"by": "thread", "detail": "full", "q": "is:unread"}),
    ("mail_search", {"by": "thread", "q": "launch"}),
    ("mail_search", {"by": "thread", "folder": "inbox", "limit": 3}),
    # One mailbox, and one that is named.
    ("mail_search", {"account": WORK, "limit": 5}),
    ("mail_search", {"account": WORK, "q": "lamp", "limit": 2}),
    ("lookup", {"kind": "folders"}),
    ("lookup", {"kind": "folders", "account": WORK, "q": "in"}),
    ("lookup", {"kind": "labels"}),
    ("lookup", {"kind": "categories"}),
    ("lookup", {"kind": "contacts", "q": "an"}),
    ("lookup", {"kind": "contacts", "emails": ["anselm.voss@nordlicht.example", HOME]}),
    ("lookup", {"kind": "contacts", "q": "O'Neil"}),
    ("lookup", {"kind": "aliases"}),
    ("lookup", {"kind": "settings"}),
    ("mail_read", {"ids": ["M"]}),
    ("mail_read", {"ids": ["M"], "body": "none"}),
    ("mail_read", {"ids": ["M"], "body": "md"}),
    ("mail_read", {"ids": ["M"], "body": "html"}),
    ("mail_read", {"ids": ["M"], "body": "raw"}),
    ("mail_read", {"ids": ["M"], "body": "headers"}),
    ("mail_read", {"ids": ["A"]}),
    ("mail_read", {"ids": ["A"], "body": "raw"}),
    ("mail_read", {"ids": ["A"], "body": "none"}),
    ("mail_read", {"ids": ["T"]}),
    ("mail_read", {"ids": ["T"], "body": "none"}),
    ("mail_read", {"ids": ["T", "M"], "quoted": True, "links": True}),
    ("mail_read", {"ids": ["ALL"]}),
    ("mail_read", {"ids": ["ALL"], "body": "html"}),
]
# Reading a shared mailbox.
SHARED = [
    ("mail_search", {"detail": "full"}),
    ("mail_search", {"q": "has:attachment", "folder": "inbox"}),
    ("mail_search", {"q": "subject:a OR from:b"}),
    ("mail_search", {"by": "thread", "limit": 3}),
    ("lookup", {"kind": "folders"}),
    ("brief", {}),
]
FORWARDED = {"title": "Interop: sent on", "start": "2027-01-15 10h00", "duration": "30m",
             "people": ["nora@example.com"]}
# These are refused, but the requests that lead there are right: ids that exist
# nowhere.
MISSING = [
    ("AAMkAGJkNDgwMDU3LWU0ZDQtNDIzOC1iNDVjLTM4MDY2M2UzNTc4NwBGAAAAAAAAAAA=",
     "no such|not found|there is no"),
    ("no-such-id", "not Outlook's"),
]
# How Graph answers for the first of them.
MISSED = re.compile(r"GET /me/messages/\{id_1\} 40[04]")
# An event that a change calls gone is looked for: it may only have left the range.
GONE = re.compile(r"GET /(me|users/\{id\})/events/\{id_1\} 404")
# Rooms take the consent of an administrator, who the sandbox does not have.
ROOMS = "GET /places/microsoft.graph.room 403"
# The settings of a shared mailbox, its zone too, are its owner's.
SETTINGS = "GET /users/{id}/mailboxSettings 403"

# Far fewer than the scenario makes; more than a router that was passed by sees.
LEAST = 3000
# What the contract has and Daysheet asks for nowhere: it has another way, or leaves
# it to the user. Everything else has to be asked for, of one's own mailbox and,
# if the contract has it there, of a shared one.
UNUSED = {
    # Mail goes out from drafts alone, and drafts lie where Graph puts them.
    "POST /me/sendMail", "POST /me/messages/{id_1}/forward", "POST /me/messages/{id_1}/reply",
    "POST /me/messages/{id_1}/replyAll", "POST /me/mailFolders/{id_1}/messages",
    # Messages are named by their own ids.
    "GET /me/mailFolders/{id_1}/messages/{id_2}", "PATCH /me/mailFolders/{id_1}/messages/{id_2}",
    "DELETE /me/mailFolders/{id_1}/messages/{id_2}",
    # What has changed is asked for folder by folder.
    "GET /me/messages/delta", "GET /me/mailFolders/delta",
    "POST /me/mailFolders/{id_1}/copy", "POST /me/mailFolders/{id_1}/move",
    # Calendars are named by their ids, from the list of all.
    "GET /me/calendar", "PATCH /me/calendar", "GET /me/calendar/calendarView",
    "GET /me/calendar/events", "POST /me/calendar/events", "GET /me/calendarView",
    "GET /me/calendars/{id_1}", "GET /me/calendarGroups", "POST /me/calendarGroups",
    "GET /me/events/{id_1}/attachments", "POST /me/events/{id_1}/attachments",
    # Free time is found here, for both providers alike.
    "POST /me/findMeetingTimes", "POST /me/getMailTips",
    # What was changed comes with the answer to the change.
    "GET /me/contacts/{id_1}", "GET /me/outlook/masterCategories/{id_1}",
    # Not the user's to change.
    "PATCH /me",
}
# What the description lacks and Daysheet asks for nevertheless. Another one is a
# failed check, so that nothing slips by unnoticed.
UNCONTRACTED = {
    # Where an upload session says that its pieces go; no path of Graph's own.
    "PUT /uploads/{id}",
}


def listed(counter):
    return "\n".join(f"{count} x {what}" for what, count in counter.most_common(20))


def sanity(router):
    """Prism has to find what is wrong, or its silence says nothing."""
    token = router.token

    def ask(target, spoil=None):
        router.spoil = spoil
        try:
            return router.at_front("GET", target, {"Authorization": "Bearer none"}, b"")
        finally:
            router.spoil = None

    def batch(part, spoil=None):
        router.spoil = spoil
        try:
            router.at_front(
                "POST", "/v1.0/$batch",
                {"Authorization": token, "Content-Type": "application/json"},
                json.dumps({"requests": [part]}).encode())
        finally:
            router.spoil = None

    def found():
        return [sum(router.violations[side].values()) for side in ("request", "response")]

    ask("/v1.0/me/messages?$top=x")
    checks.same("partner: a wrong $top is found", found(), [1, 0])
    ask("/v1.0/me/messages?$select=id,colour")
    checks.same("partner: an unknown property is found", found(), [2, 0])
    ask("/v1.0/me/messages?$orderby=receivedDateTime%20sideways")
    checks.same("partner: an unknown order is found", found(), [3, 0])
    ask("/v1.0/me/messages", lambda _: b'{"error": "torn"}')
    checks.same("partner: a wrong answer is found", found(), [3, 1])
    ask("/v1.0/me/messages/x?$expand=attachments($select=id,name)")
    checks.same("partner: a nested $select is forgiven", [found(), router.forgiven.total()],
                [[3, 1], 2])
    ask("/v1.0/me/messages/x?$expand=extensions($select=id,name)")
    checks.that("partner: what cannot be expanded is not", found()[0] > 3, found())
    before = found()[0]
    router.at_front("PATCH", "/v1.0/me/messages/x", {
        "Authorization": "Bearer none", "Content-Type": "application/json"}, b'{"colour": "red"}')
    checks.same("partner: an unknown property of a body is found", found()[0] - before, 1)
    for part, name in ({}, "lacks its body"), ({"body": {}}, "lacks its type"):
        before = found()
        batch({"id": "1", "method": "POST", "url": "/me/messages/x/permanentDelete", **part})
        checks.that(f"partner: a part of a batch that {name} is found", found()[0] > before[0],
                    found())
    before = found()
    get = {"id": "1", "method": "GET", "url": "/me/messages?$top=x"}
    batch(get)
    checks.same("partner: a wrong part of a batch is found", found()[0] - before[0], 1)
    before = found()
    batch({**get, "url": "/me/mailFolders"},
          lambda said: said.replace(b'"childFolderCount":', b'"childFolderCount": "x", "was":'))
    checks.that("partner: a wrong answer to a part is found", found()[1] > before[1], found())
    before = found()
    ask("/v1.0/me")
    checks.that("partner: nothing is found where nothing is wrong", found() == before, found())
    for counter in (router.checked, router.uncontracted, router.answers, router.forgiven,
                    *router.violations.values()):
        counter.clear()
    router.batches = router.in_batches = 0


def run_scenario(daysheet, shared):
    """Runs every call; a call that fails is a failed check. `shared` has one
    mailbox, which is shared with who signed in."""
    found, failed = {}, []
    calls = pages = 0
    asked = daysheet

    def call(tool, arguments):
        nonlocal calls
        calls += 1
        try:
            return asked.document(tool, arguments)
        except (interop.CallFailed, ValueError) as error:
            failed.append(str(error))
            return {}

    def ids(by, **arguments):
        rows = call("mail_search", {"by": by, **arguments}).get(by + "s", [])
        return [row["id"] for row in rows]

    newest = ids("message", limit=25)
    found["ALL"] = newest
    found["M"] = newest[len(newest) // 2:][:1]
    found["T"] = ids("thread", q="launch")[:1] or ids("thread")[:1]
    found["A"] = ids("message", q="has:attachment")[:1]
    checks.that("there are messages to read", all(found.values()), found)
    for tool, arguments in SCENARIO:
        arguments = dict(arguments)
        if "ids" in arguments:
            arguments["ids"] = [id for name in arguments["ids"] for id in found[name]][:25]
        page = call(tool, arguments)
        for _ in range(4):
            if "next" not in page:
                break
            pages += 1
            page = call(tool, {**({"kind": arguments["kind"]} if tool == "lookup" else {}),
                               "cursor": page["next"]})
    for asked, name, account in (daysheet, "graph", WORK), (shared, "graph, shared", HOME):
        if asked is shared:
            for tool, arguments in SHARED:
                call(tool, arguments)
        with checks.section(f"{name}: the calendar"):
            calendar_search.run(name, checks, call, account, message="Kiln is cold")
        with checks.section(f"{name}: sending on"):
            [event] = call("calendar_save", {"account": account, "events": [FORWARDED],
                                             "notify": "all", "if_conflict": "ignore"})["events"]
            call("calendar_respond", {"id": event["id"], "response": "forward",
                                      "to": ["jonas@example.com"], "comment": "Come too"})
        with checks.section(f"{name}: writing"):
            folder = asked.env["DAYSHEET_FILES"]
            writing.run(name, checks, call, account, "microsoft", folder, own=asked is daysheet)
    checks.that(f"{calls} calls succeed", not failed, "\n".join(failed))
    checks.that(f"{pages} further pages were asked for", pages >= 5)
    for id, words in MISSING:
        done = daysheet.run("call", "mail_read", json.dumps({"ids": [id], "account": WORK}))
        said = done.stdout + done.stderr
        checks.that(f"the id {id[:12]}… is said to be wrong", re.search(words, said), said)
    done = daysheet.run("call", "lookup", json.dumps({"kind": "rooms", "account": WORK}))
    said = done.stdout + done.stderr
    checks.that("rooms are said to need an administrator", "Place.Read.All" in said, said)


def report(router):
    """Checks what the router saw, and names it."""
    total = sum(router.checked.values())
    checks.that(f"{total} requests checked, at least {LEAST}", total >= LEAST)
    unused = {path for path in router.contract.operations()
              if path.replace(" /users/{id}/", " /me/") not in UNUSED}
    left = unused - router.checked.keys()
    checks.that(f"all {len(unused)} operations were used", not left, "\n".join(sorted(left)))
    idle = UNUSED & router.checked.keys()
    checks.that("what is called unused is not used", not idle, "\n".join(sorted(idle)))
    for side, name in (("request", "request"), ("response", "answer")):
        wrong = router.violations[side]
        checks.that(f"no {name} breaks the contract", not wrong,
                    f"{sum(wrong.values())} violations\n{listed(wrong)}")
    unknown = router.uncontracted.keys() - UNCONTRACTED
    checks.that("every path that the contract lacks is a known one", not unknown,
                listed(collections.Counter({k: router.uncontracted[k] for k in unknown})))
    failed = {what: count for what, count in router.answers.items()
              if not re.search(r" 20[0124]$", what) and what not in (ROOMS, SETTINGS)
              and not GONE.fullmatch(what) and not MISSED.fullmatch(what)}
    checks.that("no request fails but those that have to", not failed,
                listed(collections.Counter(failed)))
    checks.that("batches were checked, whole and in parts", router.in_batches > router.batches > 100)
    print(f"note  graph: {router.batches} batches of {router.in_batches} requests",
          flush=True)
    for why, count in sorted(router.forgiven.items()):
        print(f"      forgiven {count} x {why}", flush=True)
    for path, count in sorted(router.checked.items()):
        print(f"      checked {count} x {path}", flush=True)
    for path, count in sorted(router.uncontracted.items()):
        print(f"      not in the contract: {count} x {path}", flush=True)


def start_sandbox():
    """Starts the sandbox with its sample mailboxes; its port."""
    port = interop.free_port()
    bare = interop.Daysheet(sys.argv[1])
    interop.start_server([bare.binary, "sandbox", "--port", str(port)], port, env=bare.env)
    return port


def start_prism(port, upstream):
    """Starts Prism on `port` before `upstream`."""
    command = shutil.which("prism")
    if command is None:
        raise RuntimeError("prism is not on PATH: run this part through tests/interop/run")
    interop.start_server(
        [command, "proxy", "-h", "127.0.0.1", "-p", str(port), "-v", "silent", CONTRACT,
         f"http://127.0.0.1:{upstream}/v1.0"], port)


def signed_in(router, sandbox):
    """A Daysheet with two mailboxes at Microsoft, and one with a shared mailbox."""
    def sign_in(daysheet, email, *more):
        code, printed, _, _ = interop.sign_in(
            daysheet, email, provider="microsoft", more=more)
        checks.that(f"sign-in of {' '.join([email, *more])}",
                    code == 0 and email in printed, printed)

    settings = interop.microsoft_at(f"http://127.0.0.1:{sandbox}", f"http://{router.host}")
    both, shared = (interop.Daysheet(
        sys.argv[1], **settings, access="full", new_recipients="allow",
        files=writing.folder_of_files(interop)) for _ in range(2))
    for email in (WORK, HOME):
        sign_in(both, email)
    sign_in(shared, WORK, "--mailbox", HOME)
    return both, shared


def main():
    if not os.path.exists(CONTRACT):
        print(f"graph contract: not checked here, the file is not there: {CONTRACT}", flush=True)
        with checks.section("the router alone"):
            sandbox = start_sandbox()
            run_scenario(*signed_in(Router(None, None, sandbox), sandbox))
        checks.close()
    with checks.section("the part"):
        with open(CONTRACT, encoding="utf-8") as file:
            contract = Contract(json.load(file))
        sandbox, prism = start_sandbox(), interop.free_port()
        router = Router(contract, prism, sandbox)
        start_prism(prism, router.back)
        both, shared = signed_in(router, sandbox)
        sanity(router)
        run_scenario(both, shared)
        report(router)
    checks.close()


if __name__ == "__main__":
    main()
