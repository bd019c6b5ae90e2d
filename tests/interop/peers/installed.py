"""Other people's servers of mail and calendars: their versions, and how each is installed,
signed in and started.

None is patched: they look for Google and Microsoft at the usual hosts, which wire.py has put
on loopback, and each signs in by its own program where it has one. What can be said of a
server in data, its calls, is in tasks.toml.
"""

import base64
import datetime
import json
import os
import re
import subprocess
import sys
import threading
import time

import interop
import oidc_stage

# Installed as they are: npm packages into one folder, Python packages each into its own.
NPM = {
    "gongrzhe": "@gongrzhe/server-gmail-autoauth-mcp@1.1.11",
    "shinzolabs": "@shinzolabs/gmail-mcp@1.7.4",
    "cocal": "@cocal/google-calendar-mcp@2.6.3",
    "softeria": "@softeria/ms-365-mcp-server@0.155.0",
}
PYTHON = {
    "workspace-mcp": "workspace-mcp==2.2.1",
    "outlook-graph-mcp": "outlook-graph-mcp==1.25.1",
}
GMAIL_SCOPES = [f"https://www.googleapis.com/auth/gmail.{name}" for name in
                ("readonly", "send", "compose", "modify", "labels", "settings.basic")]
CALENDAR_SCOPES = ["https://www.googleapis.com/auth/calendar"]
GRAPH_SCOPES = ("User.Read Mail.ReadWrite Mail.Send MailboxSettings.Read Calendars.ReadWrite "
                "offline_access")
EMAIL = "mira@example.com"
# Google's and Microsoft's client ids look so; outlook-graph-mcp wants the latter.
CLIENT = "00000000-1111-2222-3333-444444444444"


def install(folder, *names):
    """Installs what is not there yet, of the named ones or of all; returns the folder."""
    os.makedirs(folder, exist_ok=True)
    wanted = set(names or (*NPM, *PYTHON))
    for name, package in PYTHON.items():
        home = f"{folder}/{package}"
        if name in wanted and not os.path.exists(f"{home}/complete"):
            subprocess.run([sys.executable, "-m", "venv", home], check=True)
            subprocess.run([f"{home}/bin/pip", "install", "-q", "--disable-pip-version-check",
                            package], check=True)
            open(f"{home}/complete", "w").close()
    for name, package in NPM.items():
        home = f"{folder}/{package.replace('/', '_')}"
        if name in wanted and not os.path.exists(f"{home}/complete"):
            # Their build scripts are not run: none of them needs one.
            subprocess.run(["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund",
                            "--prefix", home, package], check=True, capture_output=True)
            open(f"{home}/complete", "w").close()
    return folder


def script(folder, name, path):
    """A file of an npm package."""
    package = NPM[name]
    return f"{folder}/{package.replace('/', '_')}/node_modules/{package.rsplit('@', 1)[0]}/{path}"


def program(folder, name, path):
    """A program of a Python package."""
    return f"{folder}/{PYTHON[name]}/bin/{path}"


# Signing in -------------------------------------------------------------------------


def token(sandbox, provider, email, scope=None):
    """An access token of the sandbox."""
    paths, client, usual = {
        "google": (("/o/oauth2/v2/auth", "/token"),
                   {"client_id": "interop", "client_secret": "secret"},
                   "https://www.googleapis.com/auth/gmail.modify"),
        "microsoft": (("/common/oauth2/v2.0/authorize", "/common/oauth2/v2.0/token"),
                      {"client_id": "interop"}, oidc_stage.MICROSOFT_SCOPE),
    }[provider]
    status, got = oidc_stage.grant(sandbox, *paths, email, client, scope or usual)
    if status != 200:
        raise RuntimeError(f"the sandbox gives no token: {got}")
    return got["access_token"]


def keep_workspace_token(home, sandbox, email, scopes):
    """The file in which workspace-mcp keeps a sign-in."""
    later = datetime.datetime.now() + datetime.timedelta(hours=12)
    kept = {"token": token(sandbox, "google", email, " ".join(scopes)), "refresh_token": None,
            "token_uri": sandbox + "/token", "client_id": "interop", "client_secret": "secret",
            "scopes": [*scopes, "openid", "https://www.googleapis.com/auth/userinfo.email",
                       "https://www.googleapis.com/auth/userinfo.profile"],
            "expiry": later.isoformat()}
    # It is called after the address; older versions write that as it is.
    for name in (email, base64.urlsafe_b64encode(email.encode()).decode()):
        with open(f"{home}/{name}.json", "w") as file:
            json.dump(kept, file)


def watched(command, env, cwd):
    """Starts a program; returns it and the list to which its lines come."""
    process = interop.track(subprocess.Popen(
        command, env=env, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, start_new_session=True))
    lines = []
    threading.Thread(target=lambda: lines.extend(process.stdout), daemon=True).start()
    return process, lines


def line_with(process, lines, pattern):
    """What a pattern finds in what a program prints."""
    end = time.monotonic() + interop.PATIENCE
    while time.monotonic() < end:
        found = re.search(pattern, "".join(lines))
        if found or process.poll() is not None:
            break
        time.sleep(0.05)
    if not found:
        interop.stop(process)
        raise RuntimeError(f"the sign-in prints no {pattern}: {''.join(lines)[-600:]}")
    return found


def ended(process, lines):
    """Awaits the end of a sign-in."""
    try:
        code = process.wait(interop.PATIENCE)
    except subprocess.TimeoutExpired:
        code = None
    interop.stop(process)
    if code != 0:
        raise RuntimeError(f"the sign-in ends with {code}: {''.join(lines)[-600:]}")


