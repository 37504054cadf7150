"""/remember: keep a fact beyond this conversation; a newer one of the same key replaces the older."""

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.slash.base import CommandResult, SlashCommand


def _run(session: ZkChatSession, argument: str) -> CommandResult:
    kept = session.memory.remember(argument)
    said = f"Remembered as {kept.fact.key}: {kept.fact.content}"
    if kept.replaced is not None and kept.replaced.content != kept.fact.content:
        said += f"\nIt replaces what you said on {kept.replaced.created_at[:10]}: {kept.replaced.content}"
    return CommandResult(said)


COMMAND = SlashCommand(
    "remember",
    "keep a fact for later conversations; `NAME: VALUE` replaces what NAME was",
    _run,
    "TEXT",
    more="It is sent when a message has to do with it; /memory shows what is remembered, /forget KEY deletes it.",
)
