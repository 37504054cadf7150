"""What stands within a line: emphasis, code, links, citations; told as it comes in.

A mark that opens something is undecided until that closes, or until so much follows (`FARTHEST`) that it no longer can: then it is what it
looks like, a character. The decision hangs on the text alone, never on how it was cut into pieces, and what is decided is never taken back.
"""

import re
from copy import copy
from html import unescape
from html.entities import html5

from zkchat_cli.terminal.hyperlinks import LONGEST_ADDRESS, LinkTargets, web_address
from zkchat_cli.terminal.markdown.pieces import Piece
from zkchat_cli.text.sanitize import sanitize_name

FARTHEST = 400
"""Characters after which a mark that nothing closes is an ordinary character."""
DEEPEST = 8
"""Marks that may be open at once."""
LONGEST_ENTITY = 32
"""Characters of `&name` that may still become an entity; the longest that HTML knows has as many."""

_SPECIAL = re.compile(
    r"\\|&#?[0-9A-Za-z]{0,32};?|`{1,99}|\*{1,99}|_{1,99}|~{2,99}|!?\[|【|https?://|h(?:t(?:t(?:p(?:s?(?::/?)?)?)?)?)?\Z|!\Z|~\Z"
)
_TICKS = re.compile("`+")
_ENTITY = re.compile(r"&#?[0-9A-Za-z]{1,32};")
_NOTE = re.compile(r"!?\[\[([^\[\]\n]{1,300})\]\]")
_NOTE_BEGINS = re.compile(r"!?\[(?:\[(?:[^\[\]\n]{1,300}\]?)?)?\Z")
_CITES = re.compile(r"(?:\[\^?(?:sources? )?\d{1,4}(?: ?[,;–-] ?\d{1,4}){0,20}\]|【\d{1,4}(?: ?[,;–-] ?\d{1,4}){0,20}】)")
_CITES_BEGINS = re.compile(r"【[\d ,;–-]{0,60}\Z")
_NUMBER = re.compile(r"\d+")
_BRACKETS = re.compile(r"!?\[((?:[^\[\]\\\n]|\\.|\[[^\[\]\n]*\])*+)\]")
_TARGET = re.compile(r"\([ \t]*+(<[^<>\n]*>|[^\s()<>]*(?:\([^\s()<>]*\)[^\s()<>]*)*+)(?:[ \t]++(?:\"[^\"\n]*\"|'[^'\n]*'))?[ \t]*+\)")
_URL = re.compile(r"https?://[^\s<>\"`\[\]{}|\\^]{1,2000}")
_AFTER_URL = ".,;:!?'*_~"
_STYLES = {1: "italic", 2: "bold"}
_PUNCTUATION = re.compile(r"[^\w\s]|_")
_WIDE = re.compile("[\u2e80-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff00-\uffef\U00020000-\U0003fffd]")


class _Item:
    """A piece that may still get a style, or an opening mark that may still become one (`mark`)."""

    __slots__ = ("address", "at", "mark", "style", "text")

    def __init__(self, text: str, style: str = "", address: str | None = None, at: int = 0, *, mark: bool = False) -> None:
        self.text, self.style, self.address, self.at, self.mark = text, style, address, at, mark


