"""The sentences around quotations in an answer without a language model, in five languages.

They are beside the texts' other tables, because citations must know which sentences of an answer
state nothing.
"""

import re
from collections import Counter
from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

from zkchat_cli.text.languages import count_word_forms
from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.text.word_lists import ENGLISH, FRENCH, FREQUENT_WORDS, GERMAN, PORTUGUESE, SPANISH
from zkchat_cli.text.words import detect_language, is_written_filler, stopwords, terms

# How long the words in a sentence may be
_LONGEST_SLOT = 200
# The weight of a common word, shared by the languages that have it
_WORD_WEIGHT = 4
# The name of a note says nothing about the language of the question
_LINK = lazy_pattern(r"\[\[[^\[\]]*\]\]")
_QUOTATION = lazy_pattern(r"(?<!\S)“([^“”„«»\n]*)”(?= \[\d)")
_ELIDED = frozenset("cdjlmnst")
# Words of task lists in any language
_TODO = frozenset(("todo", "todos"))
# Words of any language that have the stem of a common word in one: Portuguese "serve"
_SAME_STEM = frozenset(("server", "servers"))
_POSSESSIVE = "'s"
_REQUEST_WORDS = {
    ENGLISH: "list show notes note links link linked summarize summarise summary outline overview "
    "compare difference table count newest latest recent folder folders tag tags tagged write "
    "translate define definition meaning steps entries documents pages everything poem versus "
    "orphans orphaned broken overdue due average",
    GERMAN: "notiz notizen zettel liste zeige zeig gib nenne finde fasse zusammen zusammenfassung "
    "zusammenfassen uberblick gliederung vergleiche vergleich vergleichen unterschied unterschiede "
    "tabelle anzahl viele neueste neuesten letzte letzten verlinkt verlinken links verweise ordner "
    "schlagworter schlagwort mehr weiter ubersetze schreibe schreib erstelle definiere definition "
    "bedeutet verwaiste kaputte defekte aufgaben fallig uberfallige durchschnitt "
    "anleitung schritte seiten dokumente ruckverweise gedicht hallo",
    FRENCH: "notes note liste montre affiche donne trouve resume resumer synthese apercu compare "
    "comparer comparaison difference differences tableau combien nombre liens lien pointent "
    "dossier dossiers etiquette etiquettes encore suite davantage traduis ecris cree recette "
    "dernieres "
    "derniers recentes fiches definition etapes pages poeme "
    "orphelines rompus casses retard echeance taches moyenne",
    SPANISH: "notas nota lista muestra muestrame dame encuentra resume resumen resumir esquema "
    "enlaza apunta vincula "
    "compara comparar diferencia diferencias tabla cuantas cuantos numero enlaces enlace enlazan "
    "carpeta carpetas etiqueta etiquetas traduce escribe tengo hay crea ultimas "
    "recientes definicion pasos "
    "paginas poema continua sigue mas huerfanas rotos tareas vencidas atrasadas vence "
    "promedio",
    PORTUGUESE: "notas nota anotacoes lista liste mostre mostra encontre resuma resumo resumir "
    "compare comparar diferenca diferencas tabela quantas quantos numero links pasta pastas "
    "etiqueta etiquetas traduza traduz escreva escreve faz tem tenho crie "
    "ultimas recentes definicao passos paginas poema "
    "apontam linkam continue mais orfas quebrados tarefas atrasadas vence atraso",
}
"""Words of requests, which are often all that tells the language of one."""
# "Résume"; the Spanish and Portuguese word has no accent
_FRENCH_WITH_ACCENT = frozenset(("resume", "resumer"))
_LETTERS = {
    GERMAN: frozenset("äöüß"),
    FRENCH: frozenset("èêëîïœù"),
    SPANISH: frozenset("ñ¿¡"),
    PORTUGUESE: frozenset("ãõ"),
}
"""Letters and marks that few other languages have."""


class QuotationMarks(NamedTuple):
    """The marks around a quotation."""

    opening: str
    closing: str


