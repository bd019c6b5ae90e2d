"""Interop part: answers fit into their budgets, by a tokenizer of others.

    budgets.py BINARY

Every call below is made with every budget in every format; with some budgets,
or all with DAYSHEET_TEST_THOROUGH, all its chunks are asked for. gpt-tokenizer
(npm) counts the tokens of the text blocks, and @toon-format/toon reads the TOON.
What has to hold:

- the tokens are at most the budget, and are those that `_meta` tells;
- all chunks together have each row of the whole answer once;
- the same call has the same bytes;
- `budget_too_small needed=N` is true: with N there is an answer.

The mailboxes are the sample's, and a folder that budget_messages.py writes.
"""

import asyncio
import collections
import contextlib
import json
import os
import re
import sys

import mcp

import budget_messages
import interop
import npm_partners

sys.path.insert(0, os.path.join(interop.HERE, "..", "..", "docs", "reference", "stc"))
import stc  # noqa: E402

checks = interop.Checks("budgets")

BUDGETS = [100, 300, 600, 1200, 2300, 4000, 8000]
FORMATS = ["toon", "json", "stc"]
# With these, all chunks are asked for, with others the first two and the last.
EVERY_CHUNK = set(BUDGETS) if os.environ.get("DAYSHEET_TEST_THOROUGH") else {600, 2300}
# The largest budget there is. An answer has a ceiling of bytes besides.
MOST = 100_000

NEEDED = re.compile(r"^budget_too_small needed=(\d+)")
# Tables of rows that lack columns are named after the level of the rows.
LEVEL = re.compile(r"_(minimal|standard)$")
# Tables whose first cell may stand in several rows.
REPEATED = {"attachments", "clashes", "contacts"}
# Cells that say which block or how much of a text is shown, or are the text.
OF_THE_CHUNK = {"block", "shown", "text"}


class Answer:
    """What a call answered with."""

    def __init__(self, result):
        self.wire = json.dumps(result, ensure_ascii=False, sort_keys=True)
        content = result.get("content", [])
        self.texts = [block["text"] for block in content if block["type"] == "text"]
        self.meta = (result.get("_meta") or {}).get("daysheet") or {}
        self.link = self.meta.get("output")
        self.error = " ".join(self.texts) if result.get("isError") else ""
        needed = NEEDED.match(self.error)
        self.needed = int(needed[1]) if needed else None


class Server:
    """One session with one server."""

    def __init__(self, session, node, tokenizer):
        self.session, self.node, self.tokenizer = session, node, tokenizer

    async def call(self, tool, arguments, **more):
        result = await self.session.call_tool(tool, {**arguments, **more})
        return Answer(result.model_dump(mode="json", by_alias=True))

    async def need(self, tool, arguments, **more):
        """A call that must not be refused."""
        answer = await self.call(tool, arguments, **more)
        if answer.error:
            raise RuntimeError(f"{tool} {json.dumps({**arguments, **more})[:200]}: {answer.error}")
        return answer


@contextlib.asynccontextmanager
async def serving(daysheet, node, *options, tokenizer):
    parameters = mcp.StdioServerParameters(
        command=daysheet.binary, args=["serve", "--sandbox", *options], env=daysheet.env
    )
    patience = interop.PATIENCE
    async with mcp.Client(parameters, mode="auto", read_timeout_seconds=patience) as session:
        yield Server(session, node, tokenizer)


# What an answer says -----------------------------------------------------------


def rows_of(value):
    """The rows of a document's tables by what a row is: table and first cell."""
    found = []
    for table, rows in value.items():
        if isinstance(rows, list):
            for row in rows:
                found.append(((LEVEL.sub("", table), str(next(iter(row.values())))), row))
    return found


def same_cells(row, whole):
    """Says whether a row, which may lack columns, has the cells of a whole row."""
    return row is None or all(
        whole.get(column) == cell for column, cell in row.items() if column not in OF_THE_CHUNK
    )


