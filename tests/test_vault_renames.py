"""Renaming a note: every link of the vault leads where it led, and is written as its author writes links."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from zkchat_cli.vault import markdown, rewriting
from zkchat_cli.vault.namesakes import Namesakes
from zkchat_cli.vault.rewriting import Move
from zkchat_cli.vault.verbatim import Verbatim
from zkchat_cli.vault.wikilinks import Name, key, stem

NAMES = ("A", "a", "B b", "C (1)", "50%", "Ü")
FOLDERS = ("", "F/", "F/G/", "H i/")
ALIASES = ("A", "Also", "B b")


def names_of(notes: dict[str, str]) -> dict[str, list[Name]]:
    """The table that an index of these notes has, with every name that anything may be called by."""
    table: dict[str, list[Name]] = {}
    for path, text in notes.items():
        table.setdefault(key(path), []).append(Name(path, "note", stem(path)))
        for alias in markdown.parse(path, text).aliases:
            table.setdefault(key(alias), []).append(Name(path, "alias", alias))
    return table


def targets(notes: dict[str, str]) -> dict[str, list[str | None]]:
    """Where each link of each note leads."""
    resolve = Namesakes(names_of(notes)).resolve
    return {path: [resolve(link, path).target for link in markdown.parse(path, text).markup.links] for path, text in notes.items()}


paths = st.builds(lambda folder, name: f"{folder}{name}.md", st.sampled_from(FOLDERS), st.sampled_from(NAMES))
spelled = st.builds(
    lambda start, folder, name, end: f"{start}{folder}{name}{end}",
    st.sampled_from(("", "", "", "./", "../", "/")),
    st.sampled_from(("", "", "F/", "G/", "F/G/", "H i/")),
    st.sampled_from((*NAMES, "Also")),
    st.sampled_from(("", "", ".md")),
)
encoded = spelled.map(
    lambda text: text.replace("%", "%25").replace(" ", "%20").replace("(", "%28").replace(")", "%29").replace("Ü", "%C3%9C")
)
written = st.one_of(
    st.builds(
        "[[{}{}{}]]".format, spelled, st.sampled_from(("", "#One", "# One#Two", "#^id")), st.sampled_from(("", "|shown", "\\|in a table"))
    ),
    st.builds("![[ {} ]]".format, spelled),
    st.builds("[shown]({}{})".format, encoded, st.sampled_from(("", "#One", '#One "title"'))),
    st.builds("![shown](<{}>)".format, spelled),
    st.builds("[shown][{0}]\n\n[{0}]: {1}\n".format, st.sampled_from("xy"), encoded),
    st.builds("`[[{0}]]` [[{0}]]".format, spelled),
)
bodies = st.builds(
    lambda alias, front, links: (f"---\naliases: [{alias}]\nup: '[[{front}]]'\n---\n" if front else "") + "Text. ".join(links),
    st.sampled_from(ALIASES),
    st.one_of(st.just(""), spelled),
    st.lists(written, max_size=4),
)


@pytest.mark.untraced
@settings(deadline=None, max_examples=300, suppress_health_check=list(HealthCheck))
@given(st.dictionaries(paths, bodies, min_size=1, max_size=6), st.data())
def test_after_a_rename_every_link_leads_where_it_led(notes: dict[str, str], data: st.DataObject) -> None:
    move = Move(data.draw(st.sampled_from(sorted(notes))), data.draw(paths.filter(lambda path: path not in notes)))
    before, after = Namesakes(names_of(notes)), Namesakes(rewriting.moved_names(names_of(notes), move))
    renamed: dict[str, str] = {}
    for path, text in notes.items():
        note = markdown.parse(path, text)
        found = rewriting.rewritten(path, note, before, after, move)
        assert not found.lost
        verbatim = Verbatim.of(text.encode())
        renamed[move(path)] = verbatim.edited(found.edits).decode()
        assert rewriting.holds(path, note, renamed[move(path)], before, after, move)
    now = targets(renamed)
    for path, led in targets(notes).items():
        assert [move(each) if each else None for each in led] == [
            there if was or there != move.new else None for was, there in zip(led, now[move(path)], strict=True)
        ], (move, notes, renamed)
