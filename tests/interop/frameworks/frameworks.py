"""Interop part: agent frameworks use `daysheet serve --sandbox`, and pass its answers to a model.

    frameworks.py BINARY

Each framework runs in a process of its own (probes.py, probes.mjs), with its own MCP integration
over stdio and a scripted model. The checks read what the framework would send to a real model: the
names of all tools and properties, the table and the notes of a search, the fences around the bodies
of two messages, and the text of an error. They also show that null means "not given". Expected are
the answers that the client of the Python SDK gets. The table at the end is for the documentation.
INTEROP_FRAMEWORKS is the folder that `install` has filled.
"""

import ast
import asyncio
import concurrent.futures
import contextlib
import dataclasses
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import mcp

import interop
import npm_partners

checks = interop.Checks("frameworks")

HERE = pathlib.Path(__file__).parent
INSTALLED = pathlib.Path(os.environ["INTEROP_FRAMEWORKS"])
TOOLS = 17
# Imports and a first call may take long on a busy machine, in seconds.
PATIENCE = 300
# How long a server may live after its framework has ended, in seconds.
GRACE = 30
FENCE = re.compile(r"^<<<(b\d+) (\w+)\n(?:.*\n)*?\2>>>$", re.M)
FIRST_CELLS = re.compile(r"^  (m\d+)\t", re.M)
REPR = re.compile(r"TextContent\(type='text', text=('(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\")")
# The id of a stored answer is new with every call.
OUTPUT_ID = re.compile(r"\bid=\w{10}\b")
EVENTS = {"from": "2026-11-16", "to": "2026-11-20", "limit": 2}
# The values of integer arguments that a model has to send although it does not need them: 0 counts
# as not given, except for `limit`.
NUMBERS = {"limit": 5, "snippet": 0, "budget": 0, "chunk": 0}

# Telemetry is off, and a request to another machine would fail at the proxy.
QUIET = {
    "AI_SDK_LOG_WARNINGS": "false", "ANONYMIZED_TELEMETRY": "false", "DO_NOT_TRACK": "1",
    "FASTMCP_CHECK_FOR_UPDATES": "off", "HF_HUB_DISABLE_TELEMETRY": "1", "HF_HUB_OFFLINE": "1",
    "LANGCHAIN_TRACING_V2": "false", "LANGSMITH_TRACING": "false",
    "MASTRA_TELEMETRY_DISABLED": "1", "MCP_USE_ANONYMIZED_TELEMETRY": "false",
    "OPENAI_AGENTS_DISABLE_TRACING": "1", "OTEL_SDK_DISABLED": "true",
    "PYDANTIC_DISABLE_PLUGINS": "__all__", "SCARF_NO_ANALYTICS": "true",
    "HTTP_PROXY": interop.NOWHERE, "HTTPS_PROXY": interop.NOWHERE, "NO_PROXY": "127.0.0.1",
    "NODE_USE_ENV_PROXY": "1", "PYTHONDONTWRITEBYTECODE": "1", "PYTHONUTF8": "1",
}


@dataclasses.dataclass
class Framework:
    """A framework, and its expected behaviour."""

    title: str
    # Where its probe runs: "node", or the environment of requirements-HOME.txt.
    home: str
    probe: str
    # How the blocks of an answer arrive, see `blocks_of`.
    form: str = "blocks"
    # How an error arrives, see `kind_of_error`.
    error: str = "text"
    # Changes to the schemas, see `change`.
    schemas: str = "whole"
    # The probe with schemas in the strict form of OpenAI's API.
    strict: str = ""
    # Tools that are made from resources and prompts.
    more: int = 0
    # The prefix of the names of tools.
    prefix: str = ""
    # Properties that the model is not given, by tool and path; `*` for all of an object.
    lost: tuple = ()
    # Whether the model is given the server's instructions: no, or on request (which the probe with
    # strict schemas makes).
    instructions: str = "no"
    # The error if the model uses an argument called `from`.
    keyword: str = ""


