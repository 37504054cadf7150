"""How long a call is waited for: a server that is at work is not silent, though nothing of it can be shown yet."""

from faults import a_request, heard
from speaking import Reply, a_server, openai_delta, sse

from zkchat_cli.llm.base import ModelConfig, StreamFinished, ToolCallsPart
from zkchat_cli.llm.providers.openai import PROVIDER, OpenAISettings


def test_a_tool_call_that_is_long_in_the_writing_is_no_silence() -> None:
    begun = {"index": 0, "id": "a", "type": "function", "function": {"name": "find", "arguments": '{"query": "'}}
    more = {"index": 0, "function": {"arguments": "long "}}
    events = [sse(openai_delta(tool_calls=[begun])), *[sse(openai_delta(tool_calls=[more]))] * 4]
    end = {"index": 0, "function": {"arguments": '"}'}}
    with a_server() as server:
        server.says(Reply([*(p for event in events for p in (event, 0.1)), sse(openai_delta("tool_calls", tool_calls=[end]), b"[DONE]")]))
        model = PROVIDER.open(ModelConfig("m", OpenAISettings(timeout=0.3, stall_timeout=0.3), {"OPENAI_BASE_URL": server.address}))
        model.prepare()
        call = heard(model, a_request())
    calls, finished = call.deltas
    assert isinstance(calls, ToolCallsPart)
    assert calls.calls[0].arguments == {"query": "long long long long "}
    assert isinstance(finished, StreamFinished)
