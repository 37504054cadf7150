"""The JSON documents that scripts rely on: each key that is promised is there, of the promised
type, and what is missing is null.
"""

import re
from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest
from conftest import Program, write_notes

Shape = Any
"""A type, `None` besides others in a tuple, a list of one shape, a dictionary of keys and shapes,
or a function that says yes.
"""


def path(value: object) -> bool:
    return (
        isinstance(value, str)
        and not value.startswith("/")
        and "\\" not in value
        and value.endswith(".md")
    )


def line(value: object) -> bool:
    return isinstance(value, int) and value >= 1


def time(value: object) -> bool:
    return isinstance(value, str) and datetime.fromisoformat(value).tzinfo is not None


def one_of(*values: object) -> Callable[[object], bool]:
    return lambda value: value in values


NUMBER = (int, float)
TEXT_OR_NULL = (str, None)
REFERENCE = {
    "wikilink": str,
    "relative_path": (path, None),
    "reference_type": one_of("direct", "search", "import", "memory"),
    "summary": TEXT_OR_NULL,
    "context_snippet": TEXT_OR_NULL,
    "status": one_of("found", "broken", "ambiguous"),
    "number": (int, None),
    "heading": TEXT_OR_NULL,
}
CITATION = {
    "number": int,
    "relative_path": (path, None),
    "heading": TEXT_OR_NULL,
    "start_line": (line, None),
    "end_line": (line, None),
    "quote": TEXT_OR_NULL,
    "valid": bool,
}
SHARE = {"used": int, "budget": int, "percentage": NUMBER}
USAGE = {
    **dict.fromkeys(
        (
            "system_tokens",
            "tool_tokens",
            "message_tokens",
            "total_tokens",
            "available_tokens",
            "max_context",
        ),
        int,
    ),
    "effective_limit": int,
    "estimated": bool,
    "message_breakdown": dict.fromkeys(
        ("summary", "memory", "documents", "tool_results", "recalled", "conversation"), int
    ),
    "budget_status": dict.fromkeys(("system", "tools", "messages"), SHARE),
    "compaction": {"due": bool, "reason": TEXT_OR_NULL},
}
COMPACTION = {
    "id": str,
    **dict.fromkeys(
        (
            "tokens_before",
            "tokens_after",
            "messages_folded",
            "results_masked",
            "summary_tokens",
            "model_calls",
        ),
        int,
    ),
    "summary": TEXT_OR_NULL,
    "mode": one_of("none", "masked", "full", "simple", "extractive", "truncated"),
    "preview": bool,
}
ANSWER = {
    **dict.fromkeys(
        ("conversation_id", "message_id", "answer", "model", "strategy", "finish_reason"), str
    ),
    "references": [REFERENCE],
    "citations": [CITATION],
    "tools": [{"name": str, "arguments": dict, "ok": bool, "tokens": int, "duration_ms": NUMBER}],
    "usage": {"prompt_tokens": int, "completion_tokens": int, "estimated": bool},
    "context": USAGE,
    "compaction": (COMPACTION, None),
    "timings_ms": dict.fromkeys(("prepare", "model", "tools", "store", "overhead"), NUMBER),
}
PROMPT = {
    "messages": [
        {
            "role": str,
            "content": str,
            "tool_calls": list,
            "tokens": int,
            "kind": str,
            "source_ids": list,
        }
    ],
    "tools": list,
    "usage": USAGE,
    "dropped": [{"id": str, "reason": str, "kind": str}],
    "strategy": str,
}
FOUND = {
    "relative_path": path,
    "title": str,
    "heading": TEXT_OR_NULL,
    "start_line": line,
    "end_line": line,
    "score": NUMBER,
    "score_words": (NUMBER, None),
    "score_meaning": (NUMBER, None),
    "text": str,
}
LINK = {
    "raw": str,
    "kind": one_of("wikilink", "markdown"),
    "target": (path, None),
    "heading": TEXT_OR_NULL,
    "alias": TEXT_OR_NULL,
    "embed": bool,
    "status": one_of("found", "broken", "ambiguous"),
    "candidates": [str],
}
ROW = {
    "source": path,
    "target": (path, None),
    "raw": str,
    "line": line,
    "context_snippet": TEXT_OR_NULL,
}
INDEX = {
    **dict.fromkeys(
        ("notes", "chunks", "links", "broken_links", "added", "changed", "removed"), int
    ),
    "seconds": NUMBER,
    "semantic": None,
}
REMEMBERED = {
    "key": str,
    "content": str,
    "kind": str,
    "score": NUMBER,
    "relative_path": (path, None),
    "last_accessed": (time, None),
}
CONVERSATION = {
    "id": str,
    "title": TEXT_OR_NULL,
    "created_at": time,
    "updated_at": time,
    "head_id": TEXT_OR_NULL,
}
FACT = {"key": str, "content": str, "kind": str, "created_at": time}