class AnswerPhrases(NamedTuple):
    """Sentences and beginnings of sentences. `{known}` and `{missing}` are words of the question,
    `{why}` is the message of an error, `{name}` a section, `{count}` a number above 0, `{day}` a
    date.
    """

    from_notes: str
    from_memory: str
    close: str
    not_sure: str
    partly: str
    nothing_on: str
    nothing_found: str
    nothing_in_period: str
    unclear_on_day: str
    unclear_in_month: str
    no_room: str
    search_failed: str
    steps_from: str
    more_steps: str
    greeting: str
    farewell: str
    thanks: str
    consent: str

    @property
    def silent(self) -> tuple[str, ...]:
        """Those that say how sure the answer is, and nothing about its subject."""
        return (
            self.close,
            self.not_sure,
            self.partly,
            self.nothing_on,
            self.nothing_found,
            self.nothing_in_period,
            self.unclear_on_day,
            self.unclear_in_month,
        )


QUOTATION_MARKS = {
    GERMAN: QuotationMarks("„", "“"),
    FRENCH: QuotationMarks("«\xa0", "\xa0»"),
    SPANISH: QuotationMarks("«", "»"),
}
"""The marks around quotations in an answer, where they are not those of English."""

PHRASES = {
    ENGLISH: AnswerPhrases(
        from_notes="From your notes:",
        from_memory="From memory:",
        close="Closest in your notes:",
        not_sure="Not sure; the nearest I found:",
        partly="Your notes have something on {known}, but nothing on {missing}. Nearest:",
        nothing_on="Your notes have nothing on {missing}. Nearest:",
        nothing_found="I found nothing about this in your notes.",
        nothing_in_period="None of your notes is from that time.",
        unclear_on_day="No clear answer in your notes of {day}. They say:",
        unclear_in_month="No clear answer in your notes of {day}. They say:",
        no_room="There was no room in the context window for passages of your notes. Raise "
        "context.max_tokens, or ask in a new conversation.",
        search_failed="Your notes could not be searched: {why}",
        steps_from="Steps from {name}:",
        more_steps="and {count} more",
        greeting="Hello! Ask me about anything in your notes.",
        farewell="Goodbye!",
        thanks="You're welcome.",
        consent="All right.",
    ),
    GERMAN: AnswerPhrases(
        from_notes="Aus deinen Notizen:",
        from_memory="Aus dem Gedächtnis:",
        close="Am nächsten kommt in deinen Notizen:",
        not_sure="Ich bin nicht sicher; am nächsten kommt:",
        partly="In deinen Notizen steht etwas zu {known}, aber nichts zu {missing}. Am nächsten "
        "kommt:",
        nothing_on="In deinen Notizen steht nichts zu {missing}. Am nächsten kommt:",
        nothing_found="Dazu habe ich in deinen Notizen nichts gefunden.",
        nothing_in_period="Keine deiner Notizen ist aus dieser Zeit.",
        unclear_on_day="Keine klare Antwort in deinen Notizen vom {day}. Dort steht:",
        unclear_in_month="Keine klare Antwort in deinen Notizen von {day}. Dort steht:",
        no_room="Im Kontextfenster war kein Platz für Stellen aus deinen Notizen. Erhöhe "
        "context.max_tokens, oder frage in einem neuen Gespräch.",
        search_failed="Deine Notizen konnten nicht durchsucht werden: {why}",
        steps_from="Schritte aus {name}:",
        more_steps="und {count} weitere",
        greeting="Hallo! Frag mich, was du in deinen Notizen suchst.",
        farewell="Auf Wiedersehen!",
        thanks="Gern geschehen.",
        consent="In Ordnung.",
    ),
    FRENCH: AnswerPhrases(
        from_notes="D'après vos notes :",
        from_memory="En mémoire :",
        close="Ce qui s'en approche le plus dans vos notes :",
        not_sure="Je n'en suis pas sûr ; ce qui s'en approche le plus :",
        partly="Vos notes parlent de « {known} », mais ne disent rien sur « {missing} ». Au plus "
        "proche :",
        nothing_on="Vos notes ne disent rien sur « {missing} ». Au plus proche :",
        nothing_found="Je n'ai rien trouvé à ce sujet dans vos notes.",
        nothing_in_period="Aucune de vos notes ne date de cette période.",
        unclear_on_day="Pas de réponse claire dans vos notes du {day}. On y lit :",
        unclear_in_month="Pas de réponse claire dans vos notes de {day}. On y lit :",
        no_room="La fenêtre de contexte n'avait plus de place pour des passages de vos notes. "
        "Augmentez context.max_tokens, ou posez la question dans une nouvelle conversation.",
        search_failed="La recherche dans vos notes a échoué : {why}",
        steps_from="Étapes, d'après {name} :",
        more_steps="et {count} de plus",
        greeting="Bonjour ! Posez-moi une question sur vos notes.",
        farewell="Au revoir !",
        thanks="Je vous en prie.",
        consent="D'accord.",
    ),
    SPANISH: AnswerPhrases(
        from_notes="Según tus notas:",
        from_memory="De la memoria:",
        close="Lo más cercano en tus notas:",
        not_sure="No estoy seguro; lo más cercano que encontré:",
        partly="Tus notas dicen algo sobre {known}, pero nada sobre {missing}. Lo más cercano:",
        nothing_on="Tus notas no dicen nada sobre {missing}. Lo más cercano:",
        nothing_found="No encontré nada sobre esto en tus notas.",
        nothing_in_period="Ninguna de tus notas es de esas fechas.",
        unclear_on_day="No hay una respuesta clara en tus notas del {day}. Dicen:",
        unclear_in_month="No hay una respuesta clara en tus notas de {day}. Dicen:",
        no_room="En la ventana de contexto no había sitio para pasajes de tus notas. Aumenta "
        "context.max_tokens o pregunta en una conversación nueva.",
        search_failed="No se pudo buscar en tus notas: {why}",
        steps_from="Pasos de {name}:",
        more_steps="y {count} más",
        greeting="¡Hola! Pregúntame lo que quieras sobre tus notas.",
        farewell="¡Hasta luego!",
        thanks="De nada.",
        consent="De acuerdo.",
    ),
    PORTUGUESE: AnswerPhrases(
        from_notes="Das suas notas:",
        from_memory="Da memória:",
        close="O mais próximo nas suas notas:",
        not_sure="Não tenho certeza; o mais próximo que encontrei:",
        partly="Suas notas dizem algo sobre {known}, mas nada sobre {missing}. O mais próximo:",
        nothing_on="Suas notas não dizem nada sobre {missing}. O mais próximo:",
        nothing_found="Não encontrei nada sobre isso nas suas notas.",
        nothing_in_period="Nenhuma das suas notas é dessa época.",
        unclear_on_day="Nenhuma resposta clara nas suas notas de {day}. Elas dizem:",
        unclear_in_month="Nenhuma resposta clara nas suas notas de {day}. Elas dizem:",
        no_room="Não havia espaço na janela de contexto para trechos das suas notas. Aumente "
        "context.max_tokens ou pergunte em uma nova conversa.",
        search_failed="Não foi possível pesquisar nas suas notas: {why}",
        steps_from="Passos de {name}:",
        more_steps="e mais {count}",
        greeting="Olá! Pergunte o que quiser sobre as suas notas.",
        farewell="Até logo!",
        thanks="De nada.",
        consent="Tudo bem.",
    ),
}
"""The phrases by language."""


