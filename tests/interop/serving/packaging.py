"""Interop part: what `packaging/` ships works with this Daysheet, and with the programs it is for.

    packaging.py BINARY

Two instances stand behind each balancer, with the configuration that we ship; only addresses
and the certificate's files are replaced.
"""

import glob
import json
import os
import re
import shutil
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.request

import interop
import stage

ROOT = os.path.join(interop.HERE, "../..")
checks = interop.Checks("packaging")


def text_of(name):
    with open(os.path.join(ROOT, name)) as file:
        return file.read()


# Balancers ------------------------------------------------------------------------


def haproxy(port, a, b, folder):
    environment = {**os.environ, "DAYSHEET_BIND": f"127.0.0.1:{port}",
                   "DAYSHEET_A": f"127.0.0.1:{a}", "DAYSHEET_B": f"127.0.0.1:{b}"}
    config = os.path.join(ROOT, "packaging/haproxy.cfg")
    log = open(os.path.join(folder, "log"), "w")
    interop.track(subprocess.Popen([stage.program("haproxy"), "-f", config], env=environment,
                                   stdout=log, stderr=log, start_new_session=True))
    return f"http://127.0.0.1:{port}"


def nginx(port, a, b, folder):
    key, certificate = os.path.join(folder, "key"), os.path.join(folder, "certificate")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1",
                    "-subj", "/CN=127.0.0.1", "-keyout", key, "-out", certificate],
                   check=True, capture_output=True)
    site = text_of("packaging/nginx.conf")
    for pattern, value in [(r"127\.0\.0\.1:8751", f"127.0.0.1:{a}"),
                           (r"127\.0\.0\.1:8752", f"127.0.0.1:{b}"),
                           (r"listen 443", f"listen 127.0.0.1:{port}"),
                           (r"\n.*listen \[::\].*", ""),
                           (r"(?<=ssl_certificate )[^;]+", certificate),
                           (r"(?<=ssl_certificate_key )[^;]+", key),
                           (r"/var/log/nginx/daysheet\.log", os.path.join(folder, "log"))]:
        site, count = re.subn(pattern, value, site)
        checks.that(f"nginx.conf has {pattern}", count == 1, site)
    temporary = "".join(f"{name}_temp_path {folder};" for name in
                        ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    path = os.path.join(folder, "nginx.conf")
    with open(path, "w") as file:
        file.write(f"daemon off; pid {folder}/pid; events {{}} http {{ {temporary}\n{site}\n}}\n")
    interop.track(subprocess.Popen(
        [stage.program("nginx"), "-c", path, "-p", folder, "-e", os.path.join(folder, "errors")],
        start_new_session=True))
    return f"https://127.0.0.1:{port}"


TRUSTING = ssl._create_unverified_context()


def ask(url, message=None):
    """The status of a request, and what came back."""
    headers = {"Content-Type": "application/json",
               "Accept": "application/json, text/event-stream"} if message else {}
    request = urllib.request.Request(url, json.dumps(message).encode() if message else None,
                                     headers)
    try:
        with urllib.request.urlopen(request, context=TRUSTING, timeout=interop.PATIENCE) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()
    except OSError as error:
        return 0, str(error)


LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}


def check_balancer(daysheet, start):
    name, port = start.__name__, interop.free_port()
    scheme = "http" if start is haproxy else "https"
    settings = {"http_public_url": f"{scheme}://127.0.0.1:{port}"}
    instances = [stage.Instance(daysheet, "--sandbox", **settings) for _ in range(2)]
    folder = interop.temp_folder(name)
    base = start(port, *(one.port for one in instances), folder)
    end = time.monotonic() + interop.PATIENCE
    while time.monotonic() < end and ask(base + "/readyz")[0] != 200:
        time.sleep(0.1)
    checks.same(f"{name}: an instance is ready", ask(base + "/readyz")[0], 200)
    status, body = ask(base + "/mcp", LIST)
    checks.that(f"{name}: tools are listed", status == 200 and "mail_search" in body, body)
    checks.same(f"{name}: metrics are for the inside", ask(base + "/metrics")[0], 404)
    ask(base + "/sign-in/callback?code=a-secret-code")
    instances[0].kill()
    answers = [ask(base + "/mcp", LIST)[0] for _ in range(20)]
    checks.same(f"{name}: nothing is lost when an instance is gone", answers, [200] * 20)
    with open(os.path.join(folder, "log")) as log:
        lines = log.read()
    checks.that(f"{name}: requests are logged", "/mcp" in lines, lines)
    checks.that(f"{name}: queries are not", "a-secret-code" not in lines, lines)
    instances[1].stop()


