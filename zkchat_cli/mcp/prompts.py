"""The prompts, which clients show as commands: `/ask-notes` and `/verify-draft`."""

from typing import Annotated

from pydantic import Field

from zkchat_cli.mcp.note_address import NOTE_SCHEME, find_address, find_lines
from zkchat_cli.text.fences import fence
from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.tools.served.read_note import read_note
from zkchat_cli.tools.served_tool import ServedVault
from zkchat_cli.vault.links.wikilinks import NOTE_SUFFIXES

ASK_NOTES = (
    "Answer this question from my notes: {question}\n\n"
    "Search them with search_notes, more than once if necessary, and read what you need with "
    "read_note. Cite each statement as path:line. Quote exactly, and check your answer with "
    "verify_quotations before you show it. If my notes do not say it, say so."
)
VERIFY_DRAFT = (
    "Check the quotations of this draft with verify_quotations. List each one that is not "
    "verified with its note, its lines and the nearest wording, and propose the correction. "
    "Then name statements without a source for which search_notes finds one."
)
# Characters of a line that may name a note
LONGEST_NAME = 1_000
_NOT_IN_A_NAME = lazy_pattern(r"[\n\"“”„«»]")
"""What makes a text a draft: a second line, or a quotation."""


def ask_notes(
    question: Annotated[str, Field(description="What to answer from the notes.")],
) -> str:
    """The prompt that answers a question from the notes."""
    return ASK_NOTES.format(question=question)


def verify_draft(served: ServedVault, draft: str) -> str:
    """The prompt that has the quotations of a draft verified. A draft that is only the path of a
    note, a [[link]] or an address stands for the text of that note. Raises VaultError if there is
    no such note.
    """
    named = draft.strip()
    if not _names_note(named):
        return f"{VERIFY_DRAFT}\n\n{fence('draft', draft)}"
    if named.startswith(NOTE_SCHEME):
        address = find_address(served.vault, named)
        first, last = find_lines(served.vault, address) or (None, None)
        note = read_note(served, address.path, first, last)
    else:
        note = read_note(served, named)
    parts = [VERIFY_DRAFT, fence("draft", note["text"], path=note["relative_path"])]
    if note["more"]:
        parts.append(f"This is the beginning of {note['relative_path']}. {note['more']}")
    return "\n\n".join(parts)


def _names_note(text: str) -> bool:
    """Whether a text can be nothing but the name of a note."""
    if len(text) > LONGEST_NAME or _NOT_IN_A_NAME.search(text):
        return False
    is_link = text.startswith("[[") and text.find("]]") == len(text) - 2
    return is_link or text.startswith(NOTE_SCHEME) or text.lower().endswith(NOTE_SUFFIXES)
