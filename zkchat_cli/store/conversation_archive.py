"""A conversation as one value, outside the store: is it sound, and the same with other ids."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from zkchat_cli.models import ArchivedPiece, ArchivedPrompts, ConversationArchive
from zkchat_cli.models.conversation_archive import Run
from zkchat_cli.store import compactions, prompt_codec

MOST_MESSAGES = 100_000
"""Of one prompt; one for the largest window that there is has some tens of thousands, of a few words each."""
MOST_LISTED = 100_000_000
"""Of all prompts together: they are told in little, and a file of some kilobytes could ask for years of counting."""
LONGEST = 64_000_000
"""Characters of one prompt's messages or tools, with all that is in them: ten times what the largest window takes."""
MOST_SAID = 1_000_000_000
"""Characters of all pieces, each of which is put together once when it is stored."""


def with_fresh_ids(archive: ConversationArchive, new_id: Callable[[], str]) -> ConversationArchive:
    """The same conversation under new ids throughout: its own, its messages', its summaries', and all that point to them."""
    fresh = {message.id: new_id() for message in archive.messages}
    conversation = archive.conversation.model_copy(update={"id": new_id(), "head_id": fresh.get(archive.conversation.head_id or "")})
    summaries = {compaction.id: new_id() for compaction in archive.compactions}
    return archive.model_copy(
        update={
            "conversation": conversation,
            "messages": tuple(
                message.model_copy(update={"id": fresh[message.id], "parent_id": fresh.get(message.parent_id or "")})
                for message in archive.messages
            ),
            "compactions": tuple(
                compaction.model_copy(
                    update={
                        "id": summaries[compaction.id],
                        "last_id": fresh.get(compaction.last_id or ""),
                        "made_after": fresh.get(compaction.made_after or ""),
                        "masked": tuple(fresh[id_] for id_ in compaction.masked if id_ in fresh),
                    }
                )
                for compaction in archive.compactions
            ),
            "prompts": archive.prompts and _with_other_ids(archive.prompts, fresh | summaries),
        }
    )


def _with_other_ids(prompts: ArchivedPrompts, fresh: Mapping[str, str]) -> ArchivedPrompts:
    """Most of it names messages by their places, which stay."""

    def other(piece: ArchivedPiece) -> ArchivedPiece:
        if fresh.keys().isdisjoint(piece.sources):
            return piece
        return piece.model_copy(update={"sources": tuple(fresh.get(s, s) if isinstance(s, str) else s for s in piece.sources)})

    return prompts.model_copy(update={"pieces": tuple(map(other, prompts.pieces))})


@dataclass(frozen=True, slots=True)
class ArchiveProblem:
    """What does not fit together in an archive: `str` says it in words that name the entry, `way` leads there."""

    words: str
    way: tuple[str | int, ...]

    def __str__(self) -> str:
        return self.words


def flaw(archive: ConversationArchive) -> ArchiveProblem | None:
    """The first thing that does not fit together; None when it is sound."""
    seen: set[str] = set()
    for number, message in enumerate(archive.messages):
        at = ("messages", number)
        if message.id in seen:
            return ArchiveProblem(f"message {number + 1}: the id {message.id!r} is used twice", (*at, "id"))
        if message.parent_id is not None and message.parent_id not in seen:
            return ArchiveProblem(f"message {number + 1}: its parent {message.parent_id!r} does not stand before it", (*at, "parent_id"))
        seen.add(message.id)
    if archive.conversation.head_id is not None and archive.conversation.head_id not in seen:
        return ArchiveProblem(
            f"conversation: its head {archive.conversation.head_id!r} is not one of the messages", ("conversation", "head_id")
        )
    summaries: set[str] = set()
    for number, compaction in enumerate(archive.compactions):
        at = ("compactions", number)
        if compaction.id in summaries:
            return ArchiveProblem(f"compaction {number + 1}: the id {compaction.id!r} is used twice", (*at, "id"))
        if compaction.last_id is not None and compaction.last_id not in seen:
            words = f"compaction {number + 1}: the last message it covers, {compaction.last_id!r}, is not one of the messages"
            return ArchiveProblem(words, (*at, "last_id"))
        summaries.add(compaction.id)
    return _flaw_of_prompts(archive, archive.prompts) if archive.prompts else None


