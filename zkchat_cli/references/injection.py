"""How a document that the user names reaches the model: with its text in the prompt, or by what it is about, to be read when needed.

Document 0's rule: a text goes into the prompt when it takes at most a share (`context.injection_ratio`) of what is left of the messages'
budget. Of one that takes more, whole sections that bear on the message do, as far as they fit. Pure: what is decided, and why, is kept
with the message, so that a prompt made from the log later is the same.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from zkchat_cli.models import ContentChunk, Delivery, DocumentReference
from zkchat_cli.references.chunk_format import format_tool_result
from zkchat_cli.references.mentions import MentionedDocuments, Summary, reference_key
from zkchat_cli.text.truncate import truncate
from zkchat_cli.text.words import content_terms, stem

TOGETHER = 0.5
"""The share that all documents of a message may take together: the rest is for what was said before, and for what tools find."""
ONLY_HERE = 0.5
"""The share for an imported file that the model cannot read by itself: what is not in the prompt is not there at all."""
A_LINE = 40
"""Tokens that naming a linked note takes, about."""
LISTED = 0.05
"""The share of what is left that linked notes may take for being named."""
SMALLER = "name a smaller file, or raise context.max_tokens"
MOST_HEADINGS, LONGEST_HEADING = 40, 80


@dataclass(frozen=True, slots=True)
class Injection:
    """The references with their delivery and its reason; the chunks that go into the prompt, not numbered yet, and which of them (their
    ids) are whose; what the user is told. `known`: the numbers of chunks that are in the prompt already."""

    references: tuple[DocumentReference, ...] = ()
    chunks: tuple[ContentChunk, ...] = ()
    whose: tuple[tuple[str, ...], ...] = ()
    told: tuple[tuple[str, str], ...] = ()
    known: Mapping[str, int] = field(default_factory=dict)

    def numbered(self, chunks: Sequence[ContentChunk]) -> tuple[DocumentReference, ...]:
        """The references with the numbers that their chunks were given."""
        numbers = {**self.known, **{chunk.id: chunk.number for chunk in chunks if chunk.number is not None}}
        found = []
        for reference, ids in zip(self.references, self.whose, strict=True):
            own = tuple(numbers[id_] for id_ in ids if id_ in numbers)
            found.append(reference.model_copy(update={"numbers": own, "number": own[0]}) if own else reference)
        return tuple(found)


@dataclass(frozen=True, slots=True)
class InjectionBudget:
    """What delivery needs to know: `left` tokens of the messages' budget, the share of them for a document, the tokens of a chunk in the
    prompt, the text of a note that is not at hand, and what a note is about; `there`: the chunks that are in the prompt already, by id."""

    left: int
    ratio: float
    cost: Callable[[ContentChunk], int]
    text: Callable[[str], Sequence[ContentChunk]]
    summary: Summary
    there: Mapping[str, ContentChunk] = field(default_factory=dict)


def inject(named: MentionedDocuments, message: str, means: InjectionBudget) -> Injection:
    """Decide for each document in its order; what one takes is not there for the next, and together they take at most `TOGETHER`, or one
    document's share where that is more."""
    left, listed = means.left, 0
    together = int(max(TOGETHER, means.ratio) * left)
    known: dict[str, int] = {}
    references: list[DocumentReference] = []
    whose: list[tuple[str, ...]] = []
    chunks: dict[str, ContentChunk] = {}
    told = list(named.warnings)
    for reference in named.references:  # that it is named does not make a section bear on the message
        message = message.replace(reference.wikilink, " ")
    left_out = 0
    for reference in named.references:
        if reference.relative_path is None:
            references.append(reference)
            whose.append(())
            continue
        here = reference_key(reference) in named.unreadable
        linked = reference.reference_type == "link"
        if linked and listed >= LISTED * left:
            left_out += 1
            continue
        text = named.texts.get(reference_key(reference), ()) if not linked else means.text(reference.relative_path)
        if above := _above(text, means.there):
            known |= above
            reason = f"its text is in the prompt already, source {', '.join(map(str, above.values()))}"
            references.append(reference.model_copy(update={"delivery": "injected", "delivery_reason": reason, "above": True}))
            whose.append(tuple(above))
            continue
        costs = [0 if chunk.id in chunks else means.cost(chunk) for chunk in text]
        room = min(int((max(means.ratio, ONLY_HERE) if here else means.ratio) * left), together)
        places = _taken(text, costs, room, message, from_start=here)
        taken = [text[i] for i in places]
        spent = sum(costs[i] for i in places)
        delivery: Delivery = "offered" if not taken else "injected" if len(taken) == len(text) else "partly"
        if linked:
            listed += A_LINE if delivery == "offered" else 0
            reference = reference.model_copy(update={"summary": means.summary(reference.relative_path)})
        if here and delivery != "injected":
            told.append(_cut(reference, text, taken))
        reason = _reason(text, costs, taken, spent, room, left)
        headings = () if delivery == "injected" else _headings(text)
        references.append(reference.model_copy(update={"delivery": delivery, "delivery_reason": reason, "headings": headings}))
        whose.append(tuple(chunk.id for chunk in taken))
        chunks |= {chunk.id: chunk for chunk in taken}
        left -= spent
        together -= spent
    if left_out:
        what = f"{left_out} linked note{'s' if left_out > 1 else ''} did not fit"
        told.append((what, "name those you need, or raise context.max_tokens"))
    return Injection(tuple(references), tuple(chunks.values()), tuple(whose), tuple(told), known)


