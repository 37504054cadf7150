"""The sentence of a message that asks for something, beside a greeting or a word about oneself:
"Hi! I am new here. Which notes are about bees?" Pure.
"""

from zkchat_cli.llm.offline.note_scope import PUNCTUATION
from zkchat_cli.llm.offline.request_slots import bare_text
from zkchat_cli.llm.offline.requests import parse_request
from zkchat_cli.text.courtesy import find_courtesy
from zkchat_cli.text.patterns import lazy_pattern

# A longer message is a pasted text, or tells a story that belongs to the question
LONGEST_MESSAGE = 240
MOST_SENTENCES = 4
_OPENING = lazy_pattern(
    r"(?:(?:hi|hello|hey|hallo|bonjour|salut|hola|ola|oi)[ ,!]+)?(?:"
    r"(?:how are you|how is it going|i(?:['’ ]?a?m) new here|i have (?:a|another) question"
    r"|(?:thanks|thank you)(?: (?:so|very) much| a lot)? for (?:the|your|all) .{1,20}"
    r"|wie gehts?(?: es)?(?: dir)?|ich bin neu hier|ich hab(?:e)? (?:da )?(?:mal )?(?:eine|noch"
    r" eine) frage|(?:vielen )?danke?(?: (?:dir|schon))? fur (?:die|deine) .{1,20}"
    r"|(?:comment )?ca va|comment vas[- ]tu|je suis nouve(?:au|lle)(?: ici)?|j['’]ai une"
    r" (?:autre )?"
    r"question|merci(?: beaucoup)? pour .{1,20}"
    r"|que tal|como estas|soy nuev[oa](?: aqui)?|tengo (?:una|otra) pregunta"
    r"|(?:muchas )?gracias por .{1,20}"
    r"|tudo b(?:em|om)|como (?:voce )?(?:vai|esta)|sou nov[oa](?: aqui)?|tenho (?:uma|outra)"
    r" pergunta|(?:muito )?obrigad[oa] (?:pela|pelo|por) .{1,20}))"
)
_MANNER = lazy_pattern(
    r"(?:(?:just|only|nur|bitte nur|seulement|juste|solo|so|apenas) (?:the |their |die |les |los "
    r"|las"
    r" |os |as )?(?:names?|titles?|list|namen?|titel|noms?|titres?|nombres?|titulos?|nomes?)"
    r"|(?:please )?(?:be brief|briefly|in short|keep it short|short answer|quickly)"
    r"|(?:bitte )?kurz(?:e antwort)?|en bref|brevement|brevemente|en pocas palabras|em poucas"
    r" palavras)(?:,? (?:please|bitte|s['’]il (?:te|vous) plait|por favor))?"
)
_SENTENCE_END = lazy_pattern(
    r"(?:(?<=[!?…])|(?<=\w\w\.)(?<!\b[DMS]r\.)(?<!\b(?:Mrs|Sra|Dra)\.)(?<!\bProf\.)(?<!\bSt\.)"
    r"(?<!\bN[ro]\.)) +(?=[¿¡]?\w)"
)
_JOINED = lazy_pattern(r"(?:and|then|also|und|dann|auch|et|puis|y|e|luego|depois)\b.*")
# Kinds of requests that mean what they say in any company
_CLEAR = ("list", "count", "table", "links", "outline", "compare")


def main_request(message: str) -> str:
    """The sentence of a message that is its request; the whole message if none or several may
    be.
    """
    if len(message) > LONGEST_MESSAGE or "[[" in message:
        return message
    sentences = _SENTENCE_END.split(" ".join(message.split()))
    if not 1 < len(sentences) <= MOST_SENTENCES or parse_request(message).kind != "lookup":
        return message
    rest = [each for each in sentences if not _is_beside(each)]
    if len(rest) == 1:
        return rest[0]
    asked = [each for each in rest if _is_clear(each)]
    others = [each for each in rest if each not in asked]
    is_only = len(asked) == 1 and not any(map(_asks_too, others))
    return asked[0] if is_only else message


def _is_beside(sentence: str) -> bool:
    """Whether a sentence only greets, thanks or says how to answer."""
    bare = bare_text(sentence).strip(PUNCTUATION)
    if _OPENING.fullmatch(bare) or _MANNER.fullmatch(bare):
        return True
    return find_courtesy(sentence) is not None


def _is_clear(sentence: str) -> bool:
    """Whether a sentence is a request in any company; one that may be a look-up needs the others to
    be understood.
    """
    request = parse_request(sentence)
    return request.kind in _CLEAR and not request.may_be_lookup


def _asks_too(sentence: str) -> bool:
    return sentence.endswith("?") or bool(_JOINED.fullmatch(bare_text(sentence)))
