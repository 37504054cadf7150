"""Citations of an answer, with the verdict of their check."""

from collections.abc import Iterable
from operator import attrgetter
from typing import Literal, get_args

from zkchat_cli.models.base import Count, _LogValue

CitationVerdict = Literal["cited", "verified", "cut", "misattributed", "misquoted", "missing"]
"""What the check of a citation found, from the best to the worst verdict:

- `cited`: the citation has no quote.
- `verified`: the quote is in the cited chunk.
- `cut`: the quote is in the chunk, but cut so that it says something else.
- `misattributed`: the quote is not in the chunk, but in another one of the prompt.
- `misquoted`: the quote is not in the chunk.
- `missing`: no chunk in the prompt has that number.
"""

Support = Literal["supports", "does_not_support", "unclear"]
"""Whether the cited chunk says what the sentence says, as far as words, numbers, names and
negations show.
"""

QuoteRemark = Literal["hidden_characters", "without_accents", "not_checked"]
"""What is told of a quote: its passage has characters that do not show, it is written wholly
without the accents of the note, or it came with an import and its note is not here.
"""


class Citation(_LogValue):
    """One cited source of an answer, with at most one quote.

    `valid`: the chunk was in the prompt and contains the whole quote, if there is one. `sentence`:
    the whole sentence around a quote that was cut. `spans`: the character ranges of this citation
    in the answer. `found_in`: the number of the chunk that has the words of a misattributed quote,
    and `found_at` their path and line. `outdated`: why the note should be trusted less, by what it
    says of itself: `stale since 2026-09-23`.
    """

    number: Count
    relative_path: str | None = None
    heading: str | None = None
    start_line: Count | None = None
    end_line: Count | None = None
    quote: str | None = None
    valid: bool = False
    verdict: CitationVerdict = "missing"
    sentence: str | None = None
    support: Support | None = None
    spans: tuple[tuple[Count, Count], ...] = ()
    found_in: Count | None = None
    found_at: str | None = None
    remarks: tuple[QuoteRemark, ...] = ()
    outdated: str | None = None

    @property
    def is_unsupported(self) -> bool:
        """Whether the source does not seem to say what the sentence says, and its words are not the
        reason.
        """
        return self.support == "does_not_support" and self.verdict not in (
            "misquoted",
            "misattributed",
        )


class FoundSentence(_LogValue):
    """A sentence of a note that zkchat has found for an answer without a source. Its words are in
    the note.
    """

    quote: str
    wikilink: str
    relative_path: str
    heading: str | None = None
    start_line: Count | None = None
    end_line: Count | None = None
    verdict: CitationVerdict = "verified"
    found_by: str = "zkchat"


def worst_verdict(verdicts: Iterable[CitationVerdict]) -> CitationVerdict:
    """The verdict on several citations of one source."""
    return max(verdicts, key=get_args(CitationVerdict).index)


def group_by_number(citations: Iterable[Citation]) -> dict[int, list[Citation]]:
    """The citations of each source, the sources by number."""
    found: dict[int, list[Citation]] = {}
    for citation in sorted(citations, key=attrgetter("number")):
        found.setdefault(citation.number, []).append(citation)
    return found
