"""`zkchat verify`: the quotations of any text, looked up in the notes."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from conftest import Program, write_notes
from factories import open_vault

from zkchat_cli.citations.verify_text import TextQuotation, verify_text
from zkchat_cli.vault.vault import Vault

NOTES = {
    "House.md": "---\ndescription: All about the old house\n---\n# House\n"
    "The house was painted red in 1950 and cost 14,200 euros.\n\n"
    "The ice is not safe to walk on. Use `limit 10` here.\n",
    "Garden/Heat pump.md": (
        "# Heat pump\n\nThe pump needs 2.4 kW at −5 °C.\n\n## Care\n\nClean the filter twice a "
        "year.\n"
    ),
    "中文.md": "# 過濾\n\n過濾器決定你想看到哪些任務。\n",
    "How to write slowly.md": "# Slow writing\n\nWrite less, and write it twice.\n",
}
RED = "The house was painted red in 1950"
PUMP = "The pump needs 2.4 kW at −5 °C"


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Vault]:
    folder = tmp_path_factory.mktemp("verify")
    with closing(open_vault(write_notes(folder / "notes", NOTES), folder / "cache")) as vault:
        yield vault


def places(verified: list[TextQuotation]) -> list[str]:
    """`verdict path:line` of each quotation."""
    found = [each.found for each in verified]
    return [
        f"{f.verdict} {f.chunk.relative_path}:{f.start_line}" if f.chunk else f.verdict
        for f in found
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"They say “{RED}”.", "verified House.md:5"),
        (f"> {RED} and cost 14,200 euros.\n> — Anna, 1951", "verified House.md:5"),
        (
            f"'{PUMP}' and 「過濾器決定你想看到哪些任務」",
            "verified Garden/Heat pump.md:3|verified 中文.md:3",
        ),
        ("“All about the old house”", "verified House.md:2"),
        ("“The <b>house</b> was painted red”", "verified House.md:5"),
        ("“The house was painted blue in 1950”", "misquoted House.md:5"),
        ("“the pump needs 2.4 W at −5 °C”", "misquoted Garden/Heat pump.md:3"),
        ("It is “safe to walk on” here.", "cut House.md:7"),
        ("“zebras gallop over wide savannas”", "not_found"),
        (
            f"“{RED}” [[House]], “{PUMP}” (Heat pump.md:3)",
            "verified House.md:5|verified Garden/Heat pump.md:3",
        ),
        (f"“{RED}” [[Heat pump]].", "misattributed House.md:5"),
        (f"“{RED}” ([see](Garden/Heat%20pump.md#care)).", "misattributed House.md:5"),
        ("See [[House#'a heading of some words' here|House]].", ""),
        (f"“{RED}”. More is in [[Heat pump]].", "verified House.md:5"),
        (f"“{RED}” [[No such note]].", "misattributed House.md:5"),
        (f"“{RED}” (Statutes.md:3).", "misattributed House.md:5"),
        (f"“{RED}” [[No such note]][[House]].", "verified House.md:5"),
        (f"“{RED}”. See also [[No such note]].", "verified House.md:5"),
        ("“zebras gallop” [[No such note]].", "not_found"),
        ("“cost 14,200 euros … was painted red”", "misquoted House.md:5"),
        ("“how are you?” and “this is not it at all”", ""),
        ("“limit 10” [[House]], the “so-called house”", "verified House.md:7"),
        ("“limit 11” [[House]]", "misquoted House.md:7"),
        (
            "a “so-called house”, `“code is never quoted”` <img alt='a red house in the "
            'sun\'> [x](y.md "a title of some words")',
            "",
        ),
        (
            "---\ntitle: “no words of the text at all”\n---\n<!-- “not what a reader can see” -->",
            "",
        ),
        ("as “How to write slowly” says", ""),
        ("“zebras gallop over wide savannas” (https://example.com/zebras).", "not_found"),
        (
            "“The house was painted blue in 1950” [[House]] (https://example.com)",
            "misquoted House.md:5",
        ),
        (f"“{RED}”[^none] [{'1' * 5000}]\n\n[^z]: A page", "verified House.md:5"),
    ],
)
def test_quotations_are_found_with_and_without_a_named_source(
    text: str, expected: str, house: Vault
) -> None:
    assert "|".join(places(verify_text(text, house))) == expected


@pytest.mark.parametrize(
    "sources",
    [
        "## Sources\n\n1. [[House]]\n2. [[Heat pump]]",
        "Sources:\n[1] House, 1951\n[2] [Heat pump](Garden/Heat%20pump.md), p. 3",
        "[1]: House.md:5\n[2]: Garden/Heat pump.md:3",
        "[^1]: See [[House]].\n[^2]: [[Heat pump]]",
        "Sources\n  [1] ✓ [[House]]   House.md:5\n  [2] ✗ [[Heat pump]] › Care   "
        "Garden/Heat pump.md:7",
    ],
)
def test_numbers_mean_what_the_list_at_the_end_says(sources: str, house: Vault) -> None:
    mark = "[^{}]" if "^" in sources else "[{}]"
    text = f"He wrote “{RED}” {mark.format(1)}, and “{RED}” {mark.format(2)}.\n\n{sources}\n"
    assert places(verify_text(text, house)) == ["verified House.md:5", "misattributed House.md:5"]


def test_a_quotation_in_a_footnote_is_verified(house: Vault) -> None:
    assert places(
        verify_text("As they say.[^1]\n\n[^1]: “The house was painted blue” [[House]]", house)
    ) == ["misquoted House.md:5"]


def test_the_document_has_the_nearest_wording_or_the_whole_sentence(house: Vault) -> None:
    misquoted, cut = verify_text("“The house was painted blue in 1950”, “safe to walk on”", house)
    assert misquoted.document() == {
        "quote": "The house was painted blue in 1950",
        "verdict": "misquoted",
        "relative_path": "House.md",
        "heading": "House",
        "start_line": 5,
        "end_line": 5,
        "nearest": "The house was painted red in 1950",
        "found_in": None,
        "missing_note": None,
        "outdated": None,
        "remarks": [],
    }
    assert cut.document()["nearest"] == "The ice is not safe to walk on."


def test_the_command_fails_if_a_quotation_does_not_hold(zkchat: Program) -> None:
    write_notes(zkchat.vault, NOTES)
    draft = zkchat.vault / "Draft.md"
    draft.write_text(
        f"“{RED}” [[House]]. “The house was painted blue in 1950”. “safe to walk on” "
        f"“{PUMP}” [[House]]",
        encoding="utf-8",
    )
    done = zkchat("verify", draft, "--json")
    assert done.exit_status == 1
    assert [each["verdict"] for each in done.json["quotations"]] == [
        "verified",
        "misquoted",
        "cut",
        "misattributed",
    ]
    assert done.json["quotations"][3]["found_in"] == "Garden/Heat pump.md:3"
    assert done.json["ok"] is False
    shown = zkchat("verify", "-", stdin=draft.read_text(encoding="utf-8")).out
    assert "✓ verified       “The house was painted red in 1950”" in shown
    assert "House.md:5" in shown
    assert "the note says: The house was painted [-blue-] {+red+} in 1950" in shown
    assert "the note says: The ice is not safe to walk on." in shown
    assert "the words are not in House.md, but in this note" in shown
    assert shown.endswith("4 quotations: 1 verified, 1 cut, 1 misattributed, 1 misquoted\n")


def test_the_command_says_that_a_named_note_does_not_exist(zkchat: Program) -> None:
    write_notes(zkchat.vault, NOTES)
    done = zkchat("verify", "-", stdin=f"“{RED}” [[Statutes]]")
    assert done.exit_status == 1
    assert "no note Statutes; the words are in House.md:5" in done.out


def test_few_words_without_a_source_are_checked_only_strictly(zkchat: Program) -> None:
    write_notes(zkchat.vault, NOTES)
    text = "She asked: “do zebras gallop quickly?”"
    assert zkchat("verify", "-", stdin=text).exit_status == 0
    strict = zkchat("verify", "-", "--strict", "--json", stdin=text)
    assert (strict.exit_status, strict.json["quotations"][0]["verdict"]) == (1, "not_found")


def test_the_command_succeeds_if_all_quotations_hold(zkchat: Program, tmp_path: Path) -> None:
    write_notes(zkchat.vault, NOTES)
    done = zkchat("verify", "-", "--json", stdin=f"“{RED}”")
    assert (done.exit_status, done.json["ok"], len(done.json["quotations"])) == (0, True, 1)
    shown = zkchat("verify", "-", stdin="“The house House.md was painted blue in 1950”").out
    assert "the note says: The house was painted [-blue-] {+red+} in 1950" in shown
    assert "no quotations" in zkchat("verify", "-", stdin="Nothing.").err
    missing = zkchat("verify", tmp_path / "missing.md")
    assert (missing.exit_status, "cannot read" in missing.err) == (2, True)
