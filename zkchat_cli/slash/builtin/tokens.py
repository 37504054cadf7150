"""Counts tokens."""

from collections.abc import Iterable

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.models.messages import TokenUsage, sum_usage
from zkchat_cli.slash.base import Topic, declare_command
from zkchat_cli.text.numbers import plural
from zkchat_cli.views.conversation_cost import answer_usages, measure_cost, summary_usages
from zkchat_cli.views.text import usage_text


def tokens(session: ZkChatSession, argument: str) -> str:
    """Count the tokens of a text; without text, of this conversation."""
    if argument:
        counter = session.runtime.counter
        mark = "~" if counter.estimated else ""
        count = plural(counter.count(argument), "token")
        return f"{mark}{count}, {plural(len(argument), 'character')}"
    usage = session.usage
    mark = "~" if usage.estimated else ""
    lines = [
        f"The next prompt uses {mark}{usage.total_tokens:,} of {usage.effective_limit:,} tokens, "
        "without your message."
    ]
    lines += _cost_lines("answer", "answers", answer_usages(session))
    lines += _cost_lines("summary", "summaries", summary_usages(session))
    cost = measure_cost(session, session.prompt()).line
    if cost:
        lines.append(cost)
    return "\n".join(lines)


def _cost_lines(one: str, many: str, usages: Iterable[TokenUsage | None]) -> list[str]:
    """The sum of what model calls took, in one line; none without a call that reported it."""
    reported = [usage for usage in usages if usage is not None]
    if not reported:
        return []
    return [f"{plural(len(reported), one, many)}: {usage_text(sum_usage(reported))}."]


COMMAND = declare_command(tokens, Topic.CONTEXT, order=70, argument="[text]")
