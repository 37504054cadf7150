"""/tokens: count the tokens of a text; without text, of this conversation."""

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.models import sum_usage
from zkchat_cli.slash.base import slash_command
from zkchat_cli.text.numbers import plural
from zkchat_cli.views.text import usage_text


@slash_command("[text]")
def run(session: ZkChatSession, argument: str) -> str:
    counter = session.runtime.counter
    if argument:
        count = counter.count(argument)
        return f"{'~' if counter.estimated else ''}{plural(count, 'token')}, {plural(len(argument), 'character')}"
    usage = session.usage
    mark = "~" if usage.estimated else ""
    text = f"The next prompt uses {mark}{usage.total_tokens:,} of {usage.effective_limit:,} tokens, without your message."
    stored = session.store.compactions(session.conversation.id, undone=True) if session.is_stored else ()
    requested = [each for each in stored if each.requested]
    for paid, one, many in ((session.archive().messages, "answer", "answers"), (requested, "summary", "summaries")):
        if costs := [each.usage for each in paid if each.usage is not None]:
            text += f"\n{plural(len(costs), one, many)}: {usage_text(sum_usage(costs))}."
    return text
