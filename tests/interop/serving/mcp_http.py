"""Interop part: MCP clients that others wrote talk to `daysheet serve --http`.

    mcp_http.py BINARY

The clients are the Inspector's command line, the Python SDK and the TypeScript client, each
in the older era and the modern one, and each signs in by its own OAuth code at
oidc-provider: they find the issuer by Daysheet's metadata, register there, bring PKCE, and
get a token for Daysheet alone. What they are checked for over stdio holds here.
"""

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys

import httpx2
import mcp
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientMetadata

import interop
import mcp_clients as clients
import oidc_stage
import stage

checks = clients.checks
checks.part = "mcp_http"

MODES = ("legacy", "auto", stage.MODERN)
CALLBACK = "http://127.0.0.1:9/callback"


class Http:
    """One instance for all clients."""

    def __init__(self, instance, token=None):
        self.daysheet, self.instance = instance.daysheet, instance
        self.url, self.token = instance.base + "/mcp", token

    def python(self, auth=None):
        headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        client = httpx2.AsyncClient(headers=headers, auth=auth, timeout=interop.PATIENCE)
        return streamable_http_client(self.url, http_client=client)

    def inspector(self):
        own = ["--header", f"Authorization: Bearer {self.token}"] if self.token else []
        return [self.url, "--transport", "http", *own]


def with_typescript(server, mode):
    client = f"typescript, {mode}"
    session = stage.Typescript(server.url, mode, server.token or "")
    version = session.opened["version"]
    checks.same(f"{client}: era, version {version}", version >= "2026", mode != "legacy")
    clients.check_tools(client, session("listTools")["tools"])
    search = {"name": "mail_search", "arguments": {"limit": 3}}
    clients.check_result(client, session("callTool", search))
    search["arguments"] = {"by": "planet"}
    clients.check_refusal(client, session("callTool", search))
    clients.check_schema(client, session("readResource", {"uri": clients.SCHEMA})["contents"][0]["text"])
    got = session("callTool", {"name": "no_such_tool", "arguments": {}})
    checks.that(f"{client}: an unknown tool is an error", "no_such_tool" in json.dumps(got), got)
    session.close()


# Questions ------------------------------------------------------------------------


def questions(server):
    """Users are asked in every era."""
    for mode in MODES:
        for person in (*map(clients.Person, clients.ANSWERS), None):
            with checks.section(f"python, {mode}, {person and person.action}"):
                asyncio.run(clients.asked(server, mode, person))


# OAuth ----------------------------------------------------------------------------


class Kept:
    """What the Python SDK keeps of a sign-in."""

    def __init__(self):
        self.tokens = self.client = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client):
        self.client = client


def check_request(client, url, server):
    """Checks what a client asks the issuer for."""
    asked = stage.query_of(url)
    checks.same(f"{client}: asks for a token for Daysheet", asked.get("resource"), server.url)
    checks.same(f"{client}: with PKCE", asked.get("code_challenge_method"), "S256")
    checks.that(f"{client}: asks for the server's level: {asked.get('scope')}",
                "daysheet:draft" in asked.get("scope", "").split(), asked)


async def python_signs_in(server, mode, who):
    client = f"python, {mode}, OAuth"
    kept, led, visited = Kept(), [], []

    async def visit(url):
        visited.append(url)
        led.append(await asyncio.to_thread(oidc_stage.browser, url, who))

    async def back():
        got = stage.query_of(led[-1])
        return mcp.client.auth.AuthorizationCodeResult(
            code=got.get("code"), state=got.get("state"), iss=got.get("iss"))

    auth = OAuthClientProvider(
        server.url, OAuthClientMetadata(
            client_name="interop", redirect_uris=[CALLBACK], application_type="native",
            token_endpoint_auth_method="none"), kept, visit, back)
    async with mcp.Client(server.python(auth), mode=mode,
                          read_timeout_seconds=interop.PATIENCE) as session:
        tools = [clients.wire(tool)["name"] for tool in (await session.list_tools()).tools]
        check_request(client, visited[0], server)
        checks.that(f"{client}: the tools are there", clients.TOOLS <= set(tools), tools)
        result = clients.wire(await session.call_tool("accounts", {}))
        checks.that(f"{client}: a call is answered", not result.get("isError"), result)
        checks.same(f"{client}: one sign-in", len(visited), 1)


