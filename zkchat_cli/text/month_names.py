"""The names of months and weekdays in the languages that notes are written in, folded."""

from functools import cache

from zkchat_cli.text.case_folder import fold

SHORTEST_NAME = 4
# A line for each month, from January: short names, and the forms that dates have them in
_MONTHS = (
    (
        "jan janv january januar janner janvier enero ene janeiro gennaio gen januari jaanuar "
        "stycznia styczen sty leden ledna led января январь янв tammikuuta tammikuu ocak oca "
        "sausio ianuarie ian januara siječnja "
    ),
    (
        "feb febr fev february februar feber fevrier febrero fevereiro febbraio februari veebruar "
        "lutego luty lut unor unora февраля февраль фев helmikuuta helmikuu subat sub vasario "
        "februarie februara veljače "
    ),
    (
        "mar mars march marz mrz maerz marzo março maart mrt marts märts marca marzec brezen "
        "brezna bře марта март maaliskuuta maaliskuu mart kovo martie ožujka "
    ),
    (
        "apr avr april avril abril abr aprile aprill kwietnia kwiecien kwi duben dubna dub апреля "
        "апрель апр huhtikuuta huhtikuu nisan nis balandžio aprilie aprila travnja "
    ),
    (
        "may mai mayo maio maggio mag mei maj maja kveten kvetna kvě мая май toukokuuta toukokuu "
        "mayis gegužės svibnja "
    ),
    (
        "jun june juni juin junio junho giugno giu juuni czerwca czerwiec cze cerven cervna июня "
        "июнь июн kesakuuta kesakuu haziran haz birželio iunie juna lipnja "
    ),
    (
        "jul july juli juil juillet julio julho luglio lug juuli lipca lipiec lip cervenec "
        "cervence июля июль июл heinakuuta heinakuu temmuz tem liepos iulie jula srpnja "
    ),
    (
        "aug august aout agosto ago augustus augusti sierpnia sierpien sie srpen srpna srp "
        "августа август авг elokuuta elokuu agustos agu rugpjūčio avgusta kolovoza "
    ),
    (
        "sep sept september septembre septiembre setembro set settembre wrzesnia wrzesien wrz "
        "zari září сентября сентябрь сен сент syyskuuta syyskuu eylul eyl rugsėjo septembrie "
        "septembra rujna "
    ),
    (
        "oct okt october oktober octobre octubre outubro out ottobre ott pazdziernika pazdziernik "
        "paz rijen rijna říj октября октябрь окт lokakuuta lokakuu ekim eki spalio octombrie "
        "oktobra "
    ),
    (
        "nov november novembre noviembre novembro listopada listopad lis listopadu ноября ноябрь "
        "ноя нояб marraskuuta marraskuu kasim kas lapkričio noiembrie novembra studenoga "
    ),
    (
        "dec dez dic december dezember decembre diciembre dezembro dicembre grudnia grudzien gru "
        "prosinec prosince pro декабря декабрь дек joulukuuta joulukuu aralik ara gruodžio "
        "decembrie decembra prosinca déc "
    ),
)
# Their names and usual short forms
_WEEKDAYS = (
    "monday tuesday wednesday thursday friday saturday sunday montag dienstag mittwoch "
    "donnerstag freitag samstag sonnabend sonntag lundi mardi mercredi jeudi vendredi samedi "
    "dimanche lunes martes miercoles jueves viernes sabado domingo segunda terca quarta "
    "quinta sexta segunda-feira terca-feira quarta-feira quinta-feira sexta-feira lunedi "
    "martedi mercoledi giovedi venerdi domenica maandag dinsdag woensdag donderdag vrijdag "
    "zaterdag zondag mandag tirsdag onsdag torsdag fredag lordag sondag tisdag maanantai "
    "tiistai keskiviikko torstai perjantai lauantai sunnuntai poniedzialek wtorek sroda "
    "czwartek piatek sobota niedziela pondeli utery streda ctvrtek patek nedele понедельник "
    "вторник среда четверг пятница суббота воскресенье pazartesi sali carsamba persembe cuma "
    "cumartesi pazar mon tue tues wed thu thur thurs fri sat sun mo di mi do fr sa so lun mar "
    "mer jeu ven sam dim mie jue vie sab dom seg ter qua qui sex gio ma wo vr za zo man tir "
    "ons tor fre lor son tis ti ke to pe la su pon wto wt sr sro czw czwart pia pt sob niedz "
    "nd po ut st ct pa ne пн вт ср чт пт сб вс pzt sal car per cum cmt paz "
)


@cache
def month_numbers() -> dict[str, int]:
    """The number of each name of a month."""
    numbers: dict[str, int] = {}
    for number, names in enumerate(_MONTHS, 1):
        for name in names.split():
            numbers.setdefault(fold(name), number)
    return numbers


@cache
def weekday_names() -> frozenset[str]:
    """The names of weekdays, also as they are shortened."""
    return frozenset(_WEEKDAYS.split())


def is_month_name(text: str) -> bool:
    """Whether a text is the whole name of a month; "out" may be another word."""
    folded = fold(text)
    is_whole = len(folded) >= SHORTEST_NAME or folded in ("may", "mai")
    return is_whole and folded in month_numbers()
