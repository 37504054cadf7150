"""Questions that ask for a number or a price, and whether passages have one. Pure.

"How much does the scooter cost?" is near to each note about the scooter, but a passage without any
amount of money cannot answer it. Questions for a duration are none of these: "until Friday" answers
"how long".
"""

from collections.abc import Iterable

from zkchat_cli.text.case_folder import fold
from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.text.spelled_numbers import SPELLED_LANGUAGES, spelled_number

_ASKS_FOR_NUMBER = lazy_pattern(
    r"\bhow (?:much|many|old|tall|heavy|expensive)\b(?! (?:longer|time|more|less)\b)"
    r"|\bwie ?(?:viele?|alt|teuer|schwer|hoch)\b(?! zeit\b)"
    r"|\bcombien\b(?! de temps\b)|\bquel age\b"
    r"|(?<!\ben )\bcuant[oa]s?\b(?! (?:tiempo|mas|menos|antes|a)\b)"
    r"|\bquant[oa]s?\b(?! (?:tempo|mais|menos|melhor|antes|a|ao|aos|as)\b)"
    r"|多少|几(?=[个天次岁点年月块杯组斤页条种])"
)
_SPEAKS_OF_MONEY = lazy_pattern(
    r"\b(?:costs?|price[ds]?|pay|pays|paid|spend|spent|earns?|earned|charged?|expensive"
    r"|kost(?:et|en|ete|eten)|gekostet|preise?|bezahl\w*|verdien\w*|teuer|ausgegeben"
    r"|cout\w*|prix|pa[iy](?:e|es|er|ent|ons|ait|erai)|gagn(?:e|es|ent|er|ait)|depens\w*"
    r"|cuesta[ns]?|costo|costaron|costaba|precios?|pagu?[oeé]|pag(?:ar|an|amos|aba)|gan(?:a|an|o)"
    r"|gast(?:o|e|ar|aron|ei|ou|amos)|cust(?:a|am|ou|aram|ava|o)|precos?|paguei|pagou|pagamos"
    r"|ganh(?:a|am|ou|ei|o))\b"
    r"|多少钱|价格|收费|花了?多少|[收赚]多少"
)
_ASKS_FOR_PRICE = lazy_pattern(
    r"\bwhat (?:do|does|did) .*\bcost\b|\bwas (?:kostet|kosten|kostete|hat .*gekostet)\b"
    r"|\b(?:price|preis|prix|precio|preco) (?:of|von|der|des|du|de|del|do|da)\b|多少钱|价格"
)
_MONEY = lazy_pattern(
    r"[€$£¥₹]|\b(?:eur|euros?|usd|dollars?|dolar(?:es)?|reais|pesos?|pounds?|franken|francs?|chf"
    r"|cents?|centavos?|centimos?|yuan|free|kostenlos|umsonst|gratis|gratuit\w*|de graca)\b"
    r"|\d *[元块]|免费"
)
_PART = lazy_pattern(
    r"\b(?:half|twice|double|halb\w*|zweimal|doppelt\w*|demie?s?|moitie|medi[oa]s?|mitad|doble"
    r"|mei[oa]s?|metade|dobro|hundreds|dozens|hunderte\w*|dutzende\w*|centaines|cientos|centenas)\b"
    r"|[二两三四五六七八九十百千万半]"
)
# Below this, a number word may be an article
_LEAST_NUMBER = 2


def asks_for_amount(question: str) -> bool:
    """Whether a question asks how many or how much there is of something, or for a price."""
    folded = fold(question)
    return bool(_ASKS_FOR_NUMBER.search(folded) or _ASKS_FOR_PRICE.search(folded))


def lack_asked_amount(question: str, passages: Iterable[str]) -> bool:
    """Whether a question asks for an amount and none of the passages has one: a number, or for a
    price an amount of money.
    """
    return asks_for_amount(question) and not any(_has_amount(question, each) for each in passages)


def has_price(subject: str, passage: str) -> bool:
    """Whether a subject is what something costs, and a passage has an amount of money."""
    return bool(_SPEAKS_OF_MONEY.search(fold(subject))) and _has_amount(subject, passage)


def _has_amount(question: str, passage: str) -> bool:
    text = fold(passage)
    if not _SPEAKS_OF_MONEY.search(fold(question)):
        return _has_number(text)
    # "We paid 900" says no currency
    return bool(_MONEY.search(text)) or (_has_number(text) and bool(_SPEAKS_OF_MONEY.search(text)))


def _has_number(text: str) -> bool:
    """Whether a folded text has a number in digits or words."""
    if any(map(str.isdigit, text)) or _PART.search(text):
        return True
    words = text.replace("-", " ").split()
    return any(_is_number(words, place) for place in range(len(words)))


def _is_number(words: list[str], place: int) -> bool:
    for language in SPELLED_LANGUAGES:
        found = spelled_number(words, place, language)
        if found is not None and found.value >= _LEAST_NUMBER:
            return True
    return False
