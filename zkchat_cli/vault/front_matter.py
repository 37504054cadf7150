"""The front matter of a note: properties in YAML between two lines `---`.

YAML is read as events, because 100,000 brackets end the process in libyaml's loader; only scalars
and flat lists of scalars are used.
"""

import re
from dataclasses import dataclass, field

from zkchat_cli.markdown.inline import WIKILINK
from zkchat_cli.text.patterns import lazy_pattern

_MAX_DEPTH = 20
# Longer front matter is text
MAX_CHARACTERS = 64 * 1024
_EMPTY_VALUES = ("", "~", "null", "Null", "NULL")
_NO_CONTENT = lazy_pattern(
    r"title|alias(?:es)?|description|summary|tags?|categor(?:y|ies)"
    r"|(?:date )?(?:created|modified|updated|published)(?: at)?|date|day"
    r"|u?u?id|permalink|layout|slug|cssclass(?:es)?|lang|banner.*|cover|image|icon"
    r"|comments|draft|publish|position|template"
    r"|(?:sr|dg|kanban|excalidraw)-.*"
)
_NO_VALUE = lazy_pattern(rf"true|false|{WIKILINK}", re.IGNORECASE)

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
    mapping.
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
    # Deferred: it takes 10 ms, and the budget bar does not need it
    from yaml import YAMLError

    try:
        values = _parse_yaml(source)
    except (YAMLError, ValueError) as e:
        cause = " ".join(str(getattr(e, "problem", None) or e).split())
        return FrontMatter(problem=f"front matter is not valid YAML ({cause}), read as text")
    return FrontMatter() if values is None else FrontMatter(lines, values)


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
        if not mapping.is_mapping:
            return None
    return mapping.written


class _MappingReader:
    """Reads a mapping event by event."""

    def __init__(self) -> None:
        self.written: dict[str, list[str]] = {}
        # Whether the text is a mapping, as far as it is read
        self.is_mapping = True
        self._depth = 0
        # The key, once it is read; empty for a list or mapping as a key
        self._name: str | None = None
        self._in_list = False

    def enter(self, *, is_list: bool) -> None:
        """A list or mapping begins."""
        if self._depth == 0 and is_list:
            self.is_mapping = False
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
