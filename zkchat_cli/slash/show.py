"""/show: word for word what the next message would send, as `zkchat context show` prints it."""

from zkchat_cli.context import showing
from zkchat_cli.session import ZkChatSession
from zkchat_cli.slash import Outcome, SlashCommand


def _run(session: ZkChatSession, argument: str) -> Outcome:
    return Outcome(showing.text(session.prompt(argument or None)), paged=True)


COMMAND = SlashCommand(
    "show",
    "the exact prompt, word for word",
    _run,
    "[message]",
    more="With a message: the prompt with that as your next one. /context has its figures.",
)
