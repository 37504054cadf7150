"""/search: search the notes; results are not sent to the model.

"phrases", -words, tag:, path: and dates work as in `zkchat vault search`. To ask about a note, name it in a message as [[note]].
"""

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.slash.base import Lines, slash_command
from zkchat_cli.views.text import StyledLine, StyledSpan, styled_line

MAX_RESULTS = 10


@slash_command("WORDS")
def run(session: ZkChatSession, argument: str) -> Lines:
    vault = session.vault
    session.apply_scan(vault.refresh())
    results = vault.search(argument, MAX_RESULTS)
    for warning in vault.take_warnings():
        yield styled_line(f"! {warning.message}", "yellow")
    for number, chunk in enumerate(results, 1):
        heading, snippet = vault.snippet(chunk, argument)
        where = f"{chunk.title} › {heading}" if heading and heading != chunk.title else chunk.title
        place = StyledSpan(f"{chunk.relative_path}:{snippet.line}", "dim", chunk.relative_path)
        yield StyledLine((StyledSpan(f"{number:>2}  "), StyledSpan(where, "bold")), (place,))
        yield styled_line(f"    {snippet.text}")
    if not results:
        yield styled_line("Nothing found.")
