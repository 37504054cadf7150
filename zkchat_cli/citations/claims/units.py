"""Units of measurement with their names in five languages, what they measure, and their factor to
the base unit of that.

A symbol is compared with its case ("MW" is not "mW"), names are folded. Units of one kind can be
converted; money of one currency is a kind of its own.
"""

from functools import cache
from typing import NamedTuple

SYMBOLS = {
    "length": "mm:.001 cm:.01 dm:.1 m:1 km:1000 mi:1609.344 ft:.3048 yd:.9144 nm:1e-9 µm:1e-6",
    "area": "m²:1 m2:1 qm:1 km²:1e6 km2:1e6 cm²:1e-4 cm2:1e-4 ha:1e4",
    "volume": "ml:1e-3 mL:1e-3 cl:.01 dl:.1 l:1 L:1 hl:100 m³:1000 m3:1000 cm³:1e-3 cm3:1e-3",
    "mass": "µg:1e-9 mg:1e-6 g:.001 kg:1 t:1000 lb:.45359 lbs:.45359 oz:.02835",
    "time": (
        "ns:1e-9 µs:1e-6 ms:.001 s:1 sec:1 sek:1 min:60 mins:60 h:3600 hr:3600 hrs:3600 Std:3600 "
        "d:86400"
    ),
    "pressure": (
        "Pa:1 hPa:100 kPa:1e3 MPa:1e6 mbar:100 bar:1e5 Bar:1e5 psi:6894.757 atm:101325 mmHg:133.32"
    ),
    "power": "mW:.001 W:1 kW:1e3 MW:1e6 GW:1e9 PS:735.5 hp:745.7",
    "energy": (
        "J:1 kJ:1e3 MJ:1e6 GJ:1e9 Wh:3600 kWh:3.6e6 MWh:3.6e9 GWh:3.6e12 TWh:3.6e15 cal:4.184 "
        "kcal:4184"
    ),
    "data": (
        "B:1 kB:1e3 KB:1e3 MB:1e6 GB:1e9 TB:1e12 PB:1e15 KiB:1024 MiB:1048576 GiB:1073741824 "
        "TiB:1099511627776 Go:1e9 Mo:1e6 Ko:1e3 To:1e12"
    ),
    "data rate": "kbit/s:1e3 Mbit/s:1e6 Gbit/s:1e9 kbps:1e3 Mbps:1e6 Gbps:1e9 MB/s:8e6 GB/s:8e9",
    "speed": "km/h:.277778 kmh:.277778 kph:.277778 m/s:1 mph:.44704 kn:.514444 kt:.514444",
    "frequency": "Hz:1 kHz:1e3 MHz:1e6 GHz:1e9",
    "voltage": "mV:.001 V:1 kV:1e3",
    "current": "mA:.001 A:1",
    "temperature": "°C:1 °F:1 ℃:1 ℉:1 K:1",
    "share": "%:.01 ‰:.001",
    "money EUR": "€:1 EUR:1",
    "money USD": "$:1 USD:1 US$:1",
    "money GBP": "£:1 GBP:1",
    "money CHF": "CHF:1 Fr:1 SFr:1",
    "money JPY": "¥:1 JPY:1",
    "money INR": "₹:1 INR:1",
    "money BRL": "R$:1 BRL:1",
    "money RUB": "₽:1 RUB:1",
}
NAMES = {
    "length": (
        "millimetre/millimeter/millimetres/millimeters/millimetern/millimetro/millimetros"
        "/milimetro/milimetros:.001 "
        "centimetre/centimeter/centimetres/centimeters/zentimeter/zentimetern/centimetro"
        "/centimetros:.01 "
        "metre/meter/metres/meters/metern/metro/metros/metri:1 "
        "kilometre/kilometer/kilometres/kilometers/kilometern/quilometro/quilometros/kilometro"
        "/kilometros/chilometro/chilometri:1000 "
        "mile/miles/meile/meilen/mille/milles/milla/millas/milha/milhas:1609.344 "
        "foot/feet/fuss/pied/pieds/pie/pies:.3048 inch/inches/zoll/pouce/pouces/pulgada/pulgadas"
        "/polegada/polegadas:.0254 yard/yards:.9144 公里:1000 千米:1000 米:1 厘米:.01"
    ),
    "area": "hectare/hectares/hektar/hectarea/hectareas:1e4 acre/acres/morgen:4046.86",
    "volume": (
        "millilitre/milliliter/millilitres/milliliters/millilitern/mililitro/mililitros:.001 "
        "centilitre/centilitres/zentiliter:.01 decilitre/deziliter:.1 "
        "litre/liter/litres/liters/litern/litro/litros/litri/литр/литра/литров:1 "
        "hectolitre/hektoliter:100 gallon/gallons/galon/galones:3.78541 升:1 毫升:.001"
    ),
    "mass": (
        "milligram/milligrams/milligramm/milligramme/milligrammes/miligramo/miligramos:1e-6 "
        "gram/grams/gramme/grammes/gramm/gramo/gramos/grama/gramas/grammi:.001 "
        "kilogram/kilograms/kilogramm/kilo/kilos/kilogramme/kilogrammes/kilogramo/kilogramos"
        "/quilo/quilos/quilograma/quilogramas/chili:1 "
        "tonne/tonnes/tonnen/ton/tons/tonelada/toneladas/tonnellate:1000 "
        "ounce/ounces:.02835 公斤:1 千克:1 克:.001 吨:1000"
    ),
    "time": (
        "millisecond/milliseconds/millisekunde/millisekunden/milliseconde/millisecondes:.001 "
        "second/seconds/sekunde/sekunden/seconde/secondes/segundo/segundos/secondi:1 "
        "minute/minutes/minuten/minuto/minutos/minuti:60 "
        "hour/hours/stunde/stunden/heure/heures/hora/horas/ora/ore:3600 "
        "day/days/tag/tage/tagen/jour/jours/dia/dias/giorno/giorni/jornada:86400 "
        "week/weeks/woche/wochen/semaine/semaines/semana/semanas/settimane:604800 "
        "month/months/monat/monate/monaten/mois/mes/meses/mesi:2629800 "
        "year/years/jahr/jahre/jahren/jahres/an/ans/annee/annees/ano/anos/anni:31557600 "
        "decade/decades/jahrzehnt/jahrzehnte/decennie/decennies/decada/decadas:315576000 "
        "century/centuries/jahrhundert/jahrhunderte/siecle/siecles/siglo/siglos/seculo/seculos"
        ":3155760000 分钟:60 小时:3600 天:86400 秒:1"
    ),
    "pressure": (
        "bars:1e5 millibar/millibars/milibar/milibares/milibares:100 pascal/pascals:1 "
        "hectopascal/hektopascal:100"
    ),
    "power": (
        "milliwatt/milliwatts:.001 watt/watts/vatio/vatios:1 "
        "kilowatt/kilowatts/kilovatio/kilovatios:1e3 megawatt/megawatts/megavatio/megavatios:1e6 "
        "gigawatt/gigawatts:1e9"
    ),
    "energy": (
        "joule/joules:1 kilojoule/kilojoules:1e3 kilowattstunde/kilowattstunden/kilowattheure"
        "/kilowattheures:3.6e6 megawattstunden:3.6e9 calorie/calories/kalorien/kcal/kilokalorien"
        "/calorias:4184"
    ),
    "data": (
        "byte/bytes/octet/octets:1 kilobyte/kilobytes/kilooctets:1e3 "
        "megabyte/megabytes/megaoctets:1e6 gigabyte/gigabytes/gigaoctets:1e9 "
        "terabyte/terabytes:1e12"
    ),
    "speed": (
        "knot/knots/knoten/noeuds/nudos/nos:.514444 stundenkilometer/stundenkilometern:.277778"
    ),
    "frequency": "hertz:1 kilohertz:1e3 megahertz:1e6 gigahertz:1e9",
    "voltage": "volt/volts/voltios:1",
    "current": "ampere/amperes/amp/amps/amperios:1",
    "temperature": "celsius:1 fahrenheit:1 kelvin:1",
    "share": "percent/prozent/procent/percento:.01 promille:.001",
    "money EUR": "euro/euros/евро:1 欧元:1",
    "money USD": "dollar/dollars/dolar/dolares/dollari:1 美元:1",
    "money GBP": "pound/pounds/libra/libras/sterling:1 英镑:1",
    "money CHF": "franken/francs/franc/franco/francos/rappen:1",
    "money JPY": "yen/yenes/ienes:1 日元:1",
    "money INR": "rupee/rupees/rupien/roupies/rupias:1",
    "money BRL": "reais:1",
    "money MXN": "peso/pesos:1",
    "money NOK": "krone/kroner/kronen/kronor/couronnes/coronas/coroas:1",
    "money PLN": "zloty/zlotys:1",
    "money RUB": "ruble/rubles/rubel/roubles/rublos/рубль/рубля/рублей:1",
    "money CNY": "yuan:1 元:1",
}
PHRASES = {
    "square metre": ("area", 1),
    "square kilometre": ("area", 1e6),
    "square foot": ("area", 0.092903),
    "square mile": ("area", 2589988.0),
    "cubic metre": ("volume", 1000),
    "cubic centimetre": ("volume", 0.001),
    "kilometre hour": ("speed", 0.277778),
    "mile hour": ("speed", 0.44704),
    "metre second": ("speed", 1),
    "degree celsius": ("temperature C", 1),
    "degree fahrenheit": ("temperature F", 1),
    "per cent": ("share", 0.01),
    "percentage point": ("share", 0.01),
}
"""Units of more than one word, by their first names in `_PHRASE_WORDS`."""
_PHRASE_WORDS = {
    "square": (
        "square quadrat carre carres cuadrado cuadrados quadrado quadrados quadratmeter "
        "quadratmetern"
    ),
    "cubic": "cubic cube cubes cubico cubicos kubikmeter kubikmetern",
    "degree": "degree degrees grad degre degres grado grados grau graus",
    "per": "per pro par por pour",
    "cent": "cent ciento cento",
    "percentage": "percentage",
    "point": "point points",
    "hour": "hour stunde heure hora",
    "second": "second sekunde seconde segundo",
    "celsius": "celsius c",
    "fahrenheit": "fahrenheit f",
}
_COMPOUND_NAMES = {
    "quadratmeter": ("area", 1.0),
    "quadratmetern": ("area", 1.0),
    "quadratkilometer": ("area", 1e6),
    "kubikmeter": ("volume", 1000.0),
    "kubikmetern": ("volume", 1000.0),
    "prozentpunkte": ("share", 0.01),
    "prozentpunkten": ("share", 0.01),
}
FAHRENHEIT = frozenset(("°F", "℉", "fahrenheit"))
KELVIN = frozenset(("K", "kelvin"))
# Kinds of units that are only about right against others: months, years, 1000 or 1024 bytes
_LOOSE_KINDS = {"time": 0.02, "data": 0.1}
_USUAL_TOLERANCE = 0.01
_FREEZING_FAHRENHEIT = 32
_FREEZING_KELVIN = 273.15


