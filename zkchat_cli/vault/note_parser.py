"""Parses a note's text: front matter, names, tags, dates, description, markup and chunks."""

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from zkchat_cli.text.date_forms import DateReading
from zkchat_cli.text.embedded_data import hide_data
from zkchat_cli.text.moment_formats import MomentFormat
from zkchat_cli.text.program_marks import hide_program_marks
from zkchat_cli.vault.front_matter import FrontMatter, read_front_matter
from zkchat_cli.vault.links.wikilinks import fold_name, note_name
from zkchat_cli.vault.note_chunks import NoteChunk, chunk_note
from zkchat_cli.vault.note_dates import dated_headings, note_dates, page_names, section_dates
from zkchat_cli.vault.page_properties import page_properties

if TYPE_CHECKING:
    from zkchat_cli.vault.markup import Markup

# Names of files that say nothing; the folder's name says what the note is about
_COMMON_NAMES = frozenset(("index", "_index", "readme"))


@dataclass(frozen=True)
class ParsedNote:
    """Everything that the text of one note says, without other notes. Line numbers start at 1."""

    relative_path: str
    text: str
    front_matter: FrontMatter
    # The formats of the names of daily notes
    formats: tuple[MomentFormat, ...] = ()
    # Whether another file in the vault has the same name
    shares_name: bool = False

    @cached_property
    def markup(self) -> "Markup":
        from zkchat_cli.vault.markup import read_markup  # 3 ms

        return read_markup(self.text, self.front_matter.lines)

    @cached_property
    def shown_text(self) -> str:
        """The text with `…` instead of pictures, other data and marks that only a program reads,
        line by line.
        """
        return hide_program_marks(hide_data(self.text))

    @cached_property
    def page_names(self) -> tuple[str, ...]:
        """The names that links of an outliner such as Logseq have for it: `May 5th, 2024`."""
        return page_names(self.relative_path, self.formats)

    @property
    def body(self) -> str:
        """The shown text after the front matter."""
        return self.shown_text.split("\n", self.front_matter.lines)[-1]

    @cached_property
    def page_properties(self) -> Mapping[str, tuple[str, ...]]:
        """The properties in its first lines, which an outliner has instead of front matter."""
        return page_properties(self.body)

    @cached_property
    def title(self) -> str:
        named = self.front_matter.text("title") or " ".join(self.page_properties.get("title", ()))
        return named or note_name(self.relative_path)

    @cached_property
    def aliases(self) -> tuple[str, ...]:
        names = [*self.front_matter.texts("aliases", "alias")]
        for key in ("alias", "aliases"):
            names += self.page_properties.get(key, ())
        return tuple(dict.fromkeys(names))

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids that its front matter gives it."""
        return self.front_matter.texts("id", "uid", "zettelid")

    @cached_property
    def other_names(self) -> tuple[str, ...]:
        """The names it is found by besides its title: its aliases, and the names of its file and
        its folder if the title is another, or the file is called like others.
        """
        names = [*self.aliases, *self.page_names]
        file_name = note_name(self.relative_path)
        is_titled = fold_name(self.title) != fold_name(file_name)
        if is_titled:
            names.append(file_name)
        if is_titled or self.shares_name or fold_name(file_name) in _COMMON_NAMES:
            names.append(self.relative_path.rpartition("/")[0].rpartition("/")[2])
        return tuple(dict.fromkeys(filter(None, names)))

    @property
    def description(self) -> str | None:
        return self.front_matter.text("description", "summary")

    @cached_property
    def tags(self) -> tuple[str, ...]:
        """The tags of front matter and text without `#`, each in its first spelling. Digits alone
        are not a tag.
        """
        written = " ".join(self.front_matter.texts("tags", "tag")).replace(",", " ").split()
        tags = [tag.lstrip("#").rstrip("/") for tag in written]
        # A tag of Logseq is the name of a page, but one with spaces cannot be searched as `#tag`
        tags += [tag for tag in self.page_properties.get("tags", ()) if " " not in tag]
        tags += self.markup.tags
        return tuple(dict.fromkeys(tag for tag in tags if tag and not tag.isdigit()))

    @cached_property
    def dates(self) -> tuple[DateReading, ...]:
        """The dates of its properties; without any, the period that its name means."""
        return note_dates(self.relative_path, self.text, self.front_matter, self.formats)

    @cached_property
    def section_dates(self) -> Mapping[int, tuple[DateReading, ...]]:
        """The dates of its sections, by the lines of their headings."""
        return section_dates(self.relative_path, self.markup.headings, self.formats)

    def heading_at(self, line: int) -> str | None:
        """The last heading at or above a line."""
        headings = self.markup.headings
        above = bisect_right(headings, line, key=lambda heading: heading.line)
        if above == 0:
            return None
        return headings[above - 1].text or None

    @cached_property
    def chunks(self) -> tuple[NoteChunk, ...]:
        return chunk_note(
            self.shown_text,
            self.front_matter.lines,
            self.markup,
            properties=self.front_matter.has_content,
            dated=dated_headings(self.markup.headings, self.section_dates),
        )


def parse_note(relative_path: str, text: str, formats: tuple[MomentFormat, ...] = ()) -> ParsedNote:
    """The note with this text; its markup and chunks are read when they are first needed."""
    return ParsedNote(relative_path, text, read_front_matter(text), formats)
