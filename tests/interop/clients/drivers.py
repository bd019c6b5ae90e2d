"""How each client is configured and started, in an empty home, on a stand-in.

A driver also has the facts that docs/reference/clients.md states about its client.
"""

import dataclasses
import json
import os

import interop
from standin import NAMESPACE, Call

PROMPT = "List my mail, then stop."


@dataclasses.dataclass
class Server:
    """The command that serves, with its environment."""

    command: list
    env: dict


@dataclasses.dataclass
class Driver:
    """One client, in one way of using it."""

    name: str
    title: str
    package: str
    program: str
    # Facts of docs/reference/clients.md.
    protocol: str
    start: object           # names of the tools that are offered at the start, None for all
    instructions: object    # "whole", "none", or the number of characters at the start
    dropped: set            # keywords that are gone from the schemas
    joined: str
    error: str              # "text" or "JSON"
    asks: bool              # it can put a question to its user
    most: int               # bytes or, of Cline, characters of a result that it passes on
    longer: str             # what of a longer one: "whole", "middle gone", "end gone"
    # With these settings it connects to no other host. opencode installs the types
    # of its plugins, and Cline fetches feature flags; no setting turns that off.
    quiet: bool = True

    def start_command(self, home, server, url):
        """Writes the settings below `home`; returns the arguments and the environment."""
        raise NotImplementedError

    def load(self, tools):
        """The calls that give the model the definitions of some tools."""
        return []

    def call(self, tool, arguments):
        """The call of one of our tools."""
        raise NotImplementedError

    def find(self, request):
        """The call of the client's own search for tools; None without one."""
        return None


