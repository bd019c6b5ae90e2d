"""Eleven tasks of mail and calendars, by other people's servers and by ours, side by side.

    tests/interop/peers/run BINARY [--json FILE] [--page FILE] [--texts FOLDER] [--runs N] [ROW…]

`run` installs the servers and makes the namespace that wire.py needs. The tasks, what an
answer must hold and the calls that each server needs are in tasks.toml; how each is started
is in installed.py. A session goes through all tasks, as an assistant would, over a sandbox of
its own whose answers take 50 ms; times are medians of N sessions (3), everything else is the
last session's. Without ROW, all rows of installed.py run. A server that cannot be signed in
or started is named with the reason.
"""

import argparse
import asyncio
import json
import os
import re
import statistics
import subprocess
import sys
import time
import tomllib
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))

import mcp  # noqa: E402

import installed  # noqa: E402
import interop  # noqa: E402
import npm_partners  # noqa: E402
import wire as wires  # noqa: E402

TOKENIZER = "o200k_base"
# The figures that are compared, by what the page calls them, with the least difference that counts.
COMPARED = {"tokens read": ("out", 0), "tokens written": ("in", 0), "calls": ("calls", 0),
            "requests": ("requests", 0), "steps": ("steps", 0), "ms": ("ms", 10)}
VARIABLE = re.compile(r"\$(\w+)(?:\[(-?\d*)(:?)(-?\d*)\])?")


def tasks():
    """The data: tasks by name, reasons, and rows of calls by server and task."""
    with open(f"{HERE}/tasks.toml", "rb") as file:
        return tomllib.load(file)


def filled(value, known):
    """Arguments with what earlier answers said: `$name` is a list of all that a pattern found,
    `$name[0]` its first, `$name[:5]` the first five."""
    if isinstance(value, dict):
        return {name: filled(inner, known) for name, inner in value.items()}
    if isinstance(value, list):
        return [filled(inner, known) for inner in value]
    if not isinstance(value, str):
        return value
    whole = VARIABLE.fullmatch(value)
    if whole is None:
        return VARIABLE.sub(lambda found: str(chosen(found, known)), value)
    return chosen(whole, known)


def chosen(found, known):
    name, begin, colon, end = found.groups()
    every = known[name]
    if begin is None and not colon:
        return every
    if colon:
        return every[int(begin) if begin else None:int(end) if end else None]
    return every[int(begin)]


def plain(text):
    """A text as a model reads it: what JSON escapes is the sign itself."""
    text = re.sub(r"\\u([0-9a-fA-F]{4})", lambda found: chr(int(found[1], 16)), text)
    text = text.replace("\\r", "").replace("\\n", "\n").replace('\\"', '"').replace("\\/", "/")
    # Lines are broken where a sender broke them.
    return re.sub(r"\s+", " ", text)


def missing(facts, text):
    """The facts that an answer does not hold; a fact is a list of patterns."""
    text = plain(text)
    return [name for name, patterns in facts.items()
            if not all(re.search(pattern, text) for pattern in patterns)]


