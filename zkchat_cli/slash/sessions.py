"""/sessions: list the conversations of this vault and resume one; `/sessions WORDS` lists those that contain the words."""

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.slash import base
from zkchat_cli.slash.base import CommandResult, SlashCommand
from zkchat_cli.views import conversation_list
from zkchat_cli.views.text import styled_line

MAX_LISTED = 200
MAX_FOUND = 50
"""Messages that the search returns; those of tools are then left out."""
MAX_SHOWN = 20


def _run(session: ZkChatSession, argument: str) -> CommandResult:
    store, vault = session.store, str(session.vault.root)
    if not argument:
        known = store.overviews(vault, MAX_LISTED)
        lines = conversation_list.conversation_lines(known, session.conversation.id)
        return CommandResult(lines=lines or [styled_line(conversation_list.NONE)], pick=base.conversation_picker(session, known))
    by_id = {each.id: each for each in store.overviews(vault)}
    by_title = conversation_list.filter_by_title(by_id.values(), argument)
    messages = conversation_list.without_tool_results(store.search(vault, argument, limit=MAX_FOUND), MAX_SHOWN)
    found = dict.fromkeys([*(each.id for each in by_title), *(each.conversation_id for each in messages)])
    lines = [*conversation_list.conversation_lines(by_title, mark=False), *conversation_list.search_result_lines(messages, argument)]
    pick = base.conversation_picker(session, [by_id[id_] for id_ in found if id_ in by_id])
    return CommandResult(lines=lines or [styled_line("No conversation contains these words.")], pick=pick)


COMMAND = SlashCommand(
    "sessions",
    "list conversations and resume one; words filter them",
    _run,
    "[words]",
    details="Words are searched in titles and messages. Type a number or words to pick a conversation, Esc to stay in this one.",
)