def write(home, path, content):
    """Writes a file of settings; anything but a text as JSON."""
    path = os.path.join(home, path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(content if isinstance(content, str) else json.dumps(content))
    return path


def stdio(server, **more):
    """The entry of a server in the words that most clients share."""
    return {"command": server.command[0], "args": server.command[1:], "env": server.env, **more}


class Claude(Driver):
    def start_command(self, home, server, url):
        entry = stdio(server, type="stdio")
        settings = write(home, "mcp.json", {"mcpServers": {"daysheet": entry}})
        return [
            "-p", PROMPT, "--mcp-config", settings, "--strict-mcp-config",
            "--allowedTools", "mcp__daysheet", "--output-format", "json",
        ], {
            "ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "stand-in",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1",
            "DISABLE_TELEMETRY": "1", "DISABLE_ERROR_REPORTING": "1", "IS_SANDBOX": "1",
        }

    def load(self, tools):
        names = ",".join(f"mcp__daysheet__{tool}" for tool in tools if tool not in self.start)
        return [Call("ToolSearch", {"query": f"select:{names}", "max_results": 20})]

    def call(self, tool, arguments):
        return Call(f"mcp__daysheet__{tool}", arguments)

    def find(self, request):
        return Call("ToolSearch", {"query": request, "max_results": 5})


class Codex(Driver):
    """Codex with a model that its catalogue does not have."""

    model = "stand-in"

    def start_command(self, home, server, url):
        lines = [
            f"model = {json.dumps(self.model)}", 'model_provider = "standin"',
            "check_for_update_on_startup = false",
            "[analytics]", "enabled = false",
            "[features]", "plugins = false", "remote_plugin = false", "apps = false",
            "[model_providers.standin]", 'name = "standin"', f'base_url = "{url}/v1"',
            'wire_api = "responses"', 'env_key = "STANDIN_KEY"', "supports_websockets = false",
            "[mcp_servers.daysheet]", f"command = {json.dumps(server.command[0])}",
            f"args = {json.dumps(server.command[1:])}",
            # Without it, Codex starts before the server has listed its tools.
            "required = true",
            "[mcp_servers.daysheet.env]",
            *(f"{name} = {json.dumps(value)}" for name, value in server.env.items()),
        ]
        write(home, ".codex/config.toml", "\n".join(lines) + "\n")
        return ["exec", "--skip-git-repo-check", "--json",
                "--dangerously-bypass-approvals-and-sandbox", PROMPT], {"STANDIN_KEY": "stand-in"}

    def call(self, tool, arguments):
        return Call(tool, arguments, NAMESPACE)


class CodexSearching(Codex):
    """Codex with a model that finds tools by the client's search."""

    model = "gpt-5.5"

    def load(self, tools):
        return [Call("tool_search", {"query": "daysheet mail", "limit": 20}, kind="search")]

    def find(self, request):
        return Call("tool_search", {"query": request}, kind="search")


class CodexWriting(Codex):
    """Codex with a model that calls tools from JavaScript, as most of its models do."""

    model = "gpt-6.2-sol"

    def load(self, tools):
        ours = "ALL_TOOLS.filter(tool => tool.name.includes('daysheet'))"
        return [Call("exec", f"text({ours})", "functions", "custom")]

    def call(self, tool, arguments):
        script = f"text(await tools.{NAMESPACE}__{tool}({json.dumps(arguments)}))"
        return Call("exec", script, "functions", "custom")


class GeminiCli(Driver):
    def start_command(self, home, server, url):
        write(home, ".gemini/settings.json", {
            "security": {"auth": {"selectedType": "gemini-api-key"},
                         "folderTrust": {"enabled": False}},
            "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
            "privacy": {"usageStatisticsEnabled": False}, "telemetry": {"enabled": False},
            "mcpServers": {"daysheet": stdio(server)},
        })
        return ["-m", "gemini-2.5-pro", "--skip-trust", "--approval-mode", "yolo",
                "-o", "json", "-p", PROMPT], {
            "GEMINI_API_KEY": "stand-in", "GOOGLE_GEMINI_BASE_URL": url,
            "GEMINI_CLI_NO_RELAUNCH": "true",
        }

    def call(self, tool, arguments):
        return Call(f"mcp_daysheet_{tool}", arguments)


class Opencode(Driver):
    def start_command(self, home, server, url):
        write(home, ".config/opencode/opencode.json", {
            "autoupdate": False, "share": "disabled",
            "provider": {"standin": {
                "npm": "@ai-sdk/anthropic", "name": "stand-in",
                "options": {"baseURL": f"{url}/v1", "apiKey": "stand-in"},
                "models": {"m": {"name": "m", "tool_call": True,
                                 "limit": {"context": 200_000, "output": 8_000}}},
            }},
            "model": "standin/m", "small_model": "standin/m",
            "mcp": {"daysheet": {"type": "local", "command": server.command,
                                 "environment": server.env, "enabled": True}},
        })
        return ["run", "--auto", "--format", "json", "-m", "standin/m", PROMPT], {
            "OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_DISABLE_LSP_DOWNLOAD": "1", "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
        }

    def call(self, tool, arguments):
        return Call(f"daysheet_{tool}", arguments)


class Cline(Driver):
    def start_command(self, home, server, url):
        folder = ".cline/data/settings"
        write(home, f"{folder}/cline_mcp_settings.json", {
            "mcpServers": {"daysheet": {"transport": stdio(server, type="stdio")}}})
        write(home, f"{folder}/global-settings.json",
              {"telemetryOptOut": True, "autoUpdateEnabled": False})
        write(home, f"{folder}/providers.json", {
            "version": 1, "lastUsedProvider": "anthropic", "modes": {},
            "providers": {"anthropic": {
                "settings": {"provider": "anthropic", "model": "claude-sonnet-4-5",
                             "apiKey": "stand-in", "baseUrl": f"{url}/v1"},
                "updatedAt": "2026-01-01T00:00:00.000Z", "tokenSource": "manual",
            }}})
        return ["--json", "--auto-approve", "true", "-P", "anthropic", "-k", "stand-in",
                "-m", "claude-sonnet-4-5", "-t", "80", PROMPT], {"CLINE_NO_AUTO_UPDATE": "1"}

    def call(self, tool, arguments):
        return Call(f"daysheet__{tool}", arguments)


CODEX = {"package": "@openai/codex", "program": "codex", "protocol": "2025-06-18", "asks": True,
         "dropped": {"default", "maximum"}}

DRIVERS = [
    Claude("claude", "Claude Code", "@anthropic-ai/claude-code", "claude", "2026-07-28",
           start={"mail_search", "brief"}, instructions="whole", dropped=set(),
           joined="separate", error="text", asks=True, most=200_000, longer="whole"),
    CodexWriting("codex-code", "Codex, gpt-6.2-sol", start=set(), instructions=247,
                 joined="JSON", error="JSON", most=40_000, longer="middle gone", **CODEX),
    CodexSearching("codex-search", "Codex, gpt-5.5", start=set(), instructions=247,
                   joined="separate", error="text", most=48_000, longer="end gone", **CODEX),
    Codex("codex", "Codex, other models", start=None, instructions="whole", joined="separate",
          error="text", most=12_000, longer="end gone", **CODEX),
    GeminiCli("gemini", "Gemini CLI", "@google/gemini-cli", "gemini", "2025-06-18",
              start=None, instructions="whole", dropped=set(),
              joined="one text, each block in a tag of its own", error="JSON", asks=False,
              most=1_000_000, longer="whole"),
    Opencode("opencode", "opencode", "opencode-ai", "opencode", "2025-11-25",
             start=None, instructions="whole", dropped=set(),
             joined="one text, an empty line between", error="text", asks=False,
             most=50 * 1024, longer="end gone", quiet=False),
    Cline("cline", "Cline CLI", "cline", "cline", "2024-11-05",
          start=None, instructions="none", dropped=set(), joined="JSON", error="JSON",
          asks=False, most=8_000, longer="middle gone", quiet=False),
]


def environment(home, url, more):
    """The environment of a client: an empty home, and the stand-in as the proxy for all hosts."""
    proxies = {name: url for base in ("http_proxy", "https_proxy", "all_proxy")
               for name in (base, base.upper())}
    return {
        "PATH": os.environ["PATH"], "HOME": home, "TMPDIR": os.path.join(home, "tmp"),
        "LANG": "C.UTF-8", "TERM": "dumb", "NO_COLOR": "1", "CI": "1", "SHELL": "/bin/sh",
        "NO_PROXY": "127.0.0.1,localhost", "no_proxy": "127.0.0.1,localhost",
        "NODE_USE_ENV_PROXY": "1",
        **proxies, **more,
    }


def installed(driver):
    """The version of a client's package, and the path of its program."""
    modules = os.path.join(os.environ["INTEROP_CLIENTS"], "node_modules")
    with open(os.path.join(modules, driver.package, "package.json"), encoding="utf-8") as file:
        return json.load(file)["version"], os.path.join(modules, ".bin", driver.program)


def new_home():
    home = interop.temp_folder("client")
    for folder in ("work", "tmp"):
        os.mkdir(os.path.join(home, folder))
    return home
