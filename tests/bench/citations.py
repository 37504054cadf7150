"""Reading and checking the citations of a long answer: 2 000 words, half of its sentences quoted
from 50 excerpts of 350 tokens.
"""

import re
from collections.abc import Iterator

from ground import Ground
from measuring import Goal, Row, in_turns, timed

from zkchat_cli.citations.sources import CitableSources
from zkchat_cli.citations.verify import verify_citations
from zkchat_cli.models.notes import ContentChunk
from zkchat_cli.tokens.encodings import load_vocabulary

CHUNKS = 50
TOKENS = 350
WORDS = 2000


def figures(ground: Ground) -> Iterator[Row]:
    chunks = excerpts(ground)
    answers = [answer(ground, chunks) for _ in ground.times(100)]

    def floor(text: str) -> None:
        for _ in re.finditer(r"\[\d+\]", text):
            pass

    checked = in_turns(
        timed(lambda text: verify_citations(text, CitableSources(chunks))), timed(floor), answers
    )
    yield Row("verify an answer of 2000 words", *checked, "re.finditer of [n]", Goal(10, "p95"))


def excerpts(ground: Ground) -> list[ContentChunk]:
    encode = load_vocabulary("o200k_base").encode_ordinary
    found: list[ContentChunk] = []
    for number in range(1, CHUNKS + 1):
        lines = [f"## {ground.words.rare(2)}"]
        while len(encode("\n".join(lines))) < TOKENS:
            lines.append(ground.words.sentence())
        place = {"relative_path": f"Notes/{number}.md", "start_line": 1, "end_line": len(lines)}
        found.append(
            ContentChunk(
                id=str(number), title=str(number), number=number, text="\n".join(lines), **place
            )
        )
    return found


def answer(ground: Ground, chunks: list[ContentChunk]) -> str:
    dice = ground.words.dice
    said = list[str]()
    size = 0
    while size < WORDS:
        chunk = dice.choice(chunks)
        kind = dice.random()
        sentence = ground.words.sentence()
        if kind < 0.5:
            sentence = (
                f"{sentence[:-1]}: “{dice.choice(chunk.text.splitlines()[1:])[:-1]}” "
                f"[{chunk.number}]."
            )
        elif kind < 0.8:
            sentence = (
                f"{sentence[:-1]} [{chunk.number}, {dice.randint(1, CHUNKS)}], see "
                f"[[{dice.randint(1, CHUNKS)}]]."
            )
        said.append(sentence + dice.choice(("\n\n", " ", " ", " ")))
        size += len(sentence.split())
    return "".join(said)
