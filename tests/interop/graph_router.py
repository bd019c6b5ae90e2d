"""What stands before and behind Prism in graph_contract.py: one reads Prism's
verdicts, the other passes on what Prism lets through.

A batch goes through whole, so that the sandbox does it once and both of its
bodies are checked. Then each part goes through Prism as a request of its own,
with the answer that the sandbox gave for it.

What Prism 5.16.0 does not do, or does otherwise:
- Without `--errors` it lets violations pass and names them in a header; those
  of a request and of its answer come together.
- It knows paths without the `/v1.0` of the description's server.
- It checks unknown query parameters, and the text of $filter and $search, not
  at all; these are the work of the sandbox.
- It takes $expand apart at every comma, also inside `attachments($select=…)`,
  and the description knows no options of an expansion.
- It reads binary answers as text: an attachment's `/$value` goes past it, and is
  held to the description here.

Such violations, and those of the description's own slips, are forgiven and
counted, each by a rule in `forgiven`; every other one is a failed check.
"""

import base64
import collections
import itertools
import json
import re
import threading
import urllib.parse

import relay

# Properties that Graph's reference has and the description, cut down to what
# was thought to be needed, has not.
CUT = {"GET /me": {"proxyAddresses"}}


# Properties of a derived type, which $select names by a cast, as Graph demands it;
# the description's list of values has those of the base type alone.
CAST = {"GET /me/messages/{id_1}/attachments": {"microsoft.graph.fileAttachment/contentId"}}
# Properties of a body that Graph's reference has and the description lacks: a letter
# that is to go later has its time among the extended ones.
CUT_BODIES = {"PATCH /me/messages/{id_1}": {"singleValueExtendedProperties"}}

# What Graph answers with, by its reference; the description, made from metadata
# alone, has 204 or 200 for all of it.
STATUS = {
    "PATCH /me/events/{id_1}": 200,
    "PATCH /me/calendars/{id_1}": 200,
    "PATCH /me/contacts/{id_1}": 200,
    "PATCH /me/mailFolders/{id_1}": 200,
    "PATCH /me/mailFolders/{id_1}/messageRules/{id_2}": 200,
    "PATCH /me/mailboxSettings": 200,
    "PATCH /me/messages/{id_1}": 200,
    "PATCH /me/outlook/masterCategories/{id_1}": 200,
    "POST /me/events/{id_1}/accept": 202,
    "POST /me/events/{id_1}/cancel": 202,
    "POST /me/events/{id_1}/decline": 202,
    "POST /me/events/{id_1}/forward": 202,
    "POST /me/events/{id_1}/tentativelyAccept": 202,
    "POST /me/messages/{id_1}/attachments/createUploadSession": 201,
    "POST /me/messages/{id_1}/copy": 201,
    "POST /me/messages/{id_1}/createForward": 201,
    "POST /me/messages/{id_1}/createReply": 201,
    "POST /me/messages/{id_1}/createReplyAll": 201,
    "POST /me/messages/{id_1}/move": 201,
    "POST /me/messages/{id_1}/send": 202,
}

# The header by which the back knows a part of a batch.
PART = "x-part-of-a-batch"


class Contract:
    """The paths of the description, and what it lets one expand."""

    def __init__(self, document):
        self.templates = [
            (path.split("/"), path, operations) for path, operations in document["paths"].items()
        ]

    def find(self, method, path):
        """The template that `path` fits, the literal one first; or nothing."""
        parts = path.split("/")
        fits = [
            (sum(want.startswith("{") for want in template), name, operations)
            for template, name, operations in self.templates
            if len(template) == len(parts) and all(
                (want == got or want.startswith("{") and got)
                for want, got in zip(template, parts)
            )
        ]
        if not fits:
            return None, None
        _, name, operations = min(fits, key=lambda fit: fit[0])
        return name, operations.get(method.lower(), {})

    def operations(self):
        """Method and path of everything that the description has."""
        methods = {"get", "post", "put", "patch", "delete"}
        return {f"{method.upper()} {path}" for _, path, operations in self.templates
                for method in methods & operations.keys()}

    @staticmethod
    def may(operation, name):
        """The values that `operation` allows for a query parameter."""
        for parameter in operation.get("parameters", []):
            if parameter.get("name") == name:
                return set(parameter["schema"].get("items", {}).get("enum", []))
        return set()


