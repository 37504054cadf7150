"""What a conversation works with: its vault, store, model, tools, settings, and who leads it. Values, made in wiring.py."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from zkchat_cli.agents.profile import Agent
from zkchat_cli.config.schema import Config
from zkchat_cli.context.strategies.base import Strategy
from zkchat_cli.context.system_prompt import INSTRUCTIONS
from zkchat_cli.llm.base import Model, Options, Window
from zkchat_cli.store.chat_session_store import ChatSessionStore
from zkchat_cli.tokens.counter import TokenCounter
from zkchat_cli.tools.base import Tool
from zkchat_cli.vault.approval import ApprovalPolicy
from zkchat_cli.vault.vault import Vault


@dataclass(frozen=True, slots=True)
class OpenedModel:
    """A model in use, and the tools that it can call."""

    model: Model
    tools: tuple[Tool, ...]


@dataclass(frozen=True, slots=True)
class AvailableModels:
    """What one provider has: models by the names that `use` takes, or the problem with asking it."""

    provider: str
    names: tuple[str, ...] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Runtime:
    """What a session works with. `now` gives ISO 8601 with zone, `clock` monotonic seconds, `new_id` a fresh random id.

    `window` is the context window that somebody set; without one it is the model's own, or `max_context` tokens while that is not known.
    `use` opens another model by its name; `offers` asks the servers that the user has chosen, or has on this machine, for theirs.
    """

    vault: Vault
    store: ChatSessionStore
    model: Model
    strategy: Strategy
    tools: tuple[Tool, ...]
    settings: Config
    max_context: int
    counter: TokenCounter
    now: Callable[[], str]
    clock: Callable[[], float]
    new_id: Callable[[], str]
    window: Window | None = None
    options: Options = field(default_factory=Options)
    use: Callable[[str], OpenedModel] | None = None
    offers: Callable[[], tuple[AvailableModels, ...]] = tuple
    describes: Callable[[str], bool] = bool
    """Whether the model of that name is one that can say in a sentence what a note is about."""
    summarizes: Callable[[str], bool] = bool
    """Whether the model of that name can summarise a conversation."""
    changing: ApprovalPolicy = field(default_factory=ApprovalPolicy)
    """Who approves the changes of notes that a model proposes."""
    folder: Path | None = None
    """The current folder: what a message imports is looked for there first."""
    instructions: str = INSTRUCTIONS
    """The system prompt."""
    agent: Agent | None = None
    """Who leads the conversation."""
    agents: Callable[[], Sequence[str]] = tuple
    """The names of those who could."""
    become: "Callable[[str | None, Mapping[str, object]], Runtime] | None" = None
    """The parts with another agent, or none; what was settled in the chat counts for more than what the agent says."""
    settled: Mapping[str, object] = field(default_factory=dict)
    """Settings, by their keys, that were changed since the program started."""
