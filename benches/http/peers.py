"""Two other servers of mail over HTTP, pointed at the sandbox; for run.py.

Neither has a setting for where Google or Microsoft are, so their HTTP clients are changed: nothing
else of them is changed. They are installed from PyPI and npm into a folder that is kept.
"""

import base64
import datetime
import json
import os
import subprocess
import sys

import interop
import oidc_stage

VERSIONS = {"google": "workspace-mcp==2.2.1", "microsoft": "@softeria/ms-365-mcp-server@0.155.0"}

# Runs workspace-mcp with another root of Google's APIs.
GOOGLE = """\
import googleapiclient.discovery as discovery, runpy, sys
real, root = discovery.build, sys.argv[1]
def build(*given, **named):
    return real(*given, client_options={"api_endpoint": root}, **named)
discovery.build = build
sys.argv = ["workspace-mcp", *sys.argv[2:]]
runpy.run_module("main", run_name="__main__")
"""

# Loaded before ms-365-mcp-server: another origin of Graph.
MICROSOFT = """\
const real = globalThis.fetch;
globalThis.fetch = (target, options) => real(
  String(target.url ?? target).replace("https://graph.microsoft.com", process.env.GRAPH), options);
"""


def install(folder):
    """Installs what is not there yet; returns the folder."""
    os.makedirs(folder, exist_ok=True)
    if not os.path.exists(f"{folder}/python/bin/workspace-mcp"):
        subprocess.run([sys.executable, "-m", "venv", f"{folder}/python"], check=True)
        subprocess.run([f"{folder}/python/bin/pip", "install", "-q", VERSIONS["google"]],
                       check=True)
    if not os.path.isdir(f"{folder}/node_modules/@softeria"):
        subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--prefix", folder,
                        VERSIONS["microsoft"]], check=True, capture_output=True)
    return folder


def token(sandbox, provider, email):
    """An access token and a refresh token of the sandbox."""
    paths, client, scope = {
        "google": (("/o/oauth2/v2/auth", "/token"),
                   {"client_id": "interop", "client_secret": "secret"},
                   "https://www.googleapis.com/auth/gmail.modify"),
        "microsoft": (("/common/oauth2/v2.0/authorize", "/common/oauth2/v2.0/token"),
                      {"client_id": "interop"}, oidc_stage.MICROSOFT_SCOPE),
    }[provider]
    status, got = oidc_stage.grant(sandbox, *paths, email, client, scope)
    if status != 200:
        raise RuntimeError(f"the sandbox gives no token: {got}")
    return got["access_token"]


def google(folder, sandbox, email):
    """Starts google_workspace_mcp for one mailbox; returns process, address and headers."""
    home = interop.temp_folder("peer")
    scopes = [f"https://www.googleapis.com/auth/gmail.{name}" for name in
              ("readonly", "send", "compose", "modify", "labels", "settings.basic")]
    later = datetime.datetime.now() + datetime.timedelta(hours=12)
    kept = {"token": token(sandbox, "google", email), "refresh_token": None,
            "token_uri": sandbox + "/token", "client_id": "interop", "client_secret": "secret",
            "scopes": [*scopes, "openid", "https://www.googleapis.com/auth/userinfo.email",
                       "https://www.googleapis.com/auth/userinfo.profile"],
            "expiry": later.isoformat()}
    # Its file is called after the address; older versions write it as it is.
    for name in (email, base64.urlsafe_b64encode(email.encode()).decode()):
        with open(f"{home}/{name}.json", "w") as file:
            json.dump(kept, file)
    port = interop.free_port()
    env = {**os.environ, "WORKSPACE_MCP_CREDENTIALS_DIR": home, "WORKSPACE_MCP_PORT": str(port),
           "PORT": str(port), "HOME": home, "GOOGLE_OAUTH_CLIENT_ID": "interop",
           "GOOGLE_OAUTH_CLIENT_SECRET": "secret", "OAUTHLIB_INSECURE_TRANSPORT": "1",
           "WORKSPACE_MCP_LOG_LEVEL": "ERROR"}
    process = interop.start_server(
        [f"{folder}/python/bin/python", "-c", GOOGLE, sandbox + "/", "--single-user",
         "--transport", "streamable-http", "--tools", "gmail"], port, env=env, cwd=home)
    return process, port, {}


def microsoft(folder, sandbox, email):
    """Starts ms-365-mcp-server, which passes on the token that it is called with."""
    home = interop.temp_folder("peer")
    with open(f"{home}/graph.mjs", "w") as file:
        file.write(MICROSOFT)
    port = interop.free_port()
    env = {**os.environ, "GRAPH": sandbox, "HOME": home, "MS365_MCP_RATE_LIMIT_DISABLED": "1",
           "LOG_LEVEL": "error", "SILENT": "true"}
    process = interop.start_server(
        ["node", "--import", f"{home}/graph.mjs",
         f"{folder}/node_modules/@softeria/ms-365-mcp-server/dist/index.js",
         "--http", f"127.0.0.1:{port}"], port, env=env, cwd=home)
    return process, port, {"Authorization": "Bearer " + token(sandbox, "microsoft", email)}
