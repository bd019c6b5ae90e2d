"""A reverse proxy that holds both sides to Google's published contract.

    check_google.py LISTEN_PORT UPSTREAM REPORT.jsonl

It forwards every request to UPSTREAM and writes one JSON line per exchange:
method `m`, path `p`, Google's method id `id`, `status`, and `violations`, each
beginning with REQUEST or RESPONSE. Port 0 takes a free port; the first line
printed is `listening PORT`. It listens on 127.0.0.1 only.

The contract is Gmail's, Calendar's and People's discovery documents, as the PyPI package
google-api-python-client ships them. Checked are: path, method, names, types,
ranges and enums of query parameters, the `fields` mask, required parameters,
request and response bodies, and the shape of errors. Not checked is what no
discovery document says: the language of `q`, paging, permissions, meaning.
"""

import gzip
import http.client
import http.server
import json
import os
import re
import sys
import threading
import urllib.parse
import zlib

import googleapiclient
import jsonschema

DOCUMENTS = os.path.join(
    os.path.dirname(googleapiclient.__file__), "discovery_cache", "documents"
)
APIS = {"gmail": "gmail.v1.json", "calendar": "calendar.v3.json", "people": "people.v1.json"}

# Parameters that Google takes everywhere, whether the document lists them or not.
EVERYWHERE = {
    "$.xgafv", "access_token", "alt", "callback", "fields", "key", "oauth_token",
    "prettyPrint", "quotaUser", "uploadType", "upload_protocol", "userIp",
}

INSTANT = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d"
INSTANT_WITH_OFFSET = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)"

ERROR = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["code", "message"],
            "properties": {
                "code": {"type": "integer"},
                "message": {"type": "string"},
                "status": {"type": "string"},
                "errors": {"type": "array"},
            },
        }
    },
}

# Headers that belong to one connection, not to the message.
HOP_BY_HOP = {
    "connection", "content-length", "host", "keep-alive", "proxy-authenticate",
    "proxy-authorization", "te", "trailer", "transfer-encoding", "upgrade",
}


class Method:
    """One method of one API, with the path it answers to."""

    def __init__(self, api, path, spec, common):
        self.api = api
        self.spec = spec
        self.id = spec["id"]
        self.common = common
        self.params = spec.get("parameters", {})
        pattern = re.sub(r"\\\{\\?\+?(\w+)\\\}", r"(?P<\1>[^/]+)", re.escape("/" + path))
        self.pattern = re.compile("^" + pattern + "$")

    def schema(self, side):
        """The JSON Schema of `request` or `response`; None where there is no body."""
        if side not in self.spec:
            return None
        return {"$ref": f"#/defs/{self.api}.{self.spec[side]['$ref']}"}


