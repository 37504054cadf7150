"""/model: show the model; PROVIDER/NAME switches to another.

The conversation stays and is sent to the new model. This lasts until the chat ends; `zkchat config set model PROVIDER/NAME` makes it
permanent.
"""

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.llm import providers
from zkchat_cli.slash import base
from zkchat_cli.slash.base import SlashCommand


def _model(session: ZkChatSession, argument: str) -> str:
    if argument:
        session.use_model(_full_name(session, argument))
        session.prepare()
        keep = f"For this chat; `zkchat config set model {session.runtime.model.name}` makes it permanent."
        model = session.runtime.model
        problem = model.check()
        warning = f"\n{problem.message}\n{problem.hint}" if problem else ""
        return f"Switched to {base.model_text(session.runtime)}{warning}\n{keep}"
    offers = session.list_models()
    lines = [f"  {name}" for offer in offers for name in offer.names]
    lines += [f"  {offer.provider}: {offer.problem}" for offer in offers if offer.problem]
    available = ["Available:", *lines] if lines else []
    with_server = [name for name in providers.names() if providers.provider(name).open_remote is not None]
    hint = f"/model PROVIDER/NAME switches to another; providers: {', '.join(with_server)}."
    return "\n".join([base.model_text(session.runtime), *available, hint])


def _full_name(session: ZkChatSession, argument: str) -> str:
    """The one available model with this name, if the provider was left out; else the argument."""
    matches = [] if "/" in argument else [name for name in _model_names(session) if argument == name.partition("/")[2]]
    return matches[0] if len(matches) == 1 else argument


def _model_names(session: ZkChatSession) -> list[str]:
    return [name for offer in session.list_models() for name in offer.names]


COMMAND = SlashCommand(_model, "[PROVIDER/NAME]", _model_names)
