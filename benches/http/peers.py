"""Two other servers of mail over HTTP, pointed at the sandbox; for run.py.

Neither has a setting for where Google or Microsoft are, so their HTTP clients are changed: nothing
else of them is changed. They are installed as tests/interop/peers does it.
"""

import os

import installed
import interop

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


def google(folder, sandbox, email):
    """Starts google_workspace_mcp for one mailbox; returns process, address and headers."""
    home = interop.temp_folder("peer")
    installed.keep_workspace_token(home, sandbox, email, installed.GMAIL_SCOPES)
    port = interop.free_port()
    env = {**os.environ, "WORKSPACE_MCP_CREDENTIALS_DIR": home, "WORKSPACE_MCP_PORT": str(port),
           "PORT": str(port), "HOME": home, "GOOGLE_OAUTH_CLIENT_ID": "interop",
           "GOOGLE_OAUTH_CLIENT_SECRET": "secret", "OAUTHLIB_INSECURE_TRANSPORT": "1",
           "WORKSPACE_MCP_LOG_LEVEL": "ERROR"}
    process = interop.start_server(
        [installed.program(folder, "workspace-mcp", "python"), "-c", GOOGLE, sandbox + "/", "--single-user",
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
         installed.script(folder, "softeria", "dist/index.js"),
         "--http", f"127.0.0.1:{port}"], port, env=env, cwd=home)
    return process, port, {"Authorization": "Bearer " + installed.token(sandbox, "microsoft", email)}
