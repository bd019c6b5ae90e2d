"""Interop part: what reaches the model behind real MCP clients.

    clients.py BINARY [--only NAME,…] [--keep DIR]

Each client runs in print mode, with `daysheet serve --sandbox --access full`
and a stand-in for its model's API that plays a script of tool calls
(standin.py). The requests to the model show how it reads each answer, and
recorder.py records the answers as Daysheet sends them. Both are compared with
each other and with docs/reference/clients.md. Everything is on 127.0.0.1. At the end the
part prints a table of the facts that it found. `--keep` writes the requests
and the recordings into a folder.
"""

import argparse
import concurrent.futures
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

import drivers
import entries
import interop
import npm_partners
from standin import Standin, compact

checks = interop.Checks("clients")

ROOT = os.path.join(interop.HERE, "..", "..")
HERE = os.path.dirname(os.path.abspath(__file__))
# Longest run of a client, in seconds.
PATIENCE = 300
# Delay of each request to the sandbox in the scene of a slow tool, in seconds.
DELAY = 6
# Clients at a time. They wait more than they work.
AT_ONCE = 3

READ = ["m1", "m2"]
LONG = [f"m{number}" for number in range(1, 26)]
SCENES = [
    ("list", "mail_search", {"limit": 20}),
    ("read", "mail_read", {"ids": READ}),
    ("error", "mail_search", {"limit": 0}),
    ("rows", "mail_search", {"limit": 100, "detail": "full", "budget": 20_000}),
    ("long", "mail_read", {"ids": LONG, "quoted": True, "signature": True, "budget": 40_000}),
]
WAITING = [("list", "mail_search", {"limit": 20})]
# Played with a budget in the settings, which replaces the client's limit.
BEYOND = [
    ("list", "mail_search", {"limit": 100}),
    ("beyond", "mail_read", {"ids": LONG, "quoted": True, "signature": True, "body": "html",
                             "links": True}),
]

# How many requests of discovery.rs find the right tool among the first three of ours, or have
# it loaded already. Measured on 28 November 2026.
FOUND = {"claude": 29, "codex-search": 29}

FENCE = re.compile(r"^<<<\S+ (\w+)$", re.M)
TABLE = re.compile(r"^messages\w*\[(\d+)", re.M)
# The note of an answer that was made to fit its client.
FITTED = "this client passes on"
# The two largest scenes do not fit clients that pass on less than this.
SMALL = 50_000


class Run:
    """One run of one client with a server (a command and its environment) and a script."""

    def __init__(self, driver, command, env, scenes, calls=(), keep=None):
        self.driver = driver
        tools = list(dict.fromkeys(tool for _, tool, _ in scenes))
        before = driver.load(tools) if scenes else []
        script = [*before, *(driver.call(tool, arguments) for _, tool, arguments in scenes), *calls]
        self.length = len(script)
        self.home = drivers.new_home()
        log = os.path.join(self.home, "recorded.jsonl")
        server = drivers.Server(
            [sys.executable, os.path.join(HERE, "recorder.py"), log, *command], env)
        self.standin = Standin(script, keep)
        try:
            self.run(server)
        finally:
            self.standin.close()
        readings = self.standin.readings()
        self.before, self.calls = readings[:len(before)], readings[len(before) + len(scenes):]
        names = [name for name, _, _ in scenes]
        self.readings = dict(zip(names, readings[len(before):]))
        self.complete = len(readings) == self.length
        self.recorded = Recorded(log)
        self.answers = dict(zip(names, self.recorded.answers))
        if keep and os.path.exists(log):
            shutil.move(log, os.path.join(keep, "recorded.jsonl"))

    def run(self, server):
        _, program = drivers.installed(self.driver)
        arguments, env = self.driver.start_command(self.home, server, self.standin.url)
        with open(os.path.join(self.home, "output"), "w+", encoding="utf-8",
                  errors="replace") as output:
            process = interop.track(subprocess.Popen(
                [program, *arguments], cwd=os.path.join(self.home, "work"),
                env=drivers.environment(self.home, self.standin.url, env),
                stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                start_new_session=True,
            ))
            try:
                self.code = process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                self.code = f"no end after {PATIENCE} s"
            interop.stop(process)
            self.end_others()
            output.seek(0)
            self.output = output.read()[-800:]

    def end_others(self):
        """Ends what the client started outside its group of processes."""
        for sign in (signal.SIGTERM, signal.SIGKILL):
            left = interop.processes_with("HOME", self.home)
            for pid in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, sign)
            if left:
                time.sleep(0.5)


