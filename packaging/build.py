#!/usr/bin/env python3
"""Builds what a release consists of, from programs that are compiled already.

    build.py archive TARGET BINARY OUT
    build.py npm|wheel|deb|rpm|mcpb|manifests|checksums|all OUT

`archive` runs on the machine that compiled the program: it makes the archive of that target,
with manual pages, completions and the licences of all crates, and the CycloneDX SBOM beside it.
The other commands need only the archives in OUT, so one machine makes all packages of a release;
`all` makes them in the order that they need. They skip targets that have no archive.

Version, repository, description and licence come from Cargo.toml alone. Files get the time of
SOURCE_DATE_EPOCH, so that the same program makes the same packages.

Needed: Python 3.11, and for each command the tool that knows its format (cargo-cyclonedx, npm,
hatchling, cargo-deb, cargo-generate-rpm, mcpb). docs/reference/releasing.md lists their versions.
"""

import gzip
import hashlib
import json
import os
import shutil
import string
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from pathlib import Path
from typing import NamedTuple

import licences

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
TEMPLATES = HERE / "templates"

MANIFEST = tomllib.loads((ROOT / "Cargo.toml").read_text())
SHARED = MANIFEST["workspace"]["package"]
NAME = MANIFEST["package"]["name"]
VERSION = SHARED["version"]
# Placeholder until the project has a home: docs/reference/releasing.md.
REPOSITORY = SHARED["repository"]
OWNER = REPOSITORY.removesuffix("/").split("/")[-2]
MCP_NAME = f"io.github.{OWNER}/{NAME}"
# The registry of MCP servers takes 100 characters.
SUMMARY = "Gmail, Outlook and both calendars as short, clean tables, with safe writes and undo"

# 1980 is the earliest time that a zip can hold.
EPOCH = max(int(os.environ.get("SOURCE_DATE_EPOCH", 0)), 315_532_800)


class Target(NamedTuple):
    """A platform, by the names that each kind of package has for it."""

    triple: str
    # `os` and `cpu` of an npm package, which are Node's names.
    os: str
    cpu: str
    # Tags of a wheel. The Linux programs are static, so they run beside any C library.
    wheel: str
    # The architecture of an rpm; `None` where there are neither rpm nor deb.
    rpm: str | None = None

    @property
    def program(self):
        return f"{NAME}.exe" if self.os == "win32" else NAME

    @property
    def folder(self):
        return f"{NAME}-{VERSION}-{self.triple}"

    @property
    def archive(self):
        return self.folder + (".zip" if self.os == "win32" else ".tar.gz")

    @property
    def npm(self):
        """The npm package of this platform: nobody else can publish in a scope."""
        return f"@{NAME}/{self.os}-{self.cpu}"

    @property
    def url(self):
        return f"{REPOSITORY}/releases/download/v{VERSION}/{self.archive}"


TARGETS = [
    Target("x86_64-unknown-linux-musl", "linux", "x64",
           "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64", "x86_64"),
    Target("aarch64-unknown-linux-musl", "linux", "arm64",
           "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64", "aarch64"),
    Target("x86_64-apple-darwin", "darwin", "x64", "macosx_10_12_x86_64"),
    Target("aarch64-apple-darwin", "darwin", "arm64", "macosx_11_0_arm64"),
    Target("x86_64-pc-windows-msvc", "win32", "x64", "win_amd64"),
]

COMPLETIONS = {"bash": NAME, "zsh": f"_{NAME}", "fish": f"{NAME}.fish", "powershell": f"_{NAME}.ps1"}
LICENCES = ["LICENSE-MIT", "LICENSE-APACHE", "THIRD-PARTY-LICENSES.txt"]


def run(*command, **options):
    """Runs a tool; its messages go to stderr, because they are not what was asked for."""
    options.setdefault("stdout", sys.stderr)
    return subprocess.run([str(word) for word in command], check=True, **options)


def filled(template, **values):
    """The text of a template with the facts of this release."""
    facts = {"name": NAME, "version": VERSION, "repository": REPOSITORY, "owner": OWNER,
             "mcp_name": MCP_NAME, "summary": SUMMARY, "license": SHARED["license"]}
    text = (HERE / template).read_text()
    return string.Template(text).substitute(facts | values)


def write_json(path, value):
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


# Archives -------------------------------------------------------------------


