"""The patterns of requests for tasks, and for notes of a kind that a noun names, "books I have not
finished". See `request_slots`; whether a vault has notes of that kind, `note_kinds` asks.
"""

from zkchat_cli.llm.offline.kind_names import KINDS as KIND_NAMES
from zkchat_cli.llm.offline.request_slots import family

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
_NOUN = rf"(?:{_TASKS}|(?:{{notes}})|{_PLURAL}(?: {_NOTES})?)"
_WHICH = (
    r"(?:which|what|welche[rns]?|quel(?:le)?s?|que|quais|cuales)(?: (?:of|von|de|sont|son|sao|are"
    r"|sind))?"
)
_ASKED_FOR = rf"(?P<listed>{{show}}|{_WHICH}) (?:(?:{{all}}|{{the}}) )*"
_NAMED = r"(?:(?:{all}|{the}) )+"
_LISTED = rf"(?:{_ASKED_FOR}|{_NAMED})"
_COUNTED = (
    r"(?:how many|wie ?viele|combien d(?:e|['’])|cuant[ao]s|quant[ao]s|(?:the )?number of|count"
    r"|anzahl(?: der)?|nombre d(?:e|['’])|numero d[eo]) ?(?:(?:{all}|{the}) )*"
)
_ORDER = r"(?:(?P<newest>{newest})|(?P<oldest>{oldest}))"
_CLAUSE = r"(?:[ ,]+(?P<clause>.+))?"
TRIGGERS = (
    "list show give display find get print see which what welch zeig gib finde nenn montr affich"
    " donne trouv quel muestr dame encuentr mostr que quai cual all every alle toute tous todo toda"
    " my mein mes mis meus minha the die les los las os as how wie combien cuant quant count number"
    " zahl anzahl nombre not nicht pas no nao without ohne sans sin sem but except i task to-do"
    " to action aufgabe tach tarea tarefa newest latest oldest neu alte ausser letzte that"
    " which qui"
    " with mit avec con com from rated"
)
# What may begin a clause about notes of a kind
_OPENING = (
    r"(?:with|without|but|except|that|which|who|not|from|tagged|mit|ohne"
    r"|aber|ausser|die|aus|avec|sans|sauf|mais|qui|con|sin|pero|excepto|que|com|sem|mas|exceto|rated"
    r"|where|i have|i haven|i (?=\w+$)|i (?=\w+ in )|ich|je|j['’]ai|about|due|older|\#)"
)
COUNTED_KINDS = family(
    "count",
    TRIGGERS,
    rf"(?P<listed>{_COUNTED}){_NOUN}{_CLAUSE}",
    rf"{_COUNTED}(?P<known_state>[^\W\d]\w+) {_NOUN}{_CLAUSE}",
    may_be_lookup=True,
)
KINDS = family(
    "list",
    TRIGGERS,
    rf"(?:{_LISTED})?{_ORDER} (?P<limit>{{number}})(?: {_NOUN}{_CLAUSE})?",
    rf"(?:{_LISTED})?(?P<limit>{{number}}) (?:{{the}} )*{_ORDER} {_NOUN}{_CLAUSE}",
    rf"(?:{_LISTED})?(?:(?P<limit>{{number}}) )?{_NOUN} (?:{{the}} )*{_ORDER}{_CLAUSE}",
    rf"{_LISTED}{_ORDER} {_NOUN}{_CLAUSE}",
    rf"{_ASKED_FOR}{_NOUN}[ ,]+(?P<clause>.+)",
    # A sentence such as "my task runs over two lines" has neither
    rf"{_NAMED}{_NOUN}[ ,]+(?P<clause>{_OPENING}.+|\S+(?: \S+){{0,2}})",
    rf"{_LISTED}{_TASKS}",
    rf"{_LISTED}(?P<known_state>[^\W\d]\w+) {_NOUN}{_CLAUSE}",
    rf"(?P<known_state>[^\W\d]\w+) {_NOUN}{_CLAUSE}",
    rf"{_NOUN} (?P<known_state>[^\W\d]\w+){_CLAUSE}",
    rf"{_NOUN}[ ,]+(?P<clause>{_OPENING}.+)",
    may_be_lookup=True,
)
# One note: "my last journal entry", "la note la plus récente"
_ONE = (
    r"(?:(?:{show}|open|read|offne|lies|ouvre|lis|abre|lee|abra|leia"
    r"|(?:what|which) (?:is|was)|what['’]s|(?:was|welche[rs]?) (?:ist|war)|quelle? (?:est|etait)"
    r"|cual (?:es|fue)|qual (?:e|foi)) )?(?:(?:{the}) ?)*"
)
_ENTRY = (
    r"(?:(?P<noun>(?:tagebuch|journal)[- ]?eintrag|(?:entree|entrada|nota|note)"
    r" (?:de |du |del |do |d['’])?(?:journal|diario))|(?:{notes})"
    rf"|(?P<noun2>{'|'.join(name for names in KIND_NAMES for name in names)})"
    r"(?: (?:entry|note|page|eintrag|notiz))?)"
)
_NEXT_TO = r"(?:[ ,]+(?P<clause>(?:with|mit|avec|con|com|about|uber|sur|sobre|in|\#).*))?"
LATEST = family(
    "list",
    "newest latest most last recent oldest earliest neu letzt jungst alt derni recent plus ultim"
    " reciente recente antig vie velh nov nuev",
    rf"{_ONE}{_ORDER} {_ENTRY}{_NEXT_TO}",
    rf"{_ONE}{_ENTRY} (?:la |le |el |o |a )?{_ORDER}{_NEXT_TO}",
    may_be_lookup=True,
)
# Tasks without the word
_TO_DO = (
    rf"(?:{{show}} )?(?:(?:{{all}}|{{the}}) )*(?:to[- ]?do|task|aufgaben)[- ]?list[es]?|{_TASKS}",
    r"(?:what|was) (?:do|must|muss|have) (?:i|we|ich|wir) (?:still |noch |have )?(?:have )?"
    r"(?:to )?(?:do|get done|tun|machen|erledigen)(?: (?P<dates>.+))?",
    r"(?:what|was)(?:['’]s| is| are| ist)? (?:still |noch )?(?:left |zu |open )?(?:to )?"
    r"(?:do|tun|erledigen|left to do|open|undone|offen)",
    r"(?:what is|what['’]s|was ist|was steht|que hay|qu['’]est[- ]ce qui est|o que esta)"
    r" (?:still |noch |encore )?(?:open|undone|to do|offen|an|pendiente|ouvert|aberto|pendente)"
    r" (?P<scope>(?:in|im|on|about|for|bei|zu|en|em|dans|na|no) .+)",
    r"(?:qu['’]est[- ]ce que j['’]ai|que me reste[- ]t[- ]il|qu['’]ai[- ]je|que dois[- ]je"
    r"|qu['’]est[- ]ce qu['’]il (?:me )?reste)(?: encore)? ?(?:a )?faire",
    r"(?:que|o que|lo que) (?:eu )?(?:tengo|tenho|falta|hay|ha|me queda|me falta|debo|preciso"
    r"|resta)(?: (?:que|por|para|de|pendiente|pendente))*(?: (?:hacer|fazer))?(?: (?:todavia"
    r"|aun|ainda))?",
)
TO_DO = family(
    "list",
    "task to-do todo to aufgabe tach tarea tarefa do left muss qu que reste was o faire open what",
    *_TO_DO,
    what="open tasks",
)
