"""The units that people write behind numbers: amounts of different units are never added."""

from zkchat_cli.text.case_folder import fold
from zkchat_cli.text.currencies import currency_in
from zkchat_cli.text.patterns import lazy_pattern

_WRITTEN = {
    "km": "km kms kilometre kilometres kilometer kilometers kilometern kilometro kilometros"
    " quilometro quilometros",
    "m": "m metre metres meter meters metern metro metros",
    "mi": "mi mile miles meile meilen mille milles milla millas milha milhas",
    "kg": "kg kgs kilo kilos kilogram kilograms kilogramm kilogramme kilogrammes kilogramo"
    " kilogramos quilo quilos",
    "g": "g gram grams gramm gramme grammes gramo gramos grama gramas",
    "lb": "lb lbs",
    "h": "h hr hrs hour hours std stunde stunden heure heures hora horas",
    "min": "min mins minute minutes minuten minuto minutos",
    "l": "l litre litres liter litro litros",
    "pages": "page pages seite seiten pagina paginas",
    "steps": "step steps schritt schritte pas paso pasos passo passos",
}
UNIT_NAMES = {unit: tuple(names.split()) for unit, names in _WRITTEN.items()}
"""The folded names of each unit in English, German, French, Spanish and Portuguese."""
_UNITS = {name: unit for unit, names in UNIT_NAMES.items() for name in names}
_AFTER_NUMBER = lazy_pattern(r"[^\d]{0,3}\d[\d.,]* ?(?P<unit>[^\W\d_]+)")


def unit_in(value: str) -> str:
    """The unit or the currency of a value ("km" for "5 kilometres"); empty without one."""
    currency = currency_in(" ".join(value.split()[:2]))
    found = _AFTER_NUMBER.match(fold(value))
    if currency or found is None:
        return currency
    return _UNITS.get(found["unit"], "")
