"""Parses a note's text: front matter, names, tags, description, markup, and chunks for search.

YAML is read as events, because 100,000 brackets end the process in libyaml's loader. Only scalars and flat lists of scalars are used.
"""

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from zkchat_cli.text.dates import Period, leading_date
from zkchat_cli.vault.links.wikilinks import note_name

if TYPE_CHECKING:
    from zkchat_cli.vault.chunking import NoteChunk
    from zkchat_cli.vault.markup import Markup

_DATES = ("date", "day", "created", "updated", "modified", "published", "date created", "date modified", "created at", "updated at")
_MAX_DEPTH = 20
MAX_CHARACTERS = 64 * 1024  # longer front matter is text
_EMPTY_VALUES = ("", "~", "null", "Null", "NULL")
_NO_CONTENT = re.compile(
    r"title|alias(?:es)?|description|summary|tags?|categor(?:y|ies)|(?:date )?(?:created|modified|updated|published)(?: at)?|date|day"
    r"|u?u?id|permalink|layout|slug|cssclass(?:es)?|lang|banner.*|cover|image|icon|comments|draft|publish|position|template"
    r"|(?:sr|dg|kanban|excalidraw)-.*"
)
_NO_VALUE = re.compile(r"true|false|\[\[[^\]]*\]\]", re.IGNORECASE)

_CLOSING = re.compile(r"\n(?:---|\.\.\.)[^\S\n]*+\n")


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """All properties. `lines`: how many lines they take, including the `---` lines; 0 without front matter."""

    lines: int = 0
    written: dict[str, list[str]] = field(default_factory=dict)
    """By folded name, each value as it is written; normalized only when read, because few ever are."""
    problem: str | None = None

    @property
    def has_content(self) -> bool:
        """Whether a property says something: no name, tag, date, description or link of the note, and not only for a program."""
        if "conversation" in self.written:  # where zkchat itself saved the note from
            return False
        return any(not _NO_VALUE.fullmatch(text) for name in self.written if not _NO_CONTENT.fullmatch(name) for text in self.texts(name))

    def texts(self, *names: str) -> tuple[str, ...]:
        """The different values of those properties, in that order, without empty ones and with single spaces."""
        found = (" ".join(text.split()) for name in names if name in self.written for text in self.written[name])
        return tuple(dict.fromkeys(text for text in found if text not in _EMPTY_VALUES))

    def text(self, *names: str) -> str | None:
        return next(iter(self.texts(*names)), None)


def read_front_matter(text: str) -> FrontMatter:
    """The properties between a first line `---` and the next `---`; none if that is not a YAML mapping."""
    if not text.startswith("---"):
        return FrontMatter()
    head = text[:MAX_CHARACTERS] if len(text) >= MAX_CHARACTERS else text + "\n"
    begin = head.find("\n")
    closing = _CLOSING.search(head, begin)
    if head[:begin].rstrip() != "---" or not closing:
        return FrontMatter()
    source = head[begin + 1 : closing.start()]
    lines = head.count("\n", begin, closing.start()) + 2
    from yaml import YAMLError  # 10 ms that the budget bar does not need

    try:
        values = _parse_yaml(source)
    except (YAMLError, ValueError) as e:
        cause = " ".join(str(getattr(e, "problem", None) or e).split())
        return FrontMatter(problem=f"front matter is not valid YAML ({cause}), read as text")
    return FrontMatter() if values is None else FrontMatter(lines, values)


def _parse_yaml(source: str) -> dict[str, list[str]] | None:
    """The top-level scalars and lists of scalars of a mapping, which an empty text is; None if it is no mapping."""
    import yaml

    written: dict[str, list[str]] = {}
    depth, name, in_list = 0, None, False
    for event in yaml.parse(source, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader)):
        match event:
            case yaml.ScalarEvent() | yaml.SequenceStartEvent() if depth == 0:
                return None
            case yaml.MappingStartEvent() | yaml.SequenceStartEvent():
                depth += 1
                if depth > _MAX_DEPTH:
                    raise ValueError(f"nested more than {_MAX_DEPTH} deep")
                if depth == 2:
                    in_list = isinstance(event, yaml.SequenceStartEvent)
            case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
                depth -= 1
                if depth == 1:
                    name = "" if name is None else None  # a list as a key: what follows is its value
            case yaml.ScalarEvent() if depth == 1 and name is None:
                name = event.value.strip().casefold()
            case yaml.ScalarEvent() if name is not None and (depth == 1 or (depth == 2 and in_list)):
                written.setdefault(name, []).append(event.value)
                name = None if depth == 1 else name
            case yaml.AliasEvent() if depth == 1:
                name = None
    return written


@dataclass(frozen=True)
class ParsedNote:
    """Everything that the text of one note says, without other notes. Line numbers start at 1."""

    relative_path: str
    text: str
    front_matter: FrontMatter

    @cached_property
    def markup(self) -> "Markup":
        from zkchat_cli.vault.markup import read_markup  # 3 ms

        return read_markup(self.text, self.front_matter.lines)

    @property
    def body(self) -> str:
        """The text after the front matter."""
        return self.text.split("\n", self.front_matter.lines)[-1]

    @cached_property
    def title(self) -> str:
        return self.front_matter.text("title") or note_name(self.relative_path)

    @cached_property
    def aliases(self) -> tuple[str, ...]:
        return self.front_matter.texts("aliases", "alias")

    @property
    def description(self) -> str | None:
        return self.front_matter.text("description", "summary")

    @cached_property
    def tags(self) -> tuple[str, ...]:
        """The tags of front matter and text without `#`, each in its first spelling. Digits alone are not a tag."""
        written = " ".join(self.front_matter.texts("tags", "tag")).replace(",", " ").split()
        tags = (*(tag.lstrip("#").rstrip("/") for tag in written), *self.markup.tags)
        return tuple(dict.fromkeys(tag for tag in tags if tag and not tag.isdigit()))

    @property
    def dates(self) -> tuple[Period, ...]:
        """The dates of its front matter; without any, the period that the name of a daily, weekly or monthly note means."""
        written = self.front_matter.texts(*_DATES)
        return tuple(dict.fromkeys(filter(None, map(leading_date, written)))) or tuple(
            filter(None, [leading_date(note_name(self.relative_path))])
        )

    def heading_at(self, line: int) -> str | None:
        """The last heading at or above a line."""
        above = bisect_right(self.markup.headings, line, key=lambda heading: heading.line)
        return self.markup.headings[above - 1].text or None if above else None

    @cached_property
    def chunks(self) -> "tuple[NoteChunk, ...]":
        from zkchat_cli.vault.chunking import chunk_note  # 3 ms

        return chunk_note(self.text, self.front_matter.lines, self.markup, properties=self.front_matter.has_content)


def parse_note(relative_path: str, text: str) -> ParsedNote:
    return ParsedNote(relative_path, text, read_front_matter(text))
