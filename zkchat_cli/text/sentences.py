"""Where sentences end, in languages with and without spaces between words.

A full stop ends a sentence only before white space; Chinese and Japanese marks end one anywhere.
Quotation marks, brackets and emphasis that close behind the mark belong to the sentence.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from zkchat_cli.text.patterns import lazy_pattern

FULL_STOPS = ".!?。！？"
"""What ends a sentence for certain; the last three are those of scripts without spaces."""
END_MARKS = f"{FULL_STOPS}…"
"""An ellipsis ends a sentence, too, unless the sentence continues behind it."""
CLOSING_MARKS = "\"'”’»」』)）]*_"
CLOSING = rf"[{re.escape(CLOSING_MARKS)}]"
"""A mark that closes behind the end of a sentence, as a part of other patterns."""
SENTENCE_END = rf"[.!?…](?={CLOSING}*+\s)|[。！？]"
"""The mark that ends a sentence before another one. In a text that ends with its last sentence,
nothing shows whether that is complete.
"""
_STATEMENT_MARK = lazy_pattern(
    r"""(?:[.!?…;؛؟۔।]+["'”’)\]»]*(?=\s|\Z)|(?:[!?;…]|(?<!\d)\.)["'”’)\]»]*(?=[\u3040-\u9fff])"""
    r"""|[。！？；｡]+["'”’）)」』]*)"""
)
"""What may end a statement; a semicolon ends one, too."""
_TITLE = lazy_pattern(r"\b(?:dr|mr|mrs|ms|prof|st|hr|fr|sr|sra|dra|mme|mlle)\.\Z", re.IGNORECASE)
_SHORTENED = lazy_pattern(
    r"\b(?:e\.g|i\.e|etc|cf|vs|approx|fig|pp|p|vol|no|nr|ca|z\. ?b|u\. ?a|d\. ?h|bzw|evtl|ggf"
    r"|inkl|usw|vgl|ex|т\. ?е|т\. ?д|т\. ?п|др|см|стр|г|гг|pág|núm|aprox|env|min|max|al|incl|\w)"
    r"\.\Z",
    re.IGNORECASE,
)
_ORDINAL = lazy_pattern(r"\b(?:am|im|vom|zum|beim|de[mnrs]|das|die) \d\d?\.\Z", re.IGNORECASE)
# Characters before a point that decide whether it ends a statement
_STATEMENT_TAIL = 12
_FINAL_END = lazy_pattern(rf"[.!?…](?={CLOSING}*+(?:\s|\Z))|[。！？\n]")
# Not » and 」: what follows `says «words.»` belongs to the sentence more often than not
_NEXT_SENTENCE = lazy_pattern(
    r"""[.!?…]["'”’)\]*_]*\s+(?=["'“‘(\[*_`]*[^\Wa-z_]|["'“‘(\[]*[A-Z])|[。！？]["”’）」』]*"""
)
_LONGEST_ABBREVIATION = 9  # characters before its point
_ABBREVIATION = lazy_pattern(
    r"\b(?:e\.g|i\.e|etc|cf|vs|Dr|Mr|Mrs|Ms|Prof|St|No|approx|fig|pp|vol|et al|env"
    r"|ca|Nr|Tel|Abb|Kap|bzw|evtl|ggf|inkl|sog|vgl|zzgl|[A-Z]"
    r"|(?:(?<!\bI )am|im|vom|zum|beim|de[mnrs]|das|die) \d\d?)\.$",
    re.IGNORECASE,
)
"""The last are German ordinals, such as in dates: "am 3. Oktober"."""
# First pieces of a text that may be blank
_MOST_BLANK = 5


def split_sentences(paragraph: str) -> list[str]:
    """The sentences of one paragraph; pieces without a letter or digit are left out."""
    pieces: list[str] = []
    begin = 0
    for end in _NEXT_SENTENCE.finditer(paragraph):
        tail = paragraph[max(begin, end.start() - _LONGEST_ABBREVIATION) : end.end()].rstrip()
        if tail and not _ABBREVIATION.search(tail):
            pieces.append(paragraph[begin : end.end()].strip())
            begin = end.end()
    pieces.append(paragraph[begin:].strip())
    return [piece for piece in pieces if piece[:1].isalnum() or any(map(str.isalnum, piece))]


class StatementEnd(NamedTuple):
    """Where the marks that end a statement begin and end. One behind an abbreviation is not
    `certain`.
    """

    start: int
    end: int
    certain: bool = True


def statement_ends(text: str) -> Iterator[StatementEnd]:
    """The ends of the statements in a text on one line. An ellipsis ends none if the sentence
    continues behind it.
    """
    for mark in _STATEMENT_MARK.finditer(text):
        start, end = mark.span()
        following = text[end : end + 2].lstrip()[:1]
        if mark[0][:2] in ("..", "…") or mark[0][:1] == "…":
            if following.islower() or following >= "\u3040":
                continue
        elif mark[0][0] == ".":
            tail = text[max(0, start - _STATEMENT_TAIL) : start + 1]
            continues = following.islower() or following.isdigit()
            is_short = _SHORTENED.search(tail) is not None
            if _TITLE.search(tail) or _ORDINAL.search(tail) or (is_short and continues):
                continue
            yield StatementEnd(start, end, certain=not is_short)
            continue
        yield StatementEnd(start, end)


def ends_as_sentence(text: str) -> bool:
    """Whether a text ends with a mark that ends a sentence."""
    return text.rstrip(CLOSING_MARKS).endswith(tuple(END_MARKS))


def end_mark(text: str, at: int) -> str:
    """The mark that ends the sentence at a position; a line break if the line ends first, and
    empty if the text does.
    """
    found = _FINAL_END.search(text, at)
    return found[0] if found else ""


def first_sentence(text: str) -> str:
    """The first sentence or line of a text that is not blank, without the mark that ends it."""
    pieces = _FINAL_END.split(text, _MOST_BLANK)
    return next(filter(str.strip, pieces), "")
