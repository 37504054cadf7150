"""The versions of our own JSON export, as a list of functions that only grows: number N makes a
document of version N + 1 from one of version N.

The newest version is that of `ConversationArchive`. The functions take a JSON document that nobody
has checked, and do not catch the errors of wrong ones: `upgrade` turns these into a UsageError.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from zkchat_cli.errors import UsageError
from zkchat_cli.models.archive import ConversationArchive

Document = dict[str, Any]

_FORMAT = ConversationArchive.model_fields["format"].default
_NEWEST = ConversationArchive.model_fields["version"].default
_WRONG = (KeyError, IndexError, TypeError, ValueError, AttributeError, RecursionError)
# Entries of all lists, and characters of all messages, in the prompts of an export of version 2:
# without limits, a few bytes of it could fill the memory
_MOST_LISTED = 10_000_000
_MOST_CHARACTERS = 500_000_000
# Fields of a message that nothing uses any more; development versions wrote them into exports of
# versions 1 to 3
_REMOVED_FIELDS = ("priority_set", "goal")
# The kind of a run in a list of version 2 that repeats entries of the list before; any other kind
# is a run of all entries
_OF_LIST_BEFORE = 0


def _add_no_prompts(document: Document) -> Document:
    """Version 1 had no past prompts, and nothing else was different."""
    return {**document, "version": 2}


def _write_prompts_out(document: Document) -> Document:
    """Version 2 stored only the differences of prompts from call to call, and the places of their
    words in place of the words.
    """
    prompts = document.get("prompts")
    if prompts is not None:
        prompts = _expand_prompts(prompts, document["messages"], _summaries(document))
    return {**document, "version": 3, "prompts": prompts}


UPGRADES: tuple[Callable[[Document], Document], ...] = (_add_no_prompts, _write_prompts_out)
"""Only ever append to this list."""


def upgrade(document: Document) -> Document:
    """The export in the newest version. Raises UsageError if its version is unknown, or if it is
    inconsistent.
    """
    version: Any = document.get("version")
    if document["format"] != _FORMAT or version not in range(1, _NEWEST + 1):
        raise UsageError(
            f"This is {document['format']!r} version {version!r}; this zkchat reads {_FORMAT!r} "
            f"versions 1 to {_NEWEST}",
            "Export it again with this version of zkchat, or update zkchat. Nothing was imported.",
        )
    try:
        for step in UPGRADES[int(version) - 1 :]:
            document = step(document)
        return _with_current_messages(document)
    except _WRONG as e:
        raise UsageError(
            f"The export of version {version} is inconsistent: {type(e).__name__} {e}",
            "Export it again. Nothing was imported.",
        ) from e


def _with_current_messages(document: Document) -> Document:
    """The document with what only development versions wrote as it is now. Anything unexpected is
    left for the validation to refuse.
    """
    messages = document.get("messages")
    if not isinstance(messages, list):
        return document
    return {**document, "messages": [_current_message(message) for message in messages]}


def _current_message(message: Any) -> Any:
    """The message without the fields that were removed."""
    if not isinstance(message, dict):
        return message
    current = {name: value for name, value in message.items() if name not in _REMOVED_FIELDS}
    # Development versions wrote the priority of each message, and whether the user had set it
    if message.get("priority_set") is False:
        current["priority"] = None
    for name, make_current in (
        ("citations", _current_citation),
        ("references", _current_reference),
    ):
        listed = message.get(name)
        if isinstance(listed, list):
            current[name] = [make_current(each) for each in listed]
    return current


def _current_citation(citation: Any) -> Any:
    """The citation with its verdict, which was called `status`, under its name."""
    if not isinstance(citation, dict) or "status" not in citation:
        return citation
    current = dict(citation)
    status = current.pop("status")
    current.setdefault("verdict", status)
    return current


def _current_reference(reference: Any) -> Any:
    """The reference with a type that still exists: the notes that a named note links to, which
    `[[note]]>2` added to a question, had one of their own.
    """
    if not isinstance(reference, dict) or reference.get("reference_type") != "link":
        return reference
    return {**reference, "reference_type": "direct"}


def _summaries(document: Document) -> dict[str, str]:
    """The words of each compaction by its id: its summary or, if it only masks, that of the nearest
    one before it.
    """
    summaries: dict[str, str] = {}
    last = ""
    for compaction in document.get("compactions", ()):
        last = compaction.get("summary") or last
        summaries[compaction["id"]] = last
    return summaries


def _expand_prompts(
    prompts: Document, log: Sequence[Document], summaries: Mapping[str, str]
) -> Document:
    """The prompts of version 2 in version 3. `log` are the conversation's messages."""
    messages: list[Document] = []
    left = _MOST_CHARACTERS
    for piece in prompts["pieces"]:
        messages.append(_expand_piece(piece, log, summaries, left))
        left -= len(messages[-1]["content"])
    calls: list[Document] = []
    lists: dict[str, list[int]] = {"messages": [], "tools": []}
    listed = 0
    for call in prompts["calls"]:
        for name, before in lists.items():
            lists[name] = _expand_runs(call[name], before)
            listed += len(lists[name])
        if listed > _MOST_LISTED:
            raise ValueError(f"its prompts list more than {_MOST_LISTED:,} entries")
        current = {name: value for name, value in call.items() if name != "question"}
        current["question_id"] = log[call["question"]]["id"]
        calls.append(current | lists)
    return {"messages": messages, "tools": prompts["tools"], "calls": calls}


def _expand_piece(
    piece: Document, log: Sequence[Document], summaries: Mapping[str, str], most: int
) -> Document:
    """A message of a prompt, with at most `most` characters. Its `sources` are indexes of messages,
    or ids and paths; its `content` is a list of words and of places of words, each a source, the
    first character in it, and the length.
    """
    source_ids: list[str] = []
    words: list[str] = []
    for source in piece.get("sources", ()):
        if isinstance(source, int):
            source_ids.append(log[source]["id"])
            words.append(log[source]["content"])
        else:
            source_ids.append(source)
            words.append(summaries.get(source, ""))
    content: list[str] = []
    for part in piece.get("content", ()):
        if not isinstance(part, str):
            source, start, length = part
            part = words[source][start : start + length]
        content.append(part)
        most -= len(part)
        if most < 0:
            raise ValueError(f"its prompts have more than {_MOST_CHARACTERS:,} characters")
    current = {name: value for name, value in piece.items() if name != "sources"}
    return current | {"content": "".join(content), "source_ids": source_ids}


def _expand_runs(runs: Sequence[Sequence[int]], before: Sequence[int]) -> list[int]:
    """A list of entries. Each run has a kind, a start and a length: it repeats entries of the list
    before, or counts up.
    """
    entries: list[int] = []
    for kind, start, length in runs:
        if length > _MOST_LISTED:
            raise ValueError(f"a list has more than {_MOST_LISTED:,} entries")
        if kind == _OF_LIST_BEFORE:
            entries += before[start : start + length]
        else:
            entries += range(start, start + length)
    return entries
