"""The patterns of requests for what happened with something, in the order of time: "timeline of the
attic", "wie hat sich der Dachboden entwickelt?". See `request_slots`.
"""

from zkchat_cli.llm.offline.request_slots import family

_NAME = (
    r"(?:timeline|time line|chronology|chronicle|history|course of events|zeitleiste|zeitachse"
    r"|zeitstrahl|chronologie|chronik|verlauf|zeitlicher? verlauf|geschichte|historie|historique"
    r"|frise(?: chronologique)?|histoire|evolution|entwicklung|cronologia|linea (?:de|del) tiempo"
    r"|linea temporal|historial|historia|evolucion|linha do tempo|historico|evolucao)"
)
_OF = (
    r" (?:(?:of|for|about|on|von|vom|zu|zum|zur|uber|des|der|de|du|sur|del|sobre|do|da|dos|das) "
    r"|d['’] ?)"
)
_ASKED = r"(?:(?:{show}|{make})(?: me| us| mir)? )?{articles}"
# "The attic project" is rather called "Attic"
_PROJECT = r"(?:project|projekts?|projet|proyecto|projeto)"
_SUBJECT = rf"{{articles}}(?:{_PROJECT} )?{{articles}}(?P<scope>.+?)(?: {_PROJECT})?"
_OVER_TIME = (
    r"(?:over (?:the )?(?:time|years|months|weeks)|im (?:lauf|laufe|verlauf) der zeit"
    r"|im zeitlichen verlauf|au (?:fil|cours) du temps|a lo largo del tiempo|ao longo do tempo)"
)
TIMELINE = family(
    "list",
    "time chronolog chronicle histor course zeit chronik verlauf geschichte frise histoire"
    " cronolog linea linha evolu entwick develop evolv progress unfold over lauf fil cours largo"
    " longo happened passe paso aconteceu",
    rf"{_ASKED}{_NAME}{_OF}{_SUBJECT}",
    rf"{_ASKED}(?P<scope>[^ ]+) (?:timeline|chronology|chronicle)",
    rf"{_ASKED}(?P<scope>[^ ]+(?: [^ ]+){{0,2}}) {_OVER_TIME}",
    rf"how (?:did|has|have) {_SUBJECT} (?:develop|evolve|progress|unfold"
    rf"|change|go)(?:ed|d)?(?: (?:so far|{_OVER_TIME}))?",
    rf"what (?:has |have )?happened (?:with|to|in) {_SUBJECT} (?:so far|until now|{_OVER_TIME})",
    rf"wie (?:hat|haben) sich {_SUBJECT} (?:{_OVER_TIME} )?(?:entwickelt|verandert)",
    rf"comment {_SUBJECT} (?:a|ont|a[- ]t[- ](?:il|elle)) evolue(?: {_OVER_TIME})?",
    rf"como (?:ha|han) (?:evolucionado|cambiado|avanzado) {_SUBJECT}",
    rf"como (?:evoluiu|evoluiram|tem evoluido|avancou) {_SUBJECT}",
    what="timeline",
    may_be_lookup=True,
)