def forgiven(where, status, query, operation, place, content, message):
    """Why a violation is none of ours; nothing if it is."""
    # What holds of one's own mailbox holds of a shared one.
    where = where.replace(" /users/{id}/", " /me/")
    asked = dict(urllib.parse.parse_qsl(query))
    if place[:3] == ["request", "query", "$expand"]:
        expanded = asked.get("$expand", "")
        outer = re.sub(r"\([^()]*\)", "", expanded)
        if "(" in expanded and set(outer.split(",")) <= Contract.may(operation, "$expand"):
            return "options of an expansion are not in the description"
    if place[:3] == ["request", "query", "$select"] and where in CUT:
        unknown = set(asked.get("$select", "").split(",")) - Contract.may(operation, "$select")
        if unknown <= CUT[where]:
            return f"the description was cut: {', '.join(sorted(unknown))}"
    if place[:3] == ["request", "query", "$select"] and where in CAST:
        unknown = set(asked.get("$select", "").split(",")) - Contract.may(operation, "$select")
        if unknown <= CAST[where]:
            return f"a cast in $select: {', '.join(sorted(unknown))}"
    if place == ["request", "body"]:
        found = re.search(r"must NOT have additional properties; found '([^']*)'$", message)
        if found and set(found[1].split("', '")) <= CUT_BODIES.get(where, set()):
            return f"the description was cut: {found[1]}"
    if place[:2] == ["request", "query"] and where.endswith("/delta") and (
            "$deltatoken" in asked or "$skiptoken" in asked):
        return "a link of Graph's carries what its first request asked for"
    if place == ["response"] and STATUS.get(where) == status and "status code" in message:
        return f"the description has another status than Graph's reference: {where} {status}"
    if place == ["response", "body", "@odata.count"]:
        count = json.loads(content).get("@odata.count")
        if isinstance(count, int) and count >= 0:
            return "the description calls a count an object, OData an integer"
    return None


