"""Verification of any text against a vault: an answer of another program, a draft, a paper.

Unlike an answer in the chat, such a text has no numbered excerpts. A quotation's source is the note
that its mark names: a link, a path, or a number that a footnote or a list at the end of the text
defines. A quotation without a source may be in any note. Verdicts are those of the chat.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple
from urllib.parse import unquote

from zkchat_cli.citations import marks
from zkchat_cli.citations.assigned_quotes import assign_quotes, is_beside
from zkchat_cli.citations.citing_marks import (
    CitingMark,
    Footnote,
    citing_marks,
    read_footnote,
    read_footnotes,
)
from zkchat_cli.citations.labelled_footnotes import labelled_footnotes, labelled_marks
from zkchat_cli.citations.marks import CitationMark
from zkchat_cli.citations.quotations import (
    Quotation,
    find_quotations,
    marks_outside_quotations,
)
from zkchat_cli.citations.quotes import (
    FoundQuotation,
    QuotableChunk,
    QuotationVerdict,
    find_quotation,
)
from zkchat_cli.errors import VaultError
from zkchat_cli.markdown import inline
from zkchat_cli.markdown.plain_text import remove_tags
from zkchat_cli.models.notes import ContentChunk
from zkchat_cli.text.spans import blank_spans
from zkchat_cli.text.word_lists import FREQUENT_WORDS
from zkchat_cli.text.words import count_words, language_of, terms
from zkchat_cli.vault.front_matter import read_front_matter
from zkchat_cli.vault.vault import Vault

# Words in quotation marks from which on they are a quotation without a source; fewer may be a term
# or irony
FEWEST_WORDS = 3
_NO_PROSE = re.compile(
    r"<!--(?>(?:[^<-]++|-(?!->)|<(?!!--)){0,100000})-->|%%.*?%%"
    rf"|{inline.HTML_TAG}|(?<=\])\([^()\n]*\)",
    re.DOTALL,
)
"""Comments, HTML tags, and the targets of links, in which quotation marks quote nothing."""
_LISTED = re.compile(
    r"[ \t]*(?:[-*+][ \t]+)?(?:\[\^?(?P<bracket>\d{1,4})\]:?|(?P<item>\d{1,4})[.)])[ "
    r"\t]+(?:[✓✗○✂][ \t]*)?(?P<source>\S.*)"
)
"""A source in a list: `1. [[Note]]`, `[1]: Note.md:12`, `[1] Note, 2024`."""
_IN_LIST = re.compile(r"[ \t]*\Z|[ \t]{2,}\S|#{1,6}[ \t]|[*_]{0,2}\w+[*_:]{0,3}\Z")
"""A line between sources: blank, continued, or a title such as `Sources:`."""
_TITLE_ENDS = re.compile(r"[ \t]*(?:[,;:(]|[ \t][-–—›][ \t]|[ \t]{3}|\.(?=\s|\Z)|\Z)")
_LONGEST_NAME = 300
# The last line of a block quotation: `— Luhmann, 1981`
_ATTRIBUTION = re.compile(r"\n[ \t]*(?:[—–―]|--)[ \t]*[^\n]*\Z")

_BEST_FIRST: tuple[QuotationVerdict, ...] = (
    "verified",
    "cut",
    "misattributed",
    "misquoted",
    "not_found",
)
# Words that say something, from which on words in quotation marks without a source claim to be a
# quotation
FEWEST_TELLING_WORDS = 5
# The share of them that the nearest wording must have, else it is alike by chance
LEAST_TELLING_SHARE = 0.5
_NOTE_SUFFIXES = (".md", ".markdown")
_SUFFIX = re.compile(r"\.[A-Za-z]\w{1,4}\Z")


class TextQuotation(NamedTuple):
    """A quotation of a text, where it was found, and the notes that the text names as its source;
    `missing`: the name of a note as its source that does not exist.
    """

    quote: str
    found: FoundQuotation
    named: tuple[str, ...] = ()
    missing: str | None = None
    is_near_link: bool = False
    # Why the note with the words should be trusted less, by what it says of itself
    outdated: str | None = None

    @property
    def is_found(self) -> bool:
        """Whether a note has these words, even if its sentence says something else."""
        return self.found.verdict in ("verified", "cut")

    def document(self) -> dict[str, Any]:
        """The quotation as JSON; `nearest` is the nearest wording, or the whole sentence if the
        quotation is cut; `found_in` is where the words are if the text names another note.
        """
        found = self.found
        return {
            "quote": self.quote,
            "verdict": found.verdict,
            "relative_path": found.chunk.relative_path if found.chunk else None,
            "heading": found.heading,
            "start_line": found.start_line,
            "end_line": found.end_line,
            "nearest": found.nearest or found.sentence,
            "found_in": found.place if found.verdict == "misattributed" else None,
            "missing_note": self.missing,
            "remarks": list(found.remarks),
            "outdated": self.outdated,
        }


def verify_text(text: str, vault: Vault, *, strict: bool = False) -> list[TextQuotation]:
    """The quotations of a text in its order, each with its verdict. The vault's index should be up
    to date. Three or more words in quotation marks are a quotation; fewer only if a source is named
    with them. The name of a note is none. Words that no note has are a quotation if they name a
    source or if five of them say something; `strict`: always. A note with the same text is no
    source: it is the text itself.
    """
    text = text.replace("\r\n", "\n").removeprefix("\ufeff")
    notes = _Notes(vault, text)
    verified = [_verify(quotation, notes) for quotation in _read_quotations(text, notes)]
    return [each for each in verified if _is_claim(each, notes, strict=strict)]


def _is_claim(quotation: TextQuotation, notes: "_Notes", *, strict: bool) -> bool:
    """Whether words in quotation marks claim to be a quotation from a note."""
    if quotation.is_found:
        return True
    if notes.matching_notes(quotation.quote):
        return False
    is_named = quotation.named or quotation.missing or quotation.is_near_link
    return bool(strict or is_named or _count_telling(quotation.quote) >= FEWEST_TELLING_WORDS)


def _count_telling(words: str) -> int:
    """How many words are not among the most frequent ones of their language."""
    found = terms(words)
    frequent = FREQUENT_WORDS[language_of(found)].split()
    return sum(word not in frequent for word in found)


class _WrittenQuotation(NamedTuple):
    """`is_named`: whether the notes are certainly meant as its source, not only linked nearby.
    `missing`: the name of a note that does not exist.
    """

    at: int
    words: str
    notes: tuple[str, ...] = ()
    is_named: bool = False
    missing: str | None = None


class _Notes:
    """The notes of a vault as sources that a text may cite; each is read once."""

    def __init__(self, vault: Vault, verified_text: str) -> None:
        self._vault = vault
        self._verified_text = verified_text
        self.matching_notes = cache(
            lambda name: vault.notes_named(name) if len(name) <= _LONGEST_NAME else ()
        )
        self._read_once = cache(self._read)

    def read(self, paths: Iterable[str]) -> Iterator[QuotableChunk]:
        return filter(None, map(self._read_once, paths))

    def _read(self, path: str) -> QuotableChunk | None:
        try:
            text = self._vault.reader.read(path)
        except VaultError:
            # Deleted or locked since it was indexed
            return None
        if text.strip() == self._verified_text.strip():
            return None
        chunk = ContentChunk(
            id=path,
            relative_path=path,
            title=path,
            start_line=1,
            end_line=text.count("\n") + 1,
            text=_without_front_lines(text),
        )
        return QuotableChunk(chunk)

    def all_with(self, words: str) -> Iterator[QuotableChunk]:
        """The notes that may contain these words, the likeliest first."""
        return self.read(self._vault.notes_quoted(words))


def _without_front_lines(text: str) -> str:
    """The text with its front matter between blank lines: `---` would underline a heading."""
    header = read_front_matter(text).lines
    if header <= 1:
        return text
    lines = text.split("\n", header)
    lines[0] = ""
    lines[header - 1] = ""
    return "\n".join(lines)


class _ReadText(NamedTuple):
    """A text without its list of sources, read for quotations. `prose` has spaces in place of
    comments and tags, `visible` also in place of code and wikilinks.
    """

    body: str
    prose: str
    visible: str
    reading: marks.MarkedText
    quotations: list[Quotation]


def _read_text(text: str, list_start: int) -> _ReadText:
    body = text[:list_start]
    header = len(text) - len(text.split("\n", read_front_matter(text).lines)[-1])
    hidden = [found.span() for found in _NO_PROSE.finditer(body, header)]
    prose = blank_spans(body, [(0, header), *hidden])
    reading = marks.read_marks(prose)
    visible = blank_spans(prose, reading.code)
    visible = blank_spans(visible, [(link.start, link.end) for link in inline.wikilinks(visible)])
    return _ReadText(body, prose, visible, reading, find_quotations(body, visible))


def _read_quotations(text: str, notes: _Notes) -> list[_WrittenQuotation]:
    """The quotations of a text in its order, with the notes that it names for them."""
    list_start, listed = _read_source_list(text, notes)
    read = _read_text(text, list_start)
    footnotes = {**read_footnotes(read.reading, read.body, notes.matching_notes), **listed}
    written = _marks_of_text(read, notes, text)
    known = citing_marks(written, read.prose, notes.matching_notes, footnotes)
    unknown = (CitingMark(mark) for mark in written if _names_missing(mark, read.prose, notes))
    citing = sorted([*known, *unknown], key=lambda cited: cited.mark.start)
    found = _cited_quotations(read, citing)
    assigned = {each.at for each in found}
    for quotation in read.quotations:
        if quotation.start not in assigned:
            found.append(_WrittenQuotation(quotation.start, quotation.words))
    labelled = labelled_footnotes(read.body, text, notes.matching_notes)
    for footnote in [*footnotes.values(), *labelled]:
        for words in footnote.quotes:
            found.append(_WrittenQuotation(len(text), words, footnote.notes, is_named=True))
    # A note that exists, too, is the source
    found.sort(key=lambda each: each.missing is not None)
    unique = {(each.at, each.words): each for each in reversed(found)}
    checked = [each for each in unique.values() if _is_checked(each)]
    return sorted(checked, key=lambda each: each.at)


def _is_checked(quotation: _WrittenQuotation) -> bool:
    """Whether it is rather a quotation than a term or irony."""
    return quotation.is_named or count_words(quotation.words) >= FEWEST_WORDS


def _marks_of_text(read: _ReadText, notes: _Notes, text: str) -> list[CitationMark]:
    """The citation marks and links that may name a source. Those within words that a note has
    belong to the note.
    """
    found = [*read.reading.marks, *labelled_marks(blank_spans(read.prose, read.reading.code), text)]
    for link in inline.loose_links(blank_spans(read.body, read.reading.code)):
        name = _linked_name(link)
        if name:
            found.append(CitationMark(link.start, link.end, name=name))
    in_order = sorted(found, key=lambda mark: mark.start)
    written = marks_outside_quotations(in_order, read.quotations, read.prose)
    starts = [mark.start for mark in written]
    of_notes: set[CitationMark] = set()
    for quotation in read.quotations:
        first = bisect_left(starts, quotation.start)
        last = bisect_left(starts, quotation.end)
        if not quotation.block and first < last:
            place = find_quotation(quotation.words, notes.all_with(quotation.words))
            if place.verdict == "verified":
                of_notes.update(written[first:last])
    return [mark for mark in written if mark not in of_notes]


def _cited_quotations(read: _ReadText, citing: Sequence[CitingMark]) -> list[_WrittenQuotation]:
    """The quotations that belong to a mark."""
    spans = [cited.mark.span for cited in citing]
    assigned = assign_quotes(spans, read.quotations, read.prose, read.visible)
    found: list[_WrittenQuotation] = []
    for cited, quotes in zip(citing, assigned, strict=True):
        for index, words in quotes:
            quotation = read.quotations[index]
            is_named = is_beside(cited.mark.span, quotation, read.visible)
            missing = None if cited.notes else cited.mark.name
            if is_named or not missing:
                written = (quotation.start, words, cited.notes, is_named, missing)
                found.append(_WrittenQuotation(*written))
    return found


def _names_missing(mark: CitationMark, prose: str, notes: _Notes) -> bool:
    """Whether a mark links or names a note that does not exist."""
    name = mark.name
    if not name or mark.defines or notes.matching_notes(name):
        return False
    is_note = name.lower().endswith(_NOTE_SUFFIXES)
    if prose.startswith("[[", mark.start):
        return is_note or not _SUFFIX.search(name)
    # A Markdown link may lead anywhere
    return is_note and "://" not in name and not prose.startswith("[", mark.start)


def _read_source_list(text: str, notes: _Notes) -> tuple[int, dict[int, Footnote]]:
    """Where the list of sources at the end of a text begins, and what its numbers mean; the text's
    end and nothing if there is none.
    """
    begin = end = len(text)
    found: dict[int, Footnote] = {}
    while end > 0:
        line_start = text.rfind("\n", 0, end) + 1
        line = text[line_start:end]
        listed = _LISTED.match(line)
        if listed:
            source = _read_listed(listed["source"], notes)
            if not source.notes and listed["item"]:
                break
            found.setdefault(int(listed["bracket"] or listed["item"]), source)
            begin = line_start
        elif not _IN_LIST.match(line):
            break
        end = line_start - 1
    return begin, found


def _read_listed(source: str, notes: _Notes) -> Footnote:
    """What a source in a list names and quotes: it may also begin with the title of a note."""
    footnote = read_footnote(source, notes.matching_notes)
    if footnote.notes:
        return footnote
    link = inline.match_link(source, 0, loose=True)
    if link:
        return footnote._replace(notes=notes.matching_notes(_linked_name(link)))
    # `Filters, 2024`, `Filters › Dates`
    for title_end in _TITLE_ENDS.finditer(source[:_LONGEST_NAME]):
        named = notes.matching_notes(source[: title_end.start()].strip('*_"“” '))
        if named:
            return footnote._replace(notes=named)
    return footnote


def _linked_name(link: inline.MarkdownLink) -> str:
    """The path of the note that a Markdown link may lead to, without its heading."""
    return unquote(link.destination.partition("#")[0]).strip("<>")


def _verify(quotation: _WrittenQuotation, notes: _Notes) -> TextQuotation:
    """The best verdict on the quotation as it is written, without tags, and without its
    attribution.
    """
    written = quotation.words
    forms = dict.fromkeys((written, remove_tags(written), _ATTRIBUTION.sub("", written)))
    found = {form: _find_source(form, quotation, notes) for form in forms}
    best = min(forms, key=lambda form: _BEST_FIRST.index(found[form].verdict))
    return TextQuotation(
        best.strip(),
        found[best],
        quotation.notes if quotation.is_named else (),
        quotation.missing,
        is_near_link=bool(quotation.notes),
    )


def _find_source(words: str, quotation: _WrittenQuotation, notes: _Notes) -> FoundQuotation:
    """Where the words are. If another note than the named has them, they are misattributed."""
    here = find_quotation(words, notes.read(quotation.notes))
    if here.verdict == "verified" or (here.verdict == "cut" and quotation.is_named):
        return here
    least = 0 if quotation.notes or quotation.missing else LEAST_TELLING_SHARE
    elsewhere = find_quotation(words, notes.all_with(words), least)
    if not quotation.missing and not (quotation.notes and quotation.is_named):
        return elsewhere
    if elsewhere.verdict == "verified":
        return elsewhere._replace(verdict="misattributed")
    if here.verdict == "misquoted":
        return here
    if elsewhere.verdict == "cut":
        return elsewhere._replace(verdict="misquoted")
    return elsewhere
