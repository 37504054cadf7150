"""The sentences around lists and links of notes in an answer without a language model, in the five
languages in which requests are understood.

Slots in braces are filled with names, numbers and lists. `{notes}` is "1 note" or "12 notes", with
what they are about.
"""

from collections.abc import Iterable
from typing import NamedTuple

from zkchat_cli.text.answer_phrases import language_for
from zkchat_cli.text.word_lists import ENGLISH, FRENCH, GERMAN, PORTUGUESE, SPANISH


class NotePhrases(NamedTuple):
    """Sentences, and parts of sentences. Those that restrict notes ("about bees", "in Books/")
    follow each other.
    """

    thousands: str
    one_note: str
    many_notes: str
    no_notes: str
    # What notes are
    about: str
    having: str
    lacking: str
    untagged: str
    titled: str
    in_folder: str
    linking_to: str
    not_about: str
    but_not_about: str
    outside_folder: str
    without_links: str
    not_linking_to: str
    orphaned: str
    isolated: str
    # Lists and counts
    list_of: str
    newest_of: str
    oldest_of: str
    first_of: str
    continued: str
    total_of: str
    and_more: str
    and_more_by: str
    and_more_in: str
    and_more_sections: str
    and_more_asked: str
    none_about: str
    none_found: str
    nearest: str
    tags: str
    folders: str
    no_tags: str
    no_folders: str
    top_folder: str
    # Tasks: of open ones and done ones, how many and in how many notes
    open_tasks: str
    done_tasks: str
    no_open_tasks: str
    no_done_tasks: str
    due: str
    overdue: str
    with_due_date: str
    # Names that do not exist
    no_note: str
    no_tag: str
    no_folder: str
    existing: str
    nearest_names: str
    ambiguous: str
    # Links
    links_to_one: str
    links_to_many: str
    no_links_to: str
    links_from: str
    no_links_from: str
    broken: str
    no_path: str

    def number(self, count: int) -> str:
        """A count with the language's mark between thousands."""
        return f"{count:,}".replace(",", self.thousands)

    def notes(self, count: int) -> str:
        """`1 note`, `3,000 notes`, `no notes`."""
        if count == 1:
            return self.one_note
        if count == 0:
            return self.no_notes
        return self.many_notes.format(count=self.number(count))


