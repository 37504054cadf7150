"""How a document that the user names reaches the model: its text in the prompt, or only its name
and summary, to be read on demand.

A text is injected if it takes at most a share (`context.injection_ratio`) of what is left of the
message budget; of a longer text, whole sections that are relevant to the message. Pure: decision
and reason are stored with the message, so that a later prompt is the same.
"""

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import NamedTuple

from zkchat_cli.events import Notice
from zkchat_cli.models.messages import RetrievalMode
from zkchat_cli.models.notes import ContentChunk, Delivery, DocumentReference
from zkchat_cli.references.manager import format_as_text, format_tool_result
from zkchat_cli.references.mentions import MentionedDocument
from zkchat_cli.text.truncate import truncate
from zkchat_cli.text.words import content_stems, detect_languages

# The share for all documents of a message: the rest is for the conversation and for tool results
TOTAL_SHARE = 0.5
# The share for a document that the model cannot read with a tool
UNREADABLE_SHARE = 0.5
HINT = "name a smaller file, or raise context.max_tokens"
MAX_HEADINGS = 40
MAX_HEADING_LENGTH = 80


class Injection(NamedTuple):
    """Each reference with its delivery and the ids of its chunks, the chunks to inject (not
    numbered yet), and what to tell the user.
    """

    documents: tuple[tuple[DocumentReference, tuple[str, ...]], ...]
    chunks: tuple[ContentChunk, ...]
    warnings: tuple[Notice, ...]

    def number_references(self, chunks: Sequence[ContentChunk]) -> tuple[DocumentReference, ...]:
        """The references with the numbers of their chunks."""
        numbers = {chunk.id: chunk.number for chunk in chunks}
        numbered = []
        for reference, ids in self.documents:
            own = tuple(numbers[id_] for id_ in ids)
            numbered.append(
                reference.model_copy(update={"numbers": own, "number": own[0]})
                if own
                else reference
            )
        return tuple(numbered)


def inject(
    mentions: Sequence[MentionedDocument],
    message: str,
    left: int,
    ratio: float,
    cost: Callable[[ContentChunk], int],
) -> Injection:
    """Decide for each document in order. One may take the share `ratio` of the tokens that are
    `left` for messages; all together at most `TOTAL_SHARE` of them, or one document's share if that
    is larger. `cost`: a chunk's tokens in the prompt.
    """
    total = int(max(TOTAL_SHARE, ratio) * left)
    documents: list[tuple[DocumentReference, tuple[str, ...]]] = []
    chunks: dict[str, ContentChunk] = {}
    warnings = [warning for mention in mentions for warning in mention.warnings]
    # The name itself does not make a section relevant
    for mention in mentions:
        message = message.replace(mention.reference.wikilink, " ")
    for mention in mentions:
        reference = mention.reference
        text = mention.chunks
        if reference.relative_path is None:
            documents.append((reference, ()))
            continue
        costs = [0 if chunk.id in chunks else cost(chunk) for chunk in text]
        room = min(int((ratio if mention.readable else max(ratio, UNREADABLE_SHARE)) * left), total)
        indexes = _indexes_to_inject(text, costs, room, message, from_start=not mention.readable)
        selected = [text[i] for i in indexes]
        spent = sum(costs[i] for i in indexes)
        delivery: Delivery = (
            "offered" if not selected else "injected" if len(selected) == len(text) else "partly"
        )
        if not mention.readable and delivery != "injected":
            warnings.append(_cut_warning(reference, text, selected))
        size = (
            f"{spent:,} tokens"
            if delivery == "injected"
            else f"all of it takes {sum(costs):,} tokens"
        )
        reason = (
            f"{size}; {room:,} fit, a share of the {left:,} left for messages"
            if text
            else "it has no text to put into a prompt"
        )
        headings = dict.fromkeys(
            truncate(chunk.heading, MAX_HEADING_LENGTH)
            for chunk in text
            if chunk.heading and delivery != "injected"
        )
        update = {
            "delivery": delivery,
            "delivery_reason": reason,
            "headings": tuple(headings)[:MAX_HEADINGS],
        }
        documents.append(
            (reference.model_copy(update=update), tuple(chunk.id for chunk in selected))
        )
        chunks |= {chunk.id: chunk for chunk in selected}
        left -= spent
        total -= spent
    return Injection(tuple(documents), tuple(chunks.values()), tuple(warnings))


