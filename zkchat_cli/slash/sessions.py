"""/sessions: the conversations with these notes, to go on with one; `/sessions WORDS` those in which the words were said."""

from zkchat_cli import conversations, slash
from zkchat_cli.lines import line
from zkchat_cli.session import ZkChatSession
from zkchat_cli.slash import Outcome, SlashCommand

MOST = 200
MOST_FOUND = 50
"""Messages that are looked at for the words."""
MOST_SHOWN = 20


def _run(session: ZkChatSession, argument: str) -> Outcome:
    store, vault = session.parts.store, str(session.parts.vault.root)
    if not argument:
        known = store.overviews(vault, MOST)
        lines = conversations.listed(known, session.conversation.id)
        return Outcome(lines=lines or [line(conversations.NONE)], pick=slash.to_resume(session, known))
    by_id = {each.id: each for each in store.overviews(vault)}
    titled = conversations.titled(by_id.values(), argument)
    said = conversations.spoken(store.search(vault, argument, limit=MOST_FOUND), MOST_SHOWN)
    found = dict.fromkeys([*(each.id for each in titled), *(each.conversation_id for each in said)])
    lines = [*conversations.listed(titled, mark=False), *conversations.found(said, argument)]
    pick = slash.to_resume(session, [by_id[id_] for id_ in found if id_ in by_id])
    return Outcome(lines=lines or [line("No conversation has these words.")], pick=pick)


COMMAND = SlashCommand(
    "sessions",
    "the conversations with these notes, to go on with one",
    _run,
    "[words]",
    more="With words: those whose title has them or in which they were said. Type a number or words to pick one, Esc to stay.",
)
