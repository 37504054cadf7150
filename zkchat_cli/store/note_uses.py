"""Which notes a message uses: the rows of the table `mention`."""

from typing import NamedTuple

from zkchat_cli.models.messages import ZkChatMessage
from zkchat_cli.text.words import replace_surrogates

_KINDS = {"direct": "named", "search": "found"}


class NoteUse(NamedTuple):
    """How a message uses a note: how often it cites it, and how many of the citations held."""

    relative_path: str
    how: str
    number: int
    citations: int = 0
    held: int = 0


def note_uses(message: ZkChatMessage) -> list[NoteUse]:
    """The notes that a question or answer references and cites, one row for each way and number."""
    if message.role not in ("user", "assistant"):
        return []
    uses: dict[tuple[str, str, int], NoteUse] = {}
    for reference in message.references:
        if reference.relative_path is not None:
            how = _KINDS.get(reference.reference_type, reference.reference_type)
            path = replace_surrogates(reference.relative_path)
            use = NoteUse(path, how, reference.number or 0)
            uses.setdefault((use.relative_path, use.how, use.number), use)
    for citation in message.citations:
        if citation.relative_path is not None:
            path = replace_surrogates(citation.relative_path)
            key = (path, "cited", citation.number or 0)
            known = uses.get(key, NoteUse(*key))
            uses[key] = known._replace(
                citations=known.citations + 1, held=known.held + citation.valid
            )
    return [*uses.values()]
