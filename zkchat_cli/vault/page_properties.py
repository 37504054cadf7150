"""What the first lines of an outliner's page say of it, as Logseq writes them: `title::`, `alias::`
and `tags::`. They mean the same as those names in front matter.
"""

from collections.abc import Mapping

from zkchat_cli.text.patterns import lazy_pattern

# Further lines of a page are not its properties
_MOST_LINES = 40
_PROPERTY = lazy_pattern(r"[ \t]*(?:[-*+][ \t]+)?(?P<name>[\w-]+)::[ \t]*(?P<value>.*?)[ \t\r]*")
_VALUE = lazy_pattern(r"\[\[(?P<page>[^\[\]]+)\]\]|(?P<text>[^,]*[^,\s])")


def page_properties(body: str) -> Mapping[str, tuple[str, ...]]:
    """The values of each property above the first other line, without the brackets of links and the
    marks of tags, by its folded name.
    """
    found: dict[str, tuple[str, ...]] = {}
    if "::" not in body:
        return found
    for line in body.split("\n", _MOST_LINES)[:_MOST_LINES]:
        if not line.strip():
            continue
        match = _PROPERTY.fullmatch(line)
        if match is None:
            break
        found[match["name"].casefold()] = _values_of(match["value"])
    return found


def _values_of(written: str) -> tuple[str, ...]:
    values = (match["page"] or match["text"] for match in _VALUE.finditer(written))
    return tuple(value.strip().lstrip("#").strip("[]") for value in values)
