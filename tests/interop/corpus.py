"""Interop part: real mail, read by Daysheet and by programs of others.

    corpus.py BINARY

`DAYSHEET_CORPUS` names a folder of `.eml` files, which are nobody's to publish; without it this
part is not run. The sandbox serves the mail. Python's `email` takes each message
apart, BeautifulSoup reads its HTML, and each word that they see has to be in the answer of
`mail_read`: at least 99.9 % of a message's words in the median, and 99 % at the fifth percentile
(98 % of messages with HTML alone). What BeautifulSoup cannot know, hidden text, is not asked for:
words of elements whose own style hides them, and of those below, are left out on both sides.
"""

import asyncio
import email
import email.policy
import json
import os
import pathlib
import re
import statistics
import sys
import time
import warnings

import bs4
import mcp

import interop

checks = interop.Checks("corpus")
warnings.filterwarnings("ignore", category=bs4.XMLParsedAsHTMLWarning)

# How many messages one call reads, and the seconds that it may take for each.
AT_ONCE = 10
LONGEST = 2

HIDING = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*hidden|mso-hide|opacity\s*:\s*0(?![.\d]*[1-9])"
    r"|font-size\s*:\s*[01](px|pt)?\s*(;|!|$)|max-height\s*:\s*0|(?<![-\w])height\s*:\s*0",
    re.I,
)
UNSEEN = re.compile("[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
                    "\u3164\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff]")


# Text that Daysheet names instead of showing it: PGP's armour, and files in the text.
ARMOUR = re.compile(
    r"^(- )?-----BEGIN PGP (?!SIGNED)(.*)-----$.*?^(- )?-----END PGP \2-----$|^-----BEGIN PGP SIGNED MESSAGE-----$"
    r"(\nHash: .*$)?|^begin [0-7]{3,4} .*?^end$|(^[A-Za-z0-9+/=]{40,}\s*?$){30,}", re.M | re.S)
BLOCKS = """address article aside blockquote body br caption center dd details dialog dir div dl dt fieldset
    figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr img input isindex legend li main menu nav ol option
    p pre section select summary table tbody td textarea tfoot th thead tr ul button object""".split()
# Scripts without spaces are compared by characters.
UNSPACED = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
WORD = re.compile(rf"[{UNSPACED}]|[^\W{UNSPACED}]+")


def words(text):
    """The words of a text, in lower case."""
    return WORD.findall(UNSEEN.sub("", text).lower())


def seen(html):
    """The text of HTML that BeautifulSoup sees."""
    # As in browsers, a comment without an end lasts to the end.
    soup = bs4.BeautifulSoup(re.sub(r"<!--(?!.*?-->).*", "", html, flags=re.S), "html.parser")
    for element in soup(["head", "script", "style", "title", "template", "noscript"]):
        element.decompose()
    for element in soup.find_all(style=HIDING) + soup.find_all(hidden=True):
        if not element.decomposed:
            element.decompose()
    # Of a list to choose from, the choice is seen.
    for select in soup("select"):
        options = select("option")
        chosen = [option for option in options if option.has_attr("selected")] or options
        for option in options:
            if option is not chosen[0] and not option.decomposed:
                option.decompose()
    for element in soup(BLOCKS):
        element.insert_before("\n")
        element.append("\n")
        element.insert_after("\n")
    kinds = (bs4.Comment, bs4.Doctype, bs4.ProcessingInstruction, bs4.Declaration, bs4.CData)
    texts = [text for text in soup.find_all(string=True) if not isinstance(text, kinds)]
    return "".join(texts)


def parts(message):
    """The parts of a message, but for those of messages in it."""
    yield message
    if message.get_content_maintype() == "multipart":
        for part in message.iter_parts():
            yield from parts(part)


def expected(message):
    """The words of a message, and whether it has HTML alone; HTML is taken before plain text."""
    html, plain = [], []
    for part in parts(message):
        if part.is_multipart() or part.get_content_disposition() == "attachment" or part.get_filename():
            continue
        kind = part.get_content_type()
        if kind not in ("text/html", "text/plain"):
            continue
        try:
            text = part.get_content()
        except (LookupError, ValueError):
            return [], False
        (html if kind == "text/html" else plain).append(text)
    if html:
        return words(" ".join(seen(text) for text in html)), not plain
    return words(ARMOUR.sub("", "\n".join(plain).replace("\r\n", "\n"))), False


