"""Where sentences end, in languages with and without spaces between words.

A full stop ends a sentence only before white space; Chinese and Japanese marks end one anywhere.
Quotation marks, brackets and emphasis that close behind the mark belong to the sentence.
"""

import re

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
STATEMENT_END = (
    r"(?<!\be\.g)(?<!\bi\.e)(?<!\bvs)(?<!\bdr)(?<!\bmr)(?<!\bmrs)(?<!\bcf)(?<!\bca)(?<!\bz\.b)"
    r"[.!?…;][\"')\]]*(?:\s|\Z|(?=[\u3040-\u9fff-]))|[。！？；]"
)
"""The end of a statement in a text without case and typography; a semicolon ends one, too."""
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
