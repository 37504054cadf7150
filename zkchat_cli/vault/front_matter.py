"""The front matter of a note: properties in YAML between two lines `---`.

YAML is read as events, because 100,000 brackets end the process in libyaml's loader; only scalars
and flat lists of scalars are used.
"""

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import NamedTuple

from zkchat_cli.markdown.inline import WIKILINK
from zkchat_cli.text.patterns import lazy_pattern

_MAX_DEPTH = 20
# Longer front matter is text
MAX_CHARACTERS = 64 * 1024
_EMPTY_VALUES = ("", "~", "null", "Null", "NULL")
_NO_CONTENT = lazy_pattern(
    r"title|alias(?:es)?|description|summary|tags?|categor(?:y|ies)"
    r"|(?:date )?(?:created|modified|updated|published)(?: at)?|date|day"
    r"|stale_after|u?u?id|permalink|layout|slug|cssclass(?:es)?|lang|banner.*|cover|image|icon"
    r"|comments|draft|publish|position|template"
    r"|(?:sr|dg|kanban|excalidraw)-.*"
)
_NO_VALUE = lazy_pattern(rf"true|false|{WIKILINK}", re.IGNORECASE)

# How a value begins that is not just its text
_BEGINS_YAML = "[]{}'\"&*!|>%@`#"
_UNCLOSED_LIST = lazy_pattern(r"\[(?P<items>[^\[\]{}\n'\"&*!|>%@`:]+)")
_CLOSING = lazy_pattern(r"\n(?:---|\.\.\.)[^\S\n]*+\n")


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """All properties. `lines`: how many lines they take, including the `---` lines; 0 without front
    matter.
    """

    lines: int = 0
    # The values by folded name; they are normalized when they are read, because few ever are
    written: dict[str, list[str]] = field(default_factory=dict)
    problem: str | None = None

    @property
    def has_content(self) -> bool:
        """Whether a property says something: no name, tag, date, description or link of the note,
        and not only for a program.
        """
        # zkchat names the conversation that it saved the note from
        if "conversation" in self.written:
            return False
        for name in self.written:
            if _NO_CONTENT.fullmatch(name):
                continue
            if not all(map(_NO_VALUE.fullmatch, self.texts(name))):
                return True
        return False

    def texts(self, *names: str) -> tuple[str, ...]:
        """The different values of those properties, in that order, without empty ones and with
        single spaces.
        """
        found: dict[str, None] = {}
        for name in names:
            for written in self.written.get(name, ()):
                text = " ".join(written.split())
                if text not in _EMPTY_VALUES:
                    found[text] = None
        return tuple(found)

    def text(self, *names: str) -> str | None:
        """The first value of those properties; None without one."""
        return next(iter(self.texts(*names)), None)


def read_front_matter(text: str) -> FrontMatter:
    """The properties between a first line `---` and the next `---`; none if that is not a YAML
    mapping. A line that is no YAML loses only its own property.
    """
    if not text.startswith("---"):
        return FrontMatter()
    head = f"{text}\n"[:MAX_CHARACTERS]
    begin = head.find("\n")
    closing = _CLOSING.search(head, begin)
    if head[:begin].rstrip() != "---" or not closing:
        return FrontMatter()
    source = head[begin + 1 : closing.start()]
    lines = head.count("\n", begin, closing.start()) + 2
    values, problem = _read_properties(source)
    return FrontMatter(problem=problem) if values is None else FrontMatter(lines, values, problem)


class _Properties(NamedTuple):
    """The properties of front matter; None if it is none. `problem`: what of it is no YAML."""

    values: dict[str, list[str]] | None
    problem: str | None = None


def _read_properties(source: str) -> _Properties:
    """All properties; if that is not YAML as a whole, those that are by themselves."""
    # Deferred: it takes 10 ms, and the budget bar does not need it
    from yaml import YAMLError

    try:
        return _Properties(_parse_yaml(source))
    except (YAMLError, ValueError) as e:
        cause = " ".join(str(getattr(e, "problem", None) or e).split())
        mark = getattr(e, "problem_mark", None)
    found = _read_each(_split_properties(source))
    if found.lost > found.certain:
        return _Properties(None, f"front matter is not valid YAML ({cause}), read as text")
    bad_lines = found.bad_lines
    if not bad_lines and mark:
        bad_lines = [mark.line + 2]
    plural = "s" if len(bad_lines) > 1 else ""
    named = f"line{plural} {', '.join(map(str, bad_lines))}"
    return _Properties(found.values, f"{named} of the front matter: not valid YAML ({cause})")


