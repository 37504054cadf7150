"""Searches the notes."""

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.slash.base import Lines, Topic, declare_command
from zkchat_cli.slash.lookups import unready_lines
from zkchat_cli.vault.search.search_watch import SearchWatch
from zkchat_cli.views.sources import excerpt_lines
from zkchat_cli.views.text import styled_line

MAX_RESULTS = 10


def search(session: ZkChatSession, argument: str) -> Lines:
    """Search the notes; results are not sent to the model.

    "phrases", -words, tag:, path: and dates work as in `zkchat vault search`. To ask about a note,
    name it in a message as [[note]].
    """
    session.apply_scan(session.vault.refresh())
    watch = SearchWatch(session.vault.semantic)
    results = session.vault.search(argument, MAX_RESULTS)
    for warning in session.vault.take_warnings():
        yield styled_line(f"! {warning.message}", "yellow")
    yield from excerpt_lines(results, session.vault, argument)
    if not results:
        yield styled_line("Nothing found.")
    yield from unready_lines(watch)


COMMAND = declare_command(search, Topic.SOURCES, order=80, argument="WORDS")
