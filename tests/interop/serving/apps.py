"""Interop part: Daysheet's view in a strict host of MCP Apps.

    apps.py BINARY

The host is built on the extension's own AppBridge, in Chromium: a sandboxed frame with the default
policy, invisible until the handshake. Its client draws MCP Apps and cannot ask its user otherwise, as
Claude Desktop. apps.mjs has the checks of the approve card; those of the views of answers are in the
part views. With PICTURES, a folder, pictures of the card are left there,
in light and dark.
"""

import sys

import interop
import stage

checks = interop.Checks("apps")


def main():
    with checks.section("the part"):
        settings = stage.drawing(sys.argv[1])
        stage.check_in_node(checks, "apps.mjs", settings)
    checks.close()


if __name__ == "__main__":
    main()