FRAMEWORKS = [
    Framework("OpenAI Agents SDK", "mcp2", "openai_agents", strict="openai_agents_strict"),
    Framework("LangChain", "mcp1", "langchain", strict="langchain_strict"),
    Framework("Google Gen AI SDK", "mcp2", "google_genai", form="JSON", error="JSON"),
    Framework("Pydantic AI", "mcp2", "pydantic_ai", form="JSON", error="JSON",
              strict="pydantic_ai_strict", instructions="on request"),
    Framework("FastMCP client", "mcp2", "fastmcp", error="exception"),
    # Objects in lists have properties only if they are behind a $ref.
    Framework("LlamaIndex", "mcp2", "llama_index", form="repr", error="repr",
              lost=("calendar_save.events[].*",)),
    Framework("smolagents", "mcp1", "smolagents", form="first block", error="printed",
              schemas="all required", keyword="SyntaxError: invalid syntax"),
    Framework("Strands Agents", "mcp1", "strands"),
    # It makes tools of resources and prompts, and hides arguments named like a Python keyword.
    Framework("mcp-use", "mcp1", "mcp_use", form="one text", error="JSON", schemas="no enum",
              more=29, lost=("brief.from", "calendar_free.from", "calendar_search.as",
                             "calendar_search.from", "mail_attachment.as", "mail_draft.from")),
    Framework("AI SDK", "node", "ai_sdk"),
    Framework("Mastra", "node", "mastra", form="JSON", prefix="daysheet_"),
]


# What Daysheet answers --------------------------------------------------------


@dataclasses.dataclass
class Reference:
    """The tools, and the text blocks of the calls, as the Python SDK's client has them."""

    schemas: dict
    listed: list
    read: list
    error: str
    events: list
    instructions: str

    @classmethod
    async def get(cls, binary):
        daysheet = interop.Daysheet(binary)
        parameters = mcp.StdioServerParameters(
            command=daysheet.binary, args=["serve", "--sandbox", "--access", "full"],
            env=daysheet.env)
        async with mcp.Client(parameters, read_timeout_seconds=interop.PATIENCE) as client:
            async def call(tool, arguments):
                result = await client.call_tool(tool, arguments)
                return [block.text for block in result.content]

            tools = (await client.list_tools()).tools
            listed = await call("mail_search", {"limit": 5})
            ids = FIRST_CELLS.findall(listed[0])[:2]
            return cls({tool.name: tool.input_schema for tool in tools}, listed,
                       await call("mail_read", {"ids": ids}),
                       (await call("mail_search", {"limit": 0}))[0],
                       without_ids(await call("calendar_search", EVENTS)),
                       client.instructions)

    def empty(self):
        """The arguments of a search of which all but `limit` are null."""
        return {**dict.fromkeys(self.schemas["mail_search"]["properties"]), "limit": 5}

    def filled(self):
        """The arguments of a search that has a value for each, as empty as it may be."""
        def value(name, schema):
            if "enum" in schema:
                return schema["enum"][0]
            return NUMBERS.get(name, [] if schema["type"] == "array" else "")
        properties = self.schemas["mail_search"]["properties"]
        return {name: value(name, schema) for name, schema in properties.items()}


def without_ids(blocks):
    """Blocks without the ids of stored answers."""
    return [OUTPUT_ID.sub("id=", block) for block in blocks]


# Probes -----------------------------------------------------------------------


