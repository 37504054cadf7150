"""What a note is, read from its text alone: its names, tags, description, headings, and the chunks that search finds."""

from dataclasses import dataclass
from functools import cached_property

from zkchat_cli.vault import front_matter
from zkchat_cli.vault.chunking import NoteChunk, chunk_note
from zkchat_cli.vault.front_matter import FrontMatter
from zkchat_cli.vault.links.wikilinks import stem
from zkchat_cli.vault.markup import Markup, Tag, read_markup


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
        """Without `#`, each as it is spelled first."""
        return tuple(dict.fromkeys(tag.name for tag in self.tags_with_lines))

    @property
    def tags_with_lines(self) -> tuple[Tag, ...]:
        """All tags where they stand, in front matter and text. One tag of digits alone is none."""
        properties = self.front_matter.values("tags", "tag")
        listed = (Tag(part.lstrip("#").rstrip("/"), line) for text, line in properties for part in text.replace(",", " ").split())
        return tuple(tag for tag in (*listed, *self.markup.tags) if tag.name and not tag.name.isdigit())

    @cached_property
    def chunks(self) -> tuple[NoteChunk, ...]:
        return chunk_note(self.text, self.front_matter.lines, self.markup)


def parse_note(relative_path: str, text: str) -> ParsedNote:
    properties = front_matter.read_front_matter(text)
    return ParsedNote(relative_path, text, properties, read_markup(text, properties.lines))
