"""The entries of `daysheet install`, compared with those that the clients' own commands write.

Called by clients.py with the installed clients. A second run of `install` must find nothing to
change in a file that the client wrote itself, apart from members that its command leaves out.
"""

import json
import os
import subprocess
import tomllib

import drivers

# The command of each client that adds a server, and where its settings are.
OWN = {
    "claude": ("claude-code", ".claude.json", ["mcpServers"], [
        "mcp", "add", "-s", "user", "daysheet", "-e", "{env}", "--", "{program}", "serve"]),
    "codex": ("codex", ".codex/config.toml", ["mcp_servers"], [
        "mcp", "add", "daysheet", "--env", "{env}", "--", "{program}", "serve"]),
    "gemini": ("gemini", ".gemini/settings.json", ["mcpServers"], [
        "mcp", "add", "-s", "user", "-e", "{env}", "daysheet", "{program}", "serve"]),
    "opencode": ("opencode", ".config/opencode/opencode.jsonc", ["mcp"], [
        "mcp", "add", "daysheet", "--env", "{env}", "--", "{program}", "serve"]),
}
# Longest run of a client's command, in seconds.
PATIENCE = 120
# Members that only our entries have: they are the defaults of the client.
DEFAULTS = {"opencode": {"enabled": True}}


def entry_in(path, keys):
    """The entry `daysheet` of a settings file."""
    with open(path, "rb") as file:
        settings = tomllib.load(file) if path.endswith(".toml") else json.load(file)
    for key in keys:
        settings = settings[key]
    return settings["daysheet"]


def compare(checks, driver, binary):
    """Adds Daysheet by the client's command and by ours, and compares the entries."""
    client, path, keys, arguments = OWN[driver.program]
    env = "DAYSHEET_ZONE=Europe/Lisbon"
    homes = [drivers.new_home(), drivers.new_home()]
    paths = [os.path.join(home, path) for home in homes]
    _, program = drivers.installed(driver)
    words = {"{env}": env, "{program}": binary}
    subprocess.run([program, *(words.get(word, word) for word in arguments)],
                   env=drivers.environment(homes[0], "http://127.0.0.1:9", {}),
                   cwd=os.path.join(homes[0], "work"), stdin=subprocess.DEVNULL,
                   capture_output=True, timeout=PATIENCE, check=False)
    ours = {"HOME": homes[1], "DAYSHEET_ZONE": "Europe/Lisbon"}
    subprocess.run([binary, "install", client, "--yes"], env=ours, capture_output=True,
                   timeout=PATIENCE, check=True)
    # Without a file, Daysheet writes the JSON one.
    if not os.path.exists(paths[1]):
        paths[1] = paths[1].removesuffix("c")
    theirs, entry = (entry_in(path, keys) for path in paths)
    checks.same(f"{driver.title}: the entry is the one of its own command", entry,
                {**theirs, **DEFAULTS.get(driver.program, {})})
