"""Chooses the tools of an MCP server that the model is offered."""

import json
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from zkchat_cli.llm.base import MAX_TOOL_NAME, wire_name
from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.text.sanitize import sanitize_name, sanitize_shown
from zkchat_cli.text.truncate import truncate

# Most tools of a server that are offered
MAX_TOOLS = 100
TOOL_NAME = lazy_pattern(r"[\w./-]+")
MAX_DESCRIPTION = 1_000
# Longest input schema of a tool, in characters; a longer one would take thousands of tokens with
# every call
MAX_SCHEMA = 10_000
# Most characters of the names in a problem
MAX_NAMES = 100


class OfferedTool(NamedTuple):
    """A tool in the form in which the model gets it: `SERVER.tool`. The server knows it by its
    `remote_name`.
    """

    name: str
    remote_name: str
    description: str
    schema: dict[str, Any]


class OfferedTools(NamedTuple):
    """The tools of a server that are offered, and sentences for the user why others are not."""

    tools: list[OfferedTool]
    problems: list[str]


def find_offered_tools(
    server: str,
    allowed: Collection[str] | None,
    described: Sequence[Any],
    unreadable: Sequence[str] = (),
) -> OfferedTools:
    """The tools that a model can be offered, of those that a server describes.

    The settings allow only the ones named in `allowed` (None: all). `unreadable` has the names of
    others.
    """
    tools: dict[str, OfferedTool] = {}
    wrong = [*unreadable]
    for each in described:
        if allowed is not None and each.name not in allowed:
            continue
        name = f"{server}.{each.name}"
        # Names that differ only in punctuation would be the same tool for a model
        key = wire_name(name)
        if key in tools or not _can_be_offered(name, each):
            wrong.append(each.name)
            continue
        described_as = each.description or each.title or ""
        description = sanitize_shown(truncate(described_as, MAX_DESCRIPTION))
        tools[key] = OfferedTool(name, each.name, description, each.input_schema)
    missing = set(allowed or ()) - {each.name for each in described}
    problems = _problems(wrong, missing, has_too_many=len(tools) > MAX_TOOLS)
    return OfferedTools(list(tools.values())[:MAX_TOOLS], problems)


def _problems(wrong: list[str], missing: set[str], *, has_too_many: bool) -> list[str]:
    problems = []
    if wrong:
        names = truncate(sanitize_name(", ".join(wrong)), MAX_NAMES)
        problems.append(
            f"{names} cannot be offered: a name, or what it takes, is too long or wrong"
        )
    if missing:
        problems.append(f"it has no tool {', '.join(sorted(missing))}")
    if has_too_many:
        problems.append(f"only its first {MAX_TOOLS} tools are offered")
    return problems


def _can_be_offered(name: str, described: Any) -> bool:
    """Whether a model accepts the name and the schema of the arguments."""
    schema = described.input_schema
    return (
        len(name) <= MAX_TOOL_NAME
        and bool(TOOL_NAME.fullmatch(described.name))
        and isinstance(schema, dict)
        and schema.get("type", "object") == "object"
        and len(json.dumps(schema)) <= MAX_SCHEMA
    )
