"""Resolving links to one of many files with the same name: correct and fast."""

import time

from hypothesis import given, settings
from hypothesis import strategies as st

from zkchat_cli.vault.links.resolver import BulkLinkResolver, Name, resolve
from zkchat_cli.vault.links.wikilinks import WrittenLink, key, stem

PATHS = [
    "a.md",
    "A.md",
    "x/a.md",
    "x/a.markdown",
    "X/A.md",
    "y/x/a.md",
    "y/a.md",
    "y/b/a",
    "a",
    "\u00e9/a.md",
    "e\u0301/a.md",
    "x/y/x/a.md",
]
TARGETS = [
    "a",
    "A",
    "a.md",
    "x/a",
    "X/a.md",
    "/a",
    "/x/a",
    "./a",
    "../a",
    "../x/a",
    "./x/a",
    "../../a",
    "y/x/a",
    "x//a",
    "",
    "a.markdown",
    "e\u0301/a",
]


def table(names: list[Name]) -> dict[str, list[Name]]:
    found: dict[str, list[Name]] = {}
    for name in names:
        found.setdefault(key(name.spelled) if name.kind == "alias" else key(name.path), []).append(name)
    return found


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.sampled_from(PATHS), unique=True, max_size=8),
    st.lists(st.tuples(st.sampled_from(["a", "x/a", "A"]), st.sampled_from(["other.md", "x/other.md"])), max_size=2),
    st.lists(st.tuples(st.sampled_from(TARGETS), st.sampled_from(["wikilink", "markdown"]), st.sampled_from(["n.md", *PATHS])), max_size=8),
)
def test_a_link_resolves_as_in_the_simple_resolver(paths, aliases, links):
    files = [Name(path, "note" if "." in path else "file", stem(path)) for path in paths]
    names = table([*files, *(Name(path, "alias", alias) for alias, path in aliases)])
    namesakes = BulkLinkResolver(names, few=0)
    for text, kind, source in links:
        link = WrittenLink(text, kind, text, None, None, False)
        expected = resolve(link, source, lambda k: names.get(k, ()))
        found = namesakes.resolve(link, source)
        assert (found.target, found.status, found.via) == (expected.target, expected.status, expected.via)


def test_a_thousand_notes_of_one_name_resolve_fast():
    names = table([Name(f"folder {n}/index.md", "note", "index") for n in range(1000)])
    namesakes = BulkLinkResolver(names)
    begin = time.process_time()
    for n in range(1000):
        for text, winner in (("index", n), ("folder 7/index", 7), (f"folder {n}/index", n), ("../folder 8/index", 8)):
            link = WrittenLink("", "wikilink", text, None, None, False)
            assert namesakes.resolve(link, f"folder {n}/note.md").target == f"folder {winner}/index.md"
    assert time.process_time() - begin < 2
