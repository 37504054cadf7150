"""How a document that the user names reaches the model: its text in the prompt, or only its name
and summary, to be read on demand.

What the model can read with a tool is injected if it takes at most a share
(`context.injection_ratio`) of what is left of the message budget; of a longer text, whole sections
that are relevant to the message. What it cannot read is sent as far as it fits, beginning with the
relevant sections, and the user is told how much that is. Pure: decision and reason are stored with
the message, so that a later prompt is the same.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import chain, groupby
from typing import NamedTuple

from zkchat_cli.events import Notice
from zkchat_cli.models.notes import ContentChunk, Delivery, DocumentReference
from zkchat_cli.references.chunk_budget import MIN_CHARACTERS, share_evenly, truncate_chunk
from zkchat_cli.references.document_list import describe_documents
from zkchat_cli.references.excerpts import Count, chunk_tokens
from zkchat_cli.references.mentions import MentionedDocument
from zkchat_cli.text.truncate import truncate
from zkchat_cli.text.words import content_stems, detect_languages
from zkchat_cli.vault.sections import LineSpan

# Share for all documents of a message: the rest is for the conversation and for tool results
TOTAL_SHARE = 0.5
# The same for a model without tools: there are no results, and the documents are what it is about
TOTAL_SHARE_WITHOUT_TOOLS = 0.85
# Share of the messages' budget that is for documents the model cannot read with a tool, if the
# earlier turns leave less: then these turns are compacted
OWN_SHARE = 0.5
# Headings of a document that are listed, and characters of each
MAX_HEADINGS = 40
MAX_HEADING_LENGTH = 80
# Share of a document's room that the headings of what is left out may take
HEADINGS_SHARE = 0.1
# Ranges of lines that a warning names, and blank lines that do not end a range
MAX_SPANS = 3
MOST_BLANK_LINES = 3


class DocumentRoom(NamedTuple):
    """Tokens that a prompt has for the documents of its question: beside the turns that it would
    have, and without any turns.
    """

    beside_turns: int
    without_turns: int


class InjectionLimits(NamedTuple):
    """The room for documents, the share of it for a document that the model can read with a tool
    (`ratio`), whether it has tools, what counts tokens, and the tokens of a chunk in the prompt
    (`cost`, at most those of its JSON).
    """

    room: DocumentRoom
    ratio: float
    has_tools: bool
    count: Count
    cost: Callable[[ContentChunk], int]


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
    """The chunks of a document to inject, and their tokens; `total_tokens` are the document's.

    It was made for `room` tokens, a share of the tokens `left`.
    """

    delivery: Delivery
    chunks: tuple[ContentChunk, ...]
    tokens: int
    total_tokens: int
    room: int
    left: int
    headings: tuple[str, ...] = ()


def inject(
    mentions: Sequence[MentionedDocument], message: str, limits: InjectionLimits
) -> Injection:
    """Decide for each document.

    One that the model can read with a tool can take the share `limits.ratio` of the tokens that are
    left; all together at most `TOTAL_SHARE` of them, or one document's share if that is larger. The
    others share what is left then: no one gets less than another that is cut.
    """
    selector = _Selector(mentions, message, limits)
    selections = selector.select()
    documents: list[InjectedDocument] = []
    warnings = list(chain.from_iterable(mention.warnings for mention in mentions))
    for position, mention in enumerate(mentions):
        selection = selections.get(position)
        if selection is None:
            documents.append(InjectedDocument(mention.reference))
            continue
        if not selector.can_read(mention) and selection.delivery != "injected":
            warnings.append(_cut_warning(mention, selection))
        reference = mention.reference.model_copy(update=_delivery_fields(mention, selection))
        ids = tuple(chunk.id for chunk in selection.chunks)
        documents.append(InjectedDocument(reference, ids))
    chunks: dict[str, ContentChunk] = {}
    for _, selection in sorted(selections.items()):
        chunks |= {chunk.id: chunk for chunk in selection.chunks}
    return Injection(tuple(documents), tuple(chunks.values()), tuple(warnings))


class _Selector:
    """Chooses the chunks of all documents of a message."""

    def __init__(
        self, mentions: Sequence[MentionedDocument], message: str, limits: InjectionLimits
    ) -> None:
        self._mentions = mentions
        self._question = _without_names(message, mentions)
        self._limits = limits
        # The ids of chunks that are injected already: they cost nothing again
        self._injected: set[str] = set()
        # What is left for messages, and for all documents
        self._left = limits.room.beside_turns
        self._total = int(max(TOTAL_SHARE, limits.ratio) * self._left)

    def can_read(self, mention: MentionedDocument) -> bool:
        """Whether the model can read the document with a tool."""
        return mention.readable and self._limits.has_tools

    def select(self) -> dict[int, _Selection]:
        """The selection of each document that exists, by its position among the mentions."""
        found: dict[int, _Selection] = {}
        others: dict[int, MentionedDocument] = {}
        for position, mention in enumerate(self._mentions):
            if mention.reference.relative_path is None:
                continue
            if self.can_read(mention):
                found[position] = self._select_readable(mention)
            else:
                others[position] = mention
        if others:
            found |= self._select_unreadable(others)
        return found

    def _select_readable(self, mention: MentionedDocument) -> _Selection:
        room = min(int(self._limits.ratio * self._left), self._total)
        costs = self._costs(mention)
        indexes = list(range(len(costs)))
        if sum(costs) > room:
            sections = _relevant_sections(mention.chunks, self._question)
            indexes = _fitting_sections(sections, costs, room)
        chunks = [mention.chunks[i] for i in indexes]
        selection = _Selection(
            _delivery(chunks, mention.chunks),
            chunks=tuple(chunks),
            tokens=sum(costs[i] for i in indexes),
            total_tokens=sum(costs),
            room=room,
            left=self._left,
            headings=_headings(mention.chunks)[:MAX_HEADINGS],
        )
        self._take(selection)
        return selection

    def _select_unreadable(self, mentions: dict[int, MentionedDocument]) -> dict[int, _Selection]:
        room = self._room_for_unreadable(mentions.values())
        wanted = [sum(self._costs(mention)) for mention in mentions.values()]
        shares = share_evenly(wanted, room, [0] * len(wanted))
        found: dict[int, _Selection] = {}
        # What a document did not need of its share is for the next one
        unused = 0
        for (position, mention), share in zip(mentions.items(), shares, strict=True):
            selection = self._select_part(mention, share + unused)
            if selection.delivery == "injected":
                # Its share is what it wanted; more would have fitted
                selection = selection._replace(room=room)
            found[position] = selection
            unused += share - selection.tokens
        return found

    def _room_for_unreadable(self, mentions: Iterable[MentionedDocument]) -> int:
        """Tokens for the text of documents that the model cannot read with a tool."""
        share = TOTAL_SHARE if self._limits.has_tools else TOTAL_SHARE_WITHOUT_TOOLS
        total = int(max(share, self._limits.ratio) * self._limits.room.beside_turns)
        total -= self._limits.room.beside_turns - self._left
        room = max(total, int(OWN_SHARE * self._limits.room.without_turns))
        names = describe_documents([mention.reference for mention in mentions])
        return max(0, room - self._limits.count(names))

    def _select_part(self, mention: MentionedDocument, room: int) -> _Selection:
        """The whole document, or else its relevant sections and then its beginning; the last chunk
        may be cut.
        """
        costs = self._costs(mention)
        total = sum(costs)
        chunks = list(mention.chunks)
        headings: tuple[str, ...] = ()
        if total > room:
            count = self._limits.count
            headings = _fitting_headings(mention.chunks, int(HEADINGS_SHARE * room), count)
            left = room - count(_join_headings(headings))
            chunks = _fitting_chunks(mention.chunks, costs, left, self._question, count)
            sent = {chunk.heading for chunk in chunks}
            headings = tuple(heading for heading in headings if heading not in sent)
        selection = _Selection(
            _delivery(chunks, mention.chunks),
            chunks=tuple(chunks),
            tokens=sum(self._cost(chunk) for chunk in chunks),
            total_tokens=total,
            room=room,
            left=max(self._left, room),
            headings=headings,
        )
        self._take(selection)
        return selection

    def _take(self, selection: _Selection) -> None:
        self._left = max(0, self._left - selection.tokens)
        self._total -= selection.tokens
        self._injected.update(chunk.id for chunk in selection.chunks)

    def _costs(self, mention: MentionedDocument) -> list[int]:
        return [self._cost(chunk) for chunk in mention.chunks]

    def _cost(self, chunk: ContentChunk) -> int:
        return 0 if chunk.id in self._injected else self._limits.cost(chunk)


def _delivery(sent: Sequence[ContentChunk], text: Sequence[ContentChunk]) -> Delivery:
    """How a document with this `text` is delivered if these chunks are sent."""
    if not sent:
        return "offered"
    whole = [chunk.id for chunk in sent] == [chunk.id for chunk in text]
    return "injected" if whole else "partly"


def _without_names(message: str, mentions: Iterable[MentionedDocument]) -> str:
    """The message without the names of documents, which make no section relevant."""
    for mention in mentions:
        message = message.replace(mention.reference.wikilink, " ")
    return message


def _delivery_fields(mention: MentionedDocument, selection: _Selection) -> dict[str, object]:
    """The fields of a reference with the decision, its reason, and the headings of a text that is
    not sent whole.
    """
    if not mention.chunks:
        reason = "it has no text to put into a prompt"
    else:
        size = f"all of it takes {selection.total_tokens:,} tokens"
        if selection.delivery == "injected":
            size = f"{selection.tokens:,} tokens"
        share = f"{selection.room:,} fit, a share of the {selection.left:,} left for messages"
        reason = f"{size}; {share}"
    return {
        "delivery": selection.delivery,
        "delivery_reason": reason,
        "headings": selection.headings if selection.delivery != "injected" else (),
    }


def _headings(text: Iterable[ContentChunk]) -> tuple[str, ...]:
    """The headings of a text, each once."""
    headings: dict[str, None] = {}
    for chunk in text:
        if chunk.heading:
            headings[truncate(chunk.heading, MAX_HEADING_LENGTH)] = None
    return tuple(headings)


def _fitting_headings(text: Iterable[ContentChunk], room: int, count: Count) -> tuple[str, ...]:
    """The first headings of a text that take at most `room` tokens."""
    headings = _headings(text)[:MAX_HEADINGS]
    while headings and count(_join_headings(headings)) > room:
        headings = headings[:-1]
    return headings


def _join_headings(headings: Iterable[str]) -> str:
    return "; ".join(headings)


def _fitting_sections(
    sections: Iterable[Sequence[int]], costs: Sequence[int], room: int
) -> list[int]:
    """The chunk indexes of the first sections that fit."""
    selected: list[int] = []
    for section in sections:
        cost = sum(costs[i] for i in section)
        if cost <= room:
            room -= cost
            selected += section
    return sorted(selected)


def _fitting_chunks(
    text: Sequence[ContentChunk], costs: Sequence[int], room: int, question: str, count: Count
) -> list[ContentChunk]:
    """The chunks of a text that fit: first those of the sections that are relevant to the question,
    then the first ones. The first that does not fit is cut.
    """
    order = dict.fromkeys(chain.from_iterable(_relevant_sections(text, question)))
    order |= dict.fromkeys(range(len(text)))
    selected: dict[int, ContentChunk] = {}
    for index in order:
        if costs[index] <= room:
            room -= costs[index]
            selected[index] = text[index]
            continue
        if len(text[index].text) > MIN_CHARACTERS:
            cut = truncate_chunk(text[index], room, count)
            if chunk_tokens(cut, count) <= room:
                selected[index] = cut
        break
    return [selected[index] for index in sorted(selected)]


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


def _cut_warning(mention: MentionedDocument, selection: _Selection) -> Notice:
    """The warning about a document that the model gets in part or not at all."""
    name = mention.reference.wikilink
    if not mention.chunks:
        return Notice(f"{name} is empty", "Nothing was sent to the model.")
    if not selection.chunks:
        return Notice(
            f"{name} does not fit, and the model cannot read it with a tool", _hint(mention)
        )
    end = mention.chunks[-1].end_line
    lines = _describe_lines(selection.chunks)
    tokens = f"{selection.tokens:,} of {selection.total_tokens:,} tokens"
    return Notice(f"only {tokens} of {name} went to the model: {lines} of {end}", _hint(mention))


def _hint(mention: MentionedDocument) -> str:
    """What to do about a document that does not fit."""
    smaller = "name a smaller file"
    if mention.reference.reference_type == "direct":
        smaller = "name a section of it ([[note#heading]])"
    return f"{smaller}, or raise context.max_tokens"


def _describe_lines(chunks: Sequence[ContentChunk]) -> str:
    """The lines of chunks: `lines 1 to 40 and 80 to 95`."""
    spans: list[LineSpan] = []
    for chunk in chunks:
        # Blank lines between chunks belong to none
        if spans and chunk.start_line <= spans[-1].last + MOST_BLANK_LINES + 1:
            spans[-1] = LineSpan(spans[-1].first, max(spans[-1].last, chunk.end_line))
        else:
            spans.append(LineSpan(chunk.start_line, chunk.end_line))
    named = [f"{first} to {last}" for first, last in spans[:MAX_SPANS]]
    if len(spans) > MAX_SPANS:
        named.append("others")
    *before, last_name = named
    return f"lines {', '.join(before)} and {last_name}" if before else f"lines {last_name}"
