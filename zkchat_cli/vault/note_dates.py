"""The dates of a note: of its properties, its name and folders, and of its sections by their
headings, as in a log with a heading for each day.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from zkchat_cli.text.case_folder import fold
from zkchat_cli.text.date_forms import DateReading, read_leading, read_path
from zkchat_cli.text.moment_formats import MomentFormat, format_day
from zkchat_cli.text.month_names import month_numbers, weekday_names
from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.vault.front_matter import FrontMatter
from zkchat_cli.vault.links.wikilinks import strip_suffix

if TYPE_CHECKING:
    from zkchat_cli.vault.markup import Heading

DATE_PROPERTIES = (
    *("date", "day", "created", "updated", "modified", "published"),
    *("date created", "date modified", "created at", "updated at"),
    *("date-created", "date-modified", "created-at", "updated-at", "creation-date"),
    *("date_created", "date_modified", "created_at", "updated_at", "creation_date"),
    *("last-modified", "last modified", "last_modified", "lastmod", "creation date"),
    *("datum", "erstellt", "fecha", "creado", "data", "criado", "cree", "créé", "日期", "创建时间"),
)
# `date: [[2024-01-16]]` is a list in a list for YAML
_BARE_LINK = lazy_pattern(
    r"(?m)^(?P<name>[^\s:#][^:\n]{0,40}):[ \t]*(?P<link>\[\[[^\[\]\n]+\]\])[ \t]*$"
)
_LOGSEQ_DAY = lazy_pattern(r"\d{4}_\d\d_\d\d")
# The title of a page of a day, unless its settings say otherwise
LOGSEQ_TITLE = "MMM Do, YYYY"
_HAS_DIGIT = lazy_pattern(r"[0-9０-９一二三四五六七八九十]")
_WRITTEN_WORD = lazy_pattern(r"[^\W\d_]+")
_WORDS_IN_DATES = frozenset("st nd rd th er o a t w kw week q of de del 年 月 日 号 周 第".split())


def note_dates(
    path: str, text: str, properties: FrontMatter, formats: Sequence[MomentFormat]
) -> tuple[DateReading, ...]:
    """The dates of a note as a whole: those of its properties and, without any, that of its name.
    A name that is nothing but a date counts, too.
    """
    written = [read_leading(value) for value in properties.texts(*DATE_PROPERTIES)]
    if properties.lines and "[[" in text[: text.find("\n---", 3)]:
        header = text[: text.find("\n---", 3)]
        written += [
            read_leading(found["link"])
            for found in _BARE_LINK.finditer(header)
            if found["name"].strip().casefold() in DATE_PROPERTIES
        ]
    readings = [reading for each in written for reading in each]
    if not readings or is_named_by_date(path, formats):
        readings += named_dates(path, formats)
    return tuple(dict.fromkeys(readings))


def named_dates(path: str, formats: Sequence[MomentFormat]) -> tuple[DateReading, ...]:
    """The date that the name of a note, with its folders, means: by the formats of the vault, else
    by the table of forms.
    """
    parts = strip_suffix(path).split("/")
    reading = _read_by_format(parts, formats)
    if reading is not None:
        return (reading,)
    if not _HAS_DIGIT.search(path):
        return ()
    return read_path(parts)


def _read_by_format(parts: Sequence[str], formats: Sequence[MomentFormat]) -> DateReading | None:
    for each in formats:
        reading = each.read("/".join(parts[-each.parts :]))
        if reading is not None:
            return reading
    return None


def is_named_by_date(path: str, formats: Sequence[MomentFormat]) -> bool:
    """Whether the name of a note is a date and nothing else, as that of a daily note."""
    parts = strip_suffix(path).split("/")
    if _read_by_format(parts, formats) is not None:
        return True
    known = month_numbers()
    words = _WRITTEN_WORD.findall(fold(parts[-1]))
    return all(
        word in known or word in _WORDS_IN_DATES or word in weekday_names() for word in words
    ) and bool(named_dates(path, ()))


def page_names(path: str, formats: Sequence[MomentFormat]) -> tuple[str, ...]:
    """The names that Logseq has for a file: a day in the formats of the vault, or its own, for
    `2024_05_01`, and `a/b` for `a___b`.
    """
    name = strip_suffix(path).rpartition("/")[2]
    if "___" in name:
        return (name.replace("___", "/"),)
    if not _LOGSEQ_DAY.fullmatch(name):
        return ()
    readings = named_dates(path, formats)
    if len(readings) != 1:
        return ()
    written = dict.fromkeys([*(each.written for each in formats), LOGSEQ_TITLE])
    titles = (format_day(readings[0].period.first, each) for each in written)
    return tuple(title for title in titles if title is not None and title != name)


def section_dates(
    path: str, headings: "Sequence[Heading]", formats: Sequence[MomentFormat]
) -> Mapping[int, tuple[DateReading, ...]]:
    """The dates of headings, by their lines; none in the note of a single day."""
    dated = [heading for heading in headings if _HAS_DIGIT.search(heading.text)]
    if not dated:
        return {}
    named = named_dates(path, formats)
    if any(each.period.first == each.period.last for each in named):
        return {}
    above = strip_suffix(path).split("/")
    found: dict[int, tuple[DateReading, ...]] = {}
    for heading in dated:
        readings = _read_heading((*above, *heading.path, heading.text), formats)
        if readings:
            found[heading.line] = readings
    return found


def _read_heading(path: Sequence[str], formats: Sequence[MomentFormat]) -> tuple[DateReading, ...]:
    for each in formats:
        reading = each.read(path[-1]) if each.parts == 1 else None
        if reading is not None:
            return (reading,)
    return read_path(path)


def dated_headings(headings: "Sequence[Heading]", dates: Mapping[int, object]) -> dict[int, int]:
    """For each heading's line the line of the dated heading that it is below; 0 for none."""
    governing: dict[int, int] = {}
    # The dated headings above, the innermost last
    above: list[Heading] = []
    for heading in headings:
        while above and above[-1].level >= heading.level:
            above.pop()
        if heading.line in dates:
            above.append(heading)
        governing[heading.line] = above[-1].line if above else 0
    return governing
