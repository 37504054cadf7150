"""What a note is, read from its text alone: its names, tags, description, headings, and the chunks that search finds.

Front matter is read as YAML events, not through a loader: only scalars and flat lists of them mean anything here, and nested or
self-referring data, which crashes a recursive loader (100 000 brackets end the process in libyaml's), costs nothing this way. A front
matter that is not valid YAML is ordinary text.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from zkchat_cli.vault import markup
from zkchat_cli.vault.chunks import Passage, passages
from zkchat_cli.vault.markup import Markup
from zkchat_cli.vault.wikilinks import stem

_DEEPEST = 20
_LARGEST = 64 * 1024
_EMPTY = ("", "~", "null", "Null", "NULL")


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The properties at the head of a note as texts; `lines` is how many lines it takes, marks included, 0 without one."""

    lines: int = 0
    values: dict[str, tuple[str, ...]] = field(default_factory=dict)
    problem: str | None = None

    def texts(self, *names: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys(text for name in names for text in self.values.get(name, ())))

    def text(self, *names: str) -> str | None:
        return next(iter(self.texts(*names)), None)


@dataclass(frozen=True)
class ParsedNote:
    """A note's text with all that can be known of it without looking at other notes. Line numbers start at 1."""

    relative_path: str
    text: str
    front_matter: FrontMatter
    markup: Markup

    @property
    def title(self) -> str:
        return self.front_matter.text("title") or stem(self.relative_path)

    @property
    def aliases(self) -> tuple[str, ...]:
        return self.front_matter.texts("aliases", "alias")

    @property
    def description(self) -> str | None:
        return self.front_matter.text("description", "summary")

    @cached_property
    def tags(self) -> tuple[str, ...]:
        listed = (part.strip().lstrip("#") for text in self.front_matter.texts("tags", "tag") for part in text.replace(",", " ").split())
        return tuple(dict.fromkeys(tag for tag in (*listed, *self.markup.tags) if tag))

    @cached_property
    def passages(self) -> tuple[Passage, ...]:
        return passages(self.text, self.front_matter.lines, self.markup)


def parse(relative_path: str, text: str) -> ParsedNote:
    front_matter = read_front_matter(text)
    return ParsedNote(relative_path, text, front_matter, markup.walk(text, front_matter.lines))


def read_front_matter(text: str) -> FrontMatter:
    """The properties between a first line `---` and the next `---`; none where that is not a YAML mapping."""
    if not text.startswith("---"):
        return FrontMatter()
    first, _, rest = text.partition("\n")
    if first.rstrip() != "---":
        return FrontMatter()
    lines: list[str] = []
    size = 0
    for line in _lines(rest):
        if line.rstrip() in ("---", "..."):
            break
        lines.append(line)
        size += len(line) + 1
        if size > _LARGEST:
            return FrontMatter()
    else:
        return FrontMatter()
    import yaml  # 15 ms that a vault without front matter does not pay

    try:
        values = _mapping("\n".join(lines))
    except (yaml.YAMLError, ValueError) as e:
        cause = " ".join(str(getattr(e, "problem", None) or e).split())
        return FrontMatter(problem=f"front matter is not valid YAML ({cause}), read as text")
    return FrontMatter() if values is None else FrontMatter(len(lines) + 2, values)


def _lines(text: str) -> Iterator[str]:
    """The lines of `text` one by one: a note of 2 MB is not split for the ten lines of its front matter."""
    start = 0
    while start <= len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        yield text[start:end]
        start = end + 1


def _mapping(source: str) -> dict[str, tuple[str, ...]] | None:
    """The top-level scalars and lists of scalars of a YAML mapping; None for anything but a mapping (an empty text is one)."""
    import yaml

    values: dict[str, list[str]] = {}
    depth, name, in_list = 0, None, False
    for event in yaml.parse(source, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader)):
        match event:
            case yaml.ScalarEvent() | yaml.SequenceStartEvent() if depth == 0:
                return None
            case yaml.MappingStartEvent() | yaml.SequenceStartEvent():
                depth += 1
                if depth > _DEEPEST:
                    raise ValueError(f"nested more than {_DEEPEST} deep")
                if depth == 2:
                    in_list = isinstance(event, yaml.SequenceStartEvent)
            case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
                depth -= 1
                if depth == 1:
                    name = "" if name is None else None  # a list as a key: what follows is its value
            case yaml.ScalarEvent() if depth == 1 and name is None:
                name = event.value.strip().casefold()
            case yaml.ScalarEvent() if name is not None and (depth == 1 or (depth == 2 and in_list)):
                value = " ".join(event.value.split())
                if value not in _EMPTY:
                    values.setdefault(name, []).append(value)
                name = None if depth == 1 else name
            case yaml.AliasEvent() if depth == 1:
                name = None
    return {name: tuple(listed) for name, listed in values.items()}
