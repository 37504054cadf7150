"""Requests for what happened with something, in the order of its days, in five languages."""

from pathlib import Path

import pytest
from conftest import write_notes
from factories import AppFixture, answer_to, report_of

VAULT = {
    "Attic.md": (
        "---\nstarted: 2026-01-15\ncreated: 2026-01-10\n---\n# Attic\n\nIt becomes a bedroom.\n\n"
        "## 2026-02-01\nMeasured the beams.\n\nBought a saw.\n"
    ),
    "2026-05-03.md": "- the attic leaks\n- ran 5 km\n",
    "2026-05-20.md": "# Day\n\n- Attic:\n  - the roofer came\n  - paid him\n",
    "Work.md": "| day | what |\n|---|---|\n| 2025-11-02 | attic: first idea |\n",
    "Someday.md": "An attic is nice.\n",
}


def test_dated_lines_are_told_in_their_order_with_their_sources(app: AppFixture) -> None:
    assert answer_to(app, "timeline of the attic") == (
        "7 dated entries about attic, in 4 notes:\n\n"
        "- Work: “2025-11-02 | attic: first idea” [1]\n"
        "- 2026-01-10. Attic: “It becomes a bedroom.” [2]\n"
        "- Attic: “started: 2026-01-15” [3]\n"
        "- 2026-02-01. Attic: “Measured the beams.” [4]\n"
        "- 2026-05-03: “the attic leaks” [5]\n"
        "- 2026-05-20: “the roofer came” [6]\n"
        "- 2026-05-20: “paid him” [7]\n"
    )


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("history of the attic", "7 dated entries about attic, in 4 notes:"),
        ("attic over time", "7 dated entries about attic"),
        ("how has the attic project developed?", "7 dated entries about attic"),
        ("Zeitleiste zu Attic", "7 datierte Einträge zu Attic, in 4 Notizen:"),
        ("wie hat sich Attic entwickelt?", "7 datierte Einträge zu Attic"),
        ("comment Attic a évolué ?", "7 entrées datées sur Attic, dans 4 notes :"),
        ("línea de tiempo de Attic", "7 entradas con fecha sobre Attic, en 4 notas:"),
        ("¿cómo ha evolucionado Attic?", "7 entradas con fecha sobre Attic"),
        ("linha do tempo de Attic", "7 entradas datadas sobre Attic, em 4 notas:"),
        ("como evoluiu o Attic?", "7 entradas datadas sobre Attic"),
        ("timeline of the attic in May 2026", "3 dated entries about attic"),
    ],
)
def test_timeline_is_asked_for_in_many_words(app: AppFixture, message: str, said: str) -> None:
    assert answer_to(app, message).startswith(said)


@pytest.mark.parametrize("message", ["history of Rome", "timeline of the saw", "git history"])
def test_history_without_dated_lines_is_looked_up(app: AppFixture, message: str) -> None:
    report = report_of(app.session().send(message))
    assert "dated entries" not in report.answer


def test_long_timeline_goes_on_when_more_is_asked_for(app: AppFixture, vault: Path) -> None:
    write_notes(vault, {f"2024-03-{day:02}.md": "- sketched the attic\n" for day in range(1, 9)})
    session = app.session()
    first = report_of(session.send("timeline of the attic")).answer
    assert first.startswith("15 dated entries")
    assert "and 5 more: ask for “more”" in first
    assert "the roofer came" in report_of(session.send("more")).answer
