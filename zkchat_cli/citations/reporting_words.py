"""Words that say that a line names the source of the quotation above it, by language."""

from functools import lru_cache

from zkchat_cli.citations.word_tables import WordTable, read_tokens, unspaced_words

_MOST_WORDS = 8
REPORTING = {
    "english": (
        "source sources from says say said states state stated writes write wrote notes note noted "
        "reads read according_to quoted quote cited see reports report reported puts_it as_per ref "
        "reference"
    ),
    "german": (
        "quelle quellen aus laut sagt sagen sagte schreibt schreiben schrieb heißt steht siehe "
        "zitiert nach"
    ),
    "french": "source selon d'après dit disent écrit écrivent tiré extrait voir cité note",
    "spanish": "fuente según dice dicen escribe afirma véase extraído citado nota",
    "portuguese": "fonte segundo diz dizem escreve afirma veja extraído citado nota conforme",
    "italian": "fonte secondo dice dicono scrive vedi citato",
    "dutch": "bron volgens zegt zeggen schrijft zie",
    "swedish": "källa enligt säger skriver se",
    "russian": "источник согласно говорит говорится говорят пишет сказано см из по_словам",
    "arabic": "المصدر مصدر وفقا حسب يقول تقول كتب انظر",
}
UNSPACED_REPORTING = (
    "来源 來源 出处 出處 出自 引自 摘自 根据 根據 写道 寫道 说 說 出典 によると より"
)


@lru_cache(maxsize=1)
def _table() -> WordTable:
    return WordTable(word for written in REPORTING.values() for word in written.split())


def names_source(line: str) -> bool:
    """Whether a short line before a citation mark says that a quotation is from there."""
    tokens = read_tokens(line)
    if len(tokens) > _MOST_WORDS:
        return False
    return _table().is_in(tokens) or bool(unspaced_words(UNSPACED_REPORTING).search(line))
