"""/context: what the next prompt would be made of, in tokens."""

from zkchat_cli.context import figures
from zkchat_cli.session import ZkChatSession
from zkchat_cli.slash import Outcome, SlashCommand


def _run(session: ZkChatSession, argument: str) -> Outcome:  # noqa: ARG001  every command has this shape
    prompt = session.prompt()
    pinned = figures.pinned(session.history)

    def fitted(width: int) -> str:
        return figures.table(prompt, width, pinned, filtered=session.parts.settings.context.tool_filter == "auto")

    return Outcome(fitted(figures.WIDTH), fitted)


COMMAND = SlashCommand("context", "tokens per component against their budgets, and what to do about the largest", _run)
