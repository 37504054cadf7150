"""`@name` at the very start of a message asks that agent, for this message alone."""

import re
from dataclasses import dataclass

_ADDRESS = re.compile(r"\s*@([^\W_][\w-]{0,47})(?:[,:]\s+|\s+|$)")


@dataclass(frozen=True, slots=True)
class AgentMention:
    """The agent's name as it could be one, the address as it is written, and what is asked after it."""

    name: str
    text: str
    question: str

    def locate(self, text: str, typed: str | None) -> str:
        """How it is found again in a message, of which `typed` is the part that begins with it (None: all)."""
        return self.text if typed is None or text.strip() == typed.strip() else f"\n\n{self.text}"


def parse_agent_mention(text: str) -> AgentMention | None:
    """Whom a message is addressed to, if it begins as an address does: `@researcher what …`, `@researcher: what …`.

    Whether there is such an agent, or a file of that name, is for the caller to find out. `@notes/plan` and `@plan.md` are paths.
    """
    found = _ADDRESS.match(text)
    return AgentMention(found[1].lower(), f"@{found[1]}", text[found.end() :]) if found else None
