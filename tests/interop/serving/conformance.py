"""Interop part: the official conformance suite against `daysheet serve --http --sandbox`.

    conformance.py BINARY

All scenarios for servers that the suite has, of both eras. Many of them call a tool, prompt or
resource that only the suite's own server has, or something that Daysheet does not declare:
these are named below with the reason, and have to fail for as long as they are.
"""

import glob
import json
import os
import subprocess
import sys

import interop
import stage

checks = interop.Checks("conformance")

# Scenarios that cannot pass, by the reason.
NOT_OURS = {
    "it calls a tool of the suite's own server": """
        tools-call-image tools-call-audio tools-call-embedded-resource tools-call-mixed-content
        tools-call-with-progress tools-call-sampling tools-call-elicitation
        elicitation-sep1034-defaults elicitation-sep1330-enums json-schema-2020-12
        server-sse-polling input-required-result-basic-elicitation
        input-required-result-basic-sampling input-required-result-basic-list-roots
        input-required-result-request-state input-required-result-multiple-input-requests
        input-required-result-multi-round input-required-result-result-type
        input-required-result-tampered-state input-required-result-capability-check
        http-custom-header-server-validation""",
    "it gets a prompt of the suite's own server": """
        completion-complete prompts-get-simple prompts-get-with-args
        prompts-get-embedded-resource prompts-get-with-image
        input-required-result-non-tool-request""",
    "it reads a resource of the suite's own server": """
        resources-read-text resources-read-binary resources-templates-read""",
    "Daysheet declares no log messages": "logging-set-level tools-call-with-logging",
    "Daysheet declares no subscriptions": "resources-subscribe resources-unsubscribe",
    "Daysheet declares no tasks": """
        tasks-lifecycle tasks-capability-negotiation tasks-wire-fields
        tasks-request-state-removal tasks-mrtr-input tasks-request-headers
        tasks-dispatch-and-envelope tasks-required-task-error tasks-mrtr-composition""",
}
EXCUSED = {name: why for why, names in NOT_OURS.items() for name in names.split()}

# Scenarios of which some checks call such a tool, and all others hold.
IN_PART = {
    "server-stateless": {
        "sep-2575-server-rejects-undeclared-capability": "it calls a tool of the suite's own server",
        "sep-2575-missing-capability-http-400": "it calls a tool of the suite's own server",
    },
}

# Scenarios that say nothing here: they pass when there is no such tool, or check nothing.
VOID = set("""
    tools-call-simple-text tools-call-error tasks-status-notifications server-session-lifecycle
    input-required-result-missing-input-response input-required-result-ignore-extra-params
    input-required-result-validate-input""".split())

# What has to be among the scenarios: the transport's own.
TRANSPORT = {
    "2026-07-28": {"server-stateless", "http-header-validation", "dns-rebinding-protection",
                   "server-sse-multiple-streams", "caching", "sep-2164-resource-not-found"},
    "2025-11-25": {"server-initialize", "ping", "dns-rebinding-protection",
                   "server-sse-multiple-streams"},
}


def results(instance, revision):
    """The checks of each scenario that a revision of the protocol requires."""
    folder = interop.temp_folder("conformance")
    suite = os.path.join(os.environ["INTEROP_PACKAGES"], "node_modules", "@modelcontextprotocol",
                         "conformance", "dist", "index.js")
    done = subprocess.run(
        ["node", suite, "server", "--url", instance.base + "/mcp", "--requirements", revision,
         "--output-dir", folder],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=10 * interop.PATIENCE)
    found = {}
    for path in glob.glob(os.path.join(folder, "server-*", "checks.json")):
        name = os.path.basename(os.path.dirname(path)).removeprefix("server-").split("-2026-")[0]
        with open(path) as file:
            found[name] = json.load(file)
    if not found:
        raise RuntimeError(done.stdout[-1500:] + done.stderr[-1500:])
    return found


def compare(instance, revision):
    found = results(instance, revision)
    checks.that(f"{revision}: the transport's scenarios are run",
                TRANSPORT[revision] <= set(found), sorted(found))
    for name, made in sorted(found.items()):
        failed = {one["id"]: one.get("errorMessage") for one in made
                  if one["status"] == "FAILURE"}
        if name in VOID:
            continue
        if name in EXCUSED:
            checks.that(f"{revision}, {name} fails: {EXCUSED[name]}", failed)
        else:
            excused = IN_PART.get(name, {})
            checks.same(f"{revision}, {name}", {k: v for k, v in failed.items()
                                                if k not in excused}, {})


def main():
    daysheet = interop.Daysheet(sys.argv[1])
    instance = stage.Instance(daysheet, "--sandbox")
    for revision in TRANSPORT:
        with checks.section(revision):
            compare(instance, revision)
    checks.close()


main()