def typescript_signs_in(server, mode, who):
    client = f"typescript, {mode}, OAuth"
    session = stage.Typescript(server.url, mode, callback=CALLBACK,
                               person=lambda url: oidc_stage.browser(url, who))
    check_request(client, session.visited, server)
    tools = {tool["name"] for tool in session("listTools")["tools"]}
    checks.that(f"{client}: the tools are there", clients.TOOLS <= tools, sorted(tools))
    result = session("callTool", {"name": "accounts", "arguments": {}})
    checks.that(f"{client}: a call is answered", result.get("content") and not result.get("isError"),
                result)
    session.close()


def inspector_signs_in(server, era, who):
    client = f"inspector, {era}, OAuth"
    callback = f"http://127.0.0.1:{interop.free_port()}/oauth/callback"
    home = interop.temp_folder("inspector")
    process = interop.track(subprocess.Popen(
        [shutil.which("mcp-inspector"), "--cli", server.url, "--transport", "http",
         "--protocol-era", era, "--callback-url", callback, "--method", "tools/list"],
        env={**os.environ, "HOME": home, "NO_COLOR": "1",
             # It wants a terminal or a browser; this one does nothing.
             "MCP_AUTO_OPEN_ENABLED": "true", "BROWSER": "true"},
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True))
    printed = []
    try:
        for line in process.stderr:
            printed.append(line)
            found = re.search(r"navigate to: .*?(http[^\s\x1b\x07]+)", line)
            if found:
                check_request(client, found.group(1), server)
                interop.browse(oidc_stage.browser(found.group(1), who))
                break
        out, rest = process.communicate(timeout=interop.PATIENCE)
    finally:
        interop.stop(process)
    try:
        tools = {tool["name"] for tool in json.loads(out)["tools"]}
    except ValueError:
        tools = set()
    checks.that(f"{client}: the tools are there", clients.TOOLS <= tools,
                out + "".join(printed) + rest)


def signing_in(binary):
    """Nobody without a token, and each client gets one by itself."""
    port = interop.free_port()
    base = f"http://127.0.0.1:{port}"
    issuer = stage.issuer(base + "/mcp", base + "/sign-in/callback")
    instance = stage.Instance(interop.Daysheet(binary, stats="always"), "--issuer", issuer, port=port)
    server = Http(instance)
    status, headers, _ = interop.browse(server.url, {})
    challenge = headers.get("www-authenticate", "")
    checks.that("without a token: 401 that leads to the metadata",
                status == 401 and "resource_metadata=" in challenge, f"{status} {challenge}")
    for mode in MODES:
        with checks.section(f"python, {mode}, OAuth"):
            asyncio.run(python_signs_in(server, mode, f"python-{mode}"))
        with checks.section(f"typescript, {mode}, OAuth"):
            typescript_signs_in(server, mode, f"typescript-{mode}")
    for era in ("legacy", "modern"):
        with checks.section(f"inspector, {era}, OAuth"):
            inspector_signs_in(server, era, f"inspector-{era}")


def main():
    binary = sys.argv[1]
    with checks.section("the part"):
        server = Http(stage.Instance(interop.Daysheet(binary, stats="always"), "--sandbox"))
        for era in ("legacy", "modern"):
            with checks.section(f"inspector, {era}"):
                clients.with_inspector(server, era)
        for mode in MODES:
            with checks.section(f"python, {mode}"):
                asyncio.run(clients.with_python(server, mode))
            with checks.section(f"typescript, {mode}"):
                with_typescript(server, mode)
        sends = Http(stage.Instance(interop.Daysheet(binary), "--sandbox", "--access", "send"))
        questions(sends)
        with checks.section("signing in"):
            signing_in(binary)
    checks.close()


if __name__ == "__main__":
    main()