class Answer:
    """An answer of Daysheet, as it was sent."""

    def __init__(self, message, seconds):
        self.result = message.get("result") or {}
        self.seconds = seconds
        self.kinds = {block["type"] for block in self.result.get("content", [])}
        self.blocks = [block.get("text", "") for block in self.result.get("content", [])]
        self.size = sum(len(block.encode()) for block in self.blocks)


class Recorded:
    """The messages between a client and Daysheet."""

    def __init__(self, log):
        asked, self.answers, self.tools = {}, [], {}
        self.protocol = self.instructions = None
        self.capabilities = {}
        lines = open(log, encoding="utf-8").read().splitlines() if os.path.exists(log) else []
        for who, at, message in map(json.loads, lines):
            if who == "client" and "id" in message and "method" in message:
                asked[message["id"]] = message, at
                params = message.get("params") or {}
                meta = params.get("_meta") or {}
                # Since 2026-07-28 each request has them, without an initialization.
                self.protocol = (params.get("protocolVersion")
                                 or meta.get("io.modelcontextprotocol/protocolVersion")
                                 or self.protocol)
                self.capabilities |= (params.get("capabilities")
                                      or meta.get("io.modelcontextprotocol/clientCapabilities")
                                      or {})
            elif who == "server" and message.get("id") in asked and "method" not in message:
                question, since = asked[message["id"]]
                result = message.get("result") or {}
                self.instructions = result.get("instructions") or self.instructions
                if question["method"] == "tools/list":
                    self.tools |= {tool["name"]: tool for tool in result["tools"]}
                elif question["method"] == "tools/call":
                    self.answers.append(Answer(message, at - since))


# What the model reads ----------------------------------------------------------


def decoded(reading):
    """The text of a tool result, taken out of JSON if the client writes JSON."""
    texts = []
    for text in reading:
        try:
            content = json.loads(text)["content"]
        except (ValueError, TypeError, KeyError):
            texts.append(text)
        else:
            texts += [block["text"] for block in content]
    return "\n".join(texts)


def missing(answer, reading):
    """The blocks of an answer that the model does not read whole."""
    text = decoded(reading)
    return [f"{len(block)} characters, {block[:60]!r} to {block[-60:]!r}"
            for block in answer.blocks if block.rstrip("\n") not in text]


def joined(answer, reading):
    """How a client joins the blocks of an answer, in the words of docs/reference/clients.md."""
    blocks = [block.rstrip("\n") for block in answer.blocks]
    if all(any(text.startswith(block) for text in reading) for block in blocks):
        return "separate"
    whole = next((text for text in reading if blocks[0] in text), None)
    if whole is None:
        return "JSON" if decoded(reading) not in reading else "unknown"
    if whole.count("<untrusted_context>") == len(blocks):
        return "one text, each block in a tag of its own"
    if "\n\n".join(answer.blocks).rstrip("\n") in whole:
        return "one text, an empty line between"
    return "unknown"


def open_fences(text):
    """The fences of a text: how many there are, and how many are not closed."""
    words = FENCE.findall(text)
    return len(words), sum(f"\n{word}>>>" not in text for word in words)


def escaped(text):
    """A text as it is inside a text of JSON."""
    return compact(text)[1:-1]


def measured(driver, reading):
    """The size of a reading, in characters for Cline and in bytes for all others."""
    text = "".join(reading)
    return len(text if isinstance(driver, drivers.Cline) else text.encode())


def shown(text, request):
    """How many characters of a text a request has from its beginning."""
    whole = request.text()
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if escaped(text[:middle]) in whole:
            low = middle
        else:
            high = middle - 1
    return low


def keywords(schema, at=""):
    """The keywords of a schema by their place; properties are places."""
    found = {at: {name for name in schema if name not in ("properties", "items")}}
    for name, inner in schema.get("properties", {}).items():
        found |= keywords(inner, f"{at}.{name}")
    if isinstance(schema.get("items"), dict):
        found |= keywords(schema["items"], f"{at}[]")
    return found


def dropped(tools, definitions):
    """The properties and the keywords that the definitions lack of the tools."""
    properties, words = [], set()
    for name, definition in definitions.items():
        schema = next(definition[key] for key in
                      ("input_schema", "parameters", "parametersJsonSchema") if key in definition)
        theirs = keywords(schema)
        for place, ours in keywords(tools[name]["inputSchema"]).items():
            if place not in theirs:
                properties.append(name + place)
            else:
                words |= ours - theirs[place]
    return properties, words


