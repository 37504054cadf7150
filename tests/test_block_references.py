"""Blocks that a note shows by their ids, in Obsidian and Logseq."""

from pathlib import Path

import pytest
from conftest import Program, write_notes

from zkchat_cli.vault.block_references import referred_blocks
from zkchat_cli.vault.vault import Vault

ID = "64f1c2aa-1111-4222-8333-444455556666"
GONE = "00000000-1111-4222-8333-444455556666"
VAULT = {
    "Pump.md": "# Pump\n\nThe pump needs new seals every two years. ^seals\n\nAnother line.\n",
    "Pool.md": "# Pool\n\nThe filter is cleaned monthly, see ![[Pump#^seals]] for its seals.\n",
    "pages/House.md": "- Repairs\n\t- The boiler was repaired on Tuesday\n\t  priority:: high\n"
    f"\t  id:: {ID}\n\t\t- Miller did it\n\t- The door squeaks\n",
    "journals/2026_11_03.md": f"- Paid the plumber Brown for (({ID}))\n"
    f"- Heating costs this winter\n\t- (({ID}))\n- Nothing about (({GONE})) yet\n",
}


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    return write_notes(tmp_path / "vault", VAULT)


def blocks_of(notes: Vault, path: str) -> list[tuple[str, str]]:
    return [
        (block.title, block.text) for block in referred_blocks(notes, notes.reader.chunks(path))
    ]


def test_blocks_are_parts_of_their_own_with_the_lines_that_show_them(notes: Vault) -> None:
    notes.refresh()
    assert blocks_of(notes, "Pool.md") == [
        ("Pump, shown in Pool:3", "The pump needs new seals every two years. ^seals")
    ]
    [(title, text)] = blocks_of(notes, "journals/2026_11_03.md")
    assert title == "House, shown in 2026_11_03:1, 2026_11_03:3"
    assert "The boiler was repaired on Tuesday" in text
    assert "Miller" not in text


def test_a_block_is_found_where_it_was_moved_to(notes: Vault, vault: Path) -> None:
    notes.refresh()
    assert blocks_of(notes, "journals/2026_11_03.md")
    write_notes(vault, {"pages/House.md": "- Empty\n", "pages/Flat.md": VAULT["pages/House.md"]})
    notes.refresh()
    [(title, _)] = blocks_of(notes, "journals/2026_11_03.md")
    assert title.startswith("Flat, shown in")


@pytest.mark.parametrize(
    ("question", "said"),
    [
        (
            "what did I pay the plumber Brown for?",
            "“Paid the plumber Brown for …” [1] → “The boiler was repaired on Tuesday” [",
        ),
        ("heating costs this winter", "“Heating costs this winter” [1] → “The boiler was repaired"),
        ("how often is the filter cleaned?", "for its seals.” [1] → “The pump needs new seals"),
    ],
)
def test_a_block_is_quoted_and_verified_behind_the_line_that_shows_it(
    zkchat: Program, question: str, said: str
) -> None:
    reply = zkchat("ask", question, "--json").json
    assert said in reply["answer"]
    assert all(citation["valid"] for citation in reply["citations"])
    assert reply["answer"].count("The boiler was repaired") <= 1


def test_a_summary_of_a_note_has_no_blocks_of_others(zkchat: Program) -> None:
    said = zkchat("ask", "summarize [[Pool]]", "--answer-only").out
    assert "every two years" not in said


def test_a_reference_to_a_block_that_is_gone_stays_as_it_is(zkchat: Program) -> None:
    assert "“Nothing about … yet” [" in zkchat("ask", "nothing about what yet?").out
