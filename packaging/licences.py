"""The licences of all crates that a program contains, for THIRD-PARTY-LICENSES.txt.

Each crate ships its own licence files, which say more than the names of the licences: copyright
lines and notices. They are printed unchanged, a text that several crates share once. Which
licences are allowed is checked by cargo-deny (deny.toml).
"""

import json
import re
import subprocess
from collections import defaultdict
from pathlib import Path

# The names by which crates call these files.
FILES = re.compile(r"(?i)^(licen[cs]e|copying|copyright|notice|unlicense)([._-].*)?$")
RULE = "=" * 80


def linked_crates(root, triple):
    """The packages linked into the program for a target, by cargo's own resolution."""
    command = ["cargo", "metadata", "--format-version", "1", "--locked",
               "--filter-platform", triple]
    done = subprocess.run(command, cwd=root, check=True, stdout=subprocess.PIPE)
    metadata = json.loads(done.stdout)
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    found, wanted = set(), [metadata["resolve"]["root"]]
    while wanted:
        one = wanted.pop()
        if one not in found:
            found.add(one)
            # Neither tests nor build scripts end up in the program.
            wanted += [dep["pkg"] for dep in nodes[one]["deps"]
                       if any(kind["kind"] is None for kind in dep["dep_kinds"])]
    # Ours are those without a registry.
    crates = [packages[one] for one in found if packages[one]["source"]]
    return sorted(crates, key=lambda crate: (crate["name"], crate["version"]))


def texts_of(crate):
    """The licence files of a crate."""
    folder = Path(crate["manifest_path"]).parent
    named = [folder / crate["license_file"]] if crate["license_file"] else []
    files = {file for file in folder.iterdir() if file.is_file() and FILES.match(file.name)}
    # The standard's layout of several licences is a folder.
    for name in ("LICENSES", "licenses", "license"):
        if (folder / name).is_dir():
            files |= {file for file in (folder / name).iterdir() if file.is_file()}
    found = sorted(files | {file for file in named if file.is_file()})
    return [file.read_text(errors="replace").strip() for file in found]


def document(root, triple):
    """The whole text: every crate with its licence, then the texts with the crates they are of."""
    lines, users = [], defaultdict(list)
    for crate in linked_crates(root, triple):
        name = f"{crate['name']} {crate['version']}"
        texts = texts_of(crate)
        note = "" if texts else "; its package has no licence text, see those below"
        where = f" <{crate['repository']}>" if crate["repository"] else ""
        lines.append(f"{name}: {crate['license'] or 'see its text'}{where}{note}")
        for text in texts:
            users[text].append(name)
    # The vocabularies that are embedded in the program.
    users[(root / "src/core/assets/LICENSE-tiktoken").read_text().strip()].append("tiktoken's data")
    parts = [f"{RULE}\n{', '.join(names)}\n{RULE}\n\n{text}\n" for text, names in users.items()]
    return ("This program contains the following crates, under the licences that follow their "
            "names.\n\n" + "\n".join(lines) + "\n\n" + "\n".join(parts))
