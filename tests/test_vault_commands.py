"""`vault`, `config`, `tokens`, `doctor`: the commands around the conversation."""

import shutil
from pathlib import Path

import pytest
from conftest import Program, write_notes
from test_doctor import checks


def test_index_reports_what_it_found_and_what_changed(zkchat: Program) -> None:
    first = zkchat("vault", "index", "--json").json
    assert (first["notes"], first["added"], first["links"], first["broken_links"]) == (4, 4, 1, 0)
    (zkchat.vault / "Filters.md").unlink()
    (zkchat.vault / "New.md").write_text("[[Nowhere]]\n")
    second = zkchat("vault", "index", "--json").json
    assert (second["notes"], second["added"], second["removed"], second["broken_links"]) == (
        4,
        1,
        1,
        1,
    )


def test_search_finds_the_words_and_shows_the_lines(zkchat: Program) -> None:
    results = zkchat("vault", "search", "nest brackets", "--json").json
    assert results[0]["relative_path"] == "Queries/Combining.md"
    lines = zkchat.vault.joinpath("Queries/Combining.md").read_text().split("\n")
    assert results[0]["text"] == "\n".join(
        lines[results[0]["start_line"] - 1 : results[0]["end_line"]]
    )
    shown = zkchat("vault", "search", "nest brackets").out
    assert (
        "Combining › Nesting   Queries/Combining.md:8\n  You can nest brackets as deep as "
        "you like.\n"
    ) in shown


def test_resolve_says_why_one_of_several_notes_is_meant(zkchat: Program, vault: Path) -> None:
    (vault / "Combining.md").write_text("")
    [link] = zkchat("vault", "resolve", "[[Combining]]", "--json").json
    assert (link["target"], link["candidates"]) == ("Combining.md", ["Queries/Combining.md"])
    assert link["reason"] == "the exact path in the vault"
    shown = zkchat("vault", "resolve", "[[Combining]] [[Filters]]").out
    assert (
        "[[Combining]] → Combining.md, the exact path in the vault (not Queries/Combining.md)"
        in shown
    )
    assert "[[Filters]] → Filters.md\n" in shown


@pytest.mark.parametrize(
    "written", ["Filters", "./Filters.md", "Garden/../Filters", "/Filters.md", "Search conditions"]
)
def test_resolve_takes_the_source_note_by_any_of_its_names(zkchat: Program, written: str) -> None:
    source = str(zkchat.vault) + written if written.startswith("/") else written
    assert (
        zkchat("vault", "resolve", "[[#heading]]", "--from", source).out
        == "[[#heading]] → Filters.md\n"
    )


def test_the_id_of_a_note_resolves_last_and_only_if_it_is_the_only_one(
    zkchat: Program, vault: Path
) -> None:
    names = ("202401051530 Tap", "202401051531 Rim", "202401051531 Lid", "21a3 Sink", "Tub")
    for name in names:
        (vault / f"{name}.md").write_text("---\nid: 77\n---\n" if name == "Tub" else "text")
    text = "[[202401051530]] [[202401051531]] [[21a3#h]] [[77]] [[2024]]"
    links = zkchat("vault", "resolve", text, "--json").json
    assert [(link["target"], link["via"]) for link in links] == [
        ("202401051530 Tap.md", "id"),
        (None, None),
        ("21a3 Sink.md", "id"),
        ("Tub.md", "id"),
        (None, None),
    ]
    (vault / "202401051530.md").write_text("text")
    [link] = zkchat("vault", "resolve", "[[202401051530]]", "--json").json
    assert (link["target"], link["via"]) == ("202401051530.md", None)


def test_resolve_reports_a_missing_source_note(zkchat: Program) -> None:
    done = zkchat("vault", "resolve", "[[./Combining]]", "--from", "Queries/New.md")
    assert (done.out, "there is no note Queries/New.md" in done.err) == (
        "[[./Combining]] → Queries/Combining.md\n",
        True,
    )


@pytest.mark.parametrize("name", ["C#", "[draft]", " lead", "a|b", "note.md"])
def test_a_note_is_named_by_its_path_whatever_that_means_in_a_link(
    zkchat: Program, name: str
) -> None:
    (zkchat.vault / f"{name}.md").write_text("[[Filters]]")
    for written in (f"{name}.md", name, zkchat.vault / f"{name}.md"):
        [link] = zkchat("vault", "links", written, "--json").json
        assert (link["source"], link["target"]) == (f"{name}.md", "Filters.md")


@pytest.mark.parametrize("command", ["links", "backlinks", "resolve [[#Tiles]] --from"])
def test_a_name_of_several_notes_is_answered_with_their_paths(
    zkchat: Program, command: str
) -> None:
    write_notes(zkchat.vault, {"a/Roof.md": "See [[b/Roof]].\n", "b/Roof.md": "Slate.\n"})
    done = zkchat("vault", *command.split(), "Roof")
    assert (done.exit_status, done.err) == (
        3,
        "zkchat: Roof may mean 2 notes\n  Give a path: a/Roof.md, b/Roof.md\n",
    )


def test_a_vault_is_chosen_by_flag_then_environment_then_settings_then_folder(
    zkchat: Program, tmp_path: Path
) -> None:
    for name in ("flag", "environment", "settings"):
        shutil.copytree(zkchat.vault, tmp_path / name)
        (tmp_path / name / f"{name}.md").write_text(name)
    where = lambda *more: checks(zkchat, *more)[1]["vault"]["detail"]  # noqa: E731
    assert where() == str(zkchat.vault)
    zkchat("config", "set", "vault.path", tmp_path / "settings")
    assert where().endswith("settings")
    zkchat.env["ZKCHAT_VAULT"] = str(tmp_path / "environment")
    assert where().endswith("environment")
    assert where("--vault", tmp_path / "flag").endswith("flag")


def test_tokens_are_counted_exactly_and_offline(zkchat: Program) -> None:
    counted = zkchat("tokens", "-", "--json", stdin="zkchat counts tokens <|endoftext|>").json
    assert counted == {"tokens": 11, "encoding": "o200k_base", "estimated": False, "characters": 34}
    assert (
        zkchat("tokens", zkchat.vault / "Garden/Compost.md", "--encoding", "cl100k_base")
        .out.strip()
        .isdigit()
    )


def test_tokens_of_a_missing_file_and_in_an_unknown_encoding_are_refused(zkchat: Program) -> None:
    assert zkchat("tokens", "nowhere.txt").exit_status == 2
    assert "cl100k_base" in zkchat("tokens", "--encoding", "p50k_base", stdin="x").err


def test_without_a_command_it_is_the_chat_and_takes_its_options(zkchat: Program) -> None:
    assert zkchat(stdin="/quit\n").exit_status == 0
    done = zkchat("--model", "offline", stdin="/model\n")
    assert (done.exit_status, "offline" in done.out) == (0, True)


def test_notes_are_listed_by_subject_and_date(zkchat: Program) -> None:
    listed = zkchat("vault", "list", "--about", "filters", "--json").json
    assert listed[0]["relative_path"] == "Filters.md"
    assert set(listed[0]) == {"relative_path", "title", "tags", "date"}
    assert "Garden/Compost.md" in zkchat("vault", "list", "--folder", "Garden").out
    assert "No note matches." in zkchat("vault", "list", "--about", "xylophone").err


def test_comparison_with_what_is_no_number_is_refused(zkchat: Program) -> None:
    refused = zkchat("vault", "list", "--property", "rating: >= high")
    assert refused.exit_status == 2
    assert "cannot compare the property 'rating': 'high' is not a number" in refused.err
