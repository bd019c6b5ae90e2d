"""Interop part: the packages of a release, installed as people install them, offline.

    release.py BINARY

BINARY is packed as the program of Linux on x86-64; the other platforms get a script in its place,
so that the manifests, which name all of them, are made too. DAYSHEET_RELEASE_BINARY names another
program, such as the static one. What this part cannot show is in docs/reference/releasing.md.
"""

import asyncio
import glob
import hashlib
import json
import os
import signal
import shutil
import subprocess
import sys
import tarfile
import time
import zipfile
from pathlib import Path

import jsonschema
import mcp

import interop

ROOT = Path(interop.HERE, "../..").resolve()
TOOLS = Path(os.environ["INTEROP_RELEASE"])
PYTHON = TOOLS / "python/bin"
sys.path.insert(0, str(ROOT / "packaging"))
import build  # noqa: E402
import newcomer  # noqa: E402

checks = interop.Checks("release")
HOST = build.TARGETS[0]


def run(*command, **options):
    options.setdefault("timeout", 600)
    return subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          **options)


def make(*arguments):
    """Runs build.py, with the tools that this part has installed."""
    paths = [PYTHON, TOOLS / "bin", TOOLS / "node_modules/.bin", os.environ["PATH"]]
    environment = {**os.environ, "PATH": ":".join(map(str, paths))}
    done = run(PYTHON / "python", ROOT / "packaging/build.py", *arguments, env=environment,
               timeout=1800)
    checks.that(f"build.py {arguments[0]}", done.returncode == 0, done.stdout + done.stderr)


def check_archive(out, program):
    make("archive", HOST.triple, program, out)
    first = build.sha256(out / HOST.archive)
    make("archive", HOST.triple, program, out)
    checks.same("the same program makes the same archive", build.sha256(out / HOST.archive), first)
    folder = Path(interop.temp_folder("archive"))
    tarfile.open(out / HOST.archive).extractall(folder, filter="tar")
    folder = folder / HOST.folder
    done = run(folder / "daysheet", "--version")
    checks.same("archive: version", done.stdout, f"daysheet {build.VERSION}\n")
    shown = run("man", "--local-file", folder / "man/daysheet-serve.1")
    checks.that("archive: man shows a page", "Serve MCP" in shown.stdout, shown.stderr)
    licences = (folder / build.LICENCES[-1]).read_text()
    sbom = json.loads((out / f"{HOST.folder}.cdx.json").read_text())
    ours = {"daysheet", *(f"daysheet-{name}" for name in
                          ("auth", "core", "extract", "providers", "sandbox", "schemas"))}
    known = {f"{one['name']} {one['version']}" for one in sbom["components"]
             if one["name"] not in ours}
    lines = {line.split(":")[0] for line in licences.splitlines()}
    checks.that("the SBOM lists the crates", len(known) > 300, len(known))
    checks.same("each crate of the SBOM has its licence", sorted(known - lines), [])


def others(out):
    """Archives of the other platforms, with a script in place of the program."""
    for target in build.TARGETS[1:]:
        folder = Path(interop.temp_folder("other")) / target.folder
        for part in ("man", "completions"):
            (folder / part).mkdir(parents=True)
        (folder / "man/daysheet.1").write_text(".TH daysheet 1\n")
        for file in build.COMPLETIONS.values():
            (folder / "completions" / file).write_text("#\n")
        for name in ("README.md", *build.LICENCES):
            (folder / name).write_text(f"{name}\n")
        (folder / target.program).write_text("#!/bin/sh\n")
        (folder / target.program).chmod(0o755)
        build.write_archive(folder, out / target.archive)


def check_sums(out):
    done = run("sha256sum", "--check", "--strict", "SHA256SUMS", cwd=out)
    checks.that("SHA256SUMS is right", done.returncode == 0, done.stdout)
    listed = {line.split("  ")[1] for line in (out / "SHA256SUMS").read_text().splitlines()}
    files = {file.name for file in out.iterdir() if file.is_file()} - {"SHA256SUMS"}
    checks.same("and complete", sorted(files - listed), [])


# Starting servers -----------------------------------------------------------------


def environment(daysheet, **more):
    return {**daysheet.env, **more}


async def listed(command, arguments, env):
    """The tools that the Python SDK lists."""
    server = mcp.StdioServerParameters(command=str(command), args=arguments, env=env)
    async with mcp.Client(server, read_timeout_seconds=interop.PATIENCE) as session:
        return sorted(tool.name for tool in (await session.list_tools()).tools)