def stage(binary, target, folder):
    """Fills a folder with what every package has: program, pages, completions, licences."""
    (folder / "man").mkdir(parents=True)
    (folder / "completions").mkdir()
    program = folder / target.program
    shutil.copyfile(binary, program)
    program.chmod(0o755)
    run(program, "man", folder / "man")
    for shell, file in COMPLETIONS.items():
        with open(folder / "completions" / file, "wb") as script:
            run(program, "completions", shell, stdout=script)
    for name in ("README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"):
        shutil.copyfile(ROOT / name, folder / name)
    (folder / LICENCES[-1]).write_text(licences.document(ROOT, target.triple))


def write_archive(folder, path):
    """Writes a folder as .tar.gz or .zip, whose bytes depend on nothing but the files."""
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for file in files:
                archive.write(file, file.relative_to(folder.parent))
        return

    def reset(member):
        member.uid = member.gid = 0
        member.uname = member.gname = ""
        member.mtime = EPOCH
        member.mode = 0o755 if member.mode & 0o100 else 0o644
        return member

    with open(path, "wb") as file, gzip.GzipFile("", "wb", fileobj=file, mtime=EPOCH) as packed:
        with tarfile.open(fileobj=packed, mode="w") as archive:
            for one in files:
                archive.add(one, str(one.relative_to(folder.parent)), filter=reset)


def write_sbom(target, path):
    """Writes the SBOM. cargo-cyclonedx puts one beside the manifest of each crate; the program's
    is ours, and the others are removed."""
    name = f"sbom-{target.triple}"
    run("cargo", "cyclonedx", "--format", "json", "--spec-version", "1.5", "--target",
        target.triple, "--no-build-deps", "--override-filename", name, cwd=ROOT,
        env={**os.environ, "SOURCE_DATE_EPOCH": str(EPOCH)})
    shutil.move(ROOT / f"{name}.json", path)
    for member in MANIFEST["workspace"]["members"]:
        (ROOT / member / f"{name}.json").unlink(missing_ok=True)


def archive(triple, binary, out):
    target = next((one for one in TARGETS if one.triple == triple), None)
    if target is None:
        sys.exit(f"{triple} is no target: use one of {', '.join(one.triple for one in TARGETS)}")
    with tempfile.TemporaryDirectory() as work:
        folder = Path(work) / target.folder
        stage(Path(binary), target, folder)
        for file in folder.rglob("*"):
            os.utime(file, (EPOCH, EPOCH))
        write_archive(folder, out / target.archive)
    write_sbom(target, out / f"{target.folder}.cdx.json")


def unpacked(out, work):
    """The targets that have an archive, each with a folder of what is in it."""
    found = []
    for target in TARGETS:
        path = out / target.archive
        if path.exists():
            if path.suffix == ".zip":
                zipfile.ZipFile(path).extractall(work)
            else:
                tarfile.open(path).extractall(work, filter="tar")
            found.append((target, Path(work) / target.folder))
    if not found:
        sys.exit(f"{out} has no archive of version {VERSION}: run `build.py archive` first")
    return found


# Packages ---------------------------------------------------------------------


def npm_pack(folder, package, out):
    write_json(folder / "package.json", package)
    run("npm", "pack", "--silent", "--pack-destination", out.resolve(), cwd=folder)


def npm(out, targets):
    """One package for each platform, and the one that people name, which picks among them.

    Nothing runs at installation: npm installs the package whose `os` and `cpu` fit.
    """
    shared = {"version": VERSION, "license": SHARED["license"], "homepage": REPOSITORY,
              "repository": {"type": "git", "url": f"git+{REPOSITORY}.git"}}
    with tempfile.TemporaryDirectory() as work:
        for target, source in targets:
            folder = Path(work) / target.triple
            (folder / "bin").mkdir(parents=True)
            shutil.copy2(source / target.program, folder / "bin")
            for name in LICENCES:
                shutil.copyfile(source / name, folder / name)
            npm_pack(folder, {
                "name": target.npm, **shared,
                "description": f"The program of {NAME} for {target.os} {target.cpu}",
                "os": [target.os], "cpu": [target.cpu],
                "files": ["bin", *LICENCES], "preferUnplugged": True,
            }, out)
        folder = Path(work) / NAME
        source = targets[0][1]
        for part in ("man", "completions"):
            shutil.copytree(source / part, folder / part)
        for name in LICENCES[:-1]:
            shutil.copyfile(source / name, folder / name)
        shutil.copyfile(HERE / "npm/launcher.js", folder / "launcher.js")
        (folder / "README.md").write_text(filled("templates/registry.md"))
        npm_pack(folder, {
            "name": NAME, **shared, "description": SUMMARY,
            "keywords": ["mcp", "mcp-server", "gmail", "outlook", "calendar"],
            "mcpName": MCP_NAME,
            "bin": {NAME: "launcher.js"},
            "man": sorted(f"./man/{page.name}" for page in (folder / "man").iterdir()),
            "files": ["launcher.js", "man", "completions"],
            "engines": {"node": ">=18"},
            "optionalDependencies": {target.npm: VERSION for target in TARGETS},
        }, out)


