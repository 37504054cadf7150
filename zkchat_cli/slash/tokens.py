"""/tokens: count the tokens of a text; without text, of this conversation."""

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.models import sum_usage
from zkchat_cli.slash import base
from zkchat_cli.slash.base import CommandResult, SlashCommand
from zkchat_cli.text.numbers import plural


def _tokens(session: ZkChatSession, argument: str) -> CommandResult:
    counter = session.runtime.counter
    if argument:
        count = counter.count(argument)
        return CommandResult(f"{'~' if counter.estimated else ''}{plural(count, 'token')}, {plural(len(argument), 'character')}")
    usage = session.usage
    mark = "~" if usage.estimated else ""
    text = f"The next prompt uses {mark}{usage.total_tokens:,} of {usage.effective_limit:,} tokens, without your message."
    costs = [message.usage for message in session.archive().messages if message.usage is not None]
    if costs:
        text += f"\n{plural(len(costs), 'answer')}: {base.cost_text(sum_usage(costs))}"
    return CommandResult(text)


COMMAND = SlashCommand(_tokens, "[text]")
