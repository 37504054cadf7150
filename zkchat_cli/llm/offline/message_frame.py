"""The words around a request: greetings, "could you please", "thanks", and short forms. Pure.

They are in no note, so they are neither searched nor part of what a request is about.
"""

import re

from zkchat_cli.llm.offline.note_scope import PUNCTUATION
from zkchat_cli.llm.offline.request_slots import bare_text, compile_filled
from zkchat_cli.text.patterns import lazy_pattern

_REMIND = r"(?:remind (?:me|us)|erinnere? mich|rappelle[- ]moi|recuerdame|lembre[- ]me|me lembre)"
_FRAME_BEGIN = compile_filled(
    r"(?:(?:hi|hello|hey|hallo|bonjour|hola|ola|oi|ok|okay|so|now|then|well|pls|plz|please|bitte"
    r"|kindly|s['’ ]?il (?:te|vous) plait|svp|stp|por favor|und|also|actually"
    r"|(?:can|could|would|will|won['’]t) you(?: please| kindly)?"
    r"|(?:can|could|may) i (?:please )?(?:see|get|have)"
    r"|(?:i ?(?:['’]d| would) like|i want|i need|i wish)(?: you)?(?: to(?: (?:see|know|get"
    r"|have))?)?|i(?:['’]?m| am) (?:looking|searching) for"
    r"|let me(?: (?:see|know))?|(?:kannst|konntest|wurdest|konnen|konnten) (?:du|sie)(?: bitte)?"
    r"(?: mal)?(?: mir)?|ich (?:mochte|will|hatte gern(?:e)?|brauche|suche)(?: bitte)?(?: mal)?"
    r"|(?:peux|pourrais|pouvez|pourriez)[- ](?:tu|vous)(?: (?:me|nous))?"
    r"|(?:tu peux|est[- ]ce que tu (?:peux|pourrais))(?: me)?"
    r"|je (?:voudrais|veux|souhaite|cherche)(?: voir| savoir)?"
    r"|(?:me )?(?:puedes|podrias|puede|podria)"
    r"|(?:quiero|quisiera|necesito|busco)(?: ver| saber)?"
    r"|(?:voce )?(?:pode|poderia|consegue)(?: me)?"
    r"|(?:quero|preciso de|procuro|gostaria de)(?: ver| saber)?"
    r"|i wonder|do you know|sabes|wei(?:ss|ß)t du|sais[- ]tu"
    r"|(?:(?:tell|show|give|explain to) (?:me|us)|explain|describe"
    r"|sagen|verraten|dire|decir(?:me)?|dizer"
    r"|(?:erklare?|zeige?|sage?)(?: mir)?|(?:explique|dis|montre)(?:[- ]moi)?"
    rf"|(?:me )?(?:explica|explique|diga)|dime|explicame|{_REMIND})(?=,? {{asking}} )"
    r")[,:!.]?\s+)+"
)
_FRAME_END = compile_filled(
    r"(?:[\s,]+(?:mal|for me|fur mich|zeigen|auflisten|nennen"
    r"|anzeigen|machen|erstellen|geben|erklaren"
    r"|sagen|finden|erzahlen|in my (?:notes|vault)"
    r"|in meinen notizen|dans mes notes|en mis notas|nas minhas notas))+"
)
_POLITE_END = lazy_pattern(
    r"(?:[\s,.!?]+(?:please|pls|plz|bitte|s['’ ]?il (?:te|vous) plait|svp|stp|por favor"
    r"|step by step|schritt fur schritt|etape par etape|pas a pas|paso a paso|passo a passo"
    r"|thanks|thank you|thx|danke|merci|gracias|obrigad[oa]"
    r"|(?:and|und|et|y|e) (?:how many|wie ?viele|combien|cuant[ao]s|quant[ao]s)"
    r"(?: (?:are there|are they|of them|sind (?:das|es)|(?:y en a[- ]t[- ]il|il y en a)|hay|son|ha"
    r"|sao))?"
    r"|(?<=there )and when(?: were they)?|(?<=es )und wann|(?<=il )et quand|(?<=hay )y cuando"
    r"|(?<=ha )e quando"
    r"|(?:and|und|et|y|e) (?:which|what|welche|lesquel(?:le)?s|cuales|quais)(?: ones)?"
    r"(?: (?:are they|sind (?:das|es)|son|sao))?)[\s.!?]*)+$"
)
_WROTE = (
    r"(?:did (?:i|we) (?:write|note|have)|have (?:i|we) (?:written|noted)|do i (?:know|have))"
    r"(?: down| noted| written)?"
)
_INSTRUCTION = compile_filled(
    r"(?:(?:explain|describe|elaborate on|clarify|discuss|expand on)(?: to me| me| us)?(?! plan\b)"
    r"|(?:tell|remind) me (?:something |everything |all )?(?:about|of)"
    r"|what (?:do|does|did) (?:my|the|our) notes? (?:say|tell(?: me)?|have|know) (?:about|on)"
    rf"|what {_WROTE} (?:about|on|regarding)"
    r"|(?:list|show|display)(?: me| us)?(?= (?:{all}|{the}) )|(?:show|give|get|find) me"
    r"|(?:compare|contrast|vergleiche?|comparez?|compara)(?= (?:{all}|{the}) )"
    r"|(?:a |the )?(?:timeline|time line|chronology) of"
    r"|zeige?(?: mir| uns)?(?= (?:{all}|{the}) )"
    r"|(?:erklare?|beschreibe?|erlautere?)(?: mir| uns)?|erzahle?(?: mir)? (?:et?was )?(?:uber|von)"
    r"|was (?:sagen|wissen|steht in) meine[n]? notizen (?:uber|zu)|was weiss ich (?:uber|von)"
    r"|was hab(?:e|en)? (?:ich|wir)(?: alles)? (?:uber|zu|zum thema|zum|zur)"
    r"|(?:explique|decris)(?:[- ]moi)?|parle[- ]moi d(?:e|u)|que disent mes notes (?:sur|de)"
    r"|qu['’ ](?:est[- ]ce que j['’]ai|ai[- ]je)(?: (?:ecrit|note))? (?:sur|a propos de)"
    r"|(?:explica|explicame|describe|descreva|explique)(?: me)?|hablame (?:de|sobre)"
    r"|que dicen mis notas (?:sobre|de)|que (?:tengo|he|escribi|anote)"
    r"(?: (?:escrito|anotado|apuntado))? (?:sobre|de|acerca de)"
    r"|(?:me )?fale(?: me)? (?:de|sobre)"
    r"|o que (?:dizem )?minhas notas(?: dizem)? sobre"
    r"|o que (?:eu )?(?:tenho|escrevi|anotei)(?: (?:escrito|anotado))? (?:sobre|de)) "
)
# What a user knows of a subject is written at the end in German
_WRITTEN_END = lazy_pattern(r"\s+(?:geschrieben|notiert|aufgeschrieben)[.?! ]*$")
_NAME = lazy_pattern(r"(\[\[.*?\]\])")
_SHORT_FORMS = (
    (lazy_pattern(r"\b(what|who|when|where|how)s\b", re.IGNORECASE), r"\1's"),
    (lazy_pattern(r"\b(can|could|would|will|do|did) u\b", re.IGNORECASE), r"\1 you"),
    (lazy_pattern(r"(?<!#)\bhowto\b", re.IGNORECASE), "how to"),
    (lazy_pattern(r"\b(have|has|do|does|did|are|is|was|were)n['’]t\b", re.I), r"\1 not"),
    (lazy_pattern(r"(?<!\S)w/ ?(?=\S)"), "with "),
    (lazy_pattern(r"(?<=\s)&(?=\s)"), "and"),
    (lazy_pattern(r"\b(gibt|geht)['’]?s\b", re.IGNORECASE), r"\1 es"),
    (lazy_pattern(r"\bhab (?=ich|wir)", re.IGNORECASE), "habe "),
    (lazy_pattern(r"\b(mir|mal|mache?|zeige?|gib|erstelle?) ['’]?n(en?)\b", re.I), r"\1 ein\2"),
    (lazy_pattern(r"\bqu[' ]?est[- ]ce\b", re.IGNORECASE), "qu'est-ce"),
    (lazy_pattern(r"\bc['’ ]?(?:koi|quoi)\b", re.IGNORECASE), "c'est quoi"),
    (lazy_pattern(r"\bnuma\b", re.IGNORECASE), "em uma"),
    (lazy_pattern(r"\bo ?q(?:ue)?\b(?= )", re.IGNORECASE), "o que"),
    (lazy_pattern(r"^q(?= )"), "que"),
    (lazy_pattern(r"^(list\w*|zähle?) (.+) auf(?=[.!? ]*$)", re.IGNORECASE), r"\1 \2"),
    (lazy_pattern(r"\bpra\b", re.IGNORECASE), "para"),
    (lazy_pattern(r"\bvc\b", re.IGNORECASE), "você"),
    (lazy_pattern(r"\b([jJ])ai\b"), r"\1'ai"),
)
"""Forms of speech and chat, and how the patterns of requests have them."""


