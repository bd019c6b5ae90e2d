"""Interop part: MCP clients that others wrote talk to `daysheet serve --sandbox`.

    mcp_clients.py BINARY

The clients are the command line of the MCP Inspector (npm) and the Python SDK
`mcp`, each in the protocol's older era (initialize) and in the modern one
(2026-07-28). A client that can ask its user is asked before a message is sent,
and each level of access shows its own tools. Last, what a client relies on beyond the protocol: nothing but
JSON on stdout, and an end soon after stdin ends. HTTP is covered by mcp_http.
"""

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
import time

import mcp

import interop

checks = interop.Checks("mcp")

TOOLS = {"accounts", "lookup", "mail_read", "mail_search"}
READ_ONLY = {"lookup", "mail_read", "mail_search"}
SCHEMA = "daysheet://schema/message"
OUTPUT = "daysheet://output/"
# Each prompt with values for its arguments, and a word of what it must bring.
PROMPTS = {
    "brief_my_day": ({"date": "2026-11-13"}, "brief of Fri 2026-11-13"),
    "triage_inbox": ({"account": "mira@example.com"}, ", 1 account: "),
    "review_folder": ({"folder": "inbox", "account": "mira@example.com", "columns": "id,date"},
                      "]{id\tdate}"),
}
# What `_meta.daysheet` tells of every answer.
META = {
    "tokens": int, "tokenizer": str, "bytes": int, "baseline": str, "baseline_bytes": int,
    "ratio": float, "truncated": bool, "chunk": int, "chunks": int, "hash": str,
}
TABLE = re.compile(r"^messages\[3\t\]\{id\t", re.M)
# How long a server may live after its stdin ended, in seconds. The SDK kills
# after two.
GRACE = 2.0


def check_tools(client, tools):
    """Checks a list of tools, each a dict as on the wire."""
    by_name = {tool["name"]: tool for tool in tools}
    checks.that(f"{client}: the tools are there", TOOLS <= by_name.keys(), sorted(by_name))
    plain = all(
        tool["inputSchema"].get("type") == "object" and tool.get("description")
        for tool in tools
    )
    checks.that(f"{client}: each has a description and an object of arguments", plain, tools)
    hints = {
        name for name, tool in by_name.items()
        if (tool.get("annotations") or {}).get("readOnlyHint") is True
    }
    checks.same(f"{client}: reads are marked", sorted(hints & TOOLS), sorted(READ_ONLY))
    checks.that(f"{client}: no output schema", all(not t.get("outputSchema") for t in tools))


def check_result(client, result):
    """Checks the result of a search for three messages."""
    content = result.get("content", [])
    texts = [block.get("text", "") for block in content if block.get("type") == "text"]
    checks.that(f"{client}: the search succeeds", not result.get("isError"), result)
    checks.that(f"{client}: block 1 is a table", texts and TABLE.search(texts[0]), texts)
    checks.that(f"{client}: notes come last",
                len(texts) == len(content) >= 2 and "3" in texts[-1], texts)
    checks.that(f"{client}: no structured copy", result.get("structuredContent") is None, result)


def check_refusal(client, result):
    """Checks the result of a search `by=planet`."""
    text = " ".join(block.get("text", "") for block in result.get("content", []))
    refused = result.get("isError") is True
    checks.that(f"{client}: an unknown value is a tool error", refused, result)
    checks.that(f"{client}: which names what is possible",
                all(word in text for word in ("by", "message", "thread")), text)


def check_schema(client, text):
    """Checks the text of the resource daysheet://schema/message."""
    try:
        schema = json.loads(text)
    except ValueError:
        schema = None
    columns = (schema or {}).get("properties", {})
    checks.that(f"{client}: the schema names the columns",
                {"id", "date", "from", "subject"} <= columns.keys(), text)


def check_meta(client, result, truncated):
    """Checks what `_meta` tells of a search."""
    meta = (result.get("_meta") or {}).get("daysheet") or {}
    wrong = [name for name, kind in META.items() if type(meta.get(name)) is not kind]
    checks.that(f"{client}: _meta tells what the answer costs", not wrong, f"{wrong}: {meta}")
    texts = [block["text"] for block in result["content"] if block["type"] == "text"]
    size = sum(len(text.encode()) for text in texts)
    checks.same(f"{client}: _meta tells its bytes", meta.get("bytes"), size)
    ratio = meta.get("ratio", 0) * meta.get("baseline_bytes", 0)
    checks.that(f"{client}: the ratio is that of the bytes",
                abs(size - ratio) <= 0.01 * meta.get("baseline_bytes", 0), meta)
    checks.same(f"{client}: _meta tells whether it is all", meta.get("truncated"), truncated)
    checks.that(f"{client}: _meta tells the chunk",
                meta.get("chunk") == 1 and (meta.get("chunks", 0) > 1) == truncated, meta)


