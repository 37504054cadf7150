"""The patterns of requests for an average or a sum: "average rating of my books", "how many km did
I run in March?". See `request_slots`; whether notes have such amounts, `amounts` asks.
"""

from zkchat_cli.llm.offline.request_slots import family

_WHAT = (
    r"(?:(?:what|how much|how high)(?:['’]s| is| was| are)|was (?:ist|war)|wie hoch (?:ist|war)"
    r"|quelle? (?:est|etait)|cual (?:es|era)|qual (?:e|era)|{show}|calculate|compute|berechne"
    r"|calcule|calcula)"
)
_AMOUNT = r"(?P<amount>(?!of\b|up\b|de\b|the\b|der\b|la\b)[^\W\d]\w+|€|\$)"
_OF = r"(?: (?:for|in|from|across|von|fur|en|dans|em|nas?|no|{the}|{all}))+"
_OFS = r"(?:(?:for|von|{the}) |[dl]['’] ?)*"
# What looks like a plural
_NOUN = r"(?:(?:{notes})|(?P<noun>[^\W\d]\w*(?:s|x|n|r|e|i|people|gente)))"
_BOOKS = rf"{_NOUN}(?:[ ,]+(?P<clause>.+))?"
_MINE = r"(?:my|our|all|meine|unsere|alle|mes|nos|mis|nuestr[oa]s|todos|meus|minhas|nossas)"
_WHEN = (
    r"(?P<dates>(?:in|im|en|em|from|during|last|this|since|between|diese\w*|letzte\w*|vorige\w*|seit"
    r"|von|vom|zwischen|cette|ce|depuis|le mois|l['’]annee|la semaine|este|esta|el mes|la semana"
    r"|desde|na semana|no mes|hoy|today|yesterday|gestern|heute|ayer|ontem|hier) ?.*?)"
)
_AVERAGES = (
    rf"(?:average|mean|avg|durchschnittliche[nrs]?|mittlere[nrs]?|durchschnitt|schnitt|mittelwert"
    rf"|moyenne|promedio|media) {_OFS}{_AMOUNT}",
    rf"{_AMOUNT} (?:moyenn?e?|medi[ao]|promedio|(?:im )?durchschnitt)",
    rf"durchschnitts-?{_AMOUNT}",
)
_TOTALS = (
    rf"(?:total|sum|summe|gesamtzahl|somme|suma|soma)(?: (?:number|amount))? {_OFS}{_AMOUNT}",
    rf"gesamt-?{_AMOUNT}",
)
_AVERAGE_TRIGGERS = (
    "average mean. avg durchschnitt mittler mittelwert schnitt. moyen promedio media. medio."
)
_TOTAL_TRIGGERS = "total sum. summe somme suma. soma. gesamt"


def _of_notes(amounts: tuple[str, ...]) -> tuple[str, ...]:
    """An amount in a time, of notes of a kind, or of all notes."""
    asked = rf"(?:{_WHAT} )?{{articles}}"
    patterns: list[str] = []
    for amount in amounts:
        patterns.append(rf"{asked}{amount}(?: {_WHEN})?")
        patterns.append(rf"{asked}{amount}{_OF} {_BOOKS}")
    return tuple(patterns)


