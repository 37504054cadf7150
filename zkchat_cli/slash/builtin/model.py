"""Shows the model, or switches to another."""

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.llm import providers
from zkchat_cli.slash.base import Topic, declare_command
from zkchat_cli.slash.lookups import model_text


def model(session: ZkChatSession, argument: str) -> str:
    """Show the model; PROVIDER/NAME switches to another.

    The conversation stays and is sent to the new model. This lasts until the chat ends; `zkchat
    config set model PROVIDER/NAME` makes it permanent.
    """
    return _switch(session, argument) if argument else _offers(session)


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
    matches = [each for each in _model_names(session) if name == each.partition("/")[2]]
    return matches[0] if len(matches) == 1 else name


def _offers(session: ZkChatSession) -> str:
    lines = [model_text(session.runtime), "Available:"]
    offers = session.runtimes.list_models()
    for offer in offers:
        lines += [f"  {name}" for name in offer.names]
    lines += [f"  {offer.provider}: {offer.problem}" for offer in offers if offer.problem]
    with_server = [
        name for name in providers.names() if providers.provider(name).open_remote is not None
    ]
    lines.append(f"/model PROVIDER/NAME switches to another; providers: {', '.join(with_server)}.")
    return "\n".join(lines)


def _model_names(session: ZkChatSession) -> list[str]:
    return [name for offer in session.runtimes.list_models() for name in offer.names]


COMMAND = declare_command(
    model, Topic.SETTINGS, order=10, argument="[PROVIDER/NAME]", values=_model_names
)