def wheel(out, targets):
    """A wheel for each platform, whose only script is the program."""
    for target, source in targets:
        with tempfile.TemporaryDirectory() as work:
            folder = Path(work)
            shutil.copytree(source, folder / "files")
            for name in LICENCES:
                shutil.copyfile(source / name, folder / name)
            (folder / "README.md").write_text(filled("templates/registry.md"))
            pages = "\n".join(f'"files/man/{page.name}" = "share/man/man1/{page.name}"'
                              for page in sorted((source / "man").iterdir()))
            (folder / "pyproject.toml").write_text(filled(
                "wheel/pyproject.toml", program=target.program, tag=target.wheel, pages=pages))
            shutil.copyfile(HERE / "wheel/hatch_build.py", folder / "hatch_build.py")
            run(sys.executable, "-m", "hatchling", "build", "--target", "wheel",
                "--directory", out.resolve(), cwd=folder,
                env={**os.environ, "SOURCE_DATE_EPOCH": str(EPOCH)})


def linux_package(out, targets, *command):
    """Runs a tool that looks for the program, and what goes with it, in cargo's target folder."""
    for target, source in targets:
        if target.rpm is None:
            continue
        with tempfile.TemporaryDirectory() as work:
            release = Path(work) / target.triple / "release"
            shutil.copytree(source, release / "package")
            shutil.copy2(source / target.program, release)
            run(*command, "--target", target.triple, "--output", out.resolve(), cwd=ROOT,
                env={**os.environ, "CARGO_TARGET_DIR": work, "SOURCE_DATE_EPOCH": str(EPOCH)})


def deb(out, targets):
    linux_package(out, targets, "cargo", "deb", "--no-build", "--no-strip")


def rpm(out, targets):
    # A static program needs no packages.
    linux_package(out, targets, "cargo", "generate-rpm", "--auto-req", "disabled")


USER_CONFIG = {
    "google_client_id": ("Google client ID", False, "",
                         "OAuth client of type Desktop, from your Google Cloud project. "
                         "Leave empty if you use only Outlook, or a settings file."),
    "google_client_secret": ("Google client secret", True, "", "The secret of that client."),
    "microsoft_client_id": ("Microsoft application ID", False, "",
                            "App registration in Microsoft Entra. Leave empty if you use only "
                            "Google, or a settings file."),
    "access": ("Access level", False, "draft",
               "What may be changed: read, organize, draft, send or full."),
    "tools": ("Tools", False, "",
              "The tools to offer, by name prefix, such as mail,calendar. Empty offers all."),
}


def mcpb_manifest(target):
    listed = json.loads((ROOT / "tests/fixtures/tools_list.json").read_text())
    return {
        "manifest_version": "0.3", "name": NAME, "display_name": "Daysheet", "version": VERSION,
        "description": SUMMARY, "author": {"name": f"The {NAME.capitalize()} authors"},
        "repository": {"type": "git", "url": f"{REPOSITORY}.git"}, "homepage": REPOSITORY,
        "license": SHARED["license"], "keywords": ["mail", "calendar", "gmail", "outlook"],
        "server": {
            "type": "binary", "entry_point": f"server/{target.program}",
            "mcp_config": {
                "command": f"${{__dirname}}/server/{target.program}", "args": ["serve"],
                # An empty value counts as none.
                "env": {f"{NAME.upper()}_{key.upper()}": f"${{user_config.{key}}}"
                        for key in USER_CONFIG},
            },
        },
        # The access level decides which of them are offered.
        "tools": [{"name": tool["name"], "description": tool["description"].split("\n")[0]}
                  for tool in listed],
        "tools_generated": True,
        "compatibility": {"platforms": [target.os]},
        "user_config": {
            key: {"type": "string", "title": title, "description": text, "required": False,
                  "default": default, "sensitive": sensitive}
            for key, (title, sensitive, default, text) in USER_CONFIG.items()
        },
    }