class Unit(NamedTuple):
    """What a unit measures, and its factor to the base unit; `name` tells it from others of its
    kind.
    """

    kind: str
    factor: float
    name: str

    def to_base(self, number: float) -> float:
        """A number of this unit in the base unit of its kind."""
        if self.name in FAHRENHEIT:
            return (number - _FREEZING_FAHRENHEIT) * 5 / 9
        if self.name in KELVIN:
            return number - _FREEZING_KELVIN
        return number * self.factor


@cache
def _symbols() -> dict[str, Unit]:
    found: dict[str, Unit] = {}
    for kind, written in SYMBOLS.items():
        for entry in written.split():
            symbol, _, factor = entry.rpartition(":")
            found[symbol] = Unit(kind, float(factor), symbol)
    return found


@cache
def _names() -> dict[str, Unit]:
    found: dict[str, Unit] = {}
    for kind, written in NAMES.items():
        for entry in written.split():
            forms, _, factor = entry.rpartition(":")
            for form in forms.split("/"):
                found[form] = Unit(kind, float(factor), form)
    for name, (kind, size) in _COMPOUND_NAMES.items():
        found[name] = Unit(kind, size, name)
    return found


def unit_of_symbol(symbol: str) -> Unit | None:
    """The unit of a symbol, which is compared with its case."""
    return _symbols().get(symbol)


