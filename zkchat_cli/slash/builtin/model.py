"""Shows the model, or switches to another."""

from collections.abc import Sequence

from zkchat_cli.chat.runtime import AvailableModels
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.llm import providers
from zkchat_cli.slash.base import ChoiceOption, CommandResult, ListQuestion, Topic, declare_command
from zkchat_cli.slash.lookups import model_text
from zkchat_cli.views.text import styled_line


def model(session: ZkChatSession, argument: str) -> CommandResult | str:
    """Show the models, to choose one; PROVIDER/NAME switches to it.

    The conversation stays and is sent to the new model. This lasts until the chat ends; `zkchat
    config set model PROVIDER/NAME` makes it permanent.
    """
    if argument:
        return _switch(session, argument)
    offers = session.runtimes.list_models()
    current = session.runtime.model.name
    options = [
        ChoiceOption(name, name, "current" if name == current else "")
        for offer in offers
        for name in offer.names
    ]
    note = [styled_line(model_text(session.runtime)), *map(styled_line, _problems(offers))]
    choice = ListQuestion(
        f"Model (current: {current})",
        options,
        lambda name: CommandResult(_switch(session, name)),
        note,
    )
    return CommandResult(_describe(session, offers), choice=choice if options else None)


def _switch(session: ZkChatSession, name: str) -> str:
    session.runtimes.use_model(_full_name(session, name))
    session.runtimes.prepare()
    runtime = session.runtime
    lines = [f"Switched to {model_text(runtime)}"]
    problem = runtime.model.check()
    if problem:
        lines += [problem.message, problem.hint]
    lines.append(
        f"For this chat; `zkchat config set model {runtime.model.name}` makes it permanent."
    )
    return "\n".join(lines)


def _full_name(session: ZkChatSession, name: str) -> str:
    """The name with its provider, which may be left out if only one has the model."""
    if "/" in name:
        return name
    matches: list[str] = []
    for full_name in _model_names(session):
        _provider, _slash, model_name = full_name.partition("/")
        if model_name == name:
            matches.append(full_name)
    return matches[0] if len(matches) == 1 else name


def _describe(session: ZkChatSession, offers: Sequence[AvailableModels]) -> str:
    lines = [model_text(session.runtime), "Available:"]
    for offer in offers:
        lines += [f"  {name}" for name in offer.names]
    lines += _problems(offers)
    with_server: list[str] = []
    for name in providers.names():
        provider = providers.provider(name)
        if provider.open_remote is not None:
            with_server.append(name)
    lines.append(f"/model PROVIDER/NAME switches to another; providers: {', '.join(with_server)}.")
    return "\n".join(lines)


def _problems(offers: Sequence[AvailableModels]) -> list[str]:
    """Why the models of some providers are not known, a line each."""
    return [f"  {offer.provider}: {offer.problem}" for offer in offers if offer.problem]


def _model_names(session: ZkChatSession) -> list[str]:
    names: list[str] = []
    for offer in session.runtimes.list_models():
        names += offer.names
    return names


COMMAND = declare_command(
    model, Topic.SETTINGS, order=10, argument="[PROVIDER/NAME]", values=_model_names
)
