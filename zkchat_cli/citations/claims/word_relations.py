"""Words that say the same, prefixes that make the opposite of a word, and particles that make that
of a verb, by language; written as in `opposite_words`.
"""

from zkchat_cli.text.word_lists import ENGLISH, FRENCH, GERMAN, PORTUGUESE, SPANISH

SAME = {
    "replace": (
        "replace exchange swap change",
        "austauschen tauschte ausgetauscht ersetzen ersetzt",
        "remplacer changer",
        "cambiar sustituir reemplazar",
        "trocar substituir",
    ),
    "contain": (
        "hold contain",
        "fassen fasst enthalt",
        "contenir contient",
        "contener contiene",
        "conter contem",
    ),
    "need": (
        "need require",
        "brauchen braucht benotigen benotigt",
        "",
        "necesitar requerir",
        "precisar necessitar",
    ),
    "build": (
        "build built construct erect",
        "bauen gebaut errichten errichtet",
        "construire construit batir",
        "construir edificar",
        "construir edificar",
    ),
    "use": (
        "use consume",
        "nutzen benutzen verwenden",
        "utiliser",
        "usar utilizar",
        "usar utilizar",
    ),
    "duration": ("last take", "dauern dauert", "durer dure", "durar dura", "durar demorar"),
    "cost": (
        "cost price",
        "kosten kostet preis",
        "couter coute prix",
        "costar cuesta precio",
        "custar custa preco",
    ),
}


NEGATING_PREFIXES = {
    ENGLISH: ("un", "in", "im", "dis", "non", "ir"),
    GERMAN: ("un",),
    FRENCH: ("in", "im", "des"),
    SPANISH: ("in", "im", "des"),
    PORTUGUESE: ("in", "im", "des"),
}
"""What makes the opposite of a word: "able", "unable"."""
PARTICLES = {
    ENGLISH: (("in", "out"), ("on", "off"), ("up", "down")),
    GERMAN: (("ein", "aus"), ("an", "ab"), ("auf", "zu"), ("zu", "ab")),
}
"""Behind a verb, or at the end of its clause in German."""
