"""YAML as a tree of nodes that know where they are written, so that one of them can be changed and
the rest of a text stays as it is.

It is made from the parser's events: no tags and no aliases are followed, and the depth is limited,
so no text can make it call anything, grow, or end the program.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

MAX_DEPTH = 20


class Position(NamedTuple):
    """A line and a column of the YAML text, both from 0."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class YamlNode:
    """A scalar, a list of `items`, or a mapping of `fields`. `end` is behind its last character;
    that of a list or mapping without brackets may be some blank lines further.
    """

    start: Position
    end: Position
    scalar: str | None = None
    items: "tuple[YamlNode, ...] | None" = None
    fields: "tuple[tuple[YamlNode, YamlNode], ...] | None" = None
    # Whether it is written in brackets
    is_flow: bool = False

    def field(self, name: str) -> "YamlNode | None":
        """The value of a mapping's field; None without one."""
        for key, value in self.fields or ():
            if key.scalar == name:
                return value
        return None

    def text(self, name: str) -> str | None:
        """The value of a mapping's field if that is a scalar with some text."""
        value = self.field(name)
        return value.scalar or None if value is not None else None

    def plain(self) -> Any:
        """The node as text, lists and lists of pairs, to compare two of them."""
        if self.fields is not None:
            return [(key.plain(), value.plain()) for key, value in self.fields]
        if self.items is not None:
            return [item.plain() for item in self.items]
        return self.scalar

    @property
    def last_line(self) -> int:
        """The line with its last character."""
        children = list(self.items or ())
        for key, value in self.fields or ():
            children += (key, value)
        if children and not self.is_flow:
            return max(child.last_line for child in children)
        ends_before_line = self.end.column == 0 and self.end.line > self.start.line
        return self.end.line - 1 if ends_before_line else self.end.line


class _OpenNode(NamedTuple):
    """A list or mapping that is still being read."""

    start: Position
    is_mapping: bool
    is_flow: bool
    children: list[YamlNode]


def parse_yaml(source: str) -> YamlNode | None:
    """The tree of a text with one YAML document; None for one without content. Raises ValueError
    for what is no YAML or is nested deeper than `MAX_DEPTH`.
    """
    # Deferred: it takes 10 ms, and few notes have fields that need it
    import yaml

    opened: list[_OpenNode] = []
    root: YamlNode | None = None
    try:
        for event in yaml.parse(source, Loader=yaml.BaseLoader):
            node = _read_event(event, opened)
            if node is None:
                continue
            if opened:
                opened[-1].children.append(node)
            elif root is not None:
                raise ValueError("it has several documents")
            else:
                root = node
    except yaml.YAMLError as e:
        problem = getattr(e, "problem", None) or e
        raise ValueError(" ".join(str(problem).split())) from e
    return root


def _read_event(event: Any, opened: list[_OpenNode]) -> YamlNode | None:
    """The node that an event completes; a list or mapping that it begins is put on `opened`."""
    import yaml

    start = Position(event.start_mark.line, event.start_mark.column)
    end = Position(event.end_mark.line, event.end_mark.column)
    match event:
        case yaml.MappingStartEvent() | yaml.SequenceStartEvent():
            if len(opened) == MAX_DEPTH:
                raise ValueError(f"it is nested more than {MAX_DEPTH} deep")
            is_mapping = isinstance(event, yaml.MappingStartEvent)
            opened.append(_OpenNode(start, is_mapping, bool(event.flow_style), []))
            return None
        case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
            return _close(opened.pop(), end)
        case yaml.ScalarEvent():
            return YamlNode(start, end, scalar=event.value)
        case yaml.AliasEvent():
            return YamlNode(start, end)
    return None


def _close(opened: _OpenNode, end: Position) -> YamlNode:
    children = opened.children
    if opened.is_mapping:
        pairs = tuple(zip(children[::2], children[1::2], strict=True))
        return YamlNode(opened.start, end, fields=pairs, is_flow=opened.is_flow)
    return YamlNode(opened.start, end, items=tuple(children), is_flow=opened.is_flow)
