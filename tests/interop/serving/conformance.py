"""Interop part: the official conformance suite against `daysheet serve --http`.

    conformance.py BINARY

Every scenario of the suite for servers, in both eras: first straight, then behind authorization,
and through a relay that calls tools, prompts and resources of Daysheet's by the names of the
suite's own server. The scenarios for authorization servers are for the issuer of these tests.
What cannot pass is named below with the reason, and has to fail for as long as it is. The
scenarios for clients, `auth/…` among them, are not run: Daysheet is no client.
"""

import glob
import http.client
import json
import os
import subprocess
import sys

import interop
import mcp_clients
import oidc_stage
import relay
import stage

checks = interop.Checks("conformance")

# Scenarios that cannot pass, by the reason.
NOT_OURS = {
    "no tool answers with an image, a sound or an embedded resource": """
        tools-call-image tools-call-audio tools-call-embedded-resource
        tools-call-mixed-content""",
    "no tool asks the client's model, or for its folders": """
        tools-call-sampling input-required-result-basic-sampling
        input-required-result-basic-list-roots input-required-result-multiple-input-requests
        input-required-result-capability-check""",
    "questions are for a yes or no: none has fields, and no call has two": """
        elicitation-sep1034-defaults elicitation-sep1330-enums
        input-required-result-multi-round""",
    "the schema of a tool of the suite's own is looked for": "json-schema-2020-12",
    "no tool has a parameter that is repeated in a header": "http-custom-header-server-validation",
    "prompts bring data as text: they repeat no argument, embed nothing and ask nothing": """
        prompts-get-with-args prompts-get-embedded-resource prompts-get-with-image
        input-required-result-non-tool-request""",
    "the variable of a template is looked for in the text; mcp_clients reads ours": """
        resources-templates-read""",
    "Daysheet declares no log messages": "logging-set-level tools-call-with-logging",
    "Daysheet declares no subscriptions": "resources-subscribe resources-unsubscribe",
    "Daysheet declares no tasks": """
        tasks-lifecycle tasks-capability-negotiation tasks-wire-fields
        tasks-request-state-removal tasks-mrtr-input tasks-request-headers
        tasks-dispatch-and-envelope tasks-required-task-error tasks-mrtr-composition""",
}
EXCUSED = {name: why for why, names in NOT_OURS.items() for name in names.split()}

# Scenarios of which these checks cannot pass, and all others hold.
IN_PART = {
    "server-stateless": dict.fromkeys(
        ("sep-2575-server-rejects-undeclared-capability", "sep-2575-missing-capability-http-400"),
        "no tool needs a capability of its client"),
    "server-sse-polling": dict.fromkeys(
        ("server-sse-priming-event", "server-sse-retry-field"),
        "a broken stream is not taken up again: the call is repeated"),
    "input-required-result-ignore-extra-params": {
        "sep-2322-ignore-unexpected-params": "an answer without the state of its question is none",
    },
}

# Scenarios that check nothing where there are no tasks and no sessions.
VOID = {"tasks-status-notifications", "server-session-lifecycle"}

# What has to be among the scenarios: the transport's own.
TRANSPORT = {
    "2026-07-28": {"server-stateless", "http-header-validation", "dns-rebinding-protection",
                   "server-sse-multiple-streams", "caching", "sep-2164-resource-not-found"},
    "2025-11-25": {"server-initialize", "ping", "dns-rebinding-protection",
                   "server-sse-multiple-streams"},
}

# Scenarios that call the suite's own server by names, and what of Daysheet's has them here.
RENAMED = set("""
    tools-call-simple-text tools-call-error tools-call-with-progress tools-call-elicitation
    completion-complete prompts-get-simple resources-read-text resources-read-binary
    server-sse-polling input-required-result-basic-elicitation
    input-required-result-request-state input-required-result-result-type
    input-required-result-missing-input-response input-required-result-ignore-extra-params
    input-required-result-validate-input input-required-result-tampered-state""".split())
# So many events take seconds, and are reported on.
EVENTS = [{"title": f"Conformance {number}", "start": f"2027-03-01 {number:02}h00"}
          for number in range(18)]
