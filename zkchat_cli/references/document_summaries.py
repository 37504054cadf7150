"""One line about a document, for lists of references: its author's description, or else what a
model has written about it, or its first real paragraph, its list items, headings, tables or code.
"""

import re
import threading
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from zkchat_cli.errors import VaultError
from zkchat_cli.markdown import inline
from zkchat_cli.markdown.blocks import GAP, MarkdownBlock, blocks
from zkchat_cli.markdown.plain_text import to_plain_text
from zkchat_cli.markdown.tables import table_rows
from zkchat_cli.references.summary_cache import SummaryCache, summary_key
from zkchat_cli.text.case_folder import fold
from zkchat_cli.text.dates import MONTHS, WEEKDAYS
from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.text.sentences import ends_as_sentence
from zkchat_cli.text.truncate import truncate
from zkchat_cli.text.words import STOPWORDS, count_words
from zkchat_cli.vault.embeds import embedded_chunks, has_only_embeds
from zkchat_cli.vault.vault import Vault

if TYPE_CHECKING:
    from zkchat_cli.vault.note_parser import ParsedNote

SUMMARY_LENGTH = 100
# Lines of a block, and items of a list, that are read: a summary is one line
MAX_LINES = 40
# Blocks in which an author's description is looked for
MAX_BLOCKS = 100
# A shorter note, in characters, needs no model: its beginning says enough
SHORTEST_SUMMARIZED = 300
# Words from which on a paragraph says something even without a full stop; two CJK characters count
# as one word
_SENTENCE = 6
# The pattern begins with the first characters of all its alternatives, which makes it faster
_LINK = lazy_pattern(
    r"(?=[<!\[h{#&])"
    rf"(?:{inline.HTML_TAG}|!?{inline.WIKILINK}|!?{inline.LOOSE_LINK}|<?{inline.ADDRESS}>?"
    r"|\{\{[^{}]*\}\}"
    r"|(?<!\S)#\S+"
    r"|&\w+;)"
)
"""Markup in which words say nothing about the text: tags, links, addresses, `#tags`, entities."""
_SIGNS = lazy_pattern(r"^\W+")
_LETTERS = lazy_pattern(r"[^\W\d_]+")
_CALENDAR = frozenset(map(str.lower, (*MONTHS, *WEEKDAYS)))
_SIGNPOSTS = (
    _CALENDAR
    | STOPWORDS
    | frozenset(
        "see also back next previous index home parent link source 参见 参考 返回 目录 首页".split()
    )
)
"""Words that, next to links and dates, say nothing about the subject of a note."""
_PROPERTY = lazy_pattern(
    r"\W{0,4}"
    r"(?:[^\W_][\w /-]{0,40}::"
    r"|(?:tags?|keywords|dates?|created|updated|modified|published|authors?|by|sources?|urls?"
    r"|links?|status|type|alias(?:es)?|category|topics?|up|previous|next|parent|related|see also"
    r"|isbn|publisher|rating|note|tip|warning|hint"
    r"|参考|标签|日期|作者|译者|来源|原文|链接|状态|分类|创建时间|更新时间|书名|出版社|评分)"
    r"\W{0,3}(?::|：))(?:\W|$)",
    re.IGNORECASE,
)
"""A fact about the note, such as `Author: Jane` and `up:: [[Home]]`, which is not its content."""
_DESCRIPTION = lazy_pattern(
    r"\W{0,4}(?:summary|description|abstract|tl;dr|简介|内容简介|摘要|概述)\W{0,3}(?::|：)\**\s*(\S.*)",
    re.IGNORECASE,
)
# What the plugin Excalidraw writes at the head of each drawing
_DRAWING = "EXCALIDRAW VIEW"
_COLONS = (":", "：")


class UnwrittenSummary(NamedTuple):
    """A note that has neither a description nor a model's summary: its path, title and text, and
    the key that the summary will have.
    """

    relative_path: str
    title: str
    text: str
    key: str


class DocumentSummaryService:
    """Summaries of notes, by path. Each note is read once: make a new service after notes
    changed. With `written`, what a model has written there is used for notes without a
    description.
    """

    def __init__(self, vault: Vault, written: SummaryCache | None = None) -> None:
        self._vault = vault
        self._written = written
        self._known: dict[str, str | None] = {}
        # The notes that a model could summarize, in the order in which they were asked for
        self._unwritten: dict[str, None] = {}

    def summary(self, relative_path: str) -> str | None:
        """A summary of at most 100 characters on one line; None if the note has no words or cannot
        be read.
        """
        if relative_path not in self._known:
            self._known[relative_path] = self._find(relative_path)
        return self._known[relative_path]

    def take_unwritten(self) -> list[str]:
        """The paths of notes that a model could summarize, and that were asked for since the last
        call.
        """
        paths = list(self._unwritten)
        for path in paths:
            del self._unwritten[path]
        return paths

    def unwritten(self, relative_path: str) -> UnwrittenSummary | None:
        """What a model needs for a summary of a note; None if it should write none."""
        if self._written is None:
            return None
        try:
            note = self._vault.reader.parse(relative_path)
        except VaultError:
            return None
        key = summary_key(note.title, note.body)
        is_short = len(note.body) < SHORTEST_SUMMARIZED
        if is_short or _description(note.body, note.description) or not self._written.needs(key):
            return None
        return UnwrittenSummary(relative_path, note.title, note.body, key)

    def forget(self, relative_path: str) -> None:
        """Look for the summary of a note again."""
        self._known.pop(relative_path, None)

    def prefetch(self, relative_paths: Iterable[str]) -> None:
        """Read these notes in another thread, while a model answers."""
        paths = tuple(relative_paths)

        def read_all() -> None:
            # Whoever needs the summary of this note will report the problem
            with suppress(Exception):
                for path in paths:
                    self.summary(path)

        threading.Thread(target=read_all, name="document summaries", daemon=True).start()

    def _find(self, relative_path: str) -> str | None:
        try:
            note = self._vault.reader.parse(relative_path)
        except VaultError:
            return None
        if self._written is not None and not _description(note.body, note.description):
            written = self._written.find(summary_key(note.title, note.body))
            if written is not None:
                return written
            self._unwritten[relative_path] = None
        return summarize_document(self._shown_text(note), note.title, note.description)

    def _shown_text(self, note: "ParsedNote") -> str:
        """The body of a note, or, if that has only embeds, what they show."""
        if note.description or not has_only_embeds(note.body):
            return note.body
        parts = embedded_chunks(self._vault, self._vault.reader.chunks(note.relative_path))
        return "\n\n".join(part.text for part in parts)