def unit_of_name(word: str) -> Unit | None:
    """The unit of a folded name in any of the languages."""
    return _names().get(word)


@cache
def _phrase_keys() -> dict[str, str]:
    found: dict[str, str] = {}
    for key, words in _PHRASE_WORDS.items():
        found.update(dict.fromkeys(words.split(), key))
    return found


def unit_of_phrase(first: str, second: str) -> Unit | None:
    """The unit of two folded words without the words between: "square metres", "metros cuadrados",
    "kilometres per hour".
    """
    keys = _phrase_keys()
    for one, other in ((first, second), (second, first)):
        measured = keys.get(one) or _length_name(one)
        name = f"{measured} {keys.get(other) or _length_name(other)}"
        if name in PHRASES:
            kind, factor = PHRASES[name]
            kind, _, scale = kind.partition(" ")
            symbol = f"°{scale}" if scale else name
            return Unit(kind, factor, symbol)
    return None


def _length_name(word: str) -> str:
    """The English name of a length, which areas and volumes are called by."""
    unit = _names().get(word)
    by_factor = {1.0: "metre", 1000.0: "kilometre", 0.01: "centimetre", 0.3048: "foot"}
    by_factor[1609.344] = "mile"
    return by_factor.get(unit.factor, word) if unit and unit.kind == "length" else word


def tolerance(kind: str) -> float:
    """The share by which the same size in two units of a kind may differ."""
    return _LOOSE_KINDS.get(kind, _USUAL_TOLERANCE)
