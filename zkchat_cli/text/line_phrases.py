"""The sentences around broken links, amounts and missing properties in an answer without a language
model, in the five languages in which requests are understood.
"""

from collections.abc import Iterable
from typing import NamedTuple

from zkchat_cli.text.answer_phrases import language_for
from zkchat_cli.text.word_lists import ENGLISH, FRENCH, GERMAN, PORTUGUESE, SPANISH


class LinePhrases(NamedTuple):
    """Sentences, and parts of sentences. `{notes}` is "12 notes about bees"."""

    no_property: str
    no_due_dates: str
    broken_links: str
    no_broken_links: str
    average: str
    total: str
    highest: str
    lowest: str
    one_value: str
    values: str
    timeline: str
    dates: str
    no_dates: str
    birthdays: str


LINE_PHRASES = {
    ENGLISH: LinePhrases(
        no_property="None of these notes has a property {name}.",
        no_due_dates="None of your open tasks has a due date.",
        broken_links="Broken links: {count}, in {notes}.",
        no_broken_links="Your notes have no broken links.",
        average="Average of {name}: {value}",
        total="Total of {name}: {value}",
        highest="Highest {name}: {value}",
        lowest="Lowest {name}: {value}",
        one_value="1 value, in {notes}:",
        values="{count} values, in {notes}:",
        timeline="{count} dated entries about {name}, in {notes}:",
        dates="{name}: {count}, in {notes}.",
        no_dates="{name}: none, of {count}.",
        birthdays="Birthdays",
    ),
    GERMAN: LinePhrases(
        no_property="Keine dieser Notizen hat eine Eigenschaft {name}.",
        no_due_dates="Keine deiner offenen Aufgaben hat ein Fälligkeitsdatum.",
        broken_links="Defekte Links: {count}, in {notes}.",
        no_broken_links="Deine Notizen haben keine defekten Links.",
        average="Durchschnitt, {name}: {value}",
        total="Summe, {name}: {value}",
        highest="Höchster Wert, {name}: {value}",
        lowest="Niedrigster Wert, {name}: {value}",
        one_value="1 Wert, in {notes}:",
        values="{count} Werte, in {notes}:",
        timeline="{count} datierte Einträge zu {name}, in {notes}:",
        dates="{name}: {count}, in {notes}.",
        no_dates="{name}: keine, von {count}.",
        birthdays="Geburtstage",
    ),
    FRENCH: LinePhrases(
        no_property="Aucune de ces notes n'a de propriété {name}.",
        no_due_dates="Aucune de vos tâches ouvertes n'a d'échéance.",
        broken_links="Liens rompus : {count}, dans {notes}.",
        no_broken_links="Vos notes n'ont aucun lien rompu.",
        average="Moyenne, {name} : {value}",
        total="Total, {name} : {value}",
        highest="Valeur la plus haute, {name} : {value}",
        lowest="Valeur la plus basse, {name} : {value}",
        one_value="1 valeur, dans {notes} :",
        values="{count} valeurs, dans {notes} :",
        timeline="{count} entrées datées sur {name}, dans {notes} :",
        dates="{name} : {count}, dans {notes}.",
        no_dates="{name} : aucun, sur {count}.",
        birthdays="Anniversaires",
    ),
    SPANISH: LinePhrases(
        no_property="Ninguna de esas notas tiene la propiedad {name}.",
        no_due_dates="Ninguna de tus tareas pendientes tiene fecha de vencimiento.",
        broken_links="Enlaces rotos: {count}, en {notes}.",
        no_broken_links="Tus notas no tienen enlaces rotos.",
        average="Media de {name}: {value}",
        total="Total de {name}: {value}",
        highest="Valor más alto de {name}: {value}",
        lowest="Valor más bajo de {name}: {value}",
        one_value="1 valor, en {notes}:",
        values="{count} valores, en {notes}:",
        timeline="{count} entradas con fecha sobre {name}, en {notes}:",
        dates="{name}: {count}, en {notes}.",
        no_dates="{name}: ninguno, de {count}.",
        birthdays="Cumpleaños",
    ),
    PORTUGUESE: LinePhrases(
        no_property="Nenhuma dessas notas tem a propriedade {name}.",
        no_due_dates="Nenhuma das suas tarefas abertas tem prazo.",
        broken_links="Links quebrados: {count}, em {notes}.",
        no_broken_links="Suas notas não têm links quebrados.",
        average="Média de {name}: {value}",
        total="Total de {name}: {value}",
        highest="Valor mais alto de {name}: {value}",
        lowest="Valor mais baixo de {name}: {value}",
        one_value="1 valor, em {notes}:",
        values="{count} valores, em {notes}:",
        timeline="{count} entradas datadas sobre {name}, em {notes}:",
        dates="{name}: {count}, em {notes}.",
        no_dates="{name}: nenhum, de {count}.",
        birthdays="Aniversários",
    ),
}
"""The phrases by language."""


def line_phrases(asked: Iterable[str], notes: Iterable[str] = ()) -> LinePhrases:
    """The phrases in the language of the first of these messages that tells its own; if none does,
    in the language that most of the notes are in, or in English.
    """
    return LINE_PHRASES[language_for(asked, notes)]