class Findings:
    """What is wrong with the answers of one call in one format, by what is checked."""

    def __init__(self, server, tool, arguments, form):
        self.server, self.form = server, form
        self.tool, self.arguments = tool, arguments
        self.wrong = collections.defaultdict(list)

    def say(self, what, text):
        self.wrong[what].append(text)

    def cost(self, answer, budget, where):
        """Checks what an answer costs; says whether it is one."""
        if answer.error:
            if answer.needed is None:
                self.say("answers", f"{where}: {answer.error}")
            return False
        tokens = self.server.node.tokens(answer.texts, self.server.tokenizer)
        if tokens > budget:
            self.say("fits", f"{where}: {tokens} tokens, _meta says {answer.meta.get('tokens')}")
        told = (answer.meta.get("tokens"), answer.meta.get("tokenizer"))
        if told != (tokens, self.server.tokenizer):
            self.say("counts", f"{where}: {tokens} tokens, _meta says {told}")
        size = sum(len(text.encode()) for text in answer.texts)
        if answer.meta.get("bytes") != size:
            self.say("counts", f"{where}: {size} bytes, _meta says {answer.meta.get('bytes')}")
        return True

    def rows(self, answer, where):
        """The rows of an answer."""
        document = answer.texts[0]
        try:
            if self.form == "json":
                return rows_of(json.loads(document))
            if self.form == "stc":
                return rows_of(stc.loads(document))
        except ValueError as error:
            self.say("is read", f"{where}: {error}")
            return []
        read = self.server.node.ask(toon=document)
        if read["problem"]:
            self.say("is read", f"{where}: {read['problem']}\n{document[:300]}")
        return rows_of(read["value"])

    async def chunks(self, budget, every=True):
        """The chunks that there are with a budget, by their numbers.

        None when it is too small, which the second value then says; without
        `every` the first two and the last.
        """
        where = f"budget={budget}"
        first = await self.server.call(
            self.tool, self.arguments, budget=budget, format=self.form)
        if first.needed is not None:
            if first.needed <= budget:
                self.say("is true", f"{where} is too small, needed={first.needed}")
            enough = await self.server.call(
                self.tool, self.arguments, budget=first.needed, format=self.form)
            if enough.error:
                self.say("is true", f"{where}: needed={first.needed}, with it: {enough.error}")
            self.cost(enough, first.needed, f"budget={first.needed}")
        if not self.cost(first, budget, where):
            return {}, first.needed
        count, answers = first.meta["chunks"], {1: first}
        for chunk in range(2, count + 1):
            if not every and 2 < chunk < count:
                continue
            at = f"{where} chunk={chunk}"
            answer = await self.server.call(
                self.tool, self.arguments, budget=budget, format=self.form, chunk=chunk)
            if not self.cost(answer, budget, at):
                self.say("answers", f"{at} of {count}: {answer.error}")
                break
            if (answer.meta["chunk"], answer.meta["chunks"]) != (chunk, count):
                self.say("rows", f"{at} of {count} is told as "
                                 f"{answer.meta['chunk']} of {answer.meta['chunks']}")
            answers[chunk] = answer
        last = max(answers)
        again = await self.server.call(
            self.tool, self.arguments, budget=budget, format=self.form, chunk=last)
        if again.wire != answers[last].wire:
            self.say("same", f"{where} chunk={last}: {again.texts} {answers[last].texts}")
        return answers, None

    def judge(self, name, *whats):
        """One check for each of `whats`, and for whatever else was found."""
        words = {
            "answers": "is an answer", "fits": "fits its budget",
            "counts": "tells its tokens and bytes", "is read": "is read by others",
            "rows": "has each row once", "same": "is the same again",
            "is true": "needs what it says it needs", "known": "fits with its hash",
            "late": "fits when its first chunk was never asked for",
            "pages": "is all of the text in pages",
        }
        for what in dict.fromkeys([*whats, *self.wrong]):
            wrong = self.wrong.get(what, [])
            checks.that(f"{name}, {self.form}: {words[what]}", not wrong,
                        f"{len(wrong)} times\n" + "\n".join(wrong[:6]))