NOTE_PHRASES = {
    ENGLISH: NotePhrases(
        thousands=",",
        one_note="1 note",
        many_notes="{count} notes",
        no_notes="no notes",
        about="about {value}",
        having="with {value}",
        lacking="without {value}",
        untagged="without tags",
        titled="with {value} in the title",
        in_folder="in {value}/",
        linking_to="that link to {value}",
        not_about="not about {value}",
        but_not_about=", but not about {value}",
        outside_folder="outside {value}/",
        without_links="without links to other notes",
        not_linking_to="without a link to {value}",
        list_of="{notes}:",
        newest_of="The newest {count} of {notes}:",
        oldest_of="The oldest {count} of {notes}:",
        first_of="The first {count} of {notes}:",
        continued="{notes}, from {first}:",
        total_of="You have {notes}.",
        and_more="and {count} more",
        and_more_by="and {count} more: {command}",
        and_more_in="and {count} more in {name}",
        and_more_sections="and {count} more sections",
        and_more_asked="and {count} more: ask for “more”",
        none_about="No note is {wanted}.",
        none_found="No note was found {wanted}.",
        nearest="Nearest in meaning:",
        tags="{count} tags, with their notes: {names}",
        folders="{count} folders, with their notes: {names}",
        no_tags="Your notes have no tags.",
        no_folders="Your notes have no folders.",
        top_folder="the top folder",
        open_tasks="Open tasks {wanted}: {count}, in {notes}.",
        done_tasks="Done tasks {wanted}: {count}, in {notes}.",
        no_open_tasks="Your notes have no open task {wanted}.",
        no_done_tasks="Your notes have no done task {wanted}.",
        no_note="There is no note {name}.",
        no_tag="No note has the tag {name}.",
        no_folder="No note has the folder {name}.",
        existing="There are: {names}",
        nearest_names="Nearest: {names}",
        ambiguous="{name} may mean several notes: {names}",
        links_to_one="1 note links to {name}:",
        links_to_many="{count} notes link to {name}:",
        no_links_to="No other note links to {name}.",
        links_from="{name} links to {notes} {cited}:",
        no_links_from="{name} links to no other note.",
        broken="broken",
        no_path="No path of links connects {left} and {right}.",
        orphaned="that no other note links to",
        isolated="without links in either direction",
        due="due {value}",
        overdue="past the due date",
        with_due_date="with a due date",
    ),
    GERMAN: NotePhrases(
        thousands=".",
        one_note="1 Notiz",
        many_notes="{count} Notizen",
        no_notes="keine Notizen",
        about="über {value}",
        having="mit {value}",
        lacking="ohne {value}",
        untagged="ohne Schlagwörter",
        titled="mit {value} im Titel",
        in_folder="in {value}/",
        linking_to="mit einem Link zu {value}",
        not_about="nicht über {value}",
        but_not_about=", aber nicht über {value}",
        outside_folder="außerhalb von {value}/",
        without_links="ohne Links zu anderen Notizen",
        not_linking_to="ohne Link zu {value}",
        list_of="{notes}:",
        newest_of="Die neuesten zuerst, {count} von {notes}:",
        oldest_of="Die ältesten zuerst, {count} von {notes}:",
        first_of="{count} von {notes}:",
        continued="{notes}, ab Nummer {first}:",
        total_of="Du hast {notes}.",
        and_more="und {count} weitere",
        and_more_by="und {count} weitere: {command}",
        and_more_in="und {count} weitere in {name}",
        and_more_sections="und {count} weitere Abschnitte",
        and_more_asked="und {count} weitere: frag nach „mehr“",
        none_about="Ich habe keine Notiz {wanted} gefunden.",
        none_found="Ich habe keine Notiz {wanted} gefunden.",
        nearest="Der Bedeutung nach am nächsten:",
        tags="{count} Schlagwörter mit der Zahl ihrer Notizen: {names}",
        folders="{count} Ordner mit der Zahl ihrer Notizen: {names}",
        no_tags="Deine Notizen haben keine Schlagwörter.",
        no_folders="Deine Notizen haben keine Ordner.",
        top_folder="der oberste Ordner",
        open_tasks="Offene Aufgaben {wanted}: {count}, in {notes}.",
        done_tasks="Erledigte Aufgaben {wanted}: {count}, in {notes}.",
        no_open_tasks="In deinen Notizen ist keine offene Aufgabe {wanted}.",
        no_done_tasks="In deinen Notizen ist keine erledigte Aufgabe {wanted}.",
        no_note="Es gibt keine Notiz {name}.",
        no_tag="Keine Notiz hat das Schlagwort {name}.",
        no_folder="Es gibt keinen Ordner {name}.",
        existing="Es gibt: {names}",
        nearest_names="Am ähnlichsten: {names}",
        ambiguous="{name} kann mehrere Notizen meinen: {names}",
        links_to_one="1 Notiz verlinkt auf {name}:",
        links_to_many="{count} Notizen verlinken auf {name}:",
        no_links_to="Keine andere Notiz verlinkt auf {name}.",
        links_from="{name} verlinkt auf {notes} {cited}:",
        no_links_from="{name} verlinkt auf keine Notiz.",
        broken="defekt",
        no_path="Kein Weg aus Links verbindet {left} und {right}.",
        orphaned=", auf die keine andere verlinkt",
        isolated="ohne Links in irgendeine Richtung",
        due="mit Fälligkeit {value}",
        overdue="mit verstrichener Frist",
        with_due_date="mit Fälligkeitsdatum",
    ),
    FRENCH: NotePhrases(
        thousands="\u202f",
        one_note="1 note",
        many_notes="{count} notes",
        no_notes="aucune note",
        about="sur « {value} »",
        having="avec {value}",
        lacking="sans {value}",
        untagged="sans étiquette",
        titled="avec {value} dans le titre",
        in_folder="dans {value}/",
        linking_to="avec un lien vers {value}",
        not_about="pas sur {value}",
        but_not_about=", mais pas sur {value}",
        outside_folder="hors de {value}/",
        without_links="sans lien vers d'autres notes",
        not_linking_to="sans lien vers {value}",
        list_of="{notes} :",
        newest_of="Les plus récentes d'abord, {count} sur {notes} :",
        oldest_of="Les plus anciennes d'abord, {count} sur {notes} :",
        first_of="{count} sur {notes} :",
        continued="{notes}, à partir du numéro {first} :",
        total_of="Vous avez {notes}.",
        and_more="et {count} de plus",
        and_more_by="et {count} de plus : {command}",
        and_more_in="et {count} de plus dans {name}",
        and_more_sections="et {count} sections de plus",
        and_more_asked="et {count} de plus : demandez « plus »",
        none_about="Je n'ai trouvé aucune note {wanted}.",
        none_found="Je n'ai trouvé aucune note {wanted}.",
        nearest="Au plus proche par le sens :",
        tags="{count} étiquettes, avec le nombre de leurs notes : {names}",
        folders="{count} dossiers, avec le nombre de leurs notes : {names}",
        no_tags="Vos notes n'ont pas d'étiquettes.",
        no_folders="Vos notes n'ont pas de dossiers.",
        top_folder="le dossier principal",
        open_tasks="Tâches ouvertes {wanted} : {count}, dans {notes}.",
        done_tasks="Tâches terminées {wanted} : {count}, dans {notes}.",
        no_open_tasks="Vos notes n'ont aucune tâche ouverte {wanted}.",
        no_done_tasks="Vos notes n'ont aucune tâche terminée {wanted}.",
        no_note="Il n'y a pas de note {name}.",
        no_tag="Aucune note n'a l'étiquette {name}.",
        no_folder="Il n'y a pas de dossier {name}.",
        existing="Il y a : {names}",
        nearest_names="Les plus proches : {names}",
        ambiguous="{name} peut désigner plusieurs notes : {names}",
        links_to_one="1 note pointe vers {name} :",
        links_to_many="{count} notes pointent vers {name} :",
        no_links_to="Aucune autre note ne pointe vers {name}.",
        links_from="{name} pointe vers {notes} {cited} :",
        no_links_from="{name} ne pointe vers aucune note.",
        broken="rompu",
        no_path="Aucun chemin de liens ne relie {left} et {right}.",
        orphaned="vers lesquelles aucune autre ne pointe",
        isolated="sans lien dans aucun sens",
        due="avec échéance {value}",
        overdue="en retard",
        with_due_date="avec une échéance",
    ),
    SPANISH: NotePhrases(
        thousands=".",
        one_note="1 nota",
        many_notes="{count} notas",
        no_notes="ninguna nota",
        about="sobre {value}",
        having="con {value}",
        lacking="sin {value}",
        untagged="sin etiquetas",
        titled="con {value} en el título",
        in_folder="en {value}/",
        linking_to="con un enlace a {value}",
        not_about="no sobre {value}",
        but_not_about=", pero no sobre {value}",
        outside_folder="fuera de {value}/",
        without_links="sin enlaces a otras notas",
        not_linking_to="sin enlace a {value}",
        list_of="{notes}:",
        newest_of="Las más recientes primero, {count} de {notes}:",
        oldest_of="Las más antiguas primero, {count} de {notes}:",
        first_of="{count} de {notes}:",
        continued="{notes}, desde el número {first}:",
        total_of="Tienes {notes}.",
        and_more="y {count} más",
        and_more_by="y {count} más: {command}",
        and_more_in="y {count} más en {name}",
        and_more_sections="y {count} secciones más",
        and_more_asked="y {count} más: pide «más»",
        none_about="No encontré ninguna nota {wanted}.",
        none_found="No encontré ninguna nota {wanted}.",
        nearest="Lo más cercano por su significado:",
        tags="{count} etiquetas, con el número de sus notas: {names}",
        folders="{count} carpetas, con el número de sus notas: {names}",
        no_tags="Tus notas no tienen etiquetas.",
        no_folders="Tus notas no tienen carpetas.",
        top_folder="la carpeta principal",
        open_tasks="Tareas pendientes {wanted}: {count}, en {notes}.",
        done_tasks="Tareas hechas {wanted}: {count}, en {notes}.",
        no_open_tasks="Tus notas no tienen ninguna tarea pendiente {wanted}.",
        no_done_tasks="Tus notas no tienen ninguna tarea hecha {wanted}.",
        no_note="No hay ninguna nota {name}.",
        no_tag="Ninguna nota tiene la etiqueta {name}.",
        no_folder="No hay ninguna carpeta {name}.",
        existing="Hay: {names}",
        nearest_names="Lo más parecido: {names}",
        ambiguous="{name} puede ser varias notas: {names}",
        links_to_one="1 nota enlaza a {name}:",
        links_to_many="{count} notas enlazan a {name}:",
        no_links_to="Ninguna otra nota enlaza a {name}.",
        links_from="{name} enlaza a {notes} {cited}:",
        no_links_from="{name} no enlaza a ninguna nota.",
        broken="roto",
        no_path="Ningún camino de enlaces une {left} y {right}.",
        orphaned="a las que no enlaza ninguna otra",
        isolated="sin enlaces en ninguna dirección",
        due="con vencimiento {value}",
        overdue="con plazo vencido",
        with_due_date="con fecha de vencimiento",
    ),
    PORTUGUESE: NotePhrases(
        thousands=".",
        one_note="1 nota",
        many_notes="{count} notas",
        no_notes="nenhuma nota",
        about="sobre {value}",
        having="com {value}",
        lacking="sem {value}",
        untagged="sem etiquetas",
        titled="com {value} no título",
        in_folder="em {value}/",
        linking_to="com um link para {value}",
        not_about="não sobre {value}",
        but_not_about=", mas não sobre {value}",
        outside_folder="fora de {value}/",
        without_links="sem links para outras notas",
        not_linking_to="sem link para {value}",
        list_of="{notes}:",
        newest_of="As mais recentes primeiro, {count} de {notes}:",
        oldest_of="As mais antigas primeiro, {count} de {notes}:",
        first_of="{count} de {notes}:",
        continued="{notes}, a partir do número {first}:",
        total_of="Você tem {notes}.",
        and_more="e mais {count}",
        and_more_by="e mais {count}: {command}",
        and_more_in="e mais {count} em {name}",
        and_more_sections="e mais {count} seções",
        and_more_asked="e mais {count}: peça “mais”",
        none_about="Não encontrei nenhuma nota {wanted}.",
        none_found="Não encontrei nenhuma nota {wanted}.",
        nearest="O mais próximo pelo sentido:",
        tags="{count} etiquetas, com o número das suas notas: {names}",
        folders="{count} pastas, com o número das suas notas: {names}",
        no_tags="Suas notas não têm etiquetas.",
        no_folders="Suas notas não têm pastas.",
        top_folder="a pasta principal",
        open_tasks="Tarefas abertas {wanted}: {count}, em {notes}.",
        done_tasks="Tarefas feitas {wanted}: {count}, em {notes}.",
        no_open_tasks="Suas notas não têm nenhuma tarefa aberta {wanted}.",
        no_done_tasks="Suas notas não têm nenhuma tarefa feita {wanted}.",
        no_note="Não há nenhuma nota {name}.",
        no_tag="Nenhuma nota tem a etiqueta {name}.",
        no_folder="Não há nenhuma pasta {name}.",
        existing="Existem: {names}",
        nearest_names="Mais parecidas: {names}",
        ambiguous="{name} pode ser várias notas: {names}",
        links_to_one="1 nota aponta para {name}:",
        links_to_many="{count} notas apontam para {name}:",
        no_links_to="Nenhuma outra nota aponta para {name}.",
        links_from="{name} aponta para {notes} {cited}:",
        no_links_from="{name} não aponta para nenhuma nota.",
        broken="quebrado",
        no_path="Nenhum caminho de links liga {left} e {right}.",
        orphaned="para as quais nenhuma outra aponta",
        isolated="sem links em nenhuma direção",
        due="com prazo {value}",
        overdue="com prazo vencido",
        with_due_date="com prazo",
    ),
}
"""The phrases by language."""


def note_phrases(asked: Iterable[str], notes: Iterable[str] = ()) -> NotePhrases:
    """The phrases in the language of the first of these messages that tells its own; if none does,
    in the language that most of the notes are in, or in English.
    """
    return NOTE_PHRASES[language_for(asked, notes)]
