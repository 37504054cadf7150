"""Who leads a conversation: an agent for good, one for a single message, or none.

A conversation goes on with the agent that its last message was for: each message in the log says which. So a stored conversation needs no
label of its own, and another branch may be led by another.
"""

import difflib
from contextlib import suppress
from dataclasses import replace

from zkchat_cli.agents.loader import NO_AGENT
from zkchat_cli.agents.mentions import AgentMention, parse_agent_mention
from zkchat_cli.chat.runtime import Runtime
from zkchat_cli.chat.state import ConversationState
from zkchat_cli.errors import ConfigError, ProviderError, UsageError, VaultError
from zkchat_cli.events import Notice
from zkchat_cli.models import Conversation, Prompt
from zkchat_cli.references.file_imports import FileImport, read_import

LIKE = 0.7
"""How like an agent's name a word must be to be meant for it: people are called by `@name`, too."""


class AgentBinding(ConversationState):
    """A conversation as it stands, and who leads it."""

    def __init__(self, parts: Runtime, conversation: Conversation | None = None) -> None:
        super().__init__(parts, conversation)
        if conversation is not None:
            self._take_up()

    @property
    def speaker_label(self) -> str:
        """Who answers: the model, and the agent before it if one leads."""
        agent = self.parts.agent
        return f"{agent.name} · {self.parts.model.name}" if agent is not None else self.parts.model.name

    def use_agent(self, name: str | None) -> None:
        """Let this agent lead from here on: its instructions, tools, strategy, model, budget and memory; None or "none": no agent.

        What the user has chosen in the chat, or with the command, stays. Raises ConfigError and ProviderError, and then nothing changes.
        """
        if self.parts.become is None:
            raise UsageError("this conversation cannot change its agent", "Start another with --agent.")
        self.lead(self.parts.become(None if name == NO_AGENT else name, self.parts.settled))

    def lead(self, parts: Runtime) -> None:
        """Go on with other parts; the counting stays, and what was settled."""
        other_model = parts.model.name != self.parts.model.name
        self.parts = replace(parts, counter=self.parts.counter, settled=self.parts.settled)
        self.refusal = None if other_model else self.refusal
        self.calibrate()
        self.memory = self.remembering()

    def called(self, text: str) -> tuple[AgentMention | None, list[Notice]]:
        """The agent that a message calls by `@name` for its turn alone, and what to tell of that, also of one that is nearly called so. A
        file of its name is imported instead.

        Raises UsageError for a name with nothing behind it.
        """
        called = parse_agent_mention(text)
        if called is None:
            return None, []
        known = self.parts.agents()
        if called.name not in known:
            near = difflib.get_close_matches(called.name, known, 1, LIKE)
            if not near or self._file(called) is not None:
                return None, []
            return None, [Notice(f"there is neither an agent nor a file {called.text}: it is sent as it stands", f"nearest: @{near[0]}")]
        if not called.question.strip():
            hint = f"{called.text} QUESTION asks it once; --agent {called.name}, or /agent in the chat, goes on with it."
            raise UsageError(f"there is nothing to ask the agent {called.name}", hint)
        if (file := self._file(called)) is not None:
            hint = f"--agent {called.name}, or /agent in the chat, goes on with the agent"
            return None, [Notice(f"{called.text} is taken for the file {file}, not for the agent", hint)]
        return called, [Notice(f"the agent {called.name} answers this message")]

    def _file(self, called: AgentMention) -> str | None:
        """The file that an address would import."""
        with suppress(VaultError):
            return read_import(FileImport(called.text, called.text[1:], 0), self.places).relative_path
        return None

    def prompt(self, next_text: str | None = None, *, addressed: str | None = None) -> Prompt:
        """As Standing's; a message that calls an agent gets that agent's prompt."""
        called = self.called(next_text)[0] if next_text else None
        if called is None:
            return super().prompt(next_text, addressed=addressed)
        usual = self.parts
        self.use_agent(called.name)
        try:
            return super().prompt(next_text, addressed=called.text)
        finally:
            self.lead(usual)

    def _take_up(self) -> None:
        """Go on with the agent that the conversation had; one that is gone, or spoilt, is told with the next message."""
        last = next((m for m in reversed(self.history) if m.role == "user" and not m.addressed), None)
        name = last.agent if last is not None else None
        if self.parts.become is None or name == (self.parts.agent.name if self.parts.agent else None):
            return
        try:
            self.use_agent(name)
        except (ConfigError, ProviderError) as e:
            self.memory.notify(f"this conversation was led by the agent {name}, and goes on without it: {e.message}", e.hint)
