"""The prompts of a whole conversation, out of the tables `piece` and `prompt` as an archive carries them, and in again.

An archive tells them much as the tables do (see packing): its places and runs are theirs, counted within the archive. So neither way has
to put a prompt together, and what was imported is exported as it was.
"""

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

from zkchat_cli.models import ArchivedCall, ArchivedPiece, ArchivedPrompts, Compaction, ConversationArchive, PromptMessage, PromptTool
from zkchat_cli.models.conversation_archive import Run
from zkchat_cli.store import compactions, prompt_codec, sent_prompts

_MESSAGES = "SELECT seq FROM message WHERE conversation_id = ? ORDER BY seq"
_PIECES = "SELECT seq, body FROM piece WHERE conversation_seq = (SELECT seq FROM conversation WHERE id = ?) ORDER BY seq"
_CALLS = "SELECT question_seq, body FROM prompt WHERE conversation_seq = (SELECT seq FROM conversation WHERE id = ?) ORDER BY seq"


# out


def read(connection: sqlite3.Connection, conversation_id: str, made: Sequence[Compaction]) -> ArchivedPrompts | None:
    """What all its calls were sent; None when nothing was kept. `made` are its compactions, those that were taken back too."""
    calls = connection.execute(_CALLS, (conversation_id,)).fetchall()
    if not calls:
        return None
    places = {seq: place for place, (seq,) in enumerate(connection.execute(_MESSAGES, (conversation_id,)))}
    summaries = compactions.summaries(made)
    pieces: list[dict[str, Any]] = []
    tools: list[dict[str, Any]] = []
    numbers: dict[int, int] = {}
    for seq, body in connection.execute(_PIECES, (conversation_id,)):
        document = prompt_codec.unpacked(body)
        listed = tools if "descriptor" in document else pieces
        numbers[seq] = len(listed)
        listed.append(document if listed is tools else _piece(document, places, summaries))
    told = [_call(_place(places, question), prompt_codec.unpacked(body), numbers) for question, body in calls]
    return ArchivedPrompts.model_validate({"pieces": pieces, "tools": tools, "calls": told})


def _piece(document: dict[str, Any], places: Mapping[int, int], summaries: Mapping[str, str]) -> dict[str, Any]:
    at, content = document.pop("at", None), document["content"]
    sources = [each if isinstance(each, str) else _place(places, at - each) for each in document.pop("source_ids", ())]
    if at is None:
        content = [content] if content else []
    elif not all(isinstance(source, int) for source in sources):
        holding = _holding(sources, summaries)
        content = [part if isinstance(part, str) else (holding[part[0]], *part[1:]) for part in content]
    return document | {"content": content, "sources": sources}


def _call(question: int, document: dict[str, Any], numbers: Mapping[int, int]) -> dict[str, Any]:
    runs = {name: _runs(document.pop(was), numbers) for name, was in (("messages", "pieces"), ("tools", "tools"))}
    return document | runs | {"question": question}


def _runs(flat: Sequence[int], numbers: Mapping[int, int]) -> list[tuple[int, int, int]]:
    """Numbers that follow each other do so in the archive, too: there they count the conversation's own alone."""
    return [(kind, numbers[start] if kind else start, count) for kind, start, count in zip(flat[::3], flat[1::3], flat[2::3], strict=True)]


def _place(places: Mapping[int, int], seq: int) -> int:
    if seq not in places:
        raise ValueError(f"message {seq} of a prompt is missing")
    return places[seq]


def _holding(sources: Sequence[int | str], summaries: Mapping[str, str]) -> list[int]:
    """The places of those sources that have words: packed, the others do not count."""
    return [place for place, source in enumerate(sources) if isinstance(source, int) or source in summaries]


# in again


