"""/model: show the model; PROVIDER/NAME switches to another.

The conversation stays and is sent to the new model. This lasts until the chat ends; `zkchat config set model PROVIDER/NAME` makes it
permanent.
"""

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.llm import providers
from zkchat_cli.slash.base import model_text, slash_command


def _model_names(session: ZkChatSession) -> list[str]:
    return [name for offer in session.list_models() for name in offer.names]


@slash_command("[PROVIDER/NAME]", _model_names)
def run(session: ZkChatSession, argument: str) -> str:
    if argument:
        known = [] if "/" in argument else [name for name in _model_names(session) if argument == name.partition("/")[2]]
        session.use_model(known[0] if len(known) == 1 else argument)  # the provider may be left out
        session.prepare()
        model = session.runtime.model
        problem = model.check()
        warning = f"\n{problem.message}\n{problem.hint}" if problem else ""
        keep = f"For this chat; `zkchat config set model {model.name}` makes it permanent."
        return f"Switched to {model_text(session.runtime)}{warning}\n{keep}"
    offers = session.list_models()
    lines = [f"  {name}" for offer in offers for name in offer.names]
    lines += [f"  {offer.provider}: {offer.problem}" for offer in offers if offer.problem]
    available = ["Available:", *lines] if lines else []
    with_server = [name for name in providers.names() if providers.provider(name).open_remote is not None]
    hint = f"/model PROVIDER/NAME switches to another; providers: {', '.join(with_server)}."
    return "\n".join([model_text(session.runtime), *available, hint])
