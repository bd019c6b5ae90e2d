"""Interop part: Daysheet's view in hosts of MCP Apps.

    apps.py BINARY

The strict host is built on the extension's own AppBridge, in Chromium: a sandboxed frame with the
default policy, invisible until the handshake. Its client draws MCP Apps and cannot ask its user
otherwise, as Claude Desktop. apps.mjs has the checks of the approve card; those of the views of
answers are in the part views. The other host is the web page of the MCP Inspector, which draws all of
them; inspector.mjs has its checks. With PICTURES, a folder, pictures of the card are left there, in
light and dark.
"""

import json
import os
import sys

import interop
import stage

checks = interop.Checks("apps")

# The word that opens the Inspector's page, whose server listens on this machine alone.
WORD = "inspected"


def inspector(base):
    """Starts the server of the Inspector's web page, for Daysheet at `base`; returns its address."""
    port, home = interop.free_port(), interop.temp_folder("inspector")
    # Pages that are opened by a link at the same time would both add this entry, and one of them
    # would never connect.
    catalog = os.path.join(home, "servers.json")
    with open(catalog, "w") as file:
        entry = {"type": "streamable-http", "url": f"{base}/mcp"}
        json.dump({"mcpServers": {"deep-link": entry}}, file)
    env = {**os.environ, "HOME": home, "HOST": "127.0.0.1",
           "CLIENT_PORT": str(port), "MCP_SANDBOX_PORT": "0", "MCP_APP_ORIGIN_PORT": "0",
           "MCP_AUTO_OPEN_ENABLED": "false", "MCP_INSPECTOR_API_TOKEN": WORD,
           "MCP_INSPECTOR_SECRET_STORE": "memory"}
    command = [stage.program("mcp-inspector"), "--web", "--catalog", catalog]
    interop.start_server(command, port, env)
    return f"http://127.0.0.1:{port}/"


def main():
    with checks.section("the part"):
        settings = stage.drawing(sys.argv[1])
        stage.check_in_node(checks, "apps.mjs", settings)
        stage.check_in_node(checks, "inspector.mjs",
                            {**settings, "inspector": inspector(settings["base"]), "word": WORD}, "inspector, ")
    checks.close()


if __name__ == "__main__":
    main()
