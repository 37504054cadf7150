"""The patterns of requests for notes: lists, counts, tables and links. See `request_slots`."""

from zkchat_cli.llm.offline.request_slots import (
    NEWEST,
    NOTES,
    NUMBER,
    family,
)

_TO = (
    r"(?:(?:{show} )?(?:{all} |{the} )*(?:{notes})"
    r"|(?:which|what|welche|quelles?|que|quais|cuales)(?: (?:of )?(?:{the} )?(?:{notes}))?|who|wer"
    r"|was|o que|qui|quien|quem|qu['’]est[- ]ce qui"
    r"|(?:{show} )?(?:everything|anything|alles|tout|todo|tudo),?(?: was| ce)?)"
)
# "Where is the wifi password?" is no such question
MENTIONED = family(
    "links",
    "mention link cited referenced",
    r"where is (?P<note>.+) (?:mentioned|linked|cited|referenced)",
    needs="where.",
    direction="to",
)
LINKS = family(
    "links",
    "link backlink point refer connect related verlink ruckverw verweis zeig hang verbind pointe"
    " lien relie renvoi lie enlaz enlac conect apunt apont liga retrolien retroenlac ruckverknupf"
    " wohin outgoing incoming path vincul aponta linka cite cita quot zit",
    _TO + r" (?:that |which |die |qui |que )?(?:{link}|refer(?:ence)?s?) (?:back )?to (?P<note>.+)",
    _TO + r" (?:that |which |die |qui |que )?(?:references?|cites?|quotes?|citent|cite|citan?"
    r"|citam?|verlinken|verlinkt|zitieren|referenzieren) (?!auf |zu )(?P<note>.+)",
    r"(?:which|what) (?:{notes} )?(?:is|are) linked to (?P<note>.+)|what['’]s linked to"
    r" (?P<note2>.+)",
    r"(?:{notes}) (?:linking|pointing|that (?:link|point)) (?:back )?to (?P<note>.+)"
    r"|(?:{notes}) (?:liees?|reliees?|qui (?:pointent|renvoient)) (?:a|vers) (?P<note2>.+)",
    r"back-?links (?P<note>[^ ]+(?: [^ ]+)?)|back-?links? (?:de|del|do|da|von|du|para|a)"
    r" (?P<note2>.+)",
    r"(?:links?|enlaces?) (?:para|hacia|vers) (?P<note>.+)",
    _TO + r" (?:sind |die )?mit (?P<note>.+) (?:verlinkt|verknupft|verbunden)(?: sind)?",
    r"(?:{show} |what are )?(?:{all} |{the} )*(?:back-?links?|incoming links?|inbound links?"
    r")(?: of| for| to| in) (?P<note>.+)"
    r"|(?:{show} )?(?:{all} |{the} )*(?:back-?links?) (?P<note2>\[\[.+)"
    r"|(?:{show} |what are )?(?:{all} |{the} )*(?:links? (?:pointing )?to|references? to)"
    r" (?P<note3>.+)",
    _TO + r" (?:die )?(?:auf |zu )?(?:verlink(?:t|en)|verweis(?:t|en)|zeig(?:t|en)) (?:auf|zu)"
    r" (?P<note>.+)",
    _TO + r" (?:die )?(?:auf|zu) (?P<note>.+) (?:verlink(?:t|en)|verweis(?:t|en)|zeig(?:t|en))",
    r"(?:{show} )?(?:{all} |{the} )*(?:ruckverweise?|backlinks?|ruckverknupfungen|eingehende[n]?"
    r" (?:links|verweise)|links?|verweise)(?: (?:auf|zu|von|fur|zur|zum)) (?P<note>.+)",
    r"(?:which|what|welche|quels?|que|quais|cuales) (?:back-?)?(?:links?|liens?|enlaces?)"
    r" (?:point|lead|go|fuhren|zeigen|verweisen|pointent|menent|apuntan|llevan|apontam|levam)"
    r" (?:to|zu|auf|vers|a|hacia|para) (?P<note>.+)",
    _TO + r" (?:qui )?(?:pointe(?:nt)?|renvoie(?:nt)?|lie(?:nt)?) (?:vers|a) (?P<note>.+)",
    r"(?:{show} )?(?:{all} |{the} )*(?:liens? entrants?|retroliens?|liens? vers)"
    r"(?: (?:de|du|d['’]|vers|pour))* (?P<note>.+)",
    _TO + r" (?:que )?(?:se )?(?:enlaza[n]?|apunta[nm]?|vincula[n]?|linka[m]?|aponta[m]?|liga[m]?)"
    r" (?:a|con|hacia|para|com|ao|a la) (?P<note>.+)",
    r"(?:{show} )?(?:{all} |{the} )*(?:enlaces? entrantes?|retroenlaces?|enlaces? (?:a|hacia)"
    r"|links? (?:de )?entrada|links? recebidos|links? que (?:apontam|chegam))"
    r"(?: (?:de|del|a|para|do|da|em))* (?P<note>.+)",
    direction="to",
)
LINKS_FROM = family(
    "links",
    LINKS_TRIGGERS := " ".join(LINKS.triggers),
    r"(?:where|(?:to )?(?:what|which|wich)(?: (?:{notes}))?)"
    r" do(?:es)? (?P<note>.+?) (?:link|point|refer)(?: to)?",
    r"(?:{show} |what are )?(?:{all} |{the} )*(?:outgoing|outbound|forward) links?"
    r"(?: (?:of|from|in|for))? (?P<note>.+)",
    r"(?:{show} |what are )?(?:{all} |{the} )*links (?:from|in|inside|of) (?P<note>.+)",
    r"(?:what|which|welche|quels?|que|quais|cuales) (?:links?|liens?|enlaces?)"
    r" (?:does|do|hat|haben|a|ont|tiene|tienen|tem) (?P<note>.+?)(?: have| contain)?",
    r"(?:what|which) (?:{notes} )?(?:is|are) linked (?:from|in) (?P<note>.+)",
    r"(?:quels?|que|quais) (?:liens?|enlaces?|links?) (?:contient|contiene|contem) (?P<note>.+)",
    r"para (?:quais|que) (?:{notes}) (?P<note>.+?) (?:aponta|linka)|para onde (?P<note2>.+?)"
    r" (?:aponta|linka)",
    r"(?:{the} )*(?:liens?|enlaces?|links?) (?:de|des|du|del|da|do|dans|en|em|na|no)"
    r" (?P<note>(?:la |le |el |a |o )?(?:note|nota) .+|\[\[.+)",
    r"(?:wohin|worauf|auf (?:was|welche (?:{notes}))) (?:verlink|verweis|zeig)(?:t|en)"
    r" (?P<note>.+)",
    r"(?:{show} )?(?:{all} |{the} )*(?:ausgehende[nr]? (?:links|verweise)|links (?:in|aus))"
    r"(?: (?:von|aus|in))? (?P<note>.+)",
    r"(?:vers|a) (?:quelles? (?:{notes})|quoi) (?:pointe|renvoie)(?:nt)? (?P<note>.+)",
    r"(?:{show} )?(?:{all} |{the} )*liens? sortants?(?: (?:de|du))? (?P<note>.+)"
    r"|(?:{show} )(?:{all} |{the} )*liens? (?:de|du|dans) (?P<note2>.+)",
    r"(?:a|para|hacia) (?:que|cuales|quais|onde|donde)(?: (?:{notes}))? (?:enlaza|apunta|vincula"
    r"|linka|aponta)(?: [oa])? (?P<note>.+)",
    r"(?:{show} )?(?:{all} |{the} )*(?:enlaces? salientes?|links? que saem|links? de saida)"
    r"(?: (?:de|del|do|da))? (?P<note>.+)"
    r"|(?:{show} )(?:{all} |{the} )*(?:enlaces?|links?) (?:de|del|do|da|en|em) (?P<note2>.+)",
    direction="from",
)
LINKS_BETWEEN = family(
    "links",
    "connect link relate path. way. chain zusammen verbund verlink verknupf lie relie ligad"
    " conectad relacion conecta enlazad",
    r"how (?:are|is|do) (?P<note>.+?) (?:and|with|to) (?P<other>.+?)"
    r" (?:connected|linked|related|connect|relate)(?: to each other)?",
    r"how (?:is|are|does) (?P<note>.+?) (?:connected|linked|related|connect|relate) (?:to|with)"
    r" (?P<other>.+)",
    r"(?:{show} |what is )?(?:{all} |{the} )*(?:(?:link )?path|connections?|way|chain of links)"
    r" (?:between|from) (?P<note>.+?) (?:and|to) (?P<other>.+)",
    r"wie (?:hangen|sind) (?P<note>.+?) (?:und|mit) (?P<other>.+?)"
    r" (?:zusammen|verbunden|verlinkt|verknupft)",
    r"comment (?P<note>.+?) et (?P<other>.+?)"
    r" sont(?:-ils|-elles)? (?:lies|liees|relies|reliees|connectes)",
    r"como (?P<note>.+?) (?:y|e) (?P<other>.+?)"
    r" (?:estan|estao|sao|se) (?:ligad[oa]s|conectad[oa]s|relacionad[oa]s|relacionan|relacionam"
    r"|conectan|conectam|enlazad[oa]s)",
    r"is (?P<note>.+?) (?:linked|connected|related) (?:to|with) (?P<other>.+)",
    r"comment sont (?:lies|liees|relies|reliees|connectes) (?P<note>.+?) et (?P<other>.+)",
    r"como (?:esta[no]?|estao|se) (?:conectad[oa]s|relacionad[oa]s|enlazad[oa]s|conectan"
    r"|relacionan|ligad[oa]s"
    r"|relacionam|conectam) (?P<note>.+?) (?:y|e|con|com) (?P<other>.+)",
    direction="between",
    may_be_lookup=True,
)
# A bare "table of X" is a table of contents, of prices: a verb, notes, a tag or a link tell
_OF_IN_TABLES = (
    r"(?: (?:of|from|with|for|on|about|der|aus|mit|von|uber|zu|fur|des?|du|avec|a partir de|con"
    r"|sobre|del|dos?|das?|com|d['’]))"
)
_AS = (
    r" (?:as|in|into|in the form of|als|in eine[rm]?|in form einer|comme"
    r"|sous(?: la)? forme d['’ ]?(?:e|un)?|dans|en|como|em|en forma de|em forma de|na forma de)"
)
TABLE = family(
    "table",
    "table tabel tableau tabla tabela tabulat tablea",
    r"(?:(?:{show}|{make})(?:[- ](?:me|mir|moi|uns|bitte|us))* )(?:{the} )*{table}"
    # "Create table statement" is of databases
    + rf"{_OF_IN_TABLES}+ (?P<scope>.+)",
    r"(?:{the} )*{table}"
    + rf"{_OF_IN_TABLES}* (?P<scope>[^,:]+ (?:with|showing|mit|avec|con|com) [^,:]+)",
    r"(?:as|als|en|comme|como|em|sous(?: la)? forme d['’ ]?(?:e|un)?|in form einer|in|dans)"
    r" ?{articles}{table}[:,]? (?P<scope>.+)",
    r"{table} ?: (?P<scope>.+)",
    r"(?:(?:{show}|{make}|put|setze?|mets|pon|ponha|coloque) )?(?P<scope>[^,:]{1,60}?)"
    + _AS
    + r" ?{articles}{table} (?:with|showing|mit|avec|con|com) (?P<columns>.+)",
    r"(?:(?:{show}|{make})(?:[- ](?:me|mir|moi|uns|bitte|us))* )?(?:{the} )*{table}"
    + _OF_IN_TABLES
    + r"* (?P<scope>(?:\[\[|#|(?:{all}|my|our|meine[nrs]?|mes|mon|ma|mis?|meus|minhas?|unsere[nr]?)"
    r" |(?:{the} )*(?:{notes})(?:$| )).*)",
    r"(?:{show}|{make}|put|turn|convert|format|bring|setze?|setz|mets|mettez|pon|ponme|coloque"
    r"|ponha)"
    r" (?P<scope>.+?)" + _AS + r" ?{articles}{table}(?: form)?",
    r"(?:tabulate|tabellarisch) (?P<scope>.+)",
    r"{table} (?:mit|aus|von) (?P<scope>.+?) (?:machen|erstellen|anlegen)",
    r"(?:{the} )*{table} (?:mit|aus|von|der) (?P<scope>.+?) (?:machen|erstellen|anlegen)",
    r"(?!compar|contrast|vergleich)(?P<scope>[^,:]{1,60}?)"
    + _AS
    + r" ?{articles}{table}(?: form)?",
)
_TAGS_OR_FOLDERS = "tag folder directory schlagw ordner verzeichnis etiquet dossier carpeta pasta"
COUNT = family(
    "count",
    "how many number count compte wie wieviel anzahl zahl combien nombre cuant cuenta numero"
    " quant conta"
    " total hom",
    r"(?:how (?:many|much)|what(?: is|['’]s) the (?:total )?(?:number|count) of|(?:total"
    r" )?(?:number"
    r"|count) of"
    r"|count(?: up)?|total|tell me how many) (?:(?:{all} |{the} )*(?:{notes})|(?P<what>tags"
    r"|folders))"
    r"(?: (?P<scope>.+))?",
    r"(?:wie ?viele?|anzahl(?: der| aller| meiner)?|zahle?(?: der| aller| meiner)?)"
    r" (?:(?:{all} |{the} )*(?:{notes})|(?P<what>tags|ordner|schlagworter))(?: (?P<scope>.+))?",
    r"(?:(?:il y a |ai[- ]je |j['’]ai )?combien (?:ai[- ]je |j['’]ai |y a[- ]t[- ]il )?d(?:e|['’])"
    r"|nombre d(?:e|['’])|compte[rz]? {the}) ?"
    r"(?:(?:{all} |{the} )*(?:{notes})|(?P<what>tags|etiquettes|dossiers))(?: (?P<scope>.+))?",
    r"(?:cuant[ao]s|numero (?:total )?d[eo]|cuenta|contar?|quant[ao]s|conte|total de)"
    r" (?:(?:{all} |{the} )*(?:{notes})|(?P<what>tags|etiquetas|carpetas|pastas))"
    r"(?: (?P<scope>.+))?",
    needs=f"{NOTES} {_TAGS_OR_FOLDERS}",
)
_FRAME_WROTE = (
    r"what (?:did|have|had) (?:i|we) (?:write|written|wrote|note(?:d)?(?: down)?|do|done"
    r"|learn(?:ed)?|add"
    r"|added|change|changed)",
    r"was (?:habe?|hatte|haben) (?:ich|wir)",
    r"qu['’]?(?:est[- ]ce que? )?(?:j['’ ]?(?:ai|avais)|ai[- ]je|avons[- ]nous|a[- ]t[- ]on"
    r"|(?:on|nous) (?:a|avons))"
    r" (?:ecrit|note|fait|ajoute|appris)",
    r"que? (?:he |hemos |habia )?(?:escribi|escrito|anote|anotado|hice|hecho|escribimos|hicimos"
    r"|aprendi)",
    r"(?:o )?que (?:eu )?(?:escrevi|anotei|fiz|escrevemos|fizemos|aprendi)",
    r"what (?:all )?(?:happened|has happened|went on|was going on)",
    r"qu(?:['’]?est[- ]ce qui|e) s['’]est (?:il )?passe|que s['’]est[- ]il passe",
    r"que (?:paso|ha pasado)",
    r"(?:o )?que (?:aconteceu|houve|se passou)",
    r"(?:what (?:has |have )?changed|qu['’]est[- ]ce qui a change|que (?:cambio|ha cambiado)"
    r"|(?:o )?que mudou)(?=.* (?:since|depuis|desde) )",
)
WRITTEN = family(
    "list",
    "what. was. qu. que. o.",
    *(rf"(?:{frame}) (?P<when>.+)" for frame in _FRAME_WROTE),
    r"was (?:ist|war)(?: alles)? (?P<when>.+) (?:passiert|geschehen|los)",
    r"was hat sich (?P<when>(?:.+ )?seit .+) (?:geandert|verandert|getan)",
)
_IN_JOURNAL = (
    r"(?:in|im|dans|en|em|no) ?(?:(?:{the}) )*"
    r"(?P<noun>journal|diary|log ?book|tagebuch|diario|journal intime|carnet)"
)
WRITTEN_IN_JOURNAL = family(
    "list",
    "journal diary tagebuch diario carnet log",
    *(
        rf"(?:{frame}) {_IN_JOURNAL} (?P<when>.+?)(?: geschrieben| notiert)?"
        for frame in _FRAME_WROTE
    ),
    *(
        rf"(?:{frame}) (?P<when>.+?) {_IN_JOURNAL}(?: geschrieben| notiert)?"
        for frame in _FRAME_WROTE
    ),
    may_be_lookup=True,
)
_WITHOUT = (
    r"without|with no|(?:do not|don['’]t) have|have no|no|ohne|(?:haben )?keine|sans|n['’]ont"
    r" (?:pas d(?:e|['’])"
    r"|aucune?)|sin|no tienen|sem|nao tem"
)
_SOMETHING = f"{NOTES} anything something etwas ewas irgendwas quelque algo alguma anotacoes"
LISTS = (
    # The newest notes
    family(
        "list",
        f"{NEWEST} first erste premier primer primeir",
        r"(?:{show} )(?:{all} |{the} )*(?P<newest>{newest}) (?P<limit>{number})(?: (?:{notes}))?"
        r"(?: (?P<scope>.+))?",
        r"(?:{show} )(?:{the} )*(?:first|ersten|premier(?:e)?s?|primer[oa]s?|primeir[oa]s?)"
        r" (?P<limit>{number}) (?:{notes})(?: (?P<scope>.+))?",
        r"(?:quelles? sont|what are|which are|welche sind|was sind|cuales son|quais sao)"
        r" (?:{all} |{the} )*(?:(?P<limit>{number}) )?(?P<newest>{newest}) (?:{notes})",
        r"(?:quelles? sont|cuales son|quais sao) (?:{all} |{the} )*(?:{notes}) (?:{the} )*"
        r"(?P<newest>{newest})",
        r"(?:{show} )?(?:{all} |{the} )*(?P<newest>{newest}) (?:(?P<limit>{number}) )?(?:{notes})"
        r"(?: (?P<scope>.+))?",
        r"(?:{show} )?(?:{all} |{the} )*(?P<limit>{number}) (?:{the} )*(?P<newest>{newest})"
        r"(?: (?:{notes})(?: (?P<scope>.+))?)?",
        r"(?:{show} )?(?:{all} |{the} )*(?:(?P<limit>{number}) )?(?:{notes}) (?:{the} )*"
        r"(?P<newest>{newest})(?: (?P<scope>.+))?",
        needs=f"{NOTES} {NUMBER}",
    ),
    family(
        "list",
        _TAGS_OR_FOLDERS,
        r"(?:{show} |what are |which are )(?:{all} |{the} )*(?P<what>tags|folders|schlagworter"
        r"|ordner"
        r"|etiquettes|dossiers|etiquetas|carpetas|pastas)(?: (?:do i have|are there|habe ich"
        r"|gibt es))?",
        r"(?:which|what|welche|quels?|quelles?|que|quais) (?P<what>tags|folders|schlagworter|ordner"
        r"|etiquettes|dossiers|etiquetas|carpetas|pastas)"
        r" (?:do i (?:have|use)|are there|exist|habe ich|gibt es|ai[- ]je|y a[- ]t[- ]il|tengo|hay"
        r"|tenho|ha"
        r"|existem|existen)",
    ),
    # "Do I have anything about bees?"
    family(
        "list",
        f"{_SOMETHING} any. everything tout. toutes. todo. tudo.",
        r"(?:do (?:i|we) have|have (?:i|we) (?:got|written|noted)|did (?:i|we) (?:write|note)"
        r"|(?:are|is) there) (?:any )?{something} (?P<scope>{about} .+)",
        r"(?:any|everything|anything) (?:{notes} )?(?:that )?(?:(?:i|we) (?:have |{write} ?)+)?"
        r"(?P<scope>{about} .+)",
        r"(?:gibt es|habe ich|haben wir|hatte ich) (?:schon |irgendwelche |et?was )?{something}"
        r" (?P<scope>{about} .+?)(?: {write})?",
        r"welche {notes} gibt es (?P<scope>{about} .+)",
        r"(?:est[- ]ce que |est[- ]ce qu['’])?(?:j['’]ai|ai[- ]je|y a[- ]t[- ]il|il y a)"
        r"(?: {write})? {something} (?P<scope>{about} .+)",
        r"(?:tengo|hay|tenemos|tenho|tem|ha|existem|temos|eu tenho) {something} (?P<scope>{about}"
        r" .+)",
        r"(?:tout|toutes|todo|tudo)(?: (?:ce que|lo que|o que|que))?"
        r"(?: (?:j['’]ai|tengo|tenho|he|eu))? ?(?:{write} )?(?P<scope>{about} .+)",
    ),
    # Notes that are called so
    family(
        "list",
        NOTES,
        r"(?:que|quais|cuales|quelles|which|welche) (?:son|sao|sont|are|sind) {the} (?:{notes})"
        r" (?P<scope>{about} .+)",
        r"(?:{show} )?(?:{all} |{the} )*(?:{notes}) (?P<scope>(?:with|having|mit|avec|con|com)"
        r" (?:{the} )*{named_property}:? [^,;]{1,30})",
        r"(?:{show} )?(?:{all} |{the} )*(?:{notes}) by (?P<scope>.+)",
        r"(?:{show} )?(?:{all} |{the} )*(?:(?:which|what|welche|quelles|que|quais|cuales)"
        r" )?(?:{notes})"
        r" (?:(?:that|which|die|qui|que) )?(?:(?:are|sind|sont|estan|estao) )?"
        rf"(?P<without>{_WITHOUT}) ?(?:any )?{{label}}(?: #?(?P<tag>[^ ]+))?(?: haben)?",
        r"(?:{show} )?(?:{all} |{the} )*(?:(?:which|what|welche|quelles|que|quais|cuales)"
        r" )?(?:{notes})"
        r" (?:(?:that|which|die|qui|que) )?(?:(?:are|sind|sont|estan|estao) )?"
        r"(?P<without>not tagged(?: with| as)?|untagged|nicht getaggt(?: mit)?) ?#?(?P<tag>[^ ]*)",
        r"(?P<without>untagged) {notes}",
        # "find entries with impossible days" need not be about notes
        r"(?:{show}) (?:(?:{all}|{the}) )+(?:{notes})(?: (?P<scope>.+?))?(?: auf)?",
        r"(?:{show}) (?:notes?|notiz(?:en)?|zettel|notas?|fiches?|apuntes)(?: (?P<scope>.+?))?"
        r"(?: auf)?",
        r"(?:{show}) (?:{notes}) (?P<scope>(?:in|im|dans|en|em) [^ ]+/[^ ]*)",
        r"(?:which|what|welche[nr]?|quelles?|que|quais|cuales)(?: de| of)?(?: (?:{the}))*"
        r" (?:{notes})"
        r" (?:do i have|are there|i have|exist|have i written|did i (?:write|take|make)|habe ich"
        r"|gibt es|hab ich|ai[- ]je|j['’]ai|y a[- ]t[- ]il|est[- ]ce que j['’]ai|tengo|hay|tenemos"
        r"|eu"
        r" tenho|tenho|ha|existem)(?: (?P<scope>.+?))?(?: geschrieben)?",
        r"(?:which|what|welche[nr]?|quelles?|que|quais|cuales)(?: de| of)?(?: (?:{the}))*"
        r" (?:{notes})"
        r" (?:que )?(?P<scope>(?:{mention}|(?:have|has|with|haben|ont|tienen|tem|habe) (?:the |das"
        r" |die |le |la |el |a |l['’] ?)*{label}|(?:{stand}|son|sao)"
        r" (?:tagged|in|from|im|dans|en|na|no|mit|von|vom|aus|with|de|du|del|do|da|avec|con|com)"
        r"|tagged|from|with|in) ?.+)",
        r"(?:which|what|welche[nr]?|quelles?|que|quais|cuales) (?:{notes})"
        r" (?P<scope>(?:have|has|haben|hat|ont|tienen|tem) [\w-]+ ?(?:::?|=) ?\S.*)",
        r"(?:{the} )*(?:{notes}) (?P<scope>(?:(?:with|having|mit|avec|con|com) (?:{the} )*[\w-]+"
        r" ?[:=]"
        r"|(?:where|whose|bei denen|dont|donde|cuyo|cuya|onde|cujo|cuja) (?:{the} )*[\w-]+"
        r"(?: ?[:=]| is| ist| est| es| e)) .+)",
        r"(?:{all} |(?:{all} )(?:{the} )+)+(?:{notes})(?: (?P<scope>.+?))?",
        r"(?:{the} )*(?:{notes}) (?P<scope>(?:(?:that |which |die |qui |que )?(?:{mention})|about"
        r"|regarding|concerning|on the subject of|uber|zum thema|sur|sobre|acerca de|a propos de)"
        r" .+)",
        r"(?:{the} )*(?:{notes}) (?P<scope>(?:(?:that |which )?(?:are )?(?:tagged|taguees?"
        r"|etiquetad[oa]s"
        r"|getaggt mit|marcadas com)|with (?:the )?tag"
        r"|(?:in|from|under|im|in der|dans le|dans|en la|de la|en|na|no|da|du|aus dem) (?:the |my"
        r" )?"
        r"(?:folder|directory"
        r"|ordner|dossier|carpeta|pasta)|(?:with|mit|avec|con|com) (?:the |dem |le |la |a"
        r" |l['’] ?)*{label}) ?.+)",
        r"(?:{the} )*(?:{notes}) (?:{write}|created|made|changed|erstellt|creees|creadas|criadas) "
        r"(?P<dates>.+)",
        r"(?:{the} )*(?:{notes}) (?P<dates>(?:of|from|since|before|after|between|von|vom|seit|aus"
        r"|de|du"
        r"|del|da|do|desde|depuis|antes de|avant|d['’]) ?.+)",
    ),
    # "What is in the folder Archive?"
    family(
        "list",
        _TAGS_OR_FOLDERS,
        r"(?:was (?:steht|ist|liegt|gibt es)|what(?:['’]?s| is)|qu['’] ?y a[- ]t[- ]il|que hay"
        r"|o que (?:ha|tem|esta))"
        r" (?P<scope>(?:in|im|dans|en|na|no|em) (?:{the} )*(?:folder|directory|ordner|verzeichnis"
        r"|dossier|carpeta|pasta) .+)",
        # Tasks in a folder are no notes about tasks
        r"(?:{show} )(?:{all} |{the} )*(?P<scope>(?!.*\b(?:tasks?|to-?dos?)\b).+? folder)",
    ),
    # "Everything about bees"
    family(
        "list",
        "everything anything all. alles tout. todo. tudo.",
        r"(?:{show} )?(?P<scope>(?:everything|anything|all|alles|tout|todo|tudo) (?:that is |was )?"
        r"(?:tagged|with \#|mit \#|avec \#|con \#|com \#|about|from|uber|sur|sobre|von) ?.+)",
        r"(?:{show}) (?P<scope>(?:everything|anything|all|alles|tout|todo|tudo) (?:on|in|under)"
        r" .+)",
        needs=(
            "that. was. tagged with. mit. avec. con. com. about from. uber sur. sobre von."
            " on. in. under."
        ),
    ),
    family(
        "list",
        "#",
        r"(?:{show} )?(?P<scope>\#[^\s#]+(?: \#[^\s#]+)* (?:{notes})(?: .+)?)|(?:{show} "
        r"|{all} )(?P<scope2>\#[^\s#]+)"
        r"(?: (?:{notes}))?",
    ),
)
# "table of books", but also "table of contents"
LIKELY_TABLE = family(
    "table",
    " ".join(TABLE.triggers),
    r"{table} (?:(?:of|from|der|von|aus|mit|a partir de|des?|du|del|dos|das|do|da) (?:l['’])?"
    r"|d['’] ?)"
    r"(?P<scope>[^ ,:]+(?: [^ ,:]+)?|(?:{the} )?[^ ,:]+ (?:and|und|et|y|e) [^ ,:]+)",
    may_be_lookup=True,
)
LISTED_WITH = family(
    "table",
    "list liste lista",
    r"(?:{show} )?(?:{the} )*(?:list|liste|lista) (?:of|der|meiner|von|des?|del|dos|das|de|d['’])"
    r" ?(?:{the} )*(?P<scope>[^ ,:]+(?: [^ ,:]+)?,? (?:(?:and|und|et|y|e) (?:their|its"
    r"|ihre[nmrs]?|deren"
    r"|leurs?|sus?|suas?|seus?)|with their|mit ihre[nmr]|avec leurs?|con sus?|com suas?|com seus?)"
    r" [^:]+)",
    may_be_lookup=True,
)
# "all recipes", but also "all fallacies"
LIKELY_LIST = family(
    "list",
    "my. meine. mes. mis. meus. minhas. all. every. any. each. alle samtlich tout tous. toda todo"
    " list. liste. lista.",
    r"(?:{show} )(?:{all} )(?:{the} )*(?P<scope>[^ ,:]+(?: [^ ,:]+)?)",
    r"(?:{show} )?(?:my|meine|mes|mis|meus|minhas) (?P<scope>[^ ,:]+)",
    r"(?:{the} )?(?:list|liste|lista) (?:of|der|meiner|von|des?|del|dos|das|d['’])"
    r" (?:{the} )?(?P<scope>[^ ,:]+)",
    r"(?:{all} )(?:{the} )*(?P<scope>[^ ,:]+)(?: (?:{notes}))?",
    may_be_lookup=True,
)