def probe(binary, framework, name, calls):
    """Runs one probe to its end; returns its findings, and how many servers outlive it."""
    daysheet = interop.Daysheet(binary)
    folder = interop.temp_folder("framework")
    if framework.home == "node":
        command = [shutil.which("node"), str(INSTALLED / "probes.mjs")]
    else:
        python = INSTALLED / f"requirements-{framework.home}" / "bin" / "python"
        command = [str(python), str(HERE / "probes.py")]
    # Keys and settings of the caller would change what frameworks do.
    env = {name: value for name, value in daysheet.env.items()
           if name in ("PATH", "TZ") or name.startswith("DAYSHEET_")}
    env.update(QUIET, HOME=folder, TMPDIR=folder)
    # Not pipes: a server that outlives the probe would hold them open.
    files = [tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") for _ in range(2)]
    process = interop.track(subprocess.Popen(
        [*command, name, daysheet.binary, json.dumps(calls)], env=env, cwd=folder, text=True,
        encoding="utf-8", stdin=subprocess.DEVNULL, stdout=files[0], stderr=files[1],
        start_new_session=True,
    ))
    try:
        process.wait(PATIENCE)
    finally:
        interop.stop(process)
        end = time.monotonic() + GRACE
        while (left := interop.processes_with("DAYSHEET_HOME", daysheet.home)) \
                and time.monotonic() < end:
            time.sleep(0.1)
        # Frameworks start servers in sessions of their own.
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
    out, err = (read_again(file) for file in files)
    if process.returncode != 0:
        raise RuntimeError(f"{name} ends with {process.returncode}:\n{err[-1000:]}")
    return json.loads(out.splitlines()[-1]), len(left)


def read_again(file):
    """Returns all that was written to a temporary file, and closes it."""
    with file:
        file.seek(0)
        return file.read()


def strings_in(value):
    """Returns the texts of the blocks in a value that was JSON."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, list):
        return [text for item in value for text in strings_in(item)]
    if "text" in value:
        return [value["text"]]
    keys = ("result", "content", "error")
    return [text for key in keys if key in value for text in strings_in(value[key])]


def blocks_of(answer, form):
    """Returns the text blocks in what the model is given for an answer."""
    if answer.get("texts") is None:
        raise RuntimeError(f"no answer: {answer}")
    texts = answer["texts"]
    if form in ("blocks", "tool calls"):
        return texts
    if len(texts) != 1:
        raise RuntimeError(f"{len(texts)} texts in place of one: {texts}")
    if form == "one text":
        return texts
    if form == "JSON":
        return strings_in(json.loads(texts[0]))
    if form == "repr":
        return [ast.literal_eval(literal) for literal in REPR.findall(texts[0])]
    # The model writes code that prints the result of the tool.
    printed = re.fullmatch(r"Observation:\nExecution logs:\n(.*)\nLast output from code snippet:"
                           r"\nNone", texts[0], re.S)
    return [printed[1]] if printed else texts


def as_arrives(blocks, form):
    """Returns the blocks of an answer as a framework passes them on."""
    return {"first block": blocks[:1], "one text": ["\n".join(blocks)]}.get(form, blocks)


def kind_of_error(answer, text):
    """Returns how an error arrives: exception, text, JSON, repr or printed."""
    if "raised" in answer:
        return "exception"
    if answer["texts"] == [text]:
        return "text"
    first = answer["texts"][0]
    return {"{": "JSON", "m": "repr", "O": "printed"}.get(first[:1], first[:40])


# Schemas ----------------------------------------------------------------------


def paths(schema, path="", root=None):
    """Returns the types, values, descriptions and required properties in a schema, by path."""
    root = root or schema
    if "$ref" in schema:
        return paths(root["$defs"][schema["$ref"].rsplit("/", 1)[1]], path, root)
    found = {path: {
        "type": {str(schema.get("type", "")).lower()}, "enum": set(schema.get("enum", [])),
        "description": {schema.get("description") or ""},
        "required": set(schema.get("required", [])),
    }}
    for option in schema.get("anyOf", []):
        for where, part in paths(option, path, root).items():
            known = found.setdefault(where, part)
            for key in known:
                known[key] = known[key] | part[key]
    for name, value in (schema.get("properties") or {}).items():
        found.update(paths(value, f"{path}.{name}", root))
    if schema.get("items"):
        found.update(paths(schema["items"], f"{path}[]", root))
    return found


def lost(got, want):
    """Returns the properties that are missing from schemas, and those that are new."""
    found = []
    for tool, schema in want.items():
        have, had = [{path for path in paths(one) if path and not path.endswith("[]")}
                     for one in (got[tool], schema)]
        for path in sorted(had - have):
            above = path.rpartition(".")[0] + "."
            whole = above != "." and not any(one.startswith(above) for one in have)
            found.append(f"{tool}{above}*" if whole else tool + path)
        found += [f"new: {tool}{path}" for path in sorted(have - had)]
    return list(dict.fromkeys(found))


def change(got, want):
    """Returns in words what schemas lost or gained."""
    said = set()
    for tool, schema in want.items():
        have = paths(got[tool])
        for path, part in paths(schema).items():
            if path not in have:  # `lost` reports it.
                continue
            for key in ("type", "enum", "description"):
                if not part[key] - {""} <= have[path][key]:
                    said.add(f"no {key}")
            if not part["required"] <= have[path]["required"]:
                said.add("none required")
            if have[path]["required"] - part["required"]:
                said.add("all required")
    return ", ".join(sorted(said)) or "whole"


def loose(schema):
    """Returns the objects in a schema that the strict form does not allow."""
    found = []
    if schema.get("type") == "object" or "properties" in schema:
        listed = sorted(schema.get("properties") or {})
        if schema.get("additionalProperties") is not False or \
                sorted(schema.get("required", [])) != listed:
            found.append(schema)
    inner = [*(schema.get("properties") or {}).values(), *schema.get("anyOf", []),
             *schema.get("$defs", {}).values(), *filter(None, [schema.get("items")])]
    return found + [one for part in inner for one in loose(part)]


# The checks -------------------------------------------------------------------


def check_schemas(title, framework, told, reference):
    """Checks that all tools are there with their properties; returns their schemas."""
    listed = {tool["name"].removeprefix(framework.prefix): tool["parameters"]
              for tool in told["tools"]}
    ours = {name: schema for name, schema in listed.items() if name in reference.schemas}
    checks.same(f"{title}: all tools are listed", sorted(ours), sorted(reference.schemas))
    checks.same(f"{title}: tools from resources and prompts", len(told["tools"]) - len(ours),
                framework.more)
    checks.same(f"{title}: properties that are lost", sorted(lost(ours, reference.schemas)),
                sorted(framework.lost))
    return ours


def check(framework, told, left, reference, node):
    """Checks the findings of one probe; returns the row of the table."""
    title = framework.title
    ours = check_schemas(title, framework, told, reference)
    checks.same(f"{title}: what becomes of schemas", change(ours, reference.schemas),
                framework.schemas)
    checks.same(f"{title}: the instructions of the server are not given",
                reference.instructions in (told["system"] or ""), False)
    listed, read, error, null, events = told["answers"][:5]
    form = framework.form
    want = as_arrives(reference.listed, form)
    blocks = blocks_of(listed, form)
    checks.same(f"{title}: the table and the notes arrive as {form}", blocks, want)
    notes = reference.listed[-1].strip() in blocks[-1].splitlines()
    checks.same(f"{title}: null is not given", blocks_of(null, form), want)
    if framework.keyword:
        text = events["texts"][0]
        checks.that(f"{title}: `from` is no argument", framework.keyword in text, text)
    else:
        checks.same(f"{title}: `from` is an argument", without_ids(blocks_of(events, form)),
                    as_arrives(reference.events, form))
    blocks = blocks_of(read, form)
    checks.that(f"{title}: the headers of both messages", blocks[0].startswith(reference.read[0]),
                blocks)
    fences = [match[1] for block in blocks for match in FENCE.finditer(block)]
    checks.same(f"{title}: fences that are whole", fences,
                [] if form == "first block" else ["b1", "b2"])
    if form == "first block":
        checks.same(f"{title}: the first block is all", blocks, reference.read[:1])
        # Rows of JSON have the bodies in the first block.
        rows = json.loads(blocks_of(told["answers"][5], form)[0])
        texts = [row.get("text") for row in rows["bodies"]]
        checks.that(f"{title}: bodies are there with format=json", len(texts) == 2 and all(texts),
                    rows)
    text = error.get("raised") or "\n".join(error["texts"])
    checks.that(f"{title}: the error says what is wrong", reference.error in text, text)
    checks.same(f"{title}: the error arrives as", kind_of_error(error, reference.error),
                framework.error)
    checks.same(f"{title}: its server ends", left, 0)
    tokens = [node.tokens(answer["texts"], "o200k_base") for answer in (listed, read)]
    gone = [f"no `{path}`" for path in dict.fromkeys(
        path.partition(".")[2] for path in framework.lost)]
    schemas = [framework.schemas] if framework.schemas != "whole" or not gone else []
    return [title, told["version"], f"{len(ours)} + {framework.more}".removesuffix(" + 0"),
            ", ".join(schemas + gone), framework.instructions, form, "whole" if fences else "none",
            "yes" if notes else "no", framework.error, "yes" if framework.strict else "–",
            f"{tokens[0]} / {tokens[1]}"]


def check_strict(framework, told, reference):
    """Checks the strict form of the schemas, and the calls that a model then makes."""
    title = f"{framework.title}, strict"
    ours = check_schemas(title, framework, told, reference)
    wrong = {name: loose(schema) for name, schema in ours.items() if loose(schema)}
    if framework.instructions == "on request":
        checks.that(f"{title}: the instructions of the server are given on request",
                    reference.instructions in told["system"], told["system"])
    checks.same(f"{title}: every object is closed and requires all", wrong, {})
    checks.same(f"{title}: null is not given", blocks_of(told["answers"][3], framework.form),
                reference.listed)
    check_filled(title, framework, told["answers"][5], reference)


def check_filled(title, framework, answer, reference):
    """Checks a search that has a value for each argument."""
    table = blocks_of(answer, framework.form)[0]
    checks.same(f"{title}: empty texts and lists are not given", FIRST_CELLS.findall(table),
                FIRST_CELLS.findall(reference.listed[0]))


def check_tool_calls(told, reference):
    """Checks the agent of smolagents whose model calls tools instead of writing code."""
    title = "smolagents, tool calls"
    framework = Framework("", "mcp1", "", form="tool calls")
    listed, _, _, null, _, filled = told["answers"]
    # To the framework, only arguments whose schema has `nullable` are optional.
    checks.that(f"{title}: arguments that are not given are refused by the framework",
                "Argument q is required" in listed["texts"][0], listed)
    checks.that(f"{title}: so is null", "'null' but should be" in null["texts"][0], null)
    check_filled(title, framework, filled, reference)


def run(binary):
    node = npm_partners.Node()
    reference = asyncio.run(Reference.get(binary))
    checks.same("the SDK's client lists all tools", len(reference.schemas), TOOLS)
    calls = [["mail_search", {"limit": 5}], ["mail_read", {"ids": None}],
             ["mail_search", {"limit": 0}], ["mail_search", reference.empty()],
             ["calendar_search", EVENTS]]
    filled = [*calls, ["mail_search", reference.filled()]]
    as_json = [*calls, ["mail_read", {"ids": None, "format": "json"}]]
    # Node finds packages beside the script, so the script goes to them.
    shutil.copy(HERE / "probes.mjs", INSTALLED)
    tokens = [node.tokens(texts, "o200k_base") for texts in (reference.listed, reference.read)]
    rows = [["(the blocks alone)", "", str(len(reference.schemas)), "whole", "", "blocks",
             "whole", "yes", "text", "", f"{tokens[0]} / {tokens[1]}"]]
    # Each framework has one or two probes; two run at a time.
    wanted = []
    for framework in FRAMEWORKS:
        asked = as_json if framework.form == "first block" else calls
        wanted.append((framework, framework.probe, asked))
        if framework.strict:
            wanted.append((framework, framework.strict, filled))
        if framework.probe == "smolagents":
            wanted.append((framework, "smolagents_calling", filled))
    pool = concurrent.futures.ThreadPoolExecutor(2)
    try:
        started = [pool.submit(probe, binary, *one) for one in wanted]
        for (framework, name, _), future in zip(wanted, started):
            with checks.section(name):
                told, left = future.result()
                if name == framework.probe:
                    rows.append(check(framework, told, left, reference, node))
                elif name == framework.strict:
                    check_strict(framework, told, reference)
                else:
                    check_tool_calls(told, reference)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
    print("\n| framework | version | tools | schemas | instructions | list | bodies | notes "
          "| error | strict | tokens of list / read |\n" + "|---" * len(rows[0]) + "|")
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print(flush=True)


def main():
    with checks.section("the frameworks"):
        run(sys.argv[1])
    checks.close()


if __name__ == "__main__":
    main()
