"""/model: which model answers, how large its window is and who says so; `/model PROVIDER/NAME` goes on with another."""

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.llm import providers
from zkchat_cli.slash.base import CommandResult, SlashCommand


def _run(session: ZkChatSession, argument: str) -> CommandResult:
    if argument:
        session.use_model(_meant(session, argument))
        session.prepare()
        return CommandResult(f"From here on: {_described(session)}")
    offers = session.list_models()
    lines = [f"  {name}" for offer in offers for name in offer.names]
    lines += [f"  {offer.provider}: {offer.problem}" for offer in offers if offer.problem]
    there = ["There is:", *lines] if lines else []
    served = [name for name in providers.names() if providers.provider(name).server_info is not None]
    return CommandResult(
        "\n".join([_described(session), *there, f"/model PROVIDER/NAME goes on with another; providers: {', '.join(served)}."])
    )


def _meant(session: ZkChatSession, argument: str) -> str:
    """The model that is offered by this name without its provider; else the argument as it is."""
    offered = _names(session) if "/" not in argument else []
    same = [name for name in offered if argument == name.partition("/")[2]]
    return same[0] if len(same) == 1 else argument


def _described(session: ZkChatSession) -> str:
    window = session.window
    return f"{session.model.name}, a window of {window.tokens} tokens ({window.source})"


def _names(session: ZkChatSession) -> list[str]:
    return [name for offer in session.list_models() for name in offer.names]


COMMAND = SlashCommand(
    "model",
    "which model answers; PROVIDER/NAME goes on with another",
    _run,
    "[PROVIDER/NAME]",
    _names,
    more="What was said stays, and is sent to the new model. Only for this chat; `zkchat config set model PROVIDER/NAME` keeps it.",
)
