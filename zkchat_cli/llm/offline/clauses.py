"""The clause behind a noun: the state or the restriction of the notes that it names. Pure."""

from collections.abc import Mapping

from zkchat_cli.llm.offline.mentions import mentioned_name
from zkchat_cli.llm.offline.negations import split_negation
from zkchat_cli.llm.offline.note_scope import clean_subject, has_date, read_dates, read_scope
from zkchat_cli.llm.offline.note_states import is_known_state, read_state
from zkchat_cli.llm.offline.request_slots import bare_text, compile_filled
from zkchat_cli.text.patterns import lazy_pattern

_CLAUSE_BEGIN = compile_filled(
    r"(?:(?:that|which|who|die|qui|que|do|did|have|has|had|were|was|are|is|i|we|sind|waren|habe|ich"
    r"|wir|gab es|gibt es|sont|etaient|y a[- ]t[- ]il|ai[- ]je|j['’]ai|il y a|son|estan|hubo|hay"
    r"|tengo|tuve|tuvimos|he|sao|foram|estao|tenho|tive|tivemos|eu|houve|ha|there|took place"
    r"|happened) )+"
)
_ABOUT = compile_filled(r"(?:{about}|{mention}) ")
_FOLDER_NAME = lazy_pattern(r"[^\W\d_a-zà-ÿ]\w")
_RELATIVE = lazy_pattern(r"(?:that|which|die|qui|que) ")
_WITH = lazy_pattern(
    r"(?:with|mit|avec|con|com) (?:(?:an?|the|eine?[rmn]?|dem|der|une?|le|la|una?|el|uma?|o|a) )?"
    r"(?P<value>(?!it|them|this|that|us|me\b)[^\W\d]\S*(?: [^\W\d]\S*)?)"
)
_BY = lazy_pattern(
    r"(?:(?:written|geschrieben|ecrits?|escrit[oa]s) )?(?:by|von|par|de|d['’]|do|da|del|from|aus) ?"
    r"(?P<value>[^\W\d]\S*(?: [^\W\d]\S*){0,3})"
)
_BEING = lazy_pattern(
    r"(?:(?:that|which|die|qui|que|ne|n['’]|no|nao) ?)*(?:are|is|were|sind|ist|sont|est|son|es"
    r"|estan|esta|sao|e|estao)\b"
)
_SCOPE_WORD = compile_filled(
    r"(?:(?:{about}|{mention}|{link}|serves?|feeds?|servent|sirven|servem|(?:fur|pour|para)(?=\s\d)|over|sous|moins|menos|less|with|without|but|except|not|from|since|before|after|between|in"
    r"|during|on|under|tagged|where|whose|weniger als|mehr als|mindestens"
    r"|hochstens|takes?|needs?|dauern|brauchen|prennent|durent|tardan"
    r"|duran|demoram|written|geschrieben|ecrits?|escrit[oa]s|par|rated|scored|bewertet|notee?s?|valorad[oa]s|calificad[oa]s"
    r"|puntuad[oa]s|avaliad[oa]s|classificad[oa]s|die mit"
    r"|by|mit|ohne|aber|ausser|nicht|seit|vor|nach"
    r"|zwischen|im|am|aus|unter|von|vom|avec|sans|mais|sauf|depuis|avant|apres|entre|dans|en|du|de|ne|con"
    r"|sin|pero|excepto|salvo|desde|antes|despues|com|sem|mas|exceto|depois|em|na|no|nao|da|do|del|el"
    r"|today|yesterday|last|this|diese\w*|letzte\w*|linked|do not|does not|don['’]t|are not|have no"
    r"|haben? kein\w*)\b|d['’]|n['’]|\#)"
)


