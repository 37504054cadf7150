"""A Logseq journal: its marks are no answers, and links to its pages and days have targets."""

from pathlib import Path

import pytest
from notes_folder import NotesFolder

from zkchat_cli.llm.offline.passages import quotable_passages
from zkchat_cli.text.program_marks import hide_program_marks
from zkchat_cli.vault.note_parser import parse_note

ID = "6554f1a2-1111-4222-8333-abcdefabcdef"
JOURNAL = f"""- ## Work
\t- TODO Call the landlord about the heating
\t  id:: {ID}
\t- Met [[Priya Shah]] to plan the fair.
\t  collapsed:: true
\t\t- She wants the stage near the oak.
- DOING Draft the poster
  :LOGBOOK:
  CLOCK: [2026-11-18 Wed 09:00:12]--[2026-11-18 Wed 10:15:30] =>  01:15:18
  :END:
- (({ID})) still open
- {{{{query (and (task TODO) [[Fair]])}}}}
- ### Bands
\t- The Larks
\t  id:: {ID}
\t- Owl Parade
- #+BEGIN_QUOTE
  Plant a tree today.
  #+END_QUOTE
"""


def test_what_only_a_program_reads_is_hidden_line_by_line() -> None:
    shown = hide_program_marks(JOURNAL)
    assert shown.count("\n") == JOURNAL.count("\n")
    for mark in (ID, "::", "LOGBOOK", "CLOCK", ":END:", "query", "BEGIN"):
        assert mark not in shown
    assert "… still open" in shown


@pytest.mark.parametrize(
    "text", ["id:: 5", "author:: [[Jane Austen]]", "{{title}}", "f((x))", "collapsed:: never"]
)
def test_fields_and_templates_of_people_stay(text: str) -> None:
    assert hide_program_marks(text) == text


def test_blocks_of_an_outline_are_quoted_as_text_below_their_headings() -> None:
    passages = quotable_passages(hide_program_marks(JOURNAL))
    assert "code" not in {each.kind for each in passages}
    texts = [each.text for each in passages]
    assert "TODO Call the landlord about the heating" in texts
    assert not any(text.startswith("#") for text in texts)
    owls = next(each for each in passages if each.text == "Owl Parade")
    assert owls.headings[-1] == "Bands"


def test_links_to_days_and_namespaces_have_targets(tmp_path: Path) -> None:
    notes = NotesFolder(tmp_path)
    notes.write("journals/2026_11_16.md", JOURNAL)
    notes.write("journals/2026_11_24.md", "- Confirmed on [[Nov 16th, 2026]], see [[Work/Fair]]")
    notes.write("pages/Work___Fair.md", "- In May")
    notes.vault.refresh()
    assert notes.vault.graph.broken_links()[0].row.raw == "[[Priya Shah]]"
    for link, target in {
        "[[Nov 16th, 2026]]": "journals/2026_11_16.md",
        "[[nov 24th, 2026]]": "journals/2026_11_24.md",
        "[[Work/Fair]]": "pages/Work___Fair.md",
    }.items():
        resolved = notes.vault.resolve(link)
        assert (resolved.target, resolved.via) == (target, "title")
    assert [row.line for row in notes.vault.graph.backlinks("journals/2026_11_16.md")] == [1]
    assert notes.found("heating on:2026-11-16") == ["journals/2026_11_16.md"]
    notes.write("logseq/config.edn", '{:journal/page-title-format "EEEE, dd.MM.yyyy"}')
    other = notes.another()
    assert other.resolve("[[Monday, 16.11.2026]]").target == "journals/2026_11_16.md"
    other.close()
    notes.vault.close()


def test_the_first_lines_of_a_page_are_its_properties(tmp_path: Path) -> None:
    text = (
        "title:: Sourdough bread\nalias:: levain, [[pain au levain]]\n"
        "tags:: [[recipe]], #slow, [[to bake]]\n\n- Feed it\n  tags:: none\n"
    )
    page = parse_note("pages/sd.md", text)
    assert page.title == "Sourdough bread"
    assert page.aliases == ("levain", "pain au levain")
    assert page.tags == ("recipe", "slow")
    notes = NotesFolder(tmp_path)
    notes.write("pages/sd.md", text)
    notes.vault.refresh()
    assert notes.vault.resolve("[[pain au levain]]").target == "pages/sd.md"
    assert notes.found("tag:recipe") == ["pages/sd.md"]
    notes.vault.close()


def test_the_date_of_a_task_is_quoted_with_it() -> None:
    [task] = quotable_passages("- TODO Rebuild the picker\n  SCHEDULED: <2026-03-16 Mon>\n")
    assert task.text == "TODO Rebuild the picker SCHEDULED: <2026-03-16 Mon>"