async def check_prompts(client, session):
    """Checks that the prompts are listed, and bring what they are for."""
    listed = {prompt["name"]: prompt
              for prompt in map(wire, (await session.list_prompts()).prompts)}
    checks.same(f"{client}: the prompts are there", sorted(listed), sorted(PROMPTS))
    for name, (arguments, word) in PROMPTS.items():
        prompt = listed.get(name, {})
        plain = prompt.get("title") and prompt.get("description")
        checks.that(f"{client}: {name} has a title and says what it is for", plain, prompt)
        named = {arg["name"]: arg.get("required", False) for arg in prompt.get("arguments", [])}
        checks.same(f"{client}: {name} needs no argument", named, dict.fromkeys(arguments, False))
        for given in ({}, arguments):
            messages = wire(await session.get_prompt(name, given))["messages"]
            roles = [message["role"] for message in messages]
            checks.same(f"{client}: {name} {given} is the user's", roles, ["user"])
            text = messages[0]["content"]["text"]
            brief = re.search(r"^brief of .*$|^messages\[", text, re.M)
            checks.that(f"{client}: {name} {given} brings its data",
                        brief and (not given or word in text), text)
            checks.that(f"{client}: {name} {given} begins with instructions",
                        text.split("\n\n")[0].endswith("before I say so."), text)
    for name, given in (("no_such_prompt", {}), ("brief_my_day", {"planet": "Mars"})):
        try:
            said = await session.get_prompt(name, given)
            refused = False
        except mcp.MCPError as error:
            said = str(error)
            refused = name in said if not given else "planet" in said
        checks.that(f"{client}: {name} {given} is an error", refused, said)


async def check_output(client, session):
    """Checks that the resource of a shortened answer is all of it."""
    templates = wire(await session.list_resource_templates())["resourceTemplates"]
    checks.that(f"{client}: the template of outputs is listed",
                OUTPUT + "{hash}" in [template["uriTemplate"] for template in templates],
                templates)
    # Columns without a cell that could be cut, whose answer would be stored, too.
    asked = {"limit": 20, "fields": ["id", "date", "flags", "thread"]}
    result = wire(await session.call_tool("mail_search", {**asked, "budget": 250}))
    check_meta(client, result, truncated=True)
    uri = result["_meta"]["daysheet"]["output"]
    checks.that(f"{client}: _meta has the resource of the whole answer", uri.startswith(OUTPUT), uri)
    document = result["content"][0]["text"]
    cut = f"whole: output_read id={uri.removeprefix(OUTPUT)}"
    checks.that(f"{client}: which the value `cut` names", cut in document.split("messages[")[0], document)
    read = wire(await session.read_resource(uri))["contents"]
    whole = wire(await session.call_tool("mail_search", {**asked, "budget": 100_000}))
    check_meta(client, whole, truncated=False)
    texts = [block["text"] for block in whole["content"] if block["type"] == "text"]
    checks.same(f"{client}: all blocks are text", len(texts), len(whole["content"]))
    checks.same(f"{client}: the resource is the whole answer",
                [content["text"] for content in read], ["".join(texts)])
    try:
        said = await session.read_resource(OUTPUT + "2222222222")
        refused = False
    except mcp.MCPError as error:
        said, refused = error, True
    checks.that(f"{client}: an unknown output is an error", refused, said)


# How a client reaches Daysheet --------------------------------------------------


class Stdio:
    """A process for each client, at a level of access."""

    def __init__(self, daysheet, *arguments):
        self.daysheet, self.arguments = daysheet, ["serve", "--sandbox", *arguments]

    def python(self):
        """What the Python SDK connects to."""
        return mcp.StdioServerParameters(
            command=self.daysheet.binary, args=self.arguments, env=self.daysheet.env)

    def inspector(self):
        """What the Inspector is told to connect to."""
        own = [f"{name}={value}" for name, value in self.daysheet.env.items()
               if name.startswith("DAYSHEET_")]
        return [*(word for pair in own for word in ("-e", pair)), self.daysheet.binary,
                *self.arguments]


