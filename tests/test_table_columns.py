"""Tables of one note or of properties, with the columns that a request names, in five languages."""

from pathlib import Path

import pytest
from conftest import write_notes
from factories import AppFixture, answer_to

from zkchat_cli.llm.offline.table_columns import choose_columns

VAULT = {
    "Servers.md": "# Servers\n\nAll of them.\n\n| Day | Check |\n|---|---|\n| 1 | disk |\n\n"
    "| Host | IP address | Disk | Owner | RAM |\n|---|---|---|---|---|\n"
    "| atlas | 10.0.0.2 | 2 TB | Ana | 32 GB |\n| boreas | 10.0.0.3 | 1 TB | Tom | 16 GB |\n",
    "Machines.md": "# Machines\n\n- lathe\n\t- weight: 90 kg\n\t- vendor: Holz\n- saw\n"
    "\t- weight: 30 kg\n\t- vendor: Bosch\n",
    "Cameras.md": "# Cameras\n\n## Door\n\nip:: 10.3.0.1\nvendor:: Axis\n\n## Garage\n\n"
    "ip:: 10.3.0.2\nvendor:: Reolink\n",
    "Routers.md": "# Routers\n\n- lobby: ip 10.2.0.1, 4 ports\n- attic: ip 10.2.0.2, 8 ports\n",
    "Books/Dune.md": "---\nauthor: Frank Herbert\nyear: 1965\n---\n# Dune\n\nA planet. #book\n",
    "Books/Emma.md": "---\nauthor: Jane Austen\nyear: 1815\n---\n# Emma\n\nA comedy. #book\n",
    "Work/Attic.md": "---\npriority: high\n---\n# Attic\n\nDry it.\n",
    "Work/Shed.md": "---\npriority: low\n---\n# Shed\n\nPaint it.\n",
}


@pytest.fixture
def vault(vault: Path) -> Path:
    return write_notes(vault, VAULT)


@pytest.mark.parametrize(
    ("message", "header", "row"),
    [
        ("table of my servers with ip and memory", "Host | IP address | RAM", "10.0.0.2 | 32 GB"),
        ("tableau de [[Servers]] avec ip et mémoire", "Host | IP address | RAM", "| 32 GB"),
        ("Tabelle aus [[Servers]] mit Besitzer", "Host | Owner", "| atlas | Ana"),
        ("tabla de [[Servers]] con ip y memoria", "Host | IP address | RAM", "| 32 GB"),
        ("tabela de [[Servers]] com dono e ip", "Host | Owner | IP address", "| Ana | 10.0.0.2"),
        ("table of my machines with weight", "item | weight |", "| lathe | 90 kg"),
        ("table of cameras", "item | ip | vendor", "| Door | 10.3.0.1 | Axis"),
        ("table of my routers with ports and ip", "item | ports | ip", "| lobby | 4 | 10.2.0.1"),
        ("show all books as a table with years", "note | year", "| 1965 |"),
        ("Prioritäten als Tabelle", "Notiz | priority", "| high |"),
        ("tabla de prioridades", "nota | priority", "| low |"),
    ],
)
def test_named_columns_are_found_in_what_the_notes_have(
    app: AppFixture, message: str, header: str, row: str
) -> None:
    said = answer_to(app, message)
    assert f"| {header}" in said
    assert row in said
    assert "Check" not in said


@pytest.mark.parametrize(
    ("message", "said"),
    [
        (
            "table of my servers with price",
            "Servers has no column price. Its columns: Day, Check, Host, IP address,",
        ),
        ("Tabelle aus [[Machines]] mit Preis", "Machines hat keine Spalte Preis."),
        ("table of books with author and publisher", "None of these notes has a property publis"),
        ("make a table of my unicorns", "No note is about unicorns."),
    ],
)
def test_what_there_is_not_is_told(app: AppFixture, message: str, said: str) -> None:
    assert said in answer_to(app, message)


@pytest.mark.parametrize(
    ("text", "known", "found"),
    [
        ("authors and years", ["author", "year"], ("author", "year")),
        ("Autor und Jahr", ["author", "year"], ("author", "year")),
        ("auteur, les prix", ["Author", "Price"], ("Author", "Price")),
        ("su precio y la fecha", ["date", "price per kg"], ("price per kg", "date")),
        ("memoria e peso", ["RAM", "Weight"], ("RAM", "Weight")),
        ("athor", ["author"], ("author",)),
        ("colour", ["host"], ()),
    ],
)
def test_columns_are_found_by_other_forms_and_in_other_languages(
    text: str, known: list[str], found: tuple[str, ...]
) -> None:
    assert choose_columns(text, known).found == found
