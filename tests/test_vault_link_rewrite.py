"""Renaming a note: every link keeps its target, in its author's style."""

import pytest
from factories import takes_less_than
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from zkchat_cli.errors import VaultError
from zkchat_cli.vault import note_parser
from zkchat_cli.vault.edit.link_rewriter import LinkRewriter, Move, relink
from zkchat_cli.vault.links.wikilinks import LinkName, Lookup, bulk_resolver, link_key, note_name

NAMES = ("A", "a", "B b", "C (1)", "50%", "Ü")
FOLDERS = ("", "F/", "F/G/", "H i/")
ALIASES = ("A", "Also", "B b")


def names_of(notes: dict[str, str]) -> Lookup:
    """The names that an index of these notes has."""
    table: dict[str, list[LinkName]] = {}
    for path, text in notes.items():
        table.setdefault(link_key(path), []).append(LinkName(path, "note", note_name(path)))
        for alias in note_parser.parse_note(path, text).aliases:
            table.setdefault(link_key(alias), []).append(LinkName(path, "alias", alias))
    return lambda key: table.get(key, ())


def targets(notes: dict[str, str]) -> dict[str, list[str | None]]:
    """Where each link of each note leads."""
    resolve = bulk_resolver(names_of(notes))
    return {
        path: [
            resolve(link, path).target for link in note_parser.parse_note(path, text).markup.links
        ]
        for path, text in notes.items()
    }


paths = st.builds(
    lambda folder, name: f"{folder}{name}.md", st.sampled_from(FOLDERS), st.sampled_from(NAMES)
)
spelled = st.builds(
    lambda start, folder, name, end: f"{start}{folder}{name}{end}",
    st.sampled_from(("", "", "", "./", "../", "/")),
    st.sampled_from(("", "", "F/", "G/", "F/G/", "H i/")),
    st.sampled_from((*NAMES, "Also")),
    st.sampled_from(("", "", ".md")),
)
encoded = spelled.map(
    lambda text: (
        text.replace("%", "%25")
        .replace(" ", "%20")
        .replace("(", "%28")
        .replace(")", "%29")
        .replace("Ü", "%C3%9C")
    )
)
written = st.one_of(
    st.builds(
        "[[{}{}{}]]".format,
        spelled,
        st.sampled_from(("", "#One", "# One#Two", "#^id")),
        st.sampled_from(("", "|shown", "\\|in a table")),
    ),
    st.builds("![[ {} ]]".format, spelled),
    st.builds("[shown]({}{})".format, encoded, st.sampled_from(("", "#One", '#One "title"'))),
    st.builds("![shown](<{}>)".format, spelled),
    st.builds("`[[{0}]]` [[{0}]]".format, spelled),
)
bodies = st.builds(
    lambda alias, front, links: (
        (f"---\naliases: [{alias}]\nup: '[[{front}]]'\n---\n" if front else "")
        + "Text. ".join(links)
    ),
    st.sampled_from(ALIASES),
    st.one_of(st.just(""), spelled),
    st.lists(written, max_size=4),
)


@settings(suppress_health_check=list(HealthCheck))
@given(st.dictionaries(paths, bodies, min_size=1, max_size=6), st.data())
def test_every_link_keeps_its_target_after_a_rename(
    notes: dict[str, str], data: st.DataObject
) -> None:
    move = Move(
        data.draw(st.sampled_from(sorted(notes))),
        data.draw(paths.filter(lambda path: path not in notes)),
    )
    rewriter = LinkRewriter(names_of(notes), move)
    renamed: dict[str, str] = {}
    for path, text in notes.items():
        renamed[move.apply(path)], _ = rewriter.rewrite(note_parser.parse_note(path, text))
    now = targets(renamed)
    for path, led in targets(notes).items():
        assert all(
            was is None or move.apply(was) == there
            for was, there in zip(led, now[move.apply(path)], strict=True)
        ), (move, notes)


def note(path: str, text: str, notes: dict[str, str], move: Move) -> str:
    """A note's text after a move."""
    return LinkRewriter(names_of(notes), move).rewrite(note_parser.parse_note(path, text))[0]


@pytest.mark.parametrize(
    ("written", "after"),
    [
        ("[[/A]]", "[[/F/Ü b]]"),
        ("[[/A.md|x]]", "[[/F/Ü b.md|x]]"),
        ("[x](/A.md)", "[x](/F/Ü%20b.md)"),
        ("[x](%41.md)", "[x](F/Ü%20b.md)"),
        ("[x](<A.md#a b>)", "[x](<F/Ü b.md#a b>)"),
        ("![x](A)", "![x](F/Ü%20b)"),
        ("[[./A]]", "[[./F/Ü b]]"),
        ("[[./Nowhere]]", "[[./Nowhere]]"),
    ],
)
def test_a_link_is_rewritten_in_its_authors_style(written: str, after: str) -> None:
    assert note("S.md", written, {"S.md": written, "A.md": ""}, Move("A.md", "F/Ü b.md")) == after


def test_a_link_that_no_spelling_can_fix_is_reported() -> None:
    move = Move("A.md", "Nick.md")
    table = {"nick": [LinkName("C.md", "alias", "Nick")], "a": [LinkName("A.md", "note", "A")]}

    def lookup(key: str) -> list[LinkName]:
        return table.get(key, [])

    with pytest.raises(VaultError, match=r"\[\[Nick\]\] in S.md could not keep its target"):
        LinkRewriter(lookup, move).rewrite(note_parser.parse_note("S.md", "[[Nick]]"))
    broken = note_parser.parse_note("S.md", "[[Nik]]")
    assert (
        relink(bulk_resolver(lookup), broken.markup.links[0], broken, "", Move("", "D.md")) is None
    )


def test_a_note_with_tens_of_thousands_of_links_is_rewritten_in_linear_time() -> None:
    notes = {"A.md": "", "List.md": "[[A]] and what else is there to say of it\n" * 30_000}
    with takes_less_than(6):  # what is quadratic takes a minute
        text, links = LinkRewriter(names_of(notes), Move("A.md", "B.md")).rewrite(
            note_parser.parse_note("List.md", notes["List.md"])
        )
    assert (text, links) == (notes["List.md"].replace("[[A]]", "[[B]]"), 30_000)