async def walk(server, name, tool, arguments, expect=None, budgets=None, every=None):
    """Makes one call with every budget, in every format.

    `expect` are the rows that there must be of a table: its name, how many.
    `every` are the budgets with which all chunks are asked for.
    """
    late = await server.call(tool, arguments, budget=300, format="json", chunk=2)
    for form in FORMATS:
        found = Findings(server, tool, arguments, form)
        if form == "json" and not late.error:
            tokens = server.node.tokens(late.texts, server.tokenizer)
            if tokens > 300 or tokens != late.meta.get("tokens"):
                found.say("late", f"budget=300 chunk=2: {tokens} tokens, "
                                  f"_meta says {late.meta.get('tokens')}\n{late.texts[-1]}")
        whole = [row for answer in (await found.chunks(MOST))[0].values()
                 for row in found.rows(answer, f"budget={MOST}")]
        cells = collections.defaultdict(list)
        for key, row in whole:
            cells[key].append(row)
        want = collections.Counter(key for key, _ in whole)
        twice = [key for key, count in want.items() if count > 1 and key[0] not in REPEATED]
        if twice or not want:
            found.say("rows", f"budget={MOST}: {len(want)} rows, twice {twice}")
        for table, count in (expect or {}).items():
            got = sum(key[0] == table for key in want)
            if got != count:
                found.say("rows", f"budget={MOST}: {got} rows of {table}, there are {count}")
        enough = None
        for budget in budgets or BUDGETS:
            all_of_them = budget in (every or EVERY_CHUNK)
            answers, needed = await found.chunks(budget, all_of_them)
            if needed is not None:
                if enough is not None:
                    found.say("is true", f"needed={needed} with {budget}, {enough} was enough")
                continue
            enough = enough or budget
            got = collections.Counter()
            for number, answer in answers.items():
                for key, row in found.rows(answer, f"budget={budget} chunk={number}"):
                    got[key] += 1
                    if not any(same_cells(row, other) for other in cells[key]):
                        found.say("rows", f"budget={budget} chunk={number}: {key} is {row}, "
                                          f"the whole has {cells[key]}")
            complete = not answers or len(answers) == answers[1].meta["chunks"]
            if got - want or (complete and got != want):
                lost, more = want - got, got - want
                found.say("rows", f"budget={budget}: lost {list(lost)[:5]}, more {list(more)[:5]}")
        for budget in {1200, 4000}.intersection(budgets or BUDGETS):
            hashed = await server.call(tool, arguments, budget=budget, format=form, known="?")
            if hashed.error:
                continue
            tokens = server.node.tokens(hashed.texts, server.tokenizer)
            if tokens > budget or tokens != hashed.meta.get("tokens"):
                found.say("known", f"budget={budget} known=?: {tokens} tokens, "
                                   f"_meta says {hashed.meta.get('tokens')}")
        found.judge(name, "answers", "fits", "counts", "is read", "rows", "same", "is true",
                    "known", *(["late"] if form == "json" and not late.error else []))


# output_read -------------------------------------------------------------------


def page_of(answer, form):
    """What a page of an output says of itself, and its text."""
    document = answer.texts[0]
    if form != "toon":
        told = json.loads(document) if form == "json" else stc.loads(document)
        return told, told["text"]
    told = {name: int(number) for name, number in
            re.findall(r"\b(lines|from|to|next): (\d+)", document.split("text: ", 1)[0])}
    # The block begins with a line break, and then has a line of its fence at either end.
    return told, "\n".join(answer.texts[1].split("\n")[2:-1])


async def pages(server, name, link, most=None):
    """Reads an output to its end, or its first pages, with every budget."""
    read = await server.session.read_resource(link)
    whole = read.contents[0].text.replace("\n", "")
    ident = link.rsplit("/", 1)[1]
    for form in FORMATS:
        found = Findings(server, "output_read", {"id": ident}, form)
        for budget in BUDGETS:
            where, offset, text, count = f"budget={budget}", 1, "", 0
            while offset is not None and (most is None or count < most):
                at = f"{where} offset={offset}"
                ask = {"id": ident, "offset": offset, "format": form}
                answer = await server.call("output_read", ask, budget=budget)
                if answer.needed is not None:
                    if answer.needed <= budget:
                        found.say("is true", f"{at} is too small, needed={answer.needed}")
                    enough = answer.needed
                    answer = await server.call("output_read", ask, budget=enough)
                    if answer.error:
                        found.say("is true", f"{at}: needed={enough}, with it: {answer.error}")
                    found.cost(answer, enough, f"{at} with needed={enough}")
                else:
                    found.cost(answer, budget, at)
                if answer.error:
                    break
                if count == 0:
                    again = await server.call("output_read", ask, budget=answer.meta["tokens"]
                                              if answer.meta["tokens"] > budget else budget)
                    if again.wire != answer.wire and answer.meta["tokens"] <= budget:
                        found.say("same", at)
                told, page = page_of(answer, form)
                if told["from"] != offset or told.get("next", told["to"] + 1) != told["to"] + 1:
                    found.say("pages", f"{at}: {told}")
                text += page.replace("\n", "")
                offset, count = told.get("next"), count + 1
            if not (whole == text if most is None or offset is None else whole.startswith(text)):
                differs = next((n for n, (a, b) in enumerate(zip(text, whole)) if a != b),
                               min(len(text), len(whole)))
                around = slice(max(0, differs - 40), differs + 80)
                found.say("pages", f"{where}: at {differs} of {len(whole)}\n"
                                   f"got  {text[around]!r}\nwant {whole[around]!r}")
        found.judge(name, "answers", "fits", "counts", "pages", "same", "is true")