def write(connection: sqlite3.Connection, archive: ConversationArchive) -> None:
    """Store the prompts of a sound archive whose messages and compactions are stored, inside the caller's transaction."""
    if archive.prompts is None:
        return
    conversation_id = prompt_codec.storable(archive.conversation.id)
    [conversation] = connection.execute("SELECT seq FROM conversation WHERE id = ?", (conversation_id,)).fetchone()
    seqs = [seq for (seq,) in connection.execute(_MESSAGES, (conversation_id,))]
    summaries = compactions.summaries(archive.compactions)
    store = _Pieces(connection, conversation)
    pieces = [store.add(*_packed(piece, archive, seqs, summaries)) for piece in archive.prompts.pieces]
    tools = [store.add(tool, prompt_codec.packed(prompt_codec.dumped(tool))) for tool in archive.prompts.tools]
    firsts = next(iter(pieces), 0), next(iter(tools), 0)  # nobody else may write meanwhile: what counts up in the archive does so here
    told = sent_prompts.Newest(conversation, 0, sent_prompts.WHOLE_EACH, (), ())
    for call in archive.prompts.calls:
        told = _add(connection, told, call, seqs[call.question], firsts)


class _Pieces:
    """A conversation's pieces, stored. One that a file has twice is found by the first of its numbers."""

    def __init__(self, connection: sqlite3.Connection, conversation: int) -> None:
        self._db = connection
        self._conversation = conversation
        self._there: set[bytes] = set()

    def add(self, piece: PromptMessage | PromptTool, body: bytes) -> int:
        hash_ = prompt_codec.fingerprint(piece)
        if hash_ in self._there:
            hash_ += len(self._there).to_bytes(8)
        self._there.add(hash_)
        insert = "INSERT INTO piece (conversation_seq, hash, body) VALUES (?, ?, ?)"
        return self._db.execute(insert, (self._conversation, hash_, body)).lastrowid or 0


def _packed(
    piece: ArchivedPiece, archive: ConversationArchive, seqs: Sequence[int], summaries: Mapping[str, str]
) -> tuple[PromptMessage, bytes]:
    """The message that a piece stands for, and the row of it."""
    log = archive.messages
    texts = [summaries.get(source, "") if isinstance(source, str) else log[source].content for source in piece.sources]
    said = "".join(part if isinstance(part, str) else texts[part[0]][part[1] : part[1] + part[2]] for part in piece.content)
    ids = tuple(source if isinstance(source, str) else log[source].id for source in piece.sources)
    values = {name: getattr(piece, name) for name in PromptMessage.model_fields if name in ArchivedPiece.model_fields}
    message = PromptMessage.model_construct(**values | {"content": said, "source_ids": ids})
    index = {place: number for number, place in enumerate(_holding(piece.sources, summaries))}
    if not index:
        return message, prompt_codec.packed(prompt_codec.dumped(message))
    at = max((seqs[source] for source in piece.sources if isinstance(source, int)), default=0)
    sources = [source if isinstance(source, str) else at - seqs[source] for source in piece.sources]
    content = [part if isinstance(part, str) else (index[part[0]], *part[1:]) for part in piece.content]
    return message, prompt_codec.pack_placed(message, at, sources, content)


def _add(
    connection: sqlite3.Connection, before: sent_prompts.Newest, call: ArchivedCall, question: int, firsts: tuple[int, int]
) -> sent_prompts.Newest:
    """Its runs as they are, unless it is time for a whole prompt: in a file, any number of them may build on one another."""
    runs, tool_runs = _flat(call.messages, firsts[0]), _flat(call.tools, firsts[1])
    pieces, tools = tuple(prompt_codec.applied(before.pieces, runs)), tuple(prompt_codec.applied(before.tools, tool_runs))
    whole = all(kind for kind, _, _ in (*call.messages, *call.tools))
    if not whole and before.since_whole >= sent_prompts.WHOLE_EACH:
        runs, tool_runs, whole = prompt_codec.difference((), pieces), prompt_codec.difference((), tools), True
    document = {
        "pieces": runs,
        "tools": tool_runs,
        "model": call.model,
        "usage": call.usage and prompt_codec.dumped(call.usage),
        "strategy": call.strategy,
        "dropped": [prompt_codec.dumped(each) for each in call.dropped],
        "figures": prompt_codec.dumped(call.figures),
    }
    seq = sent_prompts.insert(connection, before.conversation, question, document, whole=whole)
    return sent_prompts.Newest(before.conversation, seq, 1 if whole else before.since_whole + 1, pieces, tools)


def _flat(runs: Sequence[Run], first: int) -> list[int]:
    return [number for kind, start, count in runs for number in (kind, start + first if kind else start, count)]