class _ReadEntries(NamedTuple):
    """The properties of entries, and the lines of those that are no YAML. `certain`: how many are
    certainly properties; `lost`: how many say nothing.
    """

    values: dict[str, list[str]]
    bad_lines: list[int]
    certain: int
    lost: int


def _read_each(entries: Sequence["_Entry"]) -> _ReadEntries:
    from yaml import YAMLError

    read: dict[str, list[str]] = {}
    bad_lines: list[int] = []
    certain = 0
    lost = 0
    for entry in entries:
        values: dict[str, list[str]] | None = None
        with suppress(YAMLError, ValueError):
            values = _parse_yaml(entry.text)
        if values is None:
            bad_lines.append(entry.line)
            values = _read_plain(entry.text)
        read |= {name: texts for name, texts in values.items() if name}
        certain += entry.line not in bad_lines or any(" " not in name for name in values)
        lost += not values
    return _ReadEntries(read, bad_lines, certain, lost)


class _Entry(NamedTuple):
    """A property with the lines that belong to it; `line`: that of its name in the note."""

    text: str
    line: int


def _split_properties(source: str) -> list[_Entry]:
    """The properties of a mapping by their lines: a name at the start of a line begins one, and
    lines that are no part of one are one by themselves.
    """
    entries: list[_Entry] = []
    for number, line in enumerate(source.split("\n"), 2):
        continues = entries and (not line.strip() or line[0] in " \t#-")
        if continues:
            last = entries[-1]
            entries[-1] = _Entry(f"{last.text}\n{line.replace(chr(9), '  ')}", last.line)
        else:
            entries.append(_Entry(line, number))
    return entries


def _read_plain(entry: str) -> dict[str, list[str]]:
    """The property of an entry that is no YAML, as it is written: `title: Taps: a guide`, a list
    with such an item, one that nothing closes. Nothing if its value begins as other YAML for which
    its end is missing.
    """
    name, colon, value = entry.partition(":")
    if not colon or "\n" in name:
        return {}
    if unclosed := _UNCLOSED_LIST.fullmatch(value.strip()):
        items = [item.strip() for item in unclosed["items"].split(",")]
        return {name.strip().casefold(): list(filter(None, items))}
    first, *rest = value.split("\n")
    written = [first.strip(), *(line.strip().removeprefix("- ").strip() for line in rest)]
    plain = [text for text in written if text and text[0] not in _BEGINS_YAML]
    return {name.strip().casefold(): plain} if plain else {}


def _parse_yaml(source: str) -> dict[str, list[str]] | None:
    """The top-level scalars and lists of scalars of a mapping, which an empty text is; None if it
    is no mapping.
    """
    import yaml

    mapping = _MappingReader()
    for event in yaml.parse(source, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader)):
        match event:
            case yaml.MappingStartEvent():
                mapping.enter(is_list=False)
            case yaml.SequenceStartEvent():
                mapping.enter(is_list=True)
            case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
                mapping.leave()
            case yaml.ScalarEvent():
                mapping.add_scalar(event.value)
            case yaml.AliasEvent():
                mapping.add_alias()
        if mapping.is_list:
            return None
    return mapping.written if mapping.is_mapping else None


class _MappingReader:
    """Reads a mapping event by event."""

    def __init__(self) -> None:
        self.written: dict[str, list[str]] = {}
        # Whether the text is a mapping, as far as it is read
        self.is_mapping = True
        self.is_list = False
        self._depth = 0
        # The key, once it is read; empty for a list or mapping as a key
        self._name: str | None = None
        self._in_list = False

    def enter(self, *, is_list: bool) -> None:
        """A list or mapping begins."""
        self.is_list = self.is_list or (self._depth == 0 and is_list)
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise ValueError(f"nested more than {_MAX_DEPTH} deep")
        if self._depth == 2:
            self._in_list = is_list

    def leave(self) -> None:
        """A list or mapping ends."""
        self._depth -= 1
        if self._depth == 1:
            # A list as a key: what follows is its value
            self._name = "" if self._name is None else None

    def add_scalar(self, value: str) -> None:
        """A key, or a value, or an item of a list."""
        if self._depth == 0:
            self.is_mapping = False
        elif self._depth == 1 and self._name is None:
            self._name = value.strip().casefold()
        elif self._name is not None and (self._depth == 1 or (self._depth == 2 and self._in_list)):
            self.written.setdefault(self._name, []).append(value)
            if self._depth == 1:
                self._name = None

    def add_alias(self) -> None:
        """A reference to another value, which is not read."""
        if self._depth == 1:
            self._name = None
