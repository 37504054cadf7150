"""How a note begins: its first real paragraph; and where it has none, the words in it that say most."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from zkchat_cli.markdown.blocks import Block, blocks
from zkchat_cli.markdown.plain_text import plain
from zkchat_cli.text.sentences import sentences
from zkchat_cli.text.words import STOPWORDS, cjk, content_terms, fold

ENOUGH = 120
"""Characters after which nothing more is gathered: a summary is shorter."""
MOST_SENTENCES = 300
_SENTENCE = 6
"""Words of a paragraph from which on it says something even without a full stop; two CJK characters are taken for a word."""
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
"""Words that, beside links and dates, say nothing of what a note is about."""
_DRAWING = "EXCALIDRAW VIEW"
"""What the plugin Excalidraw writes at the head of each drawing."""
_LED = (":", "：")
_ENDED = re.compile(r"[.!?…。！？][\"'”’)）」』\]]{0,3}$")


def first_paragraph(text: str) -> str | None:
    """The first paragraph of a Markdown text that says something: no heading, code, table, image, callout, date or list of links.

    One that ends in a colon goes on with what it announces; a few words are taken only where nothing better comes, a label never.
    """
    short: str | None = None
    lead = ""
    announced: list[str] = []
    for block in blocks(text):
        said = _said(block)
        if lead and (block.kind == "item" or (block.quoted and block.kind == "prose")):
            announced += [said] if said else []
            lead = lead if said or announced else ""  # it announces links, or pictures
            if len(lead) + sum(map(len, announced)) > ENOUGH:
                break
            continue
        if announced or _size(lead) >= _SENTENCE:
            break
        lead = ""
        if block.kind != "prose" or block.quoted or not said:
            continue
        if said.endswith(_LED):
            lead = said
        elif _size(said) >= _SENTENCE or _ENDED.search(said):
            return said
        else:
            short = short or said
    if announced:
        return f"{lead} {_listed(announced)}"
    return lead.rstrip(" :：") if _size(lead) >= _SENTENCE else short


def extract(text: str, title: str = "") -> str | None:
    """What says most in a text without a real paragraph: its best sentence, else its list items, its headings, rows of a table, its code.

    The best sentence is the one that shares most words with the title, the headings and the other sentences, for its length. A list item
    goes on with those that follow it.
    """
    found = list(blocks(text))
    words = [(block, said) for block in found if _has_word(said := plain(block.text))]
    headings = [said for block, said in words if block.kind == "heading" and not said.endswith(_LED) and fold(said) != fold(title)]
    telling = [_said(block) for block in found if block.kind in ("prose", "note", "item")]
    if best := _best([s for said in telling for s in _sentences(said)][:MOST_SENTENCES], [title, *headings]):
        return _listed(telling[telling.index(best) :]) if best in telling else best
    items = [said for block, said in words if block.kind in ("prose", "item") and not said.endswith(_LED) and not _is_signpost(said)]
    rows = [said for block, said in words if block.kind == "row"]
    code = [_NO_WORD.sub("", block.text) for block, _ in words if block.kind == "code"]
    return _listed(items) or " · ".join(_some(headings)) or _listed(rows) or next(iter(code), None)


def _said(block: Block) -> str:
    """A block's words, if it says anything besides links, tags and dates."""
    around = _LINK.sub(" ", block.text)
    said = plain(block.text)
    nothing = _is_signpost(around, linked=around != block.text) or not _has_word(said) or _DRAWING in said
    return "" if nothing else _without_tags(said)


def _is_signpost(said: str, *, linked: bool = False) -> bool:
    """Whether words only lead elsewhere, or date something: "back to", "March 5"; where links are, "see" and "and" do so, too."""
    words = {word.lower() for word in _WORD.findall(said)}
    return words <= _SIGNPOSTS | STOPWORDS and (linked or not words or (len(words) <= _FEW and not words.isdisjoint(_SIGNPOSTS)))


def _without_tags(said: str) -> str:
    """Without the #tags at its end, and those before a whole sentence."""
    words = said.split()
    while len(words) > 1 and _is_tag(words[-1]):
        words.pop()
    first = next(i for i, word in enumerate([*words, ""]) if not _is_tag(word))
    rest = " ".join(words[first:])
    return rest if _size(rest) >= _SENTENCE else " ".join(words)


def _is_tag(word: str) -> bool:
    return word.startswith("#") and len(word) > 1


def _listed(items: Sequence[str]) -> str:
    some = list(_some(items))
    return "; ".join([*(item.rstrip(".;。；") for item in some[:-1]), *some[-1:]])


def _some(items: Iterable[str]) -> Iterator[str]:
    """As many as a summary has room for, each once."""
    length = 0
    for item in dict.fromkeys(filter(None, items)):
        yield item
        length += len(item)
        if length > ENOUGH:
            return


def _sentences(said: str) -> list[str]:
    return [sentence.text for sentence in sentences(said) if _size(sentence.text) >= _SENTENCE and not sentence.text.endswith(_LED)]


def _best(said: Sequence[str], titles: Sequence[str]) -> str | None:
    """The sentence whose words weigh most, those of the titles twice; the first of equals."""
    terms = [set(content_terms(sentence)) for sentence in said]
    weight = Counter(term for some in terms for term in some)
    weight.update({term: 2 * len(titles) for title in titles for term in content_terms(title)})
    scores = [sum(weight[term] - 1 for term in some) / max(len(some), 8) ** 0.5 for some in terms]
    return said[scores.index(max(scores))] if said else None


def _size(said: str) -> int:
    """Its words, two CJK characters taken for one."""
    return max(len(said.split()), len(said.split()) if said.isascii() else len(cjk().findall(said)) // 2)


def _has_word(said: str) -> bool:
    """Whether there is a word in it that is no #tag."""
    return any(any(c.isalnum() for c in word) and not word.startswith("#") for word in said.split())