def _indexes_to_inject(
    text: Sequence[ContentChunk], costs: Sequence[int], room: int, message: str, *, from_start: bool
) -> list[int]:
    """The indexes of all chunks if they fit; else of the most relevant sections, or of the first
    chunks if `from_start`.
    """
    if sum(costs) <= room:
        return list(range(len(text)))
    selected: list[int] = []
    for group in (
        [[i] for i in range(len(text))] if from_start else _relevant_sections(text, message)
    ):
        cost = sum(costs[i] for i in group)
        if cost <= room:
            room -= cost
            selected += group
        elif from_start:
            break
    return sorted(selected)


def _relevant_sections(text: Sequence[ContentChunk], message: str) -> list[list[int]]:
    """Chunk indexes by section, most words of the message first; sections without any of its words
    are left out.
    """
    languages = detect_languages(chunk.text for chunk in text)
    wanted = set(content_stems(message, languages))
    sections = [
        list(group) for _, group in groupby(range(len(text)), key=lambda i: text[i].heading)
    ]
    words = [
        set(
            content_stems(
                "\n".join(f"{text[i].heading or ''}\n{text[i].text}" for i in section), languages
            )
        )
        for section in sections
    ]
    # Words of every section distinguish none
    common = set.intersection(*words) if len(words) > 1 else set()
    shared = [len(wanted & own - common) for own in words]
    return [
        sections[i] for i in sorted(range(len(sections)), key=lambda i: -shared[i]) if shared[i]
    ]


def _cut_warning(
    reference: DocumentReference, text: Sequence[ContentChunk], selected: Sequence[ContentChunk]
) -> Notice:
    if not text:
        return Notice(f"{reference.wikilink} is empty", "Nothing was sent to the model.")
    if not selected:
        return Notice(
            f"{reference.wikilink} does not fit, and the model cannot read it with a tool", HINT
        )
    lines = f"{selected[0].start_line} to {selected[-1].end_line} of {text[-1].end_line}"
    return Notice(f"only lines {lines} of {reference.wikilink} went to the model", HINT)


def describe_documents(
    references: Sequence[DocumentReference],
    chunks: Sequence[ContentChunk] = (),
    retrieval: RetrievalMode | None = None,
    *,
    as_text: bool = False,
) -> str:
    """The part of the prompt about the documents of a message: paths, summaries, numbered excerpts,
    and a request to read the rest, if the model can. Then the excerpts may also be passages of
    other notes. They are JSON, or text for a small model. Empty without documents and excerpts.
    Without `chunks` (the window got smaller), all documents are to be read.
    """
    present = {chunk.number for chunk in chunks}
    lines = [_describe_document(reference, present) for reference in references]
    if references:
        lines.insert(0, "The message below refers to these documents:")
    unread = any(r.relative_path and (r.delivery != "injected" or not present) for r in references)
    if unread and retrieval not in ("before", "none"):
        rest = "what is not below" if present else "them"
        lines.append(
            f"Read {rest} with the read_zk_document tool before you answer, as far as the "
            "question needs it."
        )
    if chunks:
        of_them = present <= {number for reference in references for number in reference.numbers}
        source = (
            "Excerpts of them" if of_them else "Excerpts of the notes, found for the message below"
        )
        texts = format_as_text(chunks) if as_text else format_tool_result(chunks, {})
        lines.append(f"{source}, to be cited by their numbers:\n{texts}")
    return "\n".join(lines)


def _describe_document(reference: DocumentReference, present: set[int | None]) -> str:
    if reference.relative_path is None:
        return (
            f"- {reference.wikilink}: no such "
            f"{'file' if reference.reference_type == 'import' else 'note'}"
        )
    part = f", section {reference.heading!r}" if reference.heading else ""
    summary = f": {reference.summary}" if reference.summary else ""
    below = [str(number) for number in reference.numbers if number in present]
    where = (
        (
            f" [its {'text' if reference.delivery == 'injected' else 'beginning or parts'}: "
            f"source {', '.join(below)}]"
        )
        if below
        else ""
    )
    headings = f" [headings: {'; '.join(reference.headings)}]" if reference.headings else ""
    return f"- {reference.wikilink} ({reference.relative_path}{part}){summary}{where}{headings}"
