"""Interop part: what Daysheet sends to Microsoft Graph, and what its sandbox
answers, held to a description of Graph by Prism.

    graph_contract.py BINARY

The description, OpenAPI made from Microsoft's published metadata, is not part
of this project: DAYSHEET_GRAPH_CONTRACT says where it lies, by default
../shared/contracts/graph-openapi.json beside the repository. Where it is
absent the part says so in a line of its own, checks its own router alone, and
does not fail.

    daysheet → front → Prism → back → sandbox
                 └─────────────────────┘   paths that the description lacks

The front takes batches apart, so that each request of one is checked, and reads
Prism's header `sl-violations`. The back writes the front's address into the
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

import agenda
import interop
import writing
from graph_router import Contract, Router

checks = interop.Checks("graph")

CONTRACT = os.environ.get("DAYSHEET_GRAPH_CONTRACT") or os.path.normpath(
    os.path.join(interop.HERE, "..", "..", "..", "shared", "contracts", "graph-openapi.json")
)

WORK = "mira@lindqvist-lamps.example"
HOME = "mira@example.com"

# Tool and arguments; M and T stand for a message and a thread found before, A
# for a message with an attachment, ALL for the newest messages.
SCENARIO = [
    ("mail_search", {}),
    ("mail_search", {"limit": 3}),
    ("mail_search", {"detail": "minimal"}),
    ("mail_search", {"detail": "full", "limit": 5}),
    ("mail_search", {"fields": ["id"]}),
    ("mail_search", {"fields": ["id", "size", "labels", "message_id", "folder", "thread"]}),
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
# These are refused, but the requests that lead there are right: ids that exist
# nowhere.
MISSING = [
    ("AAMkAGJkNDgwMDU3LWU0ZDQtNDIzOC1iNDVjLTM4MDY2M2UzNTc4NwBGAAAAAAAAAAA=",
     "no such|not found|there is no"),
    ("no-such-id", "not one of Outlook's"),
]
# How Graph answers for the first of them.
MISSED = re.compile(r"GET /me/messages/\{id_1\} 40[04]")
# An event that a change calls gone is looked for: it may only have left the range.
GONE = "GET /me/events/{id_1} 404"

# Far fewer than the scenario makes; more than a router that was passed by sees.
LEAST = 150
# Every path that the scenario cannot do without.
PATHS = {
    "GET /me",
    "GET /me/messages",
    "GET /me/messages/{id_1}",
    "GET /me/messages/{id_1}/$value",
    "GET /me/mailFolders",
    "GET /me/mailFolders/{id_1}/messages",
    "GET /me/outlook/masterCategories",
    "GET /me/calendars",
    "GET /me/calendars/{id_1}/calendarView",
    "GET /me/calendarView/delta",
    "GET /me/events/{id_1}",
    "POST /me/events",
    "POST /me/events/{id_1}/accept",
    "POST /me/events/{id_1}/cancel",
    "POST /me/calendar/getSchedule",
    "PATCH /me/events/{id_1}",
    "DELETE /me/events/{id_1}",
    # Writing.
    "POST /me/messages",
    "PATCH /me/messages/{id_1}",
    "DELETE /me/messages/{id_1}",
    "POST /me/messages/{id_1}/copy",
    "POST /me/messages/{id_1}/createForward",
    "POST /me/messages/{id_1}/createReply",
    "POST /me/messages/{id_1}/createReplyAll",
    "POST /me/messages/{id_1}/move",
    "POST /me/messages/{id_1}/send",
    "GET /me/messages/{id_1}/attachments",
    "POST /me/messages/{id_1}/attachments",
    "POST /me/messages/{id_1}/attachments/createUploadSession",
    "DELETE /me/messages/{id_1}/attachments/{id_2}",
    "POST /me/mailFolders",
    "POST /me/mailFolders/{id_1}/childFolders",
    "PATCH /me/mailFolders/{id_1}",
    "DELETE /me/mailFolders/{id_1}",
    "GET /me/mailFolders/{id_1}/messageRules",
    "POST /me/mailFolders/{id_1}/messageRules",
    "POST /me/outlook/masterCategories",
}
# What the description lacks and Daysheet asks for nevertheless, all in Graph's
# reference. Another one is a failed check, so that nothing slips by unnoticed.
UNCONTRACTED = {
    "GET /me/calendars/{id}/calendarView/delta",
    "GET /me/contacts",
    "GET /me/mailboxSettings",
    "GET /me/people",
    "PATCH /me/mailboxSettings",
    "POST /me/contacts",
    "PATCH /me/contacts/{id}",
    "DELETE /me/contacts/{id}",
    "GET /me/mailFolders/inbox/messageRules/{id}",
    "PATCH /me/mailFolders/inbox/messageRules/{id}",
    "DELETE /me/mailFolders/inbox/messageRules/{id}",
    "DELETE /me/outlook/masterCategories/{id}",
    "GET /me/messages/{id}/attachments/{id}/$value",
    "POST /me/messages/{id}/permanentDelete",
    # Where an upload session says that its pieces go; no path of Graph's own.
    "PUT /uploads/{id}",
}


def listed(counter):
    return "\n".join(f"{count} x {what}" for what, count in counter.most_common(20))


def sanity(router):
    """Prism has to find what is wrong, or its silence says nothing."""
    def ask(target, spoil=None):
        router.spoil = spoil
        try:
            return router.at_front("GET", target, {"Authorization": "Bearer none"}, b"")
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
    ask("/v1.0/me")
    checks.that("partner: nothing is found where nothing is wrong", found()[1] == 1, found())
    for counter in (router.checked, router.uncontracted, router.answers, router.forgiven,
                    *router.violations.values()):
        counter.clear()


def run_scenario(daysheet):
    """Runs every call; a call that fails is a failed check."""
    found, failed = {}, []
    calls = pages = 0

    def call(tool, arguments):
        nonlocal calls
        calls += 1
        try:
            return daysheet.document(tool, arguments)
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
    agenda.run("graph", checks, call, WORK)
    with checks.section("writing"):
        folder = daysheet.env["DAYSHEET_FILES"]
        writing.run("graph", checks, call, WORK, "microsoft", folder)
    checks.that(f"{calls} calls succeed", not failed, "\n".join(failed))
    checks.that(f"{pages} further pages were asked for", pages >= 5)
    for id, words in MISSING:
        done = daysheet.run("call", "mail_read", json.dumps({"ids": [id], "account": WORK}))
        said = done.stdout + done.stderr
        checks.that(f"the id {id[:12]}… is said to be wrong", re.search(words, said), said)


def report(router):
    """Checks what the router saw, and names it."""
    total = sum(router.checked.values())
    checks.that(f"{total} requests checked, at least {LEAST}", total >= LEAST)
    checks.that("all paths were used", PATHS <= router.checked.keys(),
                sorted(PATHS - router.checked.keys()))
    for side, name in (("request", "request"), ("response", "answer")):
        wrong = router.violations[side]
        checks.that(f"no {name} breaks the contract", not wrong,
                    f"{sum(wrong.values())} violations\n{listed(wrong)}")
    unknown = router.uncontracted.keys() - UNCONTRACTED
    checks.that("every path that the contract lacks is a known one", not unknown,
                listed(collections.Counter({k: router.uncontracted[k] for k in unknown})))
    failed = {what: count for what, count in router.answers.items()
              if not re.search(r" 20[0124]$", what) and what != GONE
              and not MISSED.fullmatch(what)}
    checks.that("no request fails but for the id that is nowhere", not failed,
                listed(collections.Counter(failed)))
    print(f"note  graph: {router.batches} batches of {router.in_batches} requests taken apart",
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
    """A Daysheet with two mailboxes at Microsoft."""
    settings = interop.microsoft_at(f"http://127.0.0.1:{sandbox}", f"http://{router.host}")
    daysheet = interop.Daysheet(
        sys.argv[1], **settings, access="full", new_recipients="allow",
        files=writing.folder_of_files(interop))
    for email in (WORK, HOME):
        code, printed, _, _ = interop.sign_in(daysheet, email, provider="microsoft")
        checks.that(f"sign-in of {email}", code == 0 and email in printed, printed)
    return daysheet


def main():
    if not os.path.exists(CONTRACT):
        print(f"graph contract: not checked here, the file is not there: {CONTRACT}", flush=True)
        with checks.section("the router alone"):
            sandbox = start_sandbox()
            run_scenario(signed_in(Router(None, None, sandbox), sandbox))
        checks.close()
    with checks.section("the part"):
        with open(CONTRACT, encoding="utf-8") as file:
            contract = Contract(json.load(file))
        sandbox, prism = start_sandbox(), interop.free_port()
        router = Router(contract, prism, sandbox)
        start_prism(prism, router.back)
        sanity(router)
        daysheet = signed_in(router, sandbox)
        run_scenario(daysheet)
        report(router)
    checks.close()


if __name__ == "__main__":
    main()
