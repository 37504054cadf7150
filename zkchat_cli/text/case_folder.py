"""Text without case and diacritics: `Łódź` and `lodz` are the same word.

Unicode takes most accented letters apart, and this module removes the accents. Letters with a
stroke, a hook or a tail, and ligatures, have no parts in Unicode: a table has them.
"""

import unicodedata

from zkchat_cli.text.patterns import lazy_pattern

_DIACRITICS = lazy_pattern("[\u0300-\u034e\u0350-\u036f\xad\u200c\u200d\u2060\ufe0e\ufe0f\ufeff]++")
"""Combining and invisible characters, such as soft hyphens and joiners, which do not change a word.
"""

# Letters that Unicode does not take apart, by the letters that people type instead of them. Those
# of one letter are all that the standard calls a letter "with" something.
_TYPED_LETTERS = {
    "a": "ᶏⱥ",
    "ae": "æ",
    "av": "ꜻ",
    "b": "ƀƃɓᵬᶀꞗ",
    "c": "ƈȼɕꞓꞔ𝼝",
    "d": "ðđƌȡɖɗᵭᶁᶑꟈ",
    "e": "əɇɛᶒⱸꬴ",
    "f": "ƒᵮᶂꞙ",
    "g": "ǥɠᶃꞡ",
    "h": "ħɦⱨꞕ",
    "i": "ıɨᶖ𝼚",
    "j": "ɉʝ",
    "k": "ĸƙᶄⱪꝁꝃꝅꞣ",
    "l": "łƚȴɫɬɭᶅⱡꝉꞎꬷꬸꬹ𝼑𝼓",
    "m": "ɱᵯᶆꬺ",
    "n": "ŋƞȵɲɳᵰᶇꞑꞥꬻ",
    "o": "øɔɵⱺꝋꝍ𝼛",
    "oe": "œ",
    "p": "ƥᵱᵽᶈꝑꝓꝕ",
    "q": "ɋʠꝗꝙ",
    "r": "ɍɼɽɾᵲᵳᶉꞧꭉ𝼖",
    "s": "ȿʂᵴᶊꞩꟊ𝼞",
    "t": "ŧƫƭȶʈᵵⱦ𝼉",
    "th": "þᵺ",
    "u": "ʉᶙꞹꭎꭒ",
    "v": "ʋᶌⱱⱴꝟ",
    "w": "ⱳ",
    "x": "ᶍꭖꭗꭘꭙ",
    "y": "ƴɏỿꭚ",
    "z": "ƶȥɀʐʑᵶᶎⱬ",
    "г": "ґғҕӷӻ",
    "ж": "җ",
    "з": "ҙ",
    "к": "қҝҟӄ",
    "л": "ӆԓԡԯ",
    "м": "ӎ",
    "н": "ңӈӊԣԩ",
    "п": "ҧԥ",
    "р": "ҏ",
    "с": "ҫ",
    "т": "ҭ",
    "ү": "ұ",
    "х": "ҳӽӿ",
    "ч": "ҷҹ",
    # The apostrophe of Ukrainian, and marks of transliteration that nobody types: Hawaiʻi, Qurʾān
    "'": "ʼ",
    "": "ʻʹʺʾʿ",
}
_LETTERS = {ord(each): typed for typed, letters in _TYPED_LETTERS.items() for each in letters}

_RARE_CHARACTERS = lazy_pattern(
    "[\u0483-\u1dff\u20d0-\u20f0\u2cef-\u2dff\u302a-\u302f\u3099\u309a\ua66f-\uabed\ufb1e\ufe20-\ufe2f\U000101fd-\U0001e94a]"
    f"|[{''.join(map(chr, _LETTERS))}]"
)
"""Ranges with all other combining characters and many that are not, and the letters of the table.
Searching for these first makes folding twice as fast.
"""


def fold(text: str) -> str:
    """`text` without case and diacritics, for comparison: `Équipe` and `equipe` are the same
    word.
    """
    if text.isascii():
        return text.lower()
    # First `𝓐` to `A`, then `A` to `a`
    decomposed = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    bare = _DIACRITICS.sub("", decomposed)
    if _RARE_CHARACTERS.search(bare):
        typed = bare.translate(_LETTERS)
        bare = "".join(character for character in typed if not unicodedata.combining(character))
    return unicodedata.normalize("NFC", bare)
