"""A note taken apart into what it is made of, as far as that matters for saying what it is about: prose, items, quotations, headings, …

Comments are left out, and so is what is written about a note rather than in it: properties (`up:: [[Home]]`, `Author: …`), footnotes,
a template's commands. Line by line and without looking back, so it is linear in the text.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

Kind = Literal["prose", "note", "item", "heading", "row", "code", "aside"]

MOST_LINES = 40
"""Lines of one block that are kept: a summary is one line."""
_CLOSING = {"<!--": "-->", "%%": "%%", "<%": "%>", "<style": "</style>", "<script": "</script>"}
_HIDDEN = re.compile(r"(`++)|<!--|%%|<%|<style\b|<script\b")
_QUOTE = re.compile(r"\s*+(?:>[ \t]?)++")
_FENCE = re.compile(r"(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(`{3,}+|~{3,}+|\$\$)(.*)")
_CALLOUT = re.compile(r"\[![^\[\]]*\][+-]?[ \t]*(.*)")
_HEADING = re.compile(r"#{1,6}(?:[ \t]+(.*))?$")
_RULE = re.compile(r"(?:[-*_=][ \t]*+){3,}+$")
_UNDERLINE = re.compile(r"(?:=++|-++)$")
_RULED = re.compile(r"(?=[^-]*-)(?=[^|]*\|)[\s:|-]++$")
_ITEM = re.compile(r"(?:(?:[-*+]|\d{1,9}[.)])(?:[ \t]+|$)(?:\[.\](?:[ \t]+|$))?)+")
_DEFINITION = re.compile(r"\[[^\[\]]+\]:(?:\s|$)")
_FIELD = re.compile(r"[\[(]?[^\W_][\w /-]{0,40}::(?:\s|$)")
_LABELLED = re.compile(r"\W{0,4}((?:[^\W_][\w.;/ -]{0,24}))\W{0,3}?(?::(?!:)\*{0,3}(?=\s|$)|：)\*{0,3}\s*+(.*)")
_PROPERTIES = frozenset(
    (
        "tags|tag|keywords|date|dates|created|updated|modified|date created|date modified|created at|updated at|creation date|last updated|"
        "last modified|last edited|published|publish date|author|authors|by|source|sources|url|urls|link|links|original|status|state|type|"
        "types|alias|aliases|category|categories|topic|topics|up|down|prev|previous|next|parent|parents|parent note|child|children|related|"
        "related notes|see also|backlinks|isbn|publisher|pages|rating|score|priority|project|projects|area|id|uid|doi|zettel|reference|"
        "references|参考|参考文献|标签|日期|作者|译者|来源|原文|链接|状态|类型|分类|创建时间|创建日期|更新时间|修改时间|书名|出版社|出版时间|"
        "评分|评价|使用频率|关键词|schlagworte|datum|autor|quelle|fecha|fuente|etiquetas|auteur|étiquettes"
    ).split("|")
)
"""Labels of what is noted about a note, rather than said in it."""
_DESCRIPTIONS = frozenset(
    "summary|description|abstract|tl;dr|tldr|about|简介|内容简介|摘要|概述|一句话总结|zusammenfassung|resumen|résumé".split("|")
)
_NOTES = frozenset("note|nb|n.b.|warning|tip|hint|important|info|caution|attention|todo|update|注|注意|提示|备注|hinweis|nota".split("|"))


class Block(NamedTuple):
    """`text` is Markdown on one line, without the mark of its kind; `quoted` is what stands in a quotation or a callout.

    A `row` is that of a table, its cells apart by `·`; a `note` is a paragraph that begins with "Note:" or the like.
    """

    kind: Kind
    text: str
    quoted: bool = False


def blocks(text: str) -> Iterator[Block]:
    """The blocks of a Markdown text in its order, one by one: who wants the first of them pays for no more."""
    reader = _Reader(text)
    begin = 0
    while begin <= len(text):
        end = text.find("\n", begin)
        end = len(text) if end < 0 else end
        yield from reader.take(begin, end)
        begin = end + 1
    yield from reader.close()


@dataclass(slots=True)
class _Reader:
    text: str
    kind: Kind = "prose"
    quoted: bool = False
    lines: list[str] = field(default_factory=list)
    fence: str = ""
    in_list: bool = False
    after_blank: bool = True
    shown_from: int = 0
    """Where a comment that runs over lines ends."""
    unclosed: set[str] = field(default_factory=set)

    def take(self, begin: int, end: int) -> Iterator[Block]:
        """Take in a line of the text; what ends with it."""
        line = self.text[begin:end] if self.fence else self._visible(begin, end)
        if line is None:
            return
        quote = _QUOTE.match(line)
        inner = line[quote.end() :] if quote else line
        bare = inner.strip()
        if self.fence and (quote or not self.quoted):
            yield from self._take_code(bare)
            return
        self.fence = ""
        if not bare:
            yield from self.close()
            self.after_blank, self.quoted = True, quote is not None
            return
        lazy = quote is None and self.quoted and not self.after_blank and not _begins_something(bare)
        if self.quoted != (quote is not None or lazy):
            yield from self.close()
            self.quoted = not self.quoted
        yield from self._take_line(inner, bare)
        self.after_blank = False

    def close(self, then: Kind = "prose") -> Iterator[Block]:
        """End the open block, and open another."""
        if self.lines and self.kind != "aside":
            yield Block(self.kind, " ".join(self.lines), self.quoted)
        self.lines, self.kind = [], then

    def _visible(self, begin: int, end: int) -> str | None:
        """The line without its comments; None where nothing is left of it."""
        hidden = begin < self.shown_from
        at = begin = max(begin, self.shown_from)
        pieces: list[str] = []
        unclosed_code: set[str] = set()
        while at < end and (mark := _HIDDEN.search(self.text, at, end)):
            opening, at = mark[0], mark.end()
            if mark[1]:
                closing = -1 if opening in unclosed_code else self.text.find(opening, at, end)
                unclosed_code |= {opening} if closing < 0 else set()
                at = max(at, closing + len(opening))
            elif (after := self._after(opening, begin, at)) is not None:
                pieces.append(self.text[begin : mark.start()])
                at = begin = self.shown_from = after
        left = "".join([*pieces, self.text[begin:end]])
        return left if left.strip() or not (hidden or pieces) else None

    def _after(self, opening: str, begin: int, at: int) -> int | None:
        """Where a comment ends; the first that nothing closes goes to the text's end if its line begins with it, else it is none."""
        closing = _CLOSING[opening]
        if closing in self.unclosed:
            return None
        if (found := self.text.find(closing, at)) >= 0:
            return found + len(closing)
        self.unclosed.add(closing)
        return len(self.text) + 1 if opening != "<%" and not self.text[begin : at - len(opening)].strip() else None

    def _take_code(self, bare: str) -> Iterator[Block]:
        if bare.endswith(self.fence) if self.fence == "$$" else bare.startswith(self.fence) and not bare.strip(self.fence[0]):
            self.fence = ""
            yield from self.close()
        else:
            self._add(bare)

    def _take_line(self, inner: str, bare: str) -> Iterator[Block]:
        indented = inner.startswith(("    ", "\t"))
        if indented and (self.kind == "code" or (self.after_blank and not self.in_list)):
            if self.kind != "code":
                yield from self.close("code")
            self._add(bare)
        elif fence := _opened(bare):
            yield from self.close("aside" if fence == "$$" else "code")
            self.fence = fence
        elif self.quoted and (callout := _CALLOUT.match(bare)):
            yield from self.close()
            if callout[1]:
                yield Block("heading", callout[1], quoted=True)
        elif heading := _HEADING.match(bare):
            yield from self.close("heading")
            self._add((heading[1] or "").rstrip("# \t"))
            yield from self.close()
        elif self.lines and self.kind == "prose" and _UNDERLINE.match(bare):
            self.kind = "heading"
            yield from self.close()
        elif bare.startswith("|") or (self.kind == "row" and "|" in bare) or _RULED.match(bare):
            yield from self._take_row(bare)
        elif _RULE.match(bare):
            yield from self.close()
        elif _DEFINITION.match(bare):
            yield from self.close("aside")
            self._add(bare)
        else:
            yield from self._take_words(bare, indented=inner[0] in " \t")

    def _take_row(self, bare: str) -> Iterator[Block]:
        if self.kind != "row":
            header = self.lines.pop() if self.lines and self.kind == "prose" else ""  # above the rule of a table without outer bars
            yield from self.close("row")
            yield from self._row(header)
        if not _RULED.match(bare):
            yield from self._row(bare)

    def _row(self, bare: str) -> Iterator[Block]:
        cells = [cell.replace("\0", "|").strip() for cell in bare.replace("\\|", "\0").split("|")]
        if row := " · ".join(filter(None, cells)):
            yield Block("row", row, self.quoted)

    def _take_words(self, bare: str, *, indented: bool) -> Iterator[Block]:
        if item := _ITEM.match(bare):
            bare = bare[item.end() :]
            yield from self.close("item")
            self.in_list = True
        elif self.after_blank:
            self.in_list = self.in_list and indented
            yield from self.close("item" if self.in_list else "prose")
        elif self.kind in ("row", "code"):
            yield from self.close()
        label, said = _label(bare)
        if label in _DESCRIPTIONS and said:
            yield from self.close()
            yield Block("prose", said)
        elif label not in _PROPERTIES and not _FIELD.match(bare):
            self.kind = "note" if label in _NOTES and not self.lines else self.kind
            self._add(bare)

    def _add(self, bare: str) -> None:
        if bare and len(self.lines) < MOST_LINES:
            self.lines.append(bare)


def _opened(bare: str) -> str:
    """The marks that close the fence that this line opens; empty when it opens none."""
    fence = _FENCE.match(bare)
    if not fence or (fence[1][0] == "`" and "`" in fence[2]) or (fence[1] == "$$" and "$$" in fence[2]):
        return ""
    return fence[1]


def _label(bare: str) -> tuple[str, str]:
    """`Author` and `Jane` of a line `**Author:** Jane`."""
    labelled = _LABELLED.match(bare)
    return (labelled[1].strip().lower(), labelled[2]) if labelled else ("", bare)


def _begins_something(bare: str) -> bool:
    """Whether a line begins something of its own, so that it cannot go on with a quotation."""
    return bare.startswith("|") or any(pattern.match(bare) for pattern in (_HEADING, _ITEM, _FENCE, _RULE, _DEFINITION))