# The Inspector ----------------------------------------------------------------


def inspector(server, era, *arguments):
    """One run of the Inspector; its exit code, and its result as a value."""
    command = shutil.which("mcp-inspector")
    if command is None:
        raise RuntimeError("mcp-inspector is not on PATH: run this part through tests/interop/run")
    # It keeps files in the home folder.
    env = {**os.environ, "HOME": server.daysheet.home}
    done = subprocess.run(
        [command, "--cli", *server.inspector(), "--protocol-era", era, "--quiet", *arguments],
        env=env, capture_output=True, text=True, encoding="utf-8", timeout=interop.PATIENCE,
        stdin=subprocess.DEVNULL,
    )
    try:
        return done.returncode, json.loads(done.stdout)
    except ValueError:
        raise RuntimeError(f"exit {done.returncode}: {done.stdout}{done.stderr}") from None


def with_inspector(server, era):
    client = f"inspector, {era}"
    code, listed = inspector(server, era, "--method", "tools/list", "--strict")
    checks.same(f"{client}: schemas are portable", code, 0)
    check_tools(client, listed["tools"])

    call = ("--method", "tools/call", "--tool-name", "mail_search", "--tool-args-json")
    code, result = inspector(server, era, *call, '{"limit": 3}')
    checks.same(f"{client}: exit code of a search", code, 0)
    check_result(client, result)
    # The Inspector makes a number of what looks like one.
    code, result = inspector(server, era, *call[:-1], "--tool-arg", "q=2026", "limit=3")
    checks.that(f"{client}: a number is taken for text", code == 0, result)
    code, result = inspector(server, era, *call, '{"by": "planet"}')
    checks.same(f"{client}: exit code of a tool error", code, 5)
    check_refusal(client, result)

    _, read = inspector(server, era, "--method", "resources/read", "--uri", SCHEMA)
    check_schema(client, read["contents"][0]["text"])
    _, listed = inspector(server, era, "--method", "resources/list")
    checks.that(f"{client}: the schema is listed",
                SCHEMA in {resource["uri"] for resource in listed["resources"]}, listed)


# The Python SDK ---------------------------------------------------------------


def wire(value):
    """A value of the SDK as it is on the wire."""
    return value.model_dump(mode="json", by_alias=True, exclude_none=True)


async def with_python(server, mode):
    client = f"python, {mode}"
    async with mcp.Client(server.python(), mode=mode,
                          read_timeout_seconds=interop.PATIENCE) as session:
        modern = session.protocol_version >= "2026"
        checks.same(f"{client}: era, version {session.protocol_version}", modern, mode != "legacy")
        if mode in ("legacy", "auto"):
            # A pinned version asks the server nothing before its first request.
            info = session.server_info
            checks.same(f"{client}: the server's name", info and info.name, "daysheet")
        check_tools(client, [wire(tool) for tool in (await session.list_tools()).tools])
        result = wire(await session.call_tool("mail_search", {"limit": 3}))
        check_result(client, result)
        again = wire(await session.call_tool("mail_search", {"limit": 3, "format": "json"}))
        document = json.loads(again["content"][0]["text"])
        checks.same(f"{client}: three rows as JSON", len(document["messages"]), 3)
        ids = [row["id"] for row in document["messages"]]
        result = wire(await session.call_tool("mail_read", {"ids": ids}))
        checks.that(f"{client}: reading them succeeds",
                    not result.get("isError") and len(result["content"]) > 2, result)
        check_refusal(client, wire(await session.call_tool("mail_search", {"by": "planet"})))
        try:
            result = wire(await session.call_tool("no_such_tool", {}))
            refused, said = result.get("isError"), result
        except mcp.MCPError as error:
            refused, said = "no_such_tool" in str(error), error
        checks.that(f"{client}: an unknown tool is an error", refused, said)
        listed = await session.list_resources()
        checks.that(f"{client}: the schema is listed",
                    SCHEMA in {str(resource.uri) for resource in listed.resources}, listed)
        read = await session.read_resource(SCHEMA)
        check_schema(client, read.contents[0].text)
        try:
            await session.read_resource("daysheet://schema/nothing")
            checks.that(f"{client}: an unknown resource is an error", False)
        except mcp.MCPError as error:
            checks.that(f"{client}: an unknown resource is an error", bool(str(error)))
        await check_prompts(client, session)
        await check_output(client, session)


