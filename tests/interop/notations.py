"""Interop part: STC, between Daysheet and the decoders of docs/reference/stc/.

    notations.py BINARY

100,000 random JSON values become STC by `daysheet convert`, and docs/reference/stc/stc.py and
docs/reference/stc/stc.ts (run by Node) read them back. What is compared keeps the lexemes of
numbers, and the order and number of members. Then Daysheet reads STC that a writer
of this file makes, spelled as the definition's own encoder spells it; and texts with
something wrong in them are refused by all three readers or by none.
"""

import json
import os
import random
import shutil
import subprocess
import sys

import interop

DOCS = os.path.join(interop.HERE, "..", "..", "docs", "reference", "stc")
sys.path.insert(0, DOCS)
import stc  # noqa: E402

checks = interop.Checks("notations")

VALUES, BATCH, ALONE, WRONG = 100_000, 1_000, 100, 300

# One text of STC per line, as JSON, in; the value or an error out.
JUDGE = """
import { parse } from %s;
import { createInterface } from "node:readline";
const options = { number: (n) => ({ n }), object: (o) => ({ o }) };
for await (const line of createInterface({ input: process.stdin })) {
  let said;
  try { said = { value: parse(JSON.parse(line), options) }; }
  catch (error) { said = { error: error.message }; }
  console.log(JSON.stringify(said));
}
"""

PIECES = ["a", "b", "name", "x_1", " ", ",", "/", " / ", ", a: ", ": ", ":", "{", "}", "[", "]",
          "[2]{a,b}: ", "[1]: ", '"', "\\", "\\u0041", "\n", "\t", "\0", "\x1f", "\x7f", "\x85",
          "\u2028", "\ufeff", "é", "日本", "👩‍👩‍👧", "true", "null", "0", "-", "1e400", "18h05"]


class Values:
    """Random JSON texts, and the values that they are."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def text(self):
        pieces = self.random.choices(PIECES, k=self.random.randrange(4))
        return json.dumps("".join(pieces), ensure_ascii=self.random.random() < 0.3)

    def key(self):
        return json.dumps(self.random.choice(["a", "b", "rows", "x_1", "_", "A9"])) \
            if self.random.random() < 0.7 else self.text()

    def number(self):
        digits = str(self.random.randrange(10 ** self.random.choice([1, 2, 40])))
        return "".join([self.random.choice(["", "-"]), digits,
                        self.random.choice(["", "", f".{self.random.randrange(1000):03}"]),
                        self.random.choice(["", "", f"{self.random.choice(['e', 'E+', 'e-'])}{self.random.randrange(500)}"])])

    def primitive(self, kind=None):
        kind = kind or self.random.choice("nbtttt0")
        return {"n": self.number, "t": self.text, "0": lambda: "null",
                "b": lambda: self.random.choice(["true", "false"])}[kind]()

    def table(self):
        keys = [self.key() for _ in range(self.random.randrange(1, 4))]
        rows = ["{" + ",".join(f"{key}:{self.primitive()}" for key in keys) + "}"
                for _ in range(self.random.randrange(1, 4))]
        if self.random.random() < 0.1:
            rows.append(self.value(1))
        return "[" + ", ".join(rows) + "]"

    def value(self, depth=3):
        shape = self.random.randrange(8) if depth else 0
        count = range(self.random.randrange(4))
        if shape < 2:
            return self.primitive()
        if shape == 2:
            kind = self.random.choice(["n", "b", "t", "0", None])
            return "[" + ",".join(self.primitive(kind) for _ in count) + "]"
        if shape == 3:
            return self.table()
        if shape == 4:
            return "[" + ",".join(self.value(depth - 1) for _ in count) + "]"
        return "{" + ", ".join(f"{self.key()}: {self.value(depth - 1)}" for _ in count) + "}"


def number(lexeme):
    return {"n": lexeme}


def pairs(found):
    return {"o": [list(pair) for pair in found]}


def meant(text):
    """What a JSON text says, to the last digit."""
    return json.loads(text, parse_int=number, parse_float=number, object_pairs_hook=pairs)


def written(value, key=False):
    """STC as the definition's own encoder spells it: tables stand behind the colon."""
    if isinstance(value, dict) and "n" in value:
        return value["n"]
    if isinstance(value, dict):
        members = []
        for name, member in value["o"]:
            name = name if stc.NAME.fullmatch(name) else json.dumps(name, ensure_ascii=False)
            kinds = {type(item) for item in member} if isinstance(member, list) else set()
            if len(kinds) == 1 and kinds <= {str, bool}:
                members.append(f"{name}[{len(member)}]: " + ",".join(map(written, member)))
            else:
                members.append(f"{name}: {written(member)}")
        return "{" + ", ".join(members) + "}"
    if not isinstance(value, list):
        return json.dumps(value, ensure_ascii=False)
    rows = [row.get("o") if isinstance(row, dict) else None for row in value]
    keys = [[name for name, _ in row or []] for row in rows]
    flat = all(not isinstance(cell, list) and not (isinstance(cell, dict) and "o" in cell)
               for row in rows for _, cell in row or [])
    if len(value) > 1 and keys[0] and all(one == keys[0] for one in keys) and flat:
        heads = ",".join(json.dumps(name, ensure_ascii=False) for name in keys[0])
        rows = [",".join(written(cell) for _, cell in row) for row in rows]
        return f"[{len(rows)}]{{{heads}}}: " + " / ".join(rows)
    return "[" + ", ".join(map(written, value)) + "]"