class Contract:
    """Google's methods and schemas, ready to check against."""

    def __init__(self):
        self.methods = []
        self.schemas = {}
        for api, file_name in APIS.items():
            with open(os.path.join(DOCUMENTS, file_name), encoding="utf-8") as file:
                document = json.load(file)
            for name, schema in document["schemas"].items():
                self.schemas[f"{api}.{name}"] = json_schema(schema, api)
            self._add(document, document, api)
        self.checkers = {}

    def _add(self, resource, document, api):
        for spec in resource.get("methods", {}).values():
            paths = [document["servicePath"] + (spec.get("flatPath") or spec["path"])]
            uploads = (spec.get("mediaUpload") or {}).get("protocols", {})
            paths += [protocol["path"].lstrip("/") for protocol in uploads.values()]
            for path in paths:
                method = Method(api, path, spec, document.get("parameters", {}))
                self.methods.append((spec["httpMethod"], method))
        for child in resource.get("resources", {}).values():
            self._add(child, document, api)

    def find(self, verb, path):
        """The method behind a path, the one with the fewest placeholders first."""
        hits = [m for v, m in self.methods if v == verb and m.pattern.match(path)]
        return min(hits, key=lambda m: len(m.pattern.groupindex), default=None)

    def errors(self, schema, value):
        """What is wrong with a body, one line each."""
        key = json.dumps(schema, sort_keys=True)
        if key not in self.checkers:
            self.checkers[key] = jsonschema.Draft7Validator({**schema, "defs": self.schemas})
        found = []
        for error in self.checkers[key].iter_errors(value):
            where = "/".join(map(str, error.absolute_path)) or "."
            found.append(f"{where}: {error.message[:160]}")
        return found

    def violations(self, exchange):
        """Google's method id and everything the exchange did wrong."""
        url = urllib.parse.urlsplit(exchange.path)
        # The pieces of a resumable upload go by PUT to where the upload was begun,
        # with an id that no document names; only its last answer is the method's.
        session = exchange.verb == "PUT" and "upload_id" in urllib.parse.parse_qs(url.query)
        if session:
            method = self.find("POST", url.path) or self.find("PUT", url.path)
            if method is None:
                return None, [f"REQUEST unknown upload {url.path}"]
            if exchange.status == 308:
                return method.id, []
            return method.id, ["RESPONSE " + line for line in self._response_body(method, exchange)]
        method = self.find(exchange.verb, url.path)
        if method is None:
            return None, [f"REQUEST unknown method or path {exchange.verb} {url.path}"]
        found = ["REQUEST " + line for line in self._query(method, url.query)]
        found += ["REQUEST " + line for line in self._request_body(method, exchange)]
        found += ["RESPONSE " + line for line in self._response_body(method, exchange)]
        return method.id, found

    def _query(self, method, query):
        given = urllib.parse.parse_qs(query, keep_blank_values=True)
        for name, values in given.items():
            spec = method.params.get(name)
            if spec is not None and spec.get("location") == "query":
                if len(values) > 1 and not spec.get("repeated"):
                    yield f"query {name} repeated but not repeatable"
                for value in values:
                    yield from parameter(name, value, spec)
            elif name not in EVERYWHERE and name not in method.common:
                yield f"unknown query parameter {name}"
        for name, spec in method.params.items():
            wanted = spec.get("location") == "query" and spec.get("required")
            if wanted and name not in given:
                yield f"query {name} missing"
        for mask in given.get("fields", []):
            yield from self._mask(mask, method)

    def _mask(self, mask, method):
        """A `fields` mask must name properties that the answer has."""
        root = method.schema("response")
        if root is None:
            yield "query fields given, but the answer has no body"
            return
        try:
            paths = mask_paths(mask)
        except ValueError as error:
            yield f"query fields={mask}: {error}"
            return
        for path in paths:
            schema = root
            for name in path:
                schema = self._step(schema, name)
                if schema is None:
                    yield f"query fields={mask}: no field {'/'.join(path)}"
                    break

    def _step(self, schema, name):
        """The schema of one property, through references and arrays."""
        while True:
            if "$ref" in schema:
                schema = self.schemas[schema["$ref"].removeprefix("#/defs/")]
            elif "items" in schema:
                schema = schema["items"]
            else:
                break
        if name == "*":
            return schema
        return schema.get("properties", {}).get(name, schema.get("additionalProperties") or None)

    def _request_body(self, method, exchange):
        if exchange.body and "json" in exchange.type:
            try:
                value = json.loads(exchange.body)
            except ValueError:
                yield "body is not JSON"
                return
            schema = method.schema("request")
            if schema is not None:
                for line in self.errors(schema, value):
                    yield "body " + line
            elif value != {}:
                yield "body sent but the method takes none"
        elif method.schema("request") and exchange.verb in ("POST", "PUT", "PATCH"):
            if not exchange.body:
                yield "body missing"

    def _response_body(self, method, exchange):
        good = exchange.status < 300
        schema = method.schema("response")
        if exchange.answer and "json" in exchange.answer_type:
            try:
                value = json.loads(exchange.answer)
            except ValueError:
                yield "body is not JSON"
                return
            if not good:
                for line in self.errors(ERROR, value):
                    yield "error " + line
            elif schema is not None:
                yield from self.errors(schema, value)
            else:
                yield "body sent but none declared"
        elif good and schema is not None and not exchange.begins:
            yield "body is not JSON" if exchange.answer else "body missing"


def json_schema(spec, api):
    """A discovery schema in the words of JSON Schema."""
    if "$ref" in spec:
        return {"$ref": f"#/defs/{api}.{spec['$ref']}"}
    out = {}
    kind, form = spec.get("type"), spec.get("format")
    if kind and kind != "any":
        out["type"] = kind
    if form in ("int64", "uint64") and kind == "string":
        out["pattern"] = r"^-?\d+$" if form == "int64" else r"^\d{1,20}$"
    if form == "date-time":
        out["pattern"] = INSTANT
    if form == "date":
        out["pattern"] = r"^\d{4}-\d\d-\d\d$"
    if form == "byte":
        out["pattern"] = r"^[A-Za-z0-9_\-+/=]*$"
    if "enum" in spec:
        out["enum"] = spec["enum"]
    if "items" in spec:
        out["items"] = json_schema(spec["items"], api)
    if "properties" in spec:
        out["properties"] = {k: json_schema(v, api) for k, v in spec["properties"].items()}
        out["additionalProperties"] = False
    if "additionalProperties" in spec:
        out["additionalProperties"] = json_schema(spec["additionalProperties"], api)
    return out


def parameter(name, value, spec):
    """What is wrong with one value of one query parameter."""
    if spec.get("type") == "integer":
        if not re.fullmatch(r"-?\d+", value):
            yield f"query {name}={value} is not an integer"
        elif "maximum" in spec and int(value) > int(spec["maximum"]):
            yield f"query {name}={value} is more than {spec['maximum']}"
        elif "minimum" in spec and int(value) < int(spec["minimum"]):
            yield f"query {name}={value} is less than {spec['minimum']}"
    if spec.get("type") == "boolean" and value not in ("true", "false"):
        yield f"query {name}={value} is not a boolean"
    if "enum" in spec and value not in spec["enum"]:
        yield f"query {name}={value} is not one of {spec['enum']}"
    if spec.get("format") == "date-time" and not re.fullmatch(INSTANT_WITH_OFFSET, value):
        yield f"query {name}={value} is not RFC 3339 with an offset"


