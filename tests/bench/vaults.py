"""Seeded vaults and conversations to measure on: the same seed gives the same notes, on every
machine.

Not English, but shaped like it, because the shape is what costs time: word frequencies follow
Zipf's law with real stopwords at the top, so that a query's common words hit many notes; notes have
headings, aliases, tags and links, some of them broken.
"""

import itertools
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from zkchat_cli.chat.tool_executor import ToolExecutor
from zkchat_cli.models.archive import ConversationArchive
from zkchat_cli.models.conversations import Conversation
from zkchat_cli.models.messages import ToolCall, ZkChatMessage
from zkchat_cli.references.documents import aggregate_documents
from zkchat_cli.text.words import STOPWORDS

VOCABULARY = 20_000
NOTE_BYTES = 3_000
NOTES_A_FOLDER = 100
ROOM = 4_000
"""Tokens of a tool's result in an imported turn: about what a session leaves it in a window of 32
768.
"""
_SYLLABLES = tuple(
    a + b for a in "b d f g k l m n p r s t v z sh tr".split() for b in "a e i o u ai en or".split()
)


@dataclass
class Words:
    """Words and sentences drawn by Zipf's law, in Mandelbrot's form (rank + 2.7), from a made-up
    vocabulary.
    """

    seed: int
    dice: random.Random = field(init=False)
    vocabulary: list[str] = field(init=False)
    _cumulated: list[float] = field(init=False)

    def __post_init__(self) -> None:
        self.dice = random.Random(self.seed)
        rare = dict.fromkeys(
            "".join(self.dice.choices(_SYLLABLES, k=self.dice.choice((2, 2, 3, 3, 4))))
            for _ in range(2 * VOCABULARY)
        )
        self.vocabulary = [*sorted(STOPWORDS, key=lambda word: (len(word), word)), *rare][
            :VOCABULARY
        ]
        self._cumulated = list(itertools.accumulate(1 / (rank + 2.7) for rank in range(VOCABULARY)))

    def common(self, count: int) -> str:
        """Words as they come, mostly frequent ones."""
        return " ".join(self.dice.choices(self.vocabulary, cum_weights=self._cumulated, k=count))

    def rare(self, count: int) -> str:
        """Words that say something: none of the stopwords."""
        return " ".join(self.dice.choices(self.vocabulary[len(STOPWORDS) :], k=count))

    def sentence(self) -> str:
        return self.common(self.dice.randint(6, 20)).capitalize() + "."

    def question(self) -> str:
        """Common words with a few that say something, as people ask."""
        return f"what about {self.common(6)} {self.rare(2)}?"


def write(folder: Path, notes: int, words: Words) -> None:
    """A vault of so many notes of about 3 KB, in folders of a hundred; every tenth title has a
    number that makes it unique.
    """
    titles = [words.rare(2).title() + (f" {i}" if i % 10 == 0 else "") for i in range(notes)]
    for i, title in enumerate(titles):
        file = folder / f"Area {i // NOTES_A_FOLDER}" / f"{title}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(_note(title, titles, words), encoding="utf-8")


def _note(title: str, titles: list[str], words: Words) -> str:
    chance = words.dice.random
    parts = []
    if chance() < 0.3:
        parts.append(
            f"---\naliases: [{words.rare(2)}]\ntags: [{words.rare(1)}]\ndescription: "
            f"{words.sentence()}\n---"
        )
    parts.append(f"# {title}")
    while sum(map(len, parts)) < NOTE_BYTES:
        if chance() < 0.2:
            parts.append(f"## {words.rare(3).capitalize()}")
        said = [words.sentence() for _ in range(words.dice.randint(2, 6))]
        if chance() < 0.4:
            alias = f"|{words.common(2)}" if chance() < 0.3 else ""
            said.append(
                f"See [[{words.dice.choice(titles) if chance() < 0.95 else words.rare(2)}{alias}]]."
            )
        parts.append(
            " ".join(said) if chance() < 0.8 else "\n".join(f"- {sentence}" for sentence in said)
        )
    return "\n\n".join(parts) + "\n"


def conversation(
    turns: int, words: Words, toolbox: ToolExecutor, vault: str, new_id: Callable[[], str]
) -> ConversationArchive:
    """A conversation as so many turns of the offline provider leave it: question, call, its
    numbered excerpts, quotations of them.
    """
    now = "2025-05-08T12:00:00+00:00"
    messages: list[ZkChatMessage] = []

    def say(role: str, content: str, **fields: object) -> None:
        parent = messages[-1].id if messages else None
        said = {
            "id": new_id(),
            "parent_id": parent,
            "timestamp": now,
            "role": role,
            "content": content,
        }
        messages.append(
            ZkChatMessage.model_validate(
                {**said, "token_count": toolbox.counter.count(content), **fields}
            )
        )

    for _ in range(turns):
        question = words.question()
        call = ToolCall(id=new_id(), name="find_excerpts", arguments={"query": question})
        found = toolbox.results([toolbox.run_call(call)], ROOM)[0]
        first = [
            (chunk.text.strip().splitlines()[-1].split(". ")[0], chunk.number)
            for chunk in found.chunks[:3]
        ]
        say("user", question)
        say("assistant", "", tool_calls=(call,))
        say(
            "tool",
            found.content,
            tool_call_id=call.id,
            tool_name=call.name,
            tool_run=found.run,
            chunks=found.chunks,
        )
        say(
            "assistant",
            "From your notes:\n\n" + "\n\n".join(f"“{text}” [{number}]" for text, number in first),
            references=aggregate_documents(found.chunks),
        )
    talk = Conversation(
        id=new_id(),
        vault=vault,
        title="long",
        created_at=now,
        updated_at=now,
        head_id=messages[-1].id,
    )
    return ConversationArchive(conversation=talk, messages=tuple(messages))
