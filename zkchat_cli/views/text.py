"""The values that all views use: styled lines, figures of tokens, names of commands to suggest, and
the state of the index.

A terminal shows styles and links; a pipe gets the text alone. The screen sanitizes and wraps.
"""

import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple

from zkchat_cli.views.money import money_text

# The first prompt is drawn without the models
if TYPE_CHECKING:
    from zkchat_cli.models.messages import TokenUsage
    from zkchat_cli.models.notes import SemanticModelStatus, SemanticStatus

# The text before each of the user's messages
PROMPT = "you › "
# Problems of an index that are listed
MOST_PROBLEMS = 3
# Columns of a bar
CELLS = 20
# Percent of a budget, as they are shown, from which on its bar is yellow, and red
YELLOW_FROM = 70
RED_FROM = 90
BAR_COLORS = ("green", "yellow", "red")
COMPUTE_THE_REST = "zkchat vault index --semantic computes the rest"
# Seconds of work after which the rest can be estimated
LEAST_SECONDS_TO_ESTIMATE = 3.0
SECONDS_OF_MINUTE = 60
# Percent are rounded to the nearest number, a half upwards
_HALF = 0.5
# The largest share that is shown, in percent
_MAX_PERCENT = 999
_TIMES = {1: "once", 2: "twice"}
_SPOKEN_SIGNS = {
    "✓": "ok: ",
    "✗": "problem: ",
    "!": "attention: ",
    "✂": "cut: ",
    "○": "cited: ",
    "→": "current: ",
    "·": "",
    "──": "",
    "══": "",
    "│": ": ",
    "┊": ": ",
}
"""The words that a screen reader gets for a sign at the beginning of a line or after its number."""
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
    spans = (StyledSpan(text, style),) if text else ()
    return StyledLine(spans, indent=indent)


def spoken_text(text: str) -> str:
    """The text for a screen reader: words in place of signs, and no bars."""
    return _SIGN.sub(_spoken_sign, text.replace("] ✓ ", "] verified: "))


def _spoken_sign(found: re.Match[str]) -> str:
    """Words for a sign; nothing for a bar."""
    beginning, sign = found.groups()
    return f"{beginning}{_SPOKEN_SIGNS[sign]}" if sign else ""


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
    """The model, the share of its vectors that are stored, and what computes the others."""
    share = describe_semantic_share(status)
    return share if status.complete else f"{share}: {COMPUTE_THE_REST}"


def describe_semantic_share(status: "SemanticStatus") -> str:
    """The model, and the share of its vectors that are stored, rounded down: 100% would be
    complete. The same of a second model if it is used.
    """
    used = [model for model in status.models if model.windows or not model.complete]
    states = [_describe_progress(model) for model in used if len(used) > 1]
    return "; ".join(states) or _describe_progress(status)


def _describe_progress(status: "SemanticStatus | SemanticModelStatus") -> str:
    name = f"{status.provider}/{status.model}"
    if status.complete:
        return f"{name}, complete"
    return f"{name}, {100 * status.embedded // max(status.windows, 1)}% done"


def time_left(seconds: float, done: int, remaining: int) -> str:
    """`, about 12 min left`, if so much was done in these seconds; empty if it was too little to
    tell.
    """
    if seconds < LEAST_SECONDS_TO_ESTIMATE or done <= 0 or remaining <= 0:
        return ""
    left = seconds * remaining / done
    if left < SECONDS_OF_MINUTE:
        return ", less than a minute left"
    return f", about {round(left / SECONDS_OF_MINUTE)} min left"


def short_count(tokens: int) -> str:
    """`812`, `12.1k`, `128k`: short enough for a toolbar."""
    if tokens < 1000:
        return str(tokens)
    thousands = tokens / 1000
    return f"{thousands:.1f}k" if thousands < 100 else f"{thousands:.0f}k"


class BudgetBar(NamedTuple):
    """`used` of `limit` tokens. Any use at all fills one cell; over the limit the bar is full."""

    used: int
    limit: int
    cells: int = CELLS
    estimated: bool = False

    @property
    def share(self) -> float:
        """The used share of the limit, above 1 if it is exceeded."""
        if not self.limit:
            return float(self.used > 0)
        return self.used / self.limit

    @property
    def color(self) -> str:
        """The color of the bar: green, yellow or red, by the percent that are shown."""
        if self.rounded_percent < YELLOW_FROM:
            return "green"
        return "yellow" if self.rounded_percent < RED_FROM else "red"

    @property
    def bar(self) -> str:
        """The cells of the bar, filled and empty ones."""
        least = 1 if self.used > 0 else 0
        filled = min(self.cells, max(least, round(self.share * self.cells)))
        return "█" * filled + "░" * (self.cells - filled)

    @property
    def rounded_percent(self) -> int:
        """The share in percent, as it is shown."""
        return min(_MAX_PERCENT, int(100 * self.share + _HALF))

    @property
    def percent(self) -> str:
        """The share in percent: `12%`"""
        return f"{self.rounded_percent}%"

    @property
    def figures(self) -> str:
        """Used tokens and limit: `~812 / 12.1k`"""
        mark = "~" if self.estimated else ""
        return f"{mark}{short_count(self.used)} / {short_count(self.limit)}"


def compaction_words(used: int, at: int | None, *, by_itself: bool) -> str:
    """The words beside a bar of `used` tokens if a compaction is due: it runs `by_itself`, or not.

    It is due above `at` tokens, and never if that is None; then the words are empty.
    """
    if at is None or used <= at:
        return ""
    return "compacts with the next message" if by_itself else "/compact is due"


def times_text(count: int) -> str:
    """`once`, `twice`, `3 times`"""
    return _TIMES.get(count, f"{count} times")


def usage_text(usage: "TokenUsage", number: Callable[[int], str] = "{:,}".format) -> str:
    """`~1,904 tokens in (812 cached), 88 out, $0.0132`"""
    mark = "~" if usage.estimated else ""
    cached = f" ({number(usage.cached_tokens)} cached)" if usage.cached_tokens else ""
    cost = f", {mark}{money_text(usage.cost)}" if usage.cost is not None else ""
    return (
        f"{mark}{number(usage.prompt_tokens)} tokens in{cached}, "
        f"{mark}{number(usage.completion_tokens)} out{cost}"
    )
