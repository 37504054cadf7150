"""/forget: delete a remembered fact.

The beginning of a key will do, and then zkchat asks first. /memory lists the keys.
"""

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.memory.facts import slugify
from zkchat_cli.slash.base import CommandResult, YesNoQuestion, slash_command


@slash_command("KEY", lambda session: session.memory.fact_keys())
def run(session: ZkChatSession, argument: str) -> CommandResult:
    fact = session.memory.find_fact(argument)

    def forget() -> CommandResult:
        session.memory.forget(fact.key)
        return CommandResult(f"Forgotten: {fact.content} ({fact.key})")

    if fact.key in (argument, slugify(argument)):
        return forget()
    return CommandResult(question=YesNoQuestion(f"Forget {fact.key} ({fact.content})?", forget, f"/forget {fact.key}"))