# The mailboxes -----------------------------------------------------------------


async def ids(server, by, **more):
    """The ids of all messages or threads of a search."""
    answer = await server.need("mail_search", {"by": by, "limit": 100, "fields": ["id"], **more},
                               budget=MOST, format="json")
    return [row["id"] for row in json.loads(answer.texts[0])[by + "s"]]


async def sample(server):
    """The calls over the sample mailboxes and calendars."""
    messages, threads = await ids(server, "message"), await ids(server, "thread")
    read = messages[:10]
    await walk(server, "sample, search", "mail_search", {"limit": 100}, {"messages": len(messages)})
    await walk(server, "sample, search threads", "mail_search",
               {"by": "thread", "limit": 100, "detail": "full"}, {"threads": len(threads)})
    await walk(server, "sample, read", "mail_read", {"ids": read},
               {"messages": len(read), "bodies": len(read)})
    await walk(server, "sample, folders", "lookup", {"kind": "folders"})
    await walk(server, "sample, contacts", "lookup", {"kind": "contacts", "q": "an"})
    await walk(server, "sample, events", "calendar_search",
               {"from": "2026-11-10", "to": "2026-12-10", "detail": "full", "limit": 60})
    await walk(server, "sample, brief", "brief", {"from": "2026-11-13", "to": "2026-11-17"})
    shortened = await server.need("mail_read", {"ids": messages[:5]}, budget=600)
    await pages(server, "sample, output", shortened.link)


async def written(server, count):
    """The calls over the folder of messages."""
    messages = await ids(server, "message")
    checks.same("messages, all are there", len(messages), count)
    long = (await ids(server, "message", q='subject:"The long message"'))[0]
    thread = (await ids(server, "thread", q="subject:Vesper"))[0]
    singles = messages[-len(budget_messages.SINGLES):]
    await walk(server, "messages, search", "mail_search",
               {"limit": 100, "fields": ["id", "from", "subject", "snippet", "cc"]},
               {"messages": count})
    await walk(server, "messages, read", "mail_read", {"ids": singles},
               {"messages": len(singles), "bodies": len(singles)}, every={2300})
    await walk(server, "messages, thread of 60", "mail_read", {"ids": [thread]})
    await walk(server, "messages, 300 KB", "mail_read", {"ids": [long]},
               {"messages": 1, "bodies": 1}, [300, 8000])
    await walk(server, "messages, brief", "brief", {"from": "2026-02-03", "to": "2026-02-08"})
    shortened = await server.need("mail_read", {"ids": singles}, budget=600)
    await pages(server, "messages, output", shortened.link, most=8)


async def other(server):
    """The calls that are counted in the other vocabulary."""
    messages = await ids(server, "message")
    await walk(server, "cl100k, search", "mail_search", {"limit": 100},
               {"messages": len(messages)}, [300, 1200, 4000])
    await walk(server, "cl100k, read", "mail_read", {"ids": messages[:25]},
               {"messages": 25}, [600, 2300, 8000], {2300})


async def run(binary):
    node = npm_partners.Node()
    folder = interop.temp_folder("messages")
    count = budget_messages.write(folder)

    async def part(name, calls, *options, tokenizer="o200k_base"):
        with checks.section(name):
            daysheet = interop.Daysheet(binary, tokenizer=tokenizer.removesuffix("_base"), stats="always")
            async with serving(daysheet, node, *options, tokenizer=tokenizer) as server:
                await calls(server)

    # The servers work while the others are waited for.
    await asyncio.gather(
        part("sample", sample),
        part("messages", lambda server: written(server, count), "--mail", folder),
        part("cl100k", other, tokenizer="cl100k_base"),
    )


def main():
    with checks.section("the calls"):
        asyncio.run(run(sys.argv[1]))
    checks.close()


if __name__ == "__main__":
    main()
