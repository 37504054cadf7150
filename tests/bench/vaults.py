"""Seeded vaults and conversations to measure on: the same seed gives the same notes, on every machine.

Not English, but shaped like it, because the shape is what costs time: word frequencies follow Zipf's law with real stopwords at the top,
so that a query's common words hit many notes; titles repeat words of the text; notes have headings, aliases, tags and links, some broken.
"""

import itertools
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from zkchat_cli.models import Citation, Conversation, ConversationArchive, ToolCall, ZkChatMessage
from zkchat_cli.references.manager import documents_of
from zkchat_cli.toolbox import Toolbox
from zkchat_cli.words import STOPWORDS

VOCABULARY = 20_000
NOTE_BYTES = 3_000
NOTES_A_FOLDER = 100
ROOM = 4_000
"""Tokens of a tool's result in an imported turn: what a session leaves it in a window of 32 768."""
_SYLLABLES = tuple(a + b for a in "b d f g k l m n p r s t v z sh tr".split() for b in "a e i o u ai en or".split())


@dataclass
class Words:
    """Words and sentences drawn by Zipf's law (rank + 2.7, Mandelbrot's form) from a made-up vocabulary."""

    seed: int
    dice: random.Random = field(init=False)
    vocabulary: list[str] = field(init=False)
    _cumulated: list[float] = field(init=False)

    def __post_init__(self) -> None:
        self.dice = random.Random(self.seed)
        rare = dict.fromkeys("".join(self.dice.choices(_SYLLABLES, k=self.dice.choice((2, 2, 3, 3, 4)))) for _ in range(2 * VOCABULARY))
        self.vocabulary = [*sorted(STOPWORDS, key=len), *rare][:VOCABULARY]
        self._cumulated = list(itertools.accumulate(1 / (rank + 2.7) for rank in range(VOCABULARY)))

    def some(self, count: int) -> list[str]:
        return self.dice.choices(self.vocabulary, cum_weights=self._cumulated, k=count)

    def rare(self, count: int) -> list[str]:
        """Words that say something: none of the stopwords."""
        return self.dice.choices(self.vocabulary[len(STOPWORDS) :], k=count)

    def sentence(self) -> str:
        return " ".join(self.some(self.dice.randint(6, 20))).capitalize() + "."

    def question(self) -> str:
        """Common words with a few that say something, as people ask."""
        return f"what about {' '.join(self.some(6))} {' '.join(self.rare(2))}?"


def write(folder: Path, notes: int, words: Words) -> None:
    """A vault of so many notes of about 3 KB, in folders of a hundred."""
    titles = [" ".join(words.rare(2)).title() + (f" {i}" if i % 10 == 0 else "") for i in range(notes)]
    for i, title in enumerate(titles):
        file = folder / f"Area {i // NOTES_A_FOLDER}" / f"{title}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(_note(title, titles, words), encoding="utf-8")


def _note(title: str, titles: list[str], words: Words) -> str:
    chance = words.dice.random
    parts = []
    if chance() < 0.3:
        parts.append(f"---\naliases: [{' '.join(words.rare(2))}]\ntags: [{words.rare(1)[0]}]\ndescription: {words.sentence()}\n---")
    parts.append(f"# {title}")
    size = sum(map(len, parts))
    while size < NOTE_BYTES:
        if chance() < 0.2:
            parts.append(f"## {' '.join(words.rare(3)).capitalize()}")
        said = [words.sentence() for _ in range(words.dice.randint(2, 6))]
        if chance() < 0.4:
            said.append(f"See {_link(titles, words)}.")
        parts.append(" ".join(said) if chance() < 0.8 else "\n".join(f"- {sentence}" for sentence in said))
        size += len(parts[-1])
    return "\n\n".join(parts) + "\n"


def _link(titles: list[str], words: Words) -> str:
    if words.dice.random() < 0.05:
        return f"[[{' '.join(words.rare(2))}]]"
    alias = f"|{' '.join(words.some(2))}" if words.dice.random() < 0.3 else ""
    return f"[[{words.dice.choice(titles)}{alias}]]"


def conversation(turns: int, words: Words, toolbox: Toolbox, vault: str, new_id: Callable[[], str]) -> ConversationArchive:
    """A conversation as so many turns of the offline provider leave it: question, search, its numbered excerpts, quotes with citations."""
    now = "2025-05-08T12:00:00+00:00"
    count = toolbox.counter.count
    messages: list[ZkChatMessage] = []

    def say(**fields: object) -> None:
        parent = messages[-1].id if messages else None
        messages.append(ZkChatMessage.model_validate({"id": new_id(), "parent_id": parent, "timestamp": now, **fields}))

    for _ in range(turns):
        question = words.question()
        call = ToolCall(id=new_id(), name="find_excerpts", arguments={"query": question})
        result = toolbox.run(call, ROOM)
        cited = [(chunk, chunk.text.strip().split("\n")[-1].split(". ")[0]) for chunk in result.chunks[:3]]
        answer = "From your notes:\n\n" + "\n\n".join(f"“{quote}” [{chunk.number}]" for chunk, quote in cited)
        say(role="user", content=question, token_count=count(question), augmented_token_count=count(question))
        say(role="assistant", content="", tool_calls=(call,), token_count=0, finish_reason="tool_calls", model="offline")
        say(
            role="tool",
            content=result.content,
            tool_call_id=call.id,
            tool_name=call.name,
            tool_run=result.run,
            chunks=result.chunks,
            token_count=result.run.tokens,
        )
        say(
            role="assistant",
            content=answer,
            token_count=count(answer),
            references=documents_of(result.chunks, lambda _: None),
            citations=tuple(
                Citation(
                    number=chunk.number or 0,
                    relative_path=chunk.relative_path,
                    start_line=chunk.start_line,
                    end_line=chunk.end_line,
                    quote=quote,
                    valid=True,
                )
                for chunk, quote in cited
            ),
            model="offline",
            finish_reason="stop",
        )
    head = messages[-1].id if messages else None
    talk = Conversation(id=new_id(), vault=vault, title="imported", created_at=now, updated_at=now, head_id=head)
    return ConversationArchive(conversation=talk, messages=tuple(messages))
