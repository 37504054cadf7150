"""The notes that a `NoteFilter` allows, as SQL."""

from datetime import date, datetime, timedelta

from zkchat_cli.text.dates import Period
from zkchat_cli.vault.index.sqlite.database import IndexDatabase
from zkchat_cli.vault.index.values import NoteFilter

# Notes that a person may write in one minute
MOST_WRITTEN = 20
# Years that every file system can count
FIRST_YEAR = 1971
LAST_YEAR = 2200
SECONDS_OF_A_DAY = 86_400
_MINUTE = "mtime_ns / 60000000000"
_LAST_CHARACTER = "\U0010ffff"


class AllowedNotes:
    """A temporary table of the notes that a filter allows: it is filled once for all queries of a
    snapshot that have the same filter.
    """

    def __init__(self, database: IndexDatabase) -> None:
        self._database = database
        # The snapshot and the filter that the table was filled for
        self._filled_for: tuple[int, NoteFilter] | None = None

    def condition(self, note: str, allowed: NoteFilter | None, chunk: str | None = None) -> str:
        """`AND note IN …`, and of the chunks that these columns name only those of the period;
        empty without a filter. The tables are filled for the query that has this condition.
        """
        if allowed is None:
            return ""
        self.fill(allowed)
        condition = f"AND {note} IN (SELECT value FROM temp.allowed)"
        if chunk is not None and allowed.period is not None:
            condition += f" AND {chunk} NOT IN (SELECT value FROM temp.other_days)"
        return condition

    def fill(self, allowed: NoteFilter) -> None:
        """Fill `temp.allowed` with the notes that the filter allows."""
        snapshot = self._database.snapshot_number
        if snapshot is not None and self._filled_for == (snapshot, allowed):
            return
        values: list[object] = []
        condition = filter_condition(allowed, values)
        self._database.rows("CREATE TEMP TABLE IF NOT EXISTS allowed (value INTEGER PRIMARY KEY)")
        self._database.rows("DELETE FROM temp.allowed")
        self._database.rows(
            f"INSERT INTO temp.allowed SELECT id FROM notes WHERE {condition}", *values
        )
        self._fill_other_days(allowed.period)
        self._filled_for = None if snapshot is None else (snapshot, allowed)

    def _fill_other_days(self, period: Period | None) -> None:
        """Fill `temp.other_days` with the chunks of allowed notes that are of other days: their
        sections have a date, or other sections of their notes have.
        """
        rows = self._database.rows
        rows("CREATE TEMP TABLE IF NOT EXISTS other_days (value INTEGER PRIMARY KEY)")
        rows("DELETE FROM temp.other_days")
        if period is None or not rows("SELECT 1 FROM dates WHERE chunk_id IS NOT NULL LIMIT 1"):
            return
        days = {"first": period.first.isoformat(), "last": period.last.isoformat()}
        in_period = "first <= :last AND last >= :first"
        allowed = "note_id IN (SELECT value FROM temp.allowed)"
        rows(
            f"""
            INSERT INTO temp.other_days
            SELECT DISTINCT chunk_id FROM dates
            WHERE chunk_id IS NOT NULL AND {allowed} AND chunk_id NOT IN (
                SELECT chunk_id FROM current_dates WHERE chunk_id IS NOT NULL AND {in_period}
            )
            UNION
            SELECT id FROM chunks
            WHERE {allowed}
                AND note_id IN (SELECT note_id FROM dates WHERE chunk_id IS NOT NULL)
                AND note_id NOT IN (
                    SELECT note_id FROM current_dates WHERE chunk_id IS NULL AND {in_period}
                )
                AND id NOT IN (SELECT chunk_id FROM dates WHERE chunk_id IS NOT NULL)
            """,
            **days,
        )


def filter_condition(wanted: NoteFilter, values: list[object]) -> str:
    """The condition on `notes` of a filter. Adds its `values`."""
    conditions = ["TRUE"]
    if wanted.folder:
        prefix = f"{wanted.folder}/"
        values += [len(prefix), prefix]
        conditions.append("substr(path, 1, ?) = ?")
    if wanted.period:
        conditions.append(_in_period(wanted.period, values, also_copies=wanted.also_copies))
    conditions += [_has_tag(tag, values) for tag in wanted.tags]
    conditions += [f"NOT {_has_tag(tag, values)}" for tag in wanted.without_tags]
    for part in wanted.path_parts:
        conditions.append("instr(fold(path), ?)")
        values.append(part)
    for part in wanted.without_path_parts:
        conditions.append("NOT instr(fold(path), ?)")
        values.append(part)
    return " AND ".join(conditions)


def _has_tag(tag: str, values: list[object]) -> str:
    """The condition that a tag of the note is this folded one, or nested in it."""
    values += [tag, f"{tag}/", f"{tag}/{_LAST_CHARACTER}"]
    return "id IN (SELECT note_id FROM tags WHERE tag = ? OR tag BETWEEN ? AND ?)"


def _in_period(period: Period, values: list[object], *, also_copies: bool) -> str:
    """The condition that one of the note's dates is in the period, or the day of its last change if
    it has no date. Without `also_copies`, that day does not count for notes that were written with
    many others in one minute: they were copied.
    """
    end = period.last if period.last == date.max else period.last + timedelta(days=1)
    values += [
        period.last.isoformat(),
        period.first.isoformat(),
        _nanoseconds(period.first),
        _nanoseconds(end),
    ]
    not_copied = ""
    if not also_copies:
        copied = f"SELECT {_MINUTE} FROM notes GROUP BY 1 HAVING COUNT(*) > {MOST_WRITTEN}"
        not_copied = f"AND {_MINUTE} NOT IN ({copied})"
    in_period = "SELECT note_id FROM current_dates WHERE first <= ? AND last >= ?"
    return f"""(
        id IN ({in_period})
        OR (id NOT IN (SELECT note_id FROM dates) AND mtime_ns >= ? AND mtime_ns < ? {not_copied})
    )"""


def _nanoseconds(day: date) -> int:
    """The beginning of a day in local time, as file systems count it; years out of their range are
    moved into it.
    """
    year = min(max(day.year, FIRST_YEAR), LAST_YEAR)
    first_of_month = datetime(year, day.month, 1).timestamp()
    return int(first_of_month + SECONDS_OF_A_DAY * (day.day - 1)) * 10**9