def mask_paths(mask):
    """`a/b(c,d/e),f` as the paths a/b/c, a/b/d/e and f."""
    tokens = re.findall(r"[(),/]|[^(),/\s]+", mask)
    position = 0

    def fields():
        nonlocal position
        paths = []
        while True:
            path = []
            while True:
                if position == len(tokens) or tokens[position] in "(),/":
                    raise ValueError("a field name is missing")
                path.append(tokens[position])
                position += 1
                if position < len(tokens) and tokens[position] == "/":
                    position += 1
                else:
                    break
            if position < len(tokens) and tokens[position] == "(":
                position += 1
                paths += [path + inner for inner in fields()]
                if position == len(tokens) or tokens[position] != ")":
                    raise ValueError("a parenthesis is not closed")
                position += 1
            else:
                paths.append(path)
            if position == len(tokens) or tokens[position] != ",":
                return paths
            position += 1

    paths = fields()
    if position != len(tokens):
        raise ValueError(f"`{tokens[position]}` is out of place")
    return paths


def unpacked(body, encoding):
    """A body without its content coding; None when it cannot be undone."""
    try:
        if encoding in ("", "identity"):
            return body
        if encoding == "gzip":
            return gzip.decompress(body)
        if encoding == "deflate":
            return zlib.decompress(body)
    except (OSError, EOFError, zlib.error):
        pass
    return None


class Exchange:
    """One request and its answer, as the contract sees them."""

    def __init__(self, verb, path, kind, body, status, answer_type, answer):
        self.verb, self.path = verb, path
        self.type, self.body = kind, body
        self.status, self.answer_type, self.answer = status, answer_type, answer
        # An upload that begins is answered by a place to go on at, without a body.
        self.begins = "uploadType=resumable" in path and not answer


class Report:
    """The report file; many threads write whole lines."""

    def __init__(self, path):
        self.file = open(path, "a", buffering=1, encoding="utf-8")
        self.lock = threading.Lock()

    def add(self, verb, path, method, status, violations):
        line = {"m": verb, "p": path, "id": method, "status": status, "violations": violations}
        with self.lock:
            self.file.write(json.dumps(line) + "\n")


def handler(contract, upstream, report):
    """The request handler for one upstream."""
    base = urllib.parse.urlsplit(upstream)

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def forward(self):
            length = int(self.headers.get("content-length") or 0)
            body = self.rfile.read(length) if length else None
            kept = {k: v for k, v in self.headers.items() if k.lower() not in HOP_BY_HOP}
            # The address that the client knows, for where an upload goes on stands in
            # an answer, and has to lead through here.
            kept["Host"] = self.headers.get("host", base.netloc)
            # Only codings that `unpacked` can undo.
            if "accept-encoding" in self.headers:
                kept = {k: v for k, v in kept.items() if k.lower() != "accept-encoding"}
                kept["Accept-Encoding"] = "gzip"
            connection = http.client.HTTPConnection(base.hostname, base.port, timeout=60)
            try:
                path = base.path.rstrip("/") + self.path
                connection.request(self.command, path, body=body, headers=kept)
                answer = connection.getresponse()
                content = answer.read()
            except (OSError, http.client.HTTPException) as error:
                why = f"RESPONSE none: {type(error).__name__}: {error}"
                report.add(self.command, self.path, None, 0, [why])
                self.close_connection = True
                self.connection.close()
                return
            finally:
                connection.close()
            self.examine(body, answer, content)
            self.send_response(answer.status, answer.reason)
            for name, value in answer.getheaders():
                if name.lower() not in HOP_BY_HOP:
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(content)

        def examine(self, body, answer, content):
            encoding = (answer.getheader("content-encoding") or "").strip().lower()
            plain = unpacked(content, encoding)
            method, violations = contract.violations(
                Exchange(
                    self.command,
                    self.path,
                    self.headers.get("content-type") or "",
                    body,
                    answer.status,
                    answer.getheader("content-type") or "",
                    plain or b"",
                )
            )
            if plain is None:
                violations.append(f"RESPONSE body cannot be decoded as {encoding}")
            report.add(self.command, self.path, method, answer.status, violations)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = forward

        def log_message(self, *_):
            pass

    return Handler


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        """A client that hangs up is no news."""


def main():
    if len(sys.argv) != 4:
        sys.exit("usage: check_google.py LISTEN_PORT UPSTREAM REPORT.jsonl")
    port, upstream, path = int(sys.argv[1]), sys.argv[2].rstrip("/"), sys.argv[3]
    contract = Contract()
    server = Server(("127.0.0.1", port), handler(contract, upstream, Report(path)))
    print(f"listening {server.server_address[1]}", flush=True)
    print(f"{len(contract.methods)} methods, {len(contract.schemas)} schemas", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
