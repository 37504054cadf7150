"""The summary without a model: of 25 000 tokens seen for the first time and again, and of longer
conversations.
"""

import time
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import count

from ground import Ground
from measuring import Goal, Row, in_turns, timed

from zkchat_cli.context.turns import Turn, make_turns
from zkchat_cli.markdown.blocks import sentences
from zkchat_cli.models.messages import ZkChatMessage
from zkchat_cli.summarization.extractive import summarize
from zkchat_cli.tokens.counter import TokenCounter
from zkchat_cli.tokens.encodings import Encoder, load_vocabulary

TOKENS = 25_000
ROOM = 2000
SENTENCES_A_MESSAGE = 3
FLOOR = "sentences, tiktoken"


def unseen_conversation(
    ground: Ground, encoder: Encoder, counter: TokenCounter, ids: Iterator[int]
) -> tuple[Turn, ...]:
    """A conversation of `TOKENS` tokens that nobody has seen yet."""
    turns: list[Turn] = []
    left = TOKENS
    while left > 0:
        date = f"2025-{1 + len(turns) // 28 % 12:02d}-{1 + len(turns) % 28:02d}"
        said: list[ZkChatMessage] = []
        for role in ("user", "assistant"):
            text = " ".join(ground.words.sentence() for _ in range(SENTENCES_A_MESSAGE))
            left -= len(encoder.encode_ordinary(text))
            id_ = f"{next(ids)}"
            said.append(ZkChatMessage(id=id_, role=role, content=text, timestamp=date))
        turns += make_turns([said], counter).turns
    return tuple(turns)


def figures(ground: Ground) -> Iterator[Row]:
    encoder = load_vocabulary("o200k_base")
    counter = TokenCounter(load=lambda _: encoder)

    def floor(talk: Sequence[Turn]) -> None:
        for turn in talk:
            for message in turn.messages:
                for sentence in sentences(message.content):
                    encoder.encode_ordinary(sentence)

    def summary(talk: Sequence[Turn]) -> None:
        summarize(talk, ROOM, counter)

    told = partial(unseen_conversation, ground, encoder, counter, count())
    talks = [told() for _ in ground.times(20)]
    yield Row(
        "summary of 25000 tokens",
        *in_turns(timed(summary), timed(floor), talks),
        FLOOR,
        Goal(500, "p95"),
    )
    yield Row(
        "summary of the same again",
        *in_turns(timed(summary), timed(floor), talks[-2:] * len(talks)),
        FLOOR,
    )

    def growing(talk: Sequence[Turn]) -> Iterator[float]:
        """Summaries of a conversation in which two turns are new each time."""
        made = summarize(talk, ROOM, counter)
        new = told()
        for i in range(0, 40, 2):
            assert made is not None
            quoted = set(made.quoted)
            read = [*(turn for turn in (*talk, *new[:i]) if turn.id in quoted), *new[i : i + 2]]
            begin = time.perf_counter()
            made = summarize(read, ROOM, counter)
            yield 1000 * (time.perf_counter() - begin)

    for times in (2,) if ground.quick else (1, 4, 16):
        longer = [turn for _ in range(times) for turn in told()]
        yield Row(
            f"summary that goes on, {times * TOKENS} tokens",
            list(growing(longer)),
            goal=Goal(50, "p95"),
        )