class Session:
    """A server in a session, and what its tasks cost."""

    def __init__(self, client, wire, node):
        self.client, self.wire, self.node, self.known = client, wire, node, {}
        self.results = []

    async def call(self, call):
        arguments = filled(call.get("args", {}), self.known)
        result = await self.client.call_tool(call["tool"], arguments)
        self.results.append(result.model_dump(mode="json", by_alias=True, exclude_none=True))
        texts = [block.text for block in result.content if getattr(block, "text", None)]
        text = "\n".join(texts)
        if getattr(result, "is_error", False):
            raise RuntimeError(f"{call['tool']}: {text[:400]}")
        for name, pattern in call.get("take", {}).items():
            self.known[name] = re.findall(pattern, plain(text))
            if not self.known[name]:
                raise RuntimeError(f"{call['tool']} gives no {name}: {text[:400]}")
        spent = json.dumps({"name": call["tool"], "arguments": arguments}, ensure_ascii=False)
        return text, spent

    async def task(self, task, calls, state):
        """One task: what it costs, and what its answers lack."""
        self.wire.counted()
        self.results.clear()
        texts, spent, got, seconds = [], 0, 0, 0.0
        for call in calls:
            # A call for each of what was found, where a tool takes one at a time.
            for one in self.known[call["each"]] if "each" in call else [None]:
                self.known["one"] = [one]
                begun = time.monotonic()
                text, arguments = await self.call(call)
                seconds += time.monotonic() - begun
                texts.append(text)
                spent += self.node.tokens([arguments], TOKENIZER)
                got += self.node.tokens([text], TOKENIZER)
        cost = {"in": spent, "out": got, "calls": len(texts), "ms": seconds * 1e3,
                **self.wire.counted()}
        cost["lacks"] = missing(task.get("facts", {}), "\n".join(texts))
        if "state" in task:
            cost["lacks"] += missing(task["state"]["facts"], state(task["state"]["get"]))
        cost["text"] = "\n".join(texts)
        cost["results"] = list(self.results)
        return cost


def reader(wire):
    """Reads what the sandbox has afterwards, by Google's half and not through the wire."""
    token = installed.token(wire.sandbox, "google", installed.EMAIL, " ".join(
        [*installed.GMAIL_SCOPES, *installed.CALENDAR_SCOPES]))

    def read(path):
        request = urllib.request.Request(
            wire.sandbox + path, headers={"Authorization": f"Bearer {token}"})
        with urllib.request.urlopen(request) as answer:
            found = json.load(answer)
        # A list of drafts has ids alone.
        for draft in found.get("drafts", []):
            draft["message"] = json.loads(read(f"/gmail/v1/users/me/drafts/{draft['id']}"))
        return json.dumps(found, ensure_ascii=False)

    return read


async def session(row, data, wire, node):
    """One session of one row: start, memory and the tasks."""
    name, provider, _, start, more = row
    wire.begin()
    home = interop.temp_folder("peer")
    env = {**os.environ, **wire.trust, "HOME": home, "TZ": "Europe/Berlin", "BROWSER": "true"}
    command, env = start(wire, home, env, *more)
    parameters = mcp.StdioServerParameters(
        command=command[0], args=command[1:], env=env, cwd=home)
    state, own = reader(wire), os.getpid()
    before = children(own)
    begun = time.monotonic()
    client = mcp.Client(parameters, mode="legacy", read_timeout_seconds=interop.PATIENCE)
    async with client as client:
        tools = await client.list_tools()
        found = {"start": (time.monotonic() - begun) * 1e3, "tasks": {}}
        listed = json.dumps([
            {"name": tool.name, "description": tool.description,
             "inputSchema": tool.input_schema} for tool in tools.tools], ensure_ascii=False)
        found["tools"], found["list"] = len(tools.tools), node.tokens([listed], TOKENIZER)
        pids = children(own) - before
        memory = lambda: sum(interop.resident(pid) for pid in pids)  # noqa: E731
        found["idle"] = memory()
        calls = data["rows"][name.split(",")[0]]
        at = Session(client, wire, node)
        # workspace-mcp shows the tools of one service at a time.
        kinds = {"workspace-mcp": {"mail"}, "workspace-mcp, calendar": {"calendar"}}.get(
            name, {"mail", "calendar"})
        for call in calls.get("setup", []):
            if call.get("kind", "mail") in kinds:
                await at.call(call)
        for task in data["tasks"]:
            if task["name"] not in calls or task["kind"] not in kinds:
                continue
            try:
                found["tasks"][task["name"]] = await at.task(task, calls[task["name"]], state)
            except Exception as error:  # The next task does not depend on this one.
                found["tasks"][task["name"]] = {"error": str(error)[:400], **wire.counted()}
        found["busy"] = memory()
    return found


def children(pid):
    """The processes that a process has started."""
    found = set()
    for thread in os.listdir(f"/proc/{pid}/task"):
        found |= set(open(f"/proc/{pid}/task/{thread}/children").read().split())
    return {int(one) for one in found}


