"""Interop part: what Daysheet sends, and what its sandbox answers, held to
Google's discovery documents.

    contract.py BINARY

One scenario runs twice through the proxy of check_google.py: against the
sandbox and against emulate. Requests must be right in both. Answers must be
right from the sandbox; what emulate answers wrongly is counted and printed
only, because it is not ours. Calendars and writing are for the sandbox alone;
what emulate has of them is driven by emulate.py. Sign-in does not pass the
proxy: the documents say nothing about OAuth.
"""

import collections
import json
import os
import re
import sys

import calendar_search
import google_emulate
import interop
import seed_messages
import writing

checks = interop.Checks("contract")

# Tool and arguments; `M` and `T` stand for a message and a thread found before.
SCENARIO = [
    ("mail_search", {}),
    ("mail_search", {"limit": 3}),
    ("mail_search", {"detail": "minimal"}),
    ("mail_search", {"q": "is:unanswered", "limit": 5}),
    ("mail_search", {"detail": "full", "limit": 5}),
    ("mail_search", {"fields": ["id"]}),
    ("mail_search", {"fields": ["id", "size", "labels", "message_id"]}),
    ("mail_search", {"q": "from:ana is:unread"}),
    ("mail_search", {"q": "subject:agenda OR subject:\"two words\" -from:bot"}),
    ("mail_search", {"q": "has:attachment larger:1k smaller:5M filename:pdf"}),
    ("mail_search", {"q": "after:2026-02-01 before:7d (cc:bo OR to:nora)"}),
    ("mail_search", {"q": "in:anywhere category:promotions"}),
    ("mail_search", {"q": "Größe & Maß +1%#?"}),
    ("mail_search", {"folder": "inbox", "limit": 2}),
    ("mail_search", {"folder": "spam"}),
    ("mail_search", {"sort": "oldest", "limit": 2, "fields": ["subject", "link"]}),
    ("mail_search", {"by": "thread", "limit": 4}),
    ("mail_search", {"by": "thread", "detail": "full", "q": "is:unread"}),
    ("lookup", {"kind": "folders"}),
    ("mail_read", {"ids": ["M"]}),
    ("mail_read", {"ids": ["M"], "body": "none"}),
    ("mail_read", {"ids": ["M"], "body": "raw"}),
    ("mail_read", {"ids": ["M"], "body": "headers"}),
    ("mail_read", {"ids": ["M"], "body": "html"}),
    ("mail_read", {"ids": ["T"]}),
    ("mail_read", {"ids": ["T", "M"], "quoted": True, "links": True}),
]
# A few of these requests may fail: the id does not exist.
MISSING = ["19c20000000000ff", "no-such-id"]

# Far fewer than the scenario makes; more than a proxy that was passed by sees.
LEAST = 100
# Every method that the scenario cannot do without.
METHODS = {
    "gmail.users.labels.list",
    "gmail.users.messages.get",
    "gmail.users.messages.list",
    "gmail.users.threads.get",
    "gmail.users.threads.list",
}
# And every method that the calendars cannot do without.
CALENDAR_METHODS = {
    "calendar.calendarList.list",
    "calendar.calendars.delete",
    "calendar.calendars.insert",
    "calendar.calendars.patch",
    "calendar.events.delete",
    "calendar.events.get",
    "calendar.events.insert",
    "calendar.events.list",
    "calendar.events.patch",
    "calendar.freebusy.query",
    "gmail.users.getProfile",
}
# And every method that writing cannot do without.
WRITING_METHODS = {
    "gmail.users.drafts.create",
    "gmail.users.drafts.get",
    "gmail.users.drafts.send",
    "gmail.users.drafts.update",
    "gmail.users.labels.create",
    "gmail.users.labels.delete",
    "gmail.users.labels.patch",
    "gmail.users.messages.attachments.get",
    "gmail.users.messages.batchDelete",
    "gmail.users.messages.batchModify",
    "gmail.users.settings.filters.create",
    "gmail.users.settings.filters.delete",
    "gmail.users.settings.filters.list",
    "gmail.users.settings.getVacation",
    "gmail.users.settings.sendAs.list",
    "gmail.users.settings.updateLanguage",
    "gmail.users.settings.updateVacation",
    "people.people.createContact",
    "people.people.deleteContact",
    "people.people.updateContact",
}


