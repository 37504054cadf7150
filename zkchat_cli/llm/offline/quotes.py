"""The passages of excerpts as quotes: what a reader sees of each, and the words in it. Pure."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from zkchat_cli.llm.offline import passages
from zkchat_cli.llm.offline.passages import MAX_GROUP, QuotablePassage
from zkchat_cli.llm.offline.property_rows import PROPERTY
from zkchat_cli.llm.offline.quoted_lists import COLONS
from zkchat_cli.llm.offline.rendered_passages import quotable_chunk, render_passage
from zkchat_cli.llm.offline.shown_blocks import lines_of_passage
from zkchat_cli.text import words

# The factor for the quality of questions, lead-ins and fragments
INCOMPLETE_FACTOR = 0.6
FEWEST_WORDS = 3
"""A passage with fewer words is a fragment, unless it is a row of a table."""
# Characters from which on a quote loses quality
LONG_QUOTE = 240
# Further characters that halve its quality
LOSS_PER_CHARACTERS = 480
# The worth of the first rank among the results; that of the highest similarity of a passage is 1
RANK_WEIGHT = 0.2
_KIND_QUALITY = {"prose": 1.0, "item": 0.95, "row": 0.85, "code": 0.75}


class QuoteSource(NamedTuple):
    """A numbered excerpt of a note from a tool. `rank`: its position among the results."""

    source: int
    path: str
    title: str
    heading: str | None
    text: str
    rank: int = 0
    # The text below the fence of the code in which it begins; empty for any other
    as_code: str = ""
    # That of the search, comparable within one only; None if no search has found it
    score: float | None = None
    # The line of the note that it begins in; 0 if that is not known
    first_line: int = 0
    # For a block that other notes show by its id, their lines: "Pool:6"
    shown_in: tuple[str, ...] = ()


class QuoteOrder(NamedTuple):
    """Where a passage is: the rank of its excerpt, and its position in that."""

    rank: int
    position: int


class RankedQuote(NamedTuple):
    """A passage, its worth as an answer, and the numbers of all excerpts that contain it."""

    passage: QuotablePassage
    excerpt: QuoteSource
    sources: tuple[int, ...]
    order: QuoteOrder
    # The passage as a reader sees it
    text: str
    # The words of the text as they are compared (see `comparable_words`)
    words: frozenset[str]
    # The words of the names of its note, of the headings and of the label above it
    above: frozenset[str] = frozenset()
    # For a property, the words of its value
    words_of_value: frozenset[str] = frozenset()
    value: float = 1.0
    # Its worth as the first quotation of an answer, if it may be that
    value_as_first: float = 0.0
    # The folder of its note if others have the title, too: "Cook" says nothing
    folder: str = ""
    # Whether it is the label of code: with the code it is complete, although it ends with a colon
    has_code: bool = False
    # Whether it or a heading above it has a rare word of the question, or a similar meaning
    is_on_topic: bool = True
    # The titles of the other notes among its sources
    other_titles: tuple[str, ...] = ()
    # The blocks of other notes that it shows by their ids
    shown: "tuple[RankedQuote, ...]" = ()

    @property
    def is_complete(self) -> bool:
        """Whether it says something by itself: no question, no fragment, nothing that leads in to
        something else.
        """
        if len(self.words) < FEWEST_WORDS and self.passage.kind != "row":
            return False
        if self.is_question or self.is_row_without_header or self.only_repeats_names:
            return False
        return self.has_code or bool(self.shown) or not self.text.endswith(COLONS)

    @property
    def is_question(self) -> bool:
        """Whether the passage is a question, and so no answer."""
        return self.text.endswith(("?", "？"))

    @property
    def is_row_without_header(self) -> bool:
        """Whether it is a row of a table, and nothing says what is in its columns."""
        return self.passage.kind == "row" and "|" in self.text and not self.passage.label

    @property
    def only_repeats_names(self) -> bool:
        """Whether it is a property with words that the names above it have, too: "city: Rome" in
        the note Rome.
        """
        return bool(self.words_of_value) and self.words_of_value <= self.above

    @property
    def header(self) -> str:
        """What is in the columns of a row; empty for anything else."""
        return self.passage.label if self.passage.kind == "row" else ""

    @property
    def owner(self) -> str:
        """The titles of the notes that have a property; empty for anything else."""
        if not self.words_of_value:
            return ""
        return ", ".join(dict.fromkeys((self.excerpt.title, *self.other_titles)))

    @property
    def quality(self) -> float:
        """How well it can be quoted, whatever the question: 1 for a short whole sentence."""
        return self.quality_if(shortest_loss=LONG_QUOTE)

    def quality_if(self, *, shortest_loss: int) -> float:
        """Its quality if quotes lose some from so many characters on."""
        excess = max(0, len(self.text) - shortest_loss)
        quality = _KIND_QUALITY[self.passage.kind] / (1 + excess / LOSS_PER_CHARACTERS)
        if not self.is_complete or self.passage.is_mostly_links:
            quality *= INCOMPLETE_FACTOR
        return quality

    @property
    def rank_worth(self) -> float:
        """What the rank of its excerpt among the results is worth."""
        return RANK_WEIGHT / math.sqrt(1 + self.order.rank)

    @property
    def section(self) -> tuple[str, ...]:
        """The title of the note, with its folder if others have the title, too, and the innermost
        heading above it.
        """
        names = (self.folder, self.excerpt.title, *self.passage.headings[-1:])
        # A remembered fact has no names at all
        return tuple(dict.fromkeys(filter(None, names))) or ("",)

    @property
    def with_names(self) -> str:
        """The text with the names of its note and section: alone, it may be about anything."""
        return f"{' › '.join(self.section)}: {self.text}"


def find_quotes(
    excerpts: Iterable[QuoteSource], languages: tuple[str, ...], max_group: int = MAX_GROUP
) -> list[RankedQuote]:
    """All passages of the excerpts that can be quoted, in their order, not valued yet."""
    found = []
    excerpts = list(excerpts)
    shared = _shared_titles(excerpts)
    for excerpt in excerpts:
        folder = _folder_of(excerpt) if excerpt.title in shared else ""
        file_name = PurePosixPath(excerpt.path).stem
        words_of_headings: dict[tuple[str, ...], frozenset[str]] = {}
        chunk = quotable_chunk(excerpt.text)
        source = excerpt.as_code or excerpt.text
        pieces = passages.quotable_passages(source, excerpt.heading, max_group=max_group)
        for position, passage in enumerate(pieces):
            text = render_passage(passage, chunk)
            if text is None:
                continue
            names = (folder, file_name, excerpt.title, *passage.headings)
            if names not in words_of_headings:
                words_of_headings[names] = comparable_words(" ".join(names), languages)
            near = " ".join((passage.label, *passage.parents))
            found.append(
                RankedQuote(
                    passage,
                    excerpt,
                    sources=(excerpt.source,),
                    order=QuoteOrder(excerpt.rank, position),
                    text=text,
                    words=comparable_words(text, languages),
                    above=words_of_headings[names] | comparable_words(near, languages),
                    words_of_value=comparable_words(value_of(passage, text), languages),
                    folder=folder,
                )
            )
    return _with_shown_blocks(found)


def _with_shown_blocks(quotes: list[RankedQuote]) -> list[RankedQuote]:
    """The quotes, each with the blocks that its lines show."""
    blocks: dict[str, list[RankedQuote]] = {}
    for quote in quotes:
        if quote.order.position == 0:
            for place in quote.excerpt.shown_in:
                blocks.setdefault(place, []).append(quote)
    if not blocks:
        return quotes
    found: list[RankedQuote] = []
    for quote in quotes:
        source = quote.excerpt
        lines = lines_of_passage(quote.passage.text, source.text)
        places = [f"{source.title}:{source.first_line + number}" for number in lines]
        shown = dict.fromkeys(block for place in places for block in blocks.get(place, ()))
        found.append(quote._replace(shown=tuple(shown)))
    return found


def value_of(passage: QuotablePassage, text: str) -> str:
    """The value of a passage that is a property; empty for any other."""
    if passage.kind != "row" or passage.label or not PROPERTY.match(text):
        return ""
    return text.partition(":")[2]


def _shared_titles(excerpts: Iterable[QuoteSource]) -> frozenset[str]:
    """The titles that several of the notes have."""
    titles = {each.path: each.title for each in excerpts}
    counts = Counter(titles.values())
    return frozenset(title for title, count in counts.items() if count > 1)


def _folder_of(excerpt: QuoteSource) -> str:
    return PurePosixPath(excerpt.path).parent.name


def mark_labels_of_code(quotes: Sequence[RankedQuote]) -> list[RankedQuote]:
    """The same quotes, with `has_code` for those that are the label of code in their excerpt."""
    labels = {
        (quote.order.rank, quote.passage.label) for quote in quotes if quote.passage.kind == "code"
    }
    return [
        quote._replace(has_code=(quote.order.rank, quote.passage.text) in labels)
        for quote in quotes
    ]


def comparable_words(text: str, languages: tuple[str, ...]) -> frozenset[str]:
    """The words of a text as they are compared: stems, and Chinese characters in pairs and
    alone.
    """
    found = set()
    for word in words.content_terms(text):
        found.add(words.stem(word, languages))
        found.update(cjk_characters(word))
    return frozenset(found)


def cjk_characters(word: str) -> str:
    """The characters of a Chinese word; empty for a word of other languages."""
    return word if words.find_cjk(word[:1]) else ""


def characters_of(text: str) -> set[str]:
    """The Chinese characters of a text."""
    found: set[str] = set()
    for word in words.terms(text):
        found.update(cjk_characters(word))
    return found


def have_any_word(excerpts: Sequence[QuoteSource], wanted: Iterable[str]) -> bool:
    """Whether the excerpts, or the titles and headings above them, have one of these words in any
    form.
    """
    languages = words.detect_languages(excerpt.text for excerpt in excerpts)
    text = " ".join(f"{each.title} {each.heading or ''} {each.text}" for each in excerpts)
    found = comparable_words(text, languages)
    return any(words.stem(word, languages) in found for word in wanted)