def summarize_document(text: str, title: str = "", description: str | None = None) -> str | None:
    """A summary of a note: its `description`, else the most telling part of its body `text`."""
    summary = to_plain_text(description or "") or _most_telling(text, title)
    return truncate(summary, SUMMARY_LENGTH) if summary else None


def _description(text: str, description: str | None) -> str | None:
    """What the author says that a note is about, in its properties or in a line `Summary: …` of
    its beginning.
    """
    if to_plain_text(description or ""):
        return description
    for block in islice(blocks(text), MAX_BLOCKS):
        if block.kind in ("paragraph", "item"):
            found = _find_description(block.lines[:MAX_LINES])
            if found:
                return found
    return None


class _Statement(NamedTuple):
    """What a block of a text says, on one line."""

    kind: str
    words: str


def _most_telling(text: str, title: str) -> str | None:
    """The first paragraph that says something, else its list items and quotations, else headings,
    rows of a table, or code. A few words count only if no sentence follows.
    """
    said: defaultdict[str, list[str]] = defaultdict(list)
    for kind, words in _statements(text):
        if kind == "paragraph" and _is_sentence(words):
            return words.rstrip(" :：")
        if kind in ("table", "code") or not words.endswith(_COLONS):
            said[kind].append(words)
    candidates = (
        next(iter(said["paragraph"]), ""),
        _join_items(said["item"]),
        _join_headings(said["heading"], title),
        _join_items(said["table"]),
        next(iter(said["code"]), ""),
    )
    return next(filter(None, candidates), None)


def _join_headings(headings: Iterable[str], title: str) -> str:
    """The different headings on one line, without those that repeat the title."""
    others = [words for words in headings if fold(words) != fold(title)]
    return " · ".join(dict.fromkeys(others[:MAX_LINES]))


def _is_sentence(words: str) -> bool:
    return count_words(words) >= _SENTENCE or ends_as_sentence(words)


def _statements(text: str) -> Iterator[_Statement]:
    """What the blocks of a text say, without those that say nothing. A quoted paragraph is an item,
    and each row of a table is a statement.
    """
    for block in blocks(text):
        lines: Sequence[str] = block.lines[:MAX_LINES]
        if block.kind in ("code", "indented"):
            yield _Statement("code", _SIGNS.sub("", _join_lines(lines)))
            continue
        if block.kind in ("paragraph", "item"):
            description = _find_description(lines)
            if description is not None:
                yield _Statement("paragraph", description)
            lines = [line for line in lines if not _is_about_the_note(line)]
        rows = [_join_lines(lines).replace(GAP, "")]
        if block.kind == "table":
            rows = table_rows(lines)
        for row in rows:
            words = _telling_words(row)
            if words:
                yield _Statement(_statement_kind(block), words)


def _statement_kind(block: MarkdownBlock) -> str:
    if block.kind == "paragraph" and block.quoted:
        return "item"
    return "heading" if block.kind == "callout" else block.kind


def _join_lines(lines: Iterable[str]) -> str:
    return " ".join(map(str.strip, lines))


def _find_description(lines: Iterable[str]) -> str | None:
    """The words of the first line that begins with `Summary:` or the like; None if none does."""
    for line in lines:
        found = _DESCRIPTION.match(line)
        if found:
            return _telling_words(found[1])
    return None


def _is_about_the_note(line: str) -> bool:
    return bool(_PROPERTY.match(line) or _DESCRIPTION.match(line))


def _telling_words(text: str) -> str:
    """The words of a Markdown text without tags at its end; empty if it has only links, tags and
    dates, or words such as "back to".
    """
    plain = to_plain_text(text).split()
    while len(plain) > 1 and plain[-1].startswith("#"):
        plain.pop()
    if not any(_is_word(word) for word in plain):
        return ""
    around = _LINK.sub(" ", text)
    empty_words = _CALENDAR if around == text else _SIGNPOSTS
    if all(word.lower() in empty_words for word in _LETTERS.findall(around)):
        return ""
    words = " ".join(plain)
    return "" if _DRAWING in words else words


def _is_word(word: str) -> bool:
    return not word.startswith("#") and any(map(str.isalnum, word))


def _join_items(items: Sequence[str]) -> str:
    """The different items on one line."""
    different = list(dict.fromkeys(items[:MAX_LINES]))
    for number, item in enumerate(different[:-1]):
        different[number] = item.rstrip(".;。；")
    return "; ".join(different)