def measured(row, data, wire, node, runs):
    """A row's figures, of several sessions."""
    every = [asyncio.run(session(row, data, wire, node)) for _ in range(runs)]
    last = every[-1]
    last["start"] = statistics.median(one["start"] for one in every)
    for name, cost in last["tasks"].items():
        times = [one["tasks"].get(name, {}).get("ms") for one in every]
        if "ms" in cost:
            cost["ms"] = statistics.median(time for time in times if time is not None)
    return last


# The page ---------------------------------------------------------------------------


def check(data):
    """Says what is wrong with the data: every row has calls, every task a row of ours, every
    reason a task and a figure."""
    wrong = []
    names = {row[0].split(",")[0] for row in installed.ROWS}
    if names != set(data["rows"]):
        wrong.append(f"rows: {names ^ set(data['rows'])}")
    known = {task["name"] for task in data["tasks"]}
    for name, calls in data["rows"].items():
        if set(calls) - known - {"setup"}:
            wrong.append(f"{name}: no such tasks: {set(calls) - known - {'setup'}}")
        if name == "daysheet" and known - set(calls):
            wrong.append(f"daysheet has no {known - set(calls)}")
    for name, reasons in data["reasons"].items():
        if name not in known | {"any"} or set(reasons) - set(COMPARED):
            wrong.append(f"reasons.{name}: no such task or figure: {sorted(reasons)}")
    for package in (*installed.NPM.values(), *installed.PYTHON.values()):
        if not re.search(r"(@|==)\d+\.\d+\.\d+$", package):
            wrong.append(f"{package} is not pinned")
    return wrong


def whole(cost):
    """True if the answers hold all that the task is about."""
    return "error" not in cost and not cost["lacks"]


def page(data, found, left_out, binary, runs):
    """The figures as Markdown."""
    run = lambda *command: subprocess.run(  # noqa: E731
        command, capture_output=True, text=True, cwd=HERE, check=True).stdout.strip()
    lines = ["# Beside other servers", "",
             "Generated by `tests/interop/peers/run`; not part of the gate. Every server works on "
             "the same sample mailbox and calendar of the sandbox, whose answers take "
             f"{wires.LATENCY * 1e3:.0f} ms. Tokens are o200k. *In* is what the model writes to "
             "call, *out* what it reads. *Steps* are requests to the API one after the other. "
             f"Times are medians of {runs} sessions on {os.cpu_count()} cores, which may do other "
             "work too. *Tokens of tools/list* are those of names, descriptions and schemas as JSON "
             "with a blank after each comma and colon; without these blanks, Daysheet's have about "
             "a fifth fewer. A row that lacks something is not comparable: what it lacks is named, and "
             "a server that is not in a task's table has no tool for it.", "",
             f"{run(binary, '--version')}, {os.path.basename(os.path.dirname(binary))} build, "
             f"commit {run('git', 'rev-parse', '--short', 'HEAD')}; "
             + ", ".join([*installed.NPM.values(), *installed.PYTHON.values()]) + ".", ""]
    for provider in ("google", "microsoft"):
        rows = {name: figures for (name, at), figures in found.items() if at == provider}
        if not rows:
            continue
        lines += [f"## {provider.capitalize()}", "",
                  "| server | tools | tokens of tools/list | start, ms | MB idle | MB then |",
                  "|---|---|---|---|---|---|"]
        lines += [f"| {name} | {one['tools']} | {one['list']} | {one['start']:.0f} | "
                  f"{one['idle']:.0f} | {one['busy']:.0f} |" for name, one in rows.items()]
        for task in data["tasks"]:
            costs = {name: one["tasks"][task["name"]] for name, one in rows.items()
                     if task["name"] in one["tasks"]}
            if not costs:
                continue
            lines += ["", f"### {task['name']}: {task['about']}", "",
                      "| server | tokens in | out | calls | requests | steps | kB | ms | lacks |",
                      "|---|---|---|---|---|---|---|---|---|"]
            for name, cost in costs.items():
                if "error" in cost:
                    why = " ".join(cost["error"].split())[:120].replace("|", "\\|")
                    lines.append(f"| {name} | | | | {cost['requests']} | | | | {why} |")
                    continue
                lines.append(
                    f"| {name} | {cost['in']} | {cost['out']} | {cost['calls']} | "
                    f"{cost['requests']} | {cost['steps']} | {cost['bytes'] / 1e3:.1f} | "
                    f"{cost['ms']:.0f} | {', '.join(cost['lacks'])} |")
        lines.append("")
        lines += behind(data, rows)
    if left_out:
        lines += ["## Left out", ""]
        lines += [f"- {name}: {' '.join(why.split())[:300]}" for name, why in left_out.items()]
        lines.append("")
    return "\n".join(lines)


