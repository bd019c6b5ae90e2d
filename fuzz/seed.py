"""Writes what each target of the fuzzer starts from: the repository's samples, the texts in its
tests, and as a dictionary the words that the code itself looks for.

    python3 fuzz/seed.py [FOLDER]    # FOLDER/TARGET/ and FOLDER/TARGET.dict; fuzz/corpus if left out
"""

import hashlib
import io
import re
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "fuzz/corpus")
# Files of samples, and the test code whose texts are samples too.
TESTS = {
    "mime": ["tests/core/compose*", "tests/core/text.rs", "tests/extract/messages.rs"],
    "html": ["tests/core/hiding*", "tests/core/text.rs", "tests/core/deceiving.rs"],
    "css": ["tests/core/hiding*"],
    "files": ["tests/extract"],
    "toon": [],
    "stc": ["tests/core/stc*"],
    "query": ["tests/core/times.rs", "tests/core/text.rs", "tests/adapters/query.rs", "tests/common/query_cases.rs"],
    "ics": ["tests/core/ical*", "tests/extract/rows.rs"],
    "addresses": ["tests/core/text.rs", "tests/core/compose*"],
}
# The code whose words are the dictionary.
WORDS = {
    "mime": ["src/core/compose", "src/core/text"],
    "html": ["src/core/text", "src/core/text/html"],
    "css": ["src/core/text/html/css"],
    "files": ["src/extract"],
    "toon": ["src/core/encode"],
    "stc": ["src/core/encode"],
    "addresses": ["src/core/compose", "src/core/text/address.rs"],
    "query": ["src/core/query", "src/core/query.rs", "src/core/time_parse"],
    "ics": ["src/core/ical", "src/core/recurrence"],
}
# How `fuzz_targets/files.rs` numbers the names it gives, and what it packs itself.
NAMES = ["", ".csv", ".tsv", ".html", ".eml", ".ics", ".vcf", ".txt", ".xml", ".xls", ".zip", ".pdf"]
PACKED = 15


def files(patterns):
    for pattern in patterns:
        for path in sorted(ROOT.glob(pattern)):
            yield from sorted(path.rglob("*.rs")) if path.is_dir() else [path]


def literals(path):
    """The texts in a file of Rust."""
    source = path.read_text()
    for raw, text in re.findall(r'r#+"(.*?)"#|(?<!\')"((?:[^"\\]|\\.)*)"', source, re.S):
        text = re.sub(r"\\\n\s*", "", text)
        escapes = {"n": "\n", "r": "\r", "t": "\t", "0": "\0"}
        text = re.sub(r"\\u\{([0-9a-fA-F]+)\}", lambda m: chr(int(m[1], 16)), text)
        text = re.sub(r"\\x([0-9a-fA-F]{2})", lambda m: chr(int(m[1], 16)), text)
        yield raw or re.sub(r"\\(.)", lambda m: escapes.get(m[1], m[1]), text)


def messages():
    for path in ["providers/sandbox/sample.mbox", "providers/sandbox/work.mbox"]:
        yield from re.split(rb"^From .*\n", (ROOT / path).read_bytes(), flags=re.M)[1:]


def tricks():
    """Mail of the corpus of hidden text: each case is a heading, what is expected, and its HTML."""
    cases = (ROOT / "tests/core/hiding/cases.txt").read_text().split("\n\n")
    return [case.split("\n", 2)[-1] for case in cases]


def attachments():
    for path in sorted((ROOT / "tests/extract/cases").rglob("*")):
        if path.suffix in (".txt", ".py") or path.is_dir():
            continue
        data = path.read_bytes()
        name = NAMES.index(path.suffix) if path.suffix in NAMES else 0
        yield bytes([name]) + data
        if zipfile.is_zipfile(io.BytesIO(data)):
            archive = zipfile.ZipFile(io.BytesIO(data))
            members = [(one, archive.read(one)) for one in archive.namelist()]
            texts = [(one, text) for one, text in members if b"\xff" not in text and len(text) < 20000]
            joined = (part for one, text in texts for part in (one.encode(), text))
            yield bytes([PACKED]) + b"\xff".join(joined)


def samples(target):
    if target in ("mime", "files"):
        head = b"\x04" if target == "files" else b""
        yield from (head + message for message in messages())
    if target in ("html", "css"):
        styles = re.compile(r"<style[^>]*>(.*?)</style>|style=\"(.*?)\"|style='(.*?)'", re.S)
        for trick in [*tricks(), *(text for path in files(TESTS[target]) for text in literals(path))]:
            found = ["".join(match) for match in styles.findall(trick)]
            yield from [trick] if target == "html" else found
    if target == "files":
        yield from attachments()
        for path in files(TESTS[target]):
            for text in literals(path):
                yield from (bytes([name]) + text.encode() for name in range(9) if len(text) > 9)
        return
    if target == "ics":
        for path in sorted((ROOT / "providers/sandbox/samples").rglob("*.ics")):
            yield path.read_text()
        rules = re.findall(r"^(?:RRULE|EXDATE|RDATE).*", (ROOT / "tests/core/recurrence/cases.txt").read_text(), re.M)
        for rule in rules:
            yield f"BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nUID:1\r\nDTSTART:20261102T090000\r\n{rule}\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
    if target not in ("html", "css"):
        for path in files(TESTS[target]):
            yield from literals(path) if path.suffix == ".rs" else path.read_text().splitlines()


for target in TESTS:
    folder = FOLDER / target
    folder.mkdir(parents=True, exist_ok=True)
    for sample in samples(target):
        data = sample if isinstance(sample, bytes) else sample.encode()
        if 2 <= len(data) <= 200_000:
            (folder / hashlib.sha1(data).hexdigest()).write_bytes(data)
    texts = (text for path in files(WORDS[target]) for text in literals(path))
    words = sorted({text for text in texts if re.fullmatch(r"[\x20-\x7e]{2,24}", text)})
    lines = ('"' + re.sub(r'(["\\])', r"\\\1", word) + '"\n' for word in words)
    (FOLDER / f"{target}.dict").write_text("".join(lines))
    print(f"{target}: {len(list(folder.iterdir()))} samples, {len(words)} words")
