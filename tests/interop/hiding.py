"""Interop part: what Chromium hides, and what it shows.

    hiding.py BINARY
    hiding.py --write

Every page of hiding_cases.py is drawn by Chromium, twice, with two words: where a pixel
changes, the word is seen. `tests/core/hiding/cases.txt` holds the pages and what came of
them, for a test that needs no browser; this part checks that the file is what the cases make
and what Chromium draws. With `--write` the file is written anew.
"""

import json
import os
import shutil
import subprocess
import sys

import hiding_cases
import interop

checks = interop.Checks("hiding")
FILE = os.path.join(interop.HERE, "..", "core", "hiding", "cases.txt")

# A word is seen from so many pixels on; between these two nothing was ever measured.
SEEN = 40


def kind(name, pixels):
    """Whether the word of a case is seen."""
    if any(name == one or name.startswith(one + "/") for one in hiding_cases.EITHER):
        return "either"
    return "shown" if pixels >= SEEN else "hidden"


def drawn(cases):
    """What Chromium makes of each page, by name."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if not chromium:
        raise RuntimeError("chromium is not installed")
    folder = interop.temp_folder("hiding")
    pages = os.path.join(folder, "pages.json")
    with open(pages, "w", encoding="utf-8") as file:
        json.dump(cases, file)
    # Modules are looked for beside the script.
    script = os.path.join(folder, "hiding.mjs")
    shutil.copy(os.path.join(interop.HERE, "hiding.mjs"), script)
    packages = os.environ["INTEROP_PACKAGES"]
    os.symlink(os.path.join(packages, "node_modules"), os.path.join(folder, "node_modules"))
    settings = json.dumps({"chromium": chromium, "pages": pages})
    done = subprocess.run(
        ["node", script, settings], capture_output=True, text=True, timeout=600, check=False
    )
    if done.returncode:
        raise RuntimeError(done.stderr[-1500:])
    return {one["name"]: one for one in map(json.loads, done.stdout.splitlines())}


def written():
    """The cases of the file: name, what was drawn, page."""
    with open(FILE, encoding="utf-8") as file:
        for block in file.read().split("\n\n"):
            if block.strip():
                name, saw, page = block.split("\n", 2)
                yield name.removeprefix("# "), saw.removeprefix("> "), page


def main():
    """All checks, or the file."""
    cases = list(hiding_cases.cases())
    if sys.argv[1:] == ["--write"]:
        seen = drawn(cases)
        with open(FILE, "w", encoding="utf-8") as file:
            for name, page in cases:
                one = seen[name]
                inner = "yes" if one["inner"] else "no"
                saw = f"> {kind(name, one['pixels'])} pixels={one['pixels']} inner={inner}"
                file.write(f"# {name}\n{saw}\n{page}\n\n")
        return
    with checks.section("hiding"):
        before = list(written())
        checks.same("the file holds the cases", [(name, page) for name, _, page in before], cases)
        seen = drawn(cases)
        wrong = [
            f"{name}: {saw}, and Chromium draws {seen[name]['pixels']} pixels"
            for name, saw, _ in before
            if saw.split(" ")[0] != kind(name, seen[name]["pixels"])
        ]
        checks.that(f"Chromium draws {len(cases)} pages as the file says", not wrong, "\n".join(wrong))
        near = [name for name, one in seen.items() if 0 < one["pixels"] < SEEN]
        checks.that("no word is half seen", not near, near)
    checks.close()


main()
