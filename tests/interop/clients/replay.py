"""An MCP server on stdio with one tool, which returns recorded results one after the other.

    replay.py FILE

FILE is a JSON array of results of `tools/call`.
"""

import json
import sys

TOOL = {
    "name": "mail_replay",
    "description": "Daysheet mail: returns the recorded result of that number.",
    "inputSchema": {
        "type": "object", "properties": {"number": {"type": "integer"}}, "required": ["number"],
    },
    "annotations": {"readOnlyHint": True},
}


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        results = json.load(file)
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message:
            continue
        params = message.get("params", {})
        answer = {"jsonrpc": "2.0", "id": message["id"]}
        if message["method"] == "initialize":
            answer["result"] = {
                "protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}},
                "serverInfo": {"name": "replay", "version": "1"},
            }
        elif message["method"] == "tools/list":
            answer["result"] = {"tools": [TOOL]}
        elif message["method"] == "tools/call":
            answer["result"] = results[params["arguments"]["number"]]
        elif message["method"] == "ping":
            answer["result"] = {}
        else:
            answer["error"] = {"code": -32601, "message": "not found"}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