def damaged(values, text):
    """A text with a piece of it gone or another one in it; still in braces."""
    at = values.random.randrange(1, len(text))
    return text[:at] + values.random.choice(["", *PIECES]) + text[at + values.random.randrange(3):]


def judged_by_python(text):
    try:
        return {"value": stc.loads(text, number, pairs)}
    except ValueError as error:
        return {"error": str(error)}


def main():
    daysheet = interop.Daysheet(sys.argv[1])
    values = Values(22)
    node = shutil.which("node")

    def convert(text, *options):
        done = daysheet.run("convert", "-", *options, stdin=text)
        return done.stdout.removesuffix("\n") if done.returncode == 0 else None

    def judged_by_node(texts):
        script = JUDGE % json.dumps("file://" + os.path.abspath(os.path.join(DOCS, "stc.ts")))
        done = subprocess.run(
            [node, "--no-warnings", "--input-type=module", "--eval", script],
            input="".join(json.dumps(text) + "\n" for text in texts), capture_output=True,
            text=True, encoding="utf-8", timeout=interop.PATIENCE)
        if done.returncode != 0:
            raise RuntimeError(done.stderr)
        return [json.loads(line) for line in done.stdout.split("\n") if line]

    with checks.section("100,000 values"):
        lists = [[values.value() for _ in range(BATCH)] for _ in range(VALUES // BATCH)]
        texts = ["[" + ", ".join(batch) + "]" for batch in lists]
        texts += [values.value() for _ in range(ALONE)]
        wanted = [{"value": meant(text)} for text in texts]
        ours = [convert(text, "--to", "stc", "--from", "json") for text in texts]
        for mark in ["]{", " / ", ": {", ": ["]:
            checks.that(f"there are enough of `{mark}`", sum(map(str.count, ours, [mark] * len(ours))) > 5_000)
        checks.that("docs/reference/stc/stc.py reads them", list(map(judged_by_python, ours)) == wanted)
        checks.that("docs/reference/stc/stc.ts reads them", judged_by_node(ours) == wanted)
        back = [meant(convert(text, "--to", "json")) for text in ours]
        checks.that("Daysheet reads them", [{"value": value} for value in back] == wanted)
        two = [convert("{\"all\": %s, \"a b\": \"x y\"}" % text, "--to", "stc2") for text in texts]
        checks.that("version 2 is another text", all(text.startswith("all") for text in two))
        back = [meant(convert(text, "--to", "json", "--from", "stc")) for text in two]
        checks.that("Daysheet reads version 2",
                    [{"value": value["o"][0][1]} for value in back] == wanted)

    with checks.section("the definition's spelling"):
        theirs = [written(judged["value"]) for judged in wanted]
        back = [meant(convert(text, "--to", "json", "--from", "stc")) for text in theirs]
        checks.that("Daysheet reads it", [{"value": value} for value in back] == wanted)
        checks.that("docs/reference/stc/stc.py reads it", list(map(judged_by_python, theirs)) == wanted)

    with checks.section("what is wrong"):
        good = [convert("{\"a\": %s}" % values.value(), "--to", "stc") for _ in range(WRONG)]
        bad = [damaged(values, text) for text in good]
        python, typescript = list(map(judged_by_python, bad)), judged_by_node(bad)
        ours = [convert(text, "--to", "json", "--from", "stc") for text in bad]
        verdicts = [["error" in one, "error" in other, text is None]
                    for one, other, text in zip(python, typescript, ours)]
        differ = [text for text, verdict in zip(bad, verdicts) if len(set(verdict)) > 1]
        checks.same("all three refuse it, or none", differ, [])
        refused = sum(map(all, verdicts))
        checks.that(f"{refused} of {WRONG} texts are refused", WRONG // 3 < refused < WRONG)
    checks.close()


if __name__ == "__main__":
    main()
