"""What one turn works with: model, window and budget, agent, tools, settings, token counter. It is
a frozen value; a change makes another one.

A message to `@agent` gets a Runtime of its own, which is passed to everything in that turn; the
session's Runtime stays as it is. SessionServices are the long-lived things behind it: the notes,
the store, the clock.
"""

import math
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from zkchat_cli.agents.loader import NO_AGENT, Agent
from zkchat_cli.chat.cost_guard import CostGuard
from zkchat_cli.chat.fault_guard import FaultGuard
from zkchat_cli.config import loader
from zkchat_cli.config.schema import Config
from zkchat_cli.context import strategies
from zkchat_cli.context.budget import Budget
from zkchat_cli.context.instructions import INSTRUCTIONS, INSTRUCTIONS_WITHOUT_TOOLS
from zkchat_cli.context.strategies.base import Strategy
from zkchat_cli.errors import ConfigError, UsageError
from zkchat_cli.events import Notice
from zkchat_cli.llm.base import Model, Options, Window
from zkchat_cli.llm.prices import find_price
from zkchat_cli.llm.stop_signal import STOP_INTERVAL, raise_if_stopped
from zkchat_cli.models.messages import Role, ToolCall, ZkChatMessage
from zkchat_cli.models.money import Price
from zkchat_cli.models.prompts import Calibration, Retrieval
from zkchat_cli.references.summary_cache import SummaryCache
from zkchat_cli.store.port import SessionStore
from zkchat_cli.tokens.counter import TokenCounter
from zkchat_cli.tools.base import Tool
from zkchat_cli.vault.edit.approval import UNASKED, UNASKED_CALL, Approve, Decision
from zkchat_cli.vault.search.semantic import SemanticSearch
from zkchat_cli.vault.vault import Vault

FACTOR_STEPS = 50
"""Steps between 1 and 2 to which a calibration factor is rounded. After each change 5,000 turns are
counted again, which takes a second.
"""
DEFAULT_WINDOW = "default: the model's window is unknown"
OVERRIDE_ORIGIN = "/config"
CHANGEABLE_SETTINGS = (
    "model",
    "llm.",
    "chat.",
    "context.",
    "references.",
    "retrieval.",
    "memory.",
    "terminal.open_command",
)
"""Settings that a session reads whenever it needs them; the others are read once, at the start."""
SETTINGS_READ_AT_START = ("context.memory_integration", "context.show_token_count")


class OpenedModel(NamedTuple):
    """A model, and the tools that it may call."""

    model: Model
    tools: tuple[Tool, ...]


class AvailableModels(NamedTuple):
    """The models of one provider, as names for `--model`, or the problem with listing them."""

    provider: str
    names: tuple[str, ...] = ()
    problem: str = ""


class ExternalServer(NamedTuple):
    """A server of external tools. `state` is starting, ready, failed or off."""

    name: str
    address: str
    state: str
    problem: str = ""
    tools: tuple[Tool, ...] = ()


class ExternalTools(Protocol):
    """The tools of external programs.

    `tools` returns those that can be called now; the first call waits for the programs to start.
    `take_notices` returns the problems since the last call, `status` all configured programs.
    """

    def tools(self) -> tuple[Tool, ...]: ...
    def take_notices(self) -> list[Notice]: ...
    def status(self) -> tuple[ExternalServer, ...]: ...


@dataclass(frozen=True, slots=True)
class SessionServices:
    """Long-lived collaborators of a session. `now` gives ISO 8601 with zone, `clock` monotonic
    seconds, `new_id` a fresh random id.
    """

    vault: Vault
    store: SessionStore
    now: Callable[[], str]
    clock: Callable[[], float]
    new_id: Callable[[], str]
    # Decides about changes to notes that a model proposes
    approve: Approve = lambda _: UNASKED
    # Decides about calls of external tools
    approve_call: Callable[[ToolCall], Decision] = lambda _: UNASKED_CALL
    external: ExternalTools | None = None
    # The current folder, which is searched first for files to import
    working_folder: Path | None = None
    agent_names: Callable[[], Sequence[str]] = tuple
    # The folder with the agents' memory
    agents_folder: Path | None = None
    # Compares messages by meaning, with a model that runs in this process
    semantic: SemanticSearch | None = None
    # The folder for exports that must not be written into a vault
    documents_folder: Path | None = None
    # The summaries of notes that a model has written
    summary_cache: SummaryCache = field(default_factory=SummaryCache)
    # Lets a turn continue without what only accompanies it
    faults: FaultGuard = field(default_factory=FaultGuard)
    # Asks before a turn that costs too much
    costs: CostGuard = field(default_factory=CostGuard)

    def new_message(
        self, role: Role, content: str, parent: str | None = None, **fields: object
    ) -> ZkChatMessage:
        """A message with a new id and the current time."""
        values = {
            "id": self.new_id(),
            "parent_id": parent,
            "role": role,
            "content": content,
            "timestamp": self.now(),
        }
        return ZkChatMessage.model_validate({**values, **fields})