def _above(text: Sequence[ContentChunk], there: Mapping[str, ContentChunk]) -> dict[str, int]:
    """The numbers of a text that is in the prompt already, all of it and as it is now, by the ids of its chunks; else none."""
    same = [there[chunk.id] for chunk in text if chunk.id in there and there[chunk.id].text == chunk.text]
    numbers = {chunk.id: chunk.number for chunk in same if chunk.number is not None}
    return numbers if len(numbers) == len(text) else {}


def _taken(text: Sequence[ContentChunk], costs: Sequence[int], room: int, message: str, *, from_start: bool) -> list[int]:
    """The places of all chunks if they fit; else of whole sections that share words with the message, the best first, or, `from_start`, of
    what comes first."""
    if sum(costs) <= room:
        return list(range(len(text)))
    chosen: set[int] = set()
    for group in [[i] for i in range(len(text))] if from_start else _sections(text, message):
        cost = sum(costs[i] for i in group)
        if cost <= room:
            room -= cost
            chosen.update(group)
        elif from_start:
            break
    return sorted(chosen)


def _sections(text: Sequence[ContentChunk], message: str) -> Iterator[list[int]]:
    """Chunks by section, those first that hold most of the message's words; none that holds no word of it."""
    wanted = {stem(term) for term in content_terms(message)}
    if not text or not wanted:
        return
    groups = [list(group) for _, group in groupby(range(len(text)), key=lambda i: text[i].heading)]
    words = [{stem(term) for i in group for term in content_terms(f"{text[i].heading or ''}\n{text[i].text}")} for group in groups]
    named = set.intersection(*words) if len(words) > 1 else set()  # what each section says tells none from another
    shared = [len(wanted & held - named) for held in words]
    yield from (groups[i] for i in sorted(range(len(groups)), key=lambda i: -shared[i]) if shared[i])


def _reason(text: Sequence[ContentChunk], costs: Sequence[int], taken: Sequence[ContentChunk], spent: int, room: int, left: int) -> str:
    if not text:
        return "it holds no text that can be put into a prompt"
    share = f"{room} fit, a share of the {left} left for messages"
    if len(taken) == len(text):
        return f"{spent} tokens; {share}"
    part = f"{len(taken)} of {len(text)} excerpts, {spent} tokens; " if taken else ""
    return f"{part}all of it takes {sum(costs)} tokens; {share}"


def _cut(reference: DocumentReference, text: Sequence[ContentChunk], taken: Sequence[ContentChunk]) -> tuple[str, str]:
    if not text:
        return f"{reference.wikilink} is empty", "Nothing of it went to the model."
    if not taken:
        return f"{reference.wikilink} does not fit, and the model cannot read it by itself", SMALLER
    last = text[-1].end_line
    return f"of {reference.wikilink}, only lines {taken[0].start_line} to {taken[-1].end_line} of {last} went to the model", SMALLER


def _headings(text: Sequence[ContentChunk]) -> tuple[str, ...]:
    found = dict.fromkeys(truncate(chunk.heading, LONGEST_HEADING) for chunk in text if chunk.heading)
    return tuple(found)[:MOST_HEADINGS]


def describe_documents(references: Sequence[DocumentReference], chunks: Sequence[ContentChunk] = ()) -> str:
    """How the model is told of the documents a message names: path, summary, the text of those that are in the prompt, as numbered
    excerpts, and a request to read the others. Empty without any document.

    With no `chunks`, although there were some (a smaller window), all documents are to be read.
    """
    if not references:
        return ""
    there = {chunk.number for chunk in chunks}
    lines = [_line(reference, there) for reference in references]
    unread = any(r.relative_path and not r.above and (r.delivery != "injected" or not there) for r in references)
    rest = "what is not below" if there else "them"
    request = [f"Read {rest} with the read_zk_document tool before you answer, as far as the question needs it."] if unread else []
    excerpts = [f"Excerpts of them, to be cited by their numbers:\n{format_tool_result(chunks, {})}"] if chunks else []
    return "\n".join(["The message below refers to these documents:", *lines, *request, *excerpts])


def _line(reference: DocumentReference, there: set[int | None]) -> str:
    if reference.relative_path is None:
        return f"- {reference.wikilink}: no such {'file' if reference.reference_type == 'import' else 'note'}"
    part = f", section {reference.heading!r}" if reference.heading else ""
    about = f": {reference.summary}" if reference.summary else ""
    below = [str(number) for number in reference.numbers if number in there]
    where = f" [its {'text' if reference.delivery == 'injected' else 'beginning or parts'}: source {', '.join(below)}]" if below else ""
    if reference.above:
        where = f" [its text stands above: source {', '.join(map(str, reference.numbers))}; to be read again if it does not]"
    headings = f" [headings: {'; '.join(reference.headings)}]" if reference.headings else ""
    return f"- {reference.wikilink} ({reference.relative_path}{part}){about}{where}{headings}"
