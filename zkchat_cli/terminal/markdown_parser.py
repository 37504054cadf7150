"""Parses the Markdown of an answer: CommonMark with tables, wikilinks, and line breaks in HTML.

The parser is lenient, because models are: four spaces do not make code, a line of dashes is not a
heading, HTML is text.
"""

import re
from functools import lru_cache, partial

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.tree import SyntaxTreeNode

from zkchat_cli.markdown.inline import WIKILINK

MAX_NESTING = 60
_KEEPS_PIPES = re.compile(rf"!?{WIKILINK}|(?<!`)`[^`\n]{{1,300}}`(?!`)")
_BARE_PIPE = re.compile(r"(?<!\\)\|")
_WIKILINK = re.compile(rf"!?{WIKILINK}")
_LINE_BREAK = re.compile(r"<br[ \t]{0,9}/?>[ \t]*", re.IGNORECASE)
_STRONG = re.compile(r"\*\*(?=[^\s*])([^*`\n]{1,300})(?<!\s)\*\*(?!\*)")
_CJK = re.compile("[\u2e80-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff00-\uffef]")


def parse_blocks(source: str) -> list[SyntaxTreeNode]:
    """The blocks of an answer in their order; a list is replaced by its items.

    Everything before the last block stays the same when text is added.
    """
    blocks: list[SyntaxTreeNode] = []
    for node in SyntaxTreeNode(_parser().parse(_escape_pipes(source))).children:
        if node.type.endswith("_list"):
            blocks += node.children
        else:
            blocks.append(node)
    return blocks


def _escape_pipes(source: str) -> str:
    """The source with escaped pipes in those links and code that are inside a table: models do not
    escape them.
    """
    if "|" not in source:
        return source
    lines = []
    for line in source.split("\n"):
        is_row = line.lstrip(" \t>").startswith("|")
        lines.append(_KEEPS_PIPES.sub(_escape_found, line) if is_row else line)
    return "\n".join(lines)


def _escape_found(found: re.Match[str]) -> str:
    return _BARE_PIPE.sub(r"\\|", found[0])


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"maxNesting": MAX_NESTING})
    parser.enable(["table", "strikethrough"])
    parser.disable(["reference", "code", "lheading", "html_block", "html_inline"])
    read_wikilink = partial(_read_token, pattern=_WIKILINK, kind="wikilink")
    read_line_break = partial(_read_token, pattern=_LINE_BREAK, kind="hardbreak")
    rules = parser.inline.ruler
    rules.before("link", "wikilink", read_wikilink)
    rules.before("autolink", "line_break", read_line_break)
    rules.before("emphasis", "strong_cjk", _read_strong_in_cjk)
    # `web_address` encodes addresses, and refuses what no click may open
    parser.normalizeLink = lambda url: url  # type: ignore[method-assign]
    parser.validateLink = lambda url: True  # type: ignore[method-assign]  # noqa: ARG005
    return parser


def _read_token(state: StateInline, silent: bool, *, pattern: re.Pattern[str], kind: str) -> bool:
    found = pattern.match(state.src, state.pos)
    if found is None:
        return False
    if not silent:
        state.push(kind, "", 0).content = found[0]
    state.pos = found.end()
    return True


def _read_strong_in_cjk(state: StateInline, silent: bool) -> bool:
    """`**“words”**` between Chinese characters: CommonMark wants a space there, which Chinese does
    not have.
    """
    found = _STRONG.match(state.src, state.pos)
    if found is None or silent:
        return False
    before = state.src[max(0, state.pos - 1) : state.pos]
    after = state.src[found.end() : found.end() + 1]
    if not _CJK.search(before + after):
        return False
    end = state.posMax
    state.push("strong_open", "strong", 1)
    state.pos = found.start(1)
    state.posMax = found.end(1)
    state.md.inline.tokenize(state)
    state.push("strong_close", "strong", -1)
    state.pos = found.end()
    state.posMax = end
    return True
