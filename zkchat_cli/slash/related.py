"""/related: list notes related to the last answer that it did not cite, and why.

They are found by links, words and meaning, and are not sent to the model: name one as [[note]] to ask about it.
"""

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.references.related_notes import find_related
from zkchat_cli.slash.base import Lines, last_answer, slash_command
from zkchat_cli.views.text import StyledLine, StyledSpan, styled_line


@slash_command()
def run(session: ZkChatSession, _: str) -> Lines:
    related = find_related(session.vault, last_answer(session))
    for note in related:
        path = note.chunk.relative_path
        yield StyledLine((StyledSpan(session.vault.link_to(path), "bold"),), (StyledSpan(path, "cyan", path),))
        yield styled_line(f"    {'; '.join(note.why)}", "dim", indent=4)
    if not related:
        yield styled_line("No other note is related to the last answer.")
