"""Lists notes related to the last answer."""

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.references.related_notes import find_related
from zkchat_cli.slash.base import Lines, Topic, declare_command
from zkchat_cli.slash.lookups import last_answer, unready_lines
from zkchat_cli.vault.search.search_watch import SearchWatch
from zkchat_cli.views.text import StyledLine, StyledSpan, styled_line


def related(session: ZkChatSession, _: str) -> Lines:
    """List notes related to the last answer that it did not cite, and why.

    They are found by links, words and meaning, and are not sent to the model: name one as [[note]]
    to ask about it.
    """
    watch = SearchWatch(session.vault.semantic)
    found = find_related(session.vault, last_answer(session))
    for note in found:
        path = note.chunk.relative_path
        link = StyledSpan(session.vault.link_to(path), "bold")
        yield StyledLine((link,), (StyledSpan(path, "cyan", path),))
        yield styled_line(f"    {'; '.join(note.why)}", "dim", indent=4)
    if not found:
        yield styled_line("No other note is related to the last answer.")
    yield from unready_lines(watch)


COMMAND = declare_command(related, Topic.SOURCES, order=60)
