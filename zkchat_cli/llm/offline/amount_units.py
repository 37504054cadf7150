"""What amounts and their units are called, in English, German, French, Spanish and Portuguese."""

from collections.abc import Mapping

from zkchat_cli.llm.offline.property_names import is_common_name, same_names
from zkchat_cli.llm.offline.request_slots import bare_text
from zkchat_cli.text.currencies import CURRENCY_NAMES
from zkchat_cli.text.units import UNIT_NAMES, unit_in

MONEY = (*CURRENCY_NAMES, *"money geld argent dinero dinheiro".split())
KILOMETRES = "km"
# What is measured in a unit, as properties and questions call it
_MEASURED = {
    KILOMETRES: "distance distanz strecke distancia",
    "kg": "weight gewicht poids peso",
}
_GROUPS = ((*names, *_MEASURED.get(unit, "").split()) for unit, names in UNIT_NAMES.items())
# Costs that come again, as the columns of tables are called
_PERIODS = (
    "per year|a year|yearly|annual|annually|each year|every year|pro jahr|im jahr|jahrlich|par an"
    "|annuel|al ano|por ano|ao ano|anual",
    "per month|a month|monthly|each month|every month|pro monat|im monat|monatlich|par mois"
    "|mensuel|al mes|por mes|ao mes|mensual|mensal",
)
PERIODS = tuple(tuple(line.split("|")) for line in _PERIODS)
UNITS = (*_GROUPS, MONEY, *PERIODS)
# Properties with what something has cost
PRICES = (*same_names("price"), *"amount betrag montant importe monto valor quantia".split())
_SAME_ACTIVITIES = (
    "run ran running runs jog jogged laufen lief liefen gelaufen laufe joggen gejoggt lauf"
    " course courses couru courir cours footing footings correr corri corrimos corrido corrio"
    " correu"
    " corrida corridas carrera carreras correndo",
    "cycle cycled cycling bike biked ride rides rode radtour radtouren geradelt radeln fahrrad"
    " velo pedale pedalee"
    " pedaleado pedalei bici bicicleta",
    "walk walked walking walks gehen gegangen ging spaziert spaziergang spaziergange"
    " spaziergangen marche marches marcher marchei promenade promenades camine caminado caminata"
    " caminatas paseo paseos caminar caminei andei caminhei caminhada caminhadas",
    "swim swims swam swum swimming schwimmen geschwommen schwamm nage nager nade nadado nadar"
    " nadei",
    "spend spent spending pay paid bought ausgegeben bezahlt gekauft depense paye achete gaste"
    " gastado pague pagado compre gastei paguei comprei gastou",
    "read reading gelesen las lu lire lei leido leer li lido ler",
    "sleep slept geschlafen schlief dormi dormido dormir",
    "work worked gearbeitet arbeitete travaille trabaje trabajado trabalhei trabalhado",
    "drive drove driven gefahren fuhr conduit roule conduje conducido dirigi",
    "drink drank drunk getrunken trank bu bebi bebido bebeu",
    "weigh weighed gewogen wog pese pesado pesei",
)
ACTIVITIES = tuple(tuple(line.split()) for line in _SAME_ACTIVITIES)
SPENDING = next(group for group in ACTIVITIES if "spend" in group)
COSTS = frozenset(
    "expense expenses spending spendings payment payments bill bills invoice invoices fee fees"
    " ausgaben rechnungen zahlungen depense depenses facture factures paiement paiements gasto"
    " gastos pago pagos factura facturas despesa despesas pagamento pagamentos fatura faturas"
    " couts costes costos custos".split()
)


def units_of(amount: str) -> tuple[str, ...]:
    """The names and units of an amount; empty if it is a property only."""
    bare = bare_text(amount)
    return next((group for group in UNITS if bare in group), ())


def is_of_period(amount: str) -> bool:
    """Whether an amount is what comes again each year or month."""
    return any(bare_text(amount) in group for group in PERIODS)


def is_activity(word: str) -> bool:
    """Whether a word is what is done to reach an amount: "runs"."""
    return any(bare_text(word) in group for group in ACTIVITIES)


def complete_amount(fields: dict[str, object], groups: Mapping[str, str]) -> bool:
    """Whether a request names an amount that can be added; what was spent is money. Of what was
    done ("run") only amounts with a unit can.
    """
    activity = bare_text(str(fields.get("activity", "")))
    if "activity" not in groups and "far" not in groups:
        return _names_amount(fields, groups)
    is_known = is_activity(activity)
    if "amount" not in fields and activity in SPENDING:
        fields["amount"] = "€"
    if "far" in groups:
        fields["amount"] = KILOMETRES
    if activity in SPENDING and fields.get("about"):
        # "How much did I spend in May on tapwise?"
        fields["item"] = fields["about"]
    return is_known and bool(units_of(str(fields.get("amount", ""))))


def _names_amount(fields: dict[str, object], groups: Mapping[str, str]) -> bool:
    """Whether a request without an activity names an amount, perhaps the column of a table."""
    amount = str(fields.get("amount", ""))
    if is_of_period(groups.get("amount", "")):
        # With its article: "a year"
        amount = groups["amount"]
        fields["amount"] = amount
    is_sum = fields.get("measure") == "sum" and not is_activity(amount)
    is_named = bool(units_of(amount)) or is_common_name(amount)
    return is_named or (bool(amount) and (is_sum or "noun" in groups))


def is_money(amount: str) -> bool:
    """Whether an amount is one of money, or a property such as a price."""
    return bare_text(amount) in COSTS.union(MONEY, PRICES)


def name_with_unit(amount: str, unit: str) -> str:
    """What an amount is called where its values have a currency or unit: "£", or "price (£)"."""
    own_unit = unit_in(f"1 {amount}")
    if not unit or (own_unit == unit and bare_text(amount) not in MONEY):
        return amount
    is_unit = bool(own_unit) or bare_text(amount) in MONEY
    return unit if is_unit else f"{amount} ({unit})"


def amount_query(amount: str, activity: str, item: str = "") -> str:
    """The names of an amount, the words of an activity and what was paid for, as the list tool
    takes them.
    """
    names = units_of(amount)
    if item and is_of_period(amount):
        return f"{' | '.join(names)};; {item}"
    if item:
        return f"{' | '.join((*MONEY, *PRICES))};; {item}"
    if not names:
        names = same_names(amount) if is_common_name(amount) else (bare_text(amount),)
    verbs = next((group for group in ACTIVITIES if bare_text(activity) in group), ())
    return (
        f"{' | '.join(dict.fromkeys(names))}; {' | '.join(verbs)}" if verbs else " | ".join(names)
    )
