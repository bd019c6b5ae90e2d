"""A stand-in, on loopback, for the models that the clients talk to.

It speaks the streamed form of three APIs: Anthropic Messages, OpenAI Responses
and Gemini generateContent. It plays a script: a request whose conversation has
N tool results is answered with call N of the script, and after the last one
with a word. It keeps every request, so that a test can look up what the model
would have read. It is also the proxy for everything else that a client wants
from the network, and refuses it.
"""

import collections
import http.server
import json
import re
import threading

# Names that the clients give to our tools, where they use no namespace.
OURS = re.compile(r"^(?:mcp_{1,2})?daysheet_{1,2}(\w+)$")
NAMESPACE = "mcp__daysheet"

# A tool call of the script. `kind` is "function" or one of two that only the
# Responses API has: "custom" (the input is a text) and "search".
Call = collections.namedtuple("Call", "name arguments namespace kind",
                              defaults=(None, "function"))


def compact(value):
    """JSON as clients write it."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def texts_of(content):
    """The texts of a result that is a text or a list of parts; other parts as JSON."""
    if isinstance(content, str):
        return [content]
    return [part["text"] if isinstance(part.get("text"), str) else compact(part)
            for part in content or []]


class Anthropic:
    """POST /v1/messages."""

    path = re.compile(r"/messages$")

    @staticmethod
    def tools(body):
        return body.get("tools") or []

    @staticmethod
    def results(body):
        blocks = [block for message in body.get("messages", [])
                  if isinstance(message["content"], list) for block in message["content"]]
        return [texts_of(block.get("content"))
                for block in blocks if block.get("type") == "tool_result"]

    @staticmethod
    def events(body, number, call):
        usage = {"input_tokens": 100, "output_tokens": 10}
        if call:
            block = {"type": "tool_use", "id": f"toolu_{number}", "name": call.name, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(call.arguments)}
        else:
            block = {"type": "text", "text": ""}
            delta = {"type": "text_delta", "text": "done"}
        reason = "tool_use" if call else "end_turn"
        events = [
            {"type": "message_start", "message": {
                "id": f"msg_{number}", "type": "message", "role": "assistant", "content": [],
                "model": body["model"], "stop_reason": None, "stop_sequence": None,
                "usage": usage}},
            {"type": "content_block_start", "index": 0, "content_block": block},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "usage": usage,
             "delta": {"stop_reason": reason, "stop_sequence": None}},
            {"type": "message_stop"},
        ]
        return [(event["type"], event) for event in events]


class Responses:
    """POST /v1/responses."""

    path = re.compile(r"/responses$")

    @staticmethod
    def tools(body):
        """Also the tools that came with the conversation: Codex loads them there."""
        found = list(body.get("tools") or [])
        for item in body.get("input", []):
            if item.get("type") in ("additional_tools", "tool_search_output"):
                found += item.get("tools") or []
        return found

    @staticmethod
    def results(body):
        return [texts_of(item.get("output", item.get("tools")))
                for item in body.get("input", []) if item.get("type", "").endswith("_output")]

    @staticmethod
    def events(body, number, call):
        item = {"id": f"item_{number}", "status": "completed"}
        if call is None:
            item |= {"type": "message", "role": "assistant", "content": [
                {"type": "output_text", "text": "done", "annotations": []}]}
        else:
            item["call_id"] = f"call_{number}"
            if call.kind == "search":
                item |= {"type": "tool_search_call", "execution": "client",
                         "arguments": call.arguments}
            elif call.kind == "custom":
                item |= {"type": "custom_tool_call", "name": call.name, "input": call.arguments}
            else:
                item |= {"type": "function_call", "name": call.name,
                         "arguments": json.dumps(call.arguments)}
            if call.namespace:
                item["namespace"] = call.namespace
        answer = {"id": f"resp_{number}", "object": "response", "created_at": 0,
                  "model": body["model"]}
        usage = {"input_tokens": 100, "output_tokens": 10, "total_tokens": 110}
        events = [
            {"type": "response.created",
             "response": answer | {"status": "in_progress", "output": []}},
            {"type": "response.output_item.added", "output_index": 0, "item": item},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed",
             "response": answer | {"status": "completed", "output": [item], "usage": usage}},
        ]
        return [(event["type"], event | {"sequence_number": at})
                for at, event in enumerate(events)]


class Gemini:
    """POST /v1beta/models/MODEL:streamGenerateContent."""

    path = re.compile(r":streamGenerateContent$")

    @staticmethod
    def tools(body):
        return [tool for group in body.get("tools") or []
                for tool in group.get("functionDeclarations", [])]

    @staticmethod
    def results(body):
        answers = [part["functionResponse"]["response"]
                   for content in body.get("contents", []) for part in content.get("parts", [])
                   if "functionResponse" in part]
        return [[value if isinstance(value, str) else compact(value)
                 for value in answer.values()] for answer in answers]

    @staticmethod
    def events(body, number, call):
        part = {"text": "done"}
        if call:
            part = {"functionCall": {"id": f"call-{number}", "name": call.name,
                                     "args": call.arguments}}
        return [(None, {
            "candidates": [{"index": 0, "finishReason": "STOP",
                            "content": {"role": "model", "parts": [part]}}],
            "usageMetadata": {"promptTokenCount": 100, "candidatesTokenCount": 10,
                              "totalTokenCount": 110},
        })]


class Request:
    """A request to the model. `results` are the tool results in it, each as a list of texts."""

    def __init__(self, api, body):
        self.api, self.body = api, body
        self.results = api.results(body)

    def tools(self):
        """Every tool with its namespace, None without one."""
        for tool in self.api.tools(self.body):
            if tool.get("type") == "namespace":
                for inner in tool.get("tools", []):
                    yield tool["name"], inner
            else:
                yield None, tool

    def definitions(self):
        """The definitions of our tools by their names."""
        found = {}
        for namespace, tool in self.tools():
            name = OURS.match(tool.get("name", ""))
            if namespace == NAMESPACE:
                found[tool["name"].strip("_")] = tool
            elif name:
                found[name[1]] = tool
        return found

    def text(self):
        """The whole request as JSON."""
        return compact(self.body)


class Standin:
    """The server. `script` is a list of calls; `keep` a folder for the requests, or None."""

    def __init__(self, script, keep=None):
        self.script, self.keep = script, keep
        self.requests, self.refused, self.unknown = [], [], []
        self._lock = threading.Lock()
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler_of(self))
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self):
        self._server.shutdown()
        self._server.server_close()

    def readings(self):
        """The texts of each tool result, from the first request that has it."""
        found = []
        for request in self.requests:
            found += request.results[len(found):]
        return found

    def answer(self, path, body):
        """The events that answer a request; None if it is of no known API."""
        api = next((api for api in (Anthropic, Responses, Gemini) if api.path.search(path)), None)
        if api is None:
            self.unknown.append(path)
            return None
        request = Request(api, body)
        with self._lock:
            # Clients also ask for a title and the like, and offer no tools then.
            asked = any(True for _ in request.tools())
            if asked:
                self.requests.append(request)
            number = len(self.requests)
            if self.keep:
                name = f"{number:03}" if asked else f"{number:03}-aside-{threading.get_ident()}"
                with open(f"{self.keep}/{name}.json", "w", encoding="utf-8") as file:
                    json.dump(body, file, ensure_ascii=False, indent=1)
        at = len(request.results)
        call = self.script[at] if asked and at < len(self.script) else None
        return api.events(body, number, call)


def handler_of(standin):
    """The class of handlers of a stand-in."""
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_):
            pass

        def do_CONNECT(self):
            standin.refused.append(self.path)
            self.send_error(403)

        def do_GET(self):
            if self.path.startswith("http"):
                return self.do_CONNECT()
            return self._send("application/json", "{}")

        def do_HEAD(self):
            self._send("application/json", "")

        def do_POST(self):
            data = self._body()
            if self.path.startswith("http"):
                return self.do_CONNECT()
            events = standin.answer(self.path.split("?")[0], json.loads(data or b"{}"))
            if events is None:
                return self._send("application/json", "{}")
            lines = [(f"event: {name}\n" if name else "") + f"data: {json.dumps(event)}\n\n"
                     for name, event in events]
            return self._send("text/event-stream", "".join(lines))

        def _body(self):
            if self.headers.get("transfer-encoding") != "chunked":
                return self.rfile.read(int(self.headers.get("content-length") or 0))
            data = b""
            while size := int(self.rfile.readline().split(b";")[0], 16):
                data += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
            return data

        def _send(self, kind, text):
            data = text.encode()
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    return Handler
