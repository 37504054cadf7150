"""An MCP server without a library, for tests: `python tool_server.py MODE` speaks JSON-RPC on its
pipes, well or badly.
"""

import json
import sys
import time

ECHO = {
    "name": "echo",
    "description": "Says it again.",
    "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}},
}
LIES = [
    {**ECHO, "name": "no\x1b[31mschema", "inputSchema": {"type": "object"}},
    {
        **ECHO,
        "name": "long",
        "inputSchema": {"type": "object", "properties": {f"p{n}": {} for n in range(2_000)}},
    },
    {**ECHO, "name": "x" * 100},
    {**ECHO, "name": "repo/issues.list"},
    ECHO,
    {**ECHO, "name": "wordy", "description": "\x1b[31m" + "much " * 2_000},
]
WRONG = [
    7,
    {**ECHO, "name": 7},
    {**ECHO, "name": None},
    {"name": "bare"},
    {**ECHO, "name": "listed", "inputSchema": [1]},
    {**ECHO, "name": "typed", "inputSchema": {"type": "object", "properties": {"a": 5}}},
    {**ECHO, "description": {"a": 1}, "annotations": 5, "outputSchema": "x"},
]
# A regular expression that takes many seconds for the text that the tool returns
SLOW = {
    **ECHO,
    "inputSchema": {"type": "object", "properties": {"text": {"pattern": "^(a+)+$"}}},
    "outputSchema": {
        "type": "object",
        "properties": {"x": {"type": "string", "pattern": "^(a+)+$"}},
    },
}


def send(message: object) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def text(content: str, *, is_error: bool = False) -> dict[str, object]:
    return {"content": [{"type": "text", "text": content}], "isError": is_error}


def call(mode: str, arguments: dict[str, object]) -> object:
    if mode == "dies":
        print("out of luck", file=sys.stderr)
        sys.exit(3)
    if mode == "hangs":
        time.sleep(600)
    if mode == "floods":
        sys.stdout.write('{"jsonrpc": "2.0", "x": "')
        while True:
            sys.stdout.write("x" * 1_000_000)
    if mode == "fails":
        return text("no such issue", is_error=True)
    if mode == "long":
        return text("\n".join(f"line {n}" for n in range(300_000)))
    if mode == "slow pattern":
        return {**text("done"), "structuredContent": {"x": "a" * 28 + "!"}}
    if mode == "nonsense":
        return {"content": 7}
    return text(f"echo: {arguments.get('text')}\x1b[31m")


def initialized(request: dict) -> dict:
    return {
        "protocolVersion": request["params"]["protocolVersion"],
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "test", "version": "1"},
    }


def listed(mode: str, request: dict) -> dict:
    start = int((request.get("params") or {}).get("cursor", 0))
    end = start + 75
    count = {"hundred": 100, "many": 300}.get(mode, 0)
    page = [{**ECHO, "name": f"t{n}"} for n in range(start, min(end, count))]
    special = {"lies": LIES, "wrong": WRONG, "slow pattern": [SLOW]}
    tools = special.get(mode) or page or [ECHO]
    following = {"nextCursor": str(end)} if end < count else {}
    return {"tools": tools, **following}


def answer(mode: str, request: dict) -> None:
    method = request.get("method")
    id_ = request.get("id")
    if method == "initialize":
        result: object = initialized(request)
    elif method == "tools/list":
        result = listed(mode, request)
    elif method == "tools/call":
        result = call(mode, request["params"].get("arguments") or {})
    else:
        if id_ is not None:
            error = {"code": -32601, "message": f"no method {method}"}
            send({"jsonrpc": "2.0", "id": id_, "error": error})
        return
    if mode == "wrong ids" and method == "tools/call":
        for wrong in ("x", 10**30, -1, 2.5):
            send({"jsonrpc": "2.0", "id": wrong, "result": text("not yours")})
        return
    if mode == "noisy":
        sys.stderr.write("noise \x1b[31m" * 100_000)
    send({"jsonrpc": "2.0", "id": id_, "result": result})


def main(mode: str) -> None:
    if mode == "silent":
        time.sleep(600)
    if mode == "garbage":
        print("Hello! I am not JSON.", flush=True)
    for line in sys.stdin:
        answer(mode, json.loads(line))


if __name__ == "__main__":
    main(sys.argv[1])