def bundle(target):
    return f"{NAME}-{VERSION}-{target.os}-{target.cpu}.mcpb"


def mcpb(out, targets):
    """A bundle for each platform: a manifest can tell systems apart, but no processors."""
    for target, source in targets:
        with tempfile.TemporaryDirectory() as work:
            folder = Path(work)
            (folder / "server").mkdir()
            shutil.copy2(source / target.program, folder / "server")
            shutil.copytree(source / "man", folder / "man")
            shutil.copytree(source / "completions", folder / "completions")
            for name in LICENCES:
                shutil.copyfile(source / name, folder / name)
            write_json(folder / "manifest.json", mcpb_manifest(target))
            run("mcpb", "pack", folder, out / bundle(target))


# Manifests ----------------------------------------------------------------------


def server_json(out, targets):
    """The entry for the registry of MCP servers."""
    variables = [
        {"name": f"{NAME.upper()}_{key.upper()}", "description": text, "isRequired": False,
         "isSecret": sensitive, **({"default": default} if default else {})}
        for key, (_, sensitive, default, text) in USER_CONFIG.items()
    ]
    rest = {"transport": {"type": "stdio"}, "environmentVariables": variables}
    serve = [{"type": "positional", "value": "serve"}]
    # These registries are those of the schema; a package has one name in each.
    packages = [
        {"registryType": kind, "identifier": NAME, "version": VERSION, "runtimeHint": hint,
         "packageArguments": serve, **rest}
        for kind, hint in (("npm", "npx"), ("pypi", "uvx"))
    ]
    packages += [
        {"registryType": "mcpb", "fileSha256": sha256(out / bundle(target)),
         "identifier": f"{REPOSITORY}/releases/download/v{VERSION}/{bundle(target)}", **rest}
        for target, _ in targets
    ]
    return {
        "$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
        "name": MCP_NAME, "title": "Daysheet", "description": SUMMARY, "version": VERSION,
        "repository": {"url": REPOSITORY, "source": "github"}, "packages": packages,
    }


def manifests(out, targets):
    """What other catalogues need to know: server.json, Homebrew, scoop and winget."""
    there = [target for target, _ in targets]
    write_json(out / "server.json", server_json(out, targets))
    # A manifest that names a missing archive would be of no use.
    if there != TARGETS:
        missing = ", ".join(one.triple for one in TARGETS if one not in there)
        print(f"no manifests for Homebrew, scoop and winget: no archive of {missing}")
        return
    values = {}
    for target in TARGETS:
        key = f"{target.os}_{target.cpu}"
        values |= {f"{key}_url": target.url, f"{key}_sha256": sha256(out / target.archive),
                   f"{key}_folder": target.folder}
    # winget and Homebrew have rules for case and names of classes.
    values |= {"title": NAME.capitalize(),
               "win32_x64_sha256_upper": values["win32_x64_sha256"].upper()}
    (out / "manifests").mkdir(exist_ok=True)
    for template in sorted(TEMPLATES.glob("*/*")):
        path = out / "manifests" / template.name
        path.write_text(filled(template.relative_to(HERE), **values))


def checksums(out, _targets):
    names = sorted(file.name for file in out.iterdir() if file.is_file())
    lines = [f"{sha256(out / name)}  {name}\n" for name in names if name != "SHA256SUMS"]
    (out / "SHA256SUMS").write_text("".join(lines))


# server.json needs the bundles, and the sums need all.
PACKAGES = [npm, wheel, deb, rpm, mcpb, manifests, checksums]


def main():
    match sys.argv[1:]:
        case ["archive", triple, binary, out]:
            Path(out).mkdir(parents=True, exist_ok=True)
            archive(triple, binary, Path(out))
        case [*names, out] if names and set(names) <= {"all", *(one.__name__ for one in PACKAGES)}:
            with tempfile.TemporaryDirectory() as work:
                targets = unpacked(Path(out), work)
                for package in PACKAGES:
                    if package.__name__ in names or "all" in names:
                        package(Path(out), targets)
        case ["version"]:
            print(VERSION)
        case _:
            sys.exit(__doc__.split("\n\n")[1])


if __name__ == "__main__":
    main()