def check_clients(name, daysheet, command, *arguments, env=None):
    """Both SDKs list the tools of a server that is started by a command."""
    env = env or daysheet.env
    tools = asyncio.run(listed(command, list(arguments), env))
    checks.that(f"{name}: the Python client lists tools", "mail_search" in tools, tools)
    packages = os.environ["INTEROP_PACKAGES"]
    script = shutil.copy(Path(interop.HERE, "release/list_tools.mjs"), packages)
    done = run("node", script, command, *arguments, env=env)
    said = done.stdout or done.stderr
    checks.that(f"{name}: the TypeScript client lists the same",
                done.stdout.strip() and json.loads(done.stdout) == tools, said)


def check_npm(out, daysheet):
    project = Path(interop.temp_folder("npm"))
    (project / "package.json").write_text('{"private": true}')
    main = out / f"daysheet-{build.VERSION}.tgz"
    platform = out / f"daysheet-{HOST.os}-{HOST.cpu}-{build.VERSION}.tgz"
    install = ("npm", "install", "--offline", "--ignore-scripts", "--no-audit", "--no-fund")
    done = run(*install, main, platform, cwd=project)
    checks.that("npm: installed offline and without scripts", done.returncode == 0, done.stderr)
    scopes = sorted(path.name for path in (project / "node_modules/@daysheet").iterdir())
    checks.same("npm: only this platform's package", scopes, ["linux-x64"])
    about = json.loads((project / "node_modules/daysheet/package.json").read_text())
    checks.same("npm: the registry's mark", about["mcpName"], build.MCP_NAME)
    checks.same("npm: no scripts", about.get("scripts"), None)
    launcher = project / "node_modules/.bin/daysheet"
    done = run("npx", "--offline", "daysheet", "--version", cwd=project, env=daysheet.env)
    checks.same("npm: npx starts it", done.stdout, f"daysheet {build.VERSION}\n")
    checks.same("npm: exit codes are passed on",
                run(launcher, "schema", "letters", env=daysheet.env).returncode, 1)
    check_clients("npm", daysheet, launcher, "serve", "--sandbox")
    done = run(launcher, "-c", "echo chosen",
               env=environment(daysheet, DAYSHEET_BINARY="/bin/sh"))
    checks.same("npm: DAYSHEET_BINARY", done.stdout, "chosen\n")
    for sign in (signal.SIGTERM, signal.SIGINT, signal.SIGKILL):
        check_signal(daysheet, launcher, sign)
    killed = run(launcher, "-c", "kill -KILL $$",
                 env=environment(daysheet, DAYSHEET_BINARY="/bin/sh"))
    checks.same("npm: 128 and the signal", killed.returncode, 128 + signal.SIGKILL)
    shutil.rmtree(project / "node_modules/@daysheet")
    done = run(launcher, "--version", env=daysheet.env)
    checks.that("npm: a missing platform is explained", done.returncode == 1
                and "install daysheet again without --omit=optional" in done.stderr, done.stderr)


