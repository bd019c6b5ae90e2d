"""Interop part: the official TOON decoder reads what Daysheet writes.

    decode.py BINARY

Every call below is made twice, as TOON and as JSON. decode.mjs then decodes
block 1 of the first with @toon-format/toon, strictly, and compares it with
block 1 of the second: values, types, nulls and the order of keys. JSON alone
carries `provider_id` and `text`; both are taken out. Each page gets a cursor
of its own, so `next` is compared by its form.
"""

import json
import os
import shutil
import subprocess
import sys

import interop

checks = interop.Checks("decode")

# The mailbox of the sandbox that is at Microsoft; the other one is at Google.
WORK = "mira@lindqvist-lamps.example"

# Tool and arguments; M and T stand for all messages and threads found before, O
# for those of them at Microsoft.
CALLS = [
    ("accounts", {}),
    ("lookup", {"kind": "folders"}),
    ("lookup", {"kind": "schemas"}),
    ("mail_search", {"limit": 100}),
    ("mail_search", {"limit": 100, "detail": "minimal"}),
    ("mail_search", {"limit": 100, "detail": "full"}),
    ("mail_search", {"limit": 100, "fields": ["id", "size", "has_attachments", "cc", "labels"]}),
    ("mail_search", {"limit": 7}),
    ("mail_search", {"limit": 50, "by": "thread", "detail": "full"}),
    ("mail_search", {"q": "nothingcanmatchthis"}),
    ("mail_search", {"q": "has:attachment", "limit": 100, "detail": "full"}),
    ("mail_search", {"folder": "sent", "limit": 100, "fields": ["to", "subject", "snippet"]}),
    ("mail_read", {"ids": "M"}),
    ("mail_read", {"ids": "M", "body": "none"}),
    ("mail_read", {"ids": "T"}),
    ("lookup", {"kind": "labels"}),
    ("lookup", {"kind": "categories"}),
    ("lookup", {"kind": "contacts", "q": "an"}),
    ("lookup", {"kind": "aliases"}),
    ("lookup", {"kind": "settings"}),
    ("lookup", {"kind": "folders", "account": WORK}),
    ("mail_search", {"account": WORK, "limit": 100, "detail": "full"}),
    ("mail_search", {"account": WORK, "limit": 7, "q": "is:unread OR has:attachment"}),
    ("mail_search", {"account": WORK, "limit": 50, "by": "thread", "detail": "full"}),
    ("mail_read", {"ids": "O"}),
    ("mail_read", {"ids": "O", "body": "md", "quoted": True, "links": True}),
    ("mail_read", {"ids": "O", "body": "raw"}),
]


def main():
    daysheet = interop.Daysheet(sys.argv[1])
    cases = []
    with checks.section("the calls"):
        def ids(by, **more):
            asked = {"by": by, "limit": 100, "budget": 100000, **more}
            printed = daysheet.call("mail_search", asked, "json", sandbox=True)
            return [row["id"] for row in json.loads(interop.first_block(printed))[by + "s"]]

        found = {
            "M": ids("message")[:25],
            "T": ids("thread")[:4],
            "O": ids("message", account=WORK)[:25],
        }
        for tool, arguments in CALLS:
            arguments = dict(arguments)
            name = f"{tool} {json.dumps(arguments)}"
            if tool in ("mail_search", "mail_read", "calendar_search", "lookup"):
                # The same rows in both formats, whatever each costs.
                arguments["budget"] = 100000
            if "ids" in arguments:
                arguments["ids"] = found[arguments["ids"]]
            toon, text = (
                interop.first_block(daysheet.call(tool, arguments, form, sandbox=True))
                for form in ("toon", "json")
            )
            cases.append({"name": name, "toon": toon, "json": text})
    checks.same("all calls were made", len(cases), len(CALLS))

    with checks.section("the decoder"):
        path = os.path.join(interop.temp_folder("decode"), "cases.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(cases, file)
        node = shutil.which("node")
        if node is None:
            raise RuntimeError("node is not on PATH: run this part through tests/interop/run")
        # Node finds packages beside the script, so the script goes to them.
        packages = os.environ["INTEROP_PACKAGES"]
        script = shutil.copy(os.path.join(interop.HERE, "decode.mjs"), packages)
        done = subprocess.run(
            [node, script, path], capture_output=True, text=True, encoding="utf-8",
            timeout=interop.PATIENCE,
        )
        verdicts = [json.loads(line) for line in done.stdout.splitlines()]
        checks.same("every document was judged", len(verdicts), len(cases))
        for verdict in verdicts:
            checks.that(verdict["name"], not verdict["problem"], verdict["problem"])
        if done.returncode != 0:
            raise RuntimeError(done.stderr)
    checks.close()


if __name__ == "__main__":
    main()
