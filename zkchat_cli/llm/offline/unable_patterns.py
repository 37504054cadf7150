"""The patterns of requests for what no search can do: to write, to translate, to change notes, to
remind, or what the web knows. See `request_slots`.
"""

from zkchat_cli.llm.offline.request_slots import family

_COMPOSE = (
    "write|compose|draft|rewrite|rephrase|paraphrase|brainstorm|invent|generate|proofread|improve"
    "|polish|schreibe?|verfasse?|entwirf|entwerfe|formuliere?|dichte|verbessere|korrigiere|ecris"
    "|ecrivez|redige|reecris|compose|reformule|corrige|ameliore|invente|escribe|escribeme|redacta"
    "|reescribe|compon|mejora|escreva|escreve|redija|reescreva|componha|corrija|melhore|crie|crea"
    "|faca|make|create|cree|erstelle?|fais|haz|hazme"
)
_GENRES = (
    "haikus?|limericks?|verses?|paragraphs?|texts?|toast|quiz"
    "|poems?|story|stories|songs?|essays?|articles?|blog ?posts?|posts?|letters?|e-?mails?|mails?"
    "|speech|tweets?|reply|report|script|code|program|function|jokes?|ideas?|names|gedicht"
    "|geschichte|lied|aufsatz|artikel|beitrag|brief|rede|antwort|bericht|witz|ideen|poeme|histoire"
    "|chanson|essai|lettre|courriel|discours|reponse|rapport|blague|idees|poema|historia|cuento"
    "|cancion|ensayo|articulo|carta|correo|discurso|respuesta|informe|chiste|conto|cancao|ensaio"
    "|artigo|e-mail|resposta|relatorio|piada|ideias"
)
_TEXTS = (
    r"\b(?:{notes}|texts?|textes?|textos?|paragraphs?|absatz|paragraphe|parrafo|paragrafo|letter"
    r"|e-?mail|brief|lettre|carta|essay|essai|ensayo|ensaio|article|artikel|articulo|artigo|wording"
    r"|this|it|dies|das|ceci|esto|isto)\b"
)
_CHANGE = (
    "create|add|make|delete|remove|erase|rename|move|edit|update|append|change|merge|save|open|tag"
    "|erstelle?|losche?|entferne?|verschiebe?|benenne?|andere?|bearbeite?|offne|fuge|cree|ajoute"
    "|supprime|efface|renomme|deplace|modifie|crea|agrega|anade|borra|elimina|renombra|mueve|edita"
    "|cambia|crie|cria|adicione|apague|apaga|exclua|delete|renomeie|mova|edite|mude"
)
_FOR = (
    "about|on|to|for|of|in|uber|an|zu|zum|fur|sur|a|pour|de|sobre|para|ao|acerca de|aux?|con"
    "|einer|em"
)
# "Remind me what the password is" asks a question, "remind me when it rains" does not
_NO_QUESTION = r"(?!(?!(?:when|if|wann|quand|que|cuando|quando) ){asking} )"
UNABLE = (
    family(
        None,
        "write wrote compose draft rewrite rephrase paraphrase brainstorm invent generate proofread"
        " improve polish schreib verfass entwirf entwerfe formulier dichte verbesser korrigier ecri"
        " redig reecri reformul corrig amelior invente escrib redact reescrib compon mejora escrev"
        " redij reescrev corrij melhor crie crea faca make creat erstell fais haz",
        rf"(?:{_COMPOSE})(?:[- ](?:me|us|mir|uns|moi))? (?:\S+ ){{0,2}}?(?:{_GENRES})"
        rf"(?: (?:{{the}}))*(?: (?:to|an|a|para|pour|for) (?:{{the}} )*\w+(?= about| uber| sur"
        rf"| sobre))?"
        rf"(?: (?:{_FOR}) (?P<scope>.+))?",
        r"(?:write|compose|draft|schreibe?|verfasse?|ecris|redige|escribe|redacta|escreva|redija)"
        r"(?:[- ](?:me|us|mir|uns|moi))? (?:an?|some|eine?n?|une?|unas?|uma?|two|three|\d+)"
        rf" (?!.*\b(?:summary|outline|overview)\b).+?(?: (?:{_FOR}) (?P<scope>.+))?",
        # "Improve my sleep" is about no text
        r"(?:rewrite|rephrase|paraphrase|proofread|korrigiere|formuliere|reecris|reformule|corrige"
        r"|reescribe|reescreva|corrija"
        rf"|(?:improve|polish|verbessere|ameliore|mejora|melhore)(?= .*(?:\[\[|{_TEXTS})))"
        r" (?P<scope>(?:\[\[|my |the |this |meine?|die |das |ma |mon |la |le |mi |el |minha |a |o )"
        r".+)",
        task="write",
    ),
    family(
        None,
        "translat ubersetz trad",
        r"(?:translate|ubersetze?|traduis|traduisez|traduce|traducir|traduza|traduz) (?P<scope>.+?)"
        r"(?: (?:into|to|in|ins|auf|en|au|al|a|para)(?: (?:{the}))? [^\s]+)?",
        task="translate",
    ),
    family(
        None,
        "create add make delete remove erase rename move edit update append change merge save open"
        " tag erstell losch entfern verschieb benenn ander bearbeit offne fuge cree ajout supprim"
        " effac renomm deplac modif crea agreg anad borra elimin renombr muev edita cambia crie"
        " cria adicion apag exclu renome mova edite mude",
        rf"(?:{_CHANGE}) (?:(?:{{all}}|{{the}}|new|neue|nouvelle|nueva|nova) )*(?:{{notes}})"
        r"(?: nueva| nouvelle| nova)?"
        r"(?: (?P<scope>.+))?",
        rf"(?:{_CHANGE}) (?P<scope>\[\[.+)",
        # "Move semantics in C++" is a subject
        r"(?:rename|move) (?P<scope>.+) (?:to|into)(?: {the})? [^ ]+",
        r"(?:benenne?|renomme|renombra|renomeie|verschiebe?|deplace|mueve|mova)"
        r" (?P<scope2>.+) (?:in|zu|nach|en|dans|a|para|como)(?: {the})? [^ ]+(?: um)?",
        r"(?:add|remove|delete|fuge?|entferne?|losche?|ajoute|supprime|agrega|anade|quita|elimina"
        r"|adicione|remova|apague) (?:{the} )*(?:tags?|propert(?:y|ies)|links?|headings?|lines?"
        r"|sections?|schlagwort|eigenschaft|zeile|etiquettes?|ligne|etiquetas?|linea|linha) .*?"
        r"(?:to|from|zu|aus|von|a|de|en|ao?|do|da) (?P<scope>.+)",
        task="change",
    ),
    family(
        None,
        "remind reminder alarm erinner rappel recuerd lembr wecke",
        rf"(?:remind me|set a reminder|set an alarm)(?: (?:to|about|of|for|that))?"
        rf" {_NO_QUESTION}(?P<scope>.+)",
        rf"erinnere? mich {_NO_QUESTION}(?P<scope>.+)",
        rf"rappelle[- ]moi (?:de |d['’])?{_NO_QUESTION}(?P<scope>.+)",
        rf"(?:recuerdame|lembre[- ]me|me lembre) (?:que |de )?{_NO_QUESTION}(?P<scope>.+)",
        task="remind",
    ),
    family(
        None,
        "myself selbst moi meme mismo misma mesmo mesma",
        r"(?:which|what|{show}) (?:{all} |{the} )*(?:{notes}) (?:did|have|that) i"
        r" (?:write|written|wrote)(?: by)? myself",
        r"welche {notes} habe ich selbst (?:geschrieben|verfasst)",
        r"quelles {notes} (?:ai[- ]je|j['’]ai) ecrites? moi[- ]meme",
        r"que {notes} (?:he escrito|escribi) yo mism[oa]",
        r"(?:que|quais) {notes} (?:eu )?escrevi eu mesm[oa]"
        r"|(?:que|quais) {notes} eu mesm[oa] escrevi",
        task="author",
    ),
    family(
        None,
        "weather search google web internet wetter meteo tiempo clima previsao time temps quel",
        r"(?:what(?:['’]s| is|s) the |how(?:['’]s| is) the )?(?:weather|weather forecast)"
        r"(?: (?:like|today|tomorrow|now|in .+))*",
        r"(?:wie (?:ist|wird) )?das wetter(?: .+)?",
        r"quel temps (?:fait|fera).*|(?:quelle est )?la meteo.*",
        r"(?:que|como esta el|como esta o) (?:tiempo|tempo|clima)(?: .+)?",
        r"(?:search|browse|look up|check)(?: on)? (?:the )?(?:web|internet|online|google)"
        r"(?: (?:for|about))? (?P<scope>.+)|google (?!(?:{google_product})\b)(?P<scope2>.+)",
        r"(?:suche?|such) (?:im (?:internet|web|netz)) nach (?P<scope>.+)",
        r"(?:cherche|busca|busque|procure|pesquise) (?:sur internet|en internet|na internet)"
        r" (?P<scope>.+)",
        task="web",
    ),
)
