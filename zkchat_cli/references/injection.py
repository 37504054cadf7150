"""How a document that the user names reaches the model: its text in the prompt, or only its name
and summary, to be read on demand.

A text is injected if it takes at most a share (`context.injection_ratio`) of what is left of the
message budget; of a longer text, whole sections that are relevant to the message. Pure: decision
and reason are stored with the message, so that a later prompt is the same.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import chain, groupby
from typing import NamedTuple

from zkchat_cli.events import Notice
from zkchat_cli.models.messages import RetrievalMode
from zkchat_cli.models.notes import ContentChunk, Delivery, DocumentReference
from zkchat_cli.references.excerpts import format_as_text, format_tool_result
from zkchat_cli.references.mentions import MentionedDocument
from zkchat_cli.text.truncate import truncate
from zkchat_cli.text.words import content_stems, detect_languages

# Share for all documents of a message: the rest is for the conversation and for tool results
TOTAL_SHARE = 0.5
# Share for a document that the model cannot read with a tool
UNREADABLE_SHARE = 0.5
HINT = "name a smaller file, or raise context.max_tokens"
# Headings of a document that are listed, and characters of each
MAX_HEADINGS = 40
MAX_HEADING_LENGTH = 80


class InjectedDocument(NamedTuple):
    """A reference with its delivery, and the ids of its chunks that are injected."""

    reference: DocumentReference
    chunk_ids: tuple[str, ...] = ()


class Injection(NamedTuple):
    """What happens with each document of a message, the chunks to inject (not numbered yet), and
    what to tell the user.
    """

    documents: tuple[InjectedDocument, ...]
    chunks: tuple[ContentChunk, ...]
    warnings: tuple[Notice, ...]

    def number_references(self, chunks: Sequence[ContentChunk]) -> tuple[DocumentReference, ...]:
        """The references with the numbers of their chunks."""
        numbers = {chunk.id: chunk.number for chunk in chunks}
        numbered = []
        for reference, ids in self.documents:
            if ids:
                own = tuple(numbers[id_] for id_ in ids)
                reference = reference.model_copy(update={"numbers": own, "number": own[0]})
            numbered.append(reference)
        return tuple(numbered)


class _Selection(NamedTuple):
    """The chunks of a document to inject, and their tokens; `total_tokens` are the document's."""

    delivery: Delivery
    chunks: tuple[ContentChunk, ...]
    tokens: int
    total_tokens: int


def inject(
    mentions: Sequence[MentionedDocument],
    message: str,
    left: int,
    ratio: float,
    cost: Callable[[ContentChunk], int],
) -> Injection:
    """Decide for each document in order. One can take the share `ratio` of the tokens that are
    `left` for messages; all together at most `TOTAL_SHARE` of them, or one document's share if that
    is larger. `cost`: a chunk's tokens in the prompt.
    """
    total = int(max(TOTAL_SHARE, ratio) * left)
    documents: list[InjectedDocument] = []
    chunks: dict[str, ContentChunk] = {}
    warnings = list(chain.from_iterable(mention.warnings for mention in mentions))
    question = _without_names(message, mentions)
    for mention in mentions:
        if mention.reference.relative_path is None:
            documents.append(InjectedDocument(mention.reference))
            continue
        share = ratio if mention.readable else max(ratio, UNREADABLE_SHARE)
        room = min(int(share * left), total)
        costs = _chunk_costs(mention.chunks, chunks, cost)
        selection = _select_chunks(mention, costs, room, question)
        if not mention.readable and selection.delivery != "injected":
            warnings.append(_cut_warning(mention, selection.chunks))
        reference = _with_delivery(mention, selection, room, left)
        ids = tuple(chunk.id for chunk in selection.chunks)
        documents.append(InjectedDocument(reference, ids))
        chunks |= {chunk.id: chunk for chunk in selection.chunks}
        left -= selection.tokens
        total -= selection.tokens
    return Injection(tuple(documents), tuple(chunks.values()), tuple(warnings))


def _chunk_costs(
    own: Iterable[ContentChunk], injected: Collection[str], cost: Callable[[ContentChunk], int]
) -> list[int]:
    """The tokens of a document's chunks; those that are `injected` already cost nothing."""
    return [0 if chunk.id in injected else cost(chunk) for chunk in own]


def _without_names(message: str, mentions: Iterable[MentionedDocument]) -> str:
    """The message without the names of documents, which make no section relevant."""
    for mention in mentions:
        message = message.replace(mention.reference.wikilink, " ")
    return message


def _select_chunks(
    mention: MentionedDocument, costs: Sequence[int], room: int, message: str
) -> _Selection:
    indexes = _indexes_to_inject(
        mention.chunks, costs, room, message, from_start=not mention.readable
    )
    delivery: Delivery = "partly"
    if not indexes:
        delivery = "offered"
    elif len(indexes) == len(mention.chunks):
        delivery = "injected"
    return _Selection(
        delivery,
        chunks=tuple(mention.chunks[i] for i in indexes),
        tokens=sum(costs[i] for i in indexes),
        total_tokens=sum(costs),
    )