# What a client is asked ---------------------------------------------------------

ACCOUNT = "mira@example.com"
TO = "mira@lindqvist-lamps.example"
# What the user does with a question, and what becomes of the message.
ANSWERS = {"accept": "sent", "decline": "refused", "cancel": "refused"}


class Person:
    """A user who does `action` with every question, and keeps it."""

    def __init__(self, action):
        self.action, self.asked = action, []

    async def __call__(self, context, params):
        self.asked.append(wire(params))
        content = {} if self.action == "accept" else None
        return mcp.types.ElicitResult(action=self.action, content=content)


async def document_of(session, tool, **arguments):
    """Block 1 of a call, as a value; a refusal is an exception."""
    result = wire(await session.call_tool(tool, {**arguments, "format": "json"}))
    if result.get("isError"):
        raise RuntimeError(f"{tool} {arguments}: {result['content']}")
    return json.loads(result["content"][0]["text"])


async def sent_with(session, subject):
    """The sent messages with a subject."""
    rows = await document_of(session, "mail_search", account=ACCOUNT, folder="sent", limit=20)
    return [row["id"] for row in rows["messages"] if row["subject"] == subject]


async def asked(server, mode, person):
    """Sends a message with a client that can ask `person`, or cannot if there is none."""
    action = person.action if person else "no way to ask"
    client = f"python, {mode}, {action}"
    async with mcp.Client(server.python(), mode=mode, elicitation_callback=person,
                          read_timeout_seconds=interop.PATIENCE) as session:
        subject = f"Asked: {mode}, {action}"
        draft = (await document_of(session, "mail_draft", account=ACCOUNT, to=[TO],
                                   subject=subject, body="Shall it go?"))["draft"]
        checks.that(f"{client}: a draft asks nothing", not (person and person.asked))
        outcomes = (await document_of(session, "mail_send", id=draft))["outcomes"]
        results = [row["result"] for row in outcomes]
        checks.same(f"{client}: the outcome", results, [ANSWERS.get(action, "sent")])
        if person:
            checks.same(f"{client}: the user was asked once", len(person.asked), 1)
            question = person.asked[0] if person.asked else {}
            said = question.get("message", "")
            checks.that(f"{client}: by a question that shows what goes where",
                        all(word in said for word in (ACCOUNT, TO, subject)), question)
            checks.same(f"{client}: as a form", question.get("mode", "form"), "form")
        went = len(await sent_with(session, subject))
        checks.same(f"{client}: messages among the sent", went, int(results == ["sent"]))
        # The same draft again: what is sent is sent, and a no can be thought over.
        again = (await document_of(session, "mail_send", id=draft))["outcomes"]
        checks.same(f"{client}: once more", [row["result"] for row in again],
                    ["already sent" if results == ["sent"] else "refused"])
        went = len(await sent_with(session, subject))
        checks.same(f"{client}: and still among the sent", went, int(results == ["sent"]))


# The tools that a level does not have. `full` and `send` have all.
HIDDEN = {
    "read": {"mail_draft", "mail_send", "mail_modify", "calendar_save", "calendar_delete",
             "calendar_respond", "manage"},
    "organize": {"mail_draft", "mail_send", "calendar_respond"},
    "draft": {"mail_send", "calendar_respond"},
    "send": set(),
    "full": set(),
}