def check_signal(daysheet, launcher, sign):
    """A launcher that is ended leaves no server behind."""
    mark = f"{sign.name}-{os.getpid()}"
    process = interop.track(subprocess.Popen(
        [launcher, "serve", "--sandbox"], env=environment(daysheet, INTEROP_MARK=mark),
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True))
    end = time.monotonic() + interop.PATIENCE
    while len(interop.processes_with("INTEROP_MARK", mark)) < 2 and time.monotonic() < end:
        time.sleep(0.05)
    process.stdin.write(json.dumps({
        "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "interop", "version": "1"}}}) + "\n")
    process.stdin.flush()
    checks.that(f"npm: a server before {sign.name}", "daysheet" in process.stdout.readline())
    # The launcher alone, as a client does it; not its group.
    os.kill(process.pid, sign)
    code = process.wait(interop.PATIENCE)
    # SIGKILL cannot be passed on: the server ends when the client closes the pipe.
    killed = sign is signal.SIGKILL
    checks.same(f"npm: {sign.name} ends the launcher", code, -sign if killed else 0)
    end = time.monotonic() + (5 if killed else 0)
    if killed:
        process.stdin.close()
    while (left := interop.processes_with("INTEROP_MARK", mark)) and time.monotonic() < end:
        time.sleep(0.05)
    checks.same(f"npm: {sign.name} leaves no server", left, [])


def check_wheel(out, daysheet):
    wheel = next(out.glob("*manylinux*x86_64*.whl"))
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        metadata = next(name for name in names if name.endswith("/METADATA"))
        text = archive.read(metadata).decode()
    checks.that("wheel: the registry's mark", f"mcp-name: {build.MCP_NAME}" in text, text)
    checks.that("wheel: no Python in it", not [n for n in names if n.endswith(".py")], names)
    env = environment(daysheet, UV_CACHE_DIR=interop.temp_folder("uv"))
    uvx = [str(PYTHON / "uvx"), "--offline", "--from", str(wheel), "daysheet"]
    done = run(*uvx, "--version", env=env)
    checks.same("wheel: uvx starts it", done.stdout, f"daysheet {build.VERSION}\n")
    check_clients("wheel", daysheet, *uvx, "serve", "--sandbox", env=env)
    venv = Path(interop.temp_folder("venv"))
    run(sys.executable, "-m", "venv", venv)
    done = run(venv / "bin/pip", "install", "--no-index", wheel)
    checks.that("wheel: pip installs it", done.returncode == 0, done.stderr)
    checks.that("wheel: pages and completions", (venv / "share/man/man1/daysheet.1").exists()
                and (venv / "share/bash-completion/completions/daysheet").exists())
    run(venv / "bin/pip", "uninstall", "--yes", "daysheet")
    checks.that("wheel: pip removes all of it", not list(venv.rglob("*daysheet*")))


def check_deb(out):
    """The deb in a scratch root; dpkg works there without the machine's own database."""
    scratch = Path(interop.temp_folder("deb"))
    for folder in ("updates", "info"):
        (scratch / "var/lib/dpkg" / folder).mkdir(parents=True)
    for file in ("status", "available"):
        (scratch / "var/lib/dpkg" / file).touch()
    dpkg = ("dpkg", f"--root={scratch}", "--force-not-root", "--log=/dev/null")
    done = run(*dpkg, "--install", out / f"daysheet_{build.VERSION}_amd64.deb")
    checks.that("deb: installed", done.returncode == 0, done.stderr)
    done = run(scratch / "usr/bin/daysheet", "--version")
    checks.same("deb: version", done.stdout, f"daysheet {build.VERSION}\n")
    for path in ("man/man1/daysheet.1", "bash-completion/completions/daysheet",
                 "doc/daysheet/THIRD-PARTY-LICENSES.txt"):
        checks.that(f"deb: {path}", (scratch / "usr/share" / path).exists())
    done = run(*dpkg, "--purge", "daysheet")
    checks.that("deb: purged", done.returncode == 0, done.stderr)
    left = [str(file) for file in scratch.glob("usr/**/*")]
    checks.same("deb: nothing is left", left, [])
    done = run("dpkg", "--field", out / f"daysheet_{build.VERSION}_arm64.deb", "Architecture")
    checks.same("deb: the other architecture", done.stdout, "arm64\n")


def check_rpm(out):
    scratch = interop.temp_folder("rpm")
    name = out / f"daysheet-{build.VERSION}-1.x86_64.rpm"
    rpm = ("rpm", "--root", scratch, "--dbpath", "/db")
    done = run(*rpm, "--install", "--nodeps", "--noscripts", name)
    checks.that("rpm: installed", done.returncode == 0, done.stderr)
    done = run(Path(scratch, "usr/bin/daysheet"), "--version")
    checks.same("rpm: version", done.stdout, f"daysheet {build.VERSION}\n")
    done = run(*rpm, "--erase", "daysheet")
    checks.that("rpm: erased", done.returncode == 0, done.stderr)
    checks.same("rpm: nothing is left", glob.glob(f"{scratch}/usr/bin/*"), [])


def check_bundle(out, daysheet):
    folder = Path(interop.temp_folder("mcpb"))
    tool = TOOLS / "node_modules/.bin/mcpb"
    done = run(tool, "unpack", out / build.bundle(HOST), folder)
    checks.that("mcpb: unpacked", done.returncode == 0, done.stdout + done.stderr)
    done = run(tool, "validate", folder / "manifest.json")
    checks.that("mcpb: valid", done.returncode == 0, done.stdout + done.stderr)
    manifest = json.loads((folder / "manifest.json").read_text())
    start = manifest["server"]["mcp_config"]
    values = {key: one["default"] for key, one in manifest["user_config"].items()}
    env = dict(daysheet.env)
    for name, value in start["env"].items():
        for key, default in values.items():
            value = value.replace(f"${{user_config.{key}}}", default)
        checks.that(f"mcpb: {name} is filled", "$" not in value, value)
        env[name] = value
    command = start["command"].replace("${__dirname}", str(folder))
    # Fields that the user leaves empty count as not set; without the sandbox, as a host starts it.
    tools = asyncio.run(listed(command, start["args"], env))
    checks.that("mcpb: started as the manifest says", "mail_search" in tools, tools)
    names = {tool["name"] for tool in manifest["tools"]}
    checks.that("mcpb: its tools are listed in the manifest", set(tools) <= names, tools)
    check_clients("mcpb", daysheet, command, *start["args"], "--sandbox", env=env)


def check_manifests(out):
    server = json.loads((out / "server.json").read_text())
    schema = next(TOOLS.glob("python/lib/*/site-packages/skillsaw/schemas/mcp_registry/"
                             "v2025_12_11/server.schema.json"))
    errors = jsonschema.Draft7Validator(json.loads(schema.read_text())).iter_errors(server)
    checks.same("server.json: as its schema says", [error.message for error in errors], [])
    bundles = [one for one in server["packages"] if one["registryType"] == "mcpb"]
    checks.same("server.json: bundles", len(bundles), len(build.TARGETS))
    for one in bundles:
        data = (out / one["identifier"].rsplit("/", 1)[1]).read_bytes()
        checks.same("server.json: sum of a bundle", hashlib.sha256(data).hexdigest(),
                    one["fileSha256"])
    folder = out / "manifests"
    scoop = json.loads((folder / "daysheet.json").read_text())["architecture"]["64bit"]
    windows = build.TARGETS[-1]
    checks.same("scoop: sum", scoop["hash"], build.sha256(out / windows.archive))
    with zipfile.ZipFile(out / windows.archive) as archive:
        checks.that("scoop: folder", f"{scoop['extract_dir']}/daysheet.exe" in archive.namelist())
    texts = {file.name: file.read_text() for file in folder.iterdir()}
    for name, text in texts.items():
        checks.that(f"{name}: nothing is left to fill in",
                    "$" not in text.replace("$version", "").replace("$baseurl", ""), text)
    formula = texts["daysheet.rb"]
    for target in build.TARGETS[:-1]:
        checks.that(f"Homebrew: {target.triple}", target.url in formula
                    and build.sha256(out / target.archive) in formula)
    checks.same("winget: files", sum(name.endswith(".yaml") for name in texts), 3)


def check_static(program):
    """A static program runs where there is nothing but a folder for temporary files."""
    headers = run("readelf", "--program-headers", program).stdout
    if "INTERP" in headers:
        print(f"not static, so not tried in an empty root: {program}")
        return
    root = Path(interop.temp_folder("root"))
    (root / "tmp").mkdir(mode=0o777)
    shutil.copy2(program, root / "daysheet")
    home = {"DAYSHEET_HOME": "/tmp"}
    enter = [shutil.which("chroot")] if os.geteuid() == 0 else [
        shutil.which("unshare"), "--map-root-user", "chroot"]
    done = run(*enter, root, "/daysheet", "call", "mail_search", "limit=3", "--sandbox", env=home)
    checks.that("an empty root: a search", "messages[3" in done.stdout, done.stderr)
    done = run(*enter, root, "/daysheet", "demo", env=home)
    checks.that("an empty root: the demo", done.returncode == 0 and done.stdout, done.stderr)


def check_crates():
    """What `cargo publish` would upload; all that a user of the library needs."""
    target = interop.temp_folder("crates")
    done = run("cargo", "package", "--workspace", "--locked", "--no-verify", "--allow-dirty",
               "--target-dir", target, cwd=ROOT)
    checks.that("cargo package", done.returncode == 0, done.stderr)
    made = sorted(path.name for path in Path(target, "package").glob("*.crate"))
    checks.same("cargo package: crates", len(made), 1 + len(build.MANIFEST["workspace"]["members"]))
    for name in made:
        path = Path(target, "package", name)
        checks.that(f"{name}: at most 10 MB", path.stat().st_size < 10_000_000)
        with tarfile.open(path) as crate:
            manifest = crate.extractfile(f"{path.stem}/Cargo.toml").read().decode()
        for key in ("description", "license", "repository"):
            checks.that(f"{name}: {key}", f"\n{key} = " in manifest, manifest[:800])


def main():
    daysheet = interop.Daysheet(sys.argv[1])
    given = os.environ.get("DAYSHEET_RELEASE_BINARY", sys.argv[1])
    program = Path(interop.temp_folder("program")) / "daysheet"
    subprocess.run(["strip", "-o", program, given], check=True)
    out = Path(interop.temp_folder("out"))
    with checks.section("static"):
        check_static(program)
    with checks.section("archive"):
        check_archive(out, program)
    others(out)
    make("all", out)
    for check in (check_npm, check_wheel, check_bundle):
        with checks.section(check.__name__):
            check(out, daysheet)
    for check in (check_sums, check_deb, check_rpm, check_manifests):
        with checks.section(check.__name__):
            check(out)
    with checks.section("newcomer"):
        newcomer.check(checks, out, PYTHON)
    with checks.section("crates"):
        check_crates()
    checks.close()


if __name__ == "__main__":
    main()
