"""What a note is about, in its own words: its first real paragraph, or, without one, the words in it that say most."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

from zkchat_cli.markdown.blocks import GAP, MarkdownBlock, blocks, is_delimiter_row, sentences, table_cells
from zkchat_cli.markdown.plain_text import to_plain_text
from zkchat_cli.text.words import STOPWORDS, cjk_pattern, content_terms, fold

ENOUGH = 120
"""Characters after which nothing more is collected: a summary is shorter."""
MAX_SENTENCES = 300
MAX_LINES = 40
"""Lines of one block that are read: a summary is one line."""
_SENTENCE = 6
"""Words from which on a paragraph says something even without a full stop; two CJK characters count as one word."""
_FEW = 3
_LINK = re.compile(
    r"</?[A-Za-z][^<>]*>|!?\[\[[^\[\]]*\]\]|!?\[[^\[\]]*\]\([^()]*(?:\([^()]*\)[^()]*){0,3}\)|<?https?://[^\s<>]+>?|\{\{[^{}]*\}\}|(?<!\S)#\S+|&\w+;"
)
_NO_WORD = re.compile(r"^\W+")
_WORD = re.compile(r"[^\W\d_]+")
_SIGNPOSTS = frozenset(
    """back go return next previous prev forward home top index contents content table toc main page pages overview menu navigation click
    here see related parent link links source breadcrumbs moc note notes part chapter edit history am pm utc
    monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat sun week day
    january february march april may june july august september october november december jan feb mar apr jun jul aug sep sept oct nov dec
    参见 参考 返回 目录 上一篇 下一篇 首页 索引 年 月 日 星期""".split()
)
"""Words that, next to links and dates, say nothing about the subject of a note."""
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
"""Labels of facts about a note, which are not its content."""
_DESCRIPTIONS = frozenset(
    "summary|description|abstract|tl;dr|tldr|about|简介|内容简介|摘要|概述|一句话总结|zusammenfassung|resumen|résumé".split("|")
)
_NOTES = frozenset("note|nb|n.b.|warning|tip|hint|important|info|caution|attention|todo|update|注|注意|提示|备注|hinweis|nota".split("|"))
_DRAWING = "EXCALIDRAW VIEW"
"""What the plugin Excalidraw writes at the head of each drawing."""
_COLONS = (":", "：")
_SENTENCE_END = re.compile(r"[.!?…。！？][\"'”’)）」』\]]{0,3}$")


class _Statement(NamedTuple):
    """A block as Markdown on one line. An `admonition` is a paragraph that begins with "Note:" or the like."""

    kind: Literal["prose", "admonition", "item", "heading", "row", "code"]
    text: str
    quoted: bool = False


def _statements(text: str) -> Iterator[_Statement]:
    for block in blocks(text):
        lines = block.lines[:MAX_LINES]
        match block.kind:
            case "heading" | "callout":
                yield _Statement("heading", block.text, block.quoted)
            case "code" | "indented":
                yield _Statement("code", " ".join(filter(None, map(str.strip, lines))), block.quoted)
            case "table":
                yield from (_Statement("row", " · ".join(table_cells(row)), block.quoted) for row in lines if not is_delimiter_row(row))
            case "paragraph" | "item":
                yield from _without_properties(block, lines)


def _without_properties(block: MarkdownBlock, lines: Sequence[str]) -> Iterator[_Statement]:
    """A paragraph or item without lines such as `Author: Jane` and `up:: [[Home]]`; a line `Summary: …` is a paragraph of its own."""
    prose: list[str] = []
    is_admonition = False
    for line in lines:
        labelled = _LABELLED.match(line)
        label, rest = (labelled[1].strip().lower(), labelled[2]) if labelled else ("", "")
        if label in _DESCRIPTIONS and rest:
            yield _Statement("prose", rest)
        elif label not in _PROPERTIES and not _FIELD.match(line):
            is_admonition |= label in _NOTES and not prose
            prose.append(line)
    if prose:
        kind: Literal["prose", "item"] = "item" if block.kind == "item" else "prose"
        yield _Statement("admonition" if is_admonition else kind, " ".join(prose).replace(GAP, ""), block.quoted)


def first_paragraph(text: str) -> str | None:
    """The first paragraph of a Markdown text that says something: no heading, code, table, image, callout, date or list of links.

    After a paragraph that ends in a colon, the items below are added. A few words count only if nothing better follows, a label never.
    """
    short: str | None = None
    lead = ""
    items: list[str] = []
    for statement in _statements(text):
        words = _content(statement)
        if lead and (statement.kind == "item" or (statement.quoted and statement.kind == "prose")):
            items += [words] if words else []
            lead = lead if words or items else ""  # it introduces links or pictures
            if len(lead) + sum(map(len, items)) > ENOUGH:
                break
            continue
        if items or _word_count(lead) >= _SENTENCE:
            break
        lead = ""
        if statement.kind != "prose" or statement.quoted or not words:
            continue
        if words.endswith(_COLONS):
            lead = words
        elif _word_count(words) >= _SENTENCE or _SENTENCE_END.search(words):
            return words
        else:
            short = short or words
    if items:
        return f"{lead} {_joined(items)}"
    return lead.rstrip(" :：") if _word_count(lead) >= _SENTENCE else short


def key_text(text: str, title: str = "") -> str | None:
    """What says most in a text without a real paragraph: its best sentence, else its list items, its headings, rows of a table, its code.

    The best sentence shares most words with the title, the headings and the other sentences, for its length. If it is a whole list item,
    the following items are added.
    """
    statements = list(_statements(text))
    worded = [(statement, words) for statement in statements if _has_word(words := to_plain_text(statement.text))]
    headings = [words for statement, words in worded if statement.kind == "heading" and not words.endswith(_COLONS)]
    headings = [words for words in headings if fold(words) != fold(title)]
    contents = [_content(statement) for statement in statements if statement.kind in ("prose", "admonition", "item")]
    long = [s for content in contents for s in sentences(content) if _word_count(s) >= _SENTENCE and not s.endswith(_COLONS)]
    if best := _best_sentence(long[:MAX_SENTENCES], [title, *headings]):
        return _joined(contents[contents.index(best) :]) if best in contents else best
    prose = [words for statement, words in worded if statement.kind in ("prose", "item")]
    items = [words for words in prose if not words.endswith(_COLONS) and not _is_signpost(words)]
    rows = [words for statement, words in worded if statement.kind == "row"]
    code = [_NO_WORD.sub("", statement.text) for statement, _ in worded if statement.kind == "code"]
    return _joined(items) or " · ".join(_first_few(headings)) or _joined(rows) or next(iter(code), None)


def _content(statement: _Statement) -> str:
    """A statement's words; empty if it has only links, tags and dates."""
    around = _LINK.sub(" ", statement.text)
    words = to_plain_text(statement.text)
    if _is_signpost(around, linked=around != statement.text) or not _has_word(words) or _DRAWING in words:
        return ""
    return _without_tags(words)