def by_browser(command, env, cwd):
    """Signs in with a program that prints Google's page and waits for the browser."""
    process, lines = watched(command, env, cwd)
    page = line_with(process, lines, r"https://accounts\.google\.com/\S+")[0]
    interop.browse(interop.consent(page, EMAIL))
    ended(process, lines)


def by_device(command, env, cwd):
    """Signs in with a program that prints a code for another device."""
    process, lines = watched(command, env, cwd)
    page = line_with(process, lines, r"Visit:\s+(\S+)")[1]
    code = line_with(process, lines, r"Code:\s+(\S+)")[1]
    interop.browse(page, {"user_code": code, "mailbox": EMAIL, "decision": "allow"})
    ended(process, lines)


def google_keys(path):
    """The file with a client of Google's, as its console gives it."""
    with open(path, "w") as file:
        json.dump({"installed": {
            "client_id": "interop.apps.googleusercontent.com", "client_secret": "interop-secret",
            "auth_uri": "https://accounts.google.com/o/oauth2/auth",
            "token_uri": "https://oauth2.googleapis.com/token",
            "redirect_uris": ["http://localhost:3000/oauth2callback"]}}, file)


# Starting ---------------------------------------------------------------------------


def daysheet(wire, home, env, provider, *more):
    """Ourselves. Daysheet trusts the web's roots alone, so it reaches the wire by http."""
    settings = interop.google_at(wire.plain) if provider == "google" else \
        interop.microsoft_at(wire.plain)
    own = interop.Daysheet(wire.binary, access="full", **settings, **dict(more))
    code, printed, _, _ = interop.sign_in(own, EMAIL, provider=provider)
    if code != 0:
        raise RuntimeError(printed)
    return [own.binary, "serve"], {**own.env}


def workspace(wire, home, env, tools):
    scopes = {"gmail": GMAIL_SCOPES, "calendar": CALENDAR_SCOPES}[tools]
    keep_workspace_token(home, wire.sandbox, EMAIL, scopes)
    env |= {"WORKSPACE_MCP_CREDENTIALS_DIR": home, "GOOGLE_OAUTH_CLIENT_ID": "interop",
            "GOOGLE_OAUTH_CLIENT_SECRET": "secret", "WORKSPACE_MCP_LOG_LEVEL": "ERROR"}
    return [program(wire.folder, "workspace-mcp", "workspace-mcp"), "--single-user",
            "--tools", tools], env


def gongrzhe(wire, home, env):
    os.mkdir(f"{home}/.gmail-mcp")
    google_keys(f"{home}/.gmail-mcp/gcp-oauth.keys.json")
    command = ["node", script(wire.folder, "gongrzhe", "dist/index.js")]
    by_browser([*command, "auth"], env, home)
    return command, env


def shinzolabs(wire, home, env):
    os.mkdir(f"{home}/.gmail-mcp")
    google_keys(f"{home}/.gmail-mcp/gcp-oauth.keys.json")
    env["TELEMETRY_ENABLED"] = "false"
    command = ["node", script(wire.folder, "shinzolabs", "dist/index.js")]
    by_browser([*command, "auth"], env, home)
    return command, env


def cocal(wire, home, env):
    google_keys(f"{home}/keys.json")
    env["GOOGLE_OAUTH_CREDENTIALS"] = f"{home}/keys.json"
    command = ["node", script(wire.folder, "cocal", "build/index.js")]
    by_browser([*command, "auth"], env, home)
    return command, env


def softeria(wire, home, env, *options):
    # It takes a token that somebody else has got; its own sign-in is a device code's.
    env |= {"MS365_MCP_OAUTH_TOKEN": token(wire.sandbox, "microsoft", EMAIL, GRAPH_SCOPES),
            "SILENT": "true", "LOG_LEVEL": "error"}
    return ["node", script(wire.folder, "softeria", "dist/index.js"),
            "--preset", "mail,calendar", *options], env


def outlook_graph(wire, home, env):
    with open(f"{home}/config.json", "w") as file:
        json.dump({"client_id": CLIENT, "tenant_id": "consumers", "timezone": "Europe/Berlin",
                   "allow_unencrypted_token_cache": True}, file)
    env["OUTLOOK_MCP_CONFIG_DIR"] = home
    command = program(wire.folder, "outlook-graph-mcp", "outlook-mcp")
    by_device([command, "auth"], env, home)
    return [command], env


# What stands in the rows: name, provider, what it is installed from, how it is started.
ROWS = [
    ("daysheet", "google", None, daysheet, ("google",)),
    ("daysheet, json", "google", None, daysheet, ("google", ("format", "json"))),
    ("workspace-mcp", "google", "workspace-mcp", workspace, ("gmail",)),
    ("workspace-mcp, calendar", "google", "workspace-mcp", workspace, ("calendar",)),
    ("gongrzhe", "google", "gongrzhe", gongrzhe, ()),
    ("shinzolabs", "google", "shinzolabs", shinzolabs, ()),
    ("cocal", "google", "cocal", cocal, ()),
    ("daysheet", "microsoft", None, daysheet, ("microsoft",)),
    ("daysheet, json", "microsoft", None, daysheet, ("microsoft", ("format", "json"))),
    ("softeria", "microsoft", "softeria", softeria, ()),
    ("softeria, toon", "microsoft", "softeria", softeria, ("--toon",)),
    ("outlook-graph-mcp", "microsoft", "outlook-graph-mcp", outlook_graph, ()),
]
