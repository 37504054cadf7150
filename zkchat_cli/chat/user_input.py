"""What the user sent, before it is a message: its text, and the agent that it may mention."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from zkchat_cli.models.messages import RetrievalMode, ZkChatMessage
from zkchat_cli.text.words import replace_surrogates

_AGENT_MENTION = re.compile(r"\s*(@[^\W_][\w-]{0,47})(?:[,:]\s+|\s+|$)")


def parse_agent_mention(text: str) -> str | None:
    """The `@name` at the start of a message that may mention an agent.

    `@researcher what …` and `@researcher: what …` do; `@notes/plan` and `@plan.md` do not.
    """
    match = _AGENT_MENTION.match(text)
    return match[1] if match else None


def without_mention(text: str, agents: Iterable[str]) -> str:
    """The text without an `@name` at its start that addresses somebody: one of these agents, or
    another name that is not the subject of the sentence.

    `@critic, we take 3` and `@critic We take 3` address somebody, `@anna takes 3` does not.
    """
    mention = parse_agent_mention(text)
    if mention is None:
        return text
    rest = text.partition(mention)[2]
    content = rest.lstrip(" \t\n,:")
    is_addressed = rest[:1] in (",", ":") or not content[:1].islower()
    return content if is_addressed or mention[1:].lower() in agents else text


class UserInput(NamedTuple):
    """What the user sent.

    If the rest came through a pipe or from a shell command, `typed` is the part that was typed:
    only that part may import files, and only a message that begins with it may mention an agent.
    """

    text: str
    typed: str | None = None
    mention: str | None = None
    # Who should search the notes, if not as the settings say
    retrieval: RetrievalMode | None = None
    # The learning points of a question that is sent again, found when it was typed
    learning_points: tuple[str, ...] | None = None
    # What zkchat searches the notes for, if not for the text
    searched: str = ""
    # What the model is told for this turn, after its other instructions
    instructions: str = ""

    @classmethod
    def parse(cls, text: str, typed: str | None = None) -> "UserInput":
        """The input with this text, without characters that cannot be stored."""
        text = replace_surrogates(text)
        if typed is not None:
            typed = replace_surrogates(typed)
        begins_as_typed = typed is None or (bool(typed) and text.startswith(typed))
        mention = parse_agent_mention(text) if begins_as_typed else None
        return cls(text, typed, mention)

    def with_remark(self, remark: str) -> "UserInput":
        """The input with a remark of zkchat below its text: the model reads it; documents and
        passages are looked for in the user's words only.
        """
        return self._replace(
            text=f"{self.text}\n\n{remark}",
            typed=self.text if self.typed is None else self.typed,
            searched=self.searched or self.text,
        )

    @classmethod
    def of_question(cls, question: ZkChatMessage) -> "UserInput":
        """The input of an earlier question: it may import the files that it named, and no
        others.
        """
        imported = (each for each in question.references if each.reference_type == "import")
        mention = parse_agent_mention(question.content) if question.addressed else None
        return cls(
            question.content,
            " ".join(each.wikilink for each in imported),
            mention,
            learning_points=question.learning_points,
        )