class Inline:
    """`feed` the text of one paragraph, `take` what is decided of it."""

    def __init__(self, opens: LinkTargets, style: str = "") -> None:
        self._opens = opens
        self._style = style
        self._text = ""
        self._read = 0
        """Characters that came before `_text`."""
        self._before = "\n"
        self._items: list[_Item] = []
        self._open: list[_Item] = []
        self._done: list[Piece] = []

    def fork(self) -> "Inline":
        other = copy(self)
        same = {id(item): copy(item) for item in self._items}
        other._items = list(same.values())
        other._open = [same[id(item)] for item in self._open]
        other._done = []
        return other

    def feed(self, text: str) -> None:
        self._text += text

    def take(self, *, final: bool = False) -> list[Piece]:
        """What is decided; with `final` the rest, as nothing follows."""
        at = 0
        while at < len(self._text):
            found = _SPECIAL.search(self._text, at)
            start = found.start() if found else len(self._text)
            if start > at:
                self._add(self._text[at:start], at, start)
            if found is None:
                at = start
                break
            after = self._mark(found[0], start, final=final)
            if after is None:
                at = start
                break
            at = after
            if len(self._items) > FARTHEST:
                self._expire(self._read + at)
                self._settle()
        self._read += at
        self._text = self._text[at:]
        self._expire(self._read)
        if final:
            self._open.clear()
        self._settle()
        done, self._done = self._done, []
        return done

    def _settle(self) -> None:
        """What stands before the first mark that is open is decided."""
        count = self._items.index(self._open[0]) if self._open else len(self._items)
        done, self._items = self._items[:count], self._items[count:]
        self._done += [Piece(item.text, f"{self._style} {item.style}".strip(), item.address) for item in done if item.text]

    def _add(self, text: str, start: int, end: int, style: str = "", address: str | None = None) -> int:
        """Put down a piece that came from `start` to `end`; returns `end`."""
        self._items.append(_Item(text, style, address, self._read + start))
        self._before = self._text[end - 1]
        return end

    def _expire(self, at: int) -> None:
        while self._open and at - self._open[0].at > FARTHEST:
            self._open.pop(0)

    def _mark(self, mark: str, at: int, *, final: bool) -> int | None:
        """Where reading goes on behind the mark at `at`; None when that is not decided yet."""
        ends = at + len(mark) == len(self._text)
        head = mark[0]
        if head == "\\":
            return None if ends and not final else self._escape(at)
        if head == "&":
            return None if ends and mark[-1] != ";" and len(mark) <= LONGEST_ENTITY and not final else self._entity(mark, at)
        if head == "`":
            return None if ends and not final else self._code(mark, at, final=final)
        if head in "*_" or mark.startswith("~~"):
            return None if ends and not final else self._emphasis(mark, at)
        if head in "[【" or mark == "![":
            return self._bracket(at, final=final)
        if mark.endswith("://"):
            return self._url(at, final=final)
        return None if not final else self._add(mark, at, at + len(mark))  # it may become one of them

    def _escape(self, at: int) -> int:
        following = self._text[at + 1 : at + 2]
        if following == "\n" or (following.isascii() and _PUNCTUATION.match(following)):
            return self._add(following, at, at + 2)
        return self._add("\\", at, at + 1)

    def _entity(self, written: str, at: int) -> int:
        """What HTML calls so. What would not be harmless on the screen stays as it is written: nobody has neutralised it."""
        meant = _meant(written)
        return self._add(meant, at, at + len(written)) if meant else self._add("&", at, at + 1)

    def _code(self, ticks: str, at: int, *, final: bool) -> int | None:
        after, length = at + len(ticks), len(self._text)
        for run in _TICKS.finditer(self._text, after, min(length, at + FARTHEST)):
            if len(run[0]) == len(ticks):
                if run.end() == min(length, at + FARTHEST) and not final and length <= at + FARTHEST:
                    return None
                return self._add(self._text[at : run.end()].replace("\n", " "), at, run.end(), "code")
        if not final and length < at + FARTHEST:
            return None
        return self._add(ticks, at, after)

    def _emphasis(self, run: str, at: int) -> int:
        end = at + len(run)
        before, after = self._before, self._text[end : end + 1] or "\n"
        left, right = _flanks(before, after)
        if run[0] == "_":
            left, right = left and (not right or _is_edge(before)), right and (not left or _is_edge(after))
        self._expire(self._read + at)
        rest = len(run)
        while right and rest:
            opener = self._opener(run, rest)
            if opener is None:
                break
            used = 2 if rest >= 2 and len(opener.text) >= 2 else 1
            self._close(opener, used, strike=run[0] == "~")
            rest -= used
        if rest:
            opening = left and len(self._open) < DEEPEST and len(run) <= 3
            item = _Item(run[:rest], at=self._read + at, mark=opening)
            self._items.append(item)
            if opening:
                self._open.append(item)
        self._before = run[0]
        return end

    def _opener(self, run: str, rest: int) -> _Item | None:
        """The nearest mark that a run of which so much is left may close; a strike takes two tildes on both sides."""
        same = (item for item in reversed(self._open) if item.text[0] == run[0])
        return next((item for item in same if run[0] != "~" or len(item.text) == rest == 2), None)

    def _close(self, opener: _Item, used: int, *, strike: bool) -> None:
        place = self._items.index(opener)
        style = "strike" if strike else _STYLES[used]
        for item in self._items[place + 1 :]:
            item.style = f"{item.style} {style}".strip()
        del self._open[self._open.index(opener) + 1 :]
        opener.text = opener.text[used:]
        if strike:  # what not every terminal strikes out must not read as if it were meant
            self._items[place:place] = [_Item("~~", "strike")]
            self._items.append(_Item("~~", "strike"))
        if not opener.text:
            self._open.remove(opener)

    def _bracket(self, at: int, *, final: bool) -> int | None:
        text, length = self._text, len(self._text)
        if note := _NOTE.match(text, at):
            name = note[1].replace("\\|", "|").partition("|")[0]
            return self._add(note[0], at, note.end(), "note", self._opens.note(name))
        if not final and (_NOTE_BEGINS.match(text, at) or _CITES_BEGINS.match(text, at)):
            return None
        if text[at] != "!":
            cites = _CITES.match(text, at)
            if cites and not self._before.isalnum():
                if cites.end() == length and not final:
                    return None  # a link may follow
                if text[cites.end() : cites.end() + 1] not in ("(", ":"):
                    return self._citation(cites[0], at)
            if text[at] == "【":
                return self._add("【", at, at + 1)
        head = at + (2 if text[at] == "!" else 1)
        closed = _BRACKETS.match(text, at, at + FARTHEST)
        if closed is None:
            undecided = not final and length < at + FARTHEST and text.find("\n", at) < 0
            return None if undecided else self._add(text[at:head], at, head)
        if closed.end() == length and not final:
            return None
        target = _TARGET.match(text, closed.end(), closed.end() + LONGEST_ADDRESS)
        if target is None:
            opened = text.startswith("(", closed.end()) and length < closed.end() + LONGEST_ADDRESS
            undecided = not final and opened and text.find("\n", closed.end()) < 0
            return None if undecided else self._add(text[at:head], at, head)
        address = _ENTITY.sub(lambda found: _meant(found[0]) or found[0], target[1].strip("<>"))
        return self._link(closed[1], address, at, target.end())

    def _citation(self, cited: str, at: int) -> int:
        last = 0
        for number in _NUMBER.finditer(cited):
            self._add(cited[last : number.start()], at, at + 1, "citation")
            self._add(number[0], at, at + 1, "citation", self._opens.source(int(number[0])))
            last = number.end()
        return self._add(cited[last:], at, at + len(cited), "citation")

    def _link(self, shown: str, target: str, at: int, end: int) -> int:
        within = Inline(LinkTargets())
        within.feed(shown)
        address = web_address(target) or self._opens.note(target)
        for text, style, _ in within.take(final=True):
            self._add(text, at, at + 1, f"{style} link".strip(), address)
        if target and target not in (shown, f"mailto:{shown}"):  # where it leads must be seen, also where nothing can be clicked on
            self._add(f" ({target})" if shown else target, at, at + 1, "address", address)
        self._before = self._text[end - 1]
        return end

    def _url(self, at: int, *, final: bool) -> int | None:
        found = _URL.match(self._text, at)
        if found is None:
            if not final and at + 8 >= len(self._text):
                return None
            return self._add(self._text[at : at + 4], at, at + 4)
        if found.end() == len(self._text) and not final and len(found[0]) < LONGEST_ADDRESS:
            return None
        url = found[0].rstrip(_AFTER_URL)
        while url.endswith(")") and url.count(")") > url.count("("):
            url = url[:-1].rstrip(_AFTER_URL)
        return self._add(url, at, at + len(url), "link", web_address(url))


def _meant(entity: str) -> str:
    """The characters that an entity stands for; empty where it is none, or stands for what does not belong on a screen."""
    known = entity.startswith("&#") or entity[1:] in html5
    meant = unescape(entity) if known and entity.endswith(";") else ""
    return meant if meant != entity and meant == sanitize_name(meant) else ""


def _is_edge(char: str) -> bool:
    return bool(_PUNCTUATION.match(char))


def _flanks(before: str, after: str) -> tuple[bool, bool]:
    """Whether a run of marks may open and may close. Scripts without gaps count as edges, or nothing in them could be emphasised."""
    edge_before, edge_after = (bool(_PUNCTUATION.match(c)) for c in (before, after))
    left = not after.isspace() and (not edge_after or before.isspace() or edge_before or bool(_WIDE.match(before)))
    right = not before.isspace() and (not edge_before or after.isspace() or edge_after or bool(_WIDE.match(after)))
    return left, right
