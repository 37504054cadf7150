"""The words by which requests are told apart, in English, German, French, Spanish and Portuguese.

All languages share one table, so that a request may mix them ("list alle Notizen about bees").
Texts are compared in small letters without diacritics. `{notes}` in a pattern is a slot: any of its
alternatives in `SLOTS` fits.
"""

import re
import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

from zkchat_cli.models.reports import RequestKind
from zkchat_cli.text.patterns import lazy_pattern

SLOTS = {
    # Each word fits one alternative only: a repeated one would double the readings of a message
    "articles": r"(?:{the} |l['’] ?)*",
    "notes": "notes?|entry|entries|documents?|pages?|files?|zettel|notiz(?:en)?|dokumente?|seiten?"
    "|eintrage?|fiches?|notas?|documentos?|paginas?|apuntes",
    "all": "all|every|any|each|alle[rnm]?|samtliche[rn]?|toutes?|tous|tout|todas?|todos?",
    "the": "my|our|the|of|an?|some|those|these|meine[nrms]?|mein|unsere[nrm]?|die|der|das|den|dem"
    "|des|eine?[nrms]?|mes|mon|ma|nos|notre|les?|la|une|du|de|d|l|mis?|nuestr[oa]s?|el|l[oa]s|un"
    "|unas?|minhas?|meus?|nossas?|as|os?|umas?|um|dos|da|do",
    "show": "(?:please )?(?:list|show|give|display|find|get|print|enumerate|see|name|fetch|tell"
    "|search|lister|afficher|montrer|donner|trouver|chercher|enumerer|auflisten|anzeigen|listar"
    "|mostrar|encontrar|enumerar|decir|dizer|cherche|procure|procura|buscar|me mostr[ae]|me da"
    "|zeige?|liste|gib|finde|suche?|nenne?|montre|affiche|donne|trouve|enumere|muestra|lista"
    "|enumera|da|dame|encuentra|busca|ensename|muestrame|mostre|mostra|de|encontre|busque"
    "|voir|ver|sehen)(?:[- ](?:me|us|mir|uns|moi|nous|out|all|bitte|please|mal|doch))*",
    "about": "about|on|regarding|concerning|around|for|related to|to do with|uber|zum thema|zu|zum"
    "|zur|betreffend|sur|au sujet d(?:e|u)|a propos d(?:e|u)|sobre|acerca de|"
    "relacionad[oa]s con|relacionad[oa]s com|a respeito d(?:e|o|a)",
    "mention": "mentions?|mentioning|discuss(?:es|ing)?|cover(?:s|ing)?"
    "|contain(?:s|ing)?(?: the (?:words?|phrase|term))?"
    "|(?:talks?|talking|speaks?|is|are|were) about|deal(?:s|ing)? with|say(?:s)? (?:something|"
    "anything) about|refer(?:s|ring)? to|erwahn(?:t|en)|enthalt(?:en)?|handel(?:t|n) von|gehts? um"
    "|geht es um|behandel(?:t|n)|mentionne(?:nt)?|parle(?:nt)? d(?:e|u)|traite(?:nt)? d(?:e|u)"
    "|contienne(?:nt)?|contient|menciona[nm]?|habla[n]? de|trata[nm]? de|trata[nm]? d[oa]"
    "|contiene[n]?|fala[m]? d(?:e|o|a)|fala[m]? sobre|contem"
    "|uses?(?! (?:for|to|as)\\b)|using|verwende(?:n|t)|benutz(?:en|t)|utilise(?:nt)?"
    "|utiliza[nm]?|usa[nm]?"
    "|llevan|levam",
    "label": "tags?|hashtags?|etiquetas?|etiquettes?|schlagwort(?:e|er)?|property|properties"
    "|eigenschaft|propriete|propiedad|propriedade|#",
    "make": "make|create|build|draw|generate|produce|do|prepare|erstelle?|mach|mache|baue?|erzeuge?"
    "|faz|me faz|me faca|faz-me"
    "|fais|faites|cree|genere|dresse|haz|hazme|crea|creame|genera|faca|cria|crie|gere|monte",
    "table": "table|tabel|tabelle|tableau|tabla|tabela",
    "stand": "are|is|live|sit|lie|sind|ist|liegen|stehen|stecken|sont|se trouvent|estan|esta|hay"
    "|se encuentran|estao|ficam|moram|se encontram",
    "link": "link(?:s|ing|ed)?|point(?:s|ing)?|refer(?:s|ring)?",
    "newest": "newest|latest|most recent|recent|last|neue?ste[nrms]?|letzte[nrms]?|jungste[nrms]?"
    "|plus recente?s?|dernieres?|derniers?|recentes?|mas recientes?|ultim[oa]s?|recientes?|mais"
    " recentes?|mais novas?|mas nuevas?",
    "oldest": "oldest|earliest|first written|alteste[nrms]?|fruhe?ste[nrms]?|plus ancien(?:ne)?s?"
    "|plus vieux|plus vieilles|mas antigu[oa]s?|mas viej[oa]s?|mais antig[oa]s?|mais velh[oa]s?",
    "better": "better|faster|cheaper|safer|easier|healthier|worse|besser|schneller|billiger"
    "|gesunder"
    "|meilleure?|mieux|plus rapide|mejor|peor|melhor|pior",
    "asking": "what|which|who|when|how|where|why|if|was|wie|wer|wann|wo|welche[rns]?|warum"
    "|ce qu[e']?|qu['’]est[- ]ce|qui|combien|comment|quand|quelles?|quels?|ou|pourquoi|que|como"
    "|cuando|quien|cuanto|cuantas|cual(?:es)?|donde|por que|o que|quem|quando|onde|quantas"
    "|qual|quais",
    "write": "wrote|write|written|noted?|have written|geschrieben|notiert|ecrit(?:es?)?"
    "|note(?:es?)?"
    "|escrito|anotado|apuntado|escribi|anote|escrevi|anotei",
    "something": "notes?|anything|something|entries|notiz(?:en)?|et?was|irgendwas|eintrage"
    "|quelque chose|(?:des )?notes|(?:des )?fiches|algo|(?:algunas? )?notas?|(?:alguma )?nota"
    "|apuntes|alguma coisa|anotacoes",
    "named_property": "type|status|state|rating|priority|author|category|genre|year|stage|mood"
    "|prioritat|autorin|autor|typ|art|kategorie|jahr|bewertung|statut|etat|priorite|auteur"
    "|categorie|annee|estado|prioridad|prioridade|tipo|categoria|ano|nota|genero",
    # "google drive limit" names a product, "google best boots" asks for a search
    "google_product": "ads|analytics|apps?|calendar|chrome|cloud|contacts|docs?|drive|earth|fonts?"
    "|forms?|home|keep|mail|maps|meet|photos|pixel|play|scholar|sheets?|slides|takeout|tasks"
    "|translate|voice|wallet|workspace",
    "how_many": "(?:how many|wie ?viele|combien d(?:e|['’])|cuant[ao]s|quant[ao]s"
    "|(?:the )?number of|count|anzahl(?: der)?|nombre d(?:e|['’])|numero d[eo]) ?",
    "number": r"\d{1,3}|one|two|three|four|five|six|seven|eight|nine|ten|twenty|eins?|zwei|drei"
    "|vier|funf|sechs|sieben|acht|neun|zehn|zwanzig|deux|trois|quatre|cinq|sept|huit|neuf|dix|dos"
    "|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|dois|duas|quatro|sete|oito|nove|dez",
}
NUMBERS = {
    word: value
    for value, words in {
        1: "one ein eins",
        2: "two zwei beiden deux dos dois duas",
        3: "three drei trois tres",
        4: "four vier quatre cuatro quatro",
        5: "five funf cinq cinco",
        6: "six sechs seis",
        7: "seven sieben sept siete sete",
        8: "eight acht huit ocho oito",
        9: "nine neun neuf nueve nove",
        10: "ten zehn dix diez dez",
        20: "twenty zwanzig",
    }.items()
    for word in words.split()
}