def _is_signpost(text: str, *, linked: bool = False) -> bool:
    """Whether the words only lead elsewhere or give a date: "back to", "March 5"; next to links, "see" and "and" do so, too."""
    words = {word.lower() for word in _WORD.findall(text)}
    return words <= _SIGNPOSTS | STOPWORDS and (linked or not words or (len(words) <= _FEW and not words.isdisjoint(_SIGNPOSTS)))


def _without_tags(text: str) -> str:
    """`text` without the #tags at its end, and those before a whole sentence."""
    words = text.split()
    while len(words) > 1 and _is_tag(words[-1]):
        words.pop()
    first = next(i for i, word in enumerate([*words, ""]) if not _is_tag(word))
    rest = " ".join(words[first:])
    return rest if _word_count(rest) >= _SENTENCE else " ".join(words)


def _is_tag(word: str) -> bool:
    return word.startswith("#") and len(word) > 1


def _joined(items: Sequence[str]) -> str:
    few = list(_first_few(items))
    return "; ".join([*(item.rstrip(".;。；") for item in few[:-1]), *few[-1:]])


def _first_few(items: Iterable[str]) -> Iterator[str]:
    """As many items as fit a summary, without repetitions."""
    length = 0
    for item in dict.fromkeys(filter(None, items)):
        yield item
        length += len(item)
        if length > ENOUGH:
            return


def _best_sentence(candidates: Sequence[str], titles: Sequence[str]) -> str | None:
    """The sentence with the heaviest words, those of the titles counting twice; the first of equals."""
    terms = [set(content_terms(sentence)) for sentence in candidates]
    weight = Counter(term for some in terms for term in some)
    weight.update({term: 2 * len(titles) for title in titles for term in content_terms(title)})
    scores = [sum(weight[term] - 1 for term in some) / max(len(some), 8) ** 0.5 for some in terms]
    return candidates[scores.index(max(scores))] if candidates else None


def _word_count(text: str) -> int:
    """Two CJK characters count as one word."""
    return max(len(text.split()), 0 if text.isascii() else len(cjk_pattern().findall(text)) // 2)


def _has_word(text: str) -> bool:
    """Whether `text` has a word that is no #tag."""
    return any(any(c.isalnum() for c in word) and not word.startswith("#") for word in text.split())