def named(raw, number):
    """A message with its number as the subject."""
    raw = re.sub(rb"\A(\s*\n)?(From .*\n)?", b"", raw)
    head, gap, body = re.split(rb"(\r?\n\r?\n|\Z)", raw, maxsplit=1)
    head = re.sub(rb"^Subject:", b"X-Was-Subject:", head, flags=re.I | re.M)
    return f"Subject: message {number}\r\n".encode() + head + gap + body


async def read(daysheet, folder):
    """The text of each message, by its number."""
    parameters = mcp.StdioServerParameters(
        command=daysheet.binary, args=["serve", "--sandbox", "--mail", str(folder)], env=daysheet.env)
    texts, slowest = {}, 0
    async with mcp.Client(parameters, mode="auto", read_timeout_seconds=interop.PATIENCE) as session:

        async def call(tool, **arguments):
            answer = await session.call_tool(tool, {**arguments, "format": "json", "budget": 100000})
            return json.loads(answer.content[0].text)

        ids, cursor = {}, None
        while True:
            more = {"cursor": cursor} if cursor else {"limit": 100, "fields": ["id", "subject"], "q": "in:anywhere"}
            found = await call("mail_search", **more)
            for row in found["messages"]:
                if number := re.fullmatch(r"message (\d+)", row["subject"]):
                    ids[int(number[1])] = row["id"]
            cursor = found.get("next")
            if not cursor:
                break
        numbers = sorted(ids)
        todo = [numbers[at : at + AT_ONCE] for at in range(0, len(numbers), AT_ONCE)]
        while todo:
            some = todo.pop()
            start = time.monotonic()
            answer = await call("mail_read", ids=[ids[number] for number in some], quoted=True, signature=True)
            slowest = max(slowest, (time.monotonic() - start) / len(some))
            bodies = {body["id"]: body for body in answer["bodies"]}
            for number in some:
                body = bodies.get(ids[number], {})
                if body.get("shown", 0) == body.get("chars", 0):
                    texts[number] = body.get("text") or ""
                elif len(some) > 1:
                    todo.append([number])
                else:
                    print(f"      message {number} is too long for one answer")
    return texts, slowest


def main():
    corpus = os.environ.get("DAYSHEET_CORPUS")
    if not corpus:
        sys.exit("no corpus: DAYSHEET_CORPUS is not set")
    files = sorted(path for path in pathlib.Path(corpus).rglob("*") if path.is_file())
    daysheet = interop.Daysheet(sys.argv[1])
    folder = pathlib.Path(interop.temp_folder("corpus"))
    messages = {}
    for number, path in enumerate(files):
        raw = named(path.read_bytes(), number)
        try:
            want, alone = expected(email.message_from_bytes(raw, policy=email.policy.default))
        except Exception:  # noqa: BLE001: Python's own parser gives up on some
            continue
        if want:
            messages[number] = (path.name, want, alone)
            (folder / f"{number}.eml").write_bytes(raw)
    texts, slowest = asyncio.run(read(daysheet, folder))
    recall = {True: [], False: []}
    for number, text in texts.items():
        name, want, alone = messages[number]
        have = set(words(text))
        missing = [word for word in want if word not in have]
        share = 1 - len(missing) / len(want)
        recall[alone].append(share)
        if share < 0.99:
            print(f"      {name}: {share:.1%} of {len(want)} words; missing {' '.join(missing[:12])}")
    shares = recall[True] + recall[False]
    low = statistics.quantiles(shares, n=20)[0]
    print(f"      {len(shares)} messages, median {statistics.median(shares):.2%}, fifth percentile {low:.2%}, "
          f"HTML alone {statistics.mean(recall[True] or [1]):.2%}, slowest {slowest:.2f} s")
    checks.that("every message is found", len(texts) > 0.99 * len(messages), len(messages))
    checks.that("the median of recall is at least 99.9 %", statistics.median(shares) >= 0.999)
    checks.that("the fifth percentile is at least 99 %", low >= 0.99, low)
    checks.that("HTML alone has at least 98 %", statistics.mean(recall[True] or [1]) >= 0.98)
    checks.that("no message takes 2 seconds", slowest < LONGEST, slowest)
    checks.close()


if __name__ == "__main__":
    main()
