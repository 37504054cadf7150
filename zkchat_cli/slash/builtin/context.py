"""Shows the tokens of the next prompt."""

from collections.abc import Sequence

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.slash.base import CommandResult, Topic, declare_command
from zkchat_cli.views.added_documents import added_note_lines
from zkchat_cli.views.conversation_cost import measure_cost
from zkchat_cli.views.summary_cost import note_summaries_text
from zkchat_cli.views.text import StyledLine
from zkchat_cli.views.token_usage import WIDTH, usage_lines


def context(session: ZkChatSession, _: str) -> CommandResult:
    """Show tokens per component against the budgets, and how to reduce them.

    They are the tokens of the next prompt. /show prints it word for word.
    """
    prompt = session.prompt()
    costs = (measure_cost(session, prompt).line, note_summaries_text(session))
    added = [*added_note_lines(session)]

    def render(width: int = WIDTH) -> Sequence[StyledLine]:
        lines = usage_lines(
            prompt, session.history, width, costs=costs, price=session.runtime.price
        )
        return [*lines, *added]

    return CommandResult(lines=render(), render=render)


COMMAND = declare_command(context, Topic.CONTEXT, order=10, priority=3)