_ACTIVITY = r"(?P<activity>[^\W\d]\w+)"
# "that I ran", "die ich gelaufen bin"
_THAT_I = (
    r"(?:(?:that|which|die|que|qu['’]) ?)?(?:(?:i|we|ich|wir|je|j['’]ai|nous avons|yo|eu|he|tenho)"
    r" )?(?:have )?"
)
_REACHED = (
    rf"{{articles}}{_TOTALS[0]} {_THAT_I}{_ACTIVITY}(?: bin| habe)?(?: {_WHEN})?",
    rf"(?:{{the}} )*{_TOTALS[0]},? die ich {_WHEN} {_ACTIVITY}(?: bin| habe)?",
    # "Total spent in May"
    r"(?:{the} )*(?:total|sum|summe|insgesamt) (?P<activity>spent|paid|ausgegeben|bezahlt|depense"
    rf"|paye|gastado|pagado|gasto) {_WHEN}",
)
AVERAGE = family(
    "count", _AVERAGE_TRIGGERS, *_of_notes(_AVERAGES), measure="average", may_be_lookup=True
)
TOTAL = family(
    "count", _TOTAL_TRIGGERS, *_of_notes(_TOTALS), *_REACHED, measure="sum", may_be_lookup=True
)
_HOW_MANY = r"(?:how (?:many|much)|wie ?viele?|combien(?: d(?:e|['’]))?|cuant[ao]s?|quant[ao]s?)"
_DID = r"(?:did|have|had|bin|habe|hab|haben|sind|ai|avons)(?:[- ](?:i|we|ich|wir|je|nous))?|j['’]ai"
_HOW_MANY_WORDS = "many. much. wieviel viel. viele. combien cuant quant"
_IN_ALL = r"(?:,? (?:in total|altogether|insgesamt|zusammen|au total|en total|no total|ao todo))?"
DONE = family(
    "count",
    "how wie combien cuant quant",
    rf"{_HOW_MANY} ?(?:{_AMOUNT} )?(?:{_DID}) {_ACTIVITY}{_IN_ALL} {_WHEN}",
    rf"{_HOW_MANY} ?(?:{_AMOUNT} )?(?:{_DID}) {_WHEN}{_IN_ALL} {_ACTIVITY}",
    rf"{_HOW_MANY} ?(?:{_AMOUNT} )?(?:{_DID}){_IN_ALL} {_WHEN} {_ACTIVITY}",
    rf"{_HOW_MANY} ?{_AMOUNT} {_ACTIVITY}{_IN_ALL}(?: {_WHEN})?",
    rf"{_HOW_MANY} ?{_AMOUNT} (?:{_DID}) {_ACTIVITY}{_IN_ALL}",
    rf"{_HOW_MANY} ?{_AMOUNT} (?:{_DID}){_IN_ALL} {_ACTIVITY}",
    rf"{_HOW_MANY} {_ACTIVITY}{_IN_ALL} {_WHEN}",
    rf"(?P<far>how far|wie weit) (?:{_DID}) {_ACTIVITY}{_IN_ALL} {_WHEN}",
    rf"(?P<far>wie weit) (?:{_DID}) {_WHEN} (?P<activity>gelaufen|gefahren|gegangen|geschwommen)",
    needs=f"{_HOW_MANY_WORDS} far. weit.",
    measure="sum",
    may_be_lookup=True,
)
OF_NOTES = family(
    "count",
    "how wie combien cuant quant",
    rf"{_HOW_MANY} ?{_AMOUNT} (?:do|does|have|haben|hat|ont|a|tienen|tiene|tem|suman)"
    rf" (?:(?:{{the}}|{{all}}) )*{_MINE} (?:(?:{{the}}) )*{_NOUN}(?: have| contain)?{_IN_ALL}",
    needs=_HOW_MANY_WORDS,
    measure="sum",
    may_be_lookup=True,
)
# What something has cost: "how much did I spend on tapwise in all"
_SO_FAR = (
    r"(?:in all|in total|altogether|all together|so far|overall|to date|until now|up to now"
    r"|insgesamt|bisher|zusammen|alles in allem|in summe|bis jetzt|en tout|au total|jusqu['’]ici"
    r"|jusqu['’]a (?:present|maintenant)|en total|hasta ahora|en suma|no total|ao todo|ate agora"
    r"|em tudo)"
)
_ITEM = r"{articles}(?P<item>[^\W_].*?)"
_ITEM2 = _ITEM.replace("item", "item2")
_ITEM_SO_FAR = rf"{_ITEM}(?: {_SO_FAR})?"
_COSTS = (
    r"(?:costs?|spendings?|expenses?|expenditures?|payments?|bills?|invoices?|fees?|charges?"
    r"|kosten|ausgaben|rechnungen|zahlungen|couts?|depenses?|factures?|paiements?"
    r"|costes?|costos?|gastos?|pagos?|facturas?|custos?|despesas?|pagamentos?|faturas?)"
)
_ALL_COSTS = (
    rf"(?:(?:total|overall|sum of|summe|gesamte|somme d(?:e|u|es)|suma de|soma d[aeo]s?)"
    rf" (?:{{the}} |{{all}} |l['’] ?)*{_COSTS}|gesamt-?{_COSTS}|{_COSTS} (?:total|totale|totales"
    r"|totaux|totais|insgesamt))"
)
_FOR = (
    r"(?:(?:on|for|of|to|at|fur|von|bei|an|des|der|pour|chez|de|du|en|con|por|a|com|em|no|na|nos|nas"
    r"|do|da|dos|das|pel[oa]|ao?) |d['’] ?)"
)
_SPENT_BY_ME = (
    r"(?:(?:did|have) (?:i|we) (?:spend|spent|pay|paid)"
    r"|(?:ai[- ]je|avons[- ]nous|j['’]ai|on a) (?:depense|paye)"
    r"|(?:he|hemos|llevo) (?:gastado|pagado)|gaste|gastamos|pague|pagamos"
    r"|(?:(?:eu )?ja )?(?:gastei|paguei|gastamos|pagamos))"
)
_HAS_COST = (
    r"(?:(?:m['’]a|nous a|a|ont|m['’]ont) coute|(?:(?:me|nos) )?(?:(?:ha|han) costado|costo)"
    r"|(?:ja )?(?:me |nos )?(?:custou|custaram))"
)
_HOW_MUCH = (
    r"(?:how much(?: money)?|wie ?viel(?: geld)?|combien(?: d['’]argent)?"
    r"|cuanto(?: dinero)?|quanto(?: dinheiro)?)"
)
# "What did I pay for the tyres?" may ask for one price
_WHAT_ALL = rf"(?:{_HOW_MUCH}|what|was)"
_HAVE_I = r"(?:habe|hab|haben) (?:ich|wir)"
_PAID = r"(?:ausgegeben|bezahlt|gezahlt)"
_ALL_THAT = (
    r"(?:(?:{the} )?(?:total|sum|summe|somme|suma|soma) (?:of|dessen|de|do|dos)?,? ?(?:all )?"
    r"(?:what|that|was|ce que|lo que|o que|que))"
)
_IN_SUM = "tot overall sum somme soma gesamt insgesamt add."
SPENT = family(
    "count",
    f"how. what. was. wie. wieviel combien cuant quant {_IN_SUM}",
    rf"{_HOW_MUCH} {_SPENT_BY_ME}(?: {_SO_FAR})?(?: {_WHEN})?? {_FOR}{_ITEM_SO_FAR}",
    rf"what {_SPENT_BY_ME} (?:{_SO_FAR} {_FOR}{_ITEM}|{_FOR}{_ITEM2}"
    rf" {_SO_FAR})",
    rf"wie ?viel(?: geld)? {_HAVE_I}(?: {_SO_FAR})?(?: {_WHEN})?? {_FOR}{_ITEM_SO_FAR} {_PAID}",
    rf"was {_HAVE_I} (?:{_SO_FAR} {_FOR}{_ITEM}|{_FOR}{_ITEM2} {_SO_FAR})"
    rf" {_PAID}",
    rf"{_HOW_MUCH} {_HAS_COST} {_ITEM} {_SO_FAR}",
    rf"{_HOW_MUCH} {_HAS_COST} {_SO_FAR} {_ITEM}",
    rf"{_WHAT_ALL} (?:has|have|did) {_ITEM} cost (?:(?:me|us) )?{_SO_FAR}",
    rf"{_WHAT_ALL} (?:hat|haben) (?:(?:mich|uns) )?{_ITEM} (?:(?:mich|uns) )?{_SO_FAR} gekostet",
    rf"{_WHAT_ALL} (?:hat|haben) (?:(?:mich|uns) )?{_SO_FAR} {_ITEM} gekostet",
    rf"{_ALL_THAT} {_ITEM} (?:(?:has|have) cost|costs?|gekostet hat|(?:m['’])?a coute"
    r"|(?:me )?ha costado|(?:me )?costo|(?:me )?custou)(?: (?:me|us))?"
    rf"(?: {_SO_FAR})?",
    rf"{_ALL_THAT} (?:(?:me )?ha costado|(?:me )?costo|(?:me )?custou|m['’]a coute|a coute)"
    rf" {_ITEM_SO_FAR}",
    rf"{_ALL_THAT} (?:i|we|ich|wir|j['’]ai|he|hemos|eu)?(?: (?:have|habe))? ?(?:spent|paid|depense"
    rf"|paye|gastado|pagado|gaste|pague|gastei|paguei) {_FOR}{_ITEM_SO_FAR}",
    rf"{_ALL_THAT} ich (?:fur|bei|an) {_ITEM} (?:ausgegeben|bezahlt|gezahlt) habe",
    rf"(?:{_WHAT} )?{{articles}}{_ALL_COSTS} {_FOR}{_ITEM_SO_FAR}",
    rf"(?:{_WHAT} )?(?:{{the}} )*(?:total|sum|summe|somme|suma|soma)"
    rf" (?:(?:of|der|de|des|do|das) )?(?:{{all}} |{{the}} )*(?P<item>[^\W_]\S*)[- ]{_COSTS}",
    rf"(?:{{the}} )*(?:total|sum|summe) (?:spent|paid|ausgegeben|bezahlt|depense|paye|gastado"
    rf"|pagado|gasto|pago) {_FOR}{_ITEM_SO_FAR}",
    rf"add up (?:{{all}} |{{the}} )*(?:(?:{_COSTS}|everything|what)(?: (?:i|we)(?: have)?"
    rf" (?:spent|paid))?) {_FOR}{_ITEM}",
    needs="spen paid pay cost ausgegeben bezahlt gezahlt gekostet depens coute gast pag custo custa"
    f" {_IN_SUM}",
    measure="sum",
    amount="€",
    may_be_lookup=True,
)
# What comes again: "how much do my insurances cost per year together?"
_PERIOD = (
    r"(?P<amount>per year|a year|yearly|annually|each year|every year|pro jahr|im jahr|jahrlich"
    r"|par an|al ano|por ano|ao ano|per month|a month|monthly|each month|every month|pro monat"
    r"|im monat|monatlich|par mois|al mes|por mes|ao mes)"
)
_TOGETHER = rf"(?: (?:together|{_SO_FAR}|ensemble|juntos?|juntas?))?"
_ALL_OF = r"(?:(?:{the}|{all}) |l['’] ?)*"
_RECURRING = rf"(?P<item>[^\W_].*?){_TOGETHER} {_PERIOD}{_TOGETHER}"
RECURRING = family(
    "count",
    "year month jahr monat an. mois ano mes",
    rf"how much (?:do|does) {_ALL_OF}(?P<item>[^\W_].*?) cost(?: (?:me|us))?{_TOGETHER} {_PERIOD}"
    rf"{_TOGETHER}",
    rf"how much do (?:i|we) pay for {_ALL_OF}{_RECURRING}",
    rf"wie ?viel (?:kosten|kostet|zahlen? (?:ich|wir) fur)(?: (?:mich|uns))? {_ALL_OF}{_RECURRING}",
    rf"combien (?:(?:me |nous )?coute(?:nt)?|je paye pour) {_ALL_OF}{_RECURRING}",
    rf"(?:cuanto|quanto) (?:(?:me |nos )?(?:cuestan?|custam?)|pago por) {_ALL_OF}{_RECURRING}",
    needs=_HOW_MANY_WORDS,
    measure="sum",
    may_be_lookup=True,
)
AMOUNTS = (RECURRING, AVERAGE, TOTAL, DONE, OF_NOTES, SPENT)
