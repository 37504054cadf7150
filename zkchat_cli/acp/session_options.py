"""What an editor can choose for a session: model, agent, strategy, and commands."""

from collections.abc import Callable, Iterable, Mapping

from zkchat_cli import slash
from zkchat_cli.acp.connection import Json
from zkchat_cli.agents.loader import NO_AGENT
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.context import strategies
from zkchat_cli.text.sanitize import sanitize_name

# Most models to choose from
MAX_MODELS = 200
# The options of a session
MODEL = "model"
AGENT = "agent"
STRATEGY = "strategy"


def session_modes(session: ZkChatSession) -> Json:
    """The agents that can answer, as modes of the session: for editors that know no options."""
    names = agent_names(session)
    return {
        "currentModeId": current_agent(session),
        "availableModes": [{"id": id_, "name": name} for id_, name in names.items()],
    }


def current_agent(session: ZkChatSession) -> str:
    """The name of the agent that answers."""
    agent = session.runtime.agent
    return agent.name if agent is not None else NO_AGENT


def agent_names(session: ZkChatSession) -> dict[str, str]:
    """The agents that can answer, with the names to show."""
    return {NO_AGENT: "No agent", **{name: name for name in session.agent_names()}}


def config_options(session: ZkChatSession, models: Iterable[str]) -> list[Json]:
    """What the user can choose for a session, and the values in use; `models` are those known to be
    there.
    """
    runtime = session.runtime
    model = runtime.model.name
    names = dict.fromkeys((model, *sorted(models)))
    return [
        {
            **_choice(MODEL, "Model", model, [_value(name) for name in [*names][:MAX_MODELS]]),
            "category": "model",
        },
        {
            **_choice(
                AGENT,
                "Agent",
                current_agent(session),
                [_value(id_, name) for id_, name in agent_names(session).items()],
            ),
            "category": "mode",
            "description": "Who answers: with its own instructions, tools and model",
        },
        {
            **_choice(
                STRATEGY,
                "Context",
                runtime.strategy.name,
                [_described_strategy(name) for name in strategies.names()],
            ),
            "description": "What is sent when the window is full",
        },
    ]


def _choice(id_: str, name: str, current: str, values: list[Json]) -> Json:
    return {
        "id": id_,
        "name": name,
        "type": "select",
        "currentValue": current,
        "options": values,
    }


def _value(value: str, name: str = "") -> Json:
    return {"value": value, "name": sanitize_name(name or value)}


def _described_strategy(name: str) -> Json:
    return {**_value(name), "description": strategies.strategy(name).help}


def config_update(options: list[Json]) -> Json:
    """The options of a session after a change."""
    return {"sessionUpdate": "config_option_update", "configOptions": options}


def mode_update(session: ZkChatSession) -> Json:
    """The agent after a change."""
    return {"sessionUpdate": "current_mode_update", "currentModeId": current_agent(session)}


def available_commands() -> Json:
    """The slash commands that make sense in an editor."""
    commands: list[Json] = []
    for command in slash.commands():
        if command.in_editors:
            described: Json = {"name": command.name, "description": command.help}
            hint = command.argument.strip("[]")
            if hint:
                described["input"] = {"hint": hint}
            commands.append(described)
    return {"sessionUpdate": "available_commands_update", "availableCommands": commands}


def use_model(session: ZkChatSession, name: str) -> None:
    """Switch to a model, unless its server says that there is none of this name."""
    problem = session.runtime.with_model(name).model.check()
    if problem is not None and problem.kind == "unknown_model":
        raise problem
    session.runtimes.use_model(name)
    if problem is not None:
        session.memory.notify(problem.message, problem.hint)


OPTION_CHANGES: Mapping[str, Callable[[ZkChatSession, str], object]] = {
    MODEL: use_model,
    AGENT: lambda session, name: session.runtimes.use_agent(name),
    STRATEGY: lambda session, name: session.runtimes.override_setting("context.strategy", name),
}
