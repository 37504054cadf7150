"""The sentences around outlines, comparisons, tables and refusals in an answer without a language
model, and those about the conversation, in the five languages in which requests are understood.

Slots in braces are filled with names, commands and lists. `{notes}` is "12 notes about bees".
"""

from collections.abc import Iterable
from typing import NamedTuple

from zkchat_cli.text.answer_phrases import language_for
from zkchat_cli.text.word_lists import ENGLISH, FRENCH, GERMAN, PORTUGUESE, SPANISH


class RequestPhrases(NamedTuple):
    """Sentences, and names of columns."""

    # Outlines, comparisons and tables
    outline: str
    outlines: str
    both: str
    side: str
    unknown_side: str
    unknown_aspect: str
    unknown_to_both: str
    side_without_room: str
    no_table_of_sides: str
    name_sides: str
    properties_of: str
    items_of: str
    no_column: str
    other_columns: str
    note: str
    item: str
    text: str
    # More
    nothing_before: str
    that_is_all: str
    more: str
    # What no search can do
    any_model: str
    cannot_write: str
    cannot_translate: str
    cannot_change: str
    cannot_remind: str
    cannot_browse: str
    cannot_tell_author: str
    cannot_count: str
    cannot_tabulate: str
    notes_say: str
    # The conversation itself
    introduction: str
    nothing_answered: str
    first_message: str
    first_question: str
    questions: str


