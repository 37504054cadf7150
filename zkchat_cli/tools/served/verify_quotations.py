"""Verifies the quotations of a text against the notes."""

from datetime import UTC, datetime
from functools import partial
from typing import TypedDict

from zkchat_cli.citations.outdated_quotations import mark_outdated_quotations
from zkchat_cli.citations.verify_text import verify_text
from zkchat_cli.tools.served_tool import Document, ServedVault, Text, declare_served_tool


class VerifiedText(TypedDict):
    quotations: list[Document]
    ok: bool


def verify_quotations(served: ServedVault, text: Text) -> VerifiedText:
    """Verify the quotations of a text, such as your answer or a draft, against the notes, to the
    letter.

    `verified`: a note says this. `misquoted`: the words are others, `nearest` has them. `cut`: the
    quotation ends where its sentence says something else, `nearest` has the sentence. `not_found`:
    no note says anything like this. `misattributed`: another note than the named says this,
    `found_in` has the place. The source of a quotation is the note that is linked or named
    with it. `ok` means that all are verified. `outdated`: why that note should be trusted less.
    """
    vault = served.vault
    verified = verify_text(text, vault)
    found = mark_outdated_quotations(
        verified, None, vault.reader.read_if_there, partial(datetime.now, UTC)
    )
    return {
        "quotations": [each.document() for each in found],
        "ok": all(each.found.verdict == "verified" for each in found),
    }


TOOL = declare_served_tool(verify_quotations, order=30)