# Files ----------------------------------------------------------------------------


def check_names(daysheet):
    """Variables, settings and flags that the files use are Daysheet's."""
    help_text = daysheet.run("--help").stdout + daysheet.run("serve", "--help").stdout
    files = ["Dockerfile", "compose.yaml",
             *(os.path.relpath(path, ROOT)
               for path in glob.glob(os.path.join(ROOT, "packaging/**"), recursive=True)
               if os.path.isfile(path) and not path.endswith(".pyc"))]
    # The balancer's own, and the launcher's of npm.
    ours = {"DAYSHEET_BIND", "DAYSHEET_A", "DAYSHEET_B", "DAYSHEET_BINARY"}
    for name in sorted(files):
        used = set(re.findall(r"\bDAYSHEET_[A-Z_]+\b", text_of(name))) - ours
        unknown = sorted(one for one in used if one not in help_text)
        checks.same(f"{name}: variables are known", unknown, [])
    flags = re.findall(r"--[a-z-]+", re.search(r"(?m)^CMD .*", text_of("Dockerfile"))[0])
    checks.same("Dockerfile: flags are known", [one for one in flags if one not in help_text], [])


def check_settings(daysheet):
    """The settings file is understood; the database that it names is not there."""
    path = os.path.join(interop.temp_folder("settings"), "daysheet.toml")
    with open(path, "w") as file:
        file.write(text_of("packaging/daysheet.toml").replace("…", "x")
                   .replace("@postgres/", f"@127.0.0.1:{interop.free_port()}/"))
    daysheet.env["DAYSHEET_CONFIG"] = path
    done = daysheet.run("account", "list")
    del daysheet.env["DAYSHEET_CONFIG"]
    checks.that("daysheet.toml: every setting is known",
                done.returncode != 0 and "PostgreSQL at 127.0.0.1" in done.stderr, done.stderr)


# The calls that start a worker and shut it in, besides those that it makes afterwards.
CONFINING = {"clone3", "execve", "landlock_create_ruleset", "landlock_restrict_self", "pipe2",
             "prctl", "prlimit64", "seccomp", "wait4"}


def allowed_calls(unit):
    """The calls that the filters of a unit allow, by systemd's own groups."""
    groups = {}
    listing = subprocess.run(["systemd-analyze", "syscall-filter"], capture_output=True, text=True)
    for line in listing.stdout.splitlines():
        if line.startswith("@"):
            members = groups.setdefault(line, [])
        elif line.strip() and not line.strip().startswith("#"):
            members.append(line.strip())

    def calls(name):
        return set().union(*map(calls, groups[name])) if name in groups else {name}

    allowed = set()
    for value in re.findall(r"(?m)^SystemCallFilter=(.*)", unit):
        named = set().union(*map(calls, value.lstrip("~").split()))
        allowed = allowed - named if value.startswith("~") else allowed | named
    return allowed


def check_unit():
    """systemd finds nothing wrong with the unit, where it is installed, and workers can run in it."""
    if shutil.which("systemd-analyze") is None:
        return
    unit = text_of("packaging/daysheet@.service")
    needed = CONFINING | set(re.findall(r"libc::SYS_(\w+)", text_of("src/worker/confine.rs")))
    checks.that("confine.rs names its calls", len(needed) > 30, needed)
    checks.same("daysheet@.service: workers may make their calls",
                sorted(needed - allowed_calls(unit)), [])
    path = os.path.join(interop.temp_folder("unit"), "daysheet@8751.service")
    with open(path, "w") as file:
        file.write(unit.replace("/usr/local/bin/daysheet", "/bin/true"))
    done = subprocess.run(["systemd-analyze", "verify", path], capture_output=True, text=True)
    checks.same("daysheet@.service: systemd complains about nothing",
                [done.returncode, done.stderr.strip()], [0, ""])


def main():
    daysheet = interop.Daysheet(sys.argv[1])
    for name, check in [("names", lambda: check_names(daysheet)),
                        ("settings", lambda: check_settings(daysheet)), ("unit", check_unit),
                        ("HAProxy", lambda: check_balancer(daysheet, haproxy)),
                        ("nginx", lambda: check_balancer(daysheet, nginx))]:
        with checks.section(name):
            check()
    checks.close()


main()