ASKING = ("mail_send", None)
TOOLS = {
    "test_simple_text": ("accounts", {}),
    "test_reconnection": ("accounts", {}),
    "test_error_handling": ("mail_search", {"by": "planet"}),
    "test_tool_with_progress": ("calendar_save", {
        "account": mcp_clients.ACCOUNT, "events": EVENTS, "if_conflict": "ignore"}),
    "test_elicitation": ASKING,
    "test_input_required_result_elicitation": ASKING,
    "test_input_required_result_request_state": ASKING,
    "test_input_required_result_tampered_state": ASKING,
}
PROMPTS = {"test_simple_prompt": "triage_inbox", "test_prompt_with_arguments": "review_folder"}
ARGUMENTS = {"arg1": "folder"}
# The question of a call, by the name that the suite looks for.
QUESTION, ITS = b'"confirm"', b'"user_name"'


class Renamed:
    """A relay before an instance, which gives Daysheet's parts the names of the suite's."""

    def __init__(self, instance):
        self.caller = stage.Caller(instance.port, None)
        found = self.caller.document("mail_search", q="has:attachment", limit=1)["messages"]
        read = self.caller.document("mail_read", ids=[found[0]["id"]])
        self.resources = {
            "test://static-text": mcp_clients.SCHEMA,
            "test://static-binary":
                "daysheet://attachment/" + read["attachments"][0]["id"],
        }
        self.draft = None
        self.base = before(instance, self.change, lambda piece: piece.replace(QUESTION, ITS))

    def ask(self, params):
        """The arguments of a call that asks its user: a draft, another for every question."""
        if "requestState" not in params:
            self.draft = self.caller.document(
                "mail_draft", account=mcp_clients.ACCOUNT, to=[mcp_clients.TO],
                subject="Conformance", body="Shall it go?")["draft"]
        return {"id": self.draft}

    def change(self, headers, body):
        message = json.loads(body.replace(ITS, QUESTION) or b"{}")
        params = message.get("params") or {}
        name, uri = params.get("name"), params.get("uri")
        if name in TOOLS:
            params["name"], given = TOOLS[name]
            params["arguments"] = self.ask(params) if given is None else given
        elif name in PROMPTS:
            params["name"] = PROMPTS[name]
        elif uri in self.resources:
            params["uri"] = self.resources[uri]
        elif (ref := params.get("ref") or {}).get("name") in PROMPTS:
            ref["name"] = PROMPTS[ref["name"]]
            params["argument"]["name"] = ARGUMENTS[params["argument"]["name"]]
        if "mcp-name" in headers:
            headers["mcp-name"] = params.get("name") or params.get("uri") or headers["mcp-name"]
        return json.dumps(message).encode() if body else body


def before(instance, change, answered=lambda piece: piece):
    """Starts a relay before an instance; returns its base. `change(headers, body)` returns the
    body that is passed on, and `answered` a piece of the answer."""

    def pass_on(method, target, headers, body):
        headers = {name.lower(): value for name, value in headers.items()
                   if name.lower() not in relay.HOP}
        body = change(headers, body)
        connection = http.client.HTTPConnection("127.0.0.1", instance.port,
                                                timeout=interop.PATIENCE)
        connection.request(method, target, body, headers)
        answer = connection.getresponse()
        pieces = iter(lambda: answer.read1(1 << 16), b"")
        return answer.status, dict(answer.getheaders()), map(answered, pieces)

    return f"http://127.0.0.1:{relay.serve(pass_on)}"


# The suite ------------------------------------------------------------------------


def suite(*arguments):
    """Starts the suite; returns its process and the folder of its results."""
    folder = interop.temp_folder("conformance")
    program = os.path.join(os.environ["INTEROP_PACKAGES"], "node_modules", "@modelcontextprotocol",
                           "conformance", "dist", "index.js")
    return interop.track(subprocess.Popen(
        ["node", program, *arguments, "--output-dir", folder], stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        start_new_session=True)), folder