def behind(data, rows):
    """Where another server needs less than ours for the same facts."""
    lines = ["### Where others need less, for the same facts", ""]
    for task in data["tasks"]:
        ours = rows.get("daysheet", {"tasks": {}})["tasks"].get(task["name"])
        if ours is None:
            continue
        for shown, (figure, slack) in COMPARED.items():
            others = {name: one["tasks"][task["name"]][figure] for name, one in rows.items()
                      if not name.startswith("daysheet") and task["name"] in one["tasks"]
                      and whole(one["tasks"][task["name"]])}
            if others and figure in ours and ours[figure] > min(others.values()) + slack:
                best = min(others, key=others.get)
                lines.append(f"- {task['name']}: {ours[figure]:.0f} {shown}, {best} "
                             f"{others[best]:.0f}: {reason(data, task['name'], shown)}")
    return lines + ([] if len(lines) > 2 else ["On no line."]) + [""]


def reason(data, task, figure):
    """Why another server needs less of something for a task."""
    reasons = data["reasons"]
    return reasons.get(task, {}).get(figure) or reasons["any"].get(figure, "not yet explained")


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("binary")
    arguments.add_argument("folder")
    arguments.add_argument("--json")
    arguments.add_argument("--runs", type=int, default=3)
    arguments.add_argument("--page")
    arguments.add_argument("--texts", help="a folder for the answers themselves")
    arguments.add_argument("rows", nargs="*")
    given = arguments.parse_intermixed_args()
    data = tasks()
    wrong = check(data)
    if wrong:
        sys.exit("\n".join(wrong))
    wire, node = wires.Wire(given.binary, given.folder), npm_partners.Node()
    found, left_out = {}, {}
    for row in installed.ROWS:
        name, provider, package, *_ = row
        if given.rows and not any(name.startswith(wanted) for wanted in given.rows):
            continue
        print(f"{name}, {provider}", file=sys.stderr, flush=True)
        try:
            found[name, provider] = measured(row, data, wire, node, given.runs)
        except Exception as error:  # One server that cannot run is no reason to leave out others.
            left_out[f"{name}, {provider}"] = f"{type(error).__name__}: {error}"
            print(f"  left out: {error!r}"[:1500], file=sys.stderr, flush=True)
    if given.texts:
        for (name, provider), figures in found.items():
            for task, cost in figures["tasks"].items():
                path = f"{given.texts}/{provider}-{name.replace(', ', '-')}-{task}.txt"
                with open(path, "w") as file:
                    file.write("\n".join([*cost["paths"], "", cost.get("text", cost.get("error"))]))
                with open(path.removesuffix("txt") + "json", "w") as file:
                    json.dump(cost.get("results", []), file, ensure_ascii=False)
    for figures in found.values():
        for cost in figures["tasks"].values():
            cost.pop("text", None)
            cost.pop("results", None)
    if given.json:
        with open(given.json, "w") as file:
            json.dump([{"server": name, "provider": provider, **figures}
                       for (name, provider), figures in found.items()], file, indent=1)
    text = page(data, found, left_out, given.binary, given.runs)
    if given.page:
        with open(given.page, "w") as file:
            file.write(text)
    else:
        print(text)


if __name__ == "__main__":
    main()