def _with_delivery(
    mention: MentionedDocument, selection: _Selection, room: int, left: int
) -> DocumentReference:
    """The document's reference with the decision and its reason, and with the headings of a text
    that is not sent whole.
    """
    if not mention.chunks:
        reason = "it has no text to put into a prompt"
    else:
        size = f"all of it takes {selection.total_tokens:,} tokens"
        if selection.delivery == "injected":
            size = f"{selection.tokens:,} tokens"
        reason = f"{size}; {room:,} fit, a share of the {left:,} left for messages"
    headings: dict[str, None] = {}
    if selection.delivery != "injected":
        for chunk in mention.chunks:
            if chunk.heading:
                headings[truncate(chunk.heading, MAX_HEADING_LENGTH)] = None
    update = {
        "delivery": selection.delivery,
        "delivery_reason": reason,
        "headings": tuple(headings)[:MAX_HEADINGS],
    }
    return mention.reference.model_copy(update=update)


def _indexes_to_inject(
    text: Sequence[ContentChunk], costs: Sequence[int], room: int, message: str, *, from_start: bool
) -> list[int]:
    """The indexes of all chunks if they fit; else of the most relevant sections, or of the first
    chunks if `from_start`.
    """
    if sum(costs) <= room:
        return list(range(len(text)))
    if from_start:
        groups = [[i] for i in range(len(text))]
    else:
        groups = _relevant_sections(text, message)
    selected: list[int] = []
    for group in groups:
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
    sections: list[list[int]] = []
    words: list[set[str]] = []
    for heading, group in groupby(range(len(text)), key=lambda i: text[i].heading):
        section = list(group)
        contents = "\n".join(f"{heading or ''}\n{text[i].text}" for i in section)
        sections.append(section)
        words.append(set(content_stems(contents, languages)))
    # Words of every section distinguish none
    common = set.intersection(*words) if len(words) > 1 else set()
    shared = [len(wanted & own - common) for own in words]
    best_first = sorted(range(len(sections)), key=lambda i: -shared[i])
    return [sections[i] for i in best_first if shared[i]]


def _cut_warning(mention: MentionedDocument, selected: Sequence[ContentChunk]) -> Notice:
    name = mention.reference.wikilink
    if not mention.chunks:
        return Notice(f"{name} is empty", "Nothing was sent to the model.")
    if not selected:
        return Notice(f"{name} does not fit, and the model cannot read it with a tool", HINT)
    first = selected[0].start_line
    last = selected[-1].end_line
    end = mention.chunks[-1].end_line
    return Notice(f"only lines {first} to {last} of {end} of {name} went to the model", HINT)


def describe_documents(
    references: Sequence[DocumentReference],
    chunks: Sequence[ContentChunk] = (),
    retrieval: RetrievalMode | None = None,
    *,
    as_text: bool = False,
) -> str:
    """The part of the prompt about the documents of a message: paths, summaries, numbered excerpts,
    and a request to read the rest, if the model can. Empty without documents and excerpts.

    `chunks` are the excerpts, which can also be passages of other notes that a search found;
    without any (the window got smaller) the model shall read all documents. They are JSON, or text
    (`as_text`) for a small model.
    """
    present = {chunk.number for chunk in chunks}
    lines = []
    if references:
        lines.append("The message below refers to these documents:")
        lines += [_describe_document(reference, present) for reference in references]
    can_read = retrieval not in ("before", "none")
    if can_read and any(_is_unread(reference, present) for reference in references):
        rest = "what is not below" if present else "them"
        lines.append(
            f"Read {rest} with the read_zk_document tool before you answer, as far as the "
            "question needs it."
        )
    if chunks:
        texts = format_as_text(chunks) if as_text else format_tool_result(chunks, {})
        lines.append(
            f"{_describe_excerpts(references, present)}, to be cited by their numbers:\n{texts}"
        )
    return "\n".join(lines)


def _describe_excerpts(
    references: Iterable[DocumentReference], present: Collection[int | None]
) -> str:
    """What the excerpts in a prompt are: parts of the documents that the message names, or also
    passages of other notes.
    """
    own: set[int | None] = set()
    for reference in references:
        own.update(reference.numbers)
    if own.issuperset(present):
        return "Excerpts of them"
    return "Excerpts of the notes, found for the message below"


def _is_unread(reference: DocumentReference, present: Collection[int | None]) -> bool:
    """Whether the prompt, in which these source numbers are present, lacks text of a document."""
    return bool(reference.relative_path) and (reference.delivery != "injected" or not present)


def _describe_document(reference: DocumentReference, present: Collection[int | None]) -> str:
    if reference.relative_path is None:
        kind = "file" if reference.reference_type == "import" else "note"
        return f"- {reference.wikilink}: no such {kind}"
    section = f", section {reference.heading!r}" if reference.heading else ""
    summary = f": {reference.summary}" if reference.summary else ""
    below = ", ".join(str(number) for number in reference.numbers if number in present)
    sent = "text" if reference.delivery == "injected" else "beginning or parts"
    sources = f" [its {sent}: source {below}]" if below else ""
    headings = f" [headings: {'; '.join(reference.headings)}]" if reference.headings else ""
    return (
        f"- {reference.wikilink} ({reference.relative_path}{section}){summary}{sources}{headings}"
    )
