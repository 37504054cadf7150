"""Reads the tool calls that a model has written as text, because its server does not know the marks
for them. Pure.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from zkchat_cli.llm.base import WrittenCall
from zkchat_cli.models.messages import ToolCall
from zkchat_cli.models.prompts import PromptTool

# The keys under which models write the name of a tool, and its arguments
_NAMES = ("name", "tool", "tool_name", "function")
_ARGUMENTS = ("arguments", "parameters", "args", "input")
_KEYS = frozenset((*_NAMES, *_ARGUMENTS, "id", "type"))
_NAMED = re.compile(
    r"\s*(?:<function=)?([\w.-]+)(?:\[ARGS\]|>)?\s*(\{.*\})\s*(?:</function>)?\s*", re.S
)
_XML = re.compile(r"<function=([\w.-]+)>(.*?)(?:</function>|$)", re.DOTALL)
_XML_PARAMETER = re.compile(r"<parameter=([\w.-]+)>\n?(.*?)\n?</parameter>", re.DOTALL)


class _Named(NamedTuple):
    name: str
    arguments: Mapping[str, Any]


class ReadCalls(NamedTuple):
    """The calls that can be run, and whether the model has written others, too."""

    calls: tuple[ToolCall, ...]
    has_others: bool


def read_written_calls(
    written: Sequence[WrittenCall], tools: Sequence[PromptTool]
) -> ReadCalls | None:
    """The calls of these tools; None if the text is none of a tool, but an answer in JSON."""
    offered = {tool.descriptor["function"]["name"]: tool for tool in tools}
    calls: list[ToolCall] = []
    has_others = False
    for each in written:
        named = _read(each.text)
        if not each.is_marked and not named:
            return None
        for call in named:
            if call.name in offered and _fits(call.arguments, offered[call.name]):
                calls.append(ToolCall(id="", name=call.name, arguments=dict(call.arguments)))
            else:
                has_others = True
        has_others = has_others or not named
    return ReadCalls(tuple(calls), has_others)


def _read(text: str) -> list[_Named]:
    """The calls in a text; empty if it has another form."""
    xml = list(_read_xml(text))
    if xml:
        return xml
    named = _NAMED.fullmatch(text)
    with suppress(ValueError, RecursionError):
        if named is not None:
            arguments = json.loads(named[2])
            return [_Named(named[1], arguments)]
        document = json.loads(text)
        items = document if isinstance(document, list) else [document]
        found = [_read_object(item) for item in items]
        return [call for call in found if call is not None] if None not in found else []
    # Several objects, one in each line
    with suppress(ValueError, RecursionError):
        lines = [_read_object(json.loads(line)) for line in text.splitlines() if line.strip()]
        return [call for call in lines if call is not None] if None not in lines else []
    return []


def _read_xml(text: str) -> Iterator[_Named]:
    """The calls in the form of Qwen's coding models."""
    for function in _XML.finditer(text):
        arguments: dict[str, Any] = {}
        for parameter in _XML_PARAMETER.finditer(function[2]):
            arguments[parameter[1]] = parameter[2]
        if arguments or not function[2].strip():
            yield _Named(function[1], arguments)


def _read_object(item: Any) -> _Named | None:
    """The call that an object is; None if it is something else."""
    if not isinstance(item, dict) or not item.keys() <= _KEYS:
        return None
    if isinstance(item.get("function"), dict):
        return _read_object(item["function"])
    names = [item[key] for key in _NAMES if isinstance(item.get(key), str)]
    given = [item[key] for key in _ARGUMENTS if key in item]
    if len(names) != 1 or len(given) != 1:
        return None
    arguments = given[0]
    if isinstance(arguments, str):
        with suppress(ValueError, RecursionError):
            arguments = json.loads(arguments)
    return _Named(names[0], arguments) if isinstance(arguments, dict) else None


def _fits(arguments: Mapping[str, Any], tool: PromptTool) -> bool:
    """Whether a tool has all of these arguments, and these are all that it needs."""
    schema = tool.descriptor["function"].get("parameters") or {}
    known = schema.get("properties") or {}
    required = schema.get("required") or ()
    return set(required) <= arguments.keys() <= known.keys()
