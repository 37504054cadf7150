"""/search: search the notes; results are not sent to the model.

"phrases", -words, tag:, path: and dates work as in `zkchat vault search`. To ask about a note, name it in a message as [[note]].
"""

from collections.abc import Iterator

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.slash.base import CommandResult, SlashCommand
from zkchat_cli.views.text import StyledLine, StyledSpan, styled_line

MAX_RESULTS = 10


def _search(session: ZkChatSession, argument: str) -> CommandResult:
    session.apply_scan(session.vault.refresh())
    results = list(_result_lines(session, argument))
    warnings = [styled_line(f"! {each.message}", "yellow") for each in session.vault.take_warnings()]
    return CommandResult(lines=[*warnings, *(results or [styled_line("Nothing found.")])])


def _result_lines(session: ZkChatSession, query: str) -> Iterator[StyledLine]:
    vault = session.vault
    for number, chunk in enumerate(vault.search(query, MAX_RESULTS), 1):
        heading, snippet = vault.snippet(chunk, query)
        where = f"{chunk.title} › {heading}" if heading and heading != chunk.title else chunk.title
        place = StyledSpan(f"{chunk.relative_path}:{snippet.line}", "dim", chunk.relative_path)
        yield StyledLine((StyledSpan(f"{number:>2}  "), StyledSpan(where, "bold")), (place,))
        yield styled_line(f"    {snippet.text}")


COMMAND = SlashCommand(_search, "WORDS")