def spell_out(text: str) -> str:
    """A message without short forms of speech; names of notes stay as they are."""
    pieces = _NAME.split(text)
    for index in range(0, len(pieces), 2):
        for pattern, replacement in _SHORT_FORMS:
            pieces[index] = pattern.sub(replacement, pieces[index])
    return "".join(pieces)


def without_thanks(text: str) -> str:
    """A message without "please" or "thanks" at its end."""
    end = _POLITE_END.search(bare_text(text))
    return text[: end.start()] if end and end.start() else text


def without_frame(text: str) -> str:
    """A message without "could you please" and "thanks"."""
    text = without_thanks(text)
    bare = bare_text(text)
    begin = _FRAME_BEGIN.match(bare)
    start = begin.end() if begin else 0
    end = len(text)
    for match in _FRAME_END.finditer(bare, start):
        if match.end() == len(bare):
            end = match.start()
    return text[start:end].strip(PUNCTUATION) or text


def without_instruction(text: str) -> str:
    """A question without "explain" or "tell me about", which are no words to search for."""
    framed = without_frame(text)
    instruction = _INSTRUCTION.match(bare_text(framed))
    if instruction is None:
        return text
    rest = framed[instruction.end() :]
    end = _WRITTEN_END.search(bare_text(rest))
    return rest[: end.start()] if end else rest