class Router:
    """Front and back, and what they saw."""

    def __init__(self, contract, prism, sandbox):
        self.contract, self.prism, self.sandbox = contract, prism, sandbox
        self.lock = threading.Lock()
        self.checked = collections.Counter()
        self.uncontracted = collections.Counter()
        self.violations = {"request": collections.Counter(), "response": collections.Counter()}
        self.answers = collections.Counter()
        self.forgiven = collections.Counter()
        self.batches = self.in_batches = 0
        # The last token, for the router's own check.
        self.token = "Bearer none"
        # What the sandbox has answered to the part under way of a batch, by its number.
        self.numbers = itertools.count()
        self.answered = {}
        # What the back does to the next answer; only the router's own check does it.
        self.spoil = None
        self.front = relay.serve(self.at_front)
        self.back = relay.serve(self.at_back)
        self.host = f"127.0.0.1:{self.front}"

    def at_front(self, method, target, headers, body):
        """Answers one request of Daysheet."""
        named = {name.lower(): value for name, value in headers.items()}
        self.token = named.get("authorization", self.token)
        answer = self.route(method, target, headers, body)
        if method == "POST" and target == "/v1.0/$batch" and self.contract:
            if answer[0] == 200:
                self.parts(headers, json.loads(body)["requests"],
                           json.loads(answer[2])["responses"])
        return answer

    def parts(self, headers, requests, responses):
        """Checks the parts of a batch that was done, one by one."""
        answers = {one["id"]: one for one in responses}
        ids = [one["id"] for one in requests]
        with self.lock:
            self.batches += 1
            self.in_batches += len(requests)
            # What no schema says.
            if len({id.lower() for id in ids}) < len(ids):
                self.note("POST /$batch 200", ["request", "body"], "two parts have one id")
            if sorted(ids) != sorted(one["id"] for one in responses):
                self.note("POST /$batch 200", ["response", "body"],
                          "the answers are not one for each part")
        common = {name: value for name, value in headers.items() if name.lower() == "authorization"}
        for one in requests:
            answer = answers.get(one["id"])
            if answer is None:
                continue
            got = answer.get("headers", {})
            kind = {name.lower(): value for name, value in got.items()}.get("content-type", "")
            value = answer.get("body")
            if value is None:
                content = b""
            elif "json" in kind:
                content = json.dumps(value).encode()
            else:
                # As Graph does with what is no JSON.
                content = base64.b64decode(value)
            sent = json.dumps(one["body"]).encode() if "body" in one else b""
            target = "/v1.0/" + one["url"].removeprefix("/")
            self.route(one["method"], target, {**common, **one.get("headers", {})}, sent,
                       (answer["status"], got, content))

    def route(self, method, target, headers, body, answered=None):
        """One request, through Prism if the description has its path; to the
        sandbox, unless it has `answered` already."""
        path, _, query = target.partition("?")
        path = path.removeprefix("/v1.0")
        template, operation = self.contract.find(method, path) if self.contract else (None, None)
        binary = template and re.search(r"/attachments/\{id_2\}/\$value$", template)
        if template is None or binary:
            taken = answered or relay.send(
                self.sandbox, method, target, headers, body, host=self.host)
            # Ids and addresses are of no interest in a count.
            plain = re.sub(r"/[^/]*(%40|@|[A-Za-z0-9_=%-]{40,})[^/]*", "/{id}", path)
            plain = re.sub(r"/uploads/[^/]+", "/uploads/{id}", plain)
            where = f"{method} {template or plain}"
            with self.lock:
                (self.checked if binary else self.uncontracted)[where] += 1
                self.answers[f"{where} {taken[0]}"] += 1
                if binary:
                    self.bytes_of_a_file(where, query, operation, taken)
            return taken
        headers = dict(headers)
        if answered:
            number = str(next(self.numbers))
            headers[PART] = number
            self.answered[number] = answered
        tail = f"?{query}" if query else ""
        status, got, content = relay.send(self.prism, method, path + tail, headers, body)
        said = {name.lower(): value for name, value in got.items()}.get("sl-violations")
        with self.lock:
            self.checked[f"{method} {template}"] += 1
            self.answers[f"{method} {template} {status}"] += 1
            for violation in json.loads(said) if said else []:
                place = [str(step) for step in violation.get("location", [])]
                where = f"{method} {template}"
                why = forgiven(where, status, query, operation, place, content,
                               violation.get("message", ""))
                if (answered and body == b"{}" and place == ["request"]
                        and "requestBody" not in operation):
                    why = "a part of a batch that posts has a body, whatever it does"
                if why:
                    self.forgiven[why] += 1
                else:
                    self.note(f"{where} {status}", place, violation.get("message", ""))
        got = {name: value for name, value in got.items()
               if not name.lower().startswith("access-control-") and name.lower() != "sl-violations"}
        return status, got, content

    def bytes_of_a_file(self, where, query, operation, taken):
        """What Prism would have checked of a file that goes past it."""
        status, got, content = taken
        kind = {name.lower(): value for name, value in got.items()}.get("content-type", "")
        if query:
            self.note(f"{where} {status}", ["request", "query"], query)
        if str(status) not in operation.get("responses", {}) and status // 100 != 4:
            self.note(f"{where} {status}", ["response"], "status code")
        if status == 200 and not (content and kind):
            self.note(f"{where} {status}", ["response", "body"], "no bytes, or of no type")

    def note(self, where, place, message):
        """Counts one violation."""
        side = "request" if place[:1] == ["request"] else "response"
        at = ".".join("*" if step.isdigit() else step for step in place)
        self.violations[side][f"{where}: {at}: {message[:160]}"] += 1

    def at_back(self, method, target, headers, body):
        """Passes on what Prism lets through; a part of a batch is answered already."""
        number = {name.lower(): value for name, value in headers.items()}.get(PART)
        status, got, content = self.answered.pop(number, None) or relay.send(
            self.sandbox, method, target, headers, body, host=self.host)
        if self.spoil is not None:
            content = self.spoil(content)
        return status, got, content
