"""/tokens: how many tokens a text is; alone, how many this conversation has taken."""

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.slash.base import CommandResult, SlashCommand


def _run(session: ZkChatSession, argument: str) -> CommandResult:
    counter = session.counter
    if argument:
        count = counter.count(argument)
        counted = f"{'~' if counter.estimated else ''}{count} token{'' if count == 1 else 's'}"
        return CommandResult(f"{counted}, {len(argument)} character{'' if len(argument) == 1 else 's'}")
    usage = session.usage
    mark = "~" if usage.estimated else ""
    costs = [message.usage for message in session.history if message.usage is not None]
    lines = [f"The next prompt has {mark}{usage.total_tokens} tokens before your message; {usage.effective_limit} fit."]
    if costs:
        sent, came = sum(cost.prompt_tokens for cost in costs), sum(cost.completion_tokens for cost in costs)
        about = "~" if any(cost.estimated for cost in costs) else ""
        lines.append(f"Its {len(costs)} answer{'' if len(costs) == 1 else 's'} took {about}{sent} tokens sent and {about}{came} received.")
    return CommandResult("\n".join(lines))


COMMAND = SlashCommand("tokens", "how many tokens a text is; alone: what this conversation took", _run, "[text]")
