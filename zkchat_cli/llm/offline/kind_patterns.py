"""The patterns of requests for tasks, and for notes of a kind that a noun names, "books I have not
finished". See `request_slots`; whether a vault has notes of that kind, `note_kinds` asks.
"""

from zkchat_cli.llm.offline.kind_names import KINDS as KIND_NAMES
from zkchat_cli.llm.offline.mentions import MENTION_TRIGGERS, MENTIONING
from zkchat_cli.llm.offline.request_slots import (
    COUNTED,
    NEWEST,
    NOTES,
    OLDEST,
    SHOW,
    TASKS,
    WHICH,
    family,
)

_TASKS = (
    r"(?P<tasks>tasks?|to[- ]?dos?|to[- ]do items?|action items?|aufgaben?|taches?|tareas?"
    r"|tarefas?)"
)
# What looks like a plural, in any of the five languages
_NOTES = "(?:notes|notizen|notas|fiches|entries|pages)"
_PLURAL = (
    r"(?P<noun>(?:journal|diary|daily|tagebuch) ?-?(?:entries|entry|notes?|pages?|eintrage)"
    r"|(?:entrees?|entradas?|notas?|notes) (?:de |du |del |do |d['’])?(?:journal|diario|diarias?)"
    rf"|journal days|[^\W\d]\w+(?= {_NOTES}(?: |,|$))|[^\W\d]\w+(?:s|x|n|r|e|i|people|gente))"
)
_KIND_NAMES = "|".join(name for names in KIND_NAMES for name in names)
_ONE_OF_KIND = rf"(?P<noun>{_KIND_NAMES})"
_NOUN = rf"(?:{_TASKS}|(?:{{notes}})|{_PLURAL}(?: {_NOTES})?)"
_WHICH = (
    r"(?:which|what|welche[rns]?|quel(?:le)?s?|que|qua(?:is|l)|cual(?:es)?)(?: (?:of|von|de|sont"
    r"|son|sao|are"
    r"|sind))?"
)
_ASKED_FOR = rf"(?P<listed>{{show}}|{_WHICH}) (?:(?:{{all}}|{{the}}) )*"
_NAMED = r"(?:(?:{all}|{the}) )+"
_LISTED = rf"(?:{_ASKED_FOR}|{_NAMED})"
_COUNTED = r"{how_many}(?:{all} |{the} )*"
_ORDER = r"(?:(?P<newest>{newest})|(?P<oldest>{oldest}))"
_CLAUSE = r"(?:[ ,]+(?P<clause>.+))?"
TRIGGERS = (
    "list show give display find get print see which what welch zeig gib finde nenn montr affich"
    " donne trouv quel muestr dame encuentr mostr que quai cual all every alle toute tous todo toda"
    " my mein mes mis meus minha the die les los las os as how wie combien cuant quant count number"
    " zahl anzahl nombre not nicht pas no nao without ohne sans sin sem but except i task to-do"
    " to action aufgabe tach tarea tarefa newest latest oldest neu alte ausser letzte that"
    " which qui"
    " with mit avec con com from rated by von par de d do in im en em under over unter uber sous"
    " 19 20 vom aus since seit"
    " depuis desde where wo onde donde ou dans nas about uber sur sobre mention erwahn naming"
    " featuring named contain"
)
# What may begin a clause about notes of a kind
_OPENING = (
    r"(?:with|without|but|except|that|which|who|not|from|tagged|mit|ohne"
    r"|aber|ausser|die|aus|avec|sans|sauf|mais|qui|con|sin|pero|excepto|que|com|sem|mas|exceto|rated"
    r"|scored|bewertet|notee?s?|valorad[oa]s|calificad[oa]s|puntuad[oa]s|avaliad[oa]s"
    r"|takes?|needs?|dauern|brauchen|prennent|durent|tardan|duran|demoram|written|ecrits?"
    r"|escrit[oa]s"
    r"|by|von|par|de|d['’]|do"
    r"|where|i have|i haven|i (?=(?:rated|gave|scored) \d)"
    r"|i (?=\w+$)|i (?=\w+ (?:in|this|last|since) )"
    r"|ich|je|j['’]ai|about|due|older|\#)"
)
_TIME = (
    r"(?:(?:in|from|of|during|since|im|vom|von|aus|seit|en|de|du|depuis|desde|del|em|do)\b|d['’]"
    r"|(?:19|20)\d\d\b|last|this|letzte|diese|yesterday|today|gestern|heute)"
)
_NAMED_TRIGGERS = (
    "my. our. the. of. a. an. some. those. these. mein unser die. der. das. den. dem. des. ein mes."
    " mon. ma. nos. notre la. le. les. un. une. du. de. d. l. mis. mi. nuestr el. los. las. una"
    " minha meu nossa as. o. os. a. uma um. uns. dos. da. do. all. every. any. each. alle samtlich"
    " tou tod"
)
COUNTED_KINDS = family(
    "count",
    COUNTED,
    rf"(?P<listed>{_COUNTED}){_NOUN}{_CLAUSE}",
    rf"{_COUNTED}(?P<known_state>[^\W\d]\w+) {_NOUN}{_CLAUSE}",
    may_be_lookup=True,
)
SORTED_KINDS = family(
    "list",
    f"{NEWEST} {OLDEST}",
    rf"(?:{_LISTED})?{_ORDER} (?P<limit>{{number}})(?: {_NOUN}{_CLAUSE})?",
    rf"(?:{_LISTED})?(?P<limit>{{number}}) (?:{{the}} )*{_ORDER} {_NOUN}{_CLAUSE}",
    rf"(?:{_LISTED})?(?:(?P<limit>{{number}}) )?{_NOUN} (?:{{the}} )*{_ORDER}{_CLAUSE}",
    rf"{_LISTED}{_ORDER} {_NOUN}{_CLAUSE}",
    needs=TRIGGERS,
    may_be_lookup=True,
)
ASKED_KINDS = family(
    "list",
    f"{SHOW} {WHICH}",
    rf"{_ASKED_FOR}{_NOUN}[ ,]+(?P<clause>.+)",
    needs=TRIGGERS,
    may_be_lookup=True,
)
NAMED_KINDS = family(
    "list",
    _NAMED_TRIGGERS,
    # A sentence such as "my task runs over two lines" has neither
    rf"{_NAMED}{_NOUN}[ ,]+(?P<clause>{_OPENING}.+|\S+(?: \S+){{0,2}})",
    needs=TRIGGERS,
    may_be_lookup=True,
)
KINDS_WITHOUT = family(
    "list",
    f"{SHOW} {WHICH}",
    # "Which book has no rating?"
    rf"{_ASKED_FOR}{_ONE_OF_KIND} (?P<clause>(?:has|had|hat|n['’]a|no tiene|nao tem|without|ohne"
    r"|sans|sin|sem|is not|ist nicht|n['’]est pas)\b.+)",
    needs="has. had. hat. n. no. nao. without. ohne. sans. sin. sem. not. nicht.",
    may_be_lookup=True,
)
MENTIONING_KINDS = family(
    "list",
    MENTION_TRIGGERS,
    rf"(?:{_LISTED})?{_NOUN},? (?P<clause>{MENTIONING})",
    needs=TRIGGERS,
    may_be_lookup=True,
)
LISTED_TASKS = family("list", TASKS, rf"{_LISTED}{_TASKS}", may_be_lookup=True)
KINDS_IN_STATE = family(
    "list",
    TRIGGERS,
    rf"{_LISTED}(?P<known_state>[^\W\d]\w+) {_NOUN}{_CLAUSE}",
    rf"(?P<known_state>[^\W\d]\w+) {_NOUN}{_CLAUSE}",
    rf"{_NOUN} (?P<known_state>[^\W\d]\w+){_CLAUSE}",
    rf"{_NOUN}[ ,]+(?P<clause>(?:{_OPENING}|(?:under|over|unter|uber|sous)"
    r" (?=\d|half |an? |one |eine|une |demi)).+)",
    rf"{_NOUN} (?P<when>{_TIME}.*)",
    may_be_lookup=True,
)
SERVING_KINDS = family(
    "list",
    "people persons guests personen personnes personas pessoas portion serv feed sirv",
    rf"(?:{_LISTED})?{_NOUN} (?P<clause>(?:(?:for|fur|pour|para)|(?:that |which |die |qui |que )?"
    r"(?:serves?|feeds?|servent|sirven|servem)) .*\d.*)",
    may_be_lookup=True,
)
KINDS = (
    SERVING_KINDS,
    SORTED_KINDS,
    ASKED_KINDS,
    NAMED_KINDS,
    KINDS_WITHOUT,
    MENTIONING_KINDS,
    LISTED_TASKS,
    KINDS_IN_STATE,
)
# What notes of a kind are about, before its name: "platform sync meetings"
_TOPIC = (
    r"(?P<topic>(?!(?:{the}|{all}|{show}|{notes}|are|is|do|does|not|other) )[^\W\d][\w-]*"
    r"(?: [^\W\d][\w-]*)?)"
)
_OF_TOPIC = (
    r" (?:of|for|from|by|von|fur|de|du|des|do|da|del) (?:{the} )*(?P<about>[^\W\d][\w-]*"
    r"(?: [\w-]+)?)"
)
_ARE_THERE = (
    r"(?:,? (?:are there|there are|were there|there were|do i have|did i have|i have|gibt es"
    r"|gab es|habe ich|hatte ich))?"
)
_ABOUT_TOPIC = (
    rf"{_TOPIC} (?:{_ONE_OF_KIND}(?:{_OF_TOPIC})?"
    rf"|(?P<noun2>notes){_OF_TOPIC.replace('<about>', '<about2>')})"
)
_NAMED_KINDS = f"notes. {_KIND_NAMES.replace('|', '. ')}."
KINDS_ABOUT = family(
    "list",
    f"{SHOW} {WHICH} all. every alle my. mein mes. mis. meu minha",
    rf"{_LISTED}{_ABOUT_TOPIC}{_ARE_THERE}",
    needs=_NAMED_KINDS,
    may_be_lookup=True,
)
# "List my books with their ratings" is a table
_WITH_COLUMNS = (
    r" (?:with|mit|avec|con|com) (?:their|ihre[nmr]?|leurs?|sus?|seus?|suas?)"
    r" (?P<columns>.+)"
)
# Of notes with a tag or in a folder it is one for sure: "notes tagged book with their status"
_PLACED = (
    r"(?: (?:tagged|with|in|from|under|getaggt|mit|im|aus|avec|dans|con|en|com|em|na|no)"
    r" [^,:]{1,60}?)?"
)
NOTES_WITH_COLUMNS = family(
    "table",
    SHOW,
    rf"{{show}} (?P<scope>(?:{{all}} |{{the}} )*(?:{{notes}}){_PLACED}){_WITH_COLUMNS}",
    needs="their ihre leur su. sus. seu sua",
)
KINDS_WITH_COLUMNS = family(
    "table",
    f"{SHOW} {WHICH} all. every alle my. mein mes. mis. meu minha",
    rf"{_LISTED}{_ONE_OF_KIND}{_WITH_COLUMNS}",
    rf"{_LISTED}{_ABOUT_TOPIC}{_WITH_COLUMNS}",
    needs="their ihre leur su. sus. seu sua",
    may_be_lookup=True,
)
COUNTED_KINDS_ABOUT = family(
    "count",
    COUNTED,
    rf"{_COUNTED}{_ABOUT_TOPIC}{_ARE_THERE}",
    needs=_NAMED_KINDS,
    may_be_lookup=True,
)
# Two or three notes of a kind: "compare my two lisbon trips"
_FEW = (
    r"(?P<limit>two|three|four|beiden|zwei|drei|vier|deux|trois|quatre|dos|tres|cuatro|dois|duas"
    r"|quatro)"
)
_COMPARING = r"(?:compar(?:e[rz]?|a|ar)|contrast|vergleiche?)"
COMPARED_KINDS = family(
    "compare",
    "compar contrast vergleich",
    rf"{_COMPARING} (?:(?:{{the}}|both) )*{_FEW} (?:(?P<topic>[^\W\d][\w-]*) )?"
    r"(?P<noun>[^\W\d]\w+)(?: (?:in|nach|zu|a|en|em|de|to|from|of) (?P<about>[^\W\d][\w-]*))?",
    needs="two. three. four. beiden zwei. drei. vier. deux trois quatre dos. tres. cuatro. dois"
    " duas quatro.",
    may_be_lookup=True,
)
# "Show machines", but also "show examples"
SHOWN = family(
    "list", SHOW, rf"{{show}} (?:{{the}} )*{_PLURAL}", needs=TRIGGERS, may_be_lookup=True
)
# One note: "my last journal entry", "la note la plus récente"
_OPENED = (
    r"(?:(?:{show}|open|read|offne|lies|ouvre|lis|abre|lee|abra|leia"
    r"|(?:what|which) (?:is|was)|what['’]s|(?:was|welche[rs]?) (?:ist|war)|quelle? (?:est|etait)"
    r"|cual (?:es|fue)|qual (?:e|foi)) )?"
)
_ONE = rf"{_OPENED}{{articles}}"
# "The first meeting" is the oldest, "the first notes" of a list are not
_FIRST = r"(?P<oldest>first|erste[nrs]?|premiere?|primer[oa]?|primeir[oa])"
_ENTRY = (
    r"(?:(?P<noun>(?:tagebuch|journal)[- ]?eintrag|(?:entree|entrada|nota|note)"
    r" (?:de |du |del |do |d['’]|no |en (?:el |mi )?|dans (?:le |mon )?)?"
    r"(?:journal|diario))|(?:{notes})"
    rf"|(?P<noun2>{_KIND_NAMES})"
    r"(?: (?:entry|note|page|eintrag|notiz))?)"
)
_NEXT_TO = (
    r"(?:[ ,]+(?P<clause>(?:with|mit|avec|con|com|about|uber|sur|sobre|in|\#"
    r"|(?:of|from|von|vom|aus|de|du|del|do|en|em|im) (?=.*\d)).*))?"
)
# "The last week" is no note
_TIMES = r"(?:days?|weeks?|months?|years?|tagen?|wochen?|monate?n?|jahre?n?|jours?|semaines?|mois"
_TIMES += r"|annees?|dias?|semanas?|mes(?:es)?|anos?|one|time|mal|fois|vez|moment|minute)"
LATEST = family(
    "list",
    "newest latest most last recent oldest earliest neu letzt jungst alt derni recent plus ultim"
    " reciente recente antig vie velh nov nuev first erste premier primer primeir",
    rf"{_ONE}{_ORDER} {_ENTRY}{_NEXT_TO}",
    rf"{_ONE}{_ENTRY} (?:la |le |el |o |a )?{_ORDER}{_NEXT_TO}",
    rf"{_ONE}{_FIRST} {_ENTRY}{_NEXT_TO}",
    rf"{_ONE}{_ENTRY} (?:la |le |el |o |a )?{_FIRST}{_NEXT_TO}",
    needs=f"{NOTES} journal entree entrada tagebuch {_KIND_NAMES.replace('|', ' ')}",
    may_be_lookup=True,
)
_THE_ONE = rf"{_OPENED}(?:{{the}} |l['’] ?)+"
LATEST_NAMED = family(
    "list",
    " ".join(LATEST.triggers),
    # "Last invoice" alone is searched
    rf"{_THE_ONE}{_ORDER} (?!{_TIMES}\b)(?P<noun>[^\W\d][\w-]+){_NEXT_TO}",
    rf"{_THE_ONE}(?P<noun>[^\W\d][\w-]+) (?:la |le |el |o |a )?{_ORDER}{_NEXT_TO}",
    may_be_lookup=True,
)
# What the newest note of a kind says: "what did we decide in the last meeting?"
_ASKING = (
    r"(?:what|who|which|why|how|where|was|wer|warum|wie|wo|qu['’]|que|quoi|qui|ou|pourquoi|comment"
    r"|quien|quienes|como|donde|o que|quem|onde)"
)
_PLACED = (
    r"(?:(?:in|at|during|from|by) {the}|(?:in|bei|auf|aus|an) (?:der|dem|unserer|unserem|meiner"
    r"|meinem)|im|beim|vom|(?:dans|lors de|a|de|pendant) (?:la|le|l['’]|ma|mon|notre)"
    r"|(?:en|de|durante) (?:la|el|mi|nuestra|nuestro)|(?:na|no|da|do)(?: minha| meu| nossa|"
    r" nosso)?)"
)
LATEST_ASKED = family(
    "outline",
    "last latest most recent newest first oldest letzt neu jungst erste alt derni recent ultim"
    " reciente recente premier primer",
    rf"(?P<asked>{_ASKING}.+?) {_PLACED} {_ORDER} (?!{_TIMES}\b)(?P<noun>[^\W\d][\w-]+)"
    r"(?P<verb> (?:besprochen|beschlossen|entschieden|gesagt|vereinbart|passiert|los|dabei"
    r"|anwesend|notiert|geschrieben|gemacht))?",
    may_be_lookup=True,
)
# What is due: "tasks due this week", "was ist morgen fällig?"
_SHOWN = r"(?:(?:{show}|which|what|welche|quelles?|que|quais|cuales) )?"
_SHOWN += r"(?:(?:{all}|{the}|open|offene[nr]?) )*"
_IS = r"(?:(?:that|which|die|qui|que) )?(?:(?:are|is|sind|ist|sont|est|son|estan|sao|estao) )?"
_DUE_WORDS = (
    r"(?:due|fallig|dues?|a (?:faire|rendre)|vencen?|vencem?|para entregar|a vencer|for|fur|pour"
    r"|para|with (?:an? |the )?(?:deadlines?|due dates?)(?: in| on)?|mit (?:frist|falligkeit)"
    r"|avec (?:une )?echeance|con (?:plazo|vencimiento)|com prazo)(?: (?:by|bis|pour|para"
    r"|on|am))?"
)
DUE_TASKS = family(
    "list",
    TASKS,
    rf"{_SHOWN}{_TASKS} {_IS}{_DUE_WORDS} (?P<due>.+)",
    rf"{_SHOWN}{_TASKS} {_IS}(?P<due>(?:until|by|bis|jusqu['’]a|hasta|ate) .+)",
    rf"{_SHOWN}{_TASKS},? {_IS}(?P<due>.+) (?:fallig|zu erledigen)(?: sind)?",
    rf"{_SHOWN}fallige[nr]? {_TASKS}(?: (?:fur )?(?P<due>.+))?",
    rf"{_SHOWN}(?:due )?{_TASKS} (?:with (?:an? )?(?:due dates?|deadlines?)"
    r"|mit (?:einem |einer )?(?:falligkeits?datum|frist|termin|falligkeit)"
    r"|avec (?:une )?(?:echeance|date limite)|con (?:fecha (?:limite|de vencimiento)|plazo)"
    r"|com (?:prazo|data limite|vencimento))",
    needs="due fallig rendre faire vence vencimiento entregar vencer for. fur. pour. para. until."
    " bis. jusqu hasta. ate. by. deadline frist. termin. zu. echeance date. plazo fecha prazo data."
    " vencimento",
    what="due tasks",
)
DUE_ASKED = family(
    "list",
    "due. fallig. rendre faire vence entregar do. get. finish. tun. machen. erledigen. an. hacer"
    " fazer tengo tenho hay. ha.",
    r"(?:what|which)(?:['’]s| is| are)(?: still)? due (?P<due>.+)",
    r"was ist (?:noch )?(?P<due>.+) fallig|was ist (?:noch )?fallig (?P<due2>.+)",
    r"qu['’]est[- ]ce qui est (?:du|a rendre|a faire) (?:pour )?(?P<due>.+)",
    r"(?:que|o que) (?:vence|hay que (?:hacer|entregar)|tengo que entregar|tenho que entregar"
    r"|preciso entregar) (?:para )?(?P<due>.+)",
    r"what (?:do|must|should) (?:i|we) (?:still )?(?:have |need )?(?:to )?(?:do|get done|finish)"
    r" (?P<due>.+)",
    r"was (?:muss|soll|habe) ich (?:noch )?(?P<due>.+?) (?:noch )?(?:zu )?(?:tun|machen|erledigen)"
    r"|was steht (?P<due2>.+?) an",
    r"(?:que dois[- ]je|qu['’]est[- ]ce que (?:je dois|j['’]ai a)|qu['’]ai[- ]je a) faire"
    r" (?P<due>.+)",
    r"(?:que|o que|lo que) (?:eu )?(?:(?:tengo|tenho) (?:que|de)|debo|devo|preciso) (?:hacer|fazer)"
    r" (?P<due>.+)|(?:que|o que) (?:eu )?(?:tengo|tenho|hay|ha) (?:pendiente )?para (?P<due2>.+)",
    needs="what. which. was. qu. que. o.",
    what="due tasks",
)
DUE = (DUE_TASKS, DUE_ASKED)
_LATE = (
    r"(?:overdue|past due|late|uberfallig\w*|en retard|vencid[oa]s?|atrasad[oa]s?|retrasad[oa]s?"
    r"|em atraso|con retraso|in verzug)"
)
OVERDUE = family(
    "list",
    "overdue past. late. uberfallig retard vencid atras retras verzug",
    rf"{_SHOWN}{_LATE} {_TASKS}",
    rf"{_SHOWN}{_TASKS} {_IS}{_LATE}(?: sind)?",
    rf"(?:what|was|qu['’]est[- ]ce qui|que|o que)(?:['’]s)? {_IS}{_LATE}",
    what="due tasks",
    is_overdue=True,
)
# Who was there: "which meetings did Ana attend?"
_WHO = r"(?P<companion>[^\W\d]\S*(?: [^\W\d]\S*)?)"
ATTENDED = family(
    "list",
    "attend join part. took. taken particip was. were. at. teil teilgenommen dabei anwesend"
    " nahm. assist asist estuvo esteve foi. fue. venu war. waren. hat. haben. go. come.",
    rf"(?:which|what) {_NOUN} (?:did|has|have) {_WHO} (?:attend(?:ed)?|join(?:ed)?|take part in"
    r"|taken part in|participated? in|come to|go to)",
    rf"(?:which|what) {_NOUN} (?:was|were) {_WHO} (?:at|in|present at|part of)",
    rf"{_LISTED}?{_NOUN} (?:that )?{_WHO} (?:attended|joined|took part in|participated in)",
    rf"{_LISTED}?{_NOUN} (?:that were |were )?attended by {_WHO}",
    rf"(?:an|bei|in) welche[nrm]? {_NOUN} (?:hat|war|nahm|haben|waren) {_WHO}"
    r" (?:teilgenommen|dabei|teil|anwesend|mitgemacht)",
    rf"a quelles? {_NOUN} (?:a|est|ont) (?:participe|assiste|venue?) {_WHO}",
    rf"a quelles? {_NOUN} {_WHO} (?:a|ont)(?:[- ]t[- ](?:il|elle))? (?:participe|assiste)",
    rf"(?:a|en) (?:que|cuales) {_NOUN} (?:asistio|participo|estuvo|fue|ha asistido) {_WHO}",
    rf"(?:de|em|a) (?:que|quais) {_NOUN} (?:[oa] )?{_WHO} (?:participou|esteve|foi|compareceu)",
    may_be_lookup=True,
)