def run_scenario(name, daysheet, email, whole):
    """Runs every call; a call that fails is a failed check. `whole` has calendars
    and writing, too."""
    found = {}
    failed = []

    def call(tool, arguments):
        try:
            return daysheet.document(tool, arguments)
        except (interop.CallFailed, ValueError) as error:
            failed.append(str(error))
            return {}

    for kind, by in (("M", "message"), ("T", "thread")):
        rows = call("mail_search", {"by": by}).get(by + "s", [])
        found[kind] = rows[len(rows) // 2]["id"] if rows else kind
    for tool, arguments in SCENARIO:
        arguments = dict(arguments)
        if "ids" in arguments:
            arguments["ids"] = [found[id] for id in arguments["ids"]]
        page = call(tool, arguments)
        for _ in range(3):
            if "next" not in page:
                break
            page = call(tool, {**({"kind": "folders"} if tool == "lookup" else {}),
                               **({"ids": arguments["ids"]} if tool == "mail_read" else {}),
                               "cursor": page["next"]})
    if whole:
        calendar_search.run(name, checks, call, email)
        with checks.section(f"{name}, writing"):
            folder = daysheet.env["DAYSHEET_FILES"]
            writing.run(name, checks, call, email, "google", folder)
    checks.that(f"{name}: every call succeeds", not failed, "\n".join(failed))
    for id in MISSING:
        daysheet.run("call", "mail_read", json.dumps({"ids": [id]}))


def judge(name, report, answers_count, methods):
    """Reads the proxy's report and checks what it found."""
    with open(report, encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    asked, answered = collections.Counter(), collections.Counter()
    for line in lines:
        for violation in line["violations"]:
            kind = asked if violation.startswith("REQUEST") else answered
            # Ids and the places of items differ; what is wrong with them does not.
            what = re.sub(r"\d{6,}", "N", re.sub(r"/\d+/", "/*/", violation))
            kind[f"{line['id'] or line['p']} {line['status']}: {what}"] += 1

    def listed(counter):
        return "\n".join(f"{count} x {what}" for what, count in counter.most_common(20))

    seen = {line["id"] for line in lines}
    checks.that(f"{name}: {len(lines)} requests checked, at least {LEAST}", len(lines) >= LEAST)
    checks.that(f"{name}: all methods were used", methods <= seen, sorted(methods - seen))
    checks.that(f"{name}: no request breaks the contract", not asked, listed(asked))
    if answers_count:
        checks.that(f"{name}: no answer breaks the contract", not answered, listed(answered))
    else:
        total = sum(answered.values())
        print(f"note  contract: {name}: {total} violations in its answers", flush=True)
        for line in listed(answered).splitlines():
            print(f"      {line[:160]}", flush=True)


def through_proxy(name, base, email, settings, answers_count):
    """Signs in, runs the scenario through a proxy of its own and judges."""
    report = os.path.join(interop.temp_folder("report"), "report.jsonl")
    proxy = interop.start_proxy(base, report)
    daysheet = interop.Daysheet(
        sys.argv[1], running=not answers_count, **settings(base, proxy), access="full",
        new_recipients="allow", files=writing.folder_of_files(interop))
    code, printed, _, _ = interop.sign_in(daysheet, email)
    if checks.that(f"{name}: sign-in", code == 0, printed):
        # emulate has too little of calendars and writing for a whole scenario; what it
        # has is driven by emulate.py.
        methods = METHODS | CALENDAR_METHODS | WRITING_METHODS if answers_count else METHODS
        run_scenario(name, daysheet, email, answers_count)
        judge(name, report, answers_count, methods)


def sandbox():
    """Starts Daysheet's own sandbox with its sample mailbox."""
    port = interop.free_port()
    bare = interop.Daysheet(sys.argv[1])
    command = [bare.binary, "sandbox", "--port", str(port)]
    interop.start_server(command, port, env=bare.env)
    return f"http://127.0.0.1:{port}"


def main():
    with checks.section("sandbox"):
        through_proxy("sandbox", sandbox(), "mira@example.com", interop.google_at, True)
    with checks.section("emulate"):
        settings = google_emulate.settings
        through_proxy("emulate", google_emulate.start(), seed_messages.EMAIL, settings, False)
    checks.close()


if __name__ == "__main__":
    main()
