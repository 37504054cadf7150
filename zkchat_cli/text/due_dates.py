"""The days that "tomorrow" and "next week" mean for what is due, in English, German, French,
Spanish and Portuguese. Questions about notes look back instead: see `text/dates`.
"""

from datetime import date, timedelta

from zkchat_cli.text.case_folder import fold
from zkchat_cli.text.dates import Period, find_period
from zkchat_cli.text.month_names import is_month_name
from zkchat_cli.text.patterns import lazy_pattern

DAYS_OF_WEEK = 7
_NEXT = r"next|(?:der |die |das )?nachsten?[mrs]?|kommenden?[mrs]?"
_TOMORROW = lazy_pattern(r"(?:for |fur |pour |para )?(?:tomorrow|morgen|demain|manana|amanha)")
_TODAY = lazy_pattern(r"today|heute|aujourd['’]hui|hoy|hoje")
_WEEK = r"(?:week|woche|semaine|semana)"
_MONTH = r"(?:month|monat|mois|mes)"
_THIS = r"(?:this|diese[nrms]?|cette|ce|esta|este|nesta|neste|dans la|en la|na)"
_PLACE = (
    r"(?:(?:in|im|en|em|pour|for|during|within|until|bis|na|no|nos|en los|dans les|in den) )?"
    r"(?:the |der |den |los |les |os |la |le |el |a |o )?"
)
_THIS_WEEK = lazy_pattern(rf"{_PLACE}{_THIS} {_WEEK}(?:[- ]ci)?")
_NEXT_WEEK = lazy_pattern(
    rf"{_PLACE}(?:(?:{_NEXT}|proxima) {_WEEK}|{_WEEK} (?:prochaine|proxima|que viene|que vem))"
)
_THIS_MONTH = lazy_pattern(rf"{_PLACE}{_THIS} {_MONTH}(?:[- ]ci)?")
_NEXT_MONTH = lazy_pattern(
    rf"{_PLACE}(?:(?:{_NEXT}|proximo) {_MONTH}|{_MONTH} (?:prochain|proximo|que viene|que vem))"
)
_SOON = lazy_pattern(
    r"soon|bald|bientot|pronto|em breve"
    rf"|{_PLACE}(?:(?:{_NEXT}|prochains|proximos) (?:(?P<count>\d{{1,3}}) |few |paar |pocos )?"
    r"(?:days|tagen?|jours|dias)|(?P<count2>\d{1,3}) (?:prochains|proximos) (?:jours|dias))"
)
_WEEKDAY = lazy_pattern(
    r"(?P<until>by|until|till|before|bis|jusqu['’]a|avant|hasta|antes de|ate)?"
    r"(?: ?(?:on|am|zum|le|el|na|no|the|this|next|diesen|nachsten|este|proximo|proxima|a|o))* ?"
    r"(?:(?P<d0>monday|montag|lundi|lunes|segunda)|(?P<d1>tuesday|dienstag|mardi|martes|terca)"
    r"|(?P<d2>wednesday|mittwoch|mercredi|miercoles|quarta)"
    r"|(?P<d3>thursday|donnerstag|jeudi|jueves|quinta)"
    r"|(?P<d4>friday|freitag|vendredi|viernes|sexta)|(?P<d5>saturday|samstag|samedi|sabado)"
    r"|(?P<d6>sunday|sonntag|dimanche|domingo))(?:-feira)?"
)


def find_due_period(written: str, today: date) -> Period | None:
    """The days that words about what is due mean, such as "by Friday"; None for other words."""
    bare = fold(written.strip())
    week = today - timedelta(days=today.weekday())
    month = _month_of(today)
    named = (
        (_TODAY, Period(today, today)),
        (_TOMORROW, _days_from(today + timedelta(days=1), 1)),
        (_THIS_WEEK, _days_from(week, DAYS_OF_WEEK)),
        (_NEXT_WEEK, _days_from(week + timedelta(days=DAYS_OF_WEEK), DAYS_OF_WEEK)),
        (_THIS_MONTH, month),
        (_NEXT_MONTH, _month_of(month.last + timedelta(days=1))),
    )
    for pattern, period in named:
        if pattern.fullmatch(bare):
            return period
    return _soon(bare, today) or _weekday(bare, today) or _other_period(written, today)


def _soon(bare: str, today: date) -> Period | None:
    """The next days, a week of them unless their number is told."""
    found = _SOON.fullmatch(bare)
    if found is None:
        return None
    return _days_from(today, int(found["count"] or found["count2"] or DAYS_OF_WEEK))


def _days_from(first: date, count: int) -> Period:
    return Period(first, first + timedelta(days=count - 1))


def _month_of(day: date) -> Period:
    first = day.replace(day=1)
    # Any day of the next month
    later = first + timedelta(days=32)
    return Period(first, later.replace(day=1) - timedelta(days=1))


def _weekday(bare: str, today: date) -> Period | None:
    """The next day of that name, from today on; with "by" all days up to it."""
    found = _WEEKDAY.fullmatch(bare)
    if found is None:
        return None
    wanted = next(i for i in range(DAYS_OF_WEEK) if found[f"d{i}"])
    day = today + timedelta(days=(wanted - today.weekday()) % DAYS_OF_WEEK)
    return Period(date.min if found["until"] else day, day)


def _other_period(written: str, today: date) -> Period | None:
    # "Anniversaires de juin"
    named = find_period(f"in {written}" if is_month_name(written) else written, today)
    return named.period if named is not None and not named.rest.strip() else None
