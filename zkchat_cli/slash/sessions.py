"""/sessions: the conversations with these notes, to go on with one; `/sessions WORDS` those in which the words were said."""

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.slash import base
from zkchat_cli.slash.base import CommandResult, SlashCommand
from zkchat_cli.views import conversation_list
from zkchat_cli.views.text import styled_line

MOST = 200
MOST_FOUND = 50
"""Messages that are looked at for the words."""
MOST_SHOWN = 20


def _run(session: ZkChatSession, argument: str) -> CommandResult:
    store, vault = session.store, str(session.vault.root)
    if not argument:
        known = store.overviews(vault, MOST)
        lines = conversation_list.listed(known, session.conversation.id)
        return CommandResult(lines=lines or [styled_line(conversation_list.NONE)], pick=base.to_resume(session, known))
    by_id = {each.id: each for each in store.overviews(vault)}
    titled = conversation_list.titled(by_id.values(), argument)
    said = conversation_list.spoken(store.search(vault, argument, limit=MOST_FOUND), MOST_SHOWN)
    found = dict.fromkeys([*(each.id for each in titled), *(each.conversation_id for each in said)])
    lines = [*conversation_list.listed(titled, mark=False), *conversation_list.found(said, argument)]
    pick = base.to_resume(session, [by_id[id_] for id_ in found if id_ in by_id])
    return CommandResult(lines=lines or [styled_line("No conversation has these words.")], pick=pick)


COMMAND = SlashCommand(
    "sessions",
    "the conversations with these notes, to go on with one",
    _run,
    "[words]",
    more="With words: those whose title has them or in which they were said. Type a number or words to pick one, Esc to stay.",
)
