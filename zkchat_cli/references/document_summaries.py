"""One line about a document, for lists of references: its author's description, else its first real
paragraph, or, without one, its list items, headings, tables or code.
"""

import re
import threading
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cache

from zkchat_cli.errors import VaultError
from zkchat_cli.markdown.blocks import GAP, blocks, is_delimiter_row, table_cells
from zkchat_cli.markdown.plain_text import to_plain_text
from zkchat_cli.text.dates import MONTHS, WEEKDAYS
from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.text.truncate import truncate
from zkchat_cli.text.words import STOPWORDS, count_words, fold
from zkchat_cli.vault.vault import Vault

SUMMARY_LENGTH = 100
# Lines of a block, and items of a list, that are read: a summary is one line
MAX_LINES = 40
# Words from which on a paragraph says something even without a full stop; two CJK characters count
# as one word
_SENTENCE = 6
_LINK = lazy_pattern(
    r"(?=[<!\[h{#&])(?:</?[A-Za-z][^<>]*>|!?\[\[[^\[\]]*\]\]|!?\[[^\[\]]*\]\([^()]*(?:\([^()]*\)[^()]*){0,3}\)|<?https?://[^\s<>]+>?|"
    r"\{\{[^{}]*\}\}|(?<!\S)#\S+|&\w+;)"
)
_NO_WORD = lazy_pattern(r"^\W+")
_WORD = lazy_pattern(r"[^\W\d_]+")
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
    r"\W{0,4}(?:[^\W_][\w "
    r"/-]{0,40}::|(?:tags?|keywords|dates?|created|updated|modified|published|authors?|by|sources?|urls?|links?|status|"
    r"type|alias(?:es)?|category|topics?|up|previous|next|parent|related|see "
    r"also|isbn|publisher|rating|note|tip|warning|hint|参考|标签|"
    r"日期|作者|译者|来源|原文|链接|状态|分类|创建时间|更新时间|书名|出版社|评分)\W{0,3}(?::|：))(?:\W|$)",
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
_SENTENCE_END = lazy_pattern(r"[.!?…。！？][\"'”’)）」』\]]{0,3}$")


class DocumentSummaryService:
    """Each note is read once. Make a new service after notes changed."""

    def __init__(self, vault: Vault) -> None:
        self._vault = vault
        self.summary = cache(self._summary)

    def prefetch(self, relative_paths: Iterable[str]) -> None:
        """Read these notes in another thread, while a model answers."""
        threading.Thread(
            target=lambda: [*map(self.summary, relative_paths)],
            name="document summaries",
            daemon=True,
        ).start()

    def _summary(self, relative_path: str) -> str | None:
        """A summary of at most 100 characters on one line; None if the note has no words or cannot
        be read.
        """
        try:
            note = self._vault.reader.parse(relative_path)
        except VaultError:
            return None
        return summarize_document(note.body, note.title, note.description)


def summarize_document(text: str, title: str = "", description: str | None = None) -> str | None:
    """A summary of a note: its `description`, else the most telling part of its body `text`."""
    summary = to_plain_text(description or "") or _most_telling(text, title)
    return truncate(summary, SUMMARY_LENGTH) if summary else None


def _most_telling(text: str, title: str) -> str | None:
    """The first paragraph that says something, else its list items and quotations, else headings,
    rows of a table, or code. A few words count only if no sentence follows.
    """
    said: defaultdict[str, list[str]] = defaultdict(list)
    for kind, words in _statements(text):
        if kind == "paragraph" and (count_words(words) >= _SENTENCE or _SENTENCE_END.search(words)):
            return words.rstrip(" :：")
        if kind in ("table", "code") or not words.endswith(_COLONS):
            said[kind].append(words)
    headings = [words for words in said["heading"] if fold(words) != fold(title)]
    return (
        next(iter(said["paragraph"]), None)
        or _join_items(said["item"])
        or " · ".join(dict.fromkeys(headings[:MAX_LINES]))
        or _join_items(said["table"])
        or next(iter(said["code"]), None)
    )


def _statements(text: str) -> Iterator[tuple[str, str]]:
    """What the blocks of a text say, each on one line, by kind; without those that say nothing. A
    quoted paragraph is an item.
    """
    for block in blocks(text):
        lines: Sequence[str] = block.lines[:MAX_LINES]
        if block.kind in ("code", "indented"):
            yield "code", _NO_WORD.sub("", " ".join(map(str.strip, lines)))
            continue
        if block.kind == "table":
            rows = [" · ".join(table_cells(row)) for row in lines if not is_delimiter_row(row)]
        else:
            if block.kind in ("paragraph", "item"):
                if found := next(filter(None, map(_DESCRIPTION.match, lines)), None):
                    yield "paragraph", _telling_words(found[1])
                lines = [
                    line
                    for line in lines
                    if not _PROPERTY.match(line) and not _DESCRIPTION.match(line)
                ]
            rows = [" ".join(map(str.strip, lines)).replace(GAP, "")]
        kind = (
            "item"
            if block.kind == "paragraph" and block.quoted
            else "heading"
            if block.kind == "callout"
            else block.kind
        )
        yield from ((kind, words) for row in rows if (words := _telling_words(row)))


def _telling_words(text: str) -> str:
    """The words of a Markdown text without tags at its end; empty if it has only links, tags and
    dates, or words such as "back to".
    """
    plain = to_plain_text(text).split()
    while len(plain) > 1 and plain[-1].startswith("#"):
        plain.pop()
    has_word = any(any(map(str.isalnum, word)) and not word.startswith("#") for word in plain)
    around = _LINK.sub(" ", text)
    empty_words = _CALENDAR if around == text else _SIGNPOSTS
    says_nothing = all(word[0].lower() in empty_words for word in _WORD.finditer(around))
    words = " ".join(plain)
    return "" if says_nothing or not has_word or _DRAWING in words else words


def _join_items(items: Sequence[str]) -> str:
    """The different ones on one line."""
    *before, last = dict.fromkeys(items[:MAX_LINES]) or [""]
    return "; ".join([*(item.rstrip(".;。；") for item in before), last])
