"""Asks servers that never stop sending, and prints the peaks of memory and how each call ended.

    python flooding_servers.py FOLDER_OF_TESTS

It is a program of its own, because memory is measured for a whole process.
"""

import gzip
import itertools
import json
import resource
import sys

sys.path.insert(0, sys.argv[1])
from model_calls import ANTHROPIC, OLLAMA, OPENAI, RESPONSES, call_model, open_model
from model_server import (
    Reply,
    anthropic_block,
    anthropic_events,
    anthropic_start,
    ndjson,
    ollama_frame,
    openai_delta,
    responses_events,
    running_server,
    sse,
)

from zkchat_cli.llm.base import StreamFinished

megabyte = b"x" * 1_000_000
zipped = gzip.compress(b"x" * 20_000_000, 1)
compression = {"content-encoding": "gzip"}


def endless(piece, first=b""):
    return itertools.chain([first], itertools.repeat(piece))


def delta(protocol, **part):
    [(kind, text)] = part.items()
    if protocol is OPENAI:
        return sse(openai_delta(**{"content" if kind == "text" else "reasoning_content": text}))
    if protocol is RESPONSES:
        item = "output_text" if kind == "text" else "reasoning_summary_text"
        return responses_events(
            {"type": f"response.{item}.delta", "output_index": 0, "delta": text}
        )
    if protocol is OLLAMA:
        if kind == "text":
            return ndjson(ollama_frame(text))
        return ndjson(ollama_frame(message={"thinking": text}))
    index = 1 if kind == "thinking" else 0
    delta = {"type": f"{kind}_delta", kind: text}
    return anthropic_events({"type": "content_block_delta", "index": index, "delta": delta})


def floods(protocol):
    line = b"{" if protocol is OLLAMA else b"event: content_block_delta\ndata: "
    begin = b""
    if protocol is ANTHROPIC:
        text_block = anthropic_block(0, {"type": "text", "text": ""})[0]
        thinking_block = anthropic_block(1, {"type": "thinking", "thinking": ""})[0]
        begin = anthropic_events(anthropic_start(), text_block, thinking_block)
    yield "line", Reply(endless(megabyte, line))
    yield "text", Reply(endless(delta(protocol, text="x" * 50_000), begin))
    yield "reasoning", Reply(endless(delta(protocol, thinking="x" * 50_000), begin))
    if protocol in (OPENAI, RESPONSES):
        indented = endless(b"  " + b"{" * 1000 + b"\n", b"{\n")
        yield "indented", Reply(indented, headers={"content-type": "application/json"})
    yield "objects", Reply([line + b'{"a": [' + b"{}," * 2_600_000 + b"{}]}\n\n"])
    yield "error", Reply(endless(megabyte), 400)
    yield "compressed", Reply(endless(zipped), headers=compression)
    yield "compressed error", Reply(endless(zipped), 400, compression)


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1000


peaks = []
seen = {}
with running_server() as server:
    patience = {"timeout": 30, "stall_timeout": 30}
    protocols = (OPENAI, RESPONSES, OLLAMA, ANTHROPIC)
    models = {each: open_model(each.name, each.address(server), **patience) for each in protocols}
    for protocol, model in models.items():
        server.says(Reply(protocol.text("Hello")))
        call_model(model)
    peaks.append(peak())
    for protocol, model in models.items():
        for name, reply in floods(protocol):
            server.asked.clear()
            server.says(reply)
            end = call_model(model).deltas[-1]
            peaks.append(peak())
            how = end.reason if isinstance(end, StreamFinished) else end.error.message
            seen[f"{protocol.name}: {name}"] = how
        lists = {
            "list": Reply(endless(megabyte)),
            "compressed list": Reply(endless(zipped), headers=compression),
        }
        for name, reply in lists.items():
            server.gets[protocol.listing] = reply
            try:
                model.list_models()
            except Exception as e:  # noqa: BLE001
                seen[f"{protocol.name}: {name}"] = e.message
            peaks.append(peak())
print(json.dumps({"peaks": peaks, "seen": seen}))