def with_marks_of(language: str, text: str) -> str:
    """An answer with the quotation marks of its language around quotations with a source, unless
    these have marks themselves.
    """
    marks = QUOTATION_MARKS.get(language)
    if marks is None:
        return text
    return _QUOTATION.sub(lambda quoted: f"{marks.opening}{quoted[1]}{marks.closing}", text)


def silent_pattern() -> str:
    """A pattern of the beginnings of sentences that say how sure an answer is."""
    patterns: list[str] = []
    for phrases in PHRASES.values():
        for phrase in phrases.silent:
            # A sentence ends at a full stop, and its beginning is enough
            beginning = re.escape(phrase.partition(". ")[0])
            patterns.append(re.sub(r"\\\{\w+\\\}", f".{{1,{_LONGEST_SLOT}}}?", beginning))
    return "|".join(patterns)


def language_of_question(text: str) -> str | None:
    """The language of a short text by its common words and its letters; None if nothing tells, or
    several languages have as many.
    """
    likely = _likely_languages(text)
    return likely[0] if len(likely) == 1 else None


def _likely_languages(text: str) -> list[str]:
    """The languages that have most of the common words and letters of a short text, or without any
    most of the endings. A word of one language tells more than a shared one.
    """
    text = _LINK.sub(" ", text)
    counts = _count_common_words(text)
    for language, letters in _LETTERS.items():
        if not letters.isdisjoint(text.lower()):
            counts[language] += 1
    counts = counts or +count_word_forms(text)
    most = max(counts.values(), default=0)
    return [language for language, count in counts.items() if count == most]


