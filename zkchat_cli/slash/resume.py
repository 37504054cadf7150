"""/resume: go on with another conversation with these notes, named by its id, or picked from the list."""

from zkchat_cli import conversations, slash
from zkchat_cli.lines import line
from zkchat_cli.models import Overview
from zkchat_cli.session import ZkChatSession
from zkchat_cli.slash import Offer, Outcome, SlashCommand

MOST = 200


def _run(session: ZkChatSession, argument: str) -> Outcome:
    if argument:
        return slash.resumed(session, argument)
    known = [each for each in _known(session) if each.id != session.conversation.id]
    lines = conversations.listed(known) or [line("There is no other conversation with these notes.")]
    return Outcome(lines=lines, pick=slash.to_resume(session, known))


def _known(session: ZkChatSession) -> list[Overview]:
    return session.parts.store.overviews(str(session.parts.vault.root), MOST)


def _ids(session: ZkChatSession) -> list[str]:
    return [Offer(each.id, conversations.name(each)) for each in _known(session) if each.id != session.conversation.id]


COMMAND = SlashCommand("resume", "go on with another conversation", _run, "[ID]", _ids)
