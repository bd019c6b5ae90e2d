"""Interop part: Daysheet's view in a strict host of MCP Apps.

    apps.py BINARY

The host is built on the extension's own AppBridge, in Chromium: a sandboxed frame with the default
policy, invisible until the handshake. Its client draws MCP Apps and cannot ask its user otherwise, as
Claude Desktop. apps.mjs has the checks. With PICTURES, a folder, pictures of the card are left there,
in light and dark.
"""

import os
import sys

import interop
import stage

checks = interop.Checks("apps")


def main():
    with checks.section("the part"):
        base, otherwise = (
            stage.Instance(interop.Daysheet(sys.argv[1], **more), "--sandbox", "--access", "send").base
            for more in ({}, {"approve": "terminal"}))
        settings = {"base": base, "otherwise": otherwise,
                    "chromium": stage.program("chromium", "google-chrome"),
                    "pictures": os.environ.get("PICTURES", "")}
        for module in ("apps_common.mjs", "apps_host.mjs"):
            stage.node_script(module)
        stage.check_in_node(checks, "apps.mjs", settings)
    checks.close()


if __name__ == "__main__":
    main()