def _count_common_words(text: str) -> Counter[str]:
    """What the common words of each language in a text are worth."""
    counts: Counter[str] = Counter()
    # "c" is French in "c'est", but not in "C#"
    words = [word for word in terms(text) if word not in _ELIDED | _TODO | _SAME_STEM]
    for position, word in enumerate(words):
        owner = word.removesuffix(_POSSESSIVE)
        # "geht's" is German
        if owner != word and not _is_common(owner, GERMAN):
            words[position] = owner
            counts[ENGLISH] += _WORD_WEIGHT
    accented = {term for each in text.split() if not each.isascii() for term in terms(each)}
    for word in dict.fromkeys("'".join(words).split("'")):
        languages = _languages_of_word(word, is_accented=word in accented)
        for language in languages:
            counts[language] += _WORD_WEIGHT // len(languages)
            # "o" is frequent in Portuguese, and only a word in Spanish
            counts[language] += _tells_more(word, language)
    return counts


def _languages_of_word(word: str, *, is_accented: bool) -> list[str]:
    """The languages in which a word without its accents is common: "thé" is not "the"."""
    if is_accented and word in _FRENCH_WITH_ACCENT:
        return [FRENCH]
    languages = [language for language in PHRASES if _is_common(word, language)]
    return [each for each in languages if each != ENGLISH] if is_accented else languages


def _is_common(word: str, language: str) -> bool:
    is_known = word in stopwords(language) or is_written_filler(word, language)
    return is_known or word in _request_words(language)


def _tells_more(word: str, language: str) -> bool:
    return word in FREQUENT_WORDS[language].split() or word in _request_words(language)


@cache
def _request_words(language: str) -> frozenset[str]:
    return frozenset(_REQUEST_WORDS[language].split())


def phrases_for(question: str, notes: Iterable[str]) -> AnswerPhrases:
    """The phrases in the language of a question; if that does not tell, in the language that most
    of the notes are in, or in English.
    """
    return PHRASES[language_for((question,), notes)]


def language_for(asked: Iterable[str], notes: Iterable[str]) -> str:
    """The language of the first of these messages that tells its own, perhaps together with the
    others; if none does, the one that most of the notes are in, or English. It is one that has
    phrases.
    """
    likely: list[str] = []
    for message in asked:
        found = _likely_languages(message)
        likely = [language for language in likely if language in found] or likely or found
        if len(likely) == 1:
            return likely[0]
    texts = list(notes)
    counts = Counter(filter(None, map(detect_language, texts)))
    if not counts and (together := detect_language(" ".join(texts))):
        # Short notes do not tell their language one by one
        counts[together] += 1
    of_notes = max(counts, key=lambda each: counts[each], default=ENGLISH)
    # "notas sobre salud" is Spanish or Portuguese, but not English
    if likely and ENGLISH not in likely and of_notes not in likely:
        return likely[0]
    return of_notes if of_notes in PHRASES else ENGLISH
