"""The patterns of requests for the dates of a property: "birthdays in May", "who was born in May?".
See `request_slots`.
"""

from zkchat_cli.llm.offline.request_slots import family

_BIRTHDAYS = r"(?:birthdays?|bdays?|geburtstage?n?|anniversaires?|cumpleanos|aniversarios?)"
_WHEN = (
    r"(?:(?:that |which |die |qui |que )?(?:are|is|sind|ist|sont|est|son|sao|caem|fall|hay|ha|there"
    r"|gibt es|y a[- ]t[- ]il|il y a|coming up|do i have|habe ich) )*(?:(?:d[ue]l? mois de|de|do"
    r"|del? mes de|do mes de) )?(?P<due>.+)"
)
_LISTED = (
    r"(?:(?:{show}|which|what|any|when are|welche|wann sind|quels? (?:sont|est)|quels|que|quais"
    r"(?: sao)?|cuales(?: son)?|cuando son|quando sao|quand sont|is there an?|are there(?: any)?"
    r"|gibt es|y a[- ]t[- ]il|hay|ha) )?(?:{all} |{the} |l['’] ?|list of |liste des? |lista de )*"
)
BIRTHDAYS = family(
    "list",
    "birthday bday geburtstag anniversaire cumple aniversari born geboren ne. nee. nes. nacio"
    " nacieron nacid nasceu nasceram nascid anos",
    rf"{_LISTED}{_BIRTHDAYS} {_WHEN}",
    rf"(?:who has|who have|who['’]s got) (?:(?:an?|the|their|his|her) )?{_BIRTHDAYS} (?P<due>.+)",
    rf"(?:whose|who['’]s) {_BIRTHDAYS} (?:is|are|falls?) (?P<due>.+)",
    r"(?:who|which people|people|everyone|friends)(?: (?:who|that))?(?: (?:was|were|is|are))? born"
    r" (?P<due>.+)",
    rf"wer hat {_BIRTHDAYS} (?P<due>.+)|wer hat (?P<due2>.+) {_BIRTHDAYS}",
    rf"wessen {_BIRTHDAYS} (?:ist|sind) (?P<due>.+)",
    r"wer (?:ist|wurde|sind) (?P<due>.+) geboren",
    rf"qui (?:a|fete|ont|fetent) (?:son|leur) {_BIRTHDAYS} (?P<due>.+)",
    r"qui est ne+e? (?P<due>.+)",
    r"quien(?:es)? cumplen?(?: anos)? (?P<due>.+)|quien(?:es)? (?:nacio|nacieron) (?P<due2>.+)",
    r"quem (?:faz|fazem|faz os) (?:anos|aniversario) (?P<due>.+)|quem nasceu (?P<due2>.+)",
    rf"(?:quien(?:es)?|quem) (?:tiene|tienen|tem) (?:(?:su|o seu) )?{_BIRTHDAYS} (?P<due>.+)",
    r"(?:{the} )*aniversariantes (?:(?:de|do) )?(?P<due>.+)",
    what="dates",
    dated="birthday",
    may_be_lookup=True,
)
ALL_BIRTHDAYS = family(
    "list",
    "birthday bday geburtstag anniversaire cumple aniversari",
    r"(?:{show} )?(?:{all} |{the} |l['’] ?|list of |liste des? |lista de )*"
    r"(?P<dated>birthdays|geburtstage|anniversaires|cumpleanos|aniversarios)",
    what="dates",
    dated="birthday",
    may_be_lookup=True,
)

# "Upcoming" is a quarter of a year, as the tool reads the words of each language
_UPCOMING = (
    ("next 90 days", r"(?:upcoming|coming|next) birthdays|(?:birthdays|bdays) coming up"),
    ("nächsten 90 Tage", r"(?:(?:die|meine) )?(?:kommende|nachste|anstehende)[nr]? geburtstage"),
    ("90 prochains jours", r"(?:les )?(?:prochains anniversaires|anniversaires a venir)"),
    ("próximos 90 días", r"(?:los )?proximos cumpleanos"),
    ("próximos 90 dias", r"(?:os )?proximos aniversarios"),
)
UPCOMING_BIRTHDAYS = tuple(
    family(
        "list",
        "birthday bday geburtstag anniversaire cumple aniversari",
        rf"(?:(?:{{show}}|which|what are|welche|was sind|wann sind|when are|quels sont"
        rf"|cuales son|quais sao) )?(?:(?:{{all}}|{{the}}|die) )*(?:{words})"
        rf"(?: gibt es| are there)?",
        needs="upcoming coming next kommend nachst anstehend prochain venir proxim",
        what="dates",
        dated="birthday",
        dates=dates,
        may_be_lookup=True,
    )
    for dates, words in _UPCOMING
)