REQUEST_PHRASES = {
    ENGLISH: RequestPhrases(
        outline="Outline of {name}, with its key lines:",
        outlines="{notes} about {name}.",
        both="About both:",
        side="{name}:",
        unknown_side="nothing in your notes.",
        unknown_aspect="nothing on {aspect} in your notes about {name}.",
        unknown_to_both="Nothing on {aspect} in your notes about {left} or {right}. They say:",
        no_table_of_sides="Your notes have no properties of all of these for a table. They say:",
        name_sides="Name two, as in “compare A and B”, or list at most four notes.",
        side_without_room="no room for passages in the context window.",
        properties_of="{notes}, with their properties:",
        items_of="The items of {name}:",
        no_column="{name} has no column {missing}.",
        other_columns="{name} has no column {missing}. Its columns: {columns}.",
        note="note",
        item="item",
        text="text",
        nothing_before="There is nothing to continue: ask a question first.",
        that_is_all="That is all I found.",
        more="More from your notes:",
        any_model="Any language model can: add {option}, or another (in the chat: /model).",
        cannot_write="I cannot write: I quote your notes and am no language model.",
        cannot_translate="I cannot translate: I quote your notes as they are.",
        cannot_change="I cannot change notes. A language model that calls tools can propose "
        "changes, and asks you first: {command}.",
        cannot_remind="zkchat has no reminders, with any model. It can remember a fact for later "
        "conversations: {command}.",
        cannot_browse="I only know your notes, and no model in zkchat searches the web.",
        cannot_tell_author="I cannot tell who wrote a note, unless a property, a tag or a folder "
        "says so: ask for “notes with author: …”, “notes tagged …” or “notes in …/”.",
        cannot_count="The last answer quotes notes: there is no list to count. I can count notes, "
        "tasks and amounts, as in “how many notes about bees?”.",
        cannot_tabulate="The last answer quotes notes: there is no list to put into a table. I can "
        "make a table of notes or of one note, as in “table of my books”.",
        notes_say="What your notes say about {name}:",
        introduction="I search your notes and quote the sentences that answer; I am not a language "
        "model. Ask me about anything in your notes, or type /help to see what else zkchat can do.",
        nothing_answered="I have not answered anything yet.",
        first_message="This is your first message.",
        first_question="Your first question was: {question}",
        questions="You asked:",
    ),
    GERMAN: RequestPhrases(
        outline="Gliederung von {name} mit den Kernsätzen:",
        outlines="{notes} über {name}.",
        both="Zu beiden:",
        side="{name}:",
        unknown_side="nichts in deinen Notizen.",
        unknown_aspect="nichts zu {aspect} in deinen Notizen über {name}.",
        unknown_to_both="Nichts zu {aspect} in deinen Notizen über {left} oder {right}. Darin "
        "steht:",
        no_table_of_sides="Für eine Tabelle fehlen Eigenschaften von allen. Darin steht:",
        name_sides="Nenne zwei, etwa „vergleiche A und B“, oder liste höchstens vier auf.",
        side_without_room="kein Platz für Stellen im Kontextfenster.",
        properties_of="{notes} mit ihren Eigenschaften:",
        items_of="Die Punkte von {name}:",
        no_column="{name} hat keine Spalte {missing}.",
        other_columns="{name} hat keine Spalte {missing}. Es hat: {columns}.",
        note="Notiz",
        item="Punkt",
        text="Text",
        nothing_before="Es gibt nichts fortzusetzen: Stelle zuerst eine Frage.",
        that_is_all="Das ist alles, was ich gefunden habe.",
        more="Mehr aus deinen Notizen:",
        any_model="Jedes Sprachmodell kann das: mit {option} oder einem anderen (im Chat: /model).",
        cannot_write="Ich kann nicht schreiben: Ich zitiere deine Notizen und bin kein "
        "Sprachmodell.",
        cannot_translate="Ich kann nicht übersetzen: Ich zitiere deine Notizen, wie sie sind.",
        cannot_change="Ich kann keine Notizen ändern. Ein Sprachmodell, das Werkzeuge aufruft, "
        "kann Änderungen vorschlagen und fragt dich vorher: {command}.",
        cannot_remind="zkchat hat mit keinem Modell Erinnerungen. Es kann sich etwas für spätere "
        "Gespräche merken: {command}.",
        cannot_browse="Ich kenne nur deine Notizen, und kein Modell in zkchat sucht im Netz.",
        cannot_tell_author="Ich weiß nicht, wer eine Notiz geschrieben hat, außer eine "
        "Eigenschaft, ein Tag oder ein Ordner sagt es: etwa „Notizen mit #eigen“.",
        cannot_count="Die letzte Antwort zitiert Notizen: Es gibt keine Liste zu zählen. Ich kann "
        "Notizen, Aufgaben und Beträge zählen, etwa „wie viele Notizen über Bienen?“.",
        cannot_tabulate="Die letzte Antwort zitiert Notizen: Es gibt keine Liste für eine Tabelle. "
        "Ich kann Notizen oder eine Notiz als Tabelle zeigen, etwa „Tabelle meiner Bücher“.",
        notes_say="Was deine Notizen über {name} sagen:",
        introduction="Ich durchsuche deine Notizen und zitiere die Sätze, die antworten; ich bin "
        "kein Sprachmodell. Frag mich nach allem, was in deinen Notizen steht; /help zeigt, was "
        "zkchat noch kann.",
        nothing_answered="Ich habe noch nichts geantwortet.",
        first_message="Das ist deine erste Nachricht.",
        first_question="Deine erste Frage war: {question}",
        questions="Du hast gefragt:",
    ),
    FRENCH: RequestPhrases(
        outline="Plan de {name}, avec ses phrases clés :",
        outlines="{notes} sur {name}.",
        both="Sur les deux :",
        side="{name} :",
        unknown_side="rien dans vos notes.",
        unknown_aspect="rien sur {aspect} dans vos notes sur {name}.",
        unknown_to_both="Rien sur {aspect} dans vos notes sur {left} ou {right}. Elles disent :",
        no_table_of_sides="Pas de propriétés de tous pour un tableau. Vos notes disent :",
        name_sides="Nommez-en deux, comme « compare A et B », ou listez-en quatre au plus.",
        side_without_room="plus de place pour des passages dans la fenêtre de contexte.",
        properties_of="{notes}, avec leurs propriétés :",
        items_of="Les éléments de {name} :",
        no_column="{name} n'a pas de colonne {missing}.",
        other_columns="{name} n'a pas de colonne {missing}. Ses colonnes : {columns}.",
        note="note",
        item="élément",
        text="texte",
        nothing_before="Il n'y a rien à continuer : posez d'abord une question.",
        that_is_all="C'est tout ce que j'ai trouvé.",
        more="Encore dans vos notes :",
        any_model="N'importe quel modèle de langage le peut : ajoutez {option}, ou un autre "
        "(dans le chat : /model).",
        cannot_write="Je ne peux pas écrire : je cite vos notes et ne suis pas un modèle de "
        "langage.",
        cannot_translate="Je ne peux pas traduire : je cite vos notes telles qu'elles sont.",
        cannot_change="Je ne peux pas modifier de notes. Un modèle de langage qui appelle des "
        "outils peut proposer des changements, et vous demande d'abord : {command}.",
        cannot_remind="zkchat n'a de rappels avec aucun modèle. Il peut retenir un fait pour de "
        "prochaines conversations : {command}.",
        cannot_browse="Je ne connais que vos notes, et aucun modèle de zkchat ne cherche sur le "
        "web.",
        cannot_tell_author="Je ne sais pas qui a écrit une note, sauf si une propriété, une "
        "étiquette ou un dossier le dit : « notes avec #perso ».",
        cannot_count="La dernière réponse cite des notes : il n'y a pas de liste à compter. Je "
        "peux compter des notes, des tâches, des montants : « combien de notes sur le thé ? ».",
        cannot_tabulate="La dernière réponse cite des notes : il n'y a pas de liste à mettre en "
        "tableau. Je peux faire un tableau de notes ou d'une note : « tableau de mes livres ».",
        notes_say="Ce que vos notes disent de {name} :",
        introduction="Je cherche dans vos notes et cite les phrases qui répondent ; je ne suis pas "
        "un modèle de langage. Posez-moi une question sur vos notes ; /help montre ce que zkchat "
        "sait faire d'autre.",
        nothing_answered="Je n'ai encore rien répondu.",
        first_message="C'est votre premier message.",
        first_question="Votre première question était : {question}",
        questions="Vous avez demandé :",
    ),
    SPANISH: RequestPhrases(
        outline="Esquema de {name}, con sus frases clave:",
        outlines="{notes} sobre {name}.",
        both="Sobre ambos:",
        side="{name}:",
        unknown_side="nada en tus notas.",
        unknown_aspect="nada sobre {aspect} en tus notas sobre {name}.",
        unknown_to_both="Nada sobre {aspect} en tus notas sobre {left} o {right}. Dicen:",
        no_table_of_sides="No hay propiedades de todos para una tabla. Tus notas dicen:",
        name_sides="Nombra dos, como en «compara A y B», o lista cuatro notas como máximo.",
        side_without_room="no hay sitio para pasajes en la ventana de contexto.",
        properties_of="{notes}, con sus propiedades:",
        items_of="Los elementos de {name}:",
        no_column="{name} no tiene la columna {missing}.",
        other_columns="{name} no tiene la columna {missing}. Sus columnas: {columns}.",
        note="nota",
        item="elemento",
        text="texto",
        nothing_before="No hay nada que continuar: haz primero una pregunta.",
        that_is_all="Eso es todo lo que encontré.",
        more="Más de tus notas:",
        any_model="Cualquier modelo de lenguaje puede: añade {option}, u otro "
        "(en el chat: /model).",
        cannot_write="No puedo escribir: cito tus notas y no soy un modelo de lenguaje.",
        cannot_translate="No puedo traducir: cito tus notas tal como son.",
        cannot_change="No puedo cambiar notas. Un modelo de lenguaje que llama a herramientas "
        "puede proponer cambios, y te pregunta antes: {command}.",
        cannot_remind="zkchat no tiene recordatorios con ningún modelo. Puede recordar un dato "
        "para otras conversaciones: {command}.",
        cannot_browse="Solo conozco tus notas, y ningún modelo de zkchat busca en la web.",
        cannot_tell_author="No sé quién escribió una nota, salvo que lo diga una propiedad, una "
        "etiqueta o una carpeta: «notas con #propio».",
        cannot_count="La última respuesta cita notas: no hay ninguna lista que contar. Puedo "
        "contar notas, tareas e importes: «¿cuántas notas sobre abejas?».",
        cannot_tabulate="La última respuesta cita notas: no hay ninguna lista para una tabla. "
        "Puedo hacer una tabla de notas o de una nota: «tabla de mis libros».",
        notes_say="Lo que dicen tus notas sobre {name}:",
        introduction="Busco en tus notas y cito las frases que responden; no soy un modelo de "
        "lenguaje. Pregúntame lo que quieras sobre tus notas; /help muestra qué más sabe hacer "
        "zkchat.",
        nothing_answered="Todavía no he respondido nada.",
        first_message="Este es tu primer mensaje.",
        first_question="Tu primera pregunta fue: {question}",
        questions="Preguntaste:",
    ),
    PORTUGUESE: RequestPhrases(
        outline="Estrutura de {name}, com as frases principais:",
        outlines="{notes} sobre {name}.",
        both="Sobre os dois:",
        side="{name}:",
        unknown_side="nada nas suas notas.",
        unknown_aspect="nada sobre {aspect} nas suas notas sobre {name}.",
        unknown_to_both="Nada sobre {aspect} nas suas notas sobre {left} ou {right}. Elas dizem:",
        no_table_of_sides="Não há propriedades de todos para uma tabela. As notas dizem:",
        name_sides="Diga duas, como em “compare A e B”, ou liste no máximo quatro notas.",
        side_without_room="sem espaço para trechos na janela de contexto.",
        properties_of="{notes}, com as suas propriedades:",
        items_of="Os itens de {name}:",
        no_column="{name} não tem a coluna {missing}.",
        other_columns="{name} não tem a coluna {missing}. As suas colunas: {columns}.",
        note="nota",
        item="item",
        text="texto",
        nothing_before="Não há nada para continuar: faça primeiro uma pergunta.",
        that_is_all="Isso é tudo o que encontrei.",
        more="Mais das suas notas:",
        any_model="Qualquer modelo de linguagem pode: acrescente {option}, ou outro "
        "(no chat: /model).",
        cannot_write="Não posso escrever: cito as suas notas e não sou um modelo de linguagem.",
        cannot_translate="Não posso traduzir: cito as suas notas como elas são.",
        cannot_change="Não posso alterar notas. Um modelo de linguagem que chama ferramentas pode "
        "propor mudanças, e pergunta antes: {command}.",
        cannot_remind="O zkchat não tem lembretes com nenhum modelo. Ele pode lembrar um fato para "
        "outras conversas: {command}.",
        cannot_browse="Só conheço as suas notas, e nenhum modelo do zkchat pesquisa na web.",
        cannot_tell_author="Não sei quem escreveu uma nota, a não ser que uma propriedade, uma "
        "etiqueta ou uma pasta o diga: “notas com #próprio”.",
        cannot_count="A última resposta cita notas: não há lista para contar. Posso contar notas, "
        "tarefas e valores: “quantas notas sobre abelhas?”.",
        cannot_tabulate="A última resposta cita notas: não há lista para uma tabela. Posso fazer "
        "uma tabela de notas ou de uma nota: “tabela dos meus livros”.",
        notes_say="O que as suas notas dizem sobre {name}:",
        introduction="Pesquiso nas suas notas e cito as frases que respondem; não sou um modelo de "
        "linguagem. Pergunte o que quiser sobre as suas notas; /help mostra o que mais o zkchat "
        "sabe fazer.",
        nothing_answered="Ainda não respondi nada.",
        first_message="Esta é a sua primeira mensagem.",
        first_question="A sua primeira pergunta foi: {question}",
        questions="Você perguntou:",
    ),
}
"""The phrases by language."""


def request_phrases(asked: Iterable[str], notes: Iterable[str] = ()) -> RequestPhrases:
    """The phrases in the language of the first of these messages that tells its own; if none does,
    in the language that most of the notes are in, or in English.
    """
    return REQUEST_PHRASES[language_for(asked, notes)]
