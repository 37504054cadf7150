"""A note of embeds is the texts that it embeds: in prompts, summaries and answers."""

from pathlib import Path

import pytest
from conftest import Program

from zkchat_cli.references.document_summaries import DocumentSummaryService
from zkchat_cli.vault.embeds import MOST_OF_ONE, embedded_chunks, has_only_embeds
from zkchat_cli.vault.vault import Vault

DAY = "# Day\n\n![[Combining#Nesting]]\n\n![[Compost]] ![[gone]] ![[photo.png]]\n"


def test_embedded_sections_and_notes_are_parts_of_their_own(notes: Vault, vault: Path) -> None:
    (vault / "Day.md").write_text(DAY)
    (vault / "Compost pile.md").write_text("![[Day]]\n" + "\n# Heap\n\n" + "word " * 300)
    (vault / "Month.md").write_text("![[Compost pile]]")
    notes.refresh()
    parts = embedded_chunks(notes, notes.reader.chunks("Day.md"))
    assert [(part.relative_path, part.start_line, part.title) for part in parts] == [
        ("Queries/Combining.md", 6, "Combining, embedded in Day"),
        ("Garden/Compost.md", 1, "Compost, embedded in Day"),
    ]
    assert parts[0].text.startswith("## Nesting")
    # An embed in what is embedded is not followed
    deep = embedded_chunks(notes, notes.reader.chunks("Month.md"))
    assert {part.relative_path for part in deep} == {"Compost pile.md"}
    assert len(deep) <= MOST_OF_ONE
    assert (
        DocumentSummaryService(notes).summary("Day.md")
        == "You can nest brackets as deep as you like."
    )


def test_a_note_of_embeds_is_sent_and_quoted_as_what_it_embeds(
    zkchat: Program, vault: Path
) -> None:
    (vault / "Day.md").write_text(DAY)
    messages = zkchat("context", "show", "--next", "What is in [[Day]]?", "--json").json["messages"]
    sent = "\n".join(message["content"] for message in messages)
    assert "as deep as you like" in sent
    assert "nine months" in sent
    assert "embedded in Day" in sent
    answer = zkchat("ask", "What does my note Day say about brackets?", "--no-store", "--json").json
    assert "nest brackets as deep as you like" in answer["answer"]
    assert answer["citations"][0]["relative_path"] == "Queries/Combining.md"


@pytest.mark.parametrize(
    ("text", "only"),
    [("# A\n![[b]]\n![c](d.md)", True), ("see ![[b]]", False), ("[[b]]", False), ("# A", False)],
)
def test_headings_are_no_text_beside_embeds(text: str, only: bool) -> None:
    assert has_only_embeds(text) is only
