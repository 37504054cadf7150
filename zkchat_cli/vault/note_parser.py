"""Parses a note's text: names, tags, description, markup, and chunks for search."""

from dataclasses import dataclass
from functools import cached_property

from zkchat_cli.vault import front_matter
from zkchat_cli.vault.chunking import NoteChunk, chunk_note
from zkchat_cli.vault.front_matter import FrontMatter
from zkchat_cli.vault.links.wikilinks import stem
from zkchat_cli.vault.markup import Markup, Tag, read_markup


@dataclass(frozen=True)
class ParsedNote:
    """Everything that the text of one note says, without other notes. Line numbers start at 1."""

    relative_path: str
    text: str
    front_matter: FrontMatter
    markup: Markup

    @property
    def body(self) -> str:
        """The text after the front matter."""
        return self.text.split("\n", self.front_matter.lines)[-1]

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
        """Without `#`, each in its first spelling."""
        return tuple(dict.fromkeys(tag.name for tag in self.tags_with_lines))

    @property
    def tags_with_lines(self) -> tuple[Tag, ...]:
        """All tags of front matter and text with their lines. Digits alone are not a tag."""
        properties = self.front_matter.values("tags", "tag")
        listed = (Tag(part.lstrip("#").rstrip("/"), line) for text, line in properties for part in text.replace(",", " ").split())
        return tuple(tag for tag in (*listed, *self.markup.tags) if tag.name and not tag.name.isdigit())

    @cached_property
    def chunks(self) -> tuple[NoteChunk, ...]:
        return chunk_note(self.text, self.front_matter.lines, self.markup)


def parse_note(relative_path: str, text: str) -> ParsedNote:
    properties = front_matter.read_front_matter(text)
    return ParsedNote(relative_path, text, properties, read_markup(text, properties.lines))