def results(process, folder, kind):
    """The checks of each scenario that a run of the suite was for."""
    said, _ = process.communicate(timeout=10 * interop.PATIENCE)
    found = {}
    for path in glob.glob(os.path.join(folder, f"{kind}-*", "checks.json")):
        name = os.path.basename(os.path.dirname(path)).removeprefix(f"{kind}-")
        with open(path) as file:
            found[name.split("-2026-")[0]] = json.load(file)
    if not found:
        raise RuntimeError(said[-3000:])
    return found


def served(base, revision):
    """The checks of each scenario that a revision of the protocol requires of a server."""
    return results(*suite("server", "--url", base + "/mcp", "--requirements", revision), "server")


def failed(made):
    """The checks of a scenario that do not hold."""
    return {one["id"]: one.get("errorMessage") for one in made
            if one["status"] in ("FAILURE", "WARNING")}


def check(title, name, made):
    """Checks that a scenario holds, but for what cannot."""
    found = failed(made)
    checks.that(title, found.keys() == IN_PART.get(name, {}).keys(), found)


def straight(instance, renamed, revision):
    found = served(instance.base, revision)
    checks.that(f"{revision}: the transport's scenarios are run",
                TRANSPORT[revision] <= set(found), sorted(found))
    by_name = served(renamed.base, revision)
    for name in sorted(set(found) - VOID):
        made = (by_name if name in RENAMED else found)[name]
        if name in EXCUSED:
            checks.that(f"{revision}, {name} fails: {EXCUSED[name]}", failed(made))
        else:
            check(f"{revision}, {name}", name, made)


# Authorization --------------------------------------------------------------------


def client_of(issuer, callback):
    """A client that registers itself at the issuer."""
    status, _, body = relay.send(
        int(issuer.rpartition(":")[2]), "POST", "/reg", {"Content-Type": "application/json"},
        json.dumps({"redirect_uris": [callback], "application_type": "native",
                    "token_endpoint_auth_method": "none"}).encode())
    if status != 201:
        raise RuntimeError(f"the issuer registers no client: {status} {body}")
    return json.loads(body)["client_id"]


def authorization(binary):
    """The scenarios for authorization servers with Daysheet's issuer, and those for servers with
    a token of it."""
    port, back = interop.free_port(), interop.free_port()
    resource = f"http://127.0.0.1:{port}/mcp"
    callback = f"http://127.0.0.1:{back}/callback"
    issuer = stage.issuer(resource, callback)
    client = client_of(issuer, callback)
    for revision in TRANSPORT:
        process, folder = suite(
            "authorization", "--url", issuer, "--client-id", client, "--resource", resource,
            "--port", str(back), "--spec-version", revision)
        # The suite may print its link before it listens for the redirect.
        link, listens = None, False
        for line in process.stdout:
            if line.startswith(issuer):
                link = line.strip()
            elif line.startswith("Callback server started"):
                listens = True
            if link and listens:
                interop.browse(oidc_stage.browser(link, "somebody"))
                break
        for name, made in results(process, folder, "authorization-server").items():
            check(f"{revision}, {name}", name, made)
    status, got = oidc_stage.grant(
        issuer, "/auth", "/token", "somebody", {"client_id": client}, "daysheet:send",
        person=oidc_stage.browser, redirect=callback, resource=resource)
    if status != 200:
        raise RuntimeError(f"the issuer gives no token: {got}")
    instance = stage.Instance(interop.Daysheet(binary), "--issuer", issuer, port=port)

    def with_token(headers, body):
        headers["authorization"] = "Bearer " + got["access_token"]
        return body

    base = before(instance, with_token)
    for revision in TRANSPORT:
        for name, made in served(base, revision).items():
            # The relay has an origin of its own.
            if name not in {*EXCUSED, *RENAMED, *VOID, "dns-rebinding-protection"}:
                check(f"{revision}, {name}, with a token", name, made)


def main():
    binary = sys.argv[1]
    with checks.section("the part"):
        instance = stage.Instance(interop.Daysheet(binary), "--sandbox")
        renamed = Renamed(stage.Instance(interop.Daysheet(binary), "--sandbox", "--access", "full",
                                         "--fault", "delay=300ms"))
        for revision in TRANSPORT:
            with checks.section(revision):
                straight(instance, renamed, revision)
        with checks.section("authorization"):
            authorization(binary)
    checks.close()


main()