@dataclass(frozen=True)
class Runtime:
    """What one turn works with; see the module.

    The composition root provides `open_model`, `open_agent` and `list_models`.
    """

    model: Model
    tools: tuple[Tool, ...]
    strategy: Strategy
    settings: Config
    counter: TokenCounter
    open_model: Callable[[str], OpenedModel]
    open_agent: "Callable[[str | None, Mapping[str, object]], Runtime]"
    options: Options = field(default_factory=Options)
    instructions: str = INSTRUCTIONS
    agent: Agent | None = None
    # Who searches the notes in the turn of this runtime
    retrieval: Retrieval | None = None
    # The model that `context.summary_model` names
    summarizer: Model | None = None
    # The window that the user set; without one, the model's own window applies, or
    # `context.max_tokens` while that is unknown
    configured_window: Window | None = None
    # A window learned when the server refused a prompt as too long
    rejected_window: Window | None = None
    # Settings changed since the program started, by key. They take precedence over an agent's
    # settings.
    overrides: Mapping[str, object] = field(default_factory=dict)
    list_models: Callable[[], tuple[AvailableModels, ...]] = tuple

    @property
    def window(self) -> Window:
        """The context window in use, and its source."""
        known = (
            self.configured_window
            or self.model.window
            or Window(self.settings.context.max_tokens, self._default_source)
        )
        if self.rejected_window is None:
            return known
        return min(known, self.rejected_window, key=lambda window: window.tokens)

    @property
    def _default_source(self) -> str:
        # The offline provider is no model with a window that could be known
        return "default" if self.model.searches_itself else DEFAULT_WINDOW

    @property
    def budget(self) -> Budget:
        """The budget: the shares of the window."""
        return Budget.from_settings(self.settings.context, *self.window)

    @property
    def largest_summary(self) -> int:
        """Tokens that a summary may take."""
        return int(self.settings.context.summary_ratio * self.budget.effective_limit)

    @property
    def compacts_when_due(self) -> bool:
        """Whether a compaction that is due runs by itself, with the next message."""
        return self.strategy.summarizes and self.settings.context.auto_summarize

    @property
    def tool_descriptors(self) -> tuple[dict[str, Any], ...]:
        """The tools as the model gets them."""
        if self.model.knows_tools:
            return tuple(tool.short_descriptor for tool in self.tools)
        return tuple(tool.descriptor for tool in self.tools)

    @property
    def takes_external(self) -> bool:
        """Whether tools of other programs may join `tools`."""
        return self.model.only_tools is None and (self.agent is None or self.agent.tools is None)

    @property
    def price(self) -> Price | None:
        """What the model's tokens cost, as far as known."""
        return find_price(self.settings.llm.prices, self.model)

    @property
    def summary_price(self) -> Price | None:
        """What the tokens of the model that writes summaries cost, as far as known."""
        return find_price(self.settings.llm.prices, self.summary_model)

    @property
    def summary_model(self) -> Model:
        """The model that writes summaries."""
        return self.summarizer or self.model

    @property
    def speaker_label(self) -> str:
        """The name shown before an answer: the model, after the agent if there is one."""
        if self.agent is None:
            return self.model.name
        return f"{self.agent.name} · {self.model.name}"

    def with_agent(self, name: str | None) -> "Runtime":
        """The runtime with another agent; None or "none" means no agent.

        Overridden settings stay. Raises ConfigError and ProviderError.
        """
        opened = self.open_agent(None if name == NO_AGENT else name, self.overrides)
        return replace(opened, counter=self.counter, overrides=self.overrides).learn_from(self)

    def with_model(self, name: str) -> "Runtime":
        """The runtime with another model. Raises ConfigError and ProviderError."""
        model, tools = self.open_model(name)
        return replace(
            self,
            model=model,
            tools=tools,
            rejected_window=None,
            overrides={**self.overrides, "model": name},
        )

    def with_retrieval(self, retrieval: Retrieval) -> "Runtime":
        """The runtime of a turn with this retrieval.

        A model that does not search itself gets neither tools nor instructions about them.
        """
        if retrieval.mode in ("tools", "both"):
            return replace(self, retrieval=retrieval)
        instructions = self.instructions.replace(INSTRUCTIONS, INSTRUCTIONS_WITHOUT_TOOLS)
        return replace(self, retrieval=retrieval, tools=(), instructions=instructions)

    def with_instructions(self, more: str) -> "Runtime":
        """The runtime of a turn with `more` instructions after its own; the same for none."""
        if not more:
            return self
        return replace(self, instructions=f"{self.instructions}\n\n{more}".strip())

    def with_setting(self, key: str, value: str) -> "Runtime":
        """The runtime with a setting overridden for this session; the files stay unchanged.

        Raises ConfigError, UsageError and ProviderError.
        """
        settings = loader.with_value(self.settings, key, value, OVERRIDE_ORIGIN)
        checked = loader.flatten(settings)[key]
        if key in SETTINGS_READ_AT_START or not key.startswith(CHANGEABLE_SETTINGS):
            raise UsageError(
                f"{key} is read when zkchat starts",
                f"To change it from the next start on: zkchat config set {key} {value}",
            )
        return replace(
            self._with_value(key, checked),
            settings=settings,
            options=model_options(settings),
            overrides={**self.overrides, key: checked},
        )

    def _with_value(self, key: str, checked: Any) -> "Runtime":
        """The runtime with everything that depends on this setting made anew."""
        match key:
            case "model":
                return self.with_model(checked)
            case "context.strategy":
                names = strategies.names()
                if checked not in names:
                    hint = f"Strategies: {', '.join(names)}"
                    raise ConfigError(f"unknown strategy {checked}", hint)
                return replace(self, strategy=strategies.strategy(checked))
            case "context.max_tokens":
                window = Window(checked, f"{key}, {OVERRIDE_ORIGIN}")
                return replace(self, configured_window=window)
            case "context.summary_model":
                summarizer = self.open_model(checked).model if checked else None
                return replace(self, summarizer=summarizer)
            case _:
                return self

    def learn_from(self, used: "Runtime") -> "Runtime":
        """This runtime with what a turn has learned about the same model: its token counts and its
        window.
        """
        if used.model.name != self.model.name:
            return self
        return replace(self, counter=used.counter, rejected_window=used.rejected_window)

    def calibrated(self, calibration: Calibration) -> "Runtime":
        """The runtime with this calibration, which is rounded so that every process counts alike.

        Returns the same runtime if that changes nothing.
        """
        counter = self.counter
        exact = self.model.exact
        if counter.problem is not None:
            # A calibration is of counts, and these are estimates by characters
            calibration = Calibration()
        text = _round_factor(calibration.text, exact=exact)
        tools = _round_factor(calibration.tool_factor, exact=exact)
        counts_so = text == counter.factor and tools == counter.tool_factor
        image_rule = self.model.image_rule
        counts_so = counts_so and image_rule == counter.image_rule
        if counts_so and exact == counter.exact:
            return self
        rounded = Calibration(text=text, tools=tools)
        calibrated = counter.calibrated(rounded, exact=exact, image_rule=image_rule)
        return replace(self, counter=calibrated)


def _round_factor(factor: float, *, exact: bool) -> float:
    """A factor rounded to a step.

    It is rounded up if the tokenizer is not the model's own, so that no count is too small.
    """
    steps = round(factor * FACTOR_STEPS, 6)
    return (round(steps) if exact else math.ceil(steps)) / FACTOR_STEPS


def model_options(settings: Config) -> Options:
    """The options of a model call that the settings determine."""
    llm = settings.llm
    temperature = llm.temperature if llm.temperature >= 0 else None
    return Options(
        llm.max_output_tokens or None,
        temperature,
        llm.reasoning_effort or None,
        llm.max_answer_bytes,
    )


def prepare_model(model: Model, seconds: float | None = None) -> None:
    """Wait until the model is loaded and its window is known, at most `seconds`.

    Separate from the call, so that the user can interrupt the wait.
    """
    thread = threading.Thread(target=model.prepare, name="prepare model", daemon=True)
    thread.start()
    if seconds is not None:
        thread.join(seconds)
        return
    while thread.is_alive():
        raise_if_stopped()
        thread.join(STOP_INTERVAL)
