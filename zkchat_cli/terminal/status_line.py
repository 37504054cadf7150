"""The line that stands at the bottom while a turn runs: who is at it or with what, for how long, how much came, and what stops it."""

from zkchat_cli.terminal.markdown.pieces import clusters, width
from zkchat_cli.text.sanitize import sanitize_name

BYTES_PER_TOKEN = 4
"""About, for prose: what comes word by word cannot be counted, and the turn's end has the figures."""
RATED_AFTER = 0.5
"""Seconds of an answer after which it can be told how fast it comes."""
STOPS = "Ctrl-C stops"
_SPINNER, _ASCII_SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏", "|/-\\"


class StatusLine:
    """Is told what happens; `line` says it. Times are seconds by the clock of whoever asks, `began` the turn's beginning by it."""

    def __init__(self, who: str, began: float) -> None:
        self._who = sanitize_name(who)
        self.began = began
        self._doing = self._waiting = ""
        self._tokens = 0.0
        self._lately = 0.0
        """Tokens since the model was asked last: how fast they come has nothing to do with what tools took meanwhile."""
        self._came_since: float | None = None
        self._frame = 0

    def doing(self, what: str) -> None:
        """What is waited for; empty for the model."""
        self._doing, self._waiting = sanitize_name(what), ""
        self._lately, self._came_since = 0.0, None

    def waiting(self, seconds: float, reason: str) -> None:
        """The model is asked again in so many seconds."""
        self._waiting = sanitize_name(f"again in {max(1, round(seconds))} s, {STOPS}: {reason}")

    def came(self, text: str, now: float) -> None:
        """More of the reasoning or of the answer."""
        self._waiting = ""
        self._came_since = now if self._came_since is None else self._came_since
        tokens = len(text.encode("utf-8", "replace")) / BYTES_PER_TOKEN
        self._tokens += tokens
        self._lately += tokens

    @property
    def is_waiting(self) -> bool:
        return bool(self._waiting)

    def line(self, now: float, columns: int, *, ascii_only: bool = False) -> str:
        """At most so many columns; what matters least is left out first, whole."""
        frames, between = (_ASCII_SPINNER, " - ") if ascii_only else (_SPINNER, " · ")
        self._frame += 1
        seconds = f"{now - self.began:.0f} s"
        if self._waiting:
            said = [self._waiting, seconds]
        else:
            tokens, rate = self._figures(now)
            choices = ([who, seconds, *figures, STOPS] for who, figures in self._choices(tokens, rate))
            said = next((each for each in choices if width(between.join(filter(None, each))) + 2 <= columns), [self._doing, seconds])
        return clipped(f"{frames[self._frame % len(frames)]} {between.join(filter(None, said))}", columns)

    def _choices(self, tokens: str, rate: str) -> list[tuple[str, tuple[str, ...]]]:
        who = self._doing or self._who
        return [(who, (tokens, rate)), (who, (tokens,)), (self._doing, (tokens,)), (self._doing, ())]

    def _figures(self, now: float) -> tuple[str, str]:
        if not self._tokens:
            return "", ""
        took = now - self._came_since if self._came_since is not None else 0.0
        return f"~{self._tokens:.0f} tokens", f"~{self._lately / took:.0f} tokens/s" if took > RATED_AFTER else ""


def clipped(line: str, columns: int) -> str:
    """What of a line fits, never less than a whole character."""
    made, column = "", 0
    for cluster in clusters(line):
        column += width(cluster)
        if column > columns:
            break
        made += cluster
    return made