def violations(value: Any, shape: Shape, at: str = "") -> list[str]:
    """Where a value is not what was promised."""
    match shape:
        case None:
            return [] if value is None else [f"{at} is {value!r}, not null"]
        case tuple():
            options = [violations(value, each, at) for each in shape]
            return [] if [] in options else min(options, key=len)
        case dict():
            if not isinstance(value, dict):
                return [f"{at} is {value!r}"]
            missing = [f"{at}.{key} is missing" for key in shape if key not in value]
            return missing + [
                w
                for key in shape.keys() & value.keys()
                for w in violations(value[key], shape[key], f"{at}.{key}")
            ]
        case [one]:
            each = enumerate(value) if isinstance(value, list) else [(0, f"{at} is no list")]
            return [w for number, item in each for w in violations(item, one, f"{at}[{number}]")]
        case type():
            return [] if type(value) is shape else [f"{at} is {value!r}, not {shape.__name__}"]
        case _:
            return (
                []
                if shape(value)
                else [f"{at} is {value!r}, not a {getattr(shape, '__name__', 'valid value')}"]
            )


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Program:
    """With a conversation, a fact, and links that are found, broken, embedded and written in
    Markdown.
    """
    folder = tmp_path_factory.mktemp("documents")
    notes = {
        "Filters.md": (
            "---\naliases: [Search conditions]\n---\n# Filters\n\nA filter says which tasks "
            "you see. See [[Combining]].\n"
        ),
        "Queries/Combining.md": (
            "Filters can be joined with AND. See [[Nowhere]], [back](../Filters.md).\n"
        ),
    }
    zkchat = Program(write_notes(folder / "notes", notes), folder / "home")
    zkchat("ask", "what does a filter say? [[Filters]] [[Nope]]")
    zkchat("memory", "add", "The meeting on filters is on Mondays", "--key", "meeting")
    return zkchat


@pytest.mark.parametrize(
    ("command", "shape"),
    [
        ("ask|how are filters joined? see [[Filters]] and [[Nope]]|--no-store", ANSWER),
        ("context show", PROMPT),
        ("context show|--next|and [[Combining]]?", PROMPT),
        ("context stats", USAGE),
        ("context compact --preview", COMPACTION),
        ("context summary", [COMPACTION]),
        ("context memory", list),
        ("vault search filter", [FOUND]),
        (
            "vault resolve|[[Filters#a#b]] ![[Filters]] [x](Filters.md) [[Nope]] [[Search "
            "conditions]]",
            [LINK],
        ),
        ("vault links Combining", [ROW]),
        ("vault backlinks Filters", [ROW]),
        ("vault broken", [{**ROW, "candidates": [str]}]),
        ("vault index", INDEX),
        ("vault status", INDEX),
        ("sessions list", [{**CONVERSATION, "messages": int}]),
        (
            "sessions show",
            {
                **CONVERSATION,
                "history": [{"id": str, "role": str, "content": str, "timestamp": time}],
            },
        ),
        (
            "sessions search filter",
            [{"conversation_id": str, "message_id": str, "timestamp": time, "snippet": str}],
        ),
        ("memory list", [FACT]),
        ("memory search monday", [REMEMBERED]),
        ("memory relevance", [{**REMEMBERED, "reason": str, "included": bool}]),
        ("config path", {"path": str, "exists": bool}),
        (
            "config show",
            {"model": str, "context.max_tokens": int, "context.message_budget_ratio": float},
        ),
        ("config get model", {"key": str, "value": str}),
        (
            "keys list",
            [{"provider": str, "source": TEXT_OR_NULL, "variable": str, "ends_with": TEXT_OR_NULL}],
        ),
        (
            "agent list",
            [{"name": str, "built_in": bool, "file": TEXT_OR_NULL, "model": TEXT_OR_NULL}],
        ),
        (
            "agent show researcher",
            {"name": str, "system_prompt": str, "tools": (list, None), "temperature": float},
        ),
        (
            "tokens Filters.md",
            {"tokens": int, "encoding": str, "estimated": bool, "characters": int},
        ),
        (
            "doctor",
            {
                "ok": bool,
                "checks": [{"name": str, "ok": bool, "detail": str, "next_step": TEXT_OR_NULL}],
            },
        ),
    ],
    ids=lambda value: (
        re.split(r"[|]| -", value)[0].replace(" ", "-") if isinstance(value, str) else ""
    ),
)
def test_a_document_has_every_promised_key(program: Program, command: str, shape: Shape) -> None:
    done = program(*_words(command), "--json")
    assert done.exit_status == 0, done.err
    assert (done.out.count("\n"), "\x1b" in done.out + done.err) == (1, False)
    assert violations(done.json, shape) == []
    assert done.json not in ([], {}) or shape in (list, [COMPACTION])


def _words(command: str) -> list[str]:
    """`context show|--next|and this?`: what stands between bars is one argument."""
    first, *rest = command.split("|")
    return [*first.split(), *rest]


def test_each_line_of_input_gets_one_document(program: Program) -> None:
    found = program("vault", "search", "-", "--json", stdin="filter\nzeppelin\n").lines
    assert violations(found, [{"query": str, "results": [FOUND]}]) == []
    assert (
        violations(
            program("vault", "resolve", "-", "--json", stdin="[[Filters]]\nnone\n").lines, [[LINK]]
        )
        == []
    )