# Checks ------------------------------------------------------------------------


def check_start(driver, run, facts):
    """Checks the protocol, and how tools and instructions reach the model."""
    recorded, first, last = run.recorded, run.standin.requests[0], run.standin.requests[-1]
    name, tools = driver.title, recorded.tools
    checks.same(f"{name}: protocol", recorded.protocol, driver.protocol)
    checks.same(f"{name}: can ask its user", "elicitation" in recorded.capabilities, driver.asks)

    offered, wanted = first.definitions(), driver.start
    checks.same(f"{name}: tools at the start", sorted(offered),
                sorted(tools if wanted is None else wanted))
    definitions = last.definitions()
    facts["tools"] = f"{len(offered)} of {len(tools)}"
    facts["definitions"] = list(map(compact, definitions.values()))
    if isinstance(driver, drivers.Claude):
        unnamed = [tool for tool in tools if f"mcp__daysheet__{tool}" not in first.text()]
        checks.same(f"{name}: tools not named at the start", unnamed, [])
        facts["tools"] += ", names of all"
    if isinstance(driver, drivers.CodexWriting):
        text = "".join(run.before[0])
        lost = [f"{tool}.{at}" for tool, listed in tools.items()
                for at in listed["inputSchema"]["properties"]
                if f"{tool}" not in text or not re.search(rf"\b{at}\??:", text)]
        checks.same(f"{name}: properties that its tools lack", lost, [])
        facts["tools"] += ", found by a script"
    else:
        properties, words = dropped(tools, definitions)
        checks.that(f"{name}: definitions reach the model", definitions, last.text()[:600])
        checks.same(f"{name}: properties that its definitions lack", properties, [])
        used = {word for tool in tools.values()
                for words in keywords(tool["inputSchema"]).values() for word in words}
        checks.same(f"{name}: keywords that its definitions lack",
                    sorted(words), sorted(driver.dropped & used))

    whole = recorded.instructions
    got = shown(whole, first)
    wanted = {"whole": len(whole), "none": 0}.get(driver.instructions, driver.instructions)
    # A few characters are in any request.
    checks.that(f"{name}: instructions, {driver.instructions}",
                got == wanted if wanted else got < 20, f"{got} of {len(whole)} characters")
    facts["instructions"] = "whole" if got == len(whole) else got if got >= 20 else "none"


def check_answer(driver, run, scene):
    """Checks that an answer is plain text, and that the model reads it whole."""
    answer, reading = run.answers[scene], run.readings[scene]
    checks.that(f"{driver.title}, {scene}: text blocks only",
                answer.kinds == {"text"} and "structuredContent" not in answer.result,
                answer.result)
    lost = missing(answer, reading)
    checks.that(f"{driver.title}, {scene}: every block is whole", not lost, "\n".join(lost))
    checks.that(f"{driver.title}, {scene}: no `_meta` of Daysheet",
                '"daysheet"' not in "".join(reading), reading)
    return answer, reading, not lost