async def levels(daysheet, mode):
    """Checks which tools each level of access shows."""
    listed = {}
    for level in HIDDEN:
        at = Stdio(daysheet, "--access", level)
        async with mcp.Client(at.python(), mode=mode,
                              read_timeout_seconds=interop.PATIENCE) as session:
            tools = [wire(tool) for tool in (await session.list_tools()).tools]
            listed[level] = {tool["name"] for tool in tools}
            for name in sorted(HIDDEN[level]):
                try:
                    result = wire(await session.call_tool(name, {"id": "d1"}))
                    refused, said = result.get("isError"), result
                except mcp.MCPError as error:
                    refused, said = name in str(error), error
                checks.that(f"python, {mode}, {level}: {name} cannot be called", refused, said)
    for level, hidden in HIDDEN.items():
        checks.same(f"python, {mode}, {level}: the tools that are hidden",
                    sorted(listed["full"] - listed[level]), sorted(hidden))
        checks.that(f"python, {mode}, {level}: it has the reading ones", TOOLS <= listed[level],
                    sorted(listed[level]))
    # In the settings `read` beats what the command line says.
    held = interop.Daysheet(daysheet.binary, access="read")
    async with mcp.Client(Stdio(held, "--access", "full").python(), mode=mode,
                          read_timeout_seconds=interop.PATIENCE) as session:
        names = {tool.name for tool in (await session.list_tools()).tools}
        checks.same(f"python, {mode}: read in the settings holds", sorted(names),
                    sorted(listed["read"]))


def inspected_levels(daysheet, era):
    """The same with the Inspector, by the setting instead of the command line."""
    names = {}
    for level in HIDDEN:
        at = Stdio(interop.Daysheet(daysheet.binary, access=level))
        code, listed = inspector(at, era, "--method", "tools/list", "--strict")
        checks.same(f"inspector, {era}, {level}: schemas are portable", code, 0)
        names[level] = {tool["name"] for tool in listed["tools"]}
    for level, hidden in HIDDEN.items():
        checks.same(f"inspector, {era}, {level}: the tools that are hidden",
                    sorted(names["full"] - names[level]), sorted(hidden))


# Without a client -------------------------------------------------------------

INITIALIZE = {
    "jsonrpc": "2.0", "id": 1, "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": {"name": "interop", "version": "1"},
    },
}
SEARCH = {
    "jsonrpc": "2.0", "id": 2, "method": "tools/call",
    "params": {"name": "mail_search", "arguments": {"limit": 3}},
}


def ends(daysheet, name, messages, answers):
    """Sends `messages`, awaits `answers` lines, ends stdin; times the end."""
    process = interop.track(subprocess.Popen(
        [daysheet.binary, "serve", "--sandbox"], env=daysheet.env, stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, encoding="utf-8",
        start_new_session=True,
    ))
    try:
        for message in messages:
            process.stdin.write(json.dumps(message) + "\n")
            process.stdin.flush()
        got = [process.stdout.readline() for _ in range(answers)]
        process.stdin.close()
        started = time.monotonic()
        try:
            code = process.wait(GRACE * 5)
        except subprocess.TimeoutExpired:
            code = None
        took = time.monotonic() - started
        checks.that(f"{name}: ends {took:.1f} s after stdin, at most {GRACE}",
                    code is not None and took <= GRACE)
        checks.same(f"{name}: exit code", code, 0)
        got += process.stdout.readlines() if code is not None else []
        wrong = [line for line in got if not is_message(line)]
        checks.that(f"{name}: stdout holds JSON-RPC alone", not wrong, wrong)
    finally:
        interop.stop(process)


def is_message(line):
    try:
        return json.loads(line).get("jsonrpc") == "2.0"
    except (ValueError, AttributeError):
        return False


def main():
    daysheet = interop.Daysheet(sys.argv[1], stats="always")
    for era in ("legacy", "modern"):
        with checks.section(f"inspector, {era}"):
            with_inspector(Stdio(daysheet), era)
    for mode in ("legacy", "auto", "2026-07-28"):
        with checks.section(f"python, {mode}"):
            asyncio.run(with_python(Stdio(daysheet), mode))
    for mode in ("legacy", "auto", "2026-07-28"):
        for person in (*map(Person, ANSWERS), None):
            with checks.section(f"python, {mode}, {person and person.action}"):
                asyncio.run(asked(Stdio(daysheet, "--access", "send"), mode, person))
        with checks.section(f"levels, python, {mode}"):
            asyncio.run(levels(daysheet, mode))
    for era in ("legacy", "modern"):
        with checks.section(f"levels, inspector, {era}"):
            inspected_levels(daysheet, era)
    started = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    with checks.section("stdin"):
        ends(daysheet, "after nothing", [], 0)
        ends(daysheet, "after a handshake", [INITIALIZE, started], 1)
        ends(daysheet, "after a call", [INITIALIZE, started, SEARCH], 2)
        ends(daysheet, "in mid-call", [INITIALIZE, started, SEARCH], 1)
    checks.close()


if __name__ == "__main__":
    main()
