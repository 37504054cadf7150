"""One line about a document, for lists of references: what its author wrote about it, or how it begins."""

import re
from collections.abc import Callable

from zkchat_cli.errors import VaultError
from zkchat_cli.vault import Note, Vault
from zkchat_cli.words import shorten

SUMMARY_LENGTH = 100
_FENCE = re.compile(r"^\s*(```|~~~)")
_NOT_PROSE = re.compile(r"^\s*(?:#{1,6}(?:\s|$)|\||!\[|---+\s*$|<!--|%%|>\s*\[!|(?:[-*+]|\d+[.)])\s+!?\[(?!.\]\s))")
_TAG = re.compile(r"<[A-Za-z/!][^<>]*>")
_LIST_OR_QUOTE = re.compile(r"^\s*(?:>|[-*+]\s|\d+[.)]\s)")
_MARKS = re.compile(r"^\s*(?:>\s?|(?:[-*+]|\d+[.)])\s+(?:\[.\]\s+)?)+|[*`]|(?<!\w)_|_(?!\w)")
_LINK = re.compile(r"!?\[\[(?:[^\[\]|]*\|)?([^\[\]|]*)\]\]|\[([^\[\]]*)\]\([^()]*\)")


class DocumentSummaryService:
    """Summaries of at most 100 characters, each made once. For a vault as it is now: make another service when notes have changed."""

    def __init__(self, vault: Vault) -> None:
        self._vault = vault
        self._known: dict[str, str | None] = {}

    def summary(self, relative_path: str) -> str | None:
        """The note's own description, else its first real paragraph; None when it has neither or cannot be read."""
        if relative_path not in self._known:
            try:
                self._known[relative_path] = summarize(self._vault.note(relative_path))
            except VaultError:
                return None
        return self._known[relative_path]


def summarize(note: Note) -> str | None:
    """What a note is about in at most 100 characters: `description` or `summary` of its front matter, else its first prose."""
    text = note.description or first_paragraph(note.text)
    return shorten(text, SUMMARY_LENGTH) if text else None


def first_paragraph(text: str) -> str | None:
    """The first paragraph of a Markdown body that says something: no heading, code, table, image or list of links.

    Running text is preferred to lists and quotations, wherever it begins.
    """
    return _first(text, plain_only=True) or _first(text, plain_only=False)


def _first(text: str, *, plain_only: bool) -> str | None:
    paragraph: list[str] = []
    fence = ""
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        if mark and fence in ("", mark[1]):
            fence = "" if fence else mark[1]
            continue
        prose = not fence and line.strip() and not _NOT_PROSE.match(line) and not (plain_only and _LIST_OR_QUOTE.match(line))
        if prose:
            paragraph.append(_plain(line))
        elif _says_something(paragraph):
            break
        else:
            paragraph = []
    return " ".join(" ".join(paragraph).split()) if _says_something(paragraph) else None


def _says_something(paragraph: list[str]) -> bool:
    """Whether there is a word in it that is no #tag."""
    return any(any(c.isalnum() for c in word) and not word.startswith("#") for word in " ".join(paragraph).split())


def _plain(line: str) -> str:
    replacement: Callable[[re.Match[str]], str] = lambda m: m[1] or m[2] or ""  # noqa: E731
    return _MARKS.sub("", _LINK.sub(replacement, _TAG.sub("", line)))