def check_scenes(driver, run, facts):
    """Checks the start and the answers of all scenes."""
    name = driver.title
    facts["texts"] = run.readings["list"] + run.readings["read"]
    check_start(driver, run, facts)
    answer, reading, whole = check_answer(driver, run, "list")
    checks.same(f"{name}, list: how blocks are joined", joined(answer, reading), driver.joined)
    facts["list"] = "whole" if whole else "cut"
    facts["blocks"] = joined(answer, reading)

    answer, reading, whole = check_answer(driver, run, "read")
    text = decoded(reading)
    fences = open_fences(text)
    checks.same(f"{name}, read: fences, and open ones", fences, (len(READ), 0))
    facts["bodies"] = "whole" if whole else "cut"
    facts["fence"] = "closed" if fences == (len(READ), 0) else f"{fences[1]} of {fences[0]} open"
    notes = answer.blocks[-1].strip()
    own_line = re.search(rf"^{re.escape(notes)}", text, re.M)
    checks.that(f"{name}, read: notes are there, on lines of their own", own_line, text[-600:])
    facts["notes"] = "yes" if own_line else "no"

    answer, reading = run.answers["error"], run.readings["error"]
    error, texts = answer.blocks[0].strip(), "".join(reading)
    arrives = error in texts or escaped(error) in texts
    form = "JSON" if '"content":' in texts or '"text":' in texts else "text"
    checks.that(f"{name}, error: the text reaches the model",
                answer.result.get("isError") and arrives, texts)
    checks.same(f"{name}, error: its form", form, driver.error)
    facts["error"] = form if arrives else "lost"

    for scene in ("rows", "long"):
        answer, reading, whole = check_answer(driver, run, scene)
        size = measured(driver, reading)
        checks.that(f"{name}, {scene}: is within the client's limit",
                    size <= driver.most, f"{size} of {driver.most}")
        fences = open_fences(decoded(reading))
        checks.that(f"{name}, {scene}: no fence is open, and all are there",
                    fences == (open_fences("\n".join(answer.blocks))[0], 0), fences)
        document, notes = answer.blocks[0], answer.blocks[-1]
        chunk = re.search(r"chunk 1 of \d+", document)
        if driver.most < SMALL:
            before = document[:TABLE.search(document).start()]
            checks.that(f"{name}, {scene}: `cut` is before the rows, and a note names the limit",
                        re.search(r'^cut: "to fit', before, re.M)
                        and FITTED in notes and (not chunk or "chunk=2" in notes),
                        before + notes[-300:])
        else:
            checks.that(f"{name}, {scene}: nothing is left out", not chunk and FITTED not in notes,
                        document[:300])
        messages = sum(map(int, TABLE.findall(document)))
        facts[scene] = f"{messages} in {answer.size:,} bytes"
        facts[scene] += f", {chunk[0]}" if chunk else ""
        facts[scene] += "" if whole else ", cut by the client"


def check_beyond(driver, run, facts):
    """Checks what the client makes of an answer beyond its limit."""
    answer, reading = run.answers["beyond"], run.readings["beyond"]
    size, blocks = measured(driver, reading), answer.blocks
    lost, text = missing(answer, reading), decoded(reading)
    if not lost:
        form = "whole"
    elif escaped(blocks[0][:1000]) not in text and blocks[0][:1000] not in text:
        form = "beginning gone"
    else:
        end = blocks[-1].strip()
        form = "middle gone" if end in text or escaped(end) in text else "end gone"
    checks.same(f"{driver.title}, beyond: what the model reads", form, driver.longer)
    # The client's own words around a cut answer take up to 2 %.
    least = 0 if form == "whole" else 0.97 * driver.most
    checks.that(f"{driver.title}, beyond: the limit is the one that is known",
                least <= size <= 1.02 * driver.most, f"{size}, known is {driver.most}")
    facts["beyond"] = f"{size:,} of {answer.size:,}" + ("" if form == "whole" else f", {form}")


def check_waiting(driver, run, facts):
    """Checks that the client waits for a slow tool."""
    answer, _, whole = check_answer(driver, run, "list")
    checks.that(f"{driver.title}, waiting: the tool is slow", answer.seconds >= DELAY,
                answer.seconds)
    facts["waiting"] = f"{answer.seconds:.0f} s" if whole else "fails"


def requests_of_discovery():
    """The requests of discovery.rs, each with the tools of which one is right."""
    source = open(os.path.join(ROOT, "tests", "it", "discovery.rs"), encoding="utf-8").read()
    table = source.split("const REQUESTS", 1)[1].split("];", 1)[0]
    pairs = re.findall(r'\("((?:[^"\\]|\\.)*)",\s*&\[([^\]]*)\]\)', table)
    return [(request, re.findall(r'"(\w+)"', tools)) for request, tools in pairs]


def check_finding(driver, run, facts):
    """Counts the requests that find their tool among the first three of ours."""
    wanted, missed = requests_of_discovery(), []
    for (request, right), reading in zip(wanted, run.calls):
        found = re.findall(r'"(?:tool_)?name":"(?:mcp__daysheet__)?(\w+)"', "".join(reading))
        found = [name for name in dict.fromkeys(found) if name in run.recorded.tools]
        if not set(right) & {*found[:3], *driver.start}:
            missed.append(f"{request}: {', '.join(found) or 'none of ours'}")
    hits = len(wanted) - len(missed)
    checks.that(f"{driver.title}, finding: requests find their tools",
                hits >= FOUND[driver.name], f"{hits} of {len(wanted)}, not:\n" + "\n".join(missed))
    for line in missed:
        print(f"      not found for {line}", flush=True)
    facts["finding"] = f"{hits} of {len(wanted)}"


