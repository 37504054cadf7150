"""What the next turns of a session work with, and the ways to change it: another agent, another
model, a setting, the tools of other programs.
"""

from dataclasses import replace
from typing import Any, NamedTuple

from zkchat_cli import events
from zkchat_cli.chat.runtime import AvailableModels, Runtime, SessionServices, prepare_model
from zkchat_cli.chat.user_input import UserInput
from zkchat_cli.config import loader
from zkchat_cli.errors import UsageError

# Seconds for which a list of the servers' models counts as current
MODEL_LIST_SECONDS = 60.0


class MessageRuntime(NamedTuple):
    """The runtime for one message, the message as that runtime gets it, and what to tell
    the user.
    """

    runtime: Runtime
    user_input: UserInput
    notices: list[events.Event]


class _ListedModels(NamedTuple):
    """The servers' models, and when they were listed."""

    at: float
    models: tuple[AvailableModels, ...]


class RuntimeChoice:
    """The runtime of a session's next turn. It counts as its model is known to count."""

    def __init__(self, services: SessionServices, runtime: Runtime) -> None:
        self._services = services
        self._current = self._calibrated(runtime)
        self._models: _ListedModels | None = None

    @property
    def current(self) -> Runtime:
        """The runtime of the next turn, unless its message mentions an agent."""
        return self._current

    def use_agent(self, name: str | None) -> None:
        """Switch to another agent; None or "none" means no agent.

        Raises ConfigError and ProviderError; then nothing changes.
        """
        self._current = self._calibrated(self._current.with_agent(name))

    def use_model(self, name: str) -> None:
        """Switch to another model.

        Raises ConfigError and ProviderError; then nothing changes.
        """
        self._current = self._calibrated(self._current.with_model(name))

    def override_setting(self, key: str, value: str) -> Any:
        """Change a setting for this session, and return its checked value.

        Raises ConfigError, ProviderError and UsageError.
        """
        self._current = self._calibrated(self._current.with_setting(key, value))
        return loader.flatten(self._current.settings)[key]

    def list_models(self) -> tuple[AvailableModels, ...]:
        """The models that could be used instead. The servers are asked again after a minute."""
        now = self._services.clock()
        listed = self._models
        if listed is None or now - listed.at > MODEL_LIST_SECONDS:
            listed = _ListedModels(now, self._current.list_models())
            self._models = listed
        return listed.models

    def prepare(self, seconds: float | None = None) -> None:
        """Wait until the model is loaded, at most `seconds`, and then count as it counts."""
        prepare_model(self._current.model, seconds)
        self._current = self._calibrated(self._current)

    def refresh_tools(self) -> Runtime:
        """Update the runtime with the external tools that can be called now, and return it."""
        self._current = self._with_external(self._current)
        return self._current

    def for_message(self, user_input: UserInput) -> MessageRuntime:
        """The runtime for a message: that of the agent that it mentions by `@name`, or the
        session's own.

        Raises UsageError.
        """
        mention = user_input.mention
        name = mention[1:].lower() if mention is not None else ""
        if mention is None or name not in self._services.agent_names():
            return MessageRuntime(self._current, user_input._replace(mention=None), [])
        if not user_input.text.partition(mention)[2].strip(" \t\n,:"):
            hint = (
                f"{mention} QUESTION asks it once; --agent {name}, or /agent in the chat, "
                "switches to it."
            )
            raise UsageError(f"there is no question for the agent {name}", hint)
        runtime = self._with_external(self._calibrated(self._current.with_agent(name)))
        notice = events.Notice(f"the agent {name} answers this message")
        return MessageRuntime(runtime, user_input, [notice])

    def learn_from(self, used: Runtime, before: Runtime) -> None:
        """Keep what a turn has learned about the model, unless the runtime `before` it has been
        replaced meanwhile.
        """
        if self._current is before:
            self._current = self._calibrated(before.learn_from(used))

    def _calibrated(self, runtime: Runtime) -> Runtime:
        with self._services.faults.contain("calibration"):
            known = self._services.store.prompts.calibration(runtime.model.name)
            return runtime.calibrated(known)
        return runtime

    def _with_external(self, runtime: Runtime) -> Runtime:
        """The runtime with zkchat's own tools and the external tools that can be called now."""
        external = self._services.external
        if external is None or not runtime.takes_external:
            return runtime
        own = [tool for tool in runtime.tools if tool.scope != "server"]
        with self._services.faults.contain("external tools"):
            return replace(runtime, tools=(*own, *external.tools()))
        return replace(runtime, tools=tuple(own))
