"""A long answer as it streams onto a terminal of 80 x 24: what it costs in processor time and in
bytes, beside writing it plainly.
"""

import io
import time
from collections.abc import Iterator
from typing import TextIO, cast

from ground import Ground
from measuring import Goal, Row

from zkchat_cli.terminal.link_targets import NO_LINKS
from zkchat_cli.terminal.screen import Screen
from zkchat_cli.terminal.streaming_view import StreamingView
from zkchat_cli.views.live_budget import LiveBudget

CHARACTERS = 30_000
DELTAS = 2_000


class Sink(io.TextIOBase):
    """A terminal that counts."""

    def __init__(self) -> None:
        self.bytes = 0

    def write(self, text: str) -> int:
        self.bytes += len(text.encode())
        return len(text)


def figures(ground: Ground) -> Iterator[Row]:
    size = CHARACTERS // 10 if ground.quick else CHARACTERS
    step = CHARACTERS // DELTAS
    took: list[float] = []
    floor: list[float] = []
    ratios: list[float] = []
    for _ in ground.times(5):
        text = answer(ground, size)
        deltas = [text[at : at + step] for at in range(0, len(text), step)]
        live_out = Sink()
        plain_out = Sink()
        live = StreamingView(
            Screen(
                cast(TextIO, live_out),
                cast(TextIO, live_out),
                True,
                False,
                lambda: 80,
                lines=lambda: 24,
            ),
            NO_LINKS,
            budget=LiveBudget(),
        )
        began = time.process_time()
        for delta in deltas:
            live.add_answer(delta)
            # A very fast model; a slower one lets it draw more often
            time.sleep(0.0005)
        live.close()
        took.append(1000 * (time.process_time() - began))
        began = time.process_time()
        for delta in deltas:
            plain_out.write(delta)
            time.sleep(0.0005)
        floor.append(1000 * (time.process_time() - began))
        ratios.append(live_out.bytes / plain_out.bytes)
    if len(took) > 1:
        # The first one only warms up
        for values in (took, floor, ratios):
            del values[0]
    yield Row(
        f"an answer of {CHARACTERS} characters, all in all",
        took,
        floor,
        "writing it plainly",
        Goal(1000, "p95"),
    )
    yield Row(
        "  bytes written", ratios, [1.0] * len(ratios), "writing it plainly", Goal(3, "ratio"), "×"
    )


def answer(ground: Ground, size: int) -> str:
    """Paragraphs, lists, code and tables, as models write them."""
    words = ground.words
    dice = ground.words.dice
    parts: list[str] = []
    while sum(map(len, parts)) < size:
        kind = dice.random()
        if kind < 0.5:
            parts.append(
                " ".join(
                    f"**{words.rare(1)}** {words.sentence()} [{dice.randint(1, 9)}]"
                    for _ in range(5)
                )
            )
        elif kind < 0.7:
            parts.append("\n".join(f"- {words.sentence()}" for _ in range(5)))
        elif kind < 0.85:
            parts.append(
                "```python\n"
                + "\n".join(
                    f'def f{n}(x: int) -> str:\n    return "{words.rare(2)}" * x' for n in range(8)
                )
                + "\n```"
            )
        else:
            rows = (f"| {words.rare(1)} | {words.rare(3)} | {n} |" for n in range(12))
            parts.append(
                "\n".join(("## " + words.rare(2), "", "| a | b | c |", "|---|---|--:|", *rows))
            )
    return "\n\n".join(parts)[:size]