def broken(run):
    """Describes a run that did not come to its end."""
    return (f"exit {run.code}, {len(run.standin.requests)} requests, {run.length} calls, "
            f"unknown {run.standin.unknown}\n{run.output}")


# The part ----------------------------------------------------------------------

CHECKS = {"scenes": check_scenes, "beyond": check_beyond, "waiting": check_waiting,
          "finding": check_finding}
COLUMNS = {
    "tools": "tools at the start", "instructions": "instructions", "list": "list",
    "bodies": "bodies", "fence": "fences", "notes": "notes", "blocks": "blocks",
    "error": "error", "rows": "list of up to 100", "long": "25 messages",
    "beyond": "passes on", "waiting": "waits",
    "finding": "finds", "definition tokens": "tokens of definitions",
    "tokens": "tokens of list and read",
}


def table(found, node):
    """A Markdown table of the facts, a row for each client."""
    lines = [["client", *COLUMNS.values()], ["---"] * (len(COLUMNS) + 1)]
    for title, facts in found.items():
        for texts, name in (("definitions", "definition tokens"), ("texts", "tokens")):
            if facts.get(texts) is not None:
                facts[name] = f"{node.tokens(facts[texts], 'o200k_base'):,}"
        lines.append([title, *(str(facts.get(name, "")) for name in COLUMNS)])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def check_versions(chosen):
    """Checks that the installed clients are those that docs/reference/clients.md describes."""
    page = open(os.path.join(ROOT, "docs", "reference", "clients.md"), encoding="utf-8").read()
    for driver in chosen:
        version, _ = drivers.installed(driver)
        name = driver.title.split(",")[0]
        checks.that(f"{driver.title}: docs/reference/clients.md is of {version}",
                    f"| {name} {version} |" in page)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("--only", help="names of clients, separated by commas")
    parser.add_argument("--keep", help="a folder for the recorded requests")
    options = parser.parse_args()
    chosen = [driver for driver in drivers.DRIVERS
              if options.only is None or driver.name in options.only.split(",")]
    wanted = requests_of_discovery()
    with checks.section("versions"):
        check_versions(chosen)
    checks.same("requests of discovery.rs", len(wanted), 30)

    def run(driver, what, scenes=(), more=(), calls=(), **settings):
        keep = options.keep and os.path.abspath(os.path.join(options.keep, f"{driver.name}-{what}"))
        if keep:
            os.makedirs(keep, exist_ok=True)
        daysheet = interop.Daysheet(options.binary, **settings)
        env = {name: text for name, text in daysheet.env.items() if name.startswith("DAYSHEET_")}
        command = [daysheet.binary, "serve", "--sandbox", "--access", "full", *more]
        return Run(driver, command, env, scenes, calls, keep)

    for driver in {driver.program: driver for driver in chosen}.values():
        if driver.program in entries.OWN:
            with checks.section(f"{driver.title}, entry"):
                entries.compare(checks, driver, os.path.abspath(options.binary))

    found = {driver.title: {} for driver in chosen}
    pool = concurrent.futures.ThreadPoolExecutor(AT_ONCE)
    try:
        runs = []
        for driver in chosen:
            runs += [
                (driver, "scenes", pool.submit(run, driver, "scenes", SCENES)),
                (driver, "beyond", pool.submit(run, driver, "beyond", BEYOND, budget="100000")),
                (driver, "waiting", pool.submit(run, driver, "waiting", WAITING,
                                                ["--fault", f"delay={DELAY}s"])),
            ]
            searches = [driver.find(request) for request, _ in wanted]
            if all(searches):
                runs.append((driver, "finding", pool.submit(
                    run, driver, "finding", calls=searches)))
        for driver, what, future in runs:
            title = f"{driver.title}, {what}"
            with checks.section(title):
                done = future.result()
                if checks.that(f"{title}: plays its script to the end",
                               done.complete and done.code == 0, broken(done)):
                    CHECKS[what](driver, done, found[driver.title])
                if driver.quiet:
                    checks.same(f"{title}: asks the proxy for no other host",
                                sorted(set(done.standin.refused)), [])
    finally:
        # If this program is being ended, the clients end with it.
        pool.shutdown(wait=False, cancel_futures=True)
        interop.stop_all()
    with checks.section("the table"):
        print(table(found, npm_partners.Node()), flush=True)
    checks.close()


if __name__ == "__main__":
    main()
