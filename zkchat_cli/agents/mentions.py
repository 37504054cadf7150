"""Agent mentions: `@name` at the start of a message asks that agent, for this message only."""

import re
from dataclasses import dataclass

_MENTION = re.compile(r"\s*@([^\W_][\w-]{0,47})(?:[,:]\s+|\s+|$)")


@dataclass(frozen=True, slots=True)
class AgentMention:
    """The agent's name in lower case, the mention as written, and the question after it."""

    name: str
    text: str
    question: str

    def locate(self, text: str, typed: str | None) -> str:
        """The text that finds the mention in a message whose part `typed` starts with it (None: the whole message)."""
        return self.text if typed is None or text.strip() == typed.strip() else f"\n\n{self.text}"


def parse_agent_mention(text: str) -> AgentMention | None:
    """The mention at the start of a message: `@researcher what …`, `@researcher: what …`. `@notes/plan` and `@plan.md` are paths.

    The caller checks whether the agent exists, or a file of that name.
    """
    match = _MENTION.match(text)
    return AgentMention(match[1].lower(), f"@{match[1]}", text[match.end() :]) if match else None