# What only points to something else
PRONOUN = lazy_pattern(
    r"it|its|this|that|these|those|them|they|he|she|him|her|there|here|you|we|i|both|one|so|up"
    r"|(?:(?:the|der|die|das) )?(?:other|first|second|third|last|latter|former)(?: one)?"
    r"|(?:the )?difference|das|es|er|sie"
    r"|dies|ihn|davon|damit|cela|ca|il|elle|eux|eso|esto|ello|ella|isso|isto|ele|ela"
    r"|(?:my|your|him|her|it)self|(?:our|them)selves|mich|dich|sich|moi|toi|mi|mim"
    r"|wrong|new|next|up|happening|going on|left|missing"
)


class RequestPattern(NamedTuple):
    """A pattern for a whole message, without its polite frame. Its groups are fields of the
    request; `scope` is read as a restriction to notes ("about bees", "with #book in Projects").
    """

    kind: RequestKind | None
    pattern: re.Pattern[str]
    values: dict[str, str | bool]


class RequestFamily(NamedTuple):
    """Patterns that are tried only if a word of the message begins with one of the `triggers`, and
    a word with one of `needs`. A trigger with a dot is a whole word: "do." is not "done".

    A pattern is compiled when it is first tried, which takes longer than all else that a message
    needs here: so a look-up should fit few triggers.
    """

    triggers: tuple[str, ...]
    needs: tuple[str, ...]
    patterns: tuple[RequestPattern, ...]

    def suits(self, words: Sequence[str]) -> bool:
        """Whether a message with these words may fit a pattern. Each word has a dot behind it."""
        is_triggered = any(word.startswith(self.triggers) for word in words)
        return is_triggered and any(word.startswith(self.needs) for word in words)