_OF_STARS = (
    r"(?: ?/ ?\d{1,3})?(?: (?:stars?|points?|sternen?|punkten?|etoiles?|estrellas?|estrelas?))?"
)
# "I rated 5", "die ich mit 5 bewertet habe", "que j'ai notés 5"
_RATED = lazy_pattern(
    r"(?:(?:that|which|die|que) )?"
    r"(?:(?:i|we|ich|wir|eu|yo|nous avons|nos|he|hemos|did i|did we) |j['’]ai )?(?:have )?"
    r"(?:rated?|gave|given|scored?|bewertet|notee?s?|valore|puntue|puntuado|valorado|califique"
    r"|calificado|avaliei|avaliado|pontuei)(?: (?:with|as|mit|de|a|con|com))? ?"
    rf"(?P<value>\d{{1,3}}){_OF_STARS}"
    rf"|(?:die )?(?:ich|wir) mit (?P<value2>\d{{1,3}}){_OF_STARS} bewertet(?: (?:habe|haben))?"
)
# "Who live in Porto", "die in München wohnen"
_LIVING = lazy_pattern(
    r"(?:(?:that|which|who|qui|que) )?(?:(?:do|does) )?(?:live|lives|are living|habitent|vivent"
    r"|viven|moram|vivem) (?:in|at|a|en|em|no|na)(?: (?:la|el|o|a))? (?P<place>[^\W\d][^,;]{1,30})"
    r"|(?:die )?(?:in|aus) (?P<place2>[^\W\d]\S*(?: \S+)?) (?:wohnen|leben)"
    r"|(?:wohnen|leben) in (?P<place3>[^\W\d]\S*(?: \S+)?)"
)
_HAVING = lazy_pattern(
    r"(?:^|[ ,]+)(?:(?:do|have) (?:i|we)(?: have)?|(?:i|we) have|habe ich|ich habe|ai[- ]je"
    r"|(?:que )?j['’]ai|(?:que )?tengo|(?:que )?(?:eu )?tenho|hay|ha|gibt es|are there|there are)"
    r"(?: (?:any )?(?:notes?|notizen|notas))?(?: (?:on|about|of|uber|zu|sur|sobre))?$"
)
_KNOWING = lazy_pattern(
    r"^(?:do i know|i know|kenne ich|ich kenne|je connais|connais[- ]je|conozco|(?:eu"
    r" )?conheco)\b ?"
)


# "I read this year": as a part of a question it may be no date, but here it chooses notes
_PRESENT = lazy_pattern(
    r"\b(?:(?:in|im|en|em|during|durant|durante|pendant) )?n?"
    r"(?P<words>(?:this|diese[snmr]?|cette|ce|est[ea])"
    r" (?:year|month|week|jahr|monat|woche|annee|mois|semaine|ano|mes|semana)(?:-ci)?)\b"
)
_PRESENT_IN_FRENCH = {
    "cette annee": "this year",
    "ce mois": "this month",
    "ce mois-ci": "this month",
    "cette semaine": "this week",
}
_HAVE = lazy_pattern(r"\b(?:have|has|had|haben|hat|ont|a|tienen|tiene|tem)\b")
# "Have the status active", "den Status aktiv haben"
_HAVING_VALUE = compile_filled(
    r"(?:(?:that|which|die|qui|que) )?(?:(?:have|has|had|haben|hat|ont|a|tienen|tiene|tem) )?"
    r"(?:(?:the|an?|den|die|das|eine?n?|le|la|l['’]|une?|el|una?|o|um|uma) ?)?"
    r"(?P<name>{named_property})(?::| (?:is|ist|est|es|e|of|von))? (?P<value>[^\W\d][^,;]{0,29}?)"
    r"(?: (?:haben|hat))?"
)


def read_clause(text: str) -> dict[str, object] | None:
    """The state or the restriction that a clause behind a noun says ("I have not finished",
    "without a rating", "that do not mention bees"); None for another clause.
    """
    having = _HAVING.search(bare_text(text))
    text = text[: having.start()] if having else text
    knowing = _KNOWING.match(bare_text(text))
    text = text[knowing.end() :] if knowing else text
    living = _LIVING.fullmatch(bare_text(text))
    if living:
        group = next(name for name, value in living.groupdict().items() if value)
        return {"maker": text[living.start(group) : living.end(group)]}
    if rated := _RATED.fullmatch(bare_text(text)):
        return {"property": f"rating: = {rated['value'] or rated['value2']}"}
    if named := mentioned_name(text):
        return {"about": clean_subject(named)}
    if "#" in text or "[[" in text:
        return _read_restriction(text)
    if valued := _read_value(text):
        return valued
    of_time = _read_dated_clause(text)
    return of_time if of_time is not None else _read_undated_clause(text)


