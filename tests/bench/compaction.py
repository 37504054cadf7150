"""How often a long conversation is compacted: `python tests/bench/compaction.py [--turns 60]`.

Talks of the same questions in several windows, with a model that searches the notes in each turn
and with one that only answers. A compaction counts if the user is told about it. The summaries are
extractive, because the model that answers here cannot write any.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parent.parent))

import vaults
from factories import DeltaModel, find_call, make_app, reply, tool_reply
from summary_models import failing_reply, is_for_summary

from zkchat_cli import tools
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.events import CompactionDone, TurnCompleted
from zkchat_cli.llm.base import Delta, Request
from zkchat_cli.models.compaction import Compaction

WINDOWS = (4_000, 6_000, 8_000, 32_000)
SEED = 11
NOTES = 40
SENTENCES = (2, 3, 4, 5, 6, 8)


class Talk(NamedTuple):
    """What a conversation was like: its compactions by the number of their turn, and the tokens of
    each turn as the next prompt has it.
    """

    turns: int
    compactions: tuple[tuple[int, Compaction], ...]
    sizes: tuple[int, ...]

    @property
    def gaps(self) -> list[int]:
        """The turns from each compaction to the next one."""
        numbers = sorted({number for number, _ in self.compactions})
        return [after - before for before, after in pairwise(numbers)]


def answers(words: vaults.Words, *, searching: bool) -> DeltaModel:
    """A model that searches once in each turn, or not at all, and then answers."""

    def answer(request: Request) -> Iterable[Delta]:
        if is_for_summary(request):
            return failing_reply("server")
        if searching and request.messages[-1].role != "tool":
            return tool_reply(find_call(words.rare(3)))
        count = words.dice.choice(SENTENCES)
        return reply(" ".join(words.sentence() for _ in range(count)))

    return DeltaModel(answer=answer)


def hold_talk(session: ZkChatSession, questions: Sequence[str]) -> Talk:
    compactions: list[tuple[int, Compaction]] = []
    for number, question in enumerate(questions, 1):
        for event in session.send(question):
            if isinstance(event, CompactionDone):
                compactions.append((number, event.compaction))
        assert isinstance(event, TurnCompleted), event
    counter = session.runtime.counter
    sizes = tuple(turn.tokens for turn in session.state.turns(counter).turns)
    return Talk(len(questions), tuple(compactions), sizes)


def talks(folder: Path, turns: int, windows: Sequence[int]) -> Iterator[str]:
    vaults.write(folder / "notes", NOTES, vaults.Words(SEED))
    app = make_app(folder / "notes", folder / "cache")
    for searching in (False, True):
        for window in windows:
            words = vaults.Words(SEED)
            questions = [words.question() for _ in range(turns)]
            session = app.session(
                answers(words, searching=searching),
                max_context=window,
                retrieval="tools" if searching else "none",
                tools=tuple(tools.load_tools()),
            )
            yield describe(window, hold_talk(session, questions), searching=searching)


def describe(window: int, talk: Talk, *, searching: bool) -> str:
    """One row of the table."""
    gaps = talk.gaps
    modes: dict[str, int] = {}
    for _, compaction in talk.compactions:
        modes[compaction.mode] = modes.get(compaction.mode, 0) + 1
    between = f"{min(gaps)} / {median(gaps):g}" if gaps else "-"
    compacted = len({number for number, _ in talk.compactions})
    return (
        f"{window:>7,}  {'with' if searching else 'without':<8} {compacted:>3} of {talk.turns}"
        f"  {between:>9}  {median(talk.sizes):>6,.0f}  "
        + ", ".join(f"{count} {mode}" for mode, count in sorted(modes.items()))
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="Count compactions in long conversations.")
    parser.add_argument("--turns", type=int, default=60)
    parser.add_argument("--windows", type=int, nargs="*", default=WINDOWS)
    chosen = parser.parse_args()
    print(" window  tools    compacted  least/med  median  modes")
    with tempfile.TemporaryDirectory(prefix="zkchat-compaction-") as name:
        for row in talks(Path(name).resolve(), chosen.turns, chosen.windows):
            print(row, flush=True)


if __name__ == "__main__":
    main()
