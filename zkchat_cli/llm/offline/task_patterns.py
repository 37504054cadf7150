"""The patterns of requests for tasks, also those about something: "tasks for the garden", "tarefas
da horta", "what is left to do for the move?". See `request_slots`.

The latter may be look-ups: where no task is about the subject, the notes are asked what they say.
"""

from zkchat_cli.llm.offline.request_slots import COUNTED as COUNTS
from zkchat_cli.llm.offline.request_slots import TASKS, family

_TASKS = (
    r"(?:tasks?|to[- ]?dos?|to[- ]do items?|action items?|aufgaben?|taches?|tareas?|tarefas?"
    r"|pendencias?|afazeres)"
)
_LIST = (
    r"(?:(?:to[- ]?do|task)[- ]?lists?|(?:aufgaben|to[- ]?do)[- ]?listen?"
    r"|listes? (?:des? |d['’]|de )?(?:taches|choses a faire)|listas? de (?:tareas|tarefas))"
)
_OPEN = (
    r"(?:open|undone|unticked|unchecked|unfinished|remaining|pending|outstanding"
    r"|(?:noch )?offene?[nr]?"
    r"|ausstehende?n?|ouvertes?|restantes?|a faire|pendientes?|abiertas?|por hacer|abertas?"
    r"|pendentes?|por fazer|em aberto|left)"
)
_DONE = (
    r"(?:done|finished|completed|closed|erledigte?[nr]?|fertige?n?|abgeschlossene?n?|terminees?"
    r"|faites?|finies?|hechas?|terminadas?|completadas?|acabadas?|feitas?|concluidas?)"
)
# "In the garden" may be a folder
_PLACED = r"(?=(?:in|im|inside|dans|en|em)\b)"
_OF = (
    r"(?:about|on|for|of|from|regarding|concerning|related to|around|with|zum|zur|zu|fur|vom|von"
    r"|(?:that )?(?:concern|have to do with|belong to)|betreffen|(?:qui )?concernent"
    r"|(?:que )?(?:conciernen a|tienen que ver con|dizem respeito a|tem a ver com)"
    r"|aus|uber|bezuglich|du|des|de|pour|sur|concernant|a propos de|del|sobre|para|acerca de"
    r"|relativas? a|da|do|das|dos|pra|pro|na|no|nas|nos|beim|bei|au|aux|chez)"
)
_ABOUT = rf"(?: {_OF} | d['’] ?| {_PLACED}){{articles}}"
_SUBJECT = r"(?P<scope>\S.*?)"
_SHOWN = (
    r"(?:{show} )?(?:(?:{all}|{the}|which|what|welche|quelles?|que|quais|cuales"
    r"|(?:are|is) there|do (?:i|we) (?:still )?have|have (?:i|we)(?: got)?"
    r"|gibt es|habe? ich|haben wir|noch"
    r"|y a[- ]t[- ]il|il y a|ai[- ]je|j['’]ai|est[- ]ce que j['’]ai"
    r"|hay|tengo|tenemos|quedan|ha|tem|tenho|temos|existem) )*"
)
_THERE_ARE = (
    r"(?: (?:do (?:i|we) (?:still )?have|have (?:i|we)(?: got)?|are there|habe ich|haben wir"
    r"|gibt es|ai[- ]je|j['’]ai|avons[- ]nous|y a[- ]t[- ]il|il y a|tengo|tenemos|hay|eu tenho"
    r"|tenho|temos|ha|existem)(?: (?:still|noch|encore|todavia|ainda))?)?"
)
_COUNTED = r"{how_many}(?:{all} |{the} )*"
# "Tasks about the move are open"
_END = (
    r"(?: (?:(?:are|is|do i have|sind|gibt es|habe ich|sont|restent|y a[- ]t[- ]il|ai[- ]je|estan"
    r"|hay|quedan|tengo|estao|sao|ha|tem|tenho|faltam|restam|noch|still|encore|todavia|aun|ainda"
    r"|there|left|open|offen|ouvertes?|pendientes|abiertas|abertas|pendentes|em aberto)"
    r"(?= |$) ?)+)?"
)
# No subject of tasks: "which tasks", "next task"
_NO_SUBJECT = (
    r"(?!(?:what|which|how|why|who|when|where|show|list|due|overdue|late|next|new|more|other|no"
    r"|these|those|this|that|last|latest|first|big|important|urgent|daily|weekly|recurring|open|and"
    r"|done|finished|completed|unfinished|undone|all|any|some|my|the|do|have|manage|complete|haus"
    r"|was|wie|welche|noch|nachste|neue|keine)\b)"
)
_TRIGGERS = "task todo dos. to. action aufgabe tache tarea tarefa pendenc afazer"
# "Do" is in many questions: "to do" needs the other word, too
_NEEDS = "task todo do. dos. list item aufgabe tache tarea tarefa pendenc afazer"
# "What do I have to do to renew the passport?" asks for steps
_NOT_HOW = r"(?! (?:para|pour) \w+(?:[aei]r|re)\b)"
_STATE_ASKED = (
    r"(?:are|is|sind|ist|sont|restent|quedan|estan|estao|sao|faltam|restam)"
    r"(?: (?:still|noch|encore|todavia|aun|ainda))?(?: (?:open|left|undone|offen|ouvertes"
    r"|a faire|pendientes|abiertas|por hacer|abertas|pendentes|em aberto|por fazer))?"
)
_OPEN_FORMS = (
    rf"{_SHOWN}(?:{_OPEN} )?{_TASKS}(?: {_OPEN})?{_THERE_ARE}{_ABOUT}{_SUBJECT}{_END}",
    rf"{_SHOWN}(?:{_OPEN} )?{_NO_SUBJECT}(?P<scope>[^\W\d][\w-]+(?: [^\W\d][\w-]+)?)"
    rf"(?:['’]s)? (?:{_OPEN} )?{_TASKS}",
    rf"{_SHOWN}{_OPEN} {_TASKS} (?P<scope>[^\W\d][\w-]+(?: [\w-]+)?)",
    rf"{_SHOWN}{_LIST}{_ABOUT}{_SUBJECT}",
    rf"(?:which |what |welche |quelles? |que |quais |cuales ){_TASKS} {_STATE_ASKED}{_ABOUT}"
    rf"{_SUBJECT}",
    rf"(?:tasks|to-?dos|aufgaben|taches|tareas|tarefas) {_NO_SUBJECT}(?P<scope>[^\W\d][\w-]+)",
)
# Tasks without the word
_TO_DO = (
    r"(?:what|was) (?:do|must|muss|have) (?:i|we|ich|wir) (?:dafur |damit |da )?(?:still |noch"
    r" |alles |have )*(?:to )?(?:do|get done|tun|machen|erledigen)(?: for (?:it|that|this))?"
    r"(?: (?P<dates>.+))?",
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
TASK_LIST = family(
    "list",
    TASKS,
    rf"(?:{{show}} )?(?:(?:{{all}}|{{the}}) )*(?:to[- ]?do|task|aufgaben)[- ]?list[es]?"
    rf"|(?P<tasks>{_TASKS})",
    what="open tasks",
)
UNNAMED_TASKS = family(
    "list",
    "what. was. qu. que. o. lo.",
    *_TO_DO,
    needs="do. done tun. machen. erledigen. left. open undone offen. an. to. pendient ouvert abert"
    " pendent faire tengo tenho falt hay. ha. queda debo preciso resta",
    what="open tasks",
)
LEFT_TO_DO = family(
    "list",
    "was. what anything qu que. o. lo.",
    r"(?:what|anything)(?:['’]s| is| remains)? (?:still )?(?:left )?(?:to (?:do|be done)|open)"
    rf"{_ABOUT}{_SUBJECT}",
    # "What do I do about slugs?" asks for advice
    r"what (?:do (?:i|we) (?:still )?(?:have|need) to|must (?:i|we) still) (?:do|get done|finish)"
    rf"{_ABOUT}{_SUBJECT}",
    r"was (?:muss|soll|habe|mussen|sollen|haben) (?:ich|wir) (?:noch )?(?:fur|zum|zur|im|in|beim"
    rf"|bei|am) (?:{{the}} )*{_SUBJECT} (?:noch )?(?:alles )?(?:zu )?(?:tun|machen|erledigen)",
    r"(?:que|qu['’]est[- ]ce qu['’]il|qu['’]est[- ]ce que|qu['’])(?: me| nous)? ?"
    r"(?:reste(?:[- ]t[- ]il)?|j['’]ai|ai[- ]je|dois[- ]je|je dois|avons[- ]nous)"
    rf"(?: encore)? (?:a )?faire{_NOT_HOW}{_ABOUT}{_SUBJECT}",
    r"(?:que|lo que) (?:me |nos )?(?:falta|queda|tengo|tenemos|hay)(?: (?:por|que|para))? hacer"
    rf"{_NOT_HOW}{_ABOUT}{_SUBJECT}",
    r"(?:o que|que)(?: eu| ainda| me)* (?:falta|resta|tenho|preciso|temos|ha)(?: ainda)?"
    rf"(?: (?:por|que|para|de|a))? fazer{_NOT_HOW}{_ABOUT}{_SUBJECT}",
    r"was (?:ist|steht|bleibt|gibt es) (?:noch )?(?:fur|zum|zur|im|in|beim|bei|am) (?:{the} )*"
    rf"{_SUBJECT} (?:noch )?(?:offen|zu tun|zu erledigen|zu machen|an)",
    needs="left open remain must have need tun. machen. erledigen. offen. an. faire hacer fazer",
    what="open tasks",
    may_be_lookup=True,
)
"""Before other questions: "was ist beim Umzug noch offen?" asks for no definition."""
COUNTED_TASKS = family(
    "count",
    COUNTS,
    rf"{_COUNTED}(?:{_OPEN} )?{_TASKS}(?: {_OPEN})?{_ABOUT}{_SUBJECT}{_END}",
    needs=_NEEDS,
    what="open tasks",
    may_be_lookup=True,
)
COUNTED_DONE_TASKS = family(
    "count",
    COUNTS,
    rf"{_COUNTED}(?:{_DONE} {_TASKS}|{_TASKS} {_DONE}){_ABOUT}{_SUBJECT}{_END}",
    needs=_NEEDS,
    what="done tasks",
    may_be_lookup=True,
)
DONE_TASKS_ABOUT = family(
    "list",
    _TRIGGERS,
    rf"{_SHOWN}(?:{_DONE} {_TASKS}|{_TASKS} {_DONE}){_ABOUT}{_SUBJECT}{_END}",
    rf"{_SHOWN}{_DONE} {_NO_SUBJECT}(?P<scope>[^\W\d][\w-]+(?: [^\W\d][\w-]+)?) {_TASKS}",
    rf"{_SHOWN}{_DONE} {_TASKS} (?P<scope>[^\W\d][\w-]+(?: [\w-]+)?)",
    needs=_NEEDS,
    what="done tasks",
    may_be_lookup=True,
)
TASKS_ABOUT = family(
    "list", _TRIGGERS, *_OPEN_FORMS, needs=_NEEDS, what="open tasks", may_be_lookup=True
)
# "Open tasks of the move": what they are about
_OPEN_TASKS = (
    rf"(?:{{show}} )?(?:{{all}} |{{the}} )*(?P<tasks>{_TASKS}) (?P<known_state>open|undone"
    r"|left|offen|ouvertes?|restantes?|pendientes?|abertas?|pendentes?|done|erledigt|hechas?|feitas?|terminees?)"
    r" (?:for|of|in|from|von|vom|fur|zum|zur|im|de|du|pour|dans|del|para|en|do|da|na|no|em)"
    r" {articles}(?!(?:\w+ )?(?:notes|notas|notizen)$)"
    r"(?!(?:folder|directory|ordner|verzeichnis|dossier|carpeta|pasta) )"
    r"(?P<about>[^\W\d][\w-]*(?: [\w-]+)?)"
)
_OPEN_TASKS_OF = (
    r"(?:{show} )?(?:{all} |{the} )*(?P<known_state>open|undone|unfinished|offene?n?|done|finished"
    rf"|erledigten?) (?P<tasks>{_TASKS}) (?:of|from|von|vom) (?:{{the}} )*"
    r"(?P<about>[^\W\d][\w-]*(?: [\w-]+)?)"
)
TASKS_OF = family("list", TASKS, _OPEN_TASKS, _OPEN_TASKS_OF)
TO_DO = (TASK_LIST, UNNAMED_TASKS, LEFT_TO_DO)
COUNTED_FAMILIES = (COUNTED_DONE_TASKS, COUNTED_TASKS)
ABOUT = (TASKS_OF, DONE_TASKS_ABOUT, TASKS_ABOUT)