def _read_value(text: str) -> dict[str, object]:
    """The property and its value that a clause says, or the state that these mean; empty for
    another clause.
    """
    found = _HAVING_VALUE.fullmatch(bare_text(text))
    if found is None or has_date(text) or not _HAVE.search(bare_text(text)):
        return {}
    value = text[found.start("value") : found.end("value")]
    if is_known_state(value):
        return {"state": value, "is_negated": False}
    return {"property": f"{found['name']}: {value}"}


def _read_undated_clause(text: str) -> dict[str, object] | None:
    """The state that a clause says, or else its restriction."""
    state = None if has_date(text) else read_state(text)
    if state and not state.value:
        return None if state.is_negated else {}
    if state and (is_known_state(state.value) or _BEING.match(bare_text(text))):
        return {"state": state.value, "is_negated": state.is_negated}
    return _read_restriction(text)


def _read_dated_clause(text: str) -> dict[str, object] | None:
    """The state or the restriction and the time that a clause says; None without both."""
    dated = read_dates(text)
    words = dated.words if dated else ""
    rest = dated.rest if dated else ""
    if present := _PRESENT.search(bare_text(text)):
        words = text[present.start("words") : present.end("words")]
        words = _PRESENT_IN_FRENCH.get(bare_text(words), words)
        rest = " ".join(f"{text[: present.start()]} {text[present.end() :]}".split())
    if not words:
        return None
    # "I finished in October"
    state = read_state(rest)
    if state and is_known_state(state.value):
        return {"state": state.value, "is_negated": state.is_negated, "dates": words}
    # "there were in May with Ana"
    of_rest = read_clause(rest) if rest else {}
    begins = present or _SCOPE_WORD.match(bare_text(text)) or text.startswith("of ")
    if of_rest is None or not (rest or begins):
        return None
    return {**of_rest, "dates": words}


def _read_restriction(text: str) -> dict[str, object] | None:
    """The restriction that a clause says, behind its verb or at once; None if it says none."""
    if split_negation(text):
        return read_scope(text)
    begin = _CLAUSE_BEGIN.match(bare_text(text))
    for rest in (text[begin.end() :] if begin else text, text):
        if _SCOPE_WORD.match(bare_text(rest)):
            fields = read_scope(rest)
            # "find bugs in python code" restricts no notes
            is_stray = fields.get("about") and not _ABOUT.match(bare_text(rest))
            return _read_companion(rest) if is_stray else fields or None
    return None


def _read_companion(text: str) -> dict[str, object] | None:
    """Whom or what notes are with or by, "with Ana"; None for another clause."""
    for name, pattern in (("companion", _WITH), ("maker", _BY)):
        found = pattern.fullmatch(bare_text(text))
        value = text[found.start("value") : found.end("value")] if found else ""
        if value and (name == "companion" or value[0].isupper()):
            return {name: value}
    return None


def suits_noun(fields: Mapping[str, object], groups: Mapping[str, str]) -> bool:
    """Whether a noun can name notes, and the words beside it their state: a known one, or in a
    question what they are ("which guides are reviewed").
    """
    noun = bare_text(str(fields.get("noun", "")))
    # "list directories in linux" names no folder of notes
    if noun and fields.get("is_guess") and not _FOLDER_NAME.match(str(fields["folder"])):
        return False
    state = str(fields.get("state", ""))
    if not state or is_known_state(state):
        return True
    clause = bare_text(groups.get("clause", ""))
    # "tout le monde est venu" lists nothing
    is_asked = "listed" in groups or bool(_RELATIVE.match(clause))
    return "known_state" not in groups and is_asked and bool(_BEING.match(clause))
