"""/context: what the next prompt would be made of, in tokens."""

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.slash.base import CommandResult, SlashCommand
from zkchat_cli.views import context_usage


def _run(session: ZkChatSession, argument: str) -> CommandResult:  # noqa: ARG001  every command has this shape
    prompt = session.prompt()
    pinned = context_usage.pinned(session.history)

    def fitted(width: int) -> str:
        return context_usage.table(prompt, width, pinned, filtered=session.settings.context.tool_filter == "auto")

    return CommandResult(fitted(context_usage.WIDTH), fitted)


COMMAND = SlashCommand("context", "tokens per component against their budgets, and what to do about the largest", _run)