def _flaw_of_prompts(archive: ConversationArchive, prompts: ArchivedPrompts) -> ArchiveProblem | None:
    """Pieces that name what is not there; calls whose lists do, or come to more than any could."""
    said = [len(message.content) for message in archive.messages]
    names = [len(message.id) for message in archive.messages]
    summaries = {id_: len(summary) for id_, summary in compactions.summaries(archive.compactions).items()}
    lengths: list[int] = []
    for number, piece in enumerate(prompts.pieces):
        at = ("prompts", "pieces", number)
        found = _length(piece, said, names, summaries)
        if isinstance(found, ArchiveProblem):
            return ArchiveProblem(f"piece {number + 1} of the prompts: {found}", (*at, *found.way))
        lengths.append(found)
    if sum(lengths) > MOST_SAID:
        return ArchiveProblem(f"the pieces of the prompts come to {sum(lengths)} characters; {MOST_SAID} are read", ("prompts", "pieces"))
    return _flaw_of_calls(archive, prompts, lengths, [len(tool.name) + len(repr(tool.descriptor)) for tool in prompts.tools])


def _length(piece: ArchivedPiece, said: Sequence[int], names: Sequence[int], summaries: Mapping[str, int]) -> int | ArchiveProblem:
    """How many characters a piece comes to, with its calls and its sources' ids; or what is wrong with it, with the way from there."""
    there: list[int | None] = []
    length = len(piece.tool_call_id or "") + sum(len(repr(each)) for each in (piece.tool_calls, piece.thinking) if each)
    for number, source in enumerate(piece.sources):
        if isinstance(source, int) and source >= len(said):
            return ArchiveProblem(f"it names message {source}, and the last is {len(said) - 1}", ("sources", number))
        there.append(summaries.get(source) if isinstance(source, str) else said[source])
        length += len(source) if isinstance(source, str) else names[source]
    for number, part in enumerate(piece.content):
        if isinstance(part, str):
            length += len(part)
            continue
        source, start, count = part
        has = there[source] if source < len(there) else None
        if has is None:
            return ArchiveProblem(f"its words stand in source {source}, and it has none with words there", ("content", number))
        if start + count > has:
            return ArchiveProblem(f"its words stand at {start} to {start + count} of source {source}, which has {has}", ("content", number))
        length += count
    return (
        length if length <= LONGEST else ArchiveProblem(f"it comes to {length} characters; no prompt has more than {LONGEST}", ("content",))
    )


def _flaw_of_calls(
    archive: ConversationArchive, prompts: ArchivedPrompts, pieces: Sequence[int], tools: Sequence[int]
) -> ArchiveProblem | None:
    """`pieces` and `tools` are how many characters each comes to."""
    listed = 0
    longest = {"messages": max(pieces, default=0), "tools": max(tools, default=0)}
    before: dict[str, list[int]] = {"messages": [], "tools": []}
    for number, call in enumerate(prompts.calls):
        name, at = f"call {number + 1} of the prompts", ("prompts", "calls", number)
        if call.question >= len(archive.messages) or archive.messages[call.question].role != "user":
            return ArchiveProblem(f"{name}: message {call.question} is no question", (*at, "question"))
        for of, runs, lengths in (("messages", call.messages, pieces), ("tools", call.tools, tools)):
            if (wrong := _wrong_run(runs, len(before[of]), len(lengths))) is not None:
                place, why = wrong
                return ArchiveProblem(f"{name}, {of}: {why}", (*at, of, place))
            before[of] = prompt_codec.applied(before[of], [number for run in runs for number in run])
            listed += len(before[of])
            if listed > MOST_LISTED:
                return ArchiveProblem(f"{name}, {of}: up to here {listed} are listed; {MOST_LISTED} are read", (*at, of))
            few = len(before[of]) * longest[of] <= LONGEST  # as nearly always, and then it is not added up
            if not few and (length := sum(map(lengths.__getitem__, before[of]))) > LONGEST:
                return ArchiveProblem(f"{name}, {of}: they come to {length} characters; no prompt has more than {LONGEST}", (*at, of))
    return None


def _wrong_run(runs: Sequence[Run], before: int, pieces: int) -> tuple[int, str] | None:
    """The place of the first run that is wrong, and why."""
    length = 0
    for place, (kind, start, count) in enumerate(runs):
        has, where = (pieces, "to name") if kind else (before, "in the list before it")
        if start + count > has:
            return place, f"a run from {start} to {start + count}, and there are {has} {where}"
        length += count
        if length > MOST_MESSAGES:
            return place, f"{length} entries; no prompt has more than {MOST_MESSAGES}"
    return None
