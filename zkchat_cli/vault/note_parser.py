"""Parses a note's text: names, tags, description, markup, and chunks for search.

The markup is read when it is first needed: what a line about a note says is in its front matter and its first paragraph.
"""

from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from zkchat_cli.text.dates import Period, leading_date
from zkchat_cli.vault import front_matter
from zkchat_cli.vault.front_matter import FrontMatter
from zkchat_cli.vault.links.wikilinks import note_name

if TYPE_CHECKING:
    from zkchat_cli.vault.chunking import NoteChunk
    from zkchat_cli.vault.markup import Markup

_DATES = ("date", "day", "created", "updated", "modified", "published", "date created", "date modified", "created at", "updated at")


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
    return ParsedNote(relative_path, text, front_matter.read_front_matter(text))
