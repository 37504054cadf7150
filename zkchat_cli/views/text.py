"""What all views are made of: styled lines as values, figures of tokens, names of commands to
suggest, and the state of the index.

A terminal shows styles and links; a pipe gets the text alone. The screen sanitizes and wraps.
"""

import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple

# The first prompt is drawn without the models
if TYPE_CHECKING:
    from zkchat_cli.models.messages import TokenUsage
    from zkchat_cli.models.notes import SemanticStatus

PROMPT = "you › "  # what comes before the user's messages
MOST_PROBLEMS = 3
CELLS = 20
YELLOW_FROM = 0.7
RED_FROM = 0.9
_SPOKEN_SIGNS = {
    "✓": "ok: ",
    "✗": "problem: ",
    "✂": "cut: ",
    "○": "cited: ",
    "→": "current: ",
    "·": "",
    "──": "",
    "══": "",
    "│": ": ",
    "┊": ": ",
}
"""What a screen reader gets for the signs that begin a line, or follow its number."""
_SIGN = re.compile(
    rf"^([> ]*(?:\[?\d+\]? |- )?)({'|'.join(_SPOKEN_SIGNS)})(?: |$)|[█░]+ *", re.MULTILINE
)


class StyledSpan(NamedTuple):
    """Text in one style (`"bold green"`). `path`, relative to the vault, is the note that a click
    opens.

    `quoted` text is put between » and « where there are no styles.
    """

    text: str
    style: str = ""
    path: str | None = None
    quoted: bool = False


class StyledLine(NamedTuple):
    """One line. `right` is a second column, aligned over all lines shown together, or below where
    there is no room.

    Wrapped text continues `indent` columns in. Line ends inside the text are shown, not printed.
    """

    left: tuple[StyledSpan, ...]
    right: tuple[StyledSpan, ...] = ()
    indent: int = 4


def styled_line(text: str = "", style: str = "", indent: int = 4) -> StyledLine:
    """A line in one style, or an empty line."""
    return StyledLine((StyledSpan(text, style),) if text else (), indent=indent)


def spoken_text(text: str) -> str:
    """Text for a screen reader: words for its signs, and no bars."""
    return _SIGN.sub(_spoken_sign, text.replace("] ✓ ", "] verified: "))


def _spoken_sign(found: re.Match[str]) -> str:
    """Words for a sign; nothing for a bar."""
    return f"{found[1]}{_SPOKEN_SIGNS[found[2]]}" if found[2] else ""


def plain_text(lines: Iterable[StyledLine]) -> str:
    """The lines as a pipe gets them: the right column after the left one, quotations marked."""
    texts = []
    for line in lines:
        text = "".join(map(_plain_span, line.left))
        if line.right:
            text += "   " + "".join(map(_plain_span, line.right))
        texts.append(text)
    return "\n".join(texts)


def _plain_span(span: StyledSpan) -> str:
    return f"»{span.text}«" if span.quoted else span.text


class CommandHints(NamedTuple):
    """Names of the commands to suggest. {} is replaced by the argument. A hint is empty where there
    is no such command.
    """

    compact: str = "/compact"
    undo: str = "/compact undo"
    continue_answer: str = "/continue"
    unpin: str = "/unpin {}"
    forget: str = "/forget {}"
    agent: str = "/agent NAME"
    all_sources: str = "/refs"
    ground: str = "/ground"


IN_CHAT = CommandHints()
IN_SHELL = CommandHints(
    compact="zkchat context compact",
    undo="zkchat context compact --undo",
    continue_answer="zkchat ask -c",
    unpin="/unpin {} in the chat",
    forget="zkchat memory forget {}",
    agent="--agent NAME",
    all_sources="references.max_displayed",
    ground="",
)
# The same in a shell where nothing is stored
UNSTORED = IN_SHELL._replace(undo="", continue_answer="")


def summarize_problems(problems: Iterable[str]) -> list[str]:
    """The first problems of an index, and how to list the others: a vault with many broken files
    must not fill the screen.
    """
    found = list(problems)
    others = len(found) - MOST_PROBLEMS
    if others <= 1:
        return found
    return [*found[:MOST_PROBLEMS], f"{others} more problems: zkchat vault status"]


def describe_semantic_status(status: "SemanticStatus") -> str:
    """The model, and the share of its vectors that are stored, rounded down: 100% would be
    complete.
    """
    name = f"{status.provider}/{status.model}"
    if status.complete:
        return f"{name}, complete"
    percent = 100 * status.embedded // max(status.windows, 1)
    return f"{name}, {percent}% done: zkchat vault index --semantic computes the rest"


def short_count(tokens: int) -> str:
    """`812`, `12.1k`, `128k`: short enough for a toolbar."""
    if tokens < 1000:
        return str(tokens)
    return f"{tokens / 1000:.1f}k" if tokens < 100_000 else f"{tokens / 1000:.0f}k"


class BudgetBar(NamedTuple):
    """`used` of `limit` tokens. Any use at all fills one cell; over the limit the bar is full."""

    used: int
    limit: int
    cells: int = CELLS
    estimated: bool = False

    @property
    def share(self) -> float:
        return self.used / self.limit if self.limit else float(self.used > 0)

    @property
    def color(self) -> str:
        if self.share < YELLOW_FROM:
            return "green"
        return "yellow" if self.share < RED_FROM else "red"

    @property
    def bar(self) -> str:
        least = 1 if self.used > 0 else 0
        filled = min(self.cells, max(least, round(self.share * self.cells)))
        return "█" * filled + "░" * (self.cells - filled)

    @property
    def percent(self) -> str:
        return f"{min(self.share, 9.99):.0%}"

    @property
    def figures(self) -> str:
        mark = "~" if self.estimated else ""
        return f"{mark}{short_count(self.used)} / {short_count(self.limit)}"


def usage_text(usage: "TokenUsage", number: Callable[[int], str] = "{:,}".format) -> str:
    """`~1,904 tokens in (812 cached), 88 out`"""
    mark = "~" if usage.estimated else ""
    cached = f" ({number(usage.cached_tokens)} cached)" if usage.cached_tokens else ""
    return (
        f"{mark}{number(usage.prompt_tokens)} tokens in{cached}, "
        f"{mark}{number(usage.completion_tokens)} out"
    )
