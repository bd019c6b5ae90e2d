"""The waiting time of a newcomer: from the command that installs a package to the first rows of
the sandbox, and through `daysheet setup`, with emulate as Google, to the first brief.

The packages are local files, so that no download is measured, and nobody has to think: setup gets
its answers as options, and the consent page is confirmed at once. `release.py` runs it.
"""

import os
import shutil
import subprocess
import time
from pathlib import Path

import build
import google_emulate
import interop
from seed_messages import EMAIL

# The longest waits, in seconds.
FIRST_ROWS, FIRST_BRIEF = 20, 60

CALL = ("call", "mail_search", "q=in:inbox", "limit=5", "--sandbox")
# The day on which emulate's messages are new.
NOW = "2026-02-06T12:00+01:00"


def environment(**more):
    """A new user's, without the tools of Rust."""
    bare = interop.Daysheet("daysheet").env
    cargo = Path(os.environ.get("CARGO_HOME", Path.home() / ".cargo"), "bin")
    path = [one for one in bare["PATH"].split(":") if Path(one) != cargo]
    return {**bare, "PATH": ":".join(path), **more}


def first_rows(checks, name, install, call, env, cwd=None):
    """Runs the command that installs, if there is one, and the call; times its first row."""
    begun = time.monotonic()
    if install:
        subprocess.run([str(word) for word in install], env=env, cwd=cwd, check=True,
                       capture_output=True, timeout=interop.PATIENCE)
    installed = time.monotonic() - begun
    process = interop.track(subprocess.Popen(
        [*map(str, call), *CALL], env=env, cwd=cwd, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, text=True, start_new_session=True))
    row = next((line for line in process.stdout if line.startswith("  m1\t")), "")
    seconds = time.monotonic() - begun
    process.stdout.read()
    code = process.wait(interop.PATIENCE)
    print(f"time  release: {name}: first rows after {seconds:.2f} s"
          + (f", installed after {installed:.2f} s" if install else ""), flush=True)
    checks.that(f"{name}: the first rows", row and code == 0, code)
    checks.that(f"{name}: the first rows within {FIRST_ROWS} s", seconds <= FIRST_ROWS, seconds)


def first_brief(checks, program):
    """Times `daysheet setup` from nothing to the first brief."""
    settings = google_emulate.settings(google_emulate.start())
    urls = {name: url for name, url in settings.items() if name.endswith("_url")}
    daysheet = interop.Daysheet(program, sandbox_now=NOW, **urls)
    begun = time.monotonic()
    code, printed, _, _ = interop.sign_in(
        daysheet, EMAIL, command=("setup", "--yes", "--provider", "google"),
        more=("--client-id", "123456789012-abc0def.apps.googleusercontent.com",
              "--client-secret", "interop-secret"))
    seconds = time.monotonic() - begun
    print(f"time  release: setup: first brief after {seconds:.2f} s", flush=True)
    checks.that("setup: ends with a brief that has rows",
                code == 0 and f"Signed in: {EMAIL}" in printed and "\n  m1\t" in printed, printed)
    checks.that(f"setup: the first brief within {FIRST_BRIEF} s", seconds <= FIRST_BRIEF, seconds)


def check(checks, out, python):
    """Installs each package of `out` anew. `python` is the folder of uv's programs."""
    project = Path(interop.temp_folder("newcomer-npm"))
    (project / "package.json").write_text('{"private": true}')
    packages = [out / f"daysheet-{name}{build.VERSION}.tgz" for name in ("", "linux-x64-")]
    install = ("npm", "install", "--offline", "--no-audit", "--no-fund", *packages)
    first_rows(checks, "npm", install, ("npx", "--offline", "daysheet"), environment(), project)

    wheel = next(out.glob("*manylinux*x86_64*.whl"))
    env = environment(UV_CACHE_DIR=interop.temp_folder("newcomer-uv"))
    first_rows(checks, "wheel", None,
               (python / "uvx", "--offline", "--from", wheel, "daysheet"), env)

    root = Path(interop.temp_folder("newcomer-deb"))
    for folder in ("updates", "info"):
        (root / "var/lib/dpkg" / folder).mkdir(parents=True)
    for file in ("status", "available"):
        (root / "var/lib/dpkg" / file).touch()
    deb = out / f"daysheet_{build.VERSION}_amd64.deb"
    install = (shutil.which("dpkg"), f"--root={root}", "--force-not-root", "--log=/dev/null",
               "--install", deb)
    program = root / "usr/bin/daysheet"
    first_rows(checks, "deb", install, (program,), environment())
    first_brief(checks, program)
