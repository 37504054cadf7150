"""Which places of a text cite, and that a text in pieces has the same marks as the whole."""

from hypothesis import example, given, settings
from hypothesis import strategies as st

from zkchat_cli.marks import Mark, MarkReader, marks, pieces, read

AWKWARD = [
    *"[]()^*_`\\:;,.-–0123459 \n\t\r>#|<'\"“”【】［］†¹²³⁻⁺aAsS漢é",
    "[1]",
    "[1, 2]",
    "[1-3]",
    "[^1]",
    "[^1]:",
    "[2]:",
    "[source 1]",
    "[<source 2>]",
    "[**3**]",
    "【1†source】",
    "[[",
    "]]",
    "[[Note#h|a]]",
    "Filters.md",
    ".md:12",
    ".markdown",
    "](",
    "m²",
    "word¹",
    "``",
    "```",
    "~~~",
    "\n\n",
    "\n    ",
    "\n- ",
    "\n1. ",
    "\n> ",
    "\n# ",
    "\n```\n",
]
awkward = st.lists(st.sampled_from(AWKWARD), max_size=40).map("".join)


def streamed(*parts: str) -> list[Mark]:
    reader = MarkReader()
    return [mark for part in parts for mark in reader.feed(part)] + reader.close()


@settings(deadline=None, max_examples=500)
@given(awkward, st.data())
@example("x " + "[1" + ", 1" * 200 + "] y", None)
def test_a_text_in_pieces_has_the_marks_of_the_whole(text: str, data: st.DataObject | None) -> None:
    whole = marks(text)
    assert streamed(*text) == whole
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6))) if data else [7, 300]
    assert streamed(*(text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True))) == whole
    reader = MarkReader(definitions=True)
    found = [mark for character in text for mark in reader.feed(character)] + reader.close()
    assert (tuple(found), tuple(reader.code), reader.closing) == read(text)


@settings(deadline=None, max_examples=500)
@given(awkward)
def test_pieces_put_together_are_the_text(text: str) -> None:
    found = marks(text)
    cut = list(pieces(text, found))
    assert "".join(piece for piece, _ in cut) == text
    assert [mark for _, mark in cut if mark] == found
    assert all(piece for piece, _ in cut)