def bare_text(text: str) -> str:
    """`text` in small letters without diacritics, with as many characters."""
    composed = unicodedata.normalize("NFC", text)
    letters = (unicodedata.normalize("NFD", character)[0] for character in composed)
    return "".join(letter.lower() if len(letter.lower()) == 1 else letter for letter in letters)


def fill(template: str) -> str:
    """A pattern with its slots filled, each in a group of its own."""
    for name, alternatives in SLOTS.items():
        template = template.replace(f"{{{name}}}", f"(?:{alternatives})")
    return template


def compile_filled(template: str) -> re.Pattern[str]:
    """The pattern of a template, compiled at its first use."""
    return lazy_pattern(fill(template))


def family(
    kind: RequestKind | None,
    triggers: str,
    *templates: str,
    needs: str = "",
    **values: str | bool,
) -> RequestFamily:
    """Patterns of one kind of request; without `needs`, one of the triggers is enough."""
    patterns = [RequestPattern(kind, compile_filled(each), values) for each in templates]
    needed = tuple(needs.split()) or ("",)
    return RequestFamily(tuple(triggers.split()), needed, tuple(patterns))


def written_groups(match: re.Match[str], text: str) -> dict[str, str]:
    """The groups of a match in the bare form of `text`, as the user wrote them. A pattern with
    alternatives has numbered ones: `scope2` is another `scope`.
    """
    groups: dict[str, str] = {}
    for name, value in match.groupdict().items():
        if value is not None:
            groups[name.rstrip("0123456789")] = text[match.start(name) : match.end(name)]
    return groups


def trigger_words(message: str) -> list[str]:
    """The words of a message in its bare form, as families compare them."""
    return [f"{word}." for word in _WORD.findall(message)]


_WORD = re.compile(r"\[\[|[\w#]+")
NOTES = "note entr document page file zettel notiz dokument seite eintr fiche nota pagina apuntes"
SHOW = (
    "list show give display find get. print enumer see. name. fetch tell search affich montr donn"
    " trouv cherch auflisten anzeigen mostr encontr decir dizer procur busc zeig gib such nenn"
    " muestr da. dame ensename de. busque me. voir ver. sehen please"
)
WHICH = "which what welche quel que. qua cual"
TASKS = "task todo do. dos. action aufgabe tache tarea tarefa"
COUNTED = "many. wieviel viel. viele. combien cuant quant number count anzahl nombre numero"
NEWEST = "newest latest recent last neueste neuste letzte jungste dernier recient ultim nova nueva"
OLDEST = "oldest earliest first. alteste fru ancien vieux vieilles antig viej velh"
NUMBER = "0 1 2 3 4 5 6 7 8 9 " + " ".join(f"{word}." for word in NUMBERS)
"""Triggers of what the slots stand for, and of words in several families."""


FRAME_VOCABULARY = tuple(
    """
    list show give find notes note about which what with tagged folder summarize summarise summary
    outline overview compare difference between versus define definition meaning table count many
    number newest latest links link linked backlinks when tell more continue steps write translate
    how could would please every from mention
    liste zeige zeig notizen notiz welche uber zusammen fasse zusammenfassung uberblick vergleiche
    unterschied zwischen definition bedeutet tabelle anzahl viele neuesten verlinken wann mehr
    erzahl anleitung schreibe ubersetze bitte
    montre quelles resume compare difference entre signifie tableau combien nombre dernieres liens
    quand comment ecris traduis
    muestra muestrame todas notas sobre resume resumen compara diferencia significa tabla cuantas
    numero ultimas enlaces cuando como escribe traduce cuentame
    mostre quais resuma resumo compare diferenca tabela quantas recentes quando escreva traduza
""".split()
)
"""Words of requests that are recognized with a slip of the fingers. Of two that are as near, the
first counts.
"""
